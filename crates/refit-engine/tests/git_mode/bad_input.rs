//! Bad input ends with a clear line, the right exit code, and nothing written.

use refit_core::finding::Finding;
use refit_engine::ports::{Content, PortError, PortErrorKind, Releases, Repository};
use refit_engine::{Ask, Others};

use crate::world::{GENERATED, World, ask, manifest, one, told, upgrade, upgrade_asked};

/// Upgrades and checks exit, codes of the blocking findings, and that nothing was written.
fn check(world: &World, asked: &Ask, exit: u8, codes: &[&str]) {
    let before = world.picture();
    let report = world.run(|ports| {
        let prepared = refit_engine::plan(ports, asked)?;
        refit_engine::carry_out(ports, &prepared, Others::Stop).map(one)
    });
    let report = report.unwrap();
    let blocking = report.body.findings.iter().filter(|finding| Finding::blocks(finding));
    let found: Vec<&str> = blocking.map(|finding| finding.code.word()).collect();
    assert_eq!(
        (report.exit.code(), found.as_slice()),
        (exit, codes),
        "{}",
        report.message
    );
    assert!(exit == 0 || !report.next.is_empty(), "no remedy: {}", report.message);
    assert_eq!(world.picture(), before);
}

fn file(text: &str) -> World {
    World::with(&[(GENERATED, text)])
}

#[test]
fn files_that_are_no_plane_or_cannot_be_read_block() {
    let pristine = manifest("v7.1.0", &["v1beta2", "v1"]);
    check(&World::with(&[("README.md", "hello")]), &ask(""), 3, &["PlaneNotFound"]);
    check(&file(""), &ask(""), 3, &["PlaceholderManifest"]);
    check(&file("# nothing yet\n"), &ask(""), 3, &["PlaceholderManifest"]);
    let conflict = format!("<<<<<<< HEAD\n{pristine}=======\n>>>>>>> other\n");
    check(&file(&conflict), &ask(""), 3, &["ConflictMarkers"]);
    check(
        &file(&pristine.replace("  replicas: 1\n", "  replicas: 1\n bad\n")),
        &ask(""),
        3,
        &["UnreadableFile"],
    );
    let deep = format!(
        "{pristine}---\nkind: A\nmetadata: {{name: a}}\nspec: {}\n",
        "[".repeat(5000)
    );
    check(&file(&deep), &ask(""), 3, &["TooDeep"]);
    let sync = "clusters/production/flux-system/kustomization.yaml";
    let broken = World::with(&[(GENERATED, &pristine), (sync, "resources: [gotk-components.yaml\n")]);
    check(&broken, &ask(""), 3, &["UnreadableFile"]);
    let record = World::with(&[(GENERATED, &pristine), (".refit/production.json", "{")]);
    check(&record, &ask(""), 3, &["UnreadableFile"]);
}

#[test]
fn a_file_that_is_not_utf_8_blocks_in_the_plane_and_warns_elsewhere() {
    use refit_engine::ports::{Change, Repository};
    let with_bytes = |path: &str, bytes: &[u8]| {
        let world = World::new(|text| text);
        let head = world.repository.branch("main").unwrap().unwrap();
        let change = Change {
            path: path.into(),
            entry: Some(refit_manifest::Entry::file(bytes)),
        };
        let commit = world.repository.commit(&head, &[change], "By hand\n").unwrap();
        world.repository.publish("main", Some(&commit), Some(&head)).unwrap();
        world
    };
    let mut bytes = manifest("v7.1.0", &["v1"]).into_bytes();
    bytes.push(0xff);
    check(&with_bytes(GENERATED, &bytes), &ask(""), 3, &["InvalidUtf8"]);
    let elsewhere = with_bytes("apps/a.yaml", b"a: \xff\n");
    assert!(upgrade(&elsewhere, "").starts_with("6 "));
}

#[test]
fn targets_that_cannot_be_are_refused() {
    let world = World::new(|text| text);
    check(&world, &ask("flux@v7.2.9"), 3, &["UnknownVersion"]);
    check(&world, &ask("flux@v7.0.0"), 3, &["DowngradeRefused"]);
    check(&dead_end(), &ask("flux@v7.4.0"), 3, &["StoredVersionRemoved"]);
    check(&world, &ask("flux@v7.1.0"), 0, &[]);
    assert_eq!(upgrade(&world, "flux@latest"), "2 error: `latest` is not a version");
    assert_eq!(upgrade(&world, "helm@v1.0.0"), "2 error: platform `helm` is not known");
    let patch = Ask {
        target: refit_engine::Target {
            reach: refit_engine::Reach::Patch,
            ..Default::default()
        },
        ..Ask::default()
    };
    check(&world, &patch, 0, &[]);
}

/// A release that lacks whatever the ones before it store.
fn dead_end() -> World {
    let mut world = World::new(|text| text);
    world.releases.add(refit_testkit::releases::ReleaseFile {
        platform: "flux",
        version: "v7.4.0",
        name: "gotk-components.yaml",
        text: &manifest("v7.4.0", &["v2"]),
    });
    world
}

#[test]
fn a_release_that_cannot_be_reached_is_passed_over_and_the_reason_told() {
    let world = dead_end();
    let report = world.run(|ports| refit_engine::plan(ports, &ask(""))).unwrap().report();
    let body = one(report).body;
    assert_eq!(body.to, "v7.3.0");
    let chosen = body
        .findings
        .iter()
        .find(|finding| finding.code.word() == "TargetChosen")
        .unwrap();
    assert!(
        chosen.message.starts_with("chosen because v7.4.0 cannot be reached: "),
        "{}",
        chosen.message
    );
}

#[test]
fn accepting_a_blocking_finding_changes_nothing() {
    let asked = Ask {
        accept: vec!["StoredVersionRemoved".parse().unwrap()],
        ..ask("flux@v7.4.0")
    };
    check(&dead_end(), &asked, 3, &["StoredVersionRemoved"]);
}

#[test]
fn an_accepted_warning_is_recorded() {
    let world = World::new(|text| text);
    let asked = Ask {
        accept: vec!["CatalogOlderThanTarget".parse().unwrap()],
        ..ask("")
    };
    assert!(upgrade_asked(&world, &asked, Others::Stop).starts_with("6 "));
    let record = world.text(&world.branch(), ".refit/production.json").unwrap();
    assert!(record.contains("\"code\": \"CatalogOlderThanTarget\""), "{record}");
}

#[test]
fn a_base_that_cannot_be_had_blocks_and_a_given_file_helps() {
    let unknown = manifest("v7.1.5", &["v1beta2", "v1"]);
    let world = file(&unknown.replace("replicas: 1", "replicas: 7"));
    check(&world, &ask("flux@v7.2.0"), 3, &["BaseUnknown"]);
    let given = Ask {
        base_file: Some(unknown.clone().into_bytes().into()),
        ..ask("flux@v7.2.0")
    };
    assert!(upgrade_asked(&world, &given, Others::Stop).starts_with("6 "));

    let world = file(&unknown);
    world.commit(
        "main",
        GENERATED,
        &unknown.replace("--log-level=info", "--log-level=debug"),
    );
    assert!(
        upgrade(&world, "flux@v7.2.0").starts_with("6 "),
        "the commit that brought the version is a base"
    );
    assert!(
        world
            .text(&world.branch(), GENERATED)
            .unwrap()
            .contains("--log-level=debug")
    );
}

#[test]
fn one_of_several_clusters_must_be_named() {
    let text = manifest("v7.1.0", &["v1beta2", "v1"]);
    let world = World::with(&[
        ("clusters/a/flux-system/g.yaml", &text),
        ("clusters/b/flux-system/g.yaml", &text),
    ]);
    check(&world, &ask(""), 2, &[]);
    let named = |name: &str| Ask {
        clusters: vec![name.into()],
        ..Ask::default()
    };
    assert_eq!(
        upgrade_asked(&world, &named("c"), Others::Stop),
        "2 error: there is no cluster `c` on `main`"
    );
    assert!(upgrade_asked(&world, &named("b"), Others::Stop).starts_with("6 "));
    assert_eq!(
        world.text(&world.branch(), "clusters/a/flux-system/g.yaml").unwrap(),
        text
    );
    // The other cluster is not held up by it.
    assert!(upgrade_asked(&world, &named("clusters/a/flux-system"), Others::Stop).starts_with("6 "));
}

struct Damaged<'a>(&'a dyn Releases, &'static str);

impl Releases for Damaged<'_> {
    fn location(&self) -> String {
        self.0.location()
    }
    fn versions(&self, platform: &str) -> Result<Vec<String>, PortError> {
        self.0.versions(platform)
    }
    fn contents(&self, platform: &str, version: &str) -> Result<Vec<Content>, PortError> {
        if version == self.1 {
            return Err(PortError::new(
                PortErrorKind::Corrupt,
                format!("{version} has another digest than recorded"),
            ));
        }
        self.0.contents(platform, version)
    }
}

#[test]
fn a_catalog_file_with_another_digest_blocks_on_either_side() {
    for version in ["v7.1.0", "v7.2.0"] {
        let world = World::new(|text| text);
        let damaged = Damaged(&world.releases, version);
        let report = world.run_through(&world.repository, &world.forge, &damaged, |ports| {
            Ok(one(refit_engine::plan(ports, &ask("flux@v7.2.0"))?.report()))
        });
        let report = report.unwrap();
        assert_eq!(report.exit.code(), 3);
        assert!(report.message.starts_with("DigestMismatch"), "{}", report.message);
    }
}

#[test]
fn a_branch_that_does_not_exist_is_an_error() {
    let world = World::new(|text| text);
    let asked = Ask {
        base: Some("gone".into()),
        ..Ask::default()
    };
    assert_eq!(
        upgrade_asked(&world, &asked, Others::Stop),
        "1 error: there is no branch `gone`"
    );
}

#[test]
fn numbers_and_decisions_that_do_not_exist_are_usage_errors() {
    let world = World::new(|text| text);
    let shown =
        |number| told(world.run(|ports| refit_engine::request_show(ports, number).map(|r| (r.exit.code(), r.message))));
    assert_eq!(shown(None), "2 error: no request is open");
    assert_eq!(shown(Some(4)), "2 error: there is no request 4");
    let answer = Some((refit_manifest::DecisionId("zz".into()), refit_manifest::Answer::Ours));
    let resolved = told(world.run(|ports| {
        refit_engine::resolve(ports, &ask(""), answer)
            .map(one)
            .map(|r| (r.exit.code(), r.message))
    }));
    assert_eq!(resolved, "2 error: there is no decision `zz` in the upgrade to v7.2.0");
}

#[test]
fn a_damaged_note_is_an_error_that_names_its_reference() {
    let world = World::new(|text| text);
    world.repository.put_note("decisions/x", Some(b"{"), None).unwrap();
    let resumed = world.run(|ports| refit_engine::resume(ports, &ask(""), refit_engine::Commits::Stop).map(one));
    let error = resumed.unwrap_err();
    assert_eq!(
        (error.exit().code(), error.to_string().as_str()),
        (1, "could not read note `refs/refit/decisions/x`")
    );
    assert!(error.remedy().unwrap().contains("`git show refs/refit/decisions/x`"));
}
