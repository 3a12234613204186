//! What upgrades a cluster has had, told by its records alone.
//!
//! In: the contents of one record along the target branch, the oldest first. Out: one [`Event`] for each, and which
//! upgrade is in effect. Knows neither commits nor clock.

use crate::record::Record;
use crate::release::Version;

/// What a change of a record was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The cluster went to another release.
    Upgrade,
    /// Objects were converted, or kept from being pruned, on the way to another release.
    Prepare,
    /// An upgrade was undone, by `rollback` or by a revert of its commit.
    Rollback,
    /// The record of an upgrade was changed by hand.
    Edit,
}

impl Kind {
    /// Gives the stable word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Upgrade => "upgrade",
            Self::Prepare => "prepare",
            Self::Rollback => "rollback",
            Self::Edit => "edit",
        }
    }
}

/// One change of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// What it was.
    pub kind: Kind,
    /// The release before.
    pub from: Version,
    /// The release after.
    pub to: Version,
    /// The upgrade that it brought or undid.
    pub upgrade: String,
}

/// What the records of a cluster tell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Told {
    /// One event for each change, the oldest first; none where no record can be read.
    pub events: Vec<Option<Event>>,
    /// The upgrades in effect, as places in the changes; the last one is what a rollback undoes.
    pub in_effect: Vec<usize>,
}

/// Tells what happened. Each change is the record before and after; the oldest comes first.
pub fn tell(changes: &[(Option<Record>, Option<Record>)]) -> Told {
    let mut told = Told::default();
    for (at, (before, after)) in changes.iter().enumerate() {
        let event = match (before, after) {
            (_, Some(after)) => arrived(&mut told, changes, (before.as_ref(), after, at)),
            (Some(before), None) => {
                told.in_effect.clear();
                undone(before)
            }
            (None, None) => None,
        };
        told.events.push(event);
    }
    told
}

fn arrived(
    told: &mut Told,
    changes: &[(Option<Record>, Option<Record>)],
    (before, after, at): (Option<&Record>, &Record, usize),
) -> Option<Event> {
    let record_at = |at: &usize| changes.get(*at).and_then(|(_, record)| record.as_ref());
    if let Some(upgrade) = &after.rolled_back {
        let is_it = |at: &usize| record_at(at).is_some_and(|record| record.key() == *upgrade);
        if let Some(place) = told.in_effect.iter().rposition(is_it) {
            told.in_effect.truncate(place);
        }
        return Some(Event {
            kind: Kind::Rollback,
            from: after.from.clone(),
            to: after.to.clone(),
            // The key of a request begins with its upgrade.
            upgrade: upgrade.split('/').next().unwrap_or(upgrade).to_owned(),
        });
    }
    let same = |record: &Record| record.key() == after.key() && record.to == after.to && record.from == after.from;
    if before.is_some_and(|before| before.rolled_back.is_none() && same(before)) {
        return Some(event(Kind::Edit, after));
    }
    let earlier = told.in_effect.iter().rposition(|at| record_at(at).is_some_and(same));
    if let (Some(place), Some(before)) = (earlier, before) {
        told.in_effect.truncate(place + 1);
        return undone(before);
    }
    told.in_effect.push(at);
    let kind = if after.stage.is_upgrade() {
        Kind::Upgrade
    } else {
        Kind::Prepare
    };
    Some(event(kind, after))
}

fn event(kind: Kind, record: &Record) -> Event {
    Event {
        kind,
        from: record.from.clone(),
        to: record.to.clone(),
        upgrade: record.upgrade.clone(),
    }
}

/// Tells that what a record brought is gone again.
fn undone(record: &Record) -> Option<Event> {
    Some(Event {
        kind: Kind::Rollback,
        from: record.to.clone(),
        to: record.from.clone(),
        upgrade: record.upgrade.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::Catalog;
    use crate::options::Options;
    use crate::record::envelope;
    use crate::release::Platform;

    fn record(upgrade: &str, from: &str, to: &str) -> Record {
        let (api_version, kind) = envelope("Record");
        Record {
            api_version,
            kind,
            upgrade: upgrade.into(),
            platform: Platform::flux(),
            cluster: "c".into(),
            directory: None,
            with: vec![],
            from: Version::parse(from).unwrap(),
            to: Version::parse(to).unwrap(),
            target: None,
            stage: crate::stage::Stage::Upgrade,
            index: 1,
            options: Options::defaults(&Catalog::flux().unwrap()),
            files: vec![],
            decisions: vec![],
            accepted: vec![],
            conversions: vec![],
            confirmations: vec![],
            rolled_back: None,
        }
    }

    fn back(upgrade: &str, from: &str, to: &str, undone: &str) -> Record {
        Record {
            rolled_back: Some(undone.into()),
            ..record(upgrade, from, to)
        }
    }

    /// Tells what a row of contents tells, the oldest first, and which upgrade is in effect.
    fn check(contents: &[Option<Record>], expected: &[&str], in_effect: &[usize]) {
        let befores = std::iter::once(None).chain(contents.iter().cloned());
        let changes: Vec<_> = befores.zip(contents.iter().cloned()).collect();
        let told = tell(&changes);
        let line = |event: &Option<Event>| match event {
            Some(event) => format!("{} {} {} -> {}", event.kind.word(), event.upgrade, event.from, event.to),
            None => "-".to_owned(),
        };
        assert_eq!(told.events.iter().map(line).collect::<Vec<_>>(), expected);
        assert_eq!(told.in_effect, in_effect);
    }

    #[test]
    fn upgrades_and_rollbacks_are_told_and_the_one_before_is_in_effect_again() {
        let (one, two) = (record("u1", "v1.0.0", "v1.1.0"), record("u2", "v1.1.0", "v1.2.0"));
        let undone = back("r2", "v1.2.0", "v1.1.0", "u2");
        check(
            &[Some(one.clone()), Some(two.clone()), Some(undone.clone())],
            &[
                "upgrade u1 v1.0.0 -> v1.1.0",
                "upgrade u2 v1.1.0 -> v1.2.0",
                "rollback u2 v1.2.0 -> v1.1.0",
            ],
            &[0],
        );
        // The revert of the rollback brings the upgrade again.
        check(
            &[Some(two.clone()), Some(undone), Some(two)],
            &[
                "upgrade u2 v1.1.0 -> v1.2.0",
                "rollback u2 v1.2.0 -> v1.1.0",
                "upgrade u2 v1.1.0 -> v1.2.0",
            ],
            &[2],
        );
    }

    #[test]
    fn the_requests_of_one_upgrade_are_told_one_by_one_and_go_back_in_reverse_order() {
        use crate::stage::Stage;
        let of = |index, stage, from: &str, to: &str| Record {
            index,
            stage,
            target: Some(Version::parse("v1.3.0").unwrap()),
            ..record("u1", from, to)
        };
        let first = of(1, Stage::Convert, "v1.0.0", "v1.0.0");
        let second = of(2, Stage::Upgrade, "v1.0.0", "v1.1.0");
        let undone = back("r2", "v1.1.0", "v1.0.0", "u1/2");
        let told = ["prepare u1 v1.0.0 -> v1.0.0", "upgrade u1 v1.0.0 -> v1.1.0"];
        check(&[Some(first.clone()), Some(second.clone())], &told, &[0, 1]);
        check(
            &[Some(first), Some(second), Some(undone)],
            &[told[0], told[1], "rollback u1 v1.1.0 -> v1.0.0"],
            &[0],
        );
    }

    #[test]
    fn a_revert_of_the_commit_is_a_rollback_too() {
        let (one, two) = (record("u1", "v1.0.0", "v1.1.0"), record("u2", "v1.1.0", "v1.2.0"));
        check(
            &[Some(one.clone()), Some(two), Some(one), None],
            &[
                "upgrade u1 v1.0.0 -> v1.1.0",
                "upgrade u2 v1.1.0 -> v1.2.0",
                "rollback u2 v1.2.0 -> v1.1.0",
                "rollback u1 v1.1.0 -> v1.0.0",
            ],
            &[],
        );
    }

    #[test]
    fn a_record_that_somebody_edits_is_no_other_upgrade() {
        let one = record("u1", "v1.0.0", "v1.1.0");
        let edited = Record {
            accepted: vec!["MixedState".parse().unwrap()],
            ..one.clone()
        };
        check(
            &[Some(one), Some(edited)],
            &["upgrade u1 v1.0.0 -> v1.1.0", "edit u1 v1.0.0 -> v1.1.0"],
            &[0],
        );
    }
}
