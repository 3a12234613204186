//! The verdict on each file of the real repositories.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use refit_core::catalog::Catalog;
use refit_core::detect::{Recognised, detect, recognise};
use refit_core::generated::Generated;
use refit_core::options::{Options, recover};
use refit_core::render::render;
use refit_manifest::Stream;

use crate::support::{below_header, read, shared};
use crate::verdict::verdict;

fn files(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, into);
        } else if path
            .extension()
            .is_some_and(|extension| extension == "yaml" || extension == "yml")
        {
            into.push(path);
        }
    }
}

/// Gives the verdict, and how far the file is from what the generator wrote.
fn with_base(stream: &Stream, catalog: &Catalog) -> Option<String> {
    let mut text = verdict(stream, catalog)?;
    if recognise(stream, catalog) == Recognised::Manifest {
        let manifest = Generated::read(stream, catalog);
        let known = detect(&manifest, catalog)
            .version
            .filter(|version| catalog.knows(version));
        let options = recover(&manifest, catalog);
        if let Some(base) = known.and_then(|version| base(&version.to_string(), &options, catalog)) {
            write!(
                text,
                "; {} lines differ from the base",
                difference(&base, stream.bytes())
            )
            .unwrap();
        }
    }
    Some(text)
}

/// Renders the release as the generator would have written it; `None` without the real manifests.
fn base(version: &str, options: &Options, catalog: &Catalog) -> Option<Arc<[u8]>> {
    let folder = shared("flux-manifests")?.join(version);
    let names = ["gotk-components.yaml", "gotk-components.six.yaml"].map(|name| folder.join(name));
    let streams: Vec<Stream> = names
        .iter()
        .filter(|path| path.exists())
        .map(|path| read(path))
        .collect();
    let rendered = render(&streams, options, catalog).unwrap();
    assert_eq!(rendered.missing, [""; 0]);
    Some(rendered.bytes)
}

/// Counts lines that differ, after the comments at the top.
fn difference(base: &[u8], found: &[u8]) -> usize {
    let lines = |bytes| below_header(bytes).trim_end_matches("\n---\n").trim_end().lines();
    assert_eq!(lines(base).count(), lines(found).count());
    lines(base)
        .zip(lines(found))
        .filter(|(base, found)| base != found)
        .count()
}

#[test]
fn each_file_of_the_corpus_has_its_verdict() {
    let Some(folder) = shared("corpus") else { return };
    let catalog = Catalog::flux().unwrap();
    let mut paths = Vec::new();
    files(&folder, &mut paths);
    paths.sort();
    let mut table = String::new();
    for path in paths {
        let stream = Stream::split(fs::read(&path).unwrap().into()).unwrap();
        if let Some(verdict) = with_base(&stream, &catalog) {
            writeln!(table, "{}: {verdict}", path.strip_prefix(&folder).unwrap().display()).unwrap();
        }
    }
    assert_eq!(table, EXPECTED);
}

const EXPECTED: &str = "\
andreswebs+k8s-fleet-fluxcd-template/2021-05-04/flux-system/gotk-components.yaml: v0.13.1, networkPolicies false; \
    0 lines differ from the base
billimek+k8s-gitops/2021-05-17/flux-system/gotk-components.yaml: v0.13.4; 0 lines differ from the base
billimek+k8s-gitops/2021-05-17/kube-system/descheduler/descheduler.yaml: placeholder
billimek+k8s-gitops/2024-09-26/flux-system/gotk-components.yaml: v2.3.0; Deployment/source-controller is \
    source-controller:v1.4.1 instead of source-controller:v1.3.0; Deployment/helm-controller is \
    helm-controller:v1.1.0 instead of helm-controller:v1.0.1; 2 lines differ from the base
fluxcd+flux2-hub-spoke-example/2024-12-17/hub/flux-system/gotk-components.yaml: placeholder
fluxcd+flux2-hub-spoke-example/2024-12-17/hub/flux-system/gotk-sync.yaml: placeholder
fluxcd+flux2-kustomize-helm-example/2026-07-08/clusters/production/flux-system/gotk-components.yaml: placeholder
fluxcd+flux2-kustomize-helm-example/2026-07-08/clusters/production/flux-system/gotk-sync.yaml: placeholder
fluxcd+flux2-multi-tenancy/2025-06-27/clusters/production/flux-system/gotk-components.yaml: placeholder
fluxcd+flux2-multi-tenancy/2025-06-27/clusters/production/flux-system/gotk-sync.yaml: placeholder
onedr0p+home-ops/2021-02-13/cluster/flux-system/gotk-components.yaml: v0.8.0 (not in the catalog), networkPolicies false
onedr0p+home-ops/2022-05-14/cluster/base/flux-system/gotk-components.yaml: v0.30.2; 0 lines differ from the base
sympatheticmoose+upgrade-repo/2021-12-16/.weave-gitops/clusters/kind-kind/system/gitops-runtime.yaml: v0.21.0, \
    namespace \"wego-system\", 6 components; 0 lines differ from the base
xUnholy+k8s-gitops/2021-04-14/k8s/clusters/production/flux-system/gotk-components.yaml: v0.12.3, networkPolicies \
    false; 0 lines differ from the base
xUnholy+k8s-gitops/2021-04-14/k8s/clusters/production-gke/flux-system/gotk-components.yaml: unclear, networkPolicies \
    false
xUnholy+k8s-gitops/2021-04-14/k8s/clusters/staging/flux-system/gotk-components.yaml: v0.8.0 (not in the \
    catalog), networkPolicies false
xUnholy+k8s-gitops/2023-03-31/k8s/clusters/cluster-1/flux-system/gotk-components.yaml: v0.41.2, 6 components; 0 \
    lines differ from the base
xUnholy+k8s-gitops/2023-03-31/k8s/clusters/cluster-1/tenants.yaml: placeholder
";
