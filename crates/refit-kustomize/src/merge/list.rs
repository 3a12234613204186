//! Lists that are merged by the keys of their elements.

use super::{Merger, Ordered, Sides, Walked};
use crate::built::Step;
use crate::read::{Rules, plain};
use crate::schema::{How, Type};
use crate::value::Value;

/// The values of the keys of one element, in the order of the keys; empty where it has none.
type Values = Vec<String>;

impl Merger {
    /// Merges a list whose elements are told apart by keys; no keys: by their own value.
    pub(super) fn keyed(
        &mut self,
        mut sides: Sides,
        kind: Option<Type>,
        keys: &'static [&'static str],
    ) -> Result<Walked, String> {
        let in_place;
        if sides.object.as_ref().is_none_or(Value::is_null) {
            in_place = false;
            sides = Sides::shared(sides.patch);
        } else {
            let Some(ordered) = Ordered::of(sides)? else {
                return Ok(Walked::NOTHING);
            };
            Ordered { sides, in_place } = ordered;
        }
        let Some(Value::List(object)) = sides.object else {
            return Ok(Walked::NOTHING);
        };
        let patch = match sides.patch {
            Some(Value::List(items)) => items,
            _ => Vec::new(),
        };
        let lists = Lists {
            object,
            patch,
            shared: sides.shared,
        };
        let value = if keys.is_empty() {
            lists.scalars()
        } else {
            self.elements(lists, kind, keys)?
        };
        Ok(Walked {
            value: Some(Value::List(value)),
            in_place,
        })
    }

    fn elements(&mut self, mut lists: Lists, kind: Option<Type>, keys: &[&'static str]) -> Result<Vec<Value>, String> {
        let mut all = lists.values(keys);
        if keys.len() > 1 {
            share(&mut all);
        }
        let mut added: Vec<Value> = Vec::new();
        let mut used: Vec<&'static str> = Vec::new();
        for index in 0..all.len() {
            let values = all[index].clone();
            let (valid, wanted) = present(&all, &values, keys);
            used.clone_from(&valid);
            let (sought, sought_values) = present(std::slice::from_ref(&wanted), &wanted, &valid);
            let at = position(&lists.object, &sought, &sought_values);
            let from = position(&lists.patch, &sought, &sought_values);
            let sides = Sides {
                object: at.map(|at| lists.object[at].clone()),
                patch: from.map(|from| lists.patch[from].clone()),
                shared: lists.shared,
            };
            self.path.push(Step::Element {
                index: at.or(from).unwrap_or(index),
                identity: pairs(&sought, &sought_values),
            });
            let walked = self.walk(sides, kind, How::Mapping)?;
            self.path.pop();
            let Some(mut value) = walked
                .value
                .filter(|value| !matches!(value, Value::Map(map) if map.is_empty()))
            else {
                set(&mut lists.object, None, &valid, &wanted)?;
                continue;
            };
            for (key, wanted) in valid.iter().zip(&wanted) {
                if value.get(key).is_none() && !wanted.is_empty() {
                    value.set(key, plain(wanted, Rules::Objects));
                }
            }
            if walked.in_place
                && let Some(at) = at
            {
                lists.object[at] = value.clone();
            }
            set(&mut added, Some(value), &valid, &wanted)?;
        }
        if all.is_empty() {
            return Ok(lists.object);
        }
        append(added, lists.object, &used)
    }
}

/// The two lists of one place.
struct Lists {
    object: Vec<Value>,
    patch: Vec<Value>,
    shared: bool,
}

impl Lists {
    /// Lists the key values of all elements once, those of the patch first.
    fn values(&self, keys: &[&str]) -> Vec<Values> {
        let mut all: Vec<Values> = Vec::new();
        let lists = [&self.patch, &self.object];
        for item in lists.into_iter().flatten() {
            let values: Values = keys.iter().map(|key| key_value(item, key)).collect();
            if !all.contains(&values) {
                all.push(values);
            }
        }
        all
    }

    /// Merges scalars by their value: those of the patch come first.
    fn scalars(self) -> Vec<Value> {
        let mut merged: Vec<Value> = Vec::new();
        for item in self.patch.into_iter().chain(self.object) {
            if !item.is_null() && merged.iter().all(|other| other.raw() != item.raw()) {
                merged.push(item);
            }
        }
        merged
    }
}

fn key_value(item: &Value, key: &str) -> String {
    let value = item.get(key).filter(|value| !value.is_empty());
    value.map(Value::raw).unwrap_or_default().to_owned()
}

fn pairs(keys: &[&str], values: &[String]) -> Vec<(String, String)> {
    let pairs = keys.iter().zip(values).filter(|(_, value)| !value.is_empty());
    pairs.map(|(key, value)| ((*key).to_owned(), value.clone())).collect()
}

/// Keeps the keys for which some element has a value, and the values of one element for them.
fn present(all: &[Values], values: &[String], keys: &[&'static str]) -> (Vec<&'static str>, Values) {
    let has = |at: usize| {
        all.iter()
            .any(|values| values.get(at).is_some_and(|value| !value.is_empty()))
    };
    let valid: Vec<usize> = (0..keys.len()).filter(|at| has(*at)).collect();
    if valid.is_empty() {
        return (keys.to_vec(), values.to_vec());
    }
    let kept = |at: &usize| has(*at) || values.get(*at).is_some_and(|value| !value.is_empty());
    let kept_values = (0..values.len()).filter(kept).map(|at| values[at].clone()).collect();
    (valid.into_iter().map(|at| keys[at]).collect(), kept_values)
}

/// Fills the missing key values of elements from others that agree in what they have.
fn share(all: &mut [Values]) {
    for first in 0..all.len() {
        for second in 0..all.len() {
            if let Some(values) = agreed(&all[first], &all[second]) {
                all[first].clone_from(&values);
                all[second] = values;
            }
        }
    }
}

fn agreed(first: &[String], second: &[String]) -> Option<Values> {
    let mut common = false;
    let mut values = Vec::with_capacity(first.len());
    for (one, other) in first.iter().zip(second) {
        if one == other {
            common = true;
        } else if !one.is_empty() && !other.is_empty() {
            return None;
        }
        values.push(if one.is_empty() { other.clone() } else { one.clone() });
    }
    common.then_some(values)
}

/// Finds the first element with these key values.
fn position(items: &[Value], keys: &[&str], values: &[String]) -> Option<usize> {
    let fits = |item: &Value| {
        let mut pairs = keys.iter().zip(values);
        pairs.all(|(key, wanted)| item.get(key).is_some_and(|value| value.raw() == wanted))
    };
    items.iter().position(|item| item.as_map().is_some() && fits(item))
}

/// Replaces the elements with these key values by another, which comes last where there is none; `None` removes them.
fn set(items: &mut Vec<Value>, element: Option<Value>, keys: &[&str], values: &[String]) -> Result<(), String> {
    let by_key =
        keys.first().is_some_and(|key| !key.is_empty()) && values.first().is_some_and(|value| !value.is_empty());
    let mut kept = Vec::with_capacity(items.len() + 1);
    let mut found = false;
    for item in items.drain(..) {
        if item.is_null() || matches!(&item, Value::Map(map) if map.is_empty()) {
            continue;
        }
        if item.as_map().is_none() {
            if by_key {
                kept.push(item);
                continue;
            }
            return Err("a list that is merged by keys holds an element without keys".to_owned());
        }
        if values.is_empty() {
            continue;
        }
        let fits = keys.iter().zip(values).all(|(key, wanted)| {
            let value = item.get(key);
            value.is_some_and(|value| wanted.is_empty() || value.raw() == wanted)
        });
        if !fits {
            kept.push(item);
            continue;
        }
        found = true;
        kept.extend(element.clone());
    }
    if let Some(element) = element
        && !found
        && !element.is_null()
    {
        kept.push(element);
    }
    *items = kept;
    Ok(())
}

/// Puts the elements of the object behind those of the patch; one that is in both takes the place of the patch's.
fn append(mut items: Vec<Value>, object: Vec<Value>, keys: &[&str]) -> Result<Vec<Value>, String> {
    for item in object {
        let mut values = Vec::with_capacity(keys.len());
        for key in keys {
            match item.get(key) {
                Some(value) => values.push(value.raw().to_owned()),
                None => items.push(item.clone()),
            }
        }
        if keys.len() > 1 {
            set(&mut items, None, keys, &values)?;
        }
        set(&mut items, Some(item), keys, &values)?;
    }
    Ok(items)
}
