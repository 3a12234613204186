//! One answer about several groups of clusters.
//!
//! In: the report of each group. Out: [`Reports`]: the only report as it is, or one object that lists them.

use serde::{Serialize, Serializer};

use super::{Body, Exit, Next, Report, State};

/// What a command that works on groups of clusters answers.
#[derive(Clone, Debug)]
pub enum Reports<B> {
    /// One group, or the repository as a whole.
    One(Report<B>),
    /// Several groups.
    Several(Report<Groups<B>>),
}

/// What a command answers that worked on several groups of clusters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Groups<B> {
    /// One result per group, in the order of their directories.
    pub groups: Vec<OfGroup<B>>,
}

/// The result of one group: the object that the command prints when it is asked for this group alone, and the clusters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OfGroup<B> {
    /// The clusters of the group; several where they share generated files.
    pub clusters: Vec<String>,
    /// The result.
    #[serde(flatten)]
    pub report: Report<B>,
}

impl<B> Body for Groups<B> {
    const KIND: &'static str = "Groups";
}

impl<B> Reports<B> {
    /// Sums up the results of some groups; that of a single group stays as it is.
    pub fn of(mut groups: Vec<OfGroup<B>>) -> Self {
        if groups.len() == 1
            && let Some(only) = groups.pop()
        {
            return Self::One(only.report);
        }
        let reports = || groups.iter().map(|group| &group.report);
        let exit = smallest(reports().map(|report| report.exit));
        // The state is that of a group which ends so; of those, the one that asks most.
        let state = reports()
            .filter(|report| report.exit == exit)
            .map(|report| report.state)
            .max_by_key(|state| state.weight())
            .unwrap_or(State::NothingToDo);
        let next = each_once(reports().flat_map(|report| &report.next));
        let states: Vec<State> = reports().map(|report| report.state).collect();
        let report = Report::new(state, sum(&states), next, Groups { groups });
        Self::Several(report.with_exit(exit))
    }

    /// Gives the state of the whole.
    pub fn state(&self) -> State {
        match self {
            Self::One(report) => report.state,
            Self::Several(report) => report.state,
        }
    }

    /// Gives how the command ends.
    pub fn exit(&self) -> Exit {
        match self {
            Self::One(report) => report.exit,
            Self::Several(report) => report.exit,
        }
    }

    /// Lists the results of the groups.
    pub fn each(&self) -> Vec<&Report<B>> {
        match self {
            Self::One(report) => vec![report],
            Self::Several(report) => report.body.groups.iter().map(|group| &group.report).collect(),
        }
    }

    /// Gives the only result; of several `None`.
    pub fn only(self) -> Option<Report<B>> {
        match self {
            Self::One(report) => Some(report),
            Self::Several(_) => None,
        }
    }
}

impl<B: Serialize> Serialize for Reports<B> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::One(report) => report.serialize(serializer),
            Self::Several(report) => report.serialize(serializer),
        }
    }
}

impl<B> From<Report<B>> for Reports<B> {
    fn from(report: Report<B>) -> Self {
        Self::One(report)
    }
}

/// Gives the smallest exit code that says more than that all is done.
fn smallest(exits: impl Iterator<Item = Exit>) -> Exit {
    exits.filter(|exit| *exit != Exit::Done).min().unwrap_or(Exit::Done)
}

fn each_once<'a>(all: impl Iterator<Item = &'a Next>) -> Vec<Next> {
    let mut next: Vec<Next> = Vec::new();
    for one in all {
        if !next.contains(one) {
            next.push(one.clone());
        }
    }
    next
}

/// Counts the groups by their state, the state that asks most first.
fn sum(states: &[State]) -> String {
    format!("{} groups of clusters: {}", states.len(), State::count(states))
}

#[cfg(test)]
mod tests {
    use super::super::Diff;
    use super::*;

    fn group(name: &str, state: State, exit: Exit) -> OfGroup<Diff> {
        let body = Diff {
            request: None,
            files: vec![],
        };
        OfGroup {
            clusters: vec![name.into()],
            report: Report::new(state, name, vec![Next::say("wait")], body).with_exit(exit),
        }
    }

    fn check(groups: &[(State, Exit)], state: State, exit: Exit, message: &str) {
        let groups = groups.iter().map(|(state, exit)| group("c", *state, *exit)).collect();
        let Reports::Several(report) = Reports::of(groups) else {
            panic!("it is one report")
        };
        assert_eq!(
            (report.state, report.exit, report.message.as_str()),
            (state, exit, message)
        );
        assert_eq!(report.next, [Next::say("wait")]);
    }

    #[test]
    fn of_several_groups_the_smallest_exit_code_that_is_not_done_wins() {
        use State::{Blocked, DecisionNeeded, Done, NothingToDo, Ready, Waiting};
        check(
            &[
                (Waiting, Exit::Waiting),
                (Blocked, Exit::Blocked),
                (NothingToDo, Exit::Done),
                (Waiting, Exit::Waiting),
            ],
            Blocked,
            Exit::Blocked,
            "4 groups of clusters: 1 blocked, 2 waiting, 1 nothing to do",
        );
        check(
            &[(Ready, Exit::Done), (DecisionNeeded, Exit::Done)],
            DecisionNeeded,
            Exit::Done,
            "2 groups of clusters: 1 decision needed, 1 ready",
        );
        check(
            &[(Done, Exit::Done), (NothingToDo, Exit::Done)],
            Done,
            Exit::Done,
            "2 groups of clusters: 1 done, 1 nothing to do",
        );
    }

    #[test]
    fn one_group_is_told_as_if_it_were_alone_and_several_are_listed() {
        let json = |groups| serde_json::to_value(Reports::of(groups)).unwrap();
        let alone = json(vec![group("a", State::Done, Exit::Done)]);
        assert_eq!(alone["kind"], "Diff");
        assert!(alone.get("clusters").is_none());
        let several = json(vec![
            group("a", State::Done, Exit::Done),
            group("b", State::Done, Exit::Done),
        ]);
        assert_eq!(several["kind"], "Groups");
        let second = &several["groups"][1];
        assert_eq!((&second["clusters"][0], &second["kind"]), (&"b".into(), &"Diff".into()));
    }
}
