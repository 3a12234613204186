//! The walk through what names fields of objects that stand elsewhere: operations of JSON patches, field paths.

use refit_manifest::edit::Splice;
use refit_manifest::parse::{Kind, NodeRef};
use refit_manifest::{Document, Stream};

use super::super::inside::Inside;
use super::super::{Frame, Pointed, PointerForm, Pointers, Target, Trust, Visit};
use super::{FOLDED, Walker, Within};

const RENDERED: &str = "a chart makes the objects that it is for, in the form of its own version";

impl<V: Visit> Walker<'_, V> {
    /// Walks through a list of operations.
    pub(super) fn operations(
        &mut self,
        frame: &Frame<'_>,
        list: NodeRef<'_>,
        within: &Within<'_>,
        out: &mut Vec<Splice>,
    ) {
        let pointed = self.pointers(frame, (PointerForm::Operations, list), within);
        out.extend(pointed.splices);
        let inner = Within {
            targets: &[],
            ..within.clone()
        };
        for (_, item) in list
            .items()
            .enumerate()
            .filter(|(index, _)| !pointed.gone.contains(index))
        {
            self.node(frame, ("", item), &inner, out);
        }
    }

    /// Looks for field paths of replacements and variables in a mapping.
    pub(super) fn field_paths(
        &mut self,
        frame: &Frame<'_>,
        node: NodeRef<'_>,
        within: &Within<'_>,
        out: &mut Vec<Splice>,
    ) {
        if !within.selects {
            return;
        }
        let source = node.get("fieldPath").map(|path| (node, vec![path]));
        let written = node.get("select").zip(node.get("fieldPaths"));
        let written = written.map(|(select, paths)| (select, paths.items().collect()));
        let variable = node.get("objref").zip(node.at(&["fieldref", "fieldpath"]));
        let variable = variable.map(|(select, path)| (select, vec![path]));
        for (select, paths) in [source, written, variable].into_iter().flatten() {
            let targets = [Target::read(select).completed(self.interest)];
            let within = Within {
                targets: &targets,
                ..within.clone()
            };
            for path in paths {
                out.extend(self.pointers(frame, (PointerForm::FieldPath, path), &within).splices);
            }
        }
    }

    fn pointers(
        &mut self,
        frame: &Frame<'_>,
        (form, node): (PointerForm, NodeRef<'_>),
        within: &Within<'_>,
    ) -> Pointed {
        let trust = match &within.trust {
            Trust::Certain if within.is_rendered => Trust::Review(RENDERED),
            trust => trust.clone(),
        };
        self.visit.pointers(&Pointers {
            node,
            form,
            targets: within.targets,
            within: within.holder,
            trust,
            frame,
        })
    }

    /// Looks through the operations of a patch whose lines are folded.
    pub(super) fn folded(&mut self, frame: &Frame<'_>, node: NodeRef<'_>, within: &Within<'_>) {
        let inside = Inside::folded(node).filter(|_| !within.targets.is_empty());
        let stream = inside
            .as_ref()
            .and_then(|inside| Stream::split(inside.text.as_bytes().into()).ok());
        let (Some(inside), Some(stream)) = (inside, stream) else {
            return;
        };
        let outer = Some((frame, &inside));
        let within = Within {
            trust: match &within.trust {
                Trust::Never(reason) => Trust::Never(reason),
                _ => Trust::Review(FOLDED),
            },
            ..within.clone()
        };
        for root in stream.documents().iter().filter_map(Document::root) {
            if let Kind::Sequence(_) = root.kind() {
                self.pointers(&Frame { outer }, (PointerForm::Operations, root), &within);
            }
        }
    }
}
