//! Two records side by side, for people and machines: the words and numbers of a comparison, Markdown for a pull request, and JSON.

mod json;
mod markdown;

pub use json::json;
pub use markdown::markdown;

use super::templates::number::{self, ABSENT};
use crate::model::change::{Change, Judgement, Machine, Shift, ShiftKind};
use crate::model::estimate::Verdict;
use crate::model::results::Results;
use crate::plan::identity::recorded_changes;

/// Variants that a headline names.
const MOST_NAMED: usize = 3;

/// A comparison with all that it is told by.
#[derive(Debug, Clone, Copy)]
pub struct Compared<'c> {
    /// How a person named the records: A and B.
    pub names: [&'c str; 2],
    /// The records: A and B.
    pub records: [&'c Results; 2],
    /// What changed.
    pub change: &'c Change,
    /// What became of the thresholds.
    pub judgements: &'c [Judgement],
}

/// One comparison as people read it; names are not escaped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// The variant.
    pub variant: String,
    /// The metric.
    pub metric: String,
    /// The median, or the ratio to the baseline, in A and in B.
    pub sides: [String; 2],
    /// Replicates in A and in B.
    pub n: String,
    /// B / A.
    pub ratio: String,
    /// Its 95 % interval.
    pub interval: String,
    /// The adjusted p.
    pub p: String,
    /// The verdict, with its direction where it has one.
    pub verdict: String,
}

impl Compared<'_> {
    /// The comparisons of a kind, of the primary metric or of the others.
    pub fn shifts(&self, kind: ShiftKind, primary: bool) -> impl Iterator<Item = &Shift> {
        self.change.shifts.iter().filter(move |shift| shift.kind == kind && shift.primary == primary)
    }

    /// What the headline is about: levels, or ratios to the baseline where the machines differ.
    #[must_use]
    pub fn kind(&self) -> ShiftKind {
        let has_relative = self.shifts(ShiftKind::Relative, true).any(|shift| !shift.control);
        if self.change.machine == Machine::Other && has_relative { ShiftKind::Relative } else { ShiftKind::Level }
    }

    /// One sentence on the primary metric. `name` marks names up.
    #[must_use]
    pub fn headline(&self, name: impl Fn(&str) -> String) -> String {
        let kind = self.kind();
        let shifts: Vec<&Shift> = self.shifts(kind, true).filter(|shift| !shift.control).collect();
        let Some(first) = shifts.first() else { return "nothing can be compared".to_owned() };
        let mut different: Vec<&&Shift> = shifts.iter().filter(|shift| shift.is_different()).collect();
        different.sort_by(|a, b| b.effect.ratio.ln().abs().total_cmp(&a.effect.ratio.ln().abs()));
        let of = |verdict: Verdict| {
            shifts.iter().filter(|shift| shift.effect.verdict == verdict && !(shift.too_short && verdict != Verdict::Undecided)).count()
        };
        let short = shifts.iter().filter(|shift| shift.too_short && shift.effect.verdict != Verdict::Undecided).count();
        let rest = [(of(Verdict::Equivalent), "equivalent"), (of(Verdict::Undecided), "undecided"), (short, "too short")];
        let rest: Vec<String> = rest.iter().filter(|(count, _)| *count > 0).map(|(count, word)| format!("{count} {word}")).collect();
        let metric = name(&first.metric);
        let subject = match kind {
            ShiftKind::Level => metric,
            ShiftKind::Relative => format!("{metric} relative to the baseline"),
        };
        if different.is_empty() {
            return format!("{subject} is different in none of {}: {}", variants(shifts.len()), rest.join(", "));
        }
        let named = different.iter().take(MOST_NAMED);
        let mut told: Vec<String> = named.map(|shift| format!("{} {}", name(&shift.variant), number::change(shift.effect.ratio))).collect();
        if different.len() > MOST_NAMED {
            told.push(format!("{} more", different.len() - MOST_NAMED));
        }
        let worse = different.iter().filter(|shift| shift.is_worse() == Some(true)).count();
        let direction = if first.better.is_none() { String::new() } else { format!(", worse in {worse}") };
        let rest = if rest.is_empty() { String::new() } else { format!("; {}", rest.join(", ")) };
        format!("{subject} is different in {} of {}{direction}: {}{rest}", different.len(), variants(shifts.len()), told.join(", "))
    }

    /// What variants run otherwise in B: their id, and `path: old -> new`.
    #[must_use]
    pub fn altered(&self) -> Vec<(String, Vec<String>)> {
        let [a, b] = self.records;
        let of = |(in_a, in_b): &(usize, usize)| {
            let (old, new) = (&a.variants[*in_a], &b.variants[*in_b]);
            (new.id.clone(), recorded_changes(&old.spec, &new.spec))
        };
        self.change.altered.iter().map(of).collect()
    }
}

/// A list in which digests have twelve digits, which tell any two apart; JSON has all.
#[must_use]
pub fn short_digests(values: &str) -> String {
    let short = |value: &str| match value.get(..19) {
        Some(start) if value.starts_with("sha256:") && value.len() > 20 => format!("{start}…"),
        _ => value.to_owned(),
    };
    values.split(", ").map(short).collect::<Vec<_>>().join(", ")
}

fn variants(count: usize) -> String {
    if count == 1 { "1 variant".to_owned() } else { format!("{count} variants") }
}

/// A comparison in words.
#[must_use]
pub fn row(shift: &Shift) -> Row {
    let effect = &shift.effect;
    let (ratio, ends) = number::ratio(effect.ratio, [effect.low, effect.high]);
    let side = |value: f64| match shift.kind {
        ShiftKind::Level => number::quantity(value, &shift.unit),
        ShiftKind::Relative => number::ratio(value, [None, None]).0,
    };
    let direction = match shift.is_worse() {
        Some(true) => " (worse)",
        Some(false) => " (better)",
        None => "",
    };
    Row {
        variant: shift.variant.clone(),
        metric: shift.metric.clone(),
        sides: [side(shift.sides.0), side(shift.sides.1)],
        n: if shift.n.0 == shift.n.1 { shift.n.0.to_string() } else { format!("{}, {}", shift.n.0, shift.n.1) },
        ratio,
        interval: ends.map_or_else(|| ABSENT.to_owned(), |[low, high]| format!("{low} to {high}")),
        p: effect.p_adjusted.map_or_else(|| ABSENT.to_owned(), number::probability),
        verdict: format!("{}{direction}", shift.words()),
    }
}
