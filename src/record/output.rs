//! What commands wrote: short text stands in the journal, the rest is compressed below `raw/` and capped.

use super::{RecordError, RunFolder, io};
use crate::model::event::OutputRecord;
use fs_err as fs;
use std::io::Write;

/// Text of at most this many bytes stands in the journal's line itself.
pub const INLINE_BYTES: usize = 4 << 10;
/// Most bytes kept of one stream: its first half and its last half of this. A repository with 50 experiments stays small.
const KEPT_BYTES: usize = 512 << 10;

/// Keeps one stream of one workload. `total` is what the command wrote in all; `bytes` may already be cut.
///
/// # Errors
/// When the file cannot be written.
pub fn keep(folder: &RunFolder, trial: &str, unit: &str, stream: &str, bytes: &[u8], total: u64) -> Result<OutputRecord, RecordError> {
    let mut record = OutputRecord {
        unit: unit.to_owned(),
        stream: stream.to_owned(),
        bytes: total,
        text: None,
        file: None,
        truncated: total > bytes.len() as u64,
    };
    if bytes.len() <= INLINE_BYTES
        && let Ok(text) = std::str::from_utf8(bytes)
    {
        record.text = Some(text.to_owned());
        return Ok(record);
    }
    let name = format!("raw/{}.{}.{}.gz", file_name(trial), file_name(unit), file_name(stream));
    let (head, tail) = if bytes.len() <= KEPT_BYTES {
        (bytes, &bytes[bytes.len()..])
    } else {
        record.truncated = true;
        (&bytes[..KEPT_BYTES / 2], &bytes[bytes.len() - KEPT_BYTES / 2..])
    };
    compress(folder, &name, &[head, tail]).map_err(io("keep a command's output"))?;
    record.file = Some(name);
    Ok(record)
}

/// Writes a compressed file below the run's folder, the same bytes for the same parts.
pub(super) fn compress(folder: &RunFolder, name: &str, parts: &[&[u8]]) -> std::io::Result<()> {
    let path = folder.path().join(name);
    if let Some(below) = path.parent() {
        fs::create_dir_all(below)?;
    }
    let mut encoder = flate2::GzBuilder::new().mtime(0).write(fs::File::create(path)?, flate2::Compression::default());
    for part in parts {
        encoder.write_all(part)?;
    }
    // The journal's line that names the file is synced after this: it must not name what a power cut took.
    encoder.finish()?.sync_all()
}

/// A name that cannot leave its folder.
pub(super) fn file_name(text: &str) -> String {
    text.chars().map(|c| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_') { c } else { '_' }).collect()
}
