//! What the readings of the trials mean: each judged by the experiment's thresholds, and beside its own kind where a check compares.

use super::order_statistics::level;
use crate::model::hygiene::{Bad, CheckInfo, State, find};
use crate::model::results::{ResultRow, Results};
use std::collections::{BTreeMap, BTreeSet};

/// What these checks find may be what a factor does: a path through docker-proxy, a driver that works inside the daemon. Where the variants
/// differ in it, it is compared, and disturbs nothing.
const MAY_BE_COMPARED: [&str; 2] = ["docker-proxy", "engine-cpu"];

/// Judges every reading of every row, and adds the names of the checks that say so to the taints of the trials that ended well.
pub fn judge(results: &mut Results) {
    let medians = Medians::of(results);
    let compared = compared(results);
    let thresholds = &results.design.hygiene;
    for row in &mut results.rows {
        let state = |row: &ResultRow, check: &CheckInfo, value: Option<f64>| {
            let state = thresholds.judge(check, value, medians.beside(row, check));
            if compared.contains(check.name) { state.min(State::Warn) } else { state }
        };
        // A check that this version does not know is nobody's to judge.
        let of =
            |reading: &crate::model::hygiene::Reading| find(&reading.check).map_or(State::Ok, |check| state(row, check, reading.value));
        row.states = row.row.readings.iter().map(of).collect();
        if row.row.outcome == crate::model::outcome::Outcome::Ok {
            let tainting = row.row.readings.iter().zip(&row.states).filter(|(_, state)| **state == State::Taint);
            for name in tainting.map(|(reading, _)| reading.check.clone()).collect::<Vec<_>>() {
                if !row.row.taints.contains(&name) {
                    row.row.taints.push(name);
                }
            }
        }
    }
}

/// The medians of the trials that are alike, by check.
struct Medians {
    of_variant: BTreeMap<(&'static str, usize), f64>,
    of_run: BTreeMap<(&'static str, usize), f64>,
}

impl Medians {
    fn of(results: &Results) -> Self {
        let mut of_variant: BTreeMap<(&'static str, usize), Vec<f64>> = BTreeMap::new();
        let mut of_run: BTreeMap<(&'static str, usize), Vec<f64>> = BTreeMap::new();
        for row in &results.rows {
            let Some(variant) = row.counts() else { continue };
            for reading in &row.row.readings {
                let Some((check, value)) = find(&reading.check).zip(reading.value) else { continue };
                match check.bad {
                    Bad::OffMedian => of_variant.entry((check.name, variant)).or_default().push(value),
                    Bad::OffRun => of_run.entry((check.name, row.run)).or_default().push(value),
                    Bad::Above | Bad::Below => {}
                }
            }
        }
        // One trial is its own median: it says nothing about itself.
        let median =
            |(key, values): (_, Vec<f64>)| Some((key, level(values)?)).filter(|(_, level)| level.n > 1).map(|(key, l)| (key, l.median));
        Self { of_variant: of_variant.into_iter().filter_map(median).collect(), of_run: of_run.into_iter().filter_map(median).collect() }
    }

    fn beside(&self, row: &ResultRow, check: &CheckInfo) -> Option<f64> {
        match check.bad {
            Bad::OffMedian => self.of_variant.get(&(check.name, row.variant?)).copied(),
            Bad::OffRun => self.of_run.get(&(check.name, row.run)).copied(),
            Bad::Above | Bad::Below => None,
        }
    }
}

/// The median of what a check read in a variant's trials that count; none where it read nothing.
pub(super) fn median(results: &Results, variant: usize, check: &str) -> Option<f64> {
    let of_variant = results.rows.iter().filter(|row| row.counts() == Some(variant));
    let values = of_variant.flat_map(|row| &row.row.readings).filter(|reading| reading.check == check).filter_map(|reading| reading.value);
    level(values.collect()).map(|level| level.median)
}

/// The checks in which some variants stand above the threshold and others do not.
fn compared(results: &Results) -> BTreeSet<&'static str> {
    let differs = |name: &&'static str| {
        let limit = find(name).and_then(|check| results.design.hygiene.of(check).warn);
        let measured: BTreeSet<usize> = results.rows.iter().filter_map(ResultRow::counts).collect();
        let above = |variant: usize| median(results, variant, name).is_some_and(|value| limit.is_some_and(|limit| value > limit));
        let (above, below): (Vec<usize>, Vec<usize>) = measured.into_iter().partition(|variant| above(*variant));
        !above.is_empty() && !below.is_empty()
    };
    MAY_BE_COMPARED.into_iter().filter(differs).collect()
}
