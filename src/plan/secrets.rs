//! What a record must not hold: values of variables and arguments whose names look like a secret's.

use crate::model::spec::{ImageSpec, TrialSpec};
use serde_json::{Map, Value as Json};

/// What stands in a secret's place.
const GONE: &str = "***";

/// Whether a name looks like a secret's.
fn is_secret(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    ["PASSWORD", "PASSWD", "TOKEN", "SECRET", "KEY"].iter().any(|word| upper.contains(word))
}

/// The spec as it may be recorded.
#[must_use]
pub fn redacted(mut spec: TrialSpec) -> TrialSpec {
    for workload in &mut spec.workloads {
        let unit = &mut workload.unit;
        pairs(&mut unit.environment);
        arguments(&mut unit.command);
        unit.entrypoint.iter_mut().for_each(|entrypoint| arguments(entrypoint));
        if let Some(ImageSpec::Build { args, .. }) = &mut unit.image {
            pairs(args);
        }
    }
    spec
}

/// The vars as they may be recorded. Numbers stay, because formulas compute with them and `keys: 1000` is no secret.
#[must_use]
pub fn redacted_vars(mut vars: Map<String, Json>) -> Map<String, Json> {
    vars.iter_mut().for_each(|(name, value)| var(value, is_secret(name)));
    vars
}

fn var(value: &mut Json, secret: bool) {
    match value {
        Json::String(text) if secret => *text = GONE.to_owned(),
        Json::Array(items) => items.iter_mut().for_each(|item| var(item, secret)),
        Json::Object(entries) => entries.iter_mut().for_each(|(name, value)| var(value, secret || is_secret(name))),
        _ => {}
    }
}

fn pairs(pairs: &mut [(String, String)]) {
    pairs.iter_mut().filter(|(name, _)| is_secret(name)).for_each(|(_, value)| *value = GONE.to_owned());
}

/// `--token x`, `--token=x`, `TOKEN=x`, and the same inside the text that a shell is given.
fn arguments(arguments: &mut [String]) {
    let mut next_is_secret = false;
    for argument in arguments {
        if std::mem::take(&mut next_is_secret) && !argument.starts_with('-') {
            *argument = GONE.to_owned();
        } else if !argument.contains(char::is_whitespace) {
            next_is_secret = is_option(argument);
            *argument = word(argument);
        } else if let Some((name, _)) = argument.split_once('=').filter(|(name, _)| is_name(name) && is_secret(name)) {
            *argument = format!("{name}={GONE}");
        } else {
            *argument = shell_text(argument);
        }
    }
}

/// Whether the word after this one is a secret.
fn is_option(word: &str) -> bool {
    word.starts_with("--") && !word.contains('=') && is_secret(word)
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'))
}

fn word(word: &str) -> String {
    match word.split_once('=') {
        Some((name, _)) if is_secret(name) => format!("{name}={GONE}"),
        _ => word.to_owned(),
    }
}

/// Redacts word by word; blanks within quotes do not end a word.
fn shell_text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut next_is_secret = false;
    let mut current = String::new();
    let mut quote = None;
    for c in text.chars() {
        match (quote, c) {
            (None, '"' | '\'') => quote = Some(c),
            (Some(open), _) if open == c => quote = None,
            _ => {}
        }
        if quote.is_some() || !c.is_whitespace() {
            current.push(c);
            continue;
        }
        out.push_str(&shell_word(&std::mem::take(&mut current), &mut next_is_secret));
        out.push(c);
    }
    out.push_str(&shell_word(&current, &mut next_is_secret));
    out
}

fn shell_word(text: &str, next_is_secret: &mut bool) -> String {
    if text.is_empty() {
        return String::new();
    }
    let secret = std::mem::take(next_is_secret) && !text.starts_with('-');
    *next_is_secret = is_option(text);
    if secret { GONE.to_owned() } else { word(text) }
}
