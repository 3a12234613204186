//! Masks template text with words of the same length, so that it parses and every offset still holds.
//!
//! In: text with `{{ … }}` or `${ … }`. Out: text of equal length (facts/yaml.md section 6). Lines that hold only
//! template actions become comments; other actions become plain words.

/// Tells whether a text holds anything to mask.
pub fn has_templates(text: &str) -> bool {
    text.contains("{{") || text.contains("${")
}

/// Gives the text with each template action replaced by as many bytes of a word or comment.
pub fn mask(text: &str) -> String {
    let mut out = text.as_bytes().to_vec();
    let mut at = 0;
    while let Some((start, end)) = next_action(text, at) {
        out[start..end].fill(b'x');
        keep_line_ends(text, &mut out, start, end);
        at = end;
    }
    comment_action_lines(text, &mut out);
    String::from_utf8(out).unwrap_or_else(|_| text.to_owned())
}

/// Finds the next action at or after an offset.
fn next_action(text: &str, from: usize) -> Option<(usize, usize)> {
    let rest = &text[from..];
    let template = rest
        .find("{{")
        .and_then(|at| rest[at..].find("}}").map(|len| (from + at, from + at + len + 2)));
    let variable = rest
        .find("${")
        .and_then(|at| rest[at..].find('}').map(|len| (from + at, from + at + len + 1)));
    match (template, variable) {
        (Some(a), Some(b)) => Some(if a.0 <= b.0 { a } else { b }),
        (a, b) => a.or(b),
    }
}

fn keep_line_ends(text: &str, out: &mut [u8], start: usize, end: usize) {
    for (offset, byte) in text.as_bytes()[start..end].iter().enumerate() {
        if matches!(byte, b'\n' | b'\r') {
            out[start + offset] = *byte;
        }
    }
}

/// Turns every line that held nothing but actions into a comment of the same length.
fn comment_action_lines(text: &str, out: &mut [u8]) {
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let content = line.trim();
        if is_only_actions(content) {
            let at = start + (line.len() - line.trim_start().len());
            out[at] = b'#';
        }
        start += line.len();
    }
}

fn is_only_actions(mut content: &str) -> bool {
    if !content.starts_with("{{") {
        return false;
    }
    while let Some(rest) = content.strip_prefix("{{") {
        match rest.find("}}") {
            Some(end) => content = rest[end + 2..].trim_start(),
            None => return false,
        }
    }
    content.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masked_text_keeps_its_length_and_line_ends() {
        let text = "{{- if .Values.on }}\nimage: x:1\nname: {{ .Release.Name }}-eu\né: [${A}, b]\n{{- end }}\n";
        let masked = mask(text);
        assert_eq!(masked.len(), text.len());
        assert_eq!(
            masked,
            "#xxxxxxxxxxxxxxxxxxx\nimage: x:1\nname: xxxxxxxxxxxxxxxxxxx-eu\né: [xxxx, b]\n#xxxxxxxxx\n"
        );
    }
}
