//! Rows 7 to 13: hand edits, and options that look like edits. Their cores: `refit-core/tests/flux/edits.rs` and
//! `forms.rs`, `refit-core/src/options.rs`.

use crate::world::{Lines, World, lines, pristine, six};

/// Upgrades a manifest, and gives the differences from a target after a change that the user's options make to it.
fn upgraded(ours: &str, to: &str, expected: &str) -> Option<Lines> {
    let world = World::of(ours)?;
    world.upgrade(&[&format!("flux@{to}")]);
    Some(lines(expected, &world.generated()))
}

#[test]
fn row_7_tolerations_by_hand_stay_in_every_deployment_although_documents_move() {
    let (Some(base), Some(target)) = (six("v0.41.2"), six("v2.6.4")) else {
        return;
    };
    let block = "      tolerations:\n        - key: \"node-role\"\n          operator: \"Equal\"\n          value: \"infra\"\n          \
                 effect: \"NoSchedule\"\n";
    let ours = base.replace("      containers:\n", &format!("{block}      containers:\n"));
    assert_eq!(ours.matches(block).count(), 6);
    let Some(world) = World::of(&ours) else { return };
    world.upgrade(&["flux@v2.6.4"]);
    let after = world.generated();
    assert_eq!(
        lines(&target, &after),
        Lines {
            gone: Vec::new(),
            come: block.repeat(6).lines().map(ToOwned::to_owned).collect()
        }
    );
    assert_eq!(after.matches(&format!("{block}      containers:\n")).count(), 6);
}

#[test]
fn row_8_toleration_keys_are_an_option_and_generated_anew() {
    let with_option = |text: String| -> String {
        let option = "      tolerations:\n      - key: node-role\n        operator: Exists\n";
        let line = |line: &str| match line.starts_with("      terminationGracePeriodSeconds: ") {
            true => format!("{line}{option}"),
            false => line.to_owned(),
        };
        text.split_inclusive('\n').map(line).collect()
    };
    let (Some(ours), Some(target)) = (
        pristine("v0.34.0").map(with_option),
        pristine("v2.6.4").map(with_option),
    ) else {
        return;
    };
    assert_eq!(ours.matches("tolerations:").count(), 4);
    let Some(world) = World::of(&ours) else { return };
    let inventory = world.run(&["inventory"]);
    assert!(
        inventory
            .json
            .to_string()
            .contains(r#"{"name":"toleration-keys","value":"node-role"}"#)
    );
    world.upgrade(&["flux@v2.6.4"]);
    assert_eq!(lines(&target, &world.generated()), Lines::none());
}

#[test]
fn row_9_the_cluster_domain_reaches_every_address_of_the_new_release() {
    let own = |text: String| text.replace(".svc.cluster.local", ".svc.corp.internal");
    let (Some(ours), Some(target)) = (pristine("v0.29.5").map(own), pristine("v2.6.4").map(own)) else {
        return;
    };
    assert_eq!(upgraded(&ours, "v2.6.4", &target), Some(Lines::none()));
}

#[test]
fn row_10_a_domain_that_one_argument_carries_is_given_to_those_that_come() {
    let own = |text: String| text.replace(".svc.cluster.local", ".svc.corp.internal");
    let (Some(ours), Some(target)) = (pristine("v0.10.0").map(own), pristine("v0.41.2").map(own)) else {
        return;
    };
    assert_eq!(ours.matches(".svc.corp.internal").count(), 1);
    assert_eq!(target.matches(".svc.corp.internal").count(), 4);
    assert_eq!(upgraded(&ours, "v0.41.2", &target), Some(Lines::none()));
}

#[test]
fn row_11_a_mistyped_domain_is_kept_and_reported() {
    let mistyped = |text: String| text.replace(".svc.cluster.local", ".svc.cluster-local");
    let (Some(ours), Some(target)) = (pristine("v2.0.0-rc.5").map(mistyped), pristine("v2.6.4").map(mistyped)) else {
        return;
    };
    let Some(world) = World::of(&ours) else { return };
    let answer = world.upgrade(&["flux@v2.6.4"]);
    let found = answer.finding("OddClusterDomain");
    assert!(
        found.contains("name the domain `cluster-local`, perhaps mistyped for `cluster.local`"),
        "{found}"
    );
    assert_eq!(lines(&target, &world.generated()), Lines::none());
}

#[test]
fn row_11_one_mistyped_address_stays_an_edit_and_is_reported() {
    let (Some(base), Some(target)) = (pristine("v2.0.0-rc.5"), pristine("v2.6.4")) else {
        return;
    };
    let ours = base.replacen(".svc.cluster.local", ".svc.cluster-local", 1);
    let Some(world) = World::of(&ours) else { return };
    let answer = world.upgrade(&["flux@v2.6.4"]);
    let found = answer.finding("OddClusterDomain");
    assert!(
        found.contains("an argument of source-controller names the domain `cluster-local`"),
        "{found}"
    );
    let address =
        |domain: &str| format!("        - --events-addr=http://notification-controller.flux-system.svc.{domain}./");
    let expected = Lines {
        gone: vec![address("cluster.local")],
        come: vec![address("cluster-local")],
    };
    assert_eq!(lines(&target, &world.generated()), expected);
}

/// Gives a manifest without its network policies.
pub(crate) fn without_policies(text: &str) -> String {
    let documents: Vec<&str> = text
        .split("\n---\n")
        .filter(|document| !document.contains("kind: NetworkPolicy\n"))
        .collect();
    let joined = documents.join("\n---\n");
    if joined.ends_with('\n') { joined } else { joined + "\n" }
}

#[test]
fn row_12_another_namespace_without_policies_stays_what_it_is() {
    let own = |text: String| without_policies(&text).replace("flux-system", "system-flux");
    let (Some(ours), Some(target)) = (pristine("v0.12.3").map(own), pristine("v2.6.4").map(own)) else {
        return;
    };
    let Some(world) = World::of(&ours) else { return };
    world.upgrade(&["flux@v2.6.4"]);
    let after = world.generated();
    assert_eq!(lines(&target, &after), Lines::none());
    assert!(!after.contains("flux-system") && !after.contains("NetworkPolicy"));
}

#[test]
fn row_13_policies_that_are_absent_by_option_do_not_come_back() {
    let Some(world) = World::snapshot("andreswebs+k8s-fleet-fluxcd-template/2021-05-04") else {
        return;
    };
    world.upgrade(&["flux@v2.6.4"]);
    let Some(target) = pristine("v2.6.4") else { return };
    let after = world.text("flux-system/gotk-components.yaml");
    // This user had taken the comments at the top out.
    let (_, below) = target.split_once("\napiVersion: ").unwrap_or_default();
    let expected = without_policies(&format!("apiVersion: {below}"));
    assert_eq!(lines(&expected, &after), Lines::none());
}
