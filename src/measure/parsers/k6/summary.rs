//! What every form of k6's summary says.

/// A summary. What is not there is none.
#[derive(Debug, Default)]
pub(super) struct Summary {
    pub requests: Option<f64>,
    /// 1/s.
    pub rate: Option<f64>,
    /// Failed requests, and of how many.
    pub failed: Option<(f64, f64)>,
    pub iterations: Option<f64>,
    /// 1/s.
    pub iteration_rate: Option<f64>,
    pub dropped: Option<f64>,
    /// Passed checks, and of how many.
    pub checks_passed: Option<(f64, f64)>,
    /// Names of metrics and seconds, in the order of the dictionary.
    pub latencies: Vec<(&'static str, f64)>,
    /// As the summary says it, s.
    pub told_duration: Option<f64>,
    pub bytes: Option<f64>,
    pub bytes_per_second: Option<f64>,
    /// Thresholds that were crossed: metric and expression.
    pub crossed: Vec<String>,
    /// How many summaries of this form there are.
    pub runs: usize,
}

/// The statistics of k6's trends, and what they are called here.
pub(super) const STATISTICS: [(&str, &str); 11] = [
    ("avg", "latency_avg"),
    ("min", "latency_min"),
    ("max", "latency_max"),
    ("med", "latency_p50"),
    ("p(50)", "latency_p50"),
    ("p(75)", "latency_p75"),
    ("p(90)", "latency_p90"),
    ("p(95)", "latency_p95"),
    ("p(99)", "latency_p99"),
    ("p(99.9)", "latency_p999"),
    ("p(99.99)", "latency_p9999"),
];

/// Part of a duration by which two of them may differ.
const ALIKE: f64 = 0.01;

impl Summary {
    /// Takes the statistics of `http_req_duration`.
    pub(super) fn take_latencies(&mut self, seconds: impl Fn(&str) -> Option<f64>) {
        self.latencies.clear();
        for (statistic, name) in STATISTICS {
            if let Some(seconds) = seconds(statistic).filter(|_| self.latency(name).is_none()) {
                self.latencies.push((name, seconds));
            }
        }
    }

    /// How long the test ran, s.
    pub(super) fn duration(&self) -> Option<f64> {
        self.told_duration.or_else(|| over(self.requests, self.rate)).or_else(|| over(self.iterations, self.iteration_rate))
    }

    /// Why it is not to be believed. Every rate is a count over the same time, and what failed is a part of what was counted.
    pub(super) fn contradiction(&self) -> Option<&'static str> {
        let durations = [self.told_duration, over(self.requests, self.rate), over(self.iterations, self.iteration_rate)];
        let durations: Vec<f64> = durations.into_iter().flatten().collect();
        if durations.windows(2).any(|pair| (pair[0] - pair[1]).abs() > pair[0].max(pair[1]) * ALIKE) {
            return Some("its rates are not its counts over one time");
        }
        if self.failed.zip(self.requests).is_some_and(|((failed, of), requests)| of > requests || failed > of) {
            return Some("its failed requests are not a part of its requests");
        }
        if self.checks_passed.is_some() && self.checks_failed().is_none() {
            return Some("its passed checks are not a part of its checks");
        }
        let (avg, min, max) = (self.latency("latency_avg"), self.latency("latency_min"), self.latency("latency_max"));
        let above = |low: Option<f64>, high: Option<f64>| low.zip(high).is_some_and(|(low, high)| low > high);
        let percentiles: Vec<f64> =
            self.latencies.iter().filter(|(name, _)| name.starts_with("latency_p")).map(|(_, value)| *value).collect();
        let ends = above(min, percentiles.first().copied()) || above(percentiles.last().copied(), max);
        let disordered = ends || above(min, avg) || above(avg, max) || percentiles.windows(2).any(|pair| pair[0] > pair[1]);
        disordered.then_some("its latencies are not in order")
    }

    /// Failed checks, and of how many; none also when that cannot be.
    pub(super) fn checks_failed(&self) -> Option<(f64, f64)> {
        self.checks_passed.filter(|(passed, of)| (0.0..=*of).contains(passed)).map(|(passed, of)| (of - passed, of))
    }

    fn latency(&self, name: &str) -> Option<f64> {
        self.latencies.iter().find(|(known, _)| *known == name).map(|(_, seconds)| *seconds)
    }
}

/// A count over its rate, s.
fn over(count: Option<f64>, rate: Option<f64>) -> Option<f64> {
    Some(count? / rate.filter(|rate| *rate > 0.0)?)
}
