//! Processes, by `/proc`: who is in a group, and what CPU time they took.

use crate::model::cgroup::CgroupLayout;
use std::path::Path;

/// The first process of a group in this host's numbers, from whichever hierarchy has the group; none when it is empty, gone, or
/// its processes are not visible from here.
#[must_use]
pub fn first_pid(layout: &CgroupLayout, leaf: &str) -> Option<u32> {
    let leaf = leaf.trim_start_matches('/');
    layout.roots().into_iter().find_map(|root| pids(&root.join(leaf).join("cgroup.procs")).first().copied())
}

/// Every process that is visible from here.
#[must_use]
pub fn all() -> Vec<u32> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let mut found: Vec<u32> = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    found.sort_unstable();
    found
}

/// The kernel's name of a process: its program's, at most 15 bytes of it, unless it gave itself another one.
#[must_use]
pub fn name(pid: u32) -> Option<String> {
    let name = std::fs::read(format!("/proc/{pid}/comm")).ok()?;
    Some(String::from_utf8_lossy(&name).trim_end_matches('\n').to_owned())
}

/// The kernel writes 0 for a process that has no number in our namespace.
fn pids(procs: &Path) -> Vec<u32> {
    let text = std::fs::read_to_string(procs).unwrap_or_default();
    text.lines().filter_map(|line| line.trim().parse().ok()).filter(|pid| *pid != 0).collect()
}

/// The file name of the program in a command line's words.
pub(super) fn program<'a>(words: &[&'a str]) -> &'a str {
    words.first().and_then(|word| word.rsplit('/').next()).unwrap_or_default()
}

/// The value of an option in a command line's words: `-name value`, `-name=value`, or with two dashes, as Go's flag packages take them.
pub(super) fn option<'a>(words: &[&'a str], name: &str) -> Option<&'a str> {
    words.iter().enumerate().skip(1).find_map(|(at, word)| {
        let word = word.strip_prefix("--").or_else(|| word.strip_prefix('-'))?.strip_prefix(name)?;
        if word.is_empty() { words.get(at + 1).copied() } else { word.strip_prefix('=') }
    })
}

/// CPU time of one process so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CpuTime {
    /// Ticks in user and kernel mode, of all its threads and not of its children.
    ticks: u64,
    /// When it started, in ticks since the boot: tells it from another process with the same number.
    started: u64,
}

impl CpuTime {
    /// Reads that of a running process; none when there is no such process.
    #[must_use]
    pub fn read(pid: u32) -> Option<Self> {
        Self::parse(&std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
    }

    /// Reads the text of `/proc/<pid>/stat`.
    #[must_use]
    pub fn parse(stat: &str) -> Option<Self> {
        let user = field(stat, 14)?;
        Some(Self { ticks: user.checked_add(field(stat, 15)?)?, started: field(stat, 22)? })
    }

    /// Seconds since the process began.
    #[must_use]
    pub fn seconds(self) -> f64 {
        self.ticks as f64 * tick_seconds()
    }

    /// Seconds since an earlier reading of the same process; none when it is another one.
    #[must_use]
    pub fn seconds_since(self, earlier: Self) -> Option<f64> {
        let ticks = self.ticks.checked_sub(earlier.ticks).filter(|_| self.started == earlier.started)?;
        Some(ticks as f64 / rustix::param::clock_ticks_per_second() as f64)
    }
}

/// What a process is to those beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Role {
    pid: u64,
    parent: u64,
    threads: u64,
    /// Whether its first thread used any CPU time worth a tick.
    has_worked: bool,
}

impl Role {
    fn parse(stat: &str) -> Option<Self> {
        let pid = stat.split_ascii_whitespace().next()?.parse().ok()?;
        Some(Self { pid, parent: field(stat, 4)?, threads: field(stat, 20)?, has_worked: CpuTime::parse(stat)?.ticks > 0 })
    }
}

/// How many of a group's processes only wait for others, for `procs` its list of them: a shell around a command, and the first
/// thread of a tool that made others to do the work, such as wrk and sysbench. Each counts by its first thread, which used no CPU
/// time worth a tick until now. Of more than `most` processes only the first ones are looked at.
#[must_use]
pub fn waiting(procs: &Path, most: usize) -> u64 {
    let first_thread = |pid: u32| Role::parse(&std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/stat")).ok()?);
    count_waiting(&pids(procs).into_iter().take(most).filter_map(first_thread).collect::<Vec<_>>())
}

fn count_waiting(roles: &[Role]) -> u64 {
    let is_parent = |pid: u64| roles.iter().any(|other| other.parent == pid);
    let waits = |role: &&Role| !role.has_worked && (role.threads > 1 || is_parent(role.pid));
    roles.iter().filter(waits).count() as u64
}

/// The process's parent, by the text of `/proc/<pid>/stat`.
pub(super) fn parent(stat: &str) -> Option<u32> {
    field(stat, 4)?.try_into().ok()
}

/// A number behind the process's name, which stands in parentheses and may hold blanks and parentheses itself; fields are counted
/// as in proc_pid_stat(5).
fn field(stat: &str, number: usize) -> Option<u64> {
    let (_, after) = stat.rsplit_once(')')?;
    after.split_ascii_whitespace().nth(number.checked_sub(3)?)?.parse().ok()
}

/// Seconds of one tick, in which the kernel tells the CPU time of processes: 0.01 nearly everywhere.
#[must_use]
pub fn tick_seconds() -> f64 {
    1.0 / rustix::param::clock_ticks_per_second() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROXY: &str = "26716 (docker-proxy) S 1428 1427 1427 0 -1 4194304 271 0 1 0 17 4 9 9 20 0 7 0 110052 1184247808 770 18446744073709551615 4202496 5014413 140736500599472 0 0 0 0 0 2143420159 0 0 0 17 0 0 0 0 0 0 5864944";

    #[test]
    fn cpu_time_stands_behind_the_name() {
        for (text, found) in [
            (PROXY.to_owned(), Some((21, 110_052))),
            (PROXY.replace("docker-proxy", "a) S 1 2 (b"), Some((21, 110_052))),
            (PROXY.replace("docker-proxy", ""), Some((21, 110_052))),
            (PROXY.replace(" 17 4 ", " x 4 "), None),
            (PROXY.replace(" 17 4 ", " 18446744073709551615 4 "), None),
            (PROXY[..60].to_owned(), None),
            ("26716 docker-proxy".to_owned(), None),
            (String::new(), None),
        ] {
            assert_eq!(CpuTime::parse(&text).map(|cpu| (cpu.ticks, cpu.started)), found, "{text}");
        }
        assert_eq!((parent(PROXY), parent("26716 (docker-proxy) S")), (Some(1428), None));
    }

    #[test]
    fn a_number_that_came_back_is_another_process() {
        let (earlier, hertz) = (CpuTime { ticks: 5, started: 7 }, rustix::param::clock_ticks_per_second());
        assert_eq!(CpuTime { ticks: 5 + 3 * hertz, started: 7 }.seconds_since(earlier), Some(3.0));
        assert_eq!(earlier.seconds_since(earlier), Some(0.0));
        assert_eq!(CpuTime { ticks: 9, started: 8 }.seconds_since(earlier), None);
        assert_eq!(CpuTime { ticks: 4, started: 7 }.seconds_since(earlier), None);
    }

    #[test]
    fn who_only_waits_is_no_worker() {
        let role = |pid, parent, threads, has_worked| Role { pid, parent, threads, has_worked };
        for (roles, waiting) in [
            (vec![role(5, 1, 1, true)], 0),                        // ab
            (vec![role(5, 1, 1, false)], 0),                       // something that waits for the network
            (vec![role(5, 1, 2, false)], 1),                       // wrk -t1
            (vec![role(5, 1, 2, true)], 0),                        // a tool whose first thread works, too
            (vec![role(5, 1, 1, false), role(6, 5, 3, false)], 2), // sh -c wrk -t2
            (vec![role(5, 1, 1, false), role(6, 1, 1, false)], 0), // two that wait for the disk
            (vec![], 0),
        ] {
            assert_eq!(count_waiting(&roles), waiting, "{roles:?}");
        }
        assert_eq!(Role::parse(PROXY), Some(role(26_716, 1428, 7, true)));
        assert_eq!(Role::parse(&PROXY.replace(" 17 4 ", " 0 0 ")), Some(role(26_716, 1428, 7, false)));
        assert_eq!((Role::parse(""), waiting(Path::new("/proc/none"), 9)), (None, 0));
    }

    #[test]
    fn a_groups_first_process_is_that_of_any_hierarchy() {
        let root = tempfile::tempdir().expect("folder");
        let line = |controller: &str| format!("30 29 0:26 / {}/{controller} rw - cgroup cgroup rw,{controller}\n", root.path().display());
        let layout = CgroupLayout::from_mountinfo(&["cpu", "memory", "pids"].map(line).concat());
        for (folder, procs) in [("cpu/g", ""), ("memory/g", "0\n12\n13\n"), ("memory/g/below", "11\n")] {
            std::fs::create_dir_all(root.path().join(folder)).expect("group");
            std::fs::write(root.path().join(folder).join("cgroup.procs"), procs).expect("procs");
        }
        assert_eq!((first_pid(&layout, "/g"), first_pid(&layout, "h")), (Some(12), None));
    }

    #[test]
    fn we_are_among_all_processes_and_have_a_cpu_time() {
        let own = std::process::id();
        assert!(all().contains(&own));
        let first = CpuTime::read(own).expect("our own");
        assert!(CpuTime::read(own).expect("our own").seconds_since(first).is_some_and(|seconds| seconds >= 0.0));
        assert_eq!(CpuTime::read(u32::MAX), None);
    }
}
