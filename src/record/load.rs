//! Plans and journals of all runs -> [`Results`].

use super::journal::read_journal;
use super::{RecordError, RunFolder, Store, io};
use crate::model::event::{Event, Presented, RunStarted, TrialRow};
use crate::model::facts::HostFacts;
use crate::model::metric::{Better, Unit};
use crate::model::plan::SavedPlan;
use crate::model::results::{MetricColumn, ResultRow, Results, RunSummary};
use crate::plan::derive::Derived;
use crate::plan::saved::FORMAT;
use fs_err as fs;
use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

/// One run as it stands on disk.
#[derive(Debug)]
pub struct RunRecord {
    /// Its folder.
    pub folder: RunFolder,
    /// Its plan.
    pub plan: SavedPlan,
    /// Its circumstances at the first start; none when it was killed before its first event.
    pub started: Option<RunStarted>,
    /// Images that were made ready: what was asked for, and the digest of what ran.
    pub images: Vec<(String, String)>,
    /// Its rows in the order of the journal.
    pub rows: Vec<TrialRow>,
    /// Warnings, each once.
    pub warnings: Vec<String>,
    /// The newest presentation, when it was changed after the run.
    pub presented: Option<Presented>,
    /// Whether every trial of its plan has a row.
    pub finished: bool,
}

/// All runs of an experiment, the oldest first.
#[derive(Debug, Default)]
pub struct Loaded {
    /// The runs.
    pub runs: Vec<RunRecord>,
}

/// Loads every run of a store; none at all is fine.
///
/// # Errors
/// When a plan or journal cannot be read or is damaged.
pub fn load(store: &Store) -> Result<Loaded, RecordError> {
    let mut runs = Vec::new();
    for folder in store.runs()? {
        runs.push(load_run(RunFolder::existing(folder))?);
    }
    let at = |run: &RunRecord| run.started.as_ref().map_or(String::new(), |s| s.at.clone());
    runs.sort_by_cached_key(|run| (at(run), run.folder.name()));
    Ok(Loaded { runs })
}

fn load_run(folder: RunFolder) -> Result<RunRecord, RecordError> {
    let path = folder.path().join("plan.json");
    let text = fs::read(&path).map_err(io("read the plan"))?;
    let plan = parse_plan(path, &text)?;
    let mut run = RunRecord {
        folder,
        plan,
        started: None,
        images: Vec::new(),
        rows: Vec::new(),
        warnings: Vec::new(),
        presented: None,
        finished: false,
    };
    for event in read_journal(&run.folder.journal())? {
        match event {
            Event::RunStarted(started) => {
                run.started.get_or_insert(*started);
            }
            Event::ImageReady { image, digest, .. } if !run.images.contains(&(image.clone(), digest.clone())) => {
                run.images.push((image, digest))
            }
            Event::TrialFinished(row) => run.rows.push(*row),
            Event::Warned { message, .. } if !run.warnings.contains(&message) => run.warnings.push(message),
            Event::Presented(presented) => run.presented = Some(*presented),
            Event::RunFinished { .. } => run.finished = true,
            Event::TrialStarted { .. } | Event::RunInterrupted { .. } | Event::Warned { .. } | Event::ImageReady { .. } => {}
        }
    }
    Ok(run)
}

/// Reads a plan. One of a newer form may not fit at all: its version is looked at first.
fn parse_plan(path: PathBuf, text: &[u8]) -> Result<SavedPlan, RecordError> {
    #[derive(serde::Deserialize)]
    struct Version {
        format: u32,
    }
    if let Ok(Version { format }) = serde_json::from_slice(text)
        && format > FORMAT
    {
        return Err(RecordError::TooNew { path, found: format, known: FORMAT });
    }
    serde_json::from_slice(text).map_err(|error| RecordError::Damaged { path, line: error.line(), reason: error.to_string() })
}

/// Joins all runs under the design of the newest one.
///
/// # Errors
/// [`RecordError::Absent`] without any run.
pub fn results(store: &Store, experiment: &str, loaded: Loaded) -> Result<Results, RecordError> {
    let absent = || RecordError::Absent { experiment: experiment.to_owned(), path: store.folder().join("runs") };
    let newest = loaded.runs.last().ok_or_else(absent)?;
    let presented = newest.presented.clone().unwrap_or_else(|| Presented {
        presentation: newest.plan.presentation.clone(),
        dictionary: newest.plan.dictionary.clone(),
        design: newest.plan.design.clone(),
    });
    let mut results = Results {
        experiment: experiment.to_owned(),
        design: presented.design.clone(),
        factors: newest.plan.factors.clone(),
        variants: newest.plan.variants.clone(),
        baseline: newest.plan.baseline,
        presentation: presented.presentation.clone(),
        runs: Vec::new(),
        rows: Vec::new(),
        metrics: Vec::new(),
        warnings: Vec::new(),
    };
    let (derived, problems) = Derived::new(&presented.presentation.metrics);
    problems.into_iter().for_each(|problem| add_once(&mut results.warnings, problem));
    // A sentence about a formula may hold the values that it failed for: the first one stands for all.
    let mut failing = HashSet::new();
    let machine = loaded.runs.iter().rev().find_map(|run| run.started.as_ref()).map(|started| started.host.clone()).unwrap_or_default();
    for run in loaded.runs {
        add_run(&mut results, run, &machine, &derived, &mut failing);
    }
    results.metrics = columns(&results, &presented);
    Ok(results)
}

fn add_once(list: &mut Vec<String>, text: String) {
    if !list.contains(&text) {
        list.push(text);
    }
}

/// Rows that were measured on another machine than the newest run are kept and shown, and belong to no variant.
fn add_run<'d>(results: &mut Results, run: RunRecord, machine: &HostFacts, derived: &'d Derived, failing: &mut HashSet<&'d str>) {
    let Some(started) = run.started else { return };
    let index = results.runs.len();
    let elsewhere = machine.differences(&started.host);
    if !elsewhere.is_empty() && !run.rows.is_empty() {
        let (run, trials) = (run.folder.name(), run.rows.len());
        let warning = format!(
            "`{run}` was measured on another machine ({}): its {trials} trials are recorded and do not count",
            elsewhere.join(", ")
        );
        add_once(&mut results.warnings, warning);
    }
    let blocks = run.plan.trials.iter().map(|t| t[0]).max().unwrap_or(0);
    results.runs.push(RunSummary {
        run: run.folder.name(),
        seed: run.plan.seed,
        blocks,
        images: run.images,
        started,
        finished: run.finished,
    });
    run.warnings.into_iter().for_each(|warning| add_once(&mut results.warnings, warning));
    let known: HashMap<String, usize> = results.variants.iter().enumerate().map(|(i, v)| (v.id.clone(), i)).collect();
    let mut newest: HashMap<String, usize> = HashMap::new();
    for mut row in run.rows {
        let variant = known.get(&row.variant).copied().filter(|v| elsewhere.is_empty() && results.variants[*v].identity == row.identity);
        if let Some(variant) = variant {
            let problems = derived.add(&results.variants[variant].vars, &mut row.metrics);
            results.warnings.extend(problems.into_iter().filter(|(metric, _)| failing.insert(metric)).map(|(_, problem)| problem));
        }
        if let Some(earlier) = newest.insert(row.trial.clone(), results.rows.len()) {
            results.rows[earlier].superseded = true;
        }
        results.rows.push(ResultRow { run: index, variant, superseded: false, row });
    }
}

/// Declared metrics first, then what the parsers know, then whatever else the rows have, in order of first appearance.
fn columns(results: &Results, presented: &Presented) -> Vec<MetricColumn> {
    let mut seen: HashMap<&str, Unit> = HashMap::new();
    let mut order: Vec<&str> = Vec::new();
    for observation in results.rows.iter().flat_map(|row| &row.row.metrics) {
        if !seen.contains_key(observation.name.as_str()) {
            seen.insert(&observation.name, observation.unit.clone());
            order.push(&observation.name);
        }
    }
    let declared = &presented.presentation.metrics;
    let named = declared.iter().chain(&presented.dictionary).map(|metric| metric.name.as_str());
    let mut columns: Vec<MetricColumn> = Vec::new();
    for name in named.chain(order) {
        if !seen.contains_key(name) && !declared.iter().any(|metric| metric.name == name)
            || columns.iter().any(|column| column.name == name)
        {
            continue;
        }
        let own = declared.iter().find(|metric| metric.name == name);
        let known = presented.dictionary.iter().find(|metric| metric.name == name);
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
