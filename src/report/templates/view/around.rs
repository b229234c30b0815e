//! What stands around the numbers: the trials, failures, hosts, settings and files.

use crate::report::templates::inline::Inline;
use serde::Serialize;

/// The trials as they were recorded.
#[derive(Debug, Clone, Default, Serialize)]
pub struct TrialTable {
    /// Whether there are several runs, so that the run must be named: `yes` or empty.
    pub runs: Inline,
    /// The metrics, each with its unit: the headings of the last columns.
    pub metrics: Vec<Inline>,
    /// The trials.
    pub rows: Vec<TrialLine>,
    /// How many more there are, and where; empty where none is.
    pub note: Inline,
}

/// One trial.
#[derive(Debug, Clone, Serialize)]
pub struct TrialLine {
    /// Its run.
    pub run: Inline,
    /// Its id.
    pub trial: Inline,
    /// Its variant.
    pub variant: Inline,
    /// Its block.
    pub block: Inline,
    /// How it ended, and whether another attempt replaced it.
    pub outcome: Inline,
    /// What makes it doubtful.
    pub tainted: Inline,
    /// One number per metric.
    pub values: Vec<Inline>,
}

/// A trial that failed.
#[derive(Debug, Clone, Serialize)]
pub struct FailedTrial {
    /// Its run.
    pub run: Inline,
    /// Its id.
    pub trial: Inline,
    /// Its variant.
    pub variant: Inline,
    /// The phase that it reached.
    pub phase: Inline,
    /// Why.
    pub reason: Inline,
    /// Whether another attempt replaced it, in words.
    pub replaced: Inline,
}

/// A host with its engines, and the runs that were made there.
#[derive(Debug, Clone, Serialize)]
pub struct Environment {
    /// The runs.
    pub runs: Inline,
    /// The facts.
    pub facts: Vec<Fact>,
}

/// A fact of an environment.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Fact {
    /// What it is.
    pub name: Inline,
    /// Its value.
    pub value: Inline,
}

/// A setting that was read back.
#[derive(Debug, Clone, Serialize)]
pub struct Setting {
    /// The workload or service.
    pub unit: Inline,
    /// The setting.
    pub setting: Inline,
    /// What was asked.
    pub asked: Inline,
    /// What was found.
    pub found: Inline,
    /// In how many trials.
    pub trials: Inline,
}

/// A data file beside the page.
#[derive(Debug, Clone, Serialize)]
pub struct DataFile {
    /// Its name and link.
    pub file: Inline,
    /// What it holds.
    pub about: Inline,
}
