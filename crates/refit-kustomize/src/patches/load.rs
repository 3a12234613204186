//! What an entry holds or names: strategic merges or operations.

use std::sync::Arc;

use refit_manifest::{Path, Tree};

use crate::built::{Content, Entry, Field, Place};
use crate::files::{self, Found};
use crate::objects::{self, Placed};
use crate::operations::{self, Written};
use crate::read::Trouble;
use crate::resource::{ALLOW_KIND, ALLOW_NAME, ENABLED, entry as part};
use crate::stop::Stop;
use crate::value::Value;

/// The content of an entry.
pub(super) struct Loaded {
    pub(super) body: Body,
    /// The file; `None` where it stands in the kustomization.
    file: Option<Path>,
}

/// One document of a strategic merge.
pub(super) type Document = Placed;

/// What a patch is made of.
pub(super) enum Body {
    Merges(Vec<Document>),
    Operations(Vec<Written>),
}

impl Loaded {
    /// Tells where a document of the content stands.
    pub(super) fn content(&self, document: Option<&Document>) -> Content {
        match &self.file {
            None => Content::Inline {
                document: document.map_or(0, |document| document.document),
            },
            Some(path) => Content::File(Place {
                path: path.clone(),
                document: document.map_or(0, |document| document.document),
                span: document.map_or(0..0, |document| document.span.clone()),
                line: document.map_or(1, |document| document.line),
            }),
        }
    }
}

/// Loads the content of an entry.
pub(super) fn load(tree: &Tree, entry: &Entry, value: &Value) -> Result<Loaded, Stop> {
    match entry.field {
        Field::PatchesStrategicMerge => merges(tree, entry, value.as_str().unwrap_or_default()),
        Field::PatchesJson6902 => {
            let (text, file) = text(
                tree,
                entry,
                value,
                value.get("patch").map(Value::raw).unwrap_or_default(),
            )?;
            let operations = operations::parse(&text).map_err(|trouble| place(entry, file.as_ref(), &trouble))?;
            if operations.is_empty() {
                return Err(Stop::entry(entry, "the patch holds no operation"));
            }
            Ok(Loaded {
                body: Body::Operations(operations),
                file,
            })
        }
        _ => any(tree, entry, value),
    }
}

/// Loads an entry of `patchesStrategicMerge`: the content itself, else the name of a file.
fn merges(tree: &Tree, entry: &Entry, text: &str) -> Result<Loaded, Stop> {
    if let Ok(documents) = objects::read(&text.as_bytes().into()) {
        return Ok(Loaded {
            body: Body::Merges(documents),
            file: None,
        });
    }
    let (bytes, path) = file(tree, entry, text)?;
    let documents = objects::read(&bytes).map_err(|trouble| Stop::trouble(&path, &trouble))?;
    Ok(Loaded {
        body: Body::Merges(documents),
        file: Some(path),
    })
}

/// Loads an entry of `patches`, which may be of either form.
fn any(tree: &Tree, entry: &Entry, value: &Value) -> Result<Loaded, Stop> {
    let inline = value.get("patch").map(Value::raw).unwrap_or_default().trim();
    let (text, file) = text(tree, entry, value, inline)?;
    let merges = objects::read(&text.as_bytes().into());
    let operations = operations::parse(&text);
    let body = match (merges, operations) {
        (Ok(merges), Ok(operations)) if !merges.is_empty() && !operations.is_empty() => {
            let message = "the patch can be read as a strategic merge and as a list of operations";
            return Err(Stop::entry(entry, message));
        }
        (Ok(mut merges), _) => {
            allow(value, &mut merges);
            Body::Merges(merges)
        }
        (Err(_), Ok(operations)) => Body::Operations(operations),
        (Err(merge), Err(operations)) => {
            let trouble = if text.trim_start().starts_with(['-', '[']) {
                operations
            } else {
                merge
            };
            return Err(place(entry, file.as_ref(), &trouble));
        }
    };
    Ok(Loaded { body, file })
}

/// Marks patches that may change name or kind.
fn allow(value: &Value, merges: &mut [Document]) {
    for (option, mark) in [("allowNameChange", ALLOW_NAME), ("allowKindChange", ALLOW_KIND)] {
        if value.at(&["options", option]) == Some(&Value::Bool(true)) {
            for document in &mut *merges {
                let metadata = part(&mut document.value, "metadata");
                part(metadata, "annotations").set(mark, Value::text(ENABLED));
            }
        }
    }
}

/// Gives the text of an entry with `patch` or `path`.
fn text(tree: &Tree, entry: &Entry, value: &Value, inline: &str) -> Result<(String, Option<Path>), Stop> {
    let path = value.get("path").map(Value::raw).unwrap_or_default();
    match (inline.is_empty(), path.is_empty()) {
        (true, true) => Err(Stop::entry(entry, "the entry has neither `patch` nor `path`")),
        (false, false) => Err(Stop::entry(entry, "the entry has both `patch` and `path`")),
        (false, true) => Ok((inline.to_owned(), None)),
        (true, false) => {
            let (bytes, path) = file(tree, entry, path)?;
            match std::str::from_utf8(&bytes) {
                Ok(text) => Ok((text.to_owned(), Some(path))),
                Err(_) => Err(Stop::failed(&path, 1, "the file is not UTF-8")),
            }
        }
    }
}

fn file(tree: &Tree, entry: &Entry, name: &str) -> Result<(Arc<[u8]>, Path), Stop> {
    let first = name.lines().next().unwrap_or_default();
    if files::is_remote(name) {
        let message = format!("the patch `{first}` is remote");
        return Err(Stop::unsure(&entry.kustomization, entry.line, message));
    }
    match files::find(tree, entry.kustomization.directory(), name) {
        Found::File(path) => match tree.bytes(&path) {
            Some(bytes) => Ok((bytes.clone(), path)),
            None => Err(Stop::entry(entry, format!("there is no file `{path}`"))),
        },
        Found::Elsewhere(message) => Err(Stop::unsure(&entry.kustomization, entry.line, message)),
        Found::Directory(path) => Err(Stop::entry(entry, format!("`{path}` is a directory, not a patch"))),
        Found::Nothing if name.contains('\n') => Err(Stop::entry(
            entry,
            "the patch is neither an object with kind and name nor the name of a file",
        )),
        Found::Nothing => Err(Stop::entry(entry, format!("there is no file `{first}`"))),
    }
}

/// Says where the trouble is: in the file, or in the entry.
fn place(entry: &Entry, file: Option<&Path>, trouble: &Trouble) -> Stop {
    match file {
        Some(path) => {
            let mut stop = Stop::trouble(path, trouble);
            stop.amend(|failure| failure.entry = Some(entry.clone()));
            stop
        }
        None if trouble.certain => Stop::entry(entry, trouble.message.clone()),
        None => Stop::unsure(&entry.kustomization, entry.line, trouble.message.clone()),
    }
}
