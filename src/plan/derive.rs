//! Derived metrics: computed late, from recorded observations, so that changing a formula re-runs nothing.

use super::bind::Formula;
use crate::model::experiment::MetricDecl;
use crate::model::metric::{Observation, Unit};
use serde_json::{Map, Value as Json};

/// The formulas of an experiment, compiled.
pub struct Derived(Vec<(MetricDecl, Formula)>);

impl Derived {
    /// Compiles the formulas; those that no longer compile are returned as sentences.
    #[must_use]
    pub fn new(metrics: &[MetricDecl]) -> (Self, Vec<String>) {
        let mut compiled = Vec::new();
        let mut problems = Vec::new();
        for metric in metrics {
            if let Some(text) = &metric.expr {
                match Formula::new(text) {
                    Ok(formula) => compiled.push((metric.clone(), formula)),
                    Err(error) => problems.push(format!("metric `{}`: {error}", metric.name)),
                }
            }
        }
        (Self(compiled), problems)
    }

    /// Adds what can be computed to a trial's observations; what needs an absent metric stays absent.
    ///
    /// # Errors
    /// The first formula that fails for these values.
    pub fn add(&self, names: &Map<String, Json>, observations: &mut Vec<Observation>) -> Result<(), String> {
        if self.0.is_empty() {
            return Ok(());
        }
        let mut names = names.clone();
        observations.iter().for_each(|o| insert(&mut names, o));
        for (metric, formula) in &self.0 {
            if let Some(value) = formula.number(&names).map_err(|error| format!("metric `{}`: {error}", metric.name))? {
                let unit = metric.unit.clone().unwrap_or(Unit::ONE);
                let observation = Observation { name: metric.name.clone(), value, unit };
                insert(&mut names, &observation);
                observations.push(observation);
            }
        }
        Ok(())
    }
}

/// Puts `a.real` where `a.real` finds it.
fn insert(names: &mut Map<String, Json>, observation: &Observation) {
    match observation.name.split_once('.') {
        None => {
            names.insert(observation.name.clone(), observation.value.into());
        }
        Some((workload, metric)) => {
            let entry = names.entry(workload).or_insert_with(|| Json::Object(Map::new()));
            if let Json::Object(inner) = entry {
                inner.insert(metric.to_owned(), observation.value.into());
            }
        }
    }
}
