//! How stored objects are migrated before a hop, where this program has no access to the cluster.
//!
//! In: the gate of a hop. Out: commands for a person, the shell text of a Job, the manifest of that Job with the account and
//! the rights that it needs. Carries nothing out.
//!
//! Which program migrates: `flux migrate` from Flux 2.7.1 on (facts/flux.md 2.5; 2.7.0 leaves managed fields as they are),
//! before that `kubectl` alone.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use refit_manifest::scalar::{self, Style};

use crate::release::Version;
use crate::route::{Hop, Stale};

/// The functions of the shell text.
const FUNCTIONS: &str = include_str!("migration/migrate.sh");

/// How long a finished Job stays, in seconds: a week. Where it stands in Git, Flux would start it anew after that, which
/// changes nothing; the next request takes it out of Git.
pub const TTL_SECONDS: u32 = 604_800;

/// A Job that migrates inside the cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job<'a> {
    /// The name of all its objects, see [`name`].
    pub name: String,
    /// The namespace of the plane.
    pub namespace: &'a str,
    /// An image with `sh` and `kubectl`.
    pub image: &'a str,
    /// What is migrated.
    pub gate: &'a [Stale],
}

/// What the name of each Job begins with.
pub const PREFIX: &str = "refit-migrate-";

/// The label of all that belongs to a Job.
const LABEL: &str = "app.kubernetes.io/name: refit-migrate";

/// Tells whether a text was the manifest of a Job once, edited or not.
pub fn is_like_one(text: &str) -> bool {
    text.contains(LABEL)
}

/// Gives the name of the Job before a hop, which no other hop has.
pub fn name(hop: &Hop) -> String {
    let plain = |version: &Version| version.to_string().replace(['.', '+'], "-").to_ascii_lowercase();
    format!("{PREFIX}{}-{}", plain(&hop.from), plain(&hop.to))
}

/// Says in a line what is migrated to which version, per definition.
pub fn summary(gate: &[Stale]) -> Vec<String> {
    let mut kinds: BTreeMap<&str, (&Stale, BTreeSet<&str>)> = BTreeMap::new();
    for stale in gate {
        let entry = kinds.entry(&stale.crd).or_insert((stale, BTreeSet::new()));
        entry.1.insert(&stale.version);
    }
    let line = |(_, (stale, versions)): (&&str, &(&Stale, BTreeSet<&str>))| {
        let versions: Vec<&str> = versions.iter().copied().collect();
        format!("{} from `{}` to `{}`", stale.kind, versions.join("`, `"), stale.storage)
    };
    kinds.iter().map(line).collect()
}

/// Lists the lines that a person runs before a hop, at the installed release. The last one shows whether it worked: each
/// definition must list its storage version alone.
pub fn commands(gate: &[Stale], installed: &Version) -> Vec<String> {
    match *installed >= Version::new(2, 7, 1) {
        true => vec!["flux migrate".to_owned(), shown(gate)],
        false => by_kubectl(gate),
    }
}

/// Lists the lines that migrate with `kubectl` alone, whatever is installed.
pub fn by_kubectl(gate: &[Stale]) -> Vec<String> {
    let text = script(gate);
    let mut lines: Vec<String> = vec!["cat > migrate.sh <<'SCRIPT'".to_owned()];
    lines.extend(text.lines().map(ToOwned::to_owned));
    lines.extend(["SCRIPT".to_owned(), "sh migrate.sh".to_owned(), shown(gate)]);
    lines
}

fn shown(gate: &[Stale]) -> String {
    let crds: Vec<&str> = crds(gate).into_iter().collect();
    format!(
        "kubectl get crd {} -o custom-columns=NAME:.metadata.name,STORED:.status.storedVersions",
        crds.join(" ")
    )
}

/// Gives the shell text that migrates; it needs `kubectl` alone and can be run again at any time.
pub fn script(gate: &[Stale]) -> String {
    script_of(&crds(gate))
}

fn script_of(crds: &BTreeSet<&str>) -> String {
    let mut text = String::from(FUNCTIONS);
    for crd in crds {
        let _ = writeln!(text, "migrate {crd}");
    }
    text
}

/// Writes the manifest of a Job with its account and rights: to read and rewrite the objects of these kinds, and to write
/// the status of their definitions. All of it goes with the next request.
pub fn manifest(job: &Job<'_>) -> String {
    let plain = |text: &str| scalar::write(text, Style::Plain);
    written_as(&Written {
        name: &job.name,
        namespace: &plain(job.namespace),
        image: &plain(job.image),
        crds: crds(job.gate),
    })
}

/// Tells whether a file is the manifest of a Job of this name as [`manifest`] writes it: one that a person edited is not.
pub fn is_manifest(name: &str, text: &str) -> bool {
    let value = |key: &str| text.lines().find_map(|line| line.trim_start().strip_prefix(key));
    let (Some(namespace), Some(image)) = (value("namespace: "), value("image: ")) else {
        return false;
    };
    let crds = text
        .lines()
        .filter_map(|line| line.trim_start().strip_prefix("migrate "));
    let written = Written {
        name,
        namespace,
        image,
        crds: crds.collect(),
    };
    written_as(&written) == text
}

/// What the manifest of a Job depends on; namespace and image as they stand in YAML.
struct Written<'a> {
    name: &'a str,
    namespace: &'a str,
    image: &'a str,
    crds: BTreeSet<&'a str>,
}

fn written_as(written: &Written<'_>) -> String {
    let Written {
        name,
        namespace,
        image,
        crds,
    } = written;
    let labels = "  labels:\n    app.kubernetes.io/name: refit-migrate\n    app.kubernetes.io/managed-by: refit\n";
    let mut text = String::from(
        "# Migrates stored objects before the next step of an upgrade; written by refit, which removes it with that step.\n",
    );
    let _ = write!(
        text,
        "apiVersion: v1\nkind: ServiceAccount\nmetadata:\n  name: {name}\n  namespace: {namespace}\n{labels}---\n\
         apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata:\n  name: {name}\n{labels}rules:\n"
    );
    text.push_str(&rules(crds));
    let _ = write!(
        text,
        "---\napiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nmetadata:\n  name: {name}\n{labels}\
         roleRef:\n  apiGroup: rbac.authorization.k8s.io\n  kind: ClusterRole\n  name: {name}\nsubjects:\n\
         - kind: ServiceAccount\n  name: {name}\n  namespace: {namespace}\n---\n\
         apiVersion: batch/v1\nkind: Job\nmetadata:\n  name: {name}\n  namespace: {namespace}\n{labels}  annotations:\n    \
         kustomize.toolkit.fluxcd.io/substitute: disabled\nspec:\n  backoffLimit: 10\n  \
         ttlSecondsAfterFinished: {TTL_SECONDS}\n{}",
        pod(name, image)
    );
    for line in script_of(crds).lines() {
        match line {
            "" => text.push('\n'),
            line => {
                let _ = writeln!(text, "          {line}");
            }
        }
    }
    text
}

/// The pod of the Job up to its script; it runs under the restricted pod security standard.
fn pod(name: &str, image: &str) -> String {
    format!(
        "  template:
    metadata:
      labels:
        app.kubernetes.io/name: refit-migrate
        app.kubernetes.io/managed-by: refit
    spec:
      serviceAccountName: {name}
      restartPolicy: OnFailure
      securityContext:
        runAsNonRoot: true
        runAsUser: 65534
        seccompProfile:
          type: RuntimeDefault
      volumes:
      - name: home
        emptyDir: {{}}
      containers:
      - name: migrate
        image: {image}
        env:
        - name: HOME
          value: /home/migrate
        volumeMounts:
        - name: home
          mountPath: /home/migrate
        securityContext:
          allowPrivilegeEscalation: false
          readOnlyRootFilesystem: true
          capabilities:
            drop:
            - ALL
        command:
        - sh
        - -c
        - |
"
    )
}

/// The rights of the Job. `kubectl patch --subresource=status` reads the status before it writes it.
fn rules(crds: &BTreeSet<&str>) -> String {
    let mut text = String::new();
    for (resource, verbs) in [
        ("customresourcedefinitions", "  - get\n"),
        ("customresourcedefinitions/status", "  - get\n  - patch\n"),
    ] {
        let _ = write!(
            text,
            "- apiGroups:\n  - apiextensions.k8s.io\n  resources:\n  - {resource}\n  resourceNames:\n"
        );
        for crd in crds {
            let _ = writeln!(text, "  - {crd}");
        }
        let _ = write!(text, "  verbs:\n{verbs}");
    }
    let mut groups: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (plural, group) in crds.iter().filter_map(|crd| crd.split_once('.')) {
        groups.entry(group).or_default().push(plural);
    }
    for (group, plurals) in groups {
        let _ = write!(text, "- apiGroups:\n  - {group}\n  resources:\n");
        for plural in plurals {
            let _ = writeln!(text, "  - {plural}");
        }
        text.push_str("  verbs:\n  - get\n  - list\n  - patch\n");
    }
    text
}

fn crds(gate: &[Stale]) -> BTreeSet<&str> {
    gate.iter().map(|stale| stale.crd.as_str()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::route::Used;

    fn gate() -> Vec<Stale> {
        vec![Stale {
            crd: "buckets.source.toolkit.fluxcd.io".into(),
            kind: "Bucket".into(),
            version: "v1beta2".into(),
            used: Used::Stored,
            storage: "v1".into(),
        }]
    }

    fn written(image: &str) -> String {
        manifest(&Job {
            name: "refit-migrate-v2-6-4-v2-8-8".into(),
            namespace: "flux-system",
            image,
            gate: &gate(),
        })
    }

    #[test]
    fn a_job_that_a_person_edited_or_renamed_is_not_as_it_is_written() {
        for image in ["registry.example:5000/kubectl:1.35.4", "a: b #c"] {
            let text = written(image);
            assert!(is_manifest("refit-migrate-v2-6-4-v2-8-8", &text), "{text}");
            assert!(!is_manifest("refit-migrate-v2-6-4-v2-9-4", &text));
            assert!(!is_manifest("refit-migrate-v2-6-4-v2-8-8", &format!("{text}# mine\n")));
        }
        assert!(!is_manifest("refit-migrate-x", "kind: ConfigMap\n"));
    }

    #[test]
    fn an_image_that_would_read_as_other_yaml_is_quoted() {
        let text = written("a: b #c");
        assert!(text.contains("        image: \"a: b #c\"\n"), "{text}");
    }

    #[test]
    fn definitions_are_read_and_only_their_status_is_written() {
        let text = written("i:1");
        let of = |resource: &str| {
            let (_, rest) = text.split_once(&format!("  - {resource}\n")).unwrap();
            let (rule, _) = rest.split_once("- apiGroups").unwrap();
            rule.split_once("verbs:")
                .unwrap()
                .1
                .split_whitespace()
                .collect::<String>()
        };
        assert_eq!(of("customresourcedefinitions"), "-get");
        assert_eq!(of("customresourcedefinitions/status"), "-get-patch");
    }
}
