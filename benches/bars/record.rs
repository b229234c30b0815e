//! `report` of a long record: a made-up journal of 100,000 trials in the form that `run` writes.

use super::child;
use super::scene::Scene;
use super::table::{Table, Value, median};
use shakedown::measure::parsers::{self, PARSERS};
use shakedown::model::catalog::Catalog;
use shakedown::model::event::{Event, JOURNAL_FORMAT, RunStarted, TrialRow};
use shakedown::model::metric::{Observation, Unit};
use shakedown::model::outcome::Outcome;
use shakedown::model::plan::SavedPlan;
use shakedown::plan::random::Random;
use shakedown::record::{RunFolder, Store};
use std::io::{BufWriter, Write};

/// A start that no clock gave: every made-up journal is the same.
const AT: &str = "2026-01-01T00:00:00.000Z";

pub fn measure(table: &mut Table) -> Result<(), String> {
    let (seconds, peak) = report(100, 1_000, 3)?;
    table.bar("report of 100,000 trials (100 variants, 1,000 blocks): wall", seconds, Value::Seconds(3.0));
    table.number("  peak memory", peak);
    for (variants, blocks) in [(10, 10_000), (1_000, 100)] {
        let (seconds, peak) = report(variants, blocks, 1)?;
        table.number(&format!("  as {variants} variants in {blocks} blocks: wall"), seconds);
        table.number(&format!("  as {variants} variants in {blocks} blocks: peak memory"), peak);
    }
    let (_, peak) = report(100, 100, 1)?;
    table.number("  a tenth of it (100 variants, 100 blocks): peak memory", peak);
    Ok(())
}

/// Wall and peak of `report`, the middle of so many.
fn report(variants: u32, blocks: u32, times: usize) -> Result<(Value, Value), String> {
    let levels = (1..=variants).map(|n| n.to_string()).collect::<Vec<_>>().join(", ");
    let manifest = format!(
        "title: A long record\nmatrix:\n  size: [{levels}]\n\
         workload: {{on: host, command: \"/bin/true {{{{ size }}}}\"}}\ndesign: {{blocks: {blocks}, seed: 7}}\n"
    );
    let scene = Scene::new(&manifest)?;
    write(&scene, &manifest).map_err(|error| format!("write a record: {error}"))?;
    let usages = (0..times).map(|_| child::run(&mut scene.shakedown(&["report", "bench"]))).collect::<Result<Vec<_>, _>>()?;
    let middle = |part: fn(&child::Usage) -> f64| median(&mut usages.iter().map(part).collect::<Vec<_>>());
    Ok((Value::Seconds(middle(|u| u.wall)), Value::Bytes(middle(|u| u.peak))))
}

/// Plans the manifest and writes a record as if every trial had run.
fn write(scene: &Scene, manifest: &str) -> Result<(), Box<dyn std::error::Error>> {
    let source = shakedown::manifest::Source { name: "bench", folder: scene.path(), text: manifest };
    let (experiment, _) = shakedown::manifest::read(&source, &|_| None).map_err(|problems| format!("{problems:?}"))?;
    let catalog = Catalog {
        parsers: PARSERS.iter().map(|parser| parser.info()).collect(),
        check_extraction: parsers::check,
        check_pattern: parsers::check_pattern,
        charts: shakedown::report::CHARTS,
    };
    let planned = shakedown::plan::plan(&experiment, &catalog, &Default::default(), &Default::default()).map_err(|p| format!("{p:?}"))?;
    let plan = shakedown::plan::saved::saved(&planned);
    let folder = Store::new(&scene.reports(), "bench").create_run("2026-01-01-bench-000000", &plan)?;
    journal(&folder, &plan)?;
    Ok(())
}

fn journal(folder: &RunFolder, plan: &SavedPlan) -> std::io::Result<()> {
    let mut out = BufWriter::new(std::fs::File::create(folder.journal())?);
    let started = RunStarted {
        format: JOURNAL_FORMAT,
        run: "000000".to_owned(),
        experiment: plan.experiment.clone(),
        digest: plan.digest.clone(),
        at: AT.to_owned(),
        version: "0.1.0".to_owned(),
        host: Default::default(),
        engines: Vec::new(),
    };
    line(&mut out, &Event::RunStarted(Box::new(started)))?;
    let mut random = Random::new(1);
    for [block, position, _, variant] in &plan.trials {
        let trial = format!("b{block}p{position}");
        line(&mut out, &Event::TrialStarted { trial: trial.clone(), attempt: 1, at: AT.to_owned() })?;
        let variant = &plan.variants[*variant as usize];
        // One to two seconds, and a little of it on the CPU: full digits, as measured values have them.
        let wall = 1.0 + random.next_u64() as f64 / u64::MAX as f64;
        let metrics = [("wall", wall, Unit::SECOND), ("cpu_seconds", wall / 3.0, Unit::SECOND), ("memory_peak", 1e6, Unit::BYTE)];
        line(
            &mut out,
            &Event::TrialFinished(Box::new(TrialRow {
                engine_start: None,
                trial,
                variant: variant.id.clone(),
                identity: variant.identity.clone(),
                block: *block,
                position: *position,
                attempt: 1,
                at: AT.to_owned(),
                seconds: wall + 0.01,
                outcome: Outcome::Ok,
                failure: None,
                taints: Vec::new(),
                metrics: metrics.into_iter().filter_map(|(name, value, unit)| Observation::finite(name, value, unit)).collect(),
                attested: Vec::new(),
                readings: Vec::new(),
                series: None,
                outputs: Vec::new(),
                problems: Vec::new(),
            })),
        )?;
    }
    line(&mut out, &Event::RunFinished { at: AT.to_owned() })?;
    out.flush()
}

fn line(out: &mut impl Write, event: &Event) -> std::io::Result<()> {
    serde_json::to_writer(&mut *out, event)?;
    out.write_all(b"\n")
}
