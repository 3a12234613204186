//! Pull secret and tolerations of a controller's pod.

use refit_manifest::edit::Splice;
use refit_manifest::parse::NodeRef;
use refit_manifest::scalar::{self, Style, Value};

use super::text::lines;
use crate::generated::Controller;
use crate::options::Options;

/// Changes the pod from the given to the wanted options.
pub(super) fn change(controller: &Controller<'_>, given: &Options, wanted: &Options) -> Vec<Splice> {
    let mut splices = Vec::new();
    if given.image_pull_secret != wanted.image_pull_secret {
        let items = wanted
            .image_pull_secret
            .iter()
            .map(|name| format!("- name: {}", spell(name)));
        splices.extend(set(controller.pod, "imagePullSecrets", items.collect()));
    }
    if given.toleration_keys != wanted.toleration_keys {
        let tolerated = |key: &String| [format!("- key: {}", spell(key)), "  operator: Exists".to_owned()];
        splices.extend(set(
            controller.pod,
            "tolerations",
            wanted.toleration_keys.iter().flat_map(tolerated).collect(),
        ));
    }
    splices
}

/// Gives the pod's key a list, in the place that the order of keys gives it; an empty list removes the key.
fn set(pod: NodeRef<'_>, key: &str, list: Vec<String>) -> Option<Splice> {
    let bytes = pod.bytes();
    let existing = pod.entries().find(|(name, _)| name.text() == Some(key));
    let range = match existing {
        Some((name, value)) => lines(bytes, name.span().start..value.span().end),
        None => {
            let next = pod
                .entries()
                .find(|(name, _)| name.text().is_some_and(|name| name > key));
            let at = match next {
                Some((name, _)) => lines(bytes, name.span()).start,
                None => lines(bytes, pod.span()).end,
            };
            at..at
        }
    };
    let (first, _) = pod.entries().next()?;
    let indent = " ".repeat(first.span().start - lines(bytes, first.span()).start);
    let mut text = String::new();
    if !list.is_empty() {
        text.extend([&indent, key, ":\n"]);
        for line in &list {
            text.extend([&indent, line.as_str(), "\n"]);
        }
    }
    (!range.is_empty() || !text.is_empty()).then_some(Splice { range, text })
}

/// Spells a string as a scalar, in quotes where it would be read as something else without.
fn spell(text: &str) -> String {
    let is_text = matches!(scalar::resolve(text, Style::Plain, None), Value::Text(_));
    let is_plain = text.chars().all(|c| c.is_ascii_alphanumeric() || "-_./".contains(c));
    if is_text && is_plain && text.starts_with(|c: char| c.is_ascii_alphanumeric()) {
        text.to_owned()
    } else {
        serde_json::Value::from(text).to_string()
    }
}
