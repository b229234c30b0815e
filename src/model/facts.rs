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

impl EngineFacts {
    /// In what this engine is another one than `other`, of the same kind, in words; empty when measurements on both may be joined.
    #[must_use]
    pub fn differences(&self, other: &Self) -> Vec<String> {
        let texts = [
            ("version", &other.version, &self.version),
            ("storage driver", &other.storage_driver, &self.storage_driver),
            ("runtime", &other.runtime, &self.runtime),
        ];
        let mut found: Vec<String> = texts
            .iter()
            .filter(|(_, old, new)| old != new)
            .map(|(what, old, new)| format!("{} {what}: {old} -> {new}", self.kind))
            .collect();
        // One daemon of this host may have several sockets; behind another address of another host is another machine.
        if self.endpoint != other.endpoint && (self.is_remote() || other.is_remote()) {
            found.push(format!("{} at: {} -> {}", self.kind, other.endpoint, self.endpoint));
        }
        found
    }

    /// Whether it may be on another machine than this one; only a socket file says that it is not.
    #[must_use]
    pub fn is_remote(&self) -> bool {
        self.endpoint.contains("://") && !self.endpoint.starts_with("unix://")
    }
}

/// In what `new` engines differ from `old` ones of the same kinds, in words. Engines with one address are compared with each
/// other; where no address is the same, the first of each kind are.
#[must_use]
pub fn engine_differences(new: &[EngineFacts], old: &[EngineFacts]) -> Vec<String> {
    let mut found = Vec::new();
    let same = |a: &EngineFacts, b: &EngineFacts| a.kind == b.kind && a.endpoint == b.endpoint;
    for (index, engine) in old.iter().enumerate() {
        let counterpart = match new.iter().find(|other| same(other, engine)) {
            Some(counterpart) => Some(counterpart),
            None if old[..index].iter().any(|earlier| earlier.kind == engine.kind) => None,
            None if old.iter().any(|own| own.kind == engine.kind && new.iter().any(|other| same(other, own))) => None,
            None => new.iter().find(|other| other.kind == engine.kind),
        };
        for difference in counterpart.map(|counterpart| counterpart.differences(engine)).unwrap_or_default() {
            if !found.contains(&difference) {
                found.push(difference);
            }
        }
    }
    found
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

    #[test]
    fn engines_differ_by_what_runs_containers() {
        let local = EngineFacts {
            kind: "docker".into(),
            endpoint: "unix:///var/run/docker.sock".into(),
            version: "28".into(),
            storage_driver: "overlay2".into(),
            runtime: "runc 1".into(),
            ..EngineFacts::default()
        };
        let native = EngineFacts { kind: "native".into(), ..EngineFacts::default() };
        let at = |endpoint: &str, version: &str| EngineFacts { endpoint: endpoint.into(), version: version.into(), ..local.clone() };
        let (here, far, farther) = ([local.clone()], at("tcp://a:2375", "28"), at("tcp://b:2375", "28"));
        let table: [(Vec<EngineFacts>, Vec<EngineFacts>, Vec<&str>); 9] = [
            (here.to_vec(), here.to_vec(), vec![]),
            (vec![at("unix:///run/docker.sock", "28")], here.to_vec(), vec![]),
            (vec![EngineFacts { found_by: "DOCKER_HOST".into(), api: "1.50".into(), ..local.clone() }], here.to_vec(), vec![]),
            (vec![at(&local.endpoint, "29")], here.to_vec(), vec!["docker version: 28 -> 29"]),
            (
                vec![EngineFacts { storage_driver: "vfs".into(), runtime: "runc 2".into(), ..local.clone() }],
                here.to_vec(),
                vec!["docker storage driver: overlay2 -> vfs", "docker runtime: runc 1 -> runc 2"],
            ),
            (vec![far.clone()], here.to_vec(), vec!["docker at: unix:///var/run/docker.sock -> tcp://a:2375"]),
            // Nothing is said about kinds, and engines of several, that one side did not use.
            (vec![native.clone()], here.to_vec(), vec![]),
            (vec![far.clone()], vec![farther.clone(), far.clone()], vec![]),
            (vec![far.clone(), at("tcp://b:2375", "29")], vec![far, farther], vec!["docker version: 28 -> 29"]),
        ];
        for (index, (new, old, expected)) in table.into_iter().enumerate() {
            assert_eq!(engine_differences(&new, &old), expected, "{index}");
        }
    }
}
