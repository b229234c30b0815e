//! A plan: which variants, why, and every trial in order. Made before anything runs, so that it can be shown, saved and resumed.

use super::experiment::{Design, MetricDecl, PhaseLimits, Presentation};
use super::spec::{EngineSpec, TrialSpec};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The suffix of the hidden second copy of the baseline.
pub const AA_SUFFIX: &str = "#aa";

/// The id of the primer of a trial: what is measured before it, right after its engine was started, and thrown away.
#[must_use]
pub fn primer_id(trial: &str) -> String {
    format!("{trial}-primer")
}

/// Which start of its private engine hosts a trial of `block` in a run of `blocks`: as the design says; but where all trials share one
/// engine and nothing is declared, nothing is compared between its starts, and one serves the whole run.
#[must_use]
pub fn engine_start<'e>(design: &Design, mut engines: impl Iterator<Item = &'e EngineSpec>, block: u32, blocks: u32) -> u32 {
    let first = engines.next();
    let compared = engines.any(|engine| Some(engine) != first);
    if compared || design.engine_starts.is_some() { design.engine_start(block, blocks) } else { 1 }
}

/// Whether the A/A copy of the baseline has an engine of its own: where engines are compared and that of the `baseline` is started for
/// it, the copy must differ from it by the noise of a start, as every other variant does. `engines` are those of all variants.
#[must_use]
pub fn copy_has_its_own_engine<'e>(baseline: &EngineSpec, engines: impl IntoIterator<Item = &'e EngineSpec>) -> bool {
    baseline.private.is_some() && engines.into_iter().any(|engine| engine != baseline)
}

/// An ordered list of trials over variants.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// The experiment's name.
    pub experiment: String,
    /// Digest of identity and protocol: 16 hexadecimal digits.
    pub digest: String,
    /// The seed of the order.
    pub seed: u64,
    /// The factors with their levels' texts.
    pub factors: Vec<FactorSummary>,
    /// The variants in product order; the A/A copy of the baseline is the last one.
    pub variants: Vec<Variant>,
    /// Index of the baseline in `variants`.
    pub baseline: usize,
    /// The trials in order.
    pub trials: Vec<Trial>,
    /// How many blocks the trials span.
    pub blocks: u32,
    /// Which start of its private engine hosts the trials of each block, from 1; empty when no variant has a private engine.
    pub engine_starts: Vec<u32>,
}

impl Plan {
    /// Which start of its private engine hosts a trial; none on an engine that runs anyway.
    #[must_use]
    pub fn engine_start(&self, trial: &Trial) -> Option<u32> {
        let started = self.variants[trial.variant as usize].private;
        self.engine_starts.get(trial.block as usize - 1).copied().filter(|_| started)
    }
}

/// A factor's name and its levels as written.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FactorSummary {
    /// The name.
    pub name: Arc<str>,
    /// The levels.
    pub levels: Vec<Arc<str>>,
}

/// One combination of levels.
#[derive(Debug, Clone, PartialEq)]
pub struct Variant {
    /// `factor=level` pairs sorted by factor name, joined by commas; `all` without factors.
    pub id: Box<str>,
    /// Index of the level of each factor.
    pub levels: Box<[u32]>,
    /// Digest of what it runs: 32 hexadecimal digits.
    pub identity: Box<str>,
    /// Why it is in this plan, or why it needs nothing.
    pub reason: Reason,
    /// Whether its engine is a private one, started for it.
    pub private: bool,
}

/// Why a variant runs, or does not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// It was never run.
    New,
    /// What it runs has changed: `path: old -> new`.
    Stale(Vec<String>),
    /// It was measured on another machine or engine or with another image only; those numbers cannot stand beside new ones.
    Elsewhere(String),
    /// Some trials failed.
    FailedBefore(String),
    /// It has fewer good blocks than the design asks for.
    MoreBlocks {
        /// Blocks so far in which it and the baseline ended well.
        have: u32,
        /// Blocks of the design.
        want: u32,
    },
    /// It is measured again beside the others, as their baseline.
    Baseline,
    /// `--fresh` was asked for.
    Fresh,
    /// Nothing to do.
    UpToDate,
}

impl std::fmt::Display for Reason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::New => f.write_str("new"),
            Self::Stale(changes) => write!(f, "stale ({})", changes.join("; ")),
            Self::Elsewhere(difference) => write!(f, "measured under other circumstances ({difference})"),
            Self::FailedBefore(why) => write!(f, "failed before ({why})"),
            Self::MoreBlocks { have, want } => write!(f, "more blocks ({have} of {want})"),
            Self::Baseline => f.write_str("baseline, measured again beside the others"),
            Self::Fresh => f.write_str("fresh (asked for)"),
            Self::UpToDate => f.write_str("up to date"),
        }
    }
}

/// One execution of one variant; small, because a plan may have a million.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Trial {
    /// Index into [`Plan::variants`].
    pub variant: u32,
    /// Block, from 1.
    pub block: u32,
    /// Position within the block, from 1.
    pub position: u32,
    /// Batch within the plan, from 1: trials of one block that share an engine.
    pub batch: u32,
}

impl Trial {
    /// The trial's id, unique in its run: `b2p5` is position 5 of block 2.
    #[must_use]
    pub fn id(&self) -> String {
        format!("b{}p{}", self.block, self.position)
    }
}

/// What earlier runs have of one variant, the input of [`Reason`].
#[derive(Debug, Clone, PartialEq, Default)]
pub struct VariantHistory {
    /// Identity of its newest trials.
    pub identity: String,
    /// What it ran, to say what changed.
    pub spec: serde_json::Value,
    /// Run and block of each good trial with that identity. Only a block that the baseline has, too, makes a pair.
    pub good: BTreeSet<(u32, u32)>,
    /// The reason of a trial that failed and was not made good since.
    pub failure: Option<String>,
    /// Median duration of a trial in seconds, everything included.
    pub seconds: Option<f64>,
    /// In what the machine, the engine or the image of the only trials there are differs from today's; then all the other fields
    /// are empty.
    pub elsewhere: Option<String>,
}

/// The saved form of a plan with all that a report needs: `plan.json` of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SavedPlan {
    /// Version of this form.
    pub format: u32,
    /// The experiment's name.
    pub experiment: String,
    /// See [`Plan::digest`].
    pub digest: String,
    /// See [`Plan::seed`].
    pub seed: u64,
    /// See [`Plan::factors`].
    pub factors: Vec<FactorSummary>,
    /// Variants with what they run.
    pub variants: Vec<SavedVariant>,
    /// Index of the baseline.
    pub baseline: usize,
    /// Block, position, batch and variant index of each trial, in order.
    pub trials: Vec<[u32; 4]>,
    /// The protocol.
    pub design: Design,
    /// Limits of the phases.
    pub limits: PhaseLimits,
    /// Titles and declared metrics.
    pub presentation: Presentation,
    /// What the variants' parsers can yield, with units and directions.
    pub dictionary: Vec<MetricDecl>,
}

impl SavedPlan {
    /// How many blocks its trials span.
    #[must_use]
    pub fn blocks(&self) -> u32 {
        self.trials.iter().map(|[block, ..]| *block).max().unwrap_or(0)
    }

    /// The design that rows are shown under.
    #[must_use]
    pub fn presented(&self) -> super::event::Presented {
        super::event::Presented {
            factors: self.factors.clone(),
            variants: self.variants.clone(),
            baseline: self.baseline,
            presentation: self.presentation.clone(),
            dictionary: self.dictionary.clone(),
            design: self.design.clone(),
        }
    }
}

/// A variant with what it runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SavedVariant {
    /// See [`Variant::id`].
    pub id: String,
    /// Index of the level of each factor.
    pub levels: Vec<u32>,
    /// See [`Variant::identity`].
    pub identity: String,
    /// Why it was in the plan.
    pub reason: Reason,
    /// What it runs, secrets redacted.
    pub spec: TrialSpec,
    /// `vars` of this variant, for derived metrics.
    pub vars: serde_json::Map<String, serde_json::Value>,
}

impl SavedVariant {
    /// Whether it is the hidden second copy of the baseline.
    #[must_use]
    pub fn is_copy(&self) -> bool {
        self.id.ends_with(AA_SUFFIX)
    }
}
