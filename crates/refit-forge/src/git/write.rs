//! Writes blobs, trees and commits into the object database.
//!
//! In: a parent commit, changes by path, a message. Out: the id of a commit that nothing points to yet. Knows no
//! references.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use refit_engine::ports::{Change, CommitId, PortError, PortErrorKind};
use refit_manifest::Entry;

use super::complaint::failure;
use super::names::check_path;
use super::objects::Item;
use super::program;
use super::{Git, SignOff};

/// The wanted changes below one directory, by name.
#[derive(Default)]
struct Node {
    /// What is wanted of this path itself: an entry, or its removal.
    own: Option<Wanted>,
    below: BTreeMap<Vec<u8>, Node>,
}

/// What is wanted of one path.
#[derive(Clone)]
enum Wanted {
    Removed,
    Written { mode: &'static str, id: String },
}

/// What is set for the commit of somebody else.
enum Setting {
    /// A variable that says who wrote it, and when.
    Variable(&'static str, String),
    /// The encoding of its message.
    Encoding(String),
}

impl Git {
    /// Writes a commit with one parent.
    pub(super) fn write_commit(
        &self,
        parent: &CommitId,
        changes: &[Change],
        message: &str,
    ) -> Result<CommitId, PortError> {
        let tree = self.write_tree(parent, changes)?;
        let message = match self.sign_off {
            SignOff::Absent => message.to_owned(),
            SignOff::Committer => signed_off(message, &self.committer()?),
        };
        self.commit_tree(&tree, parent, message.as_bytes(), &[])
    }

    /// Writes a commit of somebody again on another parent; nobody signs off in their name.
    pub(super) fn write_again(
        &self,
        original: &CommitId,
        parent: &CommitId,
        changes: &[Change],
    ) -> Result<CommitId, PortError> {
        self.check_commit(original)?;
        let written = self.written(&original.0)?;
        self.check_names(original, written.parents.first(), parent)?;
        let tree = self.write_tree(parent, changes)?;
        let (name, address) = written.author.rsplit_once('<').unwrap_or((&written.author, ""));
        let mut settings = vec![
            Setting::Variable("GIT_AUTHOR_NAME", name.trim().to_owned()),
            Setting::Variable("GIT_AUTHOR_EMAIL", address.trim_end_matches('>').to_owned()),
            Setting::Variable("GIT_AUTHOR_DATE", format!("@{}", written.authored)),
        ];
        settings.extend(written.encoding.map(Setting::Encoding));
        self.commit_tree(&tree, parent, &written.raw, &settings)
    }

    /// Refuses a commit that changes files whose names are not UTF-8: they are not listed, and so would be lost.
    fn check_names(&self, original: &CommitId, before: Option<&CommitId>, parent: &CommitId) -> Result<(), PortError> {
        let Some(before) = before else { return Ok(()) };
        let changed = |from: &CommitId| {
            let what = format!("could not compare {from} with {original} in {}", self.location);
            let arguments = [
                "diff-tree",
                "-r",
                "-z",
                "--name-only",
                "--no-renames",
                &from.0,
                &original.0,
            ];
            self.program.ask(&what, &arguments)
        };
        let names = changed(before)?;
        let odd: Vec<&[u8]> = names
            .split(|byte| *byte == 0)
            .filter(|name| std::str::from_utf8(name).is_err())
            .collect();
        if odd.is_empty() {
            return Ok(());
        }
        // What the new parent has as well is not lost.
        let missing = changed(parent)?;
        match odd
            .into_iter()
            .find(|name| missing.split(|byte| byte == &0).any(|other| other == *name))
        {
            None => Ok(()),
            Some(name) => {
                let shown = name.escape_ascii();
                let message =
                    format!("commit {original} changes `{shown}`, whose name is not UTF-8, and would lose it");
                Err(PortError::new(PortErrorKind::NotReady, message)
                    .hint("rename the file in a commit of its own and squash both, or rebase the branch by hand"))
            }
        }
    }

    /// Writes the tree of a commit with changes.
    fn write_tree(&self, parent: &CommitId, changes: &[Change]) -> Result<String, PortError> {
        self.check_commit(parent)?;
        for change in changes {
            check_path(change.path.as_str())?;
        }
        let root = self.wanted(changes)?;
        let mut trees = Trees::start(self)?;
        let base = self.tree(&format!("{parent}^{{tree}}"))?;
        let items = trees.edit(base, &root, "")?;
        let tree = trees.write(&items)?;
        trees.end()?;
        Ok(tree)
    }

    /// Gives name and address of the committer.
    pub(super) fn committer(&self) -> Result<String, PortError> {
        let arguments = ["-c", "user.useConfigOnly=true", "var", "GIT_COMMITTER_IDENT"];
        let output = program::finish(self.program.command(&arguments), b"")?;
        let what = format!("could not find out who commits to {}", self.location);
        let output = output.or_fail(&what)?;
        let text = String::from_utf8_lossy(&output);
        Ok(text.rsplit_once('>').map_or(text.trim(), |(name, _)| name).to_owned() + ">")
    }

    fn commit_tree(
        &self,
        tree: &str,
        parent: &CommitId,
        message: &[u8],
        settings: &[Setting],
    ) -> Result<CommitId, PortError> {
        // An identity made up from the host's name would be wrong in a shared history.
        let mut arguments = vec!["-c".to_owned(), "user.useConfigOnly=true".to_owned()];
        for setting in settings {
            if let Setting::Encoding(name) = setting {
                arguments.extend(["-c".to_owned(), format!("i18n.commitEncoding={name}")]);
            }
        }
        arguments.extend(["commit-tree", tree, "-p", &parent.0].map(str::to_owned));
        let signs = self.config.is_on("commit.gpgsign");
        if signs {
            arguments.push("-S".to_owned());
        }
        let mut command = self.program.command(&arguments);
        for setting in settings {
            if let Setting::Variable(name, value) = setting {
                command.env(name, value);
            }
        }
        let what = format!("could not write a commit to {}", self.location);
        let output = program::finish(command, message)?;
        let output = output.or_fail(&what).map_err(|error| match error.remedy {
            None if signs => {
                error.hint("see that the key of `user.signingKey` can be used from here, or turn `commit.gpgSign` off")
            }
            _ => error,
        })?;
        Ok(CommitId(String::from_utf8_lossy(&output).trim().into()))
    }

    /// Writes the contents of the changes and arranges them by directory.
    fn wanted(&self, changes: &[Change]) -> Result<Node, PortError> {
        let contents: Vec<&[u8]> = changes
            .iter()
            .filter_map(|change| content(change.entry.as_ref()))
            .collect();
        let mut ids = self.write_blobs(&contents)?.into_iter();
        let mut root = Node::default();
        for change in changes {
            let wanted = match &change.entry {
                None => Wanted::Removed,
                Some(entry) => Wanted::Written {
                    mode: mode(entry),
                    id: ids.next().unwrap_or_default(),
                },
            };
            let mut node = &mut root;
            for part in change.path.as_str().split('/') {
                node = node.below.entry(part.as_bytes().to_vec()).or_default();
            }
            node.own = Some(wanted);
        }
        Ok(root)
    }

    /// Writes one blob.
    pub(super) fn write_blob(&self, bytes: &[u8]) -> Result<String, PortError> {
        let command = self.program.command(&["hash-object", "-w", "--no-filters", "--stdin"]);
        let what = format!("could not write into the object database of {}", self.location);
        let id = program::finish(command, bytes)?.or_fail(&what)?;
        Ok(String::from_utf8_lossy(&id).trim().to_owned())
    }

    /// Writes blobs in one go, byte for byte, and gives their ids in the same order.
    fn write_blobs(&self, contents: &[&[u8]]) -> Result<Vec<String>, PortError> {
        match contents {
            [] => return Ok(Vec::new()),
            [one] => return Ok(vec![self.write_blob(one)?]),
            _ => {}
        }
        let mut stream = Vec::new();
        for (number, bytes) in contents.iter().enumerate() {
            let mark = number + 1;
            stream.extend_from_slice(format!("blob\nmark :{mark}\ndata {}\n", bytes.len()).as_bytes());
            stream.extend_from_slice(bytes);
            stream.extend_from_slice(format!("\nget-mark :{mark}\n").as_bytes());
        }
        stream.extend_from_slice(b"done\n");
        let command = self.program.command(&["fast-import", "--quiet", "--done"]);
        let output = program::finish(command, &stream)?;
        if !output.success {
            self.program.remove_crash_report(output.process);
        }
        let what = format!("could not write files into the object database of {}", self.location);
        let answer = output.or_fail(&what)?;
        let ids: Vec<String> = String::from_utf8_lossy(&answer).lines().map(str::to_owned).collect();
        if ids.len() == contents.len() {
            Ok(ids)
        } else {
            Err(self.unwritten(""))
        }
    }

    fn unwritten(&self, stderr: &str) -> PortError {
        failure(&format!("could not write objects to {}", self.location), stderr)
    }
}

fn content(entry: Option<&Entry>) -> Option<&[u8]> {
    match entry? {
        Entry::File { bytes, .. } => Some(bytes),
        Entry::Link(target) => Some(target.as_bytes()),
    }
}

fn mode(entry: &Entry) -> &'static str {
    match entry {
        Entry::File { executable: false, .. } => "100644",
        Entry::File { executable: true, .. } => "100755",
        Entry::Link(_) => "120000",
    }
}

/// A running `git mktree --batch`.
struct Trees<'a> {
    git: &'a Git,
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
}

impl<'a> Trees<'a> {
    fn start(git: &'a Git) -> Result<Self, PortError> {
        // Neighbours may be missing in a partial clone; their ids come from the parent's trees.
        let mut command = git.program.command(&["mktree", "--batch", "-z", "--missing"]);
        let mut child = program::start(command.stdin(Stdio::piped()).stderr(Stdio::piped()))?;
        match (child.stdin.take(), child.stdout.take()) {
            (Some(stdin), Some(stdout)) => Ok(Self {
                git,
                child,
                stdin: Some(stdin),
                stdout: BufReader::new(stdout),
            }),
            _ => Err(git.unwritten("`git mktree` gave no way to talk to it")),
        }
    }

    /// Applies changes to the entries of a directory; directories that become empty are left out.
    fn edit(&mut self, items: Vec<Item>, node: &Node, directory: &str) -> Result<Vec<Item>, PortError> {
        let mut by_name: BTreeMap<Vec<u8>, Item> = items.into_iter().map(|item| (item.name.clone(), item)).collect();
        for (name, node) in &node.below {
            let path = format!("{directory}{}", String::from_utf8_lossy(name));
            let present = by_name.remove(name);
            if let Some(item) = self.change(present, node, name, &path)? {
                by_name.insert(name.clone(), item);
            }
        }
        Ok(by_name.into_values().collect())
    }

    /// Gives what stands at one name afterwards.
    fn change(
        &mut self,
        present: Option<Item>,
        node: &Node,
        name: &[u8],
        path: &str,
    ) -> Result<Option<Item>, PortError> {
        let item = |mode: &str, id: String| Item {
            mode: mode.to_owned(),
            name: name.to_vec(),
            id,
        };
        let was_tree = present.as_ref().is_some_and(Item::is_tree);
        let below = match &present {
            Some(tree) if was_tree => self.git.tree(&tree.id)?,
            _ => Vec::new(),
        };
        let below = self.edit(below, node, &format!("{path}/"))?;
        match &node.own {
            Some(Wanted::Written { .. }) if !below.is_empty() => Err(in_the_way(path, "a directory")),
            Some(Wanted::Removed) if was_tree && !below.is_empty() => Err(in_the_way(path, "a directory")),
            None if !was_tree && present.is_some() && !below.is_empty() => Err(in_the_way(path, "not a directory")),
            _ if !below.is_empty() => Ok(Some(item("40000", self.write(&below)?))),
            Some(Wanted::Written { mode, id }) => Ok(Some(item(mode, id.clone()))),
            Some(Wanted::Removed) => Ok(None),
            None => Ok(present.filter(|_| !was_tree)),
        }
    }

    /// Writes one tree and gives its id.
    fn write(&mut self, items: &[Item]) -> Result<String, PortError> {
        let mut input = Vec::new();
        for item in items {
            let kind = match item.mode.as_str() {
                "40000" => "tree",
                "160000" => "commit",
                _ => "blob",
            };
            input.extend_from_slice(format!("{} {kind} {}\t", item.mode, item.id).as_bytes());
            input.extend_from_slice(&item.name);
            input.push(0);
        }
        input.push(0);
        let sent = match &mut self.stdin {
            Some(stdin) => stdin.write_all(&input).and_then(|()| stdin.flush()),
            None => Ok(()),
        };
        let mut id = String::new();
        let answered = sent.and_then(|()| self.stdout.read_line(&mut id));
        match answered {
            Ok(length) if length > 1 => Ok(id.trim_end().to_owned()),
            _ => Err(self.complaint()),
        }
    }

    /// Ends the process and says why it failed.
    fn complaint(&mut self) -> PortError {
        drop(self.stdin.take());
        let mut text = String::new();
        if let Some(mut stderr) = self.child.stderr.take() {
            drop(std::io::Read::read_to_string(&mut stderr, &mut text));
        }
        self.git.unwritten(&text)
    }

    fn end(mut self) -> Result<(), PortError> {
        drop(self.stdin.take());
        match self.child.wait() {
            Ok(status) if status.success() => Ok(()),
            _ => Err(self.complaint()),
        }
    }
}

impl Drop for Trees<'_> {
    fn drop(&mut self) {
        drop(self.stdin.take());
        drop(self.child.wait());
    }
}

fn in_the_way(path: &str, what: &str) -> PortError {
    PortError::new(
        PortErrorKind::Other,
        format!("`{path}` cannot be changed: it is {what} in the repository"),
    )
    .hint("move what is there, commit that, then run this again")
}

/// Puts the line in front of the trailers that end a message.
fn signed_off(message: &str, committer: &str) -> String {
    let (text, trailers) = message.trim_end().rsplit_once("\n\n").unwrap_or((message, ""));
    format!("{text}\n\nSigned-off-by: {committer}\n{trailers}\n")
}
