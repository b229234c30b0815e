//! `/proc/pressure/{cpu,io,memory}`: how long tasks waited.

/// Who waited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waiting {
    /// At least one task.
    Some,
    /// All that had something to do.
    Full,
}

/// Microseconds since the boot in which they waited.
#[must_use]
pub fn total_us(text: &str, waiting: Waiting) -> Option<u64> {
    let line = line(text, waiting)?;
    line.split_whitespace().find_map(|word| word.strip_prefix("total=")?.parse().ok())
}

/// Percent of the last ten seconds in which they waited.
#[must_use]
pub fn average_10s(text: &str, waiting: Waiting) -> Option<f64> {
    line(text, waiting)?.split_whitespace().find_map(|word| word.strip_prefix("avg10=")?.parse().ok())
}

fn line(text: &str, waiting: Waiting) -> Option<&str> {
    let name = match waiting {
        Waiting::Some => "some ",
        Waiting::Full => "full ",
    };
    text.lines().find_map(|line| line.strip_prefix(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn some_and_full() {
        let text = "some avg10=1.25 avg60=0.10 avg300=0.00 total=11334119\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=77\n";
        assert_eq!((total_us(text, Waiting::Some), total_us(text, Waiting::Full)), (Some(11_334_119), Some(77)));
        assert_eq!(average_10s(text, Waiting::Some), Some(1.25));
        // Kernels before 5.13 have no `full` line of the CPU.
        assert_eq!(total_us("some avg10=0.00 total=3\n", Waiting::Full), None);
        assert_eq!((total_us("some avg10=0.00\n", Waiting::Some), total_us("", Waiting::Some)), (None, None));
    }
}
