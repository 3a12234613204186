//! The state of a merge of one document: where it stands, what was decided, which splices follow.

use std::ops::Range;

use super::Settings;
use super::expect::Expect;
use super::keys::ListPlace;
use crate::decision::{Answer, Class, Decision, DecisionId, Outcome, Rule};
use crate::edit::Splice;
use crate::layout::{self, Indents};
use crate::parse::{Kind, Layout, NodeRef};
use crate::render::{Notation, Target};
use crate::stream::Identity;
use crate::tree::Path;

/// What a value of ours hangs on.
#[derive(Clone, Copy, Debug)]
pub(super) enum Holder<'a> {
    /// Nothing: it is the document's root.
    Root,
    /// A key of a mapping.
    Key(NodeRef<'a>, Layout),
    /// A place in a sequence.
    Item(Layout),
}

/// One value on the three sides.
#[derive(Clone, Copy, Debug)]
pub(super) struct Three<'a> {
    pub(super) holder: Holder<'a>,
    pub(super) base: Option<NodeRef<'a>>,
    pub(super) ours: NodeRef<'a>,
    pub(super) theirs: NodeRef<'a>,
}

/// Which value goes into the result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Choice {
    Ours,
    Theirs,
    Value(String),
}

/// A decision before it has a name and an answer.
#[derive(Debug)]
pub(super) struct Proposal<'a> {
    pub(super) rule: Rule,
    pub(super) outcome: Outcome,
    pub(super) base: Option<NodeRef<'a>>,
    pub(super) ours: Option<NodeRef<'a>>,
    pub(super) theirs: Option<NodeRef<'a>>,
    /// What is taken when no person answered.
    pub(super) choice: Choice,
    /// What happened, without the object in front.
    pub(super) message: String,
}

impl Proposal<'_> {
    /// Makes a proposal about something that has no values to show.
    pub(super) fn bare(rule: Rule, outcome: Outcome, choice: Choice, message: &str) -> Self {
        Self {
            rule,
            outcome,
            base: None,
            ours: None,
            theirs: None,
            choice,
            message: message.to_owned(),
        }
    }

    /// Says that encrypted content is left alone.
    pub(super) fn sealed() -> Self {
        let message = "encrypted or sealed content is never touched; change it with the tool that sealed it";
        Self::bare(Rule::SecretKept, Outcome::Noted, Choice::Ours, message)
    }
}

/// Where a document stands and what it is.
#[derive(Clone, Debug)]
pub(super) struct Subject {
    pub(super) path: Path,
    pub(super) object: Option<Identity>,
}

impl Subject {
    /// Gives file, object and field in front of a message.
    pub(super) fn prefix(&self, field: &str) -> String {
        let object = self
            .object
            .as_ref()
            .map(|object| format!("{object}: "))
            .unwrap_or_default();
        let field = if field.is_empty() {
            String::new()
        } else {
            format!("{field}: ")
        };
        format!("{}: {object}{field}", self.path)
    }
}

/// Merges one document of ours.
pub(super) struct Merger<'a> {
    pub(super) settings: &'a Settings,
    pub(super) subject: Subject,
    pub(super) field: Vec<String>,
    pub(super) ours_indents: Option<Indents>,
    pub(super) theirs_indents: Option<Indents>,
    pub(super) notation: Notation,
    pub(super) decisions: Vec<Decision>,
    pub(super) splices: Vec<(Splice, usize)>,
    /// Why the file cannot be written, when it cannot.
    pub(super) blocked: Option<String>,
    /// The user's own arguments, while a list of arguments that both sides changed is being merged.
    pub(super) own_arguments: Option<String>,
}

impl<'a> Merger<'a> {
    pub(super) fn new(settings: &'a Settings, subject: Subject) -> Self {
        let notation = if subject.path.is_json() {
            Notation::Json
        } else {
            Notation::Yaml
        };
        Self {
            settings,
            subject,
            field: Vec::new(),
            ours_indents: None,
            theirs_indents: None,
            notation,
            decisions: Vec::new(),
            splices: Vec::new(),
            blocked: None,
            own_arguments: None,
        }
    }

    /// Records a decision and gives what is to be taken: the proposal's choice, or a person's answer.
    pub(super) fn decide(&mut self, proposal: Proposal<'a>) -> Choice {
        let class = self.class();
        self.decide_as(class, proposal)
    }

    /// Records a decision of a given class.
    pub(super) fn decide_as(&mut self, class: Class, proposal: Proposal<'a>) -> Choice {
        let field = field_text(&self.field);
        let decision = Decision {
            id: DecisionId(String::new()),
            path: self.subject.path.clone(),
            object: self.subject.object.clone(),
            base: proposal.base.map(text_of),
            ours: proposal.ours.map(text_of),
            theirs: proposal.theirs.map(text_of),
            class,
            rule: proposal.rule,
            outcome: proposal.outcome,
            message: format!("{}{}", self.subject.prefix(&field), proposal.message),
            field,
            answer: None,
        };
        let (decision, choice) = answered(self.settings, decision, proposal.choice);
        self.decisions.push(decision);
        choice
    }

    /// Adds a splice for the newest decision; `\n` becomes the line end of the file.
    pub(super) fn splice(&mut self, range: Range<usize>, text: impl Into<String>) {
        let decision = self.decisions.len().saturating_sub(1);
        self.splices.push((
            Splice {
                range,
                text: text.into(),
            },
            decision,
        ));
    }

    /// Adds a splice as it is, for the newest decision.
    pub(super) fn add(&mut self, splice: Splice) {
        self.splice(splice.range, splice.text);
    }

    pub(super) fn block(&mut self, reason: impl Into<String>) {
        self.blocked.get_or_insert_with(|| reason.into());
    }

    pub(super) fn class(&self) -> Class {
        let kind = self.subject.object.as_ref().map_or("", |object| &object.kind);
        super::class::class_of_field(kind, &self.field)
    }

    pub(super) fn list_place(&self) -> ListPlace<'_> {
        let object = self.subject.object.as_ref();
        ListPlace {
            group: object.map_or("", |object| &object.group),
            kind: object.map_or("", |object| &object.kind),
            path: &self.field,
        }
    }

    pub(super) fn target(&self, column: usize) -> Target {
        Target {
            column,
            ours: self.ours_indents,
            theirs: self.theirs_indents,
        }
    }

    /// Runs a function one step deeper.
    pub(super) fn within<T>(&mut self, step: String, run: impl FnOnce(&mut Self) -> T) -> T {
        self.field.push(step);
        let out = run(self);
        self.field.pop();
        out
    }

    /// Keeps ours and records that theirs agrees, when base had something else.
    pub(super) fn agreed(&mut self, three: Three<'a>) -> Expect<'a> {
        self.decide(Proposal {
            rule: Rule::BothAgree,
            outcome: Outcome::Clean,
            base: three.base,
            ours: Some(three.ours),
            theirs: Some(three.theirs),
            choice: Choice::Ours,
            message: "you already have what the new version brings".to_owned(),
        });
        Expect::Node(three.ours)
    }
}

/// Gives a decision its id and, where a person answered, the answer.
pub(super) fn answered(settings: &Settings, mut decision: Decision, choice: Choice) -> (Decision, Choice) {
    decision = named(decision);
    let Some(answer) = settings.answers.0.get(&decision.id) else {
        return (decision, choice);
    };
    if decision.outcome == Outcome::Clean || decision.outcome == Outcome::Blocked {
        return (decision, choice);
    }
    decision.outcome = Outcome::Noted;
    decision.answer = Some(answer.clone());
    let choice = match answer {
        Answer::Ours => Choice::Ours,
        Answer::Theirs => Choice::Theirs,
        Answer::Value(text) => Choice::Value(text.clone()),
    };
    (decision, choice)
}

/// Gives a decision its id.
pub(super) fn named(mut decision: Decision) -> Decision {
    decision.id = id_of(&decision);
    let named = format!("refit resolve {}", decision.id);
    decision.message = decision.message.replace("refit resolve <id>", &named);
    decision
}

/// Names a decision by its object, field and values, so that it keeps its name wherever the file moves; a deletion by
/// object and field alone.
fn id_of(decision: &Decision) -> DecisionId {
    let object = decision.object.as_ref().map_or_else(
        || decision.path.to_string(),
        |object| format!("{}/{}/{}/{}", object.group, object.kind, object.namespace, object.name),
    );
    // What somebody deleted stays the same question, however the new version changed it: its answer holds for the next
    // upgrade too.
    if decision.rule == Rule::DeletionKept && decision.ours.is_none() {
        return DecisionId::of(&[Some(&object), Some(&decision.field), None, Some("deleted"), None]);
    }
    DecisionId::of(&[
        Some(&object),
        Some(&decision.field),
        decision.base.as_deref(),
        decision.ours.as_deref(),
        decision.theirs.as_deref(),
    ])
}

/// Gives the text of a value for people and records.
pub(super) fn text_of(node: NodeRef<'_>) -> String {
    match node.target().kind() {
        Kind::Scalar(_) => node.text().unwrap_or_default().to_owned(),
        _ => dedented(node),
    }
}

fn dedented(node: NodeRef<'_>) -> String {
    let column = layout::column(node.bytes(), node.span().start);
    let mut out = String::new();
    for (index, line) in node.source().trim_end().lines().enumerate() {
        let depth = line.len() - line.trim_start_matches(' ').len();
        let cut = if index == 0 { 0 } else { depth.min(column) };
        if index > 0 {
            out.push('\n');
        }
        out.push_str(&line[cut..]);
    }
    out
}

/// Gives a value on one line and not longer than a message can bear.
pub(super) fn short(node: NodeRef<'_>) -> String {
    let text = text_of(node);
    let line = text.lines().next().unwrap_or_default();
    let cut: String = line.chars().take(80).collect();
    match (cut.is_empty(), cut.len() < text.len()) {
        (true, false) => "\"\"".to_owned(),
        (_, true) => format!("{cut}…"),
        _ => cut,
    }
}

/// Gives a field as one readable pointer.
pub(super) fn field_text(path: &[String]) -> String {
    let mut out = String::new();
    for step in path {
        if step.starts_with('[') {
            out.push_str(step);
        } else if step.contains(['.', '[', ' ']) {
            out.push_str(&format!("[\"{step}\"]"));
        } else {
            if !out.is_empty() {
                out.push('.');
            }
            out.push_str(step);
        }
    }
    out
}
