//! Folders and files: where things are, and writes that are whole or not there.

use super::{RecordError, io};
use crate::model::plan::SavedPlan;
use fs_err as fs;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Where an experiment's record and report are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Store {
    folder: PathBuf,
}

impl Store {
    /// The store of `experiment` below a `reports` folder.
    #[must_use]
    pub fn new(reports: &Path, experiment: &str) -> Self {
        Self { folder: reports.join(experiment) }
    }

    /// `reports/<name>`.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The runs' folders, by name.
    ///
    /// # Errors
    /// When the folder cannot be listed; none at all is an empty list.
    pub fn runs(&self) -> Result<Vec<PathBuf>, RecordError> {
        let runs = self.folder.join("runs");
        let entries = match fs::read_dir(&runs) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(io("list the runs")(error)),
        };
        let mut folders = Vec::new();
        for entry in entries {
            let path = entry.map_err(io("list the runs"))?.path();
            if path.join("plan.json").is_file() {
                folders.push(path);
            }
        }
        folders.sort();
        Ok(folders)
    }

    /// Removes temporary files that a killed process left among the reports and the runs' plans.
    pub fn tidy(&self) {
        let mut folders = vec![self.folder.clone()];
        let runs = std::fs::read_dir(self.folder.join("runs")).into_iter().flatten().flatten();
        folders.extend(runs.map(|entry| entry.path()));
        for entry in folders.iter().filter_map(|folder| std::fs::read_dir(folder).ok()).flatten().flatten() {
            let name = entry.file_name();
            let pid = name.to_str().and_then(|name| name.strip_prefix(TEMPORARY)?.split_once('-')?.0.parse::<u32>().ok());
            if pid.is_some_and(|pid| !Path::new("/proc").join(pid.to_string()).exists()) {
                let _ = std::fs::remove_file(entry.path()); // the next one tries again
            }
        }
    }

    /// Makes the folder of a new run with its plan in it; both are on disk for good when this returns.
    ///
    /// # Errors
    /// [`RecordError::Taken`] when there is a run of this name: nothing of it was touched. Else when it cannot be written.
    pub fn create_run(&self, name: &str, plan: &SavedPlan) -> Result<RunFolder, RecordError> {
        let runs = self.folder.join("runs");
        let folder = runs.join(name);
        fs::create_dir_all(&runs).map_err(io("make the runs' folder"))?;
        fs::create_dir(&folder).map_err(|error| match error.kind() {
            std::io::ErrorKind::AlreadyExists => RecordError::Taken { name: name.to_owned() },
            _ => io("make the run's folder")(error),
        })?;
        let mut text = serde_json::to_vec_pretty(plan).expect("a plan is plain data");
        text.push(b'\n');
        write_atomically(&folder.join("plan.json"), &text)?;
        // Names are on disk when their folder is.
        for named in [&folder, &runs] {
            fs::File::open(named).and_then(|folder| folder.sync_all()).map_err(io("sync the run's folder"))?;
        }
        Ok(RunFolder { folder })
    }
}

/// The folder of one run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunFolder {
    folder: PathBuf,
}

impl RunFolder {
    /// An existing run's folder.
    #[must_use]
    pub fn existing(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// Its path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.folder
    }

    /// The folder's name: the run's name in CSV files.
    #[must_use]
    pub fn name(&self) -> String {
        self.folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }

    /// The journal's path.
    #[must_use]
    pub fn journal(&self) -> PathBuf {
        self.folder.join("journal.jsonl")
    }
}

/// Beginning of a temporary file's name; the writer's process id follows.
const TEMPORARY: &str = ".shakedown-";

/// Writes a file so that it is whole or not there: a temporary file beside it, synced, then renamed.
///
/// # Errors
/// When it cannot be written.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> Result<(), RecordError> {
    write_in_parts(path, |out| out.write_all(bytes).map_err(io(format!("write {}", path.display()))))
}

/// The same of a file that is too long for memory: `write` gives it part by part.
///
/// # Errors
/// When it cannot be written, and what `write` fails with; then there is no file.
pub fn write_in_parts(path: &Path, write: impl FnOnce(&mut dyn Write) -> Result<(), RecordError>) -> Result<(), RecordError> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder).map_err(io(format!("make {}", folder.display())))?;
    let failed = || io(format!("write {}", path.display()));
    let prefix = format!("{TEMPORARY}{}-", std::process::id());
    let mut builder = tempfile::Builder::new();
    let mut file = builder.prefix(&prefix).permissions(permissions()).tempfile_in(folder).map_err(failed())?;
    write(&mut file)?;
    file.as_file().sync_data().map_err(failed())?;
    file.persist(path).map_err(|error| failed()(error.error))?;
    Ok(())
}

/// Today in UTC, `2026-11-30`: the first part of a run's name.
#[must_use]
pub fn today() -> String {
    jiff::Timestamp::now().strftime("%Y-%m-%d").to_string()
}

/// Readable by all, as files meant for git are; the process's umask still applies.
fn permissions() -> std::fs::Permissions {
    use std::os::unix::fs::PermissionsExt;
    std::fs::Permissions::from_mode(0o644)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_temporary_files_of_dead_writers_are_removed() {
        let folder = tempfile::tempdir().expect("folder");
        let store = Store::new(folder.path(), "e");
        let run = store.folder().join("runs/r");
        fs::create_dir_all(&run).expect("folder");
        // No process has the highest number that a kernel may be told to give.
        let dead = [store.folder().join(".shakedown-4194305-x"), run.join(".shakedown-4194305-y")];
        let others = [run.join(format!(".shakedown-{}-z", std::process::id())), run.join("plan.json"), run.join(".shakedown-notes")];
        dead.iter().chain(&others).for_each(|path| fs::write(path, "").expect("file"));
        store.tidy();
        assert!(dead.iter().all(|path| !path.exists()));
        assert!(others.iter().all(|path| path.exists()));
    }
}
