//! What earlier runs have of each variant: the input of planning.

use super::apart::Circumstances;
use super::{Loaded, RunRecord};
use crate::model::event::TrialRow;
use crate::model::facts::{EngineFacts, HostFacts};
use crate::model::outcome::Outcome;
use crate::model::plan::{AA_SUFFIX, VariantHistory};
use crate::plan::History;
use std::collections::{BTreeMap, HashMap};

/// The history of every variant that any run has rows of, as far as it was measured on this machine: `here`.
///
/// Planning asks no engine, so without `engines` those that were used last stand for today's. An image's digest is known only
/// when it is there: the one that ran last stands for today's.
#[must_use]
pub fn history(loaded: &Loaded, here: &HostFacts, engines: &[EngineFacts]) -> History {
    let known = Circumstances::new(&loaded.runs, Some(here), engines);
    let mut history: History = BTreeMap::new();
    let mut seconds: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for (index, run) in loaded.runs.iter().enumerate() {
        let (ours, apart) = sorted(run, &known);
        for (row, difference) in apart.iter().filter(|(row, _)| !row.variant.ends_with(AA_SUFFIX)) {
            let past = history.entry(row.variant.clone()).or_default();
            if past.identity.is_empty() {
                past.elsewhere = Some(difference.clone());
            }
        }
        for row in &ours {
            let past = history.entry(row.variant.clone()).or_default();
            if past.identity != row.identity {
                let spec = run.spec(row).and_then(|spec| serde_json::to_value(spec).ok());
                *past = VariantHistory { identity: row.identity.clone(), spec: spec.unwrap_or_default(), ..VariantHistory::default() };
                seconds.remove(&row.variant);
            }
            // What failed in an earlier run is made good by this one, unless it fails again below.
            past.failure = None;
        }
        for row in ours {
            let Some(past) = history.get_mut(&row.variant) else { continue };
            match row.outcome {
                Outcome::Ok => {
                    past.good.insert((u32::try_from(index).unwrap_or(u32::MAX), row.block));
                    seconds.entry(row.variant.clone()).or_default().push(row.seconds);
                }
                Outcome::Failed => past.failure = row.failure.as_ref().map(|f| format!("{}: {}", f.phase.name(), f.reason)),
                Outcome::Primer => {}
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

/// The last row of each trial of a run, primers left out: those that count, and those that stand apart with the reason.
fn sorted<'r>(run: &'r RunRecord, known: &Circumstances) -> (Vec<&'r TrialRow>, Vec<(&'r TrialRow, String)>) {
    let last: HashMap<&str, usize> = run.rows.iter().enumerate().map(|(index, row)| (row.trial.as_str(), index)).collect();
    let images = known.other_images(run);
    let rows = run.rows.iter().zip(images).enumerate();
    let kept = rows.filter(|(index, (row, _))| last[row.trial.as_str()] == *index && !row.is_primer()).map(|(_, kept)| kept);
    let machine = [known.machine(run), known.engine(run)].concat().join(", ");
    let (mut ours, mut apart) = (Vec::new(), Vec::new());
    for (row, image) in kept {
        match image {
            _ if !machine.is_empty() => apart.push((row, machine.clone())),
            Some(other) => apart.push((row, other.words())),
            None => ours.push(row),
        }
    }
    (ours, apart)
}
