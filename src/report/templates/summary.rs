//! The head of a page: what was measured, how much of it, when and where.

use super::inline::{Inline, code};
use super::number;
use super::view::Fact;
use crate::model::estimate::Analysis;
use crate::model::outcome::Outcome;
use crate::model::results::Results;

/// Most machines that the head names.
const MOST_MACHINES: usize = 3;

/// The facts; those that are not known are left out.
pub(in crate::report) fn summary(results: &Results) -> Vec<Fact> {
    let counted = results.rows.iter().filter(|row| row.counts().is_some()).count();
    let failed = results.rows.iter().filter(|row| row.row.outcome == Outcome::Failed && !row.superseded).count();
    let variants = results.compared();
    let trials = match failed {
        0 => whole(counted),
        failed => format!("{}, {} failed", whole(counted), whole(failed)),
    };
    let blocks: usize = results.runs.iter().map(|run| run.blocks as usize).sum();
    let fact = |name: &str, value: Inline| Fact { name: name.into(), value };
    let facts = [
        fact("experiment", code(results.experiment.as_str())),
        fact("variants", whole(variants).into()),
        fact("blocks", whole(blocks).into()),
        fact("trials", trials.into()),
        fact("runs", whole(results.runs.len()).into()),
        fact("measured", days(results).into()),
        fact("machine", machines(results).into()),
    ];
    facts.into_iter().filter(|fact| !fact.value.is_empty()).collect()
}

/// With what the sentences compare; empty where nothing is compared with the baseline.
pub(in crate::report) fn baseline(results: &Results, analysis: &Analysis) -> Inline {
    let compared = !analysis.comparisons.is_empty() && results.variants.len() > 1;
    let found = results.variants.get(results.baseline).filter(|_| compared);
    found.map_or_else(Inline::default, |baseline| Inline::from("The baseline is ").and(code(baseline.id.as_str())).and("."))
}

fn whole(many: usize) -> String {
    number::significant(many as f64)
}

/// The first and the last day on which a run was started.
fn days(results: &Results) -> String {
    let day = |at: &str| at.split('T').next().unwrap_or_default().to_owned();
    let mut days: Vec<String> = results.runs.iter().map(|run| day(&run.started.at)).collect();
    days.sort();
    days.dedup();
    match days.as_slice() {
        [] => String::new(),
        [only] => only.clone(),
        [first, .., last] => format!("{first} to {last}"),
    }
}

fn machines(results: &Results) -> String {
    let mut names: Vec<String> = Vec::new();
    for run in &results.runs {
        let host = &run.started.host;
        let cpus = match host.cpus {
            0 => String::new(),
            1 => ", 1 CPU".to_owned(),
            cpus => format!(", {cpus} CPUs"),
        };
        let name = format!("{}{cpus}", host.name);
        if !host.name.is_empty() && !names.contains(&name) {
            names.push(name);
        }
    }
    match names.len().saturating_sub(MOST_MACHINES) {
        0 => names.join("; "),
        more => format!("{}; and {more} more", names[..MOST_MACHINES].join("; ")),
    }
}
