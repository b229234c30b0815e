//! Names of metrics that are percentiles of one thing: `latency_p50`, `latency_p999`.

use super::spec::{ParseSpec, WorkloadSpec};

/// The name before the percentile, and the percentile as a share below 1; none for other names.
///
/// Two digits are percent, every further one a decimal place: `p99` is 0.99, `p999` is 0.999, `p9995` is 0.9995. `p5` is 0.05.
#[must_use]
pub fn percentile(name: &str) -> Option<(&str, f64)> {
    let (stem, digits) = name.rsplit_once("_p")?;
    let plain = !stem.is_empty() && (1..=7).contains(&digits.len()) && digits.bytes().all(|digit| digit.is_ascii_digit());
    let share = if digits.len() == 1 { format!("0.0{digits}") } else { format!("0.{digits}") };
    // What the largest one was is no percentile of anything: `p100` and `max` have no place on an axis that goes to 1.
    (plain && digits != "100").then(|| share.parse().ok()).flatten().filter(|share| *share > 0.0).map(|share| (stem, share))
}

/// Load generators that ask again only when they have an answer, so that a stall counts once and not for all who would have come
/// meanwhile; and the arguments with which they do not wait.
pub const CLOSED_LOOP: [(&str, &[&str]); 7] = [
    ("ab", &[]),
    ("autocannon", &["-R", "--overallRate"]),
    ("hey", &[]),
    ("locust", &[]),
    ("oha", &["--latency-correction"]),
    ("redis-benchmark", &[]),
    ("wrk", &["-R", "--rate"]),
];

/// Whether a workload is known to be such a load generator.
#[must_use]
pub fn is_closed_loop(workload: &WorkloadSpec) -> bool {
    let waits = |tool: &str| {
        let known = CLOSED_LOOP.iter().find(|(name, _)| *name == tool);
        let mut words = workload.unit.command.iter().flat_map(|argument| argument.split_whitespace());
        known.is_some_and(|(_, open)| !words.any(|word| open.iter().any(|flag| word.starts_with(flag))))
    };
    workload.parse.iter().any(|parse| matches!(parse, ParseSpec::Tool(tool) if waits(tool)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_beyond_the_second_are_decimal_places() {
        let table = [
            ("latency_p50", Some(("latency", 0.5))),
            ("latency_p05", Some(("latency", 0.05))),
            ("latency_p5", Some(("latency", 0.05))),
            ("latency_p99", Some(("latency", 0.99))),
            ("latency_p999", Some(("latency", 0.999))),
            ("a.get_latency_p9999", Some(("a.get_latency", 0.9999))),
            ("read_latency_p9995", Some(("read_latency", 0.9995))),
            ("latency_p100", None),
            ("latency_p00", None),
            ("latency_max", None),
            ("latency_p", None),
            ("_p99", None),
            ("latency_pf9", None),
            ("latency_p12345678", None),
        ];
        for (name, expected) in table {
            assert_eq!(percentile(name), expected, "{name}");
        }
    }
}
