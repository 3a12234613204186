//! References to container images.

/// An image reference in its parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImageRef<'a> {
    /// Registry and path, without tag and digest.
    pub repository: &'a str,
    /// The tag.
    pub tag: Option<&'a str>,
    /// The digest with its algorithm, such as `sha256:…`.
    pub digest: Option<&'a str>,
}

impl<'a> ImageRef<'a> {
    /// Reads a reference; `None` when the text cannot be one.
    pub fn read(text: &'a str) -> Option<Self> {
        if text.is_empty() || text.contains(|c: char| c.is_whitespace() || c == '{' || c == '$') {
            return None;
        }
        let (name, digest) = match text.split_once('@') {
            Some((name, digest)) => (name, Some(digest)),
            None => (text, None),
        };
        let last = name.rfind('/').map_or(0, |at| at + 1);
        let (repository, tag) = match name[last..].rfind(':') {
            Some(at) => (&name[..last + at], Some(&name[last + at + 1..])),
            None => (name, None),
        };
        (!repository.is_empty()).then_some(Self {
            repository,
            tag,
            digest,
        })
    }

    /// Gives the part after the last `/`.
    pub fn name(&self) -> &'a str {
        self.repository.rsplit('/').next().unwrap_or(self.repository)
    }

    /// Gives the repository without its registry: without a first part that has a dot or a port or is `localhost`.
    pub fn path(&self) -> &'a str {
        match self.repository.split_once('/') {
            Some((host, path)) if host.contains(['.', ':']) || host == "localhost" => path,
            _ => self.repository,
        }
    }

    /// Gives what stands before the part that two references share, without the `/`: the registry, and a mirror's
    /// folder.
    pub fn registry_beside(&self, other: &ImageRef<'_>) -> &'a str {
        let path = other.path();
        match self
            .repository
            .strip_suffix(path)
            .and_then(|prefix| prefix.strip_suffix('/'))
        {
            Some(prefix) => prefix,
            None => self.repository.rsplit_once('/').map_or("", |(prefix, _)| prefix),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_read_in_their_parts() {
        let image = ImageRef::read("registry.corp:5000/mirror/fluxcd/sc:v1@sha256:11").expect("an image");
        assert_eq!((image.tag, image.digest), (Some("v1"), Some("sha256:11")));
        assert_eq!((image.path(), image.name()), ("mirror/fluxcd/sc", "sc"));
        let base = ImageRef::read("ghcr.io/fluxcd/sc:v1").expect("an image");
        assert_eq!(image.registry_beside(&base), "registry.corp:5000/mirror");
        assert_eq!(ImageRef::read("x:1").expect("an image").repository, "x");
        assert_eq!(ImageRef::read("${IMAGE}"), None);
    }
}
