//! All runs joined under the design of the newest one -> [`Results`].

use super::apart::Circumstances;
use super::series::load_series;
use super::{Loaded, RecordError, RunFolder, RunRecord, Store};
use crate::analyse::judge;
use crate::model::event::{Presented, TOO_SHORT};
use crate::model::experiment::MetricDecl;
use crate::model::metric::{Better, Unit};
use crate::model::observe::Series;
use crate::model::results::{MetricColumn, ResultRow, Results, RunSummary};
use crate::plan::derive::Derived;
use jiff::SignedDuration;
use std::collections::{BTreeMap, HashMap, HashSet};

/// A block that took longer than this over an interruption is named in a warning.
const LONG: SignedDuration = SignedDuration::from_hours(1);

/// Variants of which the samples of a trial are read: more are not shown.
const MOST_SAMPLED: usize = 12;

/// Joins all runs under the design of the newest one, with samples of some trials for their chart.
///
/// # Errors
/// [`RecordError::Absent`] without any run; when samples cannot be read.
pub fn results(store: &Store, experiment: &str, loaded: Loaded) -> Result<Results, RecordError> {
    let mut results = results_without_samples(store, experiment, loaded)?;
    results.series = sampled(&results, store)?;
    Ok(results)
}

/// Joins all runs under the design of the newest one.
///
/// # Errors
/// [`RecordError::Absent`] without any run.
pub fn results_without_samples(store: &Store, experiment: &str, loaded: Loaded) -> Result<Results, RecordError> {
    let absent = || RecordError::Absent { experiment: experiment.to_owned(), path: store.folder().join("runs") };
    let Presented { factors, variants, baseline, presentation, dictionary, design } = loaded.runs.last().ok_or_else(absent)?.presented();
    let (derived, problems) = Derived::new(&presentation.metrics);
    let circumstances = Circumstances::new(&loaded.runs, None, &[]);
    let mut results = Results {
        experiment: experiment.to_owned(),
        design,
        factors,
        variants,
        baseline,
        presentation,
        runs: Vec::new(),
        rows: Vec::new(),
        metrics: Vec::new(),
        warnings: Vec::new(),
        series: Vec::new(),
    };
    problems.into_iter().for_each(|problem| add_once(&mut results.warnings, problem));
    // A sentence about a formula may hold the values that it failed for: the first one stands for all.
    let mut failing = HashSet::new();
    for run in loaded.runs {
        add_run(&mut results, run, &circumstances, &derived, &mut failing);
    }
    results.metrics = columns(&results, &dictionary);
    judge(&mut results);
    Ok(results)
}

/// The samples of one trial of each variant, the one in the middle of its runs; of no more variants than a chart shows.
fn sampled(results: &Results, store: &Store) -> Result<Vec<(usize, Series)>, RecordError> {
    let mut of_variant: Vec<Vec<usize>> = vec![Vec::new(); results.variants.len()];
    for (index, row) in results.rows.iter().enumerate().filter(|(_, row)| row.row.series.is_some()) {
        if let Some(rows) = row.counts().and_then(|variant| of_variant.get_mut(variant)) {
            rows.push(index);
        }
    }
    let is_copy = |variant: &usize| results.variants[*variant].is_copy();
    let shown = (0..results.variants.len()).filter(|variant| !is_copy(variant) && !of_variant[*variant].is_empty()).take(MOST_SAMPLED);
    let mut found = Vec::new();
    for index in shown.map(|variant| of_variant[variant][of_variant[variant].len() / 2]) {
        let ResultRow { run, row, .. } = &results.rows[index];
        let folder = RunFolder::existing(store.folder().join("runs").join(&results.runs[*run].run));
        if let Some(series) = &row.series {
            found.push((index, load_series(&folder, series)?));
        }
    }
    Ok(found)
}

fn add_once(list: &mut Vec<String>, text: String) {
    if !list.contains(&text) {
        list.push(text);
    }
}

/// Rows that stand apart from the newest run's are kept and shown, and belong to no variant.
fn add_run<'d>(
    results: &mut Results,
    mut run: RunRecord,
    circumstances: &Circumstances,
    derived: &'d Derived,
    failing: &mut HashSet<&'d str>,
) {
    let Some(started) = run.started.clone() else { return };
    let index = results.runs.len();
    let apart = apart(&run, circumstances, &mut results.warnings);
    interrupted_blocks(&run).into_iter().for_each(|warning| add_once(&mut results.warnings, warning));
    std::mem::take(&mut run.warnings).into_iter().for_each(|warning| add_once(&mut results.warnings, warning));
    let host = serde_json::to_value(&started.host).unwrap_or_default();
    let names: Vec<_> = results
        .variants
        .iter()
        .map(|variant| {
            let mut names = variant.vars.clone();
            names.entry("host").or_insert_with(|| host.clone());
            names
        })
        .collect();
    let known: HashMap<&str, usize> = results.variants.iter().enumerate().map(|(i, v)| (v.id.as_str(), i)).collect();
    // Of the blocks that an adaptive run has planned, it has those that were enough.
    let ended = run.looked.is_some_and(|looked| looked.enough.is_some());
    let measured = run.rows.iter().map(|row| row.block).max().unwrap_or(0);
    let mut newest: HashMap<String, usize> = HashMap::new();
    for (mut row, apart) in std::mem::take(&mut run.rows).into_iter().zip(apart) {
        // Old journals hold what was too short under the design of their day.
        row.taints.retain(|taint| taint != TOO_SHORT);
        if row.is_too_short(results.design.min_window) {
            row.taints.push(TOO_SHORT.to_owned());
        }
        let variant = known.get(row.variant.as_str()).copied().filter(|v| !apart && results.variants[*v].identity == row.identity);
        let primer = row.is_primer();
        if let Some(variant) = variant.filter(|_| !primer) {
            let problems = derived.add(&names[variant], &mut row.metrics);
            results.warnings.extend(problems.into_iter().filter(|(metric, _)| failing.insert(metric)).map(|(_, problem)| problem));
        }
        if !primer && let Some(earlier) = newest.insert(row.trial.clone(), results.rows.len()) {
            results.rows[earlier].superseded = true;
        }
        results.rows.push(ResultRow { run: index, variant, superseded: false, row, states: Vec::new() });
    }
    results.runs.push(RunSummary {
        run: run.folder.name(),
        seed: run.plan.seed,
        blocks: if ended { measured } else { run.plan.blocks() },
        images: run.images,
        started,
        looked: run.looked,
        finished: run.finished,
    });
}

/// Whether each row of a run stands apart; says so in warnings.
fn apart(run: &RunRecord, circumstances: &Circumstances, warnings: &mut Vec<String>) -> Vec<bool> {
    let name = run.folder.name();
    for (what, differences) in [("machine", circumstances.machine(run)), ("engine", circumstances.engine(run))] {
        if !differences.is_empty() {
            if !run.rows.is_empty() {
                let (differences, trials) = (differences.join(", "), run.rows.iter().filter(|row| !row.is_primer()).count());
                let kept = "trials are recorded and do not count";
                add_once(warnings, format!("`{name}` was measured on another {what} ({differences}): its {trials} {kept}"));
            }
            return vec![true; run.rows.len()];
        }
    }
    let mut count: BTreeMap<String, usize> = BTreeMap::new();
    let others = circumstances.other_images(run);
    for (_, other) in run.rows.iter().zip(&others).filter(|(row, _)| !row.is_primer()) {
        let Some(other) = other else { continue };
        *count.entry(other.words()).or_default() += 1;
    }
    for (words, trials) in count {
        add_once(warnings, format!("`{name}` ran another {words}: {trials} trials with it are recorded and do not count"));
    }
    others.iter().map(Option::is_some).collect()
}

/// Names the blocks that an interruption cut, when what the machine was may have changed in between: pairs are of one block.
fn interrupted_blocks(run: &RunRecord) -> Option<String> {
    let time = |text: &str| text.parse::<jiff::Timestamp>().ok();
    let mut spans: BTreeMap<u32, (jiff::Timestamp, jiff::Timestamp)> = BTreeMap::new();
    for (block, at) in run.rows.iter().filter(|row| !row.is_primer()).filter_map(|row| Some((row.block, time(&row.at)?))) {
        let (first, last) = spans.entry(block).or_insert((at, at));
        (*first, *last) = (at.min(*first), at.max(*last));
    }
    let resumed: Vec<jiff::Timestamp> = run.resumed.iter().filter_map(|started| time(&started.at)).collect();
    let is_cut = |(first, last): &(jiff::Timestamp, jiff::Timestamp)| {
        last.duration_since(*first) > LONG && resumed.iter().any(|at| first < at && at <= last)
    };
    let cut: Vec<String> = spans.iter().filter(|(_, span)| is_cut(span)).map(|(block, _)| block.to_string()).collect();
    let blocks = match cut.as_slice() {
        [] => return None,
        [one] => format!("block {one} was"),
        [before @ .., last] => format!("blocks {} and {last} were", before.join(", ")),
    };
    Some(format!(
        "`{}`: {blocks} interrupted and finished more than an hour after the start: what changed meanwhile is part of the comparison",
        run.folder.name()
    ))
}

/// Declared metrics first, then what the parsers know, then whatever else the rows have, in order of first appearance.
fn columns(results: &Results, dictionary: &[MetricDecl]) -> Vec<MetricColumn> {
    let mut seen: HashMap<&str, Unit> = HashMap::new();
    let mut order: Vec<&str> = Vec::new();
    for observation in results.rows.iter().flat_map(|row| &row.row.metrics) {
        if !seen.contains_key(observation.name.as_str()) {
            seen.insert(&observation.name, observation.unit.clone());
            order.push(&observation.name);
        }
    }
    let declared = &results.presentation.metrics;
    let named = declared.iter().chain(dictionary).map(|metric| metric.name.as_str());
    let mut columns: Vec<MetricColumn> = Vec::new();
    for name in named.chain(order) {
        if !seen.contains_key(name) && !declared.iter().any(|metric| metric.name == name)
            || columns.iter().any(|column| column.name == name)
        {
            continue;
        }
        let own = declared.iter().find(|metric| metric.name == name);
        let known = dictionary.iter().find(|metric| metric.name == name);
        let better: Option<Better> = own.and_then(|m| m.better).or(known.and_then(|m| m.better));
        let unit = seen.get(name).cloned().or(own.and_then(|m| m.unit.clone())).or(known.and_then(|m| m.unit.clone())).unwrap_or(Unit::ONE);
        columns.push(MetricColumn {
            name: name.to_owned(),
            unit,
            better,
            primary: own.is_some_and(|m| m.primary),
            declared: own.is_some(),
        });
    }
    columns
}
