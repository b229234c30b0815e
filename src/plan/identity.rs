//! What makes a recorded trial stale: a digest of everything that would run, and in words what changed.

use super::secrets::redacted;
use super::variants::Resolved;
use crate::model::experiment::Experiment;
use crate::model::plan::{FactorSummary, Variant};
use crate::model::spec::{ParseSpec, TrialSpec};
use serde_json::Value as Json;
use sha2::{Digest, Sha256};
use std::borrow::Cow;
use std::collections::BTreeSet;

/// Most changes that are spelled out.
const MOST_CHANGES: usize = 4;

/// The digest of what a variant runs: 32 hexadecimal digits.
#[must_use]
pub fn of(spec: &TrialSpec) -> String {
    let mut bytes = Vec::with_capacity(512);
    serde_json::to_writer(&mut bytes, &*canonical(spec)).expect("a spec is plain data");
    hex(&Sha256::digest(&bytes)[..16])
}

/// The spec without what changes no trial: the order of workloads (they start together) and of extractions, and the direction of
/// an extracted metric.
fn canonical(spec: &TrialSpec) -> Cow<'_, TrialSpec> {
    let extracts = |parse: &ParseSpec| !matches!(parse, ParseSpec::Tool(_));
    let sorted = spec.workloads.is_sorted_by(|a, b| a.name <= b.name);
    if sorted && !spec.workloads.iter().any(|workload| workload.parse.iter().any(extracts)) {
        return Cow::Borrowed(spec);
    }
    let mut spec = spec.clone();
    spec.workloads.sort_by(|a, b| a.name.cmp(&b.name));
    for parse in spec.workloads.iter_mut().flat_map(|workload| &mut workload.parse) {
        if let ParseSpec::Regex(items) | ParseSpec::Json(items) | ParseSpec::Csv(items) = parse {
            items.sort_by(|a, b| a.name.cmp(&b.name));
            items.iter_mut().for_each(|item| item.better = None);
        }
    }
    Cow::Owned(spec)
}

/// The digest of what a plan runs and how often: 16 hexadecimal digits. Titles, charts and formulas are not in it.
#[must_use]
pub fn content(experiment: &Experiment, blocks: u32, variants: &[Variant]) -> String {
    let mut hasher = Sha256::new();
    let protocol =
        serde_json::to_vec(&(&experiment.name, blocks, &experiment.design.seed, &experiment.limits)).expect("a design is plain data");
    hasher.update(&protocol);
    // The digests of plans that do not say it stay what they were.
    if let Some(starts) = experiment.design.engine_starts {
        hasher.update(format!("engine_starts={starts};"));
    }
    for variant in variants {
        hasher.update(variant.id.as_bytes());
        hasher.update([0]);
        hasher.update(variant.identity.as_bytes());
    }
    hex(&hasher.finalize()[..8])
}

/// The digest of a plan: its content under these factors and levels in their order, because a saved plan speaks of levels by index
/// and may be followed only where they mean the same.
#[must_use]
pub fn digest(content: &str, factors: &[FactorSummary]) -> String {
    let factors = serde_json::to_vec(factors).expect("factors are plain data");
    hex(&Sha256::new().chain_update(content).chain_update(factors).finalize()[..8])
}

/// The seed of a plan that declares none: from the digest of its content, below 2^32 so that it is easy to copy.
#[must_use]
pub fn seed(content: &str) -> u64 {
    u64::from_str_radix(&content[..8.min(content.len())], 16).unwrap_or(0)
}

fn hex(bytes: &[u8]) -> String {
    let digit = |half: u8| char::from(b"0123456789abcdef"[usize::from(half)]);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

/// What differs between what was run and what would run: `workload.command.2: a -> b`.
#[must_use]
pub fn changes(old: &Json, new: &Resolved) -> Vec<String> {
    spelled(old, &serde_json::to_value(redacted(new.spec.clone(), &new.names)).expect("a spec is plain data"))
}

/// The same of two specs that were recorded, their secrets gone.
#[must_use]
pub fn recorded_changes(old: &TrialSpec, new: &TrialSpec) -> Vec<String> {
    let json = |spec: &TrialSpec| serde_json::to_value(spec).expect("a spec is plain data");
    spelled(&json(old), &json(new))
}

fn spelled(old: &Json, new: &Json) -> Vec<String> {
    let mut found = Vec::new();
    compare("", old, new, &mut found);
    let more = found.len().saturating_sub(MOST_CHANGES);
    found.truncate(MOST_CHANGES);
    if more > 0 {
        found.push(format!("{more} more"));
    }
    if found.is_empty() {
        found.push("a value that is not recorded".to_owned());
    }
    found
}

fn compare(path: &str, old: &Json, new: &Json, found: &mut Vec<String>) {
    let below = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    match (old, new) {
        (Json::Object(a), Json::Object(b)) => {
            let keys: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
            for key in keys {
                compare(&below(key), a.get(key).unwrap_or(&Json::Null), b.get(key).unwrap_or(&Json::Null), found);
            }
        }
        (Json::Array(a), Json::Array(b)) if a.iter().chain(b).all(|item| name(item).is_some()) => {
            let names: BTreeSet<&str> = a.iter().chain(b).filter_map(name).collect();
            let of = |list: &[Json], wanted: &str| list.iter().find(|item| name(item) == Some(wanted)).map_or(Json::Null, item_content);
            for name in names {
                compare(&below(name), &of(a, name), &of(b, name), found);
            }
        }
        (Json::Array(a), Json::Array(b)) if a.len() == b.len() => {
            for (index, (a, b)) in a.iter().zip(b).enumerate() {
                compare(&below(&index.to_string()), a, b, found);
            }
        }
        (a, b) if a != b => found.push(format!("{}: {} -> {}", as_written(path), short(a), short(b))),
        _ => {}
    }
}

/// The name of an item of a list that is a mapping in truth: a thing with a name, or a pair.
fn name(item: &Json) -> Option<&str> {
    match item {
        Json::Array(pair) if pair.len() == 2 => pair[0].as_str(),
        item => item.get("name")?.as_str(),
    }
}

fn item_content(item: &Json) -> Json {
    match item {
        Json::Array(pair) if pair.len() == 2 => pair[1].clone(),
        item => item.clone(),
    }
}

/// A path in a spec as the manifest spells it: `workload.image`, not `workloads.workload.unit.image.reference`; a service is told by
/// its name.
fn as_written(path: &str) -> String {
    let mut parts: Vec<&str> = path.split('.').collect();
    match parts[0] {
        "engine" if parts.get(1) == Some(&"private") => drop(parts.remove(1)),
        "workloads" | "services" if parts.len() > 2 => unit_as_written(&mut parts),
        _ => {}
    }
    if parts == ["engine", "backing", "bytes"] {
        parts[2] = "size";
    }
    if let Some(part) = parts.get_mut(2) {
        *part = match *part {
            "place" => "on",
            "memory_bytes" => "mem_limit",
            "pids" => "pids_limit",
            "cpu_quota_us" => "cpu_quota",
            "cpu_period_us" => "cpu_period",
            "shm_bytes" => "shm_size",
            "tmpfs_bytes" => "tmpfs",
            "ipv6" => "enable_ipv6",
            other => other,
        };
    }
    if parts[0] == "services" && parts.len() > 1 || parts.starts_with(&["workloads", "workload"]) {
        parts.remove(0);
    }
    parts.join(".")
}

/// A path below a unit's name: what our specs gather in groups stands side by side in the manifest.
fn unit_as_written(parts: &mut Vec<&str>) {
    if parts[2] == "unit" && parts.len() > 3 {
        parts.remove(2);
        if matches!(parts[2], "limits" | "container") && parts.len() > 3 {
            parts.remove(2);
        }
    }
    if parts[2] == "image" && parts.len() > 3 {
        parts.remove(if parts[3] == "reference" { 3 } else { 2 });
    }
    if parts[2] == "ready" && parts.get(3) == Some(&"probe") {
        parts.remove(3);
    }
    if parts[2] == "ports" && parts.len() > 4 {
        parts[4] = match parts[4] {
            "port" => "target",
            "host_port" => "published",
            other => other,
        };
    }
}

fn short(value: &Json) -> String {
    let text = match value {
        Json::Null => "nothing".to_owned(),
        Json::String(text) => text.clone(),
        other => other.to_string(),
    };
    if text.chars().count() > 60 { format!("{}...", text.chars().take(57).collect::<String>()) } else { text }
}
