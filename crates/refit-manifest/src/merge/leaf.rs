//! Scalars that both sides changed, by their class.

use std::cmp::Ordering;

use super::expect::Expect;
use super::image::ImageRef;
use super::lines::{self, Lines};
use super::merger::{Choice, Merger, Proposal, Three, short};
use super::quantity;
use crate::decision::{Class, Outcome, Rule};
use crate::layout;
use crate::parse::Kind;
use crate::scalar::Style;

impl<'a> Merger<'a> {
    /// Merges a scalar whose three values all differ.
    pub(super) fn leaf(&mut self, three: Three<'a>) -> Expect<'a> {
        match self.class() {
            Class::Image => self.image(three),
            Class::Sizing => self.sizing(three),
            Class::Secret => self.keep_secret(three),
            class => {
                let texts = three
                    .base
                    .and_then(|base| Some((base.text()?, three.ours.text()?, three.theirs.text()?)));
                match texts {
                    Some((base, ours, theirs)) if class == Class::Text || is_text(base, ours, theirs) => {
                        self.text(three, (base, ours, theirs))
                    }
                    _ => self.conflict(three),
                }
            }
        }
    }

    /// Asks a person; ours stays until then.
    pub(super) fn conflict(&mut self, three: Three<'a>) -> Expect<'a> {
        let rule = if self.class() == Class::Contract {
            Rule::ContractChanged
        } else {
            Rule::BothChanged
        };
        let message = format!(
            "you have {}, the new version has {}{}; kept yours, choose with `refit resolve <id>`",
            short(three.ours),
            short(three.theirs),
            three
                .base
                .map(|base| format!(" (before: {})", short(base)))
                .unwrap_or_default(),
        );
        self.ask(three, rule, Outcome::Conflict, message)
    }

    /// Records a decision that keeps ours, and carries out the answer.
    pub(super) fn ask(&mut self, three: Three<'a>, rule: Rule, outcome: Outcome, message: String) -> Expect<'a> {
        let choice = self.decide(proposal(three, rule, outcome, Choice::Ours, message));
        self.carry_out(three, &choice)
    }

    pub(super) fn carry_out(&mut self, three: Three<'a>, choice: &Choice) -> Expect<'a> {
        match choice {
            Choice::Ours => Expect::Node(three.ours),
            Choice::Theirs => self.replace(three),
            Choice::Value(text) if matches!(three.ours.kind(), Kind::Scalar(_)) => self.replace_written(three, text),
            Choice::Value(_) => {
                self.block("a value can only be given for a scalar; answer with ours or theirs");
                Expect::Node(three.ours)
            }
        }
    }

    fn sizing(&mut self, three: Three<'a>) -> Expect<'a> {
        let order = three
            .ours
            .text()
            .zip(three.theirs.text())
            .and_then(|(ours, theirs)| quantity::compare(theirs, ours));
        let (ours, theirs) = (short(three.ours), short(three.theirs));
        if order == Some(Ordering::Greater) {
            let message = format!(
                "you set {ours}, the new version needs {theirs}, which is larger; kept yours, choose with `refit resolve <id>`"
            );
            return self.ask(three, Rule::SizingKept, Outcome::Conflict, message);
        }
        let message = format!("kept your {ours}; the new version has {theirs}");
        self.ask(three, Rule::SizingKept, Outcome::Noted, message)
    }

    fn keep_secret(&mut self, three: Three<'a>) -> Expect<'a> {
        self.decide(Proposal::sealed());
        Expect::Node(three.ours)
    }

    /// Merges text by lines. Blanks mean nothing in descriptions alone: elsewhere they are indentation of a file, a script or
    /// a password.
    fn text(&mut self, three: Three<'a>, texts: (&str, &str, &str)) -> Expect<'a> {
        let (base, ours, theirs) = texts;
        if self.class() == Class::Text && words(base).eq(words(ours)) {
            let message = "your text differs only in blanks; took the text of the new version".to_owned();
            let choice = self.decide(proposal(three, Rule::Lines, Outcome::Noted, Choice::Theirs, message));
            return self.carry_out(three, &choice);
        }
        let Lines::Merged(merged) = lines::merge(base, ours, theirs) else {
            return self.conflict(three);
        };
        if !can_hold(three, &merged) {
            return self.conflict(three);
        }
        let message = format!(
            "your {} and {} of the new version were merged by lines",
            changed_line(base, ours),
            changed_line(base, theirs)
        );
        let own = Choice::Value(merged.clone());
        match self.decide(proposal(three, Rule::Lines, Outcome::Noted, own.clone(), message)) {
            choice if choice == own => self.put_text(three, merged),
            choice => self.carry_out(three, &choice),
        }
    }

    fn put_text(&mut self, three: Three<'a>, text: String) -> Expect<'a> {
        if !matches!(three.ours.kind(), Kind::Scalar(Style::Literal)) {
            return self.replace_text(three, &text);
        }
        let node = three.ours;
        let source = node.source();
        let header = source.find('\n').map_or(source.len(), |at| at + 1);
        let indent = source[header..]
            .lines()
            .find(|line| !line.trim().is_empty())
            .map_or(0, |line| line.len() - line.trim_start_matches(' ').len());
        let body: Vec<String> = text
            .trim_end_matches('\n')
            .split('\n')
            .map(|line| {
                if line.is_empty() {
                    String::new()
                } else {
                    format!("{:indent$}{line}", "")
                }
            })
            .collect();
        let start = node.span().start + header;
        self.splice(start..layout::content_end(node), body.join("\n"));
        Expect::Text(text)
    }

    /// Merges an image: registry, tag and digest apart.
    fn image(&mut self, three: Three<'a>) -> Expect<'a> {
        let read = |node: crate::parse::NodeRef<'a>| node.as_str().and_then(ImageRef::read);
        let images = three
            .base
            .and_then(read)
            .and_then(|base| Some((base, read(three.ours)?, read(three.theirs)?)));
        let Some((base, ours, theirs)) = images else {
            return self.conflict(three);
        };
        if follows_already(&base, &ours, &theirs) {
            let message = format!(
                "you set {} to {} with a digest already; kept yours",
                ours.name(),
                ours.tag.unwrap_or_default()
            );
            return self.ask(three, Rule::ImagePinned, Outcome::Noted, message);
        }
        match self.composed(&base, &ours, &theirs) {
            Ok((text, rule, message)) => {
                let own = Choice::Value(text.clone());
                match self.decide(proposal(three, rule, Outcome::Noted, own.clone(), message)) {
                    choice if choice == own => self.replace_text(three, &text),
                    choice => self.carry_out(three, &choice),
                }
            }
            Err(message) => self.ask(three, Rule::ImagePinned, Outcome::Conflict, message),
        }
    }

    /// Composes the image of the result, or says why a person must choose.
    fn composed(
        &self,
        base: &ImageRef<'_>,
        ours: &ImageRef<'_>,
        theirs: &ImageRef<'_>,
    ) -> Result<(String, Rule, String), String> {
        let wanted = theirs.tag.unwrap_or("latest");
        let name = ours.name();
        if name != base.name() || theirs.name() != base.name() {
            let shown = format!("{}:{wanted}", theirs.repository);
            return Err(format!(
                "you use the image {}, the new version {shown}; kept yours, choose with `refit resolve <id>`",
                ours.repository
            ));
        }
        if ours.tag != base.tag && ours.tag.is_some() && !self.is_known(base, ours, theirs) {
            let tag = ours.tag.unwrap_or("latest");
            return Err(format!(
                "you set {name} to {tag}, a tag that is newer than {wanted} or unknown; kept yours, choose with `refit resolve <id>`"
            ));
        }
        let digest = match (ours.digest, theirs.digest) {
            (None, digest) => digest.map(ToOwned::to_owned),
            (Some(_), Some(digest)) => Some(digest.to_owned()),
            (Some(_), None) => Some(self.digest_of(theirs).ok_or_else(|| {
                format!(
                    "you pinned {name} to a digest; upstream moved {} -> {wanted}. Kept the digest. Choose with `refit resolve <id>`: theirs \
                     to take {wanted}, or the image with the digest of {wanted}",
                    base.tag.unwrap_or("latest"),
                )
            })?),
        };
        let repository = if ours.repository == base.repository {
            theirs.repository
        } else {
            ours.repository
        };
        let tag = if ours.digest.is_some() && ours.tag.is_none() {
            None
        } else {
            theirs.tag
        };
        let mut text = repository.to_owned();
        text.extend(tag.map(|tag| format!(":{tag}")));
        text.extend(digest.map(|digest| format!("@{digest}")));
        if repository == theirs.repository {
            let from = ours.tag.or(ours.digest).unwrap_or("latest");
            return Ok((
                text,
                Rule::TagRaised,
                format!("your tag {from} is known and not newer; took {wanted}"),
            ));
        }
        let registry = ours.registry_beside(base);
        let message = format!("kept your registry {registry}, took tag {wanted}; mirror {text} before merging");
        Ok((text, Rule::RegistryKept, message))
    }

    /// Tells whether the tag of ours is one that releases have, and not newer than that of theirs.
    fn is_known(&self, base: &ImageRef<'_>, ours: &ImageRef<'_>, theirs: &ImageRef<'_>) -> bool {
        if ours.tag == theirs.tag {
            return true;
        }
        let tags = self
            .settings
            .known_tags
            .iter()
            .find(|(path, _)| path == base.path())
            .map(|(_, tags)| tags);
        let Some(tags) = tags else { return false };
        let at = |tag: Option<&str>| tags.iter().position(|known| Some(known.as_str()) == tag);
        matches!((at(ours.tag), at(theirs.tag)), (Some(own), Some(new)) if own <= new)
    }

    fn digest_of(&self, theirs: &ImageRef<'_>) -> Option<String> {
        let name = format!("{}:{}", theirs.path(), theirs.tag?);
        self.settings
            .known_digests
            .iter()
            .find(|(image, _)| *image == name)
            .map(|(_, digest)| digest.clone())
    }
}

/// Tells whether the user's image has the tag of theirs, with a digest that theirs does not name.
fn follows_already(base: &ImageRef<'_>, ours: &ImageRef<'_>, theirs: &ImageRef<'_>) -> bool {
    let same_image = ours.name() == base.name() && theirs.name() == base.name();
    same_image && ours.tag.is_some() && ours.tag == theirs.tag && ours.digest.is_some() && theirs.digest.is_none()
}

pub(super) fn proposal(
    three: Three<'_>,
    rule: Rule,
    outcome: Outcome,
    choice: Choice,
    message: String,
) -> Proposal<'_> {
    Proposal {
        rule,
        outcome,
        base: three.base,
        ours: Some(three.ours),
        theirs: Some(three.theirs),
        choice,
        message,
    }
}

fn is_text(base: &str, ours: &str, theirs: &str) -> bool {
    [base, ours, theirs].iter().any(|text| text.trim_end().contains('\n'))
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split_whitespace()
}

/// Tells whether the scalar of ours can hold a text in its own style.
fn can_hold(three: Three<'_>, text: &str) -> bool {
    let ours = three.ours.text().unwrap_or_default();
    let ends = |text: &str| text.len() - text.trim_end_matches('\n').len();
    match three.ours.kind() {
        Kind::Scalar(Style::Literal) => {
            ends(ours) == ends(text) && !text.starts_with([' ', '\n']) && !text.contains(['\r', '\t'])
        }
        Kind::Scalar(Style::Folded) => false,
        _ => true,
    }
}

fn changed_line(before: &str, after: &str) -> String {
    let known: std::collections::HashSet<&str> = before.lines().collect();
    let line = after.lines().find(|line| !known.contains(line)).unwrap_or("removal");
    format!("`{}`", line.trim().chars().take(60).collect::<String>())
}
