//! The append-only journal: one JSON line per event, synced; a tolerant reader.

use super::{RecordError, io};
use crate::model::event::{Event, JOURNAL_FORMAT};
use fs_err as fs;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;

/// The open journal of a run.
#[derive(Debug)]
pub struct Journal {
    file: fs::File,
}

impl Journal {
    /// Opens a journal for appending, or starts one. A torn last line is cut off first.
    ///
    /// # Errors
    /// When it cannot be opened or cut.
    pub fn open(path: &Path) -> Result<Self, RecordError> {
        let open = || -> std::io::Result<fs::File> {
            let mut file = fs::OpenOptions::new().create(true).truncate(false).read(true).write(true).open(path)?;
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes)?;
            let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
            if whole < bytes.len() {
                file.file().set_len(whole as u64)?;
            }
            file.seek(SeekFrom::Start(whole as u64))?;
            Ok(file)
        };
        open().map(|file| Self { file }).map_err(io("open the journal"))
    }

    /// Appends an event; it is on disk when this returns. Only the start of a trial waits for the trial's end to get there: what
    /// began and has no end counts as never run, and the disk's time for it would double what a short trial costs.
    ///
    /// # Errors
    /// When it cannot be written: the run must stop, because the record is the product.
    pub fn append(&mut self, event: &Event) -> Result<(), RecordError> {
        let mut line = serde_json::to_vec(event).expect("an event is plain data");
        line.push(b'\n');
        let counts = !matches!(event, Event::TrialStarted { .. });
        let write = self.file.write_all(&line);
        write.and_then(|()| if counts { self.file.file().sync_data() } else { Ok(()) }).map_err(io("write the journal"))
    }
}

/// Reads a journal. A last line without its end is what a crash leaves and is passed over; any other broken line is an error.
///
/// # Errors
/// When it cannot be read, is damaged, or is of a newer form.
pub fn read_journal(path: &Path) -> Result<Vec<Event>, RecordError> {
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(io("read the journal")(error)),
    };
    parse(path, &bytes)
}

fn parse(path: &Path, bytes: &[u8]) -> Result<Vec<Event>, RecordError> {
    let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let mut events = Vec::new();
    for (index, line) in bytes[..whole].split(|byte| *byte == b'\n').enumerate() {
        if line.is_empty() {
            continue;
        }
        let event: Event = serde_json::from_slice(line).map_err(|error| {
            too_new(path, line).unwrap_or_else(|| RecordError::Damaged {
                path: path.to_owned(),
                line: index + 1,
                reason: error.to_string(),
            })
        })?;
        if let Event::RunStarted(started) = &event
            && started.format > JOURNAL_FORMAT
        {
            return Err(RecordError::TooNew { path: path.to_owned(), found: started.format, known: JOURNAL_FORMAT });
        }
        events.push(event);
    }
    Ok(events)
}

/// The first event of a newer form may not parse at all: its version is still told apart from damage.
fn too_new(path: &Path, line: &[u8]) -> Option<RecordError> {
    let value: serde_json::Value = serde_json::from_slice(line).ok()?;
    let found = u32::try_from(value.get("format")?.as_u64()?).ok()?;
    (found > JOURNAL_FORMAT).then(|| RecordError::TooNew { path: path.to_owned(), found, known: JOURNAL_FORMAT })
}
