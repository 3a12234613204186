//! Imports: in flow order inside a crate, and nothing of the outside world in crates that decide.
//!
//! Paths are read from tokens, so that those inside macro calls count too.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use quote::ToTokens as _;

use super::files::Violations;
use super::source::{Source, read};

/// Crates whose `lib.rs` lists modules in flow order.
const ORDERED: &[&str] = &["refit-manifest", "refit-kustomize", "refit-core", "refit-engine"];
/// Crates that touch nothing.
const PURE: &[&str] = &["refit-manifest", "refit-kustomize", "refit-core"];

const OUTSIDE: &[&str] = &[
    "std::fs",
    "std::env",
    "std::net",
    "std::process",
    "std::thread",
    "std::os",
    "std::io::stdin",
    "std::io::stdout",
    "std::io::stderr",
    "std::time::SystemTime",
    "std::time::Instant",
    "std::path::Path::exists",
    "tokio",
    "futures",
    "jiff::Zoned",
];
/// Words that reach outside wherever they stand.
const WORDS: &[&str] = &["async", "await", "println", "eprintln", "SystemTime", "Instant"];

/// A path in the code with the line of its first word.
#[derive(Debug, PartialEq)]
struct Found {
    path: Vec<String>,
    line: usize,
}

pub(crate) fn check_direction() -> Violations {
    ORDERED.iter().flat_map(|name| check_order(&read(name))).collect()
}

pub(crate) fn check_purity() -> Violations {
    PURE.iter()
        .flat_map(|name| read(name))
        .flat_map(|source| check_pure(&source))
        .collect()
}

fn check_order(sources: &[Source]) -> Violations {
    let library = sources.iter().find(|source| source.module.is_empty()).unwrap();
    let order = modules(&library.tree);
    let exports = exports(&library.tree);
    let mut violations = Violations::new();
    for source in sources.iter().filter(|source| !source.module.is_empty()) {
        let own = position(&order, &source.module[0]);
        if own.is_none() {
            violations.push(format!("{}:1: `lib.rs` does not list this module", source.name));
        }
        for found in paths(source.tree.to_token_stream()) {
            let Some(used) = top_module(&found.path, &source.module) else {
                continue;
            };
            let target = exports
                .iter()
                .find(|(export, _)| *export == used)
                .map_or(&used, |(_, module)| module);
            if position(&order, target).is_some_and(|used| own.is_some_and(|own| used > own)) {
                violations.push(format!(
                    "{}:{}: `{}` imports from `{target}`, which `lib.rs` lists below it",
                    source.name, found.line, source.module[0]
                ));
            }
        }
    }
    violations
}

fn check_pure(source: &Source) -> Violations {
    let mut violations = Violations::new();
    for found in paths(source.tree.to_token_stream()) {
        let text = found.path.join("::");
        let outside = OUTSIDE
            .iter()
            .any(|outside| text == *outside || text.starts_with(&format!("{outside}::")));
        let clock = found.path.len() > 1 && found.path.last().is_some_and(|last| last == "now");
        let word = found.path.iter().any(|part| WORDS.contains(&part.as_str()));
        if outside || clock || word {
            violations.push(format!(
                "{}:{}: a deciding crate may not use `{text}`",
                source.name, found.line
            ));
        }
    }
    violations
}

fn position(order: &[String], module: &str) -> Option<usize> {
    order.iter().position(|listed| listed == module)
}

fn modules(library: &syn::File) -> Vec<String> {
    library
        .items
        .iter()
        .filter_map(|item| match item {
            syn::Item::Mod(item) => Some(item.ident.to_string()),
            _ => None,
        })
        .collect()
}

/// Gives the names that `lib.rs` exports from its modules.
fn exports(library: &syn::File) -> Vec<(String, String)> {
    let uses = library.items.iter().filter(|item| matches!(item, syn::Item::Use(_)));
    uses.flat_map(|item| paths(item.to_token_stream()))
        .filter_map(|found| match found.path.as_slice() {
            [module, .., name] if module != "crate" => Some((name.clone(), module.clone())),
            [root, module, .., name] if root == "crate" => Some((name.clone(), module.clone())),
            _ => None,
        })
        .collect()
}

/// Resolves a path that starts with `crate` or `super` to the module (or export) below the crate's root.
fn top_module(path: &[String], module: &[String]) -> Option<String> {
    if path[0] == "crate" {
        return path.get(1).cloned();
    }
    let ups = path.iter().take_while(|part| *part == "super").count();
    (ups > 0 && ups == module.len())
        .then(|| path.get(ups).cloned())
        .flatten()
}

/// Lists the paths of two words and more, and the single words of [`WORDS`].
fn paths(tokens: TokenStream) -> Vec<Found> {
    let mut found = Vec::new();
    collect(tokens, &[], &mut found);
    found.retain(|found| found.path.len() > 1 || WORDS.contains(&found.path[0].as_str()));
    found
}

fn collect(tokens: TokenStream, prefix: &[String], found: &mut Vec<Found>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut at = 0;
    while at < tokens.len() {
        match &tokens[at] {
            TokenTree::Ident(first) => {
                let line = first.span().start().line;
                let mut path = prefix.to_vec();
                path.push(first.to_string());
                at += 1;
                while joined(&tokens, at) {
                    at += 2;
                    match tokens.get(at) {
                        Some(TokenTree::Ident(next)) => path.push(next.to_string()),
                        Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace => {
                            collect(group.stream(), &path, found);
                        }
                        _ => break,
                    }
                    at += 1;
                }
                found.push(Found { path, line });
            }
            TokenTree::Group(group) => {
                collect(group.stream(), prefix, found);
                at += 1;
            }
            _ => at += 1,
        }
    }
}

fn joined(tokens: &[TokenTree], at: usize) -> bool {
    let colon = |at: usize| matches!(tokens.get(at), Some(TokenTree::Punct(punct)) if punct.as_char() == ':');
    colon(at) && colon(at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(module: &[&str], text: &str) -> Source {
        let module: Vec<String> = module.iter().map(|part| (*part).to_owned()).collect();
        let tree = syn::parse_file(text).unwrap();
        Source {
            name: format!("{}.rs", module.join("/")),
            module,
            tree,
            lines: 1,
        }
    }

    #[test]
    fn an_import_from_below_is_found_in_each_form() {
        let library = source(
            &[],
            "pub mod tree; pub mod merge; pub mod plan; pub use plan::{Plan, Step};",
        );
        for text in [
            "use crate::plan::Step;",
            "use crate::{tree::Tree, plan::Step};",
            "use crate::Step;",
            "use super::plan::Step;",
            "fn f() { println!(\"{}\", crate::plan::NAME) }",
        ] {
            let below = check_order(&[
                source(&[], &library.tree.to_token_stream().to_string()),
                source(&["merge"], text),
            ]);
            assert_eq!(below.len(), 1, "{text}: {below:?}");
        }
        let above = source(
            &["merge"],
            "use crate::{tree::Tree, merge::Merged}; use super::tree; fn f(plan: u8) {}",
        );
        assert_eq!(check_order(&[library, above]), Violations::new());
    }

    #[test]
    fn a_look_outside_is_found_in_each_form() {
        for text in [
            "use std::fs;",
            "use std::{fmt, fs::File};",
            "fn f() -> String { std::env::var(\"A\").unwrap() }",
            "use std::time::{Duration, Instant};",
            "fn f() { let now = jiff::Timestamp::now(); }",
            "async fn f() {}",
            "fn f() { println!(\"x\") }",
        ] {
            assert!(!check_pure(&source(&["merge"], text)).is_empty(), "{text}");
        }
        let pure = source(
            &["merge"],
            "use std::{fmt, time::Duration}; fn f(now: jiff::Timestamp) { g(now) }",
        );
        assert_eq!(check_pure(&pure), Violations::new());
    }
}
