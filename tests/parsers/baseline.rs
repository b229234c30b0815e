//! Repeated measurements of five plain workloads on one machine, some beside others: `ab`, `ab -k`, `wrk`, `sysbench`, and what bash and
//! busybox timed. Each by what one would look for first.

use super::{fixture, fixtures, parse};

type Expected = (&'static str, &'static str, &'static [(&'static str, f64)]);

const CASES: &[Expected] = &[
    ("ab_t1_1.txt", "ab", &[("requests_per_second", 10_872.10), ("latency_p99", 0.030)]),
    ("ab_t1_2.txt", "ab", &[("requests_per_second", 10_595.26), ("latency_p99", 0.030)]),
    ("ab_t1_4.txt", "ab", &[("requests_per_second", 2809.77), ("latency_p99", 0.235)]),
    ("abk_t1_1.txt", "ab", &[("requests_per_second", 30_849.78), ("latency_p99", 0.016)]),
    ("abk_t1_4.txt", "ab", &[("requests_per_second", 8459.40), ("latency_p99", 0.087)]),
    ("dd_t1_1.txt", "time", &[("real", 0.50), ("user", 0.0), ("sys", 0.29)]),
    ("dd_t1_2.txt", "time", &[("real", 0.52)]),
    ("dd_t1_3.txt", "time", &[("real", 0.62)]),
    ("dd_t1_5.txt", "time", &[("real", 0.67)]),
    ("sb_t1_1.txt", "sysbench", &[("events_per_second", 5351.79), ("events", 16_078.0), ("latency_p95", 0.000_28)]),
    ("sb_t1_3.txt", "sysbench", &[("events_per_second", 1379.78), ("events", 4147.0), ("latency_p95", 0.004_91)]),
    ("sb_t1_4.txt", "sysbench", &[("events_per_second", 1321.08), ("events", 3974.0), ("latency_p95", 0.005_67)]),
    ("sb_t1_5.txt", "sysbench", &[("events_per_second", 1229.19), ("events", 3695.0), ("latency_p95", 0.005_18)]),
    ("sbt_t1_2.txt", "time", &[("real", 0.366), ("user", 0.401), ("sys", 0.0)]),
    ("sbt_t1_4.txt", "time", &[("real", 0.943)]),
    ("wrk_t1_1.txt", "wrk", &[("requests_per_second", 30_107.0), ("requests", 90_404.0), ("latency_p99", 0.006_83)]),
    ("wrk_t1_2.txt", "wrk", &[("requests_per_second", 31_231.23), ("requests", 94_147.0), ("latency_p99", 0.007_34)]),
    ("wrk_t1_3.txt", "wrk", &[("requests_per_second", 8265.65), ("requests", 25_121.0), ("latency_p99", 0.051_21)]),
    ("wrk_t1_5.txt", "wrk", &[("requests_per_second", 11_040.42), ("requests", 33_862.0), ("latency_p99", 0.038_47)]),
];

#[test]
fn repeated_measurements_are_read() {
    let named: Vec<&str> = CASES.iter().map(|(file, ..)| *file).collect();
    assert_eq!(named, fixtures("baseline"), "every one has its expectation");
    for (file, tool, metrics) in CASES {
        let found = parse(tool, &fixture("baseline", file), b"", 0);
        assert!(found.ok, "{file}: {found:?}");
        for (name, value) in *metrics {
            let metric = found.metrics.iter().find(|metric| metric.name == *name).unwrap_or_else(|| panic!("{file}: no {name}"));
            assert!((metric.value - value).abs() <= value * 1e-12, "{file}: {name} is {} and not {value}", metric.value);
        }
    }
}
