//! What a factor does over all combinations of the others, and whether two factors depend on each other.

use super::estimate::Effect;

/// What one level of a factor does against the baseline's level, averaged (on logs) over those combinations of the other factors that have
/// both.
#[derive(Debug, Clone, PartialEq)]
pub struct MainEffect {
    /// The metric.
    pub metric: String,
    /// Index into the results' factors.
    pub factor: usize,
    /// Index of the level.
    pub level: usize,
    /// Index of the baseline's level, which it is compared with.
    pub against: usize,
    /// Combinations of the other factors' levels that have both levels, at least two.
    pub combinations: usize,
    /// The marginal ratio; its p is adjusted over all main effects.
    pub effect: Effect,
    /// As for a comparison: the number of engine starts, where they are what is repeated.
    pub engine_starts: Option<usize>,
    /// As for a comparison: blocks without a contrast, of how many, when those are too many for a verdict.
    pub lost: Option<(usize, usize)>,
    /// Whether a trial on either side was measured over a window that is too short.
    pub too_short: bool,
    /// The factors on whose levels it depends: an interaction with them is different, or larger than half of this effect.
    pub depends_on: Vec<usize>,
    /// Where it depends on others: what the level does at each of their levels.
    pub simple: Vec<SimpleEffect>,
}

/// What a level does at one level of another factor.
#[derive(Debug, Clone, PartialEq)]
pub struct SimpleEffect {
    /// The other factor.
    pub factor: usize,
    /// Its level.
    pub level: usize,
    /// The ratio there; no verdict stands on it.
    pub effect: Effect,
}

/// How much the ratio of two levels of one factor changes from one level of another to the next: a ratio of ratios, 1 where both factors
/// act on their own.
#[derive(Debug, Clone, PartialEq)]
pub struct Interaction {
    /// The metric.
    pub metric: String,
    /// Indices of both factors, the first declared first.
    pub factors: (usize, usize),
    /// The level of each.
    pub levels: (usize, usize),
    /// The baseline's level of each.
    pub against: (usize, usize),
    /// Combinations of the remaining factors that have all four cells.
    pub combinations: usize,
    /// The ratio of ratios; its p is adjusted over all interactions.
    pub effect: Effect,
    /// As for a comparison.
    pub engine_starts: Option<usize>,
    /// As for a comparison.
    pub lost: Option<(usize, usize)>,
}

/// How a metric goes over a numeric factor of at least three positive levels, on the logarithms of both.
#[derive(Debug, Clone, PartialEq)]
pub struct Trend {
    /// The metric.
    pub metric: String,
    /// Index into the results' factors.
    pub factor: usize,
    /// The ratio per doubling of the factor.
    pub doubling: Effect,
    /// How that ratio itself changes per doubling: 1 where the line is straight.
    pub bend: Effect,
}
