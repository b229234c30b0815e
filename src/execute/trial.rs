//! One attempt at one trial: furnish, services, prepare, create, start together, measure, collect, tear down.

use super::aside::{self, Aside};
use super::names::Names;
use super::services::{self, Around, Service};
use super::sight::{Ports, Sight};
use super::stage::{Instance, Stage};
use super::surroundings::{GLANCE, Marks, Surroundings};
use super::{Shared, collect, gate};
use crate::engine::{Created, Engine, EngineError, Exit, Furniture, Image, Output, UnitName};
use crate::measure::window::{Expected, Watched, Window};
use crate::model::event::{Attested, UNATTESTED};
use crate::model::hygiene::Reading;
use crate::model::metric::Observation;
use crate::model::observe::Series;
use crate::model::outcome::{Failure, FailureKind, Phase};
use crate::model::spec::{Place, TrialSpec, UnitSpec, WorkloadSpec};
use crate::model::target::Target;
use futures_util::future::join_all;
use std::future::Future;
use std::time::{Duration, Instant};

/// What an attempt gave.
#[derive(Default)]
pub(super) struct Measured {
    pub(super) metrics: Vec<Observation>,
    pub(super) attested: Vec<Attested>,
    /// What was read of the circumstances.
    pub(super) readings: Vec<Reading>,
    pub(super) series: Option<Series>,
    pub(super) outputs: Vec<(String, Output)>,
    pub(super) problems: Vec<String>,
    /// Why a sceptic would leave it out.
    pub(super) taints: Vec<String>,
    pub(super) failure: Option<Failure>,
    /// Whether a call failed that may have left something behind.
    pub(super) unsettled: bool,
    /// Why something of it could not be removed.
    pub(super) left: Option<String>,
}

impl Measured {
    pub(super) fn fail(&mut self, failure: Failure) {
        self.failure.get_or_insert(failure);
    }

    pub(super) fn taint(&mut self, keyword: &str, problem: String) {
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
    pub(super) created: Option<Created>,
    /// Our own clock before and after its start, and at the news of its exit.
    pub(super) clock: Option<(Instant, Instant)>,
    pub(super) ended: Option<Instant>,
}

/// Runs one attempt; none when it was cancelled. Nothing of it is left either way.
pub(super) async fn run(
    shared: &Shared<'_>,
    (instance, stage): (&Instance, &Stage),
    spec: &TrialSpec,
    name: &UnitName,
) -> Option<Measured> {
    let image = |unit: &UnitSpec| match unit.place {
        Place::Host => None,
        Place::Container => unit.image.as_ref().and_then(|source| shared.images.get(instance, source)),
    };
    let mut units: Vec<Unit<'_>> = spec
        .workloads
        .iter()
        .map(|workload| {
            let (engine, image) = (stage.engine(workload.unit.place), image(&workload.unit));
            Unit { workload, engine, image, created: None, clock: None, ended: None }
        })
        .collect();
    let services = Service::all(spec, stage, &image);
    let names = Names::new(spec, name, &shared.job.folder, stage.namespace());
    let volumes = [Place::Container, Place::Host].map(|place| names.volumes(place));
    let furniture = [
        (Place::Container, Furniture { networks: &spec.networks, volumes: &volumes[0] }),
        (Place::Host, Furniture { networks: &[], volumes: &volumes[1] }),
    ];
    let furniture: Vec<_> = furniture.into_iter().filter(|(_, all)| !all.networks.is_empty() || !all.volumes.is_empty()).collect();
    let surroundings = Surroundings::begin(shared, spec, &names, stage.sight());
    let around = Around { stage, names: &names, limits: &shared.job.limits, cancel: shared.cancel, surroundings: &surroundings };
    let mut measured = Measured::default();
    if let Err(failure) = phases(shared, &around, &furniture, &services, &mut units, &mut measured).await {
        measured.unsettled = true;
        measured.fail(failure);
    }
    if measured.failure.is_some() {
        keep_words(shared, &services, &mut measured).await;
    }
    let torn_down = teardown(shared, &around, &furniture, &services, &units).await;
    surroundings.end(&mut measured);
    if let Err(failure) = torn_down {
        measured.unsettled = true;
        measured.left = Some(failure.reason.clone());
        measured.fail(failure);
    }
    (!shared.cancel.is_cancelled() || measured.failure.is_none() && !measured.metrics.is_empty()).then_some(measured)
}

async fn phases(
    shared: &Shared<'_>,
    around: &Around<'_>,
    furniture: &[(Place, Furniture<'_>)],
    services: &[Service<'_>],
    units: &mut [Unit<'_>],
    measured: &mut Measured,
) -> Result<(), Failure> {
    let (limits, names) = (&shared.job.limits, around.names);
    for (place, furniture) in furniture {
        limited(Phase::Networks, limits.create, around.stage.engine(*place).furnish(&names.of(""), *furniture)).await?;
    }
    services::up(services, around).await?;
    if shared.cancel.is_cancelled() {
        return Ok(());
    }
    let mut bound = Vec::with_capacity(units.len());
    for unit in units.iter() {
        let name = &unit.workload.name;
        let unbound = |reason| Failure { phase: Phase::Create, kind: FailureKind::Unsupported, reason: format!("`{name}`: {reason}") };
        let spec = names.bind(&unit.workload.unit).map_err(unbound)?;
        bound.push(spec);
    }
    before(shared, around, units, &bound, measured).await?;
    if shared.cancel.is_cancelled() {
        return Ok(());
    }
    for (unit, spec) in units.iter_mut().zip(&bound) {
        let own = names.of(&unit.workload.name);
        unit.created = Some(limited(Phase::Create, limits.create, unit.engine.create(&own, spec, unit.image)).await?);
        if shared.cancel.is_cancelled() {
            return Ok(());
        }
    }
    services::all_run(services).await?;
    let (sight, namespace) = (around.stage.sight(), around.stage.namespace());
    let ports = Ports::of(sight, namespace.clone(), names.standing()).await;
    let inside = |name: &str, unit: &UnitSpec| sight?.expected(name, unit, names.trial(), &shared.job.folder);
    let served = services.iter().filter(|service| service.lasts()).filter_map(|service| {
        let (name, unit) = (&service.spec.name, &service.spec.unit);
        Some(watched(name, service.created.get()?, unit, inside(name, unit)))
    });
    let watched = units.iter().filter_map(|unit| {
        let spec = &unit.workload.unit;
        Some(watched(&unit.workload.name, unit.created.as_ref()?, spec, inside(&unit.workload.name, spec)))
    });
    let scope = around.surroundings.scope(units, services, (sight, &ports), names);
    around.surroundings.add(&scope);
    let mut marks = Marks::prepare(shared, scope);
    around.surroundings.phase("window");
    let window = Window::open(&shared.job.layout, watched.chain(served).collect(), ports.helpers(sight));
    let started = join_all(units.iter_mut().map(|unit| start(unit, limits.start))).await;
    marks.begin();
    let waits = match started.into_iter().find_map(Result::err) {
        Some(failure) => {
            measured.unsettled = failure.kind != FailureKind::NotStarted;
            measured.fail(failure);
            Vec::new()
        }
        None => waited(shared, units, &mut marks).await,
    };
    let closed = window.close();
    marks.end(units, &closed, measured);
    around.surroundings.phase("drain");
    let targets: Vec<Target> = bound.iter().flat_map(Target::all).collect();
    measured.attested = sight.and_then(Sight::backing).into_iter().collect();
    measured.attested.extend(closed.units.iter().flat_map(|unit| unit.attested.clone()));
    measured.attested.extend(ports.attested(sight, namespace, &closed, &targets, names).await);
    if shared.cancel.is_cancelled() && waits.iter().any(Option::is_none) {
        return Ok(());
    }
    if let Err(failure) = services::all_run(services).await {
        measured.fail(Failure { phase: Phase::Measure, ..failure });
    }
    measured.attested.extend(drivers(around, services, units).await?);
    measured.attested.extend(images(services, names));
    collect::collect(shared, units, waits, &closed, measured).await;
    for service in services {
        let own = closed.units.iter().filter(|counted| counted.unit == service.spec.name).flat_map(|counted| &counted.observations);
        measured.metrics.extend(own.map(|metric| Observation { name: format!("{}.{}", service.spec.name, metric.name), ..metric.clone() }));
    }
    measured.metrics.extend(closed.observations.iter().cloned());
    if let Some(wrong) = measured.attested.iter().find(|a| a.differs()) {
        let found = wrong.found.as_deref().unwrap_or("nothing");
        let reason = format!("`{}`: asked for {} = {}, the kernel says {found} ({})", wrong.unit, wrong.setting, wrong.asked, wrong.source);
        measured.fail(Failure { phase: Phase::Attest, kind: FailureKind::Attestation, reason });
    }
    if measured.failure.is_none() {
        unattested(units, measured);
    }
    Ok(())
}

/// Whether each service's container runs the image that was made ready for it.
fn images(services: &[Service<'_>], names: &Names<'_>) -> Vec<Attested> {
    let standing = names.standing();
    let row = |service: &Service<'_>| {
        let (_, standing) = standing.iter().find(|(name, _)| *name == service.spec.name)?;
        let (unit, asked, found) = (service.spec.name.clone(), service.image?.digest.clone(), standing.image.clone());
        Some(Attested { unit, setting: "image".to_owned(), asked, found, source: "engine".to_owned() })
    };
    services.iter().filter_map(row).collect()
}

/// The storage driver of each container of a private engine, as the engine tells it after the window.
async fn drivers(around: &Around<'_>, services: &[Service<'_>], units: &[Unit<'_>]) -> Result<Vec<Attested>, Failure> {
    let Some(sight) = around.stage.sight().filter(|sight| sight.is_private()) else { return Ok(Vec::new()) };
    let serving = services.iter().filter(|service| service.spec.unit.place == Place::Container);
    let serving = serving.filter_map(|service| Some((&service.spec.name, service.engine, service.created.get()?)));
    let measured = units.iter().filter(|unit| unit.workload.unit.place == Place::Container);
    let measured = measured.filter_map(|unit| Some((&unit.workload.name, unit.engine, unit.created.as_ref()?)));
    let mut rows = Vec::new();
    for (name, engine, created) in serving.chain(measured) {
        rows.extend(sight.driver(name, &limited(Phase::Attest, around.limits.collect, engine.inspect(created)).await?));
    }
    Ok(rows)
}

/// What runs before anything is measured: the workloads' `prepare` steps, the idle gate, the warm-ups.
async fn before(
    shared: &Shared<'_>,
    around: &Around<'_>,
    units: &[Unit<'_>],
    bound: &[UnitSpec],
    measured: &mut Measured,
) -> Result<(), Failure> {
    for (unit, spec) in units.iter().zip(bound) {
        let steps = unit.workload.prepare.iter();
        for (number, step) in steps.enumerate() {
            let name = format!("prepare{}", number + 1);
            beside(around, unit, spec, &name, (&step.command, step.on_host, Phase::Prepare, step.timeout)).await?;
            if shared.cancel.is_cancelled() {
                return Ok(());
            }
        }
    }
    around.surroundings.phase("warm-up");
    measured.readings.extend(gate::pass(shared).await);
    for (unit, spec) in units.iter().zip(bound) {
        if shared.cancel.is_cancelled() {
            return Ok(());
        }
        if let Some(warmup) = &unit.workload.warmup {
            beside(around, unit, spec, "warmup", (&warmup.command, false, Phase::WarmUp, warmup.timeout)).await?;
        }
    }
    Ok(())
}

/// One command that runs before a workload is created, in a unit like it or on the host.
async fn beside(
    around: &Around<'_>,
    unit: &Unit<'_>,
    spec: &UnitSpec,
    name: &str,
    (command, on_host, phase, limit): (&[String], bool, Phase, Duration),
) -> Result<(), Failure> {
    let (workload, names) = (unit.workload, around.names);
    let unbound = |reason| Failure { phase, kind: FailureKind::Unsupported, reason: format!("`{}`: {reason}", workload.name) };
    let command = names.command(command).map_err(unbound)?;
    let name = names.of(&format!("{}-{name}", workload.name));
    let aside = if on_host {
        Aside { engine: around.stage.engine(Place::Host), image: None, name, spec: aside::on_host(command), phase, limit }
    } else {
        Aside { engine: unit.engine, image: unit.image, name, spec: UnitSpec { command, ..spec.clone() }, phase, limit }
    };
    aside.run(around.limits, around.cancel).await
}

/// Waits for every workload's exit, with one more look at the counters once they are at work.
async fn waited(shared: &Shared<'_>, units: &mut [Unit<'_>], marks: &mut Marks<'_>) -> Vec<Option<Result<(), Failure>>> {
    let mut all = std::pin::pin!(join_all(units.iter_mut().map(|unit| wait(shared, unit))));
    tokio::select! {
        biased;
        waits = &mut all => return waits,
        () = tokio::time::sleep(GLANCE) => marks.glance(),
    }
    all.await
}

/// What was asked and never seen. A container's group may come and go between two looks: the row says so. A host process's group
/// is ours and still there: what cannot be read of it is not in force.
///
/// The way of packets is no setting: where it cannot be told the row says so, and that is all.
fn unattested(units: &[Unit<'_>], measured: &mut Measured) {
    let unseen: Vec<Attested> =
        measured.attested.iter().filter(|row| row.found.is_none() && !row.setting.starts_with("path ")).cloned().collect();
    for row in unseen {
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

fn watched(name: &str, created: &Created, unit: &UnitSpec, inside: Option<Expected>) -> Watched {
    Watched { unit: name.to_owned(), cgroup: created.cgroup.clone(), leaf: created.leaf.clone(), limits: unit.limits.clone(), inside }
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
pub(super) async fn exit(shared: &Shared<'_>, unit: &Unit<'_>, created: &Created, waited: Result<(), Failure>) -> Result<Exit, Failure> {
    waited?;
    limited(Phase::Measure, shared.job.limits.collect, unit.engine.exit(created)).await
}

/// Keeps what the services of a failed trial said: the reason may stand there.
async fn keep_words(shared: &Shared<'_>, services: &[Service<'_>], measured: &mut Measured) {
    for service in services {
        let Some(created) = service.created.get() else { continue };
        if let Ok(output) = limited(Phase::Collect, shared.job.limits.collect, service.engine.output(created)).await {
            measured.outputs.push((service.spec.name.clone(), output));
        }
    }
}

/// Removes every unit, or with `--keep` all but ended containers: nothing may run beside the next trial, and what a host process
/// left behind runs on in its control group. Then what they stood in, but for the volumes of a container that is kept. All are
/// tried, the first failure is told.
async fn teardown(
    shared: &Shared<'_>,
    around: &Around<'_>,
    furniture: &[(Place, Furniture<'_>)],
    services: &[Service<'_>],
    units: &[Unit<'_>],
) -> Result<(), Failure> {
    let limit = shared.job.limits.teardown;
    // A private engine takes its containers along in any case.
    let keep = shared.job.keep && around.stage.namespace().is_none();
    let stays = |unit: &&Unit<'_>| keep && unit.ended.is_some() && unit.workload.unit.place == Place::Container;
    let measured = units.iter().filter(|unit| !stays(unit)).filter_map(|unit| Some((unit.engine, unit.created.as_ref()?)));
    let serving = services.iter().filter_map(|service| Some((service.engine, service.created.get()?)));
    let removals = measured.chain(serving).map(|(engine, created)| limited(Phase::Teardown, limit, engine.remove(created)));
    let mut removed: Result<(), Failure> = join_all(removals).await.into_iter().collect();
    let kept = units.iter().any(|unit| stays(&unit));
    for (place, furniture) in furniture {
        let name = around.names.of("");
        // An ended container holds its volumes, and its networks no more: the next trial may need the same subnet.
        let holds = kept && *place == Place::Container;
        let furniture = Furniture { volumes: if holds { &[] } else { furniture.volumes }, ..*furniture };
        if furniture.networks.is_empty() && furniture.volumes.is_empty() {
            continue;
        }
        let clear = around.stage.engine(*place).clear(&name, furniture);
        removed = removed.and(limited(Phase::Teardown, limit, clear).await);
    }
    removed
}

/// Runs a phase within its limit, and names its failure.
pub(super) async fn limited<T>(phase: Phase, limit: Duration, work: impl Future<Output = Result<T, EngineError>>) -> Result<T, Failure> {
    match tokio::time::timeout(limit, work).await {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => Err(failed(phase, &error)),
        Err(_) => Err(Failure { phase, kind: FailureKind::Timeout, reason: format!("not done within {}", seconds(limit)) }),
    }
}

/// An engine's error as the failure of a phase.
pub(super) fn failed(phase: Phase, error: &EngineError) -> Failure {
    let kind = match error {
        EngineError::NotStarted { .. } => FailureKind::NotStarted,
        EngineError::Unsupported { .. } => FailureKind::Unsupported,
        _ => FailureKind::Infrastructure,
    };
    Failure { phase, kind, reason: error.to_string() }
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
