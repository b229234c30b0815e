//! Whether the machine held still while the experiment ran.

use super::inline::{Inline, code, strong};
use super::number;
use super::undecided::size;
use crate::model::estimate::Analysis;
use crate::model::results::Results;
use crate::model::sequence::{Drift, Modes};

/// One sentence each on drift, slow noise and groups of trials; none where too little was measured to say.
pub(in crate::report) fn stillness(results: &Results, analysis: &Analysis) -> Vec<Inline> {
    let mut said = Vec::new();
    if let Some(drift) = &analysis.drift {
        said.extend(drift_words(drift));
        said.extend(slow(drift));
    }
    said.extend(analysis.modes.iter().filter_map(|modes| groups(results, modes)));
    said
}

/// That the level drifted, in short, for those who read no further than the answer; empty where it did not.
pub(in crate::report) fn drift(analysis: &Analysis) -> Inline {
    let drifting = analysis.drift.as_ref().is_some_and(Drift::is_drifting);
    if drifting { "The level drifted while it was measured.".into() } else { Inline::default() }
}

fn drift_words(drift: &Drift) -> Option<Inline> {
    let (n, p) = (drift.residuals.len(), number::probability(drift.p?));
    let test = format!(
        "Mann-Kendall test over n = {n} trials in the order in which they ran: p {}{p}",
        if p.starts_with('<') { "" } else { "= " }
    );
    Some(if drift.is_drifting() {
        let change = number::change(1.0 + drift.change);
        strong("It drifted").and(format!(
            ": from the first to the last trial of a run the level changed by about {change} ({test}). The comparisons are made within \
             blocks and bear it; levels do not."
        ))
    } else {
        Inline::from(format!("No drift was found ({test})."))
    })
}

fn slow(drift: &Drift) -> Option<Inline> {
    let correlation = drift.autocorrelation.filter(|_| drift.is_slow_noise())?;
    Some(strong("Its noise is slow").and(format!(
        ": trials that ran one after the other are alike (correlation {correlation:.2}), and it is the blocks that keep the comparisons honest."
    )))
}

fn groups(results: &Results, modes: &Modes) -> Option<Inline> {
    let whose = match modes.variant {
        Some(variant) => Inline::from(" of ").and(code(results.variants.get(variant)?.id.as_str())),
        None => " of all variants, each over its own level,".into(),
    };
    let gap = size(modes.gap - 1.0);
    Some(strong("Two groups").and(": the trials").and(whose).and(format!(
        " fall into two groups {gap} apart, {} of n = {} in the lower one: look for what switches between two states, such as a memory node, \
         a set of CPUs or a cold cache.",
        number::percent(modes.lower),
        modes.n
    )))
}
