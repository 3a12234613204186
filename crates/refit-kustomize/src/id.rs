//! What an object is called, with its API version.
//!
//! In: values. Out: [`Id`]s, which compare as kustomize compares them: no namespace is `default`, and kinds of the whole
//! cluster have none.

use refit_manifest::Identity;

/// Kinds without namespace, with their API versions: what kustomize v5.8.1 knows.
const CLUSTER: [(&str, &[&str]); 22] = [
    (
        "APIService",
        &["apiregistration.k8s.io/v1", "apiregistration.k8s.io/v1beta1"],
    ),
    ("CSIDriver", &["storage.k8s.io/v1", "storage.k8s.io/v1beta1"]),
    ("CSINode", &["storage.k8s.io/v1", "storage.k8s.io/v1beta1"]),
    (
        "CertificateSigningRequest",
        &["certificates.k8s.io/v1", "certificates.k8s.io/v1beta1"],
    ),
    (
        "ClusterRole",
        &["rbac.authorization.k8s.io/v1", "rbac.authorization.k8s.io/v1beta1"],
    ),
    (
        "ClusterRoleBinding",
        &["rbac.authorization.k8s.io/v1", "rbac.authorization.k8s.io/v1beta1"],
    ),
    ("ComponentStatus", &["v1"]),
    (
        "CustomResourceDefinition",
        &["apiextensions.k8s.io/v1", "apiextensions.k8s.io/v1beta1"],
    ),
    ("FlowSchema", &["flowcontrol.apiserver.k8s.io/v1beta1"]),
    ("IngressClass", &["networking.k8s.io/v1", "networking.k8s.io/v1beta1"]),
    (
        "MutatingWebhookConfiguration",
        &[
            "admissionregistration.k8s.io/v1",
            "admissionregistration.k8s.io/v1beta1",
        ],
    ),
    ("Namespace", &["v1"]),
    ("Node", &["v1"]),
    ("NodeProxyOptions", &["v1"]),
    ("PersistentVolume", &["v1"]),
    ("PodSecurityPolicy", &["policy/v1beta1"]),
    ("PriorityClass", &["scheduling.k8s.io/v1", "scheduling.k8s.io/v1beta1"]),
    ("PriorityLevelConfiguration", &["flowcontrol.apiserver.k8s.io/v1beta1"]),
    ("RuntimeClass", &["node.k8s.io/v1", "node.k8s.io/v1beta1"]),
    ("StorageClass", &["storage.k8s.io/v1", "storage.k8s.io/v1beta1"]),
    (
        "ValidatingWebhookConfiguration",
        &[
            "admissionregistration.k8s.io/v1",
            "admissionregistration.k8s.io/v1beta1",
        ],
    ),
    ("VolumeAttachment", &["storage.k8s.io/v1", "storage.k8s.io/v1beta1"]),
];

/// What an object is called.
#[derive(Clone, Debug, Default)]
pub(crate) struct Id {
    pub(crate) api_version: String,
    pub(crate) kind: String,
    pub(crate) name: String,
    pub(crate) namespace: String,
}

impl Id {
    /// Gives the API group, empty for the core group.
    pub(crate) fn group(&self) -> &str {
        self.api_version.split_once('/').map_or("", |(group, _)| group)
    }

    /// Gives the version without its group.
    pub(crate) fn version(&self) -> &str {
        self.api_version
            .split_once('/')
            .map_or(&self.api_version, |(_, version)| version)
    }

    /// Tells whether the kind is known to have no namespace.
    pub(crate) fn is_cluster_scoped(&self) -> bool {
        let known = CLUSTER.iter().find(|(kind, _)| *kind == self.kind);
        known.is_some_and(|(_, versions)| versions.contains(&self.api_version.as_str()))
    }

    /// Gives the namespace that counts; `None` where the kind has none.
    pub(crate) fn effective_namespace(&self) -> Option<&str> {
        if self.is_cluster_scoped() {
            return None;
        }
        Some(if self.namespace.is_empty() {
            "default"
        } else {
            &self.namespace
        })
    }

    /// Gives what two equal ids have in common.
    pub(crate) fn key(&self) -> (&str, &str, &str, Option<&str>) {
        (&self.api_version, &self.kind, &self.name, self.effective_namespace())
    }

    /// Gives the identity, without the version.
    pub(crate) fn identity(&self) -> Identity {
        Identity {
            group: self.group().into(),
            kind: self.kind.as_str().into(),
            namespace: self.namespace.as_str().into(),
            name: self.name.as_str().into(),
        }
    }
}

impl PartialEq for Id {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Id {}

/// Group, version and kind to select by; empty parts select all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Gvk {
    pub(crate) group: String,
    pub(crate) version: String,
    pub(crate) kind: String,
}

impl Gvk {
    /// Reads `GROUP|VERSION|KIND`.
    pub(crate) fn parse(text: &str) -> Self {
        let mut parts = text.split('|').map(ToOwned::to_owned);
        let mut next = || parts.next().unwrap_or_default();
        Self {
            group: next(),
            version: next(),
            kind: next(),
        }
    }

    /// Tells whether an id is selected.
    pub(crate) fn selects(&self, id: &Id) -> bool {
        let fits = |wanted: &str, is: &str| wanted.is_empty() || wanted == is;
        fits(&self.group, id.group()) && fits(&self.version, id.version()) && fits(&self.kind, &id.kind)
    }
}
