//! Extraction without code: regular expressions, JSONPath and CSV columns that the manifest declares.
//!
//! What matches nothing, or is no number, makes the output not ok with a reason that names the metric. Only `match: count` may
//! find nothing: that is a count of 0.

use super::ToolOutput;
use super::csv_table;
use super::last_json::last_document;
use super::number::unambiguous;
use super::plain_text::{plain_text, quoted};
use super::reading::Reading;
use crate::model::metric::Parsed;
use crate::model::spec::{Extraction, Pick, Stream};
use regex::{Regex, RegexBuilder};
use serde_json::Value;
use serde_json_path::JsonPath;

/// Room for one compiled expression: enough for any honest one, and a bound on what a stranger's manifest can cost.
const REGEX_BYTES: usize = 1 << 20;

/// Reads the first group (or the whole match) of each expression; `^` and `$` match at lines.
pub(super) fn regex(extractions: &[Extraction], output: &ToolOutput<'_>) -> Parsed {
    each(extractions, output, |extraction, text| {
        let regex = compile(extraction)?;
        let value = |found: regex::Captures<'_>| {
            let group = found.iter().skip(1).flatten().next().or_else(|| found.get(0));
            group.map_or_else(String::new, |group| group.as_str().to_owned())
        };
        Ok(regex.captures_iter(text).map(value).collect())
    })
}

/// Reads each path in the last complete JSON document.
pub(super) fn json(extractions: &[Extraction], output: &ToolOutput<'_>) -> Parsed {
    each(extractions, output, |extraction, text| {
        let path = path(extraction)?;
        let document = last_document(text)?;
        let found = |value| path.query(value).all().into_iter().map(scalar).collect::<Vec<String>>();
        let values = found(&document.value);
        match &document.first_wins {
            Some(other) if found(other) != values => {
                Err(format!("`{}` meets a repeated key: which value counts cannot be known", extraction.pattern))
            }
            _ => Ok(values),
        }
    })
}

/// Reads each column of the table whose header names it.
pub(super) fn csv(extractions: &[Extraction], output: &ToolOutput<'_>) -> Parsed {
    each(extractions, output, |extraction, text| csv_table::column(text, &extraction.pattern))
}

/// Why the expression cannot be used.
///
/// # Errors
/// It does not compile, is too large, or matches the empty text, which is never a number.
pub(super) fn check_regex(extraction: &Extraction) -> Result<(), String> {
    let regex = compile(extraction).map_err(|reason| format!("metric `{}`: {reason}", extraction.name))?;
    if extraction.pick != Pick::Count && regex.is_match("") {
        return Err(format!("metric `{}`: the expression `{}` also matches the empty text", extraction.name, extraction.pattern));
    }
    Ok(())
}

/// Why the path cannot be used.
///
/// # Errors
/// It is no JSONPath.
pub(super) fn check_json(extraction: &Extraction) -> Result<(), String> {
    path(extraction).map(|_| ()).map_err(|reason| format!("metric `{}`: {reason}", extraction.name))
}

/// Why the column cannot be found.
///
/// # Errors
/// Its name is empty.
pub(super) fn check_csv(extraction: &Extraction) -> Result<(), String> {
    if extraction.pattern.trim().is_empty() { Err(format!("metric `{}`: the column has no name", extraction.name)) } else { Ok(()) }
}

fn compile(extraction: &Extraction) -> Result<Regex, String> {
    pattern(&extraction.pattern)
}

/// A regular expression of a manifest, whose `^` and `$` match at lines.
///
/// # Errors
/// It does not compile, or is too large.
pub fn pattern(text: &str) -> Result<Regex, String> {
    let built = RegexBuilder::new(text).multi_line(true).size_limit(REGEX_BYTES).dfa_size_limit(REGEX_BYTES * 4).build();
    built.map_err(|error| {
        // A syntax error is drawn over several lines; its last one says what is wrong.
        let drawn = error.to_string();
        let reason = drawn.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned();
        format!("`{text}` is no regular expression: {reason}")
    })
}

fn path(extraction: &Extraction) -> Result<JsonPath, String> {
    JsonPath::parse(&extraction.pattern).map_err(|error| format!("`{}` is no JSONPath: {error}", extraction.pattern))
}

fn scalar(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Applies `find` to every extraction; a reason or a number for each.
fn each(extractions: &[Extraction], output: &ToolOutput<'_>, find: impl Fn(&Extraction, &str) -> Result<Vec<String>, String>) -> Parsed {
    let mut reading = Reading::default();
    for extraction in extractions {
        let text = match extraction.from {
            Stream::Stdout => plain_text(output.stdout),
            Stream::Stderr => plain_text(output.stderr),
            Stream::Both => output.both(),
        };
        match find(extraction, &text).and_then(|found| pick(&found, extraction)) {
            Ok(value) => reading.metric(&extraction.name, value, extraction.unit.clone()),
            Err(reason) => reading.fail(format!("metric `{}`: {reason}", extraction.name)),
        }
    }
    reading.finish(output)
}

/// One number of all that was found; a found text that is no number is never skipped.
fn pick(found: &[String], extraction: &Extraction) -> Result<f64, String> {
    let value = |text: &String| {
        unambiguous(text).ok_or_else(|| match text.contains(',') {
            true => format!("{} is no number (thousands separators are not guessed)", quoted(text)),
            false => format!("{} is no number", quoted(text)),
        })
    };
    if extraction.pick == Pick::Count {
        return Ok(found.len() as f64);
    }
    let (Some(first), Some(last)) = (found.first(), found.last()) else {
        return Err(format!("`{}` matches nothing in the output", extraction.pattern));
    };
    let all = || found.iter().map(value).collect::<Result<Vec<f64>, String>>();
    let picked = match extraction.pick {
        Pick::First => value(first)?,
        Pick::Last => value(last)?,
        Pick::Median => median(all()?),
        Pick::Mean => all()?.iter().sum::<f64>() / found.len() as f64,
        Pick::Sum => all()?.iter().sum(),
        Pick::Min => all()?.into_iter().fold(f64::INFINITY, f64::min),
        Pick::Max => all()?.into_iter().fold(f64::NEG_INFINITY, f64::max),
        Pick::Count => found.len() as f64,
    };
    if picked.is_finite() { Ok(picked) } else { Err("the result is too large for a number".to_owned()) }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let half = values.len() / 2;
    if values.len() % 2 == 1 { values[half] } else { f64::midpoint(values[half - 1], values[half]) }
}
