//! What runs to its end beside what is measured: warm-ups and steps that prepare. Their numbers are thrown away, their failure is
//! the trial's.

use super::readings;
use super::trial::limited;
use crate::engine::{Engine, Image, UnitName};
use crate::model::experiment::PhaseLimits;
use crate::model::outcome::{Failure, FailureKind, Phase};
use crate::model::spec::{Place, UnitSpec};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// A command in a unit of its own.
pub(super) struct Aside<'t> {
    pub(super) engine: &'t dyn Engine,
    pub(super) image: Option<&'t Image>,
    pub(super) name: UnitName,
    pub(super) spec: UnitSpec,
    pub(super) phase: Phase,
    pub(super) limit: Duration,
}

impl Aside<'_> {
    /// Runs it to its end, or until it is cancelled; nothing of it is left unless a call fails.
    pub(super) async fn run(&self, limits: &PhaseLimits, cancel: &CancellationToken) -> Result<(), Failure> {
        let Self { engine, phase, .. } = self;
        let created = limited(*phase, limits.create, engine.create(&self.name, &self.spec, self.image)).await?;
        let ended = async {
            limited(*phase, limits.start, engine.start(&created)).await?;
            tokio::select! {
                waited = limited(*phase, self.limit, engine.wait(&created)) => waited?,
                () = cancel.cancelled() => return Ok(()),
            }
            let exit = limited(*phase, limits.collect, engine.exit(&created)).await?;
            let Some(mut failure) = readings::judge(&self.name.unit, &[], &exit) else { return Ok(()) };
            failure.phase = *phase;
            let output = limited(*phase, limits.collect, engine.output(&created)).await?;
            if let Some(words) = readings::last_words(&output) {
                failure.reason = format!("{}: {words}", failure.reason);
            }
            Err(failure)
        }
        .await;
        let removed = limited(*phase, limits.teardown, engine.remove(&created)).await;
        ended.and(removed)
    }
}

/// A process of the host that runs `command` and has no other setting.
pub(super) fn on_host(command: Vec<String>) -> UnitSpec {
    UnitSpec { command, ..UnitSpec::bare(Place::Host) }
}

/// Runs a command inside a unit that runs.
pub(super) async fn inside(
    (engine, created): (&dyn Engine, &crate::engine::Created),
    name: &str,
    command: &[String],
    limit: Duration,
) -> Result<(), Failure> {
    let step = format!("`{name}`: `{}`", command.first().map_or("", String::as_str));
    let done = limited(Phase::Prepare, limit, engine.exec(created, command)).await;
    let done = done.map_err(|failure| Failure { reason: format!("{step}: {}", failure.reason), ..failure })?;
    if done.code == 0 {
        return Ok(());
    }
    let words = readings::last_words(&done.output).map(|words| format!(": {words}")).unwrap_or_default();
    let reason = format!("{step} ended with exit code {}{words}", done.code);
    Err(Failure { phase: Phase::Prepare, kind: FailureKind::ExitCode, reason })
}
