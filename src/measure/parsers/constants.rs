//! How the files of the tools write down what never changes: patterns, and rows of the dictionary of metrics.

use crate::model::metric::{Better, MetricInfo};
use regex::Regex;

/// More is better.
pub(super) const HIGHER: Option<Better> = Some(Better::Higher);
/// Less is better.
pub(super) const LOWER: Option<Better> = Some(Better::Lower);

/// A row of the dictionary.
pub(super) const fn info(name: &'static str, unit: &'static str, better: Option<Better>, about: &'static str) -> MetricInfo {
    MetricInfo { name, unit, better, about }
}

/// A pattern that stands in the source.
pub(super) fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("the pattern is constant")
}
