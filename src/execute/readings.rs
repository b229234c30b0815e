//! What a trial's numbers are made of: engine stamps, counters, parsed output.

use crate::engine::{Exit, Output};
use crate::measure::parsers::{self, ToolOutput};
use crate::model::metric::{Observation, Unit};
use crate::model::outcome::{Failure, FailureKind, Phase};
use crate::model::spec::WorkloadSpec;

/// The metrics of one workload from its output and stamps, and what its parsers complain about.
pub(super) struct Reading {
    pub(super) metrics: Vec<Observation>,
    pub(super) problems: Vec<String>,
    pub(super) failure: Option<Failure>,
}

/// Why an exit is a failure; none when it is not.
pub(super) fn judge(workload: &WorkloadSpec, exit: &Exit) -> Option<Failure> {
    let failed = |kind, reason: String| Some(Failure { phase: Phase::Measure, kind, reason: format!("{}{reason}", of(workload)) });
    match exit.code {
        _ if exit.oom => failed(FailureKind::OutOfMemory, "killed by the kernel for memory".to_owned()),
        0 => None,
        code @ 129..=192 => failed(FailureKind::Signal, format!("ended by signal {} (exit code {code})", code - 128)),
        code => failed(FailureKind::ExitCode, format!("exit code {code}")),
    }
}

/// A workload's name in front of a reason, where there are several.
fn of(workload: &WorkloadSpec) -> String {
    if workload.name == "workload" { String::new() } else { format!("`{}`: ", workload.name) }
}

/// Parses a workload's output and adds its wall time.
pub(super) fn read(workload: &WorkloadSpec, exit: &Exit, output: &Output) -> Reading {
    let tool = ToolOutput { stdout: &output.stdout.bytes, stderr: &output.stderr.bytes, exit_code: Some(exit.code) };
    let mut reading = Reading { metrics: Vec::new(), problems: Vec::new(), failure: None };
    for spec in &workload.parse {
        let parsed = parsers::run(spec, &tool);
        if !parsed.ok && reading.failure.is_none() {
            let reason =
                if parsed.problems.is_empty() { "the output does not show a result".to_owned() } else { parsed.problems.join("; ") };
            reading.failure =
                Some(Failure { phase: Phase::Collect, kind: FailureKind::Parser, reason: format!("{}{reason}", of(workload)) });
        }
        reading.problems.extend(parsed.problems);
        reading.metrics.extend(parsed.metrics);
    }
    // A daemon stamps the start after its start call: a command of a few milliseconds can end before it began.
    if exit.finished_ns > exit.started_ns {
        let wall = (exit.finished_ns - exit.started_ns) as f64 / 1e9;
        reading.metrics.extend(Observation::finite("wall", wall, Unit::SECOND));
    } else {
        reading.problems.push(format!("{}the engine's stamps say that it ended before it began: too short for them", of(workload)));
    }
    reading
}

/// The last lines of what a failed command said on standard error: what a person needs to see first.
pub(super) fn last_words(output: &Output) -> Option<String> {
    let text = String::from_utf8_lossy(if output.stderr.bytes.is_empty() { &output.stdout.bytes } else { &output.stderr.bytes });
    let last = text.lines().map(str::trim).rfind(|line| !line.is_empty())?;
    Some(last.chars().take(200).collect())
}
