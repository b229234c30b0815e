//! `report`: CSV, charts and page again, from the record only. Needs no engine and no manifest.

use super::{assemble, exit, talk};
use crate::record::Store;
use std::path::{Path, PathBuf};

/// Write the report again from the record: the same record gives the same bytes.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Names of experiments, or their manifests; without any, all that have a record.
    #[arg(value_name = "EXPERIMENT")]
    experiments: Vec<String>,
    /// Write nothing; exit with 1 when a committed file would change.
    #[arg(long)]
    check: bool,
    /// Folder of reports.
    #[arg(long, value_name = "DIR", default_value = "reports")]
    reports: PathBuf,
}

pub fn run(arguments: &Arguments) -> u8 {
    let stores = match stores(arguments) {
        Ok(stores) => stores,
        Err(message) => {
            talk::error(message);
            return exit::USAGE;
        }
    };
    let mut worst = exit::OK;
    for (name, store) in stores {
        let code = if arguments.check { check(&name, &store) } else { write(&name, &store) };
        worst = worst.max(code);
    }
    worst
}

fn write(name: &str, store: &Store) -> u8 {
    match assemble::write_report(store, name) {
        Ok(written) => {
            written.tell();
            exit::OK
        }
        Err(failure) => failure.tell(),
    }
}

fn check(name: &str, store: &Store) -> u8 {
    match assemble::differing(store, name) {
        Ok(files) if files.is_empty() => {
            talk::note(format!("{name}: the report is what its record gives"));
            exit::OK
        }
        Ok(files) => {
            talk::error(format!("{name}: `shakedown report {name}` would change {}", files.join(", ")));
            exit::FAILED
        }
        Err(failure) => failure.tell(),
    }
}

/// The stores that the words name, by a manifest's stem or a plain name, all below `--reports`.
fn stores(arguments: &Arguments) -> Result<Vec<(String, Store)>, String> {
    if arguments.experiments.is_empty() {
        let mut names: Vec<String> = std::fs::read_dir(&arguments.reports)
            .map_err(|error| format!("list {}: {error}", arguments.reports.display()))?
            .flatten()
            .filter(|entry| entry.path().join("runs").is_dir())
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        return Ok(names.into_iter().map(|name| (name.clone(), Store::new(&arguments.reports, &name))).collect());
    }
    let named = |word: &String| {
        let stem = Path::new(word).file_stem().map_or_else(|| word.clone(), |stem| stem.to_string_lossy().into_owned());
        (stem.clone(), Store::new(&arguments.reports, &stem))
    };
    Ok(arguments.experiments.iter().map(named).collect())
}
