//! `/proc/diskstats`: what the block devices did since the boot.

/// Bytes of a sector as the kernel counts them, whatever the disk has.
const SECTOR: u64 = 512;

/// How the kernel knows a block device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Number {
    /// The driver.
    pub major: u32,
    /// Which of the driver's.
    pub minor: u32,
}

impl Number {
    /// Reads `8:0`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (major, minor) = text.trim().split_once(':')?;
        Some(Self { major: major.parse().ok()?, minor: minor.parse().ok()? })
    }
}

/// One disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Disk<'t> {
    /// How the kernel knows it.
    pub number: Number,
    /// Its name.
    pub name: &'t str,
    /// Bytes read.
    pub read: u64,
    /// Bytes written.
    pub written: u64,
    /// Milliseconds in which it had something to do.
    pub busy_ms: u64,
}

impl<'t> Disk<'t> {
    /// Reads one line, of a kernel since 2.6.
    fn parse(line: &'t str) -> Option<Self> {
        // Behind the name: reads, merged, sectors, ms, writes, merged, sectors, ms, in flight, ms busy.
        let mut words = line.split_ascii_whitespace();
        let (major, minor, name) = (words.next()?, words.next()?, words.next()?);
        let mut skip = |fields| words.nth(fields)?.parse::<u64>().ok();
        let (read, written, busy_ms) = (skip(2)?, skip(3)?, skip(2)?);
        let number = Number { major: major.parse().ok()?, minor: minor.parse().ok()? };
        Some(Self { number, name, read: read * SECTOR, written: written * SECTOR, busy_ms })
    }
}

/// Reads the lines of these devices, in their order in the text.
pub fn disks<'t>(text: &'t str, wanted: &[Number]) -> impl Iterator<Item = Disk<'t>> {
    text.lines().filter_map(Disk::parse).filter(|disk| wanted.contains(&disk.number))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
   7       0 loop0 46 2 360 37 1302 1999 35504 1615 0 1312 2858 0 0 0 0 617 1205
 254       0 vda 76838 8621 5371202 49155 48011 63164 35435952 262172 0 21924 317166 11310 0 1586832 5040 8354 797
 254       1 vda1 1 1 1 1 1 1 1 1 1 1 1
   8       0 sda 1 2 3 4 5 6 7 8 9 10 11
";

    #[test]
    fn sectors_become_bytes() {
        let number = |text| Number::parse(text).expect("a number");
        let found: Vec<Disk<'_>> = disks(TEXT, &[number("8:0"), number("254:0\n"), number("9:9")]).collect();
        let vda = Disk { number: number("254:0"), name: "vda", read: 5_371_202 * 512, written: 35_435_952 * 512, busy_ms: 21_924 };
        let sda = Disk { number: number("8:0"), name: "sda", read: 3 * 512, written: 7 * 512, busy_ms: 10 };
        assert_eq!(found, [vda, sda]);
        assert_eq!(disks("8 0 sda 1 2\n", &[number("8:0")]).count(), 0);
        assert_eq!((Number::parse("8"), Number::parse("a:b")), (None, None));
    }
}
