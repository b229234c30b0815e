//! Declared charts against what the experiment has: options that the kind does not have, factors and metrics that nobody declared.

use crate::model::catalog::Catalog;
use crate::model::chart::{ChartDecl, ChartKind, ChartOption};
use crate::model::diagnostic::Diagnostic;
use crate::model::experiment::{Experiment, Factor};
use crate::model::percentile::percentile;
use crate::model::quantity;
use crate::model::tree::Span;
use std::collections::BTreeSet;

fn declared(experiment: &Experiment) -> &[ChartDecl] {
    experiment.presentation.charts.as_deref().unwrap_or_default()
}

fn place(chart: &ChartDecl, option: ChartOption) -> Span {
    chart.given.iter().find(|(given, _)| *given == option).map_or(chart.span, |(_, span)| *span)
}

/// What can be said without knowing the variants: options and factors.
pub(super) fn form(experiment: &Experiment, catalog: &Catalog) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for chart in declared(experiment) {
        let word = chart.kind.word();
        let Some(info) = catalog.charts.iter().find(|info| info.kind == chart.kind) else {
            let problem = Diagnostic::error(chart.span, format!("no chart `{word}` can be drawn"));
            found.push(problem.suggest(word, catalog.charts.iter().map(|info| info.kind.word())));
            continue;
        };
        for (option, span) in &chart.given {
            if !info.options.contains(option) {
                let known = info.options.iter().map(|option| option.word()).chain(["title", "svg"]).collect::<Vec<_>>().join(", ");
                let problem = Diagnostic::error(*span, format!("a chart `{word}` has no `{}`", option.word()));
                found.push(problem.help(format!("it shows {}; known: {known}", info.about)));
            }
        }
        let factor = |option, name: Option<&String>| {
            let used = info.options.contains(&option);
            name.filter(|_| used).map(|name| factor(experiment, name, place(chart, option))).transpose()
        };
        match (factor(ChartOption::X, chart.x.as_ref()), factor(ChartOption::Y, chart.y.as_ref())) {
            (Ok(x), Ok(y)) => found.extend(x.and_then(|x| unfit(chart, x, y))),
            (x, y) => found.extend([x.err(), y.err()].into_iter().flatten()),
        }
    }
    found
}

fn factor<'e>(experiment: &'e Experiment, name: &str, at: Span) -> Result<&'e Factor, Diagnostic> {
    let known = experiment.factors.iter().find(|factor| *factor.name == *name);
    known.ok_or_else(|| {
        let names = experiment.factors.iter().map(|factor| &*factor.name);
        Diagnostic::error(at, format!("there is no factor `{name}`")).suggest(name, names)
    })
}

/// Why a chart cannot go over these factors.
fn unfit(chart: &ChartDecl, x: &Factor, y: Option<&Factor>) -> Option<Diagnostic> {
    if let Some(y) = y.filter(|y| y.name == x.name) {
        let problem = Diagnostic::error(place(chart, ChartOption::Y), format!("`x` and `y` are both `{}`", y.name));
        return Some(problem.help("name two factors"));
    }
    if chart.kind != ChartKind::Line {
        return None;
    }
    let word = x.levels.iter().find(|level| quantity::number(&level.text).is_none())?;
    let message = format!("a line goes over a factor of numbers, and `{}` has the level `{}`", x.name, word.text);
    let problem = Diagnostic::error(place(chart, ChartOption::X), message).related(word.span, "it is declared here");
    Some(problem.help("`trials`, `bars` and `effects` have a row for every variant"))
}

/// Checks the metrics of the charts: `known` can be measured or reckoned, and only `compared` ones have effects.
pub(super) fn metrics(experiment: &Experiment, catalog: &Catalog, known: &BTreeSet<String>, compared: &[&str]) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for chart in declared(experiment) {
        let info = catalog.charts.iter().find(|info| info.kind == chart.kind);
        let Some((info, name)) = info.filter(|info| info.options.contains(&ChartOption::Metric)).zip(chart.metric.as_ref()) else {
            continue;
        };
        let at = place(chart, ChartOption::Metric);
        if !known.contains(name) {
            let problem = Diagnostic::error(at, format!("there is no metric `{name}`"));
            found.push(problem.suggest(name, known.iter().map(String::as_str)));
        } else if info.compares && !compared.contains(&name.as_str()) {
            let problem = Diagnostic::error(at, format!("`{name}` is not compared, so there are no effects to draw"));
            found.push(problem.help("declare it under `metrics:`"));
        } else if chart.kind == ChartKind::Percentiles && percentile(name).is_none() {
            let family = known.iter().map(String::as_str).filter(|name| percentile(name).is_some());
            found.push(Diagnostic::error(at, format!("`{name}` is no percentile")).suggest(name, family));
        }
    }
    found
}
