//! Names of objects in other objects.
//!
//! In: objects that remember what they were called. Out: the same objects with references that follow the new names. The
//! fields stand in `data/name-references.txt`.

use std::collections::{HashMap, HashSet};

use crate::fields::{FieldSpec, Make, visit};
use crate::id::{Gvk, Id};
use crate::resource::{PREFIXES, Resource, SUFFIXES, raw_at};
use crate::value::Value;

/// A field that names an object.
struct Reference {
    target: Gvk,
    field: FieldSpec,
}

fn table() -> Vec<Reference> {
    let mut references = Vec::new();
    let mut target = Gvk::default();
    let lines = include_str!("../data/name-references.txt").lines();
    for line in lines.filter(|line| !line.starts_with('#')) {
        match line.split_once(' ') {
            Some((">", gvk)) => target = Gvk::parse(gvk),
            Some((gvk, path)) => references.push(Reference {
                target: target.clone(),
                field: FieldSpec {
                    gvk: Gvk::parse(gvk),
                    path: path.to_owned(),
                    create: false,
                },
            }),
            None => {}
        }
    }
    references
}

/// What is known of an object that may be referred to.
struct Candidate {
    now: Id,
    previous: Vec<Id>,
    prefixes: Vec<String>,
    suffixes: Vec<String>,
}

/// Follows new names; `Err` has the object and why kustomize stops.
pub(crate) fn follow(resources: &mut [Resource]) -> Result<(), (usize, String)> {
    let candidate = |resource: &Resource| Candidate {
        now: resource.id(),
        previous: resource.previous(),
        prefixes: resource.words(PREFIXES),
        suffixes: resource.words(SUFFIXES),
    };
    let candidates: Vec<Candidate> = resources.iter().map(candidate).collect();
    let mut by_name: HashMap<&str, Vec<usize>> = HashMap::new();
    for (at, candidate) in candidates.iter().enumerate() {
        let names: HashSet<&str> = candidate.previous.iter().map(|id| id.name.as_str()).collect();
        for name in names {
            by_name.entry(name).or_default().push(at);
        }
    }
    if by_name.is_empty() {
        return Ok(());
    }
    let references = table();
    for at in 0..resources.len() {
        let original = resources[at].original();
        let referrer = Referrer {
            candidates: &candidates,
            by_name: &by_name,
            own: &candidates[at],
            reachable: reachable(&resources[at].value),
            role: role(&resources[at].value),
        };
        for reference in references
            .iter()
            .filter(|reference| reference.field.gvk.selects(&original))
        {
            let field = FieldSpec {
                gvk: Gvk::default(),
                ..reference.field.clone()
            };
            let mut set = |value: &mut Value| referrer.set(value, reference);
            visit(&mut resources[at].value, &field, Make::Nothing, &mut set).map_err(|reason| (at, reason))?;
        }
    }
    Ok(())
}

/// Gives the namespaces of the accounts that a RoleBinding names.
fn reachable(value: &Value) -> Vec<String> {
    if raw_at(value, &["kind"]) != "RoleBinding" {
        return Vec::new();
    }
    let subjects = value.get("subjects").map_or(&[][..], Value::items);
    let accounts = subjects
        .iter()
        .filter(|subject| raw_at(subject, &["kind"]) == "ServiceAccount");
    accounts
        .map(|subject| raw_at(subject, &["namespace"]).to_owned())
        .collect()
}

/// Gives group and kind of the role that a binding names.
fn role(value: &Value) -> Option<Gvk> {
    let part = |key: &str| value.at(&["roleRef", key]).map(|text| text.raw().to_owned());
    Some(Gvk {
        group: part("apiGroup")?,
        version: String::new(),
        kind: part("kind")?,
    })
}

/// An object that may refer to others.
struct Referrer<'a> {
    candidates: &'a [Candidate],
    by_name: &'a HashMap<&'a str, Vec<usize>>,
    own: &'a Candidate,
    reachable: Vec<String>,
    role: Option<Gvk>,
}

impl<'a> Referrer<'a> {
    fn set(&self, value: &mut Value, reference: &Reference) -> Result<(), String> {
        match value {
            value if value.is_null() => Ok(()),
            Value::Map(_) => self.set_mapping(value, reference),
            Value::List(items) => items.iter_mut().try_for_each(|item| match item {
                item if item.is_null() => Ok(()),
                Value::Map(_) => self.set_mapping(item, reference),
                Value::List(_) => Err("a list stands where a name is wanted".to_owned()),
                item => self.set_name(item, reference),
            }),
            value => self.set_name(value, reference),
        }
    }

    fn set_name(&self, value: &mut Value, reference: &Reference) -> Result<(), String> {
        let all = self.by_name.get(value.raw()).cloned().unwrap_or_default();
        let same = |one: &Candidate, other: &Candidate| one.now.name == other.now.name;
        if let Some(found) = self.referral(value.raw(), all, reference, same)?
            && found.now.name != value.raw()
        {
            *value = Value::text(&found.now.name);
        }
        Ok(())
    }

    fn set_mapping(&self, value: &mut Value, reference: &Reference) -> Result<(), String> {
        let Some(name) = value.get("name").map(|name| name.raw().to_owned()) else {
            return Err("there is no `name` where an object is named".to_owned());
        };
        let mut all = self.by_name.get(name.as_str()).cloned().unwrap_or_default();
        if let Some(namespace) = value.get("namespace") {
            all = self.in_namespace(all, namespace.raw());
        }
        let same = |one: &Candidate, other: &Candidate| {
            one.now.name == other.now.name && one.now.namespace == other.now.namespace
        };
        let Some(found) = self.referral(&name, all, reference, same)? else {
            return Ok(());
        };
        if found.now.name == name && found.now.namespace.is_empty() {
            return Ok(());
        }
        value.set("name", Value::text(&found.now.name));
        if !found.now.namespace.is_empty() {
            value.set("namespace", Value::text(&found.now.namespace));
        }
        Ok(())
    }

    /// Keeps those that were in a namespace at first; where nothing at all was, those that are in it now.
    fn in_namespace(&self, found: Vec<usize>, namespace: &str) -> Vec<usize> {
        let first = |candidate: &'a Candidate| candidate.previous.first().unwrap_or(&candidate.now);
        let was_in = |candidate: &'a Candidate| first(candidate).effective_namespace() == Some(namespace);
        let any = self
            .candidates
            .iter()
            .any(|candidate| self.can_reach(candidate) && was_in(candidate));
        let fits = |at: &usize| {
            let candidate = &self.candidates[*at];
            if any {
                was_in(candidate)
            } else {
                candidate.now.effective_namespace() == Some(namespace)
            }
        };
        found.into_iter().filter(fits).collect()
    }

    fn can_reach(&self, candidate: &Candidate) -> bool {
        self.own.now.is_cluster_scoped()
            || candidate.now.is_cluster_scoped()
            || candidate.now.effective_namespace() == self.own.now.effective_namespace()
            || self.reachable.contains(&candidate.now.namespace)
    }

    /// Chooses the object that a name refers to.
    fn referral(
        &self,
        name: &str,
        found: Vec<usize>,
        reference: &Reference,
        same: fn(&Candidate, &Candidate) -> bool,
    ) -> Result<Option<&'a Candidate>, String> {
        let by_role = reference.field.path.ends_with("roleRef/name");
        let mut left: Vec<&Candidate> = found
            .into_iter()
            .map(|at| &self.candidates[at])
            .filter(|candidate| self.can_reach(candidate))
            .filter(|candidate| candidate.previous.iter().any(|id| reference.target.selects(id)))
            .filter(|candidate| match (&self.role, by_role) {
                (Some(role), true) => candidate.previous.iter().any(|id| role.selects(id)),
                _ => true,
            })
            .filter(|candidate| {
                self.own.now.is_cluster_scoped()
                    || candidate.now.is_cluster_scoped()
                    || candidate.now.kind == "ServiceAccount"
                    || candidate.now.effective_namespace() == self.own.now.effective_namespace()
            })
            .collect();
        if left.len() != 1 {
            left.retain(|candidate| self.went_the_same_way(candidate, Way::Loosely));
            if left.len() > 1 {
                left.retain(|candidate| self.went_the_same_way(candidate, Way::Exactly));
            }
        }
        match left.as_slice() {
            [] => Ok(None),
            [first, others @ ..] if others.iter().all(|other| same(first, other)) => Ok(Some(first)),
            _ => Err(format!(
                "more than one object was called `{name}`, so that the reference is not clear"
            )),
        }
    }

    /// Tells whether another object got the same prefixes and suffixes last.
    fn went_the_same_way(&self, other: &Candidate, way: Way) -> bool {
        let fits = |one: &[String], other: &[String]| {
            (way == Way::Loosely && (one.is_empty() || other.is_empty())) || same_end(one, other)
        };
        fits(&other.prefixes, &self.own.prefixes) && fits(&other.suffixes, &self.own.suffixes)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Loosely,
    Exactly,
}

/// Tells whether the shorter of two lists ends the longer one.
fn same_end(one: &[String], other: &[String]) -> bool {
    one.is_empty() == other.is_empty()
        && one
            .iter()
            .rev()
            .zip(other.iter().rev())
            .all(|(one, other)| one == other)
}
