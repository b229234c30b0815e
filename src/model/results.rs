//! Recorded rows joined with the design they belong to: the input of analysis and report.

use super::event::{Looked, RunStarted, TrialRow};
use super::experiment::{Design, Presentation};
use super::hygiene::{Reading, State};
use super::metric::{Better, Unit};
use super::observe::Series;
use super::outcome::Outcome;
use super::plan::{FactorSummary, SavedVariant};
use std::collections::BTreeMap;

/// What an experiment has recorded, over all its runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Results {
    /// The experiment's name.
    pub experiment: String,
    /// Titles and declared metrics.
    pub presentation: Presentation,
    /// The protocol of the newest run.
    pub design: Design,
    /// Factors of the newest run.
    pub factors: Vec<FactorSummary>,
    /// Variants of the newest run, the A/A copy last.
    pub variants: Vec<SavedVariant>,
    /// Index of the baseline in `variants`.
    pub baseline: usize,
    /// The runs in order of their start, with digest and seed of their plans.
    pub runs: Vec<RunSummary>,
    /// All rows in the order in which they were recorded.
    pub rows: Vec<ResultRow>,
    /// Every metric that any row has, declared ones first, with units and directions.
    pub metrics: Vec<MetricColumn>,
    /// Warnings of the runs, each once.
    pub warnings: Vec<String>,
    /// The samples of one trial per variant, where there are some: index into `rows`, and what was sampled.
    pub series: Vec<(usize, Series)>,
}

/// One run.
#[derive(Debug, Clone, PartialEq)]
pub struct RunSummary {
    /// The name of its folder.
    pub run: String,
    /// The seed of its order.
    pub seed: u64,
    /// Blocks that it planned.
    pub blocks: u32,
    /// Images that were made ready: what was asked for, and the digest of what ran.
    pub images: Vec<(String, String)>,
    /// Its circumstances.
    pub started: RunStarted,
    /// The last look at the spread, where the number of blocks is adaptive.
    pub looked: Option<Looked>,
    /// Whether every trial of its plan has a row, or a look said that there are enough.
    pub finished: bool,
}

/// One row with its run.
#[derive(Debug, Clone, PartialEq)]
pub struct ResultRow {
    /// Index into [`Results::runs`].
    pub run: usize,
    /// Index into [`Results::variants`]; none when the design no longer has the variant, or what it runs has changed.
    pub variant: Option<usize>,
    /// Whether a later attempt replaced it.
    pub superseded: bool,
    /// The row. Derived metrics have been added to its observations, and what its readings mean to its taints.
    pub row: TrialRow,
    /// What each of its readings means, in their order.
    pub states: Vec<State>,
}

impl Results {
    /// How many variants there are, the A/A copy apart.
    #[must_use]
    pub fn compared(&self) -> usize {
        self.variants.iter().filter(|variant| !variant.is_copy()).count()
    }

    /// The readings of the trials that count, each with what it means, by check.
    #[must_use]
    pub fn judged_by_check(&self) -> BTreeMap<&str, Vec<(&Reading, State)>> {
        let mut found: BTreeMap<&str, Vec<(&Reading, State)>> = BTreeMap::new();
        for (reading, state) in self.rows.iter().filter(|row| row.counts().is_some()).flat_map(ResultRow::judged) {
            found.entry(&reading.check).or_default().push((reading, state));
        }
        found
    }
}

impl ResultRow {
    /// The variant for which the row counts: it ended well, no later attempt replaced it, and the design still has what it ran.
    #[must_use]
    pub fn counts(&self) -> Option<usize> {
        self.variant.filter(|_| self.row.outcome == Outcome::Ok && !self.superseded)
    }

    /// Its readings, each with what it means.
    pub fn judged(&self) -> impl Iterator<Item = (&Reading, State)> {
        self.row.readings.iter().zip(self.states.iter().copied())
    }
}

/// A metric as the report shows it.
#[derive(Debug, Clone, PartialEq)]
pub struct MetricColumn {
    /// Its name.
    pub name: String,
    /// Its unit.
    pub unit: Unit,
    /// Its direction, where known.
    pub better: Option<Better>,
    /// Whether verdicts are about this one.
    pub primary: bool,
    /// Whether the manifest declares it: only these are compared, all are shown.
    pub declared: bool,
}
