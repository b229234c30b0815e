//! What a text supports: the numbers in it, in other units, and what each parser computes of them.

use shakedown::model::metric::{Observation, Parsed};
use std::collections::BTreeSet;

/// What a unit is in base units: ms, us, ns, min, h, k, M, KiB, MiB, GiB.
const UNITS: [f64; 11] = [1.0, 1e-3, 1e-6, 1e-9, 60.0, 3600.0, 1e3, 1e6, 1024.0, 1_048_576.0, 1_073_741_824.0];

/// iperf3 counts bits and percent.
const OF_IPERF3: [f64; 5] = [1e-2, 1.0 / 8.0, 1e3 / 8.0, 1e6 / 8.0, 1e9 / 8.0];

/// top counts percent, and memory in any unit of 1024 each.
const OF_TOP: [f64; 6] = [1.0, 1e-2, 1024.0, 1_048_576.0, 1_073_741_824.0, 1_099_511_627_776.0];

/// These leave out the lines of errors when there were none.
fn is_left_out(tool: &str, metric: &str) -> bool {
    match tool {
        "ab" | "wrk" => metric.starts_with("errors") || metric.starts_with("non_2xx"),
        "isucon14" => metric == "errors",
        "autocannon" => metric.starts_with("errors") || metric.starts_with("non_2xx") || metric == "mismatches",
        "ping" => matches!(metric, "duplicates" | "errors"),
        _ => false,
    }
}

/// Whether a mean lies between the extremes of what it is a mean of.
fn is_between(found: &Parsed, metric: &Observation) -> bool {
    let value = |name: String| found.metrics.iter().find(|metric| metric.name == name).map(|metric| metric.value);
    let bounds = metric.name.strip_suffix("_avg").map(|name| [value(format!("{name}_min")), value(format!("{name}_max"))]);
    matches!(bounds, Some([Some(min), Some(max)]) if (min..=max).contains(&metric.value))
}

/// fio's jobs are added up: a total of both directions, two jobs in one, or a mean that lies between what it is a mean of.
fn is_added_up(found: &Parsed, metric: &Observation, numbers: &[f64]) -> bool {
    let value = |name: &str| found.metrics.iter().find(|metric| metric.name == name).map(|metric| metric.value);
    if metric.name.ends_with("_avg") {
        return is_between(found, metric);
    }
    if !metric.name.contains('_') {
        let parts = ["read", "write"].map(|direction| value(&format!("{direction}_{}", metric.name)).unwrap_or_default());
        return is_near(metric.value, parts[0] + parts[1]);
    }
    numbers.iter().any(|one| numbers.iter().any(|other| is_near(metric.value, one + other)))
}

/// locust's JSON has an object for each name: their counts are added up, their mean lies between the extremes, and the rate is over
/// the time between two stamps.
fn is_of_locust(found: &Parsed, metric: &Observation, numbers: &[f64]) -> bool {
    let value = |name: &str| found.metrics.iter().find(|metric| metric.name == name).map(|metric| metric.value);
    let pairs = |is: &dyn Fn(f64, f64) -> bool| numbers.iter().any(|one| numbers.iter().any(|other| is(*one, *other)));
    match metric.name.as_str() {
        "requests" | "errors" | "body_bytes" => pairs(&|one, other| is_near(metric.value, one + other)),
        "requests_per_second" => pairs(&|last, first| value("requests").is_some_and(|count| is_near(metric.value, count / (last - first)))),
        "latency_avg" => {
            matches!((value("latency_min"), value("latency_max")), (Some(min), Some(max)) if (min..=max).contains(&metric.value))
        }
        _ => false,
    }
}

/// k6 tells rates without a duration or a duration without rates, shares of checks, bytes with decimal prefixes and clock readings.
fn is_of_k6(metric: &Observation, numbers: &[f64]) -> bool {
    let value = metric.value;
    let pairs = |is: &dyn Fn(f64, f64) -> bool| numbers.iter().any(|one| numbers.iter().any(|other| is(*one, *other)));
    match metric.name.as_str() {
        "bytes" | "bytes_per_second" if numbers.iter().any(|n| (0..7).any(|power| is_near(value, n * 1000f64.powi(power)))) => true,
        "duration" | "requests_per_second" | "iterations_per_second" | "bytes_per_second" => {
            pairs(&|n, d| is_near(value, n / d) || is_near(value, n / (d / 1e3)))
        }
        "checks" => pairs(&|passes, fails| is_near(value, passes + fails)),
        "checks_failed" => pairs(&|of, passes| is_near(value, of - passes)),
        name if name.starts_with("latency_") => {
            numbers.windows(2).any(|pair| is_near(value, pair[0] * 60.0 + pair[1]))
                || numbers.windows(3).any(|three| is_near(value, three[0] * 3600.0 + three[1] * 60.0 + three[2]))
        }
        _ => false,
    }
}

/// The benchmarker of ISUCON 14 prints `code:count` for each kind of error: every second number adds up.
fn is_sum_of_every_second(value: f64, numbers: &[f64]) -> bool {
    let sums = |from: usize| numbers[from..].iter().step_by(2).scan(0.0, |sum, count| Some(std::mem::replace(sum, *sum + count) + count));
    (0..numbers.len()).any(|from| sums(from).any(|sum| is_near(value, sum)))
}

fn is_near(value: f64, candidate: f64) -> bool {
    candidate == value || (candidate - value).abs() <= value.abs() * 1e-9
}

/// Whether `value` is a number of the text, in another unit perhaps.
fn in_some_unit(value: f64, numbers: &[f64]) -> bool {
    in_units(value, numbers, &UNITS)
}

fn in_units(value: f64, numbers: &[f64], units: &[f64]) -> bool {
    numbers.iter().any(|n| units.iter().any(|unit| is_near(value, n * unit)))
}

/// Whether `value` is one number of the text over another.
fn is_share(value: f64, numbers: &[f64]) -> bool {
    numbers.iter().any(|n| numbers.iter().any(|d| is_near(value, n / d)))
}

/// Whether `value` is a number of the text in some unit, a clock reading of neighbours, a sum of two or four, or a quotient of two.
pub(super) fn supported(value: f64, numbers: &[f64]) -> bool {
    let is = |candidate: f64| is_near(value, candidate);
    in_some_unit(value, numbers)
        || numbers.windows(2).any(|pair| is(pair[0] * 60.0 + pair[1]) || is(pair[0] + pair[1]))
        || numbers.windows(4).any(|four| is(four.iter().sum()))
        || numbers.windows(3).any(|three| is(three[0] * 3600.0 + three[1] * 60.0 + three[2]))
        || numbers.iter().any(|n| numbers.iter().any(|d| is(n / d) || is(n / (d / 1e6))))
}

/// What is computed of mysqlslap's numbers: clients times queries of each, and those over the mean duration.
fn is_of_all_clients(found: &Parsed, metric: &Observation, numbers: &[f64]) -> bool {
    let value = |name: &str| found.metrics.iter().find(|metric| metric.name == name).map(|metric| metric.value);
    match metric.name.as_str() {
        "queries" => numbers.iter().any(|clients| numbers.iter().any(|each| is_near(metric.value, clients * each))),
        "queries_per_second" => value("queries").zip(value("duration")).is_some_and(|(all, time)| is_near(metric.value, all / time)),
        _ => in_some_unit(metric.value, numbers),
    }
}

/// What is computed of memcslap's numbers: keys over time, and the keys of all threads without those that worked.
fn is_of_all_keys(found: &Parsed, metric: &Observation, numbers: &[f64]) -> bool {
    let value = |name: &str| found.metrics.iter().find(|metric| metric.name == name).map(|metric| metric.value);
    match (metric.name.as_str(), value("requests"), value("duration")) {
        ("errors", Some(keys), _) => numbers.iter().any(|made| numbers.iter().any(|threads| is_near(made * threads, keys + metric.value))),
        ("requests_per_second", Some(keys), Some(time)) => is_near(metric.value, keys / time),
        _ => in_some_unit(metric.value, numbers),
    }
}

/// Lists of answers are added up and leave out what there was none of. A table of hey has a row of eight numbers for each response, and
/// all else is computed from it.
fn is_answered(found: &Parsed, metric: &Observation, numbers: &[f64]) -> bool {
    let value = |name: &str| found.metrics.iter().find(|metric| metric.name == name).map(|metric| metric.value);
    let pair = |value: f64| numbers.iter().any(|one| numbers.iter().any(|other| is_near(value, one + other)));
    let rows = |value: f64| value * 8.0 <= numbers.len() as f64;
    let table = value("errors").is_none();
    match (metric.name.as_str(), value("requests"), value("duration")) {
        ("requests" | "errors" | "non_2xx_3xx" | "requests_cut_off", ..) => {
            metric.value == 0.0 || if table { rows(metric.value) } else { pair(metric.value) }
        }
        ("requests_per_second", Some(requests), Some(duration)) => is_near(metric.value * duration, requests),
        ("duration", ..) => table && pair(metric.value),
        ("latency_avg", ..) => table && (value("latency_min").unwrap_or(0.0)..=value("latency_max").unwrap_or(0.0)).contains(&metric.value),
        _ => false,
    }
}

/// httperf's errors and bad replies are sums of their kinds, its rate and the mean time of a request those of printed numbers.
fn is_summed_by_httperf(found: &Parsed, metric: &Observation) -> bool {
    let value = |name: &str| found.metrics.iter().find(|metric| metric.name == name).map(|metric| metric.value);
    match metric.name.as_str() {
        "errors" => {
            let kinds = found.metrics.iter().filter(|metric| metric.name.starts_with("errors_"));
            is_near(metric.value, kinds.map(|metric| metric.value).sum())
        }
        "latency_avg" => is_near(metric.value, value("waiting_avg").unwrap_or(0.0) + value("transfer_avg").unwrap_or(0.0)),
        "requests_per_second" => {
            value("requests").zip(value("duration")).is_some_and(|(requests, duration)| is_near(metric.value * duration, requests))
        }
        _ => false,
    }
}

/// Where a column stands: the number of its field, counted from the left or from the right.
#[derive(Debug, Clone, Copy)]
enum Place {
    Left(usize),
    Right(usize),
}

/// Whether `value` is the sum of a column over lines that follow each other. A line without such a field adds nothing, and one that
/// begins with a number that was seen already neither.
fn is_column_sum(value: f64, text: &[u8], place: Place) -> bool {
    let text = String::from_utf8_lossy(text);
    let plain = |line: &str| if line.starts_with('{') { line.replace(['"', ',', ':', '{', '}'], " ") } else { line.to_owned() };
    let row = |line: String| {
        let fields: Vec<&str> = line.split(|c: char| c.is_whitespace() || c.is_control()).filter(|field| !field.is_empty()).collect();
        let at = match place {
            Place::Left(at) => Some(at),
            Place::Right(at) => fields.len().checked_sub(at + 1),
        };
        let id = fields.first().filter(|field| field.bytes().all(|byte| byte.is_ascii_digit())).map(|id| (*id).to_owned());
        (id, at.and_then(|at| amount(fields.get(at)?)).unwrap_or_default())
    };
    let rows: Vec<(Option<String>, f64)> = text.split(['\n', '\r']).map(plain).map(row).collect();
    (0..rows.len()).any(|start| {
        let (mut sum, mut seen) = (0.0, BTreeSet::new());
        let mut sums = rows[start..].iter().map(|(id, amount)| {
            if id.as_ref().is_none_or(|id| seen.insert(id)) {
                sum += amount;
            }
            sum
        });
        sums.find(|sum| *sum > value || is_near(value, *sum)).is_some_and(|sum| is_near(value, sum))
    })
}

/// A field that is a number with a unit; of top's sizes the unit is 1024 of the one before, and the first of them is not written.
fn amount(field: &str) -> Option<f64> {
    let end = field.find(|c: char| !c.is_ascii_digit() && !matches!(c, '.' | ',')).unwrap_or(field.len());
    let number: f64 = field[..end].replace(',', ".").parse().ok()?;
    let factor = match &field[end..] {
        "" | "B" => 1.0,
        "%" => 0.01,
        "kB" => 1e3,
        "MB" => 1e6,
        "GB" => 1e9,
        "TB" => 1e12,
        "KiB" | "m" => 1024.0,
        "MiB" | "g" => 1_048_576.0,
        "GiB" | "t" => 1_073_741_824.0,
        _ => return None,
    };
    Some(number * factor)
}

/// Whether it is a count of things that each have a number in the text.
fn is_count(metric: &Observation, names: &[&str], numbers: &[f64]) -> bool {
    names.contains(&&*metric.name) && metric.value <= numbers.len() as f64
}

/// Whether the text holds what a metric says, by what the tool leaves out and what its parser computes.
pub(super) fn is_held(tool: &str, found: &Parsed, metric: &Observation, text: &[u8], numbers: &[f64]) -> bool {
    match tool {
        "mysqlslap" => is_of_all_clients(found, metric, numbers),
        "memcaslap" | "pgbench" | "redis-benchmark" => in_some_unit(metric.value, numbers),
        "memcslap" => is_of_all_keys(found, metric, numbers),
        // A percentage.
        "stress-ng" if metric.name == "cpu_usage" => in_some_unit(metric.value * 100.0, numbers),
        "stress-ng" => in_some_unit(metric.value, numbers),
        "isucon14" if metric.name == "errors" && is_sum_of_every_second(metric.value, numbers) => true,
        "k6" if is_count(metric, &["thresholds_crossed"], numbers) => true,
        "k6" => in_some_unit(metric.value, numbers) || is_of_k6(metric, numbers),
        "locust" => in_some_unit(metric.value, numbers) || is_of_locust(found, metric, numbers),
        "hey" | "oha" => in_some_unit(metric.value, numbers) || is_answered(found, metric, numbers),
        "httperf" => in_some_unit(metric.value, numbers) || is_summed_by_httperf(found, metric),
        "docker-stats" => {
            is_count(metric, &["containers"], numbers) || {
                (0..14).flat_map(|at| [Place::Left(at), Place::Right(at)]).any(|place| is_column_sum(metric.value, text, place))
            }
        }
        "top" if metric.name == "listed_cpu_usage" => is_column_sum(metric.value * 100.0, text, Place::Left(8)),
        "top" if metric.name == "listed_resident" => is_column_sum(metric.value / 1024.0, text, Place::Left(5)),
        "top" => is_count(metric, &["listed_tasks"], numbers) || in_units(metric.value, numbers, &OF_TOP),
        "hyperfine" => in_some_unit(metric.value, numbers) || is_count(metric, &["runs", "errors"], numbers),
        "ping" | "hping3" if metric.name == "loss" => is_share(1.0 - metric.value, numbers),
        "ping" | "hping3" => {
            metric.value == 0.0 && is_left_out(tool, &metric.name)
                || in_some_unit(metric.value, numbers)
                || is_between(found, metric)
                || tool == "hping3" && is_count(metric, &["errors"], numbers)
        }
        "iperf3" if metric.name.ends_with("loss") => is_share(metric.value, numbers),
        "iperf3" => in_some_unit(metric.value, numbers) || in_units(metric.value, numbers, &OF_IPERF3),
        "fio" => in_some_unit(metric.value, numbers) || is_added_up(found, metric, numbers),
        _ => metric.value == 0.0 && is_left_out(tool, &metric.name) || supported(metric.value, numbers),
    }
}
