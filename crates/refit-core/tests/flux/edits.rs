//! Edits of users and other tools do not mislead, and mixed states are told.

use refit_core::catalog::Catalog;
use refit_core::detect::{Recognised, detect, recognise};
use refit_core::generated::Generated;
use refit_core::options::{OddDomain, odd_domains, recover};
use refit_manifest::{Identity, Stream};

use crate::support::{Manifest, below_header, each_version, examples, read, shared, split};
use crate::verdict::verdict;

const VERSION: &str = "v2.5.1";

fn pristine() -> String {
    let stream = read(&examples().join(VERSION).join("gotk-components.yaml"));
    String::from_utf8(stream.bytes().to_vec()).unwrap()
}

fn verdict_of(text: &str) -> String {
    verdict(&split(text.as_bytes()), &Catalog::flux().unwrap()).unwrap_or_else(|| "not a manifest".to_owned())
}

/// Replaces all places of each text, and compares the verdict.
fn check(edits: &[(&str, &str)], expected: &str) {
    let mut text = pristine();
    for (from, to) in edits {
        assert!(text.contains(from), "{from:?} is not in the manifest");
        text = text.replace(from, to);
    }
    assert_eq!(verdict_of(&text), expected);
}

const SOURCE: &str = "ghcr.io/fluxcd/source-controller:v1.5.0";
const LABEL: &str = "app.kubernetes.io/version: v2.5.1";
const HEADER: &str = "# Flux Version: v2.5.1\n";

#[test]
fn one_changed_registry_is_an_edit_and_all_changed_are_an_option() {
    check(&[(SOURCE, "mirror.example/flux/source-controller:v1.5.0")], "v2.5.1");
    check(
        &[("ghcr.io/fluxcd/", "mirror.example/flux/")],
        "v2.5.1, registry \"mirror.example/flux\"",
    );
}

#[test]
fn one_changed_argument_is_an_edit_and_all_changed_are_an_option() {
    let address = "--storage-adv-addr=source-controller.$(RUNTIME_NAMESPACE).svc.cluster.local.";
    check(
        &[(address, &address.replace("cluster.local", "cluster-local"))],
        "v2.5.1",
    );
    check(&[("svc.cluster.local", "svc.corp")], "v2.5.1, clusterDomain \"corp\"");
    check(
        &[(
            "--log-level=info\n        - --log-encoding=json\n        - --enable-leader-election\n        - --storage",
            "--log-level=debug\n        - --log-encoding=json\n        - --enable-leader-election\n        - --storage",
        )],
        "v2.5.1",
    );
    check(
        &[("--log-level=info", "--log-level=debug")],
        "v2.5.1, logLevel \"debug\"",
    );
    check(
        &[("--watch-all-namespaces=true", "--watch-all-namespaces=false")],
        "v2.5.1, watchAllNamespaces false",
    );
}

#[test]
fn a_domain_that_looks_mistyped_is_named_with_the_controllers_that_state_it() {
    let catalog = Catalog::flux().unwrap();
    let odd = |text: &str| -> Vec<String> {
        let stream = split(text.as_bytes());
        let manifest = Generated::read(&stream, &catalog);
        let found = odd_domains(&manifest, &recover(&manifest, &catalog), "cluster.local");
        let line = |odd: &OddDomain| format!("{} for {}: {}", odd.domain, odd.expected, odd.controllers.join(","));
        found.iter().map(line).collect()
    };
    let text = pristine();
    assert_eq!(odd(&text), [""; 0]);
    assert_eq!(odd(&text.replace("svc.cluster.local", "svc.corp.internal")), [""; 0]);
    let one = text.replacen("svc.cluster.local", "svc.corp.internal", 1);
    assert_eq!(odd(&one), ["corp.internal for cluster.local: source-controller"]);
    let all = odd(&text.replace("svc.cluster.local", "svc.cluster-local"));
    assert_eq!(
        all,
        ["cluster-local for cluster.local: source-controller,kustomize-controller,helm-controller"]
    );
}

#[test]
fn tolerations_of_all_controllers_are_an_option_wherever_they_stand_and_those_of_one_an_edit() {
    let anywhere =
        "    spec:\n      tolerations:\n      - key: \"dedicated\"\n        operator: \"Exists\"\n      containers:\n";
    check(
        &[("    spec:\n      containers:\n", anywhere)],
        "v2.5.1, tolerationKeys [\"dedicated\"]",
    );
    let effect = "    spec:\n      tolerations:\n      - {key: dedicated, operator: Exists, effect: NoSchedule}\n      containers:\n";
    check(&[("    spec:\n      containers:\n", effect)], "v2.5.1");
    let one = "serviceAccountName: helm-controller\n      tolerations: [{key: dedicated, operator: Exists}]\n";
    check(&[("serviceAccountName: helm-controller\n", one)], "v2.5.1");
}

#[test]
fn a_pull_secret_of_all_controllers_is_an_option() {
    let secret = "      imagePullSecrets:\n      - name: pull\n      nodeSelector:\n";
    check(&[("      nodeSelector:\n", secret)], "v2.5.1, imagePullSecret \"pull\"");
}

#[test]
fn an_edited_name_of_the_namespace_object_does_not_move_the_plane() {
    check(
        &[(
            "pod-security.kubernetes.io/warn-version: latest\n  name: flux-system\n",
            "pod-security.kubernetes.io/warn-version: latest\n  name: other\n",
        )],
        "v2.5.1",
    );
    check(&[("flux-system", "wego-system")], "v2.5.1, namespace \"wego-system\"");
}

#[test]
fn a_removed_network_policy_is_an_edit_and_all_removed_are_an_option() {
    check(&[("name: allow-egress\n", "name: mine\n")], "v2.5.1");
    check(
        &[("kind: NetworkPolicy\n", "kind: Other\n")],
        "v2.5.1, networkPolicies false",
    );
}

#[test]
fn tags_that_a_bot_raised_do_not_mislead() {
    let raised = "Deployment/source-controller is source-controller:v1.6.2 instead of source-controller:v1.5.0";
    check(
        &[(SOURCE, "ghcr.io/fluxcd/source-controller:v1.6.2")],
        &format!("v2.5.1; {raised}"),
    );
    let pinned = "ghcr.io/fluxcd/source-controller:v1.5.0@sha256:0f0f";
    check(&[(SOURCE, pinned)], "v2.5.1");
    let other = "Deployment/source-controller is mine:test instead of source-controller:v1.5.0";
    check(&[(SOURCE, "ghcr.io/user/mine:test")], &format!("v2.5.1; {other}"));
}

#[test]
fn a_header_that_a_bot_raised_with_the_images_is_told_and_labels_decide() {
    let edits = [
        (HEADER, "# Flux Version: v2.6.4\n"),
        (SOURCE, "ghcr.io/fluxcd/source-controller:v1.6.2"),
    ];
    let expected = "v2.5.1; header is v2.6.4 instead of v2.5.1; \
        Deployment/source-controller is source-controller:v1.6.2 instead of source-controller:v1.5.0";
    check(&edits, expected);
}

#[test]
fn definitions_of_a_newer_release_are_told_and_the_rest_decides() {
    let newer = read(&examples().join("v2.6.4/gotk-components.yaml"));
    let name = "ocirepositories.source.toolkit.fluxcd.io";
    let definition = |stream: &Stream| {
        let mut found = stream.objects().filter(|(identity, _)| identity.name.as_ref() == name);
        found.next().unwrap().1.body_text().replace("v2.6.4", "v2.5.1")
    };
    let old = definition(&split(pristine().as_bytes()));
    let new = definition(&newer);
    let expected = format!("v2.5.1; CustomResourceDefinition/{name} is v1*/v1beta2 instead of v1beta2*");
    check(&[(&old, &new)], &expected);
}

#[test]
fn labels_that_images_and_definitions_both_refute_do_not_decide() {
    let text = pristine().replace(LABEL, "app.kubernetes.io/version: v0.41.2");
    let verdict = verdict_of(&text);
    assert!(
        verdict.starts_with("v2.5.1; Namespace/flux-system is v0.41.2 instead of v2.5.1;"),
        "{verdict}"
    );
}

#[test]
fn labels_without_the_letter_count_and_latest_does_not() {
    check(&[(LABEL, "app.kubernetes.io/version: 2.5.1")], "v2.5.1");
    check(&[(LABEL, "app.kubernetes.io/version: latest")], "v2.5.1");
    check(&[(LABEL, "app.kubernetes.io/version: latest"), (HEADER, "")], "v2.5.1");
    let unknown = pristine()
        .replace(LABEL, "app.kubernetes.io/version: latest")
        .replace("-controller:v1", "-controller:sha-v1");
    let verdict = verdict_of(&unknown);
    assert!(
        verdict.starts_with("v2.5.1; Deployment/source-controller is source-controller:sha-v1.5.0"),
        "{verdict}"
    );
    assert_eq!(verdict_of(&unknown.replace(HEADER, "")), "unclear");
    assert_eq!(
        verdict_of(&unknown.replace(HEADER, "# Flux Version: v0.41.2\n")),
        "unclear v0.41.2"
    );
    let some = unknown.replace("  - name: v1beta3\n", "  - name: v1beta4\n");
    assert!(
        verdict_of(&some).starts_with("v2.5.1 (header only); "),
        "{}",
        verdict_of(&some)
    );
}

#[test]
fn releases_with_the_same_images_and_definitions_are_all_named_where_nothing_chooses() {
    let tags = [
        ("source-controller:v1.5.0", "source-controller:v1.4.1"),
        ("kustomize-controller:v1.5.1", "kustomize-controller:v1.4.0"),
        ("helm-controller:v1.2.0", "helm-controller:v1.1.0"),
        ("notification-controller:v1.5.0", "notification-controller:v1.4.0"),
        (LABEL, "app.kubernetes.io/version: latest"),
    ];
    check(&tags, "v2.4.0; header is v2.5.1 instead of v2.4.0");
    let mut ambiguous =
        read_text("v2.6.4").replace("app.kubernetes.io/version: v2.6.4", "app.kubernetes.io/version: latest");
    for (name, tag) in [
        ("source", "v1.6.0"),
        ("kustomize", "v1.6.0"),
        ("helm", "v1.3.0"),
        ("notification", "v1.6.0"),
    ] {
        let image = format!("fluxcd/{name}-controller:");
        let at = ambiguous.find(&image).unwrap() + image.len();
        let end = at + ambiguous[at..].find('\n').unwrap();
        ambiguous.replace_range(at..end, tag);
    }
    assert_eq!(verdict_of(&ambiguous), "unclear v2.6.0|v2.6.1");
    assert_eq!(
        verdict_of(&ambiguous.replace("# Flux Version: v2.6.4", "# Flux Version: v2.6.1")),
        "v2.6.1"
    );
}

fn read_text(version: &str) -> String {
    String::from_utf8(
        read(&examples().join(version).join("gotk-components.yaml"))
            .bytes()
            .to_vec(),
    )
    .unwrap()
}

#[test]
fn versions_before_and_after_the_catalog_are_detected_from_labels_and_header() {
    for version in ["v0.8.0", "v3.1.0"] {
        check(&[("v2.5.1", version)], &format!("{version} (not in the catalog)"));
    }
}

#[test]
fn formatting_does_not_matter() {
    let text = pristine();
    assert_eq!(verdict_of(&text.replace('\n', "\r\n")), "v2.5.1");
    assert_eq!(verdict_of(&format!("\u{feff}{text}")), "v2.5.1");
    let wider: Vec<String> = text.lines().map(widen).collect();
    assert_eq!(verdict_of(&wider.join("\n")), "v2.5.1");
    assert_eq!(verdict_of(&text.replace("  creationTimestamp: null\n", "")), "v2.5.1");
}

/// Indents by four instead of two.
fn widen(line: &str) -> String {
    let content = line.trim_start_matches(' ');
    let indent = " ".repeat(2 * (line.len() - content.len()));
    match content.strip_prefix("- ") {
        Some(rest) => format!("{indent}-   {rest}"),
        None => format!("{indent}{content}"),
    }
}

#[test]
fn patches_and_custom_resources_are_no_manifest_and_empty_files_are_placeholders() {
    let patch = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: source-controller, namespace: flux-system}\n";
    let resource = "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: flux-system}\n";
    let crd = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n\
        metadata: {name: alerts.notification.toolkit.fluxcd.io}\nspec: {preserveUnknownFields: false}\n";
    for text in [patch, resource, crd, &[patch, resource, crd].join("---\n")] {
        assert_eq!(verdict_of(text), "not a manifest", "{text}");
    }
    let chart = pristine().replace("control-plane: controller", "helm.sh/chart: flux2-2.15.0");
    assert_eq!(verdict_of(&chart), "not a manifest");
    for text in ["", "---\n", "# written later\n", "---\n# a\n---\n"] {
        assert_eq!(verdict_of(text), "placeholder", "{text}");
    }
}

#[test]
fn a_component_of_which_anything_is_left_is_there() {
    let text = pristine();
    let with = |dropped: &[&str]| {
        let stream = split(text.as_bytes());
        let kept = stream.documents().iter().filter(|document| {
            document
                .identity()
                .is_none_or(|identity| !dropped.contains(&format!("{}/{}", identity.kind, identity.name).as_str()))
        });
        let bytes: Vec<&str> = kept.map(|document| &text[document.span()]).collect();
        verdict_of(&bytes.concat())
    };
    assert_eq!(with(&["Deployment/notification-controller"]), "v2.5.1");
    let all = [
        "Deployment/notification-controller",
        "ServiceAccount/notification-controller",
        "Service/notification-controller",
        "Service/webhook-receiver",
        "CustomResourceDefinition/alerts.notification.toolkit.fluxcd.io",
        "CustomResourceDefinition/providers.notification.toolkit.fluxcd.io",
        "CustomResourceDefinition/receivers.notification.toolkit.fluxcd.io",
    ];
    assert_eq!(with(&all), "v2.5.1, 3 components");
}

#[test]
fn a_users_copy_of_a_controller_is_no_component_and_a_new_one_in_the_header_is() {
    let copy = |name: &str| {
        let text = pristine();
        let stream = split(text.as_bytes());
        let is_source =
            |identity: &Identity| format!("{}/{}", identity.kind, identity.name) == "Deployment/source-controller";
        let (_, deployment) = stream.objects().find(|(identity, _)| is_source(identity)).unwrap();
        let copied = text[deployment.span()].replace("name: source-controller\n", &format!("name: {name}\n"));
        text.clone() + &copied.replace("component: source-controller", &format!("component: {name}"))
    };
    assert_eq!(verdict_of(&copy("source-controller-shard1")), "v2.5.1");
    let listed = copy("new-controller").replace(
        "notification-controller\napi",
        "notification-controller,new-controller\napi",
    );
    assert_eq!(verdict_of(&listed), "v2.5.1, 5 components");
}

/// What other tools and users do to a manifest while the next release is out.
fn disguises(own: &Manifest, next: &Manifest) -> Vec<(&'static str, String)> {
    let text = String::from_utf8(own.stream.bytes().to_vec()).unwrap();
    let newer = String::from_utf8(next.stream.bytes().to_vec()).unwrap();
    let images: Vec<&str> = newer
        .lines()
        .filter(|line| line.trim_start().starts_with("image: ghcr.io/"))
        .collect();
    let raise = |line: &str| {
        let image = line.rsplit_once(':').map(|(image, _)| image).unwrap_or_default();
        let raised = images
            .iter()
            .find(|newer| line.contains("image: ghcr.io/") && newer.starts_with(&format!("{image}:")));
        raised.map_or_else(|| line.to_owned(), |newer| (*newer).to_owned())
    };
    let each_line = |change: &dyn Fn(&str) -> String| text.lines().map(|line| change(line) + "\n").collect::<String>();
    let raised = each_line(&raise);
    let header = raised.replacen(
        &format!("ersion: {}\n", own.version),
        &format!("ersion: {}\n", next.version),
        1,
    );
    let definitions = split(newer.as_bytes());
    let copied: String = own
        .stream
        .documents()
        .iter()
        .map(|document| {
            let is_definition = |identity: &&Identity| identity.kind.as_ref() == "CustomResourceDefinition";
            let copy = document.identity().filter(is_definition).and_then(|identity| {
                definitions
                    .objects()
                    .find(|(other, _)| *other == identity)
                    .map(|(_, copy)| &newer[copy.span()])
            });
            copy.unwrap_or(&text[document.span()])
        })
        .collect();
    vec![
        ("images raised", raised),
        ("images and header raised", header),
        ("definitions copied", copied),
        ("other indentation", each_line(&widen)),
        ("other line ends", text.replace('\n', "\r\n")),
        ("no comments at the top", below_header(text.as_bytes()).to_owned()),
    ]
}

#[test]
fn no_disguise_hides_the_version_or_the_options_of_any_release() {
    let catalog = Catalog::flux().unwrap();
    let mut last: Option<Manifest> = None;
    let mut at = 0;
    let folder = shared("flux-manifests").unwrap_or_else(examples);
    each_version(&folder, |version, mut manifests| {
        at += 1;
        let next = manifests.pop().unwrap();
        if let Some(own) = last.take().filter(|_| at % 3 == 0) {
            let expected = recover(&Generated::read(&own.stream, &catalog), &catalog);
            for (disguise, text) in disguises(&own, &next) {
                let stream = split(text.as_bytes());
                let title = format!("{} with {disguise} of {version}", own.version);
                assert_eq!(recognise(&stream, &catalog), Recognised::Manifest, "{title}");
                let manifest = Generated::read(&stream, &catalog);
                let found = detect(&manifest, &catalog);
                assert_eq!(
                    found.version.as_ref(),
                    Some(&own.version),
                    "{title}: {:?}",
                    found.evidence
                );
                assert_eq!(recover(&manifest, &catalog), expected, "{title}");
            }
        }
        last = Some(next);
    });
}
