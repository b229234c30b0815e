//! `/proc/PID/net/stat/nf_conntrack`: connection tracking of one network namespace, a line per CPU in hexadecimal.

/// What it tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Conntrack {
    /// Connections tracked now; every line tells the same.
    pub entries: u64,
    /// Packets dropped so far because there was no room for their connection.
    pub drops: u64,
}

/// The columns that count packets without room.
const DROPS: [&str; 3] = ["drop", "early_drop", "insert_failed"];

impl Conntrack {
    /// Reads the text.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut lines = text.lines();
        let names = lines.next()?;
        let place = |wanted: &str| names.split_ascii_whitespace().position(|name| name == wanted);
        let (entries, drops) = (place("entries")?, [place(DROPS[0])?, place(DROPS[1])?, place(DROPS[2])?]);
        let mut found = None;
        for line in lines {
            let value = |at: usize| u64::from_str_radix(line.split_ascii_whitespace().nth(at)?, 16).ok();
            let own = value(drops[0])? + value(drops[1])? + value(drops[2])?;
            let before = found.map_or(0, |before: Self| before.drops);
            found = Some(Self { entries: value(entries)?, drops: before + own });
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
entries  clashres found new invalid ignore delete chainlength insert insert_failed drop early_drop icmp_error  expect_new expect_create expect_delete search_restart
0000001e  00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 0000000a 00000001 00000000 00000000  00000000 00000000 00000000 00000000
0000001e  00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000010 00000000  00000000 00000000 00000000 00000000
";

    #[test]
    fn cpus_are_added_up_and_entries_are_not() {
        assert_eq!(Conntrack::parse(TEXT), Some(Conntrack { entries: 30, drops: 27 }));
        let header = TEXT.lines().next().expect("a header");
        assert_eq!((Conntrack::parse(header), Conntrack::parse("")), (None, None));
        assert_eq!(Conntrack::parse(&TEXT.replace("early_drop", "other")), None);
        assert_eq!(Conntrack::parse(&TEXT.replace("0000000a", "zz")), None);
    }
}
