//! A problem in a manifest, with its place in the text: data only; `cli` draws it.

use super::tree::Span;
use serde::Serialize;

/// How bad a problem is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Nothing may run.
    Error,
    /// It may run, but the person should know.
    Warning,
}

/// One problem: a sentence, a place, and what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// A lowercase sentence without full stop; the person's words in backticks.
    pub message: String,
    /// The place it speaks of; none when the file as a whole is meant.
    pub span: Option<Span>,
    /// What to say at that place; may be empty.
    pub label: String,
    /// Other places that explain it.
    pub related: Vec<(Span, String)>,
    /// What to do about it, when that is known.
    pub help: Option<String>,
}

impl Diagnostic {
    /// An error at `span`.
    #[must_use]
    pub fn error(span: Span, message: impl Into<String>) -> Self {
        let span = (span.line > 0).then_some(span);
        Self { severity: Severity::Error, message: message.into(), span, label: String::new(), related: Vec::new(), help: None }
    }

    /// A warning at `span`.
    #[must_use]
    pub fn warning(span: Span, message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(span, message) }
    }

    /// Says something at the place itself.
    #[must_use]
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        self
    }

    /// Says what to do.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Points at another place.
    #[must_use]
    pub fn related(mut self, span: Span, label: impl Into<String>) -> Self {
        self.related.push((span, label.into()));
        self
    }

    /// Adds "did you mean" or the list of choices for an unknown `name`.
    #[must_use]
    pub fn suggest<'a>(self, name: &str, known: impl IntoIterator<Item = &'a str>) -> Self {
        match suggestion(name, known) {
            Some(text) => self.help(text),
            None => self,
        }
    }
}

/// The nearest known name within an edit distance below 3.
#[must_use]
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let (distance, candidate) = known.into_iter().map(|known| (strsim::osa_distance(name, known), known)).min()?;
    (distance < 3 && distance < candidate.chars().count()).then_some(candidate)
}

/// "did you mean `x`?" for the nearest known name within an edit distance below 3, else the list of choices; none without choices.
#[must_use]
pub fn suggestion<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let known: Vec<&str> = known.into_iter().collect();
    match nearest(name, known.iter().copied()) {
        Some(candidate) => Some(format!("did you mean `{candidate}`?")),
        None => (!known.is_empty()).then(|| format!("known: {}", known.join(", "))),
    }
}
