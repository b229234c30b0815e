//! Templates and expressions: the only room that knows minijinja's syntax in manifests.
//!
//! A text that only drops names into place (`--cpus {{ cpus }}`) is filled with the names' own spelling, so `3.10` stays `3.10`.
//! Anything with more syntax is rendered by minijinja: there a name whose number would print differently (`3.10` as 3.1) is its
//! text where only text is made of it, a number where something is computed or compared, and an error where both happen at once
//! (`spelling`). Undefined names are errors.

mod formula;
mod render;
mod scope;
mod spelling;

pub use formula::{Formula, FormulaError};
pub use render::{bind, render_file};
pub use scope::{Scope, tree_to_json};

use minijinja::value::ValueKind;
use minijinja::{Environment, Expression, UndefinedBehavior, escape_formatter};
use std::sync::LazyLock;

/// Evaluation steps after which an expression or template is refused: enough for any honest one.
const FUEL: u64 = 200_000;

static STRICT: LazyLock<Environment<'static>> = LazyLock::new(strict);

fn strict() -> Environment<'static> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_fuel(Some(FUEL));
    environment.set_auto_escape_callback(|_| minijinja::AutoEscape::None);
    // Truth values print as YAML writes them.
    environment.set_formatter(|out, state, value| match value.kind() {
        ValueKind::Bool => Ok(out.write_str(if value.is_true() { "true" } else { "false" })?),
        _ => escape_formatter(out, state, value),
    });
    environment
}

fn compile(expression: &str) -> Result<Expression<'static, 'static>, minijinja::Error> {
    STRICT.compile_expression_owned(expression.to_owned())
}

#[cfg(test)]
mod tests {
    use super::render::render;
    use super::*;
    use crate::model::tree::{Node, Span, Tree};
    use serde_json::Value as Json;
    use std::sync::Arc;

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
            ("{{ cpus < 1 }}", "true", false),
            ("{% if cpus < 1 %}{{ cpus }} of {{ tag }}{% endif %}", ".5 of 3.10", true),
            ("{{ tag | upper }}", "3.10", true),
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
        let both = scope(&[("tag", "3.10")]);
        assert!(rendered("{{ tag ~ (tag * 2) }}", &both).is_err_and(|e| e.contains("both computes")));
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
