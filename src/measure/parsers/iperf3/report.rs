//! What a report of `iperf3` says, whichever form it has.

/// One end of a direction.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::measure::parsers) struct Side {
    pub bytes: f64,
    /// s.
    pub seconds: f64,
    pub bytes_per_second: f64,
}

/// What went one way. What is not there is none.
#[derive(Debug, Default, Clone, PartialEq)]
pub(in crate::measure::parsers) struct Direction {
    pub sent: Option<Side>,
    pub received: Option<Side>,
    /// TCP, where the kernel of the sender tells.
    pub retransmits: Option<f64>,
    /// UDP.
    pub datagrams: Option<Datagrams>,
}

/// What the receiver of UDP counted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::measure::parsers) struct Datagrams {
    /// s.
    pub jitter: f64,
    pub lost: f64,
    /// Received and lost.
    pub all: f64,
    /// Of them the lost ones, as printed, %.
    pub lost_percent: f64,
}

/// A report.
#[derive(Debug, Default, Clone, PartialEq)]
pub(in crate::measure::parsers) struct Report {
    /// From the client to the server, or with `-R` the other way.
    pub forward: Direction,
    /// With `--bidir`: from the server to the client.
    pub reverse: Option<Direction>,
    /// Smallest, mean and largest smoothed round-trip time of the sending kernel, s.
    pub round_trips: [Option<f64>; 3],
    /// CPUs that the `iperf3` of this side and of the other side were using.
    pub cpus: [Option<f64>; 2],
    /// Why it ended before its time.
    pub error: Option<String>,
    /// Whether it is a text, with three digits.
    pub rounded: bool,
    /// Whether it has its end.
    pub complete: bool,
}

impl Report {
    pub(super) fn directions(&self) -> impl Iterator<Item = (&'static str, &Direction)> {
        std::iter::once(("", &self.forward)).chain(self.reverse.iter().map(|reverse| ("reverse_", reverse)))
    }

    /// Without the numbers of an other side that never sent them: it did so at the end, and what is printed instead is 0.
    pub(super) fn without_unknown(mut self) -> Self {
        if self.error.is_some() || !self.complete {
            for direction in std::iter::once(&mut self.forward).chain(&mut self.reverse) {
                direction.sent = direction.sent.filter(|side| side.bytes > 0.0);
                direction.received = direction.received.filter(|side| side.bytes > 0.0);
                direction.datagrams = direction.datagrams.filter(|datagrams| datagrams.all > 0.0);
            }
            self.cpus = self.cpus.map(|cpus| cpus.filter(|cpus| *cpus > 0.0));
        }
        self
    }

    /// A rate is bytes over seconds; of the datagrams at most all are lost.
    pub(super) fn contradicts_itself(&self) -> bool {
        let [min, avg, max] = self.round_trips;
        let disordered = |low: Option<f64>, high: Option<f64>| low.zip(high).is_some_and(|(low, high)| low > high);
        self.directions().any(|(_, direction)| direction.contradicts_itself())
            || disordered(min, avg)
            || disordered(avg, max)
            || disordered(min, max)
    }
}

impl Direction {
    fn contradicts_itself(&self) -> bool {
        // Of a text the time has two decimals, and bytes and rate three digits.
        let wrong = |side: &Side| match side.bytes_per_second {
            0.0 => side.bytes > 0.0,
            rate => (side.bytes / rate - side.seconds).abs() > 0.02 + side.seconds * 0.02,
        };
        let miscounted = |datagrams: &Datagrams| {
            datagrams.lost > datagrams.all
                || datagrams.all > 0.0 && (datagrams.lost / datagrams.all * 100.0 - datagrams.lost_percent).abs() > 1.0
        };
        self.sent.iter().chain(&self.received).any(wrong) || self.datagrams.iter().any(miscounted)
    }
}
