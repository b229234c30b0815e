//! Gathers what a parser finds, and makes the one decision that all parsers share: an exit code other than 0 is not ok.

use super::ToolOutput;
use super::plain_text::quoted;
use crate::model::metric::{Observation, Parsed, Unit};
use regex::Regex;

/// Most reasons, and most cautions, that are told: a tool that complains a million times says nothing new.
const MOST_TOLD: usize = 20;

/// What was found so far.
#[derive(Debug, Default)]
pub(super) struct Reading {
    failures: Vec<String>,
    cautions: Vec<String>,
    metrics: Vec<Observation>,
}

impl Reading {
    /// Adds a metric; nothing when the value is not finite.
    pub(super) fn metric(&mut self, name: &str, value: f64, unit: Unit) {
        self.metrics.extend(Observation::finite(name, value, unit));
    }

    /// Adds a metric when it is there.
    pub(super) fn metric_if(&mut self, name: &str, value: Option<f64>, unit: Unit) {
        if let Some(value) = value {
            self.metric(name, value, unit);
        }
    }

    /// Says why the tool did not do its work; each reason once.
    pub(super) fn fail(&mut self, reason: impl Into<String>) {
        let reason = reason.into();
        if self.failures.len() < MOST_TOLD && !self.failures.contains(&reason) {
            self.failures.push(reason);
        }
    }

    /// Fails with every line in which the tool complains.
    pub(super) fn complain(&mut self, text: &str, complaint: &Regex) {
        text.lines().map(str::trim).filter(|line| complaint.is_match(line)).for_each(|line| self.fail(quoted(line)));
    }

    /// Says what to beware of.
    pub(super) fn beware(&mut self, caution: impl Into<String>) {
        if self.cautions.len() < MOST_TOLD {
            self.cautions.push(caution.into());
        }
    }

    /// Whether nothing failed so far.
    pub(super) fn is_ok(&self) -> bool {
        self.failures.is_empty()
    }

    /// The result.
    pub(super) fn finish(mut self, output: &ToolOutput<'_>) -> Parsed {
        if let Some(code) = output.exit_code.filter(|code| *code != 0) {
            self.failures.push(format!("exit code {code}"));
        }
        Parsed { ok: self.failures.is_empty(), problems: self.failures.into_iter().chain(self.cautions).collect(), metrics: self.metrics }
    }
}
