//! The pages of a report, in every language from one view: `README.md` beside the charts and the CSV files, made to be read on a forge,
//! and `index.html`, which holds its charts and needs nothing beside it.

use super::templates::inline::{sentence, target};
use super::templates::view::{Chart, View};
use super::templates::{self, Language, Seen, TemplateError};
use crate::analyse::too_short;
use crate::model::estimate::Analysis;
use crate::model::results::Results;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

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
pub struct ChartRef<'a> {
    /// Its file name, relative to the page.
    pub file: String,
    /// What it shows, for those who do not see it.
    pub alt: String,
    /// Where it belongs.
    pub section: Section,
    /// The picture.
    pub png: &'a [u8],
}

/// A page that cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum PageError {
    /// Its template is at fault.
    #[error(transparent)]
    Template(#[from] TemplateError),
}

/// A person's own templates, in place of those that are built in; what they may use is in [`View`].
#[derive(Debug, Clone, Default)]
pub struct Own {
    /// `report.md.j2`.
    pub markdown: Option<String>,
    /// `report.html.j2`.
    pub html: Option<String>,
}

impl Own {
    fn of(&self, language: Language) -> Option<&str> {
        match language {
            Language::Markdown => self.markdown.as_deref(),
            Language::Html => self.html.as_deref(),
        }
    }
}

/// Makes the pages, each with its file name: the same results give the same text, anywhere and at any time.
///
/// # Errors
/// When a template is not valid or asks for what the page does not have.
pub fn pages(results: &Results, analysis: &Analysis, charts: &[ChartRef], own: &Own) -> Result<Vec<(&'static str, String)>, PageError> {
    let seen = Seen::new(&view(results, analysis, charts));
    let page = |language: Language| Ok((language.page(), seen.render(language, own.of(language))?));
    Language::ALL.into_iter().map(page).collect()
}

fn view(results: &Results, analysis: &Analysis, charts: &[ChartRef]) -> View {
    let (answers, all_answers) = templates::answers(results, analysis);
    let (failures, all_failures) = templates::failures(results);
    let (attested, all_attested) = templates::attested(results);
    let of_section = |section: Section| {
        let of_it = charts.iter().filter(|chart| chart.section == section);
        of_it.map(|chart| shown(chart)).collect::<Vec<_>>()
    };
    let (levels, other_levels) = templates::levels(results, analysis);
    let title = if results.presentation.title.is_empty() { &results.experiment } else { &results.presentation.title };
    View {
        title: title.as_str().into(),
        summary: templates::summary(results),
        question: results.presentation.question.as_str().into(),
        alert: if too_short(results).is_empty() { "WARNING" } else { "CAUTION" }.into(),
        cautions: analysis.cautions.iter().map(|caution| sentence(&capital(caution))).collect(),
        warnings: results.warnings.iter().map(|warning| sentence(&capital(warning))).collect(),
        more_answers: more(all_answers, answers.len(), "comparison", "in the tables below").into(),
        answers,
        baseline: templates::baseline(results, analysis),
        advice: templates::advice(results, analysis).into(),
        verdicts: templates::verdicts(results, analysis),
        factors: templates::factors(results, analysis),
        charts: of_section(Section::Charts),
        cpu: templates::cpu(results, analysis, of_section(Section::Cpu)),
        limiters: templates::limiters(results, analysis),
        drift: templates::drift(analysis),
        stillness: templates::stillness(results, analysis),
        checks: templates::checks(results),
        levels,
        other_levels,
        more_failures: more(all_failures, failures.len(), "failed trial", "in trials.csv").into(),
        failures,
        trials: templates::trials(results),
        method: templates::method(results, analysis),
        environments: templates::environments(results),
        more_attested: more(all_attested, attested.len(), "setting", "in the journals of the runs").into(),
        attested,
        commands: templates::commands(results),
        files: templates::files(results, analysis),
    }
}

/// A chart, with its picture for a page that holds it.
fn shown(chart: &ChartRef) -> Chart {
    let data = format!("data:image/png;base64,{}", STANDARD.encode(chart.png));
    Chart { file: target(chart.file.as_str()), alt: chart.alt.as_str().into(), data: data.into() }
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
