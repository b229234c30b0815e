//! Which charts an experiment gets by default: the primary metric over a numeric factor, and all trials of every variant.

use super::ReportError;
use super::charts::{Cell, Fonts, Form, Heading, Ideal, LevelMark, Measure, Point, Role, Row, Scaling, Series, Strip};
use crate::model::estimate::{Analysis, Estimate, Subject};
use crate::model::metric::{Better, Unit};
use crate::model::outcome::Outcome;
use crate::model::plan::AA_SUFFIX;
use crate::model::results::{MetricColumn, Results};

/// Rows of one strip chart: more variants go on further pages.
const ROWS_PER_PAGE: usize = 60;
/// Lines of one scaling chart; beyond it the strip chart says more.
const MOST_SERIES: usize = 8;

/// A drawn chart.
pub(super) struct Drawn {
    pub(super) file: String,
    pub(super) alt: String,
    pub(super) png: Vec<u8>,
}

/// Draws the default charts of the primary metric; none when nothing was measured.
pub(super) fn draw(results: &Results, analysis: &Analysis, fonts: &Fonts) -> Result<Vec<Drawn>, ReportError> {
    let Some(index) = results.metrics.iter().position(|m| m.primary).or(if results.metrics.is_empty() { None } else { Some(0) }) else {
        return Ok(Vec::new());
    };
    let gallery = Gallery { results, analysis, metric: &results.metrics[index], index };
    if !analysis.levels.iter().any(|level| level.metric == index) {
        return Ok(Vec::new());
    }
    let mut drawn = Vec::new();
    let stem = file_stem(&gallery.metric.name);
    for (factor, chart) in gallery.scaling() {
        let file = format!("{stem}-by-{}.png", file_stem(&factor));
        let png = chart.render(fonts).map_err(|source| ReportError::Chart { name: file.clone(), source })?;
        drawn.push(Drawn { alt: format!("{} over {factor}, every trial a point", gallery.metric.name), file, png });
    }
    let pages = gallery.strips();
    let several = pages.len() > 1;
    for (page, chart) in pages.into_iter().enumerate() {
        let file = if several { format!("{stem}-trials-{}.png", page + 1) } else { format!("{stem}-trials.png") };
        let png = chart.render(fonts).map_err(|source| ReportError::Chart { name: file.clone(), source })?;
        drawn.push(Drawn { alt: format!("{} of every trial by variant", gallery.metric.name), file, png });
    }
    Ok(drawn)
}

struct Gallery<'r> {
    results: &'r Results,
    analysis: &'r Analysis,
    metric: &'r MetricColumn,
    index: usize,
}

impl Gallery<'_> {
    fn measure(&self) -> Measure {
        Measure { name: self.metric.name.clone(), unit: self.metric.unit.clone(), better: self.metric.better }
    }

    /// Where the numbers come from, in one line.
    fn subtitle(&self) -> String {
        let newest = self.results.runs.last();
        let host = newest.map(|run| &run.started.host);
        let machine =
            host.map(|h| format!("{} x {}", h.cpus, if h.cpu_model.is_empty() { &h.arch } else { &h.cpu_model })).unwrap_or_default();
        let date = newest.map(|run| run.started.at.chars().take(10).collect::<String>()).unwrap_or_default();
        let counted: Vec<_> =
            self.results.rows.iter().filter(|row| row.variant.is_some() && !row.superseded && row.row.outcome == Outcome::Ok).collect();
        let clean = counted.iter().filter(|row| row.row.taints.is_empty()).count();
        let blocks: u32 = self.results.runs.iter().map(|run| run.blocks).sum();
        let seed = newest.map(|run| run.seed.to_string()).unwrap_or_default();
        format!(
            "{blocks} randomised blocks, seed {seed} · clean {clean} of {} trials (hollow: flagged) · {machine} · {date}",
            counted.len()
        )
    }

    fn points(&self, variant: usize) -> Vec<Point> {
        let rows = self.results.rows.iter().filter(|row| row.variant == Some(variant) && !row.superseded && row.row.outcome == Outcome::Ok);
        let value = |row: &crate::model::event::TrialRow| row.metrics.iter().find(|m| m.name == self.metric.name).map(|m| m.value);
        rows.filter_map(|row| value(&row.row).map(|value| Point { value, tainted: !row.row.taints.is_empty() })).collect()
    }

    fn level(&self, variant: usize) -> Option<&Estimate> {
        self.analysis.levels.iter().find(|level| level.variant == variant && level.metric == self.index).map(|level| &level.estimate)
    }

    fn is_copy(&self, variant: usize) -> bool {
        self.results.variants[variant].id.ends_with(AA_SUFFIX)
    }

    fn role(&self, variant: usize) -> Role {
        if self.is_copy(variant) {
            Role::Control
        } else if variant == self.results.baseline {
            Role::Baseline
        } else {
            Role::Plain
        }
    }

    /// One chart per numeric factor, where the other factors' combinations are few enough to be told apart.
    fn scaling(&self) -> Vec<(String, Scaling)> {
        let mut charts = Vec::new();
        for (factor, summary) in self.results.factors.iter().enumerate() {
            let numbers: Vec<f64> = summary.levels.iter().filter_map(|text| crate::model::quantity::number(text)).collect();
            if numbers.len() < 2 || numbers.len() != summary.levels.len() {
                continue;
            }
            let levels =
                summary.levels.iter().zip(&numbers).map(|(text, value)| LevelMark { text: text.to_string(), value: *value }).collect();
            let series = self.series(factor);
            if series.is_empty() || series.len() > MOST_SERIES {
                continue;
            }
            let chart = Scaling {
                heading: Heading { title: self.results.presentation.title.clone(), subtitle: self.subtitle() },
                measure: self.measure(),
                factor: summary.name.to_string(),
                levels,
                series,
                ideal: self.ideal(&summary.name),
            };
            charts.push((summary.name.to_string(), chart));
        }
        charts
    }

    /// Perfect scaling is defined for limits of CPUs only: for other factors nobody promised anything.
    fn ideal(&self, factor: &str) -> Option<Ideal> {
        let rate = self.metric.unit == Unit::PER_SECOND || self.metric.unit == Unit::BYTES_PER_SECOND;
        match self.metric.better {
            _ if factor != "cpus" => None,
            Some(Better::Lower) if self.metric.unit == Unit::SECOND => Some(Ideal::Inverse),
            Some(Better::Higher) if rate => Some(Ideal::Proportional),
            _ => None,
        }
    }

    /// One line per combination of the other factors' levels.
    fn series(&self, factor: usize) -> Vec<Series> {
        let mut found: Vec<(Vec<u32>, Series)> = Vec::new();
        for (index, variant) in self.results.variants.iter().enumerate().filter(|(index, _)| !self.is_copy(*index)) {
            let mut others = variant.levels.clone();
            let Some(level) = others.get(factor).copied() else { continue };
            others.remove(factor);
            let estimate = self.level(index);
            let cell = Cell {
                level: level as usize,
                points: self.points(index),
                median: estimate.map(|e| e.median),
                interval: interval(estimate),
            };
            if let Some((_, series)) = found.iter_mut().find(|(key, _)| *key == others) {
                series.cells.push(cell);
            } else {
                let names = self.results.factors.iter().enumerate().filter(|(other, _)| *other != factor);
                let label = names
                    .zip(&others)
                    .map(|((_, f), level)| format!("{}={}", f.name, f.levels[*level as usize]))
                    .collect::<Vec<_>>()
                    .join(", ");
                let baseline = &self.results.variants[self.results.baseline].levels;
                let is_baseline = baseline.iter().enumerate().filter(|(other, _)| *other != factor).map(|(_, level)| level).eq(&others);
                let role = if is_baseline && !others.is_empty() { Role::Baseline } else { Role::Plain };
                let hue = if is_baseline && !others.is_empty() { None } else { Some(found.len()) };
                found.push((others, Series { label, role, hue, cells: vec![cell] }));
            }
        }
        found.into_iter().map(|(_, series)| series).collect()
    }

    /// All trials of every variant, the baseline first and its A/A copy below it.
    fn strips(&self) -> Vec<Strip> {
        let baseline = self.results.baseline;
        let mut order: Vec<usize> = vec![baseline];
        order.extend((0..self.results.variants.len()).filter(|v| self.is_copy(*v)));
        order.extend((0..self.results.variants.len()).filter(|v| *v != baseline && !self.is_copy(*v)));
        let rows: Vec<Row> = order.into_iter().map(|variant| self.row(variant)).collect();
        rows.chunks(ROWS_PER_PAGE)
            .map(|rows| Strip {
                heading: Heading { title: self.results.presentation.title.clone(), subtitle: self.subtitle() },
                measure: self.measure(),
                rows: rows.to_vec(),
                form: Form::Points,
                remark: Some("ratio".to_owned()),
            })
            .collect()
    }

    fn row(&self, variant: usize) -> Row {
        let estimate = self.level(variant);
        let effect = self.analysis.comparisons.iter().find(|c| c.metric == self.metric.name && c.subject == Subject::Variant(variant));
        let label = match self.role(variant) {
            Role::Control => "A/A: the baseline again".to_owned(),
            Role::Baseline => format!("{} (baseline)", self.results.variants[variant].id),
            Role::Plain => self.results.variants[variant].id.clone(),
        };
        Row {
            label,
            role: self.role(variant),
            hue: Some(0),
            points: self.points(variant),
            median: estimate.map(|e| e.median),
            interval: interval(estimate),
            remark: effect.map(|c| format!("{:.3}", c.effect.ratio)).unwrap_or_default(),
        }
    }
}

fn interval(estimate: Option<&Estimate>) -> Option<(f64, f64)> {
    estimate.and_then(|e| e.low.zip(e.high))
}

/// A metric's or factor's name as part of a file's name.
fn file_stem(name: &str) -> String {
    name.chars().map(|c| if c.is_alphanumeric() || matches!(c, '-' | '_') { c } else { '_' }).collect()
}
