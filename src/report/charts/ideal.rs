//! The line of perfect scaling: what the metric would be if it followed the factor exactly.

use super::palette::Role;
use super::scale::Scale;
use super::scaling::{Cell, Scaling, Series};

/// What perfect scaling means for this metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ideal {
    /// Twice the factor, twice the value: throughput.
    Proportional,
    /// Twice the factor, half the value: time.
    Inverse,
}

/// Steps of the drawn curve.
const STEPS: i32 = 96;

impl Scaling {
    /// The level and median that the line goes through: those of the anchor, else of the lowest level that was measured.
    fn start(&self) -> Option<&Cell> {
        self.start_of(self.series.iter().find(|series| series.role == Role::Baseline).or(self.series.first())?)
    }

    fn start_of<'s>(&self, series: &'s Series) -> Option<&'s Cell> {
        let known = || self.known(series);
        let anchor = known().find(|(_, cell)| Some(cell.level) == self.anchor);
        anchor.or_else(|| known().min_by(|a, b| a.0.total_cmp(&b.0))).map(|(_, cell)| cell)
    }

    /// The cells of a line that have a median and a level above zero, with that level.
    fn known<'s>(&self, series: &'s Series) -> impl Iterator<Item = (f64, &'s Cell)> {
        let levels: Vec<f64> = self.levels.iter().map(|level| level.value).collect();
        let known = series.cells.iter().filter(|cell| cell.median.is_some_and(f64::is_finite));
        known.map(move |cell| (levels[cell.level], cell)).filter(|(level, _)| level.is_finite() && *level > 0.0)
    }

    /// For every line the share of perfect scaling, from its own start, that it reaches at each level; empty without an ideal, and where no
    /// line has two levels.
    pub(super) fn efficiency(&self) -> Vec<Vec<(f64, f64)>> {
        let Some(ideal) = self.ideal else { return Vec::new() };
        let line = |series: &Series| {
            let start = self.start_of(series)?;
            let (from, first) = (self.levels[start.level].value, start.median?);
            let share = |level: f64, median: f64| match ideal {
                Ideal::Proportional => median / (first * level / from),
                Ideal::Inverse => first * from / level / median,
            };
            let mut shares: Vec<(f64, f64)> =
                self.known(series).filter_map(|(level, cell)| Some((level, share(level, cell.median?)))).collect();
            shares.retain(|(_, share)| share.is_finite() && *share >= 0.0);
            shares.sort_by(|a, b| a.0.total_cmp(&b.0));
            Some(shares)
        };
        let lines: Vec<Vec<(f64, f64)>> = self.series.iter().map(|series| line(series).unwrap_or_default()).collect();
        if lines.iter().any(|line| line.len() > 1) { lines } else { Vec::new() }
    }

    /// Factor and value along the line, over all levels; empty where there is nothing to start from.
    pub(super) fn ideal_line(&self, across: &Scale) -> Vec<(f64, f64)> {
        let Some((ideal, start)) = self.ideal.zip(self.start()) else { return Vec::new() };
        let (from, median) = (self.levels[start.level].value, start.median.unwrap_or_default());
        let levels = || self.levels.iter().map(|level| level.value).filter(|value| value.is_finite() && *value > 0.0);
        let (low, high) = (levels().fold(from, f64::min), levels().fold(from, f64::max));
        let (first, last) = (f64::from(across.share(low)), f64::from(across.share(high)));
        let at = |step: i32| across.value(first + (last - first) * f64::from(step) / f64::from(STEPS)).clamp(low, high);
        let value = |level: f64| match ideal {
            Ideal::Proportional => median * level / from,
            Ideal::Inverse => median * from / level,
        };
        (0..=STEPS).map(at).map(|level| (level, value(level))).filter(|(_, value)| value.is_finite()).collect()
    }

    /// The ends of the line, as far as showing them would not squeeze the data.
    pub(super) fn ideal_ends(&self, line: &[(f64, f64)], largest: f64) -> Vec<f64> {
        let ends = line.first().into_iter().chain(line.last()).map(|(_, value)| *value);
        ends.filter(|value| *value <= largest * 1.8 && *value > largest / 50.0).collect()
    }

    /// What the key says about the line.
    pub(super) fn ideal_words(&self) -> String {
        match self.start() {
            Some(start) if Some(start.level) == self.anchor => {
                format!("ideal scaling from {}={}, the baseline", self.factor, self.levels[start.level].text)
            }
            _ => "ideal scaling from the lowest level".to_owned(),
        }
    }
}
