//! A YAML document as written: every node with its place in the text, every scalar with its spelling.
//!
//! The manifest is read into this tree, patches of levels are merged into it, templates are bound in it, and only then is it
//! turned into typed specs. So a level keeps the text as written (`3.10` stays `3.10`) and every later problem still knows
//! its line and column.

use std::sync::Arc;

/// A place in the manifest text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span {
    /// Line, from 1; 0 means "no place".
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// First byte in the text.
    pub start: u32,
    /// Length in bytes.
    pub len: u32,
}

/// A scalar as spelled in the text, without its quotes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scalar {
    /// The text.
    pub text: Arc<str>,
    /// Whether it stood in quotes or in a block: then it is text even if it looks like a number.
    pub quoted: bool,
}

/// A node of the document.
#[derive(Debug, Clone, PartialEq)]
pub struct Tree {
    /// Where it stands.
    pub span: Span,
    /// What it is.
    pub node: Node,
}

/// The kinds of node.
#[derive(Debug, Clone, PartialEq)]
pub enum Node {
    /// Nothing, `~` or `null`.
    Null,
    /// A scalar.
    Scalar(Scalar),
    /// A list.
    Seq(Vec<Tree>),
    /// A mapping, in the order of the text; keys are unique.
    Map(Vec<(Key, Tree)>),
}

/// A key of a mapping.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    /// The key's text.
    pub name: Arc<str>,
    /// Where it stands.
    pub span: Span,
}

impl Tree {
    /// An empty mapping that stands nowhere.
    #[must_use]
    pub fn empty_map() -> Self {
        Self { span: Span::default(), node: Node::Map(Vec::new()) }
    }

    /// A plain scalar at `span`.
    #[must_use]
    pub fn plain(text: &str, span: Span) -> Self {
        Self { span, node: Node::Scalar(Scalar { text: text.into(), quoted: false }) }
    }

    /// The value under `key`, when this is a mapping that has it.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Self> {
        self.entries().iter().find(|(k, _)| &*k.name == key).map(|(_, v)| v)
    }

    /// The entries when this is a mapping, else none.
    #[must_use]
    pub fn entries(&self) -> &[(Key, Self)] {
        match &self.node {
            Node::Map(entries) => entries,
            _ => &[],
        }
    }

    /// The items when this is a list, else none.
    #[must_use]
    pub fn items(&self) -> &[Self] {
        match &self.node {
            Node::Seq(items) => items,
            _ => &[],
        }
    }

    /// The scalar, when this is one.
    #[must_use]
    pub fn scalar(&self) -> Option<&Scalar> {
        match &self.node {
            Node::Scalar(scalar) => Some(scalar),
            _ => None,
        }
    }

    /// The scalar's text, when this is one.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        self.scalar().map(|s| &*s.text)
    }

    /// Whether nothing was written.
    #[must_use]
    pub fn is_null(&self) -> bool {
        matches!(self.node, Node::Null)
    }

    /// What a person would call this kind of node.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self.node {
            Node::Null => "nothing",
            Node::Scalar(_) => "a single value",
            Node::Seq(_) => "a list",
            Node::Map(_) => "a mapping",
        }
    }

    /// Whether any scalar below holds a template.
    #[must_use]
    pub fn has_template(&self) -> bool {
        match &self.node {
            Node::Null => false,
            Node::Scalar(scalar) => is_template(&scalar.text),
            Node::Seq(items) => items.iter().any(Self::has_template),
            Node::Map(entries) => entries.iter().any(|(_, v)| v.has_template()),
        }
    }

    /// Lays `patch` over this tree: mappings merge key by key, everything else is replaced.
    pub fn merge(&mut self, patch: &Self) {
        match (&mut self.node, &patch.node) {
            (Node::Map(own), Node::Map(over)) => {
                for (key, value) in over {
                    match own.iter_mut().find(|(k, _)| k.name == key.name) {
                        Some((_, old)) => old.merge(value),
                        None => own.push((key.clone(), value.clone())),
                    }
                }
            }
            _ => *self = patch.clone(),
        }
    }
}

/// Whether `text` holds template syntax.
#[must_use]
pub fn is_template(text: &str) -> bool {
    text.contains("{{") || text.contains("{%")
}

impl Scalar {
    /// The value an expression sees: a number or a truth value where the unquoted text is one.
    #[must_use]
    pub fn value(&self) -> serde_json::Value {
        if !self.quoted {
            match &*self.text {
                "true" => return true.into(),
                "false" => return false.into(),
                text => {
                    if let Some(number) = json_number(text) {
                        return number;
                    }
                }
            }
        }
        (&*self.text).into()
    }
}

/// Reads a decimal number as YAML 1.2's core schema spells them; `0755`, `1_000` and `0x1f` are text.
fn json_number(text: &str) -> Option<serde_json::Value> {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let leading_zero = digits.len() > 1 && digits.starts_with('0') && !digits.starts_with("0.") && !digits.starts_with("0e");
    if leading_zero || !digits.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return None;
    }
    if let Ok(integer) = text.parse::<i64>() {
        return Some(integer.into());
    }
    let float: f64 = text.parse().ok()?;
    serde_json::Number::from_f64(float).map(Into::into)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_see_numbers_only_where_the_text_is_one() {
        let table = [
            ("3.10", serde_json::json!(3.1)),
            ("2", serde_json::json!(2)),
            (".5", serde_json::json!(0.5)),
            ("-1e3", serde_json::json!(-1000.0)),
            ("on", serde_json::json!("on")),
            ("true", serde_json::json!(true)),
            ("0755", serde_json::json!("0755")),
            ("1_000", serde_json::json!("1_000")),
            ("0x1f", serde_json::json!("0x1f")),
            ("9022:22", serde_json::json!("9022:22")),
            ("2024-01-02", serde_json::json!("2024-01-02")),
            ("nan", serde_json::json!("nan")),
            (".inf", serde_json::json!(".inf")),
            ("", serde_json::json!("")),
        ];
        for (text, expected) in table {
            let scalar = Scalar { text: text.into(), quoted: false };
            assert_eq!(scalar.value(), expected, "{text}");
        }
        assert_eq!(Scalar { text: "2".into(), quoted: true }.value(), serde_json::json!("2"));
    }
}
