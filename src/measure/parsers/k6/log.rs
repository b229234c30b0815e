//! The lines that k6 logs: `time="..." level=error msg="..."`, on a terminal `ERRO[0001] ...`, and with `--log-format json` objects.

use crate::measure::parsers::constants::pattern;
use crate::measure::parsers::plain_text::quoted;
use crate::measure::parsers::reading::Reading;
use regex::Regex;
use serde_json::Value;
use std::sync::LazyLock;

static PLAIN: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r#"^(?:time=\S+ level=(?P<level>[a-z]+) msg=(?P<text>.+)|(?P<short>DEBU|INFO|WARN|ERRO|FATA)\[\d+\] (?P<rest>.+))$"#)
});

/// What k6 complains of.
#[derive(Debug, Default)]
pub(super) struct Log {
    errors: Vec<String>,
    /// Each kind once, by its first words: a refused connection warns once per request.
    warnings: Vec<String>,
}

/// The log, and everything else: as JSON it would hide a summary that stands before it.
pub(super) fn apart(text: &str) -> (Log, String) {
    let (mut log, mut rest) = (Log::default(), String::with_capacity(text.len()));
    for line in text.lines() {
        match entry(line.trim()) {
            Some((level, text)) => log.add(&level, text),
            None => {
                rest.push_str(line);
                rest.push('\n');
            }
        }
    }
    (log, rest)
}

/// Level and text of a line of the log.
fn entry(line: &str) -> Option<(String, String)> {
    if line.starts_with("{\"") && line.contains("\"level\":") && line.contains("\"msg\":") {
        let entry: Value = serde_json::from_str(line).ok()?;
        let field = |name: &str| entry.get(name).and_then(Value::as_str);
        let source = field("source").filter(|source| *source == "console").map(|_| " source=console");
        let error = field("error").map(|error| format!(" error={error}"));
        return Some((field("level")?.to_owned(), [field("msg")?, error.as_deref().unwrap_or(""), source.unwrap_or("")].concat()));
    }
    let found = PLAIN.captures(line)?;
    let level = found.name("level").or(found.name("short"))?.as_str();
    let text = found.name("text").or(found.name("rest"))?.as_str();
    Some((level.to_lowercase(), text.split_whitespace().collect::<Vec<_>>().join(" ")))
}

impl Log {
    fn add(&mut self, level: &str, text: String) {
        // What the script itself says is none of k6's complaints.
        if text.ends_with("source=console") {
            return;
        }
        let kind = |text: &str| text.chars().take(16).collect::<String>();
        match level {
            "error" | "erro" | "fatal" | "fata" => self.errors.push(text),
            "warning" | "warn" if self.warnings.iter().all(|known| kind(known) != kind(&text)) => self.warnings.push(text),
            _ => {}
        }
    }

    /// Tells it; a line about thresholds only when the summary says nothing of them.
    pub(super) fn tell(&self, reading: &mut Reading, knows_thresholds: bool) {
        for error in self.errors.iter().filter(|error| !(knows_thresholds && error.contains("thresholds on metrics"))) {
            reading.fail(quoted(error));
        }
        self.warnings.iter().for_each(|warning| reading.beware(quoted(warning)));
    }
}
