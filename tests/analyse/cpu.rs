//! Where the CPU time went, against numbers worked out by hand.

use super::starts::private;
use super::{add_metric, add_variant, fail, results, row};
use shakedown::analyse::{analyse, cpu_parts};
use shakedown::model::cpu::{CpuPart, CpuSplit, Work};
use shakedown::model::metric::{Better, Unit};
use shakedown::model::outcome::Phase;
use shakedown::model::results::Results;
use shakedown::model::spec::{EngineSpec, Place, UnitSpec};
use shakedown::model::stack::{Condition, Dependency, ServiceSpec};

/// The seconds of one trial of a web server behind a load generator; together 10 s were busy, 1.5 s of it in interrupts.
pub const TRIAL: [(&str, f64); 9] = [
    ("requests", 1000.0),
    ("cpu_seconds", 2.0),
    ("web.cpu_seconds", 4.0),
    ("docker_proxy_cpu_seconds", 0.5),
    ("engine_cpu_seconds", 0.75),
    ("host_cpu_seconds", 10.0),
    ("softirq_cpu_seconds", 1.5),
    ("foreign_cpu_seconds", 0.25),
    ("observer_cpu_seconds", 0.125),
];

/// One variant per engine, of one trial like [`TRIAL`], with a load generator `wrk` and the service `web`.
pub fn web(factor: &str, variants: &[(&str, EngineSpec)]) -> Results {
    let mut results = results(factor, "requests_per_second", Unit::PER_SECOND, Better::Higher, &[]);
    for (name, _) in TRIAL {
        add_metric(&mut results, name, if name == "requests" { Unit::ONE } else { Unit::SECOND }, None);
        results.metrics.last_mut().expect("a metric").declared = false;
    }
    for (text, engine) in variants {
        let variant = add_variant(&mut results, text, &["wrk"]);
        let spec = &mut results.variants[variant].spec;
        (spec.engine, spec.services) = (engine.clone(), vec![service("web")]);
        let mut row = row(&results, variant, 1, &TRIAL);
        row.row.metrics.extend(super::row(&results, variant, 1, &[("requests_per_second", 100.0)]).row.metrics);
        results.rows.push(row);
    }
    results
}

/// A service that waits for nothing.
pub fn service(name: &str) -> ServiceSpec {
    let unit = UnitSpec { command: vec!["true".into()], ..UnitSpec::bare(Place::Container) };
    ServiceSpec { name: name.into(), unit, depends_on: Vec::new(), ready: None, prepare: Vec::new() }
}

fn set(results: &mut Results, row: usize, name: &str, value: Option<f64>) {
    let metrics = &mut results.rows[row].row.metrics;
    match value {
        Some(value) => metrics.iter_mut().find(|metric| metric.name == name).expect(name).value = value,
        None => metrics.retain(|metric| metric.name != name),
    }
}

/// Part, milliseconds per unit of work, and trials.
fn told(split: &CpuSplit) -> Vec<(&str, f64, usize)> {
    split.shares.iter().map(|share| (share.part.words(), (share.seconds * 1e9).round() / 1e6, share.n)).collect()
}

#[test]
fn parts_are_seconds_per_request_and_do_not_overlap() {
    let results = web("proxy", &[("on", private("overlay2")), ("running", EngineSpec::default())]);
    let found = analyse(&results).cpu;
    assert_eq!(found.iter().map(|split| (split.variant, split.work)).collect::<Vec<_>>(), [(0, Work::Request), (1, Work::Request)]);
    // 10 - 2 - 4 - 0.25 - 0.125 - 0.75 = 2.875 s are no task's, of which 1.5 s at most are interrupts.
    let private = [
        ("generator", 2.0, 1),
        ("web", 4.0, 1),
        ("docker-proxy", 0.5, 1),
        ("engine", 0.25, 1),
        ("softirq", 1.5, 1),
        ("foreign", 0.25, 1),
        ("shakedown", 0.125, 1),
    ];
    assert_eq!(told(&found[0]), private);
    let engine = |split: &CpuSplit| told(split).into_iter().find(|(part, ..)| *part == "engine").map(|(_, value, _)| value);
    assert_eq!(engine(&found[1]), Some(0.75), "dockerd and containerd alone do not hold docker-proxy");
}

#[test]
fn interrupts_count_as_far_as_no_task_was_charged() {
    let softirq = |host: f64, without: Option<&str>| {
        let mut results = web("f", &[("a", private("vfs"))]);
        set(&mut results, 0, "host_cpu_seconds", Some(host));
        if let Some(name) = without {
            set(&mut results, 0, name, None);
        }
        told(&analyse(&results).cpu[0]).into_iter().find(|(part, ..)| *part == "softirq").map(|(_, value, _)| value)
    };
    // The tasks used 7.125 s, docker-proxy within the engine's.
    assert_eq!([softirq(10.0, None), softirq(8.125, None), softirq(7.0, None)], [Some(1.5), Some(1.0), Some(0.0)]);
    for name in ["web.cpu_seconds", "cpu_seconds", "foreign_cpu_seconds", "observer_cpu_seconds", "softirq_cpu_seconds", "host_cpu_seconds"]
    {
        assert_eq!(softirq(8.125, Some(name)), None, "without {name} the rest could be anyone's");
    }
    assert_eq!(softirq(8.125, Some("engine_cpu_seconds")), Some(1.25), "what is not told of the engine is foreign");
}

#[test]
fn the_unit_of_work_is_what_every_trial_of_every_variant_counts() {
    let work = |change: &dyn Fn(&mut Results)| {
        let mut results = web("f", &[("a", EngineSpec::default()), ("b", EngineSpec::default())]);
        change(&mut results);
        analyse(&results).cpu.iter().map(|split| (split.work, split.shares[0].seconds)).collect::<Vec<_>>()
    };
    assert_eq!(work(&|_| {}), [(Work::Request, 0.002); 2]);
    assert_eq!(work(&|results| set(results, 1, "requests", Some(0.0))), [(Work::Trial, 2.0); 2], "a trial without any request");
    assert_eq!(work(&|results| set(results, 0, "requests", None)), [(Work::Trial, 2.0); 2]);
    let renamed = |name: &'static str| {
        move |results: &mut Results| {
            let rows = results.rows.iter_mut().flat_map(|row| &mut row.row.metrics);
            rows.filter(|metric| metric.name == "requests").for_each(|metric| metric.name = name.into());
        }
    };
    assert_eq!(work(&renamed("queries")), [(Work::Query, 0.002); 2]);
    assert_eq!(work(&renamed("events")), [(Work::Event, 0.002); 2]);
    assert_eq!(work(&renamed("web.requests")), [(Work::Trial, 2.0); 2], "a service's own count is no workload's");
    let failed = |results: &mut Results| {
        set(results, 1, "requests", None);
        fail(&mut results.rows[1], Phase::Measure, "exit code 1");
    };
    assert_eq!(work(&failed), [(Work::Request, 0.002)], "a variant without trials asks for nothing and has no split");
}

#[test]
fn medians_are_of_the_trials_that_count() {
    let mut results = web("f", &[("a", EngineSpec::default())]);
    for (block, requests, cpu) in [(2, 1000.0, 3.0), (3, 4000.0, 4.0), (4, 1000.0, 9.0)] {
        let mut row = row(&results, 0, block, &[("requests", requests), ("cpu_seconds", cpu)]);
        row.superseded = block == 4;
        results.rows.push(row);
    }
    // 2, 3 and 1 ms per request; the last trial was replaced.
    assert_eq!(told(&analyse(&results).cpu[0])[0], ("generator", 2.0, 3));
    assert_eq!(told(&analyse(&results).cpu[0])[1], ("web", 4.0, 1));
    results.rows.reverse();
    assert_eq!(told(&analyse(&results).cpu[0])[0], ("generator", 2.0, 3));
}

#[test]
fn several_workloads_and_services_have_their_own_names_and_order() {
    let mut results = web("f", &[("a", EngineSpec::default())]);
    let bare = add_variant(&mut results, "b", &["one", "two"]);
    let metrics = [("one.cpu_seconds", 1.0), ("two.cpu_seconds", 2.0), ("one.requests", 10.0), ("two.requests", 30.0)];
    results.rows.push(row(&results, bare, 1, &metrics));
    let spec = &mut results.variants[0].spec;
    spec.services = vec![service("web"), service("engine"), service("db"), service("migrate")];
    spec.services[0].depends_on = vec![Dependency { service: "migrate".into(), condition: Condition::ServiceCompletedSuccessfully }];
    let names: Vec<(String, CpuPart)> = cpu_parts(&results);
    let words: Vec<(&str, &str)> = names.iter().map(|(name, part)| (name.as_str(), part.words())).collect();
    let expected = [
        ("wrk", "generator wrk"),
        ("one", "generator one"),
        ("two", "generator two"),
        ("db", "db"),
        ("engine", "service engine"),
        ("web", "web"),
    ];
    assert_eq!(words, expected, "services that have ended are not there, and none is taken for the engine");
    let of_db = row(&results, 0, 1, &[("db.cpu_seconds", 8.0)]);
    results.rows[0].row.metrics.extend(of_db.row.metrics);
    let found = analyse(&results).cpu;
    let order: Vec<&str> = found[0].shares.iter().map(|share| share.part.words()).take(3).collect();
    assert_eq!(order, ["generator wrk", "db", "web"]);
    assert_eq!(told(&found[1]), [("generator one", 25.0, 1), ("generator two", 50.0, 1)], "per request of any workload");
    assert!(found[0].shares.iter().all(|share| share.part != CpuPart::Softirq), "a service was not counted");
    assert_eq!(told(&found[0]).last(), Some(&("shakedown", 0.125, 1)));
}

#[test]
fn a_record_that_does_not_tell_the_hosts_part_has_no_split() {
    let mut results = web("f", &[("a", EngineSpec::default())]);
    results.rows[0].row.metrics.truncate(5);
    assert!(results.rows[0].row.metrics.iter().any(|metric| metric.name == "engine_cpu_seconds"));
    assert!(analyse(&results).cpu.is_empty());
    let alone = super::results("f", "wall", Unit::SECOND, Better::Lower, &[("a", &[1.0, 2.0])]);
    assert!(analyse(&alone).cpu.is_empty());
}
