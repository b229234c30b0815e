//! Results + Analysis -> bytes: CSV files, charts, the page. Pure: it returns names and bytes and knows no files, so the same
//! record, drawn with the same fonts, gives the same bytes anywhere.

pub mod charts;
pub mod compare;
mod gallery;
pub mod page;
mod parts;
pub mod tables;
pub mod templates;
pub mod visible;

pub use gallery::CHARTS;

use crate::model::estimate::Analysis;
use crate::model::results::Results;
use std::borrow::Cow;

/// A report could not be made.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// A chart could not be drawn.
    #[error("chart `{name}`: {source}")]
    Chart {
        /// The chart's file.
        name: String,
        /// Why.
        #[source]
        source: charts::ChartError,
    },
    /// A page could not be rendered.
    #[error(transparent)]
    Page(#[from] page::PageError),
}

/// A report.
#[derive(Debug)]
pub struct Rendered {
    /// Every file: name and content.
    pub files: Vec<(String, Vec<u8>)>,
    /// Declared charts for which the record has nothing, each in one sentence; the page says so, too.
    pub absent: Vec<String>,
}

/// Makes a report; with `vectors` an SVG stands beside every chart, whether the manifest asks for that or not.
///
/// # Errors
/// When a chart, table or the page cannot be made.
pub fn render(
    results: &Results,
    analysis: &Analysis,
    fonts: &charts::Fonts,
    own: &page::Own,
    vectors: bool,
) -> Result<Rendered, ReportError> {
    let tables = tables::tables(results, analysis).into_iter();
    let mut files: Vec<(String, Vec<u8>)> = tables.map(|(name, bytes)| (name.to_owned(), bytes)).collect();
    let gallery = gallery::Gallery::of(results, analysis);
    let absent = gallery.absent.clone();
    let told = with_cautions(analysis, &absent);
    let drawn = gallery.draw(fonts, vectors)?;
    let charts: Vec<page::ChartRef> = drawn.iter().map(gallery::Drawn::on_page).collect();
    let pages = page::pages(results, &told, &charts, own)?;
    files.extend(drawn.into_iter().flat_map(|drawn| [(drawn.file, drawn.png)].into_iter().chain(drawn.svg)));
    files.extend(pages.into_iter().map(|(file, page)| (file.to_owned(), page.into_bytes())));
    Ok(Rendered { files, absent })
}

/// The analysis with more for the reader to see before the numbers.
fn with_cautions<'a>(analysis: &'a Analysis, more: &[String]) -> Cow<'a, Analysis> {
    let mut analysis = Cow::Borrowed(analysis);
    if !more.is_empty() {
        analysis.to_mut().cautions.extend_from_slice(more);
    }
    analysis
}

/// Whether a report makes files of such a name: what stands there under one, and is not made, is of an earlier report.
#[must_use]
pub fn makes(name: &str) -> bool {
    tables::NAMES.contains(&name) || templates::Language::ALL.iter().any(|language| language.page() == name) || gallery::is_chart(name)
}

/// Whether a file beside `page`, the README.md of an earlier report, is of that report: by its name, and a chart only when the page shows
/// it, for a person may give a picture such a name, too.
#[must_use]
pub fn is_of(name: &str, page: &str) -> bool {
    let shown = || name.strip_suffix(".svg").map_or_else(|| name.to_owned(), |stem| format!("{stem}.png"));
    makes(name) && (!gallery::is_chart(name) || page.contains(&format!("({})", templates::inline::address(&shown()))))
}

/// The answers in plain words, one sentence per comparison that verdicts are about: for a terminal, without mark-up, and with the
/// control characters of a person's texts named ([`visible`]). Beyond 20 comparisons a sentence says how many there are; the last one says when
/// more blocks would help.
#[must_use]
pub fn answers(results: &Results, analysis: &Analysis) -> Vec<String> {
    let (said, all) = templates::answers(results, analysis);
    let mut said: Vec<String> = said.iter().map(templates::inline::Inline::plain).collect();
    let more = page::more(all, said.len(), "comparison", "in the report");
    said.extend([more, templates::advice(results, analysis)].into_iter().filter(|line| !line.is_empty()));
    said
}

/// Every text that charts may show, to find out which characters a font must have.
#[must_use]
pub fn texts(results: &Results) -> Vec<String> {
    let mut texts = vec![results.presentation.title.clone(), results.presentation.question.clone(), results.experiment.clone()];
    texts.extend(results.presentation.charts.iter().flatten().filter_map(|chart| chart.title.clone()));
    texts.extend(results.variants.iter().map(|v| v.id.clone()));
    texts.extend(results.variants.iter().flat_map(|v| v.spec.units().map(|(name, _)| name.to_owned()).collect::<Vec<_>>()));
    texts.extend(results.metrics.iter().flat_map(|m| [m.name.clone(), m.unit.symbol().to_owned()]));
    texts.extend(results.factors.iter().flat_map(|f| f.levels.iter().map(ToString::to_string).chain([f.name.to_string()])));
    texts
}
