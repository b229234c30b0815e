//! When samples are due, and how many came late. Pure.

use std::time::Duration;

/// All times are since the sampler's beginning, at which nothing is due yet.
#[derive(Debug)]
pub(super) struct Pace {
    interval: Duration,
    next: Duration,
    due: u64,
    late: u64,
}

impl Pace {
    /// An interval of nothing would never wait.
    pub(super) fn new(interval: Duration) -> Self {
        let interval = interval.max(Duration::from_millis(1));
        Self { interval, next: interval, due: 0, late: 0 }
    }

    /// How long until the next sample is due.
    pub(super) fn until(&self, now: Duration) -> Duration {
        self.next.saturating_sub(now)
    }

    /// A sample came. Those that were due meanwhile as well never will: they are late for ever.
    pub(super) fn came(&mut self, now: Duration) {
        let behind = now.saturating_sub(self.next);
        let missed = behind.as_nanos() / self.interval.as_nanos();
        let missed = u32::try_from(missed).unwrap_or(u32::MAX - 1);
        self.due += u64::from(missed) + 1;
        self.late += u64::from(missed) + u64::from(missed == 0 && behind > self.interval / 2);
        self.next += self.interval.saturating_mul(missed + 1);
    }

    /// From now on half as many.
    pub(super) fn slow_down(&mut self) {
        self.next += self.interval;
        self.interval *= 2;
    }

    /// Share of the samples that came later than half an interval; none when none was due.
    pub(super) fn late(&self) -> Option<f64> {
        (self.due > 0).then(|| self.late as f64 / self.due as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn a_sample_is_late_after_half_an_interval() {
        let mut pace = Pace::new(ms(100));
        assert_eq!((pace.until(ms(30)), pace.until(ms(300)), pace.late()), (ms(70), ms(0), None));
        pace.came(ms(101));
        assert_eq!((pace.until(ms(101)), pace.late()), (ms(99), Some(0.0)));
        pace.came(ms(251));
        assert_eq!((pace.until(ms(251)), pace.late()), (ms(49), Some(0.5)));
    }

    #[test]
    fn samples_that_never_came_are_late() {
        let mut pace = Pace::new(ms(100));
        pace.came(ms(310));
        assert_eq!((pace.until(ms(310)), pace.late()), (ms(90), Some(2.0 / 3.0)));
    }

    #[test]
    fn half_as_many() {
        let mut pace = Pace::new(ms(100));
        pace.came(ms(100));
        pace.slow_down();
        assert_eq!(pace.until(ms(100)), ms(200));
        pace.came(ms(390));
        assert_eq!((pace.until(ms(390)), pace.late()), (ms(110), Some(0.0)));
        assert_eq!(Pace::new(ms(0)).until(ms(0)), ms(1));
    }
}
