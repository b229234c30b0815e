//! `run`: runs what is missing, records it, and writes the report.

use super::plan::Choice;
use super::show::{LogFormat, Show};
use super::signals::{self, Stop};
use super::{assemble, catalog, engines, exit, job, open, talk};
use crate::execute;
use crate::model::event::{Event, Presented};
use crate::model::outcome::Outcome;
use crate::plan::saved::saved;
use crate::plan::{self, Planned};
use crate::record::{self, Lease, Loaded, RunRecord};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Run what is missing: new, stale, failed and unfinished trials; then write the report.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Manifests, folders of manifests, or names below experiments/.
    #[arg(required = true, value_name = "EXPERIMENT")]
    experiments: Vec<String>,
    #[command(flatten)]
    choice: Choice,
    /// Leave ended containers for debugging; `shakedown clean` removes them.
    #[arg(long)]
    keep: bool,
    /// Address of the engine (unix://, tcp://) where the manifest names none.
    #[arg(long, value_name = "URL", env = "SHAKEDOWN_ENGINE")]
    engine: Option<String>,
    /// How progress is told on stderr.
    #[arg(long, value_enum, default_value_t = LogFormat::Text)]
    log_format: LogFormat,
}

pub fn run(arguments: &Arguments) -> u8 {
    talk::as_json_lines(arguments.log_format == LogFormat::Json);
    let mut paths = Vec::new();
    for word in &arguments.experiments {
        match open::manifests(word) {
            Ok(mut found) => paths.append(&mut found),
            Err(message) => {
                talk::error(message);
                return exit::USAGE;
            }
        }
    }
    let runtime = match tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build() {
        Ok(runtime) => runtime,
        Err(failure) => {
            talk::error(format!("start the runtime: {failure}"));
            return exit::MACHINE;
        }
    };
    let code = runtime.block_on(all(arguments, &paths));
    runtime.shutdown_timeout(std::time::Duration::from_secs(2));
    code
}

/// Every experiment in turn, until a signal comes.
async fn all(arguments: &Arguments, paths: &[PathBuf]) -> u8 {
    let stop = match signals::watch() {
        Ok(stop) => stop,
        Err(failure) => {
            talk::error(format!("watch for signals: {failure}"));
            return exit::MACHINE;
        }
    };
    let mut worst = exit::OK;
    for path in paths {
        worst = worst.max(one(arguments, path, &stop).await);
        if stop.code().is_some() {
            break;
        }
    }
    stop.code().map_or(worst, |code| code.max(worst))
}

async fn one(arguments: &Arguments, path: &Path, stop: &Stop) -> u8 {
    let opened = match open::open(path, arguments.choice.reports.as_deref(), false) {
        Ok(opened) => opened,
        Err(code) => return code,
    };
    let catalog = catalog::catalog();
    let (lease, loaded) = match Lease::take_experiment(opened.store.folder(), &opened.experiment.name)
        .and_then(|lease| Ok((lease, record::load(&opened.store)?)))
    {
        Ok(both) => both,
        Err(error) => return record_failure(&error),
    };
    opened.store.tidy();
    let options = arguments.choice.options(loaded.runs.len(), true);
    let planned = match plan::plan(&opened.experiment, &catalog, &record::history(&loaded, &crate::measure::host::facts()), &options) {
        Ok(planned) => planned,
        Err(problems) => return opened.problems(&problems),
    };
    talk::diagnostics(&opened.shown, &opened.text, &planned.warnings);
    let code = if planned.plan.trials.is_empty() && unfinished(&loaded, &planned, arguments).is_none() {
        talk::note(format!(
            "{}: up to date, {} (--fresh runs it again)",
            opened.experiment.name,
            talk::count(planned.plan.variants.len() - 1, "variant")
        ));
        present(&planned, &loaded)
    } else {
        match execute_plan(arguments, &opened, &planned, &loaded, stop).await {
            Ok(code) => code,
            Err(code) => return code,
        }
    };
    drop(lease);
    if code == exit::RECORD {
        return code;
    }
    let reported = assemble::write_report(&opened.store, &opened.experiment.name);
    match reported {
        Ok(written) => {
            written.answer();
            written.tell().max(code)
        }
        Err(failure) => failure.tell().max(code),
    }
}

/// Says why the record cannot be read or written, and gives the exit code.
pub fn record_failure(error: &record::RecordError) -> u8 {
    talk::error(error);
    if matches!(error, record::RecordError::Busy { .. }) { exit::MACHINE } else { exit::RECORD }
}

/// Titles, formulas and margins that changed since the last run: the report follows the manifest without running anything.
fn present(planned: &Planned<'_>, loaded: &Loaded) -> u8 {
    let Some(newest) = loaded.runs.last() else { return exit::OK };
    let now = saved(planned);
    let now = Presented { presentation: now.presentation, dictionary: now.dictionary, design: now.design };
    let before = newest.presented.clone().unwrap_or_else(|| Presented {
        presentation: newest.plan.presentation.clone(),
        dictionary: newest.plan.dictionary.clone(),
        design: newest.plan.design.clone(),
    });
    if now == before {
        return exit::OK;
    }
    match record::Journal::open(&newest.folder.journal()).and_then(|mut journal| journal.append(&Event::Presented(Box::new(now)))) {
        Ok(()) => exit::OK,
        Err(error) => record_failure(&error),
    }
}

/// The last run, when it was stopped on the way through this very plan on this very machine.
fn unfinished<'l>(loaded: &'l Loaded, planned: &Planned<'_>, arguments: &Arguments) -> Option<&'l RunRecord> {
    let newest = loaded.runs.last()?;
    let here = newest.started.as_ref().is_none_or(|started| crate::measure::host::facts().differences(&started.host).is_empty());
    (here && !newest.finished && newest.plan.digest == planned.plan.digest && !arguments.choice.fresh && arguments.choice.only.is_empty())
        .then_some(newest)
}

async fn execute_plan(arguments: &Arguments, opened: &open::Opened, planned: &Planned<'_>, loaded: &Loaded, stop: &Stop) -> Result<u8, u8> {
    let source = engines::Engines::new(arguments.engine.as_deref()).map_err(|error| {
        talk::error(error);
        exit::MACHINE
    })?;
    let variants = job::variants(opened, planned, &record::history(loaded, &crate::measure::host::facts()))?;
    let ready = tokio::select! {
        ready = job::check(&variants, &source) => ready?,
        () = stop.token.cancelled() => return Err(stop.code().unwrap_or(exit::INTERRUPTED)),
    };
    let id = new_id();
    let _alive = Lease::take(&id).map_err(|error| record_failure(&error))?;
    let name = folder_name(&crate::measure::host::facts().name, &id);
    let (folder, plan, failed_before) = match unfinished(loaded, planned, arguments) {
        Some(run) => {
            let (done, all) = (last_rows(run).len(), run.plan.trials.len());
            talk::note(format!("{}: going on with {} ({done} of {all} trials are there)", opened.experiment.name, run.folder.name()));
            let failed = last_rows(run).values().filter(|outcome| **outcome == Outcome::Failed).count();
            (run.folder.clone(), run.plan.clone(), failed)
        }
        None => {
            let plan = saved(planned);
            (opened.store.create_run(&name, &plan).map_err(|error| record_failure(&error))?, plan, 0)
        }
    };
    let job = job::job(opened, variants, &plan, &folder, id, arguments.keep)?;
    let primary = plan.presentation.metrics.iter().find(|m| m.primary).map_or_else(|| "wall".to_owned(), |m| m.name.clone());
    let mut show = Show::new(arguments.log_format, job.trials.len(), primary);
    let ended = execute::run(&job, &ready, &folder, &mut show, &stop.token).await.map_err(|error| job::failure(&error))?;
    let failed = ended.failed + failed_before;
    if ended.interrupted {
        Ok(stop.code().unwrap_or(exit::INTERRUPTED))
    } else if failed > 0 {
        talk::note(format!("{failed} of {} trials failed; `run` tries them again", plan.trials.len()));
        Ok(exit::FAILED)
    } else {
        Ok(exit::OK)
    }
}

/// How each trial of a run that has a row ended in the end.
fn last_rows(run: &RunRecord) -> BTreeMap<&str, Outcome> {
    run.rows.iter().map(|row| (row.trial.as_str(), row.outcome)).collect()
}

/// Six hexadecimal digits that no other run on this host has.
fn new_id() -> String {
    use std::hash::{BuildHasher, Hasher};
    let mut hasher = std::collections::hash_map::RandomState::new().build_hasher();
    hasher.write_u32(std::process::id());
    format!("{:06x}", hasher.finish() & 0xff_ffff)
}

/// `<date>-<host>-<id>`; the host's name cannot leave the folder.
fn folder_name(host: &str, id: &str) -> String {
    let host: String = host.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).take(40).collect();
    let date = record::today();
    format!("{date}-{host}-{id}")
}
