//! Which lists a strategic merge merges, and by what.
//!
//! In: the table of `data/merge-keys.txt`. Out: [`Type`]s, walked by field. Kinds that Kubernetes does not define have none:
//! their lists are replaced whole.

use std::collections::HashMap;
use std::sync::OnceLock;

/// How the value of a field is merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum How {
    /// Key by key.
    Mapping,
    /// A list that is replaced whole.
    Whole,
    /// A list that is merged by these keys of its elements; none where the elements are scalars.
    Keys(&'static [&'static str]),
}

#[derive(Clone, Copy, Debug)]
struct Field {
    how: How,
    to: Option<usize>,
}

struct Table {
    kinds: HashMap<&'static str, usize>,
    fields: HashMap<(usize, &'static str), Field>,
}

/// A type of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Type(usize);

impl Type {
    /// Finds the type of an object.
    pub(crate) fn of(api_version: &str, kind: &str) -> Option<Self> {
        let key = format!("{api_version}/{kind}");
        table().kinds.get(key.as_str()).copied().map(Self)
    }

    /// Gives how a field is merged and, where there is more below it, its type or that of its elements.
    pub(crate) fn field(self, name: &str) -> Option<(How, Option<Self>)> {
        let fields = &table().fields;
        let field = fields.get(&(self.0, name)).or_else(|| fields.get(&(self.0, "*")))?;
        Some((field.how, field.to.map(Self)))
    }
}

fn table() -> &'static Table {
    static TABLE: OnceLock<Table> = OnceLock::new();
    TABLE.get_or_init(|| read(include_str!("../data/merge-keys.txt")))
}

fn read(text: &'static str) -> Table {
    let mut table = Table {
        kinds: HashMap::new(),
        fields: HashMap::new(),
    };
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let mut words = line.split(' ');
        let mut next = || words.next().unwrap_or_default();
        match next() {
            "=" => {
                let to = next().parse().unwrap_or_default();
                table.kinds.extend(words.map(|kind| (kind, to)));
            }
            from => {
                let (name, how, to) = (next(), next(), next());
                let field = Field {
                    how: how_of(how),
                    to: to.parse().ok(),
                };
                table.fields.insert((from.parse().unwrap_or_default(), name), field);
            }
        }
    }
    table
}

fn how_of(text: &'static str) -> How {
    match text.trim_start_matches('[').trim_end_matches(']') {
        "." => How::Mapping,
        "" => How::Whole,
        "=" => How::Keys(&[]),
        keys => How::Keys(Vec::leak(keys.split(',').collect())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_kubernetes_are_merged_by_their_keys_and_others_are_not_known() {
        let at = |kind: &str, path: &[&str]| {
            let mut how = None;
            let mut at = Type::of(kind, path[0]);
            for step in &path[1..] {
                let found = at.and_then(|at| at.field(step));
                how = found.map(|(how, _)| how);
                at = found.and_then(|(_, to)| to);
            }
            how
        };
        let pod = ["Deployment", "spec", "template", "spec"];
        let below = |more: &[&'static str]| [pod.as_slice(), more].concat();
        assert_eq!(at("apps/v1", &below(&["containers"])), Some(How::Keys(&["name"])));
        assert_eq!(at("apps/v1", &below(&["containers", "args"])), None);
        assert_eq!(
            at("apps/v1", &below(&["containers", "ports"])),
            Some(How::Keys(&["containerPort", "protocol"]))
        );
        assert_eq!(
            at("v1", &["Service", "spec", "ports"]),
            Some(How::Keys(&["port", "protocol"]))
        );
        assert_eq!(at("v1", &["Service", "metadata", "finalizers"]), Some(How::Keys(&[])));
        assert_eq!(Type::of("example.org/v1", "Deployment"), None);
    }
}
