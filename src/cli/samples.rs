//! `report --samples`: every sample of a record in one file, read and written trial by trial.

use crate::record::{self, RecordError, Store, load_series, write_in_parts};
use crate::report::tables::{samples_head, samples_of};
use std::collections::HashMap;
use std::io::Write;
use std::path::PathBuf;

/// Its name, beside the report.
const FILE: &str = "samples.csv";

/// Writes all samples of a record; runs and trials in the order of the record. Gives the file.
///
/// # Errors
/// When the record cannot be read, or the file cannot be written.
pub fn write(store: &Store) -> Result<PathBuf, RecordError> {
    let loaded = record::load(store)?;
    let path = store.folder().join(FILE);
    write_in_parts(&path, |out| {
        let mut out = std::io::BufWriter::with_capacity(1 << 16, out);
        let failed = |source| RecordError::Io { operation: format!("write {}", path.display()), source };
        out.write_all(&samples_head()).map_err(failed)?;
        for run in &loaded.runs {
            // A trial that was tried again has one file: it holds the samples of the last attempt.
            let sampled = || run.rows.iter().enumerate().filter_map(|(at, row)| Some((at, row, row.series.as_ref()?)));
            let last: HashMap<&str, usize> = sampled().map(|(at, _, series)| (series.file.as_str(), at)).collect();
            for (_, row, series) in sampled().filter(|(at, _, series)| last[series.file.as_str()] == *at) {
                let series = load_series(&run.folder, series)?;
                out.write_all(&samples_of(&run.folder.name(), &row.trial, &row.variant, &series)).map_err(failed)?;
            }
        }
        out.flush().map_err(failed)
    })?;
    Ok(path)
}
