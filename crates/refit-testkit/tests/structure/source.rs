//! Reads the Rust files of a crate, without the code that is compiled for tests alone.

use std::collections::BTreeSet;
use std::fs;

use super::files::{root, walk};
use syn::spanned::Spanned as _;

/// A parsed file of a crate's `src`.
pub(crate) struct Source {
    /// The path from the repository's root.
    pub(crate) name: String,
    /// The path of the module inside the crate: empty for `lib.rs`.
    pub(crate) module: Vec<String>,
    /// The syntax tree without test code.
    pub(crate) tree: syn::File,
    /// The number of lines without test code.
    pub(crate) lines: usize,
}

/// Gives the directories of the workspace's crates, by name.
pub(crate) fn crate_names() -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(root().join("crates"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.join("Cargo.toml").is_file())
        .map(|path| path.file_name().unwrap().to_str().unwrap().to_owned())
        .collect();
    names.sort();
    names
}

/// Reads and parses all files below `crates/<name>/src` that are not test code.
pub(crate) fn read(crate_name: &str) -> Vec<Source> {
    let directory = root().join("crates").join(crate_name).join("src");
    let mut sources = Vec::new();
    let mut for_tests = BTreeSet::new();
    for path in walk(&directory, &["rs"]) {
        let text = fs::read_to_string(&path).unwrap();
        let relative = path.strip_prefix(&directory).unwrap().to_str().unwrap().to_owned();
        let module = module_of(&relative);
        let mut tree = syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let removed = strip_tests(&mut tree.items, &module, &mut for_tests);
        let name = format!("crates/{crate_name}/src/{relative}");
        let lines = text.lines().count() - removed;
        sources.push(Source {
            name,
            module,
            tree,
            lines,
        });
    }
    sources.retain(|source| !for_tests.iter().any(|module| source.module.starts_with(module)));
    sources
}

/// Turns `a/b.rs` and `a/b/mod.rs` into `[a, b]`, `lib.rs` and `main.rs` into nothing.
fn module_of(relative: &str) -> Vec<String> {
    let mut parts: Vec<String> = relative.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
    let at_root = parts.len() == 1 && (parts[0] == "lib" || parts[0] == "main");
    if at_root || parts.last().is_some_and(|last| last == "mod") {
        parts.pop();
    }
    parts
}

/// Removes items under `#[cfg(test)]`; gives their lines and notes the modules that stand in files of their own.
fn strip_tests(items: &mut Vec<syn::Item>, module: &[String], for_tests: &mut BTreeSet<Vec<String>>) -> usize {
    let mut removed = 0;
    items.retain(|item| {
        let (attributes, child) = match item {
            syn::Item::Mod(item) => (&item.attrs, Some(item.ident.to_string())),
            syn::Item::Fn(item) => (&item.attrs, None),
            syn::Item::Impl(item) => (&item.attrs, None),
            syn::Item::Use(item) => (&item.attrs, None),
            _ => return true,
        };
        if !attributes.iter().any(is_cfg_test) {
            return true;
        }
        let span = item.span();
        removed += span.end().line - span.start().line + 1;
        for_tests.extend(child.map(|name| [module, &[name]].concat()));
        false
    });
    removed
}

fn is_cfg_test(attribute: &syn::Attribute) -> bool {
    attribute.path().is_ident("cfg")
        && attribute
            .parse_args::<syn::Path>()
            .is_ok_and(|path| path.is_ident("test"))
}
