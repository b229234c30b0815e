//! `/proc/stat`: what the CPUs did since the boot, in ticks (10 ms nearly everywhere).
//!
//! Which kind a tick is may be sampled: without IRQ_TIME_ACCOUNTING the kernel looks at every timer interrupt what it interrupted.

/// Ticks of one CPU, or of all together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Ticks {
    /// In user mode, niced or not; holds what guests of this host used.
    pub user: u64,
    /// In kernel mode for a task.
    pub system: u64,
    /// Doing nothing, and doing nothing while something waits for a disk.
    pub idle: u64,
    /// In hardware interrupts.
    pub irq: u64,
    /// In software interrupts.
    pub softirq: u64,
    /// Given to others by the hypervisor.
    pub steal: u64,
}

impl Ticks {
    /// Reads the numbers behind a line's name; what guests used stands again behind `steal` and is left there.
    fn parse(numbers: &str) -> Option<Self> {
        let mut numbers = numbers.split_ascii_whitespace().map(|word| word.parse::<u64>().ok());
        let mut next = || numbers.next().flatten();
        let (user, nice, system, idle, iowait) = (next()?, next()?, next()?, next()?, next()?);
        let (irq, softirq, steal) = (next()?, next()?, next()?);
        Some(Self { user: user + nice, system, idle: idle + iowait, irq, softirq, steal })
    }

    /// Reads the first line of `/proc/stat`: all CPUs together.
    #[must_use]
    pub fn of_all(text: &str) -> Option<Self> {
        Self::parse(text.lines().next()?.strip_prefix("cpu ")?)
    }

    /// What passed since an earlier moment. Counters of idle time may step back a little.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        Self {
            user: self.user.saturating_sub(earlier.user),
            system: self.system.saturating_sub(earlier.system),
            idle: self.idle.saturating_sub(earlier.idle),
            irq: self.irq.saturating_sub(earlier.irq),
            softirq: self.softirq.saturating_sub(earlier.softirq),
            steal: self.steal.saturating_sub(earlier.steal),
        }
    }

    /// In interrupts of either kind, for which no task is charged.
    #[must_use]
    pub fn interrupts(self) -> u64 {
        self.irq + self.softirq
    }

    /// Working for tasks.
    #[must_use]
    pub fn tasks(self) -> u64 {
        self.user + self.system
    }

    /// Doing anything.
    #[must_use]
    pub fn busy(self) -> u64 {
        self.tasks() + self.interrupts()
    }

    /// All of them.
    #[must_use]
    pub fn total(self) -> u64 {
        self.busy() + self.idle + self.steal
    }
}

/// The whole text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Stat {
    /// All CPUs together.
    pub all: Ticks,
    /// Each that is online, by its number.
    pub cpus: Vec<(u32, Ticks)>,
}

impl Stat {
    /// Reads the text.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let cpu = |line: &str| {
            let (number, ticks) = line.strip_prefix("cpu")?.split_once(' ')?;
            Some((number.parse().ok()?, Ticks::parse(ticks)?))
        };
        // The CPUs stand first, each in its line.
        Some(Self { all: Ticks::of_all(text)?, cpus: text.lines().skip(1).map_while(cpu).collect() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "cpu  30 5 20 1000 10 1 4 7 9 0\ncpu0 10 5 10 500 5 1 0 3 0 0\ncpu3 20 0 10 500 5 0 4 4 9 0\nintr 9 8\nctxt 7\n";

    #[test]
    fn ticks_by_kind() {
        let stat = Stat::parse(TEXT).expect("a text");
        assert_eq!(stat.all, Ticks { user: 35, system: 20, idle: 1010, irq: 1, softirq: 4, steal: 7 });
        assert_eq!(stat.cpus.iter().map(|(cpu, ticks)| (*cpu, ticks.user, ticks.softirq)).collect::<Vec<_>>(), [(0, 15, 0), (3, 20, 4)]);
        assert_eq!((stat.all.tasks(), stat.all.busy(), stat.all.total()), (55, 60, 1077));
        assert_eq!(Ticks::of_all(TEXT), Some(stat.all));
    }

    #[test]
    fn idle_time_may_step_back() {
        let earlier = Ticks { user: 5, idle: 100, ..Ticks::default() };
        assert_eq!(Ticks { user: 9, idle: 99, ..Ticks::default() }.since(earlier), Ticks { user: 4, ..Ticks::default() });
    }

    #[test]
    fn a_text_that_tells_less_is_no_zero() {
        for text in ["", "cpu  1 2 3\n", "cpu  a b c d e f g h\n", "cpu0 1 2 3 4 5 6 7 8\n"] {
            assert_eq!(Stat::parse(text), None, "{text}");
        }
    }
}
