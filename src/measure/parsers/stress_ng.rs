//! `stress-ng` 0.03 to 0.19: the rows of `--metrics` and `--metrics-brief` in its log on standard error, and the file of `--yaml`, which has six decimals.
//!
//! When the file is in the output (`--yaml /dev/stdout`, or printed afterwards) and counts the same operations as the row of the log,
//! its numbers take the place of the rounded ones. What a bogo operation is differs from stressor to stressor, and from version to
//! version: with several stressors a sum means nothing and is absent, as are their other numbers.
//!
//! ok: a successful run, metrics of every stressor with at least one operation, no stressor failed or skipped, no error line, and its
//! numbers agree with each other. A stressor that could not even begin is part of a "successful run": it has 0 operations.
//! Several runs in one output: the last counts.

mod log;

use super::constants::{HIGHER, LOWER, info};
use super::plain_text::{pieces, quoted};
use super::reading::Reading;
use super::{Parser, ToolOutput};
use crate::model::catalog::ParserInfo;
use crate::model::metric::{MetricInfo, Parsed, Unit};
use log::{Log, Row};

/// The parser of `stress-ng`.
pub(super) struct StressNg;

const METRICS: &[MetricInfo] = &[
    info(
        "bogo_ops_per_second",
        "1/s",
        HIGHER,
        "operations of all instances over their real time; comparable only within one stressor, method and version; absent with several stressors",
    ),
    info(
        "bogo_ops_per_cpu_second",
        "1/s",
        HIGHER,
        "operations over user and system CPU time, which other load on the host changes less; absent without CPU time and with several stressors",
    ),
    info("bogo_ops", "1", None, "operations of all instances; absent with several stressors"),
    info("duration", "s", None, "real time of the instances, their mean; absent with several stressors"),
    info("user", "s", LOWER, "user CPU time of all instances; absent with several stressors"),
    info("sys", "s", LOWER, "system CPU time of all instances; absent with several stressors"),
    info("cpu_usage", "1", None, "CPUs that one instance used, as a ratio; only with --metrics or in the file of --yaml"),
    info("max_resident", "B", LOWER, "largest resident set of an instance; only with --metrics or in the file of --yaml"),
];

impl Parser for StressNg {
    fn info(&self) -> ParserInfo {
        ParserInfo { name: "stress-ng", about: "stress-ng: bogo operations per second and per second of CPU time", metrics: METRICS }
    }

    fn parse(&self, output: &ToolOutput<'_>) -> Parsed {
        let mut reading = Reading::default();
        let text = output.both();
        let runs = pieces(&text, log::begins);
        let log = runs.last().map(|run| Log::read(run)).unwrap_or_default();
        for line in text.lines().filter_map(log::complaint) {
            reading.fail(quoted(line));
        }
        if log.is_there() {
            tell(&log, &mut reading);
        } else if reading.is_ok() {
            reading.fail("no metrics of stress-ng in the output: add `--metrics-brief`");
        }
        if runs.len() > 1 {
            reading.beware("several runs of stress-ng: the last one counts");
        }
        reading.finish(output)
    }
}

fn tell(log: &Log, reading: &mut Reading) {
    for (count, what) in [(log.failed, "failed"), (log.skipped, "were skipped")] {
        if let Some(count) = count.filter(|count| *count > 0.0) {
            reading.fail(format!("{count} instances of stressors {what}"));
        }
    }
    if let Some(count) = log.untrustworthy.filter(|count| *count > 0.0) {
        reading.fail(format!("stress-ng does not trust the metrics of {count} instances itself"));
    }
    let rows = &log.rows;
    if log.torn || (log.begun && log.dispatched.is_none()) {
        return reading.fail("the metrics of stress-ng are damaged or cut off");
    }
    if rows.is_empty() {
        reading.fail("no metrics of stress-ng in the output: add `--metrics-brief`");
    } else if let Some(dispatched) = log.dispatched.filter(|dispatched| *dispatched > rows.len()) {
        return reading.fail(format!("metrics of {} of {dispatched} stressors only", rows.len()));
    } else if !log.ended {
        reading.fail("the log of stress-ng does not tell of a successful run: it was interrupted, or is cut off");
    }
    for row in rows.iter().filter(|row| row.operations == 0.0) {
        reading.fail(format!("the stressor {} did nothing: 0 operations", quoted(&row.stressor)));
    }
    if rows.iter().any(Row::contradicts_itself) {
        return reading.fail("the metrics of stress-ng contradict themselves: a rate is not its operations over its time");
    }
    match rows[..] {
        [] => {}
        [ref row] => metrics(row, reading),
        _ => {
            let names: Vec<&str> = rows.iter().map(|row| row.stressor.as_str()).collect();
            reading.beware(format!(
                "several stressors ({}), whose operations are not the same: a sum means nothing and is absent; run each as a workload of its own",
                names.join(", ")
            ));
        }
    }
    if log.yaml_differs {
        reading.beware("the file of --yaml is damaged, or counts other operations than the log: the rounded numbers of the log count");
    }
}

fn metrics(row: &Row, reading: &mut Reading) {
    reading.metric("bogo_ops_per_second", row.per_second, Unit::PER_SECOND);
    if row.user + row.system > 0.0 {
        reading.metric("bogo_ops_per_cpu_second", row.per_cpu_second, Unit::PER_SECOND);
    }
    reading.metric("bogo_ops", row.operations, Unit::ONE);
    if row.duration > 0.0 {
        reading.metric("duration", row.duration, Unit::SECOND);
    }
    reading.metric("user", row.user, Unit::SECOND);
    reading.metric("sys", row.system, Unit::SECOND);
    reading.metric_if("cpu_usage", row.cpu_usage, Unit::ONE);
    reading.metric_if("max_resident", row.max_resident, Unit::BYTE);
}
