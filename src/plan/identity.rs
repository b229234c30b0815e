//! What makes a recorded trial stale: a digest of everything that would run, and in words what changed.

use crate::model::experiment::Experiment;
use crate::model::plan::Variant;
use crate::model::spec::TrialSpec;
use serde_json::Value as Json;
use sha2::{Digest, Sha256};

/// Most changes that are spelled out.
const MOST_CHANGES: usize = 4;

/// The digest of what a variant runs: 32 hexadecimal digits.
#[must_use]
pub fn of(spec: &TrialSpec) -> String {
    let mut bytes = Vec::with_capacity(512);
    serde_json::to_writer(&mut bytes, spec).expect("a spec is plain data");
    hex(&Sha256::digest(&bytes)[..16])
}

/// The digest of a plan's identity and protocol: 16 hexadecimal digits. Titles, charts and formulas are not in it.
#[must_use]
pub fn digest(experiment: &Experiment, blocks: u32, variants: &[Variant]) -> String {
    let mut hasher = Sha256::new();
    let protocol =
        serde_json::to_vec(&(&experiment.name, blocks, &experiment.design.seed, &experiment.limits)).expect("a design is plain data");
    hasher.update(&protocol);
    for variant in variants {
        hasher.update(variant.id.as_bytes());
        hasher.update([0]);
        hasher.update(variant.identity.as_bytes());
    }
    hex(&hasher.finalize()[..8])
}

/// The seed of a plan that declares none: from its digest, below 2^32 so that it is easy to copy.
#[must_use]
pub fn seed(digest: &str) -> u64 {
    u64::from_str_radix(&digest[..8.min(digest.len())], 16).unwrap_or(0)
}

fn hex(bytes: &[u8]) -> String {
    let digit = |half: u8| char::from(b"0123456789abcdef"[usize::from(half)]);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

/// What differs between what was run and what would run: `workload.command.2: a -> b`.
#[must_use]
pub fn changes(old: &Json, new: &TrialSpec) -> Vec<String> {
    let new = serde_json::to_value(redacted(new.clone())).expect("a spec is plain data");
    let mut found = Vec::new();
    compare("", old, &new, &mut found);
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
            let keys: std::collections::BTreeSet<&String> = a.keys().chain(b.keys()).collect();
            for key in keys {
                compare(&below(key), a.get(key).unwrap_or(&Json::Null), b.get(key).unwrap_or(&Json::Null), found);
            }
        }
        (Json::Array(a), Json::Array(b)) if a.iter().chain(b).all(|item| item.get("name").is_some()) => {
            for item in b {
                let name = item["name"].as_str().unwrap_or("?");
                let before = a.iter().find(|other| other["name"] == item["name"]).unwrap_or(&Json::Null);
                compare(&below(name), before, item, found);
            }
            for item in a.iter().filter(|item| !b.iter().any(|other| other["name"] == item["name"])) {
                found.push(format!("{}: removed", below(item["name"].as_str().unwrap_or("?"))));
            }
        }
        (Json::Array(a), Json::Array(b)) if a.len() == b.len() => {
            for (index, (a, b)) in a.iter().zip(b).enumerate() {
                compare(&below(&index.to_string()), a, b, found);
            }
        }
        (a, b) if a != b => found.push(format!("{path}: {} -> {}", short(a), short(b))),
        _ => {}
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

/// Whether a name looks like a secret's.
fn is_secret(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    ["PASSWORD", "PASSWD", "TOKEN", "SECRET", "KEY"].iter().any(|word| upper.contains(word))
}

/// The spec as it may be recorded: values of variables and arguments that look like secrets are gone.
#[must_use]
pub fn redacted(mut spec: TrialSpec) -> TrialSpec {
    const GONE: &str = "***";
    for workload in &mut spec.workloads {
        for (name, value) in &mut workload.unit.environment {
            if is_secret(name) {
                *value = GONE.to_owned();
            }
        }
        let mut next_is_secret = false;
        for argument in &mut workload.unit.command {
            if std::mem::take(&mut next_is_secret) && !argument.starts_with('-') {
                *argument = GONE.to_owned();
            } else if let Some((name, _)) =
                argument.split_once('=').filter(|(name, _)| is_secret(name) && !name.contains(char::is_whitespace))
            {
                *argument = format!("{name}={GONE}");
            } else {
                next_is_secret = argument.starts_with("--") && is_secret(argument);
            }
        }
        if let Some(crate::model::spec::ImageSpec::Build { args, .. }) = &mut workload.unit.image {
            args.iter_mut().filter(|(name, _)| is_secret(name)).for_each(|(_, value)| *value = GONE.to_owned());
        }
    }
    spec
}
