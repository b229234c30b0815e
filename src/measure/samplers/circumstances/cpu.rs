//! Who used the CPUs, and for what.

use super::span::Span;
use super::{largest, read, read_largest};
use crate::measure::attest::processes::tick_seconds;
use crate::measure::samplers::counters::spent;
use crate::measure::samplers::source::stat::Ticks;
use crate::model::hygiene::Reading;
use crate::model::metric::{Observation, Unit};

pub(super) fn readings(span: &Span<'_>) -> Vec<Reading> {
    let share = |part: fn(Ticks) -> u64| span.ticks.filter(|ticks| ticks.total() > 0).map(|all| part(all) as f64 / all.total() as f64);
    let foreign = span.by_others().zip(span.cpus()).map(|(seconds, cpus)| seconds / (span.seconds * cpus));
    let mut found = vec![
        read("foreign-cpu", foreign),
        read("steal", share(|all| all.steal)),
        softirq(span),
        read("observer-cpu", span.by_us().map(|seconds| seconds / span.seconds)),
        read("host-cpu", share(Ticks::busy)),
        busiest(span),
    ];
    if span.scope.engine.is_some() {
        found.push(read("engine-cpu", span.by_engine().map(|seconds| seconds / span.seconds)));
    }
    if !span.scope.proxies.is_empty() {
        let units = span.by_units().filter(|seconds| *seconds > 0.0);
        found.push(read("docker-proxy", span.by_proxies().zip(units).map(|(proxies, units)| proxies / units)));
        found.push(busiest_proxy(span));
    }
    found
}

/// What the trial as a whole took.
pub(super) fn observations(span: &Span<'_>) -> Vec<Observation> {
    let busy = span.ticks.map(|ticks| ticks.busy() as f64 * tick_seconds());
    // Both clocks are read a moment apart: a little less than nothing is nothing.
    let interrupts = busy.zip(span.by_tasks()).map(|(busy, tasks)| (busy - tasks).max(0.0));
    let found = [
        ("host_cpu_seconds", busy),
        ("softirq_cpu_seconds", interrupts),
        ("foreign_cpu_seconds", span.by_others()),
        ("named_cpu_seconds", Some(span.by_named()).filter(|_| !span.scope.processes.is_empty())),
        ("observer_cpu_seconds", span.by_us()),
    ];
    found.into_iter().filter_map(|(name, seconds)| Observation::finite(name, seconds?, Unit::SECOND)).collect()
}

/// What each CPU did that was online at both ends; one that did nothing at all, not even idle, says nothing.
fn each_cpu(span: &Span<'_>) -> Vec<(u32, Ticks)> {
    let Some((begun, ended)) = span.begun.host.stat.as_ref().zip(span.ended.host.stat.as_ref()) else { return Vec::new() };
    let earlier = |cpu: u32| begun.cpus.iter().find(|(known, _)| *known == cpu).map(|(_, ticks)| *ticks);
    let passed = ended.cpus.iter().filter_map(|(cpu, ticks)| Some((*cpu, ticks.since(earlier(*cpu)?))));
    passed.filter(|(_, ticks)| ticks.total() > 0).collect()
}

fn softirq(span: &Span<'_>) -> Reading {
    let shares = each_cpu(span).into_iter().map(|(cpu, ticks)| (ticks.softirq as f64 / ticks.total() as f64, format!("cpu{cpu}")));
    read_largest("softirq", shares)
}

fn busiest(span: &Span<'_>) -> Reading {
    let shares = each_cpu(span).into_iter().map(|(cpu, ticks)| (ticks.busy() as f64 / ticks.total() as f64, (cpu, ticks)));
    let Some((value, (cpu, ticks))) = largest(shares) else { return Reading::unobservable("busiest-cpu") };
    let kinds = [(ticks.user, "user"), (ticks.system, "system"), (ticks.interrupts(), "softirq")];
    let most = kinds.into_iter().filter(|(ticks, _)| *ticks > 0).max_by_key(|(ticks, _)| *ticks);
    let did = most.map_or_else(|| "idle".to_owned(), |(_, kind)| format!("mostly {kind}"));
    Reading::of("busiest-cpu", value).about(format!("cpu{cpu}, {did}"))
}

fn busiest_proxy(span: &Span<'_>) -> Reading {
    let ends = span.begun.proxies.iter().zip(&span.ended.proxies);
    let shares = span.scope.proxies.iter().zip(ends).filter_map(|(proxy, (begun, ended))| {
        let seconds = spent(&[*begun], &[*ended])?;
        Some((seconds / span.seconds, format!("port {}/{}", proxy.host_port, proxy.protocol)))
    });
    read_largest("busiest-proxy", shares)
}
