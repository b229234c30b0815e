//! The machine, and what this process may do on it.

use super::{Area, Finding, Sight};
use crate::model::cgroup::CgroupLayout;

const AREA: Area = Area::Host;

/// Bits of a capability mask (`linux/capability.h`).
const SYS_ADMIN: u32 = 21;
const SYS_RESOURCE: u32 = 24;
/// Clock sources that a program reads without entering the kernel: a time stamp costs tens of nanoseconds, not microseconds.
const FAST_CLOCKS: [&str; 3] = ["tsc", "kvm-clock", "arch_sys_counter"];
/// Controllers that limits and counters need; version 1 counts CPU time in one of its own.
const CONTROLLERS: [&str; 4] = ["cpu", "cpuset", "memory", "pids"];
/// Memory in bytes below which a service and its load hardly fit beside each other.
const LITTLE_MEMORY: u64 = 1 << 30;

pub(super) fn findings(sight: &Sight) -> Vec<Finding> {
    let layout = sight.mountinfo.as_deref().map(CgroupLayout::from_mountinfo);
    let mut found = vec![root(sight.root)];
    found.extend(capabilities(sight.status.as_deref()));
    found.push(groups(layout.as_ref()));
    let mounted = layout.as_ref().filter(|layout| !layout.roots().is_empty());
    found.extend(mounted.map(|layout| controllers(layout, sight.controllers.as_deref())));
    found.push(own_groups(sight.may_make_groups));
    found.extend(machine(sight));
    found.push(clock(&sight.facts.clocksource));
    found.push(pressure(sight));
    found.push(governor(&sight.governors));
    found.push(turbo(sight.no_turbo.as_deref(), sight.boost.as_deref()));
    found
}

fn root(is_root: bool) -> Finding {
    if is_root {
        return AREA.ok("root", "yes");
    }
    AREA.no("root", "no: no `on: host`, no private daemons, and no `cpu_seconds` and `memory_peak` of containers", "run as root (sudo)")
}

/// Both are looked for in the bounding set: what is not in it, no program of root's can have.
fn capabilities(status: Option<&str>) -> Vec<Finding> {
    let mask = status.and_then(|text| text.lines().find_map(|line| u64::from_str_radix(line.strip_prefix("CapBnd:")?.trim(), 16).ok()));
    let table = [
        ("CAP_SYS_ADMIN", SYS_ADMIN, "mounts and namespaces of host processes and private daemons"),
        ("CAP_SYS_RESOURCE", SYS_RESOURCE, "containers with `privileged: true`"),
    ];
    table
        .into_iter()
        .map(|(name, bit, what)| match mask.map(|mask| mask >> bit & 1 == 1) {
            None => AREA.unobservable(name, "`/proc/self/status` does not tell"),
            Some(true) => AREA.ok(name, "in the bounding set"),
            Some(false) => AREA.no(name, format!("not in the bounding set: no {what}"), "start the machine or its container with it"),
        })
        .collect()
}

fn groups(layout: Option<&CgroupLayout>) -> Finding {
    match layout.map(CgroupLayout::name) {
        None => AREA.unobservable("control groups", "`/proc/self/mountinfo` is not readable").needed(),
        Some("none") => {
            AREA.no("control groups", "none are mounted: no limit can be set or read back", "mount cgroup2 on /sys/fs/cgroup").needed()
        }
        Some(name) => AREA.ok("control groups", name).needed(),
    }
}

fn controllers(layout: &CgroupLayout, v2: Option<&str>) -> Finding {
    let what = "controllers";
    let there: Vec<&str> = match (layout.is_v2(), v2) {
        (true, None) => return AREA.unobservable(what, "`cgroup.controllers` is not readable"),
        (true, Some(list)) => list.split_whitespace().collect(),
        (false, _) => CONTROLLERS.into_iter().chain(["cpuacct"]).filter(|name| layout.dir(name, "").is_some()).collect(),
    };
    let wanted = CONTROLLERS.into_iter().chain((!layout.is_v2()).then_some("cpuacct"));
    let missing: Vec<&str> = wanted.filter(|name| !there.contains(name)).collect();
    if missing.is_empty() {
        return AREA.ok(what, there.join(" "));
    }
    let detail = format!("without {}: limits and counters that need them are missing", missing.join(" "));
    let next = "boot with them enabled (such as `cgroup_enable=memory`)";
    // Every plain experiment limits CPU.
    if missing.contains(&"cpu") { AREA.no(what, detail, next).needed() } else { AREA.warn(what, detail, next) }
}

fn own_groups(may: bool) -> Finding {
    if may {
        return AREA.ok("own groups", "we may make control groups");
    }
    AREA.no(
        "own groups",
        "we may not make control groups: `cpu_seconds` and `memory_peak` of containers are absent",
        "run as root, or where /sys/fs/cgroup is writable",
    )
}

fn machine(sight: &Sight) -> Vec<Finding> {
    let facts = &sight.facts;
    let kernel = match facts.kernel.as_str() {
        "" => AREA.unobservable("kernel", "it does not tell its release"),
        kernel => AREA.ok("kernel", format!("{kernel} {}, {}", facts.arch, if facts.os.is_empty() { "unknown system" } else { &facts.os })),
    };
    let cpus = match facts.cpus {
        0 => AREA.unobservable("CPUs", "the list of online CPUs is not readable"),
        1 => AREA.warn("CPUs", "1: a service, its load and the daemon share it", "measure on a machine with two or more"),
        cpus => AREA.ok("CPUs", format!("{cpus}, {}", if facts.cpu_model.is_empty() { "unknown model" } else { &facts.cpu_model })),
    };
    let size = size(facts.memory_bytes);
    let memory = match facts.memory_bytes {
        0 => AREA.unobservable("memory", "the kernel does not tell"),
        bytes if bytes < LITTLE_MEMORY => AREA.warn("memory", size, "measure small things only, or use a larger machine"),
        _ => AREA.ok("memory", size),
    };
    vec![kernel, cpus, memory]
}

fn clock(name: &str) -> Finding {
    match name {
        "" => AREA.unobservable("clock source", "`current_clocksource` is not readable"),
        fast if FAST_CLOCKS.contains(&fast) => AREA.ok("clock source", fast),
        slow => AREA.warn(
            "clock source",
            format!("{slow}: reading the time is a call into the kernel, which programs that read it often pay for"),
            "choose a faster one in /sys/devices/system/clocksource/clocksource0/available_clocksource",
        ),
    }
}

fn pressure(sight: &Sight) -> Finding {
    if sight.pressure.is_empty() {
        return AREA.no(
            "pressure (PSI)",
            "`/proc/pressure` is not readable: waiting for CPU, I/O and memory cannot be told",
            "boot with `psi=1`",
        );
    }
    AREA.ok("pressure (PSI)", sight.pressure.keys().copied().collect::<Vec<_>>().join(" "))
}

/// Without the folder of the kernel's own frequency control, firmware or hypervisor decide, unseen.
fn governor(governors: &[String]) -> Finding {
    let mut names: Vec<&str> = governors.iter().map(String::as_str).collect();
    names.sort_unstable();
    names.dedup();
    match names[..] {
        [] => AREA.unobservable("governor", "no CPU tells its frequency governor: firmware or hypervisor decide"),
        ["performance"] => AREA.ok("governor", "performance"),
        _ => AREA.warn(
            "governor",
            format!("{}: the clock follows the load, with a delay", names.join(", ")),
            "`cpupower frequency-set -g performance` while measuring",
        ),
    }
}

fn turbo(no_turbo: Option<&str>, boost: Option<&str>) -> Finding {
    let raised = match (no_turbo.map(str::trim), boost.map(str::trim)) {
        (Some("0"), _) | (None, Some("1")) => true,
        (Some("1"), _) | (None, Some("0")) => false,
        _ => return AREA.unobservable("turbo", "the kernel does not tell whether the clock may be raised"),
    };
    if raised {
        let next = match no_turbo {
            Some(_) => "`echo 1 > /sys/devices/system/cpu/intel_pstate/no_turbo` while measuring",
            None => "`echo 0 > /sys/devices/system/cpu/cpufreq/boost` while measuring",
        };
        return AREA.warn("turbo", "on: the clock depends on heat and on how many CPUs work", next);
    }
    AREA.ok("turbo", "off")
}

/// Bytes for people, to the mebibyte.
pub(super) fn size(bytes: u64) -> String {
    let mebibytes = bytes >> 20;
    if mebibytes >= 10 << 10 { format!("{} GiB", mebibytes >> 10) } else { format!("{mebibytes} MiB") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::doctor::State;

    #[test]
    fn capabilities_are_bits_of_the_bounding_set() {
        let table = [
            ("CapEff:\t0000000000000000\nCapBnd:\t000001ffffffffff\n", [State::Ok, State::Ok]),
            ("CapBnd:\t000001fffeffffff\n", [State::Ok, State::No]),
            ("CapBnd:\t00000000a80425fb\n", [State::No, State::No]),
            ("CapBnd:\tnothing\n", [State::Unobservable; 2]),
            ("CapEff:\t000001ffffffffff\n", [State::Unobservable; 2]),
        ];
        for (status, expected) in table {
            let found: Vec<State> = capabilities(Some(status)).iter().map(|finding| finding.state).collect();
            assert_eq!(found, expected, "{status}");
        }
        assert!(capabilities(None).iter().all(|finding| finding.state == State::Unobservable));
    }

    #[test]
    fn controllers_are_those_of_the_layout() {
        let v2 = CgroupLayout::from_mountinfo("24 23 0:22 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw");
        let v1 = |names: &[&str]| {
            let line = |name: &&str| format!("30 29 0:26 / /sys/fs/cgroup/{name} rw - cgroup cgroup rw,{name}\n");
            CgroupLayout::from_mountinfo(&names.iter().map(line).collect::<String>())
        };
        let table = [
            (v2.clone(), Some("cpuset cpu io memory pids"), State::Ok, ""),
            (v2.clone(), Some("cpuset cpu io pids"), State::Warn, "without memory:"),
            (v2.clone(), Some("memory pids"), State::No, "without cpu cpuset:"),
            (v2, None, State::Unobservable, ""),
            (v1(&["cpu", "cpuacct", "cpuset", "memory", "pids"]), None, State::Ok, "cpu cpuset memory pids cpuacct"),
            (v1(&["cpu", "cpuset", "memory", "pids"]), None, State::Warn, "without cpuacct:"),
        ];
        for (layout, list, state, part) in table {
            let found = controllers(&layout, list);
            assert!(found.state == state && found.detail.contains(part), "{found:?}");
            assert_eq!(found.stops_plain_experiments(), state == State::No);
        }
    }

    #[test]
    fn what_was_not_seen_is_never_fine() {
        let unseen = findings(&Sight::default());
        let fine: Vec<&Finding> = unseen.iter().filter(|finding| finding.state <= State::Warn).collect();
        assert_eq!(fine, Vec::<&Finding>::new());
    }

    #[test]
    fn clocks_governors_and_turbo() {
        let states = |findings: Vec<Finding>| findings.iter().map(|finding| finding.state).collect::<Vec<_>>();
        let clocks = ["tsc", "kvm-clock", "arch_sys_counter", "hpet", ""].map(clock).to_vec();
        assert_eq!(states(clocks), [State::Ok, State::Ok, State::Ok, State::Warn, State::Unobservable]);
        let governed = |names: &[&str]| governor(&names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>());
        let both = governed(&["performance", "powersave", "performance"]);
        assert!(both.detail.starts_with("performance, powersave:"), "{both:?}");
        let governors = vec![governed(&[]), governed(&["performance", "performance"]), both];
        assert_eq!(states(governors), [State::Unobservable, State::Ok, State::Warn]);
        let turbos = vec![
            turbo(None, None),
            turbo(Some("1\n"), None),
            turbo(Some("0\n"), Some("0")),
            turbo(None, Some("1\n")),
            turbo(None, Some("0\n")),
            turbo(Some("?"), Some("0")),
        ];
        assert_eq!(states(turbos), [State::Unobservable, State::Ok, State::Warn, State::Warn, State::Ok, State::Unobservable]);
    }

    #[test]
    fn sizes() {
        for (bytes, expected) in [(0, "0 MiB"), (512 << 20, "512 MiB"), (25_276_502_016, "23 GiB"), (2 << 30, "2048 MiB")] {
            assert_eq!(size(bytes), expected);
        }
    }
}
