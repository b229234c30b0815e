//! The array of `--json`: one object for each name of a request, with a histogram of response times.

use super::stats::{PERCENTILES, Stats};
use crate::measure::parsers::last_json::last_document;
use crate::measure::parsers::number;
use serde_json::Value;
use std::collections::BTreeMap;

/// One name of a request.
struct Entry {
    requests: f64,
    failures: f64,
    /// Sum of the response times, ms.
    total: f64,
    /// Smallest and largest response time, ms.
    extremes: Option<(f64, f64)>,
    /// First and last response, s since 1970.
    span: (f64, f64),
    body_bytes: f64,
    /// Count by response time in ms.
    histogram: BTreeMap<u64, u64>,
}

/// Reads the array; none when there is none.
pub(super) fn read(text: &str) -> Option<Result<Stats, String>> {
    if text.trim() == "[]" {
        return Some(Ok(Stats { runs: 1, ..Stats::default() }));
    }
    let runs = text.lines().filter(|line| line.starts_with('[')).count();
    text.contains("\"num_requests\"").then(|| array(text).map(|stats| Stats { runs, ..stats }))
}

fn array(text: &str) -> Result<Stats, String> {
    let document = last_document(text)?;
    if document.first_wins.is_some() {
        return Err("the JSON of locust gives a key two values".to_owned());
    }
    let entries = document.value.as_array().ok_or("the last JSON document is not an array of locust's")?;
    let entries: Vec<Entry> = entries
        .iter()
        .map(|entry| Entry::read(entry).ok_or("the JSON of locust is damaged: counts are missing, or do not add up"))
        .collect::<Result<_, _>>()?;
    Ok(Stats::of(&entries))
}

impl Entry {
    fn read(value: &Value) -> Option<Self> {
        let number = |name: &str| value.get(name).and_then(Value::as_f64).filter(|value| *value >= 0.0);
        let count = |name: &str| value.get(name).and_then(Value::as_u64);
        let adds_up = |name: &str| {
            let seconds = value.get(name)?.as_object()?;
            seconds.values().try_fold(0, |sum: u64, count| sum.checked_add(count.as_u64()?))
        };
        let mut histogram = BTreeMap::new();
        for (milliseconds, count) in value.get("response_times")?.as_object()? {
            number::count(milliseconds)?;
            histogram.insert(milliseconds.parse().ok()?, count.as_u64()?);
        }
        let (requests, untimed, failures) = (count("num_requests")?, count("num_none_requests")?, count("num_failures")?);
        let timed = histogram.values().try_fold(0, |sum: u64, count| sum.checked_add(*count))?;
        let consistent = timed.checked_add(untimed)? == requests
            && adds_up("num_reqs_per_sec")? == requests
            && adds_up("num_fail_per_sec")? == failures
            && failures <= requests;
        let entry = Self {
            requests: requests as f64,
            failures: failures as f64,
            total: number("total_response_time")?,
            extremes: number("min_response_time").zip(number("max_response_time")),
            span: (number("start_time")?, number("last_request_timestamp")?),
            body_bytes: number("total_content_length")?,
            histogram,
        };
        consistent.then_some(entry)
    }
}

impl Stats {
    fn of(entries: &[Entry]) -> Self {
        let sum = |of: fn(&Entry) -> f64| entries.iter().fold(0.0, |sum, entry| sum + of(entry));
        let requests = sum(|entry| entry.requests);
        let extremes = || entries.iter().filter_map(|entry| entry.extremes);
        let mut histogram = BTreeMap::new();
        for (milliseconds, count) in entries.iter().flat_map(|entry| &entry.histogram) {
            *histogram.entry(*milliseconds).or_insert(0) += count;
        }
        let timed: u64 = histogram.values().sum();
        let mut latencies = Vec::new();
        if timed > 0 {
            latencies.push(("latency_avg", sum(|entry| entry.total) / timed as f64 / 1e3));
            latencies.extend(extremes().map(|(min, _)| min).reduce(f64::min).map(|min| ("latency_min", min / 1e3)));
            latencies.extend(extremes().map(|(_, max)| max).reduce(f64::max).map(|max| ("latency_max", max / 1e3)));
            latencies.extend(PERCENTILES.iter().filter_map(|(percent, name)| Some((*name, percentile(&histogram, timed, percent)?))));
        }
        let first = entries.iter().map(|entry| entry.span.0).reduce(f64::min);
        let last = entries.iter().map(|entry| entry.span.1).reduce(f64::max);
        let seconds = first.zip(last).map(|(first, last)| last - first).filter(|seconds| *seconds > 0.0);
        let mut stats = Self {
            requests,
            failures: sum(|entry| entry.failures),
            rate: seconds.map(|seconds| requests / seconds),
            latencies,
            body_bytes: Some(sum(|entry| entry.body_bytes)),
            ..Self::default()
        };
        stats.check(0.0);
        stats
    }
}

/// The value at the place `count * percent` of the ordered response times, as locust itself takes it, s.
fn percentile(histogram: &BTreeMap<u64, u64>, count: u64, percent: &str) -> Option<f64> {
    let part: f64 = percent.strip_suffix('%')?.parse().ok()?;
    let place = (count as f64 * part / 100.0) as u64;
    let mut below = 0;
    for (milliseconds, count) in histogram {
        below += count;
        if below > place {
            return Some(*milliseconds as f64 / 1e3);
        }
    }
    None
}
