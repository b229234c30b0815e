//! The empty folders that scratches are mounted on, in the folder for temporary files; each is there for about a millisecond.

use super::store;
use crate::engine::UnitName;
use crate::model::spec::UnitSpec;
use std::io;
use std::path::Path;
use tempfile::TempDir;

/// Beginning of their names; the run follows.
const SCRATCH: &str = "shakedown-files-";

/// An empty folder to mount the scratch on; only where something is placed.
pub(super) fn make(name: &UnitName, spec: &UnitSpec) -> io::Result<Option<TempDir>> {
    if spec.files.is_empty() && spec.volumes.is_empty() {
        return Ok(None);
    }
    tempfile::Builder::new().prefix(&format!("{}{}-", SCRATCH, name.run)).tempdir().map(Some)
}

/// Removes the empty folders that a run leaves when it dies in the moment between making and mounting one.
pub(super) fn sweep(temporary: &Path, alive: &[String]) -> Vec<String> {
    let entries = std::fs::read_dir(temporary).into_iter().flatten().flatten();
    let dead = entries.filter(|entry| store::is_dead(&entry.file_name().to_string_lossy(), SCRATCH, alive));
    dead.filter(|entry| std::fs::remove_dir(entry.path()).is_ok()).map(|entry| format!("folder {}", entry.path().display())).collect()
}
