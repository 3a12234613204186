//! Merges one document of ours with its counterparts.

use super::expect::{Expect, holds};
use super::header::{self, Lead};
use super::index::Index;
use super::merger::{Choice, Holder, Merger, Proposal, Three, short};
use crate::decision::{Class, Outcome, Rule};
use crate::parse::{self, NodeRef, same, view};
use crate::stream::Document;
use crate::{layout, render};

/// The three sides of one document.
#[derive(Clone, Copy)]
pub(super) struct Sides<'a> {
    pub(super) base: Option<&'a Document>,
    pub(super) ours: &'a Document,
    pub(super) theirs: Option<&'a Document>,
    /// The files of theirs, to tell whether anything there mentions the object's name.
    pub(super) all_theirs: &'a Index,
}

/// What a document must be after the merge.
pub(super) enum Wanted<'a> {
    /// The bytes of this document.
    Same(&'a Document),
    /// This tree.
    Tree(Expect<'a>),
    /// Nothing.
    Gone,
}

/// Tells whether a document is as wanted.
pub(super) fn fits(wanted: &Wanted<'_>, found: &Document) -> bool {
    match wanted {
        Wanted::Gone => false,
        Wanted::Same(document) => {
            let lines = |text: &'_ str| text.trim_end().replace("\r\n", "\n");
            document.body_text() == found.body_text()
                || lines(document.body_text()) == lines(found.body_text())
                || matches!((document.root(), found.root()), (Some(a), Some(b)) if same(a, b))
        }
        Wanted::Tree(expected) => found.root().is_some_and(|root| holds(expected, root)),
    }
}

/// Merges a document into a merger that was made for it.
pub(super) fn merge<'a>(merger: &mut Merger<'a>, sides: Sides<'a>) -> Result<Wanted<'a>, parse::Error> {
    let Sides { base, ours, theirs, .. } = sides;
    match (base, theirs) {
        (None, None) => Ok(Wanted::Same(ours)),
        (Some(base), None) => removed(merger, sides, base),
        (base, Some(theirs)) => {
            marker(merger, sides);
            lead(merger, sides);
            if base.is_some_and(|base| base.body_text() == theirs.body_text()) || ours.body_text() == theirs.body_text()
            {
                return Ok(Wanted::Same(ours));
            }
            if base.is_some_and(|base| base.body_text() == ours.body_text()) {
                return Ok(follow(merger, ours, theirs));
            }
            structural(merger, sides, theirs)
        }
    }
}

/// Lets the comment on the line of the marker follow theirs, where ours still has that of base.
fn marker<'a>(merger: &mut Merger<'a>, sides: Sides<'a>) {
    let (Some(base), Some(theirs)) = (sides.base, sides.theirs) else {
        return;
    };
    let all = [base, sides.ours, theirs];
    if all.iter().any(|document| !document.has_marker()) {
        return;
    }
    let [old, own, new] = all.map(Document::marker_text);
    if old != own || own == new {
        return;
    }
    let message = "the comment behind `---` follows the new version";
    let proposal = Proposal::bare(Rule::Comment, Outcome::Clean, Choice::Theirs, message);
    let choice = merger.within("comments".to_owned(), |merger| merger.decide_as(Class::Other, proposal));
    if choice == Choice::Theirs {
        merger.splice(sides.ours.marker_comment(), new);
    }
}

/// Merges the comments in front.
fn lead<'a>(merger: &mut Merger<'a>, sides: Sides<'a>) {
    let (Some(base), Some(theirs)) = (sides.base, sides.theirs) else {
        return;
    };
    let (rule, outcome, text) = match header::merge(base.lead_text(), sides.ours.lead_text(), theirs.lead_text()) {
        Lead::Kept => return,
        Lead::Follows(text) => (Rule::Comment, Outcome::Clean, text),
        Lead::Joined(text) => (Rule::Comment, Outcome::Noted, text),
    };
    let message = "the comments of the generator follow the new version";
    let proposal = Proposal::bare(rule, outcome, Choice::Theirs, message);
    let choice = merger.within("comments".to_owned(), |merger| merger.decide_as(Class::Other, proposal));
    if choice == Choice::Theirs {
        merger.splice(sides.ours.lead(), text);
    }
}

/// Takes the whole body of theirs, since ours never changed it.
fn follow<'a>(merger: &mut Merger<'a>, ours: &'a Document, theirs: &'a Document) -> Wanted<'a> {
    let message = "you never changed it; took the new version".to_owned();
    let proposal = Proposal::bare(Rule::TheirsChanged, Outcome::Clean, Choice::Theirs, &message);
    merger.decide_as(Class::Object, proposal);
    let text = theirs.body_text().replace("\r\n", "\n");
    let ends = |text: &str| text.ends_with('\n');
    let text = match (ends(ours.body_text()), ends(&text)) {
        (true, false) => format!("{text}\n"),
        (false, true) => text.trim_end_matches('\n').to_owned(),
        _ => text,
    };
    merger.splice(ours.body(), text);
    Wanted::Same(theirs)
}

fn structural<'a>(merger: &mut Merger<'a>, sides: Sides<'a>, theirs: &'a Document) -> Result<Wanted<'a>, parse::Error> {
    let parsed = |document: &'a Document| document.parsed().map_err(Clone::clone);
    let (ours, new) = (parsed(sides.ours)?, parsed(theirs)?);
    let base = sides.base.map(parsed).transpose()?;
    let (Some(ours_root), Some(theirs_root)) = (ours.root(), new.root()) else {
        return Ok(Wanted::Same(sides.ours));
    };
    let base_root = base.and_then(crate::parse::Parsed::root);
    if is_sealed(ours_root) {
        if base_root.is_some_and(|base| same(base, theirs_root)) {
            return Ok(Wanted::Same(sides.ours));
        }
        merger.decide_as(Class::Secret, Proposal::sealed());
        return Ok(Wanted::Same(sides.ours));
    }
    merger.ours_indents = layout::indents(ours_root);
    merger.theirs_indents = layout::indents(theirs_root);
    let before = merger.decisions.len();
    let three = Three {
        holder: Holder::Root,
        base: base_root,
        ours: ours_root,
        theirs: theirs_root,
    };
    let expected = merger.value(three);
    let masked = ours.is_masked() || new.is_masked() || base.is_some_and(crate::parse::Parsed::is_masked);
    if masked && merger.decisions.len() > before {
        let message = "holds template text; merged with the template parts masked";
        let proposal = Proposal::bare(Rule::Masked, Outcome::Noted, Choice::Ours, message);
        merger.decide_as(Class::Other, proposal);
    }
    Ok(Wanted::Tree(expected))
}

/// Tells whether a document is encrypted as a whole.
fn is_sealed(root: NodeRef<'_>) -> bool {
    root.get("sops").is_some() || root.get("kind").and_then(NodeRef::text) == Some("SealedSecret")
}

/// Decides on an object that theirs removed.
fn removed<'a>(merger: &mut Merger<'a>, sides: Sides<'a>, base: &'a Document) -> Result<Wanted<'a>, parse::Error> {
    let ours = sides.ours;
    let (base_root, ours_root) = (base.root(), ours.root());
    let untouched =
        base.body_text() == ours.body_text() || matches!((base_root, ours_root), (Some(a), Some(b)) if same(a, b));
    let proposal = if untouched {
        Proposal::bare(
            Rule::Removed,
            Outcome::Clean,
            Choice::Theirs,
            "the new version no longer has it; removed",
        )
    } else {
        let (field, value) = base_root
            .zip(ours_root)
            .map(|(base, ours)| first_change(base, ours))
            .unwrap_or_default();
        let mention = if sides.all_theirs.mentions(&ours.head().name) {
            "The new version still mentions its name."
        } else {
            "Nothing in the new version refers to it."
        };
        Proposal {
            rule: Rule::RemovedUpstream,
            outcome: Outcome::Conflict,
            base: base_root,
            ours: ours_root,
            theirs: None,
            choice: Choice::Ours,
            message: format!(
                "the new version removed it; you changed {field} to {value}. Kept. {mention} Remove it with `refit resolve \
                 <id> theirs`"
            ),
        }
    };
    match merger.decide_as(Class::Object, proposal) {
        Choice::Theirs => {
            merger.splice(ours.span(), "");
            Ok(Wanted::Gone)
        }
        Choice::Ours => Ok(Wanted::Same(ours)),
        Choice::Value(_) => {
            merger.block("a removed object can only be answered with ours or theirs");
            Ok(Wanted::Same(ours))
        }
    }
}

/// Gives the first field that differs, and its value in ours.
fn first_change(base: NodeRef<'_>, ours: NodeRef<'_>) -> (String, String) {
    for (key, value) in view(ours) {
        match base.get(key) {
            Some(old) if same(old, value) => {}
            Some(old) => {
                let (field, value) = first_change(old, value);
                let field = if field.is_empty() {
                    key.to_owned()
                } else {
                    format!("{key}.{field}")
                };
                return (field, value);
            }
            None => return (key.to_owned(), short(value)),
        }
    }
    (String::new(), short(ours))
}

/// Writes a new document of theirs for a file of ours: marker, comments and body as whole lines.
pub(super) fn text_of(theirs: &Document, target: render::Target) -> String {
    let lead = theirs.lead_text().replace("\r\n", "\n");
    let body = match theirs.root() {
        Some(root) => render::document(root, target),
        None => theirs.body_text().replace("\r\n", "\n"),
    };
    let end = if body.ends_with('\n') { "" } else { "\n" };
    format!("---\n{lead}{body}{end}")
}
