//! Stable facts of this host.

use crate::model::cgroup::CgroupLayout;
use crate::model::cpus::CpuList;
use crate::model::facts::HostFacts;

/// Reads what this host is; what cannot be learned stays empty or 0.
#[must_use]
pub fn facts() -> HostFacts {
    let text = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let names = rustix::system::uname();
    let name = |name: &std::ffi::CStr| name.to_string_lossy().into_owned();
    let memory = rustix::system::sysinfo();
    HostFacts {
        name: name(names.nodename()),
        kernel: name(names.release()),
        arch: name(names.machine()),
        cpu_model: cpu_model(&text("/proc/cpuinfo")),
        cpus: online_cpus(&text("/sys/devices/system/cpu/online")),
        memory_bytes: memory.totalram as u64 * u64::from(memory.mem_unit),
        cgroup: CgroupLayout::from_mountinfo(&text("/proc/self/mountinfo")).name().to_owned(),
        os: os_name(&text("/etc/os-release")),
        clocksource: text("/sys/devices/system/clocksource/clocksource0/current_clocksource").trim().to_owned(),
    }
}

/// The first model that is told; x86 calls it `model name`, others `Model`, `cpu` or `Hardware`.
fn cpu_model(cpuinfo: &str) -> String {
    let value = |key: &str| {
        cpuinfo
            .lines()
            .filter_map(|line| line.split_once(':'))
            .find(|(name, _)| name.trim() == key)
            .map(|(_, value)| value.trim().to_owned())
    };
    ["model name", "Model", "cpu model", "cpu", "Hardware"].into_iter().find_map(value).unwrap_or_default()
}

/// How many CPUs a list such as `0-3,6` names.
fn online_cpus(list: &str) -> u32 {
    CpuList::parse(list).map_or(0, |list| list.iter().map(|_| 1).sum())
}

/// `PRETTY_NAME` without its quotes.
fn os_name(os_release: &str) -> String {
    let name = os_release.lines().find_map(|line| line.strip_prefix("PRETTY_NAME=")).unwrap_or_default();
    name.trim().trim_matches(['"', '\'']).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_the_kernel() {
        assert_eq!(cpu_model("processor\t: 0\nmodel name\t: A  B @ 2GHz\n\nmodel name : C\n"), "A  B @ 2GHz");
        assert_eq!(cpu_model("processor\t: 0\nBogoMIPS : 1\nModel\t\t: Pi 5\n"), "Pi 5");
        assert_eq!(cpu_model(""), "");
        for (list, cpus) in [("0-3,6\n", 5), ("0", 1), ("", 0), ("3-1", 0), ("x", 0)] {
            assert_eq!(online_cpus(list), cpus, "{list}");
        }
        assert_eq!(os_name("ID=x\nPRETTY_NAME=\"Debian 12 (bookworm)\"\n"), "Debian 12 (bookworm)");
        assert_eq!(os_name("NAME=x"), "");
    }

    #[test]
    fn this_host_tells_the_same_twice() {
        let facts = facts();
        assert!(!facts.kernel.is_empty() && !facts.arch.is_empty() && facts.cpus > 0 && facts.memory_bytes > 0, "{facts:?}");
        assert_eq!(facts, super::facts());
    }
}
