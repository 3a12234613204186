//! The real programs of the tests start, answer and end.

use std::fs;
use std::net::TcpStream;
use std::panic;
use std::process::Command;

use refit_testkit::shared;
use refit_testkit::testenv::{self, Registry, Serve};

#[test]
fn kustomize_of_the_wanted_version_is_built() {
    let Some(kustomize) = testenv::kustomize() else { return };
    let output = Command::new(kustomize).arg("version").output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "v5.8.1");
}

#[test]
fn a_part_that_cannot_be_built_fails_and_leaves_nothing() {
    if Command::new("go").arg("version").output().is_err() {
        println!("skipped: `go` is not installed");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let output = Command::new(shared::root().join("testenv/build"))
        .arg("kustomize")
        .env("REFIT_TESTENV", folder.path())
        .env("GOMODCACHE", folder.path().join("modules"))
        .env("GOPROXY", "off")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(output.stdout, b"");
    let left = fs::read_dir(folder.path()).unwrap().flatten();
    let mut names: Vec<_> = left.map(|entry| entry.file_name().into_string().unwrap()).collect();
    names.retain(|name| name.starts_with("kustomize") && name != "kustomize.lock");
    assert_eq!(names, [""; 0], "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn two_registries_have_ports_of_their_own() {
    let (Some(one), Some(two)) = (Registry::start(), Registry::start_for(Serve::User)) else {
        return;
    };
    assert_ne!(one.host(), two.host());
    assert_ne!(one.process(), two.process());
}

#[test]
fn a_registry_ends_with_a_test_that_panics() {
    let Some(registry) = Registry::start() else { return };
    let host = registry.host();
    TcpStream::connect(&host).unwrap();
    let ended = panic::catch_unwind(move || {
        let _held = registry;
        panic::panic_any("on purpose");
    });
    assert!(ended.is_err());
    assert!(TcpStream::connect(&host).is_err(), "it still listens");
}
