//! What is there: the clusters of a repository, their generated files, versions, options and overlays.
//!
//! In: a snapshot and the catalog. Out: an [`Inventory`], with findings about what could not be read or stands in the
//! way. Knows no target.

mod group;
mod problems;
mod roles;
mod synced;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use refit_kustomize::reach;
use refit_manifest::{Identity, Path, Stream};

use crate::catalog::Catalog;
use crate::configuration::{self, Configuration, Spec};
use crate::detect::{self, Detection, Recognised};
use crate::finding::{Code, Finding, Severity};
use crate::generated::{Controller, Generated};
use crate::operator::{self, Instance};
use crate::options::{self, OddDomain, Options};
use crate::overlays::{self, Overlays};
use crate::record::Record;
use crate::roots::{self, Names, Root};
use crate::snapshot::{self, Snapshot};
use crate::streams::Streams;
use crate::substitution::Substitutions;
use crate::updaters::Updaters;

pub use group::Group;
pub use roles::files;

/// The names under which generators write their manifest; used only for files without objects.
const USUAL_NAMES: [&str; 2] = ["gotk-components.yaml", "gitops-runtime.yaml"];

/// The clusters of a repository.
#[derive(Clone, Debug, Default)]
pub struct Inventory {
    /// The clusters, in the order of their directories.
    pub clusters: Vec<Cluster>,
    /// Findings that belong to no cluster.
    pub findings: Vec<Finding>,
    /// What the repository says about itself.
    pub said: Spec,
}

/// A cluster.
#[derive(Clone, Debug)]
pub struct Cluster {
    /// Its sync root.
    pub root: Root,
    /// Its generated manifests that can be read.
    pub files: Vec<GeneratedFile>,
    /// What its kustomizations lay over them.
    pub overlays: Overlays,
    /// The record of its last upgrade.
    pub record: Option<Record>,
    /// What was found about it.
    pub findings: Vec<Finding>,
}

/// A generated manifest.
#[derive(Clone, Debug)]
pub struct GeneratedFile {
    /// The path.
    pub path: Path,
    /// The documents.
    pub stream: Arc<Stream>,
    /// The version, and why.
    pub detection: Detection,
    /// The options that it was generated with.
    pub options: Options,
    /// The images of its controllers.
    pub images: Vec<String>,
    /// The addresses in arguments whose domain looks mistyped.
    pub odd_domains: Vec<OddDomain>,
    /// The namespaces of its controllers where it holds several planes; else empty.
    pub namespaces: BTreeSet<String>,
}

impl Inventory {
    /// Groups the clusters that share generated files, in the order of their first clusters.
    pub fn groups(&self) -> Vec<Group<'_>> {
        group::groups(&self.clusters)
    }
}

impl Cluster {
    /// Gives the generated file that decides version and options: the first.
    pub fn main(&self) -> Option<&GeneratedFile> {
        self.files.first()
    }
}

/// What the clusters are read from.
struct Sight<'a> {
    candidates: &'a BTreeMap<Path, Candidate>,
    instances: &'a [Instance],
    streams: &'a Streams,
    updaters: &'a Updaters,
    substitutions: &'a Substitutions,
    large: &'a [(&'a Path, u64)],
    snapshot: &'a Snapshot,
    catalog: &'a Catalog,
}

/// Finds planes that the Flux Operator runs and that are part of no cluster with a manifest.
fn handed_over(instances: &[Instance], clusters: &[Cluster]) -> Vec<Finding> {
    let alone = |instance: &&Instance| !clusters.iter().any(|cluster| is_part(instance, &cluster.root));
    let found = instances.iter().filter(alone).map(|instance| {
        let mut finding = instance.alone();
        // Where other clusters can be upgraded, this one must not stop them.
        if clusters.iter().any(|cluster| !cluster.files.is_empty()) {
            finding.severity = Severity::Warning;
        }
        finding
    });
    found.collect()
}

/// Tells whether a FluxInstance is part of what a cluster is built from.
fn is_part(instance: &Instance, root: &Root) -> bool {
    let beside = root
        .generated
        .iter()
        .any(|file| file.directory() == instance.path.directory());
    beside || root.build.resources.contains(&instance.path)
}

enum Candidate {
    Manifest(Arc<Stream>),
    Placeholder,
    Broken(Finding),
}

/// Takes the inventory of a snapshot.
pub fn take(snapshot: &Snapshot, catalog: &Catalog) -> Inventory {
    let streams = Streams::split(&snapshot.tree);
    let (candidates, mut findings) = candidates(snapshot, &streams, catalog);
    let real = candidates
        .values()
        .any(|candidate| !matches!(candidate, Candidate::Placeholder));
    let mut counted = Vec::new();
    for (path, candidate) in &candidates {
        if real && matches!(candidate, Candidate::Placeholder) {
            let mut finding = problems::placeholder(path);
            finding.severity = Severity::Warning;
            findings.push(finding);
        } else {
            counted.push(path.clone());
        }
    }
    let (said, problem) = said(snapshot);
    findings.extend(problem);
    let named = Names {
        said: &said,
        records: &records(snapshot),
    };
    let roots = roots::find(&snapshot.tree, &streams, &counted, &named);
    findings.extend(problems::unfound(&said, &roots));
    let instances = operator::instances(&streams);
    let seen = Sight {
        candidates: &candidates,
        instances: &instances,
        streams: &streams,
        updaters: &Updaters::look(&snapshot.tree),
        substitutions: &Substitutions::look(&snapshot.tree, &streams),
        large: &problems::large(snapshot),
        snapshot,
        catalog,
    };
    let clusters: Vec<Cluster> = roots.into_iter().map(|root| cluster(root, &seen)).collect();
    findings.extend(handed_over(&instances, &clusters));
    let told = clusters.iter().flat_map(|cluster| &cluster.findings);
    problems::leave_out(&mut findings, told);
    Inventory {
        clusters,
        findings,
        said,
    }
}

/// Reads what the repository says about itself.
fn said(snapshot: &Snapshot) -> (Spec, Option<Finding>) {
    let path = Path::from(configuration::FILE);
    match snapshot.tree.bytes(&path).map(Configuration::read) {
        None => (Spec::default(), None),
        Some(Ok(configuration)) => (configuration.spec, None),
        Some(Err(error)) => {
            let cause = std::error::Error::source(&error).map(|source| format!(": {source}"));
            let message = format!("{error}{}", cause.unwrap_or_default());
            let finding = Finding::new(Code::InvalidConfiguration, configuration::FILE, message);
            (Spec::default(), Some(finding))
        }
    }
}

/// Finds generated manifests by content, and warns about every other manifest that cannot be read.
fn candidates(snapshot: &Snapshot, streams: &Streams, catalog: &Catalog) -> (BTreeMap<Path, Candidate>, Vec<Finding>) {
    let mut candidates = BTreeMap::new();
    let mut findings = Vec::new();
    for path in snapshot
        .paths
        .keys()
        .filter(|path| USUAL_NAMES.contains(&path.file_name()))
    {
        let unread = problems::unread(path, snapshot);
        candidates.extend(unread.map(|finding| (path.clone(), Candidate::Broken(finding))));
    }
    for (path, stream) in streams.iter().filter(|(path, _)| path.is_yaml() || path.is_json()) {
        if candidates.contains_key(path) {
            continue;
        }
        let usual = USUAL_NAMES.contains(&path.file_name());
        match stream {
            Ok(stream) if usual || looks_generated(stream.text()) => {
                candidates.extend(recognised(path, stream, catalog).map(|found| (path.clone(), found)));
            }
            Ok(_) => {}
            Err(error) => {
                let finding = problems::unsplit(path, error);
                let text = snapshot.tree.bytes(path).map(|bytes| String::from_utf8_lossy(bytes));
                if usual || text.is_some_and(|text| looks_generated(&text)) {
                    candidates.insert(path.clone(), Candidate::Broken(finding));
                } else {
                    findings.push(problems::elsewhere(&finding));
                }
            }
        }
    }
    (candidates, findings)
}

/// Tells what a file is that can be a generated manifest; `None` for one that is something else.
fn recognised(path: &Path, stream: &Arc<Stream>, catalog: &Catalog) -> Option<Candidate> {
    match detect::recognise(stream, catalog) {
        Recognised::Manifest => Some(Candidate::Manifest(Arc::clone(stream))),
        Recognised::Placeholder if USUAL_NAMES.contains(&path.file_name()) => Some(Candidate::Placeholder),
        // A manifest whose controllers cannot be read is not recognised; it must not be overlooked.
        Recognised::Other if names_platform(stream.text(), catalog) => problems::unparsed(path, stream)
            .into_iter()
            .next()
            .map(Candidate::Broken),
        Recognised::Placeholder | Recognised::Other => None,
    }
}

/// Tells whether a text can be a generated manifest, without splitting it.
fn looks_generated(text: &str) -> bool {
    text.contains("openAPIV3Schema") && text.contains("Deployment")
}

/// Tells whether a text names a definition of the platform.
fn names_platform(text: &str, catalog: &Catalog) -> bool {
    looks_generated(text) && catalog.resources().iter().any(|resource| text.contains(&resource.crd))
}

fn cluster(root: Root, seen: &Sight<'_>) -> Cluster {
    let Sight { snapshot, catalog, .. } = *seen;
    let mut files = Vec::new();
    let mut findings = Vec::new();
    for path in &root.generated {
        match seen.candidates.get(path) {
            Some(Candidate::Manifest(stream)) => {
                findings.extend(problems::unparsed(path, stream));
                let whole = beside(path, stream, &root, seen.streams);
                files.push(generated(path, stream, whole.as_ref(), catalog));
            }
            Some(Candidate::Placeholder) => findings.push(problems::placeholder(path)),
            Some(Candidate::Broken(finding)) => findings.push(finding.clone()),
            None => {}
        }
    }
    let chain = chain(&root);
    for path in plane_files(&root, &chain, snapshot) {
        findings.extend(problems::in_file(seen.streams, &path));
    }
    let (record, problem) = record(&root.name, snapshot);
    findings.extend(problem);
    let overlays = overlays::read(&snapshot.tree, &chain);
    for file in &files {
        findings.extend(about(file, &overlays, snapshot));
    }
    findings.extend(problems::contrary(&files, catalog));
    findings.extend(duplicates(&root, &files, seen.streams));
    findings.extend(problems::too_large(&root, seen.large));
    findings.extend(synced::unevaluated(&root, seen.streams));
    findings.extend(around(&root, &files, &chain, seen));
    Cluster {
        root,
        files,
        overlays,
        record,
        findings,
    }
}

/// Finds what else acts on the generated files: substitutions, the Flux Operator, other updaters.
fn around(root: &Root, files: &[GeneratedFile], chain: &[Path], seen: &Sight<'_>) -> Vec<Finding> {
    let tree = &seen.snapshot.tree;
    let streams: Vec<(&Path, &Stream)> = files.iter().map(|file| (&file.path, &*file.stream)).collect();
    let mut findings = seen.substitutions.of(tree, &streams, chain);
    let own = seen.instances.iter().filter(|instance| is_part(instance, root));
    let own: Vec<&Instance> = own.collect();
    for instance in &own {
        let mut finding = instance.beside(&root.generated);
        finding.severity = Severity::Warning;
        findings.push(finding);
    }
    let paths: Vec<Path> = files.iter().map(|file| file.path.clone()).collect();
    findings.extend(seen.updaters.of(&paths, &own));
    findings
}

/// Joins a generated file with the files of its build that hold objects of the same generator: options are read from
/// all of them, since a user may have parted the manifest. `None` where there is nothing to join.
fn beside(path: &Path, stream: &Stream, root: &Root, streams: &Streams) -> Option<Stream> {
    let others = root
        .build
        .resources
        .iter()
        .filter(|other| *other != path && other.is_yaml());
    let texts = others.filter_map(|other| Some(streams.get(other)?.text()));
    let mut joined = String::new();
    for text in texts.filter(|text| text.contains(PART_OF) && text.contains(VERSION)) {
        joined.push_str("\n---\n");
        joined.push_str(text);
    }
    if joined.is_empty() {
        return None;
    }
    let whole = format!("{}{joined}", stream.text());
    Stream::split(whole.into_bytes().into()).ok()
}

/// The labels by which objects of the generator are known beside its main file.
const PART_OF: &str = "app.kubernetes.io/part-of: flux";
const VERSION: &str = "app.kubernetes.io/version: ";

fn generated(path: &Path, stream: &Arc<Stream>, whole: Option<&Stream>, catalog: &Catalog) -> GeneratedFile {
    let manifest = Generated::read(stream, catalog);
    let images = manifest.controllers().filter_map(Controller::image_text);
    let options = match whole {
        Some(whole) => options::recover(&Generated::read(whole, catalog), catalog),
        None => options::recover(&manifest, catalog),
    };
    let default = Options::defaults(catalog).cluster_domain;
    GeneratedFile {
        path: path.clone(),
        stream: Arc::clone(stream),
        detection: detect::detect(&manifest, catalog),
        odd_domains: options::odd_domains(&manifest, &options, &default),
        namespaces: problems::planes(&manifest),
        options,
        images: images.map(ToOwned::to_owned).collect(),
    }
}

/// Gives the kustomizations that a generated file is built through.
fn chain(root: &Root) -> Vec<Path> {
    let mut through: Vec<Path> = root.generated.iter().flat_map(|file| root.build.chain(file)).collect();
    through.sort();
    through.dedup();
    through
}

/// Gives the files that must be readable beside the generated ones: the kustomizations on the way, and what is built
/// from the directories of the generated files.
fn plane_files(root: &Root, chain: &[Path], snapshot: &Snapshot) -> BTreeSet<Path> {
    let directories: BTreeSet<&str> = root.generated.iter().map(Path::directory).collect();
    let beside = |path: &&Path| directories.contains(path.directory()) && !root.generated.contains(path);
    let kustomizations = directories
        .iter()
        .filter_map(|directory| reach::kustomization(&snapshot.tree, directory));
    let resources = root.build.resources.iter().filter(beside).cloned();
    resources.chain(chain.iter().cloned()).chain(kustomizations).collect()
}

/// Reads the records, by which clusters keep their names; one that cannot be read is told with its cluster.
fn records(snapshot: &Snapshot) -> Vec<Record> {
    let paths = snapshot.tree.paths().filter(|path| snapshot::is_record(path));
    let bytes = paths.filter_map(|path| snapshot.tree.bytes(path));
    bytes.filter_map(|bytes| Record::read(bytes).ok()).collect()
}

fn record(name: &str, snapshot: &Snapshot) -> (Option<Record>, Option<Finding>) {
    let path = Record::path(name);
    match snapshot.tree.bytes(&path).map(|bytes| Record::read(bytes)) {
        None => (None, None),
        Some(Ok(record)) => (Some(record), None),
        Some(Err(error)) => {
            let message = format!("the record of the last upgrade cannot be read: {error}");
            let finding = Finding::new(Code::UnreadableFile, path.as_str(), message)
                .with_remedy("restore the file from its last good commit, or remove it, and commit");
            (None, Some(finding))
        }
    }
}

fn about(file: &GeneratedFile, overlays: &Overlays, snapshot: &Snapshot) -> Vec<Finding> {
    let mut findings = Vec::new();
    if file.detection.version.is_none() {
        findings.push(problems::unclear(file));
    }
    findings.extend(problems::mixed(file));
    findings.extend(problems::several_planes(file));
    findings.extend(file.odd_domains.iter().map(|odd| problems::odd_domain(file, odd)));
    if snapshot.paths.get(&file.path).is_some_and(|seen| seen.filtered) {
        let message = "Git attributes change its bytes between repository and checkout";
        findings.push(Finding::new(Code::FilteredFile, file.path.as_str(), message));
    }
    for image in &overlays.images {
        let pins = |has: &&String| problems::is_image(has, &image.name);
        if let Some(has) = file.images.iter().find(pins) {
            let message = format!("it overrides image `{has}` of the plane: {}", image.sets);
            let subject = format!("{}:{}", image.path, image.line);
            findings.push(Finding::new(Code::PinnedImage, subject, message));
        }
    }
    findings
}

/// Finds objects of generated files that stand twice among what the cluster is built from.
fn duplicates(root: &Root, files: &[GeneratedFile], streams: &Streams) -> Vec<Finding> {
    let mut places: BTreeMap<&Identity, Vec<&Path>> = BTreeMap::new();
    // Of a file with several planes, each object that they share would be told.
    for file in files.iter().filter(|file| file.namespaces.is_empty()) {
        for (identity, _) in file.stream.objects() {
            places.entry(identity).or_default().push(&file.path);
        }
    }
    let generated: BTreeSet<&Path> = root.generated.iter().collect();
    for path in root.build.resources.iter().filter(|path| !generated.contains(path)) {
        let Some(stream) = streams.get(path) else { continue };
        for (identity, _) in stream.objects() {
            if let Some(places) = places.get_mut(identity) {
                places.push(path);
            }
        }
    }
    let twice = places.into_iter().filter(|(_, paths)| paths.len() > 1);
    let finding = |(identity, paths): (&Identity, Vec<&Path>)| {
        let message = match paths.as_slice() {
            [one, rest @ ..] if rest.iter().all(|path| path == one) => {
                format!("it stands {} times in `{one}`", paths.len())
            }
            _ => {
                let paths: Vec<&str> = paths.into_iter().map(Path::as_str).collect();
                format!("it stands in `{}`", paths.join("` and in `"))
            }
        };
        Finding::new(Code::DuplicateIdentity, identity.to_string(), message)
    };
    twice.map(finding).collect()
}
