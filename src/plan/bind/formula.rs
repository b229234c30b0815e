//! Conditions and formulas: expressions over names.

use super::compile;
use super::scope::Scope;
use super::spelling::Form;
use crate::model::diagnostic::suggestion;
use minijinja::Expression;
use minijinja::value::{Serde, Value, ValueKind};
use serde_json::{Map, Value as Json};

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
        let value = self.value(scope.context(Form::Numbers))?;
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
        if self.expression.undeclared_variables(true).iter().any(|path| absent(path, names)) {
            return Ok(None);
        }
        let value = self.value(Value::from(Serde(names)))?;
        match value.kind() {
            ValueKind::Number => Ok(f64::try_from(value).ok().filter(|n| n.is_finite())),
            ValueKind::Undefined => Ok(None),
            kind => Err(FormulaError::Type { text: self.text.clone(), found: kind.to_string(), wanted: "a number" }),
        }
    }
}

/// Whether a path such as `a.real` leads nowhere.
fn absent(path: &str, names: &Map<String, Json>) -> bool {
    let mut parts = path.split('.');
    let mut found = parts.next().and_then(|name| names.get(name));
    for part in parts {
        found = match found {
            Some(Json::Object(inner)) => inner.get(part),
            // Something of the template language, such as a method of a text.
            other => return other.is_none(),
        };
    }
    found.is_none()
}
