//! Where the CPU went, in whole reports: the table, the file, the charts, and what a record without it gives.

use super::{files, pictures, text};
use crate::analyse::cpu::{service, web};
use crate::analyse::starts::private;
use crate::analyse::{add_variant, row};
use shakedown::analyse::analyse;
use shakedown::model::observe::{PHASES, Sample, Series, SeriesColumn};
use shakedown::model::results::Results;
use shakedown::report::{makes, texts};

/// A private engine with docker-proxy, another one without, and the copy of the first.
fn proxied() -> Results {
    let mut results = web("userland_proxy", &[("true", private("vfs")), ("false", private("vfs"))]);
    let copy = add_variant(&mut results, "true#aa", &["wrk"]);
    results.variants[copy].spec = results.variants[0].spec.clone();
    let metrics: Vec<(&str, f64)> = crate::analyse::cpu::TRIAL.into_iter().chain([("requests_per_second", 100.0)]).collect();
    let again = row(&results, copy, 1, &metrics);
    results.rows.push(again);
    results.rows[1].row.metrics.retain(|metric| metric.name != "docker_proxy_cpu_seconds");
    results
}

/// Samples a second apart of a load generator, a server under a quota, docker-proxy, the engine, the host and a program of the manifest.
fn sampled(results: &mut Results, row: usize) {
    let columns = [
        ("wrk", "cpu"),
        ("web", "cpu"),
        ("web", "throttled"),
        ("docker-proxy", "cpu"),
        ("engine", "cpu"),
        ("chronyd", "cpu"),
        ("host", "tasks-cpu"),
        ("host", "pressure-io"),
        ("observer", "cpu"),
    ];
    let column = |(subject, quantity): (&str, &str)| SeriesColumn { subject: subject.into(), quantity: quantity.into(), unit: "s".into() };
    let sample = |at: usize| {
        let time = at as f64;
        let growing = [0.5, 1.0, 0.1, 0.25, 0.3, 0.01, 2.1, 0.02, 0.004].map(|rate| Some(rate * time));
        let mut values = growing.to_vec();
        if at < 2 {
            values[0] = None;
        }
        Sample { time, phase: PHASES[[0, 0, 1, 2, 2, 2, 2, 3][at.min(7)]].into(), values }
    };
    results.series.push((row, Series { columns: columns.map(column).to_vec(), samples: (0..8).map(sample).collect() }));
}

#[test]
fn the_page_says_where_the_cpu_went() {
    let mut results = proxied();
    sampled(&mut results, 0);
    sampled(&mut results, 1);
    let made = files(&results);
    assert_eq!(pictures(&made), ["requests_per_second-effects.png", "requests_per_second-trials.png", "cpu.png", "series.png"]);
    let page = text(&made, "README.md");
    let expected = "
## Where the CPU went

CPU time per request in ms: medians over the trials of each variant (n = 1).
– was not told by any trial, and is not zero.
*docker-proxy* is what carried published ports. *engine* is dockerd, containerd and its shims. *softirq* is what interrupts took and no task was charged for. *foreign* is every task that is neither the trial's nor the engine's nor shakedown's. *shakedown* is the program that measures.

| variant | generator | web | docker-proxy | engine | softirq | foreign | shakedown | sum |
|---|--:|--:|--:|--:|--:|--:|--:|--:|
| `userland_proxy=true` (baseline) | 2 | 4 | 0.5000 | 0.2500 | 1.500 | 0.2500 | 0.1250 | 8.625 |
| *`userland_proxy=true` (A/A control)* | 2 | 4 | 0.5000 | 0.2500 | 1.500 | 0.2500 | 0.1250 | 8.625 |
| `userland_proxy=false` | 2 | 4 | – | 0.7500 | 1.500 | 0.2500 | 0.1250 | 8.625 |

![CPU time per request by variant, split by who used it](cpu.png)

![CPUs used over one trial of each variant, with its phases](series.png)
";
    assert!(page.contains(expected), "{page}");
    assert!(page.contains("\n- [cpu.csv](cpu.csv): where the CPU time went, by variant and part\n"), "{page}");
    let charts = page.split("## Charts").nth(1).and_then(|rest| rest.split("\n## ").next()).expect("charts");
    assert!(!charts.contains("cpu.png"), "each chart stands in one place: {charts}");
    let csv = text(&made, "cpu.csv");
    let begins = "variant,userland_proxy,part,seconds_per_unit,unit_of_work,n\nuserland_proxy=true,true,generator,0.002,request,1\n";
    assert!(csv.starts_with(begins) && csv.ends_with("userland_proxy=true#aa,true,shakedown,0.000125,request,1\n"), "{csv}");
    assert_eq!(csv.lines().count(), 1 + 7 + 6 + 7);
    assert!(made == files(&results), "the same results give the same bytes");
}

#[test]
fn forty_variants_and_foreign_names_are_drawn_and_named() {
    let names: Vec<String> = (0..61).map(|at| format!("方式{at}")).collect();
    let variants: Vec<_> = names.iter().map(|name| (name.as_str(), private("vfs"))).collect();
    let mut results = web("ネットワーク", &variants);
    results.variants.iter_mut().for_each(|variant| variant.spec.services.push(service("データ|ベース")));
    sampled(&mut results, 3);
    let made = files(&results);
    let of_cpu: Vec<&str> = pictures(&made).into_iter().filter(|name| name.starts_with("cpu") || name.starts_with("series")).collect();
    assert_eq!(of_cpu, ["cpu-1.png", "cpu-2.png", "series.png"]);
    let page = text(&made, "README.md");
    assert_eq!(page.split("## Where").nth(1).map(|rest| rest.matches("| `ネットワーク=方式").count()), Some(61 + levels(&page)));
    assert!(texts(&results).contains(&"データ|ベース".to_owned()), "a font must have the characters of services");
}

/// Rows of the tables of levels, which follow.
fn levels(page: &str) -> usize {
    page.split("## Levels").nth(1).map_or(0, |rest| rest.matches("| `ネットワーク=方式").count())
}

#[test]
fn a_record_without_the_hosts_part_has_neither_section_nor_file() {
    let mut results = proxied();
    for row in &mut results.rows {
        row.row.metrics.retain(|metric| !["host", "softirq", "foreign", "observer"].iter().any(|part| metric.name.starts_with(part)));
    }
    assert!(analyse(&results).cpu.is_empty());
    let made = files(&results);
    assert!(made.iter().all(|(name, _)| !name.starts_with("cpu")), "{:?}", pictures(&made));
    assert!(!text(&made, "README.md").contains("Where the CPU went") && !text(&made, "README.md").contains("cpu.csv"));
    sampled(&mut results, 0);
    let made = files(&results);
    let page = text(&made, "README.md");
    assert!(page.contains("\n## Where the CPU went\n\n![CPUs used over one trial"), "samples alone are worth a chart: {page}");
}

#[test]
fn what_an_earlier_report_drew_is_known_by_its_name() {
    for name in [
        "cpu.png",
        "cpu-2.png",
        "wall-bars.svg",
        "cpu-again-2.png",
        "series-again-2.svg",
        "drift.png",
        "series.png",
        "cpu.csv",
        "wall-effects.png",
        "wall-effects-2.png",
        "a_wall-effects-again-2.png",
        "wall-factors.png",
        "wall-by-a-and-b-2.png",
        "wall-interaction-a-b.png",
    ] {
        assert!(makes(name), "{name}");
    }
    for name in [
        "cpus.png",
        "cpu-mine.png",
        "cpu-.png",
        "my-series.png",
        "series-2.png",
        "cpu.txt",
        "-effects.png",
        "plan.svg",
        "drifting.png",
        "wall-effects-mine.png",
    ] {
        assert!(!makes(name), "{name}");
    }
}
