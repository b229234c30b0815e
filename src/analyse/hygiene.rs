//! What the readings of the trials mean: each judged by the experiment's thresholds, and beside its own kind where a check compares.

use super::order_statistics::level;
use crate::model::estimate::Estimate;
use crate::model::hygiene::{Bad, CheckInfo, Reading, State, find};
use crate::model::outcome::Outcome;
use crate::model::results::{ResultRow, Results};
use std::collections::{BTreeMap, BTreeSet};

/// What these checks find may be what a factor does: a path through docker-proxy, a driver that works inside the daemon. Where the variants
/// differ in it, it is compared, and disturbs nothing.
const MAY_BE_COMPARED: [&str; 2] = ["docker-proxy", "engine-cpu"];

/// Judges every reading of every row, and adds the names of the checks that say so to the taints of the trials that ended well.
pub fn judge(results: &mut Results) {
    let medians = Medians::of(results);
    let compared = compared(results, &medians);
    let thresholds = &results.design.hygiene;
    for row in &mut results.rows {
        let state = |row: &ResultRow, check: &CheckInfo, value: Option<f64>| {
            let state = thresholds.judge(check, value, medians.beside(row, check));
            if compared.contains(check.name) { state.min(State::Warn) } else { state }
        };
        // A check that this version does not know is nobody's to judge.
        let of = |reading: &Reading| find(&reading.check).map_or(State::Ok, |check| state(row, check, reading.value));
        row.states = row.row.readings.iter().map(of).collect();
        if row.row.outcome == Outcome::Ok {
            let tainting = row.row.readings.iter().zip(&row.states).filter(|(_, state)| **state == State::Taint);
            for name in tainting.map(|(reading, _)| reading.check.clone()).collect::<Vec<_>>() {
                if !row.row.taints.contains(&name) {
                    row.row.taints.push(name);
                }
            }
        }
    }
}

/// The medians of what the trials that count read, by check: of each variant, and of each run where a check compares its trials.
pub(super) struct Medians {
    of_variant: BTreeMap<(&'static str, usize), Estimate>,
    of_run: BTreeMap<(&'static str, usize), Estimate>,
}

impl Medians {
    pub(super) fn of(results: &Results) -> Self {
        let mut of_variant: BTreeMap<(&'static str, usize), Vec<f64>> = BTreeMap::new();
        let mut of_run: BTreeMap<(&'static str, usize), Vec<f64>> = BTreeMap::new();
        for row in &results.rows {
            let Some(variant) = row.counts() else { continue };
            for reading in &row.row.readings {
                let Some((check, value)) = find(&reading.check).zip(reading.value) else { continue };
                of_variant.entry((check.name, variant)).or_default().push(value);
                if check.bad == Bad::OffRun {
                    of_run.entry((check.name, row.run)).or_default().push(value);
                }
            }
        }
        let levels = |all: BTreeMap<_, Vec<f64>>| all.into_iter().filter_map(|(key, values)| Some((key, level(values)?))).collect();
        Self { of_variant: levels(of_variant), of_run: levels(of_run) }
    }

    /// What a check read in a variant's trials; none where it read nothing.
    pub(super) fn of_variant(&self, check: &'static str, variant: usize) -> Option<f64> {
        self.of_variant.get(&(check, variant)).map(|level| level.median)
    }

    /// What a row is compared with, where its check compares. One trial is its own median: it says nothing about itself.
    fn beside(&self, row: &ResultRow, check: &CheckInfo) -> Option<f64> {
        let alike = match check.bad {
            Bad::OffMedian => self.of_variant.get(&(check.name, row.variant?)),
            Bad::OffRun => self.of_run.get(&(check.name, row.run)),
            Bad::Above | Bad::Below => None,
        };
        alike.filter(|level| level.n > 1).map(|level| level.median)
    }
}

/// The checks in which some variants stand above the threshold and others do not.
fn compared(results: &Results, medians: &Medians) -> BTreeSet<&'static str> {
    let measured: BTreeSet<usize> = results.rows.iter().filter_map(ResultRow::counts).collect();
    let differs = |name: &&'static str| {
        let limit = find(name).and_then(|check| results.design.hygiene.of(check).warn);
        let above = |variant: &usize| medians.of_variant(name, *variant).zip(limit).is_some_and(|(value, limit)| value > limit);
        let all_above = measured.iter().filter(|variant| above(variant)).count();
        (1..measured.len()).contains(&all_above)
    };
    MAY_BE_COMPARED.into_iter().filter(differs).collect()
}
