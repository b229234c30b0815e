//! Where the CPU time went: seconds per unit of work, split by who used them.
//!
//! The parts do not overlap. What docker-proxy used is taken from a private engine's own time, which holds it. Interrupts are only
//! counted as far as no task was charged for them: they are the rest of the host's busy time, and never more than the time in interrupts.

use super::level;
use super::observed::Key;
use crate::model::cpu::{CpuPart, CpuShare, CpuSplit, Work};
use crate::model::event::TrialRow;
use crate::model::results::Results;
use crate::model::spec::TrialSpec;
use std::collections::BTreeMap;

/// What only records have that tell all parts: without one of them nothing is said.
const HOST_METRICS: [&str; 4] = ["host_cpu_seconds", "softirq_cpu_seconds", "foreign_cpu_seconds", "observer_cpu_seconds"];

/// The trials of one variant that count, with what it runs.
struct Trials<'r> {
    spec: &'r TrialSpec,
    rows: Vec<&'r TrialRow>,
}

/// The split of every variant with trials, in the order of the variants; none at all where no trial tells the host's part.
pub(super) fn split(results: &Results) -> Vec<CpuSplit> {
    let all = counted(results);
    let rows = || all.iter().flat_map(|trials| &trials.rows);
    if !rows().any(|row| HOST_METRICS.iter().any(|name| value(row, name).is_some())) {
        return Vec::new();
    }
    let counts_all = |work: &Work| all.iter().filter(|trials| !trials.rows.is_empty()).all(|trials| !trials.counters(*work).is_empty());
    let work = Work::COUNTED.into_iter().find(counts_all).unwrap_or(Work::Trial);
    let names = Names::of(results);
    let of_variant = |(variant, trials): (usize, &Trials)| CpuSplit { variant, work, shares: trials.shares(work, &names) };
    all.iter().enumerate().map(of_variant).filter(|split| !split.shares.is_empty()).collect()
}

/// By variant, the rows that count; of two for one block the one recorded last.
fn counted(results: &Results) -> Vec<Trials<'_>> {
    let mut rows: Vec<BTreeMap<Key, &TrialRow>> = vec![BTreeMap::new(); results.variants.len()];
    for row in &results.rows {
        if let Some(of_variant) = row.counts().and_then(|variant| rows.get_mut(variant)) {
            of_variant.insert((row.run, row.row.block), &row.row);
        }
    }
    let trials = results.variants.iter().zip(rows);
    trials.map(|(variant, rows)| Trials { spec: &variant.spec, rows: rows.into_values().collect() }).collect()
}

/// What a trial has of a metric.
fn value(row: &TrialRow, name: &str) -> Option<f64> {
    row.metrics.iter().find(|observation| observation.name == name && observation.value.is_finite()).map(|observation| observation.value)
}

/// A metric of a workload: its name is in front where it has company.
fn of_workload(spec: &TrialSpec, workload: &str, metric: &str) -> String {
    if spec.workloads.len() > 1 { format!("{workload}.{metric}") } else { metric.to_owned() }
}

/// Every unit that runs in the windows of some variant, by name, with the part that its CPU time is: workloads in their order, then services by name.
#[must_use]
pub fn cpu_parts(results: &Results) -> Vec<(String, CpuPart)> {
    let names = Names::of(results);
    let (mut workloads, mut services) = (Vec::new(), BTreeMap::new());
    for unit in results.variants.iter().flat_map(|variant| names.units(&variant.spec)) {
        match unit.part {
            CpuPart::Service(_) => {
                services.insert(unit.name.to_owned(), unit.part);
            }
            _ if workloads.iter().any(|(name, _)| name == unit.name) => {}
            _ => workloads.push((unit.name.to_owned(), unit.part)),
        }
    }
    workloads.into_iter().chain(services).collect()
}

/// A unit, what its CPU time is called, and the metric that tells it.
struct Unit<'s> {
    name: &'s str,
    part: CpuPart,
    metric: String,
}

/// How workloads and services are called, the same in all variants.
struct Names {
    serve: bool,
    several: bool,
}

impl Names {
    fn of(results: &Results) -> Self {
        let specs = || results.variants.iter().map(|variant| &variant.spec);
        let serves = |spec: &TrialSpec| spec.services.iter().any(|service| !spec.is_waited_out(&service.name));
        Self { serve: specs().any(serves), several: specs().any(|spec| spec.workloads.len() > 1) }
    }

    /// Workloads in their order, then the services that last, by name.
    fn units<'s>(&self, spec: &'s TrialSpec) -> Vec<Unit<'s>> {
        let workload = |name: &'s str| Unit { name, part: self.workload(name), metric: of_workload(spec, name, "cpu_seconds") };
        let service = |name: &'s str| Unit { name, part: Self::service(name), metric: format!("{name}.cpu_seconds") };
        let mut services: Vec<&str> = spec.services.iter().map(|service| service.name.as_str()).collect();
        services.retain(|name| !spec.is_waited_out(name));
        services.sort_unstable();
        spec.workloads.iter().map(|unit| workload(&unit.name)).chain(services.into_iter().map(service)).collect()
    }

    fn workload(&self, name: &str) -> CpuPart {
        CpuPart::Workload(match (self.serve, self.several) {
            (true, true) => format!("generator {name}"),
            (true, false) => "generator".to_owned(),
            (false, true) => name.to_owned(),
            (false, false) => "workload".to_owned(),
        })
    }

    /// A service that is called like a part has a word in front.
    fn service(name: &str) -> CpuPart {
        let taken = name == "generator" || CpuPart::COMMON.iter().any(|part| part.words() == name);
        CpuPart::Service(if taken { format!("service {name}") } else { name.to_owned() })
    }
}

impl Trials<'_> {
    /// The metrics of workloads that count `work` in every trial.
    fn counters(&self, work: Work) -> Vec<String> {
        let Some(metric) = work.metric() else { return Vec::new() };
        let names = self.spec.workloads.iter().map(|workload| of_workload(self.spec, &workload.name, metric));
        names.filter(|name| self.rows.iter().all(|row| value(row, name).is_some_and(|count| count > 0.0))).collect()
    }

    fn shares(&self, work: Work, names: &Names) -> Vec<CpuShare> {
        let counters = self.counters(work);
        let done = |row: &TrialRow| match work {
            Work::Trial => Some(1.0),
            _ => counters.iter().map(|name| value(row, name)).sum(),
        };
        let units: Vec<(CpuPart, String)> = names.units(self.spec).into_iter().map(|unit| (unit.part, unit.metric)).collect();
        let share = |part: CpuPart, seconds: &dyn Fn(&TrialRow) -> Option<f64>| {
            let values = self.rows.iter().filter_map(|row| Some(seconds(row)? / done(row)?)).collect();
            level(values).map(|level| CpuShare { part, seconds: level.median, n: level.n })
        };
        let of_units = units.iter().filter_map(|(part, metric)| share(part.clone(), &|row| value(row, metric)));
        let common = CpuPart::COMMON.into_iter().filter_map(|part| share(part.clone(), &|row| self.common(&part, row, &units)));
        of_units.chain(common).collect()
    }

    /// The seconds that one trial spent in a part that is no unit's.
    fn common(&self, part: &CpuPart, row: &TrialRow, units: &[(CpuPart, String)]) -> Option<f64> {
        match part {
            CpuPart::Workload(_) | CpuPart::Service(_) => None,
            CpuPart::Proxy => value(row, "docker_proxy_cpu_seconds"),
            CpuPart::Engine => self.engine(row),
            CpuPart::Named => value(row, "named_cpu_seconds"),
            CpuPart::Softirq => self.uncharged(row, units),
            CpuPart::Foreign => value(row, "foreign_cpu_seconds"),
            CpuPart::Observer => value(row, "observer_cpu_seconds"),
        }
    }

    /// A private engine's group holds its docker-proxy processes; of one that runs anyway dockerd and containerd alone are counted.
    fn engine(&self, row: &TrialRow) -> Option<f64> {
        let engine = value(row, "engine_cpu_seconds")?;
        let held = self.spec.engine.private.as_ref().and_then(|_| value(row, "docker_proxy_cpu_seconds"));
        Some((engine - held.unwrap_or(0.0)).max(0.0))
    }

    /// Interrupts that no task was charged for: the busy time that is left when every task's is taken away, at most all interrupts. Only
    /// where every unit was counted: else the rest would be theirs, too.
    fn uncharged(&self, row: &TrialRow, units: &[(CpuPart, String)]) -> Option<f64> {
        let interrupts = value(row, "softirq_cpu_seconds")?;
        let of_units: f64 = units.iter().map(|(_, metric)| value(row, metric)).sum::<Option<f64>>()?;
        let named = value(row, "named_cpu_seconds").unwrap_or(0.0);
        let others = value(row, "foreign_cpu_seconds")? + value(row, "observer_cpu_seconds")? + named;
        let of_engine = self.engine(row).unwrap_or(0.0) + value(row, "docker_proxy_cpu_seconds").unwrap_or(0.0);
        let rest = value(row, "host_cpu_seconds")? - of_units - others - of_engine;
        Some(rest.clamp(0.0, interrupts.max(0.0)))
    }
}
