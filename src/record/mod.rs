//! The record of an experiment: `reports/<name>/runs/<date>-<host>-<id>/` with plan, journal and raw output, append-only.
//!
//! Principles. Nothing that is needed later is computed only at the end. A line of the journal that ends something is on disk before anyone sees it.
//! A run is unfinished until its last event; a torn last line is what a crash leaves and is read past. The record knows no engine.

mod apart;
mod committed;
mod folder;
mod history;
mod join;
mod journal;
mod lease;
mod load;
mod output;
mod series;
mod turn;

pub use committed::{Committed, CommittedError};
pub use folder::{RunFolder, Store, today, write_atomically, write_in_parts};
pub use history::history;
pub use join::{results, results_without_samples};
pub use journal::{Journal, read_journal};
pub use lease::{Alive, Lease, alive_runs};
pub use load::{Loaded, RunRecord, load, load_single};
pub use output::{INLINE_BYTES, keep};
pub use series::{keep_series, load_series};
pub use turn::Turn;

use std::path::PathBuf;

/// The record could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// A file could not be read or written; the text names it.
    #[error("{operation}: {source}")]
    Io {
        /// What was tried, with the path.
        operation: String,
        /// Why it failed.
        #[source]
        source: std::io::Error,
    },
    /// A plan, or a line of a journal that is not the last one, is broken.
    #[error("{}:{line}: the record is damaged: {reason}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Line, from 1.
        line: usize,
        /// What is wrong.
        reason: String,
    },
    /// A file is of a form that this version does not know.
    #[error("{}: written in form {found}; this version reads up to {known}: update shakedown", path.display())]
    TooNew {
        /// The file.
        path: PathBuf,
        /// Its form.
        found: u32,
        /// What we know.
        known: u32,
    },
    /// There is no record.
    #[error("`{experiment}` has no record below {}: `shakedown run` makes one", path.display())]
    Absent {
        /// The experiment.
        experiment: String,
        /// Where we looked.
        path: PathBuf,
    },
    /// A run of this name is there already; another name may be free.
    #[error("there is a run `{name}` already")]
    Taken {
        /// The run's name.
        name: String,
    },
    /// Another process is measuring another experiment on this host.
    #[error(
        "{owner} is being measured on this host, and two at once would disturb each other: `--wait` waits for its end, `--together` does not care"
    )]
    HostBusy {
        /// The experiment, the process and since when.
        owner: String,
    },
    /// Another process is measuring this experiment.
    #[error("`{experiment}` is being run by another process: wait for it, or stop it")]
    Busy {
        /// The experiment.
        experiment: String,
    },
}

fn io(operation: impl Into<String>) -> impl FnOnce(std::io::Error) -> RecordError {
    let operation = operation.into();
    move |source| RecordError::Io { operation, source }
}
