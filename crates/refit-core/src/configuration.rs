//! What the platform repository itself says about its plane: `refit.yaml`.
//!
//! In: the bytes of the file. Out: a [`Configuration`], or why it is none. Everything in it can be left out: what it names
//! is discovered otherwise. Knows neither the network nor where a source leads.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::Arc;

use refit_kustomize::reach;
use refit_manifest::scalar::{self, Style};
use refit_manifest::{Path, Stream, stream};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::release::Version;
use crate::report::API_VERSION;
use crate::value;

/// Where the file stands, from the root of the repository.
pub const FILE: &str = "refit.yaml";

/// The most bytes that the file may have.
const SIZE_LIMIT: usize = 1 << 20;

/// The configuration of a plane, `refit.yaml`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Configuration {
    /// The format of the file: `refit.dev/v1alpha1`.
    #[schemars(extend("const" = "refit.dev/v1alpha1"))]
    pub api_version: String,
    /// `Plane`.
    #[schemars(extend("const" = "Plane"))]
    pub kind: String,
    /// What is said about the plane.
    #[serde(default)]
    pub spec: Spec,
}

/// What is said about a plane.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Spec {
    /// Names of clusters, where the names that are made from paths do not please. Others are found all the same.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub clusters: Vec<NamedCluster>,
    /// Where the contents of releases come from; the first that has a version is taken. `--catalog` goes before them.
    #[serde(default, skip_serializing_if = "Catalog::is_empty")]
    pub catalog: Catalog,
    /// The release that the plane was first installed with, or the one that was installed when all stored objects were last
    /// migrated. Without it, the oldest release in the Git history is taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>", regex(pattern = r"^v?[0-9]+\.[0-9]+\.[0-9]+"))]
    pub installed_since: Option<Version>,
    /// The version of Kubernetes that every cluster has at least, such as `1.33` or `v1.33.4`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = r"^v?[0-9]+\.[0-9]+(\.[0-9]+.*)?$"))]
    pub kubernetes: Option<String>,
    /// How stored objects are migrated between two releases.
    #[serde(default, skip_serializing_if = "Migration::is_empty")]
    pub migration: Migration,
    /// Files with rules of conversion of your own, from the root of the repository; a rule that is called like a built-in one
    /// takes its place.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<String>,
}

/// How stored objects are migrated between two releases.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Migration {
    /// An image that has `sh` and `kubectl`. With it, requests carry a Job that migrates inside the cluster; without it they
    /// say what a person must run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
}

impl Migration {
    fn is_empty(&self) -> bool {
        self.image.is_none()
    }
}

/// The name of a cluster.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NamedCluster {
    /// The name: letters, digits, `-`, `_` and single `.`; it begins and ends with a letter, a digit or `_`, and does not end
    /// in `.lock`.
    #[schemars(regex(pattern = r"^[\p{L}\p{N}_]+([.-]+[\p{L}\p{N}_]+)*$"))]
    pub name: String,
    /// The folder that Flux synchronises, or the one that holds the generated manifest.
    pub path: String,
}

/// Where the contents of releases come from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Catalog {
    /// Folders (relative ones from the root of the repository), `https://` addresses and `oci://` registries.
    #[serde(default)]
    pub sources: Vec<String>,
}

impl Catalog {
    fn is_empty(&self) -> bool {
        self.sources.is_empty()
    }
}

/// Why a file is no configuration.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It is no text of YAML documents.
    #[error("it cannot be read")]
    Text(#[source] stream::Error),
    /// It is far larger than any configuration.
    #[error("it has {size} bytes, more than the {SIZE_LIMIT} that it may have")]
    Size {
        /// Its size.
        size: usize,
    },
    /// It does not parse.
    #[error("it is not YAML")]
    Syntax(#[source] refit_manifest::parse::Error),
    /// It has none or several documents.
    #[error("it has {count} documents, and must have one")]
    Documents {
        /// How many.
        count: usize,
    },
    /// It has other fields than a configuration.
    #[error("it does not have the fields of a configuration")]
    Shape(#[source] serde_json::Error),
    /// A value is not allowed.
    #[error("`{field}`: {reason}")]
    Value {
        /// The field.
        field: String,
        /// What is wrong.
        reason: String,
    },
}

impl Configuration {
    /// Makes a configuration that says this.
    pub fn new(spec: Spec) -> Self {
        Self {
            api_version: API_VERSION.to_owned(),
            kind: "Plane".to_owned(),
            spec,
        }
    }

    /// Reads the file; fields that it does not know are refused, since a misspelt one would be ignored in silence.
    pub fn read(bytes: &Arc<[u8]>) -> Result<Self, Error> {
        if bytes.len() > SIZE_LIMIT {
            return Err(Error::Size { size: bytes.len() });
        }
        let stream = Stream::split(Arc::clone(bytes)).map_err(Error::Text)?;
        let documents = stream.documents();
        for document in documents {
            if let Err(error) = document.parsed() {
                return Err(Error::Syntax(error.clone()));
            }
        }
        let roots: Vec<_> = documents.iter().filter_map(|document| document.root()).collect();
        let [root] = roots.as_slice() else {
            return Err(Error::Documents { count: roots.len() });
        };
        if let Some(field) = value::twice(*root) {
            return Err(Error::Value {
                field,
                reason: "the key stands twice".to_owned(),
            });
        }
        let value = value::of(*root).unwrap_or_default();
        let configuration: Self = serde_json::from_value(value).map_err(|error| Error::Shape(value::plain(&error)))?;
        configuration.check()?;
        Ok(configuration)
    }

    /// Gives the text of the file, with a comment for each part.
    pub fn write(&self) -> String {
        let mut text = String::from(HEAD);
        let _ = write!(text, "apiVersion: {}\nkind: {}\n", self.api_version, self.kind);
        text.push_str("spec:\n");
        text.push_str(
            "  # Names of clusters; a cluster that is not listed is found all the same and named by its path.\n",
        );
        text.push_str(&list(
            "clusters",
            self.spec.clusters.iter().map(|cluster| {
                format!(
                    "  - name: {}\n    path: {}\n",
                    scalar::write(&cluster.name, Style::Plain),
                    scalar::write(&cluster.path, Style::Plain)
                )
            }),
        ));
        text.push_str(
            "  # Where the contents of releases come from: folders, https:// addresses, oci:// registries.\n",
        );
        text.push_str("  catalog:\n");
        let sources = self.spec.catalog.sources.iter();
        let sources = list(
            "sources",
            sources.map(|source| format!("  - {}\n", scalar::write(source, Style::Plain))),
        );
        for line in sources.lines() {
            let _ = writeln!(text, "  {line}");
        }
        self.spec.write_routes(&mut text);
        text
    }

    fn check(&self) -> Result<(), Error> {
        let wrong = |field: String, reason: String| Err(Error::Value { field, reason });
        if self.api_version != API_VERSION {
            let reason = format!("this program reads `{API_VERSION}`, not `{}`", self.api_version);
            return wrong("apiVersion".to_owned(), reason);
        }
        if self.kind != "Plane" {
            return wrong("kind".to_owned(), format!("it must be `Plane`, not `{}`", self.kind));
        }
        let (mut names, mut paths) = (BTreeSet::new(), BTreeSet::new());
        for (index, cluster) in self.spec.clusters.iter().enumerate() {
            let field = |part: &str| format!("spec.clusters[{index}].{part}");
            if !is_name(&cluster.name) {
                let reason = format!(
                    "`{}` cannot be a name; names are of letters, digits, `-`, `_` and single `.`, such as `{}`",
                    cluster.name,
                    name(&cluster.name)
                );
                return wrong(field("name"), reason);
            }
            if !names.insert(&cluster.name) {
                return wrong(field("name"), format!("two clusters are called `{}`", cluster.name));
            }
            if !paths.insert(reach::normal(&cluster.path)) {
                return wrong(field("path"), format!("two clusters have the path `{}`", cluster.path));
            }
        }
        for (index, source) in self.spec.catalog.sources.iter().enumerate() {
            if source.trim().is_empty() {
                return wrong(format!("spec.catalog.sources[{index}]"), "it is empty".to_owned());
            }
        }
        if let Some(text) = self.spec.kubernetes.as_ref().filter(|text| kubernetes(text).is_none()) {
            let reason = format!("`{text}` is not a version of Kubernetes; write it like `\"1.33\"`");
            return wrong("spec.kubernetes".to_owned(), reason);
        }
        if let Some(image) = self.spec.migration.image.as_ref().filter(|image| !is_image(image)) {
            let reason = format!("`{image}` is no image; write it like `registry.example.org/kubectl:1.33.4`");
            return wrong("spec.migration.image".to_owned(), reason);
        }
        Ok(())
    }

    /// Gives the JSON schema of the file.
    pub fn schema() -> serde_json::Value {
        let mut schema = schemars::schema_for!(Configuration).to_value();
        if let Some(object) = schema.as_object_mut() {
            object.insert("title".to_owned(), "refit.yaml".into());
        }
        schema
    }
}

impl Spec {
    /// Gives the version of Kubernetes that every cluster has at least.
    pub fn kubernetes(&self) -> Option<Version> {
        self.kubernetes.as_deref().and_then(kubernetes)
    }

    fn write_routes(&self, text: &mut String) {
        if let Some(since) = &self.installed_since {
            text.push_str(
                "  # The release that the plane began with: which API versions may be stored follows from it.\n",
            );
            let _ = writeln!(text, "  installedSince: {since}");
        }
        if let Some(kubernetes) = &self.kubernetes {
            text.push_str("  # The version of Kubernetes that every cluster has at least.\n");
            let _ = writeln!(text, "  kubernetes: {}", scalar::write(kubernetes, Style::Plain));
        }
        if let Some(image) = &self.migration.image {
            text.push_str("  # The image of Jobs that migrate stored objects; it has `sh` and `kubectl`.\n");
            let _ = writeln!(text, "  migration:\n    image: {}", scalar::write(image, Style::Plain));
        }
        if !self.rules.is_empty() {
            text.push_str("  # Files with rules of conversion of your own.\n  rules:\n");
            for file in &self.rules {
                let _ = writeln!(text, "  - {}", scalar::write(file, Style::Plain));
            }
        }
    }

    /// Gives the name that a folder was given, by the folder that is synchronised or one that holds a generated manifest.
    pub fn name_of(&self, directory: &str, generated: &[Path]) -> Option<&str> {
        let named = |cluster: &&NamedCluster| {
            let path = reach::normal(&cluster.path);
            path == directory || generated.iter().any(|file| file.directory() == path)
        };
        self.clusters.iter().find(named).map(|cluster| cluster.name.as_str())
    }
}

/// What stands at the top of a file that this program writes.
const HEAD: &str = "\
# The configuration of refit. Everything here can be left out: what it names is discovered otherwise.
# The schema of this file: docs/refit.schema.json of refit.
";

/// Reads `1.33`, `v1.33.4` or `v1.33.4-eks-a1b2`; what vendors add says nothing about age.
pub(crate) fn kubernetes(text: &str) -> Option<Version> {
    let numbers = text.split(['-', '+']).next()?;
    Version::parse(numbers)
        .or_else(|_| Version::parse(&format!("{numbers}.0")))
        .ok()
}

/// Tells whether a text can be the name of an image; it becomes a plain value of a manifest.
fn is_image(text: &str) -> bool {
    let allowed = |letter: char| letter.is_ascii_alphanumeric() || "./:@-_".contains(letter);
    text.starts_with(|letter: char| letter.is_ascii_alphanumeric()) && text.chars().all(allowed)
}

/// Tells whether a text can be the name of a cluster: it becomes a file name and a part of commands.
fn is_name(text: &str) -> bool {
    text == name(text)
}

/// Makes the name of a cluster of any text; what can be a name stays as it is.
pub(crate) fn name(text: &str) -> String {
    let plain = |letter: char| letter.is_alphanumeric() || matches!(letter, '-' | '_' | '.');
    let mut name = text.replace(|letter: char| !plain(letter), "-");
    while name.contains("..") {
        name = name.replace("..", ".");
    }
    let mut name = name.trim_start_matches(['.', '-']);
    while let Some(shorter) = name.strip_suffix(".lock").or(name.strip_suffix(['.', '-'])) {
        name = shorter;
    }
    match name {
        "" => "cluster".to_owned(),
        name => name.to_owned(),
    }
}

fn list(name: &str, items: impl Iterator<Item = String>) -> String {
    let items: String = items.collect();
    match items.as_str() {
        "" => format!("  {name}: []\n"),
        items => format!("  {name}:\n{items}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Configuration, Error> {
        Configuration::read(&text.as_bytes().into())
    }

    fn complaint(text: &str) -> String {
        let error = read(text).unwrap_err();
        let source = std::error::Error::source(&error).map(|source| format!(": {source}"));
        format!("{error}{}", source.unwrap_or_default())
    }

    const HEADER: &str = "apiVersion: refit.dev/v1alpha1\nkind: Plane\n";

    #[test]
    fn everything_but_format_and_kind_can_be_left_out() {
        assert_eq!(read(HEADER).unwrap(), Configuration::new(Spec::default()));
    }

    #[test]
    fn what_is_written_reads_back_to_the_same_values() {
        for names in [
            vec![],
            vec![("production", "clusters/production"), ("yes", "a: b"), ("_1", "no")],
        ] {
            let named = |(name, path): &(&str, &str)| NamedCluster {
                name: (*name).into(),
                path: (*path).into(),
            };
            let sources = names
                .iter()
                .map(|(_, path)| format!("https://{path}.example.org/flux"))
                .collect();
            let configuration = Configuration::new(Spec {
                clusters: names.iter().map(named).collect(),
                catalog: Catalog { sources },
                installed_since: names.first().map(|_| Version::new(2, 2, 3)),
                kubernetes: names.first().map(|_| "1.30".to_owned()),
                migration: Migration {
                    image: names
                        .first()
                        .map(|_| "registry.example.org:5000/kubectl:1.33.4".to_owned()),
                },
                rules: names.iter().map(|(name, _)| format!("rules/{name}.yaml")).collect(),
            });
            assert_eq!(
                read(&configuration.write()).unwrap(),
                configuration,
                "{}",
                configuration.write()
            );
        }
    }

    #[test]
    fn every_name_that_is_made_of_a_path_can_be_written_down() {
        for text in [
            "of eu", "köln", "a..b", ".hidden", "x.lock", "y.lock.", "-", "", "$(id);", "...",
        ] {
            let name = name(text);
            let cluster = NamedCluster {
                name: name.clone(),
                path: "p".into(),
            };
            let spec = Spec {
                clusters: vec![cluster],
                ..Spec::default()
            };
            let read = read(&Configuration::new(spec.clone()).write());
            assert_eq!(
                read.map(|read| read.spec).map_err(|error| error.to_string()),
                Ok(spec),
                "{text}: {name}"
            );
        }
    }

    #[test]
    fn what_is_wrong_is_named() {
        let with = |rest: &str| complaint(&format!("{HEADER}{rest}"));
        assert!(
            with("spec: {cluster: []}\n").contains("unknown field `cluster`"),
            "{}",
            with("spec: {cluster: []}\n")
        );
        assert_eq!(
            with("spec: {clusters: [{name: a, path: x}, {name: a, path: z1}]}\n"),
            "`spec.clusters[1].name`: two clusters are called `a`"
        );
        assert_eq!(
            with("spec: {clusters: [{name: a, path: x}, {name: b, path: ./x/}]}\n"),
            "`spec.clusters[1].path`: two clusters have the path `./x/`"
        );
        for name in ["../up", "a/b", "", ".hidden", "a..b", "x.lock", "-a"] {
            let text = with(&format!("spec: {{clusters: [{{name: \"{name}\", path: x}}]}}\n"));
            assert!(text.contains("cannot be a name"), "{name}: {text}");
        }
        assert_eq!(
            complaint("apiVersion: refit.dev/v2\nkind: Plane\n"),
            "`apiVersion`: this program reads `refit.dev/v1alpha1`, not `refit.dev/v2`"
        );
        assert_eq!(complaint(""), "it has 0 documents, and must have one");
        assert_eq!(
            complaint(&format!("{HEADER}---\n{HEADER}")),
            "it has 2 documents, and must have one"
        );
        assert!(
            complaint("a: [\n").starts_with("it is not YAML"),
            "{}",
            complaint("a: [\n")
        );
    }

    #[test]
    fn a_key_that_stands_twice_is_named_and_shapes_are_told_in_plain_words() {
        assert_eq!(
            complaint(&format!("{HEADER}spec: {{kubernetes: \"1.33\"}}\nspec: {{}}\n")),
            "`spec`: the key stands twice"
        );
        assert_eq!(
            complaint(&format!(
                "{HEADER}spec: {{clusters: [{{name: a, path: x, name: b}}]}}\n"
            )),
            "`spec.clusters[0].name`: the key stands twice"
        );
        for text in ["[]\n", "- a\n", "text\n", &format!("{HEADER}spec: 1\n")] {
            let said = complaint(text);
            assert!(!said.contains("struct") && said.contains("mapping"), "{text}: {said}");
        }
    }

    #[test]
    fn what_routes_are_told_is_checked() {
        let with = |rest: &str| complaint(&format!("{HEADER}spec: {{{rest}}}\n"));
        assert_eq!(
            with("kubernetes: newest"),
            "`spec.kubernetes`: `newest` is not a version of Kubernetes; write it like `\"1.33\"`"
        );
        assert_eq!(
            with("migration: {image: \"a b\"}"),
            "`spec.migration.image`: `a b` is no image; write it like `registry.example.org/kubectl:1.33.4`"
        );
        assert!(
            with("installedSince: two").contains("is not a version"),
            "{}",
            with("installedSince: two")
        );
        let spec = read(&format!(
            "{HEADER}spec: {{kubernetes: \"1.33\", installedSince: 2.2.3}}\n"
        ))
        .unwrap()
        .spec;
        assert_eq!(spec.kubernetes(), Some(Version::new(1, 33, 0)));
        assert_eq!(spec.installed_since, Some(Version::new(2, 2, 3)));
    }

    #[test]
    fn a_cluster_is_named_by_the_folder_that_is_synchronised_or_that_holds_the_manifest() {
        let text = format!(
            "{HEADER}spec: {{clusters: [{{name: a, path: ./clusters/x/}}, {{name: b, path: y/flux-system}}]}}\n"
        );
        let spec = read(&text).unwrap().spec;
        assert_eq!(spec.name_of("clusters/x", &[]), Some("a"));
        assert_eq!(
            spec.name_of("y", &[Path::from("y/flux-system/gotk-components.yaml")]),
            Some("b")
        );
        assert_eq!(spec.name_of("z", &[]), None);
    }
}
