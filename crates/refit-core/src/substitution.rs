//! Variables that Flux substitutes in what it applies, generated definitions included.
//!
//! In: a tree, the generated files and the kustomizations on the way to them. Out: findings. Descriptions in definitions
//! hold `${`, which a substitution empties or fails on.

use refit_kustomize::reach::{self, BuildSet};
use refit_manifest::{Document, Path, Stream, Tree};

use crate::finding::{Code, Finding};
use crate::roots;
use crate::streams::Streams;

/// The annotation or label that keeps an object from being substituted in.
const SUBSTITUTE: &str = "kustomize.toolkit.fluxcd.io/substitute";

/// A generated file with its documents.
pub type Generated<'a> = (&'a Path, &'a Stream);

/// A Flux Kustomization that substitutes in all that it applies.
#[derive(Debug)]
struct Substituting {
    name: String,
    /// The file and the line of `postBuild`.
    place: String,
    build: BuildSet,
}

/// The Flux Kustomizations of a repository that substitute, looked for once for all its clusters.
#[derive(Debug, Default)]
pub struct Substitutions(Vec<Substituting>);

impl Substitutions {
    /// Looks through a repository.
    pub fn look(tree: &Tree, streams: &Streams) -> Self {
        let mut found = Vec::new();
        for (path, stream) in streams.iter().filter(|(path, _)| path.is_yaml()) {
            let Ok(stream) = stream else { continue };
            let text = stream.text();
            if !(text.contains("postBuild") && text.contains("Kustomization")) {
                continue;
            }
            for document in stream.documents().iter().filter(|document| roots::is_sync(document)) {
                let Some((directory, line)) = substitutes(stream, document) else {
                    continue;
                };
                found.push(Substituting {
                    name: document.head().name.to_string(),
                    place: format!("{path}:{line}"),
                    build: reach::of(tree, &directory),
                });
            }
        }
        Self(found)
    }

    /// Finds those that substitute in definitions of generated files; `chain` are the kustomizations on the way to them.
    pub fn of(&self, tree: &Tree, files: &[Generated<'_>], chain: &[Path]) -> Vec<Finding> {
        let reaches = |substituting: &Substituting, path: &Path| substituting.build.resources.contains(path);
        let reached = |substituting: &&Substituting| files.iter().any(|(path, _)| reaches(substituting, path));
        let own: Vec<&Substituting> = self.0.iter().filter(reached).collect();
        if own.is_empty() || chain.iter().any(|path| excludes(tree, path)) {
            return Vec::new();
        }
        let open: Vec<(&Path, Open)> = files
            .iter()
            .map(|(path, stream)| (*path, open(stream)))
            .filter(|(_, open)| open.places > 0)
            .collect();
        let finding = |substituting: &Substituting| {
            let mut open = open.iter();
            let (file, open) = open.find(|(file, _)| reaches(substituting, file))?;
            let message = format!(
                "Kustomization `{}` substitutes variables in all that it applies, and {} of `{file}` {} `${{`, first on \
                 line {}",
                substituting.name,
                counted(open.definitions, "definition"),
                if open.definitions == 1 { "holds" } else { "hold" },
                open.line
            );
            Some(Finding::new(
                Code::SubstitutionInSchema,
                substituting.place.as_str(),
                message,
            ))
        };
        own.into_iter().filter_map(finding).collect()
    }
}

/// Gives the directory that a Flux Kustomization applies and the line of its `postBuild`, where it substitutes.
fn substitutes(stream: &Stream, sync: &Document) -> Option<(String, usize)> {
    let root = sync.root()?;
    let mut entries = root.get("spec")?.entries();
    let (key, post_build) = entries.find(|(key, _)| key.text() == Some("postBuild"))?;
    let has = |key: &str| {
        post_build
            .get(key)
            .is_some_and(|node| node.entries().len() + node.items().len() > 0)
    };
    if !has("substitute") && !has("substituteFrom") {
        return None;
    }
    let directory = root.at(&["spec", "path"]).and_then(|path| path.text());
    let before = &stream.bytes()[..key.full_span().start];
    let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
    Some((directory.unwrap_or_default().to_owned(), line))
}

fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// What a substitution would find in the definitions of a file.
struct Open {
    definitions: usize,
    places: usize,
    line: usize,
}

/// Counts what a substitution would find in definitions that do not exclude themselves.
fn open(stream: &Stream) -> Open {
    let mut found = Open {
        definitions: 0,
        places: 0,
        line: 0,
    };
    for document in stream.documents() {
        let text = document.body_text();
        let is_definition = &*document.head().kind == "CustomResourceDefinition";
        if !is_definition || is_excluded(document) {
            continue;
        }
        let mut places = text.match_indices("${").filter(|(at, _)| !text[..*at].ends_with('$'));
        let Some((first, _)) = places.next() else { continue };
        if found.places == 0 {
            let before = &stream.bytes()[..document.body().start + first];
            found.line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        }
        found.definitions += 1;
        found.places += 1 + places.count();
    }
    found
}

fn is_excluded(document: &Document) -> bool {
    if !document.body_text().contains(SUBSTITUTE) {
        return false;
    }
    let says = |field: &str| {
        let value = document
            .root()
            .and_then(|root| root.at(&["metadata", field, SUBSTITUTE])?.text());
        value == Some("disabled")
    };
    says("annotations") || says("labels")
}

/// Tells whether a kustomization, or a patch that it names, writes the annotation.
fn excludes(tree: &Tree, kustomization: &Path) -> bool {
    let writes = |path: &Path| {
        let text = tree.bytes(path).and_then(|bytes| std::str::from_utf8(bytes).ok());
        let escaped = SUBSTITUTE.replace('/', "~1");
        text.is_some_and(|text| {
            text.contains("CustomResourceDefinition")
                && (text.contains(SUBSTITUTE) || text.contains(&escaped))
                && text.contains("disabled")
        })
    };
    let overlays = crate::overlays::read(tree, std::slice::from_ref(kustomization));
    writes(kustomization)
        || overlays
            .patches
            .iter()
            .filter_map(|patch| patch.file.as_ref())
            .any(writes)
}

#[cfg(test)]
mod tests {
    use refit_manifest::Entry;

    use super::*;

    const MANIFEST: &str = "kind: Namespace\nmetadata: {name: x}\n---\napiVersion: apiextensions.k8s.io/v1\n\
                            kind: CustomResourceDefinition\nmetadata:\n  name: a.b.c\nspec:\n  description: use ${var} or $${no}\n";

    fn sync(post_build: &str) -> String {
        format!(
            "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {{name: flux-system}}\nspec:\n  \
             path: ./c\n{post_build}"
        )
    }

    fn check(manifest: &str, files: &[(&str, &str)], expected: &[&str]) {
        let entry = |(path, text): &(&str, &str)| (Path::from(*path), Entry::file(text.as_bytes()));
        let mut tree: Tree = files.iter().map(entry).collect();
        let generated = Path::from("c/f/g.yaml");
        tree.insert(generated.clone(), Entry::file(manifest.as_bytes()));
        let stream = Stream::split(manifest.as_bytes().into()).unwrap();
        let chain = ["c/f/kustomization.yaml".into()];
        let found: Vec<String> = Substitutions::look(&tree, &Streams::split(&tree))
            .of(&tree, &[(&generated, &stream)], &chain)
            .iter()
            .map(|finding| format!("{}: {}", finding.subject, finding.message))
            .collect();
        assert_eq!(found, expected);
    }

    const FOUND: &str = "c/f/s.yaml:6: Kustomization `flux-system` substitutes variables in all that it applies, and 1 \
                         definition of `c/f/g.yaml` holds `${`, first on line 9";

    #[test]
    fn a_kustomization_that_substitutes_in_definitions_is_named() {
        let substitute = sync("  postBuild:\n    substitute:\n      a: b\n");
        check(MANIFEST, &[("c/f/s.yaml", &substitute)], &[FOUND]);
        let from = sync("  postBuild:\n    substituteFrom:\n    - kind: Secret\n      name: s\n");
        check(MANIFEST, &[("c/f/s.yaml", &from)], &[FOUND]);
    }

    #[test]
    fn it_is_silent_where_nothing_is_substituted_or_the_definitions_are_excluded() {
        let substitute = sync("  postBuild:\n    substitute:\n      a: b\n");
        check(MANIFEST, &[("c/f/s.yaml", &sync("  prune: true\n"))], &[]);
        check(
            MANIFEST,
            &[("c/f/s.yaml", &sync("  postBuild:\n    substitute: {}\n"))],
            &[],
        );
        check(MANIFEST, &[("c/f/s.yaml", &substitute.replace("./c", "./apps"))], &[]);
        check(
            &MANIFEST.replace("${var}", "$(var)"),
            &[("c/f/s.yaml", &substitute)],
            &[],
        );
        let annotated = MANIFEST.replace(
            "  name: a.b.c\n",
            "  name: a.b.c\n  annotations:\n    kustomize.toolkit.fluxcd.io/substitute: disabled\n",
        );
        check(&annotated, &[("c/f/s.yaml", &substitute)], &[]);
        let patch = "resources: [g.yaml, s.yaml]\npatches:\n- target: {kind: CustomResourceDefinition}\n  patch: |\n    - op: add\n      \
                     path: /metadata/annotations/kustomize.toolkit.fluxcd.io~1substitute\n      value: disabled\n";
        check(
            MANIFEST,
            &[("c/f/s.yaml", &substitute), ("c/f/kustomization.yaml", patch)],
            &[],
        );
    }
}
