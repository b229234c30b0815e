//! What disturbs a measurement: the checks of a trial ([`CHECKS`]), what they read, and from where on a sceptic warns or leaves the trial out.
//!
//! A trial records what was read; whether that is fine follows from the reading and the experiment's thresholds, so that another threshold
//! judges old trials anew. The thresholds are those of the protocol's table; those without a named source there are engineering judgement.

mod checks;

pub use checks::{Amount, Bad, CHECKS, CheckInfo, find};

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What one check read in one trial. A check that a trial does not list did not apply to it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reading {
    /// The check.
    pub check: String,
    /// What was read; none when it could not be observed here.
    pub value: Option<f64>,
    /// Which CPU, disk, unit or line it is about.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub detail: Option<String>,
}

impl Reading {
    /// A reading of a value.
    #[must_use]
    pub fn of(check: &str, value: f64) -> Self {
        Self { check: check.to_owned(), value: Some(value), detail: None }
    }

    /// A check that cannot be made here.
    #[must_use]
    pub fn unobservable(check: &str) -> Self {
        Self { check: check.to_owned(), value: None, detail: None }
    }

    /// The same with a detail.
    #[must_use]
    pub fn about(self, detail: impl Into<String>) -> Self {
        Self { detail: Some(detail.into()), ..self }
    }
}

/// What a reading means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum State {
    /// It could not be read here.
    Unobservable,
    /// Nothing to say.
    Ok,
    /// A reader should know.
    Warn,
    /// A sceptic leaves the trial out.
    Taint,
}

/// Where warnings and taints of one check begin, as an experiment declares it.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Threshold {
    /// Where a warning begins.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub warn: Option<f64>,
    /// Where a taint begins.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub taint: Option<f64>,
}

/// Thresholds that replace the defaults, by check. One without either switches the check off.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Thresholds(pub BTreeMap<String, Threshold>);

impl Thresholds {
    /// Those of a check.
    #[must_use]
    pub fn of(&self, check: &CheckInfo) -> Threshold {
        self.0.get(check.name).copied().unwrap_or(Threshold { warn: check.warn, taint: check.taint })
    }

    /// Whether nothing is declared.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What `value` means for a check; `median` is that of the trials that it is compared with, where the check compares.
    #[must_use]
    pub fn judge(&self, check: &CheckInfo, value: Option<f64>, median: Option<f64>) -> State {
        let Some(value) = value else { return State::Unobservable };
        let Threshold { warn, taint } = self.of(check);
        let is_bad = |limit: f64| match check.bad {
            Bad::Above => value > limit,
            Bad::Below => value < limit,
            // From nothing no factor leads anywhere: a single unit beside it is no finding.
            Bad::OffMedian => median.is_some_and(|median| {
                let (low, high) = (value.min(median), value.max(median));
                high > 0.0 && high > limit * low.max(floor(check.amount))
            }),
            Bad::OffRun => median.is_some_and(|median| median > 0.0 && (value / median - 1.0).abs() > limit),
        };
        match (taint.is_some_and(is_bad), warn.is_some_and(is_bad)) {
            (true, _) => State::Taint,
            (false, true) => State::Warn,
            (false, false) => State::Ok,
        }
    }
}

/// Below this, amounts are all alike: a mebibyte, a twentieth of a second.
fn floor(amount: Amount) -> f64 {
    match amount {
        Amount::Bytes => 1_048_576.0,
        Amount::Seconds => 0.05,
        _ => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readings_are_judged_by_thresholds() {
        let own = Thresholds(
            [("steal".to_owned(), Threshold { warn: None, taint: Some(0.5) }), ("swap".to_owned(), Threshold::default())].into(),
        );
        let plain = Thresholds::default();
        let table = [
            (&plain, "foreign-cpu", None, None, State::Unobservable),
            (&plain, "foreign-cpu", Some(0.02), None, State::Ok),
            (&plain, "foreign-cpu", Some(0.021), None, State::Warn),
            (&plain, "foreign-cpu", Some(0.11), None, State::Taint),
            (&plain, "thermal", Some(0.0), None, State::Ok),
            (&plain, "thermal", Some(1.0), None, State::Taint),
            (&plain, "cpu-limit-unused", Some(0.89), None, State::Warn),
            (&plain, "cpu-limit-unused", Some(0.9), None, State::Ok),
            (&plain, "cold-cache", Some(11e6), Some(1.1e6), State::Ok),
            (&plain, "cold-cache", Some(12e6), Some(1.1e6), State::Warn),
            (&plain, "cold-cache", Some(4096.0), Some(0.0), State::Ok),
            (&plain, "cold-cache", Some(12e6), Some(0.0), State::Warn),
            (&plain, "cold-cache", Some(0.0), Some(12e6), State::Warn),
            (&plain, "cold-cache", Some(12e6), None, State::Ok),
            (&plain, "frequency", Some(2.0e9), Some(2.4e9), State::Taint),
            (&plain, "frequency", Some(2.3e9), Some(2.4e9), State::Ok),
            (&own, "steal", Some(0.06), None, State::Ok),
            (&own, "steal", Some(0.6), None, State::Taint),
            (&own, "swap", Some(9.0), None, State::Ok),
            (&plain, "host-cpu", Some(1.0), None, State::Ok),
        ];
        for (thresholds, name, value, median, state) in table {
            let check = find(name).expect("a check");
            assert_eq!(thresholds.judge(check, value, median), state, "{name} {value:?} {median:?}");
        }
    }
}
