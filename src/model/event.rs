//! The journal's lines: what happened in a run, in order. Display, resume and report all read this one stream.

use super::experiment::{Design, MetricDecl, Presentation};
use super::facts::{EngineFacts, HostFacts};
use super::hygiene::Reading;
use super::metric::Observation;
use super::observe::SeriesRecord;
use super::outcome::{Failure, Outcome};
use super::plan::{FactorSummary, SavedVariant};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Version of the journal's form.
pub const JOURNAL_FORMAT: u32 = 1;

/// Taint of a trial of which a window was too short to say anything. No row of a journal needs it: it follows from the row and the
/// design, see [`TrialRow::is_too_short`].
pub const TOO_SHORT: &str = "too-short";

/// Taint of a trial of which a limit that was asked for was never seen in force.
pub const UNATTESTED: &str = "unattested";

/// Taint of a trial during which the engine's clock was set.
pub const CLOCK_STEP: &str = "clock-step";

/// One line of the journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Event {
    /// The run began, or went on after an interruption.
    RunStarted(Box<RunStarted>),
    /// An image is ready on the engine.
    ImageReady {
        /// What was asked for.
        image: String,
        /// Digest of what runs.
        digest: String,
        /// Seconds that it took.
        seconds: f64,
    },
    /// A trial began; without a later `trial-finished` it counts as never run.
    TrialStarted {
        /// The trial.
        trial: String,
        /// Attempt, from 1.
        attempt: u32,
        /// UTC, RFC 3339.
        at: String,
    },
    /// A trial ended.
    TrialFinished(Box<TrialRow>),
    /// Something that a reader of the results should know.
    Warned {
        /// A documented keyword.
        kind: String,
        /// One sentence.
        message: String,
    },
    /// The manifest changed after the run in what repeats no trial, such as titles or the baseline: the report follows it.
    Presented(Box<Presented>),
    /// A look at the spread after a block, where the number of blocks is adaptive.
    Looked(Looked),
    /// The run ended, and every trial of its plan has a row or a look said that there are enough.
    RunFinished {
        /// UTC, RFC 3339.
        at: String,
    },
    /// The run was stopped; it can go on.
    RunInterrupted {
        /// UTC, RFC 3339.
        at: String,
        /// `signal`, or what went wrong.
        by: String,
    },
}

/// What a look at the spread showed. No effect enters it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Looked {
    /// Blocks that every variant has, those of earlier runs included.
    pub blocks: u32,
    /// Half the width of the interval of a ratio by the common spread of all variants, as a fraction; none without variation.
    pub half_width: Option<f64>,
    /// Why there are enough; none when the run goes on.
    pub enough: Option<Enough>,
}

/// Why a run with an adaptive number of blocks ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Enough {
    /// The spread is as small as was asked.
    Narrow,
    /// The time is over.
    Budget,
    /// It was the last look.
    Last,
}

/// The design that a report shows rows under: all of a [`super::plan::SavedPlan`] that repeats no trial by itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Presented {
    /// The factors with their levels' texts.
    #[serde(default)]
    pub factors: Vec<FactorSummary>,
    /// Variants with what they run, the A/A copy last. Empty in old journals, which stand for the plan's factors, variants and baseline.
    #[serde(default)]
    pub variants: Vec<SavedVariant>,
    /// Index of the baseline.
    #[serde(default)]
    pub baseline: usize,
    /// Titles and declared metrics.
    pub presentation: Presentation,
    /// What the parsers can yield.
    pub dictionary: Vec<MetricDecl>,
    /// Margins and thresholds.
    pub design: Design,
}

/// The circumstances of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunStarted {
    /// Version of the journal's form.
    pub format: u32,
    /// The run's id.
    pub run: String,
    /// The experiment.
    pub experiment: String,
    /// Digest of the plan that it follows.
    pub digest: String,
    /// UTC, RFC 3339.
    pub at: String,
    /// Version of shakedown.
    pub version: String,
    /// The host.
    pub host: HostFacts,
    /// The engines, native last; none that was not used.
    pub engines: Vec<EngineFacts>,
}

/// How one trial ended: one row of `trials.csv`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrialRow {
    /// The trial's id in its run; that of a primer is its own, see [`super::plan::primer_id`].
    pub trial: String,
    /// Its variant's id; the A/A copy ends in `#aa`.
    pub variant: String,
    /// Digest of what it ran.
    pub identity: String,
    /// Block, from 1.
    pub block: u32,
    /// Position in the block, from 1.
    pub position: u32,
    /// Which start of its private engine hosted it, from 1, see [`Design::engine_start`]; none on an engine that runs anyway.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub engine_start: Option<u32>,
    /// Attempt, from 1.
    pub attempt: u32,
    /// UTC, RFC 3339: the start of the trial.
    pub at: String,
    /// Seconds of the whole trial, set-up and teardown included.
    pub seconds: f64,
    /// How it ended.
    pub outcome: Outcome,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub failure: Option<Failure>,
    /// Why a sceptic would leave it out, such as `too-short`; it still counts.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub taints: Vec<String>,
    /// What was measured; empty when it failed.
    pub metrics: Vec<Observation>,
    /// What was asked and what the kernel or the engine said.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub attested: Vec<Attested>,
    /// What was read of the circumstances; whether that is fine follows from the design.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub readings: Vec<Reading>,
    /// Its samples, where it was long enough for some.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub series: Option<SeriesRecord>,
    /// Each workload's output.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub outputs: Vec<OutputRecord>,
    /// What the parsers want known.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub problems: Vec<String>,
}

impl TrialRow {
    /// Whether it is a primer: it stands for no trial of the plan, and neither replaces a row nor is replaced.
    #[must_use]
    pub fn is_primer(&self) -> bool {
        self.outcome == Outcome::Primer
    }

    /// Whether nothing is left to try: it ended well, it failed otherwise than by the engine, or it was tried `attempts` times.
    #[must_use]
    pub fn is_final(&self, attempts: u32) -> bool {
        self.attempt >= attempts || !self.failure.as_ref().is_some_and(Failure::is_of_the_engine)
    }

    /// Whether its shortest window was below `limit`; one without a measured window was too short to have one. A failed trial
    /// never is: it has no numbers to doubt.
    #[must_use]
    pub fn is_too_short(&self, limit: Duration) -> bool {
        let walls = self.metrics.iter().filter(|metric| metric.name == "wall" || metric.name.ends_with(".wall"));
        let shortest = walls.map(|wall| wall.value).reduce(f64::min).unwrap_or(0.0);
        self.outcome == Outcome::Ok && shortest < limit.as_secs_f64()
    }
}

/// One setting that was read back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attested {
    /// The workload or service.
    pub unit: String,
    /// The setting, such as `cpu.quota`.
    pub setting: String,
    /// What was asked.
    pub asked: String,
    /// What was read; none when it could not be observed.
    pub found: Option<String>,
    /// Where it was read.
    pub source: String,
}

impl Attested {
    /// Whether something else was read than was asked.
    #[must_use]
    pub fn differs(&self) -> bool {
        self.found.as_ref().is_some_and(|found| *found != self.asked)
    }
}

/// A workload's output: small text stands here, more is a compressed file below `raw/`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutputRecord {
    /// The workload.
    pub unit: String,
    /// `stdout` or `stderr`.
    pub stream: String,
    /// Bytes that the command wrote.
    pub bytes: u64,
    /// The text, when it is short.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub text: Option<String>,
    /// The file, relative to the run's folder, when it is not.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub file: Option<String>,
    /// Whether bytes were left out because there were too many.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub truncated: bool,
}
