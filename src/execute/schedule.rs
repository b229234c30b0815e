//! The trials of a job, one after the other: each on its engine, tried again when that failed it.
//!
//! A private engine is started before the first of its trials in a super-block, and what is measured first on it is thrown away (the
//! primer); it ends as soon as no later trial of the super-block needs it.

use super::stage::{Instance, Stage, Stages};
use super::trial::{self, Measured, failed};
use super::{ExecuteError, JobVariant, Log, Scheduled, Shared, now};
use crate::engine::{EngineError, UnitName};
use crate::model::event::{Event, TrialRow};
use crate::model::outcome::{Outcome, Phase};
use crate::model::plan::primer_id;
use crate::record::RunFolder;
use std::sync::Arc;
use std::time::Instant;

/// Trials in a row that the engine may fail before the run gives up.
const ENGINE_PATIENCE: u32 = 3;

/// The job's trials in their order; returns how many failed.
pub(super) async fn trials(shared: &Shared<'_>, folder: &RunFolder, log: &mut Log<'_>) -> Result<usize, ExecuteError> {
    let mut schedule = Schedule { shared, folder, stages: Stages::default() };
    let (mut failed, mut broken) = (0, 0);
    for (at, scheduled) in shared.job.trials.iter().enumerate() {
        if shared.cancel.is_cancelled() {
            break;
        }
        log.progress.begin(scheduled);
        let Some(row) = schedule.attempts(scheduled, log).await? else { break };
        log.progress.finish(scheduled, &row);
        failed += usize::from(row.outcome == Outcome::Failed);
        let reason = row.failure.as_ref().filter(|failure| failure.is_of_the_engine()).map(|failure| failure.reason.clone());
        log.publish(Event::TrialFinished(Box::new(row)))?;
        broken = if reason.is_some() { broken + 1 } else { 0 };
        if let Some(reason) = reason.filter(|_| broken >= ENGINE_PATIENCE) {
            return Err(ExecuteError::EngineGone { trials: broken, reason });
        }
        schedule.leave(at, log).await?;
        let ends_block = shared.job.trials.get(at + 1).is_none_or(|next| next.block != scheduled.block);
        if let Some(looked) = ends_block.then(|| log.observer.look()).flatten() {
            log.publish(Event::Looked(looked))?;
            if looked.enough.is_some() {
                break;
            }
        }
    }
    Ok(failed)
}

struct Schedule<'s, 'r> {
    shared: &'s Shared<'r>,
    folder: &'s RunFolder,
    stages: Stages,
}

impl Schedule<'_, '_> {
    /// Tries a trial until it ends otherwise than by a fault of the engine; none when cancelled.
    async fn attempts(&mut self, scheduled: &Scheduled, log: &mut Log<'_>) -> Result<Option<TrialRow>, ExecuteError> {
        let job = self.shared.job;
        for attempt in scheduled.attempt.. {
            log.publish(Event::TrialStarted { trial: scheduled.id.clone(), attempt, at: now() })?;
            let label = if attempt == 1 { scheduled.id.clone() } else { format!("{}a{attempt}", scheduled.id) };
            let began = (now(), Instant::now());
            let measured = match self.stage(scheduled, (attempt, &label), log).await? {
                None => return Ok(None),
                Some(Ok(stage)) => {
                    let began = (now(), Instant::now());
                    let Some(measured) = self.measure(&stage, scheduled, &label).await else { return Ok(None) };
                    self.row(scheduled, (&scheduled.id, &label), attempt, began, measured)?
                }
                Some(Err(error)) => {
                    let measured = Measured { failure: Some(failed(Phase::Engine, &error)), unsettled: true, ..Measured::default() };
                    self.row(scheduled, (&scheduled.id, &label), attempt, began, measured)?
                }
            };
            let (row, unsettled) = measured;
            if unsettled {
                self.settle(log).await?;
            }
            if row.is_final(job.limits.attempts) || self.shared.cancel.is_cancelled() {
                return Ok(Some(row));
            }
            log.publish(Event::TrialFinished(Box::new(row)))?;
        }
        Ok(None)
    }

    fn variant(&self, scheduled: &Scheduled) -> &JobVariant {
        &self.shared.job.variants[scheduled.variant]
    }

    /// The engines of an attempt, up and primed; none when cancelled.
    async fn stage(
        &mut self,
        scheduled: &Scheduled,
        attempt: (u32, &str),
        log: &mut Log<'_>,
    ) -> Result<Option<Result<Arc<Stage>, EngineError>>, ExecuteError> {
        let shared = self.shared;
        let variant = &shared.job.variants[scheduled.variant];
        let clock = Instant::now();
        // Not raced with a signal: what is half started could not be taken down. Its own limits end it.
        let reached = self.stages.reach(shared.ready, &shared.job.run, variant, scheduled.engine_start).await;
        if shared.cancel.is_cancelled() {
            return Ok(None);
        }
        let (stage, fresh) = match reached {
            Ok(reached) => reached,
            Err(error) => return Ok(Some(Err(error))),
        };
        if !fresh {
            return Ok(Some(Ok(stage)));
        }
        let primed = self.prime(&stage, scheduled, attempt, log).await?;
        log.progress.started(clock.elapsed().as_secs_f64());
        Ok(primed.map(|primed| primed.map(|()| stage)))
    }

    /// Measures once and throws it away: the first trial after a start is not like the others. None when cancelled; an error of the
    /// engine when it failed the primer, whose remains would run beside the trial.
    async fn prime(
        &self,
        stage: &Stage,
        scheduled: &Scheduled,
        (attempt, label): (u32, &str),
        log: &mut Log<'_>,
    ) -> Result<Option<Result<(), EngineError>>, ExecuteError> {
        let (id, label) = (primer_id(&scheduled.id), primer_id(label));
        let began = (now(), Instant::now());
        let Some(measured) = self.measure(stage, scheduled, &label).await else { return Ok(None) };
        let broken = measured.failure.as_ref().filter(|failure| failure.is_of_the_engine()).map(|failure| failure.reason.clone());
        let broken = broken.or_else(|| measured.left.clone());
        let (row, _) = self.row(scheduled, (&id, &label), attempt, began, measured)?;
        log.publish(Event::TrialFinished(Box::new(TrialRow { outcome: Outcome::Primer, ..row })))?;
        let failed = |reason| EngineError::Call { operation: "measure once before the trials".to_owned(), reason };
        Ok(Some(broken.map_or(Ok(()), |reason| Err(failed(reason)))))
    }

    async fn measure(&self, stage: &Stage, scheduled: &Scheduled, label: &str) -> Option<Measured> {
        let (job, variant) = (self.shared.job, self.variant(scheduled));
        let (run, experiment) = (job.run.clone(), job.experiment.clone());
        let name = UnitName { run, experiment, trial: label.to_owned(), unit: String::new() };
        trial::run(self.shared, (&variant.instance(), stage), &variant.spec, &name).await
    }

    /// The row of an attempt, with its outputs kept; whether a call failed that may have left something behind.
    fn row(
        &self,
        scheduled: &Scheduled,
        (id, label): (&str, &str),
        attempt: u32,
        (at, clock): (String, Instant),
        measured: Measured,
    ) -> Result<(TrialRow, bool), ExecuteError> {
        let variant = self.variant(scheduled);
        let failed = measured.failure.is_some();
        let mut row = TrialRow {
            trial: id.to_owned(),
            variant: variant.id.clone(),
            identity: variant.identity.clone(),
            block: scheduled.block,
            engine_start: scheduled.engine_start,
            position: scheduled.position,
            attempt,
            at,
            seconds: clock.elapsed().as_secs_f64(),
            outcome: if failed { Outcome::Failed } else { Outcome::Ok },
            taints: measured.taints,
            metrics: if failed { Vec::new() } else { measured.metrics },
            attested: measured.attested,
            readings: measured.readings,
            series: None,
            outputs: Vec::new(),
            problems: measured.problems,
            failure: measured.failure,
        };
        row.series = measured.series.map(|series| crate::record::keep_series(self.folder, label, &series)).transpose()?;
        for (unit, output) in &measured.outputs {
            for (stream, captured) in [("stdout", &output.stdout), ("stderr", &output.stderr)] {
                if captured.total > 0 {
                    row.outputs.push(crate::record::keep(self.folder, label, unit, stream, &captured.bytes, captured.total)?);
                }
            }
        }
        Ok((row, measured.unsettled))
    }

    /// Removes all of this run between two trials, when nothing of it may be there; what stays is told and recorded. Private engines
    /// take everything that is in them along, and start anew for the next trial.
    async fn settle(&mut self, log: &mut Log<'_>) -> Result<(), ExecuteError> {
        let (job, ready) = (self.shared.job, self.shared.ready);
        // Private engines are units of this run, too: what sweeps it would end those that are up.
        let down = self.stages.leave_all(ready).await;
        let swept = ready.sweep((!job.keep).then_some(job.run.as_str()), false, None).await;
        Ok(log.left_over(down.and(swept))?)
    }

    /// Ends the private engines that no later trial of their super-block needs; `at` is the trial that just ended.
    async fn leave(&mut self, at: usize, log: &mut Log<'_>) -> Result<(), ExecuteError> {
        let (job, ready) = (self.shared.job, self.shared.ready);
        let needed = |instance: &Instance, start: u32| {
            job.trials[at + 1..]
                .iter()
                .take_while(|later| later.engine_start.is_none_or(|number| number == start))
                .any(|later| job.variants[later.variant].instance() == *instance)
        };
        let done: Vec<Instance> = self.stages.up().filter(|(instance, start)| !needed(instance, *start)).map(|(i, _)| i.clone()).collect();
        for instance in done {
            let left = self.stages.leave(ready, &instance).await;
            log.left_over(left)?;
        }
        Ok(())
    }
}
