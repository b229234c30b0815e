//! Numbers with their intervals, and what may be said about them.

use super::cpu::CpuSplit;
use super::factorial::{Interaction, MainEffect, Trend};
use super::sequence::{Drift, Modes};
use serde::{Deserialize, Serialize};

/// Below this many engine starts there is no verdict about what differs by its engine.
pub const ENOUGH_ENGINE_STARTS: usize = 5;

/// How many engine starts there are, where they are what is repeated and too few for a verdict.
#[must_use]
pub fn too_few_starts(engine_starts: Option<usize>) -> Option<usize> {
    engine_starts.filter(|starts| *starts < ENOUGH_ENGINE_STARTS)
}

/// The level of one variant: median and what surrounds it. No bare number leaves the analysis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// Observations.
    pub n: usize,
    /// Median.
    pub median: f64,
    /// Lower end of the 95 % order-statistic interval of the median; none below n = 6.
    pub low: Option<f64>,
    /// Its upper end.
    pub high: Option<f64>,
    /// Smallest observation.
    pub min: f64,
    /// Largest observation.
    pub max: f64,
}

/// A ratio to the baseline, paired by block or by engine start.
#[derive(Debug, Clone, PartialEq)]
pub struct Effect {
    /// Replicates: pairs of trials of one block, or engine starts, see [`Comparison::engine_starts`].
    pub n: usize,
    /// Geometric mean of the ratios.
    pub ratio: f64,
    /// Lower end of the plain 95 % interval; none when it cannot be had (n < 2, or no variation).
    pub low: Option<f64>,
    /// Its upper end.
    pub high: Option<f64>,
    /// The interval at level 1 - alpha/m of a family of m: all of a family's intervals hold together with 95 %. None outside a
    /// family under Holm's correction.
    pub simultaneous: Option<(f64, f64)>,
    /// The Hodges-Lehmann estimate of the same ratio, which a few wild replicates hardly move: printed beside it, never judged.
    pub hodges_lehmann: Option<f64>,
    /// Whether the verdict hangs on few replicates: from n = 6 on, the signed-rank test says otherwise, or the Hodges-Lehmann estimate
    /// is more than a standard error away.
    pub fragile: bool,
    /// The 90 % interval of the equivalence test.
    pub equivalence: Option<(f64, f64)>,
    /// Two-sided p of the paired t test on log ratios; none without variation.
    pub p: Option<f64>,
    /// p after Holm over the declared family; none outside a family.
    pub p_adjusted: Option<f64>,
    /// What may be said.
    pub verdict: Verdict,
    /// Smallest effect that this many replicates would find in 4 of 5 experiments, as a fraction.
    pub detectable: Option<f64>,
}

/// What may be said about an effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// It differs, by at least the smallest effect of interest.
    Different,
    /// It differs, by less than that.
    DifferentSmall,
    /// It lies within the margin.
    Equivalent,
    /// Neither could be shown.
    Undecided,
}

impl Verdict {
    /// Whether it was shown that something differs, by however little.
    #[must_use]
    pub fn differs(self) -> bool {
        matches!(self, Self::Different | Self::DifferentSmall)
    }

    /// The words of reports and CSV.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Different => "different",
            Self::DifferentSmall => "different, small",
            Self::Equivalent => "equivalent",
            Self::Undecided => "undecided",
        }
    }
}

/// Which comparison an effect belongs to.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// The metric compared.
    pub metric: String,
    /// What is compared.
    pub subject: Subject,
    /// The effect.
    pub effect: Effect,
    /// Where engines are compared of which at least one is started for its setting: how many starts of them stand behind the effect. They
    /// are its n, each the mean over the blocks that it hosted.
    pub engine_starts: Option<usize>,
    /// Whether one side was measured over windows that are too short: its verdict is what the numbers alone would say.
    pub too_short: bool,
    /// Where more than a fifth of the blocks has no ratio, because a trial failed or a value is zero or negative, and the verdict is
    /// undecided for that reason: how many, and of how many.
    pub lost: Option<(usize, usize)>,
    /// The same without the tainted trials; none where none of its trials is tainted.
    pub clean: Option<Clean>,
}

/// A comparison without its tainted trials.
#[derive(Debug, Clone, PartialEq)]
pub struct Clean {
    /// The effect; none when too few trials are left for one.
    pub effect: Option<Effect>,
    /// How many trials were left out.
    pub tainted: usize,
}

impl Comparison {
    /// Whether the verdict hangs on few replicates, or changes when the tainted trials are left out.
    #[must_use]
    pub fn is_fragile(&self) -> bool {
        let without = self.clean.as_ref().map(|clean| clean.effect.as_ref().map(|effect| effect.verdict));
        self.effect.fragile || without.is_some_and(|verdict| verdict != Some(self.effect.verdict))
    }

    /// How many engine starts there are, where engines are compared over too few of them for a verdict.
    #[must_use]
    pub fn lacks_engine_starts(&self) -> Option<usize> {
        too_few_starts(self.engine_starts)
    }
}

/// The two kinds of comparison.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Subject {
    /// A variant against the baseline: index into the results' variants.
    Variant(usize),
    /// Two workloads of the same trials of one variant: `metric` of the second over the first.
    Workloads {
        /// The variant.
        variant: usize,
        /// The metric that stands below the line.
        against: String,
    },
}

/// Everything that the analysis says about some results.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Analysis {
    /// Per variant (index) and metric (index): the level; absent without observations.
    pub levels: Vec<LevelRow>,
    /// All comparisons; the primary family first.
    pub comparisons: Vec<Comparison>,
    /// What each level of each factor does over the others, where two factors at least vary.
    pub main_effects: Vec<MainEffect>,
    /// What two factors do to each other.
    pub interactions: Vec<Interaction>,
    /// How the primary metric goes over numeric factors.
    pub trends: Vec<Trend>,
    /// The primary metric in the order of the trials; none where no variant has two of them in a run.
    pub drift: Option<Drift>,
    /// Where the primary metric of a variant, or of all, falls into two groups.
    pub modes: Vec<Modes>,
    /// Plain sentences that a reader must see before the numbers.
    pub cautions: Vec<String>,
    /// What held each variant back, as far as its trials tell; nothing of variants without readings.
    pub limiters: Vec<Limiter>,
    /// Where the CPU time of each variant went; empty where the record does not tell.
    pub cpu: Vec<CpuSplit>,
}

/// What held a variant back.
#[derive(Debug, Clone, PartialEq)]
pub struct Limiter {
    /// Index into the results' variants.
    pub variant: usize,
    /// The check whose reading says so; none when nothing does.
    pub check: Option<&'static str>,
    /// What it is, with its share: `docker-proxy, one CPU at 98 %`.
    pub words: String,
}

/// The level of one metric in one variant.
#[derive(Debug, Clone, PartialEq)]
pub struct LevelRow {
    /// Index into the results' variants.
    pub variant: usize,
    /// Index into the results' metrics.
    pub metric: usize,
    /// The level.
    pub estimate: Estimate,
}
