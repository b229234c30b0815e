//! What observing costs: the sampling thread's own CPU time, and what workloads feel of it, judged as anything is judged here.

use super::table::{Table, Value};
use shakedown::analyse::analyse;
use shakedown::engine::control::{self, Control};
use shakedown::measure::samplers::{Sampler, Subject};
use shakedown::model::cgroup::CgroupLayout;
use shakedown::model::estimate::Subject as Compared;
use shakedown::model::event::TrialRow;
use shakedown::model::experiment::{Design, Presentation};
use shakedown::model::metric::{Better, Observation, Unit};
use shakedown::model::outcome::Outcome;
use shakedown::model::plan::{AA_SUFFIX, Reason, SavedVariant};
use shakedown::model::results::{MetricColumn, ResultRow, Results};
use shakedown::model::spec::{EngineSpec, LimitsSpec, TrialSpec};
use shakedown::plan::random::Random;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Units that are sampled, each in a group of its own.
const UNITS: usize = 8;
/// How long the thread is watched.
const WATCHED: Duration = Duration::from_secs(20);

/// Blocks of the comparison; each has a period of every kind.
const BLOCKS: u32 = 250;
/// Ten samples a second tell more in a period of half a second than one a second in five: what ten cost is no less than what one does.
const PERIOD: Duration = Duration::from_millis(500);
const OFTEN: Duration = Duration::from_millis(100);
const KINDS: [&str; 3] = ["no samples", "samples at 10 Hz", "no samples#aa"];
const RATE: &str = "work_per_second";

pub fn measure(table: &mut Table) -> Result<(), String> {
    let layout = control::layout().map_err(|error| error.to_string())?;
    if !control::may_make_groups(&layout) {
        table.note("what sampling costs: not available: no control groups may be made");
        return Ok(());
    }
    let groups = Groups::make(layout)?;
    let measured = cost(&groups, table).and_then(|()| difference(&groups, table));
    measured.and(groups.remove())
}

/// The groups of the units.
struct Groups {
    control: Control,
    paths: Vec<String>,
}

impl Groups {
    fn make(layout: CgroupLayout) -> Result<Self, String> {
        let paths = (0..UNITS).map(|unit| format!("{}/bench-{}/unit{unit}", control::TOP, std::process::id())).collect();
        let groups = Self { control: Control::new(layout), paths };
        let made = groups.paths.iter().try_for_each(|path| groups.control.create(path, &LimitsSpec::default()));
        match made {
            Ok(()) => Ok(groups),
            Err(error) => groups.remove().and(Err(error.to_string())),
        }
    }

    fn sampler(&self, interval: Duration) -> Result<Sampler, String> {
        let unit = |path: &String| Subject::Unit { name: path.clone(), cgroup: path.clone(), leaf: Some(path.clone()) };
        let subjects = self.paths.iter().map(unit).chain([Subject::Host, Subject::Observer]).collect();
        Sampler::start(self.control.layout(), interval, subjects).ok_or_else(|| "no thread".to_owned())
    }

    fn remove(&self) -> Result<(), String> {
        self.paths.iter().try_for_each(|path| self.control.remove(path)).map_err(|error| error.to_string())
    }
}

/// CPU time of the sampling thread itself, for a large trial.
fn cost(groups: &Groups, table: &mut Table) -> Result<(), String> {
    let sampler = groups.sampler(Duration::from_secs(1))?;
    std::thread::sleep(WATCHED);
    let sampled = sampler.finish();
    let share = Value::Share(sampled.cpu_seconds / WATCHED.as_secs_f64());
    table.bar(&format!("samples of {UNITS} units and the host at 1 Hz, share of one CPU"), share, Value::Share(0.0005));
    table.number("  one sample", Value::Seconds(sampled.cpu_seconds / sampled.series.samples.len() as f64));
    Ok(())
}

/// What work on every CPU feels of it: periods with samples and without, interleaved.
fn difference(groups: &Groups, table: &mut Table) -> Result<(), String> {
    let (stop, done) = (AtomicBool::new(false), AtomicU64::new(0));
    let cpus = std::thread::available_parallelism().map_err(|error| error.to_string())?.get();
    let rows = std::thread::scope(|scope| {
        for _ in 0..cpus {
            scope.spawn(|| work(&stop, &done));
        }
        let rows = periods(groups, &done);
        stop.store(true, Ordering::Relaxed);
        rows
    })?;
    let analysis = analyse(&results(rows));
    for comparison in &analysis.comparisons {
        let Compared::Variant(variant) = comparison.subject else { continue };
        let what =
            if KINDS[variant].ends_with(AA_SUFFIX) { "A/A of no samples" } else { "work on all CPUs, sampled at 10 Hz / not sampled" };
        let effect = &comparison.effect;
        table.number(what, Value::Times(effect.ratio));
        let (low, high) = effect.low.zip(effect.high).ok_or("no interval")?;
        table.note(&format!("  {low:.4} to {high:.4}, n = {}: {} within 1 %", effect.n, effect.verdict.words()));
    }
    Ok(())
}

/// Counts pieces of the same work until it is told to stop.
fn work(stop: &AtomicBool, done: &AtomicU64) {
    let mut state = 1_u64;
    while !stop.load(Ordering::Relaxed) {
        for _ in 0..20_000 {
            state = std::hint::black_box(state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1));
        }
        done.fetch_add(1, Ordering::Relaxed);
    }
}

fn periods(groups: &Groups, done: &AtomicU64) -> Result<Vec<ResultRow>, String> {
    let mut random = Random::new(7);
    let mut rows = Vec::new();
    for block in 1..=BLOCKS {
        let mut kinds = [0, 1, 2];
        random.shuffle(&mut kinds);
        for kind in kinds {
            let sampler = if kind == 1 { Some(groups.sampler(OFTEN)?) } else { None };
            let (clock, before) = (Instant::now(), done.load(Ordering::Relaxed));
            std::thread::sleep(PERIOD);
            let (after, seconds) = (done.load(Ordering::Relaxed), clock.elapsed().as_secs_f64());
            drop(sampler.map(Sampler::finish));
            rows.push(row(block, kind, (after - before) as f64 / seconds));
        }
    }
    Ok(rows)
}

fn row(block: u32, kind: usize, rate: f64) -> ResultRow {
    let row = TrialRow {
        trial: format!("b{block}k{kind}"),
        variant: KINDS[kind].to_owned(),
        identity: String::new(),
        block,
        position: 1,
        engine_start: None,
        attempt: 1,
        at: String::new(),
        seconds: PERIOD.as_secs_f64(),
        outcome: Outcome::Ok,
        failure: None,
        taints: Vec::new(),
        metrics: Observation::finite(RATE, rate, Unit::PER_SECOND).into_iter().collect(),
        attested: Vec::new(),
        readings: Vec::new(),
        series: None,
        outputs: Vec::new(),
        problems: Vec::new(),
    };
    ResultRow { run: 0, variant: Some(kind), superseded: false, row, states: Vec::new() }
}

fn results(rows: Vec<ResultRow>) -> Results {
    let variant = |id: &&str| SavedVariant {
        id: (*id).to_owned(),
        levels: Vec::new(),
        identity: String::new(),
        reason: Reason::New,
        spec: TrialSpec::bare(EngineSpec::default()),
        vars: serde_json::Map::new(),
    };
    Results {
        experiment: "sampling".to_owned(),
        presentation: Presentation { title: String::new(), question: String::new(), metrics: Vec::new(), charts: None },
        design: Design { margin: 0.01, min_effect: 0.01, ..Design::default() },
        factors: Vec::new(),
        variants: KINDS.iter().map(variant).collect(),
        baseline: 0,
        runs: Vec::new(),
        rows,
        metrics: vec![MetricColumn {
            name: RATE.to_owned(),
            unit: Unit::PER_SECOND,
            better: Some(Better::Higher),
            primary: true,
            declared: true,
        }],
        warnings: Vec::new(),
        series: Vec::new(),
    }
}
