//! Other tools that write the same files.
//!
//! In: the files of a snapshot, the generated files of a plane and what the Flux Operator installs. Out:
//! [`Code::OtherUpdater`] findings that name the line which configures the tool.

mod renovate;
mod scripts;

use std::collections::BTreeMap;
use std::str::from_utf8;

use refit_kustomize::reach;
use refit_manifest::{Path, Tree};

use crate::finding::{Code, Finding};
use crate::operator::Instance;
use crate::snapshot::is_renovate;

/// The updaters of a repository, looked for once for all its clusters.
#[derive(Debug, Default)]
pub struct Updaters {
    /// Those that can write any file.
    everywhere: Vec<(Path, Finding)>,
    /// Those that write the file that they stand in.
    inside: BTreeMap<Path, Finding>,
    /// The configurations of Renovate, which can leave files out.
    renovate: Vec<(Path, String)>,
}

impl Updaters {
    /// Looks through a repository.
    pub fn look(tree: &Tree) -> Self {
        let mut updaters = Self::default();
        for (path, entry) in tree.iter() {
            let Some(text) = entry.bytes().and_then(|bytes| from_utf8(bytes).ok()) else {
                continue;
            };
            if is_renovate(path) {
                updaters.renovate.push((path.clone(), text.to_owned()));
                continue;
            }
            let found = if path.as_str().ends_with(".tf") {
                scripts::terraform(text)
            } else if scripts::is_pipeline(path) {
                scripts::pipeline(text)
            } else if reach::is_kustomization(path) {
                marker(text)
            } else {
                let inside = marker(text).map(|found| (path.clone(), found.at(path)));
                updaters.inside.extend(inside);
                None
            };
            let everywhere = found.map(|found| (path.clone(), found.at(path)));
            updaters.everywhere.extend(everywhere);
        }
        updaters
    }

    /// Gives the updaters of some generated files, in the order of their paths, and the operators that install a range.
    pub fn of(&self, files: &[Path], instances: &[&Instance]) -> Vec<Finding> {
        let everywhere = self.everywhere.iter().map(|(path, finding)| (path, finding.clone()));
        let inside = files
            .iter()
            .filter_map(|path| Some((path, self.inside.get(path)?.clone())));
        let renovate = self
            .renovate
            .iter()
            .filter_map(|(path, text)| Some((path, renovate::find(text, files)?.at(path))));
        let mut found: Vec<(&Path, Finding)> = everywhere.chain(inside).chain(renovate).collect();
        found.sort_by_key(|(path, _)| *path);
        let ranges = instances.iter().filter(|instance| instance.is_range());
        let operators = ranges.map(|instance| operator(instance));
        found.into_iter().map(|(_, finding)| finding).chain(operators).collect()
    }
}

/// A line that configures an updater.
struct Found {
    line: usize,
    message: String,
    remedy: String,
}

impl Found {
    fn new(line: usize, message: &str, remedy: &str) -> Self {
        Self {
            line,
            message: message.to_owned(),
            remedy: remedy.to_owned(),
        }
    }

    fn at(self, path: &Path) -> Finding {
        Finding::new(Code::OtherUpdater, format!("{path}:{}", self.line), self.message).with_remedy(self.remedy)
    }
}

fn marker(text: &str) -> Option<Found> {
    const MARKER: &str = "{\"$imagepolicy\"";
    if !text.contains(MARKER) {
        return None;
    }
    let line = line_of(text, MARKER)?;
    let more = match text.lines().filter(|line| line.contains(MARKER)).count() {
        0 | 1 => String::new(),
        all => format!(" and {} more", all - 1),
    };
    Some(Found::new(
        line,
        &format!("image automation of Flux raises an image on this line{more}"),
        "remove the marker, or let image automation do this part and accept the finding",
    ))
}

/// A FluxInstance with a range of versions: the operator upgrades by itself, and no commit shows it.
fn operator(instance: &Instance) -> Finding {
    let message = format!("the Flux Operator installs {} without a commit", instance.asks());
    Finding::new(Code::OtherUpdater, instance.place(), message)
        .with_remedy("set one version there so that each upgrade is a commit, or leave upgrades to the operator")
}

/// Gives the number of the first line that holds a text and is no comment of its own.
fn line_of(text: &str, wanted: &str) -> Option<usize> {
    let live = |line: &str| !line.trim_start().starts_with(['#']) && !line.trim_start().starts_with("//");
    text.lines()
        .position(|line| line.contains(wanted) && live(line))
        .map(|at| at + 1)
}

#[cfg(test)]
mod tests {
    use refit_manifest::Entry;

    use super::*;

    fn check(path: &str, text: &str, subject: Option<&str>) {
        let generated = Path::from("clusters/a/flux-system/gotk-components.yaml");
        let mut tree = Tree::new();
        tree.insert(path.into(), Entry::file(text.as_bytes()));
        let instances = crate::operator::instances(&crate::streams::Streams::split(&tree));
        let subjects: Vec<String> = Updaters::look(&tree)
            .of(&[generated], &instances.iter().collect::<Vec<_>>())
            .into_iter()
            .map(|finding| finding.subject)
            .collect();
        assert_eq!(subjects, subject.into_iter().collect::<Vec<_>>(), "{path}: {text}");
    }

    #[test]
    fn renovate_is_named_unless_it_leaves_the_manifest_out() {
        let place = Some("renovate.json:1");
        check("renovate.json", "{\n  \"flux\": {}\n}", Some("renovate.json:2"));
        check(".github/renovate.json5", "{}", Some(".github/renovate.json5:1"));
        check(
            "renovate.json",
            "{\"ignorePaths\": [\"**/gotk-components.yaml\"]}",
            None,
        );
        check(
            "renovate.json",
            "{\"ignorePaths\": [\"clusters/**/flux-system/**\"]}",
            None,
        );
        check("renovate.json", "{\"flux\": {\"enabled\": false}}", None);
        check("renovate.json5", "{\n  flux: {\n    enabled:false,\n  },\n}", None);
        check("renovate.json", "{\"flux\": {}, \"npm\": {\"enabled\": false}}", place);
        check("renovate.json", "{\"enabledManagers\": [\"npm\", \"regex\"]}", None);
        check("renovate.json", "{\"enabledManagers\": [\"npm\", \"flux\"]}", place);
        check("renovate.json", "{\"ignorePaths\": [\"docs\"]}", place);
        check("docs/renovate.json", "{}", None);
    }

    #[test]
    fn terraform_is_named_by_the_version_or_the_resource() {
        let resource = "# \n resource \"flux_bootstrap_git\" \"x\" {\n  path = \"a\"\n}\n";
        check("main.tf", resource, Some("main.tf:2"));
        let version = "resource \"flux_bootstrap_git\" \"x\" {\n  path = \"a\"\n  version = \"v2.6.4\"\n}\n";
        check("main.tf", version, Some("main.tf:3"));
        let other = "resource \"flux_bootstrap_git\" \"x\" {\n}\nresource \"y\" \"z\" {\n  version = \"1\"\n}\n";
        check("main.tf", other, Some("main.tf:1"));
        check("main.tf", "// resource \"flux_bootstrap_git\" \"x\" {}\n", None);
        check("main.tf", "resource \"null_resource\" \"x\" {}", None);
        check("versions.tf", "flux = {\n  source = \"fluxcd/flux\"\n}\n", None);
    }

    #[test]
    fn a_pipeline_that_regenerates_is_named_and_one_that_only_checks_is_not() {
        let setup = "steps:\n- uses: fluxcd/flux2/action@main\n";
        check(".github/workflows/up.yml", setup, None);
        let export = format!("{setup}- run: |\n    flux install \\\n      --export > a.yaml\n");
        check(".github/workflows/up.yml", &export, Some(".github/workflows/up.yml:4"));
        check("other/up.yml", &export, None);
        let request = format!("{setup}- run: ./up.sh\n- uses: peter-evans/create-pull-request@v7\n");
        check(".github/workflows/up.yml", &request, Some(".github/workflows/up.yml:2"));
        check(
            ".gitlab-ci.yml",
            "up:\n  script:\n  - flux bootstrap git\n",
            Some(".gitlab-ci.yml:3"),
        );
    }

    #[test]
    fn image_policies_and_ranges_of_the_operator_are_named() {
        let kustomization = "images:\n- newTag: v1 # {\"$imagepolicy\": \"flux-system:x:tag\"}\n";
        check("a/kustomization.yaml", kustomization, Some("a/kustomization.yaml:2"));
        check("a/app.yaml", kustomization, None);
        let instance = "apiVersion: fluxcd.controlplane.io/v1\nkind: FluxInstance\nmetadata: {name: flux}\nspec:\n  distribution:\n    version: 2.x\n";
        check("a/flux.yaml", instance, Some("a/flux.yaml:6"));
        check("a/flux.yaml", &instance.replace("2.x", "2.7.5"), None);
    }
}
