//! The lines that several answers share: findings, requests, next actions, tables of words.
//!
//! In: values of a report. Out: lines appended to a text.

use std::borrow::Cow;
use std::fmt::Write as _;

use refit_core::finding::Finding;
use refit_core::report::{Next, Report, Reports, RequestLine};

/// Appends a line with an indent to a text.
macro_rules! line {
    ($text:expr, $($format:tt)*) => {{
        // Writing to a text cannot fail.
        let _ = ::std::fmt::Write::write_fmt($text, format_args!($($format)*));
        $text.push('\n');
    }};
}
pub(crate) use line;

/// Counts things in words.
pub(crate) fn counted(count: usize, what: &str) -> String {
    match count {
        1 => format!("1 {what}"),
        count => format!("{count} {what}s"),
    }
}

/// Gives the name of a file so that it stays on its line: names of files may hold any characters.
pub(crate) fn one_line(name: &str) -> Cow<'_, str> {
    if !name.contains(char::is_control) {
        return Cow::Borrowed(name);
    }
    let shown = |c: char| match c.is_control() {
        true => c.escape_default().to_string(),
        false => c.to_string(),
    };
    Cow::Owned(name.chars().map(shown).collect())
}

/// Starts a text with the sentence of the report.
pub(crate) fn head<B>(report: &Report<B>) -> String {
    format!("{}: {}\n", report.state.words(), report.message)
}

/// Starts a text whose findings follow: a sentence that only repeats one of them is left to it.
pub(crate) fn head_of_findings<B>(report: &Report<B>, findings: &[Finding]) -> String {
    let repeated = |finding: &Finding| finding.blocks() && report.message.ends_with(&finding.message);
    if findings.iter().any(repeated) {
        format!("{}: 1 finding is in the way\n", report.state.words())
    } else {
        head(report)
    }
}

/// Appends findings, the gravest first, each with its remedy.
pub(crate) fn findings(text: &mut String, findings: &[Finding], indent: &str) {
    let mut sorted: Vec<&Finding> = findings.iter().collect();
    sorted.sort_by_key(|finding| finding.severity);
    for finding in sorted {
        let accepted = if finding.accepted { " (accepted)" } else { "" };
        let (severity, code) = (finding.severity.word(), finding.code);
        line!(text, "{indent}{severity}: {code}{accepted}: {}", about(finding, indent));
        if !finding.accepted && !finding.remedy.is_empty() {
            line!(text, "{indent}  hint: {}", finding.remedy);
        }
    }
}

/// Gives subject and message, the subject only where the message does not name it.
fn about(finding: &Finding, indent: &str) -> String {
    let message = finding.message.replace('\n', &format!("\n{indent}  "));
    if finding.subject.is_empty() || message.contains(&finding.subject) {
        message
    } else {
        format!("`{}`: {message}", one_line(&finding.subject))
    }
}

/// Tells whether a command takes a decision below which the text names all its answers.
fn is_way(command: &str, text: &str) -> bool {
    let mut words = command.split(' ');
    match (words.next(), words.next(), words.next(), words.next()) {
        (Some("refit"), Some("resolve"), Some(id), Some(_)) => {
            text.contains(&format!("take it with `refit resolve {id} "))
        }
        _ => false,
    }
}

/// Appends what the user can do next, without what the text says already.
pub(crate) fn next(text: &mut String, next: &[Next], indent: &str) {
    for one in next {
        let known = |command: &String| text.contains(&format!("`{command}`")) || is_way(command, text);
        let said = text.contains(&one.text);
        match &one.command {
            Some(command) if known(command) => {}
            Some(command) if said => line!(text, "{indent}next: `{command}`"),
            Some(command) => line!(text, "{indent}next: `{command}`: {}", one.text),
            None if said => {}
            None => line!(text, "{indent}next: {}", one.text),
        }
    }
}

/// Says which `--accept` matched nothing that was found for any group of clusters; for stderr.
pub(crate) fn unmatched<B>(reports: &Reports<B>, of: impl Fn(&B) -> &Vec<String>) -> String {
    let mut text = String::new();
    let all: Vec<&Vec<String>> = reports.each().into_iter().map(|report| of(&report.body)).collect();
    let first: &[String] = all.first().map_or(&[], |first| first.as_slice());
    for one in first.iter().filter(|one| all.iter().all(|other| other.contains(one))) {
        line!(&mut text, "note: `--accept {one}` matches nothing that was found");
    }
    text
}

/// Renders a request in one line.
pub(crate) fn request(request: &RequestLine) -> String {
    let mut text = format!("#{} {}: {}", request.number, request.state, request.title);
    let _ = write!(text, " (`{}` into `{}`)", request.branch, request.base);
    text
}

/// Renders a word with its values, the word padded so that values stand below each other.
pub(crate) fn entry(text: &mut String, word: &str, value: &str) {
    if !value.is_empty() {
        line!(text, "  {word:<14}{value}");
    }
}

/// Cuts a value to one line for a list.
pub(crate) fn short(value: Option<&String>) -> String {
    let Some(value) = value else { return "nothing".into() };
    let first = value.trim().lines().next().unwrap_or_default();
    let cut: String = first.chars().take(100).collect();
    if cut.len() < value.trim().len() {
        format!("`{cut}` ...")
    } else {
        format!("`{cut}`")
    }
}
