//! The strategic merge of one patch into one object.
//!
//! In: two values. Out: the merged value, and what the merge replaced whole. It follows kustomize where that differs from
//! the API server: `$retainKeys`, `$setElementOrder` and `$deleteFromPrimitiveList` are ordinary fields there, and
//! `$patch: replace` in an element of a keyed list changes nothing.

mod list;

use std::sync::Arc;

use crate::built::{Directive, ReplacedList, Step};
use crate::schema::{How, Type};
use crate::value::Value;

/// What a merge gives.
#[derive(Debug, Default)]
pub(crate) struct Merged {
    /// The object; `None` where the patch deletes it.
    pub(crate) value: Option<Value>,
    /// The lists that were replaced whole.
    pub(crate) replaced: Vec<ReplacedList>,
}

/// Merges a patch into an object; `Err` says why kustomize stops.
pub(crate) fn merge(object: &Value, patch: &Value) -> Result<Merged, String> {
    let mut merger = Merger::default();
    let sides = Sides::two(Some(object.clone()), Some(patch.clone()));
    let walked = merger.walk(sides, None, How::Mapping)?;
    Ok(Merged {
        value: walked.value,
        replaced: merger.replaced,
    })
}

/// Lists the directives of a patch.
pub(crate) fn directives(patch: &Value) -> Vec<Directive> {
    let mut found = Vec::new();
    find_directives(patch, &mut Vec::new(), &mut found);
    found
}

fn find_directives(value: &Value, path: &mut Vec<Step>, found: &mut Vec<Directive>) {
    for (key, value) in value.as_map().into_iter().flatten() {
        if key.starts_with('$') {
            found.push(Directive {
                path: path.clone(),
                key: key.to_string(),
                value: value.clone(),
            });
            continue;
        }
        path.push(Step::Key(key.to_string()));
        find_directives(value, path, found);
        path.pop();
    }
    for (index, item) in value.items().iter().enumerate() {
        path.push(element(index, item));
        find_directives(item, path, found);
        path.pop();
    }
}

/// Names an element of a list by its `name`, where it has one.
fn element(index: usize, item: &Value) -> Step {
    let name = item.get("name").and_then(Value::as_str);
    Step::Element {
        index,
        identity: name
            .map(|name| ("name".to_owned(), name.to_owned()))
            .into_iter()
            .collect(),
    }
}

/// The two sides of one place.
struct Sides {
    object: Option<Value>,
    patch: Option<Value>,
    /// Whether both are one and the same: the object had nothing there and took what the patch has.
    shared: bool,
}

impl Sides {
    fn two(object: Option<Value>, patch: Option<Value>) -> Self {
        Self {
            object,
            patch,
            shared: false,
        }
    }

    fn shared(value: Option<Value>) -> Self {
        Self {
            object: value.clone(),
            patch: value,
            shared: true,
        }
    }

    fn child(&self, key: &str) -> Self {
        let get = |side: &Option<Value>| side.as_ref().and_then(|value| value.get(key)).cloned();
        Self {
            object: get(&self.object),
            patch: get(&self.patch),
            shared: self.shared,
        }
    }
}

/// What a walk leaves at one place.
struct Walked {
    /// The value; `None` where nothing stays.
    value: Option<Value>,
    /// Whether it is what the object had there, changed in place.
    in_place: bool,
}

impl Walked {
    const NOTHING: Self = Self {
        value: None,
        in_place: false,
    };
}

/// What `$patch` says.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    Merge,
    Replace,
    Delete,
}

#[derive(Default)]
struct Merger {
    path: Vec<Step>,
    replaced: Vec<ReplacedList>,
}

/// Two sides that are there, after what the patch orders for them.
struct Ordered {
    sides: Sides,
    /// Whether the object is changed where it stands.
    in_place: bool,
}

impl Ordered {
    /// Follows the order of the patch; `None` where nothing is left.
    fn of(mut sides: Sides) -> Result<Option<Self>, String> {
        if sides.patch.as_ref().is_some_and(Value::is_null) {
            return Ok(None);
        }
        Ok(match order(&mut sides.patch)? {
            Order::Delete => None,
            Order::Replace => Some(Self {
                in_place: sides.shared,
                sides: Sides::shared(sides.patch),
            }),
            Order::Merge => {
                if sides.shared {
                    sides.object = sides.patch.clone();
                }
                Some(Self { sides, in_place: true })
            }
        })
    }
}

impl Merger {
    /// Merges one place; `how` says how the field that leads there is merged, where that is a list.
    fn walk(&mut self, sides: Sides, kind: Option<Type>, how: How) -> Result<Walked, String> {
        let kind = kind.or_else(|| [&sides.object, &sides.patch].into_iter().flatten().find_map(type_of));
        let first = [&sides.object, &sides.patch]
            .into_iter()
            .flatten()
            .find(|value| !value.is_null());
        match first {
            None => self.mapping(sides, kind),
            Some(Value::Map(_)) => {
                self.same_shape(&sides, |value| matches!(value, Value::Map(_)))?;
                self.mapping(sides, kind)
            }
            Some(Value::List(_)) => {
                self.same_shape(&sides, |value| matches!(value, Value::List(_)))?;
                match how {
                    How::Keys(keys) => self.keyed(sides, kind, keys),
                    _ => Ok(self.whole(sides)),
                }
            }
            Some(_) => {
                self.same_shape(&sides, |value| value.scalar().is_some())?;
                Ok(Walked {
                    in_place: sides.patch.is_none(),
                    value: sides.patch.or(sides.object),
                })
            }
        }
    }

    fn same_shape(&self, sides: &Sides, fits: fn(&Value) -> bool) -> Result<(), String> {
        let wrong = [&sides.object, &sides.patch]
            .into_iter()
            .flatten()
            .any(|value| !value.is_null() && !fits(value));
        if !wrong {
            return Ok(());
        }
        let place = crate::built::meaning(&self.path);
        Err(format!("patch and object hold values of different shape at `{place}`"))
    }

    fn whole(&mut self, sides: Sides) -> Walked {
        let Some(patch) = sides.patch else {
            return Walked {
                value: sides.object,
                in_place: true,
            };
        };
        if matches!(patch, Value::List(_)) {
            self.replaced.push(ReplacedList {
                path: self.path.clone(),
                before: sides.object.filter(|value| !sides.shared && !value.is_null()),
                after: patch.clone(),
            });
        }
        Walked {
            value: Some(patch),
            in_place: false,
        }
    }

    fn mapping(&mut self, mut sides: Sides, kind: Option<Type>) -> Result<Walked, String> {
        let in_place;
        if sides.object.as_ref().is_none_or(Value::is_null) {
            if order(&mut sides.patch) == Ok(Order::Delete) {
                return Ok(Walked::NOTHING);
            }
            if sides.patch.is_none() {
                // A null that is written stays; one that is written as nothing goes.
                let stays = sides.object.filter(|value| !value.is_blank());
                return Ok(Walked {
                    value: stays,
                    in_place: false,
                });
            }
            in_place = false;
            sides = Sides::shared(sides.patch);
        } else {
            let Some(ordered) = Ordered::of(sides)? else {
                return Ok(Walked::NOTHING);
            };
            Ordered { sides, in_place } = ordered;
        }
        self.fields(sides, kind).map(|value| Walked { value, in_place })
    }

    fn fields(&mut self, sides: Sides, kind: Option<Type>) -> Result<Option<Value>, String> {
        let Some(Value::Map(_)) = &sides.object else {
            // A null in the patch: it is not written.
            return Ok(None);
        };
        let names = |side: &Option<Value>| -> Vec<Arc<str>> {
            let map = side.as_ref().and_then(Value::as_map);
            map.into_iter().flat_map(|map| map.keys().cloned()).collect()
        };
        let mut keys = names(&sides.object);
        keys.extend(names(&sides.patch));
        keys.sort();
        keys.dedup();
        let mut result = sides.object.clone();
        for key in keys {
            let field = kind.and_then(|kind| kind.field(&key));
            let how = field.map_or(How::Whole, |(how, _)| how);
            self.path.push(Step::Key(key.to_string()));
            let walked = self.walk(sides.child(&key), field.and_then(|(_, to)| to), how)?;
            self.path.pop();
            let Some(map) = result.as_mut().and_then(Value::as_map_mut) else {
                break;
            };
            // A null that stays was there before; one that comes from the patch removes the key.
            let kept = walked
                .value
                .filter(|value| !value.is_null() || sides.patch_is_silent(&key));
            match kept {
                Some(value) => map.insert(key, value),
                None => map.remove(&key),
            };
        }
        Ok(result)
    }
}

impl Sides {
    /// Tells whether the patch says nothing about a key.
    fn patch_is_silent(&self, key: &str) -> bool {
        self.patch.as_ref().is_none_or(|patch| patch.get(key).is_none())
    }
}

fn type_of(value: &Value) -> Option<Type> {
    let text = |key: &str| value.get(key).map(Value::raw).filter(|text| !text.is_empty());
    Type::of(text("apiVersion")?, text("kind")?)
}

/// Takes `$patch` out of a patch and tells what it says.
fn order(patch: &mut Option<Value>) -> Result<Order, String> {
    let Some(patch) = patch else { return Ok(Order::Merge) };
    match patch {
        Value::Map(map) => {
            let Some(word) = map.get("$patch") else {
                return Ok(Order::Merge);
            };
            let order = word_of(word.raw())?;
            map.remove("$patch");
            Ok(order)
        }
        Value::List(items) => {
            let first = items.iter().find(|item| item.get("$patch").is_some());
            let Some(map) = first.and_then(Value::as_map).filter(|map| map.len() == 1) else {
                return Ok(Order::Merge);
            };
            let word = map.get("$patch").map(|word| word.raw().to_owned()).unwrap_or_default();
            let order = word_of(&word)?;
            items.retain(|item| !item.is_empty() && item.get("$patch").is_none_or(|other| other.raw() != word));
            Ok(order)
        }
        _ => Err("a patch holds a scalar where the object holds a collection".to_owned()),
    }
}

fn word_of(word: &str) -> Result<Order, String> {
    match word {
        "merge" => Ok(Order::Merge),
        "replace" => Ok(Order::Replace),
        "delete" => Ok(Order::Delete),
        other => Err(format!(
            "`$patch: {other}` is unknown; it is `merge`, `replace` or `delete`"
        )),
    }
}
