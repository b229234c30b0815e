//! How an experiment stands: what its record has of what its manifest asks for; as a table, JSON and CSV.

use super::grid;
use crate::model::plan::{Plan, Reason};
use crate::report::tables;
use crate::report::visible::one_line;
use serde_json::json;
use std::io::Write;

/// How an experiment stands, the worst thing first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// Its manifest has problems.
    Invalid,
    /// Its record cannot be read.
    Damaged,
    /// It was never measured.
    None,
    /// Some of its trials failed, and were not made good since.
    Failing,
    /// What runs has changed since it was measured, or the circumstances of what counts have.
    Stale,
    /// Variants or blocks are missing.
    Partial,
    /// There is a record and no manifest.
    Orphan,
    /// Nothing is to be measured.
    Complete,
}

impl State {
    /// The word of tables, JSON and CSV.
    pub fn word(self) -> &'static str {
        match self {
            Self::Invalid => "invalid",
            Self::Damaged => "damaged",
            Self::None => "none",
            Self::Failing => "failing",
            Self::Stale => "stale",
            Self::Partial => "partial",
            Self::Orphan => "orphan",
            Self::Complete => "complete",
        }
    }
}

/// How the report beside a record stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Report {
    /// There is no record to report.
    Nothing,
    /// It is what the record gives.
    Current,
    /// There is none.
    Missing,
    /// `report` would write or remove these files.
    Outdated(Vec<String>),
    /// The manifest shows the record otherwise than the report does: `run` takes it over, and measures nothing for it.
    Behind,
}

impl Report {
    /// The word of tables, JSON and CSV.
    fn word(&self) -> &'static str {
        match self {
            Self::Nothing => "",
            Self::Current => "current",
            Self::Missing => "missing",
            Self::Outdated(_) => "outdated",
            Self::Behind => "behind",
        }
    }
}

/// One experiment.
#[derive(Debug)]
pub struct Standing {
    /// Its name.
    pub name: String,
    /// Its manifest; empty for an orphan.
    pub manifest: String,
    /// How it stands.
    pub state: State,
    /// How many variants it has, the A/A copy apart.
    variants: usize,
    /// Variants that need trials, and why.
    reasons: Vec<(String, Reason)>,
    /// What is wrong with manifest or record.
    pub problem: Option<String>,
    /// The report.
    pub report: Report,
}

impl Standing {
    /// One that nothing can be counted of.
    pub fn without_plan(name: String, manifest: String, state: State, problem: Option<String>, report: Report) -> Self {
        Self { name, manifest, state, variants: 0, reasons: Vec::new(), problem, report }
    }

    /// What a plan over the record says.
    pub fn of(plan: &Plan, manifest: String, recorded: bool, report: Report) -> Self {
        let variants = plan.variants.split_last().map_or(&[][..], |(_, variants)| variants);
        let needs = |reason: &Reason| !matches!(reason, Reason::UpToDate | Reason::Baseline);
        let missing = variants.iter().filter(|variant| needs(&variant.reason));
        let reasons: Vec<(String, Reason)> = missing.map(|variant| (variant.id.to_string(), variant.reason.clone())).collect();
        let (count, name) = (variants.len(), plan.experiment.clone());
        let mut standing = Self { name, manifest, state: State::Complete, variants: count, reasons, problem: None, report };
        standing.state = match () {
            () if !recorded => State::None,
            () if standing.failed() > 0 => State::Failing,
            () if standing.stale() > 0 => State::Stale,
            // Only the A/A copy can be missing alone: it, too, is part of what was asked for.
            () if !standing.reasons.is_empty() || !plan.trials.is_empty() => State::Partial,
            () => State::Complete,
        };
        standing
    }

    fn count(&self, is_it: impl Fn(&Reason) -> bool) -> usize {
        self.reasons.iter().filter(|(_, reason)| is_it(reason)).count()
    }

    fn stale(&self) -> usize {
        self.count(|reason| matches!(reason, Reason::Stale(_) | Reason::Elsewhere(_)))
    }

    fn failed(&self) -> usize {
        self.count(|reason| matches!(reason, Reason::FailedBefore(_)))
    }

    /// The smallest number of good blocks among the variants that need more, and how many each should have.
    fn blocks(&self) -> Option<(u32, u32)> {
        let blocks = self.reasons.iter().filter_map(|(_, reason)| match reason {
            Reason::MoreBlocks { have, want } => Some((*have, *want)),
            _ => None,
        });
        blocks.min()
    }

    /// Counts in the order of [`COUNTS`].
    fn counts(&self) -> [usize; 6] {
        let more = self.count(|reason| matches!(reason, Reason::MoreBlocks { .. }));
        [self.variants, self.variants - self.reasons.len(), self.count(|reason| *reason == Reason::New), self.stale(), self.failed(), more]
    }

    /// Whether its variants are known.
    fn is_counted(&self) -> bool {
        !matches!(self.state, State::Invalid | State::Damaged | State::Orphan)
    }

    /// The first reason, and how many more there are.
    fn why(&self) -> String {
        if let Some(problem) = &self.problem {
            return problem.clone();
        }
        // A new variant, and one that needs blocks, say nothing that the counts do not.
        let telling = |(_, reason): &&(String, Reason)| !matches!(reason, Reason::New | Reason::MoreBlocks { .. });
        let mut telling = self.reasons.iter().filter(telling);
        let first = telling.next().map(|(variant, reason)| format!("{variant}: {reason}"));
        let rest = telling.count();
        match (first, &self.report) {
            (Some(first), _) if rest > 0 => format!("{first}, and {rest} more"),
            (Some(first), _) => first,
            (None, Report::Outdated(files)) => match files.as_slice() {
                [] => String::new(),
                [one] => format!("`report` would change {one}"),
                [one, rest @ ..] => format!("`report` would change {one} and {} more", rest.len()),
            },
            (None, Report::Behind) => "titles, metrics or margins were changed in the manifest".to_owned(),
            (None, _) if self.state == State::Partial && self.reasons.is_empty() => "the A/A copy of the baseline lacks trials".to_owned(),
            (None, _) => String::new(),
        }
    }
}

/// What is counted of each experiment.
const COUNTS: [&str; 6] = ["variants", "up_to_date", "new", "stale", "failed", "more_blocks"];

/// Longest reason in the table, in characters.
const LONGEST: usize = 120;

/// For people: one line per experiment.
pub fn table(out: &mut dyn Write, all: &[Standing]) -> std::io::Result<()> {
    let counts = COUNTS.map(|name| name.replace('_', " "));
    let header = [&["experiment", "state"][..], &counts.each_ref().map(String::as_str), &["report", "why"]].concat();
    let mut table = grid::new(&header, 2..2 + COUNTS.len());
    for standing in all {
        let mut counts: Vec<String> =
            standing.counts().iter().map(|count| if standing.is_counted() { count.to_string() } else { String::new() }).collect();
        if let (Some((have, want)), Some(cell)) = (standing.blocks(), counts.last_mut()) {
            *cell = format!("{cell} ({have} of {want})");
        }
        let why = one_line(&standing.why());
        let short = if why.chars().count() > LONGEST { format!("{} ...", why.chars().take(LONGEST).collect::<String>()) } else { why };
        let ends = [standing.report.word().to_owned(), short];
        table.add_row([vec![one_line(&standing.name), standing.state.word().to_owned()], counts, ends.to_vec()].concat());
    }
    grid::print(out, &table)
}

/// For machines: every variant that needs trials, with its reason.
pub fn as_json(out: &mut dyn Write, all: &[Standing]) -> std::io::Result<()> {
    let one = |standing: &Standing| {
        let reason = |(variant, reason): &(String, Reason)| json!({"variant": variant, "reason": reason.to_string()});
        let mut value = json!({"experiment": standing.name, "manifest": standing.manifest, "state": standing.state.word()});
        for (name, count) in COUNTS.iter().zip(standing.counts()).filter(|_| standing.is_counted()) {
            value[*name] = json!(count);
        }
        let files = if let Report::Outdated(files) = &standing.report { files.as_slice() } else { &[] };
        value["blocks"] = json!(standing.blocks().map(|(have, want)| json!({"have": have, "want": want})));
        value["report"] = json!(standing.report.word());
        value["report_changes"] = json!(files);
        value["problem"] = json!(standing.problem);
        value["reasons"] = standing.reasons.iter().map(reason).collect();
        value
    };
    writeln!(out, "{:#}", json!({"experiments": all.iter().map(one).collect::<Vec<_>>()}))
}

/// For spreadsheets: the table with the whole first reason.
pub fn as_csv(out: &mut dyn Write, all: &[Standing]) -> std::io::Result<()> {
    let mut writer = csv::Writer::from_writer(out);
    writer.write_record([&["experiment", "state"][..], &COUNTS, &["have", "want", "report", "why"]].concat())?;
    for standing in all {
        let counts = standing.counts().map(|count| if standing.is_counted() { count.to_string() } else { String::new() });
        let (have, want) = standing.blocks().map_or_else(Default::default, |(have, want)| (have.to_string(), want.to_string()));
        let ends = [have, want, standing.report.word().to_owned(), tables::text(&standing.why())];
        writer.write_record([&[tables::text(&standing.name), standing.state.word().to_owned()][..], &counts, &ends].concat())?;
    }
    writer.flush()
}
