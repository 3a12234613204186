//! Overlays as texts, and what is said of them.

use refit_core::patches::{Question, Settled, settle, with_files};
use refit_kustomize::build;
use refit_manifest::{Answer, Answers, DecisionId, Entry, Path, Tree};

/// Makes a tree of texts.
pub(crate) fn tree(files: &[(&str, &str)]) -> Tree {
    let entry = |(path, text): &(&str, &str)| (Path::from(*path), Entry::file(text.as_bytes()));
    files.iter().map(entry).collect()
}

/// An upgrade of a directory.
pub(crate) struct Upgrade {
    pub(crate) before: Tree,
    pub(crate) after: Tree,
    pub(crate) directory: &'static str,
}

impl Upgrade {
    /// Takes files that stay, and the generated one of both releases.
    pub(crate) fn of(files: &[(&str, &str)], generated: &str, before: &str, after: &str) -> Self {
        let side = |text: &str| {
            let mut tree = tree(files);
            tree.insert(Path::from(generated), Entry::file(text.as_bytes()));
            tree
        };
        Self {
            before: side(before),
            after: side(after),
            directory: "",
        }
    }

    pub(crate) fn settle(&self, answers: &[(&str, Answer)]) -> Settled {
        let answers = answers
            .iter()
            .map(|(id, answer)| (DecisionId((*id).to_owned()), answer.clone()));
        let own: Vec<Path> = self.before.paths().cloned().collect();
        settle(&Question {
            before: &self.before,
            after: &self.after,
            directory: self.directory,
            evaluate: build,
            answers: &Answers(answers.collect()),
            own: &own,
        })
    }

    /// Gives the text of a file after the answers.
    pub(crate) fn text(&self, settled: &Settled, path: &str) -> String {
        let tree = with_files(&self.after, &settled.files);
        let bytes = tree.bytes(&Path::from(path)).map(|bytes| bytes.to_vec());
        String::from_utf8(bytes.unwrap_or_default()).unwrap()
    }
}

/// Writes what was found, a line each: decisions by class and rule without what each answer does, then findings by code.
pub(crate) fn told(settled: &Settled) -> Vec<String> {
    let decisions = settled.decisions.iter().map(|decision| {
        let open = if decision.answer.is_some() { "answered" } else { "open" };
        let message = decision.message.replace(&decision.id.to_string(), "ID");
        let parted = message.split_once(". With `ours` ");
        let parted = parted.and_then(|(fact, ways)| Some((fact, ways.split_once(". ")?.1)));
        let message = parted.map_or(message.clone(), |(fact, rest)| format!("{fact}. {rest}"));
        format!("{open} {} {}: {message}", decision.class.word(), decision.rule.word())
    });
    let findings = settled
        .findings
        .iter()
        .map(|finding| format!("{} {}: {}", finding.code, finding.subject, finding.message));
    decisions.chain(findings).collect()
}

/// Gives the id of the only open decision.
pub(crate) fn only(settled: &Settled) -> String {
    let open: Vec<_> = settled
        .decisions
        .iter()
        .filter(|decision| decision.answer.is_none())
        .collect();
    assert_eq!(open.len(), 1, "{:#?}", told(settled));
    open[0].id.to_string()
}

/// Gives real data; says that the test is skipped when it is not there.
pub(crate) fn shared(path: &str) -> Option<std::path::PathBuf> {
    refit_testkit::shared::find(path)
}
