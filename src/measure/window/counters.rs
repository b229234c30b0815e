//! Counters of one cgroup, read from its files; the readings are hierarchical and so hold everything below it.

use crate::model::cgroup::CgroupLayout;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// CPU time in nanoseconds of a group and all below it; none when there is no such file.
pub(super) fn cpu_ns(layout: &CgroupLayout, cgroup: &str) -> Option<u64> {
    if layout.is_v2() {
        let text = std::fs::read_to_string(layout.dir("cpu", cgroup)?.join("cpu.stat")).ok()?;
        field(&text, "usage_usec").map(|us| us * 1000)
    } else {
        number(&layout.dir("cpuacct", cgroup)?.join("cpuacct.usage"))
    }
}

/// Largest memory in bytes of a group and all below it; none when there is no such file, or when nothing was ever counted.
pub(super) fn memory_peak(layout: &CgroupLayout, cgroup: &str) -> Option<u64> {
    let file = if layout.is_v2() { "memory.peak" } else { "memory.max_usage_in_bytes" };
    number(&layout.dir("memory", cgroup)?.join(file)).filter(|peak| *peak > 0)
}

fn number(path: &Path) -> Option<u64> {
    std::fs::read_to_string(path).ok()?.trim().parse().ok()
}

fn field(text: &str, name: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.trim().parse().ok())
}

/// The throttled time of one group, by a file that is held open: a reading costs about two microseconds.
#[derive(Debug)]
pub(super) struct Throttling {
    file: File,
}

impl Throttling {
    /// None as long as the group does not exist.
    pub(super) fn open(layout: &CgroupLayout, leaf: &str) -> Option<Self> {
        File::open(layout.dir("cpu", leaf)?.join("cpu.stat")).ok().map(|file| Self { file })
    }

    /// Nanoseconds throttled so far; none when the group is gone.
    pub(super) fn read_ns(&self) -> Option<u64> {
        let mut buffer = [0; 1024];
        let length = self.file.read_at(&mut buffer, 0).ok()?;
        throttled_ns(std::str::from_utf8(&buffer[..length]).ok()?)
    }
}

/// Version 1 counts nanoseconds, version 2 microseconds.
fn throttled_ns(text: &str) -> Option<u64> {
    field(text, "throttled_time").or_else(|| field(text, "throttled_usec").map(|us| us * 1000))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_versions_tell_nanoseconds() {
        assert_eq!(throttled_ns("nr_periods 5\nnr_throttled 3\nthrottled_time 1234\nnr_bursts 0\n"), Some(1234));
        assert_eq!(throttled_ns("usage_usec 9\nnr_throttled 3\nthrottled_usec 7\n"), Some(7000));
        assert_eq!(throttled_ns("usage_usec 9\n"), None);
        assert_eq!(throttled_ns("throttled_time_x 9\nthrottled_time\n"), None);
    }
}
