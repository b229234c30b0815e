//! Our control groups: made, limited, emptied and removed here, in whichever hierarchies this host mounts.
//!
//! Paths are relative to each hierarchy's root (`shakedown/<run>/<trial>-<unit>`); the hierarchies are given, so that version 2
//! can be tested on a tree of plain files. Knows no unit, image or metric; reading counters belongs to `measure`.

mod end;
mod limits;
mod make;
mod runs;

pub use runs::Runs;

use super::EngineError;
use crate::model::cgroup::CgroupLayout;
use crate::model::spec::LimitsSpec;
use std::io;
use std::path::{Path, PathBuf};

/// The folder below each hierarchy's root that holds everything of ours.
pub const TOP: &str = "shakedown";

/// A control group could not be made, set, emptied or removed.
#[derive(Debug, thiserror::Error)]
pub enum ControlError {
    /// This host does not offer a controller that a limit needs.
    #[error("this host has no `{controller}` control group ({layout}): remove `{limit}` or enable the controller")]
    NoController {
        /// The controller.
        controller: &'static str,
        /// The manifest's setting that needs it.
        limit: &'static str,
        /// The layout's name.
        layout: &'static str,
    },
    /// The kernel refused a value.
    #[error("write `{value}` to {}: {source}", path.display())]
    Write {
        /// The control file.
        path: PathBuf,
        /// The value.
        value: String,
        /// Why.
        source: io::Error,
    },
    /// A folder could not be made, read or removed.
    #[error("{operation} {}: {source}", path.display())]
    Folder {
        /// What was tried, such as "make".
        operation: &'static str,
        /// The folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Processes survive every attempt to kill them.
    #[error("{} processes in `{path}` do not end", pids.len())]
    Survivors {
        /// The control group.
        path: String,
        /// Who is left.
        pids: Vec<u32>,
    },
}

impl From<ControlError> for EngineError {
    fn from(error: ControlError) -> Self {
        match error {
            ControlError::NoController { .. } => Self::Unsupported { what: error.to_string() },
            _ => Self::Call { operation: "control group".to_owned(), reason: error.to_string() },
        }
    }
}

/// Reads where this host's hierarchies are mounted.
///
/// # Errors
/// When `/proc` is not readable.
pub fn layout() -> io::Result<CgroupLayout> {
    Ok(CgroupLayout::from_mountinfo(&fs_err::read_to_string("/proc/self/mountinfo")?))
}

/// Whether this process may make control groups.
#[must_use]
pub fn may_make_groups(layout: &CgroupLayout) -> bool {
    layout.dir("cpu", "").is_some_and(|root| rustix::fs::access(root, rustix::fs::Access::WRITE_OK).is_ok())
}

/// Makes and removes control groups in the hierarchies of a layout.
#[derive(Debug, Clone)]
pub struct Control {
    layout: CgroupLayout,
}

impl Control {
    /// Works in the given hierarchies.
    #[must_use]
    pub fn new(layout: CgroupLayout) -> Self {
        Self { layout }
    }

    /// The hierarchies.
    #[must_use]
    pub fn layout(&self) -> &CgroupLayout {
        &self.layout
    }

    /// Why limits cannot be set here at all, in words; empty when they can.
    #[must_use]
    pub fn missing(&self, limits: &LimitsSpec) -> Vec<String> {
        limits::needed(limits).iter().filter_map(|need| make::missing(&self.layout, need)).map(|error| error.to_string()).collect()
    }

    /// Makes the control group of a host process and writes its limits; nothing is left after an error.
    ///
    /// # Errors
    /// When a controller is missing or the kernel refuses.
    pub fn create(&self, path: &str, limits: &LimitsSpec) -> Result<(), ControlError> {
        let result = limits::needed(limits)
            .into_iter()
            .try_for_each(|need| make::group(&self.layout, path, &need, false))
            .and_then(|()| limits::write(&self.layout, path, limits));
        if result.is_err() {
            let _ = self.remove(path); // the first error is the one to tell
        }
        result
    }

    /// Makes the control group around a container. It gets the container's own `cpu_shares`: the kernel shares CPU among
    /// siblings only, and siblings of different units are these parents, not the containers in them.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn weight_parent(&self, path: &str, shares: Option<u64>) -> Result<(), ControlError> {
        let weight = LimitsSpec { cpu_shares: shares, ..LimitsSpec::default() };
        let result = limits::needed(&weight)
            .into_iter()
            .try_for_each(|need| make::group(&self.layout, path, &need, true))
            .and_then(|()| limits::write(&self.layout, path, &weight));
        if result.is_err() {
            let _ = self.remove(path); // the first error is the one to tell
        }
        result
    }

    /// The files to which a process writes `0` to enter the group. On version 1 these are `tasks`: a write to `cgroup.procs`
    /// waits for a grace period of many milliseconds, and the fresh child has one thread anyway.
    #[must_use]
    pub fn entries(&self, path: &str, limits: &LimitsSpec) -> Vec<PathBuf> {
        let file = if self.layout.is_v2() { "cgroup.procs" } else { "tasks" };
        let mut entries: Vec<PathBuf> = limits::needed(limits)
            .iter()
            .filter_map(|need| self.layout.dir(need.controller, path))
            .map(|folder| folder.join(file))
            .collect();
        // The CPU group last: once in it, the process competes as a newcomer for what is left to do.
        entries.reverse();
        entries.dedup();
        entries
    }

    /// Whether the kernel killed a process of the group for memory.
    #[must_use]
    pub fn oom_killed(&self, path: &str) -> bool {
        let file = if self.layout.is_v2() { "memory.events" } else { "memory.oom_control" };
        let text = self.layout.dir("memory", path).and_then(|folder| std::fs::read_to_string(folder.join(file)).ok());
        text.is_some_and(|text| text.lines().any(|line| line.strip_prefix("oom_kill ").is_some_and(|count| count.trim() != "0")))
    }

    /// Every process in the group and below it, in any hierarchy.
    #[must_use]
    pub fn members(&self, path: &str) -> Vec<u32> {
        end::members(&self.layout, path)
    }

    /// Kills everything in the group and below it, processes that left their session included, until nobody is left.
    ///
    /// # Errors
    /// When somebody survives.
    pub fn kill(&self, path: &str) -> Result<(), ControlError> {
        end::kill(&self.layout, path)
    }

    /// Kills what is in the group, removes it deepest first in every hierarchy, and its parents up to [`TOP`] when they are
    /// empty; fine when there is none.
    ///
    /// # Errors
    /// When somebody survives or a folder stays.
    pub fn remove(&self, path: &str) -> Result<(), ControlError> {
        self.remove_within(path, "")
    }

    /// The same, but parents are removed below `keep` only, for a caller who soon makes the next group there.
    ///
    /// # Errors
    /// When somebody survives or a folder stays.
    pub fn remove_within(&self, path: &str, keep: &str) -> Result<(), ControlError> {
        end::remove(&self.layout, path, keep)
    }

    /// Removes the group where nothing is in it, with one call per hierarchy and without ever waiting; false when it stays in one.
    #[must_use]
    pub fn remove_idle(&self, path: &str) -> bool {
        let removed = |root: &Path| match std::fs::remove_dir(root.join(path)) {
            Ok(()) => true,
            Err(error) => error.kind() == io::ErrorKind::NotFound,
        };
        self.layout.roots().into_iter().all(removed)
    }

    /// Removes the group and its parents as far as they are empty; anything else stays.
    pub fn remove_empty(&self, path: &str) {
        for root in self.layout.roots() {
            for folder in root.join(path).ancestors().take_while(|folder| *folder != root) {
                let _ = std::fs::remove_dir(folder); // not empty, or never made: both are fine
            }
        }
    }

    /// Removes every group directly below `top` (a run's) whose name is not in `alive`; tells what was removed.
    ///
    /// # Errors
    /// The first one; the others are removed nevertheless.
    pub fn sweep(&self, top: &str, alive: &[String]) -> Result<Vec<String>, ControlError> {
        let mut removed = Vec::new();
        let mut first = Ok(());
        for run in end::children(&self.layout, top).into_iter().filter(|run| !alive.contains(run)) {
            match self.remove(&format!("{top}/{run}")) {
                Ok(()) => removed.push(format!("control groups of run `{run}`, with every process in them")),
                Err(error) => first = first.and(Err(error)),
            }
        }
        first.map(|()| removed)
    }
}

/// Writes a value to a control file that must exist.
fn put(path: &Path, value: &str) -> Result<(), ControlError> {
    std::fs::OpenOptions::new()
        .write(true)
        .truncate(true)
        .open(path)
        .and_then(|mut file| io::Write::write_all(&mut file, value.as_bytes()))
        .map_err(|source| ControlError::Write { path: path.to_owned(), value: value.to_owned(), source })
}
