//! Counters of one cgroup, read from its files; the readings are hierarchical and so hold everything below it.

use crate::measure::samplers::group;
use crate::measure::samplers::source::group_cpu::{Quota, usage_ns};
use crate::measure::samplers::source::number;
use crate::model::cgroup::CgroupLayout;
use std::fs::File;
use std::os::unix::fs::FileExt;

/// CPU time in nanoseconds of a group and all below it; none when there is no such file.
pub(super) fn cpu_ns(layout: &CgroupLayout, cgroup: &str) -> Option<u64> {
    usage_ns(&std::fs::read_to_string(group::cpu_usage(layout, cgroup)?).ok()?)
}

/// Largest memory in bytes of a group and all below it; none when there is no such file, or when nothing was ever counted.
pub(super) fn memory_peak(layout: &CgroupLayout, cgroup: &str) -> Option<u64> {
    let file = if layout.is_v2() { "memory.peak" } else { "memory.max_usage_in_bytes" };
    let text = std::fs::read_to_string(layout.dir("memory", cgroup)?.join(file)).ok()?;
    number(&text).filter(|peak| *peak > 0)
}

/// What the quota of one group did, by a file that is held open: a reading costs about two microseconds.
#[derive(Debug)]
pub(super) struct Throttling {
    file: File,
}

impl Throttling {
    /// None as long as the group does not exist.
    pub(super) fn open(layout: &CgroupLayout, leaf: &str) -> Option<Self> {
        File::open(group::cpu_quota(layout, leaf)?).ok().map(|file| Self { file })
    }

    /// What it did so far; none when the group is gone.
    pub(super) fn read(&self) -> Option<Quota> {
        let mut buffer = [0; 1024];
        let length = self.file.read_at(&mut buffer, 0).ok()?;
        Quota::parse(std::str::from_utf8(&buffer[..length]).ok()?)
    }
}
