//! One report of `httperf`, line by line. Columns may have been collapsed.

use crate::measure::parsers::constants::pattern;
use crate::measure::parsers::number;
use regex::{Captures, Regex};
use std::sync::LazyLock;

/// The line `Total:`.
#[derive(Debug)]
pub(super) struct Total {
    pub connections: f64,
    pub requests: f64,
    pub replies: f64,
    /// s, more than 0.
    pub duration: f64,
}

/// What a report says. What is not there is none.
#[derive(Debug, Default)]
pub(super) struct Report {
    pub total: Option<Total>,
    /// 1/s, as asked for with `--rate`; none when connections were to follow each other, or are those of sessions.
    pub asked_rate: Option<f64>,
    /// 1/s, with 0.1.
    pub connection_rate: Option<f64>,
    pub connections_max: Option<f64>,
    /// 1/s, min, avg, max and stddev of samples; none without samples.
    pub reply_rates: Option<[Option<f64>; 4]>,
    /// Mean, with headers.
    pub reply_bytes: Option<f64>,
    /// By the first digit, from 1xx to 5xx.
    pub statuses: Option<[f64; 5]>,
    /// min, avg, max, median and stddev of connections, s.
    connection: Option<[Option<f64>; 5]>,
    /// s.
    connect: Option<f64>,
    /// Until the first byte and from there to the last, s.
    reply: Option<[f64; 2]>,
    /// 1/s, with 0.1.
    request_rate: Option<f64>,
    /// The first line `Errors:`, from `total` to `connreset`.
    network_errors: Option<[f64; 5]>,
    /// The second one.
    client_errors: Option<[f64; 4]>,
}

/// The kinds of errors: as printed, as metrics, and in words.
pub(super) const ERRORS: [(&str, &str, &str); 8] = [
    ("client-timo", "errors_timeout", "timed out"),
    ("socket-timo", "errors_socket_timeout", "timed out in the kernel"),
    ("connrefused", "errors_refused", "refused"),
    ("connreset", "errors_reset", "reset"),
    ("fd-unavail", "errors_fd_unavailable", "without a file descriptor"),
    ("addrunavail", "errors_address_unavailable", "without a port"),
    ("ftab-full", "errors_file_table_full", "with a full table of files"),
    ("other", "errors_other", "others"),
];

static TOTAL: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^Total: connections (\d+) requests (\d+) replies (\d+) test-duration (\d+\.\d{3}) s$"));
static CONNECTION_RATE: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^Connection rate: (\d+\.\d) conn/s \(\d+\.\d ms/conn, <=(\d+) concurrent connections\)$"));
static CONNECTION_TIME: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"^Connection time \[ms\]: min (\d+\.\d) avg (\d+\.\d) max (\d+\.\d) median (\d+\.\d) stddev (\d+\.\d|-?nan)$")
});
static CONNECT: LazyLock<Regex> = LazyLock::new(|| pattern(r"^Connection time \[ms\]: connect (\d+\.\d)$"));
static REQUEST_RATE: LazyLock<Regex> = LazyLock::new(|| pattern(r"^Request rate: (\d+\.\d) req/s \(\d+\.\d ms/req\)$"));
static REPLY_RATE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"^Reply rate \[replies/s\]: min (\d+\.\d) avg (\d+\.\d) max (\d+\.\d) stddev (\d+\.\d|-?nan) \((\d+) samples\)$")
});
static REPLY_TIME: LazyLock<Regex> = LazyLock::new(|| pattern(r"^Reply time \[ms\]: response (\d+\.\d) transfer (\d+\.\d)$"));
static REPLY_SIZE: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^Reply size \[B\]: header \d+\.\d content \d+\.\d footer \d+\.\d \(total (\d+\.\d)\)$"));
static STATUS: LazyLock<Regex> = LazyLock::new(|| pattern(r"^Reply status: 1xx=(\d+) 2xx=(\d+) 3xx=(\d+) 4xx=(\d+) 5xx=(\d+)$"));
static ERRORS_1: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^Errors: total (\d+) client-timo (\d+) socket-timo (\d+) connrefused (\d+) connreset (\d+)$"));
static ERRORS_2: LazyLock<Regex> = LazyLock::new(|| pattern(r"^Errors: fd-unavail (\d+) addrunavail (\d+) ftab-full (\d+) other (\d+)$"));
static ASKED: LazyLock<Regex> = LazyLock::new(|| pattern(r"^httperf .*--rate=(\d+(?:\.\d+)?)(?: |$)"));

impl Report {
    pub(super) fn read(text: &str) -> Self {
        let mut report = Self::default();
        for line in text.lines().map(str::trim) {
            report.line(line);
        }
        report
    }

    /// Whether there is a report at all.
    pub(super) fn is_there(&self) -> bool {
        self.total.is_some() || self.connection_rate.is_some() || self.statuses.is_some() || self.network_errors.is_some()
    }

    /// Whether everything is there that every report has.
    pub(super) fn is_complete(&self) -> bool {
        let rates = self.total.is_some() && self.connection_rate.is_some() && self.request_rate.is_some();
        let times = self.connection.is_some() && self.connect.is_some() && self.reply.is_some();
        rates && times && self.statuses.is_some() && self.errors().is_some()
    }

    /// In the order of [`ERRORS`].
    pub(super) fn errors(&self) -> Option<[f64; 8]> {
        let ([_, timeout, socket_timeout, refused, reset], [descriptors, addresses, files, others]) =
            self.network_errors.zip(self.client_errors)?;
        Some([timeout, socket_timeout, refused, reset, descriptors, addresses, files, others])
    }

    /// Rates are printed with one decimal, the time with three.
    pub(super) fn contradicts_itself(&self) -> bool {
        let sum = |counts: &[f64]| counts.iter().fold(0.0, |sum, count| sum + count);
        let Some(total) = &self.total else { return self.times_contradict() };
        let off = |rate: Option<f64>, count: f64| {
            rate.is_some_and(|rate| (rate * total.duration - count).abs() > 0.1 + total.duration * 0.06 + rate * 0.000_6)
        };
        let errors = self.network_errors.zip(self.errors()).is_some_and(|(printed, kinds)| printed[0] != sum(&kinds));
        let statuses = self.statuses.is_some_and(|statuses| sum(&statuses) != total.replies);
        errors
            || statuses
            || off(self.connection_rate, total.connections)
            || off(self.request_rate, total.requests)
            || self.times_contradict()
    }

    fn times_contradict(&self) -> bool {
        let disordered = |one: Option<f64>, other: Option<f64>| one.zip(other).is_some_and(|(one, other)| one > other);
        self.connection.is_some_and(|[min, avg, max, _, _]| disordered(min, avg) || disordered(avg, max))
    }

    /// Names and seconds.
    pub(super) fn times(&self) -> [(&'static str, Option<f64>); 9] {
        let [min, avg, max, median, stdev] = self.connection.unwrap_or_default();
        let [waiting, transfer] = self.reply.map_or([None; 2], |times| times.map(Some));
        let latency = self.reply.map(|[waiting, transfer]| waiting + transfer);
        [
            ("latency_avg", latency),
            ("waiting_avg", waiting),
            ("transfer_avg", transfer),
            ("connect_avg", self.connect),
            ("connection_time_avg", avg),
            ("connection_time_stdev", stdev),
            ("connection_time_min", min),
            ("connection_time_max", max),
            ("connection_time_p50", median),
        ]
    }

    fn line(&mut self, line: &str) {
        if let Some(found) = TOTAL.captures(line) {
            self.total = Total::read(&found);
        } else if let Some(found) = CONNECTION_RATE.captures(line) {
            self.connection_rate = number::point(&found[1]);
            self.connections_max = number::count(&found[2]);
        } else if let Some(found) = CONNECTION_TIME.captures(line) {
            self.connection = Some([1, 2, 3, 4, 5].map(|at| number::shifted(&found[at], -3)));
        } else if let Some(found) = CONNECT.captures(line) {
            self.connect = number::shifted(&found[1], -3);
        } else if let Some(found) = REQUEST_RATE.captures(line) {
            self.request_rate = number::point(&found[1]);
        } else if let Some(found) = REPLY_RATE.captures(line) {
            let samples = number::count(&found[5]).filter(|samples| *samples > 0.0);
            self.reply_rates = samples.map(|_| [1, 2, 3, 4].map(|at| number::point(&found[at])));
        } else if let Some(found) = REPLY_TIME.captures(line) {
            self.reply = number::shifted(&found[1], -3).zip(number::shifted(&found[2], -3)).map(Into::into);
        } else if let Some(found) = REPLY_SIZE.captures(line) {
            self.reply_bytes = number::point(&found[1]);
        } else if let Some(found) = STATUS.captures(line) {
            self.statuses = counts(&found);
        } else if let Some(found) = ERRORS_1.captures(line) {
            self.network_errors = counts(&found);
        } else if let Some(found) = ERRORS_2.captures(line) {
            self.client_errors = counts(&found);
        } else if let Some(found) = ASKED.captures(line).filter(|_| !line.contains("--wsess")) {
            self.asked_rate = number::point(&found[1]).filter(|rate| *rate > 0.0);
        }
    }
}

impl Total {
    fn read(found: &Captures<'_>) -> Option<Self> {
        let duration = number::point(&found[4]).filter(|duration| *duration > 0.0)?;
        Some(Self {
            connections: number::count(&found[1])?,
            requests: number::count(&found[2])?,
            replies: number::count(&found[3])?,
            duration,
        })
    }
}

/// Counts, one in each group.
fn counts<const N: usize>(found: &Captures<'_>) -> Option<[f64; N]> {
    let counts: Option<Vec<f64>> = (1..=N).map(|at| found.get(at).and_then(|text| number::count(text.as_str()))).collect();
    counts?.try_into().ok()
}
