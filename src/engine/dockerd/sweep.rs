//! What dead runs left of private daemons on this host: found by name, removed, told. Nothing has to be up for it.

use super::place::{self, DISKS, RUN};
use super::{disk, failed};
use crate::engine::EngineError;
use crate::engine::control::{self, Control};
use rustix::mount::{UnmountFlags, unmount};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Ends and removes the private daemons of every run that is not in `alive`: their processes, control groups, mounts, loop devices,
/// folders, disks and seeds. Only names of our scheme are touched. Returns what was removed. Blocks.
///
/// # Errors
/// When something is left, after all the rest was removed.
pub fn sweep_host(alive: &[String]) -> Result<Vec<String>, EngineError> {
    let (mut removed, mut left) = (Vec::new(), Vec::new());
    let mut tell = |what: String, done: Result<(), String>| match done {
        Ok(()) => removed.push(what),
        Err(error) => left.push(format!("{what} ({error})")),
    };
    for (path, name) in entries(Path::new(RUN)) {
        let Some(dead) = place::of_folder(&name).filter(|place| !alive.contains(&place.run)) else { continue };
        let what = format!("private daemon of run `{}`, with {}", dead.run, path.display());
        tell(what, end(&path, &dead));
    }
    for (path, name) in entries(Path::new(DISKS)) {
        let Some(run) = place::run_of_disk(&name).filter(|run| !alive.iter().any(|alive| alive == run)) else { continue };
        tell(format!("data root of run `{run}`, {}", path.display()), drop_disk(&path));
    }
    for (device, path) in disk::loops() {
        let Some(run) = dead_run(&path, alive) else { continue };
        if disk::released(&path).is_some() {
            tell(format!("loop device {} of run `{run}`", device.display()), detach(&device));
        }
    }
    remove_parents();
    if left.is_empty() { Ok(removed) } else { Err(failed("clean up private daemons", format!("left: {}", left.join(", ")))) }
}

/// Removes the two folders that hold everything, as soon as they hold nothing.
pub(super) fn remove_parents() {
    for parent in [RUN, DISKS] {
        let _ = std::fs::remove_dir(parent); // others may have theirs in it
    }
}

/// Ends one daemon, and removes its folder.
fn end(folder: &Path, dead: &place::Place) -> Result<(), String> {
    let control = Control::new(control::layout().map_err(|error| error.to_string())?);
    for group in [dead.group(), dead.containers()] {
        control.remove(&group).map_err(|error| error.to_string())?;
    }
    // Its mounts went with its namespace; one that we can see was put there by somebody else.
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let mut below: Vec<&str> =
        mounts.lines().filter_map(|line| line.split(' ').nth(4)).filter(|at| Path::new(at).starts_with(folder)).collect();
    below.reverse();
    for at in below {
        unmount(at, UnmountFlags::DETACH).map_err(|error| format!("unmount {at}: {error}"))?;
    }
    gone(std::fs::remove_dir_all(folder))
}

/// Removes a loop file, and waits until the kernel has let go of it.
pub(super) fn drop_disk(path: &Path) -> Result<(), String> {
    gone(std::fs::remove_file(path))?;
    match disk::released(path) {
        None => Ok(()),
        Some(device) => detach(&device),
    }
}

fn detach(device: &Path) -> Result<(), String> {
    let told = Command::new("losetup").arg("-d").arg(device).stdin(Stdio::null()).output().map_err(|error| format!("losetup: {error}"))?;
    if told.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&told.stderr).trim().to_owned()) }
}

/// The run that a file behind a loop device is of, when that is one of ours and dead.
fn dead_run<'a>(file: &'a Path, alive: &[String]) -> Option<&'a str> {
    let run = place::run_of_disk(file.strip_prefix(DISKS).ok()?.to_str()?)?;
    (!alive.iter().any(|alive| alive == run)).then_some(run)
}

/// Being gone already is as good as being removed.
pub(super) fn gone(result: io::Result<()>) -> Result<(), String> {
    match result {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error.to_string()),
        _ => Ok(()),
    }
}

fn entries(folder: &Path) -> Vec<(PathBuf, String)> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| Some((entry.path(), entry.file_name().into_string().ok()?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_disks_of_dead_runs_below_our_folder_are_ours() {
        let alive = ["now".to_owned()];
        let table = [
            ("/var/lib/shakedown/old-0.img", Some("old")),
            ("/var/lib/shakedown/old-seed-3.img", Some("old")),
            ("/var/lib/shakedown/now-0.img", None),
            ("/var/lib/shakedown/now-seed-0.img", None),
            ("/var/lib/shakedown/backup.img", None),
            ("/var/lib/shakedown/sub/old-0.img", None),
            ("/home/old-0.img", None),
        ];
        for (path, run) in table {
            assert_eq!(dead_run(Path::new(path), &alive), run, "{path}");
        }
    }
}
