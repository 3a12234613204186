//! Texts of Flux objects in each of their versions, with the fields that only old versions have.

use crate::random::Random;

/// The kinds of which objects are made.
pub const KINDS: [&str; 13] = [
    "GitRepository",
    "HelmRepository",
    "HelmChart",
    "Bucket",
    "OCIRepository",
    "Kustomization",
    "HelmRelease",
    "Receiver",
    "Provider",
    "Alert",
    "ImageRepository",
    "ImagePolicy",
    "ImageUpdateAutomation",
];

/// The group of a kind.
fn group(kind: &str) -> &'static str {
    match kind {
        "Kustomization" => "kustomize.toolkit.fluxcd.io",
        "HelmRelease" => "helm.toolkit.fluxcd.io",
        "Receiver" | "Provider" | "Alert" => "notification.toolkit.fluxcd.io",
        "ImageRepository" | "ImagePolicy" | "ImageUpdateAutomation" => "image.toolkit.fluxcd.io",
        _ => "source.toolkit.fluxcd.io",
    }
}

/// Writes an object with nothing but what its `spec` is given.
pub fn text(kind: &str, version: &str, name: &str, spec: &str) -> String {
    let spec: String = spec.lines().map(|line| format!("  {line}\n")).collect();
    let group = group(kind);
    format!(
        "apiVersion: {group}/{version}\nkind: {kind}\nmetadata:\n  name: {name}\n  namespace: flux-system\nspec:\n{spec}"
    )
}

/// Writes a GitRepository.
pub(super) fn source(version: &str, name: &str, url: &str) -> String {
    text(
        "GitRepository",
        version,
        name,
        &format!("interval: 1m0s\nref:\n  branch: main\nurl: {url}"),
    )
}

/// Writes a Kustomization.
pub(super) fn sync(version: &str, name: &str, path: &str, source: &str) -> String {
    let spec =
        format!("interval: 10m0s\npath: {path}\nprune: true\nsourceRef:\n  kind: GitRepository\n  name: {source}");
    text("Kustomization", version, name, &spec)
}

/// Writes an object in a version, with old fields where the stored version has them, too: others are refused as soon as a
/// controller writes the object. `referred` is the version of sources that it refers to.
pub(super) fn object(
    random: &mut Random,
    kind: &str,
    [version, stored]: [&str; 2],
    name: &str,
    referred: &str,
) -> String {
    let is_old = [version, stored]
        .iter()
        .all(|version| version.contains("alpha") || version.contains("beta"));
    let old = |random: &mut Random, line: &str| match is_old && !random.once_in(3) {
        true => format!("\n{line}"),
        false => String::new(),
    };
    let spec = match kind {
        "GitRepository" => {
            let more = old(random, "gitImplementation: go-git");
            format!("interval: 5m # often enough\nurl: https://git.example.org/x\nref: {{branch: main}}{more}")
        }
        "HelmChart" => {
            let more = old(random, "valuesFile: prod.yaml");
            format!("interval: 5m\nchart: web\nsourceRef: {{kind: HelmRepository, name: one}}{more}")
        }
        "Kustomization" => {
            let more = old(random, "validation: client");
            let patches =
                "patchesStrategicMerge:\n- apiVersion: v1\n  kind: ConfigMap\n  metadata: {name: m}\n  data: {a: b}";
            let more = more + &old(random, patches);
            format!(
                "interval: 10m\npath: ./nowhere\nprune: false\nsourceRef: {{kind: GitRepository, name: one}}\nhealthChecks:\n\
                 - apiVersion: source.toolkit.fluxcd.io/{referred}\n  kind: GitRepository\n  name: one\n  namespace: flux-system{more}"
            )
        }
        "HelmRelease" => {
            let more = old(
                random,
                "    valuesFile: prod.yaml # theirs\n    valuesFiles: [more.yaml]",
            );
            format!(
                "interval: 5m\nchart:\n  spec:\n    chart: web\n    version: '1.x'\n    sourceRef:\n      kind: HelmRepository\n      \
                 name: one{more}\nvalues:\n  replicas: 2"
            )
        }
        "Receiver" => format!(
            "type: github\nevents: [ping]\nsecretRef: {{name: token}}\nresources:\n- apiVersion: source.toolkit.fluxcd.io/{referred}\n  \
             kind: GitRepository\n  name: one"
        ),
        "Provider" => {
            let more = match version {
                "v1beta2" if stored == version => old(random, "interval: 5m"),
                _ => String::new(),
            };
            format!("type: slack\nchannel: general\naddress: https://hooks.example.org/x{more}")
        }
        _ => plain(kind).to_owned(),
    };
    text(kind, version, name, &spec)
}

/// Gives the spec of a kind that has no old field.
fn plain(kind: &str) -> &'static str {
    match kind {
        "HelmRepository" => "interval: 1h\nurl: https://charts.example.org",
        "Bucket" => "interval: 5m\nprovider: generic\nbucketName: b\nendpoint: s3.example.org",
        "OCIRepository" => "interval: 5m\nurl: oci://registry.example.org/x\nref:\n  tag: latest",
        "Alert" => "providerRef: {name: own}\neventSeverity: info\neventSources:\n- kind: GitRepository\n  name: '*'",
        "ImageRepository" => "image: registry.example.org/x\ninterval: 5m",
        "ImagePolicy" => "imageRepositoryRef: {name: one}\npolicy:\n  semver: {range: '>=1.0.0'}",
        _ => {
            "interval: 5m\nsourceRef: {kind: GitRepository, name: one}\ngit:\n  checkout:\n    ref: {branch: main}\n  commit:\n    \
              author: {email: bot@example.org, name: bot}\n    messageTemplate: 'update'\n  push: {branch: main}\nupdate: {path: ./, \
              strategy: Setters}"
        }
    }
}

/// Writes objects into one file, in one of the ways in which people do.
pub(super) fn file(random: &mut Random, objects: &[String]) -> String {
    match random.below(4) {
        0 => {
            let items: String = objects
                .iter()
                .map(|object| format!("- {}\n", object.trim_end().replace('\n', "\n  ")))
                .collect();
            format!("apiVersion: v1\nkind: List\nitems:\n{items}")
        }
        1 => {
            let quoted = |object: &String| {
                let (head, rest) = object.split_once('\n').unwrap_or((object, ""));
                let (kind, rest) = rest.split_once('\n').unwrap_or((rest, ""));
                let version = head.trim_start_matches("apiVersion: ");
                format!("{kind}\n# as of last year\napiVersion: \"{version}\"\n{rest}")
            };
            objects.iter().map(quoted).collect::<Vec<_>>().join("---\n")
        }
        2 => format!("# ours\n---\n{}", objects.join("---\n")).replace('\n', "\r\n"),
        _ => objects.join("---\n"),
    }
}

/// Lists API version, kind and name of the objects of a text.
pub(super) fn heads(text: &str) -> Vec<(String, String, String)> {
    let Ok(stream) = refit_manifest::Stream::split(text.as_bytes().into()) else {
        return Vec::new();
    };
    let mut heads = Vec::new();
    for root in stream.documents().iter().filter_map(|document| document.root()) {
        let list = root.get("items").map(|items| items.items().collect::<Vec<_>>());
        for item in list.unwrap_or_else(|| vec![root]) {
            let text = |path: &[&str]| item.at(path).and_then(|node| node.text()).map(str::to_owned);
            if let (Some(version), Some(kind), Some(name)) =
                (text(&["apiVersion"]), text(&["kind"]), text(&["metadata", "name"]))
            {
                heads.push((version, kind, name));
            }
        }
    }
    heads
}
