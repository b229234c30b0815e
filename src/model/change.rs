//! What one record of an experiment says against another one: always B over A.

use super::estimate::{Effect, Verdict, too_few_starts};
use super::metric::{Better, Unit};

/// Record B against record A of the same experiment.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Change {
    /// What differs in the circumstances of the two, the machine first.
    pub environment: Vec<Difference>,
    /// Whether both were measured on one machine.
    pub machine: Machine,
    /// All comparisons: levels before relative ones, the primary metric first.
    pub shifts: Vec<Shift>,
    /// Ids of variants that only A has.
    pub only_a: Vec<String>,
    /// Ids of variants that only B has.
    pub only_b: Vec<String>,
    /// Variants of both, the A/A copy apart, that run something else in B: their indices in A's and B's results.
    pub altered: Vec<(usize, usize)>,
    /// Plain sentences that a reader must see before the numbers.
    pub cautions: Vec<String>,
}

/// How the machines of two records compare.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Machine {
    /// Nothing that is recorded differs.
    #[default]
    Same,
    /// The hosts have other names, and the same CPUs and memory.
    Renamed,
    /// CPU, memory or the engine's host differ: absolute ratios are about the machines.
    Other,
}

/// One thing that differs between two records; empty where a side does not tell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// What: `CPU`, `docker version`, `image nginx`.
    pub what: String,
    /// In A.
    pub a: String,
    /// In B.
    pub b: String,
}

/// What is compared between two records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ShiftKind {
    /// The level of a variant. It holds all that changed in between, the machine included.
    Level,
    /// The ratio of a variant to the baseline, each taken within its own record: what a machine does to both cancels.
    Relative,
}

impl ShiftKind {
    /// The word of tables and JSON.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Level => "level",
            Self::Relative => "relative",
        }
    }
}

/// How much one metric of one variant changed from A to B.
#[derive(Debug, Clone, PartialEq)]
pub struct Shift {
    /// What is compared.
    pub kind: ShiftKind,
    /// The variant's id.
    pub variant: String,
    /// The metric.
    pub metric: String,
    /// Its unit.
    pub unit: Unit,
    /// Its direction.
    pub better: Option<Better>,
    /// Whether verdicts are about this metric; the others are exploratory.
    pub primary: bool,
    /// Whether it is the A/A copy: what differs there is noise.
    pub control: bool,
    /// What was found in A and in B: the median of a level, the geometric mean of a ratio.
    pub sides: (f64, f64),
    /// Replicates in A and in B: trials or their pairs with the baseline, or engine starts.
    pub n: (usize, usize),
    /// Whether both sides are the same trials, read under two designs.
    pub paired: bool,
    /// Whether replicates are starts of private engines.
    pub by_starts: bool,
    /// The ratio B / A (of levels, or of ratios) with its interval and verdict. Its n is the smaller one.
    pub effect: Effect,
    /// Whether windows of one side are too short to trust.
    pub too_short: bool,
    /// Where more than a fifth of one side's blocks has no value, and there is no verdict for that reason: how many, and of how many.
    pub lost: Option<(usize, usize)>,
}

impl Shift {
    /// How many engine starts the smaller side has, where they are too few for a verdict.
    #[must_use]
    pub fn lacks_engine_starts(&self) -> Option<usize> {
        too_few_starts(self.by_starts.then_some(self.effect.n))
    }

    /// The verdict in words, with the reason why it is none.
    #[must_use]
    pub fn words(&self) -> String {
        let words = self.effect.verdict.words();
        if self.lacks_engine_starts().is_some() {
            format!("{words}, insufficient engine starts")
        } else if let Some((lost, all)) = self.lost {
            format!("{words}, {lost} of {all} blocks lost")
        } else if self.too_short && self.effect.verdict != Verdict::Undecided {
            format!("{words}, too short")
        } else {
            words.to_owned()
        }
    }

    /// Whether B differs from A, and may be said to.
    #[must_use]
    pub fn is_different(&self) -> bool {
        self.effect.verdict.differs() && !self.too_short
    }

    /// Whether it differs, and to the worse; none where it does not differ or the metric has no direction.
    #[must_use]
    pub fn is_worse(&self) -> Option<bool> {
        let better = self.better.filter(|_| self.is_different())?;
        Some((self.effect.ratio < 1.0) == (better == Better::Higher))
    }
}

/// How a change is compared with a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operator {
    /// `<`
    Below,
    /// `<=`
    AtMost,
    /// `>`
    Above,
    /// `>=`
    AtLeast,
}

impl Operator {
    /// Whether a ratio is on that side of the limit.
    #[must_use]
    pub fn holds(self, ratio: f64, limit: f64) -> bool {
        match self {
            Self::Below => ratio < limit,
            Self::AtMost => ratio <= limit,
            Self::Above => ratio > limit,
            Self::AtLeast => ratio >= limit,
        }
    }
}

/// A change that must not be.
#[derive(Debug, Clone, PartialEq)]
pub struct Threshold {
    /// As the person wrote it.
    pub text: String,
    /// Levels, or ratios to the baseline.
    pub kind: ShiftKind,
    /// The metric.
    pub metric: String,
    /// Which side of the limit is forbidden.
    pub operator: Operator,
    /// The limit, as the ratio B / A.
    pub limit: f64,
}

/// What became of a threshold.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Judgement {
    /// The threshold as written.
    pub text: String,
    /// Variants that differ, and are beyond the limit.
    pub crossed: Vec<String>,
    /// Variants without a verdict whose interval does not keep clear of the limit.
    pub open: Vec<String>,
    /// Why nothing was judged, where nothing was.
    pub unjudged: Option<String>,
}
