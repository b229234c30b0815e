//! The page of a report: `README.md` beside the charts and the CSV files, made to be read on a forge.

use super::templates::markdown::{inline, link, sentence, text};
use super::templates::view::{Chart, View};
use super::templates::{self, Form, TemplateError};
use crate::analyse::too_short;
use crate::model::estimate::Analysis;
use crate::model::results::Results;

/// Where on the page a chart stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Section {
    /// Among the charts of the metrics.
    #[default]
    Charts,
    /// Where it is told where the CPU time went.
    Cpu,
}

/// A chart that stands beside the page.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ChartRef {
    /// Its file name, relative to the page.
    pub file: String,
    /// What it shows, for those who do not see it.
    pub alt: String,
    /// Where it belongs.
    pub section: Section,
}

/// A page that cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum PageError {
    /// Its template is at fault.
    #[error("make the report page")]
    Template {
        /// What is wrong with it.
        #[source]
        source: TemplateError,
    },
}

/// Makes the page: the same results give the same text, anywhere and at any time. `template` replaces the one that is built in; what it
/// may use is in [`View`].
///
/// # Errors
/// When the template is not valid or asks for what the page does not have.
pub fn page(results: &Results, analysis: &Analysis, charts: &[ChartRef], template: Option<&str>) -> Result<String, PageError> {
    templates::render(&view(results, analysis, charts), template).map_err(|source| PageError::Template { source })
}

fn view(results: &Results, analysis: &Analysis, charts: &[ChartRef]) -> View {
    let (answers, all_answers) = templates::answers(results, analysis, Form::Page);
    let (failures, all_failures) = templates::failures(results);
    let (attested, all_attested) = templates::attested(results);
    let of_section = |section: Section| {
        let of_it = charts.iter().filter(|chart| chart.section == section);
        of_it.map(|chart| Chart { file: link(&chart.file), alt: text(&chart.alt) }).collect::<Vec<_>>()
    };
    let (levels, other_levels) = templates::levels(results, analysis);
    let title = if results.presentation.title.is_empty() { &results.experiment } else { &results.presentation.title };
    View {
        title: inline(title),
        question: text(&results.presentation.question),
        alert: if too_short(results).is_empty() { "WARNING" } else { "CAUTION" }.to_owned(),
        cautions: analysis.cautions.iter().map(|caution| capital(&sentence(caution))).collect(),
        warnings: results.warnings.iter().map(|warning| capital(&sentence(warning))).collect(),
        more_answers: more(all_answers, answers.len(), "comparison", "in the tables below"),
        answers,
        advice: templates::advice(results, analysis),
        verdicts: templates::verdicts(results, analysis),
        charts: of_section(Section::Charts),
        cpu: templates::cpu(results, analysis, of_section(Section::Cpu)),
        limiters: templates::limiters(results, analysis),
        checks: templates::checks(results),
        levels,
        other_levels,
        more_failures: more(all_failures, failures.len(), "failed trial", "in trials.csv"),
        failures,
        method: templates::method(results, analysis),
        environments: templates::environments(results),
        more_attested: more(all_attested, attested.len(), "setting", "in the journals of the runs"),
        attested,
        commands: templates::commands(results),
        files: templates::files(results, analysis),
    }
}

/// "... and 3 more settings in the journal", or nothing.
pub(super) fn more(all: usize, shown: usize, what: &str, place: &str) -> String {
    match all.saturating_sub(shown) {
        0 => String::new(),
        1 => format!("… and 1 more {what} {place}."),
        left => format!("… and {left} more {what}s {place}."),
    }
}

/// A sentence with a capital at its start, unless it starts with something else than a letter.
fn capital(sentence: &str) -> String {
    let mut rest = sentence.chars();
    rest.next().map_or_else(String::new, |first| first.to_uppercase().chain(rest).collect())
}
