//! The order of API versions.

use std::cmp::Ordering;

/// Compares two API versions without group: `v1alpha1`, `v1beta1`, `v1`, `v2beta1` in this order.
///
/// `None` where one of them is no Kubernetes API version. The order is that of time for one kind, not that of discovery,
/// which puts `v1` behind `v2beta1`.
pub fn compare_versions(a: &str, b: &str) -> Option<Ordering> {
    Some(parts(a)?.cmp(&parts(b)?))
}

/// Splits a version into major, stage and number of the stage.
fn parts(version: &str) -> Option<(u32, u8, u32)> {
    let body = version.strip_prefix('v')?;
    let digits = body.find(|c: char| !c.is_ascii_digit()).unwrap_or(body.len());
    let major = number(&body[..digits])?;
    let rest = &body[digits..];
    if rest.is_empty() {
        return Some((major, 2, 0));
    }
    match rest.strip_prefix("alpha") {
        Some(count) => Some((major, 0, number(count)?)),
        None => Some((major, 1, number(rest.strip_prefix("beta")?)?)),
    }
}

fn number(text: &str) -> Option<u32> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_ordered_by_time() {
        let ascending = [
            "v1alpha1", "v1alpha2", "v1beta1", "v1beta2", "v1", "v2beta1", "v2beta10", "v2",
        ];
        for (at, a) in ascending.iter().enumerate() {
            for (other, b) in ascending.iter().enumerate() {
                assert_eq!(compare_versions(a, b), Some(at.cmp(&other)), "{a} {b}");
            }
        }
    }

    #[test]
    fn other_words_are_no_versions() {
        for text in ["", "v", "1", "v1gamma1", "v1beta", "v1beta1x", "v+1"] {
            assert_eq!(compare_versions(text, "v1"), None, "{text}");
        }
    }
}
