//! What goes on around a trial, read from this host's own kernel. Others work on it meanwhile: two readings of the same time are
//! compared, never one with a limit.

use crate::skipped::skip;
use shakedown::engine::control::{self, Control};
use shakedown::measure::attest::processes::CpuTime;
use shakedown::measure::samplers::{Counters, Look, Sampled, Sampler, Scope, ScopeUnit, Subject, between};
use shakedown::measure::window::EngineProcesses;
use shakedown::model::cgroup::CgroupLayout;
use shakedown::model::hygiene::Reading;
use shakedown::model::spec::LimitsSpec;
use shakedown::record::{RunFolder, keep_series};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A group of ours; removed with everything in it.
struct Group {
    control: Control,
    path: String,
}

impl Group {
    /// None, and the test is skipped, where nobody lets us make one.
    #[track_caller]
    fn make(name: &str) -> Option<Self> {
        let layout = control::layout().expect("a layout");
        if !control::may_make_groups(&layout) {
            skip("no control groups may be made");
            return None;
        }
        // Other tests sweep what belongs to no run that is alive.
        let run = format!("test-{}-{name}", std::process::id());
        crate::alive::hold(&run);
        let group = Self { control: Control::new(layout), path: format!("shakedown/{run}/unit") };
        group.control.create(&group.path, &LimitsSpec::default()).expect("a group");
        Some(group)
    }

    fn layout(&self) -> &CgroupLayout {
        self.control.layout()
    }

    /// The run that it belongs to.
    fn run(&self) -> &str {
        self.path.rsplit_once('/').expect("a run").0
    }

    fn unit(&self) -> ScopeUnit {
        ScopeUnit { name: "unit".into(), cgroup: self.path.clone(), leaf: self.path.clone(), ..ScopeUnit::default() }
    }

    fn scope(&self) -> Scope {
        Scope { units: vec![self.unit()], ..Scope::default() }
    }

    fn entries(&self) -> Vec<std::path::PathBuf> {
        self.control.entries(&self.path, &LimitsSpec::default())
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let _ = self.control.remove(&self.path); // the test tells what is wrong
    }
}

/// A process that burns a CPU until it is dropped.
struct Burner(Child);

impl Burner {
    /// Enters these groups first.
    fn start(entries: &[std::path::PathBuf]) -> Self {
        let script = "for entry in \"$@\"; do echo 0 >\"$entry\" || exit; done; while :; do :; done";
        let child = Command::new("sh").args(["-c", script, "sh"]).args(entries).stdout(Stdio::null()).spawn();
        Self(child.expect("a shell"))
    }

    fn cpu(&self) -> CpuTime {
        CpuTime::read(self.0.id()).expect("it runs")
    }

    /// Waits until it used so much; a loaded host takes longer.
    fn burn(&self, seconds: f64) {
        let (clock, begun) = (Instant::now(), self.cpu());
        while self.cpu().seconds_since(begun).expect("the same process") < seconds {
            assert!(clock.elapsed() < Duration::from_secs(60), "it gets no CPU, or has ended");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Burner {
    fn drop(&mut self) {
        let _ = self.0.kill(); // gone already is as good
        let _ = self.0.wait();
    }
}

fn value(readings: &[Reading], check: &str) -> Option<f64> {
    readings.iter().find(|reading| reading.check == check).unwrap_or_else(|| panic!("{check} applies: {readings:?}")).value
}

/// Foreign CPU seconds while a process burned, and what it burned: to who knows its group, and to who does not.
fn foreign(group: &Group, entries: &[std::path::PathBuf]) -> [Option<f64>; 3] {
    let [mut knows, mut knows_not] = [0, 1].map(|_| Counters::open(group.layout(), "shakedown/none"));
    let (scope, none) = (group.scope(), Scope::default());
    let burner = Burner::start(entries);
    burner.burn(0.05); // the group counted something: it is the unit's
    knows.prepare(&scope);
    knows_not.prepare(&none);
    let (begun, cpu) = ((knows.mark(&scope), knows_not.mark(&none)), burner.cpu());
    burner.burn(0.4);
    let (ended, cpu) = ((knows.mark(&scope), knows_not.mark(&none)), burner.cpu().seconds_since(cpu));
    let found = [between(&scope, &begun.0, &ended.0), between(&none, &begun.1, &ended.1)];
    let seconds = found.map(|found| found.observations.into_iter().find(|seen| seen.name == "foreign_cpu_seconds").map(|seen| seen.value));
    [seconds[0], seconds[1], cpu]
}

#[test]
fn what_burns_in_a_units_group_is_not_foreign_and_elsewhere_it_is() {
    let Some(group) = Group::make("foreign") else { return };
    let [knows, knows_not, burned] = foreign(&group, &group.entries()).map(|seconds| seconds.expect("seconds"));
    let apart = (knows_not - knows) / burned;
    assert!((0.5..1.5).contains(&apart), "{knows} {knows_not} {burned}");
    // Outside of the group it is foreign to both.
    let [knows, knows_not, burned] = foreign(&group, &[]).map(|seconds| seconds.expect("seconds"));
    assert!(knows > burned * 0.5 && knows_not > burned * 0.5, "{knows} {knows_not} {burned}");
    let Some(unused) = Group::make("unused") else { return };
    let [knows, knows_not, _] = foreign(&unused, &[]);
    assert!(knows.is_none() && knows_not.is_some(), "a group that counted nothing is no unit's");
}

#[test]
fn a_look_tells_the_runs_own_work_from_others() {
    let Some(group) = Group::make("look") else { return };
    let [mut own, mut other] = [group.run(), "shakedown/none"].map(|run| Counters::open(group.layout(), run));
    let burner = Burner::start(&group.entries());
    let (first, cpu, clock) = ((Look::now(&mut own), Look::now(&mut other)), burner.cpu(), Instant::now());
    burner.burn(0.4);
    let last = (Look::now(&mut own), Look::now(&mut other));
    let burned = burner.cpu().seconds_since(cpu).expect("the same process");
    let cpus = f64::from(shakedown::measure::host::facts().cpus);
    let shares = [last.0.foreign_since(&first.0), last.1.foreign_since(&first.1)].map(|share| share.expect("a share"));
    let apart = (shares[1] - shares[0]) * cpus * clock.elapsed().as_secs_f64() / burned;
    assert!((0.5..1.5).contains(&apart), "{shares:?} {burned}");
    assert!(last.0.runnable().is_some_and(|runnable| runnable >= 0.0));
    for pressure in [last.0.cpu_pressure_since(&first.0), last.0.io_pressure_since(&first.0)].into_iter().flatten() {
        assert!((0.0..=1.0).contains(&pressure), "{pressure}");
    }
    assert_eq!(first.0.foreign_since(&last.0), None, "time goes one way");
}

#[test]
fn a_workload_with_one_thread_is_as_busy_as_one_cpu_lets_it() {
    let Some(group) = Group::make("threads") else { return };
    let mut counters = Counters::open(group.layout(), group.run());
    let scope = Scope { units: vec![ScopeUnit { quota: Some(100.0), ..group.unit() }], ..Scope::default() };
    let burner = Burner::start(&group.entries());
    burner.burn(0.05);
    let mut begun = counters.mark(&scope);
    counters.glance(&mut begun);
    burner.burn(0.3);
    let ended = counters.mark(&scope);
    counters.release();
    let readings = between(&scope, &begun, &ended).readings;
    // It shares the CPU with whoever else works here.
    let share = value(&readings, "workload-threads").expect("its thread was seen");
    assert!(share > 0.05 && share < 1.1, "{share}");
    assert_eq!(value(&readings, "throttled-periods"), Some(0.0), "{readings:?}");
    assert!(value(&readings, "cpu-limit-unused").is_some_and(|used| used < 0.05), "{readings:?}");
    for check in ["host-cpu", "busiest-cpu", "observer-cpu", "steal", "softirq"] {
        assert!(value(&readings, check).is_some_and(|value| (0.0..1.1).contains(&value)), "{check}: {readings:?}");
    }
}

#[test]
fn the_network_of_a_service_is_read_in_its_namespace() {
    let layout = control::layout().expect("a layout");
    let mut counters = Counters::open(&layout, "shakedown/none");
    let unit = |name: &str, is_service, pid| ScopeUnit { name: name.into(), is_service, pid, ..ScopeUnit::default() };
    let measure = |counters: &mut Counters, pid| {
        let scope = Scope { units: vec![unit("load", false, None), unit("web", true, pid)], ..Scope::default() };
        counters.prepare(&scope);
        let begun = counters.mark(&scope);
        std::thread::sleep(Duration::from_millis(60));
        let ended = counters.mark(&scope);
        counters.release();
        between(&scope, &begun, &ended).readings
    };
    let readings = measure(&mut counters, Some(std::process::id()));
    for check in ["softnet-drops", "listen-drops", "ports"] {
        assert!(value(&readings, check).is_some_and(|value| value >= 0.0), "{check}: {readings:?}");
    }
    assert_eq!(value(&readings, "generator"), None, "it has no group");
    assert_eq!(value(&measure(&mut counters, None), "listen-drops"), None, "nobody knows the service's namespace");
    assert_eq!(value(&measure(&mut counters, Some(u32::MAX)), "listen-drops"), None, "nor that of no process");
}

#[test]
fn what_vanishes_meanwhile_is_absent() {
    let Some(group) = Group::make("vanish") else { return };
    let mut sleeper = Command::new("sleep").arg("987").spawn().expect("sleep");
    let scope = Scope { engine: Some(EngineProcesses::Pids(vec![sleeper.id()])), ..group.scope() };
    let mut counters = Counters::open(group.layout(), group.run());
    counters.prepare(&scope);
    let begun = counters.mark(&scope);
    let look = Look::now(&mut counters);
    std::thread::sleep(Duration::from_millis(60));
    sleeper.kill().and_then(|()| sleeper.wait().map(drop)).expect("its end");
    group.control.remove(&group.path).expect("removed");
    let readings = between(&scope, &begun, &counters.mark(&scope)).readings;
    assert_eq!([value(&readings, "foreign-cpu"), value(&readings, "engine-cpu"), value(&readings, "workload-threads")], [None; 3]);
    assert_eq!(Look::now(&mut counters).foreign_since(&look), None, "the run's group is gone with its last words");
}

/// The values of a column over time.
fn column(sampled: &Sampled, subject: &str, quantity: &str) -> Vec<Option<f64>> {
    let at = sampled.series.columns.iter().position(|column| column.subject == subject && column.quantity == quantity);
    let at = at.unwrap_or_else(|| panic!("{subject}.{quantity}: {:?}", sampled.series.columns));
    sampled.series.samples.iter().map(|sample| sample.values[at]).collect()
}

#[test]
fn samples_grow_and_what_is_not_there_is_absent() {
    let Some(group) = Group::make("sampler") else { return };
    let layout = group.layout();
    let unit = |name: &str, cgroup: &str| Subject::Unit { name: name.into(), cgroup: cgroup.into(), leaf: Some(cgroup.into()) };
    let later = format!("{}/later", group.run());
    let subjects = vec![
        unit("unit", &group.path),
        unit("later", &later),
        unit("none", "shakedown/none/none"),
        Subject::Engine(EngineProcesses::Pids(vec![u32::MAX])),
        Subject::Processes { name: "we".into(), pids: vec![std::process::id()] },
        Subject::Host,
        Subject::Observer,
    ];
    let sampler = Sampler::start(layout, Duration::from_millis(20), subjects).expect("a thread");
    let burner = Burner::start(&group.entries());
    burner.burn(0.1); // by then the first sample was taken
    sampler.phase("window");
    burner.burn(0.2);
    group.control.create(&later, &LimitsSpec::default()).expect("a group");
    sampler.add(Subject::Proxies(vec![burner.0.id()]));
    burner.burn(0.2);
    sampler.phase("drain");
    let sampled = sampler.finish();
    group.control.remove(&later).expect("removed");

    let samples = &sampled.series.samples;
    assert!(samples.len() >= 3, "{}", samples.len());
    assert!(samples.is_sorted_by_key(|sample| (sample.time * 1e9) as u64), "{samples:?}");
    assert_eq!((samples[0].phase.as_str(), samples.last().expect("samples").phase.as_str()), ("start", "drain"));
    assert!(samples.iter().any(|sample| sample.phase == "window"));
    assert!(samples.iter().all(|sample| sample.values.len() == sampled.series.columns.len()));
    let last = |subject, quantity| *column(&sampled, subject, quantity).last().expect("samples");
    assert!(last("unit", "cpu").is_some_and(|cpu| cpu > 0.3), "{:?}", last("unit", "cpu"));
    assert!(last("unit", "memory").is_some_and(|bytes| bytes > 0.0));
    assert!(last("unit", "tasks").is_some_and(|tasks| tasks >= 1.0));
    assert_eq!(last("unit", "throttled"), Some(0.0));
    assert!(last("docker-proxy", "cpu").is_some_and(|cpu| cpu > 0.3), "what was added later counts from its own beginning");
    assert_eq!(column(&sampled, "docker-proxy", "cpu")[0], None);
    assert_eq!((column(&sampled, "later", "cpu")[0], last("later", "cpu")), (None, Some(0.0)));
    for quantity in ["cpu", "memory", "read", "written", "tasks", "throttled"] {
        assert!(column(&sampled, "none", quantity).iter().all(Option::is_none), "{quantity}");
    }
    assert!(column(&sampled, "engine", "cpu").iter().all(Option::is_none));
    for (subject, quantity) in [("unit", "cpu"), ("host", "cpu"), ("host", "tasks-cpu"), ("observer", "cpu"), ("we", "cpu")] {
        let values: Option<Vec<f64>> = column(&sampled, subject, quantity).into_iter().collect();
        let values = values.unwrap_or_else(|| panic!("{subject}.{quantity} is always there"));
        assert!(values[0] == 0.0 && values.is_sorted(), "{subject}.{quantity}: {values:?}");
    }
    assert!(sampled.late.is_some_and(|late| (0.0..=1.0).contains(&late)));
    assert!(sampled.cpu_seconds > 0.0 && sampled.cpu_seconds < 10.0);
    let folder = tempfile::tempdir().expect("folder");
    let run = RunFolder::existing(folder.path().to_owned());
    let kept = keep_series(&run, "b1p1", &sampled.series).expect("every row has a value per column");
    assert_eq!(kept.samples as usize, sampled.series.samples.len());
}

#[test]
fn a_sampler_ends_when_it_is_told_and_not_at_the_next_sample() {
    let layout = control::layout().expect("a layout");
    let hour = Duration::from_secs(3600);
    let clock = Instant::now();
    drop(Sampler::start(&layout, hour, vec![Subject::Observer]).expect("a thread"));
    let at_once = Sampler::start(&layout, hour, vec![Subject::Observer]).expect("a thread").finish();
    let sampler = Sampler::start(&layout, hour, vec![Subject::Observer]).expect("a thread");
    std::thread::sleep(Duration::from_millis(500));
    let sampled = sampler.finish();
    assert!(clock.elapsed() < hour / 10, "nobody waits for an interval");
    assert_eq!((sampled.series.samples.len(), sampled.late), (2, None));
    assert_eq!(at_once, Sampled::default(), "what is over at once is not worth opening files for");
}
