//! What a template of a report sees: text, already formatted and escaped for Markdown, and lists of text. A template does no arithmetic.
//!
//! The field names are the interface of a person's own template. Text that does not apply is empty, which a template sees as false.

use serde::Serialize;

/// Everything on the page, in the order of the page.
#[derive(Debug, Clone, Default, Serialize)]
pub struct View {
    /// The title.
    pub title: String,
    /// The question that the experiment asks.
    pub question: String,
    /// How loud the cautions are: `CAUTION` where numbers must not be trusted, else `WARNING`.
    pub alert: String,
    /// What a reader must know before the numbers.
    pub cautions: Vec<String>,
    /// The warnings of the runs.
    pub warnings: Vec<String>,
    /// One sentence per comparison that verdicts are about.
    pub answers: Vec<String>,
    /// How many more there are than `answers` holds, as a sentence.
    pub more_answers: String,
    /// What to do where few blocks leave questions open.
    pub advice: String,
    /// The comparisons.
    pub verdicts: Vec<VerdictTable>,
    /// The charts.
    pub charts: Vec<Chart>,
    /// What held each variant back.
    pub limiters: Vec<Limited>,
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
    pub more_failures: String,
    /// How it was measured, one sentence each.
    pub method: Vec<String>,
    /// The hosts and engines.
    pub environments: Vec<Environment>,
    /// What was asked of the kernel and the engine, and what they said.
    pub attested: Vec<Setting>,
    /// How many more there are than `attested` holds, as a sentence.
    pub more_attested: String,
    /// Commands that do it again.
    pub commands: Vec<String>,
    /// The data files.
    pub files: Vec<DataFile>,
}

/// Comparisons of one kind.
#[derive(Debug, Clone, Serialize)]
pub struct VerdictTable {
    /// Its heading.
    pub heading: String,
    /// What must be known to read it.
    pub note: String,
    /// The comparisons.
    pub rows: Vec<VerdictRow>,
}

/// One comparison.
#[derive(Debug, Clone, Serialize)]
pub struct VerdictRow {
    /// What is compared.
    pub subject: String,
    /// With what.
    pub against: String,
    /// By which metric.
    pub metric: String,
    /// The ratio.
    pub ratio: String,
    /// Its 95 % interval.
    pub interval: String,
    /// The same as a change in percent.
    pub change: String,
    /// Pairs.
    pub n: String,
    /// The adjusted p.
    pub p: String,
    /// The verdict.
    pub verdict: String,
}

/// A chart beside the page.
#[derive(Debug, Clone, Serialize)]
pub struct Chart {
    /// The link's target.
    pub file: String,
    /// What it shows, for those who do not see it.
    pub alt: String,
}

/// What held a variant back.
#[derive(Debug, Clone, Serialize)]
pub struct Limited {
    /// The variant.
    pub variant: String,
    /// What it was.
    pub by: String,
}

/// What one check read over the trials that count.
#[derive(Debug, Clone, Serialize)]
pub struct CheckLine {
    /// The check.
    pub check: String,
    /// In how many trials it was made.
    pub trials: String,
    /// In how many of them it warned.
    pub warned: String,
    /// How many it tainted.
    pub tainted: String,
    /// In how many it could not be observed.
    pub unobservable: String,
    /// The median of what it read.
    pub median: String,
    /// The worst of what it read.
    pub worst: String,
}

/// Where the CPU time went: who used how much of it, and its charts. Without rows and charts the record does not tell.
#[derive(Debug, Clone, Default, Serialize)]
pub struct CpuSection {
    /// What the numbers are and how to read them, one sentence each.
    pub notes: Vec<String>,
    /// The parts: the headings of the columns behind the variant's.
    pub parts: Vec<String>,
    /// The variants.
    pub rows: Vec<CpuLine>,
    /// The charts.
    pub charts: Vec<Chart>,
}

/// Where the CPU time of one variant went.
#[derive(Debug, Clone, Serialize)]
pub struct CpuLine {
    /// The variant.
    pub variant: String,
    /// One number per part.
    pub cells: Vec<String>,
    /// Their sum.
    pub sum: String,
}

/// The levels of one metric.
#[derive(Debug, Clone, Serialize)]
pub struct LevelTable {
    /// The metric.
    pub metric: String,
    /// The unit of its numbers; empty for counts and ratios.
    pub unit: String,
    /// Which direction is better, in words.
    pub better: String,
    /// The variants.
    pub rows: Vec<LevelLine>,
}

/// The level of one variant.
#[derive(Debug, Clone, Serialize)]
pub struct LevelLine {
    /// The variant.
    pub variant: String,
    /// Observations.
    pub n: String,
    /// How many of its good trials are flagged, and as what.
    pub tainted: String,
    /// Their median.
    pub median: String,
    /// Its 95 % interval.
    pub interval: String,
    /// The smallest.
    pub min: String,
    /// The largest.
    pub max: String,
}

/// A trial that failed.
#[derive(Debug, Clone, Serialize)]
pub struct FailedTrial {
    /// Its run.
    pub run: String,
    /// Its id.
    pub trial: String,
    /// Its variant.
    pub variant: String,
    /// The phase that it reached.
    pub phase: String,
    /// Why.
    pub reason: String,
    /// Whether another attempt replaced it, in words.
    pub replaced: String,
}

/// A host with its engines, and the runs that were made there.
#[derive(Debug, Clone, Serialize)]
pub struct Environment {
    /// The runs.
    pub runs: String,
    /// The facts.
    pub facts: Vec<Fact>,
}

/// A fact of an environment.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Fact {
    /// What it is.
    pub name: String,
    /// Its value.
    pub value: String,
}

/// A setting that was read back.
#[derive(Debug, Clone, Serialize)]
pub struct Setting {
    /// The workload or service.
    pub unit: String,
    /// The setting.
    pub setting: String,
    /// What was asked.
    pub asked: String,
    /// What was found.
    pub found: String,
    /// In how many trials.
    pub trials: String,
}

/// A data file beside the page.
#[derive(Debug, Clone, Serialize)]
pub struct DataFile {
    /// Its name and link.
    pub file: String,
    /// What it holds.
    pub about: String,
}
