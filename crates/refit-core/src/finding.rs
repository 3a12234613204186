//! What can be found about a plane, each code in one place.
//!
//! In: nothing. Out: [`Finding`]s and the table of their codes, from which the reference page is generated.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Severity {
    /// Nothing is written until it is gone; it cannot be accepted.
    Blocking,
    /// The upgrade goes on, and the request says so.
    Warning,
    /// Good to know.
    Note,
}

impl Severity {
    /// Gives the word that stands in texts.
    pub fn word(self) -> &'static str {
        match self {
            Self::Blocking => "blocking",
            Self::Warning => "warning",
            Self::Note => "note",
        }
    }
}

/// What the table knows about a code.
#[derive(Clone, Copy, Debug)]
pub struct About {
    /// The code.
    pub code: Code,
    /// Its stable word.
    pub word: &'static str,
    /// How much it matters.
    pub severity: Severity,
    /// What it means, one sentence.
    pub meaning: &'static str,
    /// What the user can do, one sentence.
    pub remedy: &'static str,
}

macro_rules! codes {
    ($($name:ident: $severity:ident, $meaning:literal, $remedy:literal;)*) => {
        /// The stable codes of findings; a code is never renamed.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum Code {
            $(#[doc = $meaning] $name,)*
        }

        /// Every code, in the order of the reference page.
        pub const TABLE: &[About] = &[$(About {
            code: Code::$name,
            word: stringify!($name),
            severity: Severity::$severity,
            meaning: $meaning,
            remedy: $remedy,
        },)*];
    };
}

codes! {
    PlaneNotFound: Blocking,
        "No generated manifest of a known platform is in the repository.",
        "check the branch with `--base`, or install the platform and commit its manifest first";
    PlaceholderManifest: Blocking,
        "A file stands where the generated manifest belongs, but holds no objects.",
        "run `flux bootstrap` (or commit the generated manifest), then run `refit` again";
    OperatorManaged: Blocking,
        "The Flux Operator installs the plane; a warning where a generated manifest is left beside it.",
        "change the version of the FluxInstance; `refit` upgrades generated manifests only";
    VersionUnclear: Blocking,
        "Labels, images and definitions do not tell which release is installed.",
        "write the version into the header comment of the manifest, or give the original file with `--base-file FILE`";
    BaseUnknown: Blocking,
        "What the generator wrote for the installed version cannot be had, so edits cannot be told from generated text.",
        "add a catalog that holds this release with `--catalog DIR`, or give the original file with `--base-file FILE`";
    UnknownVersion: Blocking,
        "The wanted version is not in any catalog source.",
        "choose one of the versions named, or add a catalog that holds it with `--catalog DIR`";
    DowngradeRefused: Blocking,
        "The wanted version is older than the installed one.",
        "choose a newer version; `refit rollback` goes back to the release before the last upgrade";
    StoredVersionRemoved: Blocking,
        "Objects may be stored in an API version that the target's definitions lack; the API server refuses such a definition.",
        "upgrade to an earlier release that still has the version, migrate the stored objects, then go on";
    KubernetesTooOld: Blocking,
        "A release on the way asks for a newer Kubernetes than the cluster has.",
        "upgrade Kubernetes first, then run again";
    RepairNeeded: Blocking,
        "The definitions in the cluster are not those of the release in Git, so the next step would not start where it seems to.",
        "carry out the steps of the repair that are named, take a snapshot anew, then run again";
    PastPointOfNoReturn: Blocking,
        "Objects may be stored in an API version that the release to go back to does not serve.",
        "go forward to a release that repairs what is wrong, or restore the cluster from a backup made before the upgrade";
    UpgradedSince: Blocking,
        "The branch runs another release than the last recorded upgrade brought, so that upgrade alone cannot go back.",
        "revert the later commits first, or go back with `git revert`";
    ApiVersionRemoved: Blocking,
        "An object of yours is written in an API version that the target no longer serves, so that it could not be applied any more.",
        "write it in a version that both releases serve, commit, and run again";
    MissingComponent: Blocking,
        "The release contents lack a component that the plane runs.",
        "add a catalog source that holds the release with all components";
    DigestMismatch: Blocking,
        "A file of the catalog does not have the digest that was recorded for it.",
        "fetch the release again, and find out who changed the file";
    UnreadableFile: Blocking,
        "A file of the plane cannot be parsed.",
        "repair the file at the line named, commit, and run again";
    InvalidConfiguration: Blocking,
        "`refit.yaml` cannot be read, or says what it cannot say.",
        "correct the file, see docs/configuration.md, and commit";
    InvalidRules: Blocking,
        "A file with rules of conversion, which `refit.yaml` or `--rules` names, cannot be used; none of its rules is.",
        "correct the rule at the line named, see docs/rules.md, or leave the file out";
    ConflictMarkers: Blocking,
        "A file of the plane holds conflict markers of Git.",
        "finish the merge that left them, commit, and run again";
    InvalidUtf8: Blocking,
        "A file of the plane is not valid UTF-8.",
        "save the file as UTF-8, commit, and run again";
    TooDeep: Blocking,
        "A file of the plane nests deeper, or expands further, than any manifest does.",
        "remove the nesting or the aliases that multiply, commit, and run again";
    ConfiguredClusterMissing: Warning,
        "`refit.yaml` names a cluster that was not found.",
        "correct its path in `refit.yaml`, or take it out";
    DuplicateIdentity: Warning,
        "The same object stands twice among the files of one cluster.",
        "remove one of the two; until then each is matched by its file";
    SharedFile: Blocking,
        "A generated file is used by several clusters, of which only some were named; it can only be upgraded for all of them.",
        "name all of them with `--cluster`, or give each cluster its own generated file";
    LinkedFile: Blocking,
        "A symbolic link stands where a generated manifest belongs; links are not followed.",
        "upgrade the cluster whose file it points to, or commit a copy in place of the link";
    SeveralPlanes: Blocking,
        "One file holds the controllers of several planes, or files of one cluster define the same kinds in other versions, so that no release tells what is installed.",
        "give each plane a generated file of its own, and all files of one cluster the same release";
    FilteredFile: Blocking,
        "Git attributes (LFS, filters) stand between the stored and the checked-out bytes of a file that would change.",
        "remove the attribute for this file, or upgrade it by hand";
    FileNotWritten: Blocking,
        "A file that can be converted could not be written, so it stayed as it was.",
        "give yourself the right to write it, or make room on the disk, then run the command again";
    FileBlocked: Blocking,
        "A file cannot be merged without a doubt about its content and is left untouched.",
        "see the message for the place, repair it by hand, commit, and run again";
    ShallowHistory: Warning,
        "The history of the repository is cut off, so the commit that brought the installed version cannot be looked for.",
        "run `git fetch --unshallow`";
    BaseFromHistory: Warning,
        "No catalog holds the installed release, so what the generator wrote was taken from the history of the file.",
        "add a catalog that holds the release with `--catalog DIR` to be sure";
    MixedState: Warning,
        "The evidence of the generated file names more than one release.",
        "check which release runs; the upgrade brings all of them to the target, save what you keep";
    OddClusterDomain: Warning,
        "An address in the arguments of a controller names a domain that looks mistyped; it is kept.",
        "compare with the DNS domain of the cluster, and correct it in its own commit";
    SubstitutionInSchema: Warning,
        "A Flux Kustomization substitutes variables in generated definitions, whose descriptions hold `${`.",
        "annotate the definitions with `kustomize.toolkit.fluxcd.io/substitute: disabled`, or substitute elsewhere";
    StoredVersionsAssumed: Warning,
        "No cluster was read, so the stored API versions were assumed from the installed release.",
        "compare with `kubectl get crd -o custom-columns=NAME:.metadata.name,STORED:.status.storedVersions`";
    CatalogOlderThanTarget: Warning,
        "The target is newer than the built-in catalog data; what is known about it comes from its manifests alone.",
        "update `refit` to have its known problems and renames";
    PinnedImage: Warning,
        "A kustomization pins an image of the plane, so the upgrade does not change what runs.",
        "remove the pin, or raise it together with the upgrade";
    OtherUpdater: Warning,
        "Another tool updates the same files.",
        "exclude the generated manifest there, or stop using one of the two";
    PatchHidesItems: Warning,
        "A patch writes a list whole, or adds a flag, and so hides what the new release has there.",
        "compare the list of the patch with the one of the new release, and add what is missing";
    PatchBecomesLive: Warning,
        "A patch that matched nothing before the upgrade matches something after it.",
        "check that the patch is meant for these objects, or narrow its target";
    PatchBroken: Warning,
        "A patch stays as it is although the cluster's build fails with it after the upgrade.",
        "change the patch on the request's branch before merging; `refit resume --keep-commits` keeps the commit";
    OverlayBroken: Warning,
        "A cluster's build fails before the upgrade already, so its patches cannot be compared.",
        "repair the build on the target branch (`kustomize build` shows the same error), then plan again";
    ClusterLags: Blocking,
        "A file is shared by clusters of releases that have no API version in common which the next release accepts.",
        "upgrade the cluster that lags first, or give it a file of its own";
    OrderUnsafe: Blocking,
        "After one of the requests an object would not be accepted by what the cluster has installed then.",
        "convert the object by hand, commit, and run again";
    SourceNotRead: Warning,
        "A Flux Kustomization applies files that are not at hand, so objects there are not looked at.",
        "run `refit scan` and `refit convert` where its files are, before the request is merged";
    DefinitionPruned: Blocking,
        "A definition would be removed from the cluster, and all its objects with it.",
        "keep the definition among the resources of its Kustomization, or set `spec.prune: false` there";
    MoveNotMarked: Blocking,
        "An object moves to another Kustomization of Flux, and the one that it leaves could remove it.",
        "annotate it with `kustomize.toolkit.fluxcd.io/prune: disabled`, merge that, and move it when the cluster shows it";
    ObjectPruned: Warning,
        "An object leaves its Kustomization of Flux, which removes it from the cluster.",
        "see whether it may go; annotate it with `kustomize.toolkit.fluxcd.io/prune: disabled` first where it must stay";
    PruningUnknown: Warning,
        "What a Kustomization of Flux applies cannot be told, nor what it would remove.",
        "compare `kustomize build` of the target branch with the one of the request's branch before merging";
    OverlayNotEvaluated: Warning,
        "A cluster's build uses what is not evaluated here, so its patches are not verified.",
        "compare `kustomize build` of the target branch with the one of the request's branch before merging";
    UnreadableManifest: Warning,
        "A file names API versions of the platform and is no YAML or JSON, so it was left as it is.",
        "repair the file at the line named, then run the command again";
    TemplateNotMasked: Warning,
        "A template names API versions of the platform and cannot be read even with its actions masked, so it was left as it is.",
        "convert the file by hand, or convert what it renders to";
    ApiVersionNewer: Warning,
        "An object is written in an API version that the release does not serve yet; nothing is ever lowered.",
        "choose a release that serves the version, or write the object in a version that the release serves";
    UnknownKind: Warning,
        "A group of the platform does not have a kind that a file names in it.",
        "correct the group or the kind; the API server refuses such an object";
    UnreadableElsewhere: Warning,
        "A file outside the plane cannot be read; it was left out.",
        "repair the file when it belongs to a cluster";
    DigestChanged: Warning,
        "The record of the last upgrade names another digest than the release contents now have.",
        "find out whether the catalog source was changed";
    SourceUnreachable: Warning,
        "A source of releases does not answer or is not there, so what it has is known from before or not at all.",
        "check the network, or name a folder that `refit catalog pull --to DIR` wrote with `--catalog DIR`";
    ReleaseNotExact: Warning,
        "The contents of a release were made of a published manifest, so bytes that nobody edited can differ from the generator's.",
        "name a source that holds what the generator wrote, such as `oci://ghcr.io/fluxcd/flux-manifests`, with `--catalog`";
    ReleaseDiffers: Blocking,
        "The contents of a release are not what the built-in catalog data says about it.",
        "fetch the release again, and find out who changed the source";
    KubernetesFloor: Warning,
        "The target asks for a newer Kubernetes than the installed release did, or than is known of that.",
        "compare with `kubectl version` before merging";
    DefinitionsCopied: Note,
        "Definitions in the generated file are those of another release; they follow the upgrade and are no edit.",
        "see with `refit inventory` which edits are left";
    TargetChosen: Note,
        "No version was named, and the newest release cannot be reached at all.",
        "see the message for what is in the way; once it is gone, run `refit upgrade` again";
    BehaviourChanges: Note,
        "The next release reads something in an object otherwise than the installed one.",
        "see the message for what changes; adjust the object before the merge where it matters";
    PatchRedundant: Note,
        "A patch changes nothing any more, since the new release has the same value.",
        "remove the patch when you like";
}

impl Code {
    /// Gives what the table knows about the code.
    pub fn about(self) -> &'static About {
        TABLE.iter().find(|about| about.code == self).unwrap_or(&TABLE[0])
    }

    /// Gives the stable word.
    pub fn word(self) -> &'static str {
        self.about().word
    }
}

impl fmt::Display for Code {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.word())
    }
}

impl FromStr for Code {
    type Err = UnknownCode;

    /// Reads a code in any case, with or without `_` and `-`.
    fn from_str(text: &str) -> Result<Self, UnknownCode> {
        let plain = |text: &str| text.replace(['_', '-'], "").to_ascii_lowercase();
        TABLE
            .iter()
            .find(|about| plain(about.word) == plain(text))
            .map(|about| about.code)
            .ok_or_else(|| UnknownCode(text.to_owned()))
    }
}

/// A word that is no code of a finding.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no code of a finding")]
pub struct UnknownCode(pub String);

/// One answer about the user's system.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Finding {
    /// The stable code.
    pub code: Code,
    /// How much it matters.
    pub severity: Severity,
    /// What it is about: a file, with line where known, an object, a version.
    pub subject: String,
    /// What was found, with the values.
    pub message: String,
    /// What the user can do.
    pub remedy: String,
    /// Whether the user accepted it with `--accept`.
    #[serde(default)]
    pub accepted: bool,
}

impl Finding {
    /// Makes a finding with severity and remedy of the table.
    pub fn new(code: Code, subject: impl Into<String>, message: impl Into<String>) -> Self {
        let about = code.about();
        Self {
            code,
            severity: about.severity,
            subject: subject.into(),
            message: message.into(),
            remedy: about.remedy.to_owned(),
            accepted: false,
        }
    }

    /// Replaces the remedy by one that names the values of this case.
    #[must_use]
    pub fn with_remedy(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = remedy.into();
        self
    }

    /// Tells whether nothing may be written because of it.
    pub fn blocks(&self) -> bool {
        self.severity == Severity::Blocking
    }
}

/// What `--accept CODE[:SUBJECT]` says: a warning was seen and is agreed to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Acceptance {
    /// The code.
    pub code: Code,
    /// The subject; `None` accepts every finding of the code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
}

impl Acceptance {
    /// Tells whether it is about a finding; a file covers what was found at a place in it, `FILE:LINE` or `FILE:LINE:COLUMN`.
    pub fn covers(&self, finding: &Finding) -> bool {
        let Some(subject) = &self.subject else {
            return self.code == finding.code;
        };
        let rest = finding.subject.strip_prefix(subject.as_str());
        let is_place = |rest: &str| match rest.strip_prefix(':') {
            Some(place) => place.split(':').all(|number| number.parse::<usize>().is_ok()),
            None => rest.is_empty(),
        };
        self.code == finding.code && rest.is_some_and(is_place)
    }
}

impl fmt::Display for Acceptance {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.subject {
            Some(subject) => write!(formatter, "{}:{subject}", self.code),
            None => write!(formatter, "{}", self.code),
        }
    }
}

impl FromStr for Acceptance {
    type Err = UnknownCode;

    fn from_str(text: &str) -> Result<Self, UnknownCode> {
        let (code, subject) = match text.split_once(':') {
            Some((code, subject)) => (code, Some(subject.to_owned())),
            None => (text, None),
        };
        Ok(Self {
            code: code.parse()?,
            subject,
        })
    }
}

/// Marks the findings that were accepted; a blocking one stays blocking.
pub fn accept(findings: &mut [Finding], accepted: &[Acceptance]) {
    for finding in findings.iter_mut().filter(|finding| !finding.blocks()) {
        finding.accepted = accepted.iter().any(|acceptance| acceptance.covers(finding));
    }
}

/// Writes the reference page of all codes, Markdown.
pub fn reference() -> String {
    let mut page = String::from(
        "# Findings\n\nGenerated from `refit-core/src/finding.rs`; a test compares the two. A blocking finding stops an \
         upgrade before anything is written (exit 3). A warning or note can be marked as seen with \
         `--accept CODE[:SUBJECT]`; this is recorded in the request and in `.refit/`. Nothing blocking can be accepted.\n",
    );
    for severity in [Severity::Blocking, Severity::Warning, Severity::Note] {
        page.push_str(&format!("\n## {}\n", capital(severity.word())));
        for about in TABLE.iter().filter(|about| about.severity == severity) {
            page.push_str(&format!(
                "\n### {}\n{}\n\nRemedy: {}.\n",
                about.word, about.meaning, about.remedy
            ));
        }
    }
    page
}

fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters
        .next()
        .map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_read_in_any_spelling() {
        assert_eq!("OTHER_UPDATER".parse(), Ok(Code::OtherUpdater));
        assert_eq!("mixed-state".parse(), Ok(Code::MixedState));
        assert_eq!("nonsense".parse::<Code>(), Err(UnknownCode("nonsense".into())));
    }

    #[test]
    fn acceptance_marks_a_warning_and_never_a_blocking_finding() {
        let mut findings = vec![
            Finding::new(Code::MixedState, "a.yaml", "m"),
            Finding::new(Code::MixedState, "b.yaml", "m"),
            Finding::new(Code::BaseUnknown, "a.yaml", "m"),
        ];
        let accepted = ["MixedState:a.yaml", "BaseUnknown"].map(|text| text.parse().unwrap());
        accept(&mut findings, &accepted);
        let marks: Vec<bool> = findings.iter().map(|finding| finding.accepted).collect();
        assert_eq!(marks, [true, false, false]);
    }

    #[test]
    fn a_file_covers_the_places_in_it_and_no_other_file() {
        let acceptance: Acceptance = "OtherUpdater:renovate.json".parse().unwrap();
        let covers = |subject: &str| acceptance.covers(&Finding::new(Code::OtherUpdater, subject, "m"));
        let subjects = [
            "renovate.json",
            "renovate.json:1",
            "renovate.json:1:7",
            "renovate.json5",
            "renovate.json:x",
        ];
        assert_eq!(subjects.map(covers), [true, true, true, false, false]);
    }

    #[test]
    fn every_code_has_a_meaning_that_is_a_sentence_and_a_remedy_without_full_stop() {
        for about in TABLE {
            assert!(about.meaning.ends_with('.'), "{}", about.word);
            assert!(!about.remedy.ends_with('.'), "{}", about.word);
        }
    }
}
