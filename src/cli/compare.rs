//! `compare`: two records of one experiment, differences of the environment first. Reads records only, and asks no engine.

use super::{exit, fail_if, grid, sides, talk};
use crate::analyse::{self, judge_threshold};
use crate::model::change::{Change, Judgement, ShiftKind, Threshold};
use crate::model::diagnostic::Diagnostic;
use crate::model::tree::Span;
use crate::report::compare::{Compared, Row, json, markdown, row, short_digests};
use crate::report::visible::one_line;
use std::io::Write;
use std::path::PathBuf;

/// What changed between two records of one experiment: commits, hosts, engine versions.
///
/// A and B are each a report folder (`reports/cpus`, also of another checkout), the folder of a run, the beginning of a run's name,
/// or `REV:reports/cpus`, the record as it was committed.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The record that is compared with.
    #[arg(value_name = "A")]
    a: String,
    /// The record that is compared.
    #[arg(value_name = "B")]
    b: String,
    /// The experiment whose runs A and B name.
    #[arg(long, value_name = "NAME")]
    experiment: Option<String>,
    /// Exit with 1 when a change of B against A is different and beyond this: `METRIC < -3%`, `METRIC > 1.05`; with `relative` in
    /// front, of the ratio to the baseline.
    #[arg(long, value_name = "THRESHOLD")]
    fail_if: Vec<String>,
    /// Exit with 1, too, when it is undecided whether a threshold is crossed.
    #[arg(long, requires = "fail_if")]
    fail_if_undecided: bool,
    /// How to print.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
    /// Folder of reports instead of the one beside experiments/.
    #[arg(long, value_name = "DIR")]
    reports: Option<PathBuf>,
}

/// Warnings of a record beyond which the rest is counted.
const MOST_WARNINGS: usize = 10;

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    Table,
    Json,
    Markdown,
}

pub fn run(arguments: &Arguments) -> u8 {
    let (mut thresholds, mut code) = (Vec::new(), exit::OK);
    for text in &arguments.fail_if {
        match fail_if::parse(text) {
            Ok(threshold) => thresholds.push(threshold),
            Err(problem) => code = code.max(mistake(text, problem)),
        }
    }
    let names = [arguments.a.as_str(), arguments.b.as_str()];
    let records = match sides::read(names, arguments.experiment.as_deref(), &sides::reports(arguments.reports.as_deref())) {
        Ok(records) => records,
        Err(problems) => {
            problems.iter().for_each(|problem| talk::error(one_line(&problem.message)));
            return problems.iter().map(|problem| problem.code).fold(code, u8::max);
        }
    };
    let [a, b] = &records;
    let change = analyse::compare(a, b);
    for (threshold, place) in &thresholds {
        if let Some(problem) = unknown_metric(&change, threshold, *place) {
            code = code.max(mistake(&threshold.text, problem));
        }
    }
    if code != exit::OK {
        return code;
    }
    let judgements: Vec<Judgement> = thresholds.iter().map(|(threshold, _)| judge_threshold(&change, threshold)).collect();
    let compared = Compared { names, records: [a, b], change: &change, judgements: &judgements };
    let written = match arguments.format {
        Format::Table => talk::data(|out| table(out, &compared)),
        Format::Json => talk::data(|out| writeln!(out, "{:#}", json(&compared))),
        Format::Markdown => talk::data(|out| out.write_all(markdown(&compared).as_bytes())),
    };
    judgements.iter().map(|judgement| told(judgement, arguments.fail_if_undecided)).fold(written, u8::max)
}

fn mistake(text: &str, problem: Diagnostic) -> u8 {
    talk::diagnostics("--fail-if", text, &[problem]);
    exit::USAGE
}

/// A threshold on what is not compared.
fn unknown_metric(change: &Change, threshold: &Threshold, place: Span) -> Option<Diagnostic> {
    let mut known: Vec<&str> = Vec::new();
    for shift in change.shifts.iter().filter(|shift| shift.kind == threshold.kind) {
        if !known.contains(&shift.metric.as_str()) {
            known.push(&shift.metric);
        }
    }
    if known.is_empty() && threshold.kind == ShiftKind::Level || known.contains(&threshold.metric.as_str()) {
        return None;
    }
    let help = "metrics are compared that the manifest declares with a direction, and the primary one";
    let problem = Diagnostic::error(place, format!("`{}` is not compared", threshold.metric)).label(help);
    Some(problem.suggest(&threshold.metric, known))
}

/// Says what became of a threshold, and gives the exit code.
fn told(judgement: &Judgement, fail_if_undecided: bool) -> u8 {
    let names = |variants: &[String]| variants.iter().map(|variant| format!("`{}`", one_line(variant))).collect::<Vec<_>>().join(", ");
    let text = one_line(&judgement.text);
    if !judgement.crossed.is_empty() {
        talk::error(format!("`{text}` is crossed by {}", names(&judgement.crossed)));
        return exit::FAILED;
    }
    let undecided = match &judgement.unjudged {
        Some(why) => format!("`{text}` was not judged: {}", one_line(why)),
        None if judgement.open.is_empty() => {
            talk::note(format!("`{text}` is not crossed"));
            return exit::OK;
        }
        None => format!("`{text}` is undecided for {}", names(&judgement.open)),
    };
    if fail_if_undecided {
        talk::error(undecided);
        exit::FAILED
    } else {
        talk::note(undecided);
        exit::OK
    }
}

/// For people: what differs around the numbers first, then the numbers.
fn table(out: &mut dyn Write, compared: &Compared<'_>) -> std::io::Result<()> {
    let change = compared.change;
    let [a, b] = compared.names.map(one_line);
    writeln!(out, "{}: B ({b}) against A ({a})", one_line(&compared.records[1].experiment))?;
    if change.environment.is_empty() {
        writeln!(out, "\nnothing that is recorded of the environment differs")?;
    } else {
        writeln!(out, "\nthe environment differs:")?;
        let cell = |text: &String| if text.is_empty() { "-".to_owned() } else { one_line(&short_digests(text)) };
        let rows = change.environment.iter().map(|found| [&found.what, &found.a, &found.b].map(cell).to_vec());
        print(out, &["what", "A", "B"], rows, 3)?;
    }
    for (variant, changes) in compared.altered() {
        writeln!(out, "{} runs something else: {}", one_line(&variant), one_line(&changes.join("; ")))?;
    }
    for (side, ids) in [("A", &change.only_a), ("B", &change.only_b)] {
        if !ids.is_empty() {
            writeln!(out, "only in {side}: {}", ids.iter().map(|id| one_line(id)).collect::<Vec<_>>().join(", "))?;
        }
    }
    writeln!(out)?;
    change.cautions.iter().try_for_each(|caution| writeln!(out, "note: {}", one_line(caution)))?;
    for (side, results) in ["A", "B"].iter().zip(compared.records) {
        results.warnings.iter().take(MOST_WARNINGS).try_for_each(|warning| writeln!(out, "note: {side}: {}", one_line(warning)))?;
        let more = results.warnings.len().saturating_sub(MOST_WARNINGS);
        if more > 0 {
            writeln!(out, "note: {side}: {} (`--format json` has all)", talk::count(more, "more warning"))?;
        }
    }
    for (primary, kind) in [true, false].map(|primary| [ShiftKind::Level, ShiftKind::Relative].map(|kind| (primary, kind))).concat() {
        let rows: Vec<Row> = compared.shifts(kind, primary).map(row).collect();
        if rows.is_empty() {
            continue;
        }
        let exploratory = if primary { "" } else { ", exploratory" };
        let (title, [a, b]) = match kind {
            ShiftKind::Level => ("levels (medians)", ["A", "B"]),
            ShiftKind::Relative => ("relative to the baseline of each record", ["A/baseline", "B/baseline"]),
        };
        writeln!(out, "\n{title}{exploratory}:")?;
        let cells = rows.into_iter().map(|row| {
            let [of_a, of_b] = row.sides;
            [row.variant, row.metric, row.verdict, of_a, of_b, row.n, row.ratio, row.interval, row.p].map(|cell| one_line(&cell)).to_vec()
        });
        print(out, &["variant", "metric", "verdict", a, b, "n", "B/A", "95 % interval", "adjusted p"], cells, 3)?;
    }
    writeln!(out, "\n{}", compared.headline(one_line))
}

/// A table; columns from `numbers` on stand to the right.
fn print(out: &mut dyn Write, header: &[&str], rows: impl Iterator<Item = Vec<String>>, numbers: usize) -> std::io::Result<()> {
    let mut table = grid::new(header, numbers..header.len());
    rows.for_each(|row| {
        table.add_row(row);
    });
    grid::print(out, &table)
}
