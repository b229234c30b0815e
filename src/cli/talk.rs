//! Messages and problems on stderr, with the source line and a caret.

use crate::model::diagnostic::{Diagnostic, Severity};
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use serde_json::json;
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether every line on stderr is a JSON object.
static JSON_LINES: AtomicBool = AtomicBool::new(false);

/// From now on everything that is said is one JSON object a line, as the events beside it are.
pub fn as_json_lines(wanted: bool) {
    JSON_LINES.store(wanted, Ordering::Relaxed);
}

/// Writes a line to stderr. When nobody can read it any more (a closed pipe or terminal) the work goes on: it has units to remove.
pub fn line(text: impl std::fmt::Display) {
    let _ = writeln!(anstream::stderr(), "{text}");
}

/// `1 trial`, `2 trials`.
pub fn count(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

fn is_json() -> bool {
    JSON_LINES.load(Ordering::Relaxed)
}

/// Says what went wrong, lowercase and with the next step where there is one.
pub fn error(message: impl std::fmt::Display) {
    if is_json() {
        return line(json!({"event": "error", "message": message.to_string()}));
    }
    let level = Level::ERROR.primary_title(message.to_string());
    line(renderer().render(&[Group::with_title(level)]));
}

/// Says something that is good to know.
pub fn note(message: impl std::fmt::Display) {
    if is_json() {
        return line(json!({"event": "note", "message": message.to_string()}));
    }
    line(message);
}

/// Draws diagnostics of one manifest.
pub fn diagnostics(path: &str, text: &str, problems: &[Diagnostic]) {
    for problem in problems {
        if is_json() {
            let mut value = as_json(path, problem);
            value["event"] = json!("problem");
            line(value);
        } else {
            line(format_args!("{}\n", drawn(path, text, problem)));
        }
    }
}

fn renderer() -> Renderer {
    Renderer::styled()
}

/// One diagnostic as text with ANSI colours.
fn drawn(path: &str, text: &str, problem: &Diagnostic) -> String {
    let level = match problem.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let mut group = Group::with_title(level.primary_title(problem.message.clone()));
    if let Some(span) = problem.span {
        let range = within(text, span.start, span.len);
        let mut snippet = Snippet::source(text).path(path).annotation(AnnotationKind::Primary.span(range).label(problem.label.clone()));
        for (span, label) in &problem.related {
            snippet = snippet.annotation(AnnotationKind::Context.span(within(text, span.start, span.len)).label(label.clone()));
        }
        group = group.element(snippet);
    } else {
        group = group.element(annotate_snippets::Origin::path(path));
    }
    if let Some(help) = &problem.help {
        group = group.element(Level::HELP.message(help.clone()));
    }
    renderer().render(&[group])
}

/// A byte range that lies in the text on character boundaries, whatever it was.
fn within(text: &str, start: u32, len: u32) -> std::ops::Range<usize> {
    let mut start = (start as usize).min(text.len());
    while !text.is_char_boundary(start) {
        start -= 1;
    }
    let mut end = (start + len as usize).min(text.len());
    while !text.is_char_boundary(end) {
        end += 1;
    }
    start..end
}

/// A diagnostic for machines.
pub fn as_json(path: &str, problem: &Diagnostic) -> serde_json::Value {
    json!({
        "file": path,
        "line": problem.span.map(|s| s.line),
        "column": problem.span.map(|s| s.column),
        "severity": problem.severity,
        "message": problem.message,
        "help": problem.help,
    })
}

/// Writes data to stdout and gives the exit code; a closed pipe ends quietly, as for any tool in front of `head`.
pub fn data(write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>) -> u8 {
    let mut out = std::io::BufWriter::with_capacity(1 << 16, std::io::stdout().lock());
    match write(&mut out).and_then(|()| out.flush()) {
        Err(failure) if failure.kind() != std::io::ErrorKind::BrokenPipe => {
            error(format!("write to standard output: {failure}"));
            super::exit::RECORD
        }
        _ => super::exit::OK,
    }
}
