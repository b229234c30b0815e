//! `/dev/kmsg`: what the kernel complains about.

/// What stands in a line that means trouble for a measurement, in lower case.
const COMPLAINTS: [&str; 14] = [
    // memory
    "out of memory",
    "oom-kill",
    "page allocation failure",
    // connection tracking
    "table full, dropping packet",
    // heat
    "temperature above threshold",
    "cpu clock throttled",
    // tasks and CPUs that hang
    "blocked for more than",
    "soft lockup",
    "hard lockup",
    "detected stall",
    // disks
    "i/o error",
    "ext4-fs error",
    "critical medium error",
    "i/o timeout",
];

/// The message of a record (`priority,sequence,time,flags;message`) when the kernel complains in it; programs may write there, too,
/// and theirs do not count.
#[must_use]
pub fn complaint(record: &str) -> Option<&str> {
    let (prefix, message) = record.split_once(';')?;
    let priority: u32 = prefix.split(',').next()?.parse().ok()?;
    let (facility, message) = (priority >> 3, message.lines().next()?);
    let lower = message.to_ascii_lowercase();
    (facility == 0 && COMPLAINTS.iter().any(|words| lower.contains(words))).then_some(message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_kernels_own_complaints_count() {
        let oom = "3,1201,98121,-;Memory cgroup out of memory: Killed process 12 (x)\n SUBSYSTEM=mem\n";
        assert_eq!(complaint(oom), Some("Memory cgroup out of memory: Killed process 12 (x)"));
        let heat = "2,9,9,-;mce: CPU3: Core temperature above threshold, cpu clock throttled (total events = 1)";
        assert!(complaint(heat).is_some());
        assert!(complaint("4,9,9,-;nf_conntrack: nf_conntrack: table full, dropping packet").is_some());
        assert!(complaint("3,9,9,-;blk_update_request: I/O error, dev vda, sector 7").is_some());
        for quiet in [
            "6,1,0,-;docker0: port 1(veth1) entered forwarding state",
            "30,1,0,-;systemd[1]: x.service: out of memory",
            "out of memory",
            "x,1;out of memory",
            "",
        ] {
            assert_eq!(complaint(quiet), None, "{quiet}");
        }
    }
}
