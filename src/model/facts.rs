//! What a host and an engine are: recorded with every run, compared between runs.

use serde::{Deserialize, Serialize};

/// Stable facts of a host. Volatile readings (momentary clock, uptime) are not here.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct HostFacts {
    /// Host name.
    pub name: String,
    /// Kernel release.
    pub kernel: String,
    /// Machine architecture.
    pub arch: String,
    /// CPU model.
    pub cpu_model: String,
    /// Online CPUs.
    pub cpus: u32,
    /// Memory in bytes.
    pub memory_bytes: u64,
    /// `v1`, `v2` or `hybrid`.
    pub cgroup: String,
    /// Operating system's pretty name.
    pub os: String,
    /// Kernel clock source.
    pub clocksource: String,
}

impl HostFacts {
    /// In what this host is another machine than `other`, in words; empty when measurements on both may be joined. Names do not
    /// count: a rebuilt runner has a new one, and two machines may share one.
    #[must_use]
    pub fn differences(&self, other: &Self) -> Vec<String> {
        let texts = [
            ("CPU", &other.cpu_model, &self.cpu_model),
            ("architecture", &other.arch, &self.arch),
            ("kernel", &other.kernel, &self.kernel),
            ("control groups", &other.cgroup, &self.cgroup),
        ];
        let mut found: Vec<String> =
            texts.iter().filter(|(_, old, new)| old != new).map(|(what, old, new)| format!("{what}: {old} -> {new}")).collect();
        if self.cpus != other.cpus {
            found.push(format!("CPUs: {} -> {}", other.cpus, self.cpus));
        }
        // The kernel keeps some memory for itself, and not always the same.
        let (new, old) = (self.memory_bytes as f64, other.memory_bytes as f64);
        if (new - old).abs() > 0.05 * new.max(old) {
            let gibibytes = |bytes: f64| (bytes / f64::from(1 << 30)).round();
            found.push(format!("memory: {} GiB -> {} GiB", gibibytes(old), gibibytes(new)));
        }
        found
    }
}

/// Facts of an engine.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct EngineFacts {
    /// `docker`, `native` or `fake`.
    pub kind: String,
    /// Address it was reached at.
    pub endpoint: String,
    /// How that address was found, such as `DOCKER_HOST`.
    pub found_by: String,
    /// Engine version.
    pub version: String,
    /// API version spoken.
    pub api: String,
    /// Storage driver.
    pub storage_driver: String,
    /// File system under the data root, where the engine tells.
    pub backing_filesystem: String,
    /// Container runtime and its version.
    pub runtime: String,
    /// `cgroupfs` or `systemd`.
    pub cgroup_driver: String,
    /// CPUs that containers may use.
    pub cpus: u32,
    /// Memory in bytes.
    pub memory_bytes: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_differ_by_what_is_stable() {
        let host = HostFacts {
            name: "a".into(),
            kernel: "6.1".into(),
            cpu_model: "X".into(),
            cpus: 2,
            memory_bytes: 25_276_502_016,
            ..HostFacts::default()
        };
        let table = [
            (HostFacts { name: "b".into(), ..host.clone() }, vec![]),
            (HostFacts { memory_bytes: host.memory_bytes - (50 << 20), ..host.clone() }, vec![]),
            (HostFacts { clocksource: "tsc".into(), os: "Debian".into(), ..host.clone() }, vec![]),
            (HostFacts { kernel: "6.2".into(), ..host.clone() }, vec!["kernel: 6.1 -> 6.2"]),
            (HostFacts { cpus: 4, memory_bytes: 8 << 30, ..host.clone() }, vec!["CPUs: 2 -> 4", "memory: 24 GiB -> 8 GiB"]),
        ];
        for (other, expected) in table {
            assert_eq!(other.differences(&host), expected);
        }
    }
}
