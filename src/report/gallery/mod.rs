//! Which charts a report has, and what each is made of. Declared charts are drawn as declared; without a declaration `choice` picks.
//!
//! A kind of chart is a line in [`kinds::CHARTS`] and one in its match: a function of [`Material`] that takes the declared options and gives
//! plates, or says why this record has nothing for it.

mod choice;
mod cpu;
mod drift;
mod factors;
mod forest;
mod heat;
mod kinds;
mod observed;
mod percentiles;
mod press;
mod scaling;
mod series;
mod strips;

pub use kinds::CHARTS;

use super::ReportError;
use super::charts::{Chart, Fonts, Heading, Measure};
use super::page::{ChartRef, Section};
use crate::analyse::primary;
use crate::model::chart::ChartDecl;
use crate::model::estimate::Analysis;
use crate::model::results::{MetricColumn, Results};
use kinds::Absent;
use observed::Observed;

/// The files of the charts that no metric names.
const CPU: &str = "cpu";
const SERIES: &str = "series";
const DRIFT: &str = "drift";
/// How the names of the charts of effects end, but for the number of a page.
const EFFECTS: &str = "-effects";
const FACTORS: &str = "-factors";

/// What stands in the names of interaction plots, before the factors.
const INTERACTION: &str = "-interaction-";

/// What parts the number of a second file of one name from it.
const AGAIN: &str = "-again-";

/// A chart before it is drawn.
struct Plate {
    /// Its file's name without the ending.
    stem: String,
    /// What it shows, for those who do not see it.
    alt: String,
    section: Section,
    /// Whether an SVG was asked for.
    svg: bool,
    chart: Box<dyn Chart>,
}

/// A drawn chart.
pub(super) struct Drawn {
    pub(super) file: String,
    pub(super) alt: String,
    pub(super) section: Section,
    pub(super) png: Vec<u8>,
    /// The name of its SVG file and what that holds, where one was asked for.
    pub(super) svg: Option<(String, Vec<u8>)>,
}

impl Drawn {
    /// The same for a page.
    pub(super) fn on_page(&self) -> ChartRef<'_> {
        ChartRef { file: self.file.clone(), alt: self.alt.clone(), section: self.section, png: &self.png }
    }
}

/// The charts of a report.
#[derive(Default)]
pub(super) struct Gallery {
    plates: Vec<Plate>,
    /// Declared charts for which the record has nothing, each in one sentence.
    pub(super) absent: Vec<String>,
}

impl Gallery {
    /// What can be drawn of these results, no two charts with one name; nothing when nothing was measured. Rows are in the order of the
    /// product, the A/A copy below the baseline.
    pub(super) fn of(results: &Results, analysis: &Analysis) -> Self {
        let mut gallery = Self::default();
        let Some(main) = primary(results).or(if results.metrics.is_empty() { None } else { Some(0) }) else { return gallery };
        if analysis.levels.is_empty() {
            return gallery;
        }
        let declared = results.presentation.charts.as_deref();
        let chosen = declared.map_or_else(|| choice::charts(results, analysis, main), <[ChartDecl]>::to_vec);
        let observed = Observed::of(results, analysis, &kinds::metrics(results, &chosen, main));
        let title = &results.presentation.title;
        let material = Material { results, analysis, observed: &observed, main, title };
        for chart in &chosen {
            match material.plates(chart) {
                Ok(plates) => plates.into_iter().for_each(|plate| gallery.add(plate)),
                Err(why) if declared.is_some() => gallery.absent.push(kinds::not_drawn(chart, &why)),
                // Nobody asked for it.
                Err(_) => {}
            }
        }
        gallery
    }

    fn add(&mut self, mut plate: Plate) {
        let stem = plate.stem.clone();
        let mut number = 1;
        while self.plates.iter().any(|other| other.stem == plate.stem) {
            number += 1;
            plate.stem = format!("{stem}{AGAIN}{number}");
        }
        self.plates.push(plate);
    }

    /// Draws the charts; with `vectors` each as SVG, too, asked for or not.
    pub(super) fn draw(self, fonts: &Fonts, vectors: bool) -> Result<Vec<Drawn>, ReportError> {
        let draw = |plate: &Plate| {
            let file = format!("{}.png", plate.stem);
            let failed = |source| ReportError::Chart { name: file.clone(), source };
            let picture = plate.chart.picture(fonts).map_err(failed)?;
            let svg = (vectors || plate.svg).then(|| (format!("{}.svg", plate.stem), picture.svg(&plate.alt).into_bytes()));
            let png = picture.png().map_err(failed)?;
            Ok(Drawn { file, alt: plate.alt.clone(), section: plate.section, png, svg })
        };
        press::each(&self.plates, draw).into_iter().collect()
    }
}

/// What the charts are made of.
#[derive(Clone, Copy)]
struct Material<'r> {
    results: &'r Results,
    analysis: &'r Analysis,
    observed: &'r Observed<'r>,
    /// The metric that a chart is about: the one that verdicts are about, unless it declares another.
    main: usize,
    title: &'r str,
}

impl Material<'_> {
    fn metric(&self, metric: usize) -> &MetricColumn {
        &self.results.metrics[metric]
    }

    /// The metric that a chart is about.
    fn metric_of(&self, chart: &ChartDecl) -> Result<usize, Absent> {
        let named = |name: &String| self.results.metrics.iter().position(|metric| metric.name == *name);
        let found = chart.metric.as_ref().map_or(Some(self.main), named).filter(|metric| self.has_level(*metric));
        let name = || chart.metric.clone().unwrap_or_else(|| self.metric(self.main).name.clone());
        found.ok_or_else(|| Absent::Metric { name: name() })
    }

    /// The same for a chart of its own metric and title.
    fn of_chart<'c>(&'c self, chart: &'c ChartDecl) -> Result<Material<'c>, Absent> {
        Ok(Material { main: self.metric_of(chart)?, title: chart.title.as_deref().unwrap_or(self.title), ..*self })
    }

    fn has_level(&self, metric: usize) -> bool {
        self.analysis.levels.iter().any(|level| level.metric == metric)
    }

    fn heading(&self, chart: &ChartDecl) -> Heading {
        let title = chart.title.clone().unwrap_or_else(|| self.results.presentation.title.clone());
        Heading { title, subtitle: self.observed.source.clone() }
    }

    fn is_copy(&self, variant: usize) -> bool {
        self.results.variants[variant].is_copy()
    }

    /// The colour of a variant in charts that tell variants apart by colour: seven in turn, the eighth is the baseline's.
    fn hue(&self, variant: usize) -> usize {
        let is_plain = |other: &usize| *other != self.results.baseline && !self.is_copy(*other);
        (0..variant).filter(is_plain).count() % 7
    }

    /// A variant by what varies; the id where nothing does.
    fn label(&self, variant: usize) -> String {
        let found = &self.results.variants[variant];
        let words = self.levels_label(&found.levels, &[]);
        if words.is_empty() { found.id.clone() } else { words }
    }

    /// The levels of all factors but some.
    fn others(&self, levels: &[u32], without: &[usize]) -> Vec<u32> {
        levels.iter().enumerate().filter(|(factor, _)| !without.contains(factor)).map(|(_, level)| *level).collect()
    }

    /// The levels that vary, but for those of some factors, as in the ids of the page.
    fn levels_label(&self, levels: &[u32], without: &[usize]) -> String {
        let factors = self.results.factors.iter().zip(levels).enumerate();
        let varied = factors.filter(|(at, (factor, _))| factor.levels.len() > 1 && !without.contains(at));
        let mut words: Vec<String> = varied
            .filter_map(|(_, (factor, level))| Some(format!("{}={}", factor.name, factor.levels.get(usize::try_from(*level).ok()?)?)))
            .collect();
        words.sort();
        words.join(", ")
    }
}

/// One plate, or one per page with the page's number in its name.
fn pages<C: Chart + 'static>(plate: impl Fn(String, Box<dyn Chart>) -> Plate, stem: &str, pages: Vec<C>) -> Vec<Plate> {
    let many = pages.len() > 1;
    let name = |page: usize| if many { format!("{stem}-{}", page + 1) } else { stem.to_owned() };
    pages.into_iter().enumerate().map(|(page, chart)| plate(name(page), Box::new(chart))).collect()
}

/// Whether a file has a name that charts get here; a person's own picture beside them has another.
pub(super) fn is_chart(name: &str) -> bool {
    let page_of = |stem: &str, chart: &str| {
        stem.strip_prefix(chart)
            .is_some_and(|page| page.is_empty() || page.strip_prefix('-').is_some_and(|page| page.parse::<u32>().is_ok()))
    };
    let of_metric = |stem: &str, end: &str| stem.split_once(end).is_some_and(|(metric, page)| !metric.is_empty() && page_of(page, ""));
    let stem = name.strip_suffix(".png").or_else(|| name.strip_suffix(".svg"));
    stem.map(|stem| stem.split_once(AGAIN).map_or(stem, |(first, _)| first)).is_some_and(|stem| {
        let parts = ["-by-", "-trials", "-workloads", "-bars", "-percentiles", INTERACTION];
        parts.iter().any(|part| stem.contains(part))
            || [EFFECTS, FACTORS].iter().any(|end| of_metric(stem, end))
            || [CPU, DRIFT].iter().any(|chart| page_of(stem, chart))
            || stem == SERIES
    })
}

/// What an axis over a metric measures.
fn metric_measure(metric: &MetricColumn) -> Measure {
    Measure { name: metric.name.clone(), unit: metric.unit.clone(), better: metric.better }
}

/// A metric's or factor's name as part of a file's name.
fn file_stem(name: &str) -> String {
    name.chars().map(|c| if c.is_alphanumeric() || matches!(c, '-' | '_') { c } else { '_' }).collect()
}
