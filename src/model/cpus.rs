//! Lists of CPUs as the kernel spells them: `0,2-3`.

use std::collections::BTreeSet;

/// The highest number of a CPU that Linux can be built for; a longer range is a slip, and not worth its memory.
const HIGHEST: u32 = 8191;

/// A set of CPUs; never empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CpuList(BTreeSet<u32>);

impl CpuList {
    /// Reads numbers and ascending ranges between commas, blanks around them allowed; none when the text is anything else.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let number = |digits: &str| digits.parse::<u32>().ok().filter(|cpu| *cpu <= HIGHEST && digits.bytes().all(|b| b.is_ascii_digit()));
        let mut cpus = BTreeSet::new();
        for part in text.split(',').map(str::trim) {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let (first, last) = (number(first)?, number(last)?);
            if first > last {
                return None;
            }
            cpus.extend(first..=last);
        }
        Some(Self(cpus))
    }

    /// The CPUs in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = u32> {
        self.0.iter().copied()
    }

    /// The highest of them.
    #[must_use]
    pub fn highest(&self) -> u32 {
        self.0.last().copied().unwrap_or(0)
    }
}

/// The one shortest spelling, so that `1,0` and `0-1` are the same text.
impl std::fmt::Display for CpuList {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut ranges: Vec<(u32, u32)> = Vec::new();
        for cpu in self.iter() {
            match ranges.last_mut() {
                Some((_, last)) if *last + 1 == cpu => *last = cpu,
                _ => ranges.push((cpu, cpu)),
            }
        }
        for (index, (first, last)) in ranges.into_iter().enumerate() {
            f.write_str(if index == 0 { "" } else { "," })?;
            if first == last { write!(f, "{first}")? } else { write!(f, "{first}-{last}")? }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_have_one_spelling() {
        let table = [
            ("0", Some("0")),
            ("0,1", Some("0-1")),
            ("1,0", Some("0-1")),
            ("0-3,2", Some("0-3")),
            ("0,2-3", Some("0,2-3")),
            ("3, 1,0-1", Some("0-1,3")),
            ("0-3,6\n", Some("0-3,6")),
            ("", None),
            ("3-1", None),
            ("3-1,x", None),
            ("a", None),
            ("+1", None),
            ("0,,1", None),
            ("0-99999", None),
        ];
        for (text, expected) in table {
            assert_eq!(CpuList::parse(text).map(|list| list.to_string()).as_deref(), expected, "{text}");
        }
        let list = CpuList::parse("6,0-3").expect("a list");
        assert_eq!((list.iter().collect::<Vec<_>>(), list.highest()), (vec![0, 1, 2, 3, 6], 6));
    }
}
