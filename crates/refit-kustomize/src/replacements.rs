//! Values that are copied from one object into others.
//!
//! In: objects and replacements. Out: objects with copied values. Values inside of text that is itself YAML or JSON are not
//! evaluated.

mod path;

use refit_manifest::Tree;

use crate::built::Entry;
use crate::files::{self, Found};
use crate::id::Id;
use crate::kustomization::check_replacement;
use crate::read::{self, Rules, plain};
use crate::resource::{Resource, raw_at};
use crate::selector::{Selector, target};
use crate::stop::Stop;
use crate::value::Value;

use path::{Create, Miss, look_up, places};

/// Carries out one entry.
pub(crate) fn replace(tree: &Tree, entry: &Entry, value: &Value, resources: &mut [Resource]) -> Result<(), Stop> {
    for replacement in load(tree, entry, value)? {
        one(entry, &replacement, resources)?;
    }
    Ok(())
}

/// Gives the replacements of an entry, which may stand in a file.
fn load(tree: &Tree, entry: &Entry, value: &Value) -> Result<Vec<Value>, Stop> {
    let name = raw_at(value, &["path"]);
    if name.is_empty() {
        return Ok(vec![value.clone()]);
    }
    if value.get("source").is_some() || value.get("targets").is_some_and(|targets| !targets.is_empty()) {
        return Err(Stop::entry(entry, "the entry has both `path` and a replacement"));
    }
    let path = match files::find(tree, entry.kustomization.directory(), name) {
        Found::File(path) => path,
        Found::Elsewhere(message) => return Err(Stop::unsure(&entry.kustomization, entry.line, message)),
        _ if files::is_remote(name) => {
            let message = format!("the file `{name}` is remote");
            return Err(Stop::unsure(&entry.kustomization, entry.line, message));
        }
        _ => return Err(Stop::entry(entry, format!("there is no file `{name}`"))),
    };
    let trouble = |trouble: read::Trouble| Stop::trouble(&path, &trouble);
    let stream = read::split(&tree.bytes(&path).cloned().unwrap_or_else(|| [].into())).map_err(trouble)?;
    let first = stream.documents().iter().find(|document| !document.is_empty());
    let value = first
        .map(|document| read::document(document, Rules::Settings))
        .transpose()
        .map_err(trouble)?;
    let list = match value.flatten() {
        Some(Value::List(items)) => items,
        Some(value @ Value::Map(_)) => vec![value],
        _ => return Err(Stop::failed(&path, 1, "the file holds no replacement")),
    };
    for replacement in &list {
        // A file may hold fields that are unknown.
        if check_replacement(replacement).is_err() {
            return Err(Stop::unsure(&path, 1, "the file holds fields that are not known here"));
        }
    }
    Ok(list)
}

fn one(entry: &Entry, replacement: &Value, resources: &mut [Resource]) -> Result<(), Stop> {
    let fails = |reason: String| Stop::entry(entry, reason);
    let given = |key: &str| replacement.get(key).filter(|value| !value.is_null());
    let Some(targets) = given("targets") else {
        return Err(fails("a replacement needs a source and targets".to_owned()));
    };
    let value = match (given("source"), given("sourceValue")) {
        (None, None) => return Err(fails("a replacement needs a source and targets".to_owned())),
        (Some(_), Some(_)) => return Err(fails("a replacement has both `source` and `sourceValue`".to_owned())),
        (None, Some(text)) => Value::text(text.raw()),
        (Some(source), None) => source_value(entry, source, resources)?,
    };
    for target in targets.items() {
        into_target(entry, target, &value, resources)?;
    }
    Ok(())
}

fn source_value(entry: &Entry, source: &Value, resources: &[Resource]) -> Result<Value, Stop> {
    let text = |key: &str| raw_at(source, &[key]);
    let fits = |wanted: &str, is: &str| wanted.is_empty() || wanted == is;
    let namespace = |text: &str| {
        if text.is_empty() {
            "default".to_owned()
        } else {
            text.to_owned()
        }
    };
    let selects = |id: &Id| {
        fits(text("name"), &id.name)
            && (text("namespace").is_empty() || namespace(text("namespace")) == namespace(&id.namespace))
            && fits(text("group"), id.group())
            && fits(text("version"), id.version())
            && fits(text("kind"), &id.kind)
    };
    let mut found = resources.iter().filter(|resource| resource.ids().iter().any(selects));
    let words = format!("{}/{}", text("kind"), text("name"));
    let resource = match (found.next(), found.next()) {
        (None, _) => return Err(Stop::entry(entry, format!("no object is the source `{words}`"))),
        (Some(_), Some(_)) => {
            return Err(Stop::entry(
                entry,
                format!("more than one object is the source `{words}`"),
            ));
        }
        (Some(resource), None) => resource,
    };
    let path = match text("fieldPath") {
        "" => "metadata.name",
        path => path,
    };
    let value = look_up(&resource.value, path).map_err(|miss| stop(entry, miss))?;
    let Some(value) = value.filter(|value| !value.is_empty()) else {
        return Err(Stop::entry(
            entry,
            format!("the source `{words}` has nothing at `{path}`"),
        ));
    };
    let (delimiter, index) = options(source);
    if delimiter.is_empty() {
        return Ok(value.clone());
    }
    if value.scalar().is_none() {
        return Err(Stop::entry(entry, "a delimiter parts scalars alone"));
    }
    let part = usize::try_from(index)
        .ok()
        .and_then(|index| value.raw().split(delimiter).nth(index));
    let part = part.ok_or_else(|| Stop::entry(entry, format!("`{}` has no part {index}", value.raw())))?;
    Ok(match value {
        Value::Text(_) => Value::text(part),
        _ => plain(part, Rules::Objects),
    })
}

fn options(value: &Value) -> (&str, i64) {
    let index = raw_at(value, &["options", "index"]).parse().unwrap_or(0);
    (raw_at(value, &["options", "delimiter"]), index)
}

fn into_target(entry: &Entry, selected: &Value, value: &Value, resources: &mut [Resource]) -> Result<(), Stop> {
    let fails = |reason: String| Stop::entry(entry, reason);
    let Some(select) = selected.get("select").filter(|select| !select.is_null()) else {
        return Err(fails("a target needs `select`".to_owned()));
    };
    let wanted = Selector::new(&target(select)).map_err(fails)?;
    let mut rejects = Vec::new();
    for reject in selected.get("reject").map_or(&[][..], Value::items) {
        let written = target(reject);
        let by_marks = !written.label_selector.is_empty() || !written.annotation_selector.is_empty();
        let by_id = [
            &written.group,
            &written.version,
            &written.kind,
            &written.name,
            &written.namespace,
        ];
        let by_id = by_id.into_iter().any(|part| !part.is_empty());
        rejects.push((Selector::new(&written).map_err(fails)?, by_marks, by_id));
    }
    for resource in resources {
        let ids = resource.ids();
        let rejected = |(selector, by_marks, by_id): &(Selector, bool, bool)| {
            (*by_marks && selector.selects_marks(&resource.value))
                || (*by_id && ids.iter().any(|id| selector.selects_id(id)))
        };
        if !wanted.selects_marks(&resource.value) || rejects.iter().any(rejected) {
            continue;
        }
        if ids.iter().any(|id| wanted.selects_id(id)) {
            copy(selected, value, &mut resource.value).map_err(|miss| match miss {
                Miss::Fails(reason) => Stop::object(entry, resource.id().identity(), reason),
                Miss::Unsure(reason) => Stop::unsure(&entry.kustomization, entry.line, reason),
            })?;
        }
    }
    Ok(())
}

fn stop(entry: &Entry, miss: Miss) -> Stop {
    match miss {
        Miss::Fails(reason) => Stop::entry(entry, reason),
        Miss::Unsure(reason) => Stop::unsure(&entry.kustomization, entry.line, reason),
    }
}

fn copy(selected: &Value, value: &Value, object: &mut Value) -> Result<(), Miss> {
    let default = [Value::text("metadata.name")];
    let paths = match selected.get("fieldPaths").map_or(&[][..], Value::items) {
        [] => &default[..],
        paths => paths,
    };
    let create = match selected.at(&["options", "create"]) {
        Some(Value::Bool(true)) if value.scalar().is_some() => Create::Scalar,
        Some(Value::Bool(true)) => Create::Collection,
        _ => Create::Nothing,
    };
    for path in paths {
        let mut set = |place: &mut Value| set_value(selected, value, place);
        let found = places(object, path.raw(), create, &mut set)?;
        if found == 0 {
            return Err(Miss::Fails(format!("the target has no field `{}`", path.raw())));
        }
    }
    Ok(())
}

fn set_value(selected: &Value, value: &Value, place: &mut Value) -> Result<(), Miss> {
    let (delimiter, index) = options(selected);
    if place.scalar().is_none() {
        if !delimiter.is_empty() {
            return Err(Miss::Fails("a delimiter parts scalars alone".to_owned()));
        }
        *place = value.clone();
        return Ok(());
    }
    if value.scalar().is_none() {
        return Err(Miss::Unsure("a collection replaces a scalar".to_owned()));
    }
    let mut text = value.raw().to_owned();
    if !delimiter.is_empty() {
        let mut parts: Vec<&str> = place.raw().split(delimiter).collect();
        match usize::try_from(index) {
            Err(_) => parts.insert(0, &text),
            Ok(index) => match parts.get_mut(index) {
                Some(part) => *part = &text,
                None => parts.push(&text),
            },
        }
        text = parts.join(delimiter);
    }
    let as_written = plain(&text, Rules::Objects);
    *place = match (&*place, as_written) {
        (Value::Text(_), Value::Text(_)) => Value::text(&text),
        (Value::Number(kind), written) if kind.is_empty() => written,
        (Value::Number(_), written @ Value::Number(_)) | (Value::Bool(_), written @ Value::Bool(_)) => written,
        _ => {
            return Err(Miss::Unsure(format!(
                "`{text}` replaces a value that may be of another type"
            )));
        }
    };
    Ok(())
}
