//! Verdicts in words and signs, and effects as they stand in a table.

use super::inline::{Inline, strong};
use super::number::{self, ABSENT};
use super::undecided;
use super::view::Judged;
use crate::model::estimate::{Comparison, Effect, Verdict, too_few_starts};

/// What a verdict is about.
pub(super) struct Case<'e> {
    pub(super) effect: &'e Effect,
    /// `better` or `worse`; empty where neither can be said.
    pub(super) direction: &'static str,
    /// Whether it was measured over windows that are too short.
    pub(super) too_short: bool,
    /// How many engine starts there are, where they are what is repeated.
    pub(super) engine_starts: Option<usize>,
    pub(super) fragile: bool,
}

impl<'e> Case<'e> {
    pub(super) fn of(comparison: &'e Comparison, direction: &'static str) -> Self {
        Self {
            effect: &comparison.effect,
            direction,
            too_short: comparison.too_short,
            engine_starts: comparison.engine_starts,
            // Without its short trials nothing is left, which says nothing about the verdict.
            fragile: comparison.is_fragile() && !comparison.too_short,
        }
    }

    /// The verdict in words and signs.
    pub(super) fn judged(&self) -> Judged {
        let verdict = self.effect.verdict;
        let (class, mark) = match verdict {
            _ if self.too_short => ("short", "!"),
            Verdict::Different => ("different", "≠"),
            Verdict::DifferentSmall => ("small", "≠"),
            Verdict::Equivalent => ("equivalent", "≈"),
            Verdict::Undecided => ("undecided", "?"),
        };
        let direction = if verdict.differs() { self.direction } else { "" };
        let alone = if direction.is_empty() { verdict.words().to_owned() } else { format!("{} ({direction})", verdict.words()) };
        let lacking = too_few_starts(self.engine_starts).map(undecided::insufficient);
        let (words, aside) = match (self.too_short, verdict) {
            (true, Verdict::Undecided) => (strong("too short").and(" to trust"), String::new()),
            (true, _) => (strong("too short").and(format!(" to trust: {alone}")), format!("the numbers alone would say {alone}")),
            (false, Verdict::Undecided) => match lacking {
                Some(lacking) => (Inline::from(format!("{} ({lacking})", verdict.words())), lacking),
                None => (verdict.words().into(), String::new()),
            },
            (false, _) if direction.is_empty() => (strong(alone.clone()), String::new()),
            (false, _) => (strong(verdict.words()).and(format!(" ({direction})")), String::new()),
        };
        Judged {
            words,
            label: if self.too_short { "too short".into() } else { alone.into() },
            mark: mark.into(),
            class: if self.too_short || direction.is_empty() { class.into() } else { format!("{class} {direction}").into() },
            aside: aside.into(),
            fragile: if self.fragile { "fragile".into() } else { Inline::default() },
        }
    }
}

/// A ratio, and its 95 % interval.
pub(super) fn ratio(effect: &Effect) -> (Inline, Inline) {
    let (ratio, ends) = number::ratio(effect.ratio, [effect.low, effect.high]);
    (Inline::from(ratio).of(effect.ratio), interval(ends, effect.low))
}

/// The interval that holds together with the others of its family; empty outside of one.
pub(super) fn simultaneous(effect: &Effect) -> Inline {
    let Some((low, high)) = effect.simultaneous else { return Inline::default() };
    interval(number::ratio(effect.ratio, [Some(low), Some(high)]).1, Some(low))
}

/// The Hodges-Lehmann estimate with the decimals of the ratio beside it; empty where there is none.
pub(super) fn hodges_lehmann(effect: &Effect) -> Inline {
    let shown = |ratio: f64| Inline::from(number::ratio(ratio, [effect.low, effect.high]).0).of(ratio);
    effect.hodges_lehmann.map_or_else(Inline::default, shown)
}

pub(super) fn change(effect: &Effect) -> Inline {
    Inline::from(number::change(effect.ratio)).of(effect.ratio)
}

pub(super) fn probability(effect: &Effect) -> Inline {
    effect.p_adjusted.map_or_else(|| ABSENT.into(), |p| Inline::from(number::probability(p)).of(p))
}

/// Sorted by its lower end.
fn interval(ends: Option<[String; 2]>, low: Option<f64>) -> Inline {
    ends.map_or_else(|| ABSENT.into(), |[from, to]| Inline::from(format!("{from} to {to}")).of(low.unwrap_or(f64::NAN)))
}
