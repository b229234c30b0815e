//! From a plan to what is executed.

use super::{exit, open, talk};
use crate::engine::control;
use crate::execute::{ExecuteError, Job, JobVariant, Scheduled, Source};
use crate::execute::{Ready, preflight};
use crate::model::event::TrialRow;
use crate::model::experiment::Problems;
use crate::model::plan::{AA_SUFFIX, SavedPlan, copy_has_its_own_engine, engine_start};
use crate::model::spec::EngineSpec;
use crate::plan::{History, Planned};
use crate::record::RunRecord;
use std::collections::HashMap;

/// What each variant of the plan runs, in the plan's order.
///
/// # Errors
/// The exit code, after the problems were drawn.
pub fn variants(opened: &open::Opened, planned: &Planned<'_>, history: &History) -> Result<Vec<JobVariant>, u8> {
    let variant = |variant: &crate::model::plan::Variant| {
        let resolved = planned.binder.resolve(&variant.levels).map_err(|problems| opened.problems(&Problems(problems)))?;
        let seconds = history.get(variant.id.trim_end_matches(AA_SUFFIX)).and_then(|past| past.seconds);
        Ok(JobVariant { id: variant.id.to_string(), identity: variant.identity.to_string(), spec: resolved.spec, copy: false, seconds })
    };
    let mut variants: Vec<JobVariant> = planned.plan.variants.iter().map(variant).collect::<Result<_, u8>>()?;
    let engines: Vec<EngineSpec> = variants.iter().map(|variant| variant.spec.engine.clone()).collect();
    let own = variants.get(planned.plan.baseline).is_some_and(|baseline| copy_has_its_own_engine(&baseline.spec.engine, &engines));
    variants.iter_mut().filter(|variant| variant.id.ends_with(AA_SUFFIX)).for_each(|copy| copy.copy = own);
    Ok(variants)
}

/// Whether engines and host can run all of it.
///
/// # Errors
/// The exit code, after saying why not.
pub async fn check(variants: &[JobVariant], source: Source) -> Result<Ready, u8> {
    preflight(variants, source).await.map_err(|error| failure(&error))
}

/// Says why a run could not start or go on, and gives the exit code.
pub fn failure(error: &ExecuteError) -> u8 {
    talk::error(error);
    match error {
        ExecuteError::Record(_) => exit::RECORD,
        ExecuteError::Engine(_) | ExecuteError::Unsupported(_) | ExecuteError::EngineGone { .. } | ExecuteError::ImageChanged { .. } => {
            exit::MACHINE
        }
    }
}

/// The trials of a saved plan that are not over in `before`, the interrupted run that goes on, if one does. The saved plan has the
/// variants of the fresh one: their digest is the same.
#[must_use]
pub fn job(opened: &open::Opened, variants: Vec<JobVariant>, plan: &SavedPlan, before: Option<&RunRecord>, run: String, keep: bool) -> Job {
    let rows = before.map(last_rows).unwrap_or_default();
    let attempts = opened.experiment.limits.attempts;
    let blocks = plan.blocks();
    let start = |block: u32, variant: u32| {
        let private = variants.get(variant as usize).is_some_and(|variant| variant.spec.engine.private.is_some());
        private.then(|| engine_start(&plan.design, variants.iter().map(|variant| &variant.spec.engine), block, blocks))
    };
    let scheduled = |[block, position, _, variant]: &[u32; 4]| {
        let id = format!("b{block}p{position}");
        let attempt = match rows.get(id.as_str()) {
            Some(row) if row.is_final(attempts) => return None,
            row => row.map_or(0, |row| row.attempt) + 1,
        };
        let engine_start = start(*block, *variant);
        Some(Scheduled { id, variant: *variant as usize, block: *block, position: *position, engine_start, attempt })
    };
    Job {
        run,
        experiment: opened.experiment.name.clone(),
        digest: plan.digest.clone(),
        // An engine is asked for absolute paths; it has no idea of where we are.
        folder: std::path::absolute(&opened.experiment.folder).unwrap_or_else(|_| opened.experiment.folder.clone()),
        trials: plan.trials.iter().filter_map(scheduled).collect(),
        variants,
        limits: opened.experiment.limits.clone(),
        images: before.map(|run| run.images.clone()).unwrap_or_default(),
        host: crate::measure::host::facts(),
        layout: control::layout().unwrap_or_default(),
        keep,
        observe: opened.experiment.design.observe.clone(),
        hygiene: opened.experiment.design.hygiene.clone(),
    }
}

/// The last row of each trial of a run; a primer stands for none.
#[must_use]
pub fn last_rows(run: &RunRecord) -> HashMap<&str, &TrialRow> {
    run.rows.iter().filter(|row| !row.is_primer()).map(|row| (row.trial.as_str(), row)).collect()
}
