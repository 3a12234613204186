//! Releases on an HTTP server, on good and on bad days.

#![expect(clippy::unwrap_used, reason = "a test may fail where it stands")]

mod common;

use std::fmt::Write as _;
use std::sync::Mutex;
use std::time::Duration;

use common::{offline, open, settings};
use refit_core::digest;
use refit_engine::ports::{PortError, PortErrorKind, Releases};
use refit_source::Settings;
use refit_testkit::http::{Authority, Request, Response, Server};
use refit_testkit::releases::{CONTRACT, check_contract};

/// Answers as a folder of the contract's releases with an index would, below a prefix.
fn serve(prefix: &str, request: &Request) -> Response {
    let path = request.target.trim_start_matches('/');
    let Some(path) = path.strip_prefix(prefix) else {
        return Response::status(404);
    };
    if path == "index.json" {
        return Response::ok(index());
    }
    let file = CONTRACT
        .iter()
        .find(|file| path == format!("{}/{}", file.version, file.name));
    file.map_or(Response::status(404), |file| Response::ok(file.text))
}

fn index() -> String {
    let mut text = String::new();
    for file in CONTRACT {
        let hex = digest::of(file.text.as_bytes())
            .trim_start_matches("sha256:")
            .to_owned();
        let comma = if text.is_empty() { "" } else { "," };
        let (version, name) = (file.version, file.name);
        let same = format!(r#"{{"version": "{version}", "files": ["#);
        match text.find(&same) {
            Some(at) => text.insert_str(at + same.len(), &format!(r#"{{"file": "{name}", "sha256": "{hex}"}},"#)),
            None => write!(text, r#"{comma}{same}{{"file": "{name}", "sha256": "{hex}"}}]}}"#).unwrap(),
        }
    }
    format!("[{text}]")
}

/// Asks a server for the contents of v2.6.4.
fn refused(server: &Server, settings: Settings) -> PortError {
    let error = open(&[&server.url()], settings).contents("flux", "v2.6.4").unwrap_err();
    assert!(error.remedy.is_some(), "{error}");
    error
}

/// Serves the contract, but one path otherwise.
fn spoilt(path: &'static str, response: impl Fn(&Request) -> Response + Send + Sync + 'static) -> Server {
    Server::start(move |request| match request.target == path {
        true => response(request),
        false => serve("", request),
    })
}

const FILE: &str = "/v2.6.4/gotk-components.yaml";

#[test]
fn both_layouts_keep_the_contract() {
    for prefix in ["", "flux/"] {
        let server = Server::start(move |request| serve(prefix, request));
        check_contract(&*open(&[&server.url()], settings(None)));
    }
}

#[test]
fn without_an_index_a_named_version_is_found_and_a_list_is_refused() {
    let server = Server::start(|request| match request.target.ends_with("index.json") {
        true => Response::status(404),
        false => serve("", request),
    });
    let releases = open(&[&server.url()], settings(None));
    assert_eq!(releases.contents("flux", "2.6.4").unwrap().len(), 2);
    let error = releases.versions("flux").unwrap_err();
    assert_eq!(error.kind, PortErrorKind::NotFound);
    assert!(error.remedy.unwrap().contains("refit catalog pull"));
}

#[test]
fn another_digest_than_the_recorded_one_is_refused() {
    let cache = tempfile::tempdir().unwrap();
    let server = spoilt(FILE, |_| Response::ok("kind: Deployment\n# x\n"));
    for _ in 0..2 {
        let error = refused(&server, settings(Some(cache.path())));
        assert_eq!(error.kind, PortErrorKind::Corrupt);
        assert!(error.message.contains("has the digest `sha256:"), "{error}");
    }
}

#[test]
fn a_file_that_is_listed_and_not_there_is_refused() {
    let error = refused(&spoilt(FILE, |_| Response::status(404)), settings(None));
    assert_eq!(error.kind, PortErrorKind::Corrupt);
    assert!(error.message.ends_with("is listed, but not there"), "{error}");
}

#[test]
fn an_index_that_is_none_is_refused() {
    let error = refused(&spoilt("/index.json", |_| Response::ok("<html>")), settings(None));
    assert_eq!(error.kind, PortErrorKind::Corrupt);
}

#[test]
fn a_failure_that_passes_is_waited_for() {
    for status in [500, 503, 429] {
        let server = spoilt(FILE, move |request| match request.before {
            0 | 1 => Response::status(status),
            _ => serve("", request),
        });
        check_contract(&*open(&[&server.url()], settings(None)));
    }
}

#[test]
fn a_failure_that_stays_is_told_after_some_attempts() {
    let server = spoilt(FILE, |_| Response::status(500));
    let error = refused(&server, settings(None));
    assert_eq!(error.kind, PortErrorKind::Unreachable);
    assert!(error.message.contains("answers 500"), "{error}");
    let asked = server.targets().iter().filter(|target| *target == FILE).count();
    assert_eq!(asked, 3);
}

#[test]
fn the_wait_that_a_server_asks_for_is_kept_unless_it_is_too_long() {
    static WAITS: Mutex<Vec<Duration>> = Mutex::new(Vec::new());
    let recording = || Settings {
        wait: |duration| WAITS.lock().unwrap().push(duration),
        ..settings(None)
    };
    let busy = |seconds: &'static str| {
        spoilt(FILE, move |request| match request.before {
            0 => Response::Answer(429, vec![("Retry-After", seconds.to_owned())], Vec::new()),
            _ => serve("", request),
        })
    };
    let server = busy("7");
    open(&[&server.url()], recording()).contents("flux", "v2.6.4").unwrap();
    assert_eq!(*WAITS.lock().unwrap(), [Duration::from_secs(7)]);
    let error = refused(&busy("3600"), recording());
    assert!(error.remedy.unwrap().contains("wait 3600 s"));
    assert_eq!(WAITS.lock().unwrap().len(), 1, "nobody waits for an hour");
}

#[test]
fn a_silent_server_is_given_up() {
    let error = refused(&spoilt(FILE, |_| Response::Silence), settings(None));
    assert_eq!(error.kind, PortErrorKind::Unreachable);
    assert!(error.message.contains("does not answer in time"), "{error}");
}

#[test]
fn a_body_that_is_cut_off_is_asked_for_again_and_never_taken() {
    let server = spoilt(FILE, |request| match request.before {
        0 => Response::Cut(CONTRACT[0].text.as_bytes().to_vec()),
        _ => serve("", request),
    });
    check_contract(&*open(&[&server.url()], settings(None)));
    let server = spoilt(FILE, |_| Response::Cut(CONTRACT[0].text.as_bytes().to_vec()));
    assert_eq!(refused(&server, settings(None)).kind, PortErrorKind::Unreachable);
}

#[test]
fn an_answer_without_end_is_refused() {
    let server = spoilt(FILE, |_| Response::ok(vec![b'x'; 1 << 20]));
    let small = Settings {
        size: 1 << 19,
        ..settings(None)
    };
    let error = refused(&server, small);
    assert_eq!(error.kind, PortErrorKind::Corrupt);
    assert!(error.message.contains("is larger than"), "{error}");
}

#[test]
fn a_redirect_is_followed_and_a_circle_is_not() {
    let server = Server::start(|request| match request.target.strip_prefix("/moved/") {
        Some(rest) => Response::redirect(format!("/new/{rest}")),
        None if request.target.starts_with("/circle") => Response::redirect(&request.target),
        None => serve("new/", request),
    });
    check_contract(&*open(&[&format!("{}/moved", server.url())], settings(None)));
    let error = open(&[&format!("{}/circle", server.url())], settings(None))
        .versions("flux")
        .unwrap_err();
    assert!(error.message.contains("redirects more than"), "{error}");
}

#[test]
fn a_certificate_of_an_unknown_authority_is_not_trusted() {
    let server = Server::start_tls(&Authority::make(), |request| serve("", request));
    let error = refused(&server, settings(None));
    assert_eq!(error.kind, PortErrorKind::Unreachable);
    assert!(error.message.contains("cannot be trusted"), "{error}");
    assert!(error.remedy.unwrap().contains("SSL_CERT_FILE"));
    assert!(server.targets().is_empty(), "nothing is asked before");
}

#[test]
fn credentials_are_sent_to_their_server_and_shown_nowhere() {
    let other = Server::start(|request| serve("", request));
    let to = other.url();
    let server = Server::start(move |request| {
        let path = request.target.split('?').next().unwrap_or_default();
        Response::redirect(format!("{to}{path}"))
    });
    let with_user = server.url().replace("//", "//ada:planted@");
    let releases = open(&[&format!("{with_user}?token=planted")], settings(None));
    releases.contents("flux", "v2.6.4").unwrap();
    assert!(!releases.location().contains("planted"));
    assert!(
        server
            .requests()
            .iter()
            .all(|request| request.headers.contains_key("authorization"))
    );
    assert!(
        other
            .requests()
            .iter()
            .all(|request| !request.headers.contains_key("authorization"))
    );
    for status in [401, 403, 404, 500] {
        let server = Server::start(move |_| Response::status(status));
        let url = format!("{}?token=planted", server.url().replace("//", "//ada:planted@"));
        let error = open(&[&url], settings(None)).contents("flux", "v2.6.4").unwrap_err();
        assert!(!format!("{error:?} {error}").contains("planted"), "{error:?}");
    }
}

#[test]
fn what_was_fetched_is_used_when_the_server_is_gone() {
    let cache = tempfile::tempdir().unwrap();
    let server = Server::start(|request| serve("", request));
    let url = server.url();
    let releases = open(&[&url], settings(Some(cache.path())));
    check_contract(&*releases);
    server.stop();
    let check = |releases: &dyn Releases| {
        let mut versions = releases.versions("flux").unwrap();
        versions.sort();
        assert_eq!(versions, ["v2.5.1", "v2.6.4"]);
        assert_eq!(releases.contents("flux", "2.6.4").unwrap().len(), 2);
        assert_eq!(
            releases.contents("flux", "v2.6.9").unwrap_err().kind,
            PortErrorKind::NotFound
        );
    };
    check(&*open(&[&url], settings(Some(cache.path()))));
    let available = releases.available("flux").unwrap();
    assert_eq!(
        (available.versions.len(), available.unreachable.len()),
        (2, 1),
        "it says that it is from before"
    );
    check(&*open(&[&url], offline(settings(Some(cache.path())))));
}

#[test]
fn damaged_content_of_the_cache_is_fetched_again() {
    let cache = tempfile::tempdir().unwrap();
    let server = Server::start(|request| serve("", request));
    check_contract(&*open(&[&server.url()], settings(Some(cache.path()))));
    for entry in std::fs::read_dir(cache.path().join("releases/blobs")).unwrap() {
        std::fs::write(entry.unwrap().path(), "damaged").unwrap();
    }
    check_contract(&*open(&[&server.url()], settings(Some(cache.path()))));
}

#[test]
fn offline_no_server_is_asked() {
    let server = Server::start(|request| serve("", request));
    let releases = open(&[&server.url()], offline(settings(None)));
    let available = releases.available("flux").unwrap();
    assert!(available.versions.is_empty());
    assert!(available.unreachable[0].message.contains("`--offline` is set"));
    let error = releases.contents("flux", "v2.6.4").unwrap_err();
    assert_eq!(error.kind, PortErrorKind::Unreachable);
    assert!(error.remedy.unwrap().contains("refit catalog pull"));
    assert!(server.targets().is_empty());
}

#[test]
fn a_server_that_is_gone_names_the_way_without_it() {
    let server = Server::start(|_| Response::status(404));
    let url = server.url();
    server.stop();
    let error = open(&[&url], settings(None)).contents("flux", "v2.6.4").unwrap_err();
    assert_eq!(error.kind, PortErrorKind::Unreachable);
    let remedy = error.remedy.unwrap();
    assert!(
        remedy.contains("refit catalog pull") && remedy.contains("--catalog DIR"),
        "{remedy}"
    );
}

#[test]
fn several_sources_give_their_union_and_the_first_wins() {
    let folder = tempfile::tempdir().unwrap();
    let own = folder.path().join("v2.6.4");
    std::fs::create_dir_all(&own).unwrap();
    std::fs::write(own.join("gotk-components.yaml"), "own").unwrap();
    let server = Server::start(|request| serve("", request));
    let (path, url) = (folder.path().to_str().unwrap().to_owned(), server.url());
    let releases = open(&[&path, &url], settings(None));
    let mut versions = releases.versions("flux").unwrap();
    versions.sort();
    assert_eq!(versions, ["v2.5.1", "v2.6.4"]);
    assert_eq!(&*releases.contents("flux", "v2.6.4").unwrap()[0].bytes, b"own");
    assert_eq!(
        &*releases.contents("flux", "v2.5.1").unwrap()[0].bytes,
        CONTRACT[2].text.as_bytes()
    );
    let error = releases.contents("flux", "v2.7.0").unwrap_err();
    assert!(error.message.contains(&path) && error.message.contains(&url), "{error}");
    server.stop();
    assert_eq!(releases.available("flux").unwrap().unreachable.len(), 1);
    assert_eq!(
        releases.contents("flux", "v2.7.0").unwrap_err().kind,
        PortErrorKind::Unreachable
    );
}

#[test]
fn a_source_that_lacks_everything_or_is_silent_is_passed_over_and_told() {
    let folder = tempfile::tempdir().unwrap();
    let absent = folder.path().join("absent").display().to_string();
    let bare = Server::start(|_| Response::status(404));
    let good = Server::start(|request| serve("", request));
    let gone = Server::start(|_| Response::status(404));
    let silent = gone.url();
    gone.stop();
    let releases = open(&[&absent, &bare.url(), &silent, &good.url()], settings(None));
    let available = releases.available("flux").unwrap();
    let told: Vec<_> = available.unreachable.iter().map(|error| error.kind).collect();
    let (lacks, is_silent) = (PortErrorKind::NotFound, PortErrorKind::Unreachable);
    assert_eq!(told, [lacks, lacks, is_silent]);
    let alone = open(&[&good.url()], settings(None));
    assert_eq!(available.versions, alone.versions("flux").unwrap());
    assert_eq!(releases.contents("flux", "v2.6.4").unwrap().len(), 2);
    // One that is damaged is no lack: it is not passed over.
    let damaged = spoilt("/index.json", |_| Response::ok("<html>"));
    let error = open(&[&damaged.url(), &good.url()], settings(None)).available("flux");
    assert_eq!(error.unwrap_err().kind, PortErrorKind::Corrupt);
}

#[test]
fn another_query_or_user_is_another_question_and_no_credential_is_written() {
    let cache = tempfile::tempdir().unwrap();
    let server = Server::start(|request| match request.target.contains("channel=a") {
        true => serve(
            "",
            &Request {
                target: request.target.replace("?channel=a-planted", ""),
                ..request.clone()
            },
        ),
        false => Response::status(404),
    });
    let host = server.host();
    let ask = |source: &str| open(&[source], settings(Some(cache.path()))).contents("flux", "v2.6.4");
    assert!(ask(&format!("http://ada:planted@{host}/?channel=a-planted")).is_ok());
    assert!(ask(&format!("http://ada:planted@{host}/?channel=b-planted")).is_err());
    server.stop();
    assert!(
        ask(&format!("http://ada:planted@{host}/?channel=a-planted")).is_ok(),
        "it was kept"
    );
    assert!(ask(&format!("http://bob:planted@{host}/?channel=a-planted")).is_err());
    assert!(ask(&format!("http://{host}/?channel=a-planted")).is_err());
    let mut open = vec![cache.path().to_owned()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            assert!(!entry.path().display().to_string().contains("planted"));
            match entry.path().is_dir() {
                true => open.push(entry.path()),
                false => assert!(!String::from_utf8_lossy(&std::fs::read(entry.path()).unwrap()).contains("planted")),
            }
        }
    }
}

#[test]
fn an_answer_that_is_none_does_not_replace_the_last_good_one() {
    let cache = tempfile::tempdir().unwrap();
    let server = Server::start(|request| match (&*request.target, request.before) {
        ("/index.json", 1) => Response::ok("<html>log in</html>"),
        _ => serve("", request),
    });
    let ask = || open(&[&server.url()], settings(Some(cache.path()))).available("flux");
    let good = ask().unwrap().versions;
    assert_eq!(ask().unwrap_err().kind, PortErrorKind::Corrupt);
    let url = server.url();
    server.stop();
    let kept = open(&[&url], settings(Some(cache.path()))).available("flux").unwrap();
    assert_eq!((kept.versions, kept.unreachable.len()), (good, 1));
}
