//! Checks names and paths before they become part of a command.
//!
//! In: names that people or files gave. Out: a refusal for those that Git does not allow or would take for something else.

use refit_engine::ports::{PortError, PortErrorKind};

/// Refuses a name that cannot follow `refs/heads/` or `refs/refit/`.
pub(super) fn check_reference(name: &str) -> Result<(), PortError> {
    let bad_part = |part: &str| part.is_empty() || part.starts_with('.') || part.ends_with(".lock");
    let bad_character = |c: char| c.is_control() || " ~^:?*[\\".contains(c);
    let bad = name.starts_with('-')
        || name.ends_with('.')
        || name.contains("..")
        || name.contains("@{")
        || name == "@"
        || name.contains(bad_character)
        || name.split('/').any(bad_part);
    if bad {
        return Err(PortError::new(
            PortErrorKind::NotFound,
            format!("`{name}` is not a name that git allows"),
        )
        .hint("give the name of a branch, such as `main`"));
    }
    Ok(())
}

/// Refuses a path that a tree must not hold.
pub(super) fn check_path(path: &str) -> Result<(), PortError> {
    let bad = |part: &str| matches!(part, "" | "." | "..") || part.eq_ignore_ascii_case(".git") || part.contains('\0');
    if path.split('/').any(bad) {
        return Err(PortError::new(
            PortErrorKind::Other,
            format!("`{path}` cannot be a path in a repository"),
        ));
    }
    Ok(())
}

/// Tells whether a location is a URL, or the `host:path` that SSH knows, rather than a path.
pub(super) fn is_url(location: &str) -> bool {
    if location.contains("://") || location.contains("::") {
        return true;
    }
    let host = location.split_once(':').map(|(host, _)| host);
    // One letter is a drive.
    host.is_some_and(|host| host.len() > 1 && !host.contains(['/', '\\']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_git_would_take_for_something_else_are_refused() {
        for name in [
            "-x", "a..b", "a b", "a:b", "a^", "", "a//b", "/a", "a/", "a.lock", "@", "a@{1}", "a\nb", "*",
        ] {
            assert!(check_reference(name).is_err(), "{name:?}");
        }
        for name in ["main", "refit/3f2a/1-flux", "release-1.x", "requests/1", "ä"] {
            assert!(check_reference(name).is_ok(), "{name:?}");
        }
    }

    #[test]
    fn paths_that_leave_the_tree_are_refused() {
        for path in ["", "/a", "a/", "a/../b", "./a", ".git/config", "a/.GIT/x"] {
            assert!(check_path(path).is_err(), "{path:?}");
        }
        assert!(check_path("a b/.github/x\n").is_ok());
    }

    #[test]
    fn urls_and_paths_are_told_apart() {
        for url in [
            "https://h/x",
            "ssh://h/x",
            "git@h:x",
            "host:x",
            "file:///x",
            "ext::sh -c x",
        ] {
            assert!(is_url(url), "{url}");
        }
        for path in ["x", "/x", "./a:b", "C:\\x", "."] {
            assert!(!is_url(path), "{path}");
        }
    }
}
