//! `status`: which experiments have no, partial, stale or failing results against their manifests. Asks no engine, runs and writes nothing.

use super::standing::{self, Report, Standing, State};
use super::{assemble, catalog, exit, open, run, talk};
use crate::model::diagnostic::Severity;
use crate::plan::{self, Options};
use crate::record::{self, Store};
use crate::report::visible::visible;
use std::path::{Path, PathBuf};

/// Tell which experiments are measured and reported as their manifests ask.
///
/// What was measured counts by the machine of the newest run, whichever machine this is: so it says the same everywhere.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Manifests, folders of manifests, or names below experiments/; without any, all there, and records without a manifest.
    #[arg(value_name = "EXPERIMENT")]
    experiments: Vec<String>,
    /// How to print.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
    /// What is fine, too, and does not end in exit code 1; `report` is one that is missing or not what the record gives.
    #[arg(long, value_enum, value_delimiter = ',', value_name = "WHAT")]
    allow: Vec<Allowed>,
    /// Folder of reports instead of the one beside experiments/.
    #[arg(long, value_name = "DIR")]
    reports: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    Table,
    Json,
    Csv,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Allowed {
    None,
    Partial,
    Stale,
    Failing,
    Orphan,
    Report,
}

pub fn run(arguments: &Arguments) -> u8 {
    let standings = match gather(arguments) {
        Ok(standings) => standings,
        Err(messages) => {
            messages.iter().for_each(talk::error);
            return exit::USAGE;
        }
    };
    let written = match arguments.format {
        Format::Table => talk::data(|out| standing::table(out, &standings)),
        Format::Json => talk::data(|out| standing::as_json(out, &standings)),
        Format::Csv => talk::data(|out| standing::as_csv(out, &standings)),
    };
    talk::note(last_words(&standings));
    let codes = standings.iter().map(|standing| code(standing, &arguments.allow));
    codes.chain([written]).max().unwrap_or(exit::OK)
}

/// All experiments in the order of their names.
fn gather(arguments: &Arguments) -> Result<Vec<Standing>, Vec<String>> {
    let reports = arguments.reports.as_deref();
    let all = ["experiments".to_owned()];
    let words = if arguments.experiments.is_empty() { &all[..] } else { &arguments.experiments };
    let (mut paths, mut wrong) = (Vec::new(), Vec::new());
    for word in words {
        match open::manifests(word) {
            Ok(found) => paths.extend(found.into_iter().filter(|path| !paths.contains(path)).collect::<Vec<PathBuf>>()),
            Err(message) => wrong.push(message),
        }
    }
    if !wrong.is_empty() {
        return Err(wrong);
    }
    let mut standings: Vec<Standing> = paths.iter().map(|path| examine(path, reports)).collect();
    if arguments.experiments.is_empty() {
        let folder = open::reports_folder(Path::new("experiments"), reports);
        let names = open::recorded(&folder).unwrap_or_default();
        let is_known = |name: &String| standings.iter().any(|standing| standing.name == *name);
        let orphans: Vec<Standing> = names.into_iter().filter(|name| !is_known(name)).map(|name| orphan(&folder, name)).collect();
        standings.extend(orphans);
    }
    standings.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(standings)
}

fn orphan(reports: &Path, name: String) -> Standing {
    let report = reported(&Store::new(reports, &name), &name);
    match report {
        Ok(report) => Standing::without_plan(name, String::new(), State::Orphan, None, report),
        Err(problem) => Standing::without_plan(name, String::new(), State::Damaged, Some(problem), Report::Nothing),
    }
}

/// One manifest against its record.
fn examine(path: &Path, reports: Option<&Path>) -> Standing {
    let name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let shown = path.display().to_string();
    let failed = |state: State, problem: String| {
        let one_line = problem.lines().next().unwrap_or_default().to_owned();
        Standing::without_plan(name.clone(), shown.clone(), state, Some(one_line), Report::Nothing)
    };
    let invalid = |problems: &crate::model::experiment::Problems| {
        let errors = || problems.0.iter().filter(|problem| problem.severity == Severity::Error);
        let place = |problem: &crate::model::diagnostic::Diagnostic| {
            problem.span.map_or_else(String::new, |span| format!("{}:{}: ", span.line, span.column))
        };
        let first = errors().next().map(|problem| format!("{}{}", place(problem), problem.message)).unwrap_or_default();
        let more = errors().count().saturating_sub(1);
        failed(State::Invalid, if more > 0 { format!("{first}, and {more} more") } else { first })
    };
    let opened = match open::examine(path, reports) {
        Ok((opened, _)) => opened,
        Err(open::Unusable::Message(message)) => return failed(State::Invalid, message),
        Err(open::Unusable::Problems { problems, .. }) => return invalid(&problems),
    };
    let loaded = match record::load(&opened.store) {
        Ok(loaded) => loaded,
        Err(error) => return failed(State::Damaged, error.to_string()),
    };
    let host = loaded.newest_host().cloned().unwrap_or_else(crate::measure::host::facts);
    let history = record::history(&loaded, &host, &[]);
    let options = Options {
        blocks: loaded.enough_blocks(&opened.experiment.design),
        earlier_runs: loaded.runs.len() as u64,
        host: Some(host),
        ..Options::default()
    };
    let catalog = catalog::catalog();
    let planned = match plan::plan(&opened.experiment, &catalog, &history, &options) {
        Ok(planned) => planned,
        Err(problems) => return invalid(&problems),
    };
    let recorded = loaded.runs.iter().any(|run| !run.rows.is_empty());
    let report = match reported(&opened.store, &name) {
        Ok(Report::Current) if run::shows_otherwise(&planned, &loaded) => Report::Behind,
        Ok(report) => report,
        Err(problem) => return failed(State::Damaged, problem),
    };
    Standing::of(&planned.plan, shown, recorded, report)
}

/// How the report of a record stands.
fn reported(store: &Store, name: &str) -> Result<Report, String> {
    if store.runs().map_err(|error| error.to_string())?.is_empty() {
        return Ok(Report::Nothing);
    }
    let difference = assemble::difference(store, name, false).map_err(|failure| failure.to_string())?;
    let files = [difference.changed, difference.removed].concat();
    Ok(match () {
        () if !store.folder().join("README.md").exists() => Report::Missing,
        () if files.is_empty() => Report::Current,
        () => Report::Outdated(files),
    })
}

fn code(standing: &Standing, allow: &[Allowed]) -> u8 {
    let state = match standing.state {
        State::Invalid => return exit::USAGE,
        State::Damaged => return exit::RECORD,
        State::Complete => None,
        State::None => Some(Allowed::None),
        State::Partial => Some(Allowed::Partial),
        State::Stale => Some(Allowed::Stale),
        State::Failing => Some(Allowed::Failing),
        State::Orphan => Some(Allowed::Orphan),
    };
    let report = (!matches!(standing.report, Report::Nothing | Report::Current)).then_some(Allowed::Report);
    let fine = [state, report].into_iter().flatten().all(|found| allow.contains(&found));
    if fine { exit::OK } else { exit::FAILED }
}

/// How many are complete, and what to do next.
fn last_words(standings: &[Standing]) -> String {
    let all = standings.len();
    let complete = standings.iter().filter(|standing| code(standing, &[]) == exit::OK).count();
    let worst = standings.iter().filter(|standing| code(standing, &[]) != exit::OK).min_by_key(|standing| standing.state);
    let Some(worst) = worst else {
        return format!("{} complete", if all == 1 { "the experiment is".to_owned() } else { format!("all {all} experiments are") });
    };
    let name = visible(&worst.name);
    let next = match (worst.state, &worst.report) {
        (State::Invalid, _) => format!("`shakedown check {}` shows what is wrong", visible(&worst.manifest)),
        (State::Damaged, _) => format!("the record of `{name}` cannot be read: bring it back from git"),
        (State::None | State::Failing | State::Stale | State::Partial, _) => format!("`shakedown run {name}` measures what is missing"),
        (State::Orphan, _) => format!("`{name}` has a record and no manifest: bring one back, or remove the other"),
        (State::Complete, Report::Behind) => format!("`shakedown run {name}` takes over what its manifest says, and measures nothing"),
        (State::Complete, _) => format!("`shakedown report {name}` writes its report"),
    };
    format!("{complete} of {} complete; next: {next}", talk::count(all, "experiment"))
}
