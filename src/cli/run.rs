//! `run`: runs what is missing, records it, and writes the report.

use super::looks::Looks;
use super::plan::Choice;
use super::show::{LogFormat, Show};
use super::signals::{self, Stop};
use super::{assemble, catalog, engines, exit, job, open, talk, turn};
use crate::execute::{self, Ready};
use crate::model::event::{Event, Presented};
use crate::model::facts::{EngineFacts, HostFacts, engine_differences};
use crate::model::outcome::Outcome;
use crate::model::plan::Reason;
use crate::plan::saved::saved;
use crate::plan::{self, History, Planned};
use crate::record::{self, Lease, Loaded, RunRecord, Turn};
use std::path::{Path, PathBuf};

/// What a signal does here.
const STOPPING: &str = "the running trial is torn down, finished ones are kept";

/// Run what is missing: new, stale, failed and unfinished trials; then write the report.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Manifests, folders of manifests, or names below experiments/.
    #[arg(required = true, value_name = "EXPERIMENT")]
    experiments: Vec<String>,
    #[command(flatten)]
    choice: Choice,
    /// Leave ended containers for debugging; `shakedown clean` removes them. Private engines go with theirs.
    #[arg(long)]
    keep: bool,
    #[command(flatten)]
    others: turn::Others,
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
    let stop = match signals::watch(STOPPING) {
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
    let lease = match Lease::take_experiment(opened.store.folder(), &opened.experiment.name) {
        Ok(lease) => lease,
        Err(error) => return record_failure(&error),
    };
    opened.store.tidy();
    let code = match measure(arguments, &opened, stop).await {
        Ok(code) => code,
        Err(code) => return code,
    };
    drop(lease);
    if code == exit::RECORD {
        return code;
    }
    let reported = assemble::write_report(&opened.store, &opened.experiment.name, false);
    match reported {
        Ok(written) => {
            written.answer();
            written.tell().max(code)
        }
        Err(failure) => failure.tell().max(code),
    }
}

/// Runs what is missing. A run that was interrupted is finished first; it may have been planned for a part only (`--only`), so
/// what is missing then runs after it.
///
/// # Errors
/// The exit code, after saying why there is nothing new to report.
async fn measure(arguments: &Arguments, opened: &open::Opened, stop: &Stop) -> Result<u8, u8> {
    let catalog = catalog::catalog();
    let host = crate::measure::host::facts();
    let mut went_on = false;
    loop {
        let loaded = record::load(&opened.store).map_err(|error| record_failure(&error))?;
        let options = arguments.choice.options(&loaded, &opened.experiment.design, true);
        let plan = |engines: &[EngineFacts]| {
            let history = record::history(&loaded, &host, engines);
            let planned = plan::plan(&opened.experiment, &catalog, &history, &options).map_err(|problems| opened.problems(&problems))?;
            Ok::<_, u8>((planned, history))
        };
        let before = |planned: &Planned<'_>, engines: &[EngineFacts]| {
            loaded.runs.last().filter(|run| !went_on && fits(run, planned, arguments, &host, engines))
        };
        let (planned, history) = plan(&[])?;
        if !went_on {
            talk::diagnostics(&opened.shown, &opened.text, &planned.warnings);
        }
        let unfinished = before(&planned, &[]);
        if planned.plan.trials.is_empty() && unfinished.is_none() {
            if !went_on {
                let variants = talk::count(planned.plan.variants.len() - 1, "variant");
                talk::note(format!("{}: up to date, {variants} (--fresh runs it again)", opened.experiment.name));
            }
            return Ok(present(&planned, &loaded));
        }
        let ready = reach(arguments, opened, &planned, &history, stop).await?;
        // Only now it is known whether the engines are still those that measured before.
        let (planned, history) = plan(&ready.facts)?;
        let before = before(&planned, &ready.facts);
        if let (Some(run), None) = (unfinished, before) {
            let differences = run.starts().map(|s| engine_differences(&ready.facts, &s.engines)).find(|found| !found.is_empty());
            let differences = differences.unwrap_or_default().join(", ");
            talk::note(format!("{}: {} stays unfinished ({differences})", opened.experiment.name, run.folder.name()));
        }
        let code = match before {
            Some(run) => match present(&planned, &loaded) {
                exit::OK => execute_plan(arguments, opened, &planned, &history, &ready, Some(run), stop).await?,
                code => return Err(code),
            },
            None => execute_plan(arguments, opened, &planned, &history, &ready, None, stop).await?,
        };
        if before.is_none() || code != exit::OK {
            return Ok(code);
        }
        went_on = true;
    }
}

/// Says why the record cannot be read or written, and gives the exit code.
pub fn record_failure(error: &record::RecordError) -> u8 {
    talk::error(error);
    if matches!(error, record::RecordError::Busy { .. } | record::RecordError::HostBusy { .. }) { exit::MACHINE } else { exit::RECORD }
}

/// What changed in the manifest since the last run and repeats no trial: the report follows it without running anything.
fn present(planned: &Planned<'_>, loaded: &Loaded) -> u8 {
    let Some(newest) = loaded.runs.last() else { return exit::OK };
    let now = saved(planned).presented();
    if as_recorded(&now) == as_recorded(&newest.presented()) {
        return exit::OK;
    }
    match record::Journal::open(&newest.folder.journal()).and_then(|mut journal| journal.append(&Event::Presented(Box::new(now)))) {
        Ok(()) => exit::OK,
        Err(error) => record_failure(&error),
    }
}

/// Whether the manifest shows the record otherwise than the newest run says. What parsers can yield grows with the program and is none
/// of the manifest's words.
pub(super) fn shows_otherwise(planned: &Planned<'_>, loaded: &Loaded) -> bool {
    let Some(newest) = loaded.runs.last().map(RunRecord::presented) else { return false };
    let now = Presented { dictionary: newest.dictionary.clone(), ..saved(planned).presented() };
    as_recorded(&now) != as_recorded(&newest)
}

/// What of a design the record keeps, except why each variant is in the plan: that is another reason after every run.
fn as_recorded(presented: &Presented) -> serde_json::Value {
    let mut presented = presented.clone();
    presented.variants.iter_mut().for_each(|variant| variant.reason = Reason::UpToDate);
    serde_json::to_value(presented).expect("a design is plain data")
}

/// Whether this run, the last one, was stopped on the way through this very plan on this very machine and these engines. Without
/// engines it is not known yet which ones there are.
fn fits(run: &RunRecord, planned: &Planned<'_>, arguments: &Arguments, host: &HostFacts, engines: &[EngineFacts]) -> bool {
    let here = run.starts().all(|s| host.differences(&s.host).is_empty() && engine_differences(engines, &s.engines).is_empty());
    here && !run.finished && run.plan.digest == planned.plan.digest && !arguments.choice.fresh && arguments.choice.only.is_empty()
}

/// The engines of a plan, once they answered and can run all of it.
async fn reach(arguments: &Arguments, opened: &open::Opened, planned: &Planned<'_>, history: &History, stop: &Stop) -> Result<Ready, u8> {
    let source = engines::Engines::new(arguments.engine.as_deref()).map_err(|error| {
        talk::error(error);
        exit::MACHINE
    })?;
    let variants = job::variants(opened, planned, history)?;
    tokio::select! {
        ready = job::check(&variants, std::sync::Arc::new(source)) => ready,
        () = stop.token.cancelled() => Err(stop.code().unwrap_or(exit::INTERRUPTED)),
    }
}

/// Runs a plan in a new folder, or what an interrupted run has `before` its end.
async fn execute_plan(
    arguments: &Arguments,
    opened: &open::Opened,
    planned: &Planned<'_>,
    history: &History,
    ready: &Ready,
    before: Option<&RunRecord>,
    stop: &Stop,
) -> Result<u8, u8> {
    let id = turn::new_id();
    let _turn = turn(arguments, &opened.experiment.name, stop)?;
    let _alive = Lease::take(&id).map_err(|error| record_failure(&error))?;
    let fresh = saved(planned);
    let primary = fresh.presentation.metrics.iter().find(|m| m.primary).map_or_else(|| "wall".to_owned(), |m| m.name.clone());
    let plan = before.map_or(fresh, |run| run.plan.clone());
    let mut job = job::job(opened, job::variants(opened, planned, history)?, &plan, before, id.clone(), arguments.keep);
    if arguments.others.together || engines::is_scripted(arguments.engine.as_deref()) {
        // Who measures beside others does not wait until they are done; a scripted engine measures nothing.
        job.observe.idle_gate = None;
    }
    let (folder, failed_before) = match before {
        Some(run) => {
            let (left, all) = (job.trials.len(), plan.trials.len());
            talk::note(format!(
                "{}: going on with {} ({} of {all} trials are there)",
                opened.experiment.name,
                run.folder.name(),
                all - left
            ));
            let failed =
                job::last_rows(run).values().filter(|row| row.outcome == Outcome::Failed && row.is_final(plan.limits.attempts)).count();
            (run.folder.clone(), failed)
        }
        None => {
            let name = folder_name(&job.host.name, &id);
            (opened.store.create_run(&name, &plan).map_err(|error| record_failure(&error))?, 0)
        }
    };
    let show = Show::new(arguments.log_format, job.trials.len(), primary, opened.experiment.design.min_window);
    let adaptive = opened.experiment.design.adaptive.filter(|_| arguments.choice.asked_blocks().is_none());
    let mut watch = Looks::new(show, &opened.store, &opened.experiment.name, adaptive);
    let ended = execute::run(&job, ready, &folder, &mut watch, &stop.token).await.map_err(|error| job::failure(&error))?;
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

/// The host for ourselves; none of it with a scripted engine, which measures nothing.
fn turn(arguments: &Arguments, experiment: &str, stop: &Stop) -> Result<Option<Turn>, u8> {
    if engines::is_scripted(arguments.engine.as_deref()) { Ok(None) } else { turn::take(&arguments.others, experiment, stop) }
}

/// `<date>-<host>-<id>`; the host's name cannot leave the folder.
fn folder_name(host: &str, id: &str) -> String {
    let host: String = host.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).take(40).collect();
    let date = record::today();
    format!("{date}-{host}-{id}")
}
