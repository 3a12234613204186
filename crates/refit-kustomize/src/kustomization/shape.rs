//! Which fields a kustomization has, and of which shape.

use crate::read::Trouble;
use crate::value::Value;

enum Shape {
    Text,
    Flag,
    Number,
    Texts,
    Strings,
    Part(&'static [(&'static str, Shape)]),
    Parts(&'static [(&'static str, Shape)]),
    /// Not looked at: what holds it is not evaluated anyway.
    Any,
}

use Shape::{Any, Flag, Number, Part, Parts, Strings, Text, Texts};

type Fields = &'static [(&'static str, Shape)];

const SELECTOR: Fields = &[
    ("group", Text),
    ("version", Text),
    ("kind", Text),
    ("name", Text),
    ("namespace", Text),
    ("labelSelector", Text),
    ("annotationSelector", Text),
];
const PATCH: Fields = &[
    ("path", Text),
    ("patch", Text),
    ("target", Part(SELECTOR)),
    ("options", Part(&[("allowNameChange", Flag), ("allowKindChange", Flag)])),
];
const IMAGE: Fields = &[
    ("name", Text),
    ("newName", Text),
    ("tagSuffix", Text),
    ("newTag", Text),
    ("digest", Text),
];
const GENERATOR_OPTIONS: Fields = &[
    ("labels", Strings),
    ("annotations", Strings),
    ("disableNameSuffixHash", Flag),
    ("immutable", Flag),
];
const CONFIG_MAP: Fields = &[
    ("namespace", Text),
    ("name", Text),
    ("behavior", Text),
    ("literals", Texts),
    ("files", Texts),
    ("envs", Texts),
    ("env", Text),
    ("options", Part(GENERATOR_OPTIONS)),
];
const SECRET: Fields = &[
    ("namespace", Text),
    ("name", Text),
    ("behavior", Text),
    ("literals", Texts),
    ("files", Texts),
    ("envs", Texts),
    ("env", Text),
    ("options", Part(GENERATOR_OPTIONS)),
    ("type", Text),
];
const FIELD: Fields = &[
    ("group", Text),
    ("version", Text),
    ("kind", Text),
    ("path", Text),
    ("create", Flag),
];
const FIELD_OPTIONS: Fields = &[
    ("delimiter", Text),
    ("index", Number),
    ("encoding", Text),
    ("create", Flag),
];
const REPLACEMENT: Fields = &[
    ("path", Text),
    (
        "source",
        Part(&[
            ("group", Text),
            ("version", Text),
            ("kind", Text),
            ("name", Text),
            ("namespace", Text),
            ("fieldPath", Text),
            ("options", Part(FIELD_OPTIONS)),
        ]),
    ),
    ("sourceValue", Text),
    (
        "targets",
        Parts(&[
            ("select", Part(SELECTOR)),
            ("reject", Parts(SELECTOR)),
            ("fieldPaths", Texts),
            ("options", Part(FIELD_OPTIONS)),
        ]),
    ),
];
const FIELDS: Fields = &[
    ("apiVersion", Text),
    ("kind", Text),
    (
        "metadata",
        Part(&[
            ("name", Text),
            ("namespace", Text),
            ("labels", Strings),
            ("annotations", Strings),
        ]),
    ),
    ("openapi", Strings),
    ("namePrefix", Text),
    ("nameSuffix", Text),
    ("namespace", Text),
    ("commonLabels", Strings),
    (
        "labels",
        Parts(&[
            ("pairs", Strings),
            ("includeSelectors", Flag),
            ("includeTemplates", Flag),
            ("fields", Parts(FIELD)),
        ]),
    ),
    ("commonAnnotations", Strings),
    ("patchesStrategicMerge", Texts),
    ("patchesJson6902", Parts(PATCH)),
    ("patches", Parts(PATCH)),
    ("images", Parts(IMAGE)),
    ("imageTags", Parts(IMAGE)),
    ("replacements", Parts(REPLACEMENT)),
    ("replicas", Parts(&[("name", Text), ("count", Number)])),
    ("vars", Any),
    (
        "sortOptions",
        Part(&[
            ("order", Text),
            (
                "legacySortOptions",
                Part(&[("orderFirst", Texts), ("orderLast", Texts)]),
            ),
        ]),
    ),
    ("resources", Texts),
    ("components", Texts),
    ("crds", Texts),
    ("bases", Texts),
    ("configMapGenerator", Parts(CONFIG_MAP)),
    ("secretGenerator", Parts(SECRET)),
    ("helmGlobals", Any),
    ("helmCharts", Any),
    ("helmChartInflationGenerator", Any),
    ("generatorOptions", Part(GENERATOR_OPTIONS)),
    ("configurations", Texts),
    ("generators", Texts),
    ("transformers", Texts),
    ("validators", Texts),
    ("buildMetadata", Texts),
];

/// Checks one field of a kustomization; the line is left to the caller.
pub(super) fn check(key: &str, value: &Value) -> Result<(), Trouble> {
    field(FIELDS, key, value, key)
}

/// Checks one replacement, which may stand in a file of its own.
pub(crate) fn check_replacement(value: &Value) -> Result<(), Trouble> {
    shaped(&Part(REPLACEMENT), value, "replacement")
}

fn field(fields: Fields, key: &str, value: &Value, place: &str) -> Result<(), Trouble> {
    if let Some((_, shape)) = fields.iter().find(|(name, _)| *name == key) {
        return shaped(shape, value, place);
    }
    if fields.iter().any(|(name, _)| name.eq_ignore_ascii_case(key)) {
        let message = format!("the field `{place}` is written in other letters than kustomize's");
        return Err(Trouble::unsure(1, message));
    }
    Err(Trouble::fails(1, format!("the field `{place}` is unknown")))
}

fn shaped(shape: &Shape, value: &Value, place: &str) -> Result<(), Trouble> {
    let wrong = |what: &str| Err(Trouble::fails(1, format!("the field `{place}` must be {what}")));
    if value.is_null() {
        return Ok(());
    }
    match (shape, value) {
        (Any, _) | (Text, Value::Text(_)) | (Flag, Value::Bool(_)) => Ok(()),
        (Number, Value::Number(text)) if text.parse::<i64>().is_ok() => Ok(()),
        (Text, _) => wrong("a string"),
        (Flag, _) => wrong("true or false"),
        (Number, _) => wrong("a whole number"),
        (Texts, Value::List(items)) => items.iter().try_for_each(|item| shaped(&Text, item, place)),
        (Strings, Value::Map(map)) => map
            .iter()
            .try_for_each(|(key, item)| shaped(&Text, item, &format!("{place}.{key}"))),
        (Part(fields), Value::Map(map)) => map
            .iter()
            .try_for_each(|(key, item)| field(fields, key, item, &format!("{place}.{key}"))),
        (Parts(fields), Value::List(items)) => items.iter().try_for_each(|item| shaped(&Part(fields), item, place)),
        (Texts | Parts(_), _) => wrong("a list"),
        (Strings | Part(_), _) => wrong("a mapping"),
    }
}
