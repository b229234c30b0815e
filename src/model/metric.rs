//! Measured quantities: names, units, directions and values.

use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// A unit symbol. Values are stored unrounded in base units: seconds, bytes, 1/s.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Unit(Cow<'static, str>);

impl Unit {
    /// Seconds.
    pub const SECOND: Self = Self(Cow::Borrowed("s"));
    /// Bytes.
    pub const BYTE: Self = Self(Cow::Borrowed("B"));
    /// Events per second.
    pub const PER_SECOND: Self = Self(Cow::Borrowed("1/s"));
    /// Bytes per second.
    pub const BYTES_PER_SECOND: Self = Self(Cow::Borrowed("B/s"));
    /// A count or a ratio.
    pub const ONE: Self = Self(Cow::Borrowed("1"));

    /// A unit that the user declared.
    #[must_use]
    pub fn custom(symbol: &str) -> Self {
        Self(Cow::Owned(symbol.to_owned()))
    }

    /// The symbol; `1` for counts and ratios.
    #[must_use]
    pub fn symbol(&self) -> &str {
        &self.0
    }
}

/// Which direction is an improvement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Better {
    /// More is better.
    Higher,
    /// Less is better.
    Lower,
}

/// One measured quantity of one trial, in base units. The value is always finite: what was not measured is absent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Observation {
    /// The metric's name; `workload.metric` where a trial has several workloads.
    pub name: String,
    /// The value.
    pub value: f64,
    /// Its unit.
    pub unit: Unit,
}

impl Observation {
    /// An observation, or none when the value is not finite.
    #[must_use]
    pub fn finite(name: impl Into<String>, value: f64, unit: Unit) -> Option<Self> {
        value.is_finite().then(|| Self { name: name.into(), value, unit })
    }
}

/// What a metric means: one row of the dictionary in METHODOLOGY.md.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MetricInfo {
    /// Tool-neutral name.
    pub name: &'static str,
    /// Unit symbol.
    pub unit: &'static str,
    /// Direction, where one can be said without knowing the question.
    pub better: Option<Better>,
    /// What it is and where it comes from.
    pub about: &'static str,
}

/// The metrics that every workload has without asking, see [`crate::model`].
pub const BUILTIN_METRICS: &[MetricInfo] = &[
    MetricInfo {
        name: "wall",
        unit: "s",
        better: Some(Better::Lower),
        about: "from the engine's own start stamp to its finish stamp of the measured command (native: monotonic clock, from just before exec to the reaped exit)",
    },
    MetricInfo {
        name: "cpu_seconds",
        unit: "s",
        better: Some(Better::Lower),
        about: "CPU time of the workload's cgroup and all below it over the window (v1 cpuacct.usage, v2 cpu.stat usage_usec); holds the engine's own set-up inside the cgroup (runc init)",
    },
    MetricInfo {
        name: "throttled_seconds",
        unit: "s",
        better: Some(Better::Lower),
        about: "time that the CPU quota kept runnable tasks waiting (cpu.stat of the limited cgroup, last reading before its exit); absent when no quota was set or the cgroup was never seen",
    },
    MetricInfo {
        name: "memory_peak",
        unit: "B",
        better: Some(Better::Lower),
        about: "largest memory of the workload's cgroup incl. page cache (v1 memory.max_usage_in_bytes, v2 memory.peak); absent where the kernel has no such file",
    },
];

/// The metrics that a trial as a whole has without asking, whatever it runs.
pub const TRIAL_METRICS: &[MetricInfo] = &[
    MetricInfo {
        name: "docker_proxy_cpu_seconds",
        unit: "s",
        better: Some(Better::Lower),
        about: "CPU time over the window of the docker-proxy processes that serve the published ports of services (/proc/PID/stat, in ticks of 10 ms); 0 when they had nothing to do, absent without any, or when one of them ended meanwhile",
    },
    MetricInfo {
        name: "engine_cpu_seconds",
        unit: "s",
        better: Some(Better::Lower),
        about: "CPU time over the window of a private daemon's own processes: all that are in its cgroup (dockerd, containerd, shims, docker-proxy, fuse-overlayfs); holds the starts of the workloads' containers; of a daemon that runs anyway its dockerd and containerd",
    },
    MetricInfo {
        name: "host_cpu_seconds",
        unit: "s",
        better: None,
        about: "busy time of all CPUs from the start's answer to the last exit (/proc/stat: all but idle, iowait and steal)",
    },
    MetricInfo {
        name: "softirq_cpu_seconds",
        unit: "s",
        better: None,
        about: "busy time of all CPUs, from the start's answer to the last exit, that no task is charged for: interrupts and software interrupts (host_cpu_seconds without the CPU time of all tasks); unless the kernel has IRQ_TIME_ACCOUNTING most of them are charged to whom they interrupted, and only what came upon an idle CPU is left",
    },
    MetricInfo {
        name: "foreign_cpu_seconds",
        unit: "s",
        better: None,
        about: "CPU time, from the start's answer to the last exit, of tasks that are neither of the trial, nor of its engine, nor of shakedown (the check `foreign-cpu`); absent where the units have no group of ours",
    },
    MetricInfo {
        name: "named_cpu_seconds",
        unit: "s",
        better: None,
        about: "CPU time, from the start's answer to the last exit, of the programs that `observe.processes` names, as far as they are neither the engine's nor ended meanwhile; absent where none is named",
    },
    MetricInfo {
        name: "observer_cpu_seconds",
        unit: "s",
        better: None,
        about: "CPU time of shakedown itself from the start's answer to the last exit (CLOCK_PROCESS_CPUTIME_ID)",
    },
];

/// What a parser made of a tool's output.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Parsed {
    /// Whether the tool did its work: many tools exit 0 after total failure.
    pub ok: bool,
    /// Why not, or what to beware of; one sentence each.
    pub problems: Vec<String>,
    /// The metrics, the parser's main one first.
    pub metrics: Vec<Observation>,
}
