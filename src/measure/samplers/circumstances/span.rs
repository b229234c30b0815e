//! The differences that several checks are made of.

use super::SHORTEST_WINDOW;
use crate::measure::attest::processes::{CpuTime, tick_seconds};
use crate::measure::samplers::counters::{Engine, Moment, Scope, ScopeUnit, Unit, spent};
use crate::measure::samplers::source::stat::Ticks;

/// The time between two moments of a trial.
pub(super) struct Span<'m> {
    pub(super) scope: &'m Scope,
    pub(super) begun: &'m Moment,
    pub(super) ended: &'m Moment,
    /// How long it is.
    pub(super) seconds: f64,
    /// What all CPUs did.
    pub(super) ticks: Option<Ticks>,
}

/// A unit at both ends.
pub(super) struct UnitSpan<'m> {
    pub(super) scope: &'m ScopeUnit,
    pub(super) begun: &'m Unit,
    pub(super) ended: &'m Unit,
}

impl<'m> Span<'m> {
    /// None when it is too short to tell anything.
    pub(super) fn new(scope: &'m Scope, begun: &'m Moment, ended: &'m Moment) -> Option<Self> {
        let length = ended.at.checked_sub(begun.at).filter(|length| *length >= SHORTEST_WINDOW)?;
        let ticks = begun.host.stat.as_ref().zip(ended.host.stat.as_ref()).map(|(begun, ended)| ended.all.since(begun.all));
        Some(Self { scope, begun, ended, seconds: length.as_secs_f64(), ticks })
    }

    /// How many CPUs are online.
    pub(super) fn cpus(&self) -> Option<f64> {
        self.ended.host.stat.as_ref().map(|stat| stat.cpus.len() as f64).filter(|cpus| *cpus > 0.0)
    }

    /// The difference of a counter; none when it stepped back, for then it is another one.
    pub(super) fn grown(&self, counter: impl Fn(&Moment) -> Option<u64>) -> Option<u64> {
        counter(self.ended)?.checked_sub(counter(self.begun)?)
    }

    pub(super) fn units(&self) -> impl Iterator<Item = UnitSpan<'m>> {
        let both = self.begun.units.iter().zip(&self.ended.units);
        self.scope.units.iter().zip(both).map(|(scope, (begun, ended))| UnitSpan { scope, begun, ended })
    }

    /// CPU seconds of all units together.
    pub(super) fn by_units(&self) -> Option<f64> {
        self.units().map(|unit| unit.cpu_seconds()).sum()
    }

    /// CPU seconds of all docker-proxies together; 0 without any.
    pub(super) fn by_proxies(&self) -> Option<f64> {
        if self.scope.proxies.is_empty() { Some(0.0) } else { spent(&self.begun.proxies, &self.ended.proxies) }
    }

    /// CPU seconds of the engine's own processes, docker-proxy apart; none when they are not visible.
    pub(super) fn by_engine(&self) -> Option<f64> {
        let all = self.around_engine()?;
        // Clocks of a group and of processes differ by a tick: a little less than nothing is nothing.
        if matches!(self.ended.engine, Some(Engine::Group(_))) { Some((all - self.by_proxies()?).max(0.0)) } else { Some(all) }
    }

    /// CPU seconds of its group, in which the proxies are, or of its processes, in which they are not.
    fn around_engine(&self) -> Option<f64> {
        match (self.begun.engine.as_ref()?, self.ended.engine.as_ref()?) {
            (Engine::Group(begun), Engine::Group(ended)) => Some((*ended)?.checked_sub((*begun)?)? as f64 / 1e9),
            (Engine::Processes(begun), Engine::Processes(ended)) => spent(begun, ended),
            _ => None,
        }
    }

    /// CPU seconds of shakedown itself.
    pub(super) fn by_us(&self) -> Option<f64> {
        self.ended.host.own.checked_sub(self.begun.host.own).map(|own| own.as_secs_f64())
    }

    /// CPU seconds of the processes that the experiment names. What one took that ended meanwhile is not known.
    pub(super) fn by_named(&self) -> f64 {
        let seconds = |(begun, ended): (&Option<CpuTime>, &Option<CpuTime>)| (*ended)?.seconds_since((*begun)?);
        self.begun.processes.iter().zip(&self.ended.processes).filter_map(seconds).sum()
    }

    /// CPU seconds of all tasks of the host, by the clock that groups are charged by where the kernel has one for all.
    pub(super) fn by_tasks(&self) -> Option<f64> {
        match (self.begun.host.tasks_ns, self.ended.host.tasks_ns) {
            (None, None) => Some(self.ticks?.tasks() as f64 * tick_seconds()),
            _ => Some(self.grown(|moment| moment.host.tasks_ns)? as f64 / 1e9),
        }
    }

    /// CPU seconds of tasks that are neither of the trial, nor of its engine, nor ours.
    pub(super) fn by_others(&self) -> Option<f64> {
        let helpers = match &self.ended.engine {
            None => self.by_proxies()?,
            Some(Engine::Group(_)) => self.around_engine()?,
            Some(Engine::Processes(_)) => self.around_engine()? + self.by_proxies()?,
        };
        let known = self.by_units()? + helpers + self.by_named() + self.by_us()?;
        // Groups and processes are read a moment apart: a little less than nothing is nothing.
        Some((self.by_tasks()? - known).max(0.0))
    }
}

impl UnitSpan<'_> {
    /// CPU seconds of its group. A group that never counted anything is not the unit's, as that of a daemon whose socket only
    /// forwards to another machine.
    pub(super) fn cpu_seconds(&self) -> Option<f64> {
        let ended = self.ended.cpu_ns.filter(|ns| *ns > 0)?;
        Some(ended.checked_sub(self.begun.cpu_ns?)? as f64 / 1e9)
    }

    /// Periods of its quota in the window, and in how many of them it was throttled; none when nobody saw.
    pub(super) fn periods(&self) -> Option<(u64, u64)> {
        self.ended.seen_quota.or_else(|| {
            let passed = self.ended.quota?.since(self.begun.quota?)?;
            Some((passed.periods, passed.throttled))
        })
    }
}
