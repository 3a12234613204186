//! What a scalar means to Kubernetes, and how one is written.
//!
//! In: the text and style of a scalar. Out: its value by the rules of sigs.k8s.io/yaml (goyaml.v2, `resolve.go`; the
//! table stands in facts/yaml.md section 5), or text that reads back as the wanted string.

/// The way a scalar is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Style {
    /// Without quotes.
    Plain,
    /// In `'…'`.
    Single,
    /// In `"…"`.
    Double,
    /// A block after `|`.
    Literal,
    /// A block after `>`.
    Folded,
}

/// The value of a scalar.
#[derive(Clone, Copy, Debug)]
pub enum Value<'a> {
    /// Empty, `~` or a spelling of null.
    Null,
    /// One of the YAML 1.1 spellings of a boolean.
    Bool(bool),
    /// An integer of 64 bits, signed or unsigned.
    Int(i128),
    /// A number with a fraction or exponent, or beyond 64 bits.
    Float(f64),
    /// A string.
    Text(&'a str),
}

impl PartialEq for Value<'_> {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Null, Self::Null) => true,
            (Self::Bool(a), Self::Bool(b)) => a == b,
            (Self::Int(a), Self::Int(b)) => a == b,
            (Self::Float(a), Self::Float(b)) => a == b || (a.is_nan() && b.is_nan()),
            (Self::Text(a), Self::Text(b)) => a == b,
            _ => false,
        }
    }
}

const TRUE: [&str; 11] = ["y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"];
const FALSE: [&str; 11] = [
    "n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF",
];

/// Gives the value of a scalar; `tag` is the suffix of a core tag (`str`, `int`, …) where one is written.
pub fn resolve<'a>(text: &'a str, style: Style, tag: Option<&str>) -> Value<'a> {
    match tag {
        Some("str" | "binary") => return Value::Text(text),
        None if style != Style::Plain => return Value::Text(text),
        _ => {}
    }
    resolve_plain(text)
}

fn resolve_plain(text: &str) -> Value<'_> {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Value::Null,
        ".nan" | ".NaN" | ".NAN" => return Value::Float(f64::NAN),
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => return Value::Float(f64::INFINITY),
        "-.inf" | "-.Inf" | "-.INF" => return Value::Float(f64::NEG_INFINITY),
        _ => {}
    }
    let first = text.as_bytes()[0];
    if first.is_ascii_alphabetic() {
        return match () {
            () if TRUE.contains(&text) => Value::Bool(true),
            () if FALSE.contains(&text) => Value::Bool(false),
            () => Value::Text(text),
        };
    }
    if !(first.is_ascii_digit() || matches!(first, b'+' | b'-' | b'.')) || is_timestamp(text) {
        return Value::Text(text);
    }
    resolve_number(text).unwrap_or(Value::Text(text))
}

fn resolve_number(text: &str) -> Option<Value<'static>> {
    let digits: std::borrow::Cow<'_, str> = if text.contains('_') {
        text.replace('_', "").into()
    } else {
        text.into()
    };
    if let Some(number) = integer(&digits) {
        return Some(Value::Int(number));
    }
    if is_float(&digits) {
        digits.parse().ok().map(Value::Float)
    } else {
        None
    }
}

fn integer(text: &str) -> Option<i128> {
    let (negative, body) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let (base, digits) = match body.as_bytes() {
        [b'0', b'x' | b'X', ..] => (16, &body[2..]),
        [b'0', b'o' | b'O', ..] => (8, &body[2..]),
        [b'0', b'b' | b'B', ..] => (2, &body[2..]),
        [b'0', _, ..] => (8, &body[1..]),
        _ => (10, body),
    };
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return None;
    }
    let number = i128::from_str_radix(digits, base).ok()?;
    let number = if negative { -number } else { number };
    (i128::from(i64::MIN)..=i128::from(u64::MAX))
        .contains(&number)
        .then_some(number)
}

/// Tells whether a text is a number by `[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?`.
fn is_float(text: &str) -> bool {
    let body = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (mantissa, exponent) = match body.find(['e', 'E']) {
        Some(at) => (&body[..at], Some(&body[at + 1..])),
        None => (body, None),
    };
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let mantissa_fits = match mantissa.split_once('.') {
        Some(("", fraction)) => digits(fraction),
        Some((whole, fraction)) => digits(whole) && (fraction.is_empty() || digits(fraction)),
        None => digits(mantissa),
    };
    mantissa_fits && exponent.is_none_or(|part| digits(part.strip_prefix(['-', '+']).unwrap_or(part)))
}

fn is_timestamp(text: &str) -> bool {
    let bytes = text.as_bytes();
    let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    (0..4).all(digit) && bytes.get(4) == Some(&b'-') && digit(5)
}

/// Tells whether a string can stand without quotes in block or flow context and reads back as the same string.
fn is_plain_safe(text: &str) -> bool {
    let Some(first) = text.chars().next() else { return false };
    if !matches!(resolve_plain(text), Value::Text(_)) || is_timestamp(text) || text == "<<" || text == "=" {
        return false;
    }
    if "-?:,[]{}#&*!|>'\"%@`".contains(first) && !is_dashed_word(text) {
        return false;
    }
    !(text.starts_with(' ')
        || text.ends_with([' ', ':'])
        || text.contains(": ")
        || text.contains(" #")
        || text.starts_with("---")
        || text.starts_with("...")
        || text
            .chars()
            .any(|c| c.is_control() || ",[]{}".contains(c) || c == '\u{feff}'))
}

/// Tells whether a text begins with a dash that is not a list marker, such as `--flag=x`.
fn is_dashed_word(text: &str) -> bool {
    text.starts_with('-') && text[1..].chars().next().is_some_and(|c| !c.is_whitespace()) && !text.starts_with("---")
}

/// Writes a string as a scalar in the wanted style where that style can hold it, else in double quotes.
///
/// Block styles are not written here: a caller that wants one copies it.
pub fn write(text: &str, wanted: Style) -> String {
    match wanted {
        Style::Plain if is_plain_safe(text) => text.to_owned(),
        Style::Single if !text.chars().any(char::is_control) => format!("'{}'", text.replace('\'', "''")),
        _ => write_double(text),
    }
}

fn write_double(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            c if c.is_control() || c == '\u{feff}' || c == '\u{2028}' || c == '\u{2029}' => {
                out.push_str(&format!("\\u{:04x}", u32::from(c)));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(text: &str) -> String {
        format!("{:?}", resolve(text, Style::Plain, None))
    }

    #[test]
    fn scalars_mean_what_kubernetes_reads() {
        for (text, expected) in [
            ("yes", "Bool(true)"),
            ("n", "Bool(false)"),
            ("Off", "Bool(false)"),
            ("oN", "Text(\"oN\")"),
            ("0644", "Int(420)"),
            ("0o644", "Int(420)"),
            ("0x1f", "Int(31)"),
            ("-0b11", "Int(-3)"),
            ("1_000", "Int(1000)"),
            ("089", "Float(89.0)"),
            ("12:30:45", "Text(\"12:30:45\")"),
            ("2001-01-01", "Text(\"2001-01-01\")"),
            ("1e3", "Float(1000.0)"),
            (".5", "Float(0.5)"),
            ("1.", "Float(1.0)"),
            ("~", "Null"),
            ("", "Null"),
            ("v1", "Text(\"v1\")"),
            ("--flag", "Text(\"--flag\")"),
            ("18446744073709551615", "Int(18446744073709551615)"),
        ] {
            assert_eq!(plain(text), expected, "{text:?}");
        }
    }

    #[test]
    fn quotes_and_tags_make_strings() {
        assert_eq!(resolve("yes", Style::Double, None), Value::Text("yes"));
        assert_eq!(resolve("12", Style::Plain, Some("str")), Value::Text("12"));
    }

    #[test]
    fn a_written_string_reads_back_as_itself() {
        for text in [
            "yes",
            "0644",
            "a: b",
            "x #y",
            "- a",
            "--flag=1",
            "",
            "a\nb",
            "é",
            "it's",
            "2001-01-01",
            "<<",
        ] {
            for style in [Style::Plain, Style::Single, Style::Double] {
                let line = format!("k: {}\n", write(text, style));
                let parsed = crate::parse::parse(line.as_bytes(), 0..line.len());
                let parsed = parsed.unwrap_or_else(|error| panic!("{line:?}: {error}"));
                let value = parsed
                    .root()
                    .and_then(|root| root.get("k"))
                    .and_then(|node| node.value());
                assert_eq!(value, Some(Value::Text(text)), "{line:?}");
            }
        }
    }
}
