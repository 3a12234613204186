//! Whether what a cluster applies after a request is written in versions that its release serves.
//!
//! In: the files that shape it as they are then, the releases before and after, what is known of them. Out: findings. Knows
//! nothing of the order of requests: it reads what stands there as a scan does, so that an order that overlooks a place
//! opens no request that breaks it, and a plan and a scan never say different things.

use std::collections::BTreeSet;
use std::sync::Arc;

use refit_kustomize::reach;
use refit_manifest::{Path, Tree};

use crate::catalog::Catalog;
use crate::conversion::{self, Convertible, Use, Wanted, What};
use crate::finding::{Code, Finding, Severity};
use crate::meant;
use crate::places::{Content, Sort};
use crate::release::Version;
use crate::route::Known;
use crate::stage::Stage;

/// A request that is to be looked at.
#[derive(Clone, Copy, Debug)]
pub struct Case<'a> {
    /// What is known of releases.
    pub known: &'a Known<'a>,
    /// The components of the plane; what others would bring is not looked at.
    pub components: &'a BTreeSet<String>,
    /// What the request does.
    pub stage: Stage,
    /// The installed release.
    pub from: &'a Version,
    /// The release of the next hop.
    pub to: &'a Version,
}

/// Looks at files; those that kustomizations among them name as patches are read as parts of objects. Of a request that
/// brings a release, what that one does not serve is told, else what neither serves; nothing where a release is not known.
pub fn look(case: &Case<'_>, tree: &Tree, files: &BTreeSet<Path>) -> Vec<Finding> {
    if !case.known.knows(case.from) || !case.known.knows(case.to) {
        return Vec::new();
    }
    let catalog = catalog(case);
    let judge = Judge {
        case,
        wanted: Wanted::of(&catalog, case.to),
        both: Wanted::common(&catalog, &[case.from.clone(), case.to.clone()]),
    };
    let kustomizations = files.iter().filter(|path| reach::is_kustomization(path));
    let contents = meant::join(kustomizations.flat_map(|path| meant::contents(tree, path)));
    let mut findings = Vec::new();
    for path in files {
        let Some(bytes) = tree.bytes(path) else { continue };
        let content = contents.get(path).unwrap_or(&Content::Objects);
        findings.extend(judge.file(path, content, bytes));
    }
    findings
}

/// Gives what is known of the kinds that the plane has.
fn catalog(case: &Case<'_>) -> Catalog {
    let releases = BTreeSet::from([case.from.clone(), case.to.clone()]);
    let catalog = case.known.noted(&releases);
    let mut resources = catalog.resources().to_vec();
    resources.retain(|resource| case.components.contains(&resource.component));
    catalog.with_resources(resources)
}

struct Judge<'a> {
    case: &'a Case<'a>,
    wanted: Wanted,
    both: Wanted,
}

impl Judge<'_> {
    fn file(&self, path: &Path, content: &Content, bytes: &Arc<[u8]>) -> Vec<Finding> {
        // What cannot be read is told where the order is made.
        let reading = conversion::read_content(content, path, bytes, &self.wanted);
        let newer = reading
            .findings
            .into_iter()
            .filter(|finding| finding.code == Code::ApiVersionNewer);
        let blocking = |mut finding: Finding| {
            finding.severity = Severity::Blocking;
            finding
        };
        let gone = reading.uses.iter().filter_map(|used| self.gone(used));
        gone.chain(newer.map(blocking)).collect()
    }

    /// Says of a use that its version is not served any more.
    fn gone(&self, used: &Use) -> Option<Finding> {
        let What::Version(version) = &used.what else {
            return None;
        };
        let Case { stage, from, to, .. } = *self.case;
        let gone = used.removed_in.as_ref()?;
        let is_now = gone > from;
        if gone > to || (is_now && stage != Stage::Upgrade) {
            return None;
        }
        let place = place(used, version);
        let message = match is_now {
            true => format!("{place}, which {to} no longer serves"),
            false if from == to => format!("{place}, which {from} does not serve"),
            false => format!("{place}, which neither {from} nor {to} serves"),
        };
        let subject = format!("{}:{}", used.path, used.line);
        let finding = Finding::new(Code::ApiVersionRemoved, subject, message);
        let mut finding = match self.both.version(&used.group, &used.kind) {
            Some(both) if from == to => {
                let platform = self.case.known.catalog().platform();
                let convert = format!("refit convert --to {platform}@{to} {}", used.path);
                finding.with_remedy(format!("write it as `{both}`, or run `{convert}`"))
            }
            Some(both) => finding.with_remedy(format!(
                "write it as `{both}`, which {from} serves already, commit, and run again"
            )),
            None => finding
                .with_remedy("upgrade to a release between that serves a newer version as well, and change it there"),
        };
        if !is_sure(used) {
            finding.severity = Severity::Warning;
        }
        Some(finding)
    }
}

/// Tells whether a place means what it says for sure: what is applied does, whoever must edit it.
fn is_sure(used: &Use) -> bool {
    matches!(used.sort, Sort::Object | Sort::Item | Sort::List) || used.convertible == Convertible::Yes
}

/// Says what is written where.
fn place(used: &Use, version: &str) -> String {
    let object = &used.object;
    match used.sort {
        Sort::Object | Sort::Item | Sort::List => format!("`{object}` is written as `{version}`"),
        Sort::Patch => format!("a patch on `{object}` is written as `{version}`"),
        Sort::Embedded => format!("`{object}` inside {} is written as `{version}`", used.within),
        Sort::Target => format!("a selector means `{object}` as `{version}`"),
        Sort::Reference => format!("{} refers to `{object}` as `{version}`", used.within),
        Sort::Mention | Sort::Pointer => format!("{object} names `{}/{version}`", used.group),
    }
}
