//! Text of a page before it is Markdown or HTML: the texts of other people are raw in it, and the template's own language escapes them
//! when they are printed, so that no template can forget to.

use crate::report::visible;
use minijinja::Value;
use minijinja::value::{Object, ObjectRepr};
use serde::{Serialize, Serializer};
use std::fmt;
use std::sync::Arc;

/// A part of a text.
#[derive(Debug, Clone, PartialEq)]
pub enum Piece {
    /// Plain text.
    Text(String),
    /// A name, shown as it is written.
    Code(String),
    /// What must be seen.
    Strong(Inline),
    /// What stands apart.
    Emphasis(Inline),
    /// A link to a file beside the page, by its name.
    Link(String),
    /// The address of a file beside the page.
    Target(String),
    /// Commands for a shell, one a line: a block.
    Console(Vec<String>),
}

/// A text of a page; where it shows a number, that too.
///
/// A template prints it (`{{ row.ratio }}`) and finds the unrounded number in `{{ row.ratio.value }}`, which is empty where there is
/// none. Empty text is false.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Inline {
    pieces: Vec<Piece>,
    value: Option<f64>,
}

impl Inline {
    /// Its parts.
    #[must_use]
    pub fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// The same with another text behind it.
    #[must_use]
    pub fn and(mut self, more: impl Into<Self>) -> Self {
        self.pieces.extend(more.into().pieces);
        self
    }

    /// The same with the number that it shows.
    #[must_use]
    pub fn of(mut self, value: f64) -> Self {
        self.value = Some(value);
        self
    }

    /// Whether nothing would be seen of it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.pieces.iter().all(|piece| matches!(piece, Piece::Text(text) if text.is_empty()))
    }

    /// One line without mark-up: for a terminal.
    #[must_use]
    pub fn plain(&self) -> String {
        let mut line = String::new();
        self.flatten(&mut line);
        visible::one_line(&line)
    }

    fn flatten(&self, line: &mut String) {
        for piece in &self.pieces {
            match piece {
                Piece::Text(raw) | Piece::Code(raw) | Piece::Link(raw) | Piece::Target(raw) => line.push_str(raw),
                Piece::Strong(inner) | Piece::Emphasis(inner) => inner.flatten(line),
                Piece::Console(commands) => line.push_str(&commands.join("; ")),
            }
        }
    }
}

/// Plain text.
pub fn text(raw: impl Into<String>) -> Inline {
    one(Piece::Text(raw.into()))
}

/// A name, shown as it is written.
pub fn code(raw: impl Into<String>) -> Inline {
    one(Piece::Code(raw.into()))
}

/// What must be seen.
pub fn strong(inner: impl Into<Inline>) -> Inline {
    one(Piece::Strong(inner.into()))
}

/// What stands apart.
pub fn emphasis(inner: impl Into<Inline>) -> Inline {
    one(Piece::Emphasis(inner.into()))
}

/// A link to a file beside the page.
pub fn link(file: impl Into<String>) -> Inline {
    one(Piece::Link(file.into()))
}

/// The address of a file beside the page.
pub fn target(file: impl Into<String>) -> Inline {
    one(Piece::Target(file.into()))
}

/// Commands for a shell.
pub fn console(commands: Vec<String>) -> Inline {
    one(Piece::Console(commands))
}

fn one(piece: Piece) -> Inline {
    Inline { pieces: vec![piece], value: None }
}

/// A sentence in which what stands between backticks is code, such as a caution; with an odd backtick nothing is.
pub fn sentence(raw: &str) -> Inline {
    let parts: Vec<&str> = raw.split('`').collect();
    if parts.len().is_multiple_of(2) {
        return text(raw);
    }
    let piece = |(at, part): (usize, &&str)| if at % 2 == 1 { Piece::Code((*part).to_owned()) } else { Piece::Text((*part).to_owned()) };
    let pieces = parts.iter().enumerate().filter(|(at, part)| at % 2 == 1 || !part.is_empty()).map(piece).collect();
    Inline { pieces, value: None }
}

/// The target of a link to a file beside the page: no scheme, no mark-up and no quote is left in it, for Markdown and HTML alike.
#[must_use]
pub fn address(file: &str) -> String {
    let mut target = String::with_capacity(file.len());
    for byte in file.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._/".contains(&byte) {
            target.push(char::from(byte));
        } else {
            target.push_str(&format!("%{byte:02X}"));
        }
    }
    target
}

/// Texts with `between` between them.
pub fn joined(texts: impl IntoIterator<Item = Inline>, between: &str) -> Inline {
    let add = |all: Inline, next: Inline| if all.pieces.is_empty() { next } else { all.and(between).and(next) };
    texts.into_iter().fold(Inline::default(), add)
}

impl From<&str> for Inline {
    fn from(raw: &str) -> Self {
        if raw.is_empty() { Self::default() } else { text(raw) }
    }
}

impl From<String> for Inline {
    fn from(raw: String) -> Self {
        if raw.is_empty() { Self::default() } else { text(raw) }
    }
}

impl Object for Inline {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Plain
    }

    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        let value = || self.value.filter(|value| value.is_finite()).map_or_else(|| Value::from(""), |value| Value::from(value.to_string()));
        (key.as_str() == Some("value")).then(value)
    }

    fn is_true(self: &Arc<Self>) -> bool {
        !self.is_empty()
    }

    fn render(self: &Arc<Self>, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.plain())
    }
}

impl Serialize for Inline {
    /// For a template it stays what it is; for anything else it is its plain text.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Value::from_object(self.clone()).serialize(serializer)
    }
}
