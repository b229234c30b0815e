//! A plan as people and machines read it: a table, JSON, CSV.

use super::{grid, talk};
use crate::model::experiment::Adaptive;
use crate::model::plan::{AA_SUFFIX, Plan, Trial, VariantHistory};
use crate::plan::History;
use crate::report::visible::visible;
use serde_json::json;
use std::io::Write;
use std::time::Duration;

/// Rows of a table beyond which the rest is counted, not shown: a person reads the start, a machine takes `--format`.
const MOST_ROWS: usize = 60;

/// The variants with their reasons, the first trials in order, and how long it will take.
/// Where the number of blocks is `adaptive`, what is planned is the most that it may take.
pub(super) fn table(out: &mut dyn Write, plan: &Plan, history: &History, adaptive: Option<Adaptive>) -> std::io::Result<()> {
    let copy = plan.variants.len() - 1;
    writeln!(
        out,
        "{}: {} x {} = {}, seed {}, digest {}",
        plan.experiment,
        talk::count(copy, "variant"),
        talk::count(plan.blocks as usize, "block"),
        talk::count(plan.trials.len(), "trial"),
        plan.seed,
        plan.digest
    )?;
    if let Some(Adaptive { target, .. }) = adaptive {
        let [looks @ .., last] = Adaptive::LOOKS;
        let looks = looks.map(|look| look.to_string()).join(", ");
        writeln!(out, "as many blocks as give intervals of ± {} %: looks after {looks} and {last} of them", target * 100.0)?;
    }
    if let Some(starts) = starts(plan) {
        writeln!(out, "{starts}")?;
    }
    let mut variants = grid::new(&["variant", "trials", "why"], 1..2);
    let mut counts = vec![0_u32; plan.variants.len()];
    plan.trials.iter().for_each(|trial| counts[trial.variant as usize] += 1);
    for (index, variant) in plan.variants.iter().enumerate().take(MOST_ROWS.min(copy)) {
        let mark = if index == plan.baseline { " (baseline)" } else { "" };
        variants.add_row([
            format!("{}{mark}", visible(&variant.id)),
            counts[index].to_string(),
            visible(&variant.reason.to_string()).into_owned(),
        ]);
    }
    grid::print(out, &variants)?;
    more(out, copy, "variants")?;
    if plan.trials.is_empty() {
        return writeln!(out, "everything is up to date: `run` has nothing to do (`--fresh` runs it again)");
    }
    writeln!(out, "order (the A/A copy of the baseline ends in #aa):")?;
    let started = !plan.engine_starts.is_empty();
    let header: &[&str] = if started {
        &["block", "batch", "start", "position", "trial", "variant"]
    } else {
        &["block", "batch", "position", "trial", "variant"]
    };
    let mut trials = grid::new(header, 0..0);
    for trial in plan.trials.iter().take(MOST_ROWS) {
        let variant = &plan.variants[trial.variant as usize];
        let mut row = vec![
            trial.block.to_string(),
            trial.batch.to_string(),
            trial.position.to_string(),
            trial.id(),
            visible(&variant.id).into_owned(),
        ];
        if started {
            row.insert(2, start(plan, trial));
        }
        trials.add_row(row);
    }
    grid::print(out, &trials)?;
    more(out, plan.trials.len(), "trials")?;
    match estimate(plan, history) {
        Some((time, guessed)) if guessed => writeln!(out, "about {} (new variants guessed from the others)", show_time(time)),
        Some((time, _)) => writeln!(out, "about {}", show_time(time)),
        None => writeln!(out, "time: unknown until something has run"),
    }
}

/// How often each private engine is started, and for which blocks; none without private engines.
fn starts(plan: &Plan) -> Option<String> {
    let starts = *plan.engine_starts.last()?;
    let mut blocks: Vec<(usize, usize)> = Vec::new();
    for of_one in plan.engine_starts.chunk_by(|one, next| one == next) {
        let first = blocks.last().map_or(1, |(_, last)| last + 1);
        blocks.push((first, first + of_one.len() - 1));
    }
    let spans: Vec<String> =
        blocks.iter().map(|(first, last)| if first == last { first.to_string() } else { format!("{first}-{last}") }).collect();
    let times = if starts == 1 { "once".to_owned() } else { format!("{starts} times") };
    Some(match spans.len() {
        1 => "each private engine is started once, for all blocks".to_owned(),
        all if all == plan.blocks as usize => format!("each private engine is started {times}, anew for each block"),
        2..=MOST_SPANS => format!("each private engine is started {times}, for blocks {}", spans.join(", ")),
        _ => format!("each private engine is started {times}, for up to {} blocks each", plan.blocks.div_ceil(starts)),
    })
}

/// Spans of blocks beyond which they are not listed.
const MOST_SPANS: usize = 12;

/// The engine start that hosts a trial; empty on an engine that runs anyway.
fn start(plan: &Plan, trial: &Trial) -> String {
    plan.engine_start(trial).map_or_else(String::new, |start| start.to_string())
}

/// A table without the blanks that pad its last column.
fn more(out: &mut dyn Write, all: usize, what: &str) -> std::io::Result<()> {
    if all > MOST_ROWS { writeln!(out, "... and {} more {what} (`--format csv` has all)", all - MOST_ROWS) } else { Ok(()) }
}

/// Time from earlier trials; whether some of it is guessed.
fn estimate(plan: &Plan, history: &History) -> Option<(Duration, bool)> {
    let seconds: Vec<Option<f64>> = plan
        .variants
        .iter()
        .map(|v| history.get(v.id.trim_end_matches(AA_SUFFIX)).and_then(|past: &VariantHistory| past.seconds))
        .collect();
    let known: Vec<f64> = seconds.iter().filter_map(|s| *s).collect();
    if known.is_empty() {
        return None;
    }
    let average = known.iter().sum::<f64>() / known.len() as f64;
    let total: f64 = plan.trials.iter().map(|trial| seconds[trial.variant as usize].unwrap_or(average)).sum();
    let guessed = plan.trials.iter().any(|trial| seconds[trial.variant as usize].is_none());
    Duration::try_from_secs_f64(total).ok().map(|time| (time, guessed))
}

/// `1 h 05 min`, `2 min 30 s`, `12 s`.
pub fn show_time(time: Duration) -> String {
    let seconds = time.as_secs_f64().round() as u64;
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, s) => format!("{s} s"),
        (0, m, s) => format!("{m} min {s:02} s"),
        (h, m, _) => format!("{h} h {m:02} min"),
    }
}

/// One document, written as it goes: a plan may have a million trials.
pub(super) fn as_json(out: &mut dyn Write, plan: &Plan) -> std::io::Result<()> {
    let ids: Vec<String> = plan.variants.iter().map(|v| json!(*v.id).to_string()).collect();
    let head = json!({"experiment": plan.experiment, "digest": plan.digest, "seed": plan.seed, "factors": plan.factors}).to_string();
    write!(out, "{},\n\"variants\":[", head.trim_end_matches('}'))?;
    for (index, variant) in plan.variants.iter().enumerate() {
        let separator = if index == 0 { "\n" } else { ",\n" };
        let levels: serde_json::Map<String, serde_json::Value> =
            plan.factors.iter().zip(variant.levels.iter()).map(|(f, l)| (f.name.to_string(), json!(*f.levels[*l as usize]))).collect();
        write!(out, "{separator}{{\"id\":{},\"levels\":{},\"reason\":{}}}", ids[index], json!(levels), json!(variant.reason.to_string()))?;
    }
    write!(out, "\n],\n\"trials\":[")?;
    for (index, trial) in plan.trials.iter().enumerate() {
        let separator = if index == 0 { "\n" } else { ",\n" };
        let (variant, block, position, batch) = (&ids[trial.variant as usize], trial.block, trial.position, trial.batch);
        let start = plan.engine_start(trial).map_or_else(String::new, |start| format!(",\"engine_start\":{start}"));
        write!(
            out,
            "{separator}{{\"id\":\"b{block}p{position}\",\"variant\":{variant},\"block\":{block},\"position\":{position},\"batch\":{batch}{start}}}"
        )?;
    }
    writeln!(out, "\n]}}")
}

/// One row per trial; only a plan with private engines has a column for their starts.
pub(super) fn as_csv(out: &mut dyn Write, plan: &Plan) -> std::io::Result<()> {
    let mut writer = csv::Writer::from_writer(out);
    let started = !plan.engine_starts.is_empty();
    let header = ["trial", "variant", "block", "position", "batch", "engine_start"];
    writer.write_record(&header[..if started { 6 } else { 5 }])?;
    for trial in &plan.trials {
        let variant = plan.variants[trial.variant as usize].id.to_string();
        let mut row = vec![trial.id(), variant, trial.block.to_string(), trial.position.to_string(), trial.batch.to_string()];
        if started {
            row.push(start(plan, trial));
        }
        writer.write_record(row)?;
    }
    writer.flush()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::plan::{Reason, Variant};

    /// Two variants, the second one on a private engine, over four blocks with these engine starts.
    fn plan(engine_starts: Vec<u32>) -> Plan {
        let variant = |id: &str, private: bool| Variant {
            id: id.into(),
            levels: Box::default(),
            identity: "0".into(),
            reason: Reason::New,
            private: private && !engine_starts.is_empty(),
        };
        let trial = |index: u32| Trial { variant: index % 2, block: index / 2 + 1, position: index % 2 + 1, batch: index + 1 };
        Plan {
            experiment: "one".to_owned(),
            digest: "0".to_owned(),
            seed: 1,
            factors: Vec::new(),
            variants: vec![variant("e=plain", false), variant("e=private", true), variant("e=plain#aa", false)],
            baseline: 0,
            trials: (0..8).map(trial).collect(),
            blocks: 4,
            engine_starts,
        }
    }

    fn written(print: impl Fn(&mut dyn Write) -> std::io::Result<()>) -> String {
        let mut out = Vec::new();
        print(&mut out).expect("memory");
        String::from_utf8(out).expect("text")
    }

    #[test]
    fn a_plan_shows_its_engine_starts_in_every_form() {
        let plan = plan(vec![1, 1, 2, 2]);
        let table = written(|out| table(out, &plan, &History::new(), None));
        assert!(table.contains("\neach private engine is started 2 times, for blocks 1-2, 3-4\n"), "{table}");
        assert!(table.contains("batch  start  position"), "{table}");
        let csv = written(|out| as_csv(out, &plan));
        let rows: Vec<&str> = csv.lines().collect();
        assert_eq!(rows[0], "trial,variant,block,position,batch,engine_start");
        assert_eq!((rows[1], rows[2]), ("b1p1,e=plain,1,1,1,", "b1p2,e=private,1,2,2,1"));
        assert_eq!(rows[8], "b4p2,e=private,4,2,8,2");
        let read: serde_json::Value = serde_json::from_str(&written(|out| as_json(out, &plan))).expect("json");
        assert_eq!((&read["trials"][0]["engine_start"], &read["trials"][7]["engine_start"]), (&json!(null), &json!(2)));
    }

    #[test]
    fn a_plan_without_private_engines_says_nothing_of_starts() {
        let plan = plan(Vec::new());
        for text in
            [written(|out| table(out, &plan, &History::new(), None)), written(|out| as_csv(out, &plan)), written(|out| as_json(out, &plan))]
        {
            assert!(!text.contains("start"), "{text}");
        }
    }

    #[test]
    fn starts_are_told_in_words() {
        let told = |starts: &[u32]| starts_of(starts).expect("starts");
        fn starts_of(starts: &[u32]) -> Option<String> {
            super::starts(&Plan { blocks: starts.len() as u32, ..plan(starts.to_vec()) })
        }
        assert_eq!(told(&[1, 1, 1]), "each private engine is started once, for all blocks");
        assert_eq!(told(&[1, 2, 3]), "each private engine is started 3 times, anew for each block");
        assert_eq!(told(&[1, 1, 2]), "each private engine is started 2 times, for blocks 1-2, 3");
        let many: Vec<u32> = (0..40).map(|block| block / 2 + 1).collect();
        assert_eq!(told(&many), "each private engine is started 20 times, for up to 2 blocks each");
        assert_eq!(starts_of(&[]), None);
    }
}
