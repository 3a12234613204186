//! The parts of an image reference.

/// An image reference, taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Image<'a> {
    /// All before the last `/`: host and path; empty without one.
    pub registry: &'a str,
    /// The last part of the path.
    pub name: &'a str,
    /// The tag; empty without one.
    pub tag: &'a str,
    /// The digest with its algorithm; empty without one.
    pub digest: &'a str,
}

impl<'a> Image<'a> {
    /// Takes a reference apart.
    pub fn read(text: &'a str) -> Self {
        let (rest, digest) = text.split_once('@').unwrap_or((text, ""));
        let (registry, last) = rest.rsplit_once('/').unwrap_or(("", rest));
        let (name, tag) = last.split_once(':').unwrap_or((last, ""));
        Self {
            registry,
            name,
            tag,
            digest,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, registry: &str, name: &str, tag: &str, digest: &str) {
        assert_eq!(
            Image::read(text),
            Image {
                registry,
                name,
                tag,
                digest
            }
        );
    }

    #[test]
    fn a_port_is_no_tag_and_a_digest_stands_apart() {
        check(
            "ghcr.io/fluxcd/source-controller:v1.0.0",
            "ghcr.io/fluxcd",
            "source-controller",
            "v1.0.0",
            "",
        );
        check(
            "registry.example:5000/a:v1@sha256:0f",
            "registry.example:5000",
            "a",
            "v1",
            "sha256:0f",
        );
        check("a", "", "a", "", "");
    }
}
