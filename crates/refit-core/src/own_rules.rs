//! The rules of conversion that a repository brings along.
//!
//! In: what `refit.yaml` names, and a way to read its files. Out: a catalog with these rules, and a finding for each file that
//! cannot be used. Reads nothing by itself.

use std::sync::Arc;

use crate::catalog::{Catalog, ConversionRules};
use crate::configuration::Spec;
use crate::finding::{Code, Finding};

/// Adds the rules of the files that are named; a file that cannot be used is told, and the others are added.
pub fn add(catalog: &mut Catalog, said: &Spec, read: impl Fn(&str) -> Option<Arc<[u8]>>) -> Vec<Finding> {
    let files = said.rules.iter();
    files
        .filter_map(|name| add_file(catalog, name, read(name).as_deref()).err())
        .collect()
}

/// Adds the rules of one file; `None` says that there is no such file.
pub fn add_file(catalog: &mut Catalog, name: &str, bytes: Option<&[u8]>) -> Result<(), Finding> {
    let wrong = |subject: String, message: String| Finding::new(Code::InvalidRules, subject, message);
    let Some(bytes) = bytes else {
        return Err(wrong(name.to_owned(), "there is no such file".to_owned())
            .with_remedy("correct the path, which counts from the folder of `refit.yaml`, or take it out"));
    };
    let Ok(text) = std::str::from_utf8(bytes) else {
        return Err(wrong(name.to_owned(), "the file is not UTF-8".to_owned()));
    };
    ConversionRules::read(name, text)
        .and_then(|rules| catalog.add_rules(rules))
        .map_err(|error| {
            let rule = error.rule.map(|rule| format!("rule `{rule}`: ")).unwrap_or_default();
            wrong(
                format!("{}:{}", error.file, error.line),
                format!("{rule}{}", error.what),
            )
            .with_remedy(error.remedy)
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conversion::{self, Wanted};
    use crate::release::Version;

    const RULES: &str = "origin: ours\nrules:\n- id: own-suspend\n  group: source.toolkit.fluxcd.io\n  kinds: [GitRepository]\n  message: nobody suspends a source here\n  origin: our handbook\n  do:\n  - remove: spec.suspend\n";

    fn read(name: &str) -> Option<Arc<[u8]>> {
        let text = match name {
            "good.yaml" => RULES.to_owned(),
            "unknown.yaml" => RULES.replace("remove:", "delete:"),
            "cycle.yaml" => RULES.replace(
                "- remove: spec.suspend",
                "- move: {from: spec.a, to: spec.b}\n  - move: {from: spec.b, to: spec.a}",
            ),
            _ => return None,
        };
        Some(text.into_bytes().into())
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
}
