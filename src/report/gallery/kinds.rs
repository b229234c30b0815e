//! The kinds of chart: what each shows, which options it has, and where its plates come from.

use super::factors::Lines;
use super::observed::carried;
use super::{CPU, DRIFT, EFFECTS, FACTORS, INTERACTION, Material, Plate, SERIES, file_stem, pages};
use crate::model::catalog::ChartInfo;
use crate::model::chart::ChartOption::{Metric, Sort, X, Y};
use crate::model::chart::{ChartDecl, ChartKind, ChartOption, Sort as Sorting};
use crate::model::results::Results;
use crate::report::charts::{Chart, Form, Scaling};
use crate::report::page::Section;

const fn info(kind: ChartKind, about: &'static str, options: &'static [ChartOption], compares: bool) -> ChartInfo {
    ChartInfo { kind, about, options, compares }
}

/// Every kind that a manifest may declare.
pub const CHARTS: &[ChartInfo] = &[
    info(ChartKind::Effects, "the ratio of every variant to the baseline", &[Metric, Sort], true),
    info(ChartKind::Trials, "all trials of every variant", &[Metric], false),
    info(ChartKind::Bars, "medians as bars from zero, with all trials on them", &[Metric], false),
    info(ChartKind::Line, "a metric over a factor of numbers", &[Metric, X], false),
    info(ChartKind::HeatMap, "the ratio to the baseline over two factors", &[Metric, X, Y], true),
    info(ChartKind::MainEffects, "what each level of each factor does over all others", &[Metric], true),
    info(ChartKind::Interactions, "the levels of one factor at each level of another", &[Metric, X, Y], true),
    info(ChartKind::Percentiles, "latency percentiles, one line per trial", &[Metric], false),
    info(ChartKind::Cpu, "where the CPU time went", &[], false),
    info(ChartKind::Series, "one trial of each variant over time", &[], false),
    info(ChartKind::Drift, "what is left of each trial, in the order in which they ran", &[], false),
];

/// Why a record has nothing for a chart.
#[derive(Debug, thiserror::Error)]
pub(super) enum Absent {
    #[error("no trial that counts has `{name}`")]
    Metric { name: String },
    #[error("there is no factor `{name}`")]
    Factor { name: String },
    #[error("no factor has two levels or more that are numbers")]
    NoNumbers,
    #[error("`{name}` has not two levels or more that are numbers")]
    NotNumbers { name: String },
    #[error("it would have {found} lines, and at most {limit} can be told apart")]
    Lines { found: usize, limit: usize },
    #[error("it takes three percentiles of one thing at least")]
    Percentiles,
    #[error("no percentile has ten requests beyond it")]
    FewRequests,
    #[error("no variant has two trials in a run")]
    Sequence,
    #[error("no trial tells it")]
    Untold,
    #[error("nothing was compared in it")]
    NotCompared,
    #[error("the verdicts that main effects need are about the primary metric, over two factors that are crossed")]
    NoMainEffects,
    #[error("no two factors are crossed at two levels each, or they have too many levels to be read")]
    NotCrossed,
}

/// What a reader is told of a declared chart that is not there.
pub(super) fn not_drawn(chart: &ChartDecl, why: &Absent) -> String {
    let of = chart.metric.as_ref().map(|metric| format!(" of `{metric}`")).unwrap_or_default();
    format!("the declared chart `{}`{of} is missing: {why}", chart.kind.word())
}

/// Indices of the metrics whose trials these charts show.
pub(super) fn metrics(results: &Results, charts: &[ChartDecl], main: usize) -> Vec<usize> {
    let named = |name: &String| results.metrics.iter().position(|metric| metric.name == *name);
    let mut found = vec![main];
    found.extend(carried(results, main));
    found.extend(charts.iter().filter_map(|chart| named(chart.metric.as_ref()?)));
    found
}

impl Material<'_> {
    /// The plates of a chart, or why there are none.
    pub(super) fn plates(&self, chart: &ChartDecl) -> Result<Vec<Plate>, Absent> {
        match chart.kind {
            ChartKind::Trials => self.trials(chart),
            ChartKind::Bars => self.bars(chart),
            ChartKind::Line => self.lines(chart),
            ChartKind::Cpu => self.cpu_time(chart),
            ChartKind::Series => self.over_time(chart),
            ChartKind::Effects => self.of_chart(chart)?.forest_of_effects(chart),
            ChartKind::MainEffects => self.of_chart(chart)?.forest_of_factors(chart),
            ChartKind::HeatMap => self.of_chart(chart)?.heat_maps(chart),
            ChartKind::Interactions => self.of_chart(chart)?.interaction_plots(chart),
            ChartKind::Percentiles => self.curves(chart),
            ChartKind::Drift => self.sequence(chart),
        }
    }

    fn forest_of_effects(&self, chart: &ChartDecl) -> Result<Vec<Plate>, Absent> {
        let (forests, alt) = self.effects(chart.sort.unwrap_or(Sorting::Declared));
        let stem = format!("{}{EFFECTS}", file_stem(&self.metric(self.main).name));
        drawn_if(forests, Absent::NotCompared).map(|forests| pages(|stem, drawn| plate(chart, stem, &alt, drawn), &stem, forests))
    }

    fn forest_of_factors(&self, chart: &ChartDecl) -> Result<Vec<Plate>, Absent> {
        let (forests, alt) = self.main_effects();
        let stem = format!("{}{FACTORS}", file_stem(&self.metric(self.main).name));
        drawn_if(forests, Absent::NoMainEffects).map(|forests| pages(|stem, drawn| plate(chart, stem, &alt, drawn), &stem, forests))
    }

    fn heat_maps(&self, chart: &ChartDecl) -> Result<Vec<Plate>, Absent> {
        let asked = [self.factor(chart.x.as_ref())?, self.factor(chart.y.as_ref())?];
        let heat = self.heat(asked).ok_or(Absent::NotCrossed)?;
        let [one, other] = heat.factors.map(|factor| file_stem(&factor));
        let stem = format!("{}-by-{one}-and-{other}", file_stem(&self.metric(self.main).name));
        Ok(pages(|stem, drawn| plate(chart, stem, &heat.alt, drawn), &stem, heat.pages))
    }

    /// Of the factors that are asked for; without any, of every two that are known to act on each other.
    fn interaction_plots(&self, chart: &ChartDecl) -> Result<Vec<Plate>, Absent> {
        let plots = self.interactions([self.factor(chart.x.as_ref())?, self.factor(chart.y.as_ref())?]);
        let of_metric = file_stem(&self.metric(self.main).name);
        let plate_of = |lines: Lines| {
            let [one, other] = lines.factors.map(|factor| file_stem(&factor));
            plate(chart, format!("{of_metric}{INTERACTION}{one}-{other}"), &lines.alt, Box::new(lines.chart))
        };
        drawn_if(plots, Absent::NotCrossed).map(|plots| plots.into_iter().map(plate_of).collect())
    }

    /// The factor of this name, where one is named.
    fn factor(&self, name: Option<&String>) -> Result<Option<usize>, Absent> {
        let Some(name) = name else { return Ok(None) };
        let found = self.results.factors.iter().position(|factor| *factor.name == **name);
        found.map(Some).ok_or_else(|| Absent::Factor { name: name.clone() })
    }

    fn trials(&self, chart: &ChartDecl) -> Result<Vec<Plate>, Absent> {
        let metric = self.metric_of(chart)?;
        let of_workloads: Vec<usize> = carried(self.results, metric).into_iter().filter(|metric| self.has_level(*metric)).collect();
        if chart.metric.is_none() && of_workloads.len() > 1 {
            let (what, strips) = self.workloads(chart, &of_workloads);
            let alt = format!("{what} of every workload by variant");
            return Ok(pages(|stem, drawn| plate(chart, stem, &alt, drawn), &format!("{}-workloads", file_stem(&what)), strips));
        }
        let name = &self.metric(metric).name;
        let alt = format!("{name} of every trial by variant");
        let strips = self.strips(chart, metric, Form::Points);
        Ok(pages(|stem, drawn| plate(chart, stem, &alt, drawn), &format!("{}-trials", file_stem(name)), strips))
    }

    fn bars(&self, chart: &ChartDecl) -> Result<Vec<Plate>, Absent> {
        let metric = self.metric_of(chart)?;
        let name = &self.metric(metric).name;
        let alt = format!("median {name} by variant as bars from zero, every trial a point");
        let strips = self.strips(chart, metric, Form::Bars);
        Ok(pages(|stem, drawn| plate(chart, stem, &alt, drawn), &format!("{}-bars", file_stem(name)), strips))
    }

    fn lines(&self, chart: &ChartDecl) -> Result<Vec<Plate>, Absent> {
        let metric = self.metric_of(chart)?;
        let name = &self.metric(metric).name;
        let made = self.scaling(chart, metric)?;
        let plate_of = |(factor, drawn): (String, Scaling)| {
            let alt = format!("{name} over {factor}, every trial a point");
            plate(chart, format!("{}-by-{}", file_stem(name), file_stem(&factor)), &alt, Box::new(drawn))
        };
        Ok(made.into_iter().map(plate_of).collect())
    }

    fn curves(&self, chart: &ChartDecl) -> Result<Vec<Plate>, Absent> {
        let (what, curves) = self.percentiles(chart)?;
        let alt = format!("percentiles of {what} by variant, one line per trial");
        Ok(pages(|stem, drawn| plate(chart, stem, &alt, drawn), &format!("{}-percentiles", file_stem(&what)), curves))
    }

    fn sequence(&self, chart: &ChartDecl) -> Result<Vec<Plate>, Absent> {
        let (drawn, alt) = self.drifting(chart)?;
        Ok(vec![plate(chart, DRIFT.to_owned(), &alt, Box::new(drawn))])
    }

    fn cpu_time(&self, chart: &ChartDecl) -> Result<Vec<Plate>, Absent> {
        let work = self.analysis.cpu.first().ok_or(Absent::Untold)?.work;
        let alt = format!("CPU time per {} by variant, split by who used it", work.word());
        let stacks = self.cpu(chart, &self.analysis.cpu, work);
        Ok(pages(|stem, drawn| Plate { section: Section::Cpu, ..plate(chart, stem, &alt, drawn) }, CPU, stacks))
    }

    fn over_time(&self, chart: &ChartDecl) -> Result<Vec<Plate>, Absent> {
        let drawn = Box::new(self.timeline(chart).ok_or(Absent::Untold)?);
        let alt = "CPUs used over one trial of each variant, with its phases";
        Ok(vec![Plate { section: Section::Cpu, ..plate(chart, SERIES.to_owned(), alt, drawn) }])
    }
}

/// What there is; none of it is a reason.
fn drawn_if<T>(found: Vec<T>, else_why: Absent) -> Result<Vec<T>, Absent> {
    if found.is_empty() { Err(else_why) } else { Ok(found) }
}

fn plate(chart: &ChartDecl, stem: String, alt: &str, drawn: Box<dyn Chart>) -> Plate {
    Plate { stem, alt: alt.to_owned(), section: Section::Charts, svg: chart.svg, chart: drawn }
}
