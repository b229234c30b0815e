//! Why there is no verdict, and what would help. That nothing was found is never taken for "the same".

use super::number;
use crate::analyse::{ALPHA, blocks_needed};
use crate::model::estimate::{Comparison, ENOUGH_ENGINE_STARTS, Effect};

/// More blocks than this nobody measures: then it is the noise that must shrink.
const MOST_BLOCKS: usize = 200;

/// Below this many pairs their spread is too poorly known to say how many are needed.
pub(super) const FEW_PAIRS: usize = 5;

/// From this difference on (a fraction) people think in factors, not in percent.
const FACTORS: f64 = 1.0;

/// Above this the number itself says nothing more.
const ABSURD: f64 = 1000.0;

/// Why a comparison is undecided, and what would decide about a difference of `target` (a fraction) in a family of `family` comparisons.
pub(super) fn why(comparison: &Comparison, target: f64, family: usize) -> String {
    let effect = &comparison.effect;
    if let Some(blocks) = comparison.lost {
        return lost(blocks);
    }
    if let Some(starts) = comparison.lacks_engine_starts() {
        return few_starts(starts, effect);
    }
    if effect.p_adjusted.is_some_and(|p| p <= ALPHA) {
        return "a caution forbids a verdict".to_owned();
    }
    let unit = unit(comparison);
    let Some(detectable) = effect.detectable else {
        return match effect.n {
            0 | 1 => format!("one {unit} gives no interval"),
            _ => format!("no variation between {unit}s, which cannot be tested"),
        };
    };
    let found = if detectable >= FACTORS {
        format!("n = {} cannot reliably show anything smaller than {}", effect.n, size(detectable))
    } else {
        format!("only a difference of about {} would have been found in 4 of 5 such experiments", size(detectable))
    };
    match advice(effect, unit, target, family) {
        Some(advice) => format!("{found}; {advice}"),
        None => found,
    }
}

/// What a replicate of a comparison is.
pub(super) fn unit(comparison: &Comparison) -> &'static str {
    if comparison.engine_starts.is_some() { "engine start" } else { "block" }
}

/// That there are too few engine starts for a verdict, in short: `insufficient engine starts: 3 of 5`.
pub(super) fn insufficient(starts: usize) -> String {
    format!("insufficient engine starts: {starts} of {ENOUGH_ENGINE_STARTS}")
}

/// Why so few engine starts give no verdict, and what they could have shown.
fn few_starts(starts: usize, effect: &Effect) -> String {
    let insufficient = insufficient(starts);
    match effect.detectable {
        None if starts < 2 => format!("{insufficient}; one start gives no interval"),
        None => insufficient,
        Some(detectable) => format!("{insufficient}; so few reliably show only a difference of {} and above", size(detectable)),
    }
}

/// Why the loss of so many blocks of so many forbids a verdict.
pub(super) fn lost((lost, all): (usize, usize)) -> String {
    format!("{lost} of {all} blocks have no ratio (a trial failed, or a value is not above 0), and what is left of them may be selected")
}

/// What would help; none with so few pairs that only more of them do, which is said once for all.
fn advice(effect: &Effect, unit: &str, target: f64, family: usize) -> Option<String> {
    if effect.n < FEW_PAIRS {
        return None;
    }
    let target_words = format!("a difference of {}", number::percent(target));
    Some(match blocks_needed(effect, target, family).map(round_up) {
        Some(needed) if needed <= effect.n => "the difference that was found is smaller than that".to_owned(),
        Some(needed) if needed <= MOST_BLOCKS => format!("{target_words} needs about {needed} {unit}s"),
        _ => format!("more {unit}s will not show {target_words} at this noise: make trials longer or the machine quieter"),
    })
}

/// A difference as people say it: `18 %`, `a factor of 38`.
pub(super) fn size(difference: f64) -> String {
    let factor = 1.0 + difference;
    if difference < FACTORS {
        number::percent(difference)
    } else if factor > ABSURD {
        format!("a factor of more than {}", number::significant(ABSURD))
    } else {
        format!("a factor of {}", number::two_digits(factor))
    }
}

/// Two significant digits, upwards: the number is an estimate from a noisy spread.
fn round_up(blocks: usize) -> usize {
    let step = 10_usize.pow(blocks.checked_ilog10().unwrap_or(0).saturating_sub(1));
    blocks.div_ceil(step) * step
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::estimate::{Subject, Verdict};

    /// An effect of ratio 1 whose log interval has this half width, seen in `n` pairs.
    fn effect(n: usize, half: f64, detectable: Option<f64>) -> Effect {
        Effect {
            n,
            ratio: 1.0,
            low: Some((-half).exp()),
            high: Some(half.exp()),
            simultaneous: None,
            hodges_lehmann: None,
            fragile: false,
            equivalence: None,
            p: Some(0.9),
            p_adjusted: Some(0.9),
            verdict: Verdict::Undecided,
            detectable,
        }
    }

    fn of(effect: Effect) -> Comparison {
        Comparison {
            metric: "wall".into(),
            subject: Subject::Variant(1),
            effect,
            engine_starts: None,
            too_short: false,
            lost: None,
            clean: None,
        }
    }

    #[test]
    fn sizes_are_said_as_people_say_them() {
        let table = [(0.005, "0.5 %"), (0.18, "18 %"), (0.999, "100 %"), (1.4, "a factor of 2.4"), (37.2, "a factor of 38")];
        for (difference, said) in table {
            assert_eq!(size(difference), said);
        }
        assert_eq!((size(756.0), size(75_706.0)), ("a factor of 757".into(), "a factor of more than 1,000".into()));
    }

    #[test]
    fn advice_is_what_helps() {
        let table = [
            (effect(2, 3.0, Some(37.0)), "n = 2 cannot reliably show anything smaller than a factor of 38"),
            (
                effect(6, 0.1, Some(0.18)),
                "only a difference of about 18 % would have been found in 4 of 5 such experiments; more blocks will not show a \
                 difference of 1 % at this noise: make trials longer or the machine quieter",
            ),
            // sd = 0.02 * sqrt(10) / 2.2622 = 0.02796, and ((1.96 + 0.84) * 0.02796 / ln 1.01)² = 62; t asks for two more than the normal.
            (
                effect(10, 0.02, Some(0.03)),
                "only a difference of about 3 % would have been found in 4 of 5 such experiments; a difference of 1 % needs about 64 \
                 blocks",
            ),
        ];
        for (effect, said) in table {
            assert_eq!(why(&of(effect), 0.01, 1), said);
        }
        assert_eq!(why(&of(effect(1, 1.0, None)), 0.01, 1), "one block gives no interval");
        assert_eq!(why(&of(effect(3, 1.0, None)), 0.01, 1), "no variation between blocks, which cannot be tested");
        let started = |effect: Effect| Comparison { engine_starts: Some(effect.n), ..of(effect) };
        let table = [
            (effect(1, 1.0, None), "insufficient engine starts: 1 of 5; one start gives no interval"),
            (effect(2, 1.0, None), "insufficient engine starts: 2 of 5"),
            (effect(4, 0.1, Some(0.18)), "insufficient engine starts: 4 of 5; so few reliably show only a difference of 18 % and above"),
            (
                effect(10, 0.02, Some(0.03)),
                "only a difference of about 3 % would have been found in 4 of 5 such experiments; a difference of 1 % needs about 64 \
                 engine starts",
            ),
            (effect(6, 1.0, None), "no variation between engine starts, which cannot be tested"),
        ];
        for (effect, said) in table {
            assert_eq!(why(&started(effect), 0.01, 1), said);
        }
        let certain = Effect { p_adjusted: Some(0.01), ..effect(3, 0.1, Some(0.18)) };
        assert!(why(&started(certain), 0.01, 1).starts_with("insufficient engine starts: 3 of 5"));
        let selected = Comparison { lost: Some((3, 10)), ..of(effect(7, 0.1, Some(0.18))) };
        assert!(why(&selected, 0.01, 1).starts_with("3 of 10 blocks have no ratio"));
    }
}
