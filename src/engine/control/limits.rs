//! Limits as the kernel's control files want them.

use super::{ControlError, put};
use crate::model::cgroup::{CgroupLayout, weight_of_shares};
use crate::model::spec::LimitsSpec;

/// A controller, and the setting for which it must be there; none when it only counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Need {
    pub controller: &'static str,
    pub limit: Option<&'static str>,
}

/// What counts bytes of disks, by its name on version 1.
pub(super) const DISKS: &str = "blkio";

/// The controllers that a group with these limits is made in: those that count always, the others when they limit.
pub(super) fn needed(limits: &LimitsSpec) -> Vec<Need> {
    let cpu = match limits {
        LimitsSpec { cpus: Some(_), .. } => Some("cpus"),
        LimitsSpec { cpu_quota_us: Some(_), .. } => Some("cpu_quota"),
        LimitsSpec { cpu_period_us: Some(_), .. } => Some("cpu_period"),
        LimitsSpec { cpu_shares: Some(_), .. } => Some("cpu_shares"),
        _ => None,
    };
    let mut needs = vec![
        Need { controller: "cpu", limit: cpu },
        Need { controller: "cpuacct", limit: None },
        Need { controller: "memory", limit: limits.memory_bytes.map(|_| "mem_limit") },
        Need { controller: DISKS, limit: None },
    ];
    if limits.cpuset.is_some() {
        needs.push(Need { controller: "cpuset", limit: Some("cpuset") });
    }
    needs.push(Need { controller: "pids", limit: limits.pids.map(|_| "pids_limit") });
    needs
}

/// The files and values that limits come to, in the order of writing: controller, file, value, whether it may be missing.
fn settings(limits: &LimitsSpec, v2: bool) -> Vec<(&'static str, &'static str, String, bool)> {
    let mut list = Vec::new();
    if let Some((quota, period)) = limits.quota() {
        if v2 {
            list.push(("cpu", "cpu.max", format!("{quota} {period}"), false));
        } else {
            list.push(("cpu", "cpu.cfs_period_us", period.to_string(), false));
            list.push(("cpu", "cpu.cfs_quota_us", quota.to_string(), false));
        }
    }
    if let (None, Some(period)) = (limits.quota(), limits.cpu_period_us) {
        let (file, value) = if v2 { ("cpu.max", format!("max {period}")) } else { ("cpu.cfs_period_us", period.to_string()) };
        list.push(("cpu", file, value, false));
    }
    if let Some(shares) = limits.cpu_shares {
        let (file, value) = if v2 { ("cpu.weight", weight_of_shares(shares)) } else { ("cpu.shares", shares) };
        list.push(("cpu", file, value.to_string(), false));
    }
    if let Some(cpus) = &limits.cpuset {
        list.push(("cpuset", "cpuset.cpus", cpus.clone(), false));
    }
    if let Some(bytes) = limits.memory_bytes {
        // Docker allows as much swap as memory; the same here, where the kernel accounts for swap at all.
        if v2 {
            list.push(("memory", "memory.max", bytes.to_string(), false));
            list.push(("memory", "memory.swap.max", bytes.to_string(), true));
        } else {
            list.push(("memory", "memory.limit_in_bytes", bytes.to_string(), false));
            list.push(("memory", "memory.memsw.limit_in_bytes", bytes.saturating_mul(2).to_string(), true));
        }
    }
    if let Some(pids) = limits.pids {
        list.push(("pids", "pids.max", pids.to_string(), false));
    }
    list
}

/// Writes the limits into a group that exists.
pub(super) fn write(layout: &CgroupLayout, path: &str, limits: &LimitsSpec) -> Result<(), ControlError> {
    for (controller, file, value, optional) in settings(limits, layout.is_v2()) {
        let Some(folder) = layout.dir(controller, path) else { continue };
        let target = folder.join(file);
        if !optional || target.exists() {
            put(&target, &value)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_become_files_and_values() {
        let limits = LimitsSpec {
            cpus: Some(0.5),
            cpu_shares: Some(512),
            cpuset: Some("0".into()),
            memory_bytes: Some(64 << 20),
            pids: Some(100),
            ..LimitsSpec::default()
        };
        let flat =
            |v2| settings(&limits, v2).into_iter().map(|(_, file, value, _)| format!("{file}={value}")).collect::<Vec<_>>().join(" ");
        assert_eq!(
            flat(false),
            "cpu.cfs_period_us=100000 cpu.cfs_quota_us=50000 cpu.shares=512 cpuset.cpus=0 memory.limit_in_bytes=67108864 \
             memory.memsw.limit_in_bytes=134217728 pids.max=100"
        );
        assert_eq!(
            flat(true),
            "cpu.max=50000 100000 cpu.weight=59 cpuset.cpus=0 memory.max=67108864 memory.swap.max=67108864 pids.max=100"
        );
        assert_eq!(settings(&LimitsSpec::default(), true), Vec::new());
    }

    #[test]
    fn only_a_limit_asks_for_cpuset() {
        let names = |limits: &LimitsSpec| needed(limits).iter().map(|need| need.controller).collect::<Vec<_>>();
        assert_eq!(names(&LimitsSpec::default()), ["cpu", "cpuacct", "memory", "blkio", "pids"]);
        let limits = LimitsSpec { cpuset: Some("0".into()), pids: Some(5), ..LimitsSpec::default() };
        assert_eq!(names(&limits), ["cpu", "cpuacct", "memory", "blkio", "cpuset", "pids"]);
    }
}
