//! What a trial's numbers are made of: engine stamps, counters, parsed output.

use crate::engine::{Captured, Exit, Output};
use crate::measure::parsers::{self, ToolOutput};
use crate::model::metric::{Observation, Unit};
use crate::model::outcome::{Failure, FailureKind, Phase};
use crate::model::spec::{Extraction, ParseSpec, Pick, Stream, WorkloadSpec};
use std::borrow::Cow;
use std::time::Duration;

/// Signals that usually end a program: an engine tells 128 + n only, and so does a shell of its child.
const DEADLY: &[i64] = &[1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 13, 14, 15, 24, 25, 31];

/// The metrics of one workload from its output and stamps, and what its parsers complain about.
pub(super) struct Reading {
    pub(super) metrics: Vec<Observation>,
    pub(super) problems: Vec<String>,
    pub(super) failure: Option<Failure>,
}

/// Why an exit is a failure; none when it is not, which some tools also tell by a code of their own.
pub(super) fn judge(name: &str, parse: &[ParseSpec], exit: &Exit) -> Option<Failure> {
    let failed = |kind, reason: String| Some(Failure { phase: Phase::Measure, kind, reason: format!("{}{reason}", of(name)) });
    let code = exit.code;
    let signal = exit.signal.map(i64::from).or_else(|| Some(code - 128).filter(|signal| DEADLY.contains(signal)));
    match signal {
        _ if exit.oom => failed(FailureKind::OutOfMemory, "killed by the kernel for memory".to_owned()),
        Some(signal) => failed(FailureKind::Signal, format!("ended by signal {signal} (exit code {code})")),
        None if code == 0 || parse.iter().any(|spec| parsers::is_answer(spec, code)) => None,
        None => failed(FailureKind::ExitCode, format!("exit code {code}")),
    }
}

/// A unit's name in front of a reason, where there are several.
fn of(name: &str) -> String {
    if name == "workload" { String::new() } else { format!("`{name}`: ") }
}

/// Parses a workload's output and adds its wall time.
pub(super) fn read(workload: &WorkloadSpec, exit: &Exit, output: &Output) -> Reading {
    let (stdout, stderr) = (whole_lines(&output.stdout), whole_lines(&output.stderr));
    let tool = ToolOutput { stdout: &stdout, stderr: &stderr, exit_code: Some(exit.code) };
    let mut reading = Reading { metrics: Vec::new(), problems: Vec::new(), failure: None };
    for spec in &workload.parse {
        if let Some(reason) = lacks(spec, output) {
            let reason = format!("{}{reason}", of(&workload.name));
            reading.failure.get_or_insert(Failure { phase: Phase::Collect, kind: FailureKind::Parser, reason });
            continue;
        }
        let parsed = parsers::run(spec, &tool);
        if !parsed.ok && reading.failure.is_none() {
            let reason =
                if parsed.problems.is_empty() { "the output does not show a result".to_owned() } else { parsed.problems.join("; ") };
            reading.failure =
                Some(Failure { phase: Phase::Collect, kind: FailureKind::Parser, reason: format!("{}{reason}", of(&workload.name)) });
        }
        reading.problems.extend(parsed.problems);
        reading.metrics.extend(parsed.metrics);
    }
    // A daemon stamps the start after its start call: a command of a few milliseconds can end before it began.
    if exit.finished_ns > exit.started_ns {
        let wall = (exit.finished_ns - exit.started_ns) as f64 / 1e9;
        reading.metrics.extend(Observation::finite("wall", wall, Unit::SECOND));
    } else {
        reading.problems.push(format!("{}the engine's stamps say that it ended before it began: too short for them", of(&workload.name)));
    }
    reading
}

/// What was kept of a stream; where the middle was left out, without the line that it tore off and the one that it began within.
fn whole_lines(stream: &Captured) -> Cow<'_, [u8]> {
    if !is_cut(stream) {
        return Cow::Borrowed(&stream.bytes);
    }
    let (head, tail) = stream.bytes.split_at(stream.bytes.len() / 2);
    let ends = head.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let begins = tail.iter().position(|byte| *byte == b'\n').map_or(tail.len(), |at| at + 1);
    Cow::Owned([&head[..ends], &tail[begins..]].concat())
}

fn is_cut(stream: &Captured) -> bool {
    stream.total > stream.bytes.len() as u64
}

/// Why a parser cannot do with what was kept: all but the first and the last match may hide in the middle that was left out.
fn lacks(spec: &ParseSpec, output: &Output) -> Option<String> {
    let (stdout, stderr) = (is_cut(&output.stdout), is_cut(&output.stderr));
    let reads_cut = |extraction: &Extraction| match extraction.from {
        Stream::Stdout => stdout,
        Stream::Stderr => stderr,
        Stream::Both => stdout || stderr,
    };
    let lacking = match spec {
        ParseSpec::Tool(_) => stdout || stderr,
        ParseSpec::Regex(list) | ParseSpec::Json(list) | ParseSpec::Csv(list) => {
            list.iter().any(|extraction| reads_cut(extraction) && !matches!(extraction.pick, Pick::First | Pick::Last))
        }
    };
    lacking.then(|| {
        let (total, kept) = [&output.stdout, &output.stderr]
            .into_iter()
            .filter(|stream| is_cut(stream))
            .map(|stream| (stream.total, stream.bytes.len()))
            .max()
            .unwrap_or_default();
        format!("the command wrote {total} bytes and {kept} were kept: what was left out cannot be read; let it write less, or to a file")
    })
}

/// Whether the engine's clock was set between its stamps. Our own clock cannot be: from before the start was asked to the news of
/// the exit it is an upper bound, from the start's answer on a lower one, give or take what calls cost.
pub(super) fn clock_stepped(exit: &Exit, longest: Duration, shortest: Duration) -> bool {
    let told = (exit.finished_ns - exit.started_ns) as f64 / 1e9;
    exit.time_of_day && (told > longest.as_secs_f64() + 0.1 || told < shortest.as_secs_f64() - 2.0)
}

/// The last lines of what a failed command said on standard error: what a person needs to see first.
pub(super) fn last_words(output: &Output) -> Option<String> {
    let text = String::from_utf8_lossy(if output.stderr.bytes.is_empty() { &output.stdout.bytes } else { &output.stderr.bytes });
    let last = text.lines().map(str::trim).rfind(|line| !line.is_empty())?;
    Some(last.chars().take(200).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::metric::Unit;

    fn exit(code: i64, signal: Option<i32>) -> Exit {
        Exit { code, signal, oom: false, image: None, started_ns: 0, finished_ns: 5_000_000_000, time_of_day: true }
    }

    #[test]
    fn an_exit_code_above_128_is_a_signal_only_where_one_is_known_or_likely() {
        use FailureKind::{ExitCode, Signal};
        let table = [
            (0, None, None),
            (99, None, None),
            (1, None, Some(ExitCode)),
            (150, None, Some(ExitCode)),
            (150, Some(22), Some(Signal)),
            (137, None, Some(Signal)),
            (255, None, Some(ExitCode)),
        ];
        for (code, signal, kind) in table {
            assert_eq!(
                judge("workload", &[ParseSpec::Tool("k6".into())], &exit(code, signal)).map(|failure| failure.kind),
                kind,
                "{code} {signal:?}"
            );
        }
    }

    #[test]
    fn torn_lines_are_no_lines_and_only_ends_are_read_of_a_cut_stream() {
        let cut = Captured { bytes: b"a 1\nb 234 9\nc 5\n".to_vec(), total: 100 };
        assert_eq!(&*whole_lines(&cut), b"a 1\nc 5\n");
        let whole = Captured { total: cut.bytes.len() as u64, ..cut.clone() };
        assert_eq!(&*whole_lines(&whole), whole.bytes);
        let extraction = |pick, from| Extraction { name: "m".into(), pattern: "x".into(), from, pick, unit: Unit::SECOND, better: None };
        let output = Output { stdout: cut, stderr: Captured::default() };
        let table = [
            (ParseSpec::Tool("dd".into()), true),
            (ParseSpec::Regex(vec![extraction(Pick::Last, Stream::Both), extraction(Pick::First, Stream::Stdout)]), false),
            (ParseSpec::Regex(vec![extraction(Pick::Last, Stream::Both), extraction(Pick::Sum, Stream::Stdout)]), true),
            (ParseSpec::Csv(vec![extraction(Pick::Sum, Stream::Stderr)]), false),
        ];
        for (spec, lacking) in table {
            assert_eq!(lacks(&spec, &output).is_some(), lacking, "{spec:?}");
            assert_eq!(lacks(&spec, &Output { stdout: whole.clone(), stderr: Captured::default() }), None);
        }
    }

    #[test]
    fn a_clock_that_was_set_shows_between_the_bounds_of_one_that_cannot_be() {
        let seconds = Duration::from_secs_f64;
        for (longest, shortest, stepped) in [(5.05, 4.9, false), (4.95, 4.8, false), (4.8, 4.7, true), (9.0, 6.9, false), (9.0, 7.1, true)]
        {
            assert_eq!(clock_stepped(&exit(0, None), seconds(longest), seconds(shortest)), stepped, "{longest} {shortest}");
            assert!(!clock_stepped(&Exit { time_of_day: false, ..exit(0, None) }, seconds(longest), seconds(shortest)));
        }
    }
}
