//! The checks of a trial: what each reads, from where on it is bad, and what a person can do.

use crate::model::metric::Unit;

/// Which values of a reading are bad.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bad {
    /// Those above the threshold.
    Above,
    /// Those below it.
    Below,
    /// Those that differ from the median of the variant's trials by more than this factor.
    OffMedian,
    /// Those that differ from the median of the run's trials by more than this share.
    OffRun,
}

/// What a reading is an amount of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Amount {
    /// A part of a whole, from 0 to 1.
    Share,
    /// How often, or how many.
    Count,
    /// A time.
    Seconds,
    /// Bytes.
    Bytes,
    /// A frequency.
    Hertz,
}

impl Amount {
    /// Its unit.
    #[must_use]
    pub fn unit(self) -> Unit {
        match self {
            Self::Share | Self::Count => Unit::ONE,
            Self::Seconds => Unit::SECOND,
            Self::Bytes => Unit::BYTE,
            Self::Hertz => Unit::PER_SECOND,
        }
    }
}

/// One check of a trial.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CheckInfo {
    /// Its name in records, manifests and reports; also the taint of a trial that fails it.
    pub name: &'static str,
    /// What is read.
    pub amount: Amount,
    /// Which values are bad.
    pub bad: Bad,
    /// Where a warning begins; none warns of nothing.
    pub warn: Option<f64>,
    /// Where a taint begins; none taints nothing.
    pub taint: Option<f64>,
    /// What is read and from where.
    pub about: &'static str,
    /// What a person can do.
    pub advice: &'static str,
}

const fn check(
    name: &'static str,
    amount: Amount,
    bad: Bad,
    (warn, taint): (Option<f64>, Option<f64>),
    about: &'static str,
    advice: &'static str,
) -> CheckInfo {
    CheckInfo { name, amount, bad, warn, taint, about, advice }
}

/// Every check, in the order of reports. All are read from the start's answer to the last exit unless they say otherwise.
pub const CHECKS: &[CheckInfo] = &[
    check(
        "foreign-cpu",
        Amount::Share,
        Bad::Above,
        (Some(0.02), Some(0.10)),
        "CPU time of tasks that are neither of the trial, nor of its engine, nor of shakedown, as a share of all CPUs (v1: cpuacct.usage of the root group; v2: /proc/stat busy time)",
        "end what runs beside the measurement (`shakedown doctor` names it)",
    ),
    check(
        "idle-gate",
        Amount::Share,
        Bad::Above,
        (Some(0.03), Some(0.03)),
        "foreign CPU, as a share of all CPUs, when the trial began; above the threshold the host had not become quiet within the time that `observe.idle_gate` gives it",
        "end what runs beside the measurement, or give it longer with `observe: {idle_gate: 5m}`",
    ),
    check(
        "steal",
        Amount::Share,
        Bad::Above,
        (Some(0.01), Some(0.05)),
        "time that the hypervisor gave to other machines, as a share of all CPUs (/proc/stat); 0 may also mean that it hides it",
        "measure at another time or on a machine that is not shared",
    ),
    check(
        "memory-pressure",
        Amount::Share,
        Bad::Above,
        (Some(0.001), Some(0.01)),
        "share of the time in which all tasks waited for memory (/proc/pressure/memory, full)",
        "give the host more memory or the stack less",
    ),
    check(
        "io-pressure",
        Amount::Share,
        Bad::Above,
        (Some(0.01), Some(0.10)),
        "share of the time in which all tasks waited for a disk (/proc/pressure/io, full)",
        "a test of disks does this by itself: set `hygiene: {io-pressure: off}`; else end what works on the disk",
    ),
    check(
        "cpu-limit-unused",
        Amount::Share,
        Bad::Below,
        (Some(0.9), None),
        "CPU time as a share of what the quota allows, of the limited unit that used most of it; only where none was throttled",
        "the CPU limit was not the limiter: lower it, or raise the work",
    ),
    check(
        "governor",
        Amount::Share,
        Bad::Above,
        (Some(0.0), None),
        "share of CPUs whose frequency governor is not `performance` (scaling_governor)",
        "set the governor: `cpupower frequency-set -g performance`",
    ),
    check(
        "frequency",
        Amount::Hertz,
        Bad::OffRun,
        (Some(0.05), Some(0.15)),
        "mean clock rate of the CPUs at the end (scaling_cur_freq), against the median of the run",
        "fix the clock rate, or let the machine cool between trials",
    ),
    check(
        "thermal",
        Amount::Count,
        Bad::Above,
        (Some(0.0), Some(0.0)),
        "how often a CPU slowed itself because it was too hot (thermal_throttle counts)",
        "cool the machine",
    ),
    check(
        "docker-proxy",
        Amount::Share,
        Bad::Above,
        (Some(0.01), Some(0.05)),
        "CPU time of docker-proxy as a share of that of the workloads and services; never more than a warning where variants differ in it",
        "aim at the container's or the host's own address, or set `engine: {userland_proxy: false}`; or make the path a factor",
    ),
    check(
        "engine-cpu",
        Amount::Share,
        Bad::Above,
        (Some(0.02), Some(0.10)),
        "CPU time of dockerd, containerd and its shims, as a share of one CPU; never more than a warning where variants differ in it",
        "let the command write less to its output, and switch health checks and followed logs off",
    ),
    check(
        "softirq",
        Amount::Share,
        Bad::Above,
        (Some(0.5), None),
        "share of its time that one CPU spent in software interrupts, the busiest one (/proc/stat)",
        "the network stack of one CPU is at its limit: spread flows, or see the limiter",
    ),
    check(
        "softnet-drops",
        Amount::Count,
        Bad::Above,
        (Some(0.0), None),
        "packets that the kernel dropped because a CPU's backlog was full (/proc/net/softnet_stat)",
        "raise net.core.netdev_max_backlog, or offer less load",
    ),
    check(
        "listen-drops",
        Amount::Count,
        Bad::Above,
        (Some(0.0), None),
        "connections refused by a full queue of a listening socket, in any network namespace of the trial (TcpExt ListenOverflows, ListenDrops, TCPReqQFullDrop)",
        "raise the server's backlog and `sysctls: {net.core.somaxconn: ...}`, or open fewer connections at once",
    ),
    check(
        "retransmits",
        Amount::Share,
        Bad::Above,
        (Some(0.001), Some(0.01)),
        "share of TCP segments sent again (Tcp RetransSegs of OutSegs, from 1,000 segments on), in any network namespace of the trial",
        "packets were lost: look at listen-drops, softnet-drops and conntrack",
    ),
    check(
        "conntrack",
        Amount::Share,
        Bad::Above,
        (Some(0.8), None),
        "connections tracked, as a share of the table (nf_conntrack_count of nf_conntrack_max)",
        "raise net.netfilter.nf_conntrack_max, or keep connections alive",
    ),
    check(
        "conntrack-drops",
        Amount::Count,
        Bad::Above,
        (Some(0.0), Some(0.0)),
        "packets dropped because the table of connections was full (/proc/net/stat/nf_conntrack: drop, early_drop, insert_failed)",
        "raise net.netfilter.nf_conntrack_max: connections through NAT were lost",
    ),
    check(
        "ports",
        Amount::Share,
        Bad::Above,
        (Some(0.8), None),
        "sockets in TIME_WAIT as a share of the ephemeral ports (sockstat tw, ip_local_port_range), in the generator's network namespace",
        "let the generator keep connections alive (`ab -k`), or widen net.ipv4.ip_local_port_range",
    ),
    check(
        "foreign-io",
        Amount::Share,
        Bad::Above,
        (Some(0.05), Some(0.20)),
        "bytes that disks moved for others than the trial, as a share of all, from 1 MiB on (/proc/diskstats and io.stat); v1 cannot tell whose written bytes are",
        "end what works on the disks beside the measurement",
    ),
    check(
        "cold-cache",
        Amount::Bytes,
        Bad::OffMedian,
        (Some(10.0), None),
        "bytes that disks read, against the median of the variant's trials (/proc/diskstats)",
        "warm the cache in a `warmup:` or `prepare:` step, or drop it before each trial",
    ),
    check(
        "swap",
        Amount::Count,
        Bad::Above,
        (Some(0.0), Some(0.0)),
        "pages swapped in and out (/proc/vmstat pswpin, pswpout)",
        "switch swap off, or give the host more memory",
    ),
    check(
        "generator",
        Amount::Share,
        Bad::Above,
        (Some(0.85), Some(0.97)),
        "CPU time of the load generator as a share of what its threads, `cpus` or `cpuset` can use",
        "the client was measured: give it more threads (`wrk -t`, several `workloads:`) or CPUs, or a cheaper tool (wrk instead of ab)",
    ),
    check(
        "kernel-log",
        Amount::Count,
        Bad::Above,
        (Some(0.0), Some(0.0)),
        "lines of the kernel's log about memory, connection tracking, heat, hung tasks or I/O errors (/dev/kmsg)",
        "read `dmesg`: the kernel itself complained",
    ),
    check(
        "start-latency",
        Amount::Seconds,
        Bad::OffMedian,
        (Some(3.0), None),
        "time from asking for the start to its answer, of the slowest workload, against the median of the variant's trials",
        "the engine was busy with something else",
    ),
    check(
        "observer-cpu",
        Amount::Share,
        Bad::Above,
        (Some(0.005), None),
        "CPU time of shakedown itself, as a share of one CPU",
        "sample less often: `observe: {interval: 5s}`",
    ),
    check(
        "late-samples",
        Amount::Share,
        Bad::Above,
        (Some(0.5), None),
        "share of the samples that came later than half an interval",
        "the host had no CPU for the sampler: leave one free",
    ),
    // What the limiter line is made of; never a warning by itself.
    check("host-cpu", Amount::Share, Bad::Above, (None, None), "busy time as a share of all CPUs (/proc/stat)", ""),
    check("busiest-cpu", Amount::Share, Bad::Above, (None, None), "busy share of the busiest CPU, and what it did (/proc/stat)", ""),
    check(
        "throttled-periods",
        Amount::Share,
        Bad::Above,
        (None, None),
        "share of the quota's periods in which the unit was throttled, of the unit with the largest share (cpu.stat)",
        "",
    ),
    check(
        "disk-busy",
        Amount::Share,
        Bad::Above,
        (None, None),
        "share of the time in which the busiest disk had something to do (/proc/diskstats)",
        "",
    ),
    check("busiest-proxy", Amount::Share, Bad::Above, (None, None), "CPU time of the busiest docker-proxy as a share of one CPU", ""),
    check(
        "workload-threads",
        Amount::Share,
        Bad::Above,
        (None, None),
        "CPU time of the busiest workload as a share of what its threads and limits can use, where there is no service that it would load",
        "",
    ),
];

/// The check of that name.
#[must_use]
pub fn find(name: &str) -> Option<&'static CheckInfo> {
    CHECKS.iter().find(|check| check.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_taints_begin_where_warnings_do_or_later() {
        for (index, check) in CHECKS.iter().enumerate() {
            assert!(CHECKS[..index].iter().all(|other| other.name != check.name), "{}", check.name);
            let later = |warn: f64, taint: f64| if check.bad == Bad::Below { taint <= warn } else { taint >= warn };
            assert!(check.taint.is_none_or(|taint| check.warn.is_some_and(|warn| later(warn, taint))), "{}", check.name);
            assert_eq!(check.warn.is_some(), !check.advice.is_empty(), "{}", check.name);
        }
    }
}
