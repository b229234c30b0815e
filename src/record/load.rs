//! Plans and journals of all runs, as they stand on disk.

use super::journal::read_journal;
use super::{RecordError, RunFolder, Store, io};
use crate::model::event::{Enough, Event, Looked, Presented, RunStarted, TrialRow};
use crate::model::experiment::Design;
use crate::model::facts::HostFacts;
use crate::model::plan::{SavedPlan, SavedVariant};
use crate::model::spec::TrialSpec;
use crate::plan::saved::FORMAT;
use fs_err as fs;
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
    /// Its circumstances each time that it went on after an interruption.
    pub resumed: Vec<RunStarted>,
    /// Images that were made ready: what was asked for, and the digest of what ran.
    pub images: Vec<(String, String)>,
    /// Its rows in the order of the journal.
    pub rows: Vec<TrialRow>,
    /// Warnings, each once.
    pub warnings: Vec<String>,
    /// The newest presentation, when it was changed after the run.
    pub presented: Option<Presented>,
    /// The last look at the spread, where the number of blocks is adaptive.
    pub looked: Option<Looked>,
    /// Whether every trial of its plan has a row, or a look said that there are enough.
    pub finished: bool,
}

impl Loaded {
    /// The number of blocks that the last look of an adaptive experiment said to be enough, if it still is by what is asked now.
    #[must_use]
    pub fn enough_blocks(&self, design: &Design) -> Option<u32> {
        let asked = design.adaptive?;
        let (run, looked) = self.runs.iter().rev().find_map(|run| Some((run, run.looked?)))?;
        let holds = match looked.enough? {
            Enough::Narrow => looked.half_width.is_some_and(|half| half <= asked.target),
            Enough::Budget => run.presented().design.adaptive.is_some_and(|then| then.budget == asked.budget),
            Enough::Last => true,
        };
        holds.then_some(looked.blocks)
    }
}

impl RunRecord {
    /// Every start, the first one first.
    pub fn starts(&self) -> impl DoubleEndedIterator<Item = &RunStarted> {
        self.started.iter().chain(&self.resumed)
    }

    /// The design that its rows are shown under: what was presented last, else its plan's.
    #[must_use]
    pub fn presented(&self) -> Presented {
        self.presented.clone().unwrap_or_else(|| self.plan.presented())
    }

    /// What a row ran, as far as its plan tells.
    pub(super) fn spec(&self, row: &TrialRow) -> Option<&TrialSpec> {
        let is_it = |variant: &&SavedVariant| variant.id == row.variant && variant.identity == row.identity;
        self.plan.variants.iter().find(is_it).map(|variant| &variant.spec)
    }
}

/// All runs of an experiment, the oldest first.
#[derive(Debug, Default)]
pub struct Loaded {
    /// The runs.
    pub runs: Vec<RunRecord>,
}

impl Loaded {
    /// The host of the newest run that has trials: those of other machines do not count beside them.
    #[must_use]
    pub fn newest_host(&self) -> Option<&HostFacts> {
        newest_host(&self.runs)
    }
}

pub(super) fn newest_host(runs: &[RunRecord]) -> Option<&HostFacts> {
    let with_trials = runs.iter().rev().filter(|run| !run.rows.is_empty());
    with_trials.filter_map(|run| run.starts().last()).map(|started| &started.host).next()
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

/// Loads a single run.
///
/// # Errors
/// When its plan or journal cannot be read or is damaged.
pub fn load_single(folder: RunFolder) -> Result<Loaded, RecordError> {
    Ok(Loaded { runs: vec![load_run(folder)?] })
}

fn load_run(folder: RunFolder) -> Result<RunRecord, RecordError> {
    let path = folder.path().join("plan.json");
    let text = fs::read(&path).map_err(io("read the plan"))?;
    let plan = parse_plan(path, &text)?;
    let mut run = RunRecord {
        folder,
        plan,
        started: None,
        resumed: Vec::new(),
        images: Vec::new(),
        rows: Vec::new(),
        warnings: Vec::new(),
        presented: None,
        looked: None,
        finished: false,
    };
    for event in read_journal(&run.folder.journal())? {
        match event {
            Event::RunStarted(started) => match run.started {
                None => run.started = Some(*started),
                Some(_) => run.resumed.push(*started),
            },
            Event::ImageReady { image, digest, .. } if !run.images.contains(&(image.clone(), digest.clone())) => {
                run.images.push((image, digest))
            }
            Event::TrialFinished(row) => run.rows.push(*row),
            Event::Warned { message, .. } if !run.warnings.contains(&message) => run.warnings.push(message),
            Event::Presented(presented) => run.presented = Some(completed(*presented, &run.plan)),
            Event::Looked(looked) => run.looked = Some(looked),
            Event::RunFinished { .. } => run.finished = true,
            Event::TrialStarted { .. } | Event::RunInterrupted { .. } | Event::Warned { .. } | Event::ImageReady { .. } => {}
        }
    }
    Ok(run)
}

/// Old journals present titles, metrics and margins only: the rest is the plan's.
fn completed(presented: Presented, plan: &SavedPlan) -> Presented {
    if presented.variants.is_empty() {
        let Presented { presentation, dictionary, design, .. } = presented;
        Presented { presentation, dictionary, design, ..plan.presented() }
    } else {
        presented
    }
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
