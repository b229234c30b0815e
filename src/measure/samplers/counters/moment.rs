//! The values of one moment.

/// What the counters of a trial were at one moment.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Moment {}

impl Moment {
    /// Tells that a unit was once seen with so many tasks, for example by a sampler.
    pub fn saw_tasks(&mut self, unit: &str, tasks: u64) {
        let _ = (unit, tasks);
    }

    /// Tells how many periods of its quota a unit had in the window, and in how many it was throttled: of a group that is gone at the
    /// last mark, only who watched it knows (`window::Readings::quota`).
    pub fn saw_quota(&mut self, unit: &str, periods: u64, throttled: u64) {
        let _ = (unit, periods, throttled);
    }
}
