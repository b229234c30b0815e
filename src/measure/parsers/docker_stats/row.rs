//! One container in the output of `docker stats`.

use crate::measure::parsers::number;
use serde_json::Value;

/// The header of the table, its gaps closed.
pub(super) const HEADER: &str = "CONTAINER ID NAME CPU % MEM USAGE / LIMIT MEM % NET I/O BLOCK I/O PIDS";

/// A row.
#[derive(Debug)]
pub(super) struct Row {
    pub id: String,
    pub name: String,
    /// None of a container that has none: dashes, or memory of 0 beside a limit of 0.
    pub sample: Option<Sample>,
}

/// What a container used; in base units.
#[derive(Debug)]
pub(super) struct Sample {
    pub cpu_usage: f64,
    pub memory: f64,
    /// Received and sent.
    pub network: [f64; 2],
    /// Read and written.
    pub block: [f64; 2],
    pub tasks: f64,
}

/// The fields of a row as they are written.
#[derive(Debug)]
struct Texts<'a> {
    cpu_usage: &'a str,
    memory: [&'a str; 2],
    share: &'a str,
    network: [&'a str; 2],
    block: [&'a str; 2],
    tasks: &'a str,
}

impl Row {
    /// Reads the fields of a line of the table.
    pub(super) fn of_fields(fields: &[&str]) -> Option<Self> {
        let &[id, name, cpu_usage, used, "/", limit, share, received, "/", sent, read, "/", written, tasks] = fields else { return None };
        let texts = Texts { cpu_usage, memory: [used, limit], share, network: [received, sent], block: [read, written], tasks };
        Self::read(id, name, &texts)
    }

    /// Reads a line that is a JSON object.
    pub(super) fn of_object(line: &str) -> Option<Self> {
        let object: Value = serde_json::from_str(line).ok()?;
        let text = |name: &str| object.get(name).and_then(Value::as_str);
        let pair = |name: &str| text(name)?.split_once(" / ").map(|(one, other)| [one, other]);
        let texts = Texts {
            cpu_usage: text("CPUPerc")?,
            memory: pair("MemUsage")?,
            share: text("MemPerc")?,
            network: pair("NetIO")?,
            block: pair("BlockIO")?,
            tasks: text("PIDs")?,
        };
        Self::read(text("ID").or_else(|| text("Container"))?, text("Name")?, &texts)
    }

    /// None when a field does not have its form.
    fn read(id: &str, name: &str, texts: &Texts<'_>) -> Option<Self> {
        let of = |sample| Self { id: id.to_owned(), name: name.to_owned(), sample };
        let all = [&[texts.cpu_usage, texts.share, texts.tasks][..], &texts.memory, &texts.network, &texts.block].concat();
        if all.iter().all(|text| *text == "--") {
            return Some(of(None));
        }
        let [used, limit] = texts.memory.map(memory);
        percent(texts.share)?;
        let sample = Sample {
            cpu_usage: percent(texts.cpu_usage)?,
            memory: used?,
            network: pair(texts.network)?,
            block: pair(texts.block)?,
            tasks: number::count(texts.tasks)?,
        };
        let nothing = sample.memory == 0.0 && limit? == 0.0;
        Some(of(Some(sample).filter(|_| !nothing)))
    }
}

/// `57.69%`, as a share.
fn percent(text: &str) -> Option<f64> {
    number::shifted(text.strip_suffix('%').filter(|digits| is_number(digits))?, -2)
}

/// `1.33MB` and `0B`, of 1000 each, in bytes.
fn pair(texts: [&str; 2]) -> Option<[f64; 2]> {
    let bytes = |text: &str| {
        let (digits, power) = amount(text, &["B", "kB", "MB", "GB", "TB", "PB"])?;
        number::shifted(digits, 3 * power)
    };
    Some([bytes(texts[0])?, bytes(texts[1])?])
}

/// `1.258MiB`, of 1024 each, in bytes.
fn memory(text: &str) -> Option<f64> {
    let (digits, power) = amount(text, &["B", "KiB", "MiB", "GiB", "TiB"])?;
    number::point(digits).map(|value| value * 1024f64.powi(power))
}

/// A number, and which of the units stands behind it.
fn amount<'a>(text: &'a str, units: &[&str]) -> Option<(&'a str, i32)> {
    let (digits, unit) = text.split_at(text.find(|c: char| c.is_ascii_alphabetic())?);
    if !is_number(digits) {
        return None;
    }
    Some((digits, i32::try_from(units.iter().position(|known| *known == unit)?).ok()?))
}

fn is_number(text: &str) -> bool {
    number::point(text).is_some() && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
}
