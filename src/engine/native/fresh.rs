//! What a process would inherit from us and a fresh one does not have: which CPUs, how nice, how likely to be killed for memory.

use crate::model::cpus::CpuList;
use rustix::fs::{Mode, OFlags};
use rustix::process::setpriority_process;
use rustix::thread::{CpuSet, sched_setaffinity};
use rustix::{fs, io};

/// What every process starts with, ready before the fork.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fresh {
    cpus: CpuSet,
    /// CPUs online.
    pub count: u32,
    /// Whether our own process is marked for, or spared by, the kernel's out-of-memory killer.
    marked: bool,
}

impl Fresh {
    /// As this host and this process are now.
    pub(super) fn now() -> Self {
        let text = |path| std::fs::read_to_string(path).unwrap_or_default();
        let mut cpus = CpuSet::new();
        online(&text("/sys/devices/system/cpu/online")).into_iter().filter(|cpu| *cpu < CpuSet::MAX_CPU).for_each(|cpu| cpus.set(cpu));
        let count = match cpus.count() {
            0 => std::thread::available_parallelism().map_or(1, |cpus| u32::try_from(cpus.get()).unwrap_or(u32::MAX)),
            count => count,
        };
        Self { cpus, count, marked: text("/proc/self/oom_score_adj").trim() != "0" }
    }

    /// Makes the calling process so, with system calls only. What may not be done here (not root, or a smaller set of CPUs around
    /// us) is left as it was.
    pub(super) fn apply(&self) {
        if self.cpus.count() > 0 {
            let _ = sched_setaffinity(None, &self.cpus);
        }
        let _ = setpriority_process(None, 0);
        if self.marked {
            let _ = unmark();
        }
    }
}

fn unmark() -> io::Result<()> {
    let file = fs::open(c"/proc/self/oom_score_adj", OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?;
    io::write(&file, b"0").map(drop)
}

/// The CPUs of a list such as `0-3,6`.
fn online(list: &str) -> Vec<usize> {
    CpuList::parse(list).iter().flat_map(CpuList::iter).filter_map(|cpu| usize::try_from(cpu).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_the_kernel() {
        for (list, cpus) in [("0-3,6\n", vec![0, 1, 2, 3, 6]), ("0", vec![0]), ("", vec![]), ("3-1,x", vec![])] {
            assert_eq!(online(list), cpus, "{list}");
        }
        assert!(Fresh::now().count > 0);
    }
}
