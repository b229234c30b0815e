//! A workload's warm-up: its own command in a unit like the workload's, before the window. Its numbers are thrown away, its failure
//! is the trial's.

use super::readings;
use super::trial::{Unit, limited};
use crate::engine::UnitName;
use crate::model::outcome::{Failure, Phase};
use crate::model::spec::{UnitSpec, WarmupSpec, WorkloadSpec};
use tokio_util::sync::CancellationToken;

/// Runs a workload's warm-up to its end, or until it is cancelled; nothing of it is left unless a call fails.
pub(super) async fn run(
    unit: &Unit<'_>,
    warmup: &WarmupSpec,
    name: &UnitName,
    limits: &crate::model::experiment::PhaseLimits,
    cancel: &CancellationToken,
) -> Result<(), Failure> {
    let spec = UnitSpec { command: warmup.command.clone(), ..unit.workload.unit.clone() };
    let name = UnitName { unit: format!("{}-warmup", unit.workload.name), ..name.clone() };
    let created = limited(Phase::WarmUp, limits.create, unit.engine.create(&name, &spec, unit.image)).await?;
    let ended = async {
        limited(Phase::WarmUp, limits.start, unit.engine.start(&created)).await?;
        tokio::select! {
            waited = limited(Phase::WarmUp, warmup.timeout, unit.engine.wait(&created)) => waited?,
            () = cancel.cancelled() => return Ok(()),
        }
        let exit = limited(Phase::WarmUp, limits.collect, unit.engine.exit(&created)).await?;
        let of = WorkloadSpec { name: name.unit.clone(), ..unit.workload.clone() };
        let Some(mut failure) = readings::judge(&of, &exit) else { return Ok(()) };
        failure.phase = Phase::WarmUp;
        let output = limited(Phase::WarmUp, limits.collect, unit.engine.output(&created)).await?;
        if let Some(words) = readings::last_words(&output) {
            failure.reason = format!("{}: {words}", failure.reason);
        }
        Err(failure)
    }
    .await;
    let removed = limited(Phase::WarmUp, limits.teardown, unit.engine.remove(&created)).await;
    ended.and(removed)
}
