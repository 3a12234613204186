//! The text of `init`.
//!
//! In: the report. Out: text for people.

use refit_core::report::{Init, Report};

use crate::view::lines::{self, entry};

/// Renders `refit init`.
pub(crate) fn init(report: &Report<Init>) -> String {
    let mut text = lines::head_of_findings(report, &report.body.findings);
    for cluster in &report.body.clusters {
        entry(
            &mut text,
            "cluster",
            &format!("{} ({})", cluster.cluster, cluster.directory),
        );
    }
    entry(&mut text, "written", report.body.written.as_deref().unwrap_or_default());
    lines::findings(&mut text, &report.body.findings, "");
    lines::next(&mut text, &report.next, "");
    text
}
