//! Parsers: what a tool printed, as metrics in base units, with an `ok` rule per tool that catches exit 0 after total failure.
//!
//! One file per tool, a line in [`PARSERS`], and fixtures. Text preparation has one home (`plain_text`), so has the reading of
//! numbers (`number`). What no tool file knows can be declared in the manifest (`declared`). Pure: bytes in, values out; no parser
//! guesses: a line that does not have its form yields nothing, and what is missing is absent, never 0.
//!
//! Problems list what made the output not ok first, then what to beware of.

mod ab;
mod answers;
mod autocannon;
mod constants;
mod csv_table;
mod dd;
mod declared;
mod docker_stats;
mod few_samples;
mod fio;
mod hey;
mod hping3;
mod httperf;
mod hyperfine;
mod iperf3;
mod isucon13;
mod isucon14;
mod isucon4;
mod isucon_result;
mod k6;
mod last_json;
mod latencies;
mod locust;
mod memcaslap;
mod memcslap;
mod mysqlslap;
mod number;
mod oha;
mod pgbench;
mod ping;
mod plain_text;
mod private_isu;
mod reading;
mod redis_benchmark;
mod repeated_keys;
mod round_trips;
mod siege;
mod stress_ng;
mod sysbench;
mod time;
mod top;
mod wrk;

pub use declared::pattern;

use crate::model::catalog::ParserInfo;
use crate::model::diagnostic::suggestion;
use crate::model::metric::{MetricInfo, Parsed};
use crate::model::spec::ParseSpec;

/// What a command left behind.
#[derive(Debug, Clone, Copy, Default)]
pub struct ToolOutput<'a> {
    /// Standard output; or both streams merged, when they were kept so.
    pub stdout: &'a [u8],
    /// Standard error.
    pub stderr: &'a [u8],
    /// Exit code; none when it is not known, then the text alone decides.
    pub exit_code: Option<i64>,
}

/// Reads the output of one tool.
pub trait Parser: Sync {
    /// Its name and what it can yield, the main metric first.
    fn info(&self) -> ParserInfo;

    /// Reads an output; finds its lines in either stream and never panics.
    fn parse(&self, output: &ToolOutput<'_>) -> Parsed;

    /// Whether the tool answers with this exit code other than 0, instead of failing: its numbers are complete.
    fn is_answer(&self, _exit_code: i64) -> bool {
        false
    }
}

/// Every parser, by name.
pub static PARSERS: &[&dyn Parser] = &[
    &ab::Ab,
    &autocannon::Autocannon,
    &dd::Dd,
    &docker_stats::DockerStats,
    &fio::Fio,
    &hey::Hey,
    &hping3::Hping3,
    &httperf::Httperf,
    &hyperfine::Hyperfine,
    &iperf3::Iperf3,
    &isucon13::Isucon13,
    &isucon14::Isucon14,
    &isucon4::Isucon4,
    &k6::K6,
    &locust::Locust,
    &memcaslap::Memcaslap,
    &memcslap::Memcslap,
    &mysqlslap::Mysqlslap,
    &oha::Oha,
    &pgbench::Pgbench,
    &ping::Ping,
    &private_isu::PrivateIsu,
    &redis_benchmark::RedisBenchmark,
    &siege::Siege,
    &stress_ng::StressNg,
    &sysbench::Sysbench,
    &time::Time,
    &top::Top,
    &wrk::Wrk,
];

/// The parser of that name.
#[must_use]
pub fn find(name: &str) -> Option<&'static dyn Parser> {
    PARSERS.iter().copied().find(|parser| parser.info().name == name)
}

/// Reads an output as the manifest asks.
#[must_use]
pub fn run(spec: &ParseSpec, output: &ToolOutput<'_>) -> Parsed {
    match spec {
        ParseSpec::Tool(name) => match find(name) {
            Some(parser) => parser.parse(output),
            None => Parsed { ok: false, problems: vec![format!("unknown parser `{name}`")], metrics: Vec::new() },
        },
        ParseSpec::Regex(extractions) => declared::regex(extractions, output),
        ParseSpec::Json(extractions) => declared::json(extractions, output),
        ParseSpec::Csv(extractions) => declared::csv(extractions, output),
    }
}

/// Whether an exit code other than 0 is an answer of the tool that `spec` names.
#[must_use]
pub fn is_answer(spec: &ParseSpec, exit_code: i64) -> bool {
    matches!(spec, ParseSpec::Tool(name) if find(name).is_some_and(|parser| parser.is_answer(exit_code)))
}

/// Says at plan time why `spec` can never yield anything.
///
/// # Errors
/// An unknown tool, or a pattern, path or column that cannot be used; a sentence that names the metric.
pub fn check(spec: &ParseSpec) -> Result<(), String> {
    match spec {
        ParseSpec::Tool(name) if find(name).is_none() => {
            let help = suggestion(name, PARSERS.iter().map(|parser| parser.info().name));
            Err(format!("unknown parser `{name}`{}", help.map(|help| format!("; {help}")).unwrap_or_default()))
        }
        ParseSpec::Tool(_) => Ok(()),
        ParseSpec::Regex(extractions) => extractions.iter().try_for_each(declared::check_regex),
        ParseSpec::Json(extractions) => extractions.iter().try_for_each(declared::check_json),
        ParseSpec::Csv(extractions) => extractions.iter().try_for_each(declared::check_csv),
    }
}

/// Says at plan time why a pattern tells nothing of a service's lines.
///
/// # Errors
/// It does not compile, is too large, or matches the empty text.
pub fn check_pattern(text: &str) -> Result<(), String> {
    match pattern(text)?.is_match("") {
        true => Err(format!("the expression `{text}` also matches the empty text")),
        false => Ok(()),
    }
}

/// Every metric of every parser, with the parser's name: the dictionary of METHODOLOGY.md.
#[must_use]
pub fn dictionary() -> Vec<(&'static str, MetricInfo)> {
    PARSERS.iter().map(|parser| parser.info()).flat_map(|info| info.metrics.iter().map(move |metric| (info.name, *metric))).collect()
}
