use refit_manifest::{Entry, Path};

use super::*;
use crate::applied::File;

fn tree(files: &[(&str, &str)]) -> Tree {
    let entry = |(path, text): &(&str, &str)| (Path::from(*path), Entry::file(text.as_bytes()));
    files.iter().map(entry).collect()
}

fn applied(name: &str, directory: &str) -> Applied {
    Applied {
        name: name.to_owned(),
        repository: 0,
        directory: directory.to_owned(),
        prune: true,
        namespace: None,
        definitions: false,
    }
}

fn map(name: &str) -> String {
    format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  # mine\n  name: {name}\n  namespace: n\n")
}

fn compared(before: &Tree, after: &Tree, applied: &[Applied]) -> Pruning {
    let side = |tree| Side { trees: tree, applied };
    compare(side(&[before]), side(&[after]))
}

fn lines(pruning: &Pruning) -> Vec<String> {
    let leaves = pruning.leaves.iter().map(ToString::to_string);
    let moves = pruning.moves.iter().map(ToString::to_string);
    let findings = pruning
        .findings
        .iter()
        .map(|finding| format!("{:?} {}", finding.severity, finding.code));
    leaves.chain(moves).chain(findings).collect()
}

#[test]
fn what_leaves_is_told_with_why_it_stays_where_it_stays() {
    let marked = |mark: &str| format!("{}  {mark}\n", map("m"));
    let label = marked("labels: {kustomize.toolkit.fluxcd.io/prune: disabled}");
    let annotation =
        marked("annotations:\n    kustomize.toolkit.fluxcd.io/reconcile: disabled").replace("name: m", "name: r");
    let before = tree(&[
        ("a/plain.yaml", &map("p")),
        ("a/label.yaml", &label),
        ("a/annotation.yaml", &annotation),
        ("b/o.yaml", &map("o")),
        ("a/stays.yaml", &map("s")),
    ]);
    let after = tree(&[("a/stays.yaml", &map("s")), ("b/kustomization.yaml", "resources: []\n")]);
    let mut off = applied("b", "b");
    off.prune = false;
    let pruning = compared(&before, &after, &[applied("a", "a"), off]);
    assert_eq!(
        lines(&pruning),
        [
            "`ConfigMap/m in n` leaves `a` and stays in the cluster: it is marked so",
            "`ConfigMap/p in n` leaves `a` and is removed from the cluster",
            "`ConfigMap/r in n` leaves `a` and stays in the cluster: it is marked so",
            "`ConfigMap/o in n` leaves `b` and stays in the cluster: `spec.prune` is off",
            "Warning ObjectPruned",
        ]
    );
}

#[test]
fn a_definition_that_would_be_removed_blocks() {
    let definition = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: as.b.c}\n";
    let before = tree(&[("a/d.yaml", definition), ("a/o.yaml", &map("o"))]);
    let pruning = compared(&before, &tree(&[("a/o.yaml", &map("o"))]), &[applied("a", "a")]);
    assert_eq!(
        lines(&pruning),
        [
            "`CustomResourceDefinition/as.b.c` leaves `a` and is removed from the cluster",
            "Blocking DefinitionPruned"
        ]
    );
    let version = definition.replace("/v1\n", "/v1beta1\n");
    let converted = tree(&[("a/d.yaml", &version), ("a/o.yaml", &map("o"))]);
    assert_eq!(lines(&compared(&before, &converted, &[applied("a", "a")])), [""; 0]);
}

#[test]
fn what_moves_is_marked_first_and_then_moves_without_being_removed() {
    let both = [applied("a", "a"), applied("b", "b")];
    let flow = "{apiVersion: v1, kind: ConfigMap, metadata: {name: f, namespace: n}}\n";
    let annotated = map("w")
        .replace("metadata:\n", "metadata:\n  annotations:\n    own: x # why\n")
        .replace('\n', "\r\n");
    let files = [("o.yaml", map("o")), ("f.yaml", flow.into()), ("w.yaml", annotated)];
    let at = |directory: &str, tree: &Tree| -> Tree {
        let moved = tree
            .iter()
            .map(|(path, entry)| (Path::new(format!("{directory}/{}", path.file_name())), entry.clone()));
        moved
            .chain([(
                Path::from("a/kustomization.yaml"),
                Entry::file(&b"resources: [o.yaml, f.yaml, w.yaml]\n"[..]),
            )])
            .collect()
    };
    let plain: Tree = files
        .iter()
        .map(|(name, text)| (Path::from(*name), Entry::file(text.as_bytes())))
        .collect();
    let before = at("a", &plain);
    let mut after = at("b", &plain);
    after.insert("a/kustomization.yaml".into(), Entry::file(&b"resources: []\n"[..]));
    let pruning = compared(&before, &after, &both);
    let moves = ["f", "o", "w"].map(|name| format!("`ConfigMap/{name} in n` moves from `a` to `b`"));
    assert_eq!(lines(&pruning), moves);
    let detached = detach(&[&before], &pruning.unmarked().collect::<Vec<_>>());
    let text = |name: &str| {
        let path = Path::new(format!("a/{name}"));
        String::from_utf8(detached.edits[&File { repository: 0, path }].to_vec()).unwrap()
    };
    let mark = "kustomize.toolkit.fluxcd.io/prune: disabled";
    assert_eq!(
        text("o.yaml"),
        map("o").replace(
            "  # mine\n  name",
            &format!("  # mine\n  annotations:\n    {mark}\n  name")
        )
    );
    assert_eq!(
        text("f.yaml"),
        flow.replace("{name", &format!("{{annotations: {{{mark}}}, name"))
    );
    assert_eq!(
        text("w.yaml"),
        files[2].1.replace("own:", &format!("{mark}\r\n    own:"))
    );
    assert_eq!(detached.findings, []);
    let mut marked = before.clone();
    for (file, bytes) in detached.edits {
        marked.insert(file.path, Entry::file(bytes));
    }
    assert_eq!(lines(&compared(&before, &marked, &both)), [""; 0]);
    let pruning = compared(&marked, &after, &both);
    assert_eq!((lines(&pruning), pruning.unmarked().count()), (moves.to_vec(), 0));
}

#[test]
fn what_is_generated_or_in_a_list_and_moves_must_be_marked_by_hand() {
    let list = format!(
        "kind: List\napiVersion: v1\nitems:\n- {}",
        map("l").replace('\n', "\n  ")
    );
    let generated = "configMapGenerator:\n- {name: g, literals: [a=b], options: {disableNameSuffixHash: true}}\n";
    let before = tree(&[
        ("a/kustomization.yaml", &format!("resources: [l.yaml]\n{generated}")),
        ("a/l.yaml", list.trim_end()),
    ]);
    let after = tree(&[
        ("a/kustomization.yaml", "resources: []\n"),
        ("b/kustomization.yaml", &format!("resources: [l.yaml]\n{generated}")),
        ("b/l.yaml", list.trim_end()),
    ]);
    let pruning = compared(&before, &after, &[applied("a", "a"), applied("b", "b")]);
    let detached = detach(&[&before], &pruning.unmarked().collect::<Vec<_>>());
    let told: Vec<String> = detached
        .findings
        .iter()
        .map(|finding| format!("{} {}", finding.code, finding.message))
        .collect();
    assert_eq!(
        told,
        [
            "MoveNotMarked `ConfigMap/g` moves from `a` to `b`, and is not marked first: it is generated",
            "MoveNotMarked `ConfigMap/l in n` moves from `a` to `b`, and is not marked first: its file cannot be edited without writing it anew",
        ]
    );
    assert!(detached.edits.is_empty());
}

#[test]
fn a_build_that_is_not_evaluated_gives_no_claim_but_a_finding() {
    let before = tree(&[("a/o.yaml", &map("o"))]);
    let after = tree(&[("a/kustomization.yaml", "resources: [https://example.org/base]\n")]);
    let pruning = compared(&before, &after, &[applied("a", "a")]);
    assert_eq!(lines(&pruning), ["Warning PruningUnknown"]);
}

#[test]
fn a_kustomization_that_goes_takes_along_what_it_applied_only_when_it_prunes() {
    let before = tree(&[("a/o.yaml", &map("o")), ("b/p.yaml", &map("p"))]);
    let mut off = applied("b", "b");
    off.prune = false;
    let all = [applied("a", "a"), off];
    let pruning = compare(
        Side {
            trees: &[&before],
            applied: &all,
        },
        Side {
            trees: &[&before],
            applied: &[],
        },
    );
    assert_eq!(
        lines(&pruning)[..2],
        [
            "`ConfigMap/o in n` leaves `a` and is removed from the cluster",
            "`ConfigMap/p in n` leaves `b` and stays in the cluster: `spec.prune` is off",
        ]
    );
}
