//! Files of the kernel that are read again and again: opened once, read from their beginning into one buffer.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// So much is read with one call: more than most files of the kernel hold.
const FIRST: usize = 16 << 10;

/// The kernel hands a long file out in pieces of about a page, cut between records, none of which is half a page long: what is shorter
/// than this is the end. Asking for nothing more once per file would double the calls.
const PIECE: usize = 2 << 10;

/// Where texts are read into; reused, so that reading allocates nothing once it is large enough.
#[derive(Debug, Default)]
pub(super) struct Buffer(Vec<u8>);

impl Buffer {
    /// Room for at least so many bytes, with whatever was in it before.
    pub(super) fn room(&mut self, bytes: usize) -> &mut [u8] {
        if self.0.len() < bytes {
            self.0.resize(bytes, 0);
        }
        &mut self.0
    }
}

/// A file that is there when we begin; what vanishes later is not looked for again.
#[derive(Debug)]
pub(super) struct Held(File);

impl Held {
    /// None when it cannot be opened.
    pub(super) fn open(path: impl AsRef<Path>) -> Option<Self> {
        File::open(path).ok().map(Self)
    }

    /// What `parse` makes of its text now; none when it cannot be read, as a file of a process that ended.
    pub(super) fn read<T>(&self, buffer: &mut Buffer, parse: impl FnOnce(&str) -> Option<T>) -> Option<T> {
        let mut length = 0;
        loop {
            let room = buffer.room(FIRST.max(length * 2));
            let more = self.0.read_at(&mut room[length..], u64::try_from(length).ok()?).ok()?;
            length += more;
            if more < PIECE && length < room.len() {
                break parse(std::str::from_utf8(&room[..length]).ok()?);
            }
        }
    }
}

/// A file that may appear later, and come back under the same name: those of control groups.
#[derive(Debug)]
pub(super) struct Awaited {
    path: PathBuf,
    held: Option<Held>,
}

impl Awaited {
    /// Opens it when it is there already.
    pub(super) fn new(path: PathBuf) -> Self {
        Self { held: Held::open(&path), path }
    }

    /// What `parse` makes of its text now; none while there is no such file.
    pub(super) fn read<T>(&mut self, buffer: &mut Buffer, parse: impl Fn(&str) -> Option<T>) -> Option<T> {
        if let Some(found) = self.held.as_ref().and_then(|held| held.read(buffer, &parse)) {
            return Some(found);
        }
        self.held = Held::open(&self.path);
        self.held.as_ref()?.read(buffer, parse)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn text(text: &str) -> Option<String> {
        Some(text.to_owned())
    }

    #[test]
    fn a_file_is_read_anew_and_whole() {
        let folder = tempfile::tempdir().expect("folder");
        let (path, mut buffer) = (folder.path().join("counter"), Buffer::default());
        assert!(Held::open(&path).is_none());
        fs::write(&path, "17\n").expect("write");
        let held = Held::open(&path).expect("a file");
        assert_eq!(held.read(&mut buffer, text).as_deref(), Some("17\n"));
        let long = "0123456789".repeat(5_000);
        fs::write(&path, &long).expect("write");
        assert_eq!(held.read(&mut buffer, text), Some(long));
        fs::write(&path, "5").expect("write");
        assert_eq!(held.read(&mut buffer, text).as_deref(), Some("5"), "nothing of the longer text is left");
        fs::write(&path, [b'4', 0xff]).expect("write");
        assert_eq!(held.read(&mut buffer, text), None);
    }

    #[test]
    fn a_file_that_appears_later_is_found() {
        let folder = tempfile::tempdir().expect("folder");
        let (path, mut buffer) = (folder.path().join("group"), Buffer::default());
        let mut awaited = Awaited::new(path.clone());
        assert_eq!(awaited.read(&mut buffer, text), None);
        fs::write(&path, "1").expect("write");
        assert_eq!(awaited.read(&mut buffer, text).as_deref(), Some("1"));
    }
}
