//! Whether the host is quiet enough to begin.

use super::Counters;
use super::counters::{all_tasks, clock, own_cpu};
use super::group;
use super::held::{Awaited, Buffer, Held};
use super::source::group_cpu::usage_ns;
use super::source::loadavg::Load;
use super::source::pressure::{Waiting, total_us};
use super::source::stat::Stat;
use crate::measure::attest::processes::tick_seconds;
use crate::model::cgroup::CgroupLayout;
use rustix::time::ClockId;
use std::time::Duration;

/// The files of a look.
#[derive(Debug)]
pub(super) struct QuietFiles {
    tasks: Option<Held>,
    stat: Option<Held>,
    cpu: Option<Held>,
    io: Option<Held>,
    load: Option<Held>,
    run: Option<Awaited>,
}

impl QuietFiles {
    pub(super) fn open(layout: &CgroupLayout, run_group: &str) -> Self {
        Self {
            tasks: all_tasks(layout),
            stat: Held::open("/proc/stat"),
            cpu: Held::open("/proc/pressure/cpu"),
            io: Held::open("/proc/pressure/io"),
            load: Held::open("/proc/loadavg"),
            run: group::cpu_usage(layout, run_group).map(Awaited::new),
        }
    }

    fn look(&mut self, buffer: &mut Buffer) -> Look {
        let at = clock(ClockId::Monotonic);
        let tasks_ns = self.tasks.as_ref().and_then(|file| file.read(buffer, usage_ns));
        let run_ns = self.run.as_mut().and_then(|file| file.read(buffer, usage_ns));
        let own = own_cpu();
        Look {
            at,
            tasks_ns,
            stat: self.stat.as_ref().and_then(|file| file.read(buffer, Stat::parse)),
            run_ns,
            own,
            cpu_some_us: self.cpu.as_ref().and_then(|file| file.read(buffer, |text| total_us(text, Waiting::Some))),
            io_full_us: self.io.as_ref().and_then(|file| file.read(buffer, |text| total_us(text, Waiting::Full))),
            runnable: self.load.as_ref().and_then(|file| file.read(buffer, |text| Load::parse(text)?.runnable)),
        }
    }
}

/// A cheap look at the host between trials; two of them tell what happened in between.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Look {
    at: Duration,
    tasks_ns: Option<u64>,
    stat: Option<Stat>,
    /// CPU time of the run's group; none while there is no such group.
    run_ns: Option<u64>,
    own: Duration,
    cpu_some_us: Option<u64>,
    io_full_us: Option<u64>,
    runnable: Option<u32>,
}

impl Look {
    /// Looks now.
    #[must_use]
    pub fn now(counters: &mut Counters) -> Self {
        let (files, buffer) = counters.quiet();
        files.look(buffer)
    }

    /// CPU time since an earlier look of tasks that are neither in the run's group nor ourselves, as a share of all CPUs; none when
    /// it cannot be told.
    #[must_use]
    pub fn foreign_since(&self, earlier: &Self) -> Option<f64> {
        let (before, after) = (earlier.stat.as_ref()?, self.stat.as_ref()?);
        let capacity = self.seconds_since(earlier)? * after.cpus.len() as f64;
        let tasks = match (earlier.tasks_ns, self.tasks_ns) {
            (Some(before), Some(after)) => after.checked_sub(before)? as f64 / 1e9,
            _ => after.all.since(before.all).tasks() as f64 * tick_seconds(),
        };
        let run = match (earlier.run_ns, self.run_ns) {
            (None, None) => 0,
            (before, Some(after)) => after.checked_sub(before.unwrap_or(0))?,
            (Some(_), None) => return None, // what it did at the last is not known
        };
        let own = self.own.checked_sub(earlier.own)?.as_secs_f64();
        Some((tasks - run as f64 / 1e9 - own).max(0.0) / capacity).filter(|share| share.is_finite())
    }

    /// Share of the time since an earlier look in which some task waited for a CPU.
    #[must_use]
    pub fn cpu_pressure_since(&self, earlier: &Self) -> Option<f64> {
        self.share(earlier, |look| look.cpu_some_us)
    }

    /// Share of the time since an earlier look in which all tasks waited for a disk.
    #[must_use]
    pub fn io_pressure_since(&self, earlier: &Self) -> Option<f64> {
        self.share(earlier, |look| look.io_full_us)
    }

    /// Tasks beside this one that wanted to run at the moment of the look, per CPU.
    #[must_use]
    pub fn runnable(&self) -> Option<f64> {
        let cpus = Some(self.stat.as_ref()?.cpus.len()).filter(|cpus| *cpus > 0)?;
        Some(f64::from(self.runnable?.saturating_sub(1)) / cpus as f64)
    }

    fn share(&self, earlier: &Self, waited_us: impl Fn(&Self) -> Option<u64>) -> Option<f64> {
        let waited = waited_us(self)?.checked_sub(waited_us(earlier)?)? as f64 / 1e6;
        Some((waited / self.seconds_since(earlier)?).min(1.0))
    }

    fn seconds_since(&self, earlier: &Self) -> Option<f64> {
        self.at.checked_sub(earlier.at).map(|passed| passed.as_secs_f64()).filter(|seconds| *seconds > 0.0)
    }
}
