//! Looks at the spread between blocks, where their number is adaptive: the record is read and judged as a report would.

use super::show::Show;
use super::talk;
use crate::analyse::half_width;
use crate::execute::{Observer, Progress};
use crate::model::event::{Enough, Event, Looked};
use crate::model::experiment::Adaptive;
use crate::record::{self, RecordError, Store};
use std::time::Instant;

/// Shows what happens, and looks when it is time.
pub struct Looks<'s> {
    show: Show,
    store: &'s Store,
    experiment: &'s str,
    adaptive: Option<Adaptive>,
    began: Instant,
    /// At how many blocks it was looked last.
    last: u32,
}

impl<'s> Looks<'s> {
    /// Without `adaptive` it never looks.
    pub fn new(show: Show, store: &'s Store, experiment: &'s str, adaptive: Option<Adaptive>) -> Self {
        Self { show, store, experiment, adaptive, began: Instant::now(), last: 0 }
    }

    /// The blocks that every variant has, and half the width of a ratio's interval as a fraction.
    fn spread(&self) -> Result<Option<(u32, f64)>, RecordError> {
        let results = record::results_without_samples(self.store, self.experiment, record::load(self.store)?)?;
        Ok(half_width(&results).map(|(blocks, half)| (u32::try_from(blocks).unwrap_or(u32::MAX), half.exp_m1())))
    }
}

impl Observer for Looks<'_> {
    fn event(&mut self, event: &Event, progress: &Progress) {
        self.show.event(event, progress);
    }

    fn look(&mut self) -> Option<Looked> {
        let asked = self.adaptive?;
        let spread = self.spread().unwrap_or_else(|error| {
            talk::error(format!("look at the spread so far: {error}"));
            None
        });
        let blocks = spread.map_or(0, |(blocks, _)| blocks);
        let half_width = spread.map(|(_, half)| half);
        let is_over = asked.budget.is_some_and(|budget| self.began.elapsed() >= budget);
        // A failed trial may leave their number as it was.
        let is_time = blocks != self.last && Adaptive::LOOKS.contains(&blocks);
        let last = blocks >= Adaptive::MOST;
        let enough = if is_time && half_width.is_some_and(|half| half <= asked.target) {
            Some(Enough::Narrow)
        } else if last {
            Some(Enough::Last)
        } else {
            is_over.then_some(Enough::Budget)
        };
        if is_time {
            self.last = blocks;
        }
        (is_time || enough.is_some()).then_some(Looked { blocks, half_width, enough })
    }
}
