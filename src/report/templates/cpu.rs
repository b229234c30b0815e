//! Where the CPU time went: a table of variants and parts.

use super::inline::{Inline, code, emphasis, joined};
use super::number::{ABSENT, Scale};
use super::sections::{place, variant_name};
use super::view::{Chart, CpuLine, CpuSection};
use crate::model::cpu::{CpuPart, CpuShare, CpuSplit, Work};
use crate::model::estimate::Analysis;
use crate::model::metric::Unit;
use crate::model::results::Results;
use crate::report::parts::parts;

/// The section with its table and these charts; empty where the record does not tell.
pub(in crate::report) fn cpu(results: &Results, analysis: &Analysis, charts: Vec<Chart>) -> CpuSection {
    let Some(first) = analysis.cpu.first() else { return CpuSection { charts, ..CpuSection::default() } };
    let mut splits: Vec<&CpuSplit> = analysis.cpu.iter().collect();
    splits.sort_by_key(|split| place(results, split.variant));
    let parts = parts(results, &analysis.cpu);
    let sums: Vec<f64> = splits.iter().map(|split| sum(split)).collect();
    let scale = Scale::of(&Unit::SECOND, sums.iter().copied().fold(0.0, f64::max));
    let share = |split: &CpuSplit, part: &CpuPart| split.shares.iter().find(|share| share.part == *part).map(|share| share.seconds);
    let columns: Vec<_> =
        parts.iter().map(|part| scale.column(&splits.iter().filter_map(|split| share(split, part)).collect::<Vec<_>>())).collect();
    let of_sums = scale.column(&sums);
    let line = |split: &&CpuSplit| {
        let cell = |(part, column): (&CpuPart, &dyn Fn(f64) -> String)| {
            share(split, part).map_or_else(|| ABSENT.into(), |seconds| Inline::from(column(seconds)).of(seconds))
        };
        Some(CpuLine {
            variant: variant_name(results, split.variant)?,
            cells: parts.iter().zip(columns.iter().map(|column| column as &dyn Fn(f64) -> String)).map(cell).collect(),
            sum: Inline::from(of_sums(sum(split))).of(sum(split)),
        })
    };
    CpuSection {
        notes: notes(first.work, scale.symbol(), &parts, &analysis.cpu),
        rows: splits.iter().filter_map(line).collect(),
        parts: parts.iter().map(|part| part.words().into()).collect(),
        charts,
    }
}

/// What all parts of a variant come to.
fn sum(split: &CpuSplit) -> f64 {
    split.shares.iter().map(|share| share.seconds).sum()
}

/// What the numbers are, and how each part is meant that the reader cannot know.
fn notes(work: Work, unit: &str, parts: &[CpuPart], splits: &[CpuSplit]) -> Vec<Inline> {
    let shares = || splits.iter().flat_map(|split| &split.shares);
    let (least, most) = shares().map(|share: &CpuShare| share.n).fold((usize::MAX, 0), |(low, high), n| (low.min(n), high.max(n)));
    let trials = if least == most { format!("n = {least}") } else { format!("n = {least} to {most}") };
    let mut said: Vec<Inline> =
        vec![format!("CPU time per {} in {unit}: medians over the trials of each variant ({trials}).", work.word()).into()];
    if splits.iter().any(|split| split.shares.len() < parts.len()) {
        said.push(format!("{ABSENT} was not told by any trial, and is not zero.").into());
    }
    let is = |part: &str, what: &str| emphasis(part).and(format!(" is {what}"));
    let meaning = |part: &CpuPart| match part {
        CpuPart::Workload(_) | CpuPart::Service(_) => None,
        CpuPart::Proxy => Some(is("docker-proxy", "what carried published ports.")),
        CpuPart::Engine => Some(is("engine", "dockerd, containerd and its shims.")),
        CpuPart::Named => Some(emphasis("named programs").and(" are those of ").and(code("observe.processes")).and(".")),
        CpuPart::Softirq => Some(is("softirq", "what interrupts took and no task was charged for.")),
        CpuPart::Foreign => Some(is("foreign", "every task that is neither the trial's nor the engine's nor shakedown's.")),
        CpuPart::Observer => Some(is("shakedown", "the program that measures.")),
    };
    let meanings: Vec<Inline> = parts.iter().filter_map(meaning).collect();
    said.extend((!meanings.is_empty()).then(|| joined(meanings, " ")));
    said
}
