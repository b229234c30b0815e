//! Which runs are alive on this host: each holds a lock that the kernel drops with the process, however it dies.

use super::{RecordError, io};
use fs_err as fs;
use std::path::{Path, PathBuf};

/// Held while a run is alive.
#[derive(Debug)]
pub struct Lease {
    path: PathBuf,
    /// The lock lives as long as this file is open.
    _file: std::fs::File,
}

impl Lease {
    /// Takes the lease of run `id`.
    ///
    /// # Errors
    /// When the lock's file cannot be made.
    pub fn take(id: &str) -> Result<Self, RecordError> {
        Self::take_in(&folder(), id)
    }

    /// Takes a lease so that nobody else runs the experiment whose reports are in `store`.
    ///
    /// # Errors
    /// [`RecordError::Busy`] when somebody does.
    pub fn take_experiment(store: &Path, experiment: &str) -> Result<Self, RecordError> {
        let whole = fs::canonicalize(store).unwrap_or_else(|_| store.to_owned());
        let name: String = whole.to_string_lossy().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
        let tail: String = name.chars().rev().take(180).collect::<Vec<_>>().into_iter().rev().collect();
        match Self::take_in(&folder(), &format!("experiment{tail}")) {
            Err(RecordError::Busy { run, .. }) => Err(RecordError::Busy { experiment: experiment.to_owned(), run }),
            other => other,
        }
    }

    fn take_in(folder: &Path, id: &str) -> Result<Self, RecordError> {
        fs::create_dir_all(folder).map_err(io("make the folder of locks"))?;
        let path = folder.join(format!("{id}.lock"));
        let file = std::fs::OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&path)
            .map_err(io(format!("open {}", path.display())))?;
        match file.try_lock() {
            Ok(()) => Ok(Self { path, _file: file }),
            Err(std::fs::TryLockError::WouldBlock) => Err(RecordError::Busy { experiment: String::new(), run: id.to_owned() }),
            Err(std::fs::TryLockError::Error(error)) => Err(io(format!("lock {}", path.display()))(error)),
        }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        // Only tidiness: a file without a lock means a dead run.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// The ids of the runs that are alive on this host; locks of dead ones are removed.
#[must_use]
pub fn alive_runs() -> Vec<String> {
    alive_in(&folder())
}

fn alive_in(folder: &Path) -> Vec<String> {
    let mut alive = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let Some(id) = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()) else { continue };
        let Ok(file) = std::fs::OpenOptions::new().write(true).open(&path) else { continue };
        match file.try_lock() {
            Err(std::fs::TryLockError::WouldBlock) => alive.push(id),
            _ => {
                // Nobody holds it: what a dead run left.
                let _ = std::fs::remove_file(&path);
            }
        }
    }
    alive.sort();
    alive
}

fn folder() -> PathBuf {
    let run = Path::new("/run/lock");
    let base =
        if run.is_dir() && rustix::fs::access(run, rustix::fs::Access::WRITE_OK).is_ok() { run.to_owned() } else { std::env::temp_dir() };
    base.join(format!("shakedown-{}", rustix::process::getuid().as_raw()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lease_lives_as_long_as_its_holder() {
        let folder = tempfile::tempdir().expect("folder");
        let lease = Lease::take_in(folder.path(), "a1").expect("lease");
        assert!(matches!(Lease::take_in(folder.path(), "a1"), Err(RecordError::Busy { .. })));
        assert_eq!(alive_in(folder.path()), ["a1"]);
        drop(lease);
        std::fs::write(folder.path().join("dead.lock"), "").expect("file");
        assert_eq!(alive_in(folder.path()), Vec::<String>::new());
        assert!(!folder.path().join("dead.lock").exists());
    }
}
