//! Sources of releases as a user meets them: the environment, servers that are gone, and secrets that must not show.

#![expect(clippy::unwrap_used, reason = "a test may fail where it stands")]

use std::path::Path;
use std::process::{Command, Output};

use refit_testkit::http::{Authority, Proxy, Response, Server, file_of};
use refit_testkit::shared;

/// Runs the program with nothing of the user's environment but these variables.
fn refit(arguments: &[&str], variables: &[(&str, &str)]) -> Output {
    let folder = tempfile::tempdir().unwrap();
    Command::new(env!("CARGO_BIN_EXE_refit"))
        .args(arguments)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", folder.path())
        .envs(variables.iter().copied())
        .current_dir(folder.path())
        .output()
        .unwrap()
}

fn text(output: &Output) -> String {
    format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

/// Gives a folder that `catalog pull` wrote of the examples.
fn pulled() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let examples = shared::root().join("examples/catalog").display().to_string();
    let to = folder.path().display().to_string();
    let output = refit(
        &[
            "catalog",
            "pull",
            "v2.4.0",
            "v2.6.4",
            "--to",
            &to,
            "--catalog",
            &examples,
        ],
        &[],
    );
    assert!(output.status.success(), "{}", text(&output));
    folder
}

fn serve(folder: &Path, authority: Option<&Authority>) -> Server {
    let folder = folder.to_owned();
    let handler = move |request: &refit_testkit::http::Request| file_of(&folder, &request.target);
    match authority {
        Some(authority) => Server::start_tls(authority, handler),
        None => Server::start(handler),
    }
}

const LISTED: &str = "v2.4.0\nv2.6.4\n";

#[test]
fn a_pulled_folder_can_be_served() {
    let folder = pulled();
    let server = serve(folder.path(), None);
    let output = refit(&["catalog", "list", "--catalog", &server.url()], &[]);
    assert_eq!(String::from_utf8_lossy(&output.stdout), LISTED, "{}", text(&output));
    let output = refit(&["catalog", "verify", "--catalog", &server.url()], &[]);
    assert!(output.status.success(), "{}", text(&output));
}

#[test]
fn an_authority_of_ones_own_is_trusted_when_it_is_named() {
    let (folder, authority) = (pulled(), Authority::make());
    let server = serve(folder.path(), Some(&authority));
    let arguments = ["catalog", "verify", "v2.6.4", "--catalog", &server.url()];
    let output = refit(&arguments, &[]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output));
    assert!(text(&output).contains("SSL_CERT_FILE"), "{}", text(&output));
    let file = authority.file().display().to_string();
    let output = refit(&arguments, &[("SSL_CERT_FILE", &file)]);
    assert!(output.status.success(), "{}", text(&output));
}

#[test]
fn the_proxy_of_the_environment_is_used() {
    let folder = pulled();
    let server = serve(folder.path(), None);
    let proxy = Proxy::start(&server);
    let arguments = ["catalog", "list", "--catalog", "http://releases.example:8080"];
    let url = proxy.url().replace("//", "//ada:planted@");
    let output = refit(&arguments, &[("HTTP_PROXY", &url)]);
    assert_eq!(String::from_utf8_lossy(&output.stdout), LISTED, "{}", text(&output));
    assert!(proxy.targets().iter().all(|target| target == "releases.example:8080"));
    assert!(!proxy.targets().is_empty());
    let output = refit(&arguments, &[("HTTP_PROXY", &url), ("NO_PROXY", "releases.example")]);
    assert!(text(&output).contains("SourceUnreachable"), "{}", text(&output));
    assert!(!text(&output).contains("planted"), "{}", text(&output));
}

#[test]
fn a_redirect_that_gives_up_tls_is_refused() {
    let (folder, authority) = (pulled(), Authority::make());
    let plain = serve(folder.path(), None);
    let to = plain.url();
    let server = Server::start_tls(&authority, move |request| {
        Response::redirect(format!("{to}{}", request.target))
    });
    let file = authority.file().display().to_string();
    let output = refit(
        &["catalog", "list", "--catalog", &server.url()],
        &[("SSL_CERT_FILE", &file)],
    );
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output).contains("not protected by TLS"), "{}", text(&output));
    assert!(plain.targets().is_empty(), "nothing is asked over http");
}

#[test]
fn a_source_that_is_gone_is_a_finding_for_lists_and_an_error_for_contents() {
    let server = Server::start(|_| Response::status(404));
    let url = server.url().replace("//", "//ada:planted@");
    server.stop();
    let examples = shared::root().join("examples/catalog").display().to_string();
    let output = refit(&["catalog", "list", "--catalog", &url, "--catalog", &examples], &[]);
    assert!(output.status.success());
    let shown = text(&output);
    assert!(
        shown.contains("warning: SourceUnreachable:") && shown.contains("v2.6.4"),
        "{shown}"
    );
    for arguments in [
        &["render", "flux@v2.6.4", "--catalog", &url][..],
        &["catalog", "verify", "v2.6.4", "--catalog", &url, "-o", "json"],
    ] {
        let output = refit(arguments, &[]);
        assert_eq!(output.status.code(), Some(1));
        let shown = text(&output);
        assert!(
            shown.contains("refit catalog pull") && shown.contains("--catalog DIR"),
            "{shown}"
        );
        assert!(!shown.contains("planted"), "{shown}");
    }
}

#[test]
fn contents_fetched_once_are_there_without_the_server() {
    let (folder, home) = (pulled(), tempfile::tempdir().unwrap());
    let cache = home.path().display().to_string();
    let server = serve(folder.path(), None);
    let url = server.url();
    let arguments = ["render", "flux@v2.6.4", "--catalog", &url];
    let first = refit(&arguments, &[("XDG_CACHE_HOME", &cache)]);
    assert!(first.status.success(), "{}", text(&first));
    server.stop();
    for variables in [
        &[("XDG_CACHE_HOME", cache.as_str())][..],
        &[("XDG_CACHE_HOME", cache.as_str()), ("REFIT_OFFLINE", "1")],
    ] {
        let again = refit(&arguments, variables);
        assert_eq!(again.stdout, first.stdout, "{}", text(&again));
    }
    let without = refit(&arguments, &[("REFIT_OFFLINE", "1")]);
    assert_eq!(without.status.code(), Some(1));
    assert!(text(&without).contains("`--offline` is set"), "{}", text(&without));
}
