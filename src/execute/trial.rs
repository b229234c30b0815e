//! One attempt at one trial: create, start together, measure, collect, tear down.

use super::{Shared, readings, warm_up};
use crate::engine::{Created, Engine, EngineError, Exit, Image, Output, UnitName};
use crate::measure::window::{Closed, Helpers, Watched, Window};
use crate::model::event::{Attested, CLOCK_STEP, UNATTESTED};
use crate::model::metric::Observation;
use crate::model::outcome::{Failure, FailureKind, Phase};
use crate::model::spec::{Place, TrialSpec, WorkloadSpec};
use futures_util::future::join_all;
use std::future::Future;
use std::time::{Duration, Instant};

/// What an attempt gave.
#[derive(Default)]
pub(super) struct Measured {
    pub(super) metrics: Vec<Observation>,
    pub(super) attested: Vec<Attested>,
    pub(super) outputs: Vec<(String, Output)>,
    pub(super) problems: Vec<String>,
    /// Why a sceptic would leave it out.
    pub(super) taints: Vec<String>,
    pub(super) failure: Option<Failure>,
    /// Whether a call failed that may have left something behind.
    pub(super) unsettled: bool,
}

impl Measured {
    fn fail(&mut self, failure: Failure) {
        self.failure.get_or_insert(failure);
    }

    fn taint(&mut self, keyword: &str, problem: String) {
        if !self.taints.iter().any(|known| known == keyword) {
            self.taints.push(keyword.to_owned());
        }
        self.problems.push(problem);
    }
}

/// A workload with its engine and, once created, its unit.
pub(super) struct Unit<'t> {
    pub(super) workload: &'t WorkloadSpec,
    pub(super) engine: &'t dyn Engine,
    pub(super) image: Option<&'t Image>,
    created: Option<Created>,
    /// Our own clock before and after its start, and at the news of its exit.
    clock: Option<(Instant, Instant)>,
    ended: Option<Instant>,
}

/// Runs one attempt; none when it was cancelled. Nothing of it is left either way.
pub(super) async fn run(shared: &Shared<'_>, spec: &TrialSpec, name: &UnitName) -> Option<Measured> {
    let mut units: Vec<Unit<'_>> = spec
        .workloads
        .iter()
        .map(|workload| {
            let engine: &dyn Engine = match workload.unit.place {
                Place::Host => shared.ready.host.as_deref().expect("the preflight opened the host"),
                Place::Container => &*shared.ready.engines[&spec.engine],
            };
            let image = match workload.unit.place {
                Place::Host => None,
                Place::Container => workload.unit.image.as_ref().and_then(|source| shared.images.get(&spec.engine, source)),
            };
            Unit { workload, engine, image, created: None, clock: None, ended: None }
        })
        .collect();
    let mut measured = Measured::default();
    if let Err(failure) = phases(shared, name, &mut units, &mut measured).await {
        measured.unsettled = true;
        measured.fail(failure);
    }
    if let Err(failure) = teardown(shared, &units).await {
        measured.unsettled = true;
        measured.fail(failure);
    }
    (!shared.cancel.is_cancelled() || measured.failure.is_none() && !measured.metrics.is_empty()).then_some(measured)
}

async fn phases(shared: &Shared<'_>, name: &UnitName, units: &mut [Unit<'_>], measured: &mut Measured) -> Result<(), Failure> {
    let limits = &shared.job.limits;
    for unit in units.iter() {
        if let Some(warmup) = &unit.workload.warmup {
            warm_up::run(unit, warmup, name, limits, shared.cancel).await?;
        }
        if shared.cancel.is_cancelled() {
            return Ok(());
        }
    }
    for unit in units.iter_mut() {
        let own = UnitName { unit: unit.workload.name.clone(), ..name.clone() };
        unit.created = Some(limited(Phase::Create, limits.create, unit.engine.create(&own, &unit.workload.unit, unit.image)).await?);
        if shared.cancel.is_cancelled() {
            return Ok(());
        }
    }
    let window = Window::open(&shared.job.layout, units.iter().filter_map(watched).collect(), Helpers::default());
    let started = join_all(units.iter_mut().map(|unit| start(unit, limits.start))).await;
    let waits = match started.into_iter().find_map(Result::err) {
        Some(failure) => {
            measured.unsettled = failure.kind != FailureKind::NotStarted;
            measured.fail(failure);
            Vec::new()
        }
        None => join_all(units.iter_mut().map(|unit| wait(shared, unit))).await,
    };
    let closed = window.close();
    measured.attested = closed.units.iter().flat_map(|unit| unit.attested.clone()).collect();
    if shared.cancel.is_cancelled() && waits.iter().any(Option::is_none) {
        return Ok(());
    }
    collect(shared, units, waits, &closed, measured).await;
    if let Some(wrong) = measured.attested.iter().find(|a| a.differs()) {
        let found = wrong.found.as_deref().unwrap_or("nothing");
        let reason = format!("`{}`: asked for {} = {}, the kernel says {found} ({})", wrong.unit, wrong.setting, wrong.asked, wrong.source);
        measured.fail(Failure { phase: Phase::Attest, kind: FailureKind::Attestation, reason });
    }
    if measured.failure.is_none() {
        unattested(units, &closed, measured);
    }
    Ok(())
}

/// What was asked and never seen. A container's group may come and go between two looks: the row says so. A host process's group
/// is ours and still there: what cannot be read of it is not in force.
fn unattested(units: &[Unit<'_>], closed: &Closed, measured: &mut Measured) {
    for row in closed.units.iter().flat_map(|unit| &unit.attested).filter(|row| row.found.is_none()) {
        let ours = units.iter().any(|unit| unit.workload.name == row.unit && unit.workload.unit.place == Place::Host);
        let what = format!("`{}`: asked for {} = {}, and nothing could be read ({})", row.unit, row.setting, row.asked, row.source);
        if ours {
            measured.fail(Failure { phase: Phase::Attest, kind: FailureKind::Attestation, reason: what });
        } else {
            measured.taint(UNATTESTED, what);
        }
    }
}

/// Starts one unit, between two looks at our own clock.
async fn start(unit: &mut Unit<'_>, limit: Duration) -> Result<(), Failure> {
    let Some(created) = &unit.created else { return Ok(()) };
    let asked = Instant::now();
    limited(Phase::Start, limit, unit.engine.start(created)).await?;
    unit.clock = Some((asked, Instant::now()));
    Ok(())
}

fn watched(unit: &Unit<'_>) -> Option<Watched> {
    let created = unit.created.as_ref()?;
    Some(Watched {
        unit: unit.workload.name.clone(),
        cgroup: created.cgroup.clone(),
        leaf: created.leaf.clone(),
        limits: unit.workload.unit.limits.clone(),
        inside: None,
    })
}

/// Waits for one workload's exit; none when cancelled.
async fn wait(shared: &Shared<'_>, unit: &mut Unit<'_>) -> Option<Result<(), Failure>> {
    let created = unit.created.as_ref()?;
    let waited = tokio::select! {
        waited = limited(Phase::Measure, unit.workload.timeout, unit.engine.wait(created)) => waited,
        () = shared.cancel.cancelled() => return None,
    };
    unit.ended = waited.is_ok().then(Instant::now);
    Some(waited)
}

/// Reads how one workload ended that was waited for.
async fn exit(shared: &Shared<'_>, unit: &Unit<'_>, created: &Created, waited: Result<(), Failure>) -> Result<Exit, Failure> {
    waited?;
    limited(Phase::Measure, shared.job.limits.collect, unit.engine.exit(created)).await
}

/// Fetches and reads what every workload wrote. Output of a failed one is kept too: it says why.
async fn collect(
    shared: &Shared<'_>,
    units: &[Unit<'_>],
    waits: Vec<Option<Result<(), Failure>>>,
    closed: &Closed,
    measured: &mut Measured,
) {
    let several = units.len() > 1;
    let mut waits = waits.into_iter();
    for unit in units {
        let Some(created) = &unit.created else { continue };
        let exit = match waits.next().flatten() {
            Some(waited) => Some(exit(shared, unit, created, waited).await),
            None => None,
        };
        let output = match limited(Phase::Collect, shared.job.limits.collect, unit.engine.output(created)).await {
            Ok(output) => output,
            Err(failure) => {
                measured.fail(failure);
                Output::default()
            }
        };
        match exit {
            Some(Ok(exit)) => {
                if let (Some((asked, answered)), Some(ended)) = (unit.clock, unit.ended)
                    && readings::clock_stepped(&exit, ended - asked, ended.saturating_duration_since(answered))
                {
                    let told = "the engine's stamps do not fit the time that passed: its clock was set meanwhile";
                    measured.taint(CLOCK_STEP, format!("`{}`: {told}", unit.workload.name));
                }
                measured.attested.extend(image_attested(unit, &exit));
                let mut failure = readings::judge(unit.workload, &exit);
                let mut reading = readings::read(unit.workload, &exit, &output);
                if let Some(failure) = &mut failure
                    && let Some(words) = readings::last_words(&output)
                {
                    failure.reason = format!("{}: {words}", failure.reason);
                }
                if let Some(failure) = failure.or(reading.failure) {
                    measured.fail(failure);
                }
                let own = closed
                    .units
                    .iter()
                    .filter(|counted| counted.unit == unit.workload.name)
                    .flat_map(|counted| counted.observations.clone());
                reading.metrics.extend(own);
                for mut metric in reading.metrics {
                    if several {
                        metric.name = format!("{}.{}", unit.workload.name, metric.name);
                    }
                    if !measured.metrics.iter().any(|known| known.name == metric.name) {
                        measured.metrics.push(metric);
                    }
                }
                measured.problems.append(&mut reading.problems);
            }
            Some(Err(failure)) => measured.fail(failure),
            None => {}
        }
        measured.outputs.push((unit.workload.name.clone(), output));
    }
}

/// Whether the container ran from the image that was made ready for it.
fn image_attested(unit: &Unit<'_>, exit: &Exit) -> Option<Attested> {
    let wanted = unit.image?;
    Some(Attested {
        unit: unit.workload.name.clone(),
        setting: "image".to_owned(),
        asked: wanted.digest.clone(),
        found: exit.image.clone(),
        source: "engine".to_owned(),
    })
}

/// Removes every unit, or with `--keep` all but ended containers: nothing may run beside the next trial, and what a host process
/// left behind runs on in its control group. All are tried, the first failure is told.
async fn teardown(shared: &Shared<'_>, units: &[Unit<'_>]) -> Result<(), Failure> {
    let limit = shared.job.limits.teardown;
    let stays = |unit: &&Unit<'_>| shared.job.keep && unit.ended.is_some() && unit.workload.unit.place == Place::Container;
    let going = units.iter().filter(|unit| !stays(unit));
    let removals =
        going.filter_map(|unit| unit.created.as_ref().map(|created| limited(Phase::Teardown, limit, unit.engine.remove(created))));
    join_all(removals).await.into_iter().collect()
}

/// Runs a phase within its limit, and names its failure.
pub(super) async fn limited<T>(phase: Phase, limit: Duration, work: impl Future<Output = Result<T, EngineError>>) -> Result<T, Failure> {
    match tokio::time::timeout(limit, work).await {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => {
            let kind = match &error {
                EngineError::NotStarted { .. } => FailureKind::NotStarted,
                EngineError::Unsupported { .. } => FailureKind::Unsupported,
                _ => FailureKind::Infrastructure,
            };
            Err(Failure { phase, kind, reason: error.to_string() })
        }
        Err(_) => Err(Failure { phase, kind: FailureKind::Timeout, reason: format!("not done within {}", seconds(limit)) }),
    }
}

fn seconds(limit: Duration) -> String {
    let seconds = limit.as_secs_f64();
    if seconds < 60.0 { format!("{seconds} s") } else { format!("{} min", seconds / 60.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_cannot_be_done_at_all_is_no_fault_to_try_again() {
        let fails = |error| limited(Phase::Create, Duration::from_secs(5), async { Err::<(), _>(error) });
        let what = || "x".to_owned();
        let table = [
            (EngineError::Unsupported { what: what() }, FailureKind::Unsupported),
            (EngineError::NotStarted { program: what(), reason: what() }, FailureKind::NotStarted),
            (EngineError::Call { operation: what(), reason: what() }, FailureKind::Infrastructure),
        ];
        for (error, kind) in table {
            assert_eq!(fails(error).await.map_err(|failure| failure.kind), Err(kind));
        }
    }
}
