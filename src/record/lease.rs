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
        let whole = whole(store);
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
        loop {
            let file = std::fs::OpenOptions::new()
                .create(true)
                .truncate(false)
                .write(true)
                .open(&path)
                .map_err(io(format!("open {}", path.display())))?;
            match file.try_lock() {
                // Whoever held it may have removed the file between our opening and our locking it: then it guards nothing.
                Ok(()) if is_at(&file, &path) => return Ok(Self { path, _file: file }),
                Ok(()) => {}
                Err(std::fs::TryLockError::WouldBlock) => return Err(RecordError::Busy { experiment: String::new(), run: id.to_owned() }),
                Err(std::fs::TryLockError::Error(error)) => return Err(io(format!("lock {}", path.display()))(error)),
            }
        }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        // Only tidiness: a file without a lock means a dead run.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Whether `path` still leads to this file.
fn is_at(file: &std::fs::File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let place = |metadata: std::fs::Metadata| (metadata.dev(), metadata.ino());
    matches!((file.metadata().map(place), std::fs::metadata(path).map(place)), (Ok(a), Ok(b)) if a == b)
}

/// The one spelling of a folder that may not exist yet: what exists of it without links, and the rest.
fn whole(folder: &Path) -> PathBuf {
    let absolute = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    let found = absolute.ancestors().find_map(|known| Some((absolute.strip_prefix(known).ok()?, fs::canonicalize(known).ok()?)));
    match found {
        Some((rest, real)) if rest.as_os_str().is_empty() => real,
        Some((rest, real)) => real.join(rest),
        None => absolute,
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
        assert_eq!(alive_in(folder.path()), Vec::<String>::new());
        std::fs::write(folder.path().join("dead.lock"), "").expect("file");
        assert_eq!(alive_in(folder.path()), Vec::<String>::new());
        assert!(!folder.path().join("dead.lock").exists());
    }

    #[test]
    fn a_lock_on_a_removed_file_is_no_lease() {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("a1.lock");
        let file = std::fs::File::create(&path).expect("file");
        assert!(is_at(&file, &path));
        std::fs::remove_file(&path).expect("remove");
        assert!(!is_at(&file, &path));
        let _other = std::fs::File::create(&path).expect("file");
        assert!(!is_at(&file, &path));
    }

    #[test]
    fn a_folder_has_one_name_before_and_after_it_exists() {
        let folder = tempfile::tempdir().expect("folder");
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(folder.path(), &link).expect("link");
        let store = link.join("reports/e");
        let before = whole(&store).into_os_string();
        std::fs::create_dir_all(&store).expect("store");
        assert_eq!(before, whole(&store).into_os_string());
        assert_eq!(before, whole(&folder.path().join("reports/e")).into_os_string());
    }
}
