//! Results + Analysis -> bytes: CSV files, charts, the page. Pure: it returns names and bytes and knows no files, so the same
//! record, drawn with the same fonts, gives the same bytes anywhere.

pub mod charts;
pub mod compare;
mod gallery;
pub mod page;
mod parts;
pub mod tables;
pub mod templates;
mod visible;

pub use visible::visible;

use crate::model::estimate::Analysis;
use crate::model::results::Results;

/// The page.
const PAGE: &str = "README.md";

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
    /// The page could not be rendered.
    #[error(transparent)]
    Page(#[from] page::PageError),
}

/// Every file of a report: name and content.
///
/// # Errors
/// When a chart, table or the page cannot be made.
pub fn render(
    results: &Results,
    analysis: &Analysis,
    fonts: &charts::Fonts,
    template: Option<&str>,
) -> Result<Vec<(String, Vec<u8>)>, ReportError> {
    let tables = tables::tables(results, analysis).into_iter();
    let mut files: Vec<(String, Vec<u8>)> = tables.map(|(name, bytes)| (name.to_owned(), bytes)).collect();
    let mut references = Vec::new();
    for drawn in gallery::draw(results, analysis, fonts)? {
        references.push(page::ChartRef { file: drawn.file.clone(), alt: drawn.alt, section: drawn.section });
        files.push((drawn.file, drawn.png));
    }
    let page = page::page(results, analysis, &references, template)?;
    files.push((PAGE.to_owned(), page.into_bytes()));
    Ok(files)
}

/// Whether a report makes files of such a name beside its page: what stands there under one, and is not made, is of an earlier report.
#[must_use]
pub fn makes(name: &str) -> bool {
    tables::NAMES.contains(&name) || name == PAGE || gallery::is_chart(name)
}

/// The answers in plain words, one sentence per comparison that verdicts are about: for a terminal, without mark-up, and without the
/// control characters that a person's texts may hold. Beyond 20 comparisons a sentence says how many there are; the last one says when
/// more blocks would help.
#[must_use]
pub fn answers(results: &Results, analysis: &Analysis) -> Vec<String> {
    let (mut said, all) = templates::answers(results, analysis, templates::Form::Plain);
    let more = page::more(all, said.len(), "comparison", "in the report");
    said.extend([more, templates::advice(results, analysis)].into_iter().filter(|line| !line.is_empty()));
    said
}

/// Every text that charts may show, to find out which characters a font must have.
#[must_use]
pub fn texts(results: &Results) -> Vec<String> {
    let mut texts = vec![results.presentation.title.clone(), results.presentation.question.clone(), results.experiment.clone()];
    texts.extend(results.variants.iter().map(|v| v.id.clone()));
    texts.extend(results.variants.iter().flat_map(|v| v.spec.units().map(|(name, _)| name.to_owned()).collect::<Vec<_>>()));
    texts.extend(results.metrics.iter().flat_map(|m| [m.name.clone(), m.unit.symbol().to_owned()]));
    texts.extend(results.factors.iter().flat_map(|f| f.levels.iter().map(ToString::to_string).chain([f.name.to_string()])));
    texts
}
