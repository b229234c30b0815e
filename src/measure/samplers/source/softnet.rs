//! `/proc/net/softnet_stat`: packets on their way from the drivers, a line per CPU in hexadecimal.

/// Packets dropped so far because a CPU's backlog was full.
#[must_use]
pub fn drops(text: &str) -> Option<u64> {
    let drops = |line: &str| u64::from_str_radix(line.split_ascii_whitespace().nth(1)?, 16).ok();
    let all: Option<Vec<u64>> = text.lines().map(drops).collect();
    all.filter(|all| !all.is_empty()).map(|all| all.iter().sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_column_is_added_up() {
        assert_eq!(drops("000010ef 00000010 00000001 0\n00000055 00000002 0 0\n"), Some(18));
        assert_eq!((drops(""), drops("1\n"), drops("1 x\n")), (None, None, None));
    }
}
