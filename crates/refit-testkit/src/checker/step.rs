//! Places inside an object, and whether the field of a decision names them.
//!
//! In: a place and the text of a field such as `spec.containers[name=manager].image`. Out: how far the text reaches.

/// One part of a place.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Step {
    /// A key of a map.
    Key(String),
    /// An element of a list, with every way to write it between brackets.
    Element(Vec<String>),
}

impl Step {
    pub(super) fn key(&self) -> Option<&str> {
        match self {
            Self::Key(key) => Some(key),
            Self::Element(_) => None,
        }
    }
}

/// How a field relates to a place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Reach {
    /// It names the place itself or something around it: the number of steps it names.
    Covers(usize),
    /// It names something inside the place.
    Inside,
    /// It names another place.
    Elsewhere,
}

/// Finds out how a field relates to a place.
pub(super) fn reach(field: &str, steps: &[Step]) -> Reach {
    let mut rest = field;
    for (index, step) in steps.iter().enumerate() {
        if rest.is_empty() {
            return Reach::Covers(index);
        }
        // The first key has no dot before it.
        let undotted = if index == 0 { Some(rest) } else { rest.strip_prefix('.') };
        match strip(rest, undotted, step) {
            Some(after) => rest = after,
            None => return Reach::Elsewhere,
        }
    }
    if rest.is_empty() {
        Reach::Covers(steps.len())
    } else {
        Reach::Inside
    }
}

fn strip<'f>(field: &'f str, undotted: Option<&'f str>, step: &Step) -> Option<&'f str> {
    match step {
        Step::Key(key) => {
            let forms = [format!("[{key}]"), format!("[\"{key}\"]"), format!("['{key}']")];
            let quoted = [format!("\"{key}\""), format!("'{key}'"), key.clone()];
            let found = forms.iter().find_map(|form| field.strip_prefix(form.as_str()));
            found
                .or_else(|| quoted.iter().find_map(|form| undotted?.strip_prefix(form.as_str())))
                .filter(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
        }
        Step::Element(names) => {
            let inner = field.strip_prefix('[')?;
            names
                .iter()
                .find_map(|name| inner.strip_prefix(name.as_str())?.strip_prefix(']'))
        }
    }
}

/// Writes a place for people.
pub(super) fn shown(steps: &[Step]) -> String {
    let mut text = String::new();
    for step in steps {
        match step {
            Step::Key(key) if text.is_empty() => text.push_str(key),
            Step::Key(key) => {
                text.push('.');
                text.push_str(key);
            }
            Step::Element(names) => {
                text.push('[');
                text.push_str(names.first().map_or("?", String::as_str));
                text.push(']');
            }
        }
    }
    if text.is_empty() {
        "(whole object)".to_owned()
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::{Reach, Step, reach};

    #[test]
    fn a_field_reaches_only_what_it_names() {
        let steps = [
            Step::Key("spec".into()),
            Step::Key("containers".into()),
            Step::Element(vec!["name=a.b".into(), "0".into()]),
            Step::Key("x.y/z".into()),
        ];
        assert_eq!(reach("spec.containers[name=a.b].x.y/z", &steps), Reach::Covers(4));
        assert_eq!(reach("spec.containers[0][\"x.y/z\"]", &steps), Reach::Covers(4));
        assert_eq!(reach("spec.containers", &steps), Reach::Covers(2));
        assert_eq!(reach("", &steps), Reach::Covers(0));
        assert_eq!(reach("spec.containers[name=a]", &steps), Reach::Elsewhere);
        assert_eq!(reach("spec.container", &steps), Reach::Elsewhere);
        assert_eq!(reach("spec.containers[0].x.y/z.q", &steps), Reach::Inside);
    }
}
