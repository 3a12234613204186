//! What a cluster itself says about its definitions and controllers: a file of objects, as `kubectl get -o json` prints it.
//!
//! In: the bytes of the file, JSON or YAML, one `List` or several documents. Out: an [`Evidence`], or why the file is none.
//! It needs no right to the cluster: whoever has one writes the file. Decides nothing about a route.

mod object;
mod read;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

pub use read::{Error, SIZE_LIMIT};

use refit_manifest::Identity;

use crate::generated::Served;
use crate::release::Version;

/// The lines that write the file.
///
/// The second one tells the version of Kubernetes. The third one lists the objects of each kind that a definition brings, in a
/// list that names its kind even where it is empty, with the versions that stand in their managed fields.
pub const COMMANDS: [&str; 3] = [
    "kubectl get crds,deployments -A -o json > snapshot.json",
    "kubectl version -o json >> snapshot.json",
    "kubectl get crds -l app.kubernetes.io/part-of=flux -o jsonpath='{range .items[*]}/apis/{.spec.group}/\
     {.spec.versions[?(@.storage==true)].name}/{.spec.names.plural}{\"\\n\"}{end}' | xargs -n 1 kubectl get --raw >> snapshot.json",
];

/// What a cluster says about itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Evidence {
    /// The definitions by the names of their CRDs.
    pub definitions: BTreeMap<String, Held>,
    /// The Deployments that are part of a platform.
    pub controllers: Vec<Running>,
    /// The version of Kubernetes: the server's where the file tells it, else the newest of the nodes'.
    pub kubernetes: Option<Version>,
    /// The API versions in the managed fields of objects, by CRD; only of CRDs whose objects the file lists: with a list that
    /// names the kind, empty or not, or with objects that have managed fields.
    pub managed: BTreeMap<String, BTreeSet<String>>,
    /// The objects that kustomize-controller does not prune, by their annotation.
    pub kept: BTreeSet<Identity>,
}

/// A definition that a cluster holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Held {
    /// The kind of its objects.
    pub kind: String,
    /// Their API group.
    pub group: String,
    /// The value of the version label.
    pub version_label: Option<String>,
    /// The platform that it is part of.
    pub part_of: Option<String>,
    /// The component that brings it.
    pub component: Option<String>,
    /// What `spec.versions` says.
    pub versions: Vec<Served>,
    /// What `status.storedVersions` says.
    pub stored: Vec<String>,
    /// Whether it is being deleted.
    pub deleting: bool,
}

impl Held {
    /// Lists every version of `spec.versions`.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.versions.iter().map(|version| version.name.as_str())
    }

    /// Gives the version in which objects are stored when they are written.
    pub fn storage(&self) -> Option<&str> {
        let storage = self.versions.iter().find(|version| version.storage);
        storage.map(|version| version.name.as_str())
    }
}

/// A controller that a cluster runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Running {
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// The platform that it is part of.
    pub part_of: String,
    /// The value of the version label.
    pub version_label: Option<String>,
    /// The image of the container `manager`, or of the first one.
    pub image: String,
    /// Whether every replica runs what its Deployment says.
    pub rolled_out: bool,
}

impl Evidence {
    /// Reads a file; nothing is taken from one that is cut off, mixes clusters or was not read from a cluster.
    pub fn read(bytes: &Arc<[u8]>) -> Result<Self, Error> {
        let documents = read::documents(bytes)?;
        object::evidence(documents)
    }

    /// Gives the release that the labels of a platform's definitions and controllers name most often.
    pub fn release(&self, platform: &str) -> Option<Version> {
        let of_platform = |part_of: Option<&str>| part_of == Some(platform);
        let definitions = self.definitions.values();
        let labels = definitions
            .filter(|held| of_platform(held.part_of.as_deref()))
            .filter_map(|held| held.version_label.as_deref());
        let running = self.controllers.iter();
        let running = running
            .filter(|controller| of_platform(Some(&controller.part_of)))
            .filter_map(|controller| controller.version_label.as_deref());
        let mut counts: BTreeMap<Version, usize> = BTreeMap::new();
        for version in labels.chain(running).filter_map(|label| Version::parse(label).ok()) {
            *counts.entry(version).or_default() += 1;
        }
        counts
            .into_iter()
            .max_by_key(|(version, count)| (*count, version.clone()))
            .map(|(version, _)| version)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Evidence, Error> {
        Evidence::read(&Arc::from(text.as_bytes()))
    }

    fn definition(stored: &str) -> String {
        format!(
            r#"{{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {{"name": "as.x.dev",
            "labels": {{"app.kubernetes.io/version": "v2.6.4", "app.kubernetes.io/part-of": "flux"}}}}, "spec": {{"group": "x.dev",
            "names": {{"kind": "A"}}, "versions": [{{"name": "v1", "served": true, "storage": true, "schema": {{"openAPIV3Schema":
            {{"type": "object"}}}}}}, {{"name": "v1beta1", "served": true, "storage": false, "deprecated": true}}]}}, "status":
            {{"storedVersions": [{stored}]}}}}"#
        )
    }

    fn list(items: &[&str]) -> String {
        format!(
            r#"{{"apiVersion": "v1", "kind": "List", "items": [{}]}}"#,
            items.join(",")
        )
    }

    const DEPLOYMENT: &str = r#"{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "c", "namespace": "flux-system",
        "generation": 2, "labels": {"app.kubernetes.io/version": "v2.6.4", "app.kubernetes.io/part-of": "flux"}}, "spec":
        {"replicas": 1, "template": {"spec": {"containers": [{"name": "side", "image": "s:1"}, {"name": "manager", "image":
        "c:v1"}]}}}, "status": {"observedGeneration": 2, "replicas": 1, "updatedReplicas": 1, "availableReplicas": 1}}"#;

    #[test]
    fn a_list_of_kubectl_tells_versions_controllers_and_kubernetes() {
        let version =
            r#"{"clientVersion": {"gitVersion": "v1.36.0"}, "serverVersion": {"gitVersion": "v1.33.4-eks-a1b2"}}"#;
        let object = r#"{"apiVersion": "x.dev/v1", "kind": "A", "metadata": {"name": "o", "managedFields": [{"manager": "m",
            "apiVersion": "x.dev/v1beta1", "fieldsV1": {"f:spec": {}}}, {"manager": "n", "apiVersion": "x.dev/v1"}]}}"#;
        let of_object = list(&[object]);
        let text = format!(
            "{}\n{version}\n{of_object}\n",
            list(&[&definition("\"v1beta1\", \"v1\""), DEPLOYMENT])
        );
        let evidence = read(&text).unwrap();
        let held = &evidence.definitions["as.x.dev"];
        assert_eq!(
            (held.storage(), held.stored.join(" ").as_str()),
            (Some("v1"), "v1beta1 v1")
        );
        assert_eq!(held.names().collect::<Vec<_>>(), ["v1", "v1beta1"]);
        let controller = &evidence.controllers[0];
        assert_eq!((controller.image.as_str(), controller.rolled_out), ("c:v1", true));
        assert_eq!(evidence.kubernetes, Some(Version::new(1, 33, 4)));
        assert_eq!(evidence.release("flux"), Some(Version::new(2, 6, 4)));
        assert_eq!(evidence.release("other"), None);
        let managed: Vec<&String> = evidence.managed["as.x.dev"].iter().collect();
        assert_eq!(managed, ["v1", "v1beta1"]);
    }

    #[test]
    fn a_list_that_names_its_kind_tells_that_it_was_listed_even_without_objects() {
        let seen = |lists: &str| {
            read(&format!("{}{lists}", list(&[&definition("\"v1\"")])))
                .unwrap()
                .managed
        };
        let of_kind = |metadata: &str, items: &str| {
            format!(r#"{{"apiVersion": "x.dev/v1", "kind": "AList", "metadata": {{{metadata}}}, "items": [{items}]}}"#)
        };
        let object = r#"{"apiVersion": "x.dev/v1", "kind": "A", "metadata": {"name": "o", "managedFields": [{"manager": "m",
            "apiVersion": "x.dev/v1beta1"}]}}"#;
        let held = |versions: &[&str]| {
            let versions: BTreeSet<String> = versions.iter().map(|name| (*name).to_owned()).collect();
            BTreeMap::from([("as.x.dev".to_owned(), versions)])
        };
        assert_eq!(seen(""), BTreeMap::new());
        assert_eq!(seen(&list(&[])), BTreeMap::new());
        assert_eq!(seen(&of_kind("", "")), held(&[]));
        assert_eq!(seen(&of_kind("", object)), held(&["v1beta1"]));
        // A first page is not all of it, and a list of another group is of another kind.
        assert_eq!(seen(&of_kind(r#""continue": "more""#, "")), BTreeMap::new());
        assert_eq!(seen(&of_kind("", "").replace("x.dev", "y.dev")), BTreeMap::new());
    }

    #[test]
    fn a_list_in_yaml_says_the_same_as_one_in_json() {
        let json = list(&[&definition("\"v1\""), DEPLOYMENT]);
        let yaml = format!(
            "apiVersion: v1\nitems:\n- {}\n- {DEPLOYMENT}\nkind: List\n",
            definition("\"v1\"")
        );
        assert_eq!(read(&yaml).unwrap(), read(&json).unwrap());
        let several = format!("---\n{}\n---\n{DEPLOYMENT}\n", definition("\"v1\""));
        assert_eq!(read(&format!("# two\n{several}")).unwrap(), read(&json).unwrap());
    }

    #[test]
    fn nodes_tell_kubernetes_where_no_server_does() {
        let node = |version: &str| {
            format!(r#"{{"kind": "Node", "status": {{"nodeInfo": {{"kubeletVersion": "{version}"}}}}}}"#)
        };
        let text = list(&[&definition("\"v1\""), &node("v1.31.2"), &node("v1.32.0+k3s1")]);
        assert_eq!(read(&text).unwrap().kubernetes, Some(Version::new(1, 32, 0)));
    }

    fn check_refused(text: &str, expected: &str) {
        let error = read(text).unwrap_err().to_string();
        assert!(error.starts_with(expected) && error.contains("; hint: "), "{error}");
    }

    #[test]
    fn what_is_no_snapshot_of_one_cluster_is_refused_with_what_to_do() {
        let whole = list(&[&definition("\"v1\"")]);
        check_refused("  \n", "the snapshot is empty");
        check_refused(&whole[..whole.len() - 20], "the snapshot is cut off at line 5");
        check_refused(&format!("{whole}\nerror: gone"), "the snapshot is not JSON at line 6");
        check_refused(
            "NAME   CREATED AT\nas.x.dev   2024\n",
            "the snapshot holds no Kubernetes objects but begins with `NAME CREATED AT",
        );
        check_refused("a: [\n", "the snapshot is neither JSON nor YAML");
        check_refused(
            &list(&[DEPLOYMENT]),
            "the snapshot holds 1 object and no CustomResourceDefinition",
        );
        check_refused(
            &list(&[]),
            "the snapshot holds no objects and no CustomResourceDefinition",
        );
        check_refused(
            &list(&[&definition("")]),
            "the snapshot was not read from a cluster: `as.x.dev` has no",
        );
        let twice = format!("{whole}{}", list(&[&definition("\"v1beta1\", \"v1\"")]));
        check_refused(&twice, "the snapshot holds `as.x.dev` twice, and differently");
        assert!(read(&format!("{whole}{whole}")).is_ok());
        check_refused(
            "apiVersion: v1\nitems:\n- kind: Node\n",
            "the snapshot is cut off at line",
        );
        check_refused("a: b\n", "the snapshot holds no Kubernetes objects");
    }
}
