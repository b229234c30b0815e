//! Warnings that teach: what disturbed the trials, how much, and what to change.

use super::cautions::{counted, percent, short};
use crate::model::estimate::{Comparison, Subject, Verdict};
use crate::model::hygiene::{Amount, Bad, CHECKS, CheckInfo, Reading, State};
use crate::model::results::Results;

/// One sentence per check that warned of a trial that counts, those that tainted some first; then the verdicts that change without the
/// tainted trials.
pub(super) fn disturbed(results: &Results, comparisons: &[Comparison]) -> Vec<String> {
    let trials = results.rows.iter().filter(|row| row.counts().is_some()).count();
    let judged = results.judged_by_check();
    let mut found: Vec<Finding<'_>> = CHECKS.iter().filter_map(|check| Finding::of(check, judged.get(check.name)?)).collect();
    found.sort_by_key(|finding| finding.tainted == 0);
    let mut said: Vec<String> = found.iter().map(|finding| finding.words(trials)).collect();
    said.extend(comparisons.iter().filter_map(|comparison| changed(results, comparison)));
    said
}

/// What one check found.
struct Finding<'r> {
    check: &'static CheckInfo,
    /// Trials with a warning or a taint.
    bad: usize,
    tainted: usize,
    /// The worst value, with what it is about.
    worst: (f64, Option<&'r str>),
}

impl<'r> Finding<'r> {
    fn of(check: &'static CheckInfo, judged: &[(&'r Reading, State)]) -> Option<Self> {
        let bad: Vec<_> = judged.iter().filter(|(_, state)| *state >= State::Warn).collect();
        let values = bad.iter().filter_map(|(reading, _)| Some((reading.value?, reading.detail.as_deref())));
        let is_worse = |a: &f64, b: &f64| if check.bad == Bad::Below { b.total_cmp(a) } else { a.total_cmp(b) };
        let worst = values.max_by(|(a, _), (b, _)| is_worse(a, b))?;
        let tainted = bad.iter().filter(|(_, state)| *state == State::Taint).count();
        Some(Self { check, bad: bad.len(), tainted, worst })
    }

    fn words(&self, all: usize) -> String {
        let Self { check, bad, tainted, worst } = self;
        let amount = match check.bad {
            Bad::Below => format!("down to {}", amount(check.amount, worst.0)),
            Bad::Above => format!("up to {}", amount(check.amount, worst.0)),
            Bad::OffMedian => "far from the median of their variant".to_owned(),
            Bad::OffRun => "far from the median of their run".to_owned(),
        };
        let detail = worst.1.map_or_else(String::new, |detail| format!(" ({detail})"));
        let tainted = match tainted {
            0 => String::new(),
            _ if tainted == bad => ", tainted".to_owned(),
            some => format!(", {some} of them tainted"),
        };
        format!("`{}` {amount}{detail} in {bad} of {}{tainted}: {}", check.name, counted(all, "trial", "trials"), check.advice)
    }
}

/// An amount as a sentence has it.
fn amount(amount: Amount, value: f64) -> String {
    match amount {
        Amount::Share => percent(value),
        Amount::Count => short(value),
        Amount::Seconds => format!("{} s", short(value)),
        Amount::Bytes => format!("{} MiB", short(value / 1_048_576.0)),
        Amount::Hertz => format!("{} GHz", short(value / 1e9)),
    }
}

/// A verdict that rests on tainted trials.
fn changed(results: &Results, comparison: &Comparison) -> Option<String> {
    let clean = comparison.clean.as_ref().filter(|_| !comparison.too_short)?;
    let Subject::Variant(variant) = comparison.subject else { return None };
    let before = comparison.effect.verdict;
    let now = match &clean.effect {
        Some(effect) if effect.verdict == before => return None,
        Some(effect) => format!("{} (n = {})", effect.verdict.words(), effect.n),
        None if before == Verdict::Undecided => return None,
        None => "none: too few trials are left".to_owned(),
    };
    let tainted = counted(clean.tainted, "tainted trial", "tainted trials");
    Some(format!(
        "without the {tainted} the verdict on `{}` in `{}` is not {} but {now}",
        comparison.metric,
        results.variants[variant].id,
        before.words()
    ))
}
