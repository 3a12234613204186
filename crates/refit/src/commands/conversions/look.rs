//! Looks at all files once: what they use, and which of them are meant.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path as OsPath, PathBuf};
use std::sync::Arc;

use refit_core::conversion::{self, Note, Reading, Use, Wanted};
use refit_core::finding::{Code, Finding};
use refit_core::meant::{Meant, Survey};
use refit_core::places::Content;
use refit_core::release::Version;
use refit_core::report::NoteLine;
use refit_manifest::{Path, Stream};

use super::rules::Rules;
use super::{What, plane};
use crate::failure::Failure;
use crate::files::{self, Listing, Odd};

/// What was seen in all files.
pub(super) struct Seen {
    pub(super) folders: Vec<Folder>,
    /// How many files were looked at.
    pub(super) files: usize,
    /// What cannot be looked at.
    pub(super) odd: Vec<Finding>,
    /// What a run that was cut off left behind.
    pub(super) leftovers: Vec<String>,
}

/// What was seen below one path.
pub(super) struct Folder {
    pub(super) listing: Listing,
    /// What is wanted of its files.
    pub(super) wanted: Arc<Wanted>,
    /// The manifests of planes below the path, with their releases.
    pub(super) planes: Vec<(Path, Version)>,
    /// The files in which something was found, in order.
    pub(super) found: Vec<Found>,
}

/// What was seen in one file.
pub(super) struct Found {
    /// The path from the folder.
    pub(super) name: Path,
    /// The path as the user would write it.
    pub(super) path: Path,
    pub(super) is_meant: bool,
    pub(super) changes: bool,
    /// What it holds.
    pub(super) content: Content,
    pub(super) uses: Vec<Use>,
    notes: Vec<Note>,
    pub(super) findings: Vec<Finding>,
}

impl Seen {
    /// Lists the files that are meant.
    pub(super) fn meant(&self) -> impl Iterator<Item = &Found> {
        let all = self.folders.iter().flat_map(|folder| &folder.found);
        all.filter(|file| file.is_meant)
    }

    /// Tells whether there is something to tell.
    pub(super) fn is_found(&self) -> bool {
        let tells = |file: &Found| !file.uses.is_empty() || !file.findings.is_empty();
        self.meant().any(tells) || !self.odd.is_empty()
    }

    /// Takes the uses out of the files that are meant.
    pub(super) fn take_uses(&mut self) -> impl Iterator<Item = Use> {
        let all = self.folders.iter_mut().flat_map(|folder| &mut folder.found);
        all.filter(|file| file.is_meant)
            .flat_map(|file| std::mem::take(&mut file.uses))
    }

    /// Lists the files with uses that are not meant.
    pub(super) fn unreached(&self) -> Vec<String> {
        let all = self.folders.iter().flat_map(|folder| &folder.found);
        let left_out = all.filter(|file| !file.is_meant && !file.uses.is_empty());
        left_out.map(|file| file.path.to_string()).collect()
    }

    pub(super) fn findings(&self) -> impl Iterator<Item = Finding> {
        let found = self.meant().flat_map(|file| &file.findings);
        found.chain(&self.odd).cloned()
    }

    pub(super) fn notes(&self) -> Vec<NoteLine> {
        let lines = |file: &Found| {
            let path = file.path.to_string();
            let line = move |note: &Note| NoteLine {
                path: path.clone(),
                line: note.line,
                object: note.object.clone(),
                message: note.message.clone(),
            };
            file.notes.iter().map(line).collect::<Vec<_>>()
        };
        self.meant().flat_map(lines).collect()
    }
}

/// What a thread collects.
type State = (Survey, Vec<(Path, Version)>);

/// Looks at the files below the paths.
pub(super) fn look(what: &What, rules: &mut Rules<'_>) -> Result<Seen, Failure> {
    let mut seen = Seen {
        folders: Vec::new(),
        files: 0,
        odd: Vec::new(),
        leftovers: Vec::new(),
    };
    for path in outermost(&what.paths)? {
        let mut listing = files::list(path, Wanted::is_candidate)?;
        let wanted = rules.wanted(path);
        let mut pass = Pass::default();
        pass.read(&listing, &wanted);
        if !listing.is_file {
            pass.survey_rest(&mut listing, &wanted);
        }
        seen.files += listing.names.len();
        seen.leftovers
            .extend(listing.leftovers.iter().map(|name| listing.shown(name)));
        seen.odd.extend(listing.odd.iter().map(odd));
        let meant = match &pass.survey {
            survey if !what.all && !listing.is_file => survey.meant(),
            _ => Meant::Everything,
        };
        if !listing.is_file {
            seen.odd.extend(pass.survey.broken(&meant, |name| listing.shown(name)));
        }
        reread(&listing, &mut pass.found, pass.survey.contents(), &wanted);
        for file in &mut pass.found {
            file.is_meant = meant.has(&file.name);
        }
        pass.planes.sort();
        seen.folders.push(Folder {
            listing,
            wanted,
            planes: pass.planes,
            found: pass.found,
        });
    }
    Ok(seen)
}

/// What was seen below one path so far.
#[derive(Default)]
struct Pass {
    survey: Survey,
    planes: Vec<(Path, Version)>,
    found: Vec<Found>,
}

impl Pass {
    /// Reads the files of a listing.
    fn read(&mut self, listing: &Listing, wanted: &Wanted) {
        let (states, found) = files::each(listing, |(survey, planes): &mut State, name, bytes| match bytes {
            Ok(bytes) => {
                planes.extend(plane::release_of(bytes).map(|release| (shown(listing, name), release)));
                read(survey, (listing, name), bytes, wanted)
            }
            Err(error) => Some(unread(&shown(listing, name), name, &error)),
        });
        for (survey, planes) in states {
            self.survey.absorb(survey);
            self.planes.extend(planes);
        }
        self.found.extend(found);
    }

    /// Reads the files as well that kustomizations name although their names are none of manifests.
    fn survey_rest(&mut self, listing: &mut Listing, wanted: &Wanted) {
        listing.links.iter().for_each(|link| self.survey.note_link(link));
        let is_file = |name: &String| listing.can_hold(name);
        let names = self.survey.unseen().into_iter().filter(is_file);
        let names: Vec<Path> = names.map(Path::new).collect();
        if names.is_empty() {
            return;
        }
        self.read(&listing.with_names(names.clone()), wanted);
        self.found.sort_by(|one, other| one.name.cmp(&other.name));
        listing.names.extend(names);
    }
}

fn odd(odd: &Odd) -> Finding {
    let message = format!("it cannot be looked at: {}", odd.reason);
    Finding::new(Code::UnreadableManifest, odd.path.as_str(), message).with_remedy(odd.remedy)
}

/// Reads what kustomizations name as patches or replacements once more, as what it is.
fn reread(listing: &Listing, found: &mut Vec<Found>, contents: BTreeMap<Path, Content>, wanted: &Wanted) {
    for (name, content) in contents {
        let Ok(bytes) = fs::read(listing.root.join(name.as_str())) else {
            continue;
        };
        let path = shown(listing, &name);
        let Some(stream) = (wanted.may_concern_as(&content, &path, &bytes))
            .then(|| Stream::split(bytes.as_slice().into()).ok())
            .flatten()
        else {
            continue;
        };
        let reading = conversion::read_as(&content, &path, &stream, wanted);
        let again = self::found(&path, &name, reading, &bytes).map(|again| Found { content, ..again });
        let known = found.binary_search_by(|file| file.name.cmp(&name));
        match (known, again) {
            (Ok(at), Some(again)) => found[at] = again,
            (Ok(at), None) => drop(found.remove(at)),
            (Err(at), Some(again)) => found.insert(at, again),
            (Err(_), None) => {}
        }
    }
}

fn read(survey: &mut Survey, (listing, name): (&Listing, &Path), bytes: &[u8], wanted: &Wanted) -> Option<Found> {
    if !wanted.names_version(name, bytes) {
        survey.note(name, bytes, None);
        return None;
    }
    let path = shown(listing, name);
    match Stream::split(bytes.into()) {
        Ok(stream) => {
            survey.note(name, bytes, Some(&stream));
            found(&path, name, conversion::read_stream(&path, &stream, wanted), bytes)
        }
        Err(error) => {
            survey.note(name, bytes, None);
            let mut file = nothing(&path, name);
            file.findings.push(conversion::unreadable(&path, &error));
            Some(file)
        }
    }
}

/// Gives the path of a file as the user would write it; mostly it is the same.
fn shown(listing: &Listing, name: &Path) -> Path {
    if listing.root.as_os_str() == "." && !name.as_str().starts_with("./") {
        return name.clone();
    }
    Path::new(listing.shown(name.as_str()))
}

fn found(path: &Path, name: &Path, reading: Reading, bytes: &[u8]) -> Option<Found> {
    let Reading {
        uses,
        notes,
        findings,
        bytes: converted,
    } = reading;
    if uses.is_empty() && notes.is_empty() && findings.is_empty() {
        return None;
    }
    Some(Found {
        changes: *converted != *bytes,
        uses,
        notes,
        findings,
        ..nothing(path, name)
    })
}

fn nothing(path: &Path, name: &Path) -> Found {
    Found {
        name: name.clone(),
        path: path.clone(),
        is_meant: true,
        changes: false,
        content: Content::Objects,
        uses: Vec::new(),
        notes: Vec::new(),
        findings: Vec::new(),
    }
}

fn unread(path: &Path, name: &Path, error: &std::io::Error) -> Found {
    Found {
        findings: vec![odd(&Odd::unreadable(path.as_str(), error))],
        ..nothing(path, name)
    }
}

/// Leaves out paths that stand below others that are named as well.
fn outermost(paths: &[PathBuf]) -> Result<Vec<&OsPath>, Failure> {
    let whole = |path: &PathBuf| {
        let place = fs::canonicalize(path).or_else(|error| match path.is_symlink() {
            true => std::path::absolute(path),
            false => Err(error),
        });
        place.map_err(|error| {
            Failure::new(format!("could not read `{}`", path.display()))
                .caused_by(&error)
                .hint("check the path")
        })
    };
    let places = paths.iter().map(whole).collect::<Result<Vec<_>, _>>()?;
    let covered = |at: usize| {
        let mut others = places.iter().enumerate().filter(|(other, _)| *other != at);
        others.any(|(other, place)| places[at].starts_with(place) && (places[at] != *place || other < at))
    };
    let outer = paths.iter().enumerate().filter(|(at, _)| !covered(*at));
    Ok(outer.map(|(_, path)| path.as_path()).collect())
}
