//! What limited each variant, and what was read around the trials.

use super::inline::{Inline, code};
use super::number::{self, ABSENT};
use super::view::{CheckLine, Limited};
use crate::analyse::level;
use crate::model::estimate::Analysis;
use crate::model::hygiene::{Amount, Bad, CHECKS, CheckInfo, Reading, State};
use crate::model::results::Results;

/// What held each variant back.
pub(in crate::report) fn limiters(results: &Results, analysis: &Analysis) -> Vec<Limited> {
    let line = |limiter: &crate::model::estimate::Limiter| {
        Some(Limited { variant: code(results.variants.get(limiter.variant)?.id.as_str()), by: limiter.words.as_str().into() })
    };
    analysis.limiters.iter().filter_map(line).collect()
}

/// Every check that was made of a trial that counts, with what became of it.
pub(in crate::report) fn checks(results: &Results) -> Vec<CheckLine> {
    let judged = results.judged_by_check();
    CHECKS.iter().filter_map(|check| Some(line(check, judged.get(check.name)?))).collect()
}

fn line(check: &CheckInfo, judged: &[(&Reading, State)]) -> CheckLine {
    let how_many = |wanted: State| judged.iter().filter(|(_, state)| *state == wanted).count();
    let (warned, tainted, unseen) = (how_many(State::Warn), how_many(State::Taint), how_many(State::Unobservable));
    let values: Vec<f64> = judged.iter().filter_map(|(reading, _)| reading.value).collect();
    let shown = |value: f64| {
        Inline::from(match check.amount {
            Amount::Share => number::percent(value),
            other => number::quantity(value, &other.unit()),
        })
        .of(value)
    };
    let level = level(values);
    let worst = level.map(|level| if check.bad == Bad::Below { level.min } else { level.max });
    CheckLine {
        check: code(check.name),
        trials: number::count(judged.len()),
        warned: number::count(warned),
        tainted: number::count(tainted),
        unobservable: number::count(unseen),
        median: level.map_or_else(|| ABSENT.into(), |level| shown(level.median)),
        worst: worst.map_or_else(|| ABSENT.into(), shown),
    }
}
