//! What the engine itself burns in the window: its docker-proxy processes, and its daemon's own.

use super::counters;
use crate::measure::attest::processes::CpuTime;
use crate::measure::attest::proxies::{Proxy, ProxyCpu};
use crate::model::cgroup::CgroupLayout;
use crate::model::metric::{Observation, Unit};

/// The engine's processes beside the units. What is looked for is decided before the window opens.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Helpers {
    /// The docker-proxy processes that serve ports of the trial.
    pub proxies: Vec<Proxy>,
    /// The engine's own processes; none where they are not visible.
    pub engine: Option<EngineProcesses>,
}

/// How the engine's own processes are known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EngineProcesses {
    /// All that are in this cgroup of ours, relative to each hierarchy's root. No unit's group may be below it.
    Group(String),
    /// These.
    Pids(Vec<u32>),
}

/// The helpers at the beginning of the window.
#[derive(Debug)]
pub(super) struct Begun {
    proxies: Vec<(Proxy, Option<CpuTime>)>,
    engine: Option<EngineBegun>,
}

#[derive(Debug)]
enum EngineBegun {
    Group(String, Option<u64>),
    Pids(Vec<(u32, Option<CpuTime>)>),
}

impl Begun {
    pub(super) fn read(layout: &CgroupLayout, helpers: Helpers) -> Self {
        let engine = helpers.engine.map(|engine| match engine {
            EngineProcesses::Group(group) => {
                let ns = counters::cpu_ns(layout, &group);
                EngineBegun::Group(group, ns)
            }
            EngineProcesses::Pids(pids) => EngineBegun::Pids(pids.into_iter().map(|pid| (pid, CpuTime::read(pid))).collect()),
        });
        let proxies = helpers.proxies.into_iter().map(|proxy| (proxy.pid, proxy)).map(|(pid, proxy)| (proxy, CpuTime::read(pid)));
        Self { proxies: proxies.collect(), engine }
    }

    /// The observations of the trial at the end of the window, and each proxy's CPU time. A sum that lacks a part is absent.
    pub(super) fn end(self, layout: &CgroupLayout) -> (Vec<Observation>, Vec<ProxyCpu>) {
        let proxies: Vec<ProxyCpu> =
            self.proxies.into_iter().map(|(proxy, begun)| ProxyCpu { cpu_seconds: spent(proxy.pid, begun), proxy }).collect();
        let served = Some(&proxies).filter(|proxies| !proxies.is_empty());
        let by_proxies = served.and_then(|proxies| proxies.iter().map(|proxy| proxy.cpu_seconds).sum());
        let by_engine = self.engine.and_then(|engine| engine.spent(layout));
        let observations = [("docker_proxy_cpu_seconds", by_proxies), ("engine_cpu_seconds", by_engine)];
        let observation = |(name, seconds): (&str, Option<f64>)| Observation::finite(name, seconds?, Unit::SECOND);
        (observations.into_iter().filter_map(observation).collect(), proxies)
    }
}

impl EngineBegun {
    fn spent(self, layout: &CgroupLayout) -> Option<f64> {
        match self {
            Self::Group(group, begun) => Some(counters::cpu_ns(layout, &group)?.checked_sub(begun?)? as f64 / 1e9),
            Self::Pids(pids) if pids.is_empty() => None,
            Self::Pids(pids) => pids.into_iter().map(|(pid, begun)| spent(pid, begun)).sum(),
        }
    }
}

fn spent(pid: u32, begun: Option<CpuTime>) -> Option<f64> {
    CpuTime::read(pid)?.seconds_since(begun?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proxy(pid: u32) -> Proxy {
        let ip = "127.0.0.1".parse().expect("address");
        Proxy { pid, protocol: "tcp".into(), host_ip: ip, host_port: 8080, container_ip: ip, container_port: 80 }
    }

    fn seen(helpers: Helpers, layout: &CgroupLayout, meanwhile: impl FnOnce()) -> (Vec<(String, f64)>, Vec<Option<f64>>) {
        let begun = Begun::read(layout, helpers);
        meanwhile();
        let (observations, proxies) = begun.end(layout);
        let observations = observations.into_iter().map(|observation| (observation.name, observation.value)).collect();
        (observations, proxies.into_iter().map(|proxy| proxy.cpu_seconds).collect())
    }

    /// Stops a process and waits until it is: from then on it takes no time.
    fn stop(pid: u32) {
        let id = rustix::process::Pid::from_raw(pid.cast_signed()).expect("a process");
        rustix::process::kill_process(id, rustix::process::Signal::STOP).expect("stop");
        while !std::fs::read_to_string(format!("/proc/{pid}/stat")).expect("stat").contains(") T ") {
            std::thread::yield_now();
        }
    }

    #[test]
    fn an_idle_process_spent_nothing_and_one_that_is_gone_is_unknown() {
        let layout = CgroupLayout::default();
        let mut sleeper = std::process::Command::new("/bin/sleep").arg("987").spawn().expect("sleep");
        let pid = sleeper.id();
        stop(pid);
        let idle = Helpers { proxies: vec![proxy(pid)], engine: Some(EngineProcesses::Pids(vec![pid])) };
        let zero = |name: &str| (name.to_owned(), 0.0);
        let both = vec![zero("docker_proxy_cpu_seconds"), zero("engine_cpu_seconds")];
        assert_eq!(seen(idle.clone(), &layout, || {}), (both, vec![Some(0.0)]));
        let half = Helpers { proxies: vec![proxy(pid), proxy(u32::MAX)], engine: Some(EngineProcesses::Pids(vec![u32::MAX, pid])) };
        assert_eq!(seen(half, &layout, || {}), (vec![], vec![Some(0.0), None]));
        assert_eq!(seen(Helpers::default(), &layout, || {}), (vec![], vec![]));
        assert_eq!(seen(Helpers { proxies: vec![], engine: Some(EngineProcesses::Pids(vec![])) }, &layout, || {}), (vec![], vec![]));
        let ended = seen(idle, &layout, || {
            sleeper.kill().expect("kill");
            sleeper.wait().expect("wait");
        });
        assert_eq!(ended, (vec![], vec![None]));
    }

    #[test]
    fn a_groups_time_is_what_it_counted_meanwhile() {
        let root = tempfile::tempdir().expect("folder");
        let layout = CgroupLayout::from_mountinfo(&format!("24 23 0:22 / {} rw - cgroup2 cgroup2 rw", root.path().display()));
        let put = |usec: u64| {
            std::fs::create_dir_all(root.path().join("engine")).expect("group");
            std::fs::write(root.path().join("engine/cpu.stat"), format!("usage_usec {usec}\n")).expect("stat");
        };
        let helpers = Helpers { proxies: vec![], engine: Some(EngineProcesses::Group("engine".into())) };
        put(1000);
        let found = seen(helpers.clone(), &layout, || put(251_000));
        assert_eq!(found, (vec![("engine_cpu_seconds".to_owned(), 0.25)], vec![]));
        assert_eq!(seen(helpers.clone(), &layout, || put(100)).0, [], "another group of that name");
        let none = Helpers { engine: Some(EngineProcesses::Group("nothing".into())), ..helpers };
        assert_eq!(seen(none, &layout, || put(1000)).0, []);
    }
}
