//! What observing costs: the sampling thread's own CPU time; and the program measures itself with samples and without, interleaved, and judges that as it judges anything.

use super::child;
use super::scene::Scene;
use super::table::{Table, Value};
use shakedown::engine::control::{self, Control};
use shakedown::measure::samplers::{Sampler, Subject};
use shakedown::model::spec::LimitsSpec;
use std::time::Duration;

/// Blocks of the comparison: with a noise of 2 % this many show an equivalence of 1 %.
const BLOCKS: u32 = 60;

/// The outer experiment. Its workload is a whole run of an inner one; what counts is the inner workload's own time, as the inner run
/// measured it.
const OUTER: &str = r#"title: Samples against none
matrix: {observed: ['off', '1s']}
workload:
  on: host
  command:
    - /bin/sh
    - -c
    - |
      cd FOLDER/{{ observed }} && rm -rf reports && "$SHAKEDOWN" run inner.yaml --together >/dev/null 2>&1 &&
      grep -o '"name":"wall","value":[0-9.]*' reports/inner/runs/*/journal.jsonl | awk -F: '{ sum += $NF } END { print "walls: " sum }'
  environment: {SHAKEDOWN: 'PROGRAM'}
  parse: {regex: {inner_wall: {pattern: 'walls: ([0-9.]+)', unit: s, better: lower}}}
metrics: {inner_wall: {primary: true}}
design: {margin: 1%, min_effect: 1%}
observe: {interval: off, idle_gate: off}
"#;

/// The inner experiment: some seconds of one CPU in two trials, the same work every time.
const INNER: &str = "workload: {on: host, command: [/usr/bin/awk, 'BEGIN { for (i = 0; i < 15000000; i++) x += i }']}\n\
                     design: {blocks: 1}\n";

/// How long the samples are watched, in how many groups.
const WATCHED: Duration = Duration::from_secs(10);
const UNITS: usize = 8;

pub fn measure(table: &mut Table) -> Result<(), String> {
    cost(table)?;
    difference(table)
}

/// CPU time of the sampling thread itself, for a large trial.
fn cost(table: &mut Table) -> Result<(), String> {
    let layout = control::layout().map_err(|error| error.to_string())?;
    if !control::may_make_groups(&layout) {
        table.note("samples of 8 units at 1 Hz: not available: no control groups may be made");
        return Ok(());
    }
    let groups = Control::new(layout.clone());
    // Groups of no run: whoever starts one meanwhile sweeps what dead runs left.
    let paths: Vec<String> = (0..UNITS).map(|unit| format!("shakedown-bench-{}/unit{unit}", std::process::id())).collect();
    let made = paths.iter().try_for_each(|path| groups.create(path, &LimitsSpec::default()));
    let unit = |path: &String| Subject::Unit { name: path.clone(), cgroup: path.clone(), leaf: Some(path.clone()) };
    let sampler = made.is_ok().then(|| {
        let subjects = paths.iter().map(unit).chain([Subject::Host, Subject::Observer]).collect();
        let sampler = Sampler::start(&layout, Duration::from_secs(1), subjects);
        std::thread::sleep(WATCHED);
        sampler.map(Sampler::finish)
    });
    for path in &paths {
        groups.remove(path).map_err(|error| error.to_string())?;
    }
    made.map_err(|error| error.to_string())?;
    let sampled = sampler.flatten().ok_or("no thread")?;
    let share = Value::Share(sampled.cpu_seconds / WATCHED.as_secs_f64());
    table.bar(&format!("samples of {UNITS} units and the host at 1 Hz, share of one CPU"), share, Value::Share(0.0005));
    table.number("  one sample", Value::Seconds(sampled.cpu_seconds / sampled.series.samples.len() as f64));
    Ok(())
}

/// What a workload feels of it.
fn difference(table: &mut Table) -> Result<(), String> {
    let scene = Scene::new("")?;
    let outer = OUTER.replace("PROGRAM", super::scene::SHAKEDOWN).replace("FOLDER", &scene.path().display().to_string());
    std::fs::write(scene.path().join("bench.yaml"), outer).map_err(|error| error.to_string())?;
    for interval in ["off", "1s"] {
        let folder = scene.path().join(interval);
        std::fs::create_dir(&folder).map_err(|error| error.to_string())?;
        let manifest = format!("{INNER}observe: {{interval: {interval}, idle_gate: off}}\n");
        std::fs::write(folder.join("inner.yaml"), manifest).map_err(|error| error.to_string())?;
    }
    child::run(&mut scene.shakedown(&["run", "bench.yaml", "--blocks", &BLOCKS.to_string()]))?;
    let effects = std::fs::read_to_string(scene.reports().join("bench/effects.csv")).map_err(|error| error.to_string())?;
    let mut lines = effects.lines().map(|line| line.split(',').collect::<Vec<&str>>());
    let header = lines.next().ok_or("no effects")?;
    for row in lines {
        let cell = |name: &str| header.iter().position(|column| *column == name).and_then(|at| row.get(at)).copied().unwrap_or_default();
        let number = |name: &str| cell(name).parse::<f64>().map_err(|error| format!("{name}: {error}"));
        let what = if cell("variant").ends_with("#aa") { "A/A of no samples" } else { "time of a workload, sampled at 1 Hz / not sampled" };
        table.number(what, Value::Times(number("ratio")?));
        table.note(&format!("  {:.4} to {:.4}, n = {}: {} within 1 %", number("low")?, number("high")?, cell("n"), cell("verdict")));
    }
    Ok(())
}
