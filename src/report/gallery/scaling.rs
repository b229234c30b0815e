//! The primary metric over a numeric factor.

use super::{Gallery, metric_measure};
use crate::model::estimate::Estimate;
use crate::model::metric::{Better, Unit};
use crate::model::plan::FactorSummary;
use crate::model::quantity;
use crate::report::charts::{Cell, Heading, Ideal, LevelMark, Role, Scaling, Series};

/// Lines of one chart; beyond it the strip chart says more.
const MOST_SERIES: usize = 8;

impl Gallery<'_> {
    /// One chart per numeric factor, where the other factors' combinations are few enough to be told apart.
    pub(super) fn scaling(&self) -> Vec<(String, Scaling)> {
        let mut charts = Vec::new();
        for (factor, summary) in self.results.factors.iter().enumerate() {
            let numbers: Vec<f64> = summary.levels.iter().filter_map(|text| quantity::number(text)).collect();
            if numbers.len() < 2 || numbers.len() != summary.levels.len() {
                continue;
            }
            let series = self.series(factor);
            if series.is_empty() || series.len() > MOST_SERIES {
                continue;
            }
            let metric = self.metric(self.main);
            let chart = Scaling {
                heading: Heading { title: self.results.presentation.title.clone(), subtitle: self.observed.source.clone() },
                measure: metric_measure(metric),
                factor: summary.name.to_string(),
                levels: self.marks(summary, &numbers, series.len() == 1),
                anchor: self.results.variants[self.results.baseline].levels.get(factor).map(|level| *level as usize),
                series,
                ideal: self.ideal(&summary.name),
            };
            charts.push((summary.name.to_string(), chart));
        }
        charts
    }

    /// The levels; with one line only, each with its ratio to the baseline.
    fn marks(&self, summary: &FactorSummary, numbers: &[f64], ratios: bool) -> Vec<LevelMark> {
        let variants = self.results.variants.iter().enumerate().filter(|(variant, _)| ratios && !self.is_copy(*variant));
        let place = self.results.factors.iter().position(|factor| factor.name == summary.name);
        let of_level: Vec<(usize, usize)> =
            variants.filter_map(|(variant, found)| Some((*found.levels.get(place?)? as usize, variant))).collect();
        let ratio = |level: usize| {
            let variant = of_level.iter().find(|(of, _)| *of == level).map(|(_, variant)| *variant);
            let ratio = variant.map(|variant| self.observed.ratio(self.main, variant)).unwrap_or_default();
            match variant {
                Some(variant) if variant == self.results.baseline => "baseline".to_owned(),
                _ if ratio.is_empty() => String::new(),
                _ => format!("× {ratio}"),
            }
        };
        let levels = summary.levels.iter().zip(numbers).enumerate();
        levels.map(|(level, (text, value))| LevelMark { text: text.to_string(), value: *value, remark: ratio(level) }).collect()
    }

    /// Perfect scaling is defined for limits of CPUs only: for other factors nobody promised anything.
    fn ideal(&self, factor: &str) -> Option<Ideal> {
        let metric = self.metric(self.main);
        let rate = metric.unit == Unit::PER_SECOND || metric.unit == Unit::BYTES_PER_SECOND;
        match metric.better {
            _ if factor != "cpus" => None,
            Some(Better::Lower) if metric.unit == Unit::SECOND => Some(Ideal::Inverse),
            Some(Better::Higher) if rate => Some(Ideal::Proportional),
            _ => None,
        }
    }

    /// One line per combination of the other factors' levels.
    fn series(&self, factor: usize) -> Vec<Series> {
        let mut found: Vec<(Vec<u32>, Series)> = Vec::new();
        for (index, variant) in self.results.variants.iter().enumerate().filter(|(index, _)| !self.is_copy(*index)) {
            let Some(level) = variant.levels.get(factor).copied() else { continue };
            let others = self.others(&variant.levels, &[factor]);
            let estimate = self.observed.level(self.main, index);
            let cell = Cell {
                level: level as usize,
                points: self.observed.points(self.main, index),
                median: estimate.map(|e| e.median),
                interval: interval(estimate),
            };
            if let Some((_, series)) = found.iter_mut().find(|(key, _)| *key == others) {
                series.cells.push(cell);
            } else {
                let baseline = &self.results.variants[self.results.baseline].levels;
                let is_baseline = self.others(baseline, &[factor]) == others;
                let role = if is_baseline && !others.is_empty() { Role::Baseline } else { Role::Plain };
                let hue = if role == Role::Baseline { None } else { Some(found.len()) };
                let label = self.levels_label(&variant.levels, &[factor]);
                found.push((others, Series { label, role, hue, cells: vec![cell] }));
            }
        }
        found.into_iter().map(|(_, series)| series).collect()
    }
}

/// The interval of a level, where it has one.
pub(super) fn interval(estimate: Option<&Estimate>) -> Option<(f64, f64)> {
    estimate.and_then(|e| e.low.zip(e.high))
}
