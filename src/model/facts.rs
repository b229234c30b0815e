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
