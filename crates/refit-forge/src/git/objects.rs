//! Reads objects and references through one `git cat-file --batch` process.
//!
//! In: names of objects, as Git spells them. Out: their id, type and bytes. Knows nothing of paths in worktrees.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::sync::Arc;

use refit_engine::ports::{BlobId, CommitId, PortError, PortErrorKind};

use super::Git;
use super::program::{self, Program};

/// How many names are sent ahead; they fit into a pipe, so that sending never waits for receiving.
const AHEAD: usize = 500;

/// The running process.
#[derive(Debug)]
pub(super) struct Reader {
    child: Child,
    /// Taken when the process is to end.
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
}

/// One object.
pub(super) struct Object {
    /// Its id.
    pub(super) id: String,
    /// `blob`, `tree`, `commit` or `tag`.
    pub(super) kind: String,
    /// Its bytes.
    pub(super) bytes: Vec<u8>,
}

/// One entry of a tree.
#[derive(Clone, Debug)]
pub(super) struct Item {
    /// The mode in octal, as stored.
    pub(super) mode: String,
    /// The name; any bytes but `/` and NUL.
    pub(super) name: Vec<u8>,
    /// The id of what it names.
    pub(super) id: String,
}

impl Item {
    /// Tells whether it is a directory.
    pub(super) fn is_tree(&self) -> bool {
        self.mode == "40000"
    }
}

impl Reader {
    fn start(program: &Program) -> Result<Self, PortError> {
        let mut command = program.command(&["cat-file", "--batch"]);
        let mut child = program::start(command.stdin(Stdio::piped()).stderr(Stdio::null()))?;
        match (child.stdin.take(), child.stdout.take()) {
            (Some(stdin), Some(stdout)) => Ok(Self {
                child,
                stdin: Some(stdin),
                stdout: BufReader::new(stdout),
            }),
            _ => Err(PortError::new(
                PortErrorKind::Other,
                "`git cat-file` gave no way to talk to it",
            )),
        }
    }

    /// Asks for one object.
    fn ask(&mut self, name: &str) -> std::io::Result<Option<Object>> {
        self.send(&format!("{name}\n"))?;
        self.receive()
    }

    /// Sends names, one a line.
    fn send(&mut self, lines: &str) -> std::io::Result<()> {
        let stdin = self.stdin.as_mut().ok_or(std::io::ErrorKind::UnexpectedEof)?;
        stdin.write_all(lines.as_bytes())?;
        stdin.flush()
    }

    /// Receives the answer to one name; an error means that the process has ended.
    fn receive(&mut self) -> std::io::Result<Option<Object>> {
        let mut header = String::new();
        if self.stdout.read_line(&mut header)? == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        let mut words = header.trim_end().rsplitn(3, ' ');
        let (Some(size), Some(kind), Some(id)) = (words.next(), words.next(), words.next()) else {
            return Ok(None);
        };
        let Ok(size) = size.parse::<usize>() else {
            return Ok(None);
        };
        let mut bytes = vec![0; size];
        self.stdout.read_exact(&mut bytes)?;
        self.stdout.read_exact(&mut [0])?;
        Ok(Some(Object {
            id: id.to_owned(),
            kind: kind.to_owned(),
            bytes,
        }))
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        drop(self.stdin.take());
        drop(self.child.wait());
    }
}

impl Git {
    /// Finds an object by a name that Git understands; `None` when there is none.
    pub(super) fn object(&self, name: &str) -> Result<Option<Object>, PortError> {
        if name.contains('\n') {
            return Ok(None);
        }
        self.with_reader(name, |reader| reader.ask(name))
    }

    /// Talks to the process that reads, and starts it where it does not run; `name` is what it reads, for messages.
    fn with_reader<T>(&self, name: &str, talk: impl FnOnce(&mut Reader) -> std::io::Result<T>) -> Result<T, PortError> {
        let mut reader = self.reader();
        let mut running = match reader.take() {
            Some(running) => running,
            None => Reader::start(&self.program)?,
        };
        match talk(&mut running) {
            Ok(answer) => {
                *reader = Some(running);
                Ok(answer)
            }
            Err(error) => {
                drop(running);
                let what = format!("could not read `{name}` from {}", self.location);
                // The process may end at a damaged object; asking once more by itself tells what is wrong.
                self.program.ask(&what, &["cat-file", "-p", name])?;
                Err(PortError::new(PortErrorKind::Other, what).because(error))
            }
        }
    }

    /// Finds the object of a reference, or of an id, by its exact name.
    pub(super) fn named(&self, reference: &str, suffix: &str) -> Result<Option<Object>, PortError> {
        // Git takes `<anything>-g<hexadecimal>` for the commit of that number when there is no such reference.
        let tail = reference.rsplit_once("-g").map_or("", |(_, tail)| tail);
        if !tail.is_empty() && tail.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            let what = format!("could not look for `{reference}` in {}", self.location);
            let listed = self
                .program
                .ask(&what, &["for-each-ref", "--format=%(refname)", reference])?;
            if !listed
                .split(|byte| *byte == b'\n')
                .any(|name| name == reference.as_bytes())
            {
                return Ok(None);
            }
        }
        self.object(&format!("{reference}{suffix}"))
    }

    /// Gives the commit that a reference names.
    pub(super) fn commit_at(&self, reference: &str) -> Result<Option<CommitId>, PortError> {
        let object = self.named(reference, "^{commit}")?;
        Ok(object.map(|object| CommitId(object.id.into())))
    }

    /// Gives the blob that a reference names.
    pub(super) fn note_at(&self, reference: &str) -> Result<Option<Object>, PortError> {
        match self.named(reference, "")? {
            Some(object) if object.kind != "blob" => Err(PortError::new(
                PortErrorKind::Corrupt,
                format!("`{reference}` in {} is a {}, not a note", self.location, object.kind),
            )
            .hint(format!("look at it with `git show {reference}`"))),
            object => Ok(object),
        }
    }

    /// Reads a blob.
    pub(super) fn read_blob(&self, blob: &BlobId) -> Result<Arc<[u8]>, PortError> {
        match self.object(&blob.0)? {
            Some(object) if object.kind == "blob" => Ok(object.bytes.into()),
            _ => Err(self.lost("blob", &blob.0)),
        }
    }

    /// Reads many blobs; the names go ahead of the answers, so that neither side waits for the other each time.
    pub(super) fn read_blobs(&self, blobs: &[BlobId]) -> Result<Vec<Arc<[u8]>>, PortError> {
        let mut contents = Vec::with_capacity(blobs.len());
        for chunk in blobs.chunks(AHEAD) {
            let plain = chunk
                .iter()
                .all(|blob| blob.0.bytes().all(|byte| byte.is_ascii_hexdigit()));
            if !plain {
                return blobs.iter().map(|blob| self.read_blob(blob)).collect();
            }
            let lines: String = chunk.iter().flat_map(|blob| [&*blob.0, "\n"]).collect();
            let first = chunk.first().map_or("", |blob| &blob.0);
            let answers: Vec<_> = self.with_reader(first, |reader| {
                reader.send(&lines)?;
                chunk.iter().map(|_| reader.receive()).collect()
            })?;
            for (blob, answer) in chunk.iter().zip(answers) {
                let found = answer.filter(|object| object.kind == "blob");
                contents.push(found.ok_or_else(|| self.lost("blob", &blob.0))?.bytes.into());
            }
        }
        Ok(contents)
    }

    /// Says why an object cannot be read: it is damaged, or it is not there.
    pub(super) fn lost(&self, kind: &str, name: &str) -> PortError {
        let message = format!("{kind} {name} is not in {}", self.location);
        if !name.starts_with(|first: char| first.is_ascii_hexdigit() || first == 'r') {
            return PortError::new(PortErrorKind::NotFound, message);
        }
        match self.program.ask(&message, &["cat-file", "-p", name]) {
            Err(error) if error.kind == PortErrorKind::Corrupt => PortError {
                message: format!("{kind} {name} of {} is damaged", self.location),
                ..error
            },
            _ => PortError::new(PortErrorKind::NotFound, message),
        }
    }

    /// Lists the entries of a tree that is named as Git understands.
    pub(super) fn tree(&self, name: &str) -> Result<Vec<Item>, PortError> {
        let object = self
            .object(name)?
            .filter(|object| object.kind == "tree")
            .ok_or_else(|| self.lost("tree", name))?;
        items(&object).ok_or_else(|| {
            PortError::new(
                PortErrorKind::Corrupt,
                format!("tree {} of {} is damaged", object.id, self.location),
            )
            .hint("run `git fsck` in the repository")
        })
    }

    /// Finds an entry below a tree by its path.
    pub(super) fn find(&self, root: &str, path: &str) -> Result<Option<Item>, PortError> {
        let mut tree = root.to_owned();
        let mut parts = path.split('/').peekable();
        while let Some(part) = parts.next() {
            let found = self.tree(&tree)?.into_iter().find(|item| item.name == part.as_bytes());
            match found {
                Some(item) if parts.peek().is_none() => return Ok(Some(item)),
                Some(item) if item.is_tree() => tree = item.id,
                _ => return Ok(None),
            }
        }
        Ok(None)
    }
}

/// Takes a tree object apart; its ids are as long as its own.
fn items(tree: &Object) -> Option<Vec<Item>> {
    let id_length = tree.id.len() / 2;
    let mut rest = tree.bytes.as_slice();
    let mut items = Vec::new();
    while !rest.is_empty() {
        let space = rest.iter().position(|byte| *byte == b' ')?;
        let end = rest.iter().position(|byte| *byte == 0)?;
        let name = rest.get(space + 1..end)?;
        let id = rest.get(end + 1..end + 1 + id_length)?;
        items.push(Item {
            mode: String::from_utf8_lossy(&rest[..space]).into_owned(),
            name: name.to_vec(),
            id: id.iter().map(|byte| format!("{byte:02x}")).collect(),
        });
        rest = &rest[end + 1 + id_length..];
    }
    Some(items)
}
