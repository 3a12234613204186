//! The form of each option, object by object and field by field, told by an own description of it.

use std::collections::BTreeSet;

use refit_core::catalog::Catalog;
use refit_core::detect::{detect, recognise};
use refit_core::generated::Generated;
use refit_core::options::{Options, recover};
use refit_core::render::render;
use refit_manifest::Stream;
use refit_manifest::parse::{Kind, NodeRef};
use refit_manifest::scalar::Value as Scalar;
use serde_json::{Map, Value, json};

use crate::support::{each_version, examples, read, releases, split};

fn value(node: NodeRef<'_>) -> Value {
    match node.kind() {
        Kind::Mapping(_) => {
            let entries = node
                .entries()
                .map(|(key, entry)| (key.text().unwrap().to_owned(), value(entry)));
            Value::Object(entries.collect())
        }
        Kind::Sequence(_) => Value::Array(node.items().map(value).collect()),
        _ => match node.value().unwrap() {
            Scalar::Null => Value::Null,
            Scalar::Bool(flag) => json!(flag),
            Scalar::Int(number) => json!(i64::try_from(number).unwrap()),
            Scalar::Float(number) => json!(number),
            Scalar::Text(text) => json!(text),
        },
    }
}

/// Reads all objects; of definitions, that are large, without `spec`.
fn objects(stream: &Stream) -> Vec<Value> {
    let with_content = stream.documents().iter().filter(|document| !document.is_empty());
    with_content
        .map(|document| {
            let is_definition = document.identity().unwrap().kind.as_ref() == "CustomResourceDefinition";
            let text = document.body_text();
            let end = text.find("\nspec:\n").filter(|_| is_definition).unwrap_or(text.len());
            value(split(&text.as_bytes()[..end]).documents()[0].root().unwrap())
        })
        .collect()
}

fn each_text(value: &mut Value, change: &dyn Fn(&str) -> String) {
    match value {
        Value::String(text) => *text = change(text),
        Value::Array(items) => items.iter_mut().for_each(|item| each_text(item, change)),
        Value::Object(map) => map.values_mut().for_each(|item| each_text(item, change)),
        _ => {}
    }
}

/// Does to the objects of a default manifest what the options say.
fn with_options(mut objects: Vec<Value>, options: &Options) -> Vec<Value> {
    objects.retain(|object| options.network_policies || object["kind"] != "NetworkPolicy");
    for object in &mut objects {
        each_text(object, &|text| text.replace("flux-system", &options.namespace));
        if object["kind"] == "Deployment" {
            let pod = object.pointer_mut("/spec/template/spec").unwrap();
            each_text(&mut pod["containers"][0]["args"], &|text| argument(text, options));
            each_text(&mut pod["containers"][0]["image"], &|text| {
                text.replace("ghcr.io/fluxcd", &options.registry)
            });
            in_pod(pod.as_object_mut().unwrap(), options);
        }
    }
    objects
}

fn argument(text: &str, options: &Options) -> String {
    match text.split_once('=') {
        Some(("--log-level", _)) => format!("--log-level={}", options.log_level),
        Some(("--watch-all-namespaces", _)) => format!("--watch-all-namespaces={}", options.watch_all_namespaces),
        Some(("--events-addr", _)) if !options.has("notification-controller") => "--events-addr=".to_owned(),
        _ => text.replace("cluster.local", &options.cluster_domain),
    }
}

fn in_pod(pod: &mut Map<String, Value>, options: &Options) {
    if let Some(secret) = &options.image_pull_secret {
        pod.insert("imagePullSecrets".to_owned(), json!([{ "name": secret }]));
    }
    if !options.toleration_keys.is_empty() {
        let keys = options
            .toleration_keys
            .iter()
            .map(|key| json!({ "key": key, "operator": "Exists" }));
        pod.insert("tolerations".to_owned(), keys.collect());
    }
}

fn changed(options: Options) -> Options {
    Options {
        namespace: "wego-system".to_owned(),
        network_policies: false,
        cluster_domain: "corp.example".to_owned(),
        toleration_keys: vec!["node.example/control".to_owned(), "1".to_owned(), "null".to_owned()],
        registry: "registry.example:5000/flux".to_owned(),
        image_pull_secret: Some("pull".to_owned()),
        log_level: "debug".to_owned(),
        watch_all_namespaces: false,
        ..options
    }
}

#[test]
fn each_release_takes_each_option_in_the_form_of_the_generator() {
    let catalog = Catalog::flux().unwrap();
    for folder in releases() {
        each_version(&folder, |version, manifests| {
            for manifest in &manifests {
                let options = changed(recover(&Generated::read(&manifest.stream, &catalog), &catalog));
                let rendered = render(std::slice::from_ref(&manifest.stream), &options, &catalog).unwrap();
                let found = objects(&split(&rendered.bytes));
                let expected = with_options(objects(&manifest.stream), &options);
                assert_eq!(found.len(), expected.len(), "{version}");
                for (found, expected) in found.iter().zip(&expected) {
                    assert_eq!(found, expected, "{version}");
                    check_order(found);
                }
                let rendered = split(&rendered.bytes);
                assert_eq!(schemas(&rendered), schemas(&manifest.stream), "{version}");
            }
        });
    }
}

/// Gives the text of the `spec` of each definition: no option changes it.
fn schemas(stream: &Stream) -> Vec<&str> {
    let definitions = stream
        .objects()
        .filter(|(identity, _)| identity.kind.as_ref() == "CustomResourceDefinition");
    definitions
        .map(|(_, document)| &document.body_text()[document.body_text().find("\nspec:\n").unwrap()..])
        .collect()
}

/// The generator sorts keys; so do the inserted ones stand.
fn check_order(object: &Value) {
    let Some(pod) = object.pointer("/spec/template/spec") else {
        return;
    };
    let keys: Vec<&String> = pod.as_object().unwrap().keys().collect();
    assert!(keys.is_sorted(), "{keys:?}");
}

fn example() -> Stream {
    read(&examples().join("v2.5.1/gotk-components.yaml"))
}

#[test]
fn without_the_receiver_of_events_their_address_is_empty() {
    let catalog = Catalog::flux().unwrap();
    let components = ["source-controller", "kustomize-controller"]
        .map(ToOwned::to_owned)
        .to_vec();
    let options = Options {
        components,
        ..Options::defaults(&catalog)
    };
    let stream = example();
    let rendered = render(std::slice::from_ref(&stream), &options, &catalog).unwrap();
    let text = String::from_utf8(rendered.bytes.to_vec()).unwrap();
    assert!(text.contains("\n# Components: source-controller,kustomize-controller\n"));
    assert_eq!(text.matches("\n        - --events-addr=\n").count(), 2);
    let kept = |object: &&Value| {
        let name = object["metadata"]["name"].as_str().unwrap();
        !["helm", "notification", "alerts.", "providers.", "receivers.", "webhook"]
            .iter()
            .any(|word| name.starts_with(word))
            || name.contains(".source.")
    };
    let pristine = objects(&stream);
    let expected = with_options(pristine.iter().filter(kept).cloned().collect(), &options);
    assert_eq!(objects(&split(&rendered.bytes)), expected);
}

#[test]
fn the_gate_of_an_extra_component_goes_with_it() {
    let catalog = Catalog::flux().unwrap();
    let pristine = String::from_utf8(example().bytes().to_vec()).unwrap();
    let watcher =
        "---\napiVersion: v1\nkind: ServiceAccount\nmetadata:\n  name: source-watcher\n  namespace: flux-system\n";
    let gate = "        - --enable-leader-election\n        - --feature-gates=ExternalArtifact=true\n        env:\n";
    let with = pristine.replace("        - --enable-leader-election\n        env:\n", gate) + watcher;
    let without = Options::defaults(&catalog);
    let rendered = render(&[split(with.as_bytes())], &without, &catalog).unwrap();
    assert_eq!(String::from_utf8_lossy(&rendered.bytes), pristine);
    let mut all = without;
    all.components.push("source-watcher".to_owned());
    let kept = render(&[split(with.as_bytes()), example()], &all, &catalog).unwrap();
    assert!(kept.missing.is_empty());
    let header = "helm-controller,notification-controller\n";
    let expected = with.replace(header, "helm-controller,notification-controller,source-watcher\n");
    assert_eq!(String::from_utf8_lossy(&kept.bytes), expected);
}

#[test]
fn the_manifest_that_lacks_the_least_is_taken_and_nothing_is_an_error() {
    let catalog = Catalog::flux().unwrap();
    let options = Options::defaults(&catalog);
    let text = String::from_utf8(example().bytes().to_vec()).unwrap();
    let small = text
        .replace("name: helm-controller", "name: other")
        .replace("helmreleases.helm.toolkit", "others.helm.toolkit");
    let small = small.replace("component: helm-controller", "component: other");
    for manifests in [
        [split(small.as_bytes()), example()],
        [example(), split(small.as_bytes())],
    ] {
        let rendered = render(&manifests, &options, &catalog).unwrap();
        assert_eq!(rendered.missing, [""; 0]);
        assert_eq!(String::from_utf8_lossy(&rendered.bytes), text);
    }
    let rendered = render(&[split(small.as_bytes())], &options, &catalog).unwrap();
    assert_eq!(rendered.missing, ["helm-controller"]);
    let error = render(&[], &options, &catalog).unwrap_err().to_string();
    assert!(error.contains("hint: add a catalog source"), "{error}");
    let spaced = Options {
        registry: "a b".to_owned(),
        ..options.clone()
    };
    let error = render(&[example()], &spaced, &catalog).unwrap_err().to_string();
    assert!(
        error.starts_with("the registry `a b` cannot stand in a manifest; hint: "),
        "{error}"
    );
    let broken = text.replace("kind: Namespace\n", "kind: [\n");
    let error = render(&[split(broken.as_bytes())], &options, &catalog)
        .unwrap_err()
        .to_string();
    assert!(
        error.starts_with("document 1 of the release manifest cannot be read"),
        "{error}"
    );
}

#[test]
fn components_stand_in_the_order_in_which_they_are_asked_for_where_the_generator_groups_them() {
    let catalog = Catalog::flux().unwrap();
    let order = [
        "notification-controller",
        "helm-controller",
        "source-controller",
        "kustomize-controller",
    ];
    let options = Options {
        components: order.map(ToOwned::to_owned).to_vec(),
        ..Options::defaults(&catalog)
    };
    for folder in releases() {
        each_version(&folder, |version, manifests| {
            let stream = &manifests[0].stream;
            let rendered = render(std::slice::from_ref(stream), &options, &catalog).unwrap();
            let found = split(&rendered.bytes);
            let deployments: Vec<&str> = found
                .objects()
                .filter(|(identity, _)| identity.kind.as_ref() == "Deployment")
                .map(|(identity, _)| identity.name.as_ref())
                .collect();
            let grouped = *version >= "v2.0.0-rc.4".parse().unwrap();
            if grouped {
                assert_eq!(deployments, order, "{version}");
            } else {
                assert!(deployments.is_sorted(), "{version}");
            }
            assert_eq!(
                recover(&Generated::read(&found, &catalog), &catalog),
                options,
                "{version}"
            );
            let texts = |stream: &Stream| -> BTreeSet<String> {
                stream
                    .documents()
                    .iter()
                    .skip(1)
                    .map(|document| document.body_text().to_owned())
                    .collect()
            };
            assert!(texts(&found).is_subset(&texts(stream)), "{version}");
        });
    }
}

#[test]
fn a_controller_in_flow_style_is_refused() {
    let catalog = Catalog::flux().unwrap();
    let options = Options {
        log_level: "debug".to_owned(),
        ..Options::defaults(&catalog)
    };
    let text = String::from_utf8(example().bytes().to_vec()).unwrap();
    let at = text.find("      - args:\n").unwrap();
    let end = text[at..].find("        env:\n").unwrap() + at;
    let flow = format!("{}      - args: [--log-level=info]\n{}", &text[..at], &text[end..]);
    let error = render(&[split(flow.as_bytes())], &options, &catalog)
        .unwrap_err()
        .to_string();
    assert!(
        error.starts_with("`source-controller` of the release manifest is not written in blocks"),
        "{error}"
    );
}

#[test]
fn damaged_manifests_never_make_it_panic() {
    let catalog = Catalog::flux().unwrap();
    let pristine = example().bytes().to_vec();
    let options = changed(Options::defaults(&catalog));
    let mut state: u64 = 0x5eed;
    let mut below = |limit: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap() % limit
    };
    let pieces: [&[u8]; 12] = [
        b"",
        b"\n",
        b" ",
        b"---\n",
        b":",
        b"- ",
        b"{",
        b"]",
        b"\r\n",
        b"#",
        b"\xc3\xa4",
        b"&a *a",
    ];
    let mut rendered = 0;
    for _ in 0..200 {
        let mut bytes = pristine.clone();
        for _ in 0..=below(6) {
            let at = below(bytes.len());
            let end = (at + below(40)).min(bytes.len());
            bytes.splice(at..end, pieces[below(pieces.len())].iter().copied());
        }
        let Ok(stream) = Stream::split(bytes.into()) else {
            continue;
        };
        recognise(&stream, &catalog);
        let manifest = Generated::read(&stream, &catalog);
        detect(&manifest, &catalog);
        recover(&manifest, &catalog);
        rendered += usize::from(render(&[stream], &options, &catalog).is_ok());
    }
    assert!(rendered > 20, "only {rendered} could be rendered");
}
