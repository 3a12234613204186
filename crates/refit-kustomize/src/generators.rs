//! Generated ConfigMaps and Secrets.
//!
//! In: entries of `configMapGenerator` and `secretGenerator`, and the files that they name. Out: objects, and the hashes of
//! their contents for their names.

use std::collections::BTreeMap;

use refit_manifest::Tree;
use sha2::{Digest, Sha256};

use crate::built::{Entry, Field, Origin};
use crate::files::{self, Found};
use crate::kustomization::Kustomization;
use crate::resource::{
    BEHAVIOR, ENABLED, INTERNAL, NEEDS_HASH, Resource, Strings, entry as part, raw_at, set_metadata, set_strings,
    strings,
};
use crate::stop::Stop;
use crate::value::Value;

/// What a generated object does to one of the same name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Behavior {
    Create,
    Replace,
    Merge,
}

/// Generates what one entry asks for and takes it in.
pub(crate) fn generate(
    tree: &Tree,
    kustomization: &Kustomization,
    entry: &Entry,
    value: &Value,
    resources: &mut Vec<Resource>,
) -> Result<(), Stop> {
    let made = make(tree, kustomization, entry, value)?;
    let behavior = match raw_at(value, &["behavior"]) {
        "replace" => Behavior::Replace,
        "merge" => Behavior::Merge,
        _ => Behavior::Create,
    };
    let id = made.id();
    let mut same = (0..resources.len()).filter(|at| resources[*at].ids().contains(&id));
    let identity = id.identity();
    match (same.next(), same.next(), behavior) {
        (None, _, Behavior::Create) => {
            resources.push(made);
            Ok(())
        }
        (None, _, _) => Err(Stop::object(
            entry,
            identity.clone(),
            format!("there is no `{identity}` to merge with or replace"),
        )),
        (Some(_), None, Behavior::Create) => Err(Stop::object(
            entry,
            identity.clone(),
            format!("`{identity}` is there already; `behavior` can be `merge` or `replace`"),
        )),
        (Some(at), None, behavior) => {
            combine(&mut resources[at], made, behavior);
            Ok(())
        }
        (Some(_), Some(_), _) => Err(Stop::object(
            entry,
            identity.clone(),
            format!("more than one object is `{identity}`"),
        )),
    }
}

/// Puts a generated object in the place of an older one.
fn combine(old: &mut Resource, made: Resource, behavior: Behavior) {
    let mut value = made.value;
    let mut labels = strings(&old.value, "labels");
    labels.extend(strings(&value, "labels"));
    set_strings(&mut value, "labels", &labels);
    let own = strings(&value, "annotations");
    let before = strings(&old.value, "annotations");
    let mut annotations = before.clone();
    annotations.extend(own.clone());
    annotations.retain(|key, _| !key.starts_with(INTERNAL) || before.contains_key(key));
    for (key, text) in before.iter().filter(|(key, _)| key.starts_with(INTERNAL)) {
        annotations.insert(key.clone(), text.clone());
    }
    if !own.contains_key(NEEDS_HASH) {
        annotations.remove(NEEDS_HASH);
    }
    set_strings(&mut value, "annotations", &annotations);
    let id = old.id();
    set_metadata(&mut value, "name", &id.name);
    if id.namespace.is_empty() {
        part(&mut value, "metadata").take("namespace");
    } else {
        set_metadata(&mut value, "namespace", &id.namespace);
    }
    if behavior == Behavior::Merge {
        for field in ["data", "binaryData"] {
            let pairs = |value: &Value| -> Strings {
                let map = value.get(field).and_then(Value::as_map);
                let text =
                    |(key, value): (&std::sync::Arc<str>, &Value)| (key.to_string(), raw_at(value, &[]).to_owned());
                map.into_iter().flatten().map(text).collect()
            };
            let mut all = pairs(&old.value);
            all.extend(pairs(&value));
            if all.is_empty() {
                value.take(field);
            } else {
                value.set(field, map(&all));
            }
        }
    }
    old.value = value;
}

fn map(strings: &Strings) -> Value {
    Value::strings(strings.iter().map(|(key, text)| (key.as_str(), text.as_str())))
}

fn make(tree: &Tree, kustomization: &Kustomization, entry: &Entry, value: &Value) -> Result<Resource, Stop> {
    let name = raw_at(value, &["name"]);
    if name.is_empty() {
        return Err(Stop::entry(entry, "the entry has no `name`"));
    }
    let is_secret = entry.field == Field::SecretGenerator;
    let mut object = Value::strings([
        ("apiVersion", "v1"),
        ("kind", if is_secret { "Secret" } else { "ConfigMap" }),
    ]);
    set_metadata(&mut object, "name", name);
    let namespace = raw_at(value, &["namespace"]);
    if !namespace.is_empty() {
        set_metadata(&mut object, "namespace", namespace);
    }
    if is_secret {
        let kind = match raw_at(value, &["type"]) {
            "" => "Opaque",
            kind => kind,
        };
        object.set("type", Value::text(kind));
        object.set("data", Value::map());
    }
    for (key, bytes) in pairs(tree, entry, value)? {
        let (field, text) = match String::from_utf8(bytes) {
            Ok(text) if is_secret => ("data", base64(text.as_bytes())),
            Ok(text) => ("data", text),
            Err(error) => (if is_secret { "data" } else { "binaryData" }, base64(error.as_bytes())),
        };
        part(&mut object, field).set(&key, Value::text(&text));
    }
    let global = kustomization.get("generatorOptions");
    let local = value.get("options").filter(|options| !options.is_null());
    let mut annotations = options(global, local, "annotations");
    set_strings(&mut object, "labels", &options(global, local, "labels"));
    let says = |key: &str| {
        [global, local]
            .into_iter()
            .flatten()
            .any(|options| options.get(key) == Some(&Value::Bool(true)))
    };
    if says("immutable") {
        object.set("immutable", Value::Bool(true));
    }
    if !says("disableNameSuffixHash") {
        annotations.insert(NEEDS_HASH.to_owned(), ENABLED.to_owned());
    }
    let behavior = match raw_at(value, &["behavior"]) {
        behavior @ ("create" | "replace" | "merge") => behavior,
        _ => "unspecified",
    };
    annotations.insert(BEHAVIOR.to_owned(), behavior.to_owned());
    set_strings(&mut object, "annotations", &annotations);
    Ok(Resource::new(object, Origin::Generator(entry.clone())))
}

fn options(global: Option<&Value>, local: Option<&Value>, field: &str) -> Strings {
    let mut all = Strings::new();
    for options in [global, local].into_iter().flatten() {
        let map = options.get(field).and_then(Value::as_map);
        all.extend(
            map.into_iter()
                .flatten()
                .map(|(key, text)| (key.to_string(), text.raw().to_owned())),
        );
    }
    all
}

/// Gives keys and contents from all sources of an entry.
fn pairs(tree: &Tree, entry: &Entry, value: &Value) -> Result<BTreeMap<String, Vec<u8>>, Stop> {
    let mut all: Vec<(String, Vec<u8>)> = Vec::new();
    let list = |key: &str| -> Vec<&str> {
        let items = value.get(key).map_or(&[][..], Value::items);
        items.iter().map(Value::raw).collect()
    };
    let mut envs = list("envs");
    envs.extend(value.get("env").map(Value::raw).filter(|name| !name.is_empty()));
    for name in envs {
        all.extend(lines(&file(tree, entry, name)?, entry)?);
    }
    for literal in list("literals") {
        let wrong = || Stop::entry(entry, format!("the literal `{literal}` is not of the form `key=value`"));
        let (key, text) = literal
            .split_once('=')
            .filter(|(key, _)| !key.is_empty())
            .ok_or_else(wrong)?;
        all.push((key.to_owned(), unquoted(text).as_bytes().to_vec()));
    }
    for source in list("files") {
        let (key, name) = match source.split_once('=') {
            None => (source.rsplit('/').next().unwrap_or(source), source),
            Some((key, name)) if !key.is_empty() && !name.is_empty() && !name.contains('=') => (key, name),
            Some(_) => {
                let message = format!("the source `{source}` is not of the form `key=file`");
                return Err(Stop::entry(entry, message));
            }
        };
        all.push((key.to_owned(), file(tree, entry, name)?));
    }
    let mut pairs = BTreeMap::new();
    for (key, content) in all {
        if pairs.insert(key.clone(), content).is_some() {
            return Err(Stop::entry(entry, format!("the key `{key}` stands twice")));
        }
    }
    Ok(pairs)
}

fn file(tree: &Tree, entry: &Entry, name: &str) -> Result<Vec<u8>, Stop> {
    if files::is_remote(name) {
        let message = format!("the file `{name}` is remote");
        return Err(Stop::unsure(&entry.kustomization, entry.line, message));
    }
    match files::find(tree, entry.kustomization.directory(), name) {
        Found::File(path) => Ok(tree.bytes(&path).map(|bytes| bytes.to_vec()).unwrap_or_default()),
        Found::Elsewhere(message) => Err(Stop::unsure(&entry.kustomization, entry.line, message)),
        Found::Directory(_) => Err(Stop::entry(entry, format!("`{name}` is a directory, not a file"))),
        Found::Nothing => Err(Stop::entry(entry, format!("there is no file `{name}`"))),
    }
}

/// Reads lines of the form `KEY=VALUE`.
fn lines(bytes: &[u8], entry: &Entry) -> Result<Vec<(String, Vec<u8>)>, Stop> {
    let text = std::str::from_utf8(bytes).map_err(|_| Stop::entry(entry, "a file of lines is not UTF-8"))?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut pairs = Vec::new();
    for line in text.split('\n') {
        let line = line.strip_suffix('\r').unwrap_or(line).trim_start();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let (key, value) = line.split_once('=').unwrap_or((line, ""));
        if !key.is_empty() {
            pairs.push((key.to_owned(), value.as_bytes().to_vec()));
        }
    }
    Ok(pairs)
}

fn unquoted(text: &str) -> &str {
    let inner = |quote: char| text.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote));
    inner('"').or_else(|| inner('\'')).unwrap_or(text)
}

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Writes bytes in base 64; what is longer than one line of 70 characters is parted into lines.
fn base64(bytes: &[u8]) -> String {
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let byte = |at: usize| u32::from(chunk.get(at).copied().unwrap_or(0));
        let number = byte(0) << 16 | byte(1) << 8 | byte(2);
        for at in 0..4_u32 {
            let index = usize::try_from(number >> (18 - 6 * at) & 63).unwrap_or(0);
            let used = usize::try_from(at).unwrap_or(0) <= chunk.len();
            text.push(if used { char::from(ALPHABET[index]) } else { '=' });
        }
    }
    if text.len() < 70 {
        return text;
    }
    let mut parted = String::with_capacity(text.len() + text.len() / 70 + 1);
    for (at, c) in text.chars().enumerate() {
        if at > 0 && at % 70 == 0 {
            parted.push('\n');
        }
        parted.push(c);
    }
    parted.push('\n');
    parted
}

/// Puts the hash of their content behind the names of objects that want it.
pub(crate) fn add_hashes(resources: &mut [Resource]) -> Result<(), (usize, String)> {
    for (at, resource) in resources.iter_mut().enumerate() {
        if strings(&resource.value, "annotations")
            .get(NEEDS_HASH)
            .map(String::as_str)
            != Some(ENABLED)
        {
            continue;
        }
        let kind = raw_at(&resource.value, &["kind"]).to_owned();
        let Some(hash) = hash(&resource.value, &kind) else {
            return Err((at, format!("the hash of a `{kind}` is not computed")));
        };
        resource.remember();
        let name = format!("{}-{hash}", resource.id().name);
        set_metadata(&mut resource.value, "name", &name);
    }
    Ok(())
}

fn hash(value: &Value, kind: &str) -> Option<String> {
    let (more, fields): (&str, &[&str]) = match kind {
        "ConfigMap" => ("binaryData", &["data"]),
        "Secret" => ("stringData", &["data", "type"]),
        _ => return None,
    };
    let mut parts = BTreeMap::from([("kind", json(&Value::text(kind))), ("name", json(&Value::text("")))]);
    for field in fields {
        let part = value.get(field).cloned().unwrap_or(Value::text(""));
        parts.insert(field, json(&part));
    }
    if let Some(part @ Value::Map(_)) = value.get(more) {
        parts.insert(more, json(part));
    }
    let text: Vec<String> = parts.iter().map(|(key, part)| format!("\"{key}\":{part}")).collect();
    let digest = Sha256::digest(format!("{{{}}}", text.join(",")).as_bytes());
    let hex: String = digest.iter().take(5).map(|byte| format!("{byte:02x}")).collect();
    let letter = |c: char| match c {
        '0' => 'g',
        '1' => 'h',
        '3' => 'k',
        'a' => 'm',
        'e' => 't',
        c => c,
    };
    Some(hex.chars().map(letter).collect())
}

/// Writes JSON with the escapes of Go.
fn json(value: &Value) -> String {
    match value {
        Value::Text(text) => {
            let mut out = String::from("\"");
            for c in text.chars() {
                match c {
                    '"' | '\\' => out.extend(['\\', c]),
                    '\n' => out.push_str("\\n"),
                    '\r' => out.push_str("\\r"),
                    '\t' => out.push_str("\\t"),
                    '\u{8}' => out.push_str("\\b"),
                    '\u{c}' => out.push_str("\\f"),
                    '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => out.push_str(&format!("\\u{:04x}", u32::from(c))),
                    c if u32::from(c) < 0x20 => out.push_str(&format!("\\u{:04x}", u32::from(c))),
                    c => out.push(c),
                }
            }
            out.push('"');
            out
        }
        Value::Map(map) => {
            let entries = map
                .iter()
                .map(|(key, value)| format!("{}:{}", json(&Value::Text(key.clone())), json(value)));
            format!("{{{}}}", entries.collect::<Vec<_>>().join(","))
        }
        Value::List(items) => format!("[{}]", items.iter().map(json).collect::<Vec<_>>().join(",")),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base_64_is_parted_into_lines_where_it_is_long() {
        assert_eq!(base64(b""), "");
        assert_eq!(base64(b"a"), "YQ==");
        assert_eq!(base64(b"ab"), "YWI=");
        assert_eq!(base64(b"abc"), "YWJj");
        assert!(!base64(&[b'a'; 50]).contains('\n'));
        let long = base64(&[b'a'; 60]);
        assert_eq!((long.len(), long.matches('\n').count()), (82, 2));
    }
}
