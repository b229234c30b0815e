//! What a control group moved from and to disks: `io.stat` of version 2, `blkio.throttle.io_service_bytes_recursive` of version 1.
//!
//! On version 1 bytes that are written later, from the page cache, are charged to nobody's group.

use super::diskstats::Number;

/// Bytes so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Moved {
    /// Read.
    pub read: u64,
    /// Written.
    pub written: u64,
}

impl Moved {
    /// Reads the text of either version; only these disks count, for others hand on to them what they are told.
    #[must_use]
    pub fn parse(text: &str, disks: &[Number]) -> Option<Self> {
        let mut moved = Self::default();
        for line in text.lines() {
            let mut words = line.split_ascii_whitespace();
            let Some(disk) = words.next().and_then(Number::parse) else { continue }; // version 1 ends with `Total`
            if !disks.contains(&disk) {
                continue;
            }
            moved.add(words)?;
        }
        Some(moved)
    }

    /// What was moved since an earlier moment; none when this is another group.
    #[must_use]
    pub fn since(self, earlier: Self) -> Option<Self> {
        Some(Self { read: self.read.checked_sub(earlier.read)?, written: self.written.checked_sub(earlier.written)? })
    }

    /// Both together.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self { read: self.read + other.read, written: self.written + other.written }
    }

    fn add<'t>(&mut self, mut words: impl Iterator<Item = &'t str>) -> Option<()> {
        while let Some(word) = words.next() {
            match word.split_once('=') {
                Some(("rbytes", bytes)) => self.read += bytes.parse::<u64>().ok()?,
                Some(("wbytes", bytes)) => self.written += bytes.parse::<u64>().ok()?,
                Some(_) => {}
                None => match (word, words.next()?.parse::<u64>().ok()?) {
                    ("Read", bytes) => self.read += bytes,
                    ("Write", bytes) => self.written += bytes,
                    _ => {}
                },
            }
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_disks_that_were_asked_for_count() {
        let disks = [Number { major: 254, minor: 0 }, Number { major: 8, minor: 16 }];
        let v1 = "7:0 Read 9\n7:0 Write 9\n7:0 Total 18\n254:0 Read 4096\n254:0 Write 512\n254:0 Sync 512\n254:0 Async 4096\n\
                  254:0 Discard 0\n254:0 Total 4608\nTotal 4626\n";
        let v2 = "254:0 rbytes=4096 wbytes=512 rios=1 wios=1 dbytes=0 dios=0\n7:0 rbytes=9 wbytes=9\n8:16 rbytes=1 wbytes=2 rios=1\n";
        assert_eq!(Moved::parse(v1, &disks), Some(Moved { read: 4096, written: 512 }));
        assert_eq!(Moved::parse(v2, &disks), Some(Moved { read: 4097, written: 514 }));
        assert_eq!(Moved::parse("Total 0\n", &disks), Some(Moved::default()), "a group that moved nothing");
        assert_eq!(Moved::parse("", &disks), Some(Moved::default()));
        assert_eq!(Moved::parse("254:0 rbytes=x\n", &disks), None);
        assert_eq!(Moved::parse("254:0 Read\n", &disks), None);
    }
}
