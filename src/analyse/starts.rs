//! Engine starts: what is replicated where a comparison is about engines.
//!
//! A setting of a daemon is changed by starting another daemon, and no two starts are alike: trials under one start share what that
//! start drew. Counting them one by one takes this noise for an effect, so the log ratios of one start are averaged first, and n is the
//! number of starts.

use super::observed::Key;
use crate::model::plan::copy_has_its_own_engine;
use crate::model::results::{ResultRow, Results};
use crate::model::spec::EngineSpec;
use std::collections::{BTreeMap, HashMap};

/// Which blocks share the starts of engines, and which comparisons are about engines.
pub(super) struct Starts {
    of: HashMap<Key, u32>,
    engine_level: Vec<bool>,
    /// The engine of each variant, equal ones with one number, and whether it is started for its setting.
    engines: Vec<(usize, bool)>,
}

impl Starts {
    /// Any row of a block tells its start, for all engines of a run are started for the same blocks.
    pub(super) fn of(results: &Results) -> Self {
        let start = |row: &ResultRow| Some(((row.run, row.row.block), row.row.engine_start?));
        let variants = || results.variants.iter().filter(|variant| !variant.is_copy());
        let engine_level = results.variants.get(results.baseline).map_or_else(Vec::new, |baseline| {
            let baseline = &baseline.spec.engine;
            let of_copy = copy_has_its_own_engine(baseline, variants().map(|variant| &variant.spec.engine));
            let differs = |engine: &EngineSpec| engine != baseline && (engine.private.is_some() || baseline.private.is_some());
            results.variants.iter().map(|v| if v.is_copy() { of_copy } else { differs(&v.spec.engine) }).collect()
        });
        let mut known: Vec<&EngineSpec> = Vec::new();
        let number = |engine| {
            let at = known.iter().position(|other| *other == engine);
            at.unwrap_or_else(|| {
                known.push(engine);
                known.len() - 1
            })
        };
        let of_variant = results.variants.iter().map(|variant| &variant.spec.engine);
        let engines = of_variant.clone().map(number).zip(of_variant.map(|engine| engine.private.is_some())).collect();
        Self { of: results.rows.iter().filter_map(start).collect(), engine_level, engines }
    }

    /// Whether a contrast weighs one engine against another, of which at least one is started for its setting: the weights of some engine
    /// do not add up to nothing.
    pub(super) fn differ(&self, weights: &[(usize, f64)]) -> bool {
        let mut sums: BTreeMap<usize, (f64, bool)> = BTreeMap::new();
        for (variant, weight) in weights {
            let (engine, private) = self.engines[*variant];
            let sum = sums.entry(engine).or_insert((0.0, private));
            sum.0 += weight;
        }
        let uneven = || sums.values().filter(|(sum, _)| sum.abs() > 1e-9);
        uneven().count() > 1 && uneven().any(|(_, private)| *private)
    }

    /// Whether the comparison of a variant with the baseline is about engines of which at least one is started for it.
    pub(super) fn compares_engines(&self, variant: usize) -> bool {
        self.engine_level.get(variant).copied().unwrap_or(false)
    }

    /// The mean of the values of each start, in order. Blocks of a run of which no start is known are taken for one start: what is not
    /// known to be another one adds nothing to n.
    pub(super) fn means(&self, values: &[(Key, f64)]) -> Vec<f64> {
        let mut sums: BTreeMap<(usize, u32), (f64, usize)> = BTreeMap::new();
        for (key, value) in values {
            let (sum, count) = sums.entry((key.0, self.of.get(key).copied().unwrap_or(0))).or_default();
            *sum += value;
            *count += 1;
        }
        sums.into_values().map(|(sum, count)| sum / count as f64).collect()
    }
}
