//! `mysqlslap` and `mariadb-slap`: the block of seconds that it prints for each number of clients, or the rows of `--csv`.
//!
//! A block is `Average`, `Minimum` and `Maximum number of seconds to run all queries`, the clients, and the queries of each. A row of
//! `--csv` has the same numbers without any name: `engine,load,average,minimum,maximum,clients,queries per client`. Both are rounded to
//! whole milliseconds: 0.000 is below the resolution and therefore absent. `--silent` prints nothing, `--csv=FILE` into the file.
//!
//! ok: a complete block or row, and no error line. Exit code 0 says nothing: clients that cannot connect, try again and give up are timed
//! all the same. What they would have asked was not asked then, so queries and their rate are absent. Several blocks or rows in one
//! output (`--concurrency=1,4`, several engines): the last counts.

use super::constants::{HIGHER, LOWER, info, pattern};
use super::plain_text::quoted;
use super::reading::Reading;
use super::{Parser, ToolOutput, number};
use crate::model::catalog::ParserInfo;
use crate::model::metric::{MetricInfo, Parsed, Unit};
use regex::Regex;
use std::sync::LazyLock;

/// The parser of `mysqlslap`.
pub(super) struct Mysqlslap;

const METRICS: &[MetricInfo] = &[
    info(
        "queries_per_second",
        "1/s",
        HIGHER,
        "queries over duration, computed: as rough as the whole milliseconds of the duration; absent with it, or when queries failed",
    ),
    info(
        "duration",
        "s",
        LOWER,
        "time in which all clients ran all queries, connecting included; mean of the iterations, in whole ms; absent when printed as 0.000",
    ),
    info("duration_min", "s", LOWER, "the same of the fastest iteration"),
    info("duration_max", "s", LOWER, "the same of the slowest iteration"),
    info("queries", "1", None, "of all clients in one iteration: clients times queries per client, which mysqlslap rounds down"),
];

/// Below this, whole milliseconds are more than 1 % of the time.
const SHORTEST_FINE: f64 = 0.05;

/// What a block or row says.
#[derive(Debug, Clone, Copy, Default)]
struct Block {
    /// Average, minimum and maximum, s.
    seconds: [Option<f64>; 3],
    clients: Option<f64>,
    queries_per_client: Option<f64>,
}

static SECONDS: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^(Average|Minimum|Maximum) number of seconds to run all queries: (\d+\.\d{3}) seconds$"));
static COUNT: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^(Number of clients running queries|Average number of queries per client): (\d+)$"));
static ROW: LazyLock<Regex> = LazyLock::new(|| pattern(r"^[A-Za-z_]*,[a-z]+,(\d+\.\d{3}),(\d+\.\d{3}),(\d+\.\d{3}),(\d+),(\d+)$"));
static COMPLAINT: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^(?:\S*/)?(?:mysqlslap|mariadb-slap): .+$|^\S*sh: .*\b(?:mysqlslap|mariadb-slap): (?:command )?not found$"));
/// Said of every run with a password on the command line, or under the old name.
static WARNING: LazyLock<Regex> = LazyLock::new(|| pattern(r"^\S+: (?:\[Warning\]|Deprecated program name)"));

impl Parser for Mysqlslap {
    fn info(&self) -> ParserInfo {
        ParserInfo {
            name: "mysqlslap",
            about: "mysqlslap and mariadb-slap: seconds to run all queries, queries per second",
            metrics: METRICS,
        }
    }

    fn parse(&self, output: &ToolOutput<'_>) -> Parsed {
        let mut reading = Reading::default();
        let text = output.both();
        for line in text.lines().map(str::trim).filter(|line| COMPLAINT.is_match(line) && !WARNING.is_match(line)) {
            reading.fail(quoted(line));
        }
        let blocks = blocks(&text);
        match blocks.last() {
            Some(block) => tell(block, &mut reading),
            None => reading.fail("no result of mysqlslap in the output (`--silent` prints none, `--csv=FILE` writes it into the file)"),
        }
        if blocks.len() > 1 {
            reading.beware("several results of mysqlslap (of several numbers of clients, or engines): the last one counts");
        }
        reading.finish(output)
    }
}

/// Every block and row. A line that does not fit into the block before it begins a new one, so that no block is made of two.
fn blocks(text: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open = Block::default();
    for line in text.lines().map(str::trim) {
        if let Some(found) = ROW.captures(line) {
            close(&mut open, &mut blocks);
            let at = |at: usize| number::point(&found[at]);
            let row =
                Block { seconds: [at(1), at(2), at(3)], clients: number::count(&found[4]), queries_per_client: number::count(&found[5]) };
            blocks.push(row);
        } else if line == "Benchmark" {
            close(&mut open, &mut blocks);
        } else if let Some((field, value)) = field(line) {
            if open.field(field).is_some() {
                close(&mut open, &mut blocks);
            }
            *open.field(field) = value;
        }
    }
    close(&mut open, &mut blocks);
    blocks
}

fn close(open: &mut Block, blocks: &mut Vec<Block>) {
    let block = std::mem::take(open);
    if block.is_begun() {
        blocks.push(block);
    }
}

/// Which field a line holds, by its first word, and its number.
fn field(line: &str) -> Option<(usize, Option<f64>)> {
    if let Some(found) = SECONDS.captures(line) {
        let place = ["Average", "Minimum", "Maximum"].iter().position(|name| *name == &found[1])?;
        return Some((place, number::point(&found[2])));
    }
    let found = COUNT.captures(line)?;
    Some((if found[1].starts_with("Number") { 3 } else { 4 }, number::count(&found[2])))
}

impl Block {
    fn field(&mut self, place: usize) -> &mut Option<f64> {
        match place {
            3 => &mut self.clients,
            4 => &mut self.queries_per_client,
            _ => &mut self.seconds[place],
        }
    }

    fn is_begun(&self) -> bool {
        self.seconds.iter().chain([&self.clients, &self.queries_per_client]).any(Option::is_some)
    }

    /// All five numbers, when they are there.
    fn whole(&self) -> Option<([f64; 3], f64)> {
        let [avg, min, max] = self.seconds;
        Some(([avg?, min?, max?], self.clients? * self.queries_per_client?))
    }
}

fn tell(block: &Block, reading: &mut Reading) {
    let Some((seconds, queries)) = block.whole() else {
        return reading.fail("the result of mysqlslap is damaged or cut off");
    };
    let [avg, min, max] = seconds;
    if avg < min || max < avg {
        return reading.fail("the result of mysqlslap contradicts itself: its average is not between its minimum and its maximum");
    }
    if reading.is_ok() {
        if queries == 0.0 {
            reading.beware("mysqlslap says 0 queries per client: without `--number-of-queries` it does not know how many it ran");
        } else {
            reading.metric_if("queries_per_second", Some(avg).filter(|avg| *avg > 0.0).map(|avg| queries / avg), Unit::PER_SECOND);
        }
    }
    let mut below_resolution = Vec::new();
    for (name, seconds) in ["duration", "duration_min", "duration_max"].into_iter().zip(seconds) {
        match seconds {
            0.0 => below_resolution.push(name),
            _ => reading.metric(name, seconds, Unit::SECOND),
        }
    }
    if reading.is_ok() && queries > 0.0 {
        reading.metric("queries", queries, Unit::ONE);
    }
    if !below_resolution.is_empty() {
        reading.beware(format!("printed as 0.000, below the resolution, and therefore absent: {}", below_resolution.join(", ")));
    }
    if avg > 0.0 && avg < SHORTEST_FINE {
        reading.beware("mysqlslap prints whole milliseconds, and all queries took less than 50 of them: duration and rate are rough");
    }
}
