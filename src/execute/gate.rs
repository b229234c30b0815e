//! The idle gate: a trial begins when the host is quiet, or after a while that it was given for that.
//!
//! Where the last three seconds, a trial among them, were quiet, nothing is waited for. Else the run looks again while it does nothing
//! itself: what an engine burns to make and remove containers is nobody's that the counters know.

use super::Shared;
use crate::measure::samplers::Look;
use crate::model::hygiene::{Reading, find};
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// The check that the gate makes.
pub(super) const CHECK: &str = "idle-gate";

/// The time that must have been quiet.
const LONG: Duration = Duration::from_secs(3);
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
                shared.gate().gave_up = false;
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
}
