//! The JSON object in which benchmarkers of ISUCON tell their result: `pass`, `score`, `messages`, and counts of their own.

use super::last_json::last_document;
use super::plain_text::quoted;
use super::reading::Reading;
use crate::model::metric::Unit;
use serde_json::Value;

/// A result.
#[derive(Debug)]
pub(super) struct IsuconResult {
    /// The benchmarker's own verdict.
    pub pass: bool,
    /// Points; a run that passes may have 0.
    pub score: f64,
    /// What it complains of, in its words.
    pub messages: Vec<String>,
    document: Value,
}

impl IsuconResult {
    /// The last result in a text.
    ///
    /// # Errors
    /// There is none, or the last JSON document is none.
    pub(super) fn last(text: &str) -> Result<Self, String> {
        let document = last_document(text)?;
        if document.first_wins.is_some() {
            return Err("the last JSON document gives a key two values".to_owned());
        }
        let document = document.value;
        let (Some(pass), Some(score)) = (document.get("pass").and_then(Value::as_bool), count(&document, "score")) else {
            return Err("the last JSON document has no `pass` (true or false) and `score` (a whole number)".to_owned());
        };
        let messages = document.get("messages").and_then(Value::as_array).into_iter().flatten();
        let messages = messages.filter_map(Value::as_str).map(str::to_owned).collect();
        Ok(Self { pass, score, messages, document })
    }

    /// A count under that name.
    pub(super) fn count(&self, name: &str) -> Option<f64> {
        count(&self.document, name)
    }

    /// Tells score, verdict and messages, without the messages that `is_dull`.
    pub(super) fn tell(&self, reading: &mut Reading, is_dull: impl Fn(&str) -> bool) {
        reading.metric("score", self.score, Unit::ONE);
        if !self.pass {
            reading.fail("the benchmarker says that the run failed (`pass` is false): its score does not count");
        }
        for message in self.messages.iter().filter(|message| !is_dull(message)) {
            if self.pass { reading.beware(quoted(message)) } else { reading.fail(quoted(message)) }
        }
    }
}

fn count(document: &Value, name: &str) -> Option<f64> {
    document.get(name).and_then(Value::as_u64).map(|count| count as f64)
}

/// How many results a text holds, whole or not.
pub(super) fn results_in(text: &str) -> usize {
    text.matches("\"pass\":").count()
}

/// Says that there is no result, with the last line of the output, which often says why.
pub(super) fn no_result(reading: &mut Reading, text: &str, what: &str, reason: &str) {
    match text.lines().rev().find(|line| !line.trim().is_empty()) {
        Some(line) => reading.fail(format!("no result of {what} in the output ({reason}); its last line is {}", quoted(line))),
        None => reading.fail(format!("no result of {what} in the output ({reason})")),
    }
}
