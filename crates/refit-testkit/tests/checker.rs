//! Tests of the checker itself: a right merge passes, and each seeded damage to it is found.

use refit_manifest::merge::{Settings, merge};
use refit_manifest::{Class, Decision, DecisionId, Entry, Identity, Outcome, Path, Rule, Tree};
use refit_testkit::checker::{Case, check};
use refit_testkit::generate::{GENERATED, Look, edit_object, object, write};
use refit_testkit::random::Random;

const FILE: &str = "plane.yaml";

const BASE: &str = r##"# Generated for release 1
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: settings
  namespace: plane
data:
  app.conf: |
    a=1
    b=1
    c=1
---
apiVersion: apps/v1
kind: Deployment
metadata:
  labels:
    app.kubernetes.io/version: v1
  name: manager
  namespace: plane
spec:
  replicas: 1
  template:
    spec:
      containers:
      - args:
        - --events-addr=
        - --log-level=info
        image: ghcr.io/example/manager:v1.0.0
        name: manager
        resources:
          limits:
            cpu: 100m
            memory: 64Mi
        volumeMounts:
        - mountPath: /tmp
          name: temp
      volumes:
      - emptyDir: {}
        name: temp
---
apiVersion: v1
kind: Service
metadata:
  name: old
  namespace: plane
spec:
  type: ClusterIP
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  name: deny
  namespace: plane
spec:
  podSelector: {}
"##;

const OURS: &str = r##"# Generated for release 1
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: settings
  namespace: plane
data:
  app.conf: |
    a=9
    b=1
    c=1
---
# our own manager
apiVersion: apps/v1
kind: Deployment
metadata:
  labels:
    app.kubernetes.io/version: v1
    team: core
  name: manager
  namespace: plane
spec:
  replicas:   3   # we need three

  template:
    spec:
      containers:
      - args:
        - --events-addr=
        - --log-level=info
        - --concurrent=20 # busy cluster
        image: registry.example/mirror/example/manager:v1.0.0
        name: manager
        resources:
          limits:
            cpu: 100m
            # the cache is large
            memory: 1Gi
        volumeMounts:
        - mountPath: /tmp
          name: temp
      volumes:
      - emptyDir: {}
        name: temp
---
apiVersion: v1
kind: Service
metadata:
  name: old
  namespace: plane
spec:
  type: ClusterIP
---
apiVersion: v1
kind: Secret
metadata: {name: mine, namespace: plane}
data: {"k": 'djE='}
"##;

const THEIRS: &str = r##"# Generated for release 2
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: settings
  namespace: plane
data:
  app.conf: |
    a=1
    b=1
    c=2
---
apiVersion: apps/v1
kind: Deployment
metadata:
  labels:
    app.kubernetes.io/part-of: plane
    app.kubernetes.io/version: v2
  name: manager
  namespace: plane
spec:
  replicas: 1
  template:
    spec:
      containers:
      - args:
        - --events-addr=
        - --log-level=debug
        image: ghcr.io/example/manager:v2.0.0
        name: manager
        resources:
          limits:
            cpu: 200m
            memory: 2Gi
        volumeMounts:
        - mountPath: /data
          name: data
        - mountPath: /tmp
          name: temp
      volumes:
      - emptyDir: {}
        name: data
      - emptyDir: {}
        name: temp
---
apiVersion: v1
kind: ServiceAccount
metadata:
  name: manager
  namespace: plane
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  name: deny
  namespace: plane
spec:
  podSelector: {}
  policyTypes: [Ingress]
"##;

const RESULT: &str = r##"# Generated for release 2
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: settings
  namespace: plane
data:
  app.conf: |
    a=9
    b=1
    c=2
---
# our own manager
apiVersion: apps/v1
kind: Deployment
metadata:
  labels:
    app.kubernetes.io/part-of: plane
    app.kubernetes.io/version: v2
    team: core
  name: manager
  namespace: plane
spec:
  replicas:   3   # we need three

  template:
    spec:
      containers:
      - args:
        - --events-addr=
        - --log-level=debug
        - --concurrent=20 # busy cluster
        image: registry.example/mirror/example/manager:v2.0.0
        name: manager
        resources:
          limits:
            cpu: 200m
            # the cache is large
            memory: 1Gi
        volumeMounts:
        - mountPath: /data
          name: data
        - mountPath: /tmp
          name: temp
      volumes:
      - emptyDir: {}
        name: data
      - emptyDir: {}
        name: temp
---
apiVersion: v1
kind: ServiceAccount
metadata:
  name: manager
  namespace: plane
---
apiVersion: v1
kind: Secret
metadata: {name: mine, namespace: plane}
data: {"k": 'djE='}
"##;

fn tree(text: &str) -> Tree {
    [(Path::from(FILE), Entry::file(text.as_bytes()))].into_iter().collect()
}

fn decision(object: (&str, &str, &str), field: &str, rule: Rule, outcome: Outcome) -> Decision {
    let (group, kind, name) = object;
    Decision {
        id: DecisionId(format!("{kind}-{name}-{field}")),
        path: Path::from(FILE),
        object: Some(Identity {
            group: group.into(),
            kind: kind.into(),
            namespace: "plane".into(),
            name: name.into(),
        }),
        field: field.to_owned(),
        base: Some(String::new()),
        ours: Some(String::new()),
        theirs: Some(String::new()),
        class: Class::Other,
        rule,
        outcome,
        message: "a sentence".to_owned(),
        answer: None,
    }
}

fn with_values(mut decision: Decision, values: [Option<&str>; 3]) -> Decision {
    let [base, ours, theirs] = values.map(|value| value.map(str::to_owned));
    (decision.base, decision.ours, decision.theirs) = (base, ours, theirs);
    decision
}

fn decisions() -> Vec<Decision> {
    let manager = ("apps", "Deployment", "manager");
    let container = "spec.template.spec.containers[name=manager]";
    let clean = |field: &str| decision(manager, field, Rule::TheirsChanged, Outcome::Clean);
    vec![
        decision(
            ("", "ConfigMap", "settings"),
            "data.app.conf",
            Rule::Lines,
            Outcome::Noted,
        ),
        clean("metadata.labels.app.kubernetes.io/part-of"),
        clean("metadata.labels[\"app.kubernetes.io/version\"]"),
        decision(manager, &format!("{container}.args"), Rule::FlagName, Outcome::Noted),
        with_values(
            decision(
                manager,
                &format!("{container}.image"),
                Rule::RegistryKept,
                Outcome::Noted,
            ),
            [
                Some("ghcr.io/example/manager:v1.0.0"),
                Some("registry.example/mirror/example/manager:v1.0.0"),
                Some("ghcr.io/example/manager:v2.0.0"),
            ],
        ),
        clean(&format!("{container}.resources.limits.cpu")),
        with_values(
            decision(
                manager,
                &format!("{container}.resources.limits.memory"),
                Rule::SizingKept,
                Outcome::Conflict,
            ),
            [Some("64Mi"), Some("1Gi"), Some("2Gi")],
        ),
        clean(&format!("{container}.volumeMounts")),
        clean("spec.template.spec.volumes[name=data]"),
        decision(("", "Service", "old"), "", Rule::Removed, Outcome::Clean),
        decision(("", "ServiceAccount", "manager"), "", Rule::Added, Outcome::Clean),
        with_values(
            decision(
                ("networking.k8s.io", "NetworkPolicy", "deny"),
                "",
                Rule::DeletionKept,
                Outcome::Noted,
            ),
            [Some("x"), None, Some("y")],
        ),
    ]
}

fn violations(result: &str, decisions: &[Decision]) -> Vec<String> {
    let [base, ours, theirs, result] = [BASE, OURS, THEIRS, result].map(tree);
    check(&Case {
        base: &base,
        ours: &ours,
        theirs: &theirs,
        result: &result,
        decisions,
        definitions: "",
    })
}

#[test]
fn a_right_merge_has_no_violations() {
    assert_eq!(violations(RESULT, &decisions()), Vec::<String>::new());
}

/// Expects that a damage to the right result is found.
fn finds(from: &str, to: &str) {
    let damaged = RESULT.replacen(from, to, 1);
    assert_ne!(damaged, RESULT, "the damage {from:?} did nothing");
    assert!(
        !violations(&damaged, &decisions()).is_empty(),
        "not found: {from:?} -> {to:?}"
    );
}

#[test]
fn each_kind_of_damage_is_found() {
    finds("cpu: 200m", "cpu: 100m"); // a change of theirs is not taken
    finds("    team: core\n", ""); // an edit of the user is lost
    finds("memory: 1Gi", "memory: 2Gi"); // a conflict is decided for theirs
    finds("memory: 1Gi", "memory: 5Gi"); // a value of nobody
    finds("mirror/example/manager:v2.0.0", "mirror/example/manager:v1.5.0"); // a tag of nobody
    finds(
        "registry.example/mirror/example/manager:v2.0.0",
        "ghcr.io/example/manager:v1.0.0",
    );
    finds("    c=2\n", "    c=1\n"); // a line of theirs is missing
    finds("    a=9\n", "    a=1\n"); // a line of ours is missing
    finds(" # busy cluster", ""); // comments
    finds("            # the cache is large\n", "");
    finds("# our own manager\n", "");
    finds("   # we need three", " # we need three"); // spacing
    finds("replicas:   3", "replicas: 3");
    finds("three\n\n", "three\n");
    finds("        - --concurrent=20 # busy cluster\n", ""); // arguments
    finds("--log-level=debug", "--log-level=info");
    finds(
        "        - --events-addr=\n",
        "        - --events-addr=\n        - --events-addr=\n",
    );
    finds("data: {\"k\": 'djE='}", "data: {k: djE=}"); // quotes and flow style elsewhere
    finds(
        "metadata: {name: mine, namespace: plane}\n",
        "metadata:\n  name: mine\n  namespace: plane\n",
    );
    finds(
        "  name: manager\n  namespace: plane\nspec",
        "  namespace: plane\n  name: manager\nspec",
    ); // order
    finds("    team: core\n", "    team: core\n    team: core\n"); // a key twice
    finds("kind: Secret", "kind: Sekret"); // objects
    finds(
        "---\napiVersion: v1\nkind: ServiceAccount\nmetadata:\n  name: manager\n  namespace: plane\n",
        "",
    );
    finds("  replicas:", " replicas:"); // does not parse
    finds("# Generated for release 2\n", "# Generated for release 2\n# invented\n");
    finds("team: core\n", "team: core\r\n"); // line ends
    finds("data:\n  app.conf: |\n", "data:\n  app.conf: |-\n");
    finds(
        "---\napiVersion: v1\nkind: Secret",
        "---\napiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata:\n  name: deny\n  namespace: plane\nspec:\n  podSelector: {}\n---\napiVersion: v1\nkind: Secret",
    );
}

#[test]
fn a_missing_decision_is_found() {
    let all = decisions();
    for index in 0..all.len() {
        let mut fewer = all.clone();
        let gone = fewer.remove(index);
        assert!(!violations(RESULT, &fewer).is_empty(), "not missed: {gone:?}");
    }
}

#[test]
fn a_decision_with_wrong_values_is_found() {
    let mut wrong = decisions();
    let memory = wrong
        .iter_mut()
        .find(|decision| decision.field.ends_with("memory"))
        .expect("there is one");
    memory.theirs = Some("4Gi".to_owned());
    assert!(!violations(RESULT, &wrong).is_empty());
}

#[test]
fn seeded_damage_to_any_line_is_found() {
    let all = decisions();
    let lines: Vec<&str> = RESULT.split_inclusive('\n').collect();
    let mut random = Random::new(3);
    let mut missed = Vec::new();
    for _ in 0..1000 {
        let at = random.below(lines.len());
        let mut damaged: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
        match random.below(5) {
            0 => damaged[at].clear(),
            1 => damaged[at] = damaged[at].repeat(2),
            2 => damaged.swap(at, (at + 1) % lines.len()),
            3 => damaged[at] = damaged[at].replace('\n', " \n"),
            _ => {
                let places: Vec<usize> = (0..damaged[at].len())
                    .filter(|i| damaged[at].as_bytes()[*i].is_ascii_alphanumeric())
                    .collect();
                let Some(place) = random.pick(&places) else { continue };
                damaged[at].replace_range(place..&(place + 1), "Q");
            }
        }
        let damaged = damaged.concat();
        if damaged != RESULT && violations(&damaged, &all).is_empty() {
            let changed = damaged.lines().zip(RESULT.lines()).find(|(new, old)| new != old);
            missed.push(format!("line {}: {:?}: {changed:?}", at + 1, lines[at]));
        }
    }
    missed.sort();
    missed.dedup();
    assert_eq!(missed, Vec::<String>::new());
}

/// Damages one line: it goes, stands twice, or has another letter.
fn damage(random: &mut Random, text: &str) -> String {
    let mut lines: Vec<String> = text.split_inclusive('\n').map(str::to_owned).collect();
    let at = random.below(lines.len());
    match random.below(3) {
        0 => drop(lines.remove(at)),
        1 => lines.insert(at, lines[at].clone()),
        _ => {
            let letter = |byte: u8| byte.is_ascii_alphanumeric();
            let places: Vec<usize> = (0..lines[at].len())
                .filter(|i| letter(lines[at].as_bytes()[*i]))
                .collect();
            if let Some(place) = random.pick(&places) {
                lines[at].replace_range(*place..place + 1, "Q");
            }
        }
    }
    lines.concat()
}

#[test]
fn seeded_damage_to_merges_of_random_manifests_is_found() {
    let mut random = Random::new(11);
    let mut missed = Vec::new();
    let mut tried = 0;
    for number in 0..150 {
        let base = vec![object(&mut random, 0), object(&mut random, 1)];
        let (mut ours, mut theirs) = (base.clone(), base.clone());
        edit_object(&mut random, &mut ours[number % 2]);
        edit_object(&mut random, &mut theirs[0]);
        let look = Look {
            step: 4,
            list: 2,
            comment_every: 4,
            line_end: "\n",
        };
        let sides = [write(&base, GENERATED), write(&ours, look), write(&theirs, GENERATED)];
        let [base, ours, theirs] = sides.each_ref().map(|text| tree(text));
        let merged = merge(&base, &ours, &theirs, &Settings::default());
        let text = merged
            .tree
            .bytes(&Path::from(FILE))
            .map(|bytes| String::from_utf8_lossy(bytes).into_owned());
        let text = text.expect("the file is there");
        let violations = |result: &Tree| {
            let decisions = &merged.decisions;
            check(&Case {
                base: &base,
                ours: &ours,
                theirs: &theirs,
                result,
                decisions,
                definitions: "",
            })
        };
        for _ in 0..6 {
            let damaged = damage(&mut random, &text);
            if damaged != text {
                tried += 1;
                if violations(&merged.tree).is_empty() && violations(&tree(&damaged)).is_empty() {
                    let line = text.lines().zip(damaged.lines()).find(|(old, new)| old != new);
                    missed.push(format!("{line:?} in\n{}\n=>\n{damaged}", sides.join("~~~\n")));
                }
            }
        }
    }
    assert!(tried > 500, "only {tried}");
    assert!(
        missed.is_empty(),
        "{} of {tried} missed:\n{}",
        missed.len(),
        missed.iter().take(3).cloned().collect::<Vec<_>>().join("\n\n")
    );
}
