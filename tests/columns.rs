//! The columns of all CSV files: each is described in METHODOLOGY.md and holds what it says; no row is ragged; samples, long.

use crate::analyse::starts::{hosted, private};
use crate::analyse::{add_metric, add_variant, fail, results, row};
use crate::program::Place;
use shakedown::analyse::analyse;
use shakedown::model::cpu::{CpuPart, CpuShare, CpuSplit, Work};
use shakedown::model::estimate::{Analysis, Effect, Verdict};
use shakedown::model::event::Event;
use shakedown::model::factorial::{Interaction, MainEffect, SimpleEffect};
use shakedown::model::hygiene::Reading;
use shakedown::model::metric::{Better, Unit};
use shakedown::model::observe::{Sample, Series, SeriesColumn};
use shakedown::model::outcome::Phase;
use shakedown::model::plan::FactorSummary;
use shakedown::model::results::Results;
use shakedown::record::{RunFolder, keep_series};
use shakedown::report::visible::visible;
use shakedown::report::{makes, tables};
use std::collections::{BTreeMap, BTreeSet};

const HOSTILE: &str = "=cmd(),\"<b>\"\r\n\u{202e}@x";

/// Results that make every file and every column: private engines, readings, failures, two factors, awkward names.
fn everything() -> (Results, Analysis) {
    let values: Vec<f64> = (0..8).map(|n| 100.0 + f64::from(n % 3)).collect();
    let mut results = results(HOSTILE, "wall", Unit::SECOND, Better::Lower, &[("-1", &values), (HOSTILE, &values)]);
    add_metric(&mut results, "memory_peak", Unit::BYTE, Some(Better::Lower));
    results.factors.push(FactorSummary { name: "engine".into(), levels: vec!["a".into(), "b".into()] });
    results.variants.iter_mut().for_each(|variant| variant.levels.push(0));
    hosted(&mut results, &[private("overlay2"), private("btrfs")], 4, 8);
    let copy = add_variant(&mut results, "-1#aa", &["workload"]);
    results.variants[copy].levels.push(0);
    for block in 1..=8 {
        let row = row(&results, copy, block, &[("wall", 100.0 + f64::from(block)), ("memory_peak", 1048576.0)]);
        results.rows.push(row);
    }
    let mut failed = row(&results, 1, 9, &[]);
    fail(&mut failed, Phase::Measure, HOSTILE);
    failed.row.readings = vec![Reading::of("foreign-cpu", 0.5), Reading::unobservable("steal")];
    failed.states = vec![shakedown::model::hygiene::State::Taint, shakedown::model::hygiene::State::Unobservable];
    results.rows.push(failed);
    results.rows[0].row.taints.push("neighbour".into());
    let mut analysis = analyse(&results);
    let effect = Effect {
        n: 8,
        ratio: 1.01,
        low: Some(1.0),
        high: Some(1.02),
        simultaneous: Some((0.99, 1.03)),
        hodges_lehmann: Some(1.011),
        fragile: true,
        equivalence: None,
        p: Some(0.04),
        p_adjusted: Some(0.08),
        verdict: Verdict::Undecided,
        detectable: None,
    };
    let simple = vec![SimpleEffect { factor: 1, level: 1, effect: effect.clone() }];
    let (metric, engine_starts, lost) = ("wall".to_owned(), None, None);
    analysis.main_effects.push(MainEffect {
        metric: metric.clone(),
        factor: 0,
        level: 1,
        against: 0,
        combinations: 2,
        effect: effect.clone(),
        engine_starts,
        lost,
        too_short: false,
        depends_on: vec![1],
        simple,
    });
    let (factors, levels, against) = ((0, 1), (1, 1), (0, 0));
    analysis.interactions.push(Interaction { metric, factors, levels, against, combinations: 1, effect, engine_starts, lost });
    let shares = vec![CpuShare { part: CpuPart::Workload(HOSTILE.into()), seconds: 0.5, n: 8 }];
    analysis.cpu.push(CpuSplit { variant: 0, work: Work::Trial, shares });
    (results, analysis)
}

fn series() -> Series {
    let column =
        |subject: &str, quantity: &str, unit: &str| SeriesColumn { subject: subject.into(), quantity: quantity.into(), unit: unit.into() };
    let sample = |time, phase: &str, values: &[Option<f64>]| Sample { time, phase: phase.into(), values: values.to_vec() };
    Series {
        columns: vec![column("=web", "cpu", "s"), column("host", "memory", "B")],
        samples: vec![sample(0.0, "start", &[None, Some(4096.0)]), sample(1.5, "window", &[Some(0.25), Some(0.0)])],
    }
}

/// A file's rows, the header first. The reader refuses ragged rows.
fn read(bytes: &[u8]) -> Vec<Vec<String>> {
    let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(bytes);
    reader.records().map(|record| record.expect("a row as long as the header").iter().map(str::to_owned).collect()).collect()
}

/// Every file with its rows.
fn files() -> BTreeMap<&'static str, Vec<Vec<String>>> {
    let (results, analysis) = everything();
    let made = tables::tables(&results, &analysis);
    assert_eq!(made.iter().map(|(name, _)| *name).collect::<Vec<_>>(), tables::NAMES);
    let mut files: BTreeMap<_, _> = made.iter().map(|(name, bytes)| (*name, read(bytes))).collect();
    let samples = [tables::samples_head(), tables::samples_of("r", "b1p1", HOSTILE, &series())].concat();
    files.insert("samples.csv", read(&samples));
    files
}

/// The columns that METHODOLOGY.md describes, by file.
fn described() -> BTreeMap<String, Vec<String>> {
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/METHODOLOGY.md")).expect("METHODOLOGY.md");
    let (_, section) = text.split_once("\n## Columns of the CSV files\n").expect("the section");
    let section = section.split("\n## ").next().expect("its end");
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut file = String::new();
    for line in section.lines() {
        if let Some(name) = line.strip_prefix("**`").and_then(|rest| rest.split('`').next()) {
            file = name.to_owned();
        } else if let Some(cell) = line.strip_prefix("| ").and_then(|row| row.split(" | ").next()) {
            let cells: Vec<&str> = line.split('|').map(str::trim).collect();
            assert!(cells.len() >= 5 && (!cells[3].is_empty() || cells[1].contains("---")), "{file}: no meaning: {line}");
            found.entry(file.clone()).or_default().extend(cell.split('`').skip(1).step_by(2).map(str::to_owned));
        }
    }
    found
}

#[test]
fn every_column_of_every_file_is_described_and_no_other() {
    let (files, described) = (files(), described());
    assert_eq!(files.keys().map(|name| (*name).to_owned()).collect::<Vec<_>>(), described.keys().cloned().collect::<Vec<_>>());
    for (name, rows) in files {
        // One column per factor and per metric: what they are is told by factors.csv and metrics.csv.
        let dynamic = [format!("'{}", visible(HOSTILE)), "engine".to_owned(), "wall".to_owned(), "memory_peak".to_owned()];
        let has: Vec<&String> = rows[0].iter().filter(|column| !dynamic.contains(column)).collect();
        let told: Vec<&String> = described[name].iter().filter(|column| !column.ends_with(".csv")).collect();
        assert_eq!(told.iter().collect::<BTreeSet<_>>(), has.iter().collect::<BTreeSet<_>>(), "{name}");
        assert_eq!((has.len(), told.len()), (has.iter().collect::<BTreeSet<_>>().len(), has.len()), "{name}: each once");
        assert!(rows.len() > 1, "{name} has a row to look at");
    }
}

#[test]
fn cells_hold_what_their_columns_say_and_nothing_runs() {
    let numbers = [
        "block",
        "position",
        "attempt",
        "engine_start",
        "n",
        "median",
        "low",
        "high",
        "min",
        "max",
        "ratio",
        "p_adjusted",
        "simultaneous_low",
        "simultaneous_high",
        "hodges_lehmann",
        "clean_n",
        "clean_ratio",
        "clean_low",
        "clean_high",
        "combinations",
        "place",
        "variants",
        "trials",
        "seconds_per_unit",
        "time_s",
        "value",
        "wall",
        "memory_peak",
    ];
    for (name, rows) in files() {
        let (header, rows) = rows.split_first().expect("a header");
        for (column, cell) in rows.iter().flat_map(|row| header.iter().zip(row)) {
            let number = numbers.contains(&column.as_str());
            assert!(!number || cell.is_empty() || cell.parse::<f64>().is_ok_and(f64::is_finite), "{name}, {column}: {cell}");
            let truth =
                matches!(column.as_str(), "fragile" | "baseline" | "primary") && !matches!(name, "effects.csv" if column == "baseline");
            assert!(!truth || ["true", "false"].contains(&cell.as_str()), "{name}, {column}: {cell}");
            assert!(!cell.starts_with(['=', '+', '@', '\t', '\r', '\n']), "{name}, {column}: {cell}");
            assert!(!cell.starts_with('-') || cell.parse::<f64>().is_ok(), "{name}, {column}: {cell}");
        }
    }
}

#[test]
fn main_effects_stand_before_what_they_are_at_other_levels() {
    let files = files();
    let hostile = format!("'{}", visible(HOSTILE));
    let main = &files["main_effects.csv"][1..];
    let cells = |row: &Vec<String>| row.join("|");
    assert_eq!(cells(&main[0]), format!("wall|{hostile}|{hostile}|-1|||2|engine|8|1.01|1|1.02|0.08|undecided|0.99|1.03|1.011"));
    assert_eq!(cells(&main[1]), format!("wall|{hostile}|{hostile}|-1|engine|b|||8|1.01|1|1.02|0.08||0.99|1.03|1.011"));
    let interaction = &files["interactions.csv"][1];
    assert_eq!(cells(interaction), format!("wall|{hostile}|{hostile}|-1|engine|b|a|1|8|1.01|1|1.02|0.08|undecided|0.99|1.03|1.011"));
    let (results, analysis) = (everything().0, Analysis::default());
    assert!(tables::main_effects_csv(&results, &analysis).is_none() && tables::interactions_csv(&results, &analysis).is_none());
    assert!(makes("main_effects.csv") && makes("interactions.csv") && !makes("samples.csv"), "a report leaves samples alone");
}

#[test]
fn kinds_of_comparison_are_told_apart() {
    let rows = &files()["effects.csv"];
    let place = |name: &str| rows[0].iter().position(|column| column == name).expect("column");
    let told: Vec<(&str, &str)> = rows[1..].iter().map(|row| (row[place("metric")].as_str(), row[place("kind")].as_str())).collect();
    assert_eq!(told, [("wall", "primary"), ("wall", "control")]);
}

#[test]
fn samples_are_long_and_written_on_request_only() {
    assert_eq!(
        String::from_utf8(tables::samples_of("r", "b1p1", "v", &series())).expect("text"),
        "r,b1p1,v,start,0,host,memory,B,4096\nr,b1p1,v,window,1.5,'=web,cpu,s,0.25\nr,b1p1,v,window,1.5,host,memory,B,0\n"
    );
    let place = Place::with(
        "pair",
        "matrix: {level: [a, b]}\nworkload: {on: host, command: 'work {{ level }}', timeout: 5s}\ndesign: {blocks: 2, seed: 7}\n",
    );
    assert_eq!(place.fake(r#"[{"wait": {"wall_ms": 2000}}]"#, &["run", "pair"]).code, 0);
    // A scripted engine samples nothing: two trials get samples here, one of them of two attempts under one file.
    let run = std::fs::read_dir(place.path("reports/pair/runs")).expect("runs").next().expect("a run").expect("entry").path();
    let folder = RunFolder::existing(run);
    let text = std::fs::read_to_string(folder.journal()).expect("journal");
    let mut lines = Vec::new();
    let mut rows = 0;
    for line in text.lines() {
        let event: Event = serde_json::from_str(line).expect("event");
        match event {
            Event::TrialFinished(mut row) if rows < 2 => {
                rows += 1;
                row.series = Some(keep_series(&folder, &row.trial, &series()).expect("kept"));
                let line = serde_json::to_string(&Event::TrialFinished(row)).expect("line");
                lines.extend(vec![line; rows]);
            }
            _ => lines.push(line.to_owned()),
        }
    }
    std::fs::write(folder.journal(), lines.join("\n") + "\n").expect("journal");
    assert_eq!(place.run(&["report", "pair"]).code, 0);
    assert!(!place.path("reports/pair/samples.csv").exists());
    let said = place.run(&["report", "pair", "--samples"]);
    assert!(said.code == 0 && said.stdout.ends_with("reports/pair/samples.csv\n"), "{}{}", said.stdout, said.stderr);
    let written = std::fs::read(place.path("reports/pair/samples.csv")).expect("samples");
    assert_eq!(read(&written).len(), 1 + 2 * 3, "the last attempt's, once");
    assert_eq!(place.run(&["report", "pair", "--check"]).code, 0, "the check does not look at it");
    assert_eq!(place.run(&["report", "pair"]).code, 0);
    assert!(place.path("reports/pair/samples.csv").exists(), "and nobody removes it");
    assert_eq!(place.run(&["report", "pair", "--check", "--samples"]).code, 2);
}
