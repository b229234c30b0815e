//! How far a run is, and how long it will take.

use super::{Job, Scheduled};
use crate::model::event::TrialRow;
use crate::model::outcome::Outcome;
use std::time::Duration;

/// How far a run is.
#[derive(Debug, Clone, Default)]
pub struct Progress {
    /// Trials of this run.
    pub total: usize,
    /// Trials that ended, failed ones included.
    pub done: usize,
    /// Trials that failed.
    pub failed: usize,
    /// The trial that runs: its id and its variant's.
    pub current: Option<(String, String)>,
    /// Time left, once there is something to go by.
    pub left: Option<Duration>,
    /// Variant of each trial, in order.
    order: Vec<usize>,
    /// Seconds and count of ended trials by variant.
    seen: Vec<(f64, u32)>,
    /// Seconds from earlier runs by variant.
    known: Vec<Option<f64>>,
    names: Vec<String>,
    /// Seconds that engines took to start, with their primers.
    starts: f64,
}

impl Progress {
    pub(super) fn new(job: &Job) -> Self {
        let mut progress = Self {
            total: job.trials.len(),
            order: job.trials.iter().map(|t| t.variant).collect(),
            seen: vec![(0.0, 0); job.variants.len()],
            known: job.variants.iter().map(|v| v.seconds).collect(),
            names: job.variants.iter().map(|v| v.id.clone()).collect(),
            ..Self::default()
        };
        progress.left = progress.estimate();
        progress
    }

    pub(super) fn begin(&mut self, scheduled: &Scheduled) {
        self.current = Some((scheduled.id.clone(), self.names[scheduled.variant].clone()));
    }

    /// An engine was started and primed in so many seconds.
    pub(super) fn started(&mut self, seconds: f64) {
        self.starts += seconds;
    }

    pub(super) fn finish(&mut self, scheduled: &Scheduled, row: &TrialRow) {
        self.done += 1;
        self.failed += usize::from(row.outcome == Outcome::Failed);
        let (sum, count) = &mut self.seen[scheduled.variant];
        *sum += row.seconds;
        *count += 1;
        self.left = self.estimate();
    }

    /// Each remaining trial as its variant took so far, else as in earlier runs, else as the average of what was seen; and the starts
    /// of engines as often as so far.
    fn estimate(&self) -> Option<Duration> {
        let own = |variant: usize| match self.seen[variant] {
            (sum, count) if count > 0 => Some(sum / f64::from(count)),
            _ => self.known[variant],
        };
        let all: Vec<f64> = (0..self.seen.len()).filter_map(own).collect();
        let average = if all.is_empty() { return None } else { all.iter().sum::<f64>() / all.len() as f64 };
        let remaining = &self.order[self.done.min(self.order.len())..];
        let seconds: f64 = remaining.iter().map(|v| own(*v).unwrap_or(average)).sum();
        let starts = self.starts / self.done.max(1) as f64 * remaining.len() as f64;
        Duration::try_from_secs_f64(seconds + starts).ok()
    }
}
