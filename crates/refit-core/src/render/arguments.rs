//! Arguments and image of a controller's container.

use refit_manifest::edit::Splice;
use refit_manifest::parse::NodeRef;

use super::text::{lines, replace};
use crate::generated::{Controller, value_of};
use crate::options::{Options, domain_of};

/// The component that events are sent to.
const EVENTS: &str = "notification-controller";
/// The component whose presence brings a feature gate to others.
const WATCHER: &str = "source-watcher";
/// That feature gate.
const WATCHER_GATE: &str = "--feature-gates=ExternalArtifact=true";

/// Changes arguments and image from the given to the wanted options.
pub(super) fn change(controller: &Controller<'_>, given: &Options, wanted: &Options) -> Vec<Splice> {
    let arguments = controller.arguments().filter_map(|node| argument(node, given, wanted));
    arguments.chain(image(controller, given, wanted)).collect()
}

fn argument(node: NodeRef<'_>, given: &Options, wanted: &Options) -> Option<Splice> {
    let text = node.as_str()?;
    if text == WATCHER_GATE && given.has(WATCHER) && !wanted.has(WATCHER) {
        return Some(Splice {
            range: lines(node.bytes(), node.full_span()),
            text: String::new(),
        });
    }
    let changed = if let Some(address) = value_of(text, "events-addr") {
        format!("--events-addr={}", events_address(address, given, wanted))
    } else if let Some(address) = value_of(text, "storage-adv-addr") {
        format!("--storage-adv-addr={}", with_domain(address, wanted))
    } else if value_of(text, "log-level") == Some(given.log_level.as_str()) {
        format!("--log-level={}", wanted.log_level)
    } else if value_of(text, "watch-all-namespaces").is_some() {
        format!("--watch-all-namespaces={}", wanted.watch_all_namespaces)
    } else {
        return None;
    };
    scalar(node, text, &changed)
}

/// Gives the address that events are sent to; empty when nobody receives them.
fn events_address(address: &str, given: &Options, wanted: &Options) -> String {
    if !wanted.has(EVENTS) {
        return String::new();
    }
    let from = format!("{EVENTS}.{}.", given.namespace);
    let to = format!("{EVENTS}.{}.", wanted.namespace);
    with_domain(&address.replace(&from, &to), wanted)
}

fn with_domain(address: &str, wanted: &Options) -> String {
    match domain_of(address) {
        Some(domain) => address.replace(&format!(".svc.{domain}"), &format!(".svc.{}", wanted.cluster_domain)),
        None => address.to_owned(),
    }
}

fn image(controller: &Controller<'_>, given: &Options, wanted: &Options) -> Option<Splice> {
    let node = controller.container.get("image")?;
    let text = node.as_str()?;
    let rest = text.strip_prefix(given.registry.as_str())?;
    (rest.starts_with('/')).then(|| scalar(node, text, &format!("{}{rest}", wanted.registry)))?
}

/// Replaces the text of a scalar, in the quotes that it has.
fn scalar(node: NodeRef<'_>, text: &str, changed: &str) -> Option<Splice> {
    let written = node.source().replacen(text, changed, 1);
    replace(node.bytes(), node.span(), written)
}
