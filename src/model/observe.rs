//! What is observed while a trial runs, and what was: the time series of one trial.

use serde::{Deserialize, Serialize};
use std::time::Duration;

/// What an experiment wants observed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Observe {
    /// Time between two samples of a trial's series; none takes no samples.
    pub interval: Option<Duration>,
    /// Programs, by the kernel's name, whose CPU time is told apart; it is not foreign.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub processes: Vec<String>,
    /// How long a trial waits for the host to become quiet; none does not look.
    pub idle_gate: Option<Duration>,
}

impl Default for Observe {
    fn default() -> Self {
        Self { interval: Some(Duration::from_secs(1)), processes: Vec::new(), idle_gate: Some(Duration::from_secs(60)) }
    }
}

/// The samples of one trial: counters since its beginning. A sample never counts as an observation.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Series {
    /// What was sampled.
    pub columns: Vec<SeriesColumn>,
    /// When, in seconds since the trial's beginning, in which phase, and what: one value per column, none where it could not be read.
    pub samples: Vec<Sample>,
}

/// One quantity of a series.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeriesColumn {
    /// Whose: a unit's name, `docker-proxy`, `engine`, `host`, `observer` or the name of a process.
    pub subject: String,
    /// What: `cpu`, `throttled`, `memory`, `read`, `written`, `tasks`; of the host also `tasks-cpu`, `softirq`, `steal`, `pressure-cpu`,
    /// `pressure-io`, `pressure-memory`, `disk-busy`.
    pub quantity: String,
    /// `s` and `B` of what grows; `memory` and `tasks` are momentary.
    pub unit: String,
}

/// The values of one moment.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    /// Seconds since the trial's beginning.
    pub time: f64,
    /// The phase, as in [`PHASES`].
    pub phase: String,
    /// One value per column.
    pub values: Vec<Option<f64>>,
}

/// The phases of a series, in their order: services come up, what runs before the measurement, the measured window, and what follows it.
pub const PHASES: [&str; 4] = ["start", "warm-up", "window", "drain"];

/// Where a trial's series is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeriesRecord {
    /// The file, relative to the run's folder.
    pub file: String,
    /// How many samples it holds.
    pub samples: u32,
}
