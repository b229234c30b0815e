//! What earlier runs have of each variant: the input of planning.

use super::Loaded;
use crate::model::event::TrialRow;
use crate::model::facts::HostFacts;
use crate::model::outcome::Outcome;
use crate::model::plan::{AA_SUFFIX, VariantHistory};
use crate::plan::History;
use std::collections::BTreeMap;

/// The history of every variant that any run has rows of, as far as it was measured on this machine: `here`.
#[must_use]
pub fn history(loaded: &Loaded, here: &HostFacts) -> History {
    let mut history: History = BTreeMap::new();
    let mut seconds: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for run in &loaded.runs {
        let differences = run.started.as_ref().map(|started| here.differences(&started.host)).unwrap_or_default();
        if !differences.is_empty() {
            for row in run.rows.iter().filter(|row| !row.variant.ends_with(AA_SUFFIX)) {
                let past = history.entry(row.variant.clone()).or_default();
                if past.identity.is_empty() {
                    past.elsewhere = Some(differences.join(", "));
                }
            }
            continue;
        }
        let last: BTreeMap<&str, usize> = run.rows.iter().enumerate().map(|(index, row)| (row.trial.as_str(), index)).collect();
        let kept =
            run.rows.iter().enumerate().filter(|(index, row)| last[row.trial.as_str()] == *index && !row.variant.ends_with(AA_SUFFIX));
        let rows: Vec<&TrialRow> = kept.map(|(_, row)| row).collect();
        for row in &rows {
            let past = history.entry(row.variant.clone()).or_default();
            if past.identity != row.identity {
                let spec = run.plan.variants.iter().find(|v| v.id == row.variant).and_then(|v| serde_json::to_value(&v.spec).ok());
                *past = VariantHistory { identity: row.identity.clone(), spec: spec.unwrap_or_default(), ..VariantHistory::default() };
                seconds.remove(&row.variant);
            }
            // What failed in an earlier run is made good by this one, unless it fails again below.
            past.failure = None;
        }
        for row in rows {
            let Some(past) = history.get_mut(&row.variant) else { continue };
            match row.outcome {
                Outcome::Ok => {
                    past.good += 1;
                    seconds.entry(row.variant.clone()).or_default().push(row.seconds);
                }
                Outcome::Failed => past.failure = row.failure.as_ref().map(|f| format!("{}: {}", f.phase.name(), f.reason)),
            }
        }
    }
    for (variant, mut seconds) in seconds {
        seconds.sort_by(f64::total_cmp);
        if let Some(past) = history.get_mut(&variant) {
            past.seconds = seconds.get(seconds.len() / 2).copied();
        }
    }
    history
}
