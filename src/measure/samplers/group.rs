//! The files of one control group, wherever this host's hierarchies have them.

use super::held::{Awaited, Buffer, Held};
use super::source::number;
use crate::model::cgroup::CgroupLayout;
use std::path::PathBuf;

/// Where a group's CPU time stands, see [`super::source::group_cpu::usage_ns`].
pub(in crate::measure) fn cpu_usage(layout: &CgroupLayout, group: &str) -> Option<PathBuf> {
    file(layout, group, ("cpuacct", "cpuacct.usage"), ("cpu", "cpu.stat"))
}

/// Where it stands what a group's quota did, see [`super::source::group_cpu::Quota`].
pub(in crate::measure) fn cpu_quota(layout: &CgroupLayout, group: &str) -> Option<PathBuf> {
    file(layout, group, ("cpu", "cpu.stat"), ("cpu", "cpu.stat"))
}

/// Where its memory now stands, in bytes.
pub(super) fn memory(layout: &CgroupLayout, group: &str) -> Option<PathBuf> {
    file(layout, group, ("memory", "memory.usage_in_bytes"), ("memory", "memory.current"))
}

/// Where it stands what it moved from and to disks, see [`super::source::group_io`].
pub(super) fn io(layout: &CgroupLayout, group: &str) -> Option<PathBuf> {
    file(layout, group, ("blkio", "blkio.throttle.io_service_bytes_recursive"), ("io", "io.stat"))
}

/// Where its processes are listed.
pub(super) fn procs(layout: &CgroupLayout, group: &str) -> Option<PathBuf> {
    file(layout, group, ("cpu", "cgroup.procs"), ("cpu", "cgroup.procs"))
}

/// A root group has others' tasks in it: without a name there is no file.
fn file(layout: &CgroupLayout, group: &str, v1: (&str, &str), v2: (&str, &str)) -> Option<PathBuf> {
    let group = group.trim_matches('/');
    let (controller, file) = if layout.is_v2() { v2 } else { v1 };
    if group.is_empty() { None } else { Some(layout.dir(controller, group)?.join(file)) }
}

/// How many tasks, threads among them, are in a group now.
#[derive(Debug)]
pub(super) struct Tasks {
    /// With all groups below it; only where the controller `pids` is there for it.
    counted: Option<Awaited>,
    /// A line for each that is in this very group. Opened anew each time: version 1 gives who holds it open an old list.
    listed: Option<PathBuf>,
}

impl Tasks {
    /// Those of a group.
    pub(super) fn new(layout: &CgroupLayout, group: &str) -> Self {
        let counted = file(layout, group, ("pids", "pids.current"), ("pids", "pids.current"));
        let listed = file(layout, group, ("cpu", "tasks"), ("cpu", "cgroup.threads"));
        Self { counted: counted.map(Awaited::new), listed }
    }

    /// None when there is no such group, and when it has no tasks itself and nobody counts those below it.
    pub(super) fn read(&mut self, buffer: &mut Buffer) -> Option<u64> {
        let counted = self.counted.as_mut().and_then(|file| file.read(buffer, number));
        let lines = |text: &str| u64::try_from(text.lines().count()).ok();
        counted.or_else(|| Held::open(self.listed.as_ref()?)?.read(buffer, lines).filter(|tasks| *tasks > 0))
    }
}
