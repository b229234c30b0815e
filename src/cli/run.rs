//! `run`: runs what is missing, records it, and writes the report.

use super::plan::Choice;
use super::show::{LogFormat, Show};
use super::{assemble, catalog, engines, exit, open, signals, talk};
use crate::engine::control;
use crate::execute::{self, ExecuteError, Job, JobVariant, Scheduled};
use crate::model::event::{Event, Presented};
use crate::model::plan::{AA_SUFFIX, SavedPlan};
use crate::plan::saved::saved;
use crate::plan::{self, Planned};
use crate::record::{self, Lease, Loaded, RunFolder};
use std::path::Path;
use std::sync::atomic::Ordering;
use tokio_util::sync::CancellationToken;

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
    let mut worst = exit::OK;
    for path in paths {
        let code = runtime.block_on(one(arguments, &path));
        worst = worst.max(code);
        if code >= exit::INTERRUPTED {
            break;
        }
    }
    runtime.shutdown_timeout(std::time::Duration::from_secs(2));
    worst
}

async fn one(arguments: &Arguments, path: &Path) -> u8 {
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
    let options = arguments.choice.options(loaded.runs.len(), true);
    let planned = match plan::plan(&opened.experiment, &catalog, &record::history(&loaded), &options) {
        Ok(planned) => planned,
        Err(problems) => return opened.problems(&problems),
    };
    talk::diagnostics(&opened.shown, &opened.text, &planned.warnings);
    let code = if planned.plan.trials.is_empty() && unfinished(&loaded, &planned, arguments).is_none() {
        talk::note(format!(
            "{}: up to date, {} variants (--fresh runs them again)",
            opened.experiment.name,
            planned.plan.variants.len() - 1
        ));
        present(&planned, &loaded)
    } else {
        match execute_plan(arguments, &opened, &planned, &loaded).await {
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
            written.tell();
            code
        }
        Err(failure) => failure.tell().max(code),
    }
}

fn record_failure(error: &record::RecordError) -> u8 {
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

/// The last run, when it was stopped on the way through this very plan.
fn unfinished<'l>(loaded: &'l Loaded, planned: &Planned<'_>, arguments: &Arguments) -> Option<&'l record::RunRecord> {
    let newest = loaded.runs.last()?;
    (!newest.finished && newest.plan.digest == planned.plan.digest && !arguments.choice.fresh && arguments.choice.only.is_empty())
        .then_some(newest)
}

async fn execute_plan(arguments: &Arguments, opened: &open::Opened, planned: &Planned<'_>, loaded: &Loaded) -> Result<u8, u8> {
    let layout = control::layout().unwrap_or_default();
    let host = crate::measure::host::facts();
    let source = engines::Engines::new(arguments.engine.as_deref()).map_err(|error| {
        talk::error(error);
        exit::MACHINE
    })?;
    let id = new_id();
    let _alive = Lease::take(&id).map_err(|error| record_failure(&error))?;
    let (folder, plan) = match unfinished(loaded, planned, arguments) {
        Some(run) => {
            let done = run.rows.len();
            talk::note(format!(
                "{}: going on with {} ({done} of {} trials are there)",
                opened.experiment.name,
                run.folder.name(),
                run.plan.trials.len()
            ));
            (run.folder.clone(), run.plan.clone())
        }
        None => {
            let plan = saved(planned);
            let name = folder_name(&host.name, &id);
            (opened.store.create_run(&name, &plan).map_err(|error| record_failure(&error))?, plan)
        }
    };
    let job = job(arguments, opened, planned, &plan, &folder, id, host, layout)?;
    let primary = plan.presentation.metrics.iter().find(|m| m.primary).map_or_else(|| "wall".to_owned(), |m| m.name.clone());
    let mut show = Show::new(arguments.log_format, job.trials.len(), primary);
    let token = CancellationToken::new();
    let stopped = signals::watch(token.clone()).map_err(|failure| {
        talk::error(format!("watch for signals: {failure}"));
        exit::MACHINE
    })?;
    match execute::run(&job, &source, &folder, &mut show, &token).await {
        Ok(ended) if ended.interrupted => Ok(stopped.load(Ordering::SeqCst)),
        Ok(ended) if ended.failed > 0 => {
            talk::note(format!("{} of {} trials failed; `run` tries them again", ended.failed, job.trials.len()));
            Ok(exit::FAILED)
        }
        Ok(_) => Ok(exit::OK),
        Err(error) => {
            talk::error(&error);
            Err(match error {
                ExecuteError::Record(_) => exit::RECORD,
                ExecuteError::Engine(_) | ExecuteError::Unsupported(_) | ExecuteError::EngineGone { .. } => exit::MACHINE,
            })
        }
    }
}

/// The trials of the plan that have no row yet.
#[expect(clippy::too_many_arguments, reason = "each is a different thing that the job owns from here on")]
fn job(
    arguments: &Arguments,
    opened: &open::Opened,
    planned: &Planned<'_>,
    plan: &SavedPlan,
    folder: &RunFolder,
    run: String,
    host: crate::model::facts::HostFacts,
    layout: crate::model::cgroup::CgroupLayout,
) -> Result<Job, u8> {
    let rows: std::collections::HashSet<String> = record::read_journal(&folder.journal())
        .map_err(|error| record_failure(&error))?
        .into_iter()
        .filter_map(|event| if let Event::TrialFinished(row) = event { Some(row.trial) } else { None })
        .collect();
    let history = record::history(&record::load(&opened.store).map_err(|error| record_failure(&error))?);
    let mut variants = Vec::with_capacity(plan.variants.len());
    for variant in &plan.variants {
        let resolved =
            planned.binder.resolve(&variant.levels).map_err(|problems| opened.problems(&crate::model::experiment::Problems(problems)))?;
        let seconds = history.get(variant.id.trim_end_matches(AA_SUFFIX)).and_then(|past| past.seconds);
        variants.push(JobVariant { id: variant.id.clone(), identity: variant.identity.clone(), spec: resolved.spec, seconds });
    }
    let scheduled = |[block, position, _, variant]: &[u32; 4]| Scheduled {
        id: format!("b{block}p{position}"),
        variant: *variant as usize,
        block: *block,
        position: *position,
    };
    Ok(Job {
        run,
        experiment: opened.experiment.name.clone(),
        digest: plan.digest.clone(),
        folder: opened.experiment.folder.clone(),
        variants,
        trials: plan.trials.iter().map(scheduled).filter(|trial| !rows.contains(&trial.id)).collect(),
        limits: opened.experiment.limits.clone(),
        design: opened.experiment.design.clone(),
        host,
        layout,
        keep: arguments.keep,
    })
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
