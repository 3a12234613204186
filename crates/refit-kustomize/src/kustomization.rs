//! One kustomization, read and checked.
//!
//! In: the bytes of its file. Out: a [`Kustomization`] with the place of each entry. Fields that kustomize does not know, and
//! values of the wrong shape, make it fail, as they make kustomize fail.

mod shape;

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use refit_manifest::Path;
use refit_manifest::parse::NodeRef;

use crate::built::{Entry, Field};
use crate::read::{self, Rules, Trouble};
use crate::value::Value;

pub(crate) use shape::check_replacement;

/// A kustomization.
pub(crate) struct Kustomization {
    pub(crate) path: Path,
    value: Value,
    places: BTreeMap<String, Place>,
}

/// Where a field stands, and the entries of its list.
struct Place {
    line: usize,
    entries: Vec<(Range<usize>, usize)>,
}

/// What a kustomization is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sort {
    Kustomization,
    Component,
}

impl Kustomization {
    /// Reads a kustomization.
    pub(crate) fn read(path: &Path, bytes: &Arc<[u8]>) -> Result<Self, Trouble> {
        let stream = read::split(bytes)?;
        let document = stream.documents().iter().find(|document| !document.is_empty());
        let empty = || Trouble::fails(1, "the kustomization is empty");
        let document = document.ok_or_else(empty)?;
        let value = read::document(document, Rules::Settings)?.unwrap_or(Value::Null);
        let root = document.root().ok_or_else(empty)?;
        if value.is_null() {
            return Err(empty());
        }
        if value.as_map().is_none() {
            return Err(Trouble::fails(read::line(root), "a kustomization is a mapping"));
        }
        let kustomization = Self {
            path: path.clone(),
            places: places(root),
            value,
        };
        kustomization.check()?;
        Ok(kustomization)
    }

    /// Makes the kustomization that kustomize-controller makes where there is none: it names these resources.
    pub(crate) fn generated(path: Path, resources: Vec<String>) -> Self {
        let mut value = Value::map();
        let list = resources.iter().map(|name| Value::text(name)).collect();
        value.set("resources", Value::List(list));
        let place = Place {
            line: 1,
            entries: resources.iter().map(|_| (0..0, 1)).collect(),
        };
        Self {
            path,
            value,
            places: BTreeMap::from([("resources".to_owned(), place)]),
        }
    }

    fn check(&self) -> Result<(), Trouble> {
        for (key, value) in self.value.as_map().into_iter().flatten() {
            shape::check(key, value).map_err(|mut trouble| {
                trouble.line = self.line(key);
                trouble
            })?;
        }
        let says_something = |(key, value): (&Arc<str>, &Value)| {
            let nothing = match &**key {
                "apiVersion" | "kind" => true,
                "bases" | "imageTags" => value.is_empty(),
                _ => value.is_null() || matches!(value, Value::Bool(false)) || value.as_str() == Some(""),
            };
            !nothing
        };
        if !self.value.as_map().into_iter().flatten().any(says_something) {
            return Err(Trouble::fails(1, "the kustomization is empty"));
        }
        self.check_type()
    }

    fn check_type(&self) -> Result<(), Trouble> {
        let (kind, version) = (self.text("kind"), self.text("apiVersion"));
        if !matches!(kind, "" | "Kustomization" | "Component") {
            let message = format!("the kind is `Kustomization` or `Component`, not `{kind}`");
            return Err(Trouble::fails(self.line("kind"), message));
        }
        let wanted = match self.sort() {
            Sort::Component => "kustomize.config.k8s.io/v1alpha1",
            Sort::Kustomization => "kustomize.config.k8s.io/v1beta1",
        };
        if version.is_empty() || version == wanted {
            return Ok(());
        }
        let message = format!("the apiVersion is `{wanted}`, not `{version}`");
        Err(Trouble::fails(self.line("apiVersion"), message))
    }

    /// Tells whether this is a component.
    pub(crate) fn sort(&self) -> Sort {
        match self.text("kind") {
            "Component" => Sort::Component,
            _ => Sort::Kustomization,
        }
    }

    /// Gives the text of a field; empty where there is none.
    pub(crate) fn text(&self, key: &str) -> &str {
        self.value.get(key).and_then(Value::as_str).unwrap_or_default()
    }

    /// Gives a field.
    pub(crate) fn get(&self, key: &str) -> Option<&Value> {
        self.value.get(key).filter(|value| !value.is_null())
    }

    /// Gives the line of a field, counted from 1.
    pub(crate) fn line(&self, key: &str) -> usize {
        self.places.get(key).map_or(1, |place| place.line)
    }

    /// Lists the entries of a list with their places.
    pub(crate) fn entries(&self, field: Field) -> Vec<(Entry, Value)> {
        let places = self.places.get(field.name()).map_or(&[][..], |place| &place.entries);
        let items = self.value.get(field.name()).map_or(&[][..], Value::items);
        let entry = |(index, (item, (span, line))): (usize, (&Value, &(Range<usize>, usize)))| {
            let entry = Entry {
                kustomization: self.path.clone(),
                field,
                index,
                span: span.clone(),
                line: *line,
            };
            (entry, item.clone())
        };
        items.iter().zip(places).enumerate().map(entry).collect()
    }
}

fn places(root: NodeRef<'_>) -> BTreeMap<String, Place> {
    let place = |(key, value): (NodeRef<'_>, NodeRef<'_>)| {
        let entries = value.items().map(|item| (item.full_span(), read::line(item)));
        let place = Place {
            line: read::line(key),
            entries: entries.collect(),
        };
        Some((key.text()?.to_owned(), place))
    };
    root.entries().filter_map(place).collect()
}
