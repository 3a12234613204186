//! Says whether a value of the result can come from ours and theirs together.
//!
//! In: the four versions of one value. Out: yes or no. Three ways are known: an image with the registry of one side and
//! the tag of the other, a text merged by lines, a list merged by items.

use std::collections::HashMap;
use std::hash::Hash;

use refit_manifest::Rule;

use super::dom::Node;

/// Tells whether the result is put together from ours and theirs.
pub(super) fn explains(base: Option<&Node>, ours: Option<&Node>, theirs: Option<&Node>, result: Option<&Node>) -> bool {
    let (Some(ours), Some(theirs), Some(result)) = (ours, theirs, result) else {
        return false;
    };
    if let (Some(ours), Some(theirs), Some(result)) = (ours.text(), theirs.text(), result.text()) {
        let base = base.and_then(Node::text).unwrap_or("");
        return image(ours, theirs, result) || lines(base, ours, theirs, result);
    }
    if ours.is_list() && theirs.is_list() && result.is_list() {
        let hashes = |node: &Node| node.items().iter().map(|item| item.hash).collect::<Vec<_>>();
        return sequence(
            &base.map(hashes).unwrap_or_default(),
            &hashes(ours),
            &hashes(theirs),
            &hashes(result),
        );
    }
    false
}

/// Tells whether the result of a rule is what the rule says, and not only one of the sides.
pub(super) fn follows(
    rule: Rule,
    base: Option<&Node>,
    ours: Option<&Node>,
    theirs: Option<&Node>,
    result: Option<&Node>,
) -> bool {
    let text = |node: Option<&Node>| node.and_then(Node::text).unwrap_or("").to_owned();
    let (base, ours, theirs, result) = (text(base), text(ours), text(theirs), text(result));
    match rule {
        Rule::Lines => lines(&base, &ours, &theirs, &result),
        Rule::RegistryKept | Rule::TagRaised => {
            image(&ours, &theirs, &result) && split(&result).tag == split(&theirs).tag
        }
        _ => true,
    }
}

/// The parts of an image name.
struct Image<'i> {
    repository: &'i str,
    tag: &'i str,
    digest: &'i str,
}

fn split(text: &str) -> Image<'_> {
    let (rest, digest) = text.split_once('@').unwrap_or((text, ""));
    let slash = rest.rfind('/').map_or(0, |at| at + 1);
    match rest[slash..].rfind(':') {
        Some(colon) => Image {
            repository: &rest[..slash + colon],
            tag: &rest[slash + colon + 1..],
            digest,
        },
        None => Image {
            repository: rest,
            tag: "",
            digest,
        },
    }
}

fn image(ours: &str, theirs: &str, result: &str) -> bool {
    let [ours, theirs, result] = [ours, theirs, result].map(split);
    let is_image = !ours.repository.contains(char::is_whitespace) && (!ours.tag.is_empty() || !ours.digest.is_empty());
    let name = |image: &Image<'_>| image.repository.rsplit('/').next().map(str::to_owned);
    let digest = result.digest.is_empty() || result.digest == theirs.digest || ours.digest != result.digest;
    is_image
        && name(&ours) == name(&theirs)
        && result.repository == ours.repository
        && (result.tag == theirs.tag || result.tag == ours.tag)
        && digest
}

fn lines(base: &str, ours: &str, theirs: &str, result: &str) -> bool {
    let end = |text: &str| text.len() - text.trim_end_matches('\n').len();
    let ended = end(result) == end(ours) || end(result) == end(theirs);
    let split = |text: &'_ str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    let is_text = ours.trim_end().contains('\n') && theirs.trim_end().contains('\n');
    // Blank lines stand everywhere, so that counting them says nothing.
    let written = |text| {
        split(text)
            .into_iter()
            .filter(|line| !line.trim().is_empty())
            .collect::<Vec<_>>()
    };
    let [base, ours, theirs, result] = [base, ours, theirs, result].map(written);
    let ordered = in_order(&ours, &result) && in_order(&theirs, &result);
    is_text && ended && ordered && sequence(&base, &ours, &theirs, &result)
}

/// Tells whether the lines that stand once in both texts stand in one order.
fn in_order(side: &[String], result: &[String]) -> bool {
    let once = |lines: &[String], line: &String| lines.iter().filter(|other| *other == line).count() == 1;
    let both = |line: &&String| once(side, line) && once(result, line);
    side.iter().filter(both).eq(result.iter().filter(both))
}

/// Tells whether each item of a merged sequence is there as often as the changes of both sides make it: base, plus what
/// each side added, less what each side removed.
fn sequence<T: Clone + Eq + Hash>(base: &[T], ours: &[T], theirs: &[T], result: &[T]) -> bool {
    let count = |items: &[T]| {
        let mut counts: HashMap<T, i64> = HashMap::new();
        for item in items {
            *counts.entry(item.clone()).or_default() += 1;
        }
        counts
    };
    let [base, ours, theirs, made] = [base, ours, theirs, result].map(count);
    let at = |counts: &HashMap<T, i64>, item: &T| counts.get(item).copied().unwrap_or(0);
    let every = base.keys().chain(ours.keys()).chain(theirs.keys()).chain(made.keys());
    every.into_iter().all(|item| {
        let (b, o, t, r) = (at(&base, item), at(&ours, item), at(&theirs, item), at(&made, item));
        // What both sides did alike may count once or twice; all else has one answer.
        let sum = o + t - b;
        r == sum || (o == t && r == o) || (o != b && t != b && (r == o || r == t))
    })
}

#[cfg(test)]
mod tests {
    use super::{image, lines};

    #[test]
    fn only_an_image_of_both_sides_is_explained() {
        let (ours, theirs) = ("corp.example:5000/m/sc:v1", "ghcr.io/f/sc:v2");
        assert!(image(ours, theirs, "corp.example:5000/m/sc:v2"));
        assert!(!image(ours, theirs, "corp.example:5000/m/sc:v3"));
        assert!(!image(ours, theirs, "ghcr.io/f/sc:v1"));
        assert!(!image(ours, "ghcr.io/f/kc:v2", "corp.example:5000/m/sc:v2"));
    }

    #[test]
    fn a_text_of_lines_needs_the_changes_of_both_sides() {
        let (base, ours, theirs) = ("a\nb\nc\n", "A\nb\nc\n", "a\nb\nC\n");
        assert!(lines(base, ours, theirs, "A\nb\nC\n"));
        assert!(!lines(base, ours, theirs, "A\nb\n"));
        assert!(!lines(base, ours, theirs, "A\nb\nC\nd\n"));
        assert!(!lines(base, ours, theirs, "A\nb\nc\nC\n"));
        assert!(!lines(base, ours, theirs, "b\nA\nC\n"));
        assert!(!lines(base, ours, theirs, ours));
    }
}
