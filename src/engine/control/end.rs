//! Emptying and removing groups.

use super::ControlError;
use crate::model::cgroup::CgroupLayout;
use rustix::process::{Pid, Signal, kill_process};
use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How long the kernel may take to end killed processes and to let go of an empty group.
const PATIENCE: Duration = Duration::from_secs(5);
/// The first pause between two looks; each next one is twice as long, up to [`LONGEST_PAUSE`].
const FIRST_PAUSE: Duration = Duration::from_micros(100);
const LONGEST_PAUSE: Duration = Duration::from_millis(20);

/// The group's folders that exist, one per hierarchy.
fn folders(layout: &CgroupLayout, path: &str) -> Vec<PathBuf> {
    layout.roots().into_iter().map(|root| root.join(path)).filter(|folder| folder.is_dir()).collect()
}

/// Names of the groups directly below `path` in any hierarchy.
pub(super) fn children(layout: &CgroupLayout, path: &str) -> BTreeSet<String> {
    folders(layout, path)
        .iter()
        .flat_map(|folder| subfolders(folder))
        .filter_map(|child| Some(child.file_name()?.to_str()?.to_owned()))
        .collect()
}

fn subfolders(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())).map(|entry| entry.path()).collect()
}

/// A folder and everything below it, deepest first.
fn deepest_first(folder: &Path) -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> = subfolders(folder).iter().flat_map(|child| deepest_first(child)).collect();
    all.push(folder.to_path_buf());
    all
}

pub(super) fn members(layout: &CgroupLayout, path: &str) -> Vec<u32> {
    let mut pids = BTreeSet::new();
    for folder in folders(layout, path).iter().flat_map(|folder| deepest_first(folder)) {
        let text = fs::read_to_string(folder.join("cgroup.procs")).unwrap_or_default();
        // 0 stands for a process outside of our pid namespace; as an argument of kill it would mean ourselves.
        pids.extend(text.lines().filter_map(|line| line.parse::<u32>().ok()).filter(|pid| *pid != 0));
    }
    pids.into_iter().collect()
}

pub(super) fn kill(layout: &CgroupLayout, path: &str) -> Result<(), ControlError> {
    let started = Instant::now();
    let mut pause = FIRST_PAUSE;
    loop {
        let pids = members(layout, path);
        if pids.is_empty() {
            return Ok(());
        }
        if started.elapsed() > PATIENCE {
            return Err(ControlError::Survivors { path: path.to_owned(), pids });
        }
        for folder in folders(layout, path) {
            // One write ends the whole tree where the kernel has it (version 2, from 5.14), so that no fork can outrun us.
            if folder.join("cgroup.kill").exists() {
                let _ = fs::write(folder.join("cgroup.kill"), "1"); // the signals below do it as well
            }
        }
        for pid in pids.iter().filter_map(|pid| Pid::from_raw(i32::try_from(*pid).ok()?)) {
            let _ = kill_process(pid, Signal::KILL); // gone already is as good
        }
        sleep(pause);
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

/// Removes the group with everything in it, and its empty parents below `keep`.
pub(super) fn remove(layout: &CgroupLayout, path: &str, keep: &str) -> Result<(), ControlError> {
    for root in layout.roots() {
        let folder = root.join(path);
        if !remove_tree(layout, path, &folder)? {
            continue;
        }
        let keep = root.join(keep);
        let mut parent = folder.parent();
        while let Some(empty) = parent.filter(|parent| parent.starts_with(&keep) && **parent != keep) {
            // Another unit, trial or run may still be in it.
            if fs::remove_dir(empty).is_err_and(|error| error.kind() != ErrorKind::NotFound) {
                break;
            }
            parent = empty.parent();
        }
    }
    Ok(())
}

/// Removes one hierarchy's folder; false when there is none. Usually it is empty and has no children: one call does it. When
/// it is busy, what lives in it is killed, and the kernel may hold the group for a moment longer than its last process.
fn remove_tree(layout: &CgroupLayout, path: &str, folder: &Path) -> Result<bool, ControlError> {
    let started = Instant::now();
    let mut pause = FIRST_PAUSE;
    loop {
        let source = match fs::remove_dir(folder) {
            Ok(()) => return Ok(true),
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
            Err(error) => error,
        };
        let busy = source.kind() == ErrorKind::ResourceBusy && started.elapsed() < PATIENCE;
        if busy {
            kill(layout, path)?;
        }
        let children: Vec<PathBuf> = subfolders(folder).iter().flat_map(|child| deepest_first(child)).collect();
        // What is busy yet fails its parent, and is tried again.
        let removed = children.into_iter().filter(|child| fs::remove_dir(child).is_ok()).count();
        if !busy && removed == 0 {
            return Err(ControlError::Folder { operation: "remove", path: folder.to_owned(), source });
        }
        if pause > FIRST_PAUSE {
            sleep(pause);
        }
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}
