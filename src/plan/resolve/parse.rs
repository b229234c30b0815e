//! `parse:`: a parser's name, declared extractions, or a list of both.

use super::Problems;
use crate::model::catalog::Catalog;
use crate::model::diagnostic::Diagnostic;
use crate::model::language::EXTRACTION;
use crate::model::metric::{Better, Unit};
use crate::model::spec::{Extraction, ParseSpec, Pick, Stream};
use crate::model::tree::{Node, Tree};

pub(super) fn parse(workload: &Tree, catalog: &Catalog, problems: &mut Problems) -> Vec<ParseSpec> {
    let mut specs = Vec::new();
    if let Some(tree) = workload.get("parse") {
        one_or_many(tree, catalog, problems, &mut specs);
    }
    specs
}

fn one_or_many(tree: &Tree, catalog: &Catalog, problems: &mut Problems, specs: &mut Vec<ParseSpec>) {
    match &tree.node {
        Node::Null => {}
        Node::Scalar(scalar) => {
            let names = catalog.parsers.iter().map(|p| p.name);
            if names.clone().any(|name| name == &*scalar.text) {
                specs.push(ParseSpec::Tool(scalar.text.to_string()));
            } else {
                problems.0.push(Diagnostic::error(tree.span, format!("unknown parser `{}`", scalar.text)).suggest(&scalar.text, names));
            }
        }
        Node::Seq(items) => items.iter().for_each(|item| one_or_many(item, catalog, problems, specs)),
        Node::Map(entries) => {
            for (key, value) in entries {
                let spec = match &*key.name {
                    "regex" => ParseSpec::Regex(extractions(value, "pattern", Stream::Both, problems)),
                    "json" => ParseSpec::Json(extractions(value, "path", Stream::Stdout, problems)),
                    "csv" => ParseSpec::Csv(extractions(value, "column", Stream::Stdout, problems)),
                    other => {
                        problems.0.push(
                            Diagnostic::error(key.span, format!("unknown way to parse `{other}`")).suggest(other, ["regex", "json", "csv"]),
                        );
                        continue;
                    }
                };
                if let Err(why) = (catalog.check_extraction)(&spec) {
                    problems.error(value, why);
                }
                specs.push(spec);
            }
        }
    }
}

fn extractions(tree: &Tree, main: &str, from: Stream, problems: &mut Problems) -> Vec<Extraction> {
    let mut found = Vec::new();
    if tree.entries().is_empty() {
        problems.error(tree, "a mapping from metric names to what finds them is needed here");
    }
    for (key, value) in tree.entries() {
        let mut extraction =
            Extraction { name: key.name.to_string(), pattern: String::new(), from, pick: Pick::First, unit: Unit::ONE, better: None };
        match &value.node {
            Node::Scalar(scalar) => extraction.pattern = scalar.text.to_string(),
            Node::Map(entries) => {
                for (key, _) in entries {
                    let misplaced = ["pattern", "path", "column"].contains(&&*key.name) && &*key.name != main;
                    if misplaced || EXTRACTION.field(&key.name).is_none() {
                        let known = EXTRACTION.known().filter(|k| !["pattern", "path", "column"].contains(k) || *k == main);
                        problems.0.push(Diagnostic::error(key.span, format!("unknown key `{}`", key.name)).suggest(&key.name, known));
                    }
                }
                extraction.pattern = problems.some_text(value, main).unwrap_or_default();
                let words = [("stdout", Stream::Stdout), ("stderr", Stream::Stderr), ("both", Stream::Both)];
                extraction.from = word(value, "from", &words, problems).unwrap_or(from);
                extraction.pick = word(value, "match", PICKS, problems).unwrap_or(Pick::First);
                extraction.better = word(value, "better", &[("higher", Better::Higher), ("lower", Better::Lower)], problems);
                if let Some(unit) = problems.some_text(value, "unit") {
                    extraction.unit = Unit::custom(&unit);
                }
            }
            _ => problems.error(value, format!("`{}` is a text or a mapping", key.name)),
        }
        if extraction.pattern.is_empty() {
            problems.error(value, format!("`{}` needs a `{main}`", key.name));
        }
        found.push(extraction);
    }
    found
}

const PICKS: &[(&str, Pick)] = &[
    ("first", Pick::First),
    ("last", Pick::Last),
    ("median", Pick::Median),
    ("mean", Pick::Mean),
    ("sum", Pick::Sum),
    ("min", Pick::Min),
    ("max", Pick::Max),
    ("count", Pick::Count),
];

fn word<T: Copy>(tree: &Tree, key: &str, words: &[(&str, T)], problems: &mut Problems) -> Option<T> {
    problems.read(tree, key, |text| {
        words.iter().find(|(word, _)| *word == text).map(|(_, value)| *value).ok_or_else(|| {
            let known: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            format!("`{text}` is not one of {}", known.join(", "))
        })
    })
}
