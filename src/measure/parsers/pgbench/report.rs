//! One report of `pgbench`, line by line.

use crate::measure::parsers::constants::pattern;
use crate::measure::parsers::number;
use regex::Regex;
use std::sync::LazyLock;

/// A number of the report, in base units.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Field {
    Scale,
    Clients,
    /// `duration`: what was asked for, not what it took.
    Duration,
    Processed,
    /// `-t` times clients.
    Asked,
    Failed,
    Skipped,
    AboveLimit,
    Retried,
    Retries,
    LatencyAvg,
    LatencyStdev,
    LagAvg,
    LagMax,
    ConnectAvg,
    /// Initial connection time.
    Connected,
    /// From 14 on.
    Rate,
    /// Up to 13.
    RateIncluding,
    /// Up to 13.
    RateExcluding,
}

/// What a report says.
#[derive(Debug, Default)]
pub(super) struct Report {
    fields: Vec<(Field, f64)>,
    /// The built-in script that updates one row of `pgbench_branches`, of which each unit of scale has one.
    updates_branches: bool,
    /// A line does not have its form, or stands there twice: nothing is complete.
    torn: bool,
}

/// A line, and what its groups are.
struct Line {
    form: Regex,
    fields: &'static [(Field, Kind)],
}

#[derive(Clone, Copy)]
enum Kind {
    Count,
    /// Per second, or s.
    Decimal,
    Milliseconds,
}

static LINES: LazyLock<Vec<Line>> = LazyLock::new(|| {
    use Field::*;
    use Kind::*;
    let line = |form: &str, fields: &'static [(Field, Kind)]| Line { form: pattern(form), fields };
    vec![
        line(r"^scaling factor: (\d+)$", &[(Scale, Count)]),
        line(r"^number of clients: (\d+)$", &[(Clients, Count)]),
        line(r"^duration: (\d+) s$", &[(Duration, Count)]),
        line(r"^number of transactions actually processed: (\d+)(?:/(\d+))?$", &[(Processed, Count), (Asked, Count)]),
        line(r"^number of failed transactions: (\d+) \(\S+ ?%\)$", &[(Failed, Count)]),
        line(r"^number of transactions skipped: (\d+) \(\S+ ?%\)$", &[(Skipped, Count)]),
        line(r"^number of transactions above the \d+\.\d ms latency limit: (\d+)(?:/\d+)? \(\S+ ?%\)$", &[(AboveLimit, Count)]),
        line(r"^number of transactions retried: (\d+) \(\S+ ?%\)$", &[(Retried, Count)]),
        line(r"^total number of retries: (\d+)$", &[(Retries, Count)]),
        line(r"^latency average(?: =|:) (\d+\.\d+) ms(?: \(including failures\))?$", &[(LatencyAvg, Milliseconds)]),
        line(r"^latency stddev(?: =|:) (\d+\.\d+) ms$", &[(LatencyStdev, Milliseconds)]),
        line(r"^rate limit schedule lag: avg (\d+\.\d+) \(max (\d+\.\d+)\) ms$", &[(LagAvg, Milliseconds), (LagMax, Milliseconds)]),
        line(r"^average connection time = (\d+\.\d+) ms$", &[(ConnectAvg, Milliseconds)]),
        line(r"^initial connection time = (\d+\.\d+) ms$", &[(Connected, Milliseconds)]),
        line(r"^tps = (\d+\.\d{6}) \((?:without initial connection time|including reconnection times)\)$", &[(Rate, Decimal)]),
        line(r"^tps = (\d+\.\d{6}) \(including connections establishing\)$", &[(RateIncluding, Decimal)]),
        line(r"^tps = (\d+\.\d{6}) \(excluding connections establishing\)$", &[(RateExcluding, Decimal)]),
    ]
});

/// How the lines begin whose absence means something: torn, they may not pass for absent.
const OPTIONAL: [&str; 4] = ["number of failed", "number of transactions", "total number of", "latency "];

impl Report {
    pub(super) fn read(text: &str) -> Self {
        let mut report = Self::default();
        text.lines().map(str::trim).for_each(|line| report.line(line));
        report
    }

    pub(super) fn get(&self, field: Field) -> Option<f64> {
        self.fields.iter().find(|(known, _)| *known == field).map(|(_, value)| *value)
    }

    /// Transactions per second, without the first connections.
    pub(super) fn rate(&self) -> Option<f64> {
        self.get(Field::Rate).or_else(|| self.get(Field::RateExcluding))
    }

    /// Whether there is a report at all.
    pub(super) fn is_there(&self) -> bool {
        self.get(Field::Processed).is_some() || self.rate().is_some()
    }

    /// Whether everything is there that every report has, its last line included.
    pub(super) fn is_complete(&self) -> bool {
        !self.torn && self.get(Field::Processed).is_some() && self.get(Field::Clients).is_some() && self.rate().is_some()
    }

    /// Scale and clients, when the clients have to wait for each other's rows.
    pub(super) fn crowded(&self) -> Option<(f64, f64)> {
        let both = self.get(Field::Scale).zip(self.get(Field::Clients));
        both.filter(|(scale, clients)| self.updates_branches && scale < clients)
    }

    /// The rate is over a time that is at least the one that was asked for. A client waits for its transaction, so it cannot be busier
    /// than all the time; the delay of a schedule counts in its latency all the same.
    pub(super) fn contradicts_itself(&self) -> bool {
        let get = |field: Field| self.get(field);
        let whole_rate = get(Field::Rate).or_else(|| get(Field::RateIncluding)).filter(|rate| *rate > 0.0);
        let elapsed = whole_rate.zip(get(Field::Processed)).map(|(rate, processed)| processed / rate);
        let short = match (elapsed, get(Field::Duration)) {
            (Some(elapsed), Some(duration)) => elapsed + get(Field::Connected).unwrap_or_default() < duration * 0.9 - 0.1,
            _ => false,
        };
        let busy = match (elapsed, get(Field::LatencyAvg), get(Field::Clients), get(Field::Processed)) {
            (Some(elapsed), Some(latency), Some(clients), Some(processed)) if get(Field::LagAvg).is_none() => {
                (processed + get(Field::Failed).unwrap_or_default()) * latency > clients * elapsed * 1.1 + 0.01
            }
            _ => false,
        };
        let above = |low: Field, high: Field| get(low).zip(get(high)).is_some_and(|(low, high)| low > high);
        short
            || busy
            || above(Field::AboveLimit, Field::Processed)
            || above(Field::LagAvg, Field::LagMax)
            || above(Field::Processed, Field::Asked)
            || above(Field::RateIncluding, Field::RateExcluding)
    }

    fn line(&mut self, line: &str) {
        self.updates_branches |= matches!(line, "transaction type: <builtin: TPC-B (sort of)>" | "transaction type: TPC-B (sort of)");
        let found = LINES.iter().find_map(|known| Some((known.fields, known.form.captures(line)?)));
        let Some((fields, found)) = found else {
            self.torn |= OPTIONAL.iter().any(|start| line.starts_with(start)) && !line.starts_with("number of transactions per client: ");
            return;
        };
        for ((field, kind), text) in fields.iter().zip(found.iter().skip(1)) {
            let value = text.and_then(|text| match kind {
                Kind::Count => number::count(text.as_str()),
                Kind::Decimal => number::point(text.as_str()),
                Kind::Milliseconds => number::shifted(text.as_str(), -3),
            });
            self.torn |= self.get(*field).is_some();
            self.fields.extend(value.map(|value| (*field, value)));
        }
    }
}
