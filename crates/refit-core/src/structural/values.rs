//! The values that a schema asks for.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::{Checked, Kind, NotEvaluated, Schema, Violation, flag, is_open, join, type_of};

/// Checks every value of an object.
pub(super) fn check(schema: &Schema, object: &Value, checked: &mut Checked) {
    let mut values = Values { schema, checked };
    values.any(&schema.root, object, "");
}

struct Values<'a, 'b> {
    schema: &'a Schema,
    checked: &'b mut Checked,
}

impl Values<'_, '_> {
    fn any(&mut self, schema: &Value, value: &Value, path: &str) {
        if is_open(value) {
            return;
        }
        if value.is_null() && flag(schema, "nullable") {
            return;
        }
        if !self.is_of_type(schema, value, path) {
            return;
        }
        self.note_rules(schema, path);
        self.combinations(schema, value, path);
        if let Some(allowed) = schema.get("enum").and_then(Value::as_array)
            && !allowed.contains(value)
        {
            let allowed: Vec<String> = allowed.iter().map(ToString::to_string).collect();
            self.add(
                path,
                Kind::Enum,
                format!("is {value}, and must be one of {}", allowed.join(", ")),
            );
        }
        match value {
            Value::String(text) => self.text(schema, text, path),
            Value::Number(_) => self.number(schema, value, path),
            Value::Array(items) => self.list(schema, items, path),
            Value::Object(fields) => self.object(schema, fields, path),
            Value::Null | Value::Bool(_) => {}
        }
    }

    fn add(&mut self, path: &str, kind: Kind, message: String) {
        self.checked.violations.push(Violation {
            field: path.to_owned(),
            kind,
            message,
        });
    }

    fn is_of_type(&mut self, schema: &Value, value: &Value, path: &str) -> bool {
        let is = |wanted: &str| match wanted {
            "object" => value.is_object(),
            "array" => value.is_array(),
            "string" => value.is_string(),
            "boolean" => value.is_boolean(),
            "number" => value.is_number(),
            "integer" => is_integer(value),
            _ => true,
        };
        let (fits, wanted) = if flag(schema, "x-kubernetes-int-or-string") {
            (is_integer(value) || value.is_string(), "integer or string")
        } else {
            let wanted = schema.get("type").and_then(Value::as_str);
            (wanted.is_none_or(is), wanted.unwrap_or_default())
        };
        if !fits {
            self.add(
                path,
                Kind::Type,
                format!("must be of type {wanted}, and is {}", type_of(value)),
            );
        }
        fits
    }

    fn note_rules(&mut self, schema: &Value, path: &str) {
        let rules = schema.get("x-kubernetes-validations").and_then(Value::as_array);
        for rule in rules.into_iter().flatten() {
            if let Some(rule) = rule.get("rule").and_then(Value::as_str) {
                self.checked.not_evaluated.push(NotEvaluated {
                    field: path.to_owned(),
                    rule: rule.to_owned(),
                });
            }
        }
    }

    fn holds(&self, schema: &Value, value: &Value, path: &str) -> bool {
        let mut checked = Checked::default();
        let mut values = Values {
            schema: self.schema,
            checked: &mut checked,
        };
        values.any(schema, value, path);
        checked.violations.is_empty()
    }

    fn combinations(&mut self, schema: &Value, value: &Value, path: &str) {
        let of = |name: &str| schema.get(name).and_then(Value::as_array);
        for of_all in of("allOf").into_iter().flatten() {
            self.any(of_all, value, path);
        }
        // Kubernetes writes this pair beside its own mark for an integer or a string.
        let pair = flag(schema, "x-kubernetes-int-or-string");
        if let Some(some) = of("anyOf").filter(|_| !pair)
            && !some.iter().any(|of_any| self.holds(of_any, value, path))
        {
            self.add(path, Kind::Combination, "fits none of the alternatives".to_owned());
        }
        if let Some(ones) = of("oneOf") {
            let fits = ones.iter().filter(|of_one| self.holds(of_one, value, path)).count();
            if fits != 1 {
                self.add(
                    path,
                    Kind::Combination,
                    format!("fits {fits} of the alternatives, and must fit one"),
                );
            }
        }
        if let Some(not) = schema.get("not").filter(|not| self.holds(not, value, path)) {
            self.add(path, Kind::Combination, format!("is what it must not be: {not}"));
        }
    }

    fn text(&mut self, schema: &Value, text: &str, path: &str) {
        let pattern = schema.get("pattern").and_then(Value::as_str);
        match pattern.map(|pattern| (pattern, self.schema.patterns.get(pattern))) {
            Some((pattern, Some(regex))) if !regex.is_match(text) => {
                self.add(path, Kind::Pattern, format!("is `{text}`, and must match `{pattern}`"));
            }
            Some((pattern, None)) => self.checked.not_evaluated.push(NotEvaluated {
                field: path.to_owned(),
                rule: format!("pattern {pattern}"),
            }),
            _ => {}
        }
        if schema.get("format").and_then(Value::as_str) == Some("date-time") && !is_date_time(text) {
            self.add(path, Kind::Format, format!("is `{text}`, and must be a date with time"));
        }
        self.count(schema, text.chars().count(), ("minLength", "maxLength"), path);
    }

    /// Checks a length or count against its bounds.
    fn count(&mut self, schema: &Value, found: usize, (least, most): (&str, &str), path: &str) {
        let bound = |name: &str| {
            schema
                .get(name)
                .and_then(Value::as_u64)
                .and_then(|bound| usize::try_from(bound).ok())
        };
        if let Some(least) = bound(least).filter(|least| found < *least) {
            self.add(
                path,
                Kind::Bound,
                format!("has length {found}, and must have at least {least}"),
            );
        }
        if let Some(most) = bound(most).filter(|most| found > *most) {
            self.add(
                path,
                Kind::Bound,
                format!("has length {found}, and must have at most {most}"),
            );
        }
    }

    fn number(&mut self, schema: &Value, value: &Value, path: &str) {
        let Some(found) = value.as_f64() else { return };
        let bound = |name: &str| schema.get(name).and_then(Value::as_f64);
        let below = |least: &f64| found < *least || (flag(schema, "exclusiveMinimum") && found <= *least);
        if let Some(least) = bound("minimum").filter(below) {
            self.add(path, Kind::Bound, format!("is {found}, and must be at least {least}"));
        }
        let above = |most: &f64| found > *most || (flag(schema, "exclusiveMaximum") && found >= *most);
        if let Some(most) = bound("maximum").filter(above) {
            self.add(path, Kind::Bound, format!("is {found}, and must be at most {most}"));
        }
        let uneven = |factor: &f64| *factor > 0.0 && (found / factor).fract() != 0.0;
        if let Some(factor) = bound("multipleOf").filter(uneven) {
            self.add(
                path,
                Kind::Bound,
                format!("is {found}, and must be a multiple of {factor}"),
            );
        }
    }

    fn list(&mut self, schema: &Value, items: &[Value], path: &str) {
        self.count(schema, items.len(), ("minItems", "maxItems"), path);
        self.duplicates(schema, items, path);
        let Some(of_item) = schema.get("items") else { return };
        for (at, item) in items.iter().enumerate() {
            self.any(of_item, item, &format!("{path}[{at}]"));
        }
    }

    fn duplicates(&mut self, schema: &Value, items: &[Value], path: &str) {
        let keys = schema.get("x-kubernetes-list-map-keys").and_then(Value::as_array);
        let of_item = schema.get("items");
        let key_of = |item: &Value| match schema.get("x-kubernetes-list-type").and_then(Value::as_str) {
            Some("set") => Some(item.to_string()),
            Some("map") => {
                let value = |key: &Value| {
                    let key = key.as_str()?;
                    let default = of_item.and_then(|of_item| of_item.get("properties")?.get(key)?.get("default"));
                    item.get(key).or(default).map(ToString::to_string)
                };
                Some(
                    keys?
                        .iter()
                        .map(|key| value(key).unwrap_or_default())
                        .collect::<Vec<_>>()
                        .join("/"),
                )
            }
            _ => None,
        };
        let mut seen = BTreeSet::new();
        for (at, item) in items.iter().enumerate() {
            if let Some(key) = key_of(item).filter(|_| !is_open(item))
                && !seen.insert(key.clone())
            {
                self.add(
                    &format!("{path}[{at}]"),
                    Kind::Duplicate,
                    format!("has the same key as another item: {key}"),
                );
            }
        }
    }

    fn object(&mut self, schema: &Value, fields: &Map<String, Value>, path: &str) {
        let properties = schema.get("properties");
        let of_field = |name: &str| properties.and_then(|properties| properties.get(name));
        let is_absent = |name: &str| match fields.get(name) {
            None => true,
            Some(value) => value.is_null() && of_field(name).is_some_and(|of_field| !flag(of_field, "nullable")),
        };
        let has_default = |name: &str| of_field(name).is_some_and(|of_field| of_field.get("default").is_some());
        let required = schema.get("required").and_then(Value::as_array);
        for name in required.into_iter().flatten().filter_map(Value::as_str) {
            if is_absent(name) && !has_default(name) {
                self.add(&join(path, name), Kind::Required, "must be there".to_owned());
            }
        }
        self.count(schema, fields.len(), ("minProperties", "maxProperties"), path);
        let additional = schema
            .get("additionalProperties")
            .filter(|additional| additional.is_object());
        let is_head = path.is_empty() || flag(schema, "x-kubernetes-embedded-resource");
        for (name, value) in fields {
            let Some(of_field) = of_field(name).or(additional) else {
                continue;
            };
            if is_head && matches!(name.as_str(), "apiVersion" | "kind" | "metadata") {
                continue;
            }
            if value.is_null() && !flag(of_field, "nullable") {
                continue;
            }
            self.any(of_field, value, &join(path, name));
        }
    }
}

fn is_integer(value: &Value) -> bool {
    value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|number| number.fract() == 0.0)
}

/// Tells whether a text is a date with time of RFC 3339.
fn is_date_time(text: &str) -> bool {
    text.parse::<jiff::Timestamp>().is_ok()
}
