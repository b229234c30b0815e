//! `/proc/PID/net/netstat` and `/proc/PID/net/snmp`: counters of one network namespace, a line of names above a line of values.

/// The value of a counter; the kernel may have fewer or more of them than another one.
#[must_use]
pub fn counter(text: &str, group: &str, name: &str) -> Option<u64> {
    let mut lines = text.lines().filter_map(|line| line.strip_prefix(group)?.strip_prefix(':'));
    let (names, values) = (lines.next()?, lines.next()?);
    let at = names.split_ascii_whitespace().position(|found| found == name)?;
    values.split_ascii_whitespace().nth(at)?.parse().ok()
}

/// Connections that a full queue of a listening socket refused, by the text of `netstat`.
///
/// Of the three counters `ListenDrops` holds the others since Linux 4.7; before that it lacked some.
#[must_use]
pub fn listen_drops(text: &str) -> Option<u64> {
    let counter = |name| counter(text, "TcpExt", name);
    let full = counter("ListenOverflows")?.checked_add(counter("TCPReqQFullDrop").unwrap_or(0))?;
    Some(counter("ListenDrops")?.max(full))
}

/// TCP segments: sent, and sent again, by the text of `snmp`.
#[must_use]
pub fn segments(text: &str) -> Option<(u64, u64)> {
    Some((counter(text, "Tcp", "OutSegs")?, counter(text, "Tcp", "RetransSegs")?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NETSTAT: &str =
        "TcpExt: SyncookiesSent ListenOverflows ListenDrops TCPReqQFullDrop\nTcpExt: 1 2 9 4\nIpExt: InNoRoutes\nIpExt: 5\n";

    #[test]
    fn names_stand_above_their_values() {
        assert_eq!(counter(NETSTAT, "IpExt", "InNoRoutes"), Some(5));
        assert_eq!((counter(NETSTAT, "IpExt", "ListenDrops"), counter(NETSTAT, "TcpExt", "No")), (None, None));
        assert_eq!(listen_drops(NETSTAT), Some(9));
        assert_eq!(listen_drops(&NETSTAT.replace("1 2 9 4", "1 2 0 4")), Some(6));
        assert_eq!(listen_drops("TcpExt: ListenOverflows ListenDrops\nTcpExt: 1 3\n"), Some(3), "an old kernel");
        assert_eq!((listen_drops("TcpExt: ListenDrops\n"), listen_drops("")), (None, None));
        let snmp = "Tcp: RtoAlgorithm MaxConn OutSegs RetransSegs\nTcp: 1 -1 2514 7\nUdp: OutSegs\nUdp: 1\n";
        assert_eq!((segments(snmp), segments("Tcp: OutSegs\nTcp: 1\n")), (Some((2514, 7)), None));
    }
}
