//! Writes what the generator would write with given options.
//!
//! In: manifests of one release that hold a superset of its components, and options. Out: the bytes, made of the
//! manifest by splices, and what the manifest lacks. Does not know where the manifests came from.

mod arguments;
mod order;
mod pod;
mod text;

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use refit_manifest::Stream;
use refit_manifest::edit::{self, Splice};
use refit_manifest::parse::{Kind, Layout, NodeRef};

use crate::catalog::Catalog;
use crate::generated::{Controller, Generated, Part, Role};
use crate::options::{NETWORK_POLICIES, Options, recover};

/// A manifest with the wanted options.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rendered {
    /// The manifest.
    pub bytes: Arc<[u8]>,
    /// Wanted components, and `network-policies`, that no given manifest has.
    pub missing: Vec<String>,
}

/// Why nothing can be rendered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// No manifest was given.
    #[error("no manifest of the release was given; hint: add a catalog source that has it with `--catalog DIR`")]
    NoManifest,
    /// An option has a value that cannot stand in a manifest.
    #[error("the {name} `{value}` cannot stand in a manifest; hint: write it without blanks and quotes")]
    Option {
        /// The option.
        name: &'static str,
        /// Its value.
        value: String,
    },
    /// A document that is needed cannot be parsed.
    #[error("document {number} of the release manifest cannot be read; hint: fetch it again")]
    Document {
        /// The document, counted from 1.
        number: usize,
        /// What the parser says.
        source: refit_manifest::parse::Error,
    },
    /// A controller is not laid out as the generator does.
    #[error("`{name}` of the release manifest is not written in blocks; hint: take the file that the generator wrote")]
    Layout {
        /// The controller.
        name: String,
    },
    /// Two edits of the manifest touch each other.
    #[error("the release manifest has an unusual form; hint: fetch it again")]
    Form {
        /// Where.
        source: edit::Error,
    },
}

/// Renders a release with options; of several manifests the one that lacks the least is taken.
pub fn render(manifests: &[Stream], options: &Options, catalog: &Catalog) -> Result<Rendered, Error> {
    if let Some((name, value)) = options.unusable() {
        return Err(Error::Option {
            name,
            value: value.to_owned(),
        });
    }
    let read = manifests
        .iter()
        .map(|stream| (stream, Generated::read(stream, catalog)));
    let with_missing = read.map(|(stream, manifest)| {
        let given = recover(&manifest, catalog);
        let missing = missing(&given, options);
        (stream, manifest, given, missing)
    });
    let best = with_missing.min_by_key(|(_, _, _, missing)| missing.len());
    let (stream, manifest, given, missing) = best.ok_or(Error::NoManifest)?;
    check(stream)?;
    let change = Change {
        stream,
        given: &given,
        wanted: options,
        catalog,
    };
    let mut splices = change.header(&manifest, &missing);
    for part in &manifest.parts {
        splices.extend(change.part(part)?);
    }
    let order = order::arrange(&manifest, stream.documents().len(), &options.components);
    let bytes = write(stream, &splices, order).map_err(|source| Error::Form { source })?;
    Ok(Rendered { bytes, missing })
}

/// Applies the splices, and moves the documents where an order is given.
fn write(stream: &Stream, splices: &[Splice], order: Option<Vec<usize>>) -> Result<Arc<[u8]>, edit::Error> {
    let Some(order) = order else {
        return edit::apply(stream.bytes(), splices);
    };
    let mut bytes = Vec::with_capacity(stream.bytes().len());
    for document in order.into_iter().filter_map(|at| stream.documents().get(at)) {
        let span = document.span();
        let own = splices
            .iter()
            .filter(|splice| span.start <= splice.range.start && splice.range.end <= span.end);
        let moved = own.map(|splice| Splice {
            range: splice.range.start - span.start..splice.range.end - span.start,
            text: splice.text.clone(),
        });
        bytes.extend_from_slice(&edit::apply(&stream.bytes()[span.clone()], &moved.collect::<Vec<_>>())?);
    }
    Ok(bytes.into())
}

/// Refuses a manifest with a document that is neither plain enough to be scanned nor parses.
fn check(stream: &Stream) -> Result<(), Error> {
    for (at, document) in stream.documents().iter().enumerate() {
        if !document.is_empty() && document.identity().is_none() {
            document.parsed().map_err(|source| Error::Document {
                number: at + 1,
                source: source.clone(),
            })?;
        }
    }
    Ok(())
}

fn missing(given: &Options, wanted: &Options) -> Vec<String> {
    let mut missing: Vec<String> = wanted
        .components
        .iter()
        .filter(|name| !given.has(name))
        .cloned()
        .collect();
    if wanted.network_policies && !given.network_policies {
        missing.push(NETWORK_POLICIES.to_owned());
    }
    missing
}

/// From the options of a manifest to the wanted ones.
struct Change<'a> {
    stream: &'a Stream,
    given: &'a Options,
    wanted: &'a Options,
    catalog: &'a Catalog,
}

impl Change<'_> {
    /// Lets the header name the components of the result.
    fn header(&self, manifest: &Generated<'_>, missing: &[String]) -> Vec<Splice> {
        let Some(range) = manifest.header.components_span.clone() else {
            return Vec::new();
        };
        let missing: BTreeSet<&str> = missing.iter().map(String::as_str).collect();
        let present = self
            .wanted
            .components
            .iter()
            .map(String::as_str)
            .filter(|name| !missing.contains(name));
        let list = present.collect::<Vec<_>>().join(",");
        text::replace(self.stream.bytes(), range, list).into_iter().collect()
    }

    fn part(&self, part: &Part<'_>) -> Result<Vec<Splice>, Error> {
        if self.is_dropped(part) {
            return Ok(vec![Splice {
                range: part.document.span(),
                text: String::new(),
            }]);
        }
        Ok(match &part.role {
            Role::Definition(_) => text::namespace(text::before_spec(part.document), self.stream, self.names()),
            Role::Other => text::namespace(part.document.body(), self.stream, self.names()),
            Role::Controller(controller) => self.controller(controller, part.document.body())?,
        })
    }

    fn controller(&self, controller: &Controller<'_>, body: Range<usize>) -> Result<Vec<Splice>, Error> {
        let args = controller.container.get("args");
        let in_blocks = |node: &NodeRef<'_>| {
            matches!(
                node.kind(),
                Kind::Mapping(Layout::Block) | Kind::Sequence(Layout::Block)
            )
        };
        if !args.iter().chain([&controller.pod]).all(in_blocks) {
            return Err(Error::Layout {
                name: controller.name.to_owned(),
            });
        }
        let mut splices = arguments::change(controller, self.given, self.wanted);
        splices.extend(pod::change(controller, self.given, self.wanted));
        let args = args.map_or(body.end..body.end, NodeRef::span);
        splices.extend(text::namespace(body.start..args.start, self.stream, self.names()));
        splices.extend(text::namespace(args.end..body.end, self.stream, self.names()));
        Ok(splices)
    }

    fn is_dropped(&self, part: &Part<'_>) -> bool {
        let unwanted = part.component.as_deref().is_some_and(|name| !self.wanted.has(name));
        let policy = !self.wanted.network_policies
            && self
                .catalog
                .is_in_group(NETWORK_POLICIES, &part.identity.kind, &part.identity.name);
        unwanted || policy
    }

    fn names(&self) -> (&str, &str) {
        (&self.given.namespace, &self.wanted.namespace)
    }
}
