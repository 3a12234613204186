//! The table of `refit status --all`: one line per cluster.
//!
//! In: a report. Out: text for people, columns below each other.

use refit_core::report::{ClusterStatus, Report, RequestLine, State, Status};

use crate::view::lines::{self, line};

/// The clusters from which on the table is shown without being asked for.
pub(crate) const MANY: usize = 6;

const COLUMNS: [&str; 5] = ["cluster", "installed", "available", "requests", "next"];

/// Renders all clusters as a table.
pub(crate) fn table(report: &Report<Status>) -> String {
    let body = &report.body;
    let mut text = lines::head_of_findings(report, &body.findings);
    line!(&mut text, "repository {}, branch {}\n", body.repository, body.branch);
    let mut rows = vec![COLUMNS.map(str::to_owned)];
    rows.extend(body.clusters.iter().map(row));
    let width = |column: usize| {
        let cells = rows.iter().map(|row| row[column].chars().count());
        cells.max().unwrap_or_default()
    };
    let widths: Vec<usize> = (0..COLUMNS.len()).map(width).collect();
    for row in &rows {
        let cells = row.iter().zip(&widths);
        let padded: Vec<String> = cells.map(|(cell, width)| format!("{cell:<width$}")).collect();
        line!(&mut text, "{}", padded.join("  ").trim_end());
    }
    let findings: usize = body.clusters.iter().map(|cluster| cluster.findings.len()).sum();
    let count = match findings {
        1 => "1 finding".to_owned(),
        several => format!("{several} findings"),
    };
    if findings > 0 {
        line!(
            &mut text,
            "\n{count} about clusters; `refit status --cluster NAME` shows those of one"
        );
    }
    lines::findings(&mut text, &body.findings, "");
    text
}

fn row(cluster: &ClusterStatus) -> [String; 5] {
    let or_dash = |text: &str| if text.is_empty() { "-" } else { text }.to_owned();
    let request = |request: &RequestLine| format!("#{} {}", request.number, request.state);
    let requests: Vec<String> = cluster.requests.iter().map(request).collect();
    [
        cluster.cluster.clone(),
        or_dash(&cluster.installed),
        or_dash(cluster.available.as_deref().unwrap_or_default()),
        or_dash(&requests.join(", ")),
        next(cluster),
    ]
}

/// Says where a cluster stands, with the command that goes on.
fn next(cluster: &ClusterStatus) -> String {
    let state = cluster.state.words();
    let details = || Some(format!("refit status --cluster {}", cluster.cluster));
    let command = match cluster.state {
        State::Blocked => details(),
        _ => cluster.next.iter().find_map(|next| next.command.clone()),
    };
    match command {
        Some(command) => format!("{state}: `{command}`"),
        None => state.to_owned(),
    }
}
