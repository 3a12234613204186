//! The merge rules of the design, one case each, checked byte for byte and by the independent checker.

mod common;

use common::{check_file, check_merge};
use refit_manifest::merge::{Settings, merge};
use refit_manifest::schema::ListKeys;
use refit_manifest::{Entry, Outcome, Path, Rule, Stream, Tree};
use refit_testkit::merging;

const DEPLOYMENT: &str = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: app\n";

fn deployment(rest: &str) -> String {
    format!("{DEPLOYMENT}{rest}")
}

fn files(entries: &[(&str, &str)]) -> Tree {
    entries
        .iter()
        .map(|(path, text)| (Path::from(*path), Entry::file(text.as_bytes())))
        .collect()
}

#[test]
fn order_comments_and_spacing_of_the_user_survive_an_image_bump() {
    check_merge(
        [
            &deployment("spec:\n  paused: false\n  image: app:1.0\n"),
            "# ours\nkind: Deployment\napiVersion: apps/v1\n\nmetadata: {name: app}   # short\nspec:\n  image:    app:1.0  # \
             aligned\n  paused:   false\n",
            &deployment("spec:\n  paused: false\n  image: app:1.1\n"),
        ],
        "# ours\nkind: Deployment\napiVersion: apps/v1\n\nmetadata: {name: app}   # short\nspec:\n  image:    app:1.1  # \
         aligned\n  paused:   false\n",
        Outcome::Clean,
        &["Deployment/app", "app:1.0", "app:1.1"],
    );
}

#[test]
fn the_users_registry_stays_and_the_tag_follows() {
    let checked = check_merge(
        [
            "image: ghcr.io/team/tool:1.0\n",
            "image: eu.corp.example:5000/cache/team/tool:1.0\n",
            "image: ghcr.io/team/tool:1.4\n",
        ],
        "image: eu.corp.example:5000/cache/team/tool:1.4\n",
        Outcome::Noted,
        &["eu.corp.example:5000/cache", "1.4", "irror"],
    );
    assert!(
        checked
            .merged
            .decisions
            .iter()
            .any(|decision| decision.rule == Rule::RegistryKept)
    );
}

#[test]
fn a_digest_of_the_user_is_kept_and_asked_about() {
    check_merge(
        [
            "image: ghcr.io/team/tool:1.0\n",
            "image: ghcr.io/team/tool@sha256:abcd\n",
            "image: ghcr.io/team/tool:2.0\n",
        ],
        "image: ghcr.io/team/tool@sha256:abcd\n",
        Outcome::Conflict,
        &["digest", "1.0 -> 2.0", "Choose"],
    );
}

#[test]
fn a_digest_beside_the_tag_of_theirs_is_kept_without_a_question() {
    check_merge(
        [
            "image: r.example/team/tool:1.0\n",
            "image: r.example/team/tool:2.0@sha256:aaaa\n",
            "image: r.example/team/tool:2.0\n",
        ],
        "image: r.example/team/tool:2.0@sha256:aaaa\n",
        Outcome::Noted,
        &["tool", "2.0", "digest"],
    );
}

#[test]
fn a_digest_follows_where_the_digest_of_theirs_is_known() {
    let sides = [
        "image: ghcr.io/team/tool:1.0\n",
        "image: ghcr.io/team/tool:1.0@sha256:aaaa\n",
        "image: ghcr.io/team/tool:2.0\n",
    ]
    .map(|text| merging::tree("d.yaml", text));
    let settings = Settings {
        known_digests: vec![("team/tool:2.0".into(), "sha256:bbbb".into())],
        ..Settings::default()
    };
    let checked = merging::trees([&sides[0], &sides[1], &sides[2]], &settings);
    assert_eq!(checked.text("d.yaml"), "image: ghcr.io/team/tool:2.0@sha256:bbbb\n");
    assert_eq!(checked.outcome(), Outcome::Noted);
    let blind = merging::trees([&sides[0], &sides[1], &sides[2]], &Settings::default());
    assert_eq!(blind.text("d.yaml"), "image: ghcr.io/team/tool:1.0@sha256:aaaa\n");
    assert_eq!(blind.outcome(), Outcome::Conflict);
}

/// Merges images with known tags 1.0, 1.1, 2.0 and 3.0.
fn image(ours: &str) -> (String, Outcome) {
    let sides =
        ["team/tool:1.0", ours, "team/tool:2.0"].map(|image| merging::tree("d.yaml", &format!("image: {image}\n")));
    let tags = ["1.0", "1.1", "2.0", "3.0"].map(str::to_owned).to_vec();
    let settings = Settings {
        known_tags: vec![("team/tool".into(), tags)],
        ..Settings::default()
    };
    let checked = merging::trees([&sides[0], &sides[1], &sides[2]], &settings);
    assert_eq!(checked.violations, Vec::<String>::new());
    (checked.text("d.yaml").trim().replace("image: ", ""), checked.outcome())
}

#[test]
fn only_a_known_tag_that_is_not_newer_gives_way() {
    assert_eq!(image("team/tool:1.1"), ("team/tool:2.0".into(), Outcome::Noted));
    assert_eq!(image("team/tool:3.0"), ("team/tool:3.0".into(), Outcome::Conflict));
    assert_eq!(
        image("team/tool:dev-build"),
        ("team/tool:dev-build".into(), Outcome::Conflict)
    );
    assert_eq!(
        image("someone/fork:1.0"),
        ("someone/fork:1.0".into(), Outcome::Conflict)
    );
    assert_eq!(
        image("corp.example/team/tool:1.1"),
        ("corp.example/team/tool:2.0".into(), Outcome::Noted)
    );
    assert_eq!(image("team/tool:2.0"), ("team/tool:2.0".into(), Outcome::Clean));
}

#[test]
fn different_keys_of_one_map_are_both_taken() {
    check_merge(
        [
            "requests:\n  cpu: 50m\n  memory: 32Mi\n",
            "requests:\n  cpu: 50m\n  memory: 2Gi\n",
            "requests:\n  cpu: 75m\n  memory: 32Mi\n",
        ],
        "requests:\n  cpu: 75m\n  memory: 2Gi\n",
        Outcome::Clean,
        &["requests.cpu", "50m", "75m"],
    );
}

#[test]
fn sizing_of_the_user_stays_and_a_larger_one_of_theirs_is_asked_about() {
    let (base, ours) = ("spec:\n  replicas: 1\n", "spec:\n  replicas: 4\n");
    check_merge(
        [base, ours, "spec:\n  replicas: 2\n"],
        ours,
        Outcome::Noted,
        &["replicas", "4", "2"],
    );
    check_merge(
        [base, ours, "spec:\n  replicas: 6\n"],
        ours,
        Outcome::Conflict,
        &["replicas", "4", "6", "refit resolve"],
    );
    let memory = |amount: &str| deployment(&format!("spec:\n  resources:\n    limits:\n      memory: {amount}\n"));
    let (base, ours) = (memory("64Mi"), memory("1Gi"));
    check_merge(
        [&base, &ours, &memory("512Mi")],
        &ours,
        Outcome::Noted,
        &["1Gi", "512Mi"],
    );
    check_merge(
        [&base, &ours, &memory("1025Mi")],
        &ours,
        Outcome::Conflict,
        &["1Gi", "1025Mi"],
    );
}

#[test]
fn contract_fields_changed_on_both_sides_are_asked_about() {
    let role = |verbs: &str| {
        format!(
            "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata:\n  name: r\nrules:\n- apiGroups: [x]\n  \
                 verbs: [{verbs}]\n"
        )
    };
    let (base, ours, theirs) = (role("get"), role("get, list"), role("get, watch"));
    check_merge(
        [&base, &ours, &theirs],
        &ours,
        Outcome::Conflict,
        &["ClusterRole/r", "refit resolve"],
    );
    let selector = |value: &str| deployment(&format!("spec:\n  selector:\n    matchLabels:\n      app: {value}\n"));
    let (base, ours, theirs) = (selector("a"), selector("b"), selector("c"));
    check_merge([&base, &ours, &theirs], &ours, Outcome::Conflict, &["b", "c"]);
}

#[test]
fn arguments_are_matched_by_the_name_of_the_flag() {
    check_merge(
        [
            "args:\n- --watch=all\n- --level=info\n",
            "args:\n- --watch=all\n- --level=info\n- --workers=8 # many\n",
            "args:\n- --watch=all\n- --level=debug\n- --address=:80\n",
        ],
        "args:\n- --watch=all\n- --level=debug\n- --workers=8 # many\n- --address=:80\n",
        Outcome::Noted,
        &["--address", "--workers=8"],
    );
}

#[test]
fn the_same_argument_changed_on_both_sides_is_asked_about() {
    check_merge(
        [
            "args:\n- --level=info\n",
            "args:\n- --level=error\n",
            "args:\n- --level=debug\n",
        ],
        "args:\n- --level=error\n",
        Outcome::Conflict,
        &["--level=error", "--level=debug", "refit resolve"],
    );
}

#[test]
fn labels_of_the_user_stay_beside_new_ones() {
    check_merge(
        [
            "labels:\n  version: a1\n",
            "labels:\n  owner: me\n  version: a1\n",
            "labels:\n  version: a2\n  tier: high\n",
        ],
        "labels:\n  owner: me\n  version: a2\n  tier: high\n",
        Outcome::Clean,
        &["version", "a2", "tier"],
    );
}

#[test]
fn where_both_sides_add_at_one_place_ours_come_first() {
    check_merge(
        [
            "m:\n  a: 1\n  z: 1\n",
            "m:\n  a: 1\n  mine: 1\n  z: 1\n",
            "m:\n  a: 1\n  new: 1\n  z: 1\n",
        ],
        "m:\n  a: 1\n  mine: 1\n  new: 1\n  z: 1\n",
        Outcome::Clean,
        &["new"],
    );
}

#[test]
fn an_object_that_the_user_deleted_stays_away() {
    let keep = "kind: Service\nmetadata: {name: front}\n";
    let role = |x: u8| format!("kind: Role\nmetadata: {{name: reader}}\nrules: [{{verbs: [a{x}]}}]\n---\n");
    check_merge(
        [&format!("{}{keep}", role(1)), keep, &format!("{}{keep}", role(2))],
        keep,
        Outcome::Noted,
        &["Role/reader", "refit resolve", "theirs"],
    );
}

#[test]
fn an_object_that_the_user_edited_stays_when_theirs_drops_it() {
    let (base, ours) = (
        files(&[("a.yaml", "kind: ConfigMap\nmetadata: {name: set}\ndata: {k: v}\n")]),
        files(&[("a.yaml", "kind: ConfigMap\nmetadata: {name: set}\ndata: {k: own}\n")]),
    );
    let checked = merging::trees([&base, &ours, &Tree::new()], &Settings::default());
    assert_eq!(
        (checked.merged.tree.clone(), checked.outcome()),
        (ours, Outcome::Conflict)
    );
    assert_eq!(checked.violations, Vec::<String>::new());
}

#[test]
fn an_unedited_object_that_theirs_drops_goes_with_its_marker() {
    check_merge(
        [
            "kind: A\nmetadata: {name: a}\n---\nkind: B\nmetadata: {name: b}\n---\nkind: C\nmetadata: {name: c}\n",
            "kind: A\nmetadata: {name: a}\nx: 1\n---\nkind: B\nmetadata: {name: b}\n---\nkind: C\nmetadata: {name: c}\n",
            "kind: A\nmetadata: {name: a}\n---\nkind: C\nmetadata: {name: c}\n",
        ],
        "kind: A\nmetadata: {name: a}\nx: 1\n---\nkind: C\nmetadata: {name: c}\n",
        Outcome::Clean,
        &["B/b"],
    );
}

#[test]
fn a_container_that_the_user_removed_stays_away_as_a_whole() {
    check_merge(
        [
            "containers:\n- name: app\n  image: a:1\n- name: proxy\n  image: p:1\n",
            "containers:\n- name: app\n  image: a:1\n",
            "containers:\n- name: app\n  image: a:2\n- name: proxy\n  image: p:2\n",
        ],
        "containers:\n- name: app\n  image: a:2\n",
        Outcome::Noted,
        &["proxy", "p:1", "p:2"],
    );
}

#[test]
fn an_absent_optional_kind_is_an_option() {
    let policy = |name: &str| {
        format!("apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata: {{name: {name}}}\nspec: {{}}\n---\n")
    };
    let app = |x: u8| deployment(&format!("x: {x}\n"));
    let sides = [
        format!("{}{}{}", policy("allow"), policy("deny"), app(1)),
        app(1),
        format!("{}{}{}{}", policy("allow"), policy("deny"), policy("scrape"), app(2)),
    ]
    .map(|text| merging::tree("d.yaml", &text));
    let settings = Settings {
        optional_kinds: vec!["NetworkPolicy".into()],
        ..Settings::default()
    };
    let checked = merging::trees([&sides[0], &sides[1], &sides[2]], &settings);
    assert_eq!(checked.text("d.yaml"), app(2));
    let decisions = &checked.merged.decisions;
    assert!(decisions.iter().any(|decision| decision.rule == Rule::GroupAbsent));
    let other = merging::trees([&sides[0], &sides[1], &sides[2]], &Settings::default());
    assert!(
        other.text("d.yaml").contains("scrape"),
        "a kind that is not optional comes"
    );
}

#[test]
fn a_comment_behind_the_marker_follows_theirs_unless_it_was_edited() {
    let app = |marker: &str, x: u8| {
        format!(
            "{}--- {marker}\n{}",
            deployment("x: 0\n"),
            deployment(&format!("x: {x}\n")).replace("app", "other")
        )
    };
    check_merge(
        [
            &app("# of 1.0", 1),
            &app("# of 1.0", 1).replace("x: 0", "x: 0 # mine"),
            &app("# of 2.0", 2),
        ],
        &app("# of 2.0", 2).replace("x: 0", "x: 0 # mine"),
        Outcome::Clean,
        &[],
    );
    check_merge(
        [&app("# of 1.0", 1), &app("# mine", 1), &app("# of 2.0", 2)],
        &app("# mine", 2),
        Outcome::Clean,
        &[],
    );
}

#[test]
fn a_value_that_an_anchor_shares_blocks_the_file_and_names_the_anchor() {
    let ours = deployment("a: &size 1\nb: *size\nc: 1\n");
    check_merge(
        [
            &deployment("a: 1\nb: 1\nc: 1\n"),
            &ours,
            &deployment("a: 2\nb: 1\nc: 2\n"),
        ],
        &ours,
        Outcome::Blocked,
        &["Deployment/app", "anchor `&size` on line", "plainly"],
    );
}

#[test]
fn a_deletion_is_asked_about_when_a_new_object_refers_to_it() {
    let account = "apiVersion: v1\nkind: ServiceAccount\nmetadata:\n  name: runner\n---\n";
    let app = deployment("spec: {}\n");
    let second = "---\napiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: worker\nspec:\n  template:\n    spec:\n      \
                  serviceAccountName: runner\n";
    let checked = merging::texts(
        "d.yaml",
        [&format!("{account}{app}"), &app, &format!("{account}{app}{second}")],
    );
    assert_eq!(checked.outcome(), Outcome::Conflict, "{:#?}", checked.merged.decisions);
    assert_eq!(checked.text("d.yaml"), format!("{app}{second}"));
}

#[test]
fn template_lines_stay_and_what_is_between_them_merges() {
    check_merge(
        [
            "{{- with .Values.app }}\nimage: app:1\nname: {{ .name }}\n{{- end }}\n",
            "{{- with .Values.app }}\nimage: app:1\nname: {{ .name }}-west\n{{- end }}\n",
            "{{- with .Values.app }}\nimage: app:2\nname: {{ .name }}\n{{- end }}\n",
        ],
        "{{- with .Values.app }}\nimage: app:2\nname: {{ .name }}-west\n{{- end }}\n",
        Outcome::Noted,
        &["d.yaml", "template"],
    );
}

#[test]
fn json_stays_json_with_its_tabs() {
    check_file(
        "p.json",
        [
            "{\n\t\"one\": 1,\n\t\"list\": [\"a\"]\n}\n",
            "{\n\t\"one\": 1,\n\t\"list\": [\"a\"],\n\t\"own\": null\n}\n",
            "{\n\t\"one\": 3,\n\t\"list\": [\"a\"],\n\t\"two\": {\"x\": true}\n}\n",
        ],
        "{\n\t\"one\": 3,\n\t\"list\": [\"a\"],\n\t\"own\": null,\n\t\"two\": {\"x\": true}\n}\n",
        Outcome::Clean,
        &["p.json", "two"],
    );
}

#[test]
fn text_that_reads_as_a_boolean_keeps_its_quotes() {
    check_merge(
        [
            "env:\n- name: COLOR\n  value: \"off\"\n- name: MODE\n  value: fast\n",
            "env:\n- name: COLOR\n  value: 'y'\n- name: MODE\n  value: fast\n",
            "env:\n- name: COLOR\n  value: \"off\"\n- name: MODE\n  value: \"no\"\n",
        ],
        "env:\n- name: COLOR\n  value: 'y'\n- name: MODE\n  value: \"no\"\n",
        Outcome::Clean,
        &["fast", "no"],
    );
}

#[test]
fn text_of_several_lines_merges_by_lines_and_asks_where_it_cannot() {
    let text = |first: &str, last: &str| format!("data:\n  conf: |\n    {first}\n    mid=1\n    mid=2\n    {last}\n");
    let base = text("a=1", "z=1");
    check_merge(
        [&base, &text("a=2", "z=1"), &text("a=1", "z=2")],
        &text("a=2", "z=2"),
        Outcome::Noted,
        &["conf"],
    );
    let ours = text("a=2", "z=1");
    check_merge(
        [&base, &ours, &text("a=3", "z=1")],
        &ours,
        Outcome::Conflict,
        &["conf", "refit resolve"],
    );
}

#[test]
fn lists_of_custom_resources_follow_the_keys_of_their_definition() {
    let definition = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: q.m.dev}\nspec:\n  \
                      group: m.dev\n  names: {kind: Queue}\n  versions:\n  - name: v1\n    schema:\n      openAPIV3Schema:\n        \
                      properties:\n          spec:\n            properties:\n              routes:\n                \
                      x-kubernetes-list-type: map\n                x-kubernetes-list-map-keys: [from, to]\n                \
                      items: {properties: {from: {type: string}, to: {type: string}}}\n";
    let queue =
        |routes: &str| format!("apiVersion: m.dev/v1\nkind: Queue\nmetadata: {{name: q}}\nspec:\n  routes:\n{routes}");
    let sides = [
        queue("  - from: a\n    to: b\n    rate: 1\n"),
        queue("  - from: a\n    to: b\n    rate: 7\n  - from: a\n    to: own\n    rate: 1\n"),
        queue("  - from: a\n    to: b\n    rate: 1\n    retry: true\n"),
    ]
    .map(|text| merging::tree("d.yaml", &text));
    let lists = ListKeys::read(&Stream::split(definition.as_bytes().into()).expect("a stream"));
    let settings = Settings {
        lists,
        ..Settings::default()
    };
    let checked = merging::trees_defined([&sides[0], &sides[1], &sides[2]], &settings, definition);
    assert_eq!(checked.violations, Vec::<String>::new());
    let expected =
        queue("  - from: a\n    to: b\n    rate: 7\n    retry: true\n  - from: a\n    to: own\n    rate: 1\n");
    assert_eq!(checked.text("d.yaml"), expected);
    assert_eq!(checked.outcome(), Outcome::Clean);
}

#[test]
fn one_port_number_with_two_protocols_is_two_ports() {
    let ports = |udp: &str, more: &str| {
        format!(
            "apiVersion: v1\nkind: Service\nmetadata: {{name: dns}}\nspec:\n  ports:\n  - port: 53\n    name: tcp\n  - port: 53\n    \
                 protocol: UDP\n    name: {udp}\n{more}"
        )
    };
    check_merge(
        [
            &ports("udp", ""),
            &ports("udp", "  - port: 9\n    name: own\n"),
            &ports("datagram", ""),
        ],
        &ports("datagram", "  - port: 9\n    name: own\n"),
        Outcome::Clean,
        &["datagram"],
    );
}

#[test]
fn a_key_that_theirs_drops_and_the_user_edited_is_asked_about() {
    check_merge(
        ["spec:\n  a: 1\n  b: 1\n", "spec:\n  a: 1\n  b: 2\n", "spec:\n  a: 1\n"],
        "spec:\n  a: 1\n  b: 2\n",
        Outcome::Conflict,
        &["spec.b", "2", "refit resolve"],
    );
}

#[test]
fn the_same_change_on_both_sides_asks_nobody() {
    let after = "spec:\n  a: 2\n  new: [1]\n";
    check_merge(["spec:\n  a: 1\n", after, after], after, Outcome::Clean, &[]);
    check_merge(
        ["a: 1\nb: 1\n", "a: 1\n# c\n", "a: 1\n"],
        "a: 1\n# c\n",
        Outcome::Clean,
        &[],
    );
}

#[test]
fn encrypted_documents_are_never_touched() {
    let secret = |value: &str, own: &str| {
        format!(
            "apiVersion: v1\nkind: Secret\nmetadata:\n  name: s\n{own}data:\n  k: ENC[AES256_GCM,data:{value},type:str]\nsops:\n  \
                 mac: ENC[AES256_GCM,data:mmmm,type:str]\n"
        )
    };
    let ours = secret("aaaa", "  labels: {a: b}\n");
    check_merge(
        [&secret("aaaa", ""), &ours, &secret("bbbb", "")],
        &ours,
        Outcome::Noted,
        &["Secret/s"],
    );
}

#[test]
fn a_comment_follows_theirs_unless_the_user_edited_it() {
    check_merge(
        [
            "# gen 1\nkind: A\na: 1 # one\n# above b\nb: 1\nc: 1\n",
            "# gen 1\nkind: A\na: 1 # one\n# mine\nb: 1\nc: 2\n",
            "# gen 2\nkind: A\na: 2 # two\n# above b, new\nb: 2\nc: 1\n",
        ],
        "# gen 2\nkind: A\na: 2 # two\n# mine\nb: 2\nc: 2\n",
        Outcome::Clean,
        &["a"],
    );
}

#[test]
fn an_object_is_found_in_any_file_and_a_new_one_goes_where_theirs_has_it() {
    let object = |name: &str, x: u8| format!("kind: Box\nmetadata: {{name: {name}}}\nx: {x}\n");
    let base = files(&[("gen.yaml", &format!("{}---\n{}", object("a", 1), object("b", 1)))]);
    let ours = files(&[
        ("one.yaml", &object("a", 1)),
        ("two.yaml", &format!("# mine\n{}", object("b", 1))),
    ]);
    let theirs = files(&[(
        "gen.yaml",
        &format!("{}---\n{}---\n{}", object("a", 2), object("new", 1), object("b", 2)),
    )]);
    let checked = merging::trees([&base, &ours, &theirs], &Settings::default());
    assert_eq!(checked.violations, Vec::<String>::new());
    assert_eq!(
        checked.text("one.yaml"),
        format!("{}---\n{}", object("a", 2), object("new", 1))
    );
    assert_eq!(checked.text("two.yaml"), format!("# mine\n{}", object("b", 2)));
    assert_eq!(checked.merged.tree.len(), 2);
}

#[test]
fn files_that_are_not_yaml_merge_by_lines_and_links_are_compared() {
    let tree = |text: &str, link: &str| {
        let mut tree = files(&[("run.sh", text)]);
        tree.insert(Path::from("now"), Entry::Link(link.into()));
        tree
    };
    let base = tree("#!/bin/sh\na\nb\nc\nd\n", "v1");
    let theirs = tree("#!/bin/sh\na\nb\nc\nD\n", "v2");
    let ours = tree("#!/bin/sh\nA\nb\nc\nd\n", "v1");
    let checked = merging::trees([&base, &ours, &theirs], &Settings::default());
    assert_eq!(checked.text("run.sh"), "#!/bin/sh\nA\nb\nc\nD\n");
    assert_eq!(
        checked.merged.tree.get(&Path::from("now")),
        Some(&Entry::Link("v2".into()))
    );
    let crossed = tree("#!/bin/sh\nX\nb\nc\nd\n", "mine");
    let checked = merging::trees(
        [&base, &crossed, &tree("#!/bin/sh\nY\nb\nc\nd\n", "v2")],
        &Settings::default(),
    );
    assert_eq!(checked.merged.tree, crossed);
    assert_eq!(checked.outcome(), Outcome::Conflict);
}

#[test]
fn a_file_that_cannot_be_merged_is_left_alone_and_the_others_are_merged() {
    let tree = |broken: &str, good: &str| files(&[("broken.yaml", broken), ("good.yaml", good)]);
    let base = tree("a: 1\n", "a: 1\n");
    let ours = tree("a: [1\n<<<<<<< mine\n", "a: 1\nb: 1\n");
    let theirs = tree("a: 2\n", "a: 2\n");
    let merged = merge(&base, &ours, &theirs, &Settings::default());
    assert_eq!(merged.tree, tree("a: [1\n<<<<<<< mine\n", "a: 2\nb: 1\n"));
    let blocked: Vec<_> = merged
        .decisions
        .iter()
        .filter(|d| d.outcome == Outcome::Blocked)
        .collect();
    assert_eq!(blocked.len(), 1);
    assert_eq!(blocked[0].path, Path::from("broken.yaml"));
}
