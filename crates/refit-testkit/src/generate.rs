//! Makes random manifests and random edits of them.
//!
//! In: random numbers. Out: objects as values, and their text in a chosen look. The same seed gives the same manifests.

use crate::random::Random;

/// A value of a manifest.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A scalar as it is spelled.
    Scalar(String),
    /// A text of several lines.
    Text(Vec<String>),
    /// A map.
    Map(Vec<(String, Value)>),
    /// A list.
    List(Vec<Value>),
}

/// How a manifest is written.
#[derive(Clone, Copy, Debug)]
pub struct Look {
    /// Blanks for each level.
    pub step: usize,
    /// Blanks before the dashes of a list inside a map.
    pub list: usize,
    /// Writes a comment before each nth entry; 0 writes none.
    pub comment_every: usize,
    /// What ends a line.
    pub line_end: &'static str,
}

/// The look of generated files.
pub const GENERATED: Look = Look {
    step: 2,
    list: 0,
    comment_every: 0,
    line_end: "\n",
};

const SPELLINGS: [&str; 14] = [
    "one",
    "two words",
    "\"yes\"",
    "'no'",
    "12",
    "\"0644\"",
    "true",
    "1.5",
    "a/b:c",
    "\"x: y\"",
    "'it''s'",
    "\"tab\\t\"",
    "ümlaut",
    "v1.2.3",
];

const KEYS: [&str; 10] = [
    "alpha",
    "beta",
    "gamma",
    "delta",
    "some.key/x",
    "mode",
    "size",
    "items",
    "paths",
    "extra",
];

/// Makes a scalar.
pub fn scalar(random: &mut Random) -> Value {
    Value::Scalar(match random.pick(&SPELLINGS) {
        Some(spelling) if !random.once_in(3) => (*spelling).to_owned(),
        _ => format!("n{}", random.below(1000)),
    })
}

/// Makes a value of at most the given depth.
pub fn value(random: &mut Random, depth: usize) -> Value {
    match random.below(if depth == 0 { 4 } else { 9 }) {
        0..=2 => scalar(random),
        3 => Value::Text(
            (0..2 + random.below(4))
                .map(|n| format!("line {n} {}", random.below(5)))
                .collect(),
        ),
        4..=6 => map(random, depth),
        7 => Value::List(
            (0..1 + random.below(3))
                .map(|n| Value::Scalar(format!("item{n}-{}", random.below(50))))
                .collect(),
        ),
        _ => {
            let item = |random: &mut Random, n: usize| {
                let mut entries = vec![("name".to_owned(), Value::Scalar(format!("e{n}")))];
                if let Value::Map(more) = map(random, depth - 1) {
                    entries.extend(more);
                }
                Value::Map(entries)
            };
            Value::List((0..1 + random.below(3)).map(|n| item(random, n)).collect())
        }
    }
}

/// Makes a map with at least one key.
pub fn map(random: &mut Random, depth: usize) -> Value {
    let mut entries: Vec<(String, Value)> = Vec::new();
    for _ in 0..1 + random.below(4) {
        let key = random.pick(&KEYS).map_or("key", |key| *key).to_owned();
        if !entries.iter().any(|(other, _)| *other == key) {
            let held = value(random, depth.saturating_sub(1));
            entries.push((key, held));
        }
    }
    Value::Map(entries)
}

/// Makes an object with a kind and a name.
pub fn object(random: &mut Random, number: usize) -> Value {
    let kind = random.pick(&["Widget", "Gadget"]).map_or("Widget", |kind| *kind);
    let text = |text: &str| Value::Scalar(text.to_owned());
    Value::Map(vec![
        ("apiVersion".to_owned(), text("example.dev/v1")),
        ("kind".to_owned(), text(kind)),
        (
            "metadata".to_owned(),
            Value::Map(vec![("name".to_owned(), Value::Scalar(format!("o{number}")))]),
        ),
        ("spec".to_owned(), map(random, 4)),
    ])
}

/// Changes one thing inside a value: a scalar, an entry or an item more or less.
pub fn edit(random: &mut Random, value: &mut Value) {
    match value {
        Value::Scalar(text) => *text = format!("edited{}", random.below(1000)),
        Value::Text(lines) => {
            let at = random.below(lines.len());
            match random.below(3) {
                0 if lines.len() > 2 => drop(lines.remove(at)),
                1 => lines.insert(at, format!("new {}", random.below(1000))),
                _ => lines[at] = format!("edited {}", random.below(1000)),
            }
        }
        Value::Map(entries) => edit_map(random, entries),
        Value::List(items) => edit_list(random, items),
    }
}

fn edit_map(random: &mut Random, entries: &mut Vec<(String, Value)>) {
    let at = random.below(entries.len());
    match random.below(8) {
        0 if entries.len() > 1 && entries[at].0 != "name" => drop(entries.remove(at)),
        1 => {
            let key = format!("added{}", random.below(20));
            if !entries.iter().any(|(other, _)| *other == key) {
                let at = 1 + random.below(entries.len());
                let held = value(random, 2);
                entries.insert(at, (key, held));
            }
        }
        _ if entries[at].0 == "name" => {}
        _ => edit(random, &mut entries[at].1),
    }
}

fn edit_list(random: &mut Random, items: &mut Vec<Value>) {
    let at = random.below(items.len());
    let named = matches!(items.first(), Some(Value::Map(_)));
    match random.below(5) {
        0 if items.len() > 1 => drop(items.remove(at)),
        1 if named => {
            let name = ("name".to_owned(), Value::Scalar(format!("added{}", random.below(20))));
            let held = ("alpha".to_owned(), scalar(random));
            let taken = items
                .iter()
                .any(|item| matches!(item, Value::Map(entries) if entries.contains(&name)));
            if !taken {
                items.insert(at, Value::Map(vec![name, held]));
            }
        }
        1 => items.insert(at, Value::Scalar(format!("new{}", random.below(1000)))),
        _ => edit(random, &mut items[at]),
    }
}

/// Edits an object below its `spec`.
pub fn edit_object(random: &mut Random, object: &mut Value) {
    if let Value::Map(entries) = object
        && let Some((_, spec)) = entries.iter_mut().find(|(key, _)| key == "spec")
    {
        edit(random, spec);
    }
}

/// Writes objects as one file.
pub fn write(objects: &[Value], look: Look) -> String {
    let mut writer = Writer {
        out: String::new(),
        look,
        entries: 0,
    };
    for (number, object) in objects.iter().enumerate() {
        if number > 0 {
            writer.line("---");
        }
        writer.block(object, 0);
    }
    writer.out
}

struct Writer {
    out: String,
    look: Look,
    entries: usize,
}

impl Writer {
    fn line(&mut self, text: &str) {
        self.out.push_str(text);
        self.out.push_str(self.look.line_end);
    }

    fn comment(&mut self, column: usize) {
        self.entries += 1;
        if self.look.comment_every > 0 && self.entries.is_multiple_of(self.look.comment_every) {
            let text = format!("{}# note {}", " ".repeat(column), self.entries);
            self.line(&text);
        }
    }

    fn block(&mut self, value: &Value, column: usize) {
        match value {
            Value::Map(entries) => {
                for (at, (key, held)) in entries.iter().enumerate() {
                    // The first entry of an item stands behind the dash.
                    let indented = self.out.is_empty() || self.out.ends_with('\n');
                    if indented {
                        self.comment(column);
                        self.out.push_str(&" ".repeat(column));
                    }
                    debug_assert!(indented || at == 0, "only a first entry follows a dash");
                    self.out.push_str(key);
                    self.out.push(':');
                    self.held(held, column);
                }
            }
            Value::List(items) => {
                for item in items {
                    self.comment(column);
                    self.out.push_str(&" ".repeat(column));
                    self.out.push('-');
                    match item {
                        Value::Map(_) => {
                            self.out.push(' ');
                            self.block(item, column + 2);
                        }
                        other => self.held(other, column),
                    }
                }
            }
            other => self.held(other, column),
        }
    }

    fn held(&mut self, value: &Value, column: usize) {
        match value {
            Value::Scalar(text) => {
                let text = format!(" {text}");
                self.line(&text);
            }
            Value::Text(lines) => {
                self.line(" |");
                for line in lines {
                    let line = format!("{}{line}", " ".repeat(column + self.look.step));
                    self.line(&line);
                }
            }
            Value::Map(_) => {
                self.line("");
                self.block(value, column + self.look.step);
            }
            Value::List(_) => {
                self.line("");
                self.block(value, column + self.look.list);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{GENERATED, Look, object, write};
    use crate::checker::dom;
    use crate::random::Random;

    #[test]
    fn each_look_has_the_same_values() {
        let mut random = Random::new(1);
        for number in 0..200 {
            let objects = [object(&mut random, number), object(&mut random, number + 1)];
            let look = Look {
                step: 4,
                list: 2,
                comment_every: 3,
                line_end: "\r\n",
            };
            let read =
                |text: &str| dom::read(text.as_bytes()).map(|nodes| nodes.iter().map(|n| n.hash).collect::<Vec<_>>());
            let (plain, other) = (write(&objects, GENERATED), write(&objects, look));
            assert!(read(&plain).is_ok_and(|values| values.len() == 2), "{plain}");
            assert_eq!(read(&plain), read(&other), "{plain}\n{other}");
        }
    }
}
