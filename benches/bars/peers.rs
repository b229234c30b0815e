//! What peers take for the same work, in the same minute: hyperfine and ReBench with 200 runs of `/bin/true`, ReBench's own plan.

use super::child::{self, Usage};
use super::scene::Scene;
use super::table::{Table, Value};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Runs of each.
const RUNS: u32 = 200;
/// Runs that a peer is asked to plan.
const PLANNED: u32 = 10_000;
/// How long an installation may take, for `timeout`.
const PATIENCE: &str = "60";

pub fn measure(table: &mut Table) -> Result<(), String> {
    let scene = Scene::new("title: Nothing, on the host\nworkload: {on: host, command: /bin/true}\nobserve: {idle_gate: off}\n")?;
    let ran = scene.run(RUNS / 2)?;
    tell(table, "shakedown: 200 trials of /bin/true, A/A control, journal and report", ran.usage);
    match available("hyperfine", &["--version"]) {
        Some(program) => tell(table, "hyperfine -N: 200 runs of /bin/true", hyperfine(&program, scene.path())?),
        None => table.note("hyperfine: not available"),
    }
    match rebench() {
        Ok(program) => {
            tell(table, "ReBench: 200 invocations of /bin/true", rebench_runs(&program, scene.path())?);
            let usage = rebench_plan(&program, scene.path())?;
            table.number(&format!("ReBench: its plan of {PLANNED} runs: CPU"), Value::Seconds(usage.cpu));
            table.number(&format!("ReBench: its plan of {PLANNED} runs: wall"), Value::Seconds(usage.wall));
        }
        Err(reason) => table.note(&format!("ReBench: not available: {reason}")),
    }
    Ok(())
}

fn tell(table: &mut Table, name: &str, usage: Usage) {
    table.number(&format!("{name}: total"), Value::Seconds(usage.wall));
    table.number("  each", Value::Seconds(usage.wall / f64::from(RUNS)));
}

fn available(program: &str, words: &[&str]) -> Option<PathBuf> {
    let status = Command::new(program).args(words).stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success()).then(|| PathBuf::from(program))
}

fn hyperfine(program: &Path, folder: &Path) -> Result<Usage, String> {
    let runs = RUNS.to_string();
    let words = ["-N", "--style", "none", "--warmup", "0", "--runs", &runs, "--export-json", "hyperfine.json", "/bin/true"];
    child::run(Command::new(program).args(words).current_dir(folder).stdout(Stdio::null()))
}

/// ReBench in an environment of its own below the target folder; installed once.
fn rebench() -> Result<PathBuf, String> {
    let exe = std::env::current_exe().map_err(|error| error.to_string())?;
    let target = exe.ancestors().nth(3).ok_or("there is no target folder")?;
    let environment = target.join("bench-peers");
    let program = environment.join("bin/rebench");
    if program.is_file() {
        return Ok(program);
    }
    let quiet = |program: &Path, words: &[&str]| {
        let mut command = Command::new("timeout");
        command.arg(PATIENCE).arg(program).args(words).stdout(Stdio::null());
        child::run(&mut command).map_err(|error| error.lines().last().unwrap_or_default().trim().to_owned())
    };
    quiet(Path::new("python3"), &["-m", "venv", &environment.to_string_lossy()])?;
    quiet(&environment.join("bin/pip"), &["install", "--quiet", "--disable-pip-version-check", "rebench"])?;
    if program.is_file() { Ok(program) } else { Err("pip installed no `rebench`".to_owned()) }
}

/// A configuration with so many inputs, each to be invoked so often.
fn configuration(inputs: u32, invocations: u32) -> String {
    let sizes = (1..=inputs).map(|n| n.to_string()).collect::<Vec<_>>().join(", ");
    format!(
        "default_experiment: all\ndefault_data_file: rebench.data\n\
         benchmark_suites:\n  nothing:\n    gauge_adapter: Time\n    command: \"\"\n    input_sizes: [{sizes}]\n    \
         invocations: {invocations}\n    benchmarks: [none]\n\
         executors:\n  \"true\": {{path: /bin, executable: \"true\"}}\n\
         experiments:\n  all:\n    executions:\n      - \"true\": {{suites: [nothing]}}\n"
    )
}

fn rebench_runs(program: &Path, folder: &Path) -> Result<Usage, String> {
    std::fs::write(folder.join("runs.conf"), configuration(1, RUNS)).map_err(|error| error.to_string())?;
    // Without -D it would change settings of the machine.
    let words = ["-D", "-c", "runs.conf"];
    child::run(Command::new(program).args(words).current_dir(folder).stdout(Stdio::null()))
}

fn rebench_plan(program: &Path, folder: &Path) -> Result<Usage, String> {
    std::fs::write(folder.join("plan.conf"), configuration(PLANNED, 1)).map_err(|error| error.to_string())?;
    child::run(Command::new(program).args(["-D", "-p", "plan.conf"]).current_dir(folder).stdout(Stdio::null()))
}
