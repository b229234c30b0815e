//! The house's walls: imports go strictly downwards, and every outside dependency has one owner.

use std::collections::BTreeMap;
use std::path::Path;

/// Layer of each room; a room may import only rooms of a lower layer (and itself).
const LAYERS: &[(&str, u8)] = &[
    ("model", 0),
    ("manifest", 1),
    ("plan", 1),
    ("analyse", 1),
    ("engine", 2),
    ("measure", 2),
    ("record", 2),
    ("report", 2),
    ("execute", 3),
    ("cli", 4),
];

/// The rooms that may name each crate. Every dependency in Cargo.toml stands here.
const OWNERS: &[(&str, &[&str])] = &[
    ("annotate_snippets", &["cli"]),
    ("anstream", &["cli"]),
    ("base64", &["report/page"]),
    ("bollard", &["engine/docker"]),
    ("clap", &["cli"]),
    ("comfy_table", &["cli"]),
    ("csv", &["report/tables", "record", "measure/parsers", "cli"]),
    ("flate2", &["measure/doctor", "record"]),
    ("fs_err", &["engine", "measure", "record", "execute", "cli"]),
    ("futures_util", &["engine", "execute"]),
    ("http_body_util", &["execute/probe"]),
    ("hyper", &["execute/probe"]),
    ("hyper_util", &["execute/probe"]),
    ("idna_adapter", &[]),
    ("indexmap", &["model", "manifest", "plan"]),
    ("indicatif", &["cli"]),
    ("jiff", &["engine/docker", "record", "execute"]),
    ("minijinja", &["plan/bind", "report/templates"]),
    ("plotters", &["report/charts"]),
    ("plotters_backend", &["report/charts"]),
    ("png", &["report/charts"]),
    ("regex", &["measure/parsers", "execute/probe"]),
    ("rustix", &["engine", "measure", "execute", "record", "cli"]),
    ("serde", &["model", "manifest", "engine", "measure/parsers", "record", "report/templates", "cli"]),
    ("serde_json", &["model", "manifest", "plan", "engine", "measure/parsers", "record", "report", "execute", "cli"]),
    ("serde_json_path", &["measure/parsers"]),
    ("serde_yaml", &["manifest"]),
    ("sha2", &["plan", "engine"]),
    ("shlex", &["plan"]),
    ("statrs", &["analyse"]),
    ("strsim", &["model/diagnostic"]),
    ("tar", &["engine"]),
    ("tempfile", &["engine", "record", "execute"]),
    ("thiserror", &["model", "manifest", "plan", "engine", "measure", "record", "report", "execute", "cli"]),
    ("tiny_skia", &["report/charts"]),
    ("tokio", &["engine", "execute", "cli"]),
    ("tokio_util", &["engine", "execute", "cli"]),
    ("ttf_parser", &["report/charts"]),
    ("walkdir", &["engine", "record", "cli"]),
];

/// Rooms whose code may not touch the outside world: no file, clock, process, network or entropy.
const PURE: &[&str] = &["model", "manifest", "plan", "analyse", "report", "measure/parsers"];
const EFFECTS: &[&str] = &["std::fs", "fs_err", "std::net", "std::process", "SystemTime", "Instant::now", "std::env", "tokio::"];

fn sources(root: &Path) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("source folder") {
            let path = entry.expect("entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "rs") {
                let name = path.strip_prefix(root).expect("below root").with_extension("").to_string_lossy().into_owned();
                let name = name.strip_suffix("/mod").unwrap_or(&name).to_owned();
                found.push((name, std::fs::read_to_string(&path).expect("source text")));
            }
        }
    }
    found.sort();
    found
}

/// Code without comments, and without the test modules at the files' ends (tests may use anything).
fn code(text: &str) -> String {
    let text = text.split("\n#[cfg(test)]\nmod tests {").next().unwrap_or(text);
    text.lines()
        .map(|line| if line.trim_start().starts_with("//") { "" } else { line.split(" // ").next().unwrap_or(line) })
        .collect::<Vec<_>>()
        .join("\n")
}

/// Every path that an import names, one by one: `use std::{fs, path::Path as P};` gives `std::fs` and `std::path::Path`.
fn imported(code: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (at, _) in code.match_indices("use ") {
        if code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_') {
            continue;
        }
        let tree = code[at + 4..].split(';').next().unwrap_or_default();
        expand("", tree, &mut found);
    }
    found
}

/// Adds the paths of one tree of an import below `prefix`.
fn expand(prefix: &str, tree: &str, found: &mut Vec<String>) {
    let tree = tree.trim();
    let Some((head, group)) = tree.split_once('{') else {
        if !tree.is_empty() {
            found.push(format!("{prefix}{}", tree.split_whitespace().next().unwrap_or_default()));
        }
        return;
    };
    let below = format!("{prefix}{}", head.trim());
    let inner = group.trim_end().strip_suffix('}').unwrap_or(group);
    let (mut depth, mut start) = (0, 0);
    for (at, c) in inner.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                expand(&below, &inner[start..at], found);
                start = at + 1;
            }
            _ => {}
        }
    }
    expand(&below, &inner[start..], found);
}

/// The most `super::` in a row.
fn climb(code: &str) -> usize {
    let mut most = 0;
    for (at, _) in code.match_indices("super") {
        let steps = code[at..].split("::").take_while(|part| part.trim() == "super").count();
        most = most.max(steps);
    }
    most
}

/// The identifiers that follow `marker` wherever it stands as a whole word.
fn words_after(text: &str, marker: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (at, _) in text.match_indices(marker) {
        if text[..at].chars().next_back().is_some_and(|c| c.is_alphanumeric() || c == '_' || c == ':') {
            continue;
        }
        let rest = &text[at + marker.len()..];
        if let Some(group) = rest.strip_prefix('{') {
            let inner = group.split("};").next().unwrap_or(group);
            let mut depth = 0;
            let mut item = String::new();
            for c in inner.chars() {
                match c {
                    '{' => depth += 1,
                    '}' => depth -= 1,
                    ',' if depth == 0 => found.push(std::mem::take(&mut item)),
                    _ if depth == 0 => item.push(c),
                    _ => {}
                }
            }
            found.push(item);
        } else {
            found.push(rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect());
        }
    }
    found.into_iter().map(|word| word.trim().split("::").next().unwrap_or("").to_owned()).filter(|word| !word.is_empty()).collect()
}

fn breaches(files: &[(String, String)]) -> Vec<String> {
    let layer: BTreeMap<&str, u8> = LAYERS.iter().copied().collect();
    let mut found = Vec::new();
    for (name, text) in files {
        let room = name.split('/').next().unwrap_or(name);
        if matches!(room, "lib" | "main") {
            continue;
        }
        let Some(own) = layer.get(room) else {
            found.push(format!("{name}: `{room}` is not a room of the house"));
            continue;
        };
        let code = code(text);
        // Grouped imports are looked at as if each stood alone.
        let code = format!("{code}\n{}", imported(&code).join("\n"));
        let depth = name.trim_end_matches("/mod").split('/').count();
        if climb(&code) >= depth.min(3) {
            found.push(format!("{name}: `super` leaves the room, or climbs where `crate::` says more"));
        }
        for target in words_after(&code, "crate::") {
            match layer.get(target.as_str()) {
                _ if target == room => {}
                Some(other) if other < own => {}
                Some(_) => found.push(format!("{name}: imports `{target}`, which is not below `{room}`")),
                None => found.push(format!("{name}: imports `{target}`, which is no room")),
            }
        }
        for (krate, rooms) in OWNERS {
            let named = code
                .match_indices(&format!("{krate}::"))
                .any(|(at, _)| !code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':'));
            let owned = rooms.iter().any(|room| name == room || name.starts_with(&format!("{room}/")));
            if named && !owned {
                found.push(format!("{name}: names the crate `{krate}`, which belongs to {rooms:?}"));
            }
        }
        if PURE.iter().any(|pure| name == pure || name.starts_with(&format!("{pure}/"))) {
            for effect in EFFECTS {
                if code.contains(effect) {
                    found.push(format!("{name}: is pure and uses `{effect}`"));
                }
            }
        }
    }
    found
}

#[test]
fn imports_go_strictly_downwards_and_every_dependency_has_one_owner() {
    let files = sources(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/src")));
    assert!(files.len() > 20, "the sources were found");
    assert_eq!(breaches(&files), Vec::<String>::new());
}

#[test]
fn every_dependency_of_the_package_has_an_owner() {
    let manifest = include_str!("../Cargo.toml");
    let section = manifest.split("[dependencies]").nth(1).and_then(|rest| rest.split("\n[").next()).expect("dependencies");
    let owned: Vec<&str> = OWNERS.iter().map(|(krate, _)| *krate).collect();
    let missing: Vec<String> = section
        .lines()
        .filter_map(|line| line.split_once(" = ").map(|(name, _)| name.replace('-', "_")))
        .filter(|name| !name.starts_with('#') && !owned.contains(&name.as_str()))
        .collect();
    assert_eq!(missing, Vec::<String>::new());
}

#[test]
fn the_check_fails_when_a_wall_is_broken() {
    let broken = |name: &str, text: &str| breaches(&[(name.to_owned(), text.to_owned())]);
    let table = [
        ("model/plan", "use crate::plan::order;", "not below"),
        ("plan/order", "use crate::manifest::read;", "not below"),
        ("engine/docker", "use crate::measure::window;", "not below"),
        ("record/journal", "fn f() { crate::execute::run() }", "not below"),
        ("report/page", "use crate::{model::plan::Plan, record};", "not below"),
        ("cli/run", "use crate::helpers::x;", "no room"),
        ("utils/mod", "", "not a room"),
        ("execute/phases", "use bollard::Docker;", "belongs to"),
        ("report/tables/trials", "let x = plotters::prelude::RED;", "belongs to"),
        ("plan/order", "let now = std::time::Instant::now();", "is pure"),
        ("measure/parsers/ab", "std::fs::read(path)", "is pure"),
        ("plan/order", "use std::{fs, path::Path};", "is pure"),
        ("plan/order", "use std::{collections::{BTreeMap, HashMap}, time::{Duration, SystemTime}};", "is pure"),
        ("plan/order", "use std::{\n    path::Path,\n    process,\n};", "is pure"),
        ("report/page", "use {std::path::Path, crate::record::Store};", "not below"),
        ("report/tables/cells", "use super::super::super::record::x;", "leaves the room"),
        ("plan/order", "use super::super::{record, engine};", "leaves the room"),
        ("plan/mod", "super::record::load()", "leaves the room"),
    ];
    for (name, text, expected) in table {
        let found = broken(name, text);
        assert!(found.iter().any(|breach| breach.contains(expected)), "{name}: {text}: {found:?}");
    }
    let fine = [
        ("plan/order", "use crate::model::plan::Plan; // crate::cli is not imported"),
        ("execute/mod", "use crate::{engine::Engine, model::{plan::Plan, spec::TrialSpec}};"),
        ("engine/docker/mod", "use bollard::Docker;"),
        ("plan/order", "use std::{collections::BTreeMap, fmt::{self, Write as _}, time::Duration};"),
        ("plan/bind/render", "use super::super::order; use super::scope;"),
    ];
    for (name, text) in fine {
        assert_eq!(broken(name, text), Vec::<String>::new(), "{name}");
    }
}
