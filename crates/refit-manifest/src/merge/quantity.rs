//! Compares amounts of Kubernetes: numbers and quantities such as `100m` and `64Mi`.

use std::cmp::Ordering;

/// Compares two amounts; `None` when one is not an amount.
pub(super) fn compare(a: &str, b: &str) -> Option<Ordering> {
    read(a)?.partial_cmp(&read(b)?)
}

fn read(text: &str) -> Option<f64> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let number: f64 = digits.parse().ok()?;
    let factor = match &text[digits.len()..] {
        "" => 1.0,
        "n" => 1e-9,
        "u" => 1e-6,
        "m" => 1e-3,
        "k" => 1e3,
        "M" => 1e6,
        "G" => 1e9,
        "T" => 1e12,
        "P" => 1e15,
        "E" => 1e18,
        "Ki" => 1024.0,
        "Mi" => 1_048_576.0,
        "Gi" => 1_073_741_824.0,
        "Ti" => 1_099_511_627_776.0,
        "Pi" => 1_125_899_906_842_624.0,
        "Ei" => 1_152_921_504_606_846_976.0,
        _ => return None,
    };
    Some(number * factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_of_different_units_compare() {
        assert_eq!(compare("1Gi", "1024Mi"), Some(Ordering::Equal));
        assert_eq!(compare("100m", "1"), Some(Ordering::Less));
        assert_eq!(compare("3", "2"), Some(Ordering::Greater));
        assert_eq!(compare("many", "2"), None);
    }
}
