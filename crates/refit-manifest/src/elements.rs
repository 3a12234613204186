//! Elements of collections: where each stands, and the splices that put one in or take one out.
//!
//! In: a collection as written, texts for new elements. Out: splices. Comments go with the element that they precede.

use crate::edit::Splice;
use crate::layout;
use crate::parse::{Kind, Layout, NodeRef};

/// An entry of a mapping or an item of a sequence of ours.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Element<'a> {
    /// Where the key or the dash begins (in flow style: where key or item begins).
    pub(crate) start: usize,
    /// The value or the item.
    pub(crate) value: NodeRef<'a>,
    /// The end of key and value.
    pub(crate) end: usize,
}

/// Lists the elements of a collection as they are written.
pub(crate) fn elements(node: NodeRef<'_>) -> Vec<Element<'_>> {
    match node.kind() {
        Kind::Sequence(Layout::Block) => node
            .items()
            .map(|item| Element {
                start: layout::dash(item).unwrap_or(item.full_span().start),
                value: item,
                end: layout::content_end(item),
            })
            .collect(),
        Kind::Sequence(Layout::Flow) => node
            .items()
            .map(|item| Element {
                start: item.full_span().start,
                value: item,
                end: item.full_span().end,
            })
            .collect(),
        _ => node
            .entries()
            .map(|(key, value)| Element {
                start: key.full_span().start,
                value,
                end: layout::content_end(value).max(key.full_span().end),
            })
            .collect(),
    }
}

/// Where a new element goes, by the index of an element of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spot {
    After(usize),
    Before(usize),
}

/// Inserts whole lines at the start of a line, or at the end of a file that lacks the last line end.
pub(crate) fn insert_lines(bytes: &[u8], at: usize, lines: &str) -> Splice {
    let text = if at == bytes.len() && at > 0 && bytes[at - 1] != b'\n' {
        format!("\n{}", lines.strip_suffix('\n').unwrap_or(lines))
    } else {
        lines.to_owned()
    };
    Splice { range: at..at, text }
}

/// Inserts whole lines that were written for the column of the elements.
pub(crate) fn insert_block(all: &[Element<'_>], spot: Spot, lines: &str) -> Splice {
    match spot {
        Spot::After(index) => {
            let element = all[index];
            insert_lines(element.value.bytes(), after_lines(element), lines)
        }
        Spot::Before(index) => {
            let element = all[index];
            let bytes = element.value.bytes();
            if layout::first_on_line(bytes, element.start) {
                return insert_lines(bytes, lead_of(all, index), lines);
            }
            let column = layout::column(bytes, element.start);
            Splice {
                range: element.start..element.start,
                text: format!("{}{:column$}", lines.trim_start_matches(' '), ""),
            }
        }
    }
}

/// Inserts an element into a flow collection, parted like its neighbours.
pub(crate) fn insert_flow(all: &[Element<'_>], spot: Spot, text: &str) -> Splice {
    match spot {
        Spot::After(index) => {
            let gap = gap_of(all, index);
            let end = all[index].end;
            Splice {
                range: end..end,
                text: format!(",{gap}{text}"),
            }
        }
        Spot::Before(index) => {
            let gap = gap_of(all, index);
            let start = all[index].start;
            Splice {
                range: start..start,
                text: format!("{text},{gap}"),
            }
        }
    }
}

/// Takes elements out; at least one must stay, or lines must come in their place. The error says why none can go.
pub(crate) fn remove(layout_of: Layout, all: &[Element<'_>], gone: &[bool]) -> Result<Vec<Splice>, &'static str> {
    let first_staying = gone.iter().position(|gone| !gone).unwrap_or(all.len());
    let mut out = Vec::new();
    for index in (0..all.len()).filter(|index| gone[*index]) {
        match layout_of {
            Layout::Block => out.extend(remove_block(all, first_staying, index)?),
            Layout::Flow => out.push(remove_flow(all, first_staying, index)?),
        }
    }
    Ok(out)
}

fn remove_block(all: &[Element<'_>], first_staying: usize, index: usize) -> Result<Option<Splice>, &'static str> {
    let element = all[index];
    let bytes = element.value.bytes();
    let cut = |range| {
        let text = String::new();
        Ok(Some(Splice { range, text }))
    };
    if layout::first_on_line(bytes, element.start) {
        let in_first_run = index > 0 && index < first_staying;
        if in_first_run && !layout::first_on_line(bytes, all[0].start) {
            // The splice of the first key behind the dash takes the whole run.
            return Ok(None);
        }
        return cut(lead_of(all, index)..after_lines(element));
    }
    // The first key behind a dash: the first one that stays takes its place.
    match all.get(first_staying) {
        Some(next) => cut(element.start..next.start),
        None => Err("all keys of a list item would go"),
    }
}

fn remove_flow(all: &[Element<'_>], first_staying: usize, index: usize) -> Result<Splice, &'static str> {
    let range = match (index > first_staying, all.get(index + 1)) {
        (true, _) => all[index - 1].end..all[index].end,
        (false, Some(next)) => all[index].start..next.start,
        (false, None) => return Err("all elements of a flow collection would go"),
    };
    let text = String::new();
    Ok(Splice { range, text })
}

/// Replaces the value behind a colon or dash by the rest of a line and whole lines.
pub(crate) fn replace_slot(old: NodeRef<'_>, start: usize, (inline, lines): (&str, &str)) -> Vec<Splice> {
    let bytes = old.bytes();
    let end = layout::content_end(old).max(start);
    if !bytes[start..end].contains(&b'\n') {
        let text = inline.to_owned();
        let mut out = vec![Splice {
            range: start..end,
            text,
        }];
        if !lines.is_empty() {
            out.push(insert_lines(bytes, layout::line_end(bytes, end), lines));
        }
        return out;
    }
    let lines = lines.strip_suffix('\n').unwrap_or(lines);
    let comment = layout::comment_behind(bytes, start);
    let text = if lines.is_empty() {
        format!("{inline}{comment}")
    } else {
        format!("{inline}{comment}\n{lines}")
    };
    vec![Splice {
        range: start..end,
        text,
    }]
}

/// Gives the offset behind the lines of an element, with the blank lines that its block scalar keeps.
fn after_lines(element: Element<'_>) -> usize {
    let at = layout::line_end(element.value.bytes(), element.end);
    if keeps_more(element.value, at) {
        element.value.span().end
    } else {
        at
    }
}

/// Gives where the comment lines above an element begin, behind the element before it.
fn lead_of(all: &[Element<'_>], index: usize) -> usize {
    let bytes = all[index].value.bytes();
    let floor = index
        .checked_sub(1)
        .map_or(0, |at| layout::line_end(bytes, all[at].end));
    layout::lead_start(bytes, all[index].start, floor)
}

/// Tells whether a block scalar keeps blank lines behind an offset.
fn keeps_more(node: NodeRef<'_>, at: usize) -> bool {
    let keeps = node.source().lines().next().is_some_and(|header| header.contains('+'));
    matches!(
        node.kind(),
        Kind::Scalar(crate::scalar::Style::Literal | crate::scalar::Style::Folded)
    ) && keeps
        && node.span().end > at
}

/// Gives the blanks that part elements of a flow collection: those before the second element, else before the first.
fn gap_of(all: &[Element<'_>], index: usize) -> String {
    let bytes = all[index].value.bytes();
    let element = if all.len() > 1 { &all[index.max(1)] } else { &all[0] };
    let blanks = bytes[..element.start]
        .iter()
        .rev()
        .take_while(|byte| byte.is_ascii_whitespace())
        .count();
    let gap = String::from_utf8_lossy(&bytes[element.start - blanks..element.start]).replace("\r\n", "\n");
    if gap.is_empty() { " ".to_owned() } else { gap }
}
