//! What an upgrade leaves in the repository: `.refit/<cluster>.json`, and the notes that people's answers wait in.
//!
//! In: what was planned and answered. Out: JSON that reads back to the same values. Holds no time and no machine, so that
//! the same upgrade writes the same bytes.

use refit_manifest::{Answer, Answers, Decision, DecisionId, Outcome, Path};
use serde::{Deserialize, Serialize};

use crate::digest;
use crate::finding::Acceptance;
use crate::options::Options;
use crate::release::{Platform, Version};
use crate::report::API_VERSION;
use crate::stage::{Confirmation, Conversion, Refutation, Said, Stage, Wait};

/// The record of the last upgrade of a cluster, written in the same commit as the change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Record {
    /// [`API_VERSION`].
    pub api_version: String,
    /// `Record`.
    pub kind: String,
    /// The upgrade's id.
    pub upgrade: String,
    /// The platform.
    pub platform: Platform,
    /// The cluster.
    pub cluster: String,
    /// The directory of the cluster, by which it keeps its name; absent in records of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directory: Option<String>,
    /// The other clusters that share its generated files and were upgraded with it, each with a record of its own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub with: Vec<String>,
    /// The release before.
    pub from: Version,
    /// The release after; the same where the request only converted.
    pub to: Version,
    /// The release that the upgrade leads to in the end; absent where `to` is it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<Version>,
    /// What the request did; absent for the usual one, an upgrade.
    #[serde(default, skip_serializing_if = "Stage::is_upgrade")]
    pub stage: Stage,
    /// The place of the request among those of the upgrade; absent for the first.
    #[serde(default = "first", skip_serializing_if = "is_first")]
    pub index: usize,
    /// The options that both were generated with.
    pub options: Options,
    /// The generated files.
    pub files: Vec<RecordedFile>,
    /// The decisions that a rule or a person took, and those that are open.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub decisions: Vec<RecordedDecision>,
    /// The findings that were accepted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub accepted: Vec<Acceptance>,
    /// What the request converted in files that the generator did not write.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conversions: Vec<Conversion>,
    /// What was confirmed before the merge; the last migration stays, since it says what can be stored.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub confirmations: Vec<Confirmation>,
    /// The request that was rolled back, as [`Record::key`] gives it; `from` is then the newer release.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rolled_back: Option<String>,
}

fn first() -> usize {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_first(index: &usize) -> bool {
    *index == 1
}

/// One generated file in a record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RecordedFile {
    /// The path.
    pub path: String,
    /// The digest of what the generator wrote for the release before.
    pub base: String,
    /// The digest of what the generator writes for the release after: the base of the next upgrade.
    pub theirs: String,
}

impl RecordedFile {
    /// Gives the file of the way back.
    pub fn back(&self) -> Self {
        Self {
            path: self.path.clone(),
            base: self.theirs.clone(),
            theirs: self.base.clone(),
        }
    }
}

/// One decision in a record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RecordedDecision {
    /// The decision's id, made of object, field and values.
    pub id: String,
    /// The file.
    pub path: String,
    /// The object.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub object: String,
    /// The field.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub field: String,
    /// The rule that decided.
    pub rule: String,
    /// How it ended: `noted`, `conflict` or `blocked`; `clean` with an answer.
    pub outcome: String,
    /// What a person answered; `None` where a rule decided or nobody has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<RecordedAnswer>,
}

/// An answer as it is written down: `"ours"`, `"theirs"` or `{"value": "…"}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum RecordedAnswer {
    /// Keep what the file has.
    Ours,
    /// Take what the new release has.
    Theirs,
    /// Write this value.
    Value(String),
}

impl From<&Answer> for RecordedAnswer {
    fn from(answer: &Answer) -> Self {
        match answer {
            Answer::Ours => Self::Ours,
            Answer::Theirs => Self::Theirs,
            Answer::Value(value) => Self::Value(value.clone()),
        }
    }
}

impl From<&RecordedAnswer> for Answer {
    fn from(answer: &RecordedAnswer) -> Self {
        match answer {
            RecordedAnswer::Ours => Self::Ours,
            RecordedAnswer::Theirs => Self::Theirs,
            RecordedAnswer::Value(value) => Self::Value(value.clone()),
        }
    }
}

impl RecordedDecision {
    /// Takes down a decision of a merge.
    pub fn of(decision: &Decision) -> Self {
        Self {
            id: decision.id.to_string(),
            path: decision.path.to_string(),
            object: decision.object.as_ref().map(ToString::to_string).unwrap_or_default(),
            field: decision.field.clone(),
            rule: decision.rule.word().to_owned(),
            outcome: decision.outcome.word().to_owned(),
            answer: decision.answer.as_ref().map(RecordedAnswer::from),
        }
    }
}

impl Record {
    /// The directory of all records.
    pub const DIRECTORY: &'static str = ".refit";

    /// Gives the path of a cluster's record.
    pub fn path(cluster: &str) -> Path {
        Path::new(format!("{}/{cluster}.json", Self::DIRECTORY))
    }

    /// Reads a record; one of another format is refused, since a part of it could be lost.
    pub fn read(bytes: &[u8]) -> Result<Self, serde_json::Error> {
        let record: Self = serde_json::from_slice(bytes)?;
        check_format(&record.api_version)?;
        Ok(record)
    }

    /// Writes the record.
    pub fn write(&self) -> Result<Vec<u8>, serde_json::Error> {
        write(self)
    }

    /// Tells whether it is about a cluster: by its directory, where the record says one, else by its name.
    pub fn is_about(&self, directory: &str, name: &str) -> bool {
        let own = match &self.directory {
            Some(own) => own == directory,
            None => self.cluster == name,
        };
        own || self.with.iter().any(|other| other == name)
    }

    /// Gives what tells its request from every other: the upgrade, and the place where it is not the first.
    pub fn key(&self) -> String {
        match self.index {
            1 => self.upgrade.clone(),
            index => format!("{}/{index}", self.upgrade),
        }
    }

    /// Gives the release that the upgrade leads to in the end.
    pub fn target(&self) -> &Version {
        self.target.as_ref().unwrap_or(&self.to)
    }

    /// Tells whether more requests of the upgrade follow once this one is merged.
    pub fn goes_on(&self) -> bool {
        self.rolled_back.is_none() && self.target.as_ref().is_some_and(|target| *target != self.to)
    }

    /// Lists the migrations that were confirmed; of each CRD the last counts.
    pub fn migrations(&self) -> impl Iterator<Item = &Confirmation> {
        let all = self.confirmations.iter();
        all.filter(|confirmation| confirmation.about.what == Wait::Migrated)
    }

    /// Counts the decisions that nobody took.
    pub fn open(&self) -> usize {
        let open =
            |decision: &&RecordedDecision| decision.outcome == Outcome::Conflict.word() && decision.answer.is_none();
        self.decisions.iter().filter(open).count()
    }

    /// Gives the answers of people, to be used again where the same question comes up (rule 9).
    pub fn answers(&self) -> Answers {
        let given = |decision: &RecordedDecision| {
            let answer = decision.answer.as_ref()?;
            Some((DecisionId(decision.id.clone()), Answer::from(answer)))
        };
        Answers(self.decisions.iter().filter_map(given).collect())
    }
}

/// The note of an upgrade under way: what was asked for, and what people answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Note {
    /// [`API_VERSION`].
    pub api_version: String,
    /// `Note`.
    pub kind: String,
    /// The upgrade's id.
    pub upgrade: String,
    /// The platform.
    pub platform: Platform,
    /// The cluster.
    pub cluster: String,
    /// The other clusters that share its generated files and are upgraded with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub with: Vec<String>,
    /// The target branch.
    pub branch: String,
    /// The target release.
    pub to: Version,
    /// What people confirmed, or evidence showed, for the request that is next.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub confirmations: Vec<Confirmation>,
    /// What a snapshot showed not to be so, until a later one or a person says otherwise.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refutations: Vec<Refutation>,
    /// Whether `upgrade` was confirmed, so that the request may be opened once the last decision is taken.
    pub confirmed: bool,
    /// When the upgrade was asked for, UTC; of several the newest counts.
    pub asked: jiff::Timestamp,
    /// The findings that were accepted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub accepted: Vec<Acceptance>,
    /// The answers by decision, in the order of the ids.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub answers: Vec<NotedAnswer>,
    /// The head of the request's branch whose commits of people were kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<String>,
    /// The commits that the program put on the branch of an open request, oldest first: any other is a person's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub written: Vec<String>,
    /// The upgrade that is to be rolled back, where it is a rollback.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rolled_back: Option<String>,
}

/// One answer in a note.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NotedAnswer {
    /// The decision's id.
    pub id: String,
    /// The answer.
    pub answer: RecordedAnswer,
}

impl Note {
    /// Gives the name of an upgrade's note.
    pub fn name(upgrade: &str) -> String {
        format!("{}/{upgrade}", Self::PREFIX)
    }

    /// What the names of all notes are below.
    pub const PREFIX: &'static str = "decisions";

    /// Reads a note; one of another format is refused, since a part of it could be lost.
    pub fn read(bytes: &[u8]) -> Result<Self, serde_json::Error> {
        let note: Self = serde_json::from_slice(bytes)?;
        check_format(&note.api_version)?;
        Ok(note)
    }

    /// Writes the note.
    pub fn write(&self) -> Result<Vec<u8>, serde_json::Error> {
        write(self)
    }

    /// Gives the answers.
    pub fn answers(&self) -> Answers {
        let pair = |noted: &NotedAnswer| (DecisionId(noted.id.clone()), Answer::from(&noted.answer));
        Answers(self.answers.iter().map(pair).collect())
    }

    /// Notes a commit that the program is about to put on the branch; only the newest are of use.
    pub fn wrote(&mut self, commit: &str) {
        self.written.retain(|known| known != commit);
        self.written.push(commit.to_owned());
        let many = self.written.len().saturating_sub(Self::WRITTEN);
        self.written.drain(..many);
    }

    /// How many commits of the program are noted; more runs than that do not write at once.
    const WRITTEN: usize = 20;

    /// Takes down what was said: a newer word about the same replaces the one before, and gives way to its contrary. What
    /// was seen once more in the same snapshot stays as it was.
    pub fn hear(&mut self, said: &Said) {
        for refuted in &said.refuted {
            self.confirmations.retain(|known| known.about != refuted.about);
            let mut known = self.refutations.iter();
            if !known.any(|known| (&known.about, &known.snapshot) == (&refuted.about, &refuted.snapshot)) {
                self.refutations.retain(|known| known.about != refuted.about);
                self.refutations.push(refuted.clone());
            }
        }
        for confirmed in &said.confirmed {
            self.refutations.retain(|known| known.about != confirmed.about);
            self.confirmations.retain(|known| known.about != confirmed.about);
            self.confirmations.push(confirmed.clone());
        }
    }

    /// Takes an answer; an earlier one to the same decision is replaced.
    pub fn take(&mut self, id: &DecisionId, answer: &Answer) {
        self.answers.retain(|noted| noted.id != id.0);
        self.answers.push(NotedAnswer {
            id: id.0.clone(),
            answer: answer.into(),
        });
        self.answers.sort_by(|a, b| a.id.cmp(&b.id));
    }
}

/// The fixed words of records and notes.
pub fn envelope(kind: &str) -> (String, String) {
    (API_VERSION.to_owned(), kind.to_owned())
}

/// The note of a pause: nothing is opened for a cluster until it ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Pause {
    /// [`API_VERSION`].
    pub api_version: String,
    /// `Pause`.
    pub kind: String,
    /// The cluster.
    pub cluster: String,
    /// The target branch.
    pub branch: String,
    /// Who paused it: name and address.
    pub by: String,
    /// Since when, UTC.
    pub since: jiff::Timestamp,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl Pause {
    /// What the names of all pauses are below.
    pub const PREFIX: &'static str = "pauses";

    /// Gives the name of the note for a cluster of a target branch, by its directory and what that alone would call it;
    /// names of clusters are no names for Git.
    pub fn name(branch: &str, directory: &str, word: &str) -> String {
        format!("{}/{}", Self::PREFIX, digest::short(&[branch, directory, word]))
    }

    /// Reads a note; one of another format is refused.
    pub fn read(bytes: &[u8]) -> Result<Self, serde_json::Error> {
        let pause: Self = serde_json::from_slice(bytes)?;
        check_format(&pause.api_version)?;
        Ok(pause)
    }

    /// Writes the note.
    pub fn write(&self) -> Result<Vec<u8>, serde_json::Error> {
        write(self)
    }
}

/// The note about requests that were closed on purpose of an upgrade: by `cancel`, or for another target. They do not
/// count as declined.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Settled {
    /// [`API_VERSION`].
    pub api_version: String,
    /// `Settled`.
    pub kind: String,
    /// The upgrade.
    pub upgrade: String,
    /// Every request of the upgrade up to this number is settled.
    pub request: u64,
}

impl Settled {
    /// Gives the name of the note of an upgrade.
    pub fn name(upgrade: &str) -> String {
        format!("settled/{upgrade}")
    }

    /// Makes the note.
    pub fn new(upgrade: &str, request: u64) -> Self {
        let (api_version, kind) = envelope("Settled");
        Self {
            api_version,
            kind,
            upgrade: upgrade.to_owned(),
            request,
        }
    }

    /// Reads a note; one of another format is refused.
    pub fn read(bytes: &[u8]) -> Result<Self, serde_json::Error> {
        let settled: Self = serde_json::from_slice(bytes)?;
        check_format(&settled.api_version)?;
        Ok(settled)
    }

    /// Writes the note.
    pub fn write(&self) -> Result<Vec<u8>, serde_json::Error> {
        write(self)
    }
}

fn check_format(found: &str) -> Result<(), serde_json::Error> {
    if found == API_VERSION {
        return Ok(());
    }
    let message = format!("it was written in format `{found}`, and this program reads `{API_VERSION}`");
    Err(serde::de::Error::custom(message))
}

fn write<T: Serialize>(value: &T) -> Result<Vec<u8>, serde_json::Error> {
    let mut bytes = serde_json::to_vec_pretty(value)?;
    bytes.push(b'\n');
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::Catalog;

    fn record() -> Record {
        let (api_version, kind) = envelope("Record");
        let catalog = Catalog::flux().unwrap();
        let decision = |id: &str, outcome: &str, answer| RecordedDecision {
            id: id.into(),
            path: "g.yaml".into(),
            object: "Deployment/a".into(),
            field: String::new(),
            rule: "both-changed".into(),
            outcome: outcome.into(),
            answer,
        };
        Record {
            api_version,
            kind,
            upgrade: "0123456789".into(),
            platform: Platform::flux(),
            cluster: "production".into(),
            directory: Some("clusters/production".into()),
            with: vec![],
            from: Version::new(2, 6, 4),
            to: Version::new(2, 7, 5),
            target: None,
            stage: Stage::Upgrade,
            index: 1,
            options: Options::defaults(&catalog),
            files: vec![RecordedFile {
                path: "g.yaml".into(),
                base: "sha256:0".into(),
                theirs: "sha256:1".into(),
            }],
            decisions: vec![
                decision("d1", "conflict", None),
                decision("d2", "conflict", Some(RecordedAnswer::Ours)),
                decision("d3", "noted", Some(RecordedAnswer::Value("x: y".into()))),
                decision("d4", "noted", None),
            ],
            accepted: vec!["MixedState:g.yaml".parse().unwrap()],
            conversions: vec![],
            confirmations: vec![],
            rolled_back: None,
        }
    }

    #[test]
    fn a_record_reads_back_as_it_was_written() {
        let bytes = record().write().unwrap();
        assert_eq!(Record::read(&bytes).unwrap(), record());
        let text = String::from_utf8(bytes).unwrap();
        for line in [
            "\"apiVersion\": \"refit.dev/v1alpha1\"",
            "\"from\": \"v2.6.4\"",
            "\"answer\": \"ours\"",
            "\"value\": \"x: y\"",
            "\"subject\": \"g.yaml\"",
        ] {
            assert!(text.contains(line), "{line} is not in {text}");
        }
        assert!(text.ends_with("}\n"));
    }

    #[test]
    fn a_record_says_how_far_the_route_of_its_upgrade_came() {
        let last = record();
        assert!(!last.goes_on() && last.key() == last.upgrade);
        let text = String::from_utf8(last.write().unwrap()).unwrap();
        assert!(
            !["index", "stage", "target"].iter().any(|word| text.contains(word)),
            "{text}"
        );
        let middle = Record {
            target: Some(Version::new(2, 9, 4)),
            stage: Stage::Convert,
            index: 3,
            ..record()
        };
        assert_eq!(Record::read(&middle.write().unwrap()).unwrap(), middle);
        assert!(middle.goes_on());
        assert_eq!(
            (middle.key().as_str(), middle.target()),
            ("0123456789/3", &Version::new(2, 9, 4))
        );
        let back = Record {
            rolled_back: Some("u".into()),
            ..middle
        };
        assert!(!back.goes_on());
    }

    #[test]
    fn answers_are_used_again_and_open_decisions_counted() {
        let answers = record().answers();
        let given: Vec<_> = answers
            .0
            .iter()
            .map(|(id, answer)| (id.0.as_str(), answer.clone()))
            .collect();
        assert_eq!(given, [("d2", Answer::Ours), ("d3", Answer::Value("x: y".into()))]);
        assert_eq!(record().open(), 1);
    }

    #[test]
    fn a_record_of_a_newer_format_is_refused() {
        let newer = record().write().unwrap();
        let newer = String::from_utf8(newer).unwrap().replace("v1alpha1", "v2");
        let error = Record::read(newer.as_bytes()).unwrap_err().to_string();
        assert!(error.contains("it was written in format `refit.dev/v2`"), "{error}");
    }

    #[test]
    fn a_later_answer_replaces_an_earlier_one() {
        let (api_version, kind) = envelope("Note");
        let mut note = Note {
            api_version,
            kind,
            upgrade: "u".into(),
            platform: Platform::flux(),
            cluster: "c".into(),
            with: vec![],
            branch: "main".into(),
            to: Version::new(2, 7, 5),
            confirmations: vec![],
            refutations: vec![],
            confirmed: true,
            asked: "2026-01-01T12:00:00Z".parse().unwrap(),
            accepted: vec![],
            answers: vec![],
            kept: None,
            written: vec![],
            rolled_back: None,
        };
        for answer in [Answer::Ours, Answer::Theirs] {
            note.take(&DecisionId("d".into()), &answer);
        }
        assert_eq!(note.answers().0.into_values().collect::<Vec<_>>(), [Answer::Theirs]);
        assert_eq!(Note::read(&note.write().unwrap()).unwrap(), note);
    }
}
