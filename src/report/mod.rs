//! Results + Analysis -> bytes: CSV files, charts, the page. Pure: it returns names and bytes and knows no files, so the same
//! record, drawn with the same fonts, gives the same bytes anywhere.

pub mod charts;
mod gallery;
pub mod page;
pub mod tables;
pub mod templates;

use crate::model::estimate::Analysis;
use crate::model::results::Results;

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
    let mut files = Vec::new();
    let tables: [(&str, Vec<u8>); 5] = [
        ("trials.csv", tables::trials_csv(results)),
        ("summary.csv", tables::summary_csv(results, analysis)),
        ("effects.csv", tables::effects_csv(results, analysis)),
        ("factors.csv", tables::factors_csv(results)),
        ("metrics.csv", tables::metrics_csv(results)),
    ];
    files.extend(tables.map(|(name, bytes)| (name.to_owned(), bytes)));
    let mut references = Vec::new();
    for drawn in gallery::draw(results, analysis, fonts)? {
        references.push(page::ChartRef { file: drawn.file.clone(), alt: drawn.alt });
        files.push((drawn.file, drawn.png));
    }
    let page = page::page(results, analysis, &references, template)?;
    files.push(("README.md".to_owned(), page.into_bytes()));
    Ok(files)
}

/// Every text that charts may show, to find out which characters a font must have.
#[must_use]
pub fn texts(results: &Results) -> Vec<String> {
    let mut texts = vec![results.presentation.title.clone(), results.presentation.question.clone(), results.experiment.clone()];
    texts.extend(results.variants.iter().map(|v| v.id.clone()));
    texts.extend(results.metrics.iter().flat_map(|m| [m.name.clone(), m.unit.symbol().to_owned()]));
    texts.extend(results.factors.iter().flat_map(|f| f.levels.iter().map(ToString::to_string).chain([f.name.to_string()])));
    texts
}
