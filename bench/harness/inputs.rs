//! Makes the inputs: three texts and the text that a perfect merge gives.
//!
//! An edit of the user leaves a comment with a number, so that lost comments can be counted.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

/// Three inputs and the expected lines of the result.
pub(crate) struct Case {
    pub(crate) title: String,
    pub(crate) base: String,
    pub(crate) ours: String,
    pub(crate) theirs: String,
    pub(crate) expected: String,
}

/// The written inputs of a case, and where results go.
pub(crate) struct Files {
    pub(crate) base: PathBuf,
    pub(crate) ours: PathBuf,
    pub(crate) theirs: PathBuf,
    pub(crate) out: PathBuf,
}

impl Case {
    pub(crate) fn write(&self, folder: &Path) -> Files {
        fs::create_dir_all(folder).unwrap();
        let place = |name: &str| folder.join(name);
        let files = Files {
            base: place("base.yaml"),
            ours: place("ours.yaml"),
            theirs: place("theirs.yaml"),
            out: place("out.yaml"),
        };
        fs::write(&files.base, &self.base).unwrap();
        fs::write(&files.ours, &self.ours).unwrap();
        fs::write(&files.theirs, &self.theirs).unwrap();
        files
    }

    pub(crate) fn sizes(&self) -> String {
        let megabytes = |text: &str| text.len() as f64 / 1e6;
        format!(
            "{:.1} + {:.1} + {:.1} MB",
            megabytes(&self.base),
            megabytes(&self.ours),
            megabytes(&self.theirs)
        )
    }
}

/// An old and a new release of a plane.
pub(crate) struct Releases {
    old: String,
    new: String,
    copies: usize,
    origin: &'static str,
}

impl Releases {
    /// Takes real releases from `../shared`, else the example catalog, repeated to the same size.
    pub(crate) fn find() -> Self {
        let real = Path::new("../shared/flux-manifests");
        let read = |version: &str| fs::read_to_string(real.join(version).join("gotk-components.six.yaml"));
        if let (Ok(old), Ok(new)) = (read("v2.6.4"), read("v2.9.4")) {
            return Self {
                old,
                new,
                copies: 8,
                origin: "Flux v2.6.4 and v2.9.4 with six components",
            };
        }
        let example =
            |version: &str| fs::read_to_string(format!("examples/catalog/flux/{version}/gotk-components.yaml"));
        let old = example("v2.4.0").unwrap();
        let copies = 5_500_000 / old.len();
        let origin = "synthetic: ../shared is missing, examples/catalog v2.4.0 and v2.6.4 repeated";
        Self {
            old,
            new: example("v2.6.4").unwrap(),
            copies,
            origin,
        }
    }

    pub(crate) fn origin(&self) -> &'static str {
        self.origin
    }

    fn copies(&self, release: &str) -> Vec<String> {
        (0..self.copies).flat_map(|copy| documents(release, copy)).collect()
    }
}

/// (a) Renamed copies of a release, a changed field in each Deployment, and the new release.
pub(crate) fn typical(releases: &Releases) -> Case {
    let base = releases.copies(&releases.old);
    let theirs = releases.copies(&releases.new);
    Case {
        title: "few edits, a new release".into(),
        ours: join(&edited(&base)),
        expected: join(&edited(&theirs)),
        base: join(&base),
        theirs: join(&theirs),
    }
}

/// (b) A label more in each document on one side, another version in each on the other.
pub(crate) fn dense(releases: &Releases) -> Case {
    let base = releases.copies(&releases.old);
    let theirs: Vec<String> = base.iter().map(|document| raise_version(document)).collect();
    Case {
        title: "every document changed on both sides".into(),
        ours: join(&labelled(&base)),
        expected: join(&labelled(&theirs)),
        base: join(&base),
        theirs: join(&theirs),
    }
}

/// (c, d) Small documents, of which one in `every` is changed on both sides, in different fields.
pub(crate) fn small_documents(count: usize, every: usize) -> Case {
    let make = |replicas: &str, tag: &str| -> String {
        let of = |number: usize| {
            if number.is_multiple_of(every) {
                small_document(number, &replicas.replace("NUMBER", &number.to_string()), tag)
            } else {
                small_document(number, OLD_REPLICAS, OLD_TAG)
            }
        };
        join(&(0..count).map(of).collect::<Vec<_>>())
    };
    Case {
        title: format!("{count} documents, one in {every} changed"),
        base: make(OLD_REPLICAS, OLD_TAG),
        ours: make(NEW_REPLICAS, OLD_TAG),
        theirs: make(OLD_REPLICAS, NEW_TAG),
        expected: make(NEW_REPLICAS, NEW_TAG),
    }
}

const OLD_REPLICAS: &str = "1";
const NEW_REPLICAS: &str = "3 # keep-NUMBER";
const OLD_TAG: &str = "v1.0.0";
const NEW_TAG: &str = "v1.1.0";

fn small_document(number: usize, replicas: &str, tag: &str) -> String {
    let mut text =
        format!("apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: app-{number}\n  namespace: apps\n");
    write!(
        text,
        "spec:\n  replicas: {replicas}\n  selector:\n    matchLabels:\n      app: app-{number}\n"
    )
    .unwrap();
    write!(
        text,
        "  template:\n    metadata:\n      labels:\n        app: app-{number}\n    spec:\n"
    )
    .unwrap();
    write!(
        text,
        "      containers:\n      - name: main\n        image: registry.example/app:{tag}\n"
    )
    .unwrap();
    text.push_str("        ports:\n        - containerPort: 8080\n          name: http\n          protocol: TCP\n");
    text
}

/// Parts a release into documents whose objects carry the number of the copy in their name.
fn documents(release: &str, copy: usize) -> Vec<String> {
    let body = release.strip_prefix("---\n").unwrap_or(release);
    let texts = body.split("\n---\n").map(|text| text.trim_end_matches('\n'));
    let rename = |text: &str| {
        let mut done = false;
        let mut renamed = String::with_capacity(text.len() + 16);
        for line in text.lines() {
            renamed.push_str(line);
            if !done && line.starts_with("  name: ") {
                write!(renamed, "-{copy}").unwrap();
                done = true;
            }
            renamed.push('\n');
        }
        renamed
    };
    texts.map(rename).collect()
}

fn join(documents: &[String]) -> String {
    documents.iter().flat_map(|document| ["---\n", document]).collect()
}

/// Doubles the replicas of each Deployment and says so.
fn edited(documents: &[String]) -> Vec<String> {
    let edit = |(number, document): (usize, &String)| {
        if document.contains("\nkind: Deployment\n") {
            document.replacen("\n  replicas: 1\n", &format!("\n  replicas: 2 # keep-{number}\n"), 1)
        } else {
            document.clone()
        }
    };
    let mut deployments = 0..;
    let numbered = documents.iter().map(|document| {
        let number = if document.contains("\nkind: Deployment\n") {
            deployments.next().unwrap()
        } else {
            0
        };
        (number, document)
    });
    numbered.map(edit).collect()
}

fn labelled(documents: &[String]) -> Vec<String> {
    let label = |(number, document): (usize, &String)| {
        document.replacen(
            "\n  labels:\n",
            &format!("\n  labels:\n    a-team: platform # keep-{number}\n"),
            1,
        )
    };
    documents.iter().enumerate().map(label).collect()
}

fn raise_version(document: &str) -> String {
    let line = document
        .lines()
        .find(|line| line.starts_with("    app.kubernetes.io/version: "));
    line.map_or_else(
        || document.to_owned(),
        |line| document.replacen(line, "    app.kubernetes.io/version: v9.9.9", 1),
    )
}
