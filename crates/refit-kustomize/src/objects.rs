//! Files and texts as objects.
//!
//! In: bytes. Out: the objects in them with their places, in kustomize's order. Objects in lists are taken out of them.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use crate::read::{self, Rules, Trouble};
use crate::resource::raw_at;
use crate::value::Value;

/// An object with its place in the text.
#[derive(Clone, Debug)]
pub(crate) struct Placed {
    pub(crate) value: Value,
    /// Which document of the text, counted from 0.
    pub(crate) document: usize,
    pub(crate) span: Range<usize>,
    pub(crate) line: usize,
}

/// Reads the objects of a text.
pub(crate) fn read(bytes: &Arc<[u8]>) -> Result<Vec<Placed>, Trouble> {
    let stream = read::split(bytes)?;
    let mut open = VecDeque::new();
    for (index, document) in stream.documents().iter().enumerate() {
        let value = match read::document(document, Rules::Objects) {
            Ok(Some(value)) => value,
            Ok(None) => continue,
            Err(mut trouble) => {
                trouble.line = trouble.line.max(1);
                return Err(trouble);
            }
        };
        let placed = Placed {
            value,
            document: index,
            line: read::line_of(stream.text(), document.body().start),
            span: document.body(),
        };
        take(&mut open, placed)?;
    }
    let mut objects = Vec::new();
    while let Some(placed) = open.pop_front() {
        if !raw_at(&placed.value, &["kind"]).ends_with("List") {
            objects.push(placed);
            continue;
        }
        match placed.value.get("items") {
            None => objects.push(placed),
            Some(Value::List(items)) => {
                for item in items {
                    let placed = Placed {
                        value: item.clone(),
                        ..placed.clone()
                    };
                    take(&mut open, placed)?;
                }
            }
            Some(items) if items.is_null() => {}
            Some(_) => return Err(Trouble::fails(placed.line, "`items` is no list")),
        }
    }
    Ok(objects)
}

/// Takes an object in if it is one; what is empty is passed over.
fn take(open: &mut VecDeque<Placed>, placed: Placed) -> Result<(), Trouble> {
    if placed.value.is_empty() {
        return Ok(());
    }
    let line = placed.line;
    if placed.value.as_map().is_none() {
        return Err(Trouble::fails(line, "this is no object"));
    }
    let kind = raw_at(&placed.value, &["kind"]);
    if kind.is_empty() {
        return Err(Trouble::fails(line, "an object has no `kind`"));
    }
    if !kind.ends_with("List") && raw_at(&placed.value, &["metadata", "name"]).is_empty() {
        return Err(Trouble::fails(line, format!("a `{kind}` has no `metadata.name`")));
    }
    open.push_back(placed);
    Ok(())
}
