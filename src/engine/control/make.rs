//! Making a group with every parent it needs, usable from the first moment.

use super::limits::{DISKS, Need};
use super::{ControlError, put};
use crate::model::cgroup::CgroupLayout;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

/// Another run may remove an empty parent between our two calls: try again so often.
const ATTEMPTS: usize = 5;

/// Makes the group in one controller's hierarchy. With `delegate`, version 2 offers the controllers to its children as well.
pub(super) fn group(layout: &CgroupLayout, path: &str, need: &Need, delegate: bool) -> Result<(), ControlError> {
    if let Some(missing) = missing(layout, need) {
        return Err(missing);
    }
    let Some(root) = layout.dir(need.controller, "") else { return Ok(()) };
    let v2 = layout.is_v2();
    if v2 && need.controller == "cpuacct" {
        return Ok(()); // version 2 counts CPU time everywhere
    }
    let controller = if v2 && need.controller == DISKS { "io" } else { need.controller };
    if v2 && !offers(&root, controller) {
        return folders(&root, path, |_| Ok(()));
    }
    // Nothing has to be made ready in these hierarchies: where the parent is there, one call does it.
    if !v2 && need.controller != "cpuset" && fs::create_dir(root.join(path)).is_ok() {
        return Ok(());
    }
    folders(&root, path, |folder| match controller {
        "cpuset" if !v2 => inherit_cpuset(folder),
        controller if v2 && folder != root.join(path) => enable(folder, controller),
        _ => Ok(()),
    })?;
    if v2 && delegate { enable(&root.join(path), controller) } else { Ok(()) }
}

/// Why a limit cannot be set: its controller is not there. None when it is, and when the controller would only count.
pub(super) fn missing(layout: &CgroupLayout, need: &Need) -> Option<ControlError> {
    let limit = need.limit?;
    let there = layout.dir(need.controller, "").is_some_and(|root| !layout.is_v2() || offers(&root, need.controller));
    (!there).then_some(ControlError::NoController { controller: need.controller, limit, layout: layout.name() })
}

/// Whether a version 2 group has a controller to give.
fn offers(folder: &Path, controller: &str) -> bool {
    words(&folder.join("cgroup.controllers")).iter().any(|word| word == controller)
}

/// Makes every folder from below `root` down to `path`, and calls `ready` on each, `root` included, before its child is made.
fn folders(root: &Path, path: &str, ready: impl Fn(&Path) -> Result<(), ControlError>) -> Result<(), ControlError> {
    let mut attempt = 0;
    'again: loop {
        attempt += 1;
        let mut folder = root.to_path_buf();
        for part in path.split('/').filter(|part| !part.is_empty()) {
            ready(&folder).or_else(|error| if attempt < ATTEMPTS && !folder.exists() { Ok(()) } else { Err(error) })?;
            folder.push(part);
            match fs::create_dir(&folder) {
                Ok(()) => {}
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) if error.kind() == ErrorKind::NotFound && attempt < ATTEMPTS => continue 'again,
                Err(source) => return Err(ControlError::Folder { operation: "make", path: folder, source }),
            }
        }
        return ready(&folder);
    }
}

/// A fresh version 1 cpuset has no CPUs and no memory nodes, and lets nobody in: it gets its parent's.
fn inherit_cpuset(folder: &Path) -> Result<(), ControlError> {
    for file in ["cpuset.cpus", "cpuset.mems"] {
        let own = folder.join(file);
        if !fs::read_to_string(&own).unwrap_or_default().trim().is_empty() {
            continue;
        }
        let Some(parent) = folder.parent() else { continue };
        let value = fs::read_to_string(parent.join(file)).unwrap_or_default();
        put(&own, value.trim())?;
    }
    Ok(())
}

/// Offers a controller to the children of a version 2 group.
fn enable(folder: &Path, controller: &str) -> Result<(), ControlError> {
    let file = folder.join("cgroup.subtree_control");
    if words(&file).iter().any(|word| word == controller) { Ok(()) } else { put(&file, &format!("+{controller}")) }
}

fn words(path: &Path) -> Vec<String> {
    fs::read_to_string(path).unwrap_or_default().split_whitespace().map(str::to_owned).collect()
}
