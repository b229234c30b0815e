//! From results to the words of a page: the view that the templates see, and their rendering.
//!
//! What a person wrote stays as it is in the view ([`inline`]) and is escaped when a template prints it, for Markdown or HTML; every
//! number takes its human form in one place ([`number`]).

mod circumstances;
mod cpu;
mod factors;
mod html;
mod hygiene;
pub mod inline;
mod judged;
mod markdown;
pub mod number;
mod sections;
mod sentences;
mod stillness;
mod summary;
mod trials;
mod undecided;
pub mod view;

pub(super) use circumstances::{attested, commands, environments, failures, files, method};
pub(super) use cpu::cpu;
pub(super) use factors::factors;
pub(super) use hygiene::{checks, limiters};
pub(super) use markdown::markdown;
pub(super) use sections::{levels, verdicts};
pub(super) use sentences::{advice, answers};
pub(super) use stillness::{drift, stillness};
pub(super) use summary::{baseline, summary};
pub(super) use trials::trials;

use inline::Inline;
use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, Output, UndefinedBehavior, Value};
use view::View;

/// A language that pages are written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// To be read on a forge.
    Markdown,
    /// To be opened in a browser.
    Html,
}

impl Language {
    /// Every language, in the order in which pages are made.
    pub const ALL: [Self; 2] = [Self::Markdown, Self::Html];

    /// The page.
    #[must_use]
    pub fn page(self) -> &'static str {
        match self {
            Self::Markdown => "README.md",
            Self::Html => "index.html",
        }
    }

    /// The file of its template, which a person may replace by one of that name.
    #[must_use]
    pub fn template(self) -> &'static str {
        match self {
            Self::Markdown => "report.md.j2",
            Self::Html => "report.html.j2",
        }
    }

    fn built_in(self) -> &'static str {
        match self {
            Self::Markdown => include_str!("../../../templates/report.md.j2"),
            Self::Html => include_str!("../../../templates/report.html.j2"),
        }
    }

    fn escaped(self, text: &Inline) -> String {
        match self {
            Self::Markdown => markdown(text),
            Self::Html => html::html(text),
        }
    }
}

/// What a template may include: the looks and the manners of the page in HTML.
const INCLUDED: [(&str, &str); 2] =
    [("report.css", include_str!("../../../templates/report.css")), ("report.js", include_str!("../../../templates/report.js"))];

/// Steps that a template may take: a page of 10,000 rows needs about a tenth.
const FUEL: u64 = 10_000_000;

/// A template that cannot be rendered.
#[derive(Debug, thiserror::Error)]
pub enum TemplateError {
    /// It is not a template.
    #[error("the template `{template}` is not valid{}: {source}", at(.line))]
    Syntax {
        /// Its file.
        template: &'static str,
        /// Line in the template, from 1.
        line: Option<usize>,
        /// What is wrong.
        #[source]
        source: minijinja::Error,
    },
    /// It asks for something that the page does not have, or does not end.
    #[error("the template `{template}` cannot be rendered{}: {source}", at(.line))]
    Render {
        /// Its file.
        template: &'static str,
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

/// A view as templates see it, made once for all pages.
pub struct Seen(Value);

impl Seen {
    /// What templates see of a view.
    #[must_use]
    pub fn new(view: &View) -> Self {
        Self(Value::from(Serde(view)))
    }

    /// Renders the page in one language; `own` replaces the template that is built in. Unknown names are errors, never empty text.
    ///
    /// # Errors
    /// When the template is not valid, names what a view does not have, or takes too many steps.
    pub fn render(&self, language: Language, own: Option<&str>) -> Result<String, TemplateError> {
        let template = language.template();
        let mut environment = Environment::new();
        // Only what a macro has escaped already passes as it is.
        environment.set_auto_escape_callback(|_| AutoEscape::Custom("page".into()));
        environment.set_formatter(move |out, _, value| print(language, out, value));
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).keep_trailing_newline(true).build();
        environment.set_syntax(syntax.expect("the usual delimiters are valid"));
        environment.set_fuel(Some(FUEL));
        for (name, text) in INCLUDED {
            environment.add_template(name, text).expect("what is built in is valid");
        }
        let parsed = environment.template_from_str(own.unwrap_or_else(|| language.built_in()));
        let parsed = parsed.map_err(|source| TemplateError::Syntax { template, line: source.line(), source })?;
        parsed.render(self.0.clone()).map_err(|source| TemplateError::Render { template, line: source.line(), source })
    }
}

/// Prints a value of a template: everything but what is marked as safe is a text of other people.
fn print(language: Language, out: &mut Output, value: &Value) -> Result<(), minijinja::Error> {
    if value.is_safe() {
        return Ok(out.write_str(value.as_str().unwrap_or_default())?);
    }
    let escaped = match (value.downcast_object_ref::<Inline>(), value.as_str()) {
        (Some(inline), _) => language.escaped(inline),
        (None, Some(raw)) => language.escaped(&raw.into()),
        (None, None) => language.escaped(&value.to_string().into()),
    };
    Ok(out.write_str(&escaped)?)
}
