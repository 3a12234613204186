//! `refit catalog`: the sources of releases.
//!
//! In: options. Out: what the sources have, a folder with it, what is wrong with it.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use refit_core::contents;
use refit_core::finding::{Code, Finding};
use refit_core::generated::Generated;
use refit_core::release::{Platform, Version};
use refit_core::report::{Next, Report, State};
use refit_engine::ports::{Available, Content, PortError, PortErrorKind};
use refit_manifest::Stream;
use refit_source::{Pulled, Puller};

use crate::args::{Format, Global};
use crate::failure::Failure;
use crate::output::{self, Answer};
use crate::view::catalog::{Catalog, CatalogPull, CatalogVerify, Source};
use crate::view::lines::{self, counted};
use crate::wiring;

/// Look into the sources of releases, copy and verify what they have.
#[derive(Debug, Subcommand)]
#[command(arg_required_else_help = true)]
pub(crate) enum Action {
    /// List the versions that the sources have, oldest first; of several sources, also which have it.
    #[command(after_long_help = "\
Examples:
  refit catalog list
  refit catalog list --catalog releases/ --catalog oci://ghcr.io/fluxcd/flux-manifests
  refit catalog list flux -o json | jq -r '.versions[]'")]
    List(List),
    /// Write releases into a folder that `--catalog DIR` reads, with their digests.
    #[command(after_long_help = "\
A version appears in the folder all at once. What is there already and whole is not fetched again, so a pull that was cut
goes on where it was.

Examples:
  refit catalog pull v2.6.4 v2.7.5 --to releases/
  refit catalog pull --from v2.4.0 --to releases/ --catalog oci://ghcr.io/fluxcd/flux-manifests")]
    Pull(Pull),
    /// Verify that releases have the digests on record, and hold what the built-in data says about them.
    #[command(after_long_help = "\
Compared are the digests, the version labels, the image tags and the API versions of the definitions.

Examples:
  refit catalog verify --catalog releases/
  refit catalog verify v2.6.4 -o json | jq '.findings'")]
    Verify(Verify),
}

/// What to list.
#[derive(Args, Debug)]
pub(crate) struct List {
    /// The platform.
    #[arg(default_value = "flux")]
    platform: String,
}

/// What to write.
#[derive(Args, Debug)]
pub(crate) struct Pull {
    /// The versions of Flux.
    #[arg(value_name = "VERSION", required_unless_present = "from")]
    versions: Vec<String>,
    /// All stable versions of Flux from this one on.
    #[arg(long, value_name = "VERSION", conflicts_with = "versions")]
    from: Option<String>,
    /// The folder.
    #[arg(long, value_name = "DIR")]
    to: PathBuf,
}

/// What to verify.
#[derive(Args, Debug)]
pub(crate) struct Verify {
    /// The versions of Flux [default: all that the sources have].
    #[arg(value_name = "VERSION")]
    versions: Vec<String>,
}

/// Runs one of the actions.
pub(crate) fn run(action: &Action, global: &Global) -> Result<Answer, Failure> {
    match action {
        Action::List(options) => list(options, global),
        Action::Pull(options) => pull(options, global),
        Action::Verify(options) => verify(options, global),
    }
}

fn list(List { platform }: &List, global: &Global) -> Result<Answer, Failure> {
    let mut all: Vec<(Version, String)> = Vec::new();
    let (mut sources, mut findings) = (Vec::new(), Vec::new());
    for releases in wiring::each_of(&wiring::named(global), global)? {
        let available = releases.available(platform)?;
        findings.extend(silent(&available));
        let versions = parsed(&available);
        for (version, spelt) in &versions {
            if !all.iter().any(|(other, _)| other == version) {
                all.push((version.clone(), spelt.clone()));
            }
        }
        sources.push(Source {
            location: releases.location(),
            versions: versions.into_iter().map(|(_, spelt)| spelt).collect(),
        });
    }
    all.sort();
    let locations: Vec<&str> = sources.iter().map(|source| source.location.as_str()).collect();
    let source = locations.join(", ");
    let message = match all.len() {
        0 => format!("no version of {platform} was found in {source}"),
        count => format!("{} of {platform} in {source}", counted(count, "version")),
    };
    let next = match all.is_empty() {
        true => vec![Next::say(
            "name a folder or another source that holds releases with `--catalog`",
        )],
        false => Vec::new(),
    };
    let mut notes = String::new();
    lines::findings(&mut notes, &findings, "");
    for next in &next {
        notes.push_str(&format!("{message}\nhint: {}\n", next.text));
    }
    let text: String = all
        .iter()
        .map(|(version, spelt)| line(version, spelt, &sources))
        .collect();
    let body = Catalog {
        source,
        platform: platform.clone(),
        versions: all.into_iter().map(|(_, spelt)| spelt).collect(),
        sources,
        findings,
    };
    Ok(Answer::new(&Report::new(State::Done, message, next, body), text)?.with_notes(notes))
}

/// Gives a version; where there are several sources, with those that have it.
fn line(version: &Version, spelt: &str, sources: &[Source]) -> String {
    if sources.len() == 1 {
        return format!("{spelt}\n");
    }
    let has = |source: &&Source| {
        source
            .versions
            .iter()
            .any(|text| Version::parse(text).as_ref() == Ok(version))
    };
    let places: Vec<&str> = sources
        .iter()
        .filter(has)
        .map(|source| source.location.as_str())
        .collect();
    format!("{spelt:<12} {}\n", places.join(", "))
}

fn pull(options: &Pull, global: &Global) -> Result<Answer, Failure> {
    let platform = Platform::flux();
    let releases = wiring::releases(&wiring::named(global), global)?;
    let mut findings = Vec::new();
    let versions = match &options.from {
        Some(from) => {
            let from = version(from)?;
            let available = releases.available(platform.as_str())?;
            findings.extend(silent(&available));
            let stable = parsed(&available).into_iter().map(|(version, _)| version);
            stable
                .filter(|version| version.is_stable() && *version >= from)
                .collect()
        }
        None => options
            .versions
            .iter()
            .map(|text| version(text))
            .collect::<Result<Vec<_>, _>>()?,
    };
    let puller = Puller::open(&options.to, &platform)?;
    let (mut written, mut kept) = (Vec::new(), Vec::new());
    for (at, version) in versions.iter().enumerate() {
        let pulled = puller.pull(&*releases, version)?;
        let (list, word) = match pulled {
            Pulled::New => (&mut written, "written"),
            Pulled::Kept => (&mut kept, "there already"),
        };
        list.push(version.to_string());
        if global.output == Format::Text {
            output::note(&format!("{version} {word} ({} of {})\n", at + 1, versions.len()));
        }
    }
    let folder = options.to.display().to_string();
    let there = wiring::releases(&[options.to.clone().into_os_string()], global)?;
    for version in &versions {
        let contents = there.contents(platform.as_str(), &version.to_string())?;
        findings.extend(inexact(version, &contents));
    }
    let message = format!(
        "{} written into {folder}, {} there already",
        counted(written.len(), "version"),
        counted(kept.len(), "version")
    );
    let next = vec![Next::run(
        format!("refit catalog verify --catalog {folder}"),
        "compare them with the built-in data",
    )];
    let mut text = format!("{message}\n");
    lines::findings(&mut text, &findings, "");
    lines::next(&mut text, &next, "");
    let body = CatalogPull {
        platform: platform.to_string(),
        folder,
        written,
        kept,
        findings,
    };
    Answer::new(&Report::new(State::Done, message, next, body), text)
}

fn verify(options: &Verify, global: &Global) -> Result<Answer, Failure> {
    let platform = Platform::flux();
    let releases = wiring::releases(&wiring::named(global), global)?;
    let catalog = wiring::built_in()?;
    let (mut findings, mut unrecorded) = (Vec::new(), Vec::new());
    let mut versions = options
        .versions
        .iter()
        .map(|text| version(text))
        .collect::<Result<Vec<_>, _>>()?;
    if versions.is_empty() {
        let available = releases.available(platform.as_str())?;
        findings.extend(silent(&available));
        versions = parsed(&available).into_iter().map(|(version, _)| version).collect();
    }
    for version in &versions {
        match releases.contents(platform.as_str(), &version.to_string()) {
            Ok(contents) => {
                if contents.iter().any(|content| !content.compared) {
                    unrecorded.push(version.to_string());
                }
                findings.extend(compared(version, &contents, &catalog));
            }
            Err(error) => findings.push(refused(version, error)?),
        }
    }
    let wrong = findings.iter().filter(|finding| finding.blocks()).count();
    let state = if wrong > 0 { State::Blocked } else { State::Done };
    let mut message = match (versions.len(), wrong) {
        (0, _) => format!("no version of {platform} was found in {}", releases.location()),
        (count, 0) => format!("nothing is wrong with {} of {platform}", counted(count, "version")),
        (count, wrong) => format!(
            "{} about {} of {platform}",
            counted(wrong, "finding"),
            counted(count, "version")
        ),
    };
    if !unrecorded.is_empty() {
        message.push_str(&unverified(&unrecorded, versions.len()));
    }
    let report = Report::new(
        state,
        message,
        Vec::new(),
        CatalogVerify {
            platform: platform.to_string(),
            versions: versions.iter().map(ToString::to_string).collect(),
            findings,
        },
    );
    let mut text = lines::head(&report);
    lines::findings(&mut text, &report.body.findings, "");
    Answer::new(&report, text)
}

/// Finds what is wrong with the contents of a version, or could not be compared.
fn compared(version: &Version, contents: &[Content], catalog: &refit_core::catalog::Catalog) -> Vec<Finding> {
    let differing = contents.iter().flat_map(|content| differing(version, content, catalog));
    let mut findings: Vec<Finding> = differing.collect();
    findings.extend(inexact(version, contents));
    if catalog.is_older_than(version) {
        let message = "it is newer than the built-in data, so only its digests were compared";
        findings.push(Finding::new(Code::CatalogOlderThanTarget, version.to_string(), message));
    }
    findings
}

/// Says of which versions the bytes could not be verified.
fn unverified(versions: &[String], of: usize) -> String {
    let which = if versions.len() == of {
        String::new()
    } else {
        format!(" of {}", versions.join(", "))
    };
    format!(
        "; no digest{which} is on record, so only the built-in data was compared and edits in the files are not seen"
    )
}

/// Turns an error about one version into a finding, where the other versions can still be looked at.
fn refused(version: &Version, error: PortError) -> Result<Finding, Failure> {
    let code = match error.kind {
        PortErrorKind::Corrupt => Code::DigestMismatch,
        PortErrorKind::NotFound => Code::UnknownVersion,
        _ => return Err(error.into()),
    };
    let finding = Finding::new(code, version.to_string(), error.message);
    Ok(match error.remedy {
        Some(remedy) => finding.with_remedy(remedy),
        None => finding,
    })
}

fn differing(version: &Version, content: &Content, catalog: &refit_core::catalog::Catalog) -> Vec<Finding> {
    let found = match Stream::split(content.bytes.clone()) {
        Ok(stream) => contents::differences(&Generated::read(&stream, catalog), version, catalog),
        Err(error) => vec![error.to_string()],
    };
    let finding = |what: String| {
        let message = format!("{}: {what}", content.origin);
        Finding::new(Code::ReleaseDiffers, version.to_string(), message)
    };
    found.into_iter().map(finding).collect()
}

fn inexact(version: &Version, contents: &[Content]) -> Option<Finding> {
    let content = contents.iter().find(|content| !content.exact)?;
    let message = format!("{}: it was made of a manifest of another form", content.origin);
    Some(Finding::new(Code::ReleaseNotExact, version.to_string(), message))
}

fn silent(available: &Available) -> Vec<Finding> {
    available.unreachable.iter().map(PortError::finding).collect()
}

/// Gives what is a version, oldest first, with its spelling.
fn parsed(available: &Available) -> Vec<(Version, String)> {
    let read = |text: &String| Some((Version::parse(text).ok()?, text.clone()));
    let mut versions: Vec<(Version, String)> = available.versions.iter().filter_map(read).collect();
    versions.sort();
    versions
}

fn version(text: &str) -> Result<Version, Failure> {
    Version::parse(text).map_err(|error| Failure::usage(error.to_string()))
}
