//! From a plan to what is executed.

use super::run::record_failure;
use super::{exit, open, talk};
use crate::engine::control;
use crate::execute::{EngineSource, ExecuteError, Job, JobVariant, Scheduled};
use crate::execute::{Ready, preflight};
use crate::model::event::Event;
use crate::model::experiment::Problems;
use crate::model::plan::{AA_SUFFIX, SavedPlan};
use crate::plan::{History, Planned};
use crate::record::{self, RunFolder};
use std::collections::HashSet;

/// What each variant of the plan runs, in the plan's order.
///
/// # Errors
/// The exit code, after the problems were drawn.
pub fn variants(opened: &open::Opened, planned: &Planned<'_>, history: &History) -> Result<Vec<JobVariant>, u8> {
    let variant = |variant: &crate::model::plan::Variant| {
        let resolved = planned.binder.resolve(&variant.levels).map_err(|problems| opened.problems(&Problems(problems)))?;
        let seconds = history.get(variant.id.trim_end_matches(AA_SUFFIX)).and_then(|past| past.seconds);
        Ok(JobVariant { id: variant.id.to_string(), identity: variant.identity.to_string(), spec: resolved.spec, seconds })
    };
    planned.plan.variants.iter().map(variant).collect()
}

/// Whether engines and host can run all of it.
///
/// # Errors
/// The exit code, after saying why not.
pub async fn check(variants: &[JobVariant], source: &dyn EngineSource) -> Result<Ready, u8> {
    preflight(variants, source).await.map_err(|error| failure(&error))
}

/// Says why a run could not start or go on, and gives the exit code.
pub fn failure(error: &ExecuteError) -> u8 {
    talk::error(error);
    match error {
        ExecuteError::Record(_) => exit::RECORD,
        ExecuteError::Engine(_) | ExecuteError::Unsupported(_) | ExecuteError::EngineGone { .. } => exit::MACHINE,
    }
}

/// The trials of a saved plan that have no row yet. The saved plan has the variants of the fresh one: their digest is the same.
///
/// # Errors
/// The exit code, after saying why the journal cannot be read.
pub fn job(
    opened: &open::Opened,
    variants: Vec<JobVariant>,
    plan: &SavedPlan,
    folder: &RunFolder,
    run: String,
    keep: bool,
) -> Result<Job, u8> {
    let finished = |event| if let Event::TrialFinished(row) = event { Some(row.trial) } else { None };
    let events = record::read_journal(&folder.journal()).map_err(|error| record_failure(&error))?;
    let rows: HashSet<String> = events.into_iter().filter_map(finished).collect();
    let scheduled = |[block, position, _, variant]: &[u32; 4]| Scheduled {
        id: format!("b{block}p{position}"),
        variant: *variant as usize,
        block: *block,
        position: *position,
    };
    Ok(Job {
        run,
        experiment: opened.experiment.name.clone(),
        digest: plan.digest.clone(),
        folder: opened.experiment.folder.clone(),
        variants,
        trials: plan.trials.iter().map(scheduled).filter(|trial| !rows.contains(&trial.id)).collect(),
        limits: opened.experiment.limits.clone(),
        design: opened.experiment.design.clone(),
        host: crate::measure::host::facts(),
        layout: control::layout().unwrap_or_default(),
        keep,
    })
}
