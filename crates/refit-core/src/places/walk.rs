//! The walk through a file and the texts inside it.

mod pointers;

use refit_kustomize::reach;
use refit_manifest::edit::{self, Splice};
use refit_manifest::parse::{Kind, NodeRef};
use refit_manifest::{Document, Path, Stream};

use super::inside::Inside;
use super::interest::{Interest, Owner};
use super::shape::{self, Head};
use super::{Content, Frame, Place, Sort, Target, Trouble, TroubleSort, Trust, Visit};

/// The groups of kustomize, whose kustomizations hold patches and selectors.
const KUSTOMIZE: &str = "kustomize.config.k8s.io";

/// The groups whose objects hold templates of objects, rendered and applied as they are.
const TEMPLATES: [&str; 2] = ["templates.weave.works", "capi.weave.works"];

/// The deepest nesting of texts within texts.
const DEPTH_LIMIT: usize = 4;

/// From how many bytes on a search through the text of a collection is worth it.
const LARGE: usize = 256;

const SEALED: &str = "SOPS encrypted it, and its checksum covers the API version: change it with `sops`";
const PATTERN: &str = "it is a pattern that may mean several versions";
const NO_GROUP: &str = "it names no group, and other groups have the kind, too";
const STRANGE: &str = "it stands inside an object whose controller may expect it as it is";
const BRANCHES: &str = "several branches of a template write the type";
const TEXT: &str = "a text names the version; it is not known what reads it";
const FOLDED: &str = "the lines of the text that it stands in are folded, or its indentation is told by a number";
const ALIAS: &str = "the version is an alias, or others refer to it";
const BARE: &str = "its items do not say their version and kind: write both in each";
const UNSURE: &str = "the text that it stands in could not be rewritten safely";

/// Walks through the places of a file, and gives the splices of the visitor in coordinates of the file.
///
/// The content is what the documents are: objects, parts of them, or something else that a kustomization names.
pub fn walk<V: Visit>(
    path: &Path,
    (stream, content): (&Stream, &Content),
    interest: &Interest,
    visit: &mut V,
) -> Vec<Splice> {
    let mut walker = Walker {
        interest,
        visit,
        depth: 0,
    };
    let targets: Vec<Target> = match content {
        Content::Patch(targets) => targets
            .iter()
            .map(|target| target.clone().completed(interest))
            .collect(),
        _ => Vec::new(),
    };
    let within = Within {
        holder: "",
        trust: Trust::Certain,
        sort: match content {
            Content::Patch(_) => Sort::Patch,
            _ => Sort::Object,
        },
        selects: reach::is_kustomization(path) || *content == Content::Replacements,
        targets: &targets,
        is_rendered: false,
    };
    walker.text(&Frame { outer: None }, stream, &within)
}

struct Walker<'a, V> {
    interest: &'a Interest,
    visit: &'a mut V,
    depth: usize,
}

/// What is around a node.
#[derive(Clone)]
struct Within<'a> {
    /// The object around it.
    holder: &'a str,
    trust: Trust,
    /// What an object is that is found here.
    sort: Sort,
    /// Whether selectors without a group are those of kustomize.
    selects: bool,
    /// What a patch is for that stands here.
    targets: &'a [Target],
    /// Whether patches are for what a chart renders.
    is_rendered: bool,
}

impl<V: Visit> Walker<'_, V> {
    /// Walks through a text; the splices are over it.
    fn text(&mut self, frame: &Frame<'_>, stream: &Stream, within: &Within<'_>) -> Vec<Splice> {
        let mut splices = Vec::new();
        for document in stream.documents() {
            if !self.matters(document, within) {
                continue;
            }
            match document.parsed() {
                Ok(parsed) => {
                    if let Some(root) = parsed.root() {
                        self.root(frame, root, within, &mut splices);
                    }
                }
                Err(error) => self.visit.trouble(trouble(document, error)),
            }
        }
        splices
    }

    fn matters(&self, document: &Document, within: &Within<'_>) -> bool {
        let text = document.body_text().as_bytes();
        let names = self.interest.is_named_in(text)
            || !within.targets.is_empty()
            || (within.selects && self.interest.can_select(text));
        names && &*document.head().kind != "CustomResourceDefinition"
    }

    fn root(&mut self, frame: &Frame<'_>, root: NodeRef<'_>, within: &Within<'_>, out: &mut Vec<Splice>) {
        match root.kind() {
            Kind::Mapping(_) => self.object(frame, root, within, out),
            Kind::Sequence(_) if !within.targets.is_empty() => self.operations(frame, root, within, out),
            _ => self.node(frame, ("", root), within, out),
        }
    }

    /// Walks through an object or another mapping at the top of a text.
    fn object(&mut self, frame: &Frame<'_>, node: NodeRef<'_>, within: &Within<'_>, out: &mut Vec<Splice>) {
        let head = shape::head(node);
        let mut around = within.clone();
        if shape::is_sealed(node) {
            around.trust = Trust::Never(SEALED);
        }
        let items = node
            .get("items")
            .filter(|_| head.is_some_and(|head| head.kind.ends_with("List")));
        if let (Some(head), Some(items)) = (head, items) {
            self.list(frame, (head, node), items, (&around, out));
            return;
        }
        let (first, mut own) = (self.visit.mark(), Vec::new());
        if let Some(head) = head.filter(|head| self.interest.has(head.group)) {
            let mut trust = around.trust.clone();
            if shape::is_branched(node) && trust == Trust::Certain {
                trust = Trust::Review(BRANCHES);
                for other in shape::other_branches(node, head) {
                    self.place(frame, (other, node, Sort::Reference, trust.clone()), &around, &mut own);
                }
            }
            self.place(frame, (head, node, within.sort, trust), &around, &mut own);
        }
        let marks = first..self.visit.mark();
        let inside = out.len();
        let described = match head {
            None if within.selects => "the kustomization".to_owned(),
            _ => shape::describe(node),
        };
        let inner = Within {
            holder: if within.holder.is_empty() {
                &described
            } else {
                within.holder
            },
            trust: self.trust_inside(head.as_ref(), &around),
            sort: Sort::Embedded,
            selects: within.selects
                || head.is_some_and(|head| head.group == KUSTOMIZE || self.interest.has(head.group)),
            targets: &[],
            is_rendered: head.is_some_and(|head| head.kind == "HelmRelease"),
        };
        let named = head.is_some_and(|head| self.interest.has(head.group));
        for (key, value) in node.entries() {
            let key = key.text().unwrap_or_default();
            if !(named && matches!(key, "apiVersion" | "kind")) {
                self.node(frame, (key, value), &inner, out);
            }
        }
        let version = head.map_or(0..0, |head| head.node.span());
        let is_version = |splice: &Splice| version.start <= splice.range.start && splice.range.end <= version.end;
        if out.len() > inside && !own.iter().all(is_version) {
            // A field that moves or is wrapped takes along what stands in it: that is edited first.
            self.visit.defer(marks);
        } else {
            out.append(&mut own);
        }
    }

    fn list(
        &mut self,
        frame: &Frame<'_>,
        (head, node): (Head<'_>, NodeRef<'_>),
        items: NodeRef<'_>,
        (within, out): (&Within<'_>, &mut Vec<Splice>),
    ) {
        if self.interest.has(head.group) {
            let of = Head {
                kind: head.kind.strip_suffix("List").unwrap_or(head.kind),
                ..head
            };
            let bare = |item: NodeRef<'_>| shape::head(item).is_none();
            let trust = match &within.trust {
                Trust::Certain if items.items().any(bare) => Trust::Review(BARE),
                trust => trust.clone(),
            };
            self.place(frame, (of, node, Sort::List, trust), within, out);
        }
        let inner = Within {
            sort: if within.sort == Sort::Object {
                Sort::Item
            } else {
                within.sort
            },
            ..within.clone()
        };
        for item in items.items().filter(|item| item.kind() != Kind::Alias) {
            self.object(frame, item, &inner, out);
        }
    }

    /// Tells how sure it is what an object inside this one means.
    fn trust_inside(&self, head: Option<&Head<'_>>, within: &Within<'_>) -> Trust {
        let known = |head: &Head<'_>| {
            self.interest.has(head.group)
                || head.group == KUSTOMIZE
                || TEMPLATES.contains(&head.group)
                || (head.group.is_empty() && matches!(head.kind, "ConfigMap" | "Secret"))
        };
        let is_known = head.map_or(within.selects || !within.holder.is_empty(), known);
        match &within.trust {
            Trust::Certain if !is_known => Trust::Review(STRANGE),
            trust => trust.clone(),
        }
    }

    /// Walks through what stands under a key.
    fn node(
        &mut self,
        frame: &Frame<'_>,
        (key, node): (&str, NodeRef<'_>),
        within: &Within<'_>,
        out: &mut Vec<Splice>,
    ) {
        match node.kind() {
            Kind::Alias => {}
            Kind::Scalar(_) => self.scalar(frame, (key, node), within, out),
            _ if self.is_idle(node, within) => {}
            Kind::Sequence(_) if !within.targets.is_empty() => self.operations(frame, node, within, out),
            Kind::Sequence(_) => {
                for item in node.items() {
                    self.node(frame, (key, item), within, out);
                }
            }
            Kind::Mapping(_) => self.mapping(frame, (key, node), within, out),
        }
    }

    /// Tells whether nothing in a large collection can be a place, so that nobody looks at each of its nodes.
    fn is_idle(&self, node: NodeRef<'_>, within: &Within<'_>) -> bool {
        let text = node.source().as_bytes();
        text.len() >= LARGE
            && within.targets.is_empty()
            && !node.parsed().is_masked()
            && !self.interest.can_stand_in(text)
    }

    fn mapping(
        &mut self,
        frame: &Frame<'_>,
        (key, node): (&str, NodeRef<'_>),
        within: &Within<'_>,
        out: &mut Vec<Splice>,
    ) {
        let typed = shape::head(node);
        if typed.is_some() && shape::is_object(node) {
            let sort = if key == "patchesStrategicMerge" {
                Sort::Patch
            } else {
                within.sort
            };
            self.object(frame, node, &Within { sort, ..within.clone() }, out);
            return;
        }
        let mut said: &[&str] = &[];
        if let Some(head) = typed.filter(|head| self.interest.has(head.group)) {
            // A reference may be written in any version that is served, whoever reads it.
            let trust = match &within.trust {
                Trust::Review(STRANGE) => Trust::Certain,
                trust => trust.clone(),
            };
            self.place(frame, (head, node, Sort::Reference, trust), within, out);
            said = &["apiVersion", "kind"];
        } else if let Some(head) = shape::selector(node).filter(|_| typed.is_none()) {
            self.target(frame, (head, node), within, out);
        }
        self.field_paths(frame, node, within, out);
        let targets: Vec<Target> = match node.get("target").filter(|_| within.selects) {
            Some(target) => vec![Target::read(target).completed(self.interest)],
            None => Vec::new(),
        };
        for (key, value) in node.entries() {
            let key = key.text().unwrap_or_default();
            let targets = if key == "patch" { &targets[..] } else { &[] };
            if !said.contains(&key) {
                self.node(
                    frame,
                    (key, value),
                    &Within {
                        targets,
                        ..within.clone()
                    },
                    out,
                );
            }
        }
    }

    fn target(
        &mut self,
        frame: &Frame<'_>,
        (head, node): (Head<'_>, NodeRef<'_>),
        within: &Within<'_>,
        out: &mut Vec<Splice>,
    ) {
        let (group, mut trust) = match self.interest.owner(head.kind) {
            _ if self.interest.has(head.group) => (head.group, within.trust.clone()),
            Owner::Group(group) if head.group.is_empty() && within.selects => (group, within.trust.clone()),
            Owner::Perhaps(group) if head.group.is_empty() && within.selects => (group, Trust::Review(NO_GROUP)),
            Owner::Group(group) | Owner::Perhaps(group) if !shape::is_plain(head.group) => {
                (group, Trust::Review(PATTERN))
            }
            _ => return,
        };
        if trust == Trust::Review(STRANGE) {
            trust = Trust::Certain;
        }
        let is_pattern = !shape::is_word(head.version) || !shape::is_word(head.kind);
        if is_pattern && !matches!(trust, Trust::Never(_)) {
            trust = Trust::Review(PATTERN);
        }
        let group = group.to_owned();
        self.place(
            frame,
            (Head { group: &group, ..head }, node, Sort::Target, trust),
            within,
            out,
        );
    }

    fn place(
        &mut self,
        frame: &Frame<'_>,
        (head, node, sort, trust): (Head<'_>, NodeRef<'_>, Sort, Trust),
        within: &Within<'_>,
        out: &mut Vec<Splice>,
    ) {
        let trust = match trust {
            Trust::Certain if sort != Sort::Mention && !shape::is_own(node, head.node) => Trust::Review(ALIAS),
            trust => trust,
        };
        out.extend(self.visit.place(&Place {
            sort,
            node,
            version_node: head.node,
            group: head.group,
            kind: head.kind,
            version: head.version,
            within: within.holder,
            trust,
            frame,
        }));
    }

    /// Walks through the text of a scalar, where it is one of documents.
    fn scalar(
        &mut self,
        frame: &Frame<'_>,
        (key, node): (&str, NodeRef<'_>),
        within: &Within<'_>,
        out: &mut Vec<Splice>,
    ) {
        let is_patch = !within.targets.is_empty();
        let matters = |text: &&str| is_patch || self.interest.is_named_in(text.as_bytes());
        let Some(text) = node.text().filter(matters) else {
            return;
        };
        if !shape::looks_structured(text) || self.depth >= DEPTH_LIMIT {
            return self.mentions(frame, node, (within, TEXT), out);
        }
        let Some(inside) = Inside::of(node) else {
            self.mentions(frame, node, (within, FOLDED), out);
            return self.folded(frame, node, within);
        };
        let stream = match Stream::split(inside.text.as_bytes().into()) {
            Ok(stream) if shape::is_structured(&stream) => stream,
            _ => return self.mentions(frame, node, (within, TEXT), out),
        };
        let inner = Within {
            sort: if key == "patch" || key == "patchesStrategicMerge" {
                Sort::Patch
            } else {
                within.sort
            },
            ..within.clone()
        };
        let mark = self.visit.mark();
        self.depth += 1;
        let splices = self.text(
            &Frame {
                outer: Some((frame, &inside)),
            },
            &stream,
            &inner,
        );
        self.depth -= 1;
        if splices.is_empty() {
            return;
        }
        match rewritten(node, &inside, splices) {
            Some(moved) => out.extend(moved),
            None => self.visit.withdraw(mark, UNSURE),
        }
    }

    fn mentions(
        &mut self,
        frame: &Frame<'_>,
        node: NodeRef<'_>,
        (within, reason): (&Within<'_>, &'static str),
        out: &mut Vec<Splice>,
    ) {
        let text = node.text().unwrap_or_default();
        for (_, group, version) in self.interest.named(text) {
            let head = Head {
                node,
                group,
                version,
                kind: "",
            };
            let trust = match &within.trust {
                Trust::Never(reason) => Trust::Never(reason),
                _ => Trust::Review(reason),
            };
            self.place(frame, (head, node, Sort::Mention, trust), within, out);
        }
    }
}

fn trouble(document: &Document, error: &refit_manifest::parse::Error) -> Trouble {
    use refit_manifest::parse::Error;
    let line = match error {
        Error::Syntax { line, .. }
        | Error::AliasLoop { line }
        | Error::TooManyAliases { line }
        | Error::TooDeep { line, .. } => *line,
    };
    Trouble {
        line,
        message: error.to_string(),
        sort: if document.body_text().contains("{{") {
            TroubleSort::Template
        } else {
            TroubleSort::Unreadable
        },
    }
}

/// Moves splices over the text of a scalar to the text around it, and reads the result again: `None` where the scalar
/// would not say what the splices make of it.
fn rewritten(scalar: NodeRef<'_>, inside: &Inside, splices: Vec<Splice>) -> Option<Vec<Splice>> {
    let wanted = edit::apply(inside.text.as_bytes(), &splices).ok()?;
    let moved = inside.splices(splices);
    let part = scalar.document_span();
    let start = scalar.span().start - part.start;
    let bytes = edit::apply_within(scalar.bytes(), part, &moved).ok()?;
    let stream = Stream::split(bytes).ok()?;
    let document = stream
        .documents()
        .iter()
        .find(|document| document.span().contains(&start))?;
    let found = shape::find_at(document.root()?, start)?;
    let text = Inside::of(found)?.text;
    // How many blank lines end a block depends on its header, and means nothing to what reads YAML.
    let plain = |text: &[u8]| text.trim_ascii_end().len();
    (text.as_bytes()[..plain(text.as_bytes())] == wanted[..plain(&wanted)]).then_some(moved)
}
