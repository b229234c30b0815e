//! Whether the host is quiet enough to begin.

use super::Counters;

/// A cheap look at the host between trials; two of them tell what happened in between.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Look {}

impl Look {
    /// Looks now.
    #[must_use]
    pub fn now(counters: &mut Counters) -> Self {
        let _ = counters;
        Self {}
    }

    /// CPU time since an earlier look of tasks that are neither in the run's group nor ourselves, as a share of all CPUs; none when
    /// it cannot be told.
    #[must_use]
    pub fn foreign_since(&self, earlier: &Self) -> Option<f64> {
        let _ = earlier;
        None
    }

    /// Share of the time since an earlier look in which some task waited for a CPU.
    #[must_use]
    pub fn cpu_pressure_since(&self, earlier: &Self) -> Option<f64> {
        let _ = earlier;
        None
    }

    /// Share of the time since an earlier look in which all tasks waited for a disk.
    #[must_use]
    pub fn io_pressure_since(&self, earlier: &Self) -> Option<f64> {
        let _ = earlier;
        None
    }

    /// Tasks beside this one that wanted to run at the moment of the look, per CPU.
    #[must_use]
    pub fn runnable(&self) -> Option<f64> {
        None
    }
}
