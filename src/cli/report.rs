//! `report`: CSV, charts and page again, from the record only. Needs no engine and no manifest.

use super::{assemble, exit, open, run as run_command, samples, talk};
use crate::model::diagnostic::suggestion;
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
    /// An SVG beside every chart, and not only where the manifest says `svg: true`; a report without this removes them again.
    #[arg(long)]
    svg: bool,
    /// Write every sample of every trial, too: `samples.csv`. It may be large, is no part of the report, and not meant for git.
    #[arg(long, conflicts_with = "check")]
    samples: bool,
    /// Folder of reports; without it the one that belongs to a manifest, or `reports` for a name.
    #[arg(long, value_name = "DIR")]
    reports: Option<PathBuf>,
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
        let code =
            if arguments.check { check(&name, &store, arguments.svg) } else { write(&name, &store, arguments.svg, arguments.samples) };
        worst = worst.max(code);
    }
    worst
}

fn write(name: &str, store: &Store, svg: bool, with_samples: bool) -> u8 {
    store.tidy();
    let code = match assemble::write_report(store, name, svg) {
        Ok(written) => written.tell(),
        Err(failure) => failure.tell(),
    };
    if code != exit::OK || !with_samples {
        return code;
    }
    match samples::write(store) {
        Ok(path) => talk::data(|out| writeln!(out, "{}", path.display())),
        Err(error) => run_command::record_failure(&error),
    }
}

fn check(name: &str, store: &Store, svg: bool) -> u8 {
    match assemble::difference(store, name, svg) {
        Ok(difference) => {
            let part = |what: &str, files: &[String]| (!files.is_empty()).then(|| format!("{what} {}", files.join(", ")));
            let parts: Vec<String> =
                [part("change", &difference.changed), part("remove", &difference.removed)].into_iter().flatten().collect();
            if parts.is_empty() {
                talk::note(format!("{name}: the report is what its record gives"));
                return exit::OK;
            }
            talk::error(format!("{name}: `shakedown report {name}` would {}", parts.join(" and ")));
            exit::FAILED
        }
        Err(failure) => failure.tell(),
    }
}

/// The stores that the words name: a manifest's where `run` puts it, a name's below `--reports`.
fn stores(arguments: &Arguments) -> Result<Vec<(String, Store)>, String> {
    let reports = arguments.reports.as_deref().unwrap_or(Path::new("reports"));
    if arguments.experiments.is_empty() {
        let there = open::recorded(reports).map_err(|error| format!("list {}: {error}", reports.display()))?;
        if there.is_empty() {
            return Err(format!("there is no record below {}; `shakedown run` makes one", reports.display()));
        }
        return Ok(there.into_iter().map(|name| (name.clone(), Store::new(reports, &name))).collect());
    }
    let named = |word: &String| {
        let path = Path::new(word);
        let (folder, name) = if path.extension().is_some_and(|end| end == "yaml" || end == "yml") {
            let beside = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
            let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            (open::reports_folder(beside, arguments.reports.as_deref()), stem)
        } else {
            (reports.to_owned(), word.clone())
        };
        if !folder.join(&name).join("runs").is_dir() {
            let there = open::recorded(&folder).unwrap_or_default();
            let hint = suggestion(&name, there.iter().map(String::as_str)).unwrap_or_else(|| "`shakedown run` makes one".to_owned());
            return Err(format!("`{name}` has no record below {}; {hint}", folder.display()));
        }
        Ok((name.clone(), Store::new(&folder, &name)))
    };
    arguments.experiments.iter().map(named).collect()
}
