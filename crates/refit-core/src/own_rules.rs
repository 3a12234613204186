//! The rules of conversion that a repository brings along.
//!
//! In: what `refit.yaml` names, and a way to read its files. Out: a catalog with these rules, and a finding for each file that
//! cannot be used. Reads nothing by itself.

use std::sync::Arc;

use crate::catalog::{Catalog, ConversionRules, rules::Error};
use crate::configuration::Spec;
use crate::finding::{Code, Finding};

/// Why the bytes of a rule file are not at hand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unread {
    /// There is no such file.
    Missing,
    /// It stands outside of the repository.
    Outside,
    /// It is there and cannot be read, for this reason.
    Failed(String),
}

/// Adds the rules of the files that are named, from the folder of `refit.yaml`; a file that cannot be used is told, and the
/// others are added. What lies outside of that folder is not read.
pub fn add(catalog: &mut Catalog, said: &Spec, read: impl Fn(&str) -> Result<Arc<[u8]>, Unread>) -> Vec<Finding> {
    let mut found = Vec::new();
    for name in &said.rules {
        let bytes = if leads_out(name) {
            Err(Unread::Outside)
        } else {
            read(name)
        };
        match bytes {
            Ok(bytes) => found.extend(add_file(catalog, name, &bytes)),
            Err(reason) => found.push(unread(name, &reason)),
        }
    }
    found
}

/// Adds the rules of one file, all of them or, where something is wrong with one, none; tells all that is wrong.
pub fn add_file(catalog: &mut Catalog, name: &str, bytes: &[u8]) -> Vec<Finding> {
    let Ok(text) = std::str::from_utf8(bytes) else {
        let message = "the file is not UTF-8, so none of its rules is used";
        return vec![Finding::new(Code::InvalidRules, name, message).with_remedy("save it as UTF-8")];
    };
    let added =
        ConversionRules::read_whole(name, text).and_then(|rules| catalog.add_rules(rules).map_err(|error| vec![error]));
    added.err().into_iter().flatten().map(wrong).collect()
}

fn wrong(error: Error) -> Finding {
    let rule = error.rule.map(|rule| format!("rule `{rule}`: ")).unwrap_or_default();
    let subject = format!("{}:{}", error.file, error.line);
    Finding::new(Code::InvalidRules, subject, format!("{rule}{}", error.what)).with_remedy(error.remedy)
}

fn unread(name: &str, reason: &Unread) -> Finding {
    let (message, remedy) = match reason {
        Unread::Missing => (
            "there is no such file".to_owned(),
            "correct the path, which counts from the folder of `refit.yaml`, or take it out",
        ),
        Unread::Outside => (
            "it lies outside of the folder of `refit.yaml`, and was not read".to_owned(),
            "bring the file into the repository, or name it with `--rules` of `refit scan` and `refit convert`",
        ),
        Unread::Failed(reason) => (
            format!("it cannot be read: {reason}"),
            "make it a file that you may read, or take it out of `refit.yaml`",
        ),
    };
    Finding::new(Code::InvalidRules, name, message).with_remedy(remedy)
}

/// Tells whether a path leads out of the folder that it counts from.
fn leads_out(name: &str) -> bool {
    let mut depth = 0_usize;
    for part in name.split('/') {
        match part {
            "" | "." => {}
            ".." if depth == 0 => return true,
            ".." => depth -= 1,
            _ => depth += 1,
        }
    }
    name.starts_with('/')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conversion::{self, Wanted};
    use crate::release::Version;

    const RULES: &str = "origin: ours\nrules:\n- id: own-suspend\n  group: source.toolkit.fluxcd.io\n  kinds: [GitRepository]\n  message: nobody suspends a source here\n  origin: our handbook\n  do:\n  - remove: spec.suspend\n";

    fn read(name: &str) -> Result<Arc<[u8]>, Unread> {
        let text = match name {
            "good.yaml" => RULES.to_owned(),
            "unknown.yaml" => RULES.replace("remove:", "delete:"),
            "several.yaml" => format!("{RULES}- id: second\n- id: own-suspend\nenable: [nothing]\n"),
            "broken.yaml" => RULES.replace("spec.suspend", "{"),
            "cycle.yaml" => RULES.replace(
                "- remove: spec.suspend",
                "- move: {from: spec.a, to: spec.b}\n  - move: {from: spec.b, to: spec.a}",
            ),
            _ => return Err(Unread::Missing),
        };
        Ok(text.into_bytes().into())
    }

    #[test]
    fn rules_of_the_repository_convert_and_a_bad_file_is_told_with_file_rule_and_remedy() {
        let mut catalog = Catalog::flux().unwrap();
        let said = Spec {
            rules: ["good.yaml", "unknown.yaml", "cycle.yaml", "gone.yaml"]
                .map(ToOwned::to_owned)
                .into(),
            ..Spec::default()
        };
        let found = add(&mut catalog, &said, read);
        let subjects: Vec<&str> = found
            .iter()
            .map(|finding| finding.subject.split(':').next().unwrap_or_default())
            .collect();
        assert_eq!(subjects, ["unknown.yaml", "cycle.yaml", "gone.yaml"], "{found:#?}");
        assert!(
            found[..2]
                .iter()
                .all(|finding| finding.message.contains("own-suspend") && !finding.remedy.is_empty()),
            "{found:#?}"
        );
        let wanted = Wanted::of(&catalog, &Version::new(2, 9, 4));
        let bytes: Arc<[u8]> = b"apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: r}\nspec:\n  url: x\n  suspend: true\n"[..].into();
        let reading = conversion::read(&"a.yaml".into(), &bytes, &wanted);
        assert!(reading.bytes.ends_with(b"spec:\n  url: x\n"), "{reading:?}");
    }

    #[test]
    fn a_rule_file_that_is_no_yaml_is_told_at_its_line() {
        let told = told(&["broken.yaml"]);
        assert!(
            told[0].0 == "broken.yaml:9" && told[0].1.starts_with("not YAML: line 9"),
            "{told:?}"
        );
    }

    fn told(names: &[&str]) -> Vec<(String, String)> {
        let said = Spec {
            rules: names.iter().map(|name| (*name).to_owned()).collect(),
            ..Spec::default()
        };
        let found = add(&mut Catalog::flux().unwrap(), &said, read);
        found
            .into_iter()
            .map(|finding| (finding.subject, finding.message))
            .collect()
    }

    #[test]
    fn all_that_is_wrong_with_a_file_is_told_at_once() {
        let found = told(&["several.yaml"]);
        let lines: Vec<&str> = found.iter().map(|(subject, _)| subject.as_str()).collect();
        assert_eq!(lines, ["several.yaml:10", "several.yaml:11"], "{found:#?}");
        assert!(found[0].1.contains("rule `second`: `group` is missing"), "{found:#?}");
    }

    #[test]
    fn a_file_outside_of_the_repository_is_not_read() {
        for name in ["../good.yaml", "/good.yaml", "a/../../good.yaml", "./../good.yaml"] {
            let found = told(&[name]);
            assert!(found[0].1.contains("outside"), "{name}: {found:#?}");
        }
        assert!(!leads_out("a/../good.yaml") && !leads_out("./good.yaml"));
    }
}
