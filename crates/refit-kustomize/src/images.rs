//! Images and numbers of replicas.
//!
//! In: objects and entries of `images` and `replicas`. Out: objects with other images or numbers.

use regex::Regex;

use crate::fields::{Make, field, table, visit};
use crate::id::Id;
use crate::resource::{Resource, raw_at};
use crate::value::Value;

const FIELDS: [&str; 6] = [
    "spec/containers[]/image",
    "spec/initContainers[]/image",
    "spec/volumes[]/image/reference",
    "spec/template/spec/containers[]/image",
    "spec/template/spec/initContainers[]/image",
    "spec/template/spec/volumes[]/image/reference",
];

const REPLICAS: &str = "\
||Deployment +spec/replicas
||StatefulSet +spec/replicas
||ReplicaSet +spec/replicas
||ReplicationController +spec/replicas";

/// An entry of `images`, ready to use.
struct Change<'a> {
    pattern: Regex,
    name: &'a str,
    tag: &'a str,
    suffix: &'a str,
    digest: &'a str,
}

/// Changes images; `Err` has the object, where it is one, and why kustomize stops.
pub(crate) fn images(resources: &mut [Resource], entry: &Value) -> Result<(), (Option<usize>, String)> {
    let name = raw_at(entry, &["name"]);
    // The name is a regular expression in kustomize, whether that is wanted or not.
    let pattern = format!("^{name}(:[a-zA-Z0-9_.{{}}-]*)?(@sha256:[a-zA-Z0-9_.{{}}-]*)?$");
    let wrong = |_| (None, format!("`{name}` cannot be read as the name of an image"));
    let change = Change {
        pattern: Regex::new(&pattern).map_err(wrong)?,
        name: raw_at(entry, &["newName"]),
        tag: raw_at(entry, &["newTag"]),
        suffix: raw_at(entry, &["tagSuffix"]),
        digest: raw_at(entry, &["digest"]),
    };
    // Kustomize changes all objects by the names of fields first, and by paths then.
    for (at, resource) in resources.iter_mut().enumerate() {
        if raw_at(&resource.value, &["kind"]) != "CustomResourceDefinition" {
            change
                .everywhere(&mut resource.value)
                .map_err(|reason| (Some(at), reason))?;
        }
    }
    for (at, resource) in resources.iter_mut().enumerate() {
        if raw_at(&resource.value, &["kind"]) == "CustomResourceDefinition" {
            continue;
        }
        for path in FIELDS {
            visit(&mut resource.value, &field(path), Make::Nothing, &mut |value| {
                change.one(value)
            })
            .map_err(|reason| (Some(at), reason))?;
        }
    }
    Ok(())
}

impl Change<'_> {
    /// Changes the images of containers wherever containers stand.
    fn everywhere(&self, value: &mut Value) -> Result<(), String> {
        match value {
            Value::Map(map) => {
                for (key, value) in map.iter_mut() {
                    self.everywhere(value)?;
                    if let ("containers" | "initContainers", Value::List(items)) = (&**key, value) {
                        items.iter_mut().try_for_each(|item| self.container(item))?;
                    }
                }
                Ok(())
            }
            Value::List(items) => items.iter_mut().try_for_each(|item| self.everywhere(item)),
            _ => Ok(()),
        }
    }

    fn container(&self, item: &mut Value) -> Result<(), String> {
        if item.as_map().is_none() && !item.is_null() {
            return Err("a container is no mapping".to_owned());
        }
        item.get_mut("image").map_or(Ok(()), |image| self.one(image))
    }

    fn one(&self, value: &mut Value) -> Result<(), String> {
        if value.scalar().is_none() {
            return Err("an image is no string".to_owned());
        }
        if value.is_null() || !self.pattern.is_match(value.raw()) {
            return Ok(());
        }
        let (name, mut tag, mut digest) = split(value.raw());
        let name = if self.name.is_empty() { name } else { self.name };
        let suffixed = format!("{tag}{}", self.suffix);
        match (self.tag, self.digest) {
            ("", "") if self.suffix.is_empty() => {}
            ("", "") => (tag, digest) = (&suffixed, ""),
            (new, pin) => (tag, digest) = (new, pin),
        }
        let mut text = name.to_owned();
        for (mark, part) in [(':', tag), ('@', digest)] {
            if !part.is_empty() {
                text.push(mark);
                text.push_str(part);
            }
        }
        *value = Value::text(&text);
        Ok(())
    }
}

/// Splits an image into name, tag and digest.
fn split(image: &str) -> (&str, &str, &str) {
    let host = image.find('/').filter(|at| *at > 0).unwrap_or(0);
    let (head, digest) = match image[host..].find('@') {
        Some(at) => (&image[..host + at], &image[host + at + 1..]),
        None => (image, ""),
    };
    match head[host..].find(':') {
        Some(at) => (&head[..host + at], &head[host + at + 1..], digest),
        None => (head, "", digest),
    }
}

/// Sets the number of replicas; `Err` has the object, where it is one, and why kustomize stops.
pub(crate) fn replicas(resources: &mut [Resource], entry: &Value) -> Result<(), (Option<usize>, String)> {
    let name = raw_at(entry, &["name"]);
    let count = match raw_at(entry, &["count"]) {
        "" => "0",
        count => count,
    };
    let mut found = false;
    for spec in table(REPLICAS) {
        let is_meant = |id: &Id| id.name == name && spec.gvk.selects(id);
        for (at, resource) in resources.iter_mut().enumerate() {
            if !resource.ids().iter().any(is_meant) {
                continue;
            }
            found = true;
            let mut set = |value: &mut Value| {
                if value.scalar().is_none() {
                    return Err("`spec.replicas` is no number".to_owned());
                }
                *value = Value::Number(count.into());
                Ok(())
            };
            visit(&mut resource.value, &spec, Make::Scalar, &mut set).map_err(|reason| (Some(at), reason))?;
        }
    }
    if found {
        return Ok(());
    }
    let message = format!("no Deployment, StatefulSet, ReplicaSet or ReplicationController is called `{name}`");
    Err((None, message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_is_split_into_name_tag_and_digest() {
        assert_eq!(split("a"), ("a", "", ""));
        assert_eq!(split("r:5000/a/b:1@sha256:c"), ("r:5000/a/b", "1", "sha256:c"));
        assert_eq!(split("a@sha256:c"), ("a", "", "sha256:c"));
        assert_eq!(split("a:1"), ("a", "1", ""));
    }
}
