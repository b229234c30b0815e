//! Values of single keys: numbers, quantities, words, CPU lists.

use crate::model::cpus::CpuList;
use crate::model::quantity::{self, QuantityError};
use crate::model::shape::{OFF, Shape};

/// Why a value was refused; the message goes behind the key's name.
pub(super) struct Refused {
    /// Such as "must be a whole number, not `x`".
    pub(super) message: String,
    /// What to write instead.
    pub(super) help: Option<String>,
}

/// What a person would call a shape.
pub(super) fn expected(shape: &Shape) -> String {
    match shape {
        Shape::Text => "a text".to_owned(),
        Shape::Bool => "`true` or `false`".to_owned(),
        Shape::Integer(..) => "a whole number".to_owned(),
        Shape::Number(..) => "a number".to_owned(),
        Shape::Duration => "a duration such as `90s`".to_owned(),
        Shape::Size => "a size such as `512m`".to_owned(),
        Shape::Percent => "a percentage such as `3%`".to_owned(),
        Shape::Amount => "a number or a percentage such as `3%`".to_owned(),
        Shape::OrOff(shape) => format!("{} or `off`", expected(shape)),
        Shape::CpuList => "a list of CPUs such as `0,2-3`".to_owned(),
        Shape::Word(words) => one_of(words),
        Shape::Command => "a command line or a list of arguments".to_owned(),
        Shape::List(item) => format!("a list of items, each {}", expected(item)),
        Shape::Pairs | Shape::Named(_) | Shape::Record(_) => "a mapping".to_owned(),
        Shape::Either(shapes) => shapes.iter().map(expected).collect::<Vec<_>>().join(" or "),
        Shape::Any => "anything".to_owned(),
    }
}

/// Checks the text of a scalar against a scalar's shape; other shapes take any text.
///
/// # Errors
/// When the text is not of the shape or out of its range.
pub(super) fn check(text: &str, shape: &Shape) -> Result<(), Refused> {
    match *shape {
        Shape::Bool => boolean(text).map(drop),
        Shape::Integer(low, high) => integer(text, low, high).map(drop),
        Shape::Number(above, most) => number(text, above, most),
        Shape::Duration => quantity::duration(text).map(drop).map_err(refused_quantity),
        Shape::Size => quantity::size(text).map(drop).map_err(refused_quantity),
        Shape::Percent => quantity::percent(text).map(drop).map_err(refused_quantity),
        Shape::Amount if quantity::amount(text).is_none() => refuse(text, &expected(shape), None),
        Shape::OrOff(_) if text == OFF => Ok(()),
        Shape::OrOff(inner) => check(text, inner).map_err(|refused| Refused { help: refused.help.or_else(or_off), ..refused }),
        Shape::CpuList => cpu_list(text),
        Shape::Word(words) if !words.contains(&text) => {
            let help = crate::model::diagnostic::suggestion(text, words.iter().copied()).filter(|help| help.starts_with("did you mean"));
            Err(Refused { message: format!("must be {}, not `{text}`", one_of(words)), help })
        }
        _ => Ok(()),
    }
}

fn or_off() -> Option<String> {
    Some(format!("or write `{OFF}`"))
}

fn refuse<T>(text: &str, expected: &str, help: Option<String>) -> Result<T, Refused> {
    Err(Refused { message: format!("must be {expected}, not `{text}`"), help })
}

/// Reads `true` or `false`; YAML 1.1's `yes` and `on` are texts.
pub(super) fn boolean(text: &str) -> Result<bool, Refused> {
    let meant = |word: &str| Some(format!("write `{word}`"));
    match text {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => match text.to_ascii_lowercase().as_str() {
            "yes" | "on" | "y" | "1" | "true" => refuse(text, "`true` or `false`", meant("true")),
            "no" | "off" | "n" | "0" | "false" => refuse(text, "`true` or `false`", meant("false")),
            _ => refuse(text, "`true` or `false`", None),
        },
    }
}

/// Reads a whole number in decimal digits, within bounds.
pub(super) fn integer(text: &str, low: i64, high: i64) -> Result<i64, Refused> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    if digits.is_empty() || !digits.chars().all(|c| c.is_ascii_digit()) {
        let plain = text.replace('_', "");
        let help = (plain != text && plain.parse::<i64>().is_ok()).then(|| format!("write `{plain}`"));
        return refuse(text, "a whole number", help);
    }
    if digits.len() > 1 && digits.starts_with('0') {
        let short = digits.trim_start_matches('0');
        let help = format!("write `{}`: a leading zero would mean octal elsewhere", if short.is_empty() { "0" } else { short });
        return refuse(text, "a number without leading zero", Some(help));
    }
    match text.parse::<i64>() {
        Ok(value) if (low..=high).contains(&value) => Ok(value),
        _ if high == i64::MAX => refuse(text, &format!("at least {low}"), None),
        _ => refuse(text, &format!("between {low} and {high}"), None),
    }
}

fn number(text: &str, above: f64, most: f64) -> Result<(), Refused> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    match quantity::number(digits) {
        _ if text.trim() != text => refuse(text, "a number", None),
        None => refuse(text, "a number", None),
        Some(_) if digits.len() > 1 && digits.starts_with("00") => refuse(text, "a number without leading zero", None),
        Some(value) => {
            let value = if digits == text { value } else { -value };
            if value > above && value <= most { Ok(()) } else { refuse(text, &format!("greater than {above} and at most {most}"), None) }
        }
    }
}

/// Checks `0,2-3`: ascending ranges of CPU numbers, without blanks.
fn cpu_list(text: &str) -> Result<(), Refused> {
    let fine = CpuList::parse(text).is_some() && !text.contains(char::is_whitespace);
    if fine { Ok(()) } else { refuse(text, "a list of CPUs such as `0,2-3`", None) }
}

fn refused_quantity(error: QuantityError) -> Refused {
    let help = Some(format!("write it with a unit, {}", error.example()));
    let message = match error {
        QuantityError::NoUnit { text, .. } => format!("needs a unit, and `{text}` has none"),
        QuantityError::Malformed { text, what, .. } => format!("must be {what}, not `{text}`"),
    };
    Refused { message, help }
}

/// "`a` or `b`", "one of `a`, `b`, `c`".
fn one_of(words: &[&str]) -> String {
    match words {
        [a] => format!("`{a}`"),
        [a, b] => format!("`{a}` or `{b}`"),
        _ => format!("one of {}", super::check::quoted(words.iter().copied())),
    }
}
