//! Fields of objects that stand elsewhere: operations of JSON patches, field paths of replacements.

use std::sync::Arc;

use refit_core::catalog::Catalog;
use refit_core::catalog::rules::ConversionRules;
use refit_core::conversion::{self, Reading, Wanted};
use refit_core::places::{Content, Target};
use refit_manifest::Path;

use crate::support::{check, lines, read, utf8, version};

/// Converts with a rule file of a user.
fn read_with(rules: &str, path: &str, text: &str) -> Reading {
    let mut catalog = Catalog::flux().unwrap();
    catalog
        .add_rules(ConversionRules::read("rules.yaml", rules).unwrap())
        .unwrap();
    let wanted = Wanted::of(&catalog, &version("v2.9.4"));
    let reading = conversion::read(&Path::from(path), &text.as_bytes().into(), &wanted);
    let again = conversion::read(&Path::from(path), &reading.bytes, &wanted);
    assert!(
        Arc::ptr_eq(&again.bytes, &reading.bytes),
        "a second run changes something"
    );
    reading
}

/// A rule file with one rule about HelmReleases.
fn of_releases(operation: &str) -> String {
    format!(
        "rules:\n- id: U1\n  group: helm.toolkit.fluxcd.io\n  kinds: [HelmRelease]\n  message: ours\n  origin: here\n  do:\n  - {operation}\n"
    )
}

fn inline(kind: &str, operations: &str) -> String {
    let block = operations.replace('\n', "\n    ");
    format!(
        "patches:\n- target: {{kind: {kind}, name: web}}\n  patch: |\n    {}\n",
        block.trim_end()
    )
}

/// A rule renames a field: pointers to it, also with the rest of a way, follow in the style that they have.
#[test]
fn pointers_to_a_field_that_is_renamed_follow_it() {
    let before = "\
# a
- op: replace
  path: /spec/every # b
  value: 5m
- {op: test, path: \"/spec/every\", value: 5m}
- op: copy
  from: '/spec/every'
  path: /metadata/annotations/x~1y
- op: remove
  path: /spec/every/0/a
";
    let rules = of_releases("rename: {from: spec.every, to: spec.interval}");
    let reading = read_with(&rules, "kustomization.yaml", &inline("HelmRelease", before));
    let after = inline("HelmRelease", &before.replace("/spec/every", "/spec/interval"));
    assert_eq!(utf8(&reading.bytes), after);
    let lines = lines(&reading);
    assert_eq!(lines.len(), 4, "{lines:?}");
    assert_eq!(lines[0], "6:13 pointer HelmRelease/web spec.every yes");
    assert_eq!(reading.uses[2].replacement.as_deref(), Some("/spec/interval"));
}

#[test]
fn pointers_are_converted_in_lists_json_and_patches_of_flux() {
    let rules = of_releases("rename: {from: spec.every, to: spec.interval}");
    for before in [
        "patches:\n- target: {kind: HelmRelease}\n  patch: '[{\"op\": \"replace\", \"path\": \"/spec/every\", \"value\": \"5m\"}]'\n",
        "patches:\n- target: {kind: HelmRelease}\n  patch: \"- op: replace\\n  path: /spec/every\\n  value: 5m\\n\"\n",
        "patchesJson6902:\n- target: {group: helm.toolkit.fluxcd.io, version: v2, kind: HelmRelease, name: a}\n  patch: |-\n    - op: replace\n      path: /spec/every\n      value: 5m\n",
        "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: a}\nspec:\n  patches:\n  - patch: |\n      - op: replace\n        path: /spec/every\n        value: 5m\n    target:\n      kind: HelmRelease\n",
    ] {
        let reading = read_with(&rules, "kustomization.yaml", before);
        assert_eq!(
            utf8(&reading.bytes),
            before.replace("/spec/every", "/spec/interval"),
            "{:?}",
            lines(&reading)
        );
    }
}

#[test]
fn an_operation_on_a_field_that_is_taken_out_goes_with_its_comments_where_another_stays() {
    let before =
        "- op: replace\n  path: /spec/interval\n  value: 5m\n# not any more\n- op: remove\n  path: /spec/validation\n";
    let after = "- op: replace\n  path: /spec/interval\n  value: 5m\n";
    check(
        "kustomization.yaml",
        &inline("Kustomization", before),
        &inline("Kustomization", after),
    );
    let before = "patches:\n- target: {kind: Kustomization}\n  patch: '[{\"op\": \"add\", \"path\": \"/spec/validation\", \"value\": \"client\"}, {\"op\": \"add\", \"path\": \"/spec/prune\", \"value\": true}]'\n";
    let after = "patches:\n- target: {kind: Kustomization}\n  patch: '[{\"op\": \"add\", \"path\": \"/spec/prune\", \"value\": true}]'\n";
    check("kustomization.yaml", before, after);
}

#[test]
fn an_operation_that_would_leave_no_patch_is_for_a_person() {
    let text = inline("Kustomization", "- op: remove\n  path: /spec/validation\n");
    let reading = read("kustomization.yaml", &text);
    assert_eq!(utf8(&reading.bytes), text);
    assert_eq!(
        lines(&reading),
        ["5:13 pointer Kustomization/web spec.validation review (no operation would stay: take the whole patch out)"]
    );
}

#[test]
fn an_operation_on_a_field_that_gets_another_form_is_one_use_for_a_person() {
    for operation in [
        "- op: remove\n  path: /spec/chart/spec/valuesFile\n",
        "- op: add\n  path: /spec/chart/spec/valuesFile\n  value: v.yaml\n",
        "- op: add\n  path: /spec/chart\n  value: {spec: {chart: c, valuesFile: v.yaml}}\n",
        "- op: move\n  from: /spec/chart/spec/valuesFile\n  path: /metadata/annotations/x\n",
        "- op: test\n  path: /spec/chart/spec/valuesFile\n  value: v.yaml\n",
        "- op: copy\n  from: /spec/chart/spec/valuesFile\n  path: /spec/chart/spec/valuesFile\n",
        "- op: add\n  path: /spec/postRenderers/0/kustomize/patchesStrategicMerge/-\n  value: {}\n",
        "- op: replace\n  path: /spec/postRenderers\n  value: [{kustomize: {patchesJson6902: [{target: {kind: A}, patch: []}]}}]\n",
    ] {
        let text = inline("HelmRelease", operation);
        let reading = read("kustomization.yaml", &text);
        assert_eq!(utf8(&reading.bytes), text);
        let lines = lines(&reading);
        assert_eq!(lines.len(), 1, "{operation}: {lines:?}");
        let why = " review (change it by hand together with the objects that it is for)";
        assert!(
            lines[0].contains(" pointer HelmRelease/web spec.") && lines[0].ends_with(why),
            "{lines:?}"
        );
    }
}

#[test]
fn operations_on_other_fields_and_kinds_are_none_of_our_business() {
    for (kind, operation) in [
        ("HelmRelease", "- op: remove\n  path: /spec/chart\n"),
        (
            "HelmRelease",
            "- op: add\n  path: /spec/chart/spec/valuesFiles/-\n  value: v.yaml\n",
        ),
        ("Deployment", "- op: remove\n  path: /spec/validation\n"),
        ("HelmChart", "- op: remove\n  path: /spec/chart/spec/valuesFile\n"),
        (
            "HelmRelease",
            "- op: add\n  path: spec/chart/spec/valuesFile\n  value: no pointer\n",
        ),
    ] {
        let reading = read("kustomization.yaml", &inline(kind, operation));
        assert!(reading.uses.is_empty(), "{operation}: {:?}", lines(&reading));
    }
}

#[test]
fn what_holds_a_field_at_its_new_place_must_be_there() {
    let rules = of_releases("move: {from: spec.branch, to: spec.source.branch}");
    for (operation, after) in [
        (
            "- op: remove\n  path: /spec/branch\n",
            "- op: remove\n  path: /spec/source/branch\n",
        ),
        ("- op: add\n  path: /spec/branch\n  value: b\n", ""),
    ] {
        let text = inline("HelmRelease", operation);
        let reading = read_with(&rules, "kustomization.yaml", &text);
        let expected = if after.is_empty() {
            text
        } else {
            inline("HelmRelease", after)
        };
        assert_eq!(utf8(&reading.bytes), expected);
        assert_eq!(reading.uses.len(), 1);
        assert_eq!(
            reading.left().count(),
            usize::from(after.is_empty()),
            "{:?}",
            lines(&reading)
        );
    }
}

#[test]
fn a_target_that_does_not_say_its_kind_for_sure_is_for_a_person() {
    let operation = "patch: |\n    - op: remove\n      path: /spec/validation\n    - op: add\n      path: /spec/prune\n      value: true\n";
    for (target, told) in [
        ("{name: web}", "*/web"),
        ("{labelSelector: a=b}", "*"),
        ("{kind: Kustomization|HelmRelease}", "Kustomization|HelmRelease"),
        ("{group: '.*', kind: Kustomization}", "Kustomization"),
    ] {
        let text = format!("patches:\n- target: {target}\n  {operation}");
        let reading = read("kustomization.yaml", &text);
        assert_eq!(utf8(&reading.bytes), text);
        let lines = lines(&reading);
        assert_eq!(lines.len(), 1, "{target}: {lines:?}");
        assert!(
            lines[0].starts_with(&format!("5:13 pointer {told} spec.validation review (")),
            "{lines:?}"
        );
    }
    let shared = "patches:\n- target: {kind: Provider}\n  patch: |\n    - {op: remove, path: /spec/interval}\n    - {op: add, path: /spec/channel, value: a}\n";
    let reading = read("kustomization.yaml", shared);
    assert_eq!(
        lines(&reading),
        ["4:26 pointer Provider spec.interval review (it names no group, and other groups have the kind, too)"]
    );
    let said = shared.replace("{kind", "{group: notification.toolkit.fluxcd.io, kind");
    assert_eq!(
        lines(&read("kustomization.yaml", &said)),
        ["4:26 pointer Provider spec.interval yes"]
    );
}

#[test]
fn patches_of_what_a_chart_renders_are_for_a_person() {
    let text = "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: a}\nspec:\n  chartRef: {kind: OCIRepository, name: o}\n  postRenderers:\n  - kustomize:\n      patches:\n      - target: {kind: Kustomization}\n        patch: |\n          - op: remove\n            path: /spec/validation\n          - op: add\n            path: /spec/prune\n            value: true\n";
    let reading = read("a.yaml", text);
    assert_eq!(utf8(&reading.bytes), text);
    assert_eq!(
        lines(&reading),
        [
            "12:19 pointer Kustomization spec.validation review (a chart makes the objects that it is for, in the form of its own version)"
        ]
    );
}

#[test]
fn a_folded_patch_is_told_where_it_stands() {
    let text = "patches:\n- target: {kind: Kustomization}\n  patch: >\n    [{\"op\": \"remove\", \"path\": \"/spec/validation\"},\n    {\"op\": \"remove\", \"path\": \"/spec/prune\"}]\n";
    let reading = read("kustomization.yaml", text);
    assert_eq!(utf8(&reading.bytes), text);
    assert_eq!(
        lines(&reading),
        [
            "3:10 pointer Kustomization spec.validation review (the lines of the text that it stands in are folded, or its indentation is told by a number)"
        ]
    );
}

#[test]
fn a_file_of_operations_is_read_for_the_targets_that_name_it() {
    let target = |kind: &str| Target {
        kind: kind.to_owned(),
        ..Target::default()
    };
    let wanted = crate::support::wanted("v2.9.4");
    let convert = |targets: Vec<Target>, path: &str, text: &str| {
        conversion::read_content(&Content::Patch(targets), &path.into(), &text.as_bytes().into(), &wanted)
    };
    let yaml = "- op: remove\n  path: /spec/validation\n- op: add\n  path: /spec/prune\n  value: true\n";
    let reading = convert(vec![target("Kustomization")], "p.yaml", yaml);
    assert_eq!(utf8(&reading.bytes), "- op: add\n  path: /spec/prune\n  value: true\n");
    assert_eq!(lines(&reading), ["2:9 pointer Kustomization spec.validation yes"]);
    let json = "[\n  {\"op\": \"remove\", \"path\": \"/spec/validation\"},\n  {\"op\": \"add\", \"path\": \"/spec/prune\", \"value\": true}\n]\n";
    let reading = convert(vec![target("Kustomization")], "p.json", json);
    assert_eq!(
        utf8(&reading.bytes),
        "[\n  {\"op\": \"add\", \"path\": \"/spec/prune\", \"value\": true}\n]\n"
    );
    let reading = convert(vec![target("Kustomization"), target("HelmRelease")], "p.yaml", yaml);
    assert_eq!(utf8(&reading.bytes), yaml, "it is for two kinds");
    assert_eq!(reading.left().count(), 1);
    assert!(convert(vec![target("HelmRelease")], "p.yaml", yaml).uses.is_empty());
}

#[test]
fn field_paths_of_replacements_follow_a_field_that_moves() {
    let rules = of_releases("move: {from: spec.branch, to: spec.source.branch}");
    let before = "\
replacements:
- source: {kind: HelmRelease, name: a, fieldPath: spec.branch}
  targets:
  - select: {kind: HelmRelease}
    fieldPaths:
    - spec.branch # here
    - metadata.annotations.[x=spec.branch]
  - select: {kind: Deployment}
    fieldPaths: [spec.branch]
vars:
- name: X
  objref: {apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, name: a}
  fieldref: {fieldpath: spec.branch}
";
    let after = before
        .replace("fieldPath: spec.branch", "fieldPath: spec.source.branch")
        .replace("- spec.branch #", "- spec.source.branch #")
        .replace("fieldpath: spec.branch", "fieldpath: spec.source.branch");
    let reading = read_with(&rules, "kustomization.yaml", before);
    assert_eq!(utf8(&reading.bytes), after);
    assert_eq!(reading.uses.len(), 3, "{:?}", lines(&reading));
}

#[test]
fn a_field_path_of_a_field_that_is_gone_is_for_a_person() {
    let text = "replacements:\n- source: {kind: HelmRelease, name: a, fieldPath: spec.chart.spec.valuesFile}\n  targets:\n  - select: {kind: Kustomization}\n    fieldPaths: [spec.validation, spec.path]\n";
    let reading = read("kustomization.yaml", text);
    assert_eq!(utf8(&reading.bytes), text);
    let why = "review (change it by hand together with the objects that it is for)";
    assert_eq!(
        lines(&reading),
        [
            format!("2:51 pointer HelmRelease/a spec.chart.spec.valuesFile {why}"),
            format!("5:18 pointer Kustomization spec.validation {why}")
        ]
    );
    let file = text.split_once('\n').unwrap().1;
    let wanted = crate::support::wanted("v2.9.4");
    let reading = conversion::read_content(
        &Content::Replacements,
        &"r.yaml".into(),
        &file.as_bytes().into(),
        &wanted,
    );
    assert_eq!(reading.left().count(), 2, "{:?}", lines(&reading));
}

#[test]
fn no_value_of_an_operation_is_told() {
    let text = inline(
        "HelmRelease",
        "- op: add\n  path: /spec/chart/spec/valuesFile\n  value: hunter2\n",
    );
    let reading = read("kustomization.yaml", &text);
    assert_eq!(reading.left().count(), 1);
    assert!(!format!("{:?} {:?}", reading.uses, reading.notes).contains("hunter2"));
}
