//! Plans: which variants there are, in which order they run, what makes them stale, and what a level may do to the set-up.

mod charts;
mod derived;
mod identity;
mod order;
mod product;
mod proxied;
mod stack;
mod templates;

use shakedown::manifest::{Source, read};
use shakedown::measure::parsers::{PARSERS, check, check_pattern};
use shakedown::model::catalog::Catalog;
use shakedown::model::diagnostic::Diagnostic;
use shakedown::model::experiment::{Experiment, Problems};
use shakedown::model::plan::{AA_SUFFIX, SavedPlan, VariantHistory};
use shakedown::plan::saved::saved;
use shakedown::plan::{History, Options, Planned, plan};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::LazyLock;

static CATALOG: LazyLock<Catalog> = LazyLock::new(|| Catalog {
    parsers: PARSERS.iter().map(|parser| parser.info()).collect(),
    check_extraction: check,
    check_pattern,
    charts: shakedown::report::CHARTS,
});

/// Templates that manifests of these tests may name.
fn template(name: &str) -> Option<String> {
    let text = match name {
        "server.conf.j2" => "port {{ port }};\n{% include 'tail.j2' %}",
        "tail.j2" => "tag {{ tag }};",
        "torn.j2" => "one\ntwo {{ prot }}\n",
        _ => return None,
    };
    Some(text.to_owned())
}

fn read_text(text: &str) -> Result<Experiment, Problems> {
    read(&Source { name: "e", folder: Path::new("experiments"), text }, &template).map(|(experiment, _)| experiment)
}

pub(crate) fn experiment(text: &str) -> Experiment {
    read_text(text).unwrap_or_else(|problems| panic!("{:#?}\n{text}", said(&problems.0)))
}

fn planned<'e>(experiment: &'e Experiment, history: &History, options: &Options) -> Planned<'e> {
    plan(experiment, &CATALOG, history, options).unwrap_or_else(|problems| panic!("{:#?}", said(&problems.0)))
}

/// The saved form of the plan that a manifest gives without history.
pub(crate) fn saved_plan(text: &str) -> SavedPlan {
    saved(&planned(&experiment(text), &History::new(), &Options::default()))
}

/// The ids of a manifest's variants without the A/A copy.
fn ids(text: &str) -> Vec<String> {
    saved_plan(text).variants.into_iter().map(|variant| variant.id).filter(|id| !id.ends_with(AA_SUFFIX)).collect()
}

/// What is wrong with a manifest, found by reading or by planning.
fn wrong(text: &str) -> Vec<String> {
    wrong_with(text, &Options::default())
}

fn wrong_with(text: &str, options: &Options) -> Vec<String> {
    let experiment = match read_text(text) {
        Ok(experiment) => experiment,
        Err(problems) => return said(&problems.0),
    };
    match plan(&experiment, &CATALOG, &History::new(), options) {
        Ok(_) => Vec::new(),
        Err(problems) => said(&problems.0),
    }
}

fn said(problems: &[Diagnostic]) -> Vec<String> {
    let place = |problem: &Diagnostic| problem.span.map_or_else(|| "-".to_owned(), |span| format!("{}:{}", span.line, span.column));
    let help = |problem: &Diagnostic| problem.help.as_ref().map_or_else(String::new, |help| format!(" / {help}"));
    problems.iter().map(|problem| format!("{}: {}{}", place(problem), problem.message, help(problem))).collect()
}

/// What a run of a manifest leaves when every variant has a good trial in each of `good` blocks.
fn done(text: &str, good: u32) -> History {
    let good: BTreeSet<(u32, u32)> = (1..=good).map(|block| (0, block)).collect();
    let variants = saved_plan(text).variants.into_iter();
    variants
        .map(|variant| {
            let spec = serde_json::to_value(&variant.spec).expect("spec");
            (variant.id, VariantHistory { identity: variant.identity, spec, good: good.clone(), ..VariantHistory::default() })
        })
        .collect()
}

/// The reason of each variant, the A/A copy's too, and how many trials there are.
fn reasons(text: &str, history: &History, options: &Options) -> (Vec<(String, String)>, usize) {
    let experiment = experiment(text);
    let plan = planned(&experiment, history, options).plan;
    (plan.variants.iter().map(|variant| (variant.id.to_string(), variant.reason.to_string())).collect(), plan.trials.len())
}
