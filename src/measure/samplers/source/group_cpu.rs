//! CPU time of a control group: `cpuacct.usage` of version 1, `cpu.stat` of both.

use super::{named, number};

/// Nanoseconds of CPU time so far, by version 2's `cpu.stat` or version 1's `cpuacct.usage`.
#[must_use]
pub fn usage_ns(text: &str) -> Option<u64> {
    number(text).or_else(|| named(text, "usage_usec").map(|us| us * 1000))
}

/// What a group's quota did so far, by `cpu.stat`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Quota {
    /// Periods of the quota in which the group had something to run.
    pub periods: u64,
    /// How many of them it ended throttled.
    pub throttled: u64,
    /// For how long, in nanoseconds.
    pub throttled_ns: u64,
}

impl Quota {
    /// Reads the text; version 1 counts nanoseconds, version 2 microseconds.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let throttled_ns = named(text, "throttled_time").or_else(|| named(text, "throttled_usec").map(|us| us * 1000))?;
        Some(Self { periods: named(text, "nr_periods")?, throttled: named(text, "nr_throttled")?, throttled_ns })
    }

    /// What happened since an earlier moment; none when this is another group.
    #[must_use]
    pub fn since(self, earlier: Self) -> Option<Self> {
        Some(Self {
            periods: self.periods.checked_sub(earlier.periods)?,
            throttled: self.throttled.checked_sub(earlier.throttled)?,
            throttled_ns: self.throttled_ns.checked_sub(earlier.throttled_ns)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const V1: &str = "nr_periods 5\nnr_throttled 3\nthrottled_time 1234\nnr_bursts 0\nburst_time 0\n";
    const V2: &str = "usage_usec 9\nuser_usec 8\nsystem_usec 1\nnr_periods 7\nnr_throttled 2\nthrottled_usec 7\n";

    #[test]
    fn both_versions_tell_nanoseconds() {
        assert_eq!((usage_ns("621232501188\n"), usage_ns(V2), usage_ns(V1), usage_ns("")), (Some(621_232_501_188), Some(9000), None, None));
        assert_eq!(Quota::parse(V1), Some(Quota { periods: 5, throttled: 3, throttled_ns: 1234 }));
        assert_eq!(Quota::parse(V2), Some(Quota { periods: 7, throttled: 2, throttled_ns: 7000 }));
        assert_eq!(Quota::parse("usage_usec 9\n"), None, "the root has no quota");
        assert_eq!(Quota::parse("nr_periods 1\nnr_throttled 0\nthrottled_time_x 9\nthrottled_time\n"), None);
    }

    #[test]
    fn a_group_that_counts_less_is_another_one() {
        let [earlier, later] = [V1, "nr_periods 9\nnr_throttled 3\nthrottled_time 1300\n"].map(|text| Quota::parse(text).expect("a quota"));
        assert_eq!(later.since(earlier), Some(Quota { periods: 4, throttled: 0, throttled_ns: 66 }));
        assert_eq!(earlier.since(later), None);
    }
}
