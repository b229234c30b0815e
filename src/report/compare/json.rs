//! The comparison for machines: unrounded numbers, null where there is none.

use super::Compared;
use crate::model::change::{Machine, Shift};
use crate::model::metric::Better;
use crate::model::results::Results;
use serde_json::{Value, json};

/// One document.
#[must_use]
pub fn json(compared: &Compared<'_>) -> Value {
    let [a, b] = compared.records;
    let change = compared.change;
    let record = |name: &str, results: &Results| {
        let runs: Vec<&str> = results.runs.iter().map(|run| run.run.as_str()).collect();
        json!({"record": name, "runs": runs, "warnings": results.warnings})
    };
    let environment = change.environment.iter().map(|found| json!({"what": found.what, "a": found.a, "b": found.b}));
    let altered = compared.altered().into_iter().map(|(variant, changes)| json!({"variant": variant, "changes": changes}));
    let thresholds = compared.judgements.iter().map(|judgement| {
        json!({"threshold": judgement.text, "crossed": judgement.crossed, "open": judgement.open, "unjudged": judgement.unjudged})
    });
    json!({
        "experiment": b.experiment,
        "a": record(compared.names[0], a),
        "b": record(compared.names[1], b),
        "machine": match change.machine {
            Machine::Same => "same",
            Machine::Renamed => "renamed",
            Machine::Other => "other",
        },
        "environment": environment.collect::<Vec<_>>(),
        "altered": altered.collect::<Vec<_>>(),
        "only_a": change.only_a,
        "only_b": change.only_b,
        "cautions": change.cautions,
        "comparisons": change.shifts.iter().map(shift).collect::<Vec<_>>(),
        "thresholds": thresholds.collect::<Vec<_>>(),
    })
}

fn shift(shift: &Shift) -> Value {
    let effect = &shift.effect;
    json!({
        "kind": shift.kind.word(),
        "variant": shift.variant,
        "metric": shift.metric,
        "unit": shift.unit.symbol(),
        "better": shift.better.map(|better| match better {
            Better::Higher => "higher",
            Better::Lower => "lower",
        }),
        "primary": shift.primary,
        "control": shift.control,
        "a": shift.sides.0,
        "b": shift.sides.1,
        "n_a": shift.n.0,
        "n_b": shift.n.1,
        "paired": shift.paired,
        "by_engine_starts": shift.by_starts,
        "ratio": effect.ratio,
        "low": effect.low,
        "high": effect.high,
        "p": effect.p,
        "p_adjusted": effect.p_adjusted,
        "detectable": effect.detectable,
        "verdict": effect.verdict.words(),
        "too_short": shift.too_short,
        "lost": shift.lost.map(|(lost, all)| json!({"blocks": lost, "of": all})),
        "worse": shift.is_worse(),
    })
}
