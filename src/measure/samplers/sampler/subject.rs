//! What can be sampled.

use crate::measure::window::EngineProcesses;

/// Whose counters a sampler notes; each makes columns of [`crate::model::observe::SeriesColumn`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Subject {
    /// A unit by its groups: `cpu`, `memory`, `read`, `written`, `tasks`, and `throttled` where `leaf` has a quota.
    Unit {
        /// Its name.
        name: String,
        /// Our group around it; it may appear later.
        cgroup: String,
        /// The group with its quota; none without a quota.
        leaf: Option<String>,
    },
    /// The engine's own processes: `cpu`.
    Engine(EngineProcesses),
    /// The docker-proxy processes of the trial, together: `cpu`.
    Proxies(Vec<u32>),
    /// Processes of one name, together: `cpu`.
    Processes {
        /// The name.
        name: String,
        /// Which.
        pids: Vec<u32>,
    },
    /// The whole host: `cpu`, `tasks-cpu`, `softirq`, `steal`, `pressure-cpu`, `pressure-io`, `pressure-memory`, `disk-busy`, `read`,
    /// `written`.
    Host,
    /// Shakedown itself: `cpu`.
    Observer,
}
