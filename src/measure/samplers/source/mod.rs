//! One file per source: a text of the kernel becomes numbers. Pure; what is not in a text is absent.
//!
//! The texts of processes (`/proc/PID/stat`) have their home in [`crate::measure::attest::processes`].

pub(in crate::measure) mod conntrack;
pub(in crate::measure) mod diskstats;
pub(in crate::measure) mod group_cpu;
pub(in crate::measure) mod group_io;
pub(in crate::measure) mod kmsg;
pub(in crate::measure) mod loadavg;
pub(in crate::measure) mod pressure;
pub(in crate::measure) mod snmp;
pub(in crate::measure) mod sockstat;
pub(in crate::measure) mod softnet;
pub(in crate::measure) mod stat;
pub(in crate::measure) mod vmstat;

/// A text that is one number, as many files of `/sys` and of control groups are.
pub(in crate::measure) fn number(text: &str) -> Option<u64> {
    text.trim().parse().ok()
}

/// The number in the line `name number`, as in `cpu.stat` and `/proc/vmstat`.
fn named(text: &str, name: &str) -> Option<u64> {
    text.lines().find_map(|line| number(line.strip_prefix(name)?.strip_prefix(' ')?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers() {
        for (text, found) in [("17\n", Some(17)), ("0", Some(0)), ("max\n", None), ("", None), ("-1", None)] {
            assert_eq!(number(text), found, "{text}");
        }
        let text = "ab 1\na 2\nb x\n";
        assert_eq!((named(text, "a"), named(text, "ab"), named(text, "b"), named(text, "c")), (Some(2), Some(1), None, None));
    }
}
