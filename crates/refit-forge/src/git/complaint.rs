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

/// Takes user names, passwords and queries (which may hold tokens) out of the URLs in a text, mistyped ones too: with one
/// slash or none, with a blank or a slash in the password, without a scheme.
pub(super) fn without_credentials(text: &str) -> String {
    let is_quote = |c: char| matches!(c, '\'' | '"' | '`');
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest
            .find(|c: char| c.is_whitespace() || is_quote(c))
            .unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        out.push_str(&masked(word));
        rest = after;
        let Some(mark) = rest.chars().next() else { break };
        out.push(mark);
        rest = &rest[mark.len_utf8()..];
        // In quotes, a URL may hold blanks.
        let whole = rest.find(mark).filter(|_| is_quote(mark));
        let quoted = whole.map(|end| &rest[..end]);
        if let Some(quoted) = quoted.filter(|quoted| scheme(quoted).is_some_and(|(before, _)| before.is_empty())) {
            out.push_str(&masked(quoted));
            rest = &rest[quoted.len()..];
        }
    }
    out
}

/// Schemes by which a URL is known without its slashes.
const SCHEMES: [&str; 4] = ["https", "http", "ssh", "git"];

/// Parts a word before and behind the scheme of a URL: what precedes it, and how long both are with colon and slashes.
fn scheme(word: &str) -> Option<(&str, usize)> {
    let colon = word.find(':')?;
    let before = word[..colon].rfind(|c: char| !c.is_ascii_alphanumeric() && !"+-.".contains(c));
    let start = before.map_or(0, |at| at + word[at..].chars().next().map_or(1, char::len_utf8));
    let after = &word[colon + 1..];
    let slashes = after.len() - after.trim_start_matches('/').len();
    let name = &word[start..colon];
    // One letter is a drive.
    let is_scheme = name.len() > 1 && (slashes > 0 || SCHEMES.contains(&name));
    is_scheme.then(|| (&word[..start], colon + 1 + slashes))
}

/// Takes the secrets out of one URL or word.
fn masked(word: &str) -> String {
    let Some((_, length)) = scheme(word) else {
        // A password stands before the host, as in `user:password@host:path`.
        let at = word.rfind('@').filter(|at| {
            let user = word.find([':', '@', '/']).filter(|end| word[*end..].starts_with(':'));
            user.is_some_and(|colon| colon > 1 && colon + 1 < *at)
        });
        return word[at.map_or(0, |at| at + 1)..].to_owned();
    };
    let (kept, url) = word.split_at(length);
    let authority = &url[..url.find('/').unwrap_or(url.len())];
    let host = match (authority.rfind('@'), authority.split_once(':')) {
        (Some(at), _) => at + 1,
        // What follows the colon is no port, so that the password goes on behind the slash.
        (None, Some((_, port))) if !port.bytes().all(|byte| byte.is_ascii_digit()) => {
            url.rfind('@').map_or(0, |at| at + 1)
        }
        (None, _) => 0,
    };
    let end = url[host..].find(['?', '#']).map_or(url.len(), |at| host + at);
    format!("{kept}{}", &url[host..end])
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
    fn credentials_of_mistyped_urls_are_left_out_too() {
        for (mistyped, shown) in [
            ("https:/me:s3cret@host/x.git", "https:/host/x.git"),
            ("https:me:s3cret@host/x.git", "https:host/x.git"),
            ("me:s3cret@host:x", "host:x"),
            ("me:s3cret@host/x.git", "host/x.git"),
            ("https://me:s3c/ret@host/x", "https://host/x"),
            ("https://me:s3c@ret@host/x", "https://host/x"),
            ("url=https://me:s3cret@host/x", "url=https://host/x"),
            (
                "'https://m e:s3c/ret@host/x/': bad format",
                "'https://host/x/': bad format",
            ),
            (
                "couldn't read `https://m e:s3cret@host/x`",
                "couldn't read `https://host/x`",
            ),
        ] {
            assert_eq!(without_credentials(mistyped), shown);
        }
        for plain in [
            "git@host:x",
            "C:/a@b",
            "ssh: host `h`",
            "me <me@host>",
            "https://host:22/a@b",
            "a:b c@d\n'e'",
        ] {
            assert_eq!(without_credentials(plain), plain);
        }
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
