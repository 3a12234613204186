//! A plan and a scan say the same: what a scan finds to be removed at the target is converted on the way, or found by the plan.

use std::collections::BTreeSet;

use refit_core::conversion::{self, Wanted};
use refit_core::finding::Finding;
use refit_core::places::Content;
use refit_core::release::Version;
use refit_core::report::State;
use refit_engine::Wait;
use refit_manifest::{Path, Stream};

use crate::conversions::OLD_RELEASE;
use crate::routes::{merge, plan, resume};
use crate::world::{World, upgrade};

const APPS: &str = "clusters/production/apps";

const KUSTOMIZATION: &str = "\
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources:
- release.yaml
- list.yaml
- sync.yaml
patches:
- path: patch.yaml
- target:
    group: helm.toolkit.fluxcd.io
    version: v2beta1
    kind: HelmRelease
    name: app
  patch: |
    - op: add
      path: /spec/suspend
      value: false
patchesJson6902:
- target: {group: helm.toolkit.fluxcd.io, version: v2beta1, kind: HelmRelease, name: other}
  patch: |
    - op: add
      path: /spec/suspend
      value: false
";

const PATCH: &str = "\
apiVersion: helm.toolkit.fluxcd.io/v2beta1
kind: HelmRelease
metadata:
  name: app
  namespace: apps
spec:
  interval: 7m
";

const LIST: &str = "\
apiVersion: v1
kind: List
items:
- apiVersion: helm.toolkit.fluxcd.io/v2beta1
  kind: HelmRelease
  metadata:
    name: other
    namespace: apps
  spec:
    interval: 5m
    chart:
      spec:
        chart: app
        sourceRef:
          kind: HelmRepository
          name: app
";

const SYNC: &str = "\
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata:
  name: more
  namespace: flux-system
spec:
  interval: 5m
  path: ./more
  prune: true
  sourceRef:
    kind: GitRepository
    name: elsewhere
  healthChecks:
  - apiVersion: helm.toolkit.fluxcd.io/v2beta1
    kind: HelmRelease
    name: app
    namespace: apps
";

fn files() -> Vec<(String, &'static str)> {
    let file = |(name, text): (&str, &'static str)| (format!("{APPS}/{name}"), text);
    let named = [
        ("kustomization.yaml", KUSTOMIZATION),
        ("list.yaml", LIST),
        ("patch.yaml", PATCH),
        ("release.yaml", OLD_RELEASE),
        ("sync.yaml", SYNC),
    ];
    named.map(file).into()
}

fn world(installed: &str) -> World {
    let files = files();
    let own: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), *text)).collect();
    World::routed(installed, &own)
}

/// Lists what a scan of the target branch finds to be removed at a release: `path:line`.
fn removed(world: &World, to: &str) -> BTreeSet<String> {
    let to = Version::parse(to).unwrap();
    let wanted = Wanted::of(&world.catalog, &to);
    let mut places = BTreeSet::new();
    for (path, _) in files() {
        let text = world.text("main", &path).unwrap();
        let stream = Stream::split(text.into_bytes().into()).unwrap();
        let content = if path.ends_with("patch.yaml") {
            Content::Patch(Vec::new())
        } else {
            Content::Objects
        };
        let reading = conversion::read_as(&content, &Path::from(path.as_str()), &stream, &wanted);
        let gone = reading
            .uses
            .iter()
            .filter(|used| used.removed_in.as_ref().is_some_and(|gone| *gone <= to));
        places.extend(gone.map(|used| format!("{}:{}", used.path, used.line)));
    }
    places
}

fn found(findings: &[Finding]) -> BTreeSet<String> {
    let of = findings
        .iter()
        .filter(|one| one.code.to_string() == "ApiVersionRemoved");
    of.map(|one| one.subject.clone()).collect()
}

#[test]
fn what_nothing_converts_is_found_at_each_place_that_a_scan_finds() {
    let sealed = format!("{OLD_RELEASE}sops:\n  mac: ENC[AES256_GCM,data:x]\n");
    let pattern = KUSTOMIZATION.replace("version: v2beta1\n", "version: v2beta.*\n");
    for installed in ["v2.8.8", "v2.6.4"] {
        let world = world(installed);
        world.commit("main", &format!("{APPS}/release.yaml"), &sealed);
        world.commit("main", &format!("{APPS}/kustomization.yaml"), &pattern);
        world.commit("main", &format!("{APPS}/sync.yaml"), &SYNC.replace("v2beta1", "v2"));
        let report = plan(&world, "flux@v2.9.4");
        assert_eq!(report.state, State::Blocked, "{installed}");
        let findings = &report.body.findings;
        let blocks = |of: &&Finding| of.blocks() && of.subject.starts_with(&format!("{APPS}/release.yaml"));
        assert!(findings.iter().any(|of| blocks(&of)), "{installed}: {findings:#?}");
        let found = found(findings);
        // What no hop can take along is told of a file as a whole.
        let is_found = |place: &String| {
            let file = place.rsplit_once(':').map_or("", |(file, _)| file);
            found.contains(place) || found.contains(file)
        };
        let missed: Vec<String> = removed(&world, "v2.9.4")
            .into_iter()
            .filter(|place| !is_found(place))
            .collect();
        assert_eq!(missed, Vec::<String>::new(), "{installed}: {findings:#?}");
    }
}

#[test]
fn what_a_hop_takes_away_or_no_release_serves_is_converted_at_each_place_that_a_scan_finds() {
    for (installed, first) in [("v2.6.4", &[][..]), ("v2.8.8", &[Wait::Migrated])] {
        let world = world(installed);
        assert_eq!(removed(&world, "v2.9.4").len(), 6);
        let report = plan(&world, "flux@v2.9.4");
        assert_eq!(found(&report.body.findings), BTreeSet::new());
        upgrade(&world, "flux@v2.9.4");
        let told = resume(&world, first);
        assert!(told.starts_with("6 request 1 waits for review: Convert"), "{told}");
        assert!(merge(&world).starts_with("0 "));
        assert_eq!(removed(&world, "v2.9.4"), BTreeSet::new());
        let told = resume(&world, &[]);
        assert!(told.starts_with("6 request 2 "), "{told}");
    }
}
