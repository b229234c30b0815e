//! Latencies of requests as load generators print them: what must hold of them, and what their reader must beware of.

use super::few_samples;
use super::reading::Reading;
use crate::model::metric::Unit;

/// What can be known of latencies, in the order of the dictionaries.
const KNOWN: [&str; 14] = ["avg", "stdev", "min", "max", "p10", "p25", "p50", "p75", "p90", "p95", "p975", "p99", "p999", "p9999"];

/// Latencies, s.
#[derive(Debug, Default)]
pub(super) struct Latencies([Option<f64>; KNOWN.len()]);

impl Latencies {
    /// Sets `avg`, `p50` and so on; the last one counts.
    pub(super) fn set(&mut self, name: &str, seconds: Option<f64>) {
        if let Some(at) = KNOWN.iter().position(|known| *known == name) {
            self.0[at] = seconds;
        }
    }

    /// One of them.
    pub(super) fn get(&self, name: &str) -> Option<f64> {
        KNOWN.iter().position(|known| *known == name).and_then(|at| self.0[at])
    }

    /// Percentiles descend, or the mean is outside its bounds.
    pub(super) fn contradict(&self) -> bool {
        let percentiles: Vec<f64> =
            KNOWN.iter().zip(self.0).filter(|(name, _)| name.starts_with('p')).filter_map(|(_, seconds)| seconds).collect();
        let above = |one: &str, other: &str| self.get(one).zip(self.get(other)).is_some_and(|(one, other)| one > other);
        percentiles.windows(2).any(|pair| pair[0] > pair[1]) || above("min", "avg") || above("avg", "max") || above("min", "max")
    }

    /// Reports them. A 0 is below the resolution of the tool and therefore absent.
    pub(super) fn tell(&self, reading: &mut Reading) {
        let mut zeros = Vec::new();
        for (name, seconds) in KNOWN.iter().zip(self.0) {
            let name = format!("latency_{name}");
            match seconds {
                Some(0.0) => zeros.push(name),
                seconds => reading.metric_if(&name, seconds, Unit::SECOND),
            }
        }
        if !zeros.is_empty() {
            reading.beware(format!("printed as 0, below the resolution, and therefore absent: {}", zeros.join(", ")));
        }
    }

    /// Says which percentiles fewer requests than one are slower than.
    pub(super) fn beware_of_few(&self, responses: f64, reading: &mut Reading) {
        let told = |(name, seconds): (&&str, Option<f64>)| seconds.filter(|seconds| *seconds > 0.0).map(|_| format!("latency_{name}"));
        let names: Vec<String> = KNOWN.iter().zip(self.0).filter_map(told).collect();
        if responses > 0.0 {
            few_samples::beware_of_few(reading, responses, "responses", names.iter().map(String::as_str));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Latencies;

    fn of(pairs: &[(&str, f64)]) -> Latencies {
        let mut latencies = Latencies::default();
        pairs.iter().for_each(|(name, seconds)| latencies.set(name, Some(*seconds)));
        latencies
    }

    #[test]
    fn order_is_checked() {
        let table: [(&[(&str, f64)], bool); 7] = [
            (&[], false),
            (&[("min", 1.0), ("avg", 2.0), ("max", 3.0), ("p50", 2.0), ("p99", 2.0)], false),
            (&[("p50", 2.0), ("p999", 1.0)], true),
            (&[("min", 2.0), ("avg", 1.0)], true),
            (&[("avg", 2.0), ("max", 1.0)], true),
            (&[("min", 2.0), ("max", 1.0)], true),
            (&[("stdev", 9.0), ("max", 1.0), ("unheard", 1.0)], false),
        ];
        for (pairs, expected) in table {
            assert_eq!(of(pairs).contradict(), expected, "{pairs:?}");
        }
    }

    #[test]
    fn zeros_and_percentiles_of_few_requests_are_said() {
        let mut reading = super::Reading::default();
        let latencies = of(&[("min", 0.0), ("p50", 1.0), ("p99", 2.0), ("p999", 3.0)]);
        latencies.tell(&mut reading);
        latencies.beware_of_few(100.0, &mut reading);
        let found = reading.finish(&Default::default());
        let names: Vec<&str> = found.metrics.iter().map(|metric| metric.name.as_str()).collect();
        assert_eq!(names, ["latency_p50", "latency_p99", "latency_p999"]);
        assert_eq!(
            found.problems,
            [
                "printed as 0, below the resolution, and therefore absent: latency_min",
                "100 responses are too few for latency_p999: less than one of them lies beyond"
            ]
        );
    }
}
