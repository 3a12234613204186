//! Which upgrades can go back.
//!
//! In: the definitions before and after, the catalog. Out: findings. Knows no cluster: what may be stored is assumed from
//! the release that runs.

use refit_manifest::{Document, Path, Stream};

use crate::catalog::{Catalog, Resource};
use crate::check::{self, Definitions};
use crate::finding::{Code, Finding};
use crate::release::Version;

/// The two releases of a rollback.
#[derive(Clone, Copy, Debug)]
pub struct Back<'a> {
    /// The release that runs.
    pub from: &'a Version,
    /// The release to go back to.
    pub to: &'a Version,
    /// What is known about releases.
    pub catalog: &'a Catalog,
}

impl Back<'_> {
    /// Finds the definitions whose objects may be stored in a version that the release to go back to does not serve; a
    /// definition that it does not have stays in the cluster as it is.
    pub fn past(&self, installed: &Definitions, before: &Definitions) -> Vec<Finding> {
        let stored = check::stored(installed, self.from, self.catalog);
        let served = |name: &str| -> Option<Vec<String>> {
            if let Some(definition) = before.get(name).filter(|definition| !definition.versions.is_empty()) {
                return Some(definition.served().map(str::to_owned).collect());
            }
            let known = self.catalog.knows(self.to).then(|| self.catalog.api(name, self.to));
            Some(known.flatten()?.versions.served.clone())
        };
        let removed = check::removed(&stored, served);
        removed.iter().map(|removed| self.finding(removed)).collect()
    }

    /// Finds the objects in what a file would be again that the installed definitions do not serve in their version.
    pub fn unserved(&self, (path, file): (&Path, &Stream), installed: &Definitions) -> Vec<Finding> {
        let finding = |document: &Document| {
            let head = document.head();
            let (group, version) = head.api_version.split_once('/')?;
            let is_of = |resource: &&Resource| resource.group() == group && *resource.kind == *head.kind;
            let resource = self.catalog.resources().iter().find(is_of)?;
            let definition = installed.get(&resource.crd)?;
            if definition.served().any(|served| served == version) {
                return None;
            }
            let message = format!(
                "`{}/{}` would be written as `{version}` again, which {} does not serve",
                head.kind, head.name, self.from
            );
            Some(Finding::new(Code::ApiVersionRemoved, path.as_str(), message))
        };
        file.documents().iter().filter_map(finding).collect()
    }

    fn finding(&self, removed: &check::Removed) -> Finding {
        let kind = self
            .catalog
            .resource(&removed.name)
            .map(|resource| resource.kind.as_str());
        let objects = kind.map_or_else(|| "objects".to_owned(), |kind| format!("objects of kind `{kind}`"));
        let message = format!(
            "{objects} may be stored as `{}` since {} runs, which {} does not serve; the API server would refuse the \
             definition",
            removed.version, self.from, self.to
        );
        Finding::new(Code::PastPointOfNoReturn, removed.name.as_str(), message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generated::{Definition, Served};

    fn definitions(versions: &[(&str, bool)]) -> Definitions {
        let served = |(at, (name, served)): (usize, &(&str, bool))| Served {
            name: (*name).to_owned(),
            served: *served,
            storage: at == 0,
            deprecated: false,
        };
        let definition = Definition {
            versions: versions.iter().enumerate().map(served).collect(),
            ..Definition::default()
        };
        Definitions::from([("buckets.source.toolkit.fluxcd.io".to_owned(), definition)])
    }

    fn check(installed: &[(&str, bool)], before: &[(&str, bool)], expected: &[&str]) {
        let catalog = Catalog::flux().unwrap();
        let (from, to) = (Version::new(9, 1, 0), Version::new(9, 0, 0));
        let back = Back {
            from: &from,
            to: &to,
            catalog: &catalog,
        };
        let found = back.past(&definitions(installed), &definitions(before));
        let found: Vec<&str> = found.iter().map(|finding| finding.message.as_str()).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn a_stored_version_that_the_older_release_does_not_serve_is_the_point_of_no_return() {
        let (v1, beta) = (("v1", true), ("v1beta2", true));
        check(&[v1, beta], &[beta, v1], &[]);
        let refused = "objects of kind `Bucket` may be stored as `v1` since v9.1.0 runs, which v9.0.0 does not serve; \
                       the API server would refuse the definition";
        check(&[v1, beta], &[beta], &[refused]);
        check(&[v1, beta], &[beta, ("v1", false)], &[refused]);
    }

    #[test]
    fn an_object_that_the_installed_definitions_do_not_serve_is_not_written_again() {
        let catalog = Catalog::flux().unwrap();
        let (from, to) = (Version::new(9, 1, 0), Version::new(9, 0, 0));
        let back = Back {
            from: &from,
            to: &to,
            catalog: &catalog,
        };
        let object = |kind: &str, version: &str| {
            format!("apiVersion: source.toolkit.fluxcd.io/{version}\nkind: {kind}\nmetadata: {{name: a}}\n")
        };
        let found = |text: String| {
            let stream = Stream::split(text.into_bytes().into()).unwrap();
            let installed = definitions(&[("v1", true), ("v1beta2", false)]);
            let found = back.unserved((&"apps/a.yaml".into(), &stream), &installed);
            found
                .iter()
                .map(|one| format!("{} {}: {}", one.code, one.subject, one.message))
                .collect::<Vec<_>>()
        };
        let refused = "ApiVersionRemoved apps/a.yaml: `Bucket/a` would be written as `v1beta2` again, which v9.1.0 does not serve";
        assert_eq!(found(object("Bucket", "v1beta2")), [refused]);
        assert!(found(object("Bucket", "v1")).is_empty());
        // What is not installed is not refused by it.
        assert!(found(object("HelmChart", "v1beta2")).is_empty());
    }
}
