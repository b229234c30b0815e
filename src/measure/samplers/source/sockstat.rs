//! `/proc/PID/net/sockstat`: sockets of one network namespace.

/// TCP sockets in TIME_WAIT.
#[must_use]
pub fn time_wait(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("TCP: "))?;
    let mut words = line.split_ascii_whitespace();
    words.find(|word| *word == "tw")?;
    words.next()?.parse().ok()
}

/// How many ports `/proc/sys/net/ipv4/ip_local_port_range` gives to outgoing connections.
#[must_use]
pub fn ephemeral_ports(text: &str) -> Option<u32> {
    let mut words = text.split_ascii_whitespace();
    let (low, high) = (words.next()?.parse::<u32>().ok()?, words.next()?.parse::<u32>().ok()?);
    high.checked_sub(low)?.checked_add(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_wait_is_named() {
        let text = "sockets: used 54\nTCP: inuse 1 orphan 0 tw 27001 alloc 1 mem 253\nUDP: inuse 0 mem 0\n";
        assert_eq!((time_wait(text), time_wait("TCP: inuse 1\n"), time_wait("")), (Some(27_001), None, None));
    }

    #[test]
    fn a_range_holds_both_ends() {
        for (text, ports) in [("32768\t60999\n", Some(28_232)), ("5 5", Some(1)), ("6 5", None), ("1024", None)] {
            assert_eq!(ephemeral_ports(text), ports, "{text}");
        }
    }
}
