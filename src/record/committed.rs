//! A record as it was committed: plans and journals of a folder at a revision, copied out of git into a folder of their own.
//!
//! Git is asked for objects only: no checkout, hook, filter or pager runs, nothing is fetched, and what a person gives is never read as
//! an option.

use super::{RecordError, Store, io};
use fs_err as fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// The files of a run that are copied: all but outputs and samples.
const FILES: [&str; 2] = ["plan.json", "journal.jsonl"];

/// Why a record could not be read out of git.
#[derive(Debug, thiserror::Error)]
pub enum CommittedError {
    /// There is no `git`.
    #[error("`git` cannot be started: {source}")]
    NoGit {
        /// Why not.
        #[source]
        source: std::io::Error,
    },
    /// Git does not know it.
    #[error("git knows no folder `{path}` at the revision `{revision}`{}", because(.said))]
    Unknown {
        /// The revision as given.
        revision: String,
        /// The path as given.
        path: String,
        /// What git says, if anything.
        said: String,
    },
    /// The folder has no run.
    #[error("there is no record in `{path}` at the revision `{revision}`")]
    Empty {
        /// The revision as given.
        revision: String,
        /// The path as given.
        path: String,
    },
    /// A file could not be read or written.
    #[error(transparent)]
    Record(#[from] RecordError),
}

fn because(said: &str) -> String {
    if said.is_empty() { String::new() } else { format!(": {said}") }
}

/// A copy of a committed record; it goes with the value.
#[derive(Debug)]
pub struct Committed {
    folder: tempfile::TempDir,
    is_run: bool,
    name: String,
}

impl Committed {
    /// Copies the record below `path`, a report folder or the folder of one run, as it is at `revision`. As in git, `path` begins at the
    /// top of the repository, or here with `./`.
    ///
    /// # Errors
    /// When there is no git, or no such record.
    pub fn read(revision: &str, path: &str) -> Result<Self, CommittedError> {
        let path = path.trim_end_matches('/');
        let tree = tree(revision, path)?;
        let listed = git(&["ls-tree", "-r", "-z", "--full-tree", &tree]).map_err(|source| CommittedError::NoGit { source })?;
        let wanted: Vec<(String, PathBuf)> = listed.stdout.split(|byte| *byte == 0).filter_map(entry).collect();
        if wanted.is_empty() {
            return Err(CommittedError::Empty { revision: revision.to_owned(), path: path.to_owned() });
        }
        let is_run = wanted.iter().any(|(_, file)| file.components().count() == 1);
        let folder = tempfile::Builder::new().prefix("shakedown-committed-").tempdir().map_err(io("make a folder"))?;
        let name = path.rsplit('/').next().unwrap_or_default().to_owned();
        let committed = Self { folder, is_run, name };
        copy(&wanted, &committed.root())?;
        Ok(committed)
    }

    /// The report folder, or the run's; named as in the repository, because the name is part of what it says.
    fn root(&self) -> PathBuf {
        self.folder.path().join("record").join(&self.name)
    }

    /// The run's folder, where it is one.
    #[must_use]
    pub fn run(&self) -> Option<PathBuf> {
        self.is_run.then(|| self.root())
    }

    /// The store, where it is a report folder.
    #[must_use]
    pub fn store(&self) -> Store {
        Store::new(&self.folder.path().join("record"), &self.name)
    }
}

/// The id of the folder's tree.
fn tree(revision: &str, path: &str) -> Result<String, CommittedError> {
    let unknown =
        |said: &str| CommittedError::Unknown { revision: revision.to_owned(), path: path.to_owned(), said: said.trim().to_owned() };
    let parts = || path.split('/').filter(|part| *part != ".");
    let escapes = parts().any(|part| matches!(part, "" | "..")) || parts().next().is_none();
    if revision.is_empty() || revision.starts_with('-') || revision.contains(['\0', ':']) || path.contains('\0') || escapes {
        return Err(unknown(""));
    }
    // What stands behind the last option cannot be one, and `^{tree}` refuses a file.
    let object = format!("{revision}:{path}");
    let found = git(&["rev-parse", "--verify", "--end-of-options", &object]).map_err(|source| CommittedError::NoGit { source })?;
    let said = String::from_utf8_lossy(&found.stderr).lines().next().unwrap_or_default().trim_start_matches("fatal: ").to_owned();
    let id = String::from_utf8_lossy(&found.stdout).trim().to_owned();
    let is_id = id.len() >= 40 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    if !found.status.success() || !is_id {
        return Err(unknown(&said));
    }
    let kind = git(&["cat-file", "-t", &id]).map_err(|source| CommittedError::NoGit { source })?;
    if kind.stdout.starts_with(b"tree") { Ok(id) } else { Err(unknown("it is not a folder")) }
}

/// A plan or journal in a list of files: the object's id, and its path below the folder.
fn entry(line: &[u8]) -> Option<(String, PathBuf)> {
    let line = std::str::from_utf8(line).ok()?;
    let (facts, path) = line.split_once('\t')?;
    let mut facts = facts.split(' ');
    let (mode, kind, id) = (facts.next()?, facts.next()?, facts.next()?);
    let parts: Vec<&str> = path.split('/').collect();
    let is_safe = |part: &str| !matches!(part, "" | "." | "..");
    let is_wanted = match parts.as_slice() {
        [file] => FILES.contains(file),
        ["runs", run, file] => is_safe(run) && FILES.contains(file),
        _ => false,
    };
    (mode.starts_with("100") && kind == "blob" && is_wanted).then(|| (id.to_owned(), PathBuf::from(path)))
}

/// Copies objects to files below `root`, one after the other through one process.
fn copy(wanted: &[(String, PathBuf)], root: &Path) -> Result<(), CommittedError> {
    let mut child = command(&["cat-file", "--batch"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|source| CommittedError::NoGit { source })?;
    let copied = copy_through(&mut child, wanted, root);
    // Its end of the pipe is closed: it ends by itself.
    let _ = child.wait();
    copied.map_err(|source| CommittedError::Record(io("read the record out of git")(source)))
}

fn copy_through(child: &mut Child, wanted: &[(String, PathBuf)], root: &Path) -> std::io::Result<()> {
    let broken = || std::io::Error::from(std::io::ErrorKind::UnexpectedEof);
    let (Some(mut asks), Some(answers)) = (child.stdin.take(), child.stdout.take()) else { return Err(broken()) };
    let mut answers = BufReader::new(answers);
    for (id, file) in wanted {
        writeln!(asks, "{id}")?;
        asks.flush()?;
        let mut head = String::new();
        answers.read_line(&mut head)?;
        let size: u64 = head.trim_end().rsplit(' ').next().and_then(|size| size.parse().ok()).ok_or_else(broken)?;
        let path = root.join(file);
        fs::create_dir_all(path.parent().unwrap_or(root))?;
        let mut target = fs::File::create(&path)?;
        let copied = std::io::copy(&mut answers.by_ref().take(size), &mut target)?;
        // A line end follows the object.
        if copied < size || answers.read(&mut [0])? == 0 {
            return Err(broken());
        }
    }
    Ok(())
}

fn git(arguments: &[&str]) -> std::io::Result<std::process::Output> {
    command(arguments).stdin(Stdio::null()).output()
}

/// Git without what a repository's or a person's settings could make it run or fetch.
fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new("git");
    command.args(["--no-pager", "--no-replace-objects", "--literal-pathspecs", "-c", "core.fsmonitor=false"]).args(arguments);
    for (name, value) in [("GIT_TERMINAL_PROMPT", "0"), ("GIT_OPTIONAL_LOCKS", "0"), ("GIT_NO_LAZY_FETCH", "1"), ("LC_ALL", "C")] {
        command.env(name, value);
    }
    command
}
