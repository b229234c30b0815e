//! The idle gate: a trial begins when the host is quiet, or after a while that it was given for that.
//!
//! Where the windows of the last trials were quiet, or the last look was not long ago, nothing is waited for. Else the run looks again
//! while it does nothing itself: what an engine burns to make and remove containers is nobody's that the counters know.

use super::Shared;
use crate::measure::samplers::Look;
use crate::model::hygiene::{Reading, find};
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// The check that the gate makes.
pub(super) const CHECK: &str = "idle-gate";

/// The time that must have been quiet; for so long a look holds.
const LONG: Duration = Duration::from_secs(3);
/// Windows of at least this length together tell as much.
const WINDOWS: Duration = Duration::from_secs(1);
/// A look of this length is enough when it is clearly quiet: below a third of the threshold.
const SHORT: Duration = Duration::from_millis(250);
/// A look that is older than this says nothing of now.
const OLD: Duration = Duration::from_secs(30);
/// Share of the time in which all tasks waited for a disk, above which a host is not quiet.
const MOST_IO_PRESSURE: f64 = 0.01;

/// What the gate knows of the host; one per run.
#[derive(Debug, Default)]
pub(super) struct Gate {
    looks: VecDeque<(Instant, Look)>,
    /// When the last look passed a trial, and with which share.
    passed: Option<(Instant, f64)>,
    /// The windows of the last trials: when they ended, how long they were, and their share of foreign CPU.
    windows: VecDeque<(Instant, Duration, f64)>,
    /// Whether the last trial began though the host was not quiet: the next one is not given that long again.
    gave_up: bool,
}

/// What a pair of looks says.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Quiet {
    /// It is, with this share of foreign CPU.
    Yes(f64),
    /// It is not, or not for long enough yet.
    No(f64),
    /// Nobody can tell here.
    Unknown,
}

impl Gate {
    /// Notes a look, and forgets those that are old.
    fn note(&mut self, now: Instant, look: Look) {
        while self.looks.front().is_some_and(|(at, _)| now.saturating_duration_since(*at) > OLD) {
            self.looks.pop_front();
        }
        self.looks.push_back((now, look));
    }

    /// Notes what a trial's own readings say of its window, in which no engine works for us.
    pub(super) fn saw(&mut self, now: Instant, length: Duration, readings: &[Reading]) {
        let foreign = readings.iter().find(|reading| reading.check == "foreign-cpu").and_then(|reading| reading.value);
        self.windows.extend(foreign.map(|share| (now, length, share)));
    }

    /// The share of foreign CPU that is known without a look: of the last windows, or of a look not long ago.
    fn known(&mut self, now: Instant, limit: f64) -> Option<f64> {
        let ago = |at: Instant| now.saturating_duration_since(at);
        self.windows.retain(|(at, ..)| ago(*at) <= OLD);
        let (mut length, mut foreign) = (Duration::ZERO, 0.0);
        for (_, window, share) in self.windows.iter().rev() {
            (length, foreign) = (length + *window, foreign + window.as_secs_f64() * share);
            if length >= LONG {
                break;
            }
        }
        let of_windows = (length >= WINDOWS).then(|| foreign / length.as_secs_f64());
        let of_look = self.passed.filter(|(at, _)| ago(*at) < LONG).map(|(_, share)| share);
        of_windows.or(of_look).filter(|share| *share <= limit)
    }

    /// What the host was like until `now`, the last look: over three seconds at least, or for a moment since `idle_since`, when the
    /// run began to do nothing.
    fn judge(&self, now: Instant, idle_since: Instant, limit: f64) -> Quiet {
        let Some((_, last)) = self.looks.back() else { return Quiet::Unknown };
        let ago = |at: &Instant| now.saturating_duration_since(*at);
        let long = self.looks.iter().rev().find(|(at, _)| ago(at) >= LONG);
        let fresh = self.looks.iter().find(|(at, _)| *at >= idle_since && ago(at) >= SHORT);
        let pair = |(at, earlier): &(Instant, Look)| {
            let share = last.foreign_since(earlier)?;
            let idle = *at >= idle_since;
            // What the run itself did to the disk is no reason to wait.
            let waits = idle && last.io_pressure_since(earlier).is_some_and(|share| share > MOST_IO_PRESSURE);
            Some((share, waits))
        };
        // What was before may not be known, as when an engine ended with the run's group; only now somebody must be able to tell.
        match (long.and_then(pair), fresh.map(pair)) {
            (Some((share, false)), _) if share <= limit => Quiet::Yes(share),
            (_, Some(Some((share, false)))) if share <= limit / 3.0 => Quiet::Yes(share),
            (_, Some(Some((share, _)))) | (Some((share, _)), _) => Quiet::No(share),
            (None, Some(None)) => Quiet::Unknown,
            (None, None) => Quiet::No(0.0),
        }
    }
}

/// Waits until the host is quiet; what was read, none when nobody looks. Ends early when the run is cancelled.
pub(super) async fn pass(shared: &Shared<'_>) -> Option<Reading> {
    let patience = shared.job.observe.idle_gate?;
    let limit = find(CHECK).and_then(|check| shared.job.hygiene.of(check).warn)?;
    let began = Instant::now();
    if let Some(share) = shared.gate().known(began, limit) {
        return Some(Reading::of(CHECK, share));
    }
    let patience = if shared.gate().gave_up { patience.min(LONG) } else { patience };
    loop {
        let now = Instant::now();
        let look = Look::now(&mut shared.counters());
        let quiet = {
            let mut gate = shared.gate();
            gate.note(now, look);
            gate.judge(now, began, limit)
        };
        match quiet {
            Quiet::Unknown => return Some(Reading::unobservable(CHECK)),
            Quiet::Yes(share) => {
                let mut gate = shared.gate();
                (gate.gave_up, gate.passed) = (false, Some((now, share)));
                return Some(Reading::of(CHECK, share));
            }
            // Not before the host was seen for as long as a quiet one is.
            Quiet::No(share) if now - began >= patience.max(SHORT) => {
                shared.gate().gave_up = true;
                return Some(Reading::of(CHECK, share).about(format!("not quiet within {patience:?}")));
            }
            Quiet::No(_) => {}
        }
        tokio::select! {
            () = tokio::time::sleep(SHORT) => {}
            () = shared.cancel.cancelled() => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_told_of_earlier_is_looked_for_now() {
        // Looks at nothing, which tell nothing.
        let (mut gate, begin) = (Gate::default(), Instant::now());
        assert_eq!(gate.judge(begin, begin, 0.03), Quiet::Unknown, "nobody looked");
        gate.note(begin, Look::default());
        let idle_since = begin + LONG;
        gate.note(idle_since, Look::default());
        assert_eq!(gate.judge(idle_since, idle_since, 0.03), Quiet::No(0.0), "the pair before is not known: wait for another");
        gate.note(idle_since + SHORT, Look::default());
        assert_eq!(gate.judge(idle_since + SHORT, idle_since, 0.03), Quiet::Unknown);
        gate.note(idle_since + OLD + LONG, Look::default());
        assert_eq!(gate.looks.len(), 1, "what is old says nothing");
    }

    const LIMIT: f64 = 0.03;

    fn saw(gate: &mut Gate, at: Instant, seconds: f64, share: f64) {
        gate.saw(at, Duration::from_secs_f64(seconds), &[Reading::of("steal", 0.5), Reading::of("foreign-cpu", share)]);
    }

    #[test]
    fn windows_tell_when_they_are_long_enough_and_not_old() {
        let start = Instant::now();
        let after = |seconds: u64| start + Duration::from_secs(seconds);
        let mut gate = Gate::default();
        assert_eq!(gate.known(start, LIMIT), None, "nothing is known");
        saw(&mut gate, after(1), 0.6, 0.01);
        assert_eq!(gate.known(after(1), LIMIT), None, "too little is known");
        saw(&mut gate, after(2), 0.6, 0.02);
        assert_eq!(gate.known(after(2), LIMIT).map(|share| (share * 1e6).round()), Some(15_000.0));
        assert_eq!(gate.known(after(60), LIMIT), None, "that was long ago");
        saw(&mut gate, after(61), 4.0, 0.5);
        assert_eq!(gate.known(after(61), LIMIT), None, "it was not quiet");
        saw(&mut gate, after(66), 4.0, 0.0);
        assert_eq!(gate.known(after(66), LIMIT), Some(0.0), "the last three seconds count");
        gate.saw(after(67), Duration::from_secs(9), &[Reading::unobservable("foreign-cpu")]);
        assert_eq!(gate.known(after(67), LIMIT), Some(0.0), "what nobody saw says nothing");
    }

    #[test]
    fn a_look_that_passed_holds_for_a_while() {
        let start = Instant::now();
        let mut gate = Gate { passed: Some((start, 0.005)), ..Gate::default() };
        assert_eq!(gate.known(start + Duration::from_secs(2), LIMIT), Some(0.005));
        assert_eq!(gate.known(start + Duration::from_secs(3), LIMIT), None);
        saw(&mut gate, start, 2.0, 0.4);
        assert_eq!(gate.known(start + Duration::from_secs(1), LIMIT), None, "a window since then was not quiet");
    }
}
