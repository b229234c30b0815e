//! The saved form of a plan: all that a report needs, secrets gone.

use super::{Planned, metrics, secrets};
use crate::model::experiment::Presentation;
use crate::model::plan::{SavedPlan, SavedVariant};

/// Version of the saved form.
pub const FORMAT: u32 = 1;

/// What is written before the first trial.
///
/// # Panics
/// Never for a plan that [`super::plan`] made: its variants resolve.
#[must_use]
pub fn saved(planned: &Planned<'_>) -> SavedPlan {
    let experiment = planned.binder.experiment();
    let plan = &planned.plan;
    let mut dictionary = Vec::new();
    let variants = plan
        .variants
        .iter()
        .map(|variant| {
            let resolved =
                planned.binder.resolve(&variant.levels).unwrap_or_else(|problems| panic!("planned variants resolve: {problems:?}"));
            for metric in metrics::dictionary(&resolved.spec, planned.binder.catalog()) {
                if !dictionary.iter().any(|known: &crate::model::experiment::MetricDecl| known.name == metric.name) {
                    dictionary.push(metric);
                }
            }
            SavedVariant {
                id: variant.id.to_string(),
                levels: variant.levels.to_vec(),
                identity: variant.identity.to_string(),
                reason: variant.reason.clone(),
                spec: secrets::redacted(resolved.spec, &resolved.names),
                vars: secrets::redacted_vars(resolved.names),
            }
        })
        .collect();
    let presentation =
        Presentation { metrics: metrics::declared(&experiment.presentation.metrics, &dictionary), ..experiment.presentation.clone() };
    SavedPlan {
        format: FORMAT,
        experiment: plan.experiment.clone(),
        digest: plan.digest.clone(),
        seed: plan.seed,
        factors: plan.factors.clone(),
        variants,
        baseline: plan.baseline,
        trials: plan.trials.iter().map(|t| [t.block, t.position, t.batch, t.variant]).collect(),
        design: experiment.design.clone(),
        limits: experiment.limits.clone(),
        presentation,
        dictionary,
    }
}
