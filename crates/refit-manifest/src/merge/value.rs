//! Merges one value: who changed it decides, then what it is.

use super::expect::Expect;
use super::leaf::proposal;
use super::merger::{Choice, Merger, Three, short};
use crate::decision::{Outcome, Rule};
use crate::parse::{Kind, NodeRef, same, view};

impl<'a> Merger<'a> {
    /// Merges a value and gives what it must read back as.
    pub(super) fn value(&mut self, three: Three<'a>) -> Expect<'a> {
        if three.base.is_some_and(|base| same(base, three.theirs)) {
            self.follow_comments(three);
            return Expect::Node(three.ours);
        }
        if same(three.ours, three.theirs) {
            return self.agreed(three);
        }
        if three.ours.kind() == Kind::Alias
            && three.theirs.kind() == Kind::Alias
            && three.ours.source() == three.theirs.source()
        {
            return Expect::Alias(three.ours.source().to_owned());
        }
        let untouched = three.base.is_some_and(|base| same(base, three.ours));
        match (three.ours.kind(), three.theirs.target().kind()) {
            (Kind::Mapping(_), Kind::Mapping(_)) if three.ours.entries().len() > 0 => self.mapping(three),
            (Kind::Sequence(_), Kind::Sequence(_)) if three.ours.items().len() > 0 => self.sequence(three),
            _ if untouched => self.take(three),
            (Kind::Scalar(_), Kind::Scalar(_)) => self.leaf(three),
            _ => self.conflict(three),
        }
    }

    /// Takes theirs, since ours never changed the value.
    fn take(&mut self, three: Three<'a>) -> Expect<'a> {
        let (rule, outcome) = self.rule_of_change(Rule::TheirsChanged);
        let base = three.base.map(short).unwrap_or_default();
        let message = format!("{base} -> {}{}", short(three.theirs), self.beside_own_arguments());
        self.decide(proposal(three, rule, outcome, Choice::Theirs, message));
        self.replace(three)
    }

    /// Tells, in a list of arguments that both sides changed, what the user has there.
    pub(super) fn beside_own_arguments(&self) -> String {
        self.own_arguments
            .as_ref()
            .map(|own| format!("; kept your {own}"))
            .unwrap_or_default()
    }

    /// Gives rule and outcome of a change that only theirs made: noted in a list of arguments that both changed.
    pub(super) fn rule_of_change(&self, rule: Rule) -> (Rule, Outcome) {
        if self.own_arguments.is_some() {
            (Rule::FlagName, Outcome::Noted)
        } else {
            (rule, Outcome::Clean)
        }
    }
}

/// Tells whether ours is base with parts taken out and nothing else changed.
pub(super) fn only_removals(base: NodeRef<'_>, ours: NodeRef<'_>) -> bool {
    if same(base, ours) {
        return true;
    }
    match (base.target().kind(), ours.target().kind()) {
        (Kind::Mapping(_), Kind::Mapping(_)) => {
            let known = view(base);
            view(ours).iter().all(|(key, value)| {
                known
                    .iter()
                    .find(|(name, _)| name == key)
                    .is_some_and(|(_, old)| only_removals(*old, *value))
            })
        }
        (Kind::Sequence(_), Kind::Sequence(_)) => {
            let mut rest = base.items();
            ours.items().all(|item| rest.any(|old| only_removals(old, item)))
        }
        _ => false,
    }
}
