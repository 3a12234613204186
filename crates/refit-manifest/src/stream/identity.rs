//! Type and name of an object, without a parse where the text is plain.

use std::sync::Arc;

use super::Head;
use super::split::lines;
use crate::parse::NodeRef;

/// Reads the head from the lines of a body, down to the first key behind `metadata` when the type stands before it;
/// `None` where a line is of a shape that only the parser can judge.
pub(super) fn scan(body: &[u8]) -> Option<Head> {
    let mut head = Head::default();
    let mut in_metadata = false;
    let mut indent = None;
    let mut started = false;
    for (_, line) in lines(body, 0) {
        let line = trim_end(line);
        let depth = line.iter().take_while(|byte| **byte == b' ').count();
        let content = &line[depth..];
        if content.is_empty() || content[0] == b'#' {
            continue;
        }
        if depth > 0 && !started {
            return None;
        }
        started = true;
        if depth == 0 {
            if indent.is_some() && !head.kind.is_empty() && !head.api_version.is_empty() {
                return Some(head);
            }
            let (key, value) = split_key(content)?;
            in_metadata = key == b"metadata";
            match key {
                b"apiVersion" => head.api_version = simple(value)?,
                b"kind" => head.kind = simple(value)?,
                b"metadata" if !value.is_empty() => return None,
                b"<<" => return None,
                _ => {}
            }
        } else if in_metadata {
            let level = *indent.get_or_insert(depth);
            if depth < level {
                return None;
            }
            if depth == level {
                let (key, value) = split_key(content)?;
                match key {
                    b"name" => head.name = simple(value)?,
                    b"namespace" => head.namespace = simple(value)?,
                    b"<<" => return None,
                    _ => {}
                }
            }
        }
    }
    Some(head)
}

/// Reads the head from the parsed tree.
pub(super) fn read(root: NodeRef<'_>) -> Head {
    let text = |path: &[&str]| -> Arc<str> { root.at(path).and_then(NodeRef::text).unwrap_or_default().into() };
    Head {
        api_version: text(&["apiVersion"]),
        kind: text(&["kind"]),
        namespace: text(&["metadata", "namespace"]),
        name: text(&["metadata", "name"]),
    }
}

fn trim_end(line: &[u8]) -> &[u8] {
    let end = line
        .iter()
        .rposition(|byte| !matches!(byte, b' ' | b'\n' | b'\r'))
        .map_or(0, |at| at + 1);
    &line[..end]
}

/// Splits `key: value`; `None` for any other shape.
fn split_key(content: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = content.iter().position(|byte| *byte == b':')?;
    let key = &content[..end];
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'/' | b'-' | b'<');
    if key.is_empty() || key[0] == b'-' || !key.iter().all(plain) {
        return None;
    }
    match &content[end + 1..] {
        [] => Some((key, &[])),
        [b' ', value @ ..] => {
            let skip = value.iter().take_while(|byte| **byte == b' ').count();
            Some((key, &value[skip..]))
        }
        _ => None,
    }
}

/// Reads a scalar of one plain or quoted word; `None` for any other.
fn simple(value: &[u8]) -> Option<Arc<str>> {
    let value = std::str::from_utf8(value).ok()?;
    let value = match value.find(" #") {
        Some(comment) => value[..comment].trim_end(),
        None => value,
    };
    let inner = match value.as_bytes() {
        [quote @ (b'"' | b'\''), inner @ .., end] if quote == end => std::str::from_utf8(inner).ok()?,
        _ => value,
    };
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | '/' | ':');
    if inner.is_empty() || !inner.chars().all(plain) || inner.ends_with(':') {
        return None;
    }
    Some(inner.into())
}
