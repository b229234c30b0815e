//! What stands around the measured commands of a trial: networks, volumes, services, and how it is told that a service is ready.

use super::spec::UnitSpec;
use core::net::IpAddr;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::time::Duration;

/// A network that is made for each trial and removed with it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct NetworkSpec {
    /// Its name in the manifest.
    pub name: String,
    /// `bridge`, `macvlan` or `ipvlan`.
    pub driver: String,
    /// Options of the driver, sorted by name, such as `parent`.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub driver_opts: Vec<(String, String)>,
    /// Subnet in CIDR form, whose first address is the gateway; none leaves it to the engine.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub subnet: Option<String>,
    /// Whether it has no way out.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub internal: bool,
    /// Whether its containers get IPv6 addresses, too.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub ipv6: bool,
}

/// A named volume.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct VolumeSpec {
    /// Its name in the manifest.
    pub name: String,
    /// In memory, of so many bytes at most, instead of below the engine's data root.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub tmpfs_bytes: Option<u64>,
    /// Whether trials share it (those of a run, on a private engine those of one start); else each gets a fresh one.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub keep: bool,
    /// A folder whose content a fresh volume begins with, relative to the manifest; for volumes of host processes only.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub from: Option<PathBuf>,
}

/// A mount of a unit.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct MountSpec {
    /// Where its content comes from.
    pub source: MountSource,
    /// Absolute path inside.
    pub target: PathBuf,
    /// Whether nothing may be written.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub read_only: bool,
}

/// What is mounted.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MountSource {
    /// A declared volume, by its name.
    Volume(String),
    /// A volume without a name, fresh with the unit.
    Anonymous,
    /// A folder or file of the host; a relative one is relative to the manifest.
    Bind(PathBuf),
    /// Memory, of so many bytes at most when given.
    Tmpfs(Option<u64>),
}

/// A published port.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct PortSpec {
    /// The host's address; none means every one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub host_ip: Option<IpAddr>,
    /// The host's port; none leaves it to the engine.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub host_port: Option<u16>,
    /// The container's port.
    pub port: u16,
    /// `tcp` or `udp`.
    pub protocol: String,
}

/// A long-running part of the stack.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ServiceSpec {
    /// Its name; other containers of its networks know it by that.
    pub name: String,
    /// What runs.
    pub unit: UnitSpec,
    /// What must be there first.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub depends_on: Vec<Dependency>,
    /// How readiness is told; none takes it as ready once it is started.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub ready: Option<ReadySpec>,
    /// Steps once it is ready, before anything is measured.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub prepare: Vec<StepSpec>,
}

impl ServiceSpec {
    /// Every text of it that a template may have made.
    pub fn texts_mut(&mut self) -> Vec<&mut String> {
        let mut all = self.unit.texts_mut();
        all.extend(self.prepare.iter_mut().flat_map(|step| &mut step.command));
        match self.ready.as_mut().map(|ready| &mut ready.probe) {
            Some(Probe::Http(text) | Probe::Tcp(text) | Probe::Log(text)) => all.push(text),
            Some(Probe::Exec(command)) => all.extend(command),
            None => {}
        }
        all
    }
}

/// What a service waits for.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Dependency {
    /// The other service.
    pub service: String,
    /// How far it must be.
    pub condition: Condition,
}

/// How far a service must be, in Compose's words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Condition {
    /// Its process runs.
    ServiceStarted,
    /// It is ready, and its `prepare` steps are done.
    ServiceHealthy,
    /// It ended, with exit code 0.
    ServiceCompletedSuccessfully,
}

/// How it is told that a service is ready.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadySpec {
    /// What is looked at.
    pub probe: Probe,
    /// So many times in a row it must be so: once proves little.
    pub successes: u32,
    /// Pause between two looks: protocol, not identity.
    #[serde(skip)]
    pub interval: Duration,
    /// How long it may take in all: protocol, not identity.
    #[serde(skip)]
    pub timeout: Duration,
}

/// What a probe looks at. Addresses are those seen from the engine's network namespace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Probe {
    /// An HTTP answer with a status below 400 from a URL.
    Http(String),
    /// A connection to `host:port` that is accepted.
    Tcp(String),
    /// A line of the service's output that a regular expression matches; once is enough, for a line stays.
    Log(String),
    /// A command inside the service that ends with 0.
    Exec(Vec<String>),
}

/// A step before the measurement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepSpec {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// Whether it runs as a process of the host (in the engine's network namespace) instead of where it is declared.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub on_host: bool,
    /// How long it may take: protocol, not identity.
    #[serde(skip)]
    pub timeout: Duration,
}
