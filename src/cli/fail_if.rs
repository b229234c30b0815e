//! Thresholds of `compare`: `requests_per_second < -3%`.

use crate::model::change::{Operator, ShiftKind, Threshold};
use crate::model::diagnostic::Diagnostic;
use crate::model::tree::Span;

/// The operators, the longer ones first.
const OPERATORS: [(&str, Operator); 4] =
    [("<=", Operator::AtMost), (">=", Operator::AtLeast), ("<", Operator::Below), (">", Operator::Above)];

/// The word in front of a metric that is taken relative to the baseline.
const RELATIVE: &str = "relative ";

/// Reads `[relative] METRIC OPERATOR LIMIT`; a limit is a change in percent with its sign, or a ratio of B to A.
///
/// # Errors
/// What is wrong, with its place in the text.
pub fn parse(text: &str) -> Result<(Threshold, Span), Diagnostic> {
    let Some(at) = text.find(['<', '>', '=']) else {
        let message = "a threshold needs `<`, `<=`, `>` or `>=`";
        return Err(Diagnostic::error(span(text, 0, text.len()), message).help("such as `requests_per_second < -3%` or `wall > 1.05`"));
    };
    let rest = &text[at..];
    let Some((sign, operator)) = OPERATORS.iter().find(|(sign, _)| rest.starts_with(sign)) else {
        let end = rest.find(|c| !matches!(c, '<' | '>' | '=')).unwrap_or(rest.len());
        let message = format!("`{}` is not an operator here", &rest[..end]);
        return Err(Diagnostic::error(span(text, at, end), message).help("`<`, `<=`, `>` or `>=`"));
    };
    let before = &text[..at];
    let named = before.trim();
    let (kind, metric) = match named.strip_prefix(RELATIVE) {
        Some(metric) => (ShiftKind::Relative, metric.trim()),
        None => (ShiftKind::Level, named),
    };
    let place = span(text, before.rfind(metric).unwrap_or(0), metric.len());
    if metric.is_empty() {
        return Err(Diagnostic::error(span(text, 0, at + 1), "a threshold begins with a metric"));
    }
    let from = at + sign.len();
    let limit = limit(text, from)?;
    Ok((Threshold { text: text.to_owned(), kind, metric: metric.to_owned(), operator: *operator, limit }, place))
}

/// The ratio that a limit stands for.
fn limit(text: &str, from: usize) -> Result<f64, Diagnostic> {
    let written = text[from..].trim();
    let start = from + (text[from..].len() - text[from..].trim_start().len());
    let wrong = |message: String, help: &str| Err(Diagnostic::error(span(text, start.min(text.len()), written.len()), message).help(help));
    let example = "a change such as `-3%` or `+5%`, or a ratio of B to A such as `0.97`";
    let (digits, is_percent) = match written.strip_suffix('%') {
        Some(digits) => (digits.trim_end(), true),
        None => (written, false),
    };
    let plain = digits.chars().all(|c| c.is_ascii_digit() || matches!(c, '+' | '-' | '.'));
    let number = digits.parse::<f64>().ok().filter(|number| plain && number.is_finite());
    let Some(number) = number else {
        return wrong(if written.is_empty() { "a limit is missing".to_owned() } else { format!("`{written}` is not a limit") }, example);
    };
    let ratio = if is_percent { 1.0 + number / 100.0 } else { number };
    match ratio {
        _ if ratio > 0.0 => Ok(ratio),
        _ if is_percent => wrong(format!("nothing changes by `{written}`"), "a metric can lose less than 100%"),
        _ => wrong(format!("`{written}` is not a ratio"), &format!("write `{written}%` for a change in percent, or a ratio above 0")),
    }
}

fn span(text: &str, start: usize, len: usize) -> Span {
    let number = |value: usize| u32::try_from(value).unwrap_or(u32::MAX);
    Span { line: 1, column: number(text[..start].chars().count() + 1), start: number(start), len: number(len.max(1)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thresholds_are_ratios() {
        let table = [
            ("requests_per_second < -3%", ShiftKind::Level, "requests_per_second", Operator::Below, 0.97),
            ("  a.real>=+5 % ", ShiftKind::Level, "a.real", Operator::AtLeast, 1.05),
            ("wall > 1.05", ShiftKind::Level, "wall", Operator::Above, 1.05),
            ("relative wall <= 0.9", ShiftKind::Relative, "wall", Operator::AtMost, 0.9),
            ("relative > 2", ShiftKind::Level, "relative", Operator::Above, 2.0),
            ("日本 < -50%", ShiftKind::Level, "日本", Operator::Below, 0.5),
        ];
        for (text, kind, metric, operator, limit) in table {
            let (found, _) = parse(text).unwrap_or_else(|problem| panic!("{text}: {problem:?}"));
            assert_eq!((found.kind, found.metric.as_str(), found.operator), (kind, metric, operator), "{text}");
            assert!((found.limit - limit).abs() < 1e-12, "{text}: {}", found.limit);
        }
    }

    #[test]
    fn mistakes_have_their_place() {
        let table = [
            ("wall", 1, 4, "a threshold needs"),
            ("", 1, 1, "a threshold needs"),
            ("wall = 3%", 6, 1, "`=` is not an operator"),
            ("wall == 3%", 6, 2, "`==` is not an operator"),
            ("< 3%", 1, 1, "begins with a metric"),
            ("wall <", 7, 1, "a limit is missing"),
            ("wall < much", 8, 4, "`much` is not a limit"),
            ("wall < 1e3%", 8, 4, "`1e3%` is not a limit"),
            ("wall <> 3%", 7, 4, "`> 3%` is not a limit"),
            ("wall < nan", 8, 3, "`nan` is not a limit"),
            ("wall < -3", 8, 2, "`-3` is not a ratio"),
            ("é < -100%", 5, 5, "nothing changes by"),
            ("wall < 0", 8, 1, "`0` is not a ratio"),
        ];
        for (text, column, len, message) in table {
            let problem = parse(text).expect_err(text);
            let place = problem.span.expect("a place");
            assert!(problem.message.contains(message), "{text}: {}", problem.message);
            assert_eq!((place.column, place.len), (column, len), "{text}");
        }
    }
}
