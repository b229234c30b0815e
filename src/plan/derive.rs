//! Derived metrics: computed late, from recorded observations, so that changing a formula re-runs nothing.

use super::bind::Formula;
use crate::model::experiment::MetricDecl;
use crate::model::metric::{Observation, Unit};
use serde_json::{Map, Value as Json};

/// The formulas of an experiment, compiled, each after those that it reads.
pub struct Derived(Vec<(MetricDecl, Formula)>);

impl Derived {
    /// Compiles the formulas; those that no longer compile, or that need each other, are returned as sentences.
    #[must_use]
    pub fn new(metrics: &[MetricDecl]) -> (Self, Vec<String>) {
        let mut waiting = Vec::new();
        let mut problems = Vec::new();
        for metric in metrics {
            if let Some(text) = &metric.expr {
                match Formula::new(text) {
                    Ok(formula) => waiting.push((metric.clone(), formula)),
                    Err(error) => problems.push(format!("metric `{}`: {error}", metric.name)),
                }
            }
        }
        let mut ordered = Vec::with_capacity(waiting.len());
        while !waiting.is_empty() {
            let pending: Vec<&str> = waiting.iter().map(|(metric, _)| metric.name.as_str()).collect();
            let ready = waiting.iter().position(|(_, formula)| !formula.names().iter().any(|name| pending.contains(&name.as_str())));
            match ready {
                Some(index) => ordered.push(waiting.remove(index)),
                None => {
                    problems.extend(waiting.drain(..).map(|(metric, _)| format!("metric `{}`: its formula needs itself", metric.name)));
                }
            }
        }
        (Self(ordered), problems)
    }

    /// Adds what can be computed to a trial's observations; what needs an absent metric stays absent. Returns the metric and a
    /// sentence for each formula that fails for these values; the others are not affected.
    #[must_use]
    pub fn add(&self, names: &Map<String, Json>, observations: &mut Vec<Observation>) -> Vec<(&str, String)> {
        let mut problems = Vec::new();
        if self.0.is_empty() {
            return problems;
        }
        let mut names = names.clone();
        observations.iter().for_each(|o| insert(&mut names, o));
        for (metric, formula) in &self.0 {
            match formula.number(&names) {
                Ok(None) => {}
                Ok(Some(value)) => {
                    let unit = metric.unit.clone().unwrap_or(Unit::ONE);
                    let observation = Observation { name: metric.name.clone(), value, unit };
                    insert(&mut names, &observation);
                    observations.push(observation);
                }
                Err(error) => problems.push((metric.name.as_str(), format!("metric `{}`: {error}", metric.name))),
            }
        }
        problems
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
