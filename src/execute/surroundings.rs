//! What goes on around a trial while it runs: counters at both ends of its window, and samples over all of it.

use super::Shared;
use super::names::Names;
use super::services::Service;
use super::sight::{Ports, Sight};
use super::trial::{Measured, Unit};
use crate::engine::Created;
use crate::measure::attest::processes;
use crate::measure::samplers::{Moment, Sampler, Scope, ScopeUnit, Subject, between};
use crate::measure::window::Closed;
use crate::model::cpus::CpuList;
use crate::model::hygiene::Reading;
use crate::model::metric::{Observation, Unit as Symbol};
use crate::model::observe::Series;
use crate::model::spec::{LimitsSpec, Place, TrialSpec, UnitSpec};
use std::time::{Duration, Instant};

/// So long after the start a load generator has made its threads.
pub(super) const GLANCE: Duration = Duration::from_millis(200);

/// Samples within the window below which a series shows nothing that the counters do not tell.
const LEAST_SAMPLES: usize = 2;

/// The samples of one trial.
pub(super) struct Surroundings {
    sampler: Option<Sampler>,
    processes: Vec<(String, Vec<u32>)>,
}

impl Surroundings {
    /// Starts to sample, where the experiment wants it.
    pub(super) fn begin(shared: &Shared<'_>, spec: &TrialSpec, names: &Names<'_>, sight: Option<&Sight>) -> Self {
        let observe = &shared.job.observe;
        let processes = named(&observe.processes);
        let Some(interval) = observe.interval else { return Self { sampler: None, processes } };
        let unit = |(name, unit): (&str, &UnitSpec)| {
            let cgroup = names.of(name).cgroup();
            let limited = unit.limits.quota().is_some();
            // The limited group of a container has the container's id, which nobody knows yet: it is added when it is there.
            let known = unit.place == Place::Host || !limited;
            known.then(|| Subject::Unit { name: name.to_owned(), leaf: limited.then(|| cgroup.clone()), cgroup })
        };
        let mut subjects: Vec<Subject> = spec.units().filter_map(unit).collect();
        subjects.extend(sight.map(Sight::engine).map(Subject::Engine));
        subjects.extend(processes.iter().map(|(name, pids)| Subject::Processes { name: name.clone(), pids: pids.clone() }));
        subjects.extend([Subject::Host, Subject::Observer]);
        Self { sampler: Sampler::start(&shared.job.layout, interval, subjects), processes }
    }

    /// What follows belongs to this phase of the series.
    pub(super) fn phase(&self, name: &str) {
        if let Some(sampler) = &self.sampler {
            sampler.phase(name);
        }
    }

    /// What is known once everything is created.
    pub(super) fn add(&self, scope: &Scope) {
        let Some(sampler) = &self.sampler else { return };
        if !scope.proxies.is_empty() {
            sampler.add(Subject::Proxies(scope.proxies.iter().map(|proxy| proxy.pid).collect()));
        }
        for unit in scope.units.iter().filter(|unit| unit.quota.is_some() && unit.leaf != unit.cgroup) {
            sampler.add(Subject::Unit { name: unit.name.clone(), cgroup: unit.cgroup.clone(), leaf: Some(unit.leaf.clone()) });
        }
    }

    /// Ends the samples, and keeps them where they are worth it.
    pub(super) fn end(self, measured: &mut Measured) {
        let Some(sampled) = self.sampler.map(Sampler::finish) else { return };
        measured.readings.extend(sampled.late.map(|late| Reading::of("late-samples", late)));
        measured.series = Some(sampled.series).filter(is_worth_it);
    }

    /// Whose counters are read in the window.
    pub(super) fn scope(
        &self,
        units: &[Unit<'_>],
        services: &[Service<'_>],
        (sight, ports): (Option<&Sight>, &Ports),
        names: &Names<'_>,
    ) -> Scope {
        let standing = names.standing();
        let pid = |name: &str| standing.iter().find(|(known, _)| known == name).and_then(|(_, standing)| standing.pid);
        let lasting = services.iter().filter(|service| service.lasts());
        let serving = lasting.filter_map(|service| {
            let name = &service.spec.name;
            Some(ScopeUnit { is_service: true, pid: pid(name), ..unit(name, service.created.get()?, &service.spec.unit.limits) })
        });
        let measured = units.iter().filter_map(|own| {
            let workload = own.workload;
            Some(unit(&workload.name, own.created.as_ref()?, &workload.unit.limits))
        });
        let helpers = ports.helpers(sight);
        let ports = units.iter().find_map(|unit| port_range(&unit.workload.unit.container.sysctls));
        Scope {
            units: measured.chain(serving).collect(),
            engine: sight.map(Sight::engine),
            proxies: helpers.proxies,
            processes: self.processes.clone(),
            generator: sight.filter(|sight| sight.is_private()).map(Sight::dockerd),
            generator_ports: ports,
        }
    }
}

fn unit(name: &str, created: &Created, limits: &LimitsSpec) -> ScopeUnit {
    ScopeUnit {
        name: name.to_owned(),
        cgroup: created.cgroup.clone(),
        leaf: created.leaf.clone(),
        quota: limits.quota().map(|(quota, period)| quota as f64 / period as f64),
        cpuset: limits.cpuset.as_deref().and_then(CpuList::parse).and_then(|list| u32::try_from(list.iter().count()).ok()),
        is_service: false,
        pid: None,
    }
}

/// How many ephemeral ports a unit's own sysctls give it.
fn port_range(sysctls: &[(String, String)]) -> Option<u32> {
    let (_, range) = sysctls.iter().find(|(name, _)| name == "net.ipv4.ip_local_port_range")?;
    let (low, high) = range.trim().split_once(|c: char| c.is_whitespace())?;
    high.trim().parse::<u32>().ok()?.checked_sub(low.parse().ok()?)?.checked_add(1)
}

/// The running processes of these names.
fn named(names: &[String]) -> Vec<(String, Vec<u32>)> {
    if names.is_empty() {
        return Vec::new();
    }
    let running: Vec<(u32, String)> = processes::all().into_iter().filter_map(|pid| Some((pid, processes::name(pid)?))).collect();
    let pids = |name: &String| running.iter().filter(|(_, comm)| comm == name).map(|(pid, _)| *pid).collect();
    names.iter().map(|name| (name.clone(), pids(name))).collect()
}

fn is_worth_it(series: &Series) -> bool {
    series.samples.iter().filter(|sample| sample.phase == "window").count() >= LEAST_SAMPLES
}

/// The counters of a window, between its two ends.
pub(super) struct Marks<'s> {
    shared: &'s Shared<'s>,
    scope: Scope,
    begun: Option<(Instant, Moment)>,
}

impl<'s> Marks<'s> {
    /// Opens what a trial needs.
    pub(super) fn prepare(shared: &'s Shared<'s>, scope: Scope) -> Self {
        if !scope.units.is_empty() {
            shared.counters().prepare(&scope);
        }
        Self { shared, scope, begun: None }
    }

    /// Right after the start's answer.
    pub(super) fn begin(&mut self) {
        self.begun = Some((Instant::now(), self.shared.counters().mark(&self.scope)));
    }

    /// A moment later.
    pub(super) fn glance(&mut self) {
        if let Some((_, begun)) = &mut self.begun {
            self.shared.counters().glance(begun);
        }
    }

    /// Right after the last exit; `units` tell how long their start took, and the window what it alone saw.
    pub(super) fn end(self, units: &[Unit<'_>], closed: &Closed, measured: &mut Measured) {
        let mut counters = self.shared.counters();
        if let Some((opened, begun)) = &self.begun {
            let mut ended = counters.mark(&self.scope);
            for unit in &closed.units {
                if let Some((periods, throttled)) = unit.quota {
                    ended.saw_quota(&unit.unit, periods, throttled);
                }
            }
            let circumstances = between(&self.scope, begun, &ended);
            self.shared.gate().saw(Instant::now(), opened.elapsed(), &circumstances.readings);
            // A window too short for counters is too short for this one.
            if !circumstances.readings.is_empty() {
                measured.readings.extend(start_latency(units));
            }
            measured.readings.extend(circumstances.readings);
            measured.metrics.extend(circumstances.observations);
        }
        counters.release();
    }
}

/// How long the start of the slowest workload took.
fn start_latency(units: &[Unit<'_>]) -> Option<Reading> {
    let slowest = units.iter().filter_map(|unit| unit.clock.map(|(asked, answered)| (answered - asked, &unit.workload.name))).max()?;
    let observation = Observation::finite("start-latency", slowest.0.as_secs_f64(), Symbol::SECOND)?;
    let reading = Reading::of(&observation.name, observation.value);
    Some(if units.len() > 1 { reading.about(slowest.1.clone()) } else { reading })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::observe::Sample;

    #[test]
    fn a_units_own_ports_are_counted() {
        let sysctl = |value: &str| vec![("net.ipv4.ip_local_port_range".to_owned(), value.to_owned())];
        for (value, ports) in [("1024 65535", Some(64_512)), ("1024\t1024", Some(1)), ("9 8", None), ("1024", None), ("a b", None)] {
            assert_eq!(port_range(&sysctl(value)), ports, "{value}");
        }
        assert_eq!(port_range(&[]), None);
    }

    #[test]
    fn processes_are_found_by_name() {
        let own = processes::name(std::process::id()).expect("our own");
        let found = named(&[own.clone(), "no-such-program".to_owned()]);
        assert_eq!(found[0].0, own);
        assert!(found[0].1.contains(&std::process::id()) && found[1].1.is_empty(), "{found:?}");
        assert_eq!(named(&[]), []);
    }

    #[test]
    fn a_series_without_samples_in_the_window_is_not_kept() {
        let sample = |phase: &str| Sample { time: 0.0, phase: phase.to_owned(), values: Vec::new() };
        let series = |phases: &[&str]| Series { columns: Vec::new(), samples: phases.iter().map(|phase| sample(phase)).collect() };
        assert!(!is_worth_it(&series(&["start", "window", "drain"])));
        assert!(is_worth_it(&series(&["start", "window", "window", "drain"])));
    }
}
