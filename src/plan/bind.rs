//! Templates and expressions: the only room that knows minijinja's syntax in manifests.
//!
//! A text that only drops names into place (`--cpus {{ cpus }}`) is filled with the names' own spelling, so `3.10` stays `3.10`.
//! Anything with more syntax is rendered by minijinja, which sees numbers. Undefined names are errors.

use crate::model::diagnostic::{Diagnostic, suggestion};
use crate::model::tree::{Key, Node, Scalar, Span, Tree, is_template};
use minijinja::value::{Serde, Value, ValueKind};
use minijinja::{Environment, Expression, UndefinedBehavior};
use serde_json::{Map, Value as Json};
use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

/// Evaluation steps after which an expression or template is refused: enough for any honest one.
const FUEL: u64 = 200_000;

static STRICT: LazyLock<Environment<'static>> = LazyLock::new(|| {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_fuel(Some(FUEL));
    environment.set_auto_escape_callback(|_| minijinja::AutoEscape::None);
    environment
});

/// A name's value in its three forms.
#[derive(Debug, Clone)]
struct Bound {
    tree: Tree,
    /// As an expression sees it.
    value: Value,
    /// As a template prints it where it is not a plain number.
    printed: Value,
}

/// The names that templates and expressions of one variant may use.
#[derive(Debug, Clone, Default)]
pub struct Scope {
    names: HashMap<Arc<str>, Bound>,
}

impl Scope {
    /// Adds a name, or replaces it.
    pub fn set(&mut self, name: &Arc<str>, tree: &Tree) {
        let json = tree_to_json(tree);
        let value = Value::from(Serde(&json));
        let printed = match tree.text() {
            Some(text) if value.to_string() != text => Value::from(text),
            _ => value.clone(),
        };
        self.names.insert(name.clone(), Bound { tree: tree.clone(), value, printed });
    }

    /// Adds a structure that only expressions read, such as the host's facts.
    pub fn set_json(&mut self, name: &str, json: &Json) {
        let value = Value::from(Serde(json));
        self.names.insert(name.into(), Bound { tree: Tree::empty_map(), printed: value.clone(), value });
    }

    fn context(&self, numbers: bool) -> Value {
        self.names
            .iter()
            .map(|(name, bound)| (name.to_string(), if numbers { bound.value.clone() } else { bound.printed.clone() }))
            .collect()
    }
}

/// The JSON that a tree stands for; numbers and truth values where the plain text is one.
#[must_use]
pub fn tree_to_json(tree: &Tree) -> Json {
    match &tree.node {
        Node::Null => Json::Null,
        Node::Scalar(scalar) => scalar.value(),
        Node::Seq(items) => items.iter().map(tree_to_json).collect(),
        Node::Map(entries) => Json::Object(entries.iter().map(|(k, v)| (k.name.to_string(), tree_to_json(v))).collect()),
    }
}

/// Binds every template below `tree`.
///
/// # Errors
/// Every template that could not be rendered, each with its place.
pub fn bind(tree: &Tree, scope: &Scope) -> Result<Tree, Vec<Diagnostic>> {
    let mut problems = Vec::new();
    let bound = bind_node(tree, scope, &mut problems);
    if problems.is_empty() { Ok(bound) } else { Err(problems) }
}

fn bind_node(tree: &Tree, scope: &Scope, problems: &mut Vec<Diagnostic>) -> Tree {
    let node = match &tree.node {
        Node::Null => Node::Null,
        Node::Scalar(scalar) if is_template(&scalar.text) => match render(&scalar.text, tree.span, scope) {
            Ok(node) => node,
            Err(problem) => {
                problems.push(*problem);
                Node::Null
            }
        },
        Node::Scalar(scalar) => Node::Scalar(scalar.clone()),
        Node::Seq(items) => Node::Seq(items.iter().map(|item| bind_node(item, scope, problems)).collect()),
        Node::Map(entries) => Node::Map(entries.iter().map(|(key, value)| (key.clone(), bind_node(value, scope, problems))).collect()),
    };
    Tree { span: tree.span, node }
}

/// Renders one text; a text that is one `{{ }}` keeps the type of its value.
fn render(text: &str, span: Span, scope: &Scope) -> Result<Node, Box<Diagnostic>> {
    if let Some(pieces) = simple_pieces(text) {
        if let [Piece::Name(name)] = pieces[..] {
            return Ok(known(name, span, scope)?.tree.node.clone());
        }
        let mut out = String::with_capacity(text.len() + 16);
        for piece in pieces {
            match piece {
                Piece::Text(literal) => out.push_str(literal),
                Piece::Name(name) => match &known(name, span, scope)?.tree.node {
                    Node::Scalar(scalar) => out.push_str(&scalar.text),
                    _ => {
                        return Err(Box::new(Diagnostic::error(
                            span,
                            format!("`{name}` is not a single value and cannot stand inside a text"),
                        )));
                    }
                },
            }
        }
        return Ok(text_node(&out));
    }
    if let Some(expression) = whole_expression(text) {
        let value =
            with_numbers(|numbers| compile(expression)?.eval(scope.context(numbers))).map_err(|e| failed(&e, expression, span, scope))?;
        if value.is_undefined() {
            return Err(Box::new(Diagnostic::error(span, format!("`{expression}` is undefined"))));
        }
        return Ok(value_to_node(&value, span));
    }
    with_numbers(|numbers| STRICT.render_str(text, scope.context(numbers)))
        .map(|out| text_node(&out))
        .map_err(|e| failed(&e, text, span, scope))
}

/// Tries with the names' own spelling first, and with numbers when that cannot be computed with.
fn with_numbers<T>(attempt: impl Fn(bool) -> Result<T, minijinja::Error>) -> Result<T, minijinja::Error> {
    match attempt(false) {
        Err(error) if error.kind() == minijinja::ErrorKind::InvalidOperation => attempt(true),
        other => other,
    }
}

/// Renders the text of a file's template.
///
/// # Errors
/// When it is malformed or names something undefined; `span` is the place that asked for the file.
pub fn render_file(name: &str, text: &str, span: Span, scope: &Scope) -> Result<String, Box<Diagnostic>> {
    with_numbers(|numbers| STRICT.render_named_str(name, text, scope.context(numbers))).map_err(|error| {
        let line = error.line().map(|line| format!(":{line}")).unwrap_or_default();
        let mut problem = failed(&error, text, span, scope);
        problem.message = format!("template `{name}`{line}: {}", problem.message);
        problem
    })
}

fn text_node(text: &str) -> Node {
    Node::Scalar(Scalar { text: text.into(), quoted: true })
}

fn value_to_node(value: &Value, span: Span) -> Node {
    match value.kind() {
        ValueKind::None | ValueKind::Undefined => Node::Null,
        ValueKind::Bool | ValueKind::Number => Node::Scalar(Scalar { text: value.to_string().into(), quoted: false }),
        ValueKind::Seq | ValueKind::Iterable => {
            Node::Seq(value.try_iter().into_iter().flatten().map(|item| Tree { span, node: value_to_node(&item, span) }).collect())
        }
        ValueKind::Map => Node::Map(
            value
                .try_iter()
                .into_iter()
                .flatten()
                .map(|key| {
                    let item = value.get_item(&key).unwrap_or_default();
                    (Key { name: key.to_string().into(), span }, Tree { span, node: value_to_node(&item, span) })
                })
                .collect(),
        ),
        _ => text_node(&value.to_string()),
    }
}

fn known<'s>(name: &str, span: Span, scope: &'s Scope) -> Result<&'s Bound, Box<Diagnostic>> {
    scope.names.get(name).ok_or_else(|| Box::new(undefined(name, span, scope)))
}

fn undefined(name: &str, span: Span, scope: &Scope) -> Diagnostic {
    let mut names: Vec<&str> = scope.names.keys().map(|k| &**k).collect();
    names.sort_unstable();
    Diagnostic::error(span, format!("undefined name `{name}`")).suggest(name, names)
}

fn failed(error: &minijinja::Error, text: &str, span: Span, scope: &Scope) -> Box<Diagnostic> {
    if error.kind() == minijinja::ErrorKind::UndefinedError {
        let source = if is_template(text) { text.to_owned() } else { format!("{{{{ {text} }}}}") };
        if let Ok(template) = STRICT.template_from_str(&source) {
            let mut missing: Vec<String> =
                template.undeclared_variables(false).into_iter().filter(|n| !scope.names.contains_key(n.as_str())).collect();
            missing.sort();
            if let Some(name) = missing.first() {
                return Box::new(undefined(name, span, scope));
            }
        }
    }
    Box::new(
        Diagnostic::error(span, format!("template: {}", error.detail().unwrap_or("cannot be rendered"))).label(error.kind().to_string()),
    )
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Piece<'t> {
    Text(&'t str),
    Name(&'t str),
}

/// Splits a text that holds nothing but `{{ name }}`; none when there is more syntax than that.
fn simple_pieces(text: &str) -> Option<Vec<Piece<'_>>> {
    if text.contains("{%") || text.contains("{#") {
        return None;
    }
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(open) = rest.find("{{") {
        if open > 0 {
            pieces.push(Piece::Text(&rest[..open]));
        }
        let close = rest[open..].find("}}")? + open;
        let name = rest[open + 2..close].trim();
        if !is_name(name) {
            return None;
        }
        pieces.push(Piece::Name(name));
        rest = &rest[close + 2..];
    }
    if !rest.is_empty() {
        pieces.push(Piece::Text(rest));
    }
    Some(pieces)
}

fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_alphanumeric() || c == '_')
        && !matches!(text, "true" | "false" | "none")
}

/// The expression of a text that is one `{{ }}` and nothing else.
fn whole_expression(text: &str) -> Option<&str> {
    let inner = text.trim().strip_prefix("{{")?.strip_suffix("}}")?;
    (!inner.contains("{{") && !inner.contains("}}") && !inner.contains("{%")).then(|| inner.trim())
}

fn compile(expression: &str) -> Result<Expression<'static, 'static>, minijinja::Error> {
    STRICT.compile_expression_owned(expression.to_owned())
}

/// Why a formula or condition cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FormulaError {
    /// Its syntax is wrong.
    #[error("`{text}` cannot be read: {reason}")]
    Syntax {
        /// As written.
        text: String,
        /// What minijinja says.
        reason: String,
    },
    /// It names something that is not there.
    #[error("`{name}` in `{text}` is not known{}", hint.as_ref().map(|h| format!("; {h}")).unwrap_or_default())]
    Unknown {
        /// As written.
        text: String,
        /// The name.
        name: String,
        /// The nearest known name.
        hint: Option<String>,
    },
    /// It does not give what is needed.
    #[error("`{text}` gives {found}, not {wanted}")]
    Type {
        /// As written.
        text: String,
        /// What it gives.
        found: String,
        /// What is needed.
        wanted: &'static str,
    },
    /// It fails for these values.
    #[error("`{text}`: {reason}")]
    Failed {
        /// As written.
        text: String,
        /// Why.
        reason: String,
    },
}

/// A compiled expression over names.
pub struct Formula {
    text: String,
    expression: Expression<'static, 'static>,
}

impl Formula {
    /// Compiles an expression.
    ///
    /// # Errors
    /// When its syntax is wrong.
    pub fn new(text: &str) -> Result<Self, FormulaError> {
        let expression = compile(text)
            .map_err(|e| FormulaError::Syntax { text: text.to_owned(), reason: e.detail().unwrap_or("not an expression").to_owned() })?;
        Ok(Self { text: text.to_owned(), expression })
    }

    /// The top-level names that it reads, sorted.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = self.expression.undeclared_variables(false).into_iter().collect();
        names.sort();
        names
    }

    /// Checks that every name it reads is one of `known`.
    ///
    /// # Errors
    /// The first name that is not.
    pub fn check<'k>(&self, known: impl Iterator<Item = &'k str> + Clone) -> Result<(), FormulaError> {
        match self.names().into_iter().find(|name| !known.clone().any(|k| k == name)) {
            Some(name) => Err(FormulaError::Unknown { text: self.text.clone(), hint: suggestion(&name, known), name }),
            None => Ok(()),
        }
    }

    fn value(&self, context: Value) -> Result<Value, FormulaError> {
        self.expression.eval(context).map_err(|e| FormulaError::Failed {
            text: self.text.clone(),
            reason: e.detail().map_or_else(|| e.kind().to_string(), str::to_owned),
        })
    }

    /// Evaluates to a truth value.
    ///
    /// # Errors
    /// When it fails or gives something else: `0` and `''` are not false here.
    pub fn truth(&self, scope: &Scope) -> Result<bool, FormulaError> {
        let value = self.value(scope.context(true))?;
        if value.kind() == ValueKind::Bool {
            Ok(value.is_true())
        } else {
            Err(FormulaError::Type { text: self.text.clone(), found: value.kind().to_string(), wanted: "true or false" })
        }
    }

    /// Evaluates to a finite number; none when a name it needs is absent or the result is not finite.
    ///
    /// # Errors
    /// When it fails for another reason, or gives no number.
    pub fn number(&self, names: &Map<String, Json>) -> Result<Option<f64>, FormulaError> {
        if self.names().iter().any(|name| !names.contains_key(name)) {
            return Ok(None);
        }
        let value = match self.expression.eval(Value::from(Serde(names))) {
            Ok(value) => value,
            Err(e) if e.kind() == minijinja::ErrorKind::UndefinedError => return Ok(None),
            Err(e) => {
                return Err(FormulaError::Failed {
                    text: self.text.clone(),
                    reason: e.detail().map_or_else(|| e.kind().to_string(), str::to_owned),
                });
            }
        };
        match value.kind() {
            ValueKind::Number => Ok(f64::try_from(value).ok().filter(|n| n.is_finite())),
            ValueKind::Undefined => Ok(None),
            kind => Err(FormulaError::Type { text: self.text.clone(), found: kind.to_string(), wanted: "a number" }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scope(pairs: &[(&str, &str)]) -> Scope {
        let mut scope = Scope::default();
        for (name, text) in pairs {
            scope.set(&Arc::from(*name), &Tree::plain(text, Span::default()));
        }
        scope
    }

    fn rendered(text: &str, names: &Scope) -> Result<(String, bool), String> {
        match render(text, Span { line: 1, column: 1, start: 0, len: 1 }, names) {
            Ok(Node::Scalar(scalar)) => Ok((scalar.text.to_string(), scalar.quoted)),
            Ok(other) => Err(format!("{other:?}")),
            Err(problem) => Err(format!("{} / {}", problem.message, problem.help.unwrap_or_default())),
        }
    }

    #[test]
    fn names_print_as_written_and_compute_as_numbers() {
        let names = scope(&[("tag", "3.10"), ("cpus", ".5"), ("n", "4"), ("on", "true")]);
        let table = [
            ("img:{{ tag }}", "img:3.10", true),
            ("{{ tag }}", "3.10", false),
            ("{{cpus}}", ".5", false),
            ("{{ n * 2 }}", "8", false),
            ("{{ cpus * 2 }}", "1.0", false),
            ("x{{ tag ~ '-slim' }}", "x3.10-slim", true),
            ("{{ 'a' if on else 'b' }}", "a", true),
            ("{% if n > 3 %}big{% endif %}", "big", true),
            ("$HOME ${VAR} {raw}", "$HOME ${VAR} {raw}", true),
        ];
        for (text, expected, quoted) in table {
            assert_eq!(rendered(text, &names), Ok((expected.to_owned(), quoted)), "{text}");
        }
    }

    #[test]
    fn undefined_names_are_errors_with_the_nearest_name() {
        let names = scope(&[("cpus", "1"), ("network", "host")]);
        for text in ["{{ cpu }}", "a {{ cpu }} b", "{{ cpu * 2 }}", "{% if cpu > 1 %}x{% endif %}"] {
            assert_eq!(rendered(text, &names), Err("undefined name `cpu` / did you mean `cpus`?".to_owned()), "{text}");
        }
        assert!(rendered("{{ 1 +", &names).is_err());
        assert!(
            rendered(
                "{{ range(100000) | list | length }}{% for i in range(9999) %}{% for j in range(9999) %}x{% endfor %}{% endfor %}",
                &names
            )
            .is_err()
        );
    }

    #[test]
    fn conditions_are_true_or_false_and_nothing_else() {
        let names = scope(&[("cpus", "0.5"), ("network", "host")]);
        let truth = |text: &str| Formula::new(text).and_then(|f| f.truth(&names));
        assert_eq!(truth("cpus < 1 and network != 'bridge'"), Ok(true));
        assert!(matches!(truth("cpus"), Err(FormulaError::Type { .. })));
        assert!(matches!(truth("netwrok == 'x'"), Err(FormulaError::Failed { .. })));
        assert!(matches!(Formula::new("cpus <"), Err(FormulaError::Syntax { .. })));
        assert!(
            matches!(Formula::new("netwrok == 'x'").and_then(|f| f.check(["network"].into_iter())), Err(FormulaError::Unknown { hint: Some(h), .. }) if h == "did you mean `network`?")
        );
    }

    #[test]
    fn formulas_give_finite_numbers_or_nothing() {
        let json = serde_json::json!({"a": {"real": 2.0}, "b": {"real": 3.0}, "zero": 0});
        let Json::Object(names) = json else { panic!("object") };
        let number = |text: &str| Formula::new(text).and_then(|f| f.number(&names));
        assert_eq!(number("b.real / a.real"), Ok(Some(1.5)));
        assert_eq!(number("c.real / a.real"), Ok(None));
        assert_eq!(number("a.user / a.real"), Ok(None));
        assert!(number("a.real / zero").is_err() || number("a.real / zero") == Ok(None));
        assert!(number("'x'").is_err());
    }
}
