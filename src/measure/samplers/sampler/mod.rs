//! The sampler of one trial: a thread that notes counters at an interval.

mod subject;

pub use subject::Subject;

use crate::model::cgroup::CgroupLayout;
use crate::model::observe::Series;
use std::time::Duration;

/// What a sampler saw.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Sampled {
    /// The samples; the first at the sampler's start, the last when it was finished.
    pub series: Series,
    /// Share of the samples that came later than half an interval (the check `late-samples`); none before the first one was due.
    pub late: Option<f64>,
    /// CPU time of the thread.
    pub cpu_seconds: f64,
}

/// A thread that samples until it is finished. When it is dropped unfinished, its thread is told to stop and not waited for.
#[derive(Debug)]
pub struct Sampler {}

impl Sampler {
    /// Starts it in the phase `start`; none when the host gives no thread.
    #[must_use]
    pub fn start(layout: &CgroupLayout, interval: Duration, subjects: Vec<Subject>) -> Option<Self> {
        let _ = (layout, interval, subjects);
        None
    }

    /// Tells the phase of the samples from now on, one of [`crate::model::observe::PHASES`].
    pub fn phase(&self, name: &str) {
        let _ = name;
    }

    /// Adds what became known later; its values are absent until then.
    pub fn add(&self, subject: Subject) {
        let _ = subject;
    }

    /// Takes a last sample and ends.
    #[must_use]
    pub fn finish(self) -> Sampled {
        Sampled::default()
    }
}
