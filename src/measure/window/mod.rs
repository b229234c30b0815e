//! The measured window: the kernel's counters of each unit's cgroup at both ends, and what has to be seen in between.
//!
//! CPU time and the memory peak are read from the cgroup around the unit, which is ours and outlives it. The quota's throttling
//! counts in the limited cgroup only, which an engine removes at the exit: a thread re-reads one open file every 50 ms, and the
//! last reading counts; so up to the last 50 ms of throttling are not seen. Limits are read back as soon as that cgroup is there,
//! and mounts and network namespace as soon as its first process is the unit's own, which the same thread looks for every 5 ms.
//! Without a quota it ends with that; without anything asked for, or when the limited cgroup is our own, nothing runs in the window.

mod counters;
mod engine_cpu;
mod inside;
mod watch;

pub use engine_cpu::{EngineProcesses, Helpers};
pub use inside::Expected;

use crate::measure::attest::proxies::ProxyCpu;
use crate::model::cgroup::CgroupLayout;
use crate::model::event::Attested;
use crate::model::metric::{Observation, Unit};
use crate::model::spec::LimitsSpec;
use watch::{Leaf, Watch};

/// A unit whose counters are wanted.
#[derive(Debug, Clone, PartialEq)]
pub struct Watched {
    /// Its name.
    pub unit: String,
    /// The cgroup around it, relative to each hierarchy's root.
    pub cgroup: String,
    /// The cgroup with its own limits; equal to `cgroup` where that one has them, or where no group of ours is around it.
    pub leaf: String,
    /// What was asked for it.
    pub limits: LimitsSpec,
    /// What must be seen of it from within; none looks at nothing.
    pub inside: Option<Expected>,
}

/// What the kernel says of one unit.
#[derive(Debug, Clone, PartialEq)]
pub struct Readings {
    /// The unit.
    pub unit: String,
    /// `cpu_seconds`, `throttled_seconds` (with a quota only) and `memory_peak`; what could not be read is absent.
    pub observations: Vec<Observation>,
    /// Periods of its quota in the window, and in how many of them it was throttled; none without a quota, or when its limited group
    /// was never seen.
    pub quota: Option<(u64, u64)>,
    /// What was asked for, as it was last seen: limits, then mounts and network.
    pub attested: Vec<Attested>,
}

/// A closed window.
#[derive(Debug, Clone, PartialEq)]
pub struct Closed {
    /// One per unit, in the order given.
    pub units: Vec<Readings>,
    /// Those of the trial as a whole: `docker_proxy_cpu_seconds`, `engine_cpu_seconds`; what could not be read is absent.
    pub observations: Vec<Observation>,
    /// CPU time of each docker-proxy, in the order given.
    pub proxies: Vec<ProxyCpu>,
    /// CPU seconds that our watching took in the window; 0 when there was nothing to watch.
    pub watch_cpu_seconds: f64,
}

/// An open window. When it is dropped unclosed, its thread is told to stop and not waited for.
#[derive(Debug)]
pub struct Window {
    layout: CgroupLayout,
    cpu_ns: Vec<Option<u64>>,
    helpers: engine_cpu::Begun,
    watch: Result<Watch, Vec<Leaf>>,
}

impl Window {
    /// Opens a window: right before the units are started.
    #[must_use]
    pub fn open(layout: &CgroupLayout, units: Vec<Watched>, helpers: Helpers) -> Self {
        let cpu_ns = units.iter().map(|unit| counters::cpu_ns(layout, &unit.cgroup)).collect();
        let mut leaves: Vec<Leaf> = units.into_iter().map(Leaf::new).collect();
        leaves.iter_mut().for_each(|leaf| leaf.first_look(layout));
        let helpers = engine_cpu::Begun::read(layout, helpers);
        Self { layout: layout.clone(), cpu_ns, helpers, watch: watch::start(layout, leaves) }
    }

    /// Closes it: right after the last unit's exit, and before any is removed.
    #[must_use]
    pub fn close(self) -> Closed {
        let (mut leaves, watch_cpu_seconds) = match self.watch {
            Ok(watch) => watch.finish().unwrap_or_default(),
            Err(leaves) => (leaves, 0.0),
        };
        let (observations, proxies) = self.helpers.end(&self.layout);
        leaves.iter_mut().for_each(|leaf| leaf.look(&self.layout));
        let namespaces: Vec<(String, u64)> = leaves.iter().filter_map(Leaf::namespace).collect();
        let readings = |(leaf, before)| readings(&self.layout, leaf, before, &namespaces);
        let units = leaves.into_iter().zip(self.cpu_ns).map(readings).collect();
        Closed { units, observations, proxies, watch_cpu_seconds }
    }
}

fn readings(layout: &CgroupLayout, leaf: Leaf, before: Option<u64>, namespaces: &[(String, u64)]) -> Readings {
    let quota = leaf.quota();
    let (watched, attested) = leaf.into_parts(namespaces);
    // A group that did not exist before has counted nothing before. Nothing runs in no time at all: a group that counted nothing
    // was not the unit's, as that of a daemon whose socket file only forwards to another machine.
    let cpu = counters::cpu_ns(layout, &watched.cgroup).and_then(|after| after.checked_sub(before.unwrap_or(0)).filter(|ns| *ns > 0));
    let peak = counters::memory_peak(layout, &watched.cgroup);
    let observations = [
        cpu.map(|ns| ("cpu_seconds", ns as f64 / 1e9, Unit::SECOND)),
        quota.map(|quota| ("throttled_seconds", quota.throttled_ns as f64 / 1e9, Unit::SECOND)),
        peak.map(|bytes| ("memory_peak", bytes as f64, Unit::BYTE)),
    ];
    let observations =
        observations.into_iter().flatten().filter_map(|(name, value, unit)| Observation::finite(name, value, unit)).collect();
    let quota = quota.map(|quota| (quota.periods, quota.throttled));
    Readings { unit: watched.unit, observations, quota, attested }
}
