//! What the templates of a report see: texts and lists of texts, already in words and escaped when they are printed ([`Inline`]). A
//! template does no arithmetic.
//!
//! The field names are the interface of a person's own template. Text that does not apply is empty, which a template sees as false.

mod around;

pub use around::{DataFile, Environment, Fact, FailedTrial, Setting, TrialLine, TrialTable};

use super::inline::Inline;
use serde::Serialize;

/// Everything on the page, in the order of the page.
#[derive(Debug, Clone, Default, Serialize)]
pub struct View {
    /// The title.
    pub title: Inline,
    /// What, how much, when and where, in a few words each.
    pub summary: Vec<Fact>,
    /// The question that the experiment asks.
    pub question: Inline,
    /// How loud the cautions are: `CAUTION` where numbers must not be trusted, else `WARNING`.
    pub alert: Inline,
    /// What a reader must know before the numbers.
    pub cautions: Vec<Inline>,
    /// The warnings of the runs.
    pub warnings: Vec<Inline>,
    /// One sentence per comparison that verdicts are about.
    pub answers: Vec<Inline>,
    /// With what the answers compare; empty where they do not.
    pub baseline: Inline,
    /// How many more there are than `answers` holds, as a sentence.
    pub more_answers: Inline,
    /// What to do where few blocks leave questions open.
    pub advice: Inline,
    /// The comparisons.
    pub verdicts: Vec<VerdictTable>,
    /// What the factors do over all combinations of the others, and to each other.
    pub factors: Vec<FactorTable>,
    /// The charts.
    pub charts: Vec<Chart>,
    /// What held each variant back.
    pub limiters: Vec<Limited>,
    /// That the level drifted while it was measured, in short; empty where it did not.
    pub drift: Inline,
    /// Whether the machine held still, one sentence each.
    pub stillness: Vec<Inline>,
    /// What was read around the trials.
    pub checks: Vec<CheckLine>,
    /// Where the CPU time went.
    pub cpu: CpuSection,
    /// The levels of the primary metric.
    pub levels: Vec<LevelTable>,
    /// The levels of the other metrics.
    pub other_levels: Vec<LevelTable>,
    /// Trials that failed.
    pub failures: Vec<FailedTrial>,
    /// How many more there are than `failures` holds, as a sentence.
    pub more_failures: Inline,
    /// The trials themselves.
    pub trials: TrialTable,
    /// How it was measured, one sentence each.
    pub method: Vec<Inline>,
    /// The hosts and engines.
    pub environments: Vec<Environment>,
    /// What was asked of the kernel and the engine, and what they said.
    pub attested: Vec<Setting>,
    /// How many more there are than `attested` holds, as a sentence.
    pub more_attested: Inline,
    /// The commands that do it again, as a block.
    pub commands: Inline,
    /// The data files.
    pub files: Vec<DataFile>,
}

/// Comparisons of one kind.
#[derive(Debug, Clone, Serialize)]
pub struct VerdictTable {
    /// Its heading.
    pub heading: Inline,
    /// What must be known to read it.
    pub note: Inline,
    /// The comparisons.
    pub rows: Vec<VerdictRow>,
}

/// One comparison.
#[derive(Debug, Clone, Serialize)]
pub struct VerdictRow {
    /// What is compared.
    pub subject: Inline,
    /// With what.
    pub against: Inline,
    /// By which metric.
    pub metric: Inline,
    /// The ratio.
    pub ratio: Inline,
    /// Its 95 % interval.
    pub interval: Inline,
    /// The interval that holds together with those of its family; empty outside of one.
    pub simultaneous: Inline,
    /// The Hodges-Lehmann estimate of the ratio; empty where there is none.
    pub hodges_lehmann: Inline,
    /// The same as a change in percent.
    pub change: Inline,
    /// Pairs.
    pub n: Inline,
    /// The adjusted p.
    pub p: Inline,
    /// The verdict.
    pub verdict: Judged,
    /// What the clean trials alone say; empty where none is tainted.
    pub clean: Inline,
}

/// A verdict.
#[derive(Debug, Clone, Serialize)]
pub struct Judged {
    /// In words, with its direction and what stands in its way.
    pub words: Inline,
    /// The verdict and its direction alone.
    pub label: Inline,
    /// A sign that tells it from other verdicts without any colour.
    pub mark: Inline,
    /// The same as class names: one of `different`, `small`, `equivalent`, `undecided` and `short`, and `better` or `worse` where it is.
    pub class: Inline,
    /// What stands in its way, or what the numbers alone would say.
    pub aside: Inline,
    /// `fragile` where it hangs on few trials.
    pub fragile: Inline,
}

/// Effects of factors of one kind.
#[derive(Debug, Clone, Serialize)]
pub struct FactorTable {
    /// Its heading.
    pub heading: Inline,
    /// What must be known to read it.
    pub note: Inline,
    /// The heading of the ratios.
    pub ratio: Inline,
    /// The effects.
    pub rows: Vec<FactorRow>,
}

/// What a factor does, what two factors do to each other, or how a metric goes over a factor.
#[derive(Debug, Clone, Serialize)]
pub struct FactorRow {
    /// The level, the two levels, or the factor.
    pub what: Inline,
    /// With what it is compared.
    pub against: Inline,
    /// By which metric.
    pub metric: Inline,
    /// The ratio.
    pub ratio: Inline,
    /// Its 95 % interval.
    pub interval: Inline,
    /// The Hodges-Lehmann estimate of the ratio; empty where there is none.
    pub hodges_lehmann: Inline,
    /// The same as a change in percent.
    pub change: Inline,
    /// Pairs.
    pub n: Inline,
    /// The adjusted p.
    pub p: Inline,
    /// The verdict.
    pub verdict: Judged,
    /// On what it depends; empty where it stands alone.
    pub depends: Inline,
    /// What it is at each level of what it depends on.
    pub simple: Vec<SimpleRow>,
}

/// What a level does at one level of another factor.
#[derive(Debug, Clone, Serialize)]
pub struct SimpleRow {
    /// The other factor's level.
    pub at: Inline,
    /// The ratio there.
    pub ratio: Inline,
    /// Its 95 % interval.
    pub interval: Inline,
    /// The same as a change in percent.
    pub change: Inline,
    /// Pairs.
    pub n: Inline,
}

/// A chart beside the page.
#[derive(Debug, Clone, Serialize)]
pub struct Chart {
    /// The link's target.
    pub file: Inline,
    /// What it shows, for those who do not see it.
    pub alt: Inline,
    /// The picture itself, as a `data:` address.
    pub data: Inline,
}

/// What held a variant back.
#[derive(Debug, Clone, Serialize)]
pub struct Limited {
    /// The variant.
    pub variant: Inline,
    /// What it was.
    pub by: Inline,
}

/// What one check read over the trials that count.
#[derive(Debug, Clone, Serialize)]
pub struct CheckLine {
    /// The check.
    pub check: Inline,
    /// In how many trials it was made.
    pub trials: Inline,
    /// In how many of them it warned.
    pub warned: Inline,
    /// How many it tainted.
    pub tainted: Inline,
    /// In how many it could not be observed.
    pub unobservable: Inline,
    /// The median of what it read.
    pub median: Inline,
    /// The worst of what it read.
    pub worst: Inline,
}

/// Where the CPU time went: who used how much of it, and its charts. Without rows and charts the record does not tell.
#[derive(Debug, Clone, Default, Serialize)]
pub struct CpuSection {
    /// What the numbers are and how to read them, one sentence each.
    pub notes: Vec<Inline>,
    /// The parts: the headings of the columns behind the variant's.
    pub parts: Vec<Inline>,
    /// The variants.
    pub rows: Vec<CpuLine>,
    /// The charts.
    pub charts: Vec<Chart>,
}

/// Where the CPU time of one variant went.
#[derive(Debug, Clone, Serialize)]
pub struct CpuLine {
    /// The variant.
    pub variant: Inline,
    /// One number per part.
    pub cells: Vec<Inline>,
    /// Their sum.
    pub sum: Inline,
}

/// The levels of one metric.
#[derive(Debug, Clone, Serialize)]
pub struct LevelTable {
    /// The metric.
    pub metric: Inline,
    /// The unit of its numbers; empty for counts and ratios.
    pub unit: Inline,
    /// Which direction is better, in words.
    pub better: Inline,
    /// The variants.
    pub rows: Vec<LevelLine>,
}

/// The level of one variant.
#[derive(Debug, Clone, Serialize)]
pub struct LevelLine {
    /// The variant.
    pub variant: Inline,
    /// Observations.
    pub n: Inline,
    /// How many of its good trials are flagged, and as what.
    pub tainted: Inline,
    /// Their median.
    pub median: Inline,
    /// Its 95 % interval.
    pub interval: Inline,
    /// The smallest.
    pub min: Inline,
    /// The largest.
    pub max: Inline,
}
