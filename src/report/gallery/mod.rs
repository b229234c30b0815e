//! Which charts an experiment gets without asking: the effects on the primary metric against the baseline, and by factor where there are
//! main effects; the primary metric over each numeric factor, its ratios over two crossed factors, and lines where two factors depend on
//! each other; all trials of every variant (and of every workload, where a trial has several), and those of a few more metrics that the
//! manifest declares. Where the record tells it, also where the CPU time went, and one trial of each variant over time.

mod cpu;
mod factors;
mod forest;
mod heat;
mod observed;
mod scaling;
mod series;
mod strips;

use super::ReportError;
use super::charts::{ChartError, Fonts, Forest, HeatMap, Measure, Stack, Strip};
use super::page::{ChartRef, Section};
use crate::analyse::primary;
use crate::model::estimate::Analysis;
use crate::model::plan::AA_SUFFIX;
use crate::model::results::{MetricColumn, Results};
use observed::{Observed, carried};

/// Declared metrics beside the primary one that get a chart of their own.
const MOST_OTHERS: usize = 4;

/// The files of the charts that no metric names.
const CPU: &str = "cpu";
const SERIES: &str = "series";

/// How the names of the charts of effects end, but for the number of a page.
const EFFECTS: &str = "-effects";
const FACTORS: &str = "-factors";

/// What stands in the names of interaction plots, before the factors.
const INTERACTION: &str = "-interaction-";

/// A drawn chart.
pub(super) struct Drawn {
    pub(super) file: String,
    pub(super) alt: String,
    pub(super) section: Section,
    pub(super) png: Vec<u8>,
}

impl Drawn {
    /// The same for a page.
    pub(super) fn on_page(&self) -> ChartRef<'_> {
        ChartRef { file: self.file.clone(), alt: self.alt.clone(), section: self.section, png: &self.png }
    }
}

/// Draws the charts; none when nothing was measured. Rows are in the order of the product, the A/A copy below the baseline.
pub(super) fn draw(results: &Results, analysis: &Analysis, fonts: &Fonts) -> Result<Vec<Drawn>, ReportError> {
    let Some(main) = primary(results).or(if results.metrics.is_empty() { None } else { Some(0) }) else { return Ok(Vec::new()) };
    let has_level = |metric: usize| analysis.levels.iter().any(|level| level.metric == metric);
    if !has_level(main) {
        return Ok(Vec::new());
    }
    let of_workloads: Vec<usize> = carried(results, main).into_iter().filter(|metric| has_level(*metric)).collect();
    let is_other =
        |metric: &usize| *metric != main && !of_workloads.contains(metric) && results.metrics[*metric].declared && has_level(*metric);
    let others: Vec<usize> = (0..results.metrics.len()).filter(is_other).take(MOST_OTHERS).collect();
    let wanted: Vec<usize> = [main].into_iter().chain(of_workloads.iter().chain(&others).copied()).collect();
    let observed = Observed::of(results, analysis, &wanted);
    let gallery = Gallery { results, observed, main };

    let mut album = Album { fonts, section: Section::Charts, drawn: Vec::new() };
    let name = &results.metrics[main].name;
    let (pages, alt) = gallery.effects();
    album.add_pages(&format!("{}{EFFECTS}", file_stem(name)), &alt, &pages, Forest::render)?;
    let (pages, alt) = gallery.main_effects(analysis);
    album.add_pages(&format!("{}{FACTORS}", file_stem(name)), &alt, &pages, Forest::render)?;
    for (factor, chart) in gallery.scaling() {
        let alt = format!("{name} over {factor}, every trial a point");
        album.add(&format!("{}-by-{}", file_stem(name), file_stem(&factor)), alt, |fonts| chart.render(fonts))?;
    }
    if let Some(heat) = gallery.heat() {
        let [one, other] = heat.factors.map(|factor| file_stem(&factor));
        album.add_pages(&format!("{}-by-{one}-and-{other}", file_stem(name)), &heat.alt, &heat.pages, HeatMap::render)?;
    }
    for lines in gallery.interactions(analysis) {
        let [one, other] = lines.factors.map(|factor| file_stem(&factor));
        album.add(&format!("{}{INTERACTION}{one}-{other}", file_stem(name)), lines.alt, |fonts| lines.chart.render(fonts))?;
    }
    if of_workloads.len() > 1 {
        let (what, pages) = gallery.workloads(&of_workloads);
        let alt = format!("{what} of every workload by variant");
        album.add_pages(&format!("{}-workloads", file_stem(&what)), &alt, &pages, Strip::render)?;
    } else {
        let alt = format!("{name} of every trial by variant");
        album.add_pages(&format!("{}-trials", file_stem(name)), &alt, &gallery.strips(main), Strip::render)?;
    }
    for metric in others {
        let (name, pages) = (&results.metrics[metric].name, gallery.strips(metric));
        if pages.len() == 1 {
            let alt = format!("{name} of every trial by variant");
            album.add_pages(&format!("{}-trials", file_stem(name)), &alt, &pages, Strip::render)?;
        }
    }
    album.section = Section::Cpu;
    if let Some(split) = analysis.cpu.first() {
        let alt = format!("CPU time per {} by variant, split by who used it", split.work.word());
        album.add_pages(CPU, &alt, &gallery.cpu(&analysis.cpu, split.work), Stack::render)?;
    }
    if let Some(chart) = gallery.timeline() {
        album.add(SERIES, "CPUs used over one trial of each variant, with its phases".to_owned(), |fonts| chart.render(fonts))?;
    }
    Ok(album.drawn)
}

/// The charts drawn so far, no two with one file.
struct Album<'f> {
    fonts: &'f Fonts,
    /// Where what is added now belongs on the page.
    section: Section,
    drawn: Vec<Drawn>,
}

impl Album<'_> {
    fn add(&mut self, stem: &str, alt: String, render: impl Fn(&Fonts) -> Result<Vec<u8>, ChartError>) -> Result<(), ReportError> {
        let mut file = format!("{stem}.png");
        let mut number = 1;
        while self.drawn.iter().any(|drawn| drawn.file == file) {
            number += 1;
            file = format!("{stem}-again-{number}.png");
        }
        let png = render(self.fonts).map_err(|source| ReportError::Chart { name: file.clone(), source })?;
        self.drawn.push(Drawn { file, alt, section: self.section, png });
        Ok(())
    }

    fn add_pages<Chart>(
        &mut self,
        stem: &str,
        alt: &str,
        pages: &[Chart],
        render: impl Fn(&Chart, &Fonts) -> Result<Vec<u8>, ChartError>,
    ) -> Result<(), ReportError> {
        for (page, chart) in pages.iter().enumerate() {
            let stem = if pages.len() > 1 { format!("{stem}-{}", page + 1) } else { stem.to_owned() };
            self.add(&stem, alt.to_owned(), |fonts| render(chart, fonts))?;
        }
        Ok(())
    }
}

/// What the charts are made of.
struct Gallery<'r> {
    results: &'r Results,
    observed: Observed<'r>,
    /// The metric that verdicts are about.
    main: usize,
}

impl Gallery<'_> {
    fn metric(&self, metric: usize) -> &MetricColumn {
        &self.results.metrics[metric]
    }

    fn is_copy(&self, variant: usize) -> bool {
        self.results.variants[variant].id.ends_with(AA_SUFFIX)
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

/// Whether a file has a name that charts get here; a person's own picture beside them has another.
pub(super) fn is_chart(name: &str) -> bool {
    let is_page =
        |page: &str| page.is_empty() || page.trim_start_matches("-again").strip_prefix('-').is_some_and(|page| page.parse::<u32>().is_ok());
    let page_of = |stem: &str, chart: &str| stem.strip_prefix(chart).is_some_and(is_page);
    let of_metric = |stem: &str, end: &str| stem.split_once(end).is_some_and(|(metric, page)| !metric.is_empty() && is_page(page));
    name.strip_suffix(".png").is_some_and(|stem| {
        ["-by-", "-trials", "-workloads", INTERACTION].iter().any(|part| stem.contains(part))
            || of_metric(stem, EFFECTS)
            || of_metric(stem, FACTORS)
            || page_of(stem, CPU)
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
