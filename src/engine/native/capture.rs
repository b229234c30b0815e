//! What a process writes, in a file without a name: nobody can hold it open against us, as an orphan holds a pipe.

use crate::engine::{Captured, OUTPUT_CAP};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// A fresh file for one stream. Writes append, so that a program which empties "its log" and goes on leaves no hole.
pub(super) fn stream() -> io::Result<File> {
    let file = tempfile::tempfile()?;
    fcntl_setfl(&file, fcntl_getfl(&file)? | OFlags::APPEND)?;
    Ok(file)
}

/// What was written so far; of more than [`OUTPUT_CAP`] bytes the first half and the last half of that.
pub(super) fn read(file: &File) -> io::Result<Captured> {
    capped(file, OUTPUT_CAP)
}

fn capped(file: &File, cap: usize) -> io::Result<Captured> {
    let total = file.metadata()?.len();
    let kept = usize::try_from(total).unwrap_or(cap).min(cap);
    let mut bytes = vec![0; kept];
    if total <= cap as u64 {
        let found = fill(file, &mut bytes, 0)?;
        bytes.truncate(found);
    } else {
        let (head, tail) = bytes.split_at_mut(cap / 2);
        let found = match fill(file, head, 0)? {
            whole if whole == head.len() => whole + fill(file, tail, total - tail.len() as u64)?,
            part => part,
        };
        bytes.truncate(found);
    }
    Ok(Captured { bytes, total })
}

/// Reads until `bytes` is full or the file ends: a program that still runs may have emptied it meanwhile.
fn fill(file: &File, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
    let mut found = 0;
    while found < bytes.len() {
        match file.read_at(&mut bytes[found..], offset + found as u64) {
            Ok(0) => break,
            Ok(more) => found += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn head_and_tail_are_kept() {
        let mut file = stream().unwrap();
        file.write_all(b"0123456789").unwrap();
        let kept = |cap| capped(&file, cap).map(|captured| (String::from_utf8(captured.bytes).unwrap(), captured.total)).unwrap();
        assert_eq!(kept(10), ("0123456789".to_owned(), 10));
        assert_eq!(kept(5), ("01789".to_owned(), 10));
        assert_eq!(kept(0), (String::new(), 10));
        let mut bytes = [0; 4];
        assert_eq!((fill(&file, &mut bytes, 8).unwrap(), &bytes), (2, b"89\0\0"), "it ended earlier than it was told");
    }
}
