//! The reference of the manifest's keys is the table that the checker goes by.

use super::{SWITCH, document, root};
use shakedown::model::language::{EXPERIMENT, EXTRACTION, SERVICE, WORKLOAD};
use shakedown::model::shape::{Field, Record, Shape, Support};
use std::fmt::Write;

const FILE: &str = "docs/manifest.md";
const BEGIN: &str = "<!-- keys:begin -->\n";
const END: &str = "<!-- keys:end -->";

/// Every record that can be reached from the top level, each once; extractions are checked by the parsers and named by nobody.
fn records() -> Vec<&'static Record> {
    let mut found = vec![&EXPERIMENT];
    let mut next = 0;
    while next < found.len() {
        found[next].fields.iter().for_each(|field| inner(&field.shape, &mut found));
        next += 1;
    }
    found.push(&EXTRACTION);
    found
}

fn inner(shape: &Shape, found: &mut Vec<&'static Record>) {
    match shape {
        Shape::Record(record) if !found.iter().any(|known| known.name == record.name) => found.push(record),
        Shape::List(shape) | Shape::Named(shape) => inner(shape, found),
        Shape::Either(shapes) => shapes.iter().for_each(|shape| inner(shape, found)),
        _ => {}
    }
}

fn anchor(name: &str) -> String {
    name.replace(' ', "-")
}

fn words(shape: &Shape) -> String {
    match shape {
        Shape::Text => "text".to_owned(),
        Shape::Bool => "`true` or `false`".to_owned(),
        Shape::Integer(low, i64::MAX) => format!("whole number from {low}"),
        Shape::Integer(low, high) => format!("whole number from {low} to {high}"),
        Shape::Number(low, high) => format!("number above {low}, up to {high}"),
        Shape::Duration => "duration".to_owned(),
        Shape::Size => "size".to_owned(),
        Shape::Percent => "percentage".to_owned(),
        Shape::Amount => "number or percentage".to_owned(),
        Shape::OrOff(inner) => format!("{}, or `off`", words(inner)),
        Shape::CpuList => "CPU list".to_owned(),
        Shape::Word(words) => words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", "),
        Shape::Command => "command".to_owned(),
        Shape::List(of) => format!("list of: {}", words(of)),
        Shape::Pairs => "pairs".to_owned(),
        Shape::Named(of) => format!("by name: {}", words(of)),
        Shape::Record(record) => format!("[{}](#{})", record.name, anchor(record.name)),
        Shape::Either(shapes) => shapes.iter().map(words).collect::<Vec<_>>().join("; or "),
        Shape::Any => "free form".to_owned(),
    }
}

fn rows<'f>(table: &mut String, fields: impl Iterator<Item = &'f Field>) {
    table.push_str("\n| key | shape | meaning |\n|---|---|---|\n");
    for field in fields {
        let (shape, about) = (words(&field.shape), field.about);
        let row = match (field.support, field.required) {
            (Support::Later, _) => writeln!(table, "| `{}` | | *not supported yet*: {about} |", field.name),
            (Support::Yes, true) => writeln!(table, "| `{}` | {shape} | **must be given**: {about} |", field.name),
            (Support::Yes, false) => writeln!(table, "| `{}` | {shape} | {about} |", field.name),
        };
        row.expect("text");
    }
}

/// The key of a workload that a service has, too, with the same meaning.
fn is_shared(field: &Field) -> bool {
    let same = |record: &Record| record.field(field.name).is_some_and(|other| other.about == field.about);
    same(&WORKLOAD) && same(&SERVICE)
}

fn reference() -> String {
    let mut text = String::new();
    for record in records() {
        let name = record.name;
        write!(text, "\n### {name}\n").expect("text");
        if !record.one_of.is_empty() {
            let keys = record.one_of.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(", ");
            write!(text, "\nExactly one of {keys}.\n").expect("text");
        }
        let unit = [&WORKLOAD, &SERVICE].iter().any(|unit| unit.name == name);
        if unit {
            text.push_str("\nThe keys that [a workload and a service](#a-workload-and-a-service) share, and:\n");
        }
        rows(&mut text, record.fields.iter().filter(|field| !unit || !is_shared(field)));
        if name == WORKLOAD.name {
            text.push_str("\n### a workload and a service\n");
            rows(&mut text, record.fields.iter().filter(|field| is_shared(field)));
        }
    }
    text.push('\n');
    text
}

#[test]
fn the_reference_of_keys_is_the_codes_own() {
    let text = document(FILE);
    let (before, rest) = text.split_once(BEGIN).expect("the first marker");
    let (found, after) = rest.split_once(END).expect("the second marker");
    let reference = reference();
    if std::env::var(SWITCH).is_ok_and(|value| value == "rewrite") {
        std::fs::write(root().join(FILE), format!("{before}{BEGIN}{reference}{END}{after}")).expect(FILE);
    } else {
        assert_eq!(found, reference, "run `{SWITCH}=rewrite cargo test --test main readme::` and commit {FILE}");
    }
}

#[test]
fn every_record_has_a_heading_that_links_find() {
    let text = reference();
    let headings: Vec<String> = text.lines().filter_map(|line| line.strip_prefix("### ")).map(anchor).collect();
    for target in text.split("](#").skip(1).filter_map(|rest| rest.split(')').next()) {
        assert!(headings.iter().any(|heading| heading == target), "{target}");
    }
    for name in ["an-engine", "a-backing", "a-service", "a-readiness", "a-network", "a-volume", "a-port", "a-mount", "an-extraction"] {
        assert_eq!(headings.iter().filter(|heading| *heading == name).count(), 1, "{name}");
    }
}
