//! The texts of `request` and `diff`.
//!
//! In: reports. Out: text for people.

use refit_core::report::{Diff, Report, Request, Requests};

use crate::view::lines::{self, entry, line};

/// Renders `refit request list`.
pub(crate) fn list(report: &Report<Requests>) -> String {
    let mut text = String::new();
    if report.body.requests.is_empty() {
        text = lines::head(report);
    }
    for request in &report.body.requests {
        line!(&mut text, "{}", lines::request(request));
    }
    lines::next(&mut text, &report.next, "");
    text
}

/// Renders `refit request show`: the request and the text for the reviewer.
pub(crate) fn show(report: &Report<Request>) -> String {
    let mut text = format!("{}\n", lines::request(&report.body.request));
    line!(&mut text, "head {}\n", report.body.head);
    line!(&mut text, "{}", report.body.text.trim_end());
    text
}

/// Renders what became of a request that was merged or closed.
pub(crate) fn ended(report: &Report<Request>) -> String {
    let mut text = lines::head(report);
    entry(&mut text, "request", &lines::request(&report.body.request));
    lines::findings(&mut text, &report.body.findings, "");
    lines::next(&mut text, &report.next, "");
    text
}

/// Renders the differences alone, so that other programs can read them.
pub(crate) fn diff(report: &Report<Diff>) -> String {
    report.body.files.iter().map(|file| file.diff.as_str()).collect()
}
