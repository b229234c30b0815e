//! One report of `siege`: its text, line by line, or its JSON. Both have the same numbers.

use crate::measure::parsers::constants::pattern;
use crate::measure::parsers::last_json::Document;
use crate::measure::parsers::number;
use crate::model::metric::Unit;
use regex::Regex;
use std::sync::LazyLock;

/// What a report says. What is not there is none.
#[derive(Debug, Default)]
pub(super) struct Report {
    pub transactions: Option<f64>,
    pub successful: Option<f64>,
    pub failed: Option<f64>,
    /// s, with 0.01 s.
    pub response_time: Option<f64>,
    /// Mean number of requests under way.
    pub concurrency: Option<f64>,
    /// Share of transactions among them and the failed ones, in percent.
    availability: Option<f64>,
    /// s, with 0.01 s.
    elapsed: Option<f64>,
    /// MiB, with two decimals.
    transferred: Option<f64>,
    /// 1/s.
    rate: Option<f64>,
    /// MiB/s, with two decimals.
    throughput: Option<f64>,
    /// s, with 0.01 s.
    longest: Option<f64>,
    /// s, with 0.01 s.
    shortest: Option<f64>,
}

const MIB: f64 = 1_048_576.0;

static COUNT: LazyLock<Regex> = LazyLock::new(|| pattern(r"^(Transactions|Successful transactions|Failed transactions):\s*(\d+)( hits)?$"));
static DECIMAL: LazyLock<Regex> = LazyLock::new(|| pattern(r"^([A-Z][a-z ]+):\s+(\d+[.,]\d\d)(?: (%|secs|MB|trans/sec|MB/sec))?$"));

impl Report {
    /// Reads a text.
    pub(super) fn of_text(text: &str) -> Self {
        let mut report = Self::default();
        for line in text.lines().map(str::trim) {
            if let Some(found) = COUNT.captures(line) {
                let count = number::count(&found[2]);
                match (&found[1], found.get(3).is_some()) {
                    ("Transactions", true) => report.transactions = count,
                    ("Successful transactions", false) => report.successful = count,
                    ("Failed transactions", false) => report.failed = count,
                    _ => {}
                }
            } else if let Some(found) = DECIMAL.captures(line) {
                let value = number::decimal(&found[2]);
                match (&found[1], found.get(3).map_or("", |unit| unit.as_str())) {
                    ("Availability", "%") => report.availability = value,
                    ("Elapsed time", "secs") => report.elapsed = value,
                    ("Data transferred", "MB") => report.transferred = value,
                    ("Response time", "secs") => report.response_time = value,
                    ("Transaction rate", "trans/sec") => report.rate = value,
                    ("Throughput", "MB/sec") => report.throughput = value,
                    ("Concurrency", "") => report.concurrency = value,
                    // Versions before 4.1 leave out the unit of these two.
                    ("Longest transaction", "" | "secs") => report.longest = value,
                    ("Shortest transaction", "" | "secs") => report.shortest = value,
                    _ => {}
                }
            }
        }
        report
    }

    /// Reads a document.
    ///
    /// # Errors
    /// It is not of `siege`, or repeats a key.
    pub(super) fn of_document(document: &Document) -> Result<Self, String> {
        let number = |name: &str| document.value.get(name).and_then(serde_json::Value::as_f64).filter(|value| *value >= 0.0);
        if document.value.get("transactions").is_none() || document.value.get("availability").is_none() {
            return Err("the last JSON document is not a report of siege".to_owned());
        }
        if document.first_wins.is_some() {
            return Err("the report of siege is damaged: it repeats a key".to_owned());
        }
        Ok(Self {
            transactions: number("transactions"),
            successful: number("successful_transactions"),
            failed: number("failed_transactions"),
            response_time: number("response_time"),
            concurrency: number("concurrency"),
            availability: number("availability"),
            elapsed: number("elapsed_time"),
            transferred: number("data_transferred"),
            rate: number("transaction_rate"),
            throughput: number("throughput"),
            longest: number("longest_transaction"),
            shortest: number("shortest_transaction"),
        })
    }

    /// Whether there is a report at all.
    pub(super) fn is_there(&self) -> bool {
        self.transactions.is_some() || self.rate.is_some() || self.failed.is_some()
    }

    /// Whether everything is there that every report has.
    pub(super) fn is_complete(&self) -> bool {
        let counts = [self.transactions, self.successful, self.failed, self.availability, self.elapsed, self.rate];
        let others = [self.response_time, self.concurrency, self.transferred, self.throughput, self.longest, self.shortest];
        counts.iter().chain(&others).all(Option::is_some)
    }

    /// Every number but the counts has two decimals. A run below 0.01 s has no rate.
    pub(super) fn contradicts_itself(&self) -> bool {
        let rate = match (self.rate, self.transactions, self.elapsed.filter(|elapsed| *elapsed > 0.0)) {
            (Some(rate), Some(transactions), Some(elapsed)) => (rate * elapsed - transactions).abs() > 0.1 + rate * 0.006 + elapsed * 0.006,
            _ => false,
        };
        let availability = match (self.availability, self.transactions, self.failed) {
            (Some(availability), Some(transactions), Some(failed)) if transactions + failed > 0.0 => {
                (availability - transactions / (transactions + failed) * 100.0).abs() > 0.006
            }
            _ => false,
        };
        let above = |one: Option<f64>, other: Option<f64>| one.zip(other).is_some_and(|(one, other)| one > other);
        // Without transactions the mean is 0, although failed ones have been timed too.
        let mean = self.response_time.filter(|_| self.transactions > Some(0.0));
        rate || availability || above(self.shortest, self.longest) || above(self.shortest, mean)
    }

    /// Names, values in base units, and units.
    pub(super) fn metrics(&self) -> [(&'static str, Option<f64>, Unit); 11] {
        [
            ("requests_per_second", self.rate, Unit::PER_SECOND),
            ("requests", self.transactions, Unit::ONE),
            ("errors", self.failed, Unit::ONE),
            ("successful_requests", self.successful, Unit::ONE),
            ("duration", self.elapsed, Unit::SECOND),
            ("latency_avg", self.response_time, Unit::SECOND),
            ("latency_min", self.shortest, Unit::SECOND),
            ("latency_max", self.longest, Unit::SECOND),
            ("concurrency", self.concurrency, Unit::ONE),
            ("body_bytes", self.transferred.map(|mebibytes| mebibytes * MIB), Unit::BYTE),
            ("body_bytes_per_second", self.throughput.map(|mebibytes| mebibytes * MIB), Unit::BYTES_PER_SECOND),
        ]
    }
}
