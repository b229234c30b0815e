//! What goes on at this moment and would disturb a measurement that started now.

use super::host::size;
use super::{Area, Asked, Finding, Process, Sight};
use crate::measure::samplers::source::loadavg::Load;
use crate::measure::samplers::source::pressure::{Waiting, average_10s};
use crate::measure::samplers::source::stat::Ticks;
use std::collections::BTreeMap;

const AREA: Area = Area::Now;

/// Load (tasks that want to run, averaged over a minute) per CPU above which a trial would compete.
const MOST_LOAD: f64 = 0.25;
/// CPUs' worth of others' work in the second of the look: a tenth of one CPU is what an idle machine with some daemons does not reach.
const MOST_FOREIGN: f64 = 0.1;
/// Share of all CPU time that a hypervisor took away.
const MOST_STOLEN: f64 = 0.01;
/// Share of the last ten seconds, in percent, in which some task waited for the resource.
const MOST_PRESSURE: [(&str, f64); 3] = [("cpu", 5.0), ("io", 5.0), ("memory", 1.0)];
/// Programs that work hard on disk or CPU for a while and then are gone, by the kernel's names (15 bytes at most).
const MAINTENANCE: [&str; 17] = [
    "apt",
    "apt-get",
    "aptitude",
    "apt.systemd.dai",
    "dpkg",
    "dpkg-deb",
    "unattended-upgr",
    "updatedb",
    "updatedb.mlocat",
    "updatedb.plocat",
    "mandb",
    "dnf",
    "yum",
    "rpm",
    "fstrim",
    "logrotate",
    "rsync",
];
/// Bytes that should be free below a folder: images and loop files, or sockets and state.
const LEAST_FREE: [(&str, u64); 2] = [("/var/lib", 5 << 30), ("/run", 64 << 20)];

pub(super) fn findings(sight: &Sight, asked: &Asked) -> Vec<Finding> {
    let mut found = vec![load(sight.loadavg.as_deref(), sight.facts.cpus)];
    found.extend(cpu_time(sight.stat.as_ref().map(|(before, after)| (before.as_str(), after.as_str())), sight.facts.cpus));
    found.push(pressure(&sight.pressure));
    found.push(maintenance(&sight.processes));
    found.push(swap(sight.meminfo.as_deref()));
    found.push(neighbours(asked.neighbours.as_deref()));
    found.extend(sight.space.iter().map(|(folder, free)| space(folder, *free)));
    found.push(
        AREA.unobservable("time synchronisation", "not judged: a step of the clock inside a trial is told by its taint `clock-step`"),
    );
    found
}

fn load(text: Option<&str>, cpus: u32) -> Finding {
    let what = "load";
    let Some(Load { minute, runnable }) = text.and_then(Load::parse) else {
        return AREA.unobservable(what, "`/proc/loadavg` is not readable");
    };
    // One of the runnable tasks is ourselves, reading this.
    let others = runnable.map(|running| format!(", {} other tasks want to run now", running.saturating_sub(1))).unwrap_or_default();
    let detail = format!("{minute:.2} over the last minute{others}");
    if minute > MOST_LOAD * f64::from(cpus.max(1)) {
        AREA.warn(what, detail, "wait until it is below a quarter of the CPUs, or find out who works (`top`)")
    } else {
        AREA.ok(what, detail)
    }
}

fn cpu_time(stat: Option<(&str, &str)>, cpus: u32) -> Vec<Finding> {
    let change = |(before, after): (&str, &str)| {
        let passed = Ticks::of_all(after)?.since(Ticks::of_all(before)?);
        let all = passed.total();
        (all > 0).then(|| [passed.busy() as f64 / all as f64, passed.steal as f64 / all as f64])
    };
    let Some([busy, stolen]) = stat.and_then(change) else {
        return ["foreign CPU", "stolen CPU"].map(|what| AREA.unobservable(what, "`/proc/stat` does not tell")).into();
    };
    let foreign = busy * f64::from(cpus.max(1));
    let detail = format!("{foreign:.2} CPUs' worth of others' work within a second");
    let foreign = if foreign > MOST_FOREIGN {
        AREA.warn("foreign CPU", detail, "find out who works (`top`) and let it finish")
    } else {
        AREA.ok("foreign CPU", detail)
    };
    let detail = format!("{:.1} % taken by the hypervisor within a second", stolen * 100.0);
    let stolen = if stolen > MOST_STOLEN {
        AREA.warn("stolen CPU", detail, "measure on a machine whose CPUs are not shared")
    } else {
        AREA.ok("stolen CPU", detail)
    };
    vec![foreign, stolen]
}

fn pressure(texts: &BTreeMap<&'static str, String>) -> Finding {
    let averages: Vec<(&str, f64, f64)> =
        MOST_PRESSURE.iter().filter_map(|(name, most)| Some((*name, average_10s(texts.get(name)?, Waiting::Some)?, *most))).collect();
    if averages.is_empty() {
        return AREA.unobservable("pressure", "the kernel does not tell (no PSI)");
    }
    let detail: Vec<String> = averages.iter().map(|(name, percent, _)| format!("{name} {percent:.2} %")).collect();
    let detail = format!("{} of the last 10 s waited for", detail.join(", "));
    if averages.iter().any(|(_, percent, most)| percent > most) {
        AREA.warn("pressure", detail, "wait until it is over")
    } else {
        AREA.ok("pressure", detail)
    }
}

fn maintenance(processes: &[Process]) -> Finding {
    let what = "maintenance";
    if processes.is_empty() {
        return AREA.unobservable(what, "no process can be seen");
    }
    // Ubuntu keeps one of that name, which waits for the shutdown and does nothing else.
    let works = |process: &&Process| MAINTENANCE.contains(&process.name.as_str()) && !process.command.contains("--wait-for-signal");
    let mut names: Vec<&str> = processes.iter().filter(works).map(|process| process.name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    if names.is_empty() {
        return AREA.ok(what, "no package manager or indexer runs");
    }
    AREA.warn(what, format!("running: {}", names.join(", ")), "let it finish")
}

fn swap(meminfo: Option<&str>) -> Finding {
    let kibibytes = |name: &str| {
        let value = meminfo?.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
        value.split_whitespace().next()?.parse::<u64>().ok()
    };
    match kibibytes("SwapTotal").zip(kibibytes("SwapFree")) {
        None => AREA.unobservable("swap", "`/proc/meminfo` does not tell"),
        Some((0, _)) => AREA.ok("swap", "none"),
        Some((total, free)) if total > free => {
            let used = total - free;
            let detail = format!("{} of {} in use: what is needed again comes from disk", size(used << 10), size(total << 10));
            AREA.warn("swap", detail, "`swapoff -a` while measuring, if memory is enough")
        }
        Some((total, _)) => AREA.ok("swap", format!("{}, none of it in use", size(total << 10))),
    }
}

fn neighbours(names: Option<&[String]>) -> Finding {
    /// So many names are told; the rest is counted.
    const MOST_NAMES: usize = 5;
    match names {
        None => AREA.unobservable("other containers", "no daemon tells"),
        Some([]) => AREA.ok("other containers", "none run on the default daemon"),
        Some(names) => {
            let shown = names.iter().take(MOST_NAMES).cloned().collect::<Vec<_>>().join(", ");
            let more = if names.len() > MOST_NAMES { format!(" and {} more", names.len() - MOST_NAMES) } else { String::new() };
            AREA.warn("other containers", format!("{} running: {shown}{more}", names.len()), "stop them while measuring")
        }
    }
}

fn space(folder: &str, free: Option<u64>) -> Finding {
    let what = format!("free below {folder}");
    let least = LEAST_FREE.iter().find(|(name, _)| *name == folder).map_or(0, |(_, least)| *least);
    match free {
        None => AREA.unobservable(&what, "the file system does not tell"),
        Some(bytes) if bytes < least => AREA.warn(&what, size(bytes), format!("make room: {} are wanted", size(least))),
        Some(bytes) => AREA.ok(&what, size(bytes)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::doctor::State;

    fn told(finding: Finding) -> (State, String) {
        (finding.state, finding.detail)
    }

    #[test]
    fn load_is_judged_by_the_cpus() {
        let table = [
            ("0.19 0.21 0.15 1/103 7787\n", 2, State::Ok, "0.19 over the last minute, 0 other tasks want to run now"),
            ("0.51 0.21 0.15 3/103 7787\n", 2, State::Warn, "0.51 over the last minute, 2 other tasks want to run now"),
            ("0.51 0.21 0.15 3/103 7787\n", 4, State::Ok, "0.51 over the last minute, 2 other tasks want to run now"),
            ("much 0.21 0.15 3/103\n", 4, State::Unobservable, "`/proc/loadavg` is not readable"),
            ("", 2, State::Unobservable, "`/proc/loadavg` is not readable"),
        ];
        for (text, cpus, state, detail) in table {
            assert_eq!(told(load(Some(text), cpus)), (state, detail.to_owned()), "{text}");
        }
    }

    #[test]
    fn cpu_time_is_what_passed_between_two_readings() {
        let before = "cpu  100 0 100 1000 10 0 0 10 50 0\ncpu0 1 2 3\n";
        let table = [
            ("cpu  100 0 100 1200 10 0 0 10 50 0\n", [State::Ok, State::Ok], "0.00 CPUs", "0.0 %"),
            ("cpu  110 0 110 1180 10 0 0 10 99 0\n", [State::Warn, State::Ok], "0.20 CPUs", "0.0 %"),
            ("cpu  104 0 104 1182 20 0 0 10 50 0\n", [State::Ok, State::Ok], "0.08 CPUs", "0.0 %"),
            ("cpu  100 0 100 1190 10 0 0 20 50 0\n", [State::Ok, State::Warn], "0.00 CPUs", "5.0 %"),
        ];
        for (after, states, foreign, stolen) in table {
            let found = cpu_time(Some((before, after)), 2);
            assert_eq!([found[0].state, found[1].state], states, "{found:?}");
            assert!(found[0].detail.starts_with(foreign) && found[1].detail.starts_with(stolen), "{found:?}");
        }
        for stat in
            [None, Some((before, before)), Some(("", "cpu 1")), Some((before, "cpu  a b c\n")), Some(("cpu  1 2 3\n", "cpu  2 3 4\n"))]
        {
            assert!(cpu_time(stat, 2).iter().all(|finding| finding.state == State::Unobservable), "{stat:?}");
        }
    }

    #[test]
    fn pressure_is_the_last_ten_seconds() {
        let texts = |cpu: &str, memory: &str| {
            let line =
                |value: &str| format!("some avg10={value} avg60=9.00 avg300=0.85 total=11334119\nfull avg10=0.00 avg60=0.00 total=0\n");
            BTreeMap::from([("cpu", line(cpu)), ("memory", line(memory))])
        };
        assert_eq!(told(pressure(&texts("0.76", "0.00"))), (State::Ok, "cpu 0.76 %, memory 0.00 % of the last 10 s waited for".to_owned()));
        assert_eq!(pressure(&texts("5.01", "0.00")).state, State::Warn);
        assert_eq!(pressure(&texts("0.00", "1.50")).state, State::Warn);
        assert_eq!(pressure(&BTreeMap::new()).state, State::Unobservable);
        assert_eq!(pressure(&BTreeMap::from([("cpu", "torn".to_owned())])).state, State::Unobservable);
    }

    #[test]
    fn maintenance_is_work_that_will_be_over() {
        let process = |name: &str, command: &str| Process { name: name.to_owned(), command: command.to_owned() };
        let waiting =
            process("unattended-upgr", "/usr/bin/python3 /usr/share/unattended-upgrades/unattended-upgrade-shutdown --wait-for-signal");
        let quiet = vec![process("systemd", "/sbin/init"), waiting.clone(), process("kworker/0:1", "")];
        assert_eq!(maintenance(&quiet).state, State::Ok);
        let busy = [quiet, vec![process("dpkg", "dpkg -i x"), process("apt-get", "apt-get update"), process("dpkg", "dpkg")]].concat();
        assert_eq!(told(maintenance(&busy)), (State::Warn, "running: apt-get, dpkg".to_owned()));
        assert_eq!(maintenance(&[process("unattended-upgr", "python3 /usr/bin/unattended-upgrade")]).state, State::Warn);
        assert_eq!(maintenance(&[]).state, State::Unobservable);
        assert!(MAINTENANCE.iter().all(|name| name.len() <= 15), "the kernel cuts names there");
    }

    #[test]
    fn swap_counts_when_it_is_used() {
        let table = [
            ("SwapTotal:       0 kB\nSwapFree:        0 kB\n", State::Ok, "none"),
            ("SwapCached: 9 kB\nSwapTotal:  2097152 kB\nSwapFree:  2097152 kB\n", State::Ok, "2048 MiB, none of it in use"),
            (
                "SwapTotal:  2097152 kB\nSwapFree:  1048576 kB\n",
                State::Warn,
                "1024 MiB of 2048 MiB in use: what is needed again comes from disk",
            ),
            ("MemTotal: 1 kB\n", State::Unobservable, "`/proc/meminfo` does not tell"),
        ];
        for (text, state, detail) in table {
            assert_eq!(told(swap(Some(text))), (state, detail.to_owned()));
        }
        assert_eq!(swap(None).state, State::Unobservable);
    }

    #[test]
    fn neighbours_and_space() {
        let names = |count: usize| (0..count).map(|index| format!("c{index}")).collect::<Vec<_>>();
        assert_eq!(neighbours(None).state, State::Unobservable);
        assert_eq!(neighbours(Some(&[])).state, State::Ok);
        assert_eq!(told(neighbours(Some(&names(2)))), (State::Warn, "2 running: c0, c1".to_owned()));
        assert_eq!(neighbours(Some(&names(7))).detail, "7 running: c0, c1, c2, c3, c4 and 2 more");
        let table = [
            ("/var/lib", 6 << 30, State::Ok),
            ("/var/lib", 4 << 30, State::Warn),
            ("/run", 65 << 20, State::Ok),
            ("/run", 1 << 20, State::Warn),
        ];
        for (folder, bytes, state) in table {
            assert_eq!(space(folder, Some(bytes)).state, state, "{folder} {bytes}");
        }
        assert_eq!(space("/run", None).state, State::Unobservable);
    }
}
