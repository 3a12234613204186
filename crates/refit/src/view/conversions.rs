//! Uses of old API versions and fields as text, and the differences of a conversion.

use refit_core::finding::Code;
use refit_core::report::{Convert, Report, Scan, UseLine};
use similar::TextDiff;

use crate::view::lines::{self, counted, line, one_line};

/// The lines around a change that a difference shows.
const CONTEXT: usize = 3;

/// The most files that no Kustomization reaches which are named one by one.
const NAMED: usize = 10;

/// Lists uses, one line each, with file, line and column in front.
pub(crate) fn uses(uses: &[UseLine]) -> String {
    let mut text = String::new();
    listed(&mut text, uses, "");
    text
}

fn listed(text: &mut String, uses: &[UseLine], word: &str) {
    for used in uses {
        let (path, line, column) = (one_line(&used.path), used.line, used.column);
        line!(text, "{word}{path}:{line}:{column}: {}: {}", what(used), said(used));
    }
}

/// Counts the uses that are converted for sure.
pub(crate) fn sure(uses: &[UseLine]) -> usize {
    uses.iter().filter(|used| used.convertible == "yes").count()
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
    let sure = sure(&body.uses);
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
    let Convert { platform, to, left, .. } = body;
    let changes: usize = body.changed.iter().map(|file| file.changes.len()).sum();
    let verb = if body.written { "converted" } else { "to be converted" };
    let mut text = match body.changed.len() {
        0 => format!("nothing to convert to {platform} {to}"),
        files => format!(
            "{} {verb} to {platform} {to}, in {}",
            counted(changes, "use"),
            counted(files, "file")
        ),
    };
    if !left.is_empty() {
        let left = format!(
            "; {} left for a person, in {}",
            counted(left.len(), "use"),
            counted(files_of(left), "file")
        );
        text.push_str(&left);
    }
    let unwritten = body
        .findings
        .iter()
        .filter(|finding| finding.code == Code::FileNotWritten);
    match unwritten.count() {
        0 => text,
        count => text + &format!("; {} could not be written", counted(count, "file")),
    }
}

/// Tells what runs that were cut off left behind.
pub(crate) fn leftovers(paths: &[String]) -> String {
    let mut text = String::new();
    for path in paths {
        line!(
            &mut text,
            "note: a run that was cut off left `{}` behind, or one still writes it; `refit convert` removes it when it is free",
            one_line(path)
        );
    }
    text
}

/// Tells what was removed of runs that were cut off.
pub(crate) fn cleared(paths: &[String]) -> String {
    let mut text = String::new();
    for path in paths {
        line!(
            &mut text,
            "note: removed `{}`, which a run that was cut off left behind",
            one_line(path)
        );
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
    listed(&mut text, &body.left, "left: ");
    lines::findings(&mut text, &body.findings, "");
    notes(&mut text, &body.notes);
    unreached(&mut text, &body.unreached);
    line!(&mut text, "{}", report.message);
    lines::next(&mut text, &report.next, "");
    text
}

fn notes(text: &mut String, notes: &[refit_core::report::NoteLine]) {
    for note in notes {
        let (path, line) = (one_line(&note.path), note.line);
        line!(text, "note: {path}:{line}: {}: {}", note.object, note.message);
    }
}

fn unreached(text: &mut String, paths: &[String]) {
    for path in paths.iter().take(NAMED) {
        line!(text, "left out, no Kustomization reaches it: {}", one_line(path));
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
        line!(
            &mut text,
            "{}: {}",
            one_line(&file.path),
            counted(file.changes.len(), "use")
        );
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
        .header(&named("a", path), &named("b", path))
        .to_string()
}

/// Gives the name of a file in a difference; as Git does, one with control characters stands in quotes.
fn named(side: &str, path: &str) -> String {
    let shown = one_line(path);
    match shown == path {
        true => format!("{side}/{path}"),
        false => format!("\"{side}/{}\"", shown.replace('"', "\\\"")),
    }
}

fn files_of(uses: &[UseLine]) -> usize {
    uses.chunk_by(|a, b| a.path == b.path).count()
}
