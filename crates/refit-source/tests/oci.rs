//! Releases as artifacts in a real registry.

#![expect(clippy::unwrap_used, reason = "a test may fail where it stands")]

mod common;

use common::{offline, open, open_as, settings};
use refit_core::digest;
use refit_engine::ports::PortErrorKind;
use refit_source::Credentials;
use refit_testkit::http::{Response, Server};
use refit_testkit::releases::{CONTRACT, check_contract};
use refit_testkit::testenv::{Registry, Serve};

const PATH: &str = "fluxcd/flux-manifests";

/// Pushes the releases of the contract, the files in the folder that `flux push artifact` would pack.
fn push(registry: &Registry) -> String {
    let file = |at: usize| (CONTRACT[at].name, CONTRACT[at].text.as_bytes());
    registry.push(PATH, "v2.6.4", &[file(0), file(1), ("README.md", b"x")]);
    registry.push(
        PATH,
        "v2.5.1",
        &[("flux-system/gotk-components.yaml", CONTRACT[2].text.as_bytes())],
    );
    registry.push(PATH, "latest", &[file(0)]);
    format!("oci://{}/{PATH}", registry.host())
}

#[test]
fn artifacts_keep_the_contract_also_when_the_registry_is_gone() {
    let Some(registry) = Registry::start() else { return };
    let cache = tempfile::tempdir().unwrap();
    let url = push(&registry);
    check_contract(&*open(&[&url], settings(None)));
    check_contract(&*open(&[&url], settings(Some(cache.path()))));
    drop(registry);
    check_contract(&*open(&[&url], settings(Some(cache.path()))));
    check_contract(&*open(&[&url], offline(settings(Some(cache.path())))));
    let error = open(&[&url], settings(None)).contents("flux", "v2.6.4").unwrap_err();
    assert_eq!(error.kind, PortErrorKind::Unreachable);
}

#[test]
fn a_registry_with_users_is_read_by_those_whom_docker_knows() {
    let Some(registry) = Registry::start_for(Serve::User) else {
        return;
    };
    let url = push(&registry);
    let user = |password: &str| {
        let (host, name) = (registry.host(), Registry::USER);
        Credentials::new(format!(
            r#"{{"auths": {{"{host}": {{"username": "{name}", "password": "{password}"}}}}}}"#
        ))
    };
    check_contract(&*open_as(&[&url], settings(None), user(Registry::PASSWORD)));
    for credentials in [Credentials::default(), user("wrong-planted")] {
        let error = open_as(&[&url], settings(None), credentials)
            .versions("flux")
            .unwrap_err();
        assert_eq!(error.kind, PortErrorKind::Forbidden);
        assert!(error.remedy.as_ref().unwrap().contains("docker login"));
        assert!(!format!("{error:?}").contains("planted"), "{error:?}");
    }
}

#[test]
fn a_repository_that_is_not_there_and_an_artifact_without_manifests_are_told() {
    let Some(registry) = Registry::start() else { return };
    let url = format!("oci://{}/absent", registry.host());
    let error = open(&[&url], settings(None)).versions("flux").unwrap_err();
    assert_eq!(error.kind, PortErrorKind::NotFound);
    registry.push("other", "v2.6.4", &[("other.yaml", b"x")]);
    let url = format!("oci://{}/other", registry.host());
    let error = open(&[&url], settings(None)).contents("flux", "v2.6.4").unwrap_err();
    assert_eq!(error.kind, PortErrorKind::Corrupt);
    assert!(error.message.contains("holds no `gotk-components.yaml`"), "{error}");
}

/// A registry of one artifact whose layer does not have the digest that its manifest states; a token is asked for.
fn forged() -> Server {
    let layer = format!("sha256:{}", "0".repeat(64));
    let manifest = format!(
        r#"{{"layers": [{{"mediaType": "application/vnd.cncf.flux.content.v1.tar+gzip", "digest": "{layer}"}}]}}"#
    );
    Server::start(move |request| {
        let host = &request.headers["host"];
        if let Some(query) = request.target.strip_prefix("/token?") {
            let basic = request
                .headers
                .get("authorization")
                .is_some_and(|header| header.starts_with("Basic "));
            let right = basic && query == "scope=repository:flux:pull&service=a%20b";
            return Response::ok(if right { r#"{"token": "planted-token"}"# } else { "{}" });
        }
        if request.headers.get("authorization").map(String::as_str) != Some("Bearer planted-token") {
            let challenge = format!(r#"Bearer realm="http://{host}/token",service="a b",scope="x""#);
            return Response::Answer(401, vec![("WWW-Authenticate", challenge)], Vec::new());
        }
        match request.target.split('?').next().unwrap_or_default() {
            "/v2/flux/tags/list" if request.target.contains("last=") => Response::ok(r#"{"tags": ["v2.6.4"]}"#),
            "/v2/flux/tags/list" => {
                let next = r#"</v2/flux/tags/list?last=x>; rel="next""#.to_owned();
                Response::Answer(200, vec![("Link", next)], br#"{"tags": ["v2.5.1", "latest"]}"#.to_vec())
            }
            "/v2/flux/manifests/v2.6.4" => Response::ok(manifest.clone()),
            path if path.ends_with(&layer) => Response::ok("forged"),
            _ => Response::status(404),
        }
    })
}

#[test]
fn a_layer_with_another_digest_is_refused_and_tokens_and_pages_are_understood() {
    let server = forged();
    let user = format!(
        r#"{{"auths": {{"{}": {{"username": "a", "password": "planted"}}}}}}"#,
        server.host()
    );
    let url = format!("oci://{}/flux", server.host());
    let releases = open_as(&[&url], settings(None), Credentials::new(user));
    assert_eq!(releases.versions("flux").unwrap(), ["v2.5.1", "v2.6.4"]);
    let error = releases.contents("flux", "v2.6.4").unwrap_err();
    assert_eq!(error.kind, PortErrorKind::Corrupt);
    assert!(error.message.contains(&digest::of(b"forged")), "{error}");
    assert!(!format!("{error:?}").contains("planted"));
    let tokens = server
        .targets()
        .iter()
        .filter(|target| target.starts_with("/token"))
        .count();
    assert_eq!(tokens, 1, "a token is used again");
    let anonymous = open(&[&url], settings(None)).versions("flux").unwrap_err();
    assert_eq!(anonymous.kind, PortErrorKind::Forbidden);
}

#[test]
fn a_list_of_tags_that_does_not_end_is_an_error() {
    // The first names itself, the second always another page.
    for own in [true, false] {
        let server = Server::start(move |request| {
            let page = if own { 0 } else { request.target.len() };
            let next = format!("</v2/flux/tags/list?n=1000&last={}>; rel=\"next\"", "x".repeat(page));
            Response::Answer(200, vec![("Link", next)], br#"{"tags": ["v2.6.4"]}"#.to_vec())
        });
        let url = format!("oci://{}/flux", server.host());
        let error = open(&[&url], settings(None)).versions("flux").unwrap_err();
        assert_eq!(error.message, format!("the list of tags of `{url}` does not end"));
        assert!(error.remedy.is_some());
        let asked = server.targets().len();
        assert!(if own { asked <= 2 } else { asked == 100 }, "{asked}");
    }
}

#[test]
fn a_program_that_cannot_name_the_user_is_told_where_nobody_is_let_in() {
    let server = Server::start(|_| {
        let challenge = "Basic realm=\"x\"".to_owned();
        Response::Answer(401, vec![("WWW-Authenticate", challenge)], Vec::new())
    });
    let url = format!("oci://{}/flux", server.host());
    let credentials = Credentials::new(r#"{"credsStore": "of-nobody-at-all"}"#);
    let error = open_as(&[&url], settings(None), credentials)
        .versions("flux")
        .unwrap_err();
    assert_eq!(error.kind, PortErrorKind::Forbidden);
    let why = "; the program `docker-credential-of-nobody-at-all` cannot be started: ";
    assert!(error.message.contains(why), "{error}");
}
