//! What kustomizations lay over generated files: patches and image overrides.
//!
//! In: a tree and the kustomizations that reach a generated file. Out: facts by name. Evaluates nothing.

use refit_kustomize::reach;
use refit_manifest::parse::NodeRef;
use refit_manifest::{Path, Stream, Tree};

/// One patch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Patch {
    /// The kustomization that holds or names it.
    pub path: Path,
    /// The file that holds it; `None` when it stands in the kustomization.
    pub file: Option<Path>,
    /// What it is aimed at, in words.
    pub target: String,
}

/// One entry of `images:`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImageOverride {
    /// The kustomization.
    pub path: Path,
    /// The line of the entry.
    pub line: usize,
    /// The image that is meant, as the kustomization names it.
    pub name: String,
    /// What it sets: new name, tag and digest as far as given.
    pub sets: String,
}

/// The overlays of a cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overlays {
    /// The patches, in the order of the kustomizations.
    pub patches: Vec<Patch>,
    /// The image overrides.
    pub images: Vec<ImageOverride>,
}

/// Reads the overlays of some kustomizations; one that does not parse has none here.
pub fn read(tree: &Tree, kustomizations: &[Path]) -> Overlays {
    let mut overlays = Overlays::default();
    for path in kustomizations {
        let Some(stream) = tree.bytes(path).and_then(|bytes| Stream::split(bytes.clone()).ok()) else {
            continue;
        };
        for root in stream.documents().iter().filter_map(|document| document.root()) {
            overlays.patches.extend(patches(tree, path, root));
            overlays
                .images
                .extend(items(root, "images").filter_map(|entry| image(path, entry)));
        }
    }
    overlays
}

fn patches(tree: &Tree, path: &Path, root: NodeRef<'_>) -> Vec<Patch> {
    let modern = items(root, "patches").chain(items(root, "patchesJson6902"));
    let mut patches: Vec<Patch> = modern.map(|entry| patch(tree, path, entry)).collect();
    for entry in items(root, "patchesStrategicMerge") {
        let text = entry.text().unwrap_or_default();
        let file = Path::new(reach::resolve(path.directory(), text));
        let in_file = tree.bytes(&file).cloned();
        let heads = aims(&in_file.clone().unwrap_or_else(|| text.as_bytes().into()));
        let file = in_file.map(|_| file);
        patches.extend(heads.into_iter().map(|target| Patch {
            path: path.clone(),
            file: file.clone(),
            target,
        }));
    }
    patches
}

fn patch(tree: &Tree, path: &Path, entry: NodeRef<'_>) -> Patch {
    let file = entry.get("path").and_then(NodeRef::text);
    let file = file.map(|name| Path::new(reach::resolve(path.directory(), name)));
    let target = match entry.get("target") {
        Some(target) => selector(target),
        None => {
            let inline = entry
                .get("patch")
                .and_then(NodeRef::text)
                .map(|text| text.as_bytes().into());
            let bytes = inline.or_else(|| tree.bytes(file.as_ref()?).cloned());
            bytes.map(|bytes| aims(&bytes).join(", ")).unwrap_or_default()
        }
    };
    Patch {
        path: path.clone(),
        file,
        target,
    }
}

/// Lists what the documents of a strategic-merge patch are aimed at.
fn aims(bytes: &std::sync::Arc<[u8]>) -> Vec<String> {
    let stream = Stream::split(bytes.clone());
    stream
        .map(|stream| stream.objects().map(|(identity, _)| identity.to_string()).collect())
        .unwrap_or_default()
}

fn selector(target: NodeRef<'_>) -> String {
    let part = |key: &str| target.get(key).and_then(NodeRef::text);
    let mut words = format!("{}/{}", part("kind").unwrap_or("*"), part("name").unwrap_or("*"));
    for key in ["namespace", "labelSelector", "annotationSelector"] {
        if let Some(value) = part(key) {
            words.push_str(&format!(" {key} {value}"));
        }
    }
    words
}

fn image(path: &Path, entry: NodeRef<'_>) -> Option<ImageOverride> {
    let part = |key: &str| entry.get(key).and_then(NodeRef::text);
    let sets = ["newName", "newTag", "digest"]
        .iter()
        .filter_map(|key| Some(format!("{key} {}", part(key)?)));
    let before = &entry.bytes()[..entry.span().start];
    Some(ImageOverride {
        path: path.clone(),
        line: before.iter().filter(|byte| **byte == b'\n').count() + 1,
        name: part("name")?.to_owned(),
        sets: sets.collect::<Vec<_>>().join(", "),
    })
}

fn items<'a>(root: NodeRef<'a>, key: &str) -> impl Iterator<Item = NodeRef<'a>> + use<'a> {
    root.get(key).into_iter().flat_map(NodeRef::items)
}

#[cfg(test)]
mod tests {
    use refit_manifest::Entry;

    use super::*;

    #[test]
    fn patches_and_images_are_listed_with_what_they_aim_at() {
        let kustomization = "\
resources: [g.yaml]
images:
- name: ghcr.io/fluxcd/source-controller
  newTag: v1.0.0-rc.1
patches:
- target: {kind: Deployment, name: (kustomize|helm)-controller, labelSelector: a=b}
  patch: '[]'
- patch: |
    kind: Deployment
    metadata: {name: source-controller, namespace: flux-system}
- path: p.yaml
patchesStrategicMerge:
- q.yaml
";
        let file = |text: &str| Entry::file(text.as_bytes());
        let tree: Tree = [
            (Path::from("c/kustomization.yaml"), file(kustomization)),
            (Path::from("c/p.yaml"), file("kind: Service\nmetadata: {name: s}\n")),
            (
                Path::from("c/q.yaml"),
                file("kind: A\nmetadata: {name: a}\n---\nkind: B\nmetadata: {name: b}\n"),
            ),
        ]
        .into_iter()
        .collect();
        let overlays = read(&tree, &[Path::from("c/kustomization.yaml")]);
        let patch = |patch: &Patch| format!("{} {}", patch.file.as_ref().map_or("-", Path::as_str), patch.target);
        assert_eq!(
            overlays.patches.iter().map(patch).collect::<Vec<_>>(),
            [
                "- Deployment/(kustomize|helm)-controller labelSelector a=b",
                "- Deployment/source-controller in flux-system",
                "c/p.yaml Service/s",
                "c/q.yaml A/a",
                "c/q.yaml B/b",
            ]
        );
        let image = &overlays.images[0];
        assert_eq!(
            (image.line, image.name.as_str(), image.sets.as_str()),
            (3, "ghcr.io/fluxcd/source-controller", "newTag v1.0.0-rc.1")
        );
    }
}
