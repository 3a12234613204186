//! Planes whose definitions are not those of the release in Git, mended on a real API server.

use std::collections::BTreeSet;

use refit_core::migration;
use refit_core::release::Version;
use refit_core::repair::{self, Action, Case, Repair};
use refit_core::route::{self, Known};
use refit_testkit::flux::{Manifests, Set};
use refit_testkit::testenv::{ApiServer, Apply};

use crate::server::{crds, installer, run, snapshot};
use crate::support::{CATALOG, SIX, catalog_versions, components, version};

/// A cluster, and the release that Git has.
struct Plane {
    server: ApiServer,
    manifests: Manifests,
    git: Version,
}

fn begin(git: &str) -> Option<Plane> {
    Some(Plane {
        manifests: Manifests::find()?,
        server: ApiServer::fresh()?,
        git: version(git),
    })
}

impl Plane {
    /// Applies the definitions of a release, as far as the server takes them.
    fn apply(&self, release: &str) -> usize {
        let stream = crds(&self.manifests, &version(release), SIX);
        self.server
            .apply(stream.as_bytes(), &installer())
            .err()
            .map_or(0, |refused| refused.len())
    }

    /// Lets the Kustomization of the plane be there, as far as its kind is.
    fn with_kustomization(self, api_version: &str) -> Self {
        let text = format!(
            "{{apiVersion: v1, kind: Namespace, metadata: {{name: flux-system}}}}\n---\n{{apiVersion: \
             kustomize.toolkit.fluxcd.io/{api_version}, kind: Kustomization, metadata: {{name: flux-system, namespace: \
             flux-system}}, spec: {{interval: 1m, prune: true, sourceRef: {{kind: GitRepository, name: flux-system}}}}}}\n"
        );
        self.server.apply(text.as_bytes(), &Apply::by("people")).unwrap();
        self
    }

    fn look(&self) -> Repair {
        let (components, available) = (components(SIX), catalog_versions());
        let evidence = snapshot(&self.server);
        let case = Case {
            evidence: &evidence,
            git: &self.git,
            components: &components,
            available: &available,
            kustomization: ("flux-system", "flux-system"),
        };
        repair::repair(&case, &Known::new(&CATALOG)).unwrap()
    }

    /// Carries every step out, with the very lines that a person is told.
    fn mend(&mut self, repair: &Repair) {
        for step in &repair.steps {
            let lines = step.commands.join("\n");
            match &step.action {
                Action::Define { release, .. } => {
                    let of = |version: &&refit_testkit::flux::Version| version.name == release.to_string();
                    let of = self.manifests.versions().iter().find(of).unwrap();
                    let whole = self.manifests.read(of, Set::Six).unwrap();
                    // All but the first line, which fetches the release.
                    let (first, rest) = lines.split_once('\n').unwrap();
                    assert!(first.starts_with(&format!("refit render flux@{release} ")), "{first}");
                    let script =
                        format!("set -eu\ncd \"$HOME\"\ncat > release.yaml <<'RELEASE'\n{whole}\nRELEASE\n{rest}\n");
                    self.shell(&script);
                }
                Action::Migrate(gate) => {
                    assert!(lines.contains("sh migrate.sh") && !gate.is_empty());
                    self.shell(&format!("set -eu\ncd \"$HOME\"\n{lines}\n"));
                }
                Action::Land(release) => self.git = release.clone(),
                Action::Suspend => {
                    self.shell(&lines);
                }
                Action::Reconcile => {
                    self.shell(&lines);
                    let git = self.git.to_string();
                    assert_eq!(self.apply(&git), 0, "{git} is refused after the repair");
                }
            }
        }
    }

    /// Runs a long script from a file, since the text of a release is too long for an argument.
    fn shell(&self, script: &str) {
        let folder = std::env::temp_dir().join(format!("refit-routes-{}-{:p}", std::process::id(), self));
        std::fs::create_dir_all(&folder).unwrap();
        let file = folder.join("step.sh");
        std::fs::write(&file, script).unwrap();
        run(&self.server, &format!("sh {}", file.display()));
        std::fs::remove_dir_all(&folder).unwrap();
    }

    /// After a repair nothing is wrong, and the normal route goes through.
    fn check_in_order_and_go_on(&self, repair: &Repair) {
        let again = self.look();
        assert_eq!(again.faults, [], "after the repair");
        assert_eq!(repair.start.from, self.git);
        let seen = |start: &route::Start| {
            let of_plane = start
                .stored
                .versions
                .iter()
                .filter(|(crd, _)| start.installed.contains_key(*crd));
            of_plane
                .map(|(crd, versions)| (crd.clone(), versions.clone()))
                .collect::<Vec<_>>()
        };
        assert_eq!(seen(&repair.start), seen(&again.start), "what the repair leaves stored");
        let route = route::find(
            &again.start,
            &version("v2.9.4"),
            &catalog_versions(),
            &Known::new(&CATALOG),
        )
        .unwrap();
        for hop in &route.hops {
            run(&self.server, &migration::script(&hop.gate));
            assert_eq!(self.apply(&hop.to.to_string()), 0, "{}", hop.to);
        }
    }
}

fn actions(repair: &Repair) -> Vec<String> {
    let short = |crds: &BTreeSet<String>| {
        let names: Vec<&str> = crds.iter().map(|crd| crd.split('.').next().unwrap()).collect();
        names.join(",")
    };
    let action = |step: &repair::Step| match &step.action {
        Action::Suspend => "suspend".to_owned(),
        Action::Migrate(gate) => format!(
            "migrate {}",
            short(&gate.iter().map(|stale| stale.crd.clone()).collect())
        ),
        Action::Define { release, crds } => format!("define {release} {}", short(crds)),
        Action::Land(release) => format!("land {release}"),
        Action::Reconcile => "reconcile".to_owned(),
    };
    repair.steps.iter().map(action).collect()
}

fn faults(repair: &Repair) -> Vec<String> {
    repair.faults.iter().map(ToString::to_string).collect()
}

#[test]
fn a_plane_in_order_needs_no_repair() {
    let Some(plane) = begin("v2.6.4") else { return };
    assert_eq!(plane.apply("v2.6.4"), 0);
    let repair = plane.look();
    assert_eq!((faults(&repair), actions(&repair)), (Vec::new(), Vec::new()));
}

#[test]
fn flux2_3622_definitions_newer_than_git_take_git_forward_and_are_never_lowered() {
    let Some(mut plane) = begin("v0.38.3") else { return };
    plane.apply("v0.38.3");
    plane = plane.with_kustomization("v1beta2");
    assert_eq!(plane.apply("v0.40.2"), 0);
    let repair = plane.look();
    assert_eq!(actions(&repair), ["suspend", "land v0.40.2", "reconcile"]);
    assert_eq!(repair.faults.len(), 2, "{:?}", faults(&repair));
    assert_eq!(
        faults(&repair)[0],
        "the cluster has `imagepolicies.image.toolkit.fluxcd.io` as v0.40.2 defines it, which is newer than what Git has"
    );
    plane.mend(&repair);
    plane.check_in_order_and_go_on(&repair);
}

#[test]
fn a_release_that_was_applied_by_half_is_finished_through_the_releases_between() {
    let Some(mut plane) = begin("v2.8.8") else { return };
    plane.apply("v2.2.3");
    plane = plane.with_kustomization("v1");
    assert_eq!(
        plane.apply("v2.8.8"),
        6,
        "Bucket, HelmChart, HelmRelease, HelmRepository, ImageUpdateAutomation, OCIRepository"
    );
    let repair = plane.look();
    assert_eq!(
        actions(&repair),
        [
            "define v2.6.4 imageupdateautomations",
            "migrate buckets,helmcharts,helmreleases,helmrepositories",
            "define v2.7.5 buckets,helmcharts,helmreleases,helmrepositories,ocirepositories",
            "migrate buckets,helmcharts,helmreleases,helmrepositories,imageupdateautomations,ocirepositories",
            "reconcile",
        ]
    );
    plane.mend(&repair);
    plane.check_in_order_and_go_on(&repair);
}

#[test]
fn flux2_5598_stored_versions_that_the_release_in_git_lacks_are_migrated_first() {
    let Some(mut plane) = begin("v2.7.5") else { return };
    plane.apply("v2.1.2");
    plane = plane.with_kustomization("v1");
    assert_eq!(plane.apply("v2.6.4"), 0);
    assert!(plane.apply("v2.7.5") > 0);
    let repair = plane.look();
    assert!(
        faults(&repair).iter().any(|fault| fault
            == "objects of `helmreleases.helm.toolkit.fluxcd.io` are stored as `v2beta1`, which the definition in Git no \
                longer has, so the API server refuses it"),
        "{:?}",
        faults(&repair)
    );
    assert_eq!(
        actions(&repair),
        ["migrate helmreleases,imageupdateautomations", "reconcile"]
    );
    plane.mend(&repair);
    plane.check_in_order_and_go_on(&repair);
}

#[test]
fn a_definition_that_is_missing_comes_back_from_the_release_in_git() {
    let Some(mut plane) = begin("v2.6.4") else { return };
    plane.apply("v2.6.4");
    plane = plane.with_kustomization("v1");
    run(
        &plane.server,
        "kubectl delete crd helmreleases.helm.toolkit.fluxcd.io --wait",
    );
    let repair = plane.look();
    assert_eq!(actions(&repair), ["define v2.6.4 helmreleases", "reconcile"]);
    assert_eq!(
        faults(&repair),
        [
            "the cluster has no `helmreleases.helm.toolkit.fluxcd.io`; objects that it had went with it, and those in Git come back when Flux applies them"
        ]
    );
    plane.mend(&repair);
    plane.check_in_order_and_go_on(&repair);
}
