//! The services of a trial: each starts as soon as what it depends on is far enough, all others beside it.

use super::aside::{self, Aside};
use super::names::Names;
use super::probe;
use super::stage::Stage;
use super::surroundings::Surroundings;
use super::trial::limited;
use crate::engine::{Created, Engine, EngineError, Image};
use crate::model::experiment::PhaseLimits;
use crate::model::outcome::{Failure, FailureKind, Phase};
use crate::model::spec::{TrialSpec, UnitSpec};
use crate::model::stack::{Condition, ServiceSpec, StepSpec};
use futures_util::future::join_all;
use std::future::Future;
use std::sync::OnceLock;
use std::time::Duration;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// A service with its engine and, once created, its unit.
pub(super) struct Service<'t> {
    pub(super) spec: &'t ServiceSpec,
    pub(super) engine: &'t dyn Engine,
    pub(super) image: Option<&'t Image>,
    /// As the engine got it.
    pub(super) unit: OnceLock<UnitSpec>,
    pub(super) created: OnceLock<Created>,
    /// Whether others wait for its end: then it has ended once all are up.
    ends: bool,
    far: watch::Sender<Far>,
}

/// How far a service is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Far {
    Waiting,
    Started,
    /// Ready and prepared; or ended, for one whose end is waited for.
    Healthy,
}

impl<'t> Service<'t> {
    /// The services of a trial, of which nothing runs yet. `image` gives the image that was made ready for a unit.
    pub(super) fn all(trial: &'t TrialSpec, stage: &'t Stage, image: &dyn Fn(&UnitSpec) -> Option<&'t Image>) -> Vec<Self> {
        let service = |spec: &'t ServiceSpec| Self {
            spec,
            engine: stage.engine(spec.unit.place),
            image: image(&spec.unit),
            unit: OnceLock::new(),
            created: OnceLock::new(),
            ends: trial.is_waited_out(&spec.name),
            far: watch::Sender::new(Far::Waiting),
        };
        trial.services.iter().map(service).collect()
    }

    async fn reach(&self, far: Far) {
        // The sender lives as long as the service: waiting cannot fail.
        let _ = self.far.subscribe().wait_for(|now| *now >= far).await;
    }

    /// Whether it should still run once all are up.
    pub(super) fn lasts(&self) -> bool {
        !self.ends
    }
}

/// What a service needs of its trial.
pub(super) struct Around<'t> {
    pub(super) stage: &'t Stage,
    pub(super) names: &'t Names<'t>,
    pub(super) limits: &'t PhaseLimits,
    pub(super) cancel: &'t CancellationToken,
    pub(super) surroundings: &'t Surroundings,
}

/// Brings all services up, those that do not depend on each other at once. What was created stays, also after a failure.
///
/// # Errors
/// The first failure; none of its own when cancelled.
pub(super) async fn up(services: &[Service<'_>], around: &Around<'_>) -> Result<(), Failure> {
    let stop = around.cancel.child_token();
    let rising = services.iter().map(|service| async {
        let risen = tokio::select! {
            () = stop.cancelled() => Ok(()),
            risen = rise(service, services, around) => risen,
        };
        if risen.is_err() {
            stop.cancel();
        }
        risen
    });
    match tokio::time::timeout(around.limits.services, join_all(rising)).await {
        Ok(risen) => risen.into_iter().collect(),
        Err(_) => {
            let late: Vec<&str> = services.iter().filter(|s| *s.far.borrow() < Far::Healthy).map(|s| s.spec.name.as_str()).collect();
            let reason = format!("not ready within {:?} (`limits.services`): {}", around.limits.services, late.join(", "));
            Err(Failure { phase: Phase::Services, kind: FailureKind::Timeout, reason })
        }
    }
}

async fn rise(service: &Service<'_>, all: &[Service<'_>], around: &Around<'_>) -> Result<(), Failure> {
    let Service { spec, engine, .. } = service;
    for dependency in &spec.depends_on {
        let Some(other) = all.iter().find(|other| other.spec.name == dependency.service) else { continue };
        other.reach(if dependency.condition == Condition::ServiceStarted { Far::Started } else { Far::Healthy }).await;
    }
    let unbound = |reason| Failure { phase: Phase::Services, kind: FailureKind::Unsupported, reason: format!("`{}`: {reason}", spec.name) };
    let unit = around.names.bind(&spec.unit).map_err(unbound)?;
    let name = around.names.of(&spec.name);
    let created = answered(around.limits.create, engine.create(&name, &unit, service.image)).await?;
    let created = service.created.get_or_init(|| created);
    service.unit.get_or_init(|| unit);
    answered(around.limits.start, engine.start(created)).await?;
    if service.ends {
        service.far.send_replace(Far::Started);
        limited(Phase::Services, around.limits.services, engine.wait(created)).await?;
        let exit = answered(around.limits.collect, engine.exit(created)).await?;
        if exit.code != 0 {
            return Err(probe::early_end(&spec.name, *engine, created).await);
        }
    } else {
        around.names.learn(&spec.name, answered(around.limits.create, engine.inspect(created)).await?);
        service.far.send_replace(Far::Started);
        if let Some(ready) = &spec.ready {
            probe::until_ready(&spec.name, (*engine, created), ready, around.names).await?;
        }
        for (number, step) in spec.prepare.iter().enumerate() {
            prepare(service, created, number, step, around).await?;
        }
    }
    service.far.send_replace(Far::Healthy);
    Ok(())
}

/// A call that the engine should answer at once: that it does not is its own fault, and not that of a service that takes its time.
async fn answered<T>(limit: Duration, call: impl Future<Output = Result<T, EngineError>>) -> Result<T, Failure> {
    limited(Phase::Services, limit, call).await.map_err(|failure| match failure.kind {
        FailureKind::Timeout => Failure { kind: FailureKind::Infrastructure, ..failure },
        _ => failure,
    })
}

/// One `prepare` step of a service: inside it, or on the host.
async fn prepare(service: &Service<'_>, created: &Created, number: usize, step: &StepSpec, around: &Around<'_>) -> Result<(), Failure> {
    let name = &service.spec.name;
    let unbound = |reason| Failure { phase: Phase::Prepare, kind: FailureKind::Unsupported, reason: format!("`{name}`: {reason}") };
    let command = around.names.command(&step.command).map_err(unbound)?;
    if !step.on_host {
        return aside::inside((service.engine, created), name, &command, step.timeout).await;
    }
    let aside = Aside {
        engine: around.stage.engine(crate::model::spec::Place::Host),
        image: None,
        name: around.names.of(&format!("{name}-prepare{}", number + 1)),
        spec: aside::on_host(command),
        phase: Phase::Prepare,
        limit: step.timeout,
    };
    aside.run(around.limits, around.cancel).await
}

/// A failure when a service has ended that should go on.
pub(super) async fn all_run(services: &[Service<'_>]) -> Result<(), Failure> {
    for service in services.iter().filter(|service| service.lasts()) {
        let Some(created) = service.created.get() else { continue };
        if probe::ended(service.engine, created).await {
            return Err(probe::early_end(&service.spec.name, service.engine, created).await);
        }
    }
    Ok(())
}
