//! What belongs to a trial, as it is known before its window opens.

use crate::measure::attest::proxies::Proxy;
use crate::measure::window::EngineProcesses;

/// Whose counters are read in one trial.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Scope {
    /// Its workloads and services.
    pub units: Vec<ScopeUnit>,
    /// The engine's own processes; none when no engine takes part. No pids means that they are not visible from here.
    pub engine: Option<EngineProcesses>,
    /// The docker-proxy processes that serve its ports.
    pub proxies: Vec<Proxy>,
    /// Processes that the experiment names (`observe: {processes: ...}`), by name; their CPU time is not foreign.
    pub processes: Vec<(String, Vec<u32>)>,
    /// A process in the network namespace from which the load comes; none when that is our own.
    pub generator: Option<u32>,
    /// How many ephemeral ports that namespace has, when a sysctl of the workload says so; none takes this host's own, or the kernel's
    /// default for a namespace that is not ours.
    pub generator_ports: Option<u32>,
}

/// One unit of a trial.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ScopeUnit {
    /// Its name.
    pub name: String,
    /// Our group around it, relative to each hierarchy's root: hierarchical, and it outlives the unit. Empty when there is none: then
    /// nobody can tell whose the CPU time is.
    pub cgroup: String,
    /// The group with its own limits, gone with the exit; equal to `cgroup` where that has them. Empty when it is not known.
    pub leaf: String,
    /// Its CPU quota, in CPUs.
    pub quota: Option<f64>,
    /// How many CPUs its cpuset has.
    pub cpuset: Option<u32>,
    /// Whether it is a service; else it is a workload.
    pub is_service: bool,
    /// A process in its network namespace; only asked of services.
    pub pid: Option<u32>,
}

impl Scope {
    /// Whether load goes from a workload to a service: else nothing is read of the network.
    #[must_use]
    pub fn has_service(&self) -> bool {
        self.units.iter().any(|unit| unit.is_service)
    }
}
