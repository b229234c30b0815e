//! Two moments make the circumstances of a trial. Pure.

mod cpu;
mod disks;
mod host;
mod network;
mod span;
mod threads;

use super::counters::{Moment, Scope};
use crate::model::hygiene::{CHECKS, Reading};
use crate::model::metric::Observation;
use span::Span;
use std::time::Duration;

/// A shorter window tells nothing: the kernel counts CPU time in ticks of 10 ms, and groups lag by up to a tick.
pub const SHORTEST_WINDOW: Duration = Duration::from_millis(50);

/// What happened around one measurement.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Circumstances {
    /// One per check that applies, in the order of [`crate::model::hygiene::CHECKS`]. Not here: `idle-gate`, `start-latency` and
    /// `late-samples`, which are not read from counters.
    pub readings: Vec<Reading>,
    /// `host_cpu_seconds`, `softirq_cpu_seconds`, `foreign_cpu_seconds`, `named_cpu_seconds`, `observer_cpu_seconds`; what could not be read is absent.
    pub observations: Vec<Observation>,
}

/// What happened between two moments of a trial; nothing at all when they are closer than [`SHORTEST_WINDOW`].
#[must_use]
pub fn between(scope: &Scope, begun: &Moment, ended: &Moment) -> Circumstances {
    let Some(span) = Span::new(scope, begun, ended) else { return Circumstances::default() };
    let mut readings = cpu::readings(&span);
    readings.extend(threads::readings(&span));
    readings.extend(host::readings(&span));
    readings.extend(disks::readings(&span));
    readings.extend(network::readings(&span));
    readings.sort_by_key(|reading| CHECKS.iter().position(|check| check.name == reading.check));
    Circumstances { readings, observations: cpu::observations(&span) }
}

/// A reading that is there, or says that it could not be made.
fn read(check: &str, value: Option<f64>) -> Reading {
    Reading { value: value.filter(|value| value.is_finite()), ..Reading::unobservable(check) }
}

/// The larger of two candidates and what it is about; none is never the larger one.
fn largest<D>(candidates: impl Iterator<Item = (f64, D)>) -> Option<(f64, D)> {
    candidates.filter(|(value, _)| value.is_finite()).max_by(|one, other| one.0.total_cmp(&other.0))
}

/// A reading of the largest candidate, with what that is about.
fn read_largest(check: &str, candidates: impl Iterator<Item = (f64, String)>) -> Reading {
    match largest(candidates) {
        Some((value, detail)) => Reading::of(check, value).about(detail),
        None => Reading::unobservable(check),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::attest::processes::CpuTime;
    use crate::measure::attest::proxies::Proxy;
    use crate::measure::samplers::counters::{DiskMoment, Engine, Host, NamespaceMoment, Network, ScopeUnit, Unit};
    use crate::measure::samplers::source::conntrack::Conntrack;
    use crate::measure::samplers::source::group_cpu::Quota;
    use crate::measure::samplers::source::group_io::Moved;
    use crate::measure::samplers::source::stat::{Stat, Ticks};
    use crate::measure::window::EngineProcesses;

    /// Two CPUs; `did` is what each did so far, in ticks of 10 ms.
    fn stat(did: [Ticks; 2]) -> Option<Stat> {
        let [a, b] = did;
        let all = Ticks {
            user: a.user + b.user,
            system: a.system + b.system,
            idle: a.idle + b.idle,
            irq: a.irq + b.irq,
            softirq: a.softirq + b.softirq,
            steal: a.steal + b.steal,
        };
        Some(Stat { all, cpus: vec![(0, a), (1, b)] })
    }

    fn cpu(ticks: u64) -> Option<CpuTime> {
        CpuTime::parse(&format!("1 (x) S 1 1 1 0 -1 0 0 0 0 0 {ticks} 0 0 0 20 0 1 0 7 "))
    }

    fn unit(name: &str, is_service: bool) -> ScopeUnit {
        let cgroup = format!("shakedown/r/{name}");
        ScopeUnit { name: name.to_owned(), leaf: cgroup.clone(), cgroup, is_service, ..ScopeUnit::default() }
    }

    /// One workload on a host of version 1; within ten seconds it used 12 CPU seconds.
    fn plain() -> (Scope, Moment, Moment) {
        let scope = Scope { units: vec![unit("load", false)], ..Scope::default() };
        let own = |cpu_ns| Unit { name: "load".into(), cpu_ns: Some(cpu_ns), ..Unit::default() };
        let begun = Moment {
            at: Duration::from_secs(100),
            host: Host {
                stat: stat([Ticks::default(); 2]),
                tasks_ns: Some(5_000_000_000),
                own: Duration::from_millis(10),
                memory_full_us: Some(7),
                io_full_us: Some(0),
                swapped: Some(3),
                throttles: Some(5),
                complaints: Some(vec!["old".into()]),
                disks: Some(vec![DiskMoment { name: "vda".into(), moved: Moved { read: 10, written: 10 }, busy_ms: 100 }]),
                ..Host::default()
            },
            units: vec![own(1_000_000_000)],
            ..Moment::default()
        };
        let ended = Moment {
            at: Duration::from_secs(110),
            host: Host {
                stat: stat([
                    Ticks { user: 600, system: 50, idle: 300, softirq: 40, steal: 10, ..Ticks::default() },
                    Ticks { user: 100, system: 650, idle: 190, irq: 10, softirq: 50, steal: 0 },
                ]),
                tasks_ns: Some(18_500_000_000),
                own: Duration::from_millis(110),
                memory_full_us: Some(100_007),
                io_full_us: Some(500_000),
                swapped: Some(3),
                throttles: Some(5),
                governors: Some((1, 2)),
                clock_rate: Some(2.5e9),
                complaints: Some(Vec::new()),
                disks: Some(vec![DiskMoment { name: "vda".into(), moved: Moved { read: 2_000_010, written: 10 }, busy_ms: 2_600 }]),
                ..Host::default()
            },
            units: vec![own(13_000_000_000)],
            ..Moment::default()
        };
        (scope, begun, ended)
    }

    fn value(found: &Circumstances, check: &str) -> Option<f64> {
        let reading = found.readings.iter().find(|reading| reading.check == check);
        reading.unwrap_or_else(|| panic!("{check} applies")).value.map(|value| (value * 1e9).round() / 1e9)
    }

    fn detail<'c>(found: &'c Circumstances, check: &str) -> Option<&'c str> {
        found.readings.iter().find(|reading| reading.check == check)?.detail.as_deref()
    }

    fn applies(found: &Circumstances, check: &str) -> bool {
        found.readings.iter().any(|reading| reading.check == check)
    }

    fn seconds(found: &Circumstances, name: &str) -> Option<f64> {
        found.observations.iter().find(|observation| observation.name == name).map(|found| (found.value * 1e9).round() / 1e9)
    }

    #[test]
    fn a_plain_trial() {
        let (scope, begun, ended) = plain();
        let found = between(&scope, &begun, &ended);
        for (check, expected) in [
            ("foreign-cpu", Some(0.07)), // 13.5 s of tasks, 12 of the unit, 0.1 of ours: 1.4 s of 20
            ("steal", Some(0.005)),
            ("memory-pressure", Some(0.01)),
            ("io-pressure", Some(0.05)),
            ("governor", Some(0.5)),
            ("frequency", Some(2.5e9)),
            ("thermal", Some(0.0)),
            ("softirq", Some(0.05)),
            ("swap", Some(0.0)),
            ("kernel-log", Some(0.0)),
            ("cold-cache", Some(2_000_000.0)),
            ("disk-busy", Some(0.25)),
            ("host-cpu", Some(0.75)),
            ("busiest-cpu", Some(0.81)),
            ("observer-cpu", Some(0.01)),
            ("foreign-io", None),       // no group of the controller
            ("workload-threads", None), // nobody saw the threads
        ] {
            assert_eq!(value(&found, check), expected, "{check}");
        }
        assert_eq!((detail(&found, "busiest-cpu"), detail(&found, "softirq")), (Some("cpu1, mostly system"), Some("cpu1")));
        assert_eq!(detail(&found, "disk-busy"), Some("vda"));
        for name in
            ["generator", "engine-cpu", "docker-proxy", "busiest-proxy", "ports", "conntrack", "cpu-limit-unused", "throttled-periods"]
        {
            assert!(!applies(&found, name), "{name}");
        }
        for (name, expected) in
            [("host_cpu_seconds", 15.0), ("softirq_cpu_seconds", 1.5), ("foreign_cpu_seconds", 1.4), ("observer_cpu_seconds", 0.1)]
        {
            assert_eq!(seconds(&found, name), Some(expected), "{name}");
        }
        let order: Vec<_> = found.readings.iter().map(|reading| CHECKS.iter().position(|check| check.name == reading.check)).collect();
        assert!(order.is_sorted() && order.iter().all(Option::is_some), "{order:?}");
    }

    #[test]
    fn a_window_too_short_says_nothing() {
        let (scope, begun, ended) = plain();
        for at in [Duration::from_millis(100_049), Duration::from_secs(99)] {
            assert_eq!(between(&scope, &begun, &Moment { at, ..ended.clone() }), Circumstances::default());
        }
        assert!(!between(&scope, &begun, &Moment { at: Duration::from_millis(100_050), ..ended }).readings.is_empty());
    }

    #[test]
    fn nothing_readable_is_nothing_read() {
        let found = between(&Scope::default(), &Moment::default(), &Moment { at: Duration::from_secs(1), ..Moment::default() });
        let known: Vec<_> = found.readings.iter().filter(|reading| reading.value.is_some()).map(|reading| reading.check.as_str()).collect();
        assert_eq!(known, ["observer-cpu"]);
        assert!(seconds(&found, "foreign_cpu_seconds").is_none() && seconds(&found, "host_cpu_seconds").is_none());
    }

    #[test]
    fn foreign_is_what_nobody_claims() {
        let proxy = Proxy {
            pid: 9,
            protocol: "tcp".into(),
            host_ip: [127, 0, 0, 1].into(),
            host_port: 80,
            container_ip: [127, 0, 0, 1].into(),
            container_port: 80,
        };
        let (scope, begun, ended) = plain();
        let foreign = |change: &dyn Fn(&mut Scope, &mut Moment, &mut Moment)| {
            let (mut scope, mut begun, mut ended) = (scope.clone(), begun.clone(), ended.clone());
            change(&mut scope, &mut begun, &mut ended);
            seconds(&between(&scope, &begun, &ended), "foreign_cpu_seconds")
        };
        assert_eq!(foreign(&|_, _, _| {}), Some(1.4));
        // A unit without a group of its own, with one that is gone, that never counted, or that is another one.
        assert_eq!(foreign(&|_, begun, ended| (begun.units[0].cpu_ns, ended.units[0].cpu_ns) = (None, None)), None);
        assert_eq!(foreign(&|_, _, ended| ended.units[0].cpu_ns = None), None);
        assert_eq!(foreign(&|_, begun, ended| (begun.units[0].cpu_ns, ended.units[0].cpu_ns) = (Some(0), Some(0))), None);
        assert_eq!(foreign(&|_, _, ended| ended.units[0].cpu_ns = Some(1)), None);
        // Proxies of a daemon that runs anyway, with its own processes; and of one whose group holds them.
        let apart = |engine_end: Option<CpuTime>| {
            let proxy = proxy.clone();
            move |scope: &mut Scope, begun: &mut Moment, ended: &mut Moment| {
                (scope.proxies, scope.engine) = (vec![proxy.clone()], Some(EngineProcesses::Pids(vec![5])));
                (begun.proxies, ended.proxies) = (vec![cpu(10)], vec![cpu(40)]);
                (begun.engine, ended.engine) = (Some(Engine::Processes(vec![cpu(0)])), Some(Engine::Processes(vec![engine_end])));
            }
        };
        assert_eq!(foreign(&apart(cpu(20))), Some(0.9));
        assert_eq!(foreign(&apart(None)), None);
        assert_eq!(
            foreign(&|scope, begun, ended| {
                apart(None)(scope, begun, ended);
                (begun.engine, ended.engine) = (Some(Engine::Group(Some(1))), Some(Engine::Group(Some(500_000_001))));
            }),
            Some(0.9)
        );
        // Of two named processes one ended.
        assert_eq!(foreign(&|_, begun, ended| (begun.processes, ended.processes) = (vec![cpu(5), cpu(5)], vec![cpu(45), None])), Some(1.0));
        // More than there was is nothing.
        assert_eq!(foreign(&|_, _, ended| ended.host.tasks_ns = Some(15_000_000_000)), Some(0.0));
        // Without a counter of all tasks: busy time of tasks, 14 s.
        assert_eq!(foreign(&|_, begun, ended| (begun.host.tasks_ns, ended.host.tasks_ns) = (None, None)), Some(1.9));
        assert_eq!(foreign(&|_, _, ended| ended.host.tasks_ns = None), None);
    }

    #[test]
    fn a_workload_is_as_busy_as_its_threads_and_limits_let_it() {
        let (scope, begun, ended) = plain();
        let share = |change: &dyn Fn(&mut Scope, &mut Moment, &mut Moment)| {
            let (mut scope, mut begun, mut ended) = (scope.clone(), begun.clone(), ended.clone());
            change(&mut scope, &mut begun, &mut ended);
            value(&between(&scope, &begun, &ended), "workload-threads")
        };
        let tasks = |tasks| move |_: &mut Scope, begun: &mut Moment, _: &mut Moment| begun.saw_tasks("load", tasks);
        assert_eq!(share(&tasks(8)), Some(0.6), "1.2 of the host's two CPUs");
        assert_eq!(share(&tasks(2)), Some(0.6));
        assert_eq!(share(&tasks(1)), Some(0.6), "a single thread cannot use 1.2 CPUs: there were others");
        let slow = |_: &mut Scope, begun: &mut Moment, ended: &mut Moment| {
            begun.saw_tasks("load", 1);
            ended.units[0].cpu_ns = Some(10_900_000_000);
        };
        assert_eq!(share(&slow), Some(0.99));
        let coordinated = |scope: &mut Scope, begun: &mut Moment, ended: &mut Moment| {
            slow(scope, begun, ended);
            begun.saw_tasks("load", 2);
            begun.units[0].waiting = 1;
        };
        assert_eq!(share(&coordinated), Some(0.99), "of two threads one waits for the other");
        assert_eq!(share(&|scope, _, _| scope.units[0].cpuset = Some(1)), Some(1.2), "threads do not matter then");
        assert_eq!(share(&|scope, _, _| scope.units[0].quota = Some(0.5)), Some(2.4));
        assert_eq!(share(&|_, _, ended| ended.saw_tasks("other", 4)), None);
    }

    #[test]
    fn a_quota_that_never_throttled_limited_nothing() {
        let (mut scope, begun, mut ended) = plain();
        scope.units[0].quota = Some(1.5);
        let found = between(&scope, &begun, &ended);
        assert_eq!((value(&found, "throttled-periods"), value(&found, "cpu-limit-unused")), (None, None), "nobody saw");
        ended.saw_quota("load", 100, 0);
        let found = between(&scope, &begun, &ended);
        assert_eq!((value(&found, "throttled-periods"), value(&found, "cpu-limit-unused")), (Some(0.0), Some(0.8)));
        assert_eq!(detail(&found, "cpu-limit-unused"), None, "there is no other unit");
        ended.saw_quota("load", 100, 30);
        let found = between(&scope, &begun, &ended);
        assert_eq!(value(&found, "throttled-periods"), Some(0.3));
        assert!(!applies(&found, "cpu-limit-unused"));
        let (mut begun, mut ended) = (begun, Moment { units: vec![Unit { seen_quota: None, ..ended.units[0].clone() }], ..ended });
        begun.units[0].quota = Some(Quota { periods: 50, throttled: 10, throttled_ns: 0 });
        ended.units[0].quota = Some(Quota { periods: 150, throttled: 12, throttled_ns: 0 });
        assert_eq!(value(&between(&scope, &begun, &ended), "throttled-periods"), Some(0.02), "a group that stays");
    }

    #[test]
    fn disks_move_bytes_for_somebody() {
        let (scope, mut begun, mut ended) = plain();
        begun.units[0].moved = Some(Moved { read: 1, written: 0 });
        ended.units[0].moved = Some(Moved { read: 1_500_001, written: 0 });
        let found = between(&scope, &begun, &ended);
        assert_eq!((value(&found, "foreign-io"), detail(&found, "foreign-io")), (Some(0.25), Some("only of what was read")));
        ended.host.charges_writes = true;
        ended.host.disks.as_mut().expect("disks")[0].moved.written = 2_000_010;
        ended.units[0].moved = Some(Moved { read: 1_500_001, written: 1_500_000 });
        let found = between(&scope, &begun, &ended);
        assert_eq!((value(&found, "foreign-io"), detail(&found, "foreign-io")), (Some(0.25), None));
        ended.host.disks.as_mut().expect("disks")[0].moved = Moved { read: 1_000_010, written: 10 };
        assert!(!applies(&between(&scope, &begun, &ended), "foreign-io"), "too few bytes to share");
        ended.host.disks = None;
        let found = between(&scope, &begun, &ended);
        assert_eq!((value(&found, "foreign-io"), value(&found, "cold-cache"), value(&found, "disk-busy")), (None, None, None));
    }

    #[test]
    fn the_network_is_read_where_load_goes_to_a_service() {
        let (mut scope, mut begun, mut ended) = plain();
        scope.units.push(unit("web", true));
        let served = |cpu_ns| Unit { name: "web".into(), cpu_ns: Some(cpu_ns), ..Unit::default() };
        begun.units.push(served(1));
        ended.units.push(served(1_000_000_001));
        let namespace = |number, whose: &str, drops, sent, again, waiting| NamespaceMoment {
            number,
            whose: whose.to_owned(),
            listen_drops: Some(drops),
            segments: Some((sent, again)),
            ports: Some((waiting, 1000)),
        };
        let network = |softnet, entries, drops, namespaces| {
            let conntrack = Some(Conntrack { entries, drops });
            Some(Network {
                softnet_drops: Some(softnet),
                conntrack,
                conntrack_most: Some(200),
                namespaces,
                knows_services: true,
                knows_loads: true,
            })
        };
        begun.network = network(5, 1, 9, vec![namespace(1, "web", 3, 100, 1, 0), namespace(2, "load", 0, 0, 0, 0)]);
        ended.network = network(7, 150, 10, vec![namespace(1, "web", 8, 1100, 6, 0), namespace(2, "load", 0, 999, 999, 900)]);
        let found = between(&scope, &begun, &ended);
        for (check, expected, about) in [
            ("softnet-drops", 2.0, None),
            ("listen-drops", 5.0, Some("web")),
            ("retransmits", 0.005, Some("web")),
            ("conntrack", 0.75, None),
            ("conntrack-drops", 1.0, None),
            ("ports", 0.9, Some("load")),
        ] {
            assert_eq!((value(&found, check), detail(&found, check)), (Some(expected), about), "{check}");
        }
        assert_eq!(value(&found, "generator"), None);
        assert!(!applies(&found, "workload-threads"));
        begun.saw_tasks("load", 3);
        assert_eq!(value(&between(&scope, &begun, &ended), "generator"), Some(0.6));
        let own = ended.network.as_mut().expect("a network");
        (own.knows_services, own.knows_loads) = (false, false);
        let found = between(&scope, &begun, &ended);
        assert_eq!(["listen-drops", "retransmits", "ports"].map(|check| value(&found, check)), [None; 3]);
    }
}
