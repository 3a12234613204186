//! The check of objects against schemas: its words, and that a real API server says the same.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may fail where it stands")]

mod generate;
mod same;

use refit_core::structural::Schema;
use serde_json::{Value, json};

fn definition(spec: &Value) -> Value {
    let schema = json!({"type": "object", "properties": {"spec": spec}});
    json!({"spec": {"versions": [{"name": "v1", "schema": {"openAPIV3Schema": schema}}]}})
}

fn check(spec: &Value, value: &Value, expected: &[&str]) {
    let schema = Schema::read(&definition(spec), "v1").unwrap();
    let object = json!({"apiVersion": "x.dev/v1", "kind": "X", "metadata": {"name": "a"}, "spec": value});
    let found: Vec<String> = schema
        .check(&object)
        .violations
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(found, expected, "{value}");
}

#[test]
fn fields_that_a_schema_does_not_have_are_violations_wherever_they_stand() {
    let spec = json!({"type": "object", "properties": {
        "list": {"type": "array", "items": {"type": "object", "properties": {"a": {"type": "string"}}}},
        "map": {"type": "object", "additionalProperties": {"type": "object", "properties": {"a": {"type": "string"}}}},
        "open": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
        "embedded": {"type": "object", "x-kubernetes-embedded-resource": true, "properties": {"spec": {"type": "object"}}},
    }});
    check(
        &spec,
        &json!({"list": [{"a": "x"}, {"b": "x"}], "map": {"any": {"b": 1}}, "open": {"b": {"c": 1}}, "b": 1}),
        &[
            "`spec.b` is no field of this version",
            "`spec.list[1].b` is no field of this version",
            "`spec.map.any.b` is no field of this version",
        ],
    );
    check(
        &spec,
        &json!({"embedded": {"apiVersion": "v1", "kind": "A", "metadata": {"labels": {"a": "b"}, "label": 1}, "b": 1}}),
        &[
            "`spec.embedded.b` is no field of this version",
            "`spec.embedded.metadata.label` is no field of `metadata`",
        ],
    );
    check(
        &spec,
        &json!({"embedded": {"apiVersion": "v1"}}),
        &["`spec.embedded.kind` must be there"],
    );
}

#[test]
fn a_variable_that_flux_replaces_fits_everywhere() {
    let spec = json!({"type": "object", "properties": {
        "interval": {"type": "string", "pattern": "^[0-9]+m$"},
        "count": {"type": "integer"},
        "kind": {"type": "string", "enum": ["A"]},
        "map": {"type": "object", "properties": {}},
    }});
    check(
        &spec,
        &json!({"interval": "${a}m", "count": "${count:=3}", "kind": "${kind}", "map": {"${key}": "x"}}),
        &[],
    );
    check(
        &spec,
        &json!({"interval": "$a"}),
        &["`spec.interval` is `$a`, and must match `^[0-9]+m$`"],
    );
}

#[test]
fn a_default_stands_for_a_required_field_and_null_for_an_absent_one() {
    let spec = json!({"type": "object", "required": ["a", "b", "c"], "properties": {
        "a": {"type": "string", "default": "x"},
        "b": {"type": "string"},
        "c": {"type": "string", "nullable": true},
    }});
    check(&spec, &json!({"b": null, "c": null}), &["`spec.b` must be there"]);
    check(&spec, &json!({"b": "x", "c": "x", "a": null}), &[]);
}

#[test]
fn combinations_and_bounds_hold_as_definitions_use_them() {
    let one = json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
        "oneOf": [{"required": ["a"]}, {"required": ["b"]}]});
    check(
        &one,
        &json!({"a": "x", "b": "x"}),
        &["`spec` fits 2 of the alternatives, and must fit one"],
    );
    check(&one, &json!({"a": "x"}), &[]);
    let any = json!({"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
        "anyOf": [{"properties": {"a": {"minimum": 3}}}, {"required": ["b"]}], "not": {"required": ["a", "b"]}});
    check(&any, &json!({"a": 2}), &["`spec` fits none of the alternatives"]);
    check(
        &any,
        &json!({"a": 3, "b": 1}),
        &["`spec` is what it must not be: {\"required\":[\"a\",\"b\"]}"],
    );
    let bounds = json!({"type": "object", "maxProperties": 3, "properties": {
        "text": {"type": "string", "minLength": 2, "maxLength": 3},
        "number": {"type": "integer", "minimum": 1, "maximum": 5, "exclusiveMaximum": true},
        "port": {"x-kubernetes-int-or-string": true, "anyOf": [{"type": "integer"}, {"type": "string"}]},
        "set": {"type": "array", "x-kubernetes-list-type": "set", "maxItems": 2, "items": {"type": "string"}},
        "keyed": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"],
            "items": {"type": "object", "properties": {"name": {"type": "string", "default": "d"}}}},
    }});
    check(
        &bounds,
        &json!({"text": "äöüß", "number": 5, "port": true}),
        &[
            "`spec.number` is 5, and must be at most 5",
            "`spec.port` must be of type integer or string, and is a boolean",
            "`spec.text` has length 4, and must have at most 3",
        ],
    );
    check(&bounds, &json!({"text": "äöü", "port": "http"}), &[]);
    check(
        &bounds,
        &json!({"set": ["a", "b", "a"], "keyed": [{}, {"name": "d"}]}),
        &[
            "`spec.keyed[1]` has the same key as another item: \"d\"",
            "`spec.set` has length 3, and must have at most 2",
            "`spec.set[2]` has the same key as another item: \"a\"",
        ],
    );
}

#[test]
fn rules_in_cel_are_listed_as_not_evaluated_and_a_definition_without_schema_is_an_error() {
    let spec = json!({"type": "object", "x-kubernetes-validations": [{"rule": "has(self.a)", "message": "m"}]});
    let schema = Schema::read(&definition(&spec), "v1").unwrap();
    let object = json!({"apiVersion": "x.dev/v1", "kind": "X", "spec": {}});
    let checked = schema.check(&object);
    assert_eq!(
        (checked.violations.len(), checked.not_evaluated[0].rule.as_str()),
        (0, "has(self.a)")
    );
    let missing = Schema::read(&definition(&spec), "v2").unwrap_err();
    assert_eq!(
        missing.to_string(),
        "the definition has no version `v2`; hint: it has `v1`"
    );
}

#[test]
fn a_pattern_that_cannot_be_read_is_told_as_not_evaluated_and_hides_nothing_else() {
    let spec = json!({"type": "object", "properties": {
        "a": {"type": "string", "pattern": "(?<!x)y"},
        "b": {"type": "string", "pattern": "^b$"},
    }});
    let schema = Schema::read(&definition(&spec), "v1").unwrap();
    let object = json!({"apiVersion": "x.dev/v1", "kind": "X", "spec": {"a": "y", "b": "c"}});
    let checked = schema.check(&object);
    assert_eq!(
        (
            checked.violations[0].field.as_str(),
            checked.not_evaluated[0].rule.as_str()
        ),
        ("spec.b", "pattern (?<!x)y")
    );
}

#[test]
fn fields_called_like_words_of_a_schema_have_their_patterns() {
    for name in ["default", "example", "enum", "required", "properties", "pattern"] {
        let spec = json!({"type": "object", "properties": {name: {"type": "string", "pattern": "^b$"}}});
        let schema = Schema::read(&definition(&spec), "v1").unwrap();
        let object = json!({"apiVersion": "x.dev/v1", "kind": "X", "spec": {name: "c"}});
        assert_eq!(schema.check(&object).violations.len(), 1, "{name}");
    }
}
