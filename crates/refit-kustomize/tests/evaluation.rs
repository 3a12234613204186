//! Small directories in, text out.

#![expect(clippy::panic, reason = "a test may fail where it stands")]

use std::fmt::Write as _;

use refit_kustomize::built::meaning;
use refit_kustomize::{Built, Content, Origin, State, build, build_as_flux};
use refit_manifest::{Entry, Path, Tree};

const DEPLOYMENT: &str = "\
# leading comment
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  template:
    spec:
      containers:
      - {name: main, image: nginx, args: [--a, --b]}
";
const CRD: &str = "\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.org}
spec:
  versions:
  - {name: v1, served: true}
  - {name: v1beta1, served: false}
";

fn tree(files: &[(&str, &str)]) -> Tree {
    let entry = |(path, text): &(&str, &str)| (Path::from(*path), Entry::file(text.as_bytes()));
    files.iter().map(entry).collect()
}

/// Says what was built: state, objects with their origin, patches with what they did.
fn told(built: &Built) -> String {
    let mut text = String::new();
    match &built.state {
        State::Evaluated => {}
        State::NotEvaluated(reasons) => reasons
            .iter()
            .for_each(|reason| line(&mut text, &format!("not evaluated: {reason}"))),
        State::Failed(failures) => failures
            .iter()
            .for_each(|failure| line(&mut text, &format!("failed: {failure}"))),
    }
    for object in &built.objects {
        let origin = match &object.origin {
            Origin::File(place) => format!("{}#{} line {}", place.path, place.document, place.line),
            Origin::Generator(entry) => entry.to_string(),
        };
        let through: Vec<&str> = object.through.iter().map(|path| path.directory()).collect();
        line(
            &mut text,
            &format!("{} from {origin} through {}", object.identity, through.join(", ")),
        );
    }
    for patch in &built.applied {
        let content = match &patch.content {
            Content::Inline { document } => format!("inline #{document}"),
            Content::File(place) => format!("{}#{}", place.path, place.document),
        };
        line(
            &mut text,
            &format!(
                "{} line {} ({content}, {:?})",
                patch.entry, patch.entry.line, patch.form
            ),
        );
        for effect in &patch.effects {
            let state = match (effect.deleted, effect.changed) {
                (true, _) => "deleted",
                (_, true) => "changed",
                _ => "unchanged",
            };
            line(&mut text, &format!("  {} {state}", effect.object));
            for operation in &effect.operations {
                let before = operation
                    .before
                    .as_ref()
                    .map_or("nothing".to_owned(), ToString::to_string);
                let resolved = if operation.resolved { "" } else { " not resolved" };
                let place = meaning(&operation.meaning);
                line(
                    &mut text,
                    &format!(
                        "    {} {} = {place} was {before}{resolved}",
                        operation.op, operation.pointer
                    ),
                );
            }
            for list in &effect.merge.replaced {
                let before = list.before.as_ref().map_or("nothing".to_owned(), ToString::to_string);
                line(
                    &mut text,
                    &format!("    replaced {}: {before} by {}", meaning(&list.path), list.after),
                );
            }
            for directive in &effect.merge.directives {
                line(
                    &mut text,
                    &format!(
                        "    {}: {} at {}",
                        directive.key,
                        directive.value,
                        meaning(&directive.path)
                    ),
                );
            }
        }
    }
    text
}

fn line(text: &mut String, line: &str) {
    writeln!(text, "{line}").unwrap_or_else(|error| panic!("{error}"));
}

#[track_caller]
fn check(files: &[(&str, &str)], directory: &str, expected: &str) {
    assert_eq!(told(&build(&tree(files), directory)), expected);
}

#[test]
fn objects_keep_their_file_and_document_and_the_kustomizations_on_the_way() {
    check(
        &[
            ("base/kustomization.yaml", "resources: [all.yaml]\nnamespace: apps\n"),
            ("base/all.yaml", &format!("{DEPLOYMENT}---\n# c\n{CRD}")),
            (
                "over/kustomization.yaml",
                "resources: [../base]\nnamePrefix: p-\nconfigMapGenerator:\n- {name: made, literals: [a=1]}\n",
            ),
        ],
        "./over/",
        "CustomResourceDefinition/widgets.example.org from base/all.yaml#1 line 12 through base, over\n\
         ConfigMap/p-made-h29d89cmmt from configMapGenerator[0] of `over/kustomization.yaml` through over\n\
         Deployment/p-web in apps from base/all.yaml#0 line 2 through base, over\n",
    );
}

#[test]
fn an_index_means_the_element_that_stands_there() {
    let kustomization = "\
resources: [crd.yaml]
patches:
- target: {kind: CustomResourceDefinition}
  patch: |
    - {op: replace, path: /spec/versions/0/served, value: false}
    - {op: add, path: /spec/versions/-, value: {name: v2}}
    - {op: add, path: /metadata/annotations/a~1b, value: x}
";
    check(
        &[("kustomization.yaml", kustomization), ("crd.yaml", CRD)],
        "",
        "CustomResourceDefinition/widgets.example.org from crd.yaml#0 line 1 through \n\
         patches[0] of `kustomization.yaml` line 3 (inline #0, Json6902)\n  \
           CustomResourceDefinition/widgets.example.org changed\n    \
             replace /spec/versions/0/served = spec.versions[name=v1].served was true\n    \
             add /spec/versions/- = spec.versions[-] was nothing\n    \
             add /metadata/annotations/a~1b = metadata.annotations.a/b was nothing\n",
    );
}

#[test]
fn a_strategic_merge_says_which_lists_it_replaces_and_which_directives_it_uses() {
    let patch = "\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec: {template: {spec: {containers: [{name: main, args: [--new]}, {name: none, $patch: delete}]}}}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.org}
$patch: delete
";
    check(
        &[
            (
                "k/kustomization.yml",
                "resources: [d.yaml, crd.yaml]\npatchesStrategicMerge:\n- p.yaml\n",
            ),
            ("k/d.yaml", DEPLOYMENT),
            ("k/crd.yaml", CRD),
            ("k/p.yaml", patch),
        ],
        "k",
        "Deployment/web from k/d.yaml#0 line 2 through k\n\
         patchesStrategicMerge[0] of `k/kustomization.yml` line 3 (k/p.yaml#0, StrategicMerge)\n  \
           Deployment/web changed\n    \
             replaced spec.template.spec.containers[name=main].args: [\"--a\",\"--b\"] by [\"--new\"]\n    \
             $patch: \"delete\" at spec.template.spec.containers[name=none]\n\
         patchesStrategicMerge[0] of `k/kustomization.yml` line 3 (k/p.yaml#1, StrategicMerge)\n  \
           CustomResourceDefinition/widgets.example.org deleted\n    \
             $patch: \"delete\" at \n",
    );
}

#[test]
fn a_target_gives_a_patch_its_version_and_content_alone_does_not() {
    let patch =
        "apiVersion: apps/v1beta2\n    kind: Deployment\n    metadata: {name: other}\n    spec: {replicas: 2}\n";
    let kustomization = format!(
        "resources: [d.yaml]\npatches:\n- target: {{kind: Deployment}}\n  patch: |\n    {patch}- target: {{name: nobody}}\n  patch: |\n    {patch}"
    );
    check(
        &[("kustomization.yaml", &kustomization), ("d.yaml", DEPLOYMENT)],
        "",
        "Deployment/web from d.yaml#0 line 2 through \n\
         patches[0] of `kustomization.yaml` line 3 (inline #0, StrategicMerge)\n  \
           Deployment/web changed\n\
         patches[1] of `kustomization.yaml` line 9 (inline #0, StrategicMerge)\n",
    );
    check(
        &[
            (
                "kustomization.yaml",
                &format!(
                    "resources: [d.yaml]\npatches:\n- patch: |\n    {}",
                    patch.replace("other", "web")
                ),
            ),
            ("d.yaml", DEPLOYMENT),
        ],
        "",
        "failed: `kustomization.yaml` line 3: no object is the `Deployment/web` of `apps/v1beta2` that the patch is for\n\
         Deployment/web from d.yaml#0 line 2 through \n\
         patches[0] of `kustomization.yaml` line 3 (inline #0, StrategicMerge)\n",
    );
}

#[test]
fn every_patch_that_fails_is_named() {
    let kustomization = "\
resources: [d.yaml]
patches:
- target: {kind: Deployment}
  patch: '[{\"op\": \"add\", \"path\": \"/spec/none/x\", \"value\": 1}]'
- path: gone.yaml
- target: {kind: Deployment, name: (}
  patch: |
    - {op: test, path: /kind, value: x}
patchesJson6902:
- target: {version: v1, kind: Deployment}
  patch: |
    - {op: test, path: /kind, value: x}
- target: {version: v1, kind: Deployment, name: web}
  patch: |
    - {op: test, path: /kind, value: x}
";
    check(
        &[("kustomization.yaml", kustomization), ("d.yaml", DEPLOYMENT)],
        "",
        "failed: `kustomization.yaml` line 3: `Deployment/web`: operation 0 (`add` of `/spec/none/x`): there is nothing at `/spec/none/x`\n\
         failed: `kustomization.yaml` line 5: there is no file `gone.yaml`\n\
         failed: `kustomization.yaml` line 6: `(` is no regular expression\n\
         failed: `kustomization.yaml` line 10: the patch needs a `target` with a name\n\
         failed: `kustomization.yaml` line 13: `Deployment/web`: operation 0 (`test` of `/kind`): the value is `\"Deployment\"`, not `\"x\"`\n\
         Deployment/web from d.yaml#0 line 2 through \n\
         patches[0] of `kustomization.yaml` line 3 (inline #0, Json6902)\n  \
           Deployment/web unchanged\n    \
             add /spec/none/x = spec.none.x was nothing not resolved\n\
         patchesJson6902[1] of `kustomization.yaml` line 13 (inline #0, Json6902)\n  \
           Deployment/web unchanged\n    \
             test /kind = kind was \"Deployment\" not resolved\n",
    );
}

#[test]
fn what_is_remote_or_not_known_is_not_evaluated() {
    let kustomization = "\
resources:
- d.yaml
- https://example.org/x.yaml
- github.com/a/b?ref=v1
- ../../outside
helmCharts:
- {name: x}
";
    check(
        &[("k/kustomization.yaml", kustomization), ("k/d.yaml", DEPLOYMENT)],
        "k",
        "not evaluated: `k/kustomization.yaml` line 3: `https://example.org/x.yaml` is remote\n\
         not evaluated: `k/kustomization.yaml` line 4: `github.com/a/b?ref=v1` is remote\n\
         not evaluated: `k/kustomization.yaml` line 5: `../../outside` is outside of the repository\n\
         not evaluated: `k/kustomization.yaml` line 6: `helmCharts` is not evaluated\n\
         Deployment/web from k/d.yaml#0 line 2 through k\n",
    );
}

#[test]
fn a_link_is_not_followed() {
    let mut files = tree(&[
        ("k/kustomization.yaml", "resources: [link.yaml, deep/d.yaml]\n"),
        ("real/d.yaml", DEPLOYMENT),
    ]);
    files.insert(Path::from("k/link.yaml"), Entry::Link("../real/d.yaml".into()));
    files.insert(Path::from("k/deep"), Entry::Link("../real".into()));
    assert_eq!(
        told(&build(&files, "k")),
        "not evaluated: `k/kustomization.yaml` line 1: `deep/d.yaml` leads through the symbolic link `k/deep`, which is not followed\n\
         not evaluated: `k/kustomization.yaml` line 1: `link.yaml` leads through the symbolic link `k/link.yaml`, which is not followed\n"
    );
}

#[test]
fn what_was_not_read_is_not_taken_for_empty() {
    let kustomization = "\
resources: [link.yaml, large.yaml, ../module/deploy]
patches: [{path: patch.yaml}]
configMapGenerator: [{name: c, files: [settings.ini]}]
";
    let mut files = tree(&[
        ("k/kustomization.yaml", kustomization),
        ("generated/d.yaml", DEPLOYMENT),
    ]);
    for (path, what) in [
        ("k/link.yaml", "a symbolic link"),
        ("k/large.yaml", "a file of more than 16 MiB"),
        ("module", "a submodule"),
        ("k/patch.yaml", "a symbolic link"),
        ("k/settings.ini", "a file of a kind that is not read"),
        ("linked/kustomization.yaml", "a symbolic link"),
        ("generated/link.yaml", "a symbolic link"),
    ] {
        files.leave_unread(Path::from(path), what);
    }
    assert_eq!(
        told(&build(&files, "k")),
        "not evaluated: `k/kustomization.yaml` line 1: `../module/deploy` is not looked at: `module` is a submodule\n\
         not evaluated: `k/kustomization.yaml` line 1: `large.yaml` is not looked at: `k/large.yaml` is a file of more than 16 MiB\n\
         not evaluated: `k/kustomization.yaml` line 1: `link.yaml` is not looked at: `k/link.yaml` is a symbolic link\n\
         not evaluated: `k/kustomization.yaml` line 3: `settings.ini` is not looked at: `k/settings.ini` is a file of a kind that is not read\n"
    );
    let patched = tree_with(&files, "k/kustomization.yaml", "patches: [{path: patch.yaml}]\n");
    assert_eq!(
        told(&build(&patched, "k")),
        "not evaluated: `k/kustomization.yaml` line 1: `patch.yaml` is not looked at: `k/patch.yaml` is a symbolic link\n"
    );
    assert_eq!(
        told(&build(&files, "linked")),
        "not evaluated: `linked/kustomization.yaml` line 1: the kustomization is not looked at: `linked/kustomization.yaml` is a symbolic link\n"
    );
    assert_eq!(
        told(&build_as_flux(&files, "generated")),
        "not evaluated: `generated/kustomization.yaml` line 1: `link.yaml` is not looked at: `generated/link.yaml` is a symbolic link\n\
         Deployment/web from generated/d.yaml#0 line 2 through generated\n"
    );
}

fn tree_with(files: &Tree, path: &str, text: &str) -> Tree {
    let mut files = files.clone();
    files.insert(Path::from(path), Entry::file(text.as_bytes()));
    files
}

#[test]
fn of_several_objects_that_are_there_twice_the_first_is_named_each_time() {
    let objects: String = (0..20)
        .map(|at| format!("---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c{at}, namespace: x}}\n"))
        .collect();
    let twice = format!("{objects}{}", objects.replace("namespace: x", "namespace: y"));
    // All of them are brought to one namespace.
    let patch =
        "replacements: [{sourceValue: z, targets: [{select: {kind: ConfigMap}, fieldPaths: [metadata.namespace]}]}]\n";
    let kustomization = format!("resources: [a.yaml]\n{patch}");
    let files = tree(&[
        ("k/kustomization.yaml", kustomization.as_str()),
        ("k/a.yaml", twice.as_str()),
    ]);
    for _ in 0..8 {
        let failed = "failed: `k/kustomization.yaml` line 1: in the end there are two objects `ConfigMap/c0`\n";
        assert_eq!(told(&build(&files, "k")), failed);
    }
}

#[test]
fn an_object_that_lost_its_name_on_the_way_fails_as_in_kustomize() {
    let patch = "patches:\n- target: {kind: Deployment}\n  patch: |\n    - {op: remove, path: /metadata/name}\n";
    check(
        &[
            ("in/kustomization.yaml", &format!("resources: [d.yaml]\n{patch}")),
            ("in/d.yaml", DEPLOYMENT),
            ("k/kustomization.yaml", "resources: [../in]\nnameSuffix: -s\n"),
        ],
        "k",
        "failed: `k/kustomization.yaml` line 1: `Deployment/-s` had no name or no kind on the way\n\
         patches[0] of `in/kustomization.yaml` line 3 (inline #0, Json6902)\n  Deployment/web changed\n    \
         remove /metadata/name = metadata.name was \"web\"\n",
    );
}

#[test]
fn kustomizations_that_are_wrong_say_so() {
    let cases = [
        ("", "`kustomization.yaml` line 1: the kustomization is empty"),
        (
            "resources:\n",
            "`kustomization.yaml` line 1: the kustomization is empty",
        ),
        ("- a\n", "`kustomization.yaml` line 1: a kustomization is a mapping"),
        ("a: b\n", "`kustomization.yaml` line 1: the field `a` is unknown"),
        (
            "namespace: a\nimages:\n- {newTag: 1.5}\n",
            "`kustomization.yaml` line 2: the field `images.newTag` must be a string",
        ),
        (
            "kind: Thing\nresources: []\n",
            "`kustomization.yaml` line 1: the kind is `Kustomization` or `Component`, not `Thing`",
        ),
        (
            "resources: [gone]\n",
            "`kustomization.yaml` line 1: there is no file or directory `gone`",
        ),
        (
            "resources: [a.yaml, a.yaml]\n",
            "`kustomization.yaml` line 1: `ConfigMap/a` is there already",
        ),
        (
            "resources: [b.yaml]\n",
            "`b.yaml` line 2: a `Secret` has no `metadata.name`",
        ),
        ("resources: [c]\n", "`c` line 1: the directory holds no kustomization"),
        ("components: [d]\n", "`kustomization.yaml` line 1: `d` is no component"),
        (
            "resources: [d]\nnamespace: x\n",
            "`d/kustomization.yaml` line 1: ``d` leads back`",
        ),
    ];
    for (text, expected) in &cases[..11] {
        let files = [
            ("kustomization.yaml", *text),
            ("a.yaml", "kind: ConfigMap\nmetadata: {name: a}\n"),
            ("b.yaml", "# x\nkind: Secret\n"),
            ("c/x.yaml", "kind: ConfigMap\nmetadata: {name: a}\n"),
            ("d/kustomization.yaml", "namespace: x\n"),
        ];
        match build(&tree(&files), "").state {
            State::Failed(failures) => assert_eq!(failures[0].to_string(), *expected, "{text}"),
            other => panic!("{text}: {other:?}"),
        }
    }
}

#[test]
fn directories_that_lead_back_fail_and_deep_ones_are_not_evaluated() {
    check(
        &[
            ("a/kustomization.yaml", "resources:\n- ../b\n"),
            ("b/kustomization.yaml", "resources:\n- ../a\n"),
        ],
        "a",
        "failed: `b/kustomization.yaml` line 2: `a` leads back to `a`, from which it is reached\n",
    );
    let deep: Vec<(String, String)> = (0..200)
        .map(|level| {
            (
                format!("d{level}/kustomization.yaml"),
                format!("resources: [../d{}]\n", level + 1),
            )
        })
        .collect();
    let deep: Vec<(&str, &str)> = deep.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let state = build(&tree(&deep), "d0").state;
    assert!(
        matches!(&state, State::NotEvaluated(reasons) if reasons[0].message.contains("inside each other")),
        "{state:?}"
    );
}

#[test]
fn flux_generates_a_kustomization_where_there_is_none() {
    let files = tree(&[
        ("c/d.yaml", DEPLOYMENT),
        ("c/notes.txt", "no YAML: ["),
        ("c/inner/kustomization.yaml", "resources: [crd.yaml]\nnamePrefix: p-\n"),
        ("c/inner/crd.yaml", CRD),
        ("c/inner/patch.yaml", "kind: Nothing"),
        (
            "c/plain/deep/cm.yaml",
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n",
        ),
        ("cc/x.yaml", "["),
    ]);
    assert_eq!(
        told(&build_as_flux(&files, "c")),
        "CustomResourceDefinition/widgets.example.org from c/inner/crd.yaml#0 line 1 through c/inner, c\n\
         ConfigMap/a from c/plain/deep/cm.yaml#0 line 1 through c\n\
         Deployment/web from c/d.yaml#0 line 2 through c\n"
    );
    assert!(matches!(build(&files, "c").state, State::Failed(_)));
}

#[test]
fn thousands_of_objects_and_directories_are_built() {
    let mut files = Tree::new();
    let mut names = String::from("namePrefix: p-\nnamespace: apps\nresources:\n");
    for group in 0..50 {
        let mut all = String::new();
        for number in 0..100 {
            all.push_str(&format!(
                "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c-{group}-{number}}}\n---\n"
            ));
        }
        files.insert(Path::new(format!("g{group}/all.yaml")), Entry::file(all.into_bytes()));
        let kustomization = "resources: [all.yaml]\ncommonLabels: {a: b}\n";
        files.insert(
            Path::new(format!("g{group}/kustomization.yaml")),
            Entry::file(kustomization.as_bytes()),
        );
        names.push_str(&format!("- ../g{group}\n"));
    }
    files.insert(Path::from("top/kustomization.yaml"), Entry::file(names.into_bytes()));
    let built = build(&files, "top");
    assert_eq!(
        (built.state, built.objects.len(), built.kustomizations.len()),
        (State::Evaluated, 5_000, 51)
    );
}
