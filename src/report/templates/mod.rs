//! From results to the words of a page: the view that a template sees, and the rendering of the template.
//!
//! Everything a person wrote is escaped here ([`markdown`]), and every number takes its human form in one place ([`number`]).

mod circumstances;
mod cpu;
mod hygiene;
pub mod markdown;
pub mod number;
mod sections;
mod sentences;
mod undecided;
pub mod view;

pub(super) use circumstances::{attested, commands, environments, failures, files, method};
pub(super) use cpu::cpu;
pub(super) use hygiene::{checks, limiters};
pub(super) use sections::{levels, verdicts};
pub(super) use sentences::{Form, advice, answers};

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{Environment, UndefinedBehavior};
use view::View;

/// The template that is used unless a person gives another.
pub const REPORT: &str = include_str!("../../../templates/report.md.j2");

/// Steps that a template may take: a page of 10,000 rows needs about a tenth.
const FUEL: u64 = 10_000_000;

/// A template that cannot be rendered.
#[derive(Debug, thiserror::Error)]
pub enum TemplateError {
    /// It is not a template.
    #[error("the report template is not valid{}", at(.line))]
    Syntax {
        /// Line in the template, from 1.
        line: Option<usize>,
        /// What is wrong.
        #[source]
        source: minijinja::Error,
    },
    /// It asks for something that the page does not have, or does not end.
    #[error("the report template cannot be rendered{}", at(.line))]
    Render {
        /// Line in the template, from 1.
        line: Option<usize>,
        /// What is wrong.
        #[source]
        source: minijinja::Error,
    },
}

fn at(line: &Option<usize>) -> String {
    line.map_or_else(String::new, |line| format!(", line {line}"))
}

/// Renders a view; `template` replaces [`REPORT`]. Unknown names are errors, never empty text.
///
/// # Errors
/// When the template is not valid, names what a view does not have, or takes too many steps.
pub fn render(view: &View, template: Option<&str>) -> Result<String, TemplateError> {
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|_| minijinja::AutoEscape::None);
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).keep_trailing_newline(true).build();
    environment.set_syntax(syntax.expect("the usual delimiters are valid"));
    environment.set_fuel(Some(FUEL));
    let parsed = environment.template_from_str(template.unwrap_or(REPORT));
    let parsed = parsed.map_err(|source| TemplateError::Syntax { line: source.line(), source })?;
    parsed.render(Serde(view)).map_err(|source| TemplateError::Render { line: source.line(), source })
}
