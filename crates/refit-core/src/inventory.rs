//! What is there: the clusters of a repository, their generated files, versions, options and overlays.
//!
//! In: a snapshot and the catalog. Out: an [`Inventory`], with findings about what could not be read or stands in the
//! way. Knows no target.

mod group;
mod problems;
mod roles;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use refit_kustomize::reach;
use refit_manifest::{Identity, Path, Stream};

use crate::catalog::Catalog;
use crate::configuration::{self, Configuration, Spec};
use crate::detect::{self, Detection, Recognised};
use crate::finding::{Code, Finding, Severity};
use crate::generated::{Controller, Generated};
use crate::options::{self, Options};
use crate::overlays::{self, Overlays};
use crate::record::Record;
use crate::roots::{self, Root};
use crate::snapshot::Snapshot;
use crate::updaters;

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

enum Candidate {
    Manifest(Arc<Stream>),
    Placeholder,
    Broken(Finding),
}

/// Takes the inventory of a snapshot.
pub fn take(snapshot: &Snapshot, catalog: &Catalog) -> Inventory {
    let (candidates, mut findings) = candidates(snapshot, catalog);
    let real = candidates
        .values()
        .any(|candidate| !matches!(candidate, Candidate::Placeholder));
    let counted: Vec<Path> = candidates
        .iter()
        .filter(|(_, candidate)| !real || !matches!(candidate, Candidate::Placeholder))
        .map(|(path, _)| path.clone())
        .collect();
    if real {
        for (path, _) in candidates.iter().filter(|(path, _)| !counted.contains(path)) {
            let mut finding = problems::placeholder(path);
            finding.severity = Severity::Warning;
            findings.push(finding);
        }
    }
    let (said, problem) = said(snapshot);
    findings.extend(problem);
    let roots = roots::find(&snapshot.tree, &counted, &said);
    findings.extend(problems::unfound(&said, &roots));
    let clusters: Vec<Cluster> = roots
        .into_iter()
        .map(|root| cluster(root, &candidates, snapshot, catalog))
        .collect();
    let elsewhere = |finding: &Finding| {
        !clusters
            .iter()
            .any(|cluster| problems::names(cluster, &finding.subject))
    };
    findings.retain(elsewhere);
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
fn candidates(snapshot: &Snapshot, catalog: &Catalog) -> (BTreeMap<Path, Candidate>, Vec<Finding>) {
    let mut candidates = BTreeMap::new();
    let mut findings = Vec::new();
    for (path, entry) in snapshot
        .tree
        .iter()
        .filter(|(path, _)| path.is_yaml() || path.is_json())
    {
        let Some(bytes) = entry.bytes() else { continue };
        let usual = USUAL_NAMES.contains(&path.file_name());
        let likely = usual || looks_generated(bytes);
        match Stream::split(Arc::clone(bytes)) {
            Ok(stream) if likely => match detect::recognise(&stream, catalog) {
                Recognised::Manifest => {
                    candidates.insert(path.clone(), Candidate::Manifest(Arc::new(stream)));
                }
                Recognised::Placeholder if usual => {
                    candidates.insert(path.clone(), Candidate::Placeholder);
                }
                Recognised::Other if names_platform(bytes, catalog) => {
                    // A manifest whose controllers cannot be read is not recognised; it must not be overlooked.
                    let broken = problems::unparsed(path, &Arc::new(stream)).into_iter().next();
                    candidates.extend(broken.map(|finding| (path.clone(), Candidate::Broken(finding))));
                }
                Recognised::Placeholder | Recognised::Other => {}
            },
            Ok(_) => {}
            Err(error) => {
                let finding = problems::unsplit(path, &error);
                if likely {
                    candidates.insert(path.clone(), Candidate::Broken(finding));
                } else {
                    findings.push(problems::elsewhere(&finding));
                }
            }
        }
    }
    (candidates, findings)
}

/// Tells whether a file can be a generated manifest, without splitting it.
fn looks_generated(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    text.contains("openAPIV3Schema") && text.contains("Deployment")
}

/// Tells whether a file names a definition of the platform.
fn names_platform(bytes: &[u8], catalog: &Catalog) -> bool {
    let text = String::from_utf8_lossy(bytes);
    looks_generated(bytes) && catalog.resources().iter().any(|resource| text.contains(&resource.crd))
}

fn cluster(root: Root, candidates: &BTreeMap<Path, Candidate>, snapshot: &Snapshot, catalog: &Catalog) -> Cluster {
    let mut files = Vec::new();
    let mut findings = Vec::new();
    for path in &root.generated {
        match candidates.get(path) {
            Some(Candidate::Manifest(stream)) => {
                findings.extend(problems::unparsed(path, stream));
                let whole = beside(path, stream, &root, snapshot);
                files.push(generated(path, stream, &whole, catalog));
            }
            Some(Candidate::Placeholder) => findings.push(problems::placeholder(path)),
            Some(Candidate::Broken(finding)) => findings.push(finding.clone()),
            None => {}
        }
    }
    let chain = chain(&root);
    for path in plane_files(&root, &chain, snapshot) {
        findings.extend(problems::in_file(&snapshot.tree, &path));
    }
    let (record, problem) = record(&root.name, snapshot);
    findings.extend(problem);
    let overlays = overlays::read(&snapshot.tree, &chain);
    for file in &files {
        findings.extend(about(file, &overlays, snapshot));
    }
    findings.extend(duplicates(&root, &files, snapshot));
    let paths: Vec<Path> = files.iter().map(|file| file.path.clone()).collect();
    findings.extend(updaters::find(&snapshot.tree, &paths));
    Cluster {
        root,
        files,
        overlays,
        record,
        findings,
    }
}

/// Joins a generated file with the files of its build that hold objects of the same generator: options are read from all
/// of them, since a user may have parted the manifest.
fn beside(path: &Path, stream: &Arc<Stream>, root: &Root, snapshot: &Snapshot) -> Arc<Stream> {
    let others = root
        .build
        .resources
        .iter()
        .filter(|other| *other != path && other.is_yaml());
    let texts = others.filter_map(|other| std::str::from_utf8(snapshot.tree.bytes(other)?).ok());
    let mut joined = stream.text().to_owned();
    for text in texts.filter(|text| text.contains(PART_OF) && text.contains(VERSION)) {
        joined.push_str("\n---\n");
        joined.push_str(text);
    }
    if joined.len() == stream.text().len() {
        return Arc::clone(stream);
    }
    Stream::split(joined.into_bytes().into()).map_or_else(|_| Arc::clone(stream), Arc::new)
}

/// The labels by which objects of the generator are known beside its main file.
const PART_OF: &str = "app.kubernetes.io/part-of: flux";
const VERSION: &str = "app.kubernetes.io/version: ";

fn generated(path: &Path, stream: &Arc<Stream>, whole: &Stream, catalog: &Catalog) -> GeneratedFile {
    let manifest = Generated::read(stream, catalog);
    let images = manifest.controllers().filter_map(Controller::image_text);
    GeneratedFile {
        path: path.clone(),
        stream: Arc::clone(stream),
        detection: detect::detect(&manifest, catalog),
        options: options::recover(&Generated::read(whole, catalog), catalog),
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
fn duplicates(root: &Root, files: &[GeneratedFile], snapshot: &Snapshot) -> Vec<Finding> {
    let mut places: BTreeMap<Identity, Vec<&Path>> = BTreeMap::new();
    for file in files {
        for (identity, _) in file.stream.objects() {
            places.entry(identity.clone()).or_default().push(&file.path);
        }
    }
    for path in root
        .build
        .resources
        .iter()
        .filter(|path| !root.generated.contains(path))
    {
        let Some(Ok(stream)) = snapshot.tree.bytes(path).map(|bytes| Stream::split(bytes.clone())) else {
            continue;
        };
        for (identity, _) in stream.objects() {
            if let Some(places) = places.get_mut(identity) {
                places.push(path);
            }
        }
    }
    let twice = places.into_iter().filter(|(_, paths)| paths.len() > 1);
    let finding = |(identity, paths): (Identity, Vec<&Path>)| {
        let paths: Vec<&str> = paths.into_iter().map(Path::as_str).collect();
        let message = format!("it stands in `{}`", paths.join("` and in `"));
        Finding::new(Code::DuplicateIdentity, identity.to_string(), message)
    };
    twice.map(finding).collect()
}
