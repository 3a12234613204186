//! SHA-256 digests, as recorded and compared.
//!
//! In: bytes. Out: `sha256:` and hexadecimal, or a short id.

use sha2::{Digest as _, Sha256};

/// Gives the digest of bytes, `sha256:` and 64 hexadecimal digits.
pub fn of(bytes: &[u8]) -> String {
    format!("sha256:{}", hexadecimal(bytes))
}

/// Gives a short id of some words: the same words in the same order give the same id.
pub fn short(words: &[&str]) -> String {
    let mut id = hexadecimal(words.join("\0").as_bytes());
    id.truncate(10);
    id
}

fn hexadecimal(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digest_is_sha_256() {
        // The digest of the empty text, from FIPS 180-4 test data.
        let empty = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(of(b""), empty);
    }

    #[test]
    fn a_short_id_depends_on_each_word_and_its_place() {
        assert_eq!(short(&["a", "b"]), short(&["a", "b"]));
        assert_ne!(short(&["a", "b"]), short(&["b", "a"]));
        assert_ne!(short(&["ab"]), short(&["a", "b"]));
        assert_eq!(short(&["a"]).len(), 10);
    }
}
