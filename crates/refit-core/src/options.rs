//! The options with which a manifest was generated.
//!
//! In: a generated manifest. Out: the [`Options`] that wrote it, as far as the text tells.
//!
//! The rule: an option has the value that more than half of its carriers state; without such a majority it has its
//! default. Carriers are the Deployments of components whose form the option changes (for the namespace: all objects
//! that are in one). So one changed image is an edit of the user, all changed images are another registry. Components
//! and network policies are there when any of their objects is: the user may have removed others.

use std::collections::{BTreeMap, BTreeSet};

use refit_manifest::parse::NodeRef;
use serde::{Deserialize, Serialize};

use crate::catalog::Catalog;
use crate::generated::{Controller, Generated};

/// The group of the network policies in the catalog.
pub const NETWORK_POLICIES: &str = "network-policies";

/// The options of a generated manifest; the JSON form is part of the upgrade record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Options {
    /// The namespace of the plane.
    pub namespace: String,
    /// The components, in the order of the header.
    pub components: Vec<String>,
    /// Whether the network policies are there.
    pub network_policies: bool,
    /// The DNS domain of the cluster.
    pub cluster_domain: String,
    /// The keys of the taints that the pods tolerate.
    #[serde(default)]
    pub toleration_keys: Vec<String>,
    /// The registry with its path that the images come from.
    pub registry: String,
    /// The secret with which images are pulled.
    #[serde(default)]
    pub image_pull_secret: Option<String>,
    /// The log level of the controllers.
    pub log_level: String,
    /// Whether the controllers watch all namespaces, not only their own.
    pub watch_all_namespaces: bool,
}

impl Options {
    /// Gives the options of a plane that was installed without any.
    pub fn defaults(catalog: &Catalog) -> Self {
        Self {
            namespace: catalog.namespace().to_owned(),
            components: catalog.default_components().map(ToOwned::to_owned).collect(),
            network_policies: true,
            cluster_domain: "cluster.local".to_owned(),
            toleration_keys: Vec::new(),
            registry: catalog.registry().to_owned(),
            image_pull_secret: None,
            log_level: "info".to_owned(),
            watch_all_namespaces: true,
        }
    }

    /// Gives the first option whose value cannot stand in a manifest, with its value.
    pub fn unusable(&self) -> Option<(&'static str, &str)> {
        let texts = [
            ("namespace", &self.namespace),
            ("cluster domain", &self.cluster_domain),
            ("registry", &self.registry),
            ("log level", &self.log_level),
        ];
        let components = self.components.iter().map(|name| ("component", name));
        let mut all = texts.into_iter().chain(components);
        all.find(|(_, value)| !is_plain(value))
            .map(|(name, value)| (name, value.as_str()))
    }

    /// Tells whether a component is among the options.
    pub fn has(&self, component: &str) -> bool {
        self.components.iter().any(|name| name == component)
    }
}

/// Tells whether a text can be put into the middle of an unquoted scalar.
fn is_plain(text: &str) -> bool {
    let breaks = |c: char| c.is_whitespace() || c.is_control() || "\"'`\\#,[]".contains(c);
    !text.is_empty()
        && !text.contains(breaks)
        && !text.starts_with(|c: char| "{}&*!|>%@?:".contains(c))
        && !text.ends_with(':')
}

/// Recovers the options from a manifest.
pub fn recover(manifest: &Generated<'_>, catalog: &Catalog) -> Options {
    let defaults = Options::defaults(catalog);
    let controllers: Vec<Controller<'_>> = manifest.controllers().copied().collect();
    let vote = |read: fn(&Controller<'_>) -> Option<String>| majority(controllers.iter().map(read));
    Options {
        namespace: namespace(manifest).unwrap_or(defaults.namespace),
        components: components(manifest, catalog),
        network_policies: manifest
            .parts
            .iter()
            .any(|part| catalog.is_in_group(NETWORK_POLICIES, &part.identity.kind, &part.identity.name)),
        cluster_domain: majority(domains(&controllers).into_iter().map(Some)).unwrap_or(defaults.cluster_domain),
        toleration_keys: majority(controllers.iter().map(tolerations)).unwrap_or_default(),
        registry: vote(registry).unwrap_or(defaults.registry),
        image_pull_secret: vote(pull_secret),
        log_level: vote(|controller| controller.argument("log-level").map(ToOwned::to_owned))
            .unwrap_or(defaults.log_level),
        watch_all_namespaces: majority(controllers.iter().map(watches_all)).unwrap_or(defaults.watch_all_namespaces),
    }
}

/// Gives the value that more than half of the carriers state; a carrier that states none counts as one.
fn majority<T: Ord>(carriers: impl Iterator<Item = Option<T>>) -> Option<T> {
    let mut votes: BTreeMap<Option<T>, usize> = BTreeMap::new();
    let mut carriers_count = 0;
    for vote in carriers {
        *votes.entry(vote).or_default() += 1;
        carriers_count += 1;
    }
    votes
        .into_iter()
        .find(|(_, count)| count * 2 > carriers_count)
        .and_then(|(value, _)| value)
}

fn namespace(manifest: &Generated<'_>) -> Option<String> {
    let stated = manifest
        .parts
        .iter()
        .map(|part| &part.identity.namespace)
        .filter(|name| !name.is_empty());
    let named = manifest
        .parts
        .iter()
        .find(|part| part.identity.kind.as_ref() == "Namespace");
    majority(stated.map(|name| Some(name.to_string()))).or_else(|| named.map(|part| part.identity.name.to_string()))
}

/// Lists the components, as the header orders them where it names just those, else as the catalog does.
///
/// A name that the catalog does not have counts where the header has it: else it is an object of the user's own.
fn components(manifest: &Generated<'_>, catalog: &Catalog) -> Vec<String> {
    let header = &manifest.header.components;
    let counts = |name: &&str| catalog.component(name).is_some() || header.iter().any(|listed| listed == name);
    let named = manifest.parts.iter().filter_map(|part| part.component.as_deref());
    let present: BTreeSet<&str> = named.filter(counts).collect();
    let listed: BTreeSet<&str> = header.iter().map(String::as_str).collect();
    if listed == present && listed.len() == header.len() {
        return header.clone();
    }
    let known = catalog.components().iter().map(|component| component.name.as_str());
    let known = known.filter(|name| present.contains(name));
    let others = present.iter().copied().filter(|name| catalog.component(name).is_none());
    known.chain(others).map(ToOwned::to_owned).collect()
}

/// Lists the cluster domains that arguments state: `name.namespace.svc.DOMAIN`, in early releases one of them only.
fn domains(controllers: &[Controller<'_>]) -> Vec<String> {
    let addresses = |controller: &Controller<'_>| {
        let stated = ["events-addr", "storage-adv-addr"].map(|name| controller.argument(name).and_then(domain_of));
        stated.into_iter().flatten().map(ToOwned::to_owned).collect::<Vec<_>>()
    };
    controllers.iter().flat_map(addresses).collect()
}

/// Gives the cluster domain in an address, without its trailing dot.
pub(crate) fn domain_of(address: &str) -> Option<&str> {
    let (_, rest) = address.split_once(".svc.")?;
    let domain = rest.split(['/', ':']).next()?.trim_end_matches('.');
    (!domain.is_empty()).then_some(domain)
}

/// An address of a controller whose cluster domain looks mistyped.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct OddDomain {
    /// The controllers that state it.
    pub controllers: Vec<String>,
    /// The domain.
    pub domain: String,
    /// What the others state, or what it may have been meant to be.
    pub expected: String,
}

/// Lists cluster domains that look mistyped: those that most controllers do not state, and those that are nearly the
/// default.
pub fn odd_domains(manifest: &Generated<'_>, options: &Options, default: &str) -> Vec<OddDomain> {
    let mut odd: BTreeMap<(String, String), Vec<String>> = BTreeMap::new();
    for controller in manifest.controllers() {
        for domain in domains(std::slice::from_ref(controller)) {
            let expected = if domain != options.cluster_domain {
                &options.cluster_domain
            } else if is_nearly(&domain, default) {
                default
            } else {
                continue;
            };
            let controllers = odd.entry((domain, expected.to_owned())).or_default();
            if controllers.last().is_none_or(|last| last != controller.name) {
                controllers.push(controller.name.to_owned());
            }
        }
    }
    let entry = |((domain, expected), controllers)| OddDomain {
        controllers,
        domain,
        expected,
    };
    odd.into_iter().map(entry).collect()
}

/// Tells whether a word differs from another in one or two letters.
fn is_nearly(word: &str, meant: &str) -> bool {
    let meant: Vec<char> = meant.chars().collect();
    let mut row: Vec<usize> = (0..=meant.len()).collect();
    for (line, letter) in word.chars().enumerate() {
        let mut above = std::mem::replace(&mut row[0], line + 1);
        for (column, other) in meant.iter().enumerate() {
            let replaced = above + usize::from(letter != *other);
            above = row[column + 1];
            row[column + 1] = replaced.min(above + 1).min(row[column] + 1);
        }
    }
    matches!(row.last(), Some(1 | 2))
}

fn registry(controller: &Controller<'_>) -> Option<String> {
    let image = controller.image()?;
    (image.name == controller.name && !image.registry.is_empty()).then(|| image.registry.to_owned())
}

fn pull_secret(controller: &Controller<'_>) -> Option<String> {
    let mut secrets = controller.pod.get("imagePullSecrets")?.items();
    let name = secrets.next()?.get("name")?.as_str()?.to_owned();
    secrets.next().is_none().then_some(name)
}

/// Gives the keys of tolerations as the generator writes them: key and `operator: Exists`, nothing else.
fn tolerations(controller: &Controller<'_>) -> Option<Vec<String>> {
    let key = |item: NodeRef<'_>| {
        let exists = item.get("operator").and_then(NodeRef::as_str) == Some("Exists");
        (exists && item.entries().len() == 2)
            .then(|| item.get("key")?.as_str().map(ToOwned::to_owned))
            .flatten()
    };
    controller.pod.get("tolerations")?.items().map(key).collect()
}

fn watches_all(controller: &Controller<'_>) -> Option<bool> {
    controller.argument("watch-all-namespaces")?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options() -> Options {
        Options::defaults(&Catalog::flux().unwrap())
    }

    #[test]
    fn the_record_has_the_words_of_the_generators_options() {
        let text = serde_json::to_string(&options()).unwrap();
        let expected = r#"{"namespace":"flux-system","components":["source-controller","kustomize-controller","helm-controller","notification-controller"],"networkPolicies":true,"clusterDomain":"cluster.local","tolerationKeys":[],"registry":"ghcr.io/fluxcd","imagePullSecret":null,"logLevel":"info","watchAllNamespaces":true}"#;
        assert_eq!(text, expected);
        assert_eq!(serde_json::from_str::<Options>(&text).unwrap(), options());
    }

    #[test]
    fn a_value_needs_more_than_half_of_its_carriers() {
        let vote = |carriers: &[Option<&'static str>]| majority(carriers.iter().copied());
        assert_eq!(vote(&[Some("a"), Some("a"), Some("b")]), Some("a"));
        assert_eq!(vote(&[Some("a"), Some("b")]), None);
        assert_eq!(vote(&[Some("a"), None, None]), None);
        assert_eq!(vote(&[Some("a")]), Some("a"));
        assert_eq!(vote(&[]), None);
    }

    #[test]
    fn the_domain_ends_before_dot_slash_and_port() {
        assert_eq!(
            domain_of("http://notification-controller.flux-system.svc.cluster.local./"),
            Some("cluster.local")
        );
        assert_eq!(
            domain_of("source-controller.$(RUNTIME_NAMESPACE).svc.corp:9090"),
            Some("corp")
        );
        for address in ["http://notification-controller/", "", "a.svc."] {
            assert_eq!(domain_of(address), None, "{address}");
        }
    }

    #[test]
    fn a_domain_is_nearly_another_with_one_or_two_letters_changed() {
        for word in ["cluster-local", "clusterlocal", "cluster.locla", "clustr.local"] {
            assert!(is_nearly(word, "cluster.local"), "{word}");
        }
        for word in ["cluster.local", "corp.internal", "local", "cluster.lan", ""] {
            assert!(!is_nearly(word, "cluster.local"), "{word}");
        }
    }

    #[test]
    fn values_that_would_break_a_manifest_are_named() {
        assert_eq!(options().unusable(), None);
        for namespace in ["", "a b", "a: b", "a\n", "'a", "{a", "a:"] {
            let options = Options {
                namespace: namespace.to_owned(),
                ..options()
            };
            assert_eq!(options.unusable(), Some(("namespace", namespace)));
        }
        let templated = Options {
            registry: "${REGISTRY}/flux".to_owned(),
            ..options()
        };
        assert_eq!(templated.unusable(), None);
    }
}
