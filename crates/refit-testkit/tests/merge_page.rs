//! Merges the examples of `docs/merge.md` and compares every byte of the results.

#![expect(clippy::unwrap_used, reason = "a test may fail where it stands")]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use refit_manifest::merge::{Settings, merge};
use refit_manifest::{Entry, Tree};

#[test]
fn the_examples_of_the_page_on_merging_give_what_it_says() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/merge.md");
    let examples = examples(&fs::read_to_string(page).unwrap());
    assert!(examples.len() >= 4, "the page has lost its examples");
    for example in examples {
        let tree = |side: &str| -> Tree {
            let bytes = example[side].clone().into_bytes();
            [("file.yaml".into(), Entry::file(bytes))].into_iter().collect()
        };
        let merged = merge(&tree("base"), &tree("ours"), &tree("theirs"), &Settings::default());
        let result = String::from_utf8_lossy(merged.tree.bytes(&"file.yaml".into()).unwrap()).into_owned();
        assert_eq!(result, example["result"], "{:?}", merged.decisions);
    }
}

/// Gives the texts of each run of blocks that are marked `yaml base`, `yaml ours`, `yaml theirs`, `yaml result`.
fn examples(page: &str) -> Vec<BTreeMap<String, String>> {
    let mut examples = Vec::new();
    let mut example = BTreeMap::new();
    for part in page.split("```yaml ").skip(1) {
        let (side, rest) = part.split_once('\n').unwrap();
        let (text, _) = rest.split_once("```").unwrap();
        example.insert(side.to_owned(), text.to_owned());
        if side == "result" {
            examples.push(std::mem::take(&mut example));
        }
    }
    examples
}
