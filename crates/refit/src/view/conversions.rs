//! Uses of old API versions and fields as text, and the differences of a conversion.

use refit_core::report::{Convert, Report, Scan, UseLine};
use similar::TextDiff;

use crate::view::lines::{self, line};

/// The lines around a change that a difference shows.
const CONTEXT: usize = 3;

/// The most files that no Kustomization reaches which are named one by one.
const NAMED: usize = 10;

/// Lists uses, one line each, with file, line and column in front.
pub(crate) fn uses(uses: &[UseLine]) -> String {
    let mut text = String::new();
    for used in uses {
        line!(
            &mut text,
            "{}:{}:{}: {}: {}",
            used.path,
            used.line,
            used.column,
            what(used),
            said(used)
        );
    }
    text
}

/// Names the object of a use.
pub(crate) fn what(used: &UseLine) -> String {
    let within = match used.within.as_str() {
        "" => String::new(),
        within => format!(" of {within}"),
    };
    match used.place.as_str() {
        "target" => format!("target {}{within}", used.object),
        "reference" => format!("reference to {}{within}", used.object),
        "mention" if used.within.is_empty() => "text".to_owned(),
        "mention" => format!("text{within}"),
        "patch" => format!("patch of {}{}", used.object, within.replacen(" of ", " in ", 1)),
        _ => format!("{}{}", used.object, within.replacen(" of ", " inside ", 1)),
    }
}

/// Says what is wrong with a use and what becomes of it.
pub(crate) fn said(used: &UseLine) -> String {
    let mut text = match (&used.version, &used.field) {
        (Some(version), _) => format!("{}/{version} {}", used.group, history(used)),
        (None, Some(field)) if field.is_empty() || used.message.as_ref().is_some_and(|said| said.contains('`')) => {
            used.message.clone().unwrap_or_default()
        }
        (None, field) => {
            let field = field.as_deref().unwrap_or_default();
            format!("`{field}`: {}", used.message.as_deref().unwrap_or_default())
        }
    };
    if let (Some(replacement), Some(_)) = (&used.replacement, &used.version) {
        text.push_str(&format!("; write {replacement}"));
    }
    match (used.convertible.as_str(), &used.reason) {
        ("review", Some(reason)) if used.message.as_ref() == Some(reason) => text.push_str(" (look at it)"),
        ("review", Some(reason)) => text.push_str(&format!(" (look at it: {reason})")),
        ("no", Some(reason)) => text.push_str(&format!(" (not converted: {reason})")),
        _ => {}
    }
    text
}

fn history(used: &UseLine) -> String {
    match (&used.since, &used.removed_in, used.removed) {
        (Some(since), Some(gone), true) => format!("is removed in {gone}, deprecated since {since}"),
        (Some(since), Some(gone), false) => format!("is deprecated since {since}, removed in {gone}"),
        (Some(since), None, _) => format!("is deprecated since {since}"),
        (None, Some(gone), _) => format!("is removed in {gone}"),
        (None, None, _) => "is not served".to_owned(),
    }
}

/// Sums a scan up in one sentence.
pub(crate) fn scanned(body: &Scan) -> String {
    let sure = body.uses.iter().filter(|used| used.convertible == "yes").count();
    let Scan {
        platform, to, files, ..
    } = body;
    match body.uses.len() {
        0 => format!(
            "{} {} nothing that {platform} {to} deprecates or removes",
            counted(*files, "file"),
            if *files == 1 { "uses" } else { "use" }
        ),
        all if all == sure => format!(
            "{} of what {platform} {to} deprecates or removes in {}; all can be converted",
            counted(all, "use"),
            counted(files_of(&body.uses), "file")
        ),
        all => format!(
            "{} of what {platform} {to} deprecates or removes in {}; {sure} can be converted, {} left for a person",
            counted(all, "use"),
            counted(files_of(&body.uses), "file"),
            all - sure
        ),
    }
}

/// Sums a conversion up in one sentence.
pub(crate) fn converted(body: &Convert) -> String {
    let Convert { platform, to, .. } = body;
    let changes: usize = body.changed.iter().map(|file| file.changes.len()).sum();
    let verb = if body.written {
        "converted"
    } else {
        "would be converted"
    };
    let mut text = match body.changed.len() {
        0 => format!("nothing to convert to {platform} {to}"),
        files => format!(
            "{} in {} {verb} to {platform} {to}",
            counted(changes, "use"),
            counted(files, "file")
        ),
    };
    if !body.left.is_empty() {
        text.push_str(&format!("; {} left for a person", body.left.len()));
    }
    text
}

/// Gives what stands beside the uses of a scan.
pub(crate) fn scan_notes(report: &Report<Scan>) -> String {
    let body = &report.body;
    let mut text = String::new();
    lines::findings(&mut text, &body.findings, "");
    notes(&mut text, &body.notes);
    unreached(&mut text, &body.unreached);
    line!(&mut text, "{}", report.message);
    lines::next(&mut text, &report.next, "");
    text
}

/// Gives what stands beside the files of a conversion.
pub(crate) fn convert_notes(report: &Report<Convert>) -> String {
    let body = &report.body;
    let mut text = String::new();
    for used in &body.left {
        line!(
            &mut text,
            "left: {}:{}:{}: {}: {}",
            used.path,
            used.line,
            used.column,
            what(used),
            said(used)
        );
    }
    lines::findings(&mut text, &body.findings, "");
    notes(&mut text, &body.notes);
    unreached(&mut text, &body.unreached);
    line!(&mut text, "{}", report.message);
    lines::next(&mut text, &report.next, "");
    text
}

fn notes(text: &mut String, notes: &[refit_core::report::NoteLine]) {
    for note in notes {
        line!(
            text,
            "note: {}:{}: {}: {}",
            note.path,
            note.line,
            note.object,
            note.message
        );
    }
}

fn unreached(text: &mut String, paths: &[String]) {
    for path in paths.iter().take(NAMED) {
        line!(text, "left out, no Kustomization reaches it: {path}");
    }
    if paths.len() > NAMED {
        line!(
            text,
            "left out, no Kustomization reaches them: {} more files",
            paths.len() - NAMED
        );
    }
    if !paths.is_empty() {
        line!(text, "hint: `--all` takes them in");
    }
}

/// Lists the files that were converted.
pub(crate) fn changed(body: &Convert) -> String {
    let mut text = String::new();
    for file in &body.changed {
        line!(&mut text, "{}: {}", file.path, counted(file.changes.len(), "use"));
    }
    text
}

/// Gives the differences of all files.
pub(crate) fn diffs(body: &Convert) -> String {
    body.changed.iter().filter_map(|file| file.diff.as_deref()).collect()
}

/// Gives the difference of one file.
pub(crate) fn diff(path: &str, before: &[u8], after: &[u8]) -> String {
    let (before, after) = (String::from_utf8_lossy(before), String::from_utf8_lossy(after));
    let mut path = path.trim_start_matches('/');
    while let Some(rest) = path.strip_prefix("../").or_else(|| path.strip_prefix("./")) {
        path = rest;
    }
    TextDiff::from_lines(&*before, &*after)
        .unified_diff()
        .context_radius(CONTEXT)
        .header(&format!("a/{path}"), &format!("b/{path}"))
        .to_string()
}

fn files_of(uses: &[UseLine]) -> usize {
    uses.chunk_by(|a, b| a.path == b.path).count()
}

fn counted(count: usize, what: &str) -> String {
    match count {
        1 => format!("1 {what}"),
        count => format!("{count} {what}s"),
    }
}
