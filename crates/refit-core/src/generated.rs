//! Reads the objects of a generated manifest that evidence and options are taken from.
//!
//! In: a stream and the catalog. Out: a [`Generated`]: header, objects with their component and version label, the
//! controllers with pod and container. Definitions are scanned as text and parsed only where their text is unusual.
//! Decides nothing about the version.

mod definition;
mod header;
mod image;

use std::sync::Arc;

use refit_manifest::parse::NodeRef;
use refit_manifest::{Document, Identity, Stream};

pub use definition::{Definition, Served};
pub use header::Header;
pub use image::Image;

use crate::catalog::Catalog;

/// The label that states the release.
pub const VERSION_LABEL: &str = "app.kubernetes.io/version";
/// The label that states the component.
pub const COMPONENT_LABEL: &str = "app.kubernetes.io/component";
/// The label that states the platform.
pub const PART_OF_LABEL: &str = "app.kubernetes.io/part-of";

/// A generated manifest, read.
#[derive(Debug)]
pub struct Generated<'a> {
    /// The comments at its top.
    pub header: Header,
    /// Its objects in their order.
    pub parts: Vec<Part<'a>>,
}

/// One object of a manifest.
#[derive(Debug)]
pub struct Part<'a> {
    /// The place of the document in the stream.
    pub at: usize,
    /// The document.
    pub document: &'a Document,
    /// What object it is.
    pub identity: &'a Identity,
    /// The value of the version label.
    pub version_label: Option<Arc<str>>,
    /// The component that the object belongs to; `None` for what all components share.
    pub component: Option<Arc<str>>,
    /// What it is for a plane.
    pub role: Role<'a>,
}

/// What an object is for a plane.
#[derive(Debug)]
pub enum Role<'a> {
    /// A CustomResourceDefinition.
    Definition(Definition),
    /// The Deployment of a component.
    Controller(Controller<'a>),
    /// Anything else.
    Other,
}

/// The Deployment of a component.
#[derive(Clone, Copy, Debug)]
pub struct Controller<'a> {
    /// The name, which is the component's.
    pub name: &'a str,
    /// The pod's `spec`.
    pub pod: NodeRef<'a>,
    /// The container `manager`, or the first one.
    pub container: NodeRef<'a>,
}

impl<'a> Controller<'a> {
    /// Gives the container's image.
    pub fn image(&self) -> Option<Image<'a>> {
        self.image_text().map(Image::read)
    }

    /// Gives the text of the container's image.
    pub fn image_text(&self) -> Option<&'a str> {
        self.container.get("image").and_then(NodeRef::as_str)
    }

    /// Lists the nodes of the container's arguments.
    pub fn arguments(&self) -> impl Iterator<Item = NodeRef<'a>> {
        self.container.get("args").into_iter().flat_map(NodeRef::items)
    }

    /// Gives the value of the argument `--name=value`.
    pub fn argument(&self, name: &str) -> Option<&'a str> {
        self.arguments()
            .filter_map(NodeRef::as_str)
            .find_map(|text| value_of(text, name))
    }
}

/// Gives the value in the text `--name=value`.
pub fn value_of<'a>(argument: &'a str, name: &str) -> Option<&'a str> {
    argument.strip_prefix("--")?.strip_prefix(name)?.strip_prefix('=')
}

impl<'a> Generated<'a> {
    /// Reads a stream; documents without an identity are left out.
    pub fn read(stream: &'a Stream, catalog: &Catalog) -> Self {
        let documents = stream.documents().iter().enumerate();
        let parts = documents
            .filter_map(|(at, document)| part(at, document, catalog))
            .collect();
        Self {
            header: Header::read(stream),
            parts,
        }
    }

    /// Lists the Deployments of components.
    pub fn controllers(&self) -> impl Iterator<Item = &Controller<'a>> {
        self.parts.iter().filter_map(|part| match &part.role {
            Role::Controller(controller) => Some(controller),
            _ => None,
        })
    }

    /// Lists the definitions with the names of their CRDs.
    pub fn definitions(&self) -> impl Iterator<Item = (&'a str, &Definition)> {
        self.parts.iter().filter_map(|part| match &part.role {
            Role::Definition(definition) => Some((part.identity.name.as_ref(), definition)),
            _ => None,
        })
    }
}

fn part<'a>(at: usize, document: &'a Document, catalog: &Catalog) -> Option<Part<'a>> {
    let identity = document.identity()?;
    let mut part = Part {
        at,
        document,
        identity,
        version_label: None,
        component: None,
        role: Role::Other,
    };
    if identity.kind.as_ref() == "CustomResourceDefinition" {
        read_definition(&mut part, catalog);
    } else if let Some(root) = document.root() {
        read_object(&mut part, root, catalog);
    }
    Some(part)
}

fn read_definition(part: &mut Part<'_>, catalog: &Catalog) {
    let definition = Definition::read(part.document);
    part.version_label.clone_from(&definition.version_label);
    let known = catalog
        .resource(&part.identity.name)
        .map(|resource| resource.component.as_str().into());
    part.component = definition.component_label.clone().or(known);
    part.role = Role::Definition(definition);
}

fn read_object<'a>(part: &mut Part<'a>, root: NodeRef<'a>, catalog: &Catalog) {
    let label = |name: &str| root.at(&["metadata", "labels", name]).and_then(NodeRef::as_str);
    part.version_label = label(VERSION_LABEL).map(Into::into);
    let name = part.identity.name.as_ref();
    let is_component = |name: &&str| catalog.component(name).is_some();
    let by_kind = match part.identity.kind.as_ref() {
        "Deployment" | "ServiceAccount" => Some(name).filter(is_component),
        "Service" => root
            .at(&["spec", "selector", "app"])
            .and_then(NodeRef::as_str)
            .filter(is_component),
        _ => None,
    };
    part.component = label(COMPONENT_LABEL).or(by_kind).map(Into::into);
    let of_platform =
        part.component.as_deref() == Some(name) || label(PART_OF_LABEL) == Some(catalog.platform().as_str());
    if part.identity.kind.as_ref() == "Deployment" && of_platform {
        part.component = Some(name.into());
        part.role = controller(name, root).map_or(Role::Other, Role::Controller);
    }
}

fn controller<'a>(name: &'a str, root: NodeRef<'a>) -> Option<Controller<'a>> {
    let pod = root.at(&["spec", "template", "spec"])?;
    let containers = || pod.get("containers").into_iter().flat_map(NodeRef::items);
    let named = |node: &NodeRef<'_>| node.get("name").and_then(|name| name.as_str()) == Some("manager");
    let container = containers().find(named).or_else(|| containers().next())?;
    Some(Controller { name, pod, container })
}
