//! What people do to generated Flux files, each as a function from the pristine text to theirs.
//!
//! In: a pristine manifest and the one of a newer version. Out: the edited text, or nothing where the version has not
//! got what is edited. The numbers are the rows of the page on real repositories, section 6.

/// What an edit may look at.
pub(crate) struct Pristine<'p> {
    /// The generated file.
    pub(crate) text: &'p str,
    /// The generated file of a newer version, from which people copy.
    pub(crate) newer: &'p str,
}

/// An edit with its name.
pub(crate) struct Edit {
    pub(crate) name: &'static str,
    pub(crate) apply: fn(&Pristine<'_>) -> Option<String>,
}

/// All edits.
pub(crate) const EDITS: [Edit; 24] = [
    Edit {
        name: "01 two images raised",
        apply: |p| images(p, &["source-controller", "helm-controller"], raise),
    },
    Edit {
        name: "01 images of the next release",
        apply: |p| newer_images(p, p.text.to_owned()),
    },
    Edit {
        name: "02 images pinned by digest",
        apply: |p| images(p, &["-controller"], pin),
    },
    Edit {
        name: "03 definitions of a newer version",
        apply: newer_definitions,
    },
    Edit {
        name: "04 header and images raised",
        apply: header_and_images,
    },
    Edit {
        name: "06 a test build of one image",
        apply: |p| images(p, &["kustomize-controller"], test_build),
    },
    Edit {
        name: "07 tolerations by hand",
        apply: tolerations_before_containers,
    },
    Edit {
        name: "08 tolerations as the option writes them",
        apply: tolerations_of_the_option,
    },
    Edit {
        name: "09 the cluster domain",
        apply: |p| changed(p, p.text.replace("cluster.local", "corp.internal")),
    },
    Edit {
        name: "10 the cluster domain in one argument",
        apply: |p| changed(p, p.text.replacen("cluster.local", "corp.internal", 1)),
    },
    Edit {
        name: "11 a mistyped domain",
        apply: |p| changed(p, p.text.replace(".svc.cluster.local", ".svc.cluster-local")),
    },
    Edit {
        name: "13 no network policies",
        apply: |p| without(p, is_policy),
    },
    Edit {
        name: "13 one network policy deleted",
        apply: one_policy_deleted,
    },
    Edit {
        name: "17 no empty timestamps",
        apply: |p| changed(p, p.text.replace("\n  creationTimestamp: null\n", "\n")),
    },
    Edit {
        name: "18 no blank lines in descriptions",
        apply: blank_lines,
    },
    Edit {
        name: "19 a property deleted from a schema",
        apply: property_deleted,
    },
    Edit {
        name: "own registry",
        apply: |p| {
            changed(
                p,
                p.text
                    .replace("image: ghcr.io/", "image: registry.corp.example/mirror/"),
            )
        },
    },
    Edit {
        name: "limits raised, with a reason",
        apply: limits,
    },
    Edit {
        name: "comments and blank lines",
        apply: comments,
    },
    Edit {
        name: "more arguments",
        apply: arguments,
    },
    Edit {
        name: "labels and annotations",
        apply: labels,
    },
    Edit {
        name: "a proxy in the environment",
        apply: proxy,
    },
    Edit {
        name: "a rule more for a role",
        apply: rule,
    },
    Edit {
        name: "a deployment removed",
        apply: |p| {
            without(p, |d| {
                d.contains("kind: Deployment\n") && d.contains("name: helm-controller\n")
            })
        },
    },
];

fn changed(pristine: &Pristine<'_>, text: String) -> Option<String> {
    (text != pristine.text).then_some(text)
}

/// Rewrites the lines that a function wants otherwise.
fn lines(pristine: &Pristine<'_>, rewrite: impl Fn(&str) -> Option<String>) -> Option<String> {
    let line = |line: &str| rewrite(line).unwrap_or_else(|| line.to_owned());
    changed(pristine, pristine.text.split_inclusive('\n').map(line).collect())
}

fn images(pristine: &Pristine<'_>, names: &[&str], edit: fn(&str) -> String) -> Option<String> {
    lines(pristine, |line| {
        let is_image = line.trim_start().starts_with("image: ") && names.iter().any(|name| line.contains(name));
        is_image.then(|| edit(line))
    })
}

fn raise(line: &str) -> String {
    let (head, patch) = line.trim_end().rsplit_once('.').unwrap_or((line, "0"));
    let patch: u64 = patch
        .split('-')
        .next()
        .and_then(|patch| patch.parse().ok())
        .unwrap_or(0);
    format!("{head}.{}\n", patch + 1)
}

fn pin(line: &str) -> String {
    let digit = char::from(b'a' + u8::try_from(line.len() % 6).unwrap_or(0));
    format!("{}@sha256:{}\n", line.trim_end(), digit.to_string().repeat(64))
}

fn test_build(line: &str) -> String {
    let blanks = " ".repeat(line.len() - line.trim_start().len());
    format!(
        "{blanks}# own build with the fix for slow health checks,\n{blanks}# to be dropped with the next release\n{blanks}image: \
         registry.example/someone/kustomize-controller:fix-health-3 # TODO\n"
    )
}

/// Gives the image of each controller in the newer version.
fn newer_images(pristine: &Pristine<'_>, text: String) -> Option<String> {
    let image = |line: &str| line.trim().strip_prefix("image: ").map(str::to_owned);
    let newer: Vec<String> = pristine.newer.lines().filter_map(image).collect();
    let rewrite = |line: &str| {
        let repository = image(line)?.rsplit_once(':')?.0.to_owned();
        let found = newer
            .iter()
            .find(|image| image.starts_with(&format!("{repository}:")))?;
        Some(format!(
            "{}image: {found}\n",
            " ".repeat(line.len() - line.trim_start().len())
        ))
    };
    let out: String = text
        .split_inclusive('\n')
        .map(|line| rewrite(line).unwrap_or_else(|| line.to_owned()))
        .collect();
    changed(pristine, out)
}

fn header_and_images(pristine: &Pristine<'_>) -> Option<String> {
    let header = |text: &str| {
        text.lines()
            .find(|line| line.to_lowercase().starts_with("# flux version:"))
            .map(str::to_owned)
    };
    let text = pristine
        .text
        .replacen(&header(pristine.text)?, &header(pristine.newer)?, 1);
    newer_images(pristine, text)
}

fn documents(text: &str) -> Vec<&str> {
    text.split_inclusive("\n---\n").collect()
}

fn is_policy(document: &str) -> bool {
    document.contains("kind: NetworkPolicy\n")
}

fn newer_definitions(pristine: &Pristine<'_>) -> Option<String> {
    let name = |document: &str| {
        document
            .lines()
            .find(|line| line.starts_with("  name: "))
            .map(str::to_owned)
    };
    let newer = documents(pristine.newer);
    let copy = |document: &str| {
        let found = newer
            .iter()
            .find(|other| is_definition(other) && name(other) == name(document));
        let body = |document: &str| {
            document
                .strip_suffix("---\n")
                .unwrap_or(document)
                .trim_start_matches("---\n")
                .to_owned()
        };
        match found {
            Some(other) if is_definition(document) && !document.contains("# Flux") && !other.contains("# Flux") => {
                format!(
                    "{}{}",
                    body(other),
                    if document.ends_with("\n---\n") { "---\n" } else { "" }
                )
            }
            _ => document.to_owned(),
        }
    };
    changed(pristine, documents(pristine.text).into_iter().map(copy).collect())
}

fn is_definition(document: &str) -> bool {
    document.contains("kind: CustomResourceDefinition\n")
}

fn without(pristine: &Pristine<'_>, gone: fn(&str) -> bool) -> Option<String> {
    let all = documents(pristine.text);
    let kept: String = all
        .iter()
        .filter(|document| !gone(document) || document.contains("# Flux"))
        .copied()
        .collect();
    let kept = kept
        .strip_suffix("\n---\n")
        .map_or(kept.clone(), |kept| format!("{kept}\n"));
    changed(pristine, kept)
}

fn one_policy_deleted(pristine: &Pristine<'_>) -> Option<String> {
    let policies = documents(pristine.text)
        .iter()
        .filter(|document| is_policy(document))
        .count();
    (policies > 1).then(|| without(pristine, |d| is_policy(d) && d.contains("  name: allow-webhooks\n")))?
}

fn tolerations_before_containers(pristine: &Pristine<'_>) -> Option<String> {
    lines(pristine, |line| {
        (line == "      containers:\n").then(|| {
            format!(
                "      tolerations:\n        - key: \"node-role\"\n          operator: \"Equal\"\n          value: \"infra\"\n          \
                 effect: \"NoSchedule\"\n{line}"
            )
        })
    })
}

fn tolerations_of_the_option(pristine: &Pristine<'_>) -> Option<String> {
    lines(pristine, |line| {
        line.starts_with("      terminationGracePeriodSeconds:").then(|| {
            format!(
                "{line}      tolerations:\n      - effect: NoSchedule\n        key: infra\n        operator: Exists\n"
            )
        })
    })
}

fn blank_lines(pristine: &Pristine<'_>) -> Option<String> {
    changed(pristine, pristine.text.replace("\n\n", "\n"))
}

/// Deletes the first optional property of a schema: its key line and everything deeper below it.
fn property_deleted(pristine: &Pristine<'_>) -> Option<String> {
    let depth = |line: &str| line.len() - line.trim_start().len();
    let all: Vec<&str> = pristine.text.split_inclusive('\n').collect();
    let start = all
        .iter()
        .position(|line| matches!(line.trim(), "suspend:" | "timeout:"))?;
    let rest = all[start + 1..]
        .iter()
        .position(|line| !line.trim().is_empty() && depth(line) <= depth(all[start]))?;
    changed(pristine, [&all[..start], &all[start + 1 + rest..]].concat().concat())
}

fn limits(pristine: &Pristine<'_>) -> Option<String> {
    lines(pristine, |line| {
        (line == "            memory: 1Gi\n")
            .then(|| "            # large repositories need this\n            memory:   3Gi   # was 1Gi\n".to_owned())
    })
}

fn comments(pristine: &Pristine<'_>) -> Option<String> {
    lines(pristine, |line| match line {
        "kind: Deployment\n" => Some("kind: Deployment # watched by the platform team\n".to_owned()),
        "spec:\n" => Some("\n# below is generated\nspec:\n".to_owned()),
        "        imagePullPolicy: IfNotPresent\n" => Some(format!("        # do not use Always here\n\n{line}")),
        "      - args:\n" => Some("      # the only container\n      - args:\n".to_owned()),
        "        - --log-level=info\n" => {
            Some("        - --log-level=info   # change to debug when asked\n".to_owned())
        }
        _ => None,
    })
}

fn arguments(pristine: &Pristine<'_>) -> Option<String> {
    lines(pristine, |line| match line {
        "        - --log-encoding=json\n" => Some(format!(
            "{line}        - --concurrent=20\n        - --requeue-dependency=5s # faster\n"
        )),
        "        - --log-level=info\n" => Some("        - --log-level=debug\n".to_owned()),
        _ => None,
    })
}

fn labels(pristine: &Pristine<'_>) -> Option<String> {
    lines(pristine, |line| match line {
        "    app.kubernetes.io/instance: flux-system\n" => Some(format!("    acme.example/owner: platform\n{line}")),
        "      annotations:\n" => Some(format!("{line}        sidecar.example/inject: \"false\"\n")),
        _ => None,
    })
}

fn proxy(pristine: &Pristine<'_>) -> Option<String> {
    lines(pristine, |line| {
        (line == "        env:\n").then(|| {
            format!("{line}        - name: HTTPS_PROXY\n          value: http://proxy.corp.example:3128\n        - name: NO_PROXY\n          value: .svc,10.0.0.0/8\n")
        })
    })
}

fn rule(pristine: &Pristine<'_>) -> Option<String> {
    let at = pristine.text.find("rules:\n- apiGroups:")? + "rules:\n".len();
    let (head, tail) = pristine.text.split_at(at);
    changed(
        pristine,
        format!("{head}- apiGroups:\n  - acme.example\n  resources:\n  - widgets\n  verbs:\n  - get\n  - list\n{tail}"),
    )
}
