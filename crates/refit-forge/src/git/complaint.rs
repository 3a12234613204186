//! Turns what Git complains about into port errors.
//!
//! In: the operation and the text on stderr. Out: a [`PortError`] with a kind and a remedy. The only place that sorts
//! failures of Git by their text, which is English by `LC_ALL=C`.

use refit_engine::ports::{PortError, PortErrorKind};

/// A complaint with its kind and remedy: one of the texts is in it.
struct Known {
    texts: &'static [&'static str],
    kind: PortErrorKind,
    remedy: &'static str,
}

/// The first that fits is taken.
const KNOWN: [Known; 12] = [
    Known {
        texts: &["auto-detection is disabled", "tell me who you are", "empty ident name"],
        kind: PortErrorKind::Other,
        remedy: "tell git who you are: `git config --global user.name \"Your Name\"` and \
                 `git config --global user.email you@example.org`",
    },
    Known {
        texts: &["dubious ownership"],
        kind: PortErrorKind::Forbidden,
        remedy: "if you trust the repository, run the `git config --global --add safe.directory` command above",
    },
    Known {
        texts: &["' not allowed"],
        kind: PortErrorKind::Forbidden,
        remedy: "use an https or ssh URL, or set GIT_ALLOW_PROTOCOL if you trust this one",
    },
    Known {
        texts: &[
            "could not read Username",
            "could not read Password",
            "terminal prompts disabled",
        ],
        kind: PortErrorKind::Forbidden,
        remedy: "set up a credential helper or an SSH key for this host, or run from a terminal",
    },
    Known {
        texts: &[
            "Permission denied (",
            "Authentication failed",
            "Host key verification failed",
            "error: 403",
        ],
        kind: PortErrorKind::Forbidden,
        remedy: "see that `git fetch` and `git push` work for this remote",
    },
    Known {
        texts: &[
            "Permission denied",
            "insufficient permission",
            "Read-only file system",
            "not permitted",
            "unable to create directory",
        ],
        kind: PortErrorKind::Forbidden,
        remedy: "see who owns the repository's files, and run as a user who may write them",
    },
    Known {
        texts: &["protected branch", "hook declined", "pre-receive", "denied", "deny"],
        kind: PortErrorKind::Forbidden,
        remedy: "ask for the right to push this branch, or see the rules of the remote",
    },
    Known {
        texts: &[".lock': File exists"],
        kind: PortErrorKind::Other,
        remedy: "another git process is at work, or was killed: wait for it, or remove the named lock file",
    },
    Known {
        texts: &["No space left", "Disk quota exceeded"],
        kind: PortErrorKind::Other,
        remedy: "make room on the disk, then run this again",
    },
    Known {
        texts: &["' exists; cannot create"],
        kind: PortErrorKind::Other,
        remedy: "a branch cannot be both a name and the beginning of another: rename the one that exists",
    },
    Known {
        texts: &[
            "corrupt",
            "bad object",
            "unable to read tree",
            "missing blob",
            "inflate",
            "bad tree",
        ],
        kind: PortErrorKind::Corrupt,
        remedy: "run `git fsck` in the repository, or clone it anew",
    },
    Known {
        texts: &[
            "Could not resolve host",
            "unable to access",
            "Could not read from remote",
            "timed out",
        ],
        kind: PortErrorKind::Other,
        remedy: "see that the remote can be reached: `git ls-remote` with its name or URL",
    },
];

/// Makes an error of an operation: kind and remedy by what Git said, which becomes the cause.
pub(super) fn failure(what: &str, stderr: &str) -> PortError {
    let said = without_credentials(stderr.trim());
    let known = KNOWN
        .iter()
        .find(|known| known.texts.iter().any(|text| stderr.contains(text)));
    match known {
        Some(known) => PortError::new(known.kind, what).hint(known.remedy).because(said),
        None => PortError::new(PortErrorKind::Other, what).because(said),
    }
}

/// Takes user names, passwords and queries (which may hold tokens) out of the URLs in a text.
pub(super) fn without_credentials(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("://") {
        let (before, after) = rest.split_at(at + 3);
        out.push_str(before);
        let whole = after
            .find(|c: char| c.is_whitespace() || matches!(c, '\'' | '"' | '`'))
            .unwrap_or(after.len());
        let url = &after[..whole];
        let end = url.find('/').unwrap_or(whole);
        let host = url[..end].rfind('@').map_or(0, |at| at + 1);
        let query = url[host..].find(['?', '#']).map_or(whole, |at| host + at);
        out.push_str(&url[host..query]);
        rest = &after[whole..];
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_of_urls_are_left_out_of_messages() {
        let text = "fatal: unable to access 'https://me:s3cret@host/x.git/' and ssh://git@host:22/y https://host/z@1";
        assert_eq!(
            without_credentials(text),
            "fatal: unable to access 'https://host/x.git/' and ssh://host:22/y https://host/z@1"
        );
        assert_eq!(without_credentials("https://token@host"), "https://host");
        assert_eq!(without_credentials("plain"), "plain");
        assert_eq!(
            without_credentials("see `https://host/x.git?token=s3cret`, 'https://host?t=s3cret' or a?b"),
            "see `https://host/x.git`, 'https://host' or a?b"
        );
    }

    #[test]
    fn failures_are_told_apart_by_their_text() {
        let kind = |text: &str| failure("x", text).kind;
        assert_eq!(kind("fatal: transport 'ext' not allowed"), PortErrorKind::Forbidden);
        assert_eq!(
            kind("error: insufficient permission for adding an object"),
            PortErrorKind::Forbidden
        );
        assert_eq!(kind("fatal: loose object 1 is corrupt"), PortErrorKind::Corrupt);
        assert!(
            failure("x", "Author identity unknown\n*** Please tell me who you are.")
                .remedy
                .is_some_and(|remedy| remedy.contains("user.email"))
        );
    }
}
