//! Sizes: files, functions and parameter lists; no `bool` among parameters; each module opens with its purpose.

use std::fs;

use syn::spanned::Spanned as _;
use syn::visit::{self, Visit};

use super::files::{Violations, root};
use super::source::{Source, crate_names, read};

const FILE_LINES: usize = 500;
const FUNCTION_LINES: usize = 60;
const PARAMETERS: usize = 5;

pub(crate) fn check() -> Violations {
    let mut violations = Violations::new();
    for name in crate_names() {
        for source in read(&name) {
            let text = fs::read_to_string(root().join(&source.name)).unwrap();
            if !text.starts_with("//!") {
                violations.push(format!("{}:1: the module does not open with `//!`", source.name));
            }
            violations.extend(check_source(&source));
        }
    }
    violations
}

fn check_source(source: &Source) -> Violations {
    let mut finder = Finder {
        name: &source.name,
        violations: Violations::new(),
    };
    if source.lines > FILE_LINES {
        finder.add(
            1,
            format!(
                "the file has {} lines without tests, at most {FILE_LINES}",
                source.lines
            ),
        );
    }
    finder.visit_file(&source.tree);
    finder.violations
}

struct Finder<'a> {
    name: &'a str,
    violations: Violations,
}

impl Finder<'_> {
    fn add(&mut self, line: usize, what: String) {
        self.violations.push(format!("{}:{line}: {what}", self.name));
    }

    fn length(&mut self, signature: &syn::Signature, block: &syn::Block) {
        let start = signature.span().start().line;
        let lines = block.span().end().line - start + 1;
        if lines > FUNCTION_LINES {
            self.add(
                start,
                format!("`{}` has {lines} lines, at most {FUNCTION_LINES}", signature.ident),
            );
        }
    }

    fn parameters(&mut self, signature: &syn::Signature) {
        let line = signature.span().start().line;
        if signature.inputs.len() > PARAMETERS {
            let count = signature.inputs.len();
            self.add(
                line,
                format!("`{}` has {count} parameters, at most {PARAMETERS}", signature.ident),
            );
        }
        for input in &signature.inputs {
            let syn::FnArg::Typed(input) = input else { continue };
            if matches!(&*input.ty, syn::Type::Path(path) if path.path.is_ident("bool")) {
                self.add(
                    line,
                    format!(
                        "`{}` has a boolean parameter; use an enum or two functions",
                        signature.ident
                    ),
                );
            }
        }
    }
}

impl<'ast> Visit<'ast> for Finder<'_> {
    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.length(&item.sig, &item.block);
        self.parameters(&item.sig);
        visit::visit_item_fn(self, item);
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        for member in &item.items {
            let syn::ImplItem::Fn(function) = member else { continue };
            self.length(&function.sig, &function.block);
            // The signature of a trait's method is the trait's to answer for.
            if item.trait_.is_none() {
                self.parameters(&function.sig);
            }
        }
        visit::visit_item_impl(self, item);
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        self.parameters(&item.sig);
        if let Some(block) = &item.default {
            self.length(&item.sig, block);
        }
        visit::visit_trait_item_fn(self, item);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(text: &str) -> usize {
        let tree = syn::parse_file(text).unwrap();
        let source = Source {
            name: "a.rs".into(),
            module: vec!["a".into()],
            lines: text.lines().count(),
            tree,
        };
        check_source(&source).len()
    }

    #[test]
    fn each_limit_is_noticed_one_line_beyond_it() {
        let function = |inner: usize| format!("fn f() {{\n{}}}\n", "    g();\n".repeat(inner));
        assert_eq!((count(&function(58)), count(&function(59))), (0, 1));
        assert_eq!(
            (
                count(&"const A: u8 = 1;\n".repeat(500)),
                count(&"const A: u8 = 1;\n".repeat(501))
            ),
            (0, 1)
        );
        let with = |parameters: &str| count(&format!("impl A {{ fn f({parameters}) {{}} }}"));
        assert_eq!(with("&self, a: u8, b: u8, c: u8, d: u8"), 0);
        assert_eq!(with("&self, a: u8, b: u8, c: u8, d: u8, e: u8"), 1);
        assert_eq!((with("a: bool"), with("a: Option<bool>")), (1, 0));
        assert_eq!(count("trait A { fn f(a: bool); }"), 1);
        assert_eq!(count("impl B for A { fn f(a: bool) {} }"), 0);
    }
}
