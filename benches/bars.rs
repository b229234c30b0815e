//! Every performance bar beside its limit, and what peers take for the same work: `make bench`.
//!
//! Benches print, people read: a bar that is over fails nothing. What could not be measured at all is said and gives exit code 1.
//! Everything happens in temporary folders, within about a quarter of an hour; only ReBench, when it can be installed, stays below `target/`.

mod bars {
    pub mod child;
    pub mod container;
    pub mod http;
    pub mod native;
    pub mod peers;
    pub mod planning;
    pub mod private;
    pub mod record;
    pub mod sampling;
    pub mod scene;
    pub mod table;
}

use bars::table::Table;
use bars::{container, native, peers, planning, private, record, sampling};
use std::process::ExitCode;

/// What may be missing on a machine is told by each part itself; a part that fails does not stop the others.
type Part = (&'static str, fn(&mut Table) -> Result<(), String>);

const PARTS: &[Part] = &[
    ("plan", planning::measure),
    ("native", native::measure),
    ("container", container::measure),
    ("private", private::measure),
    ("peers", peers::measure),
    ("report", record::measure),
    ("sampling", sampling::measure),
];

fn main() -> ExitCode {
    // Cargo passes `--bench`; any other words choose parts.
    let chosen: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let mut table = Table::start();
    let mut failed = false;
    for (name, measure) in PARTS {
        if !chosen.is_empty() && !chosen.iter().any(|word| word == name) {
            continue;
        }
        if let Err(reason) = measure(&mut table) {
            failed = true;
            table.note(&format!("{name}: could not be measured: {reason}"));
        }
    }
    if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
