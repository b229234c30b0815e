//! One trial of each variant over time: what its samples say of CPUs, throttling and disks.

use super::Gallery;
use super::cpu::Cast;
use crate::model::cpu::CpuPart;
use crate::model::observe::{PHASES, Series};
use crate::report::charts::{Heading, Layer, Line, Paint, PhaseSpan, Scene, Step, Timeline};

/// Variants of one chart; beyond it nobody compares.
const MOST_SCENES: usize = 6;
/// Lines that can be told apart.
const MOST_LINES: usize = 12;
/// The panels, from top to bottom.
const PANELS: [&str; 3] = ["CPUs used", "throttled by a CPU quota, seconds per second", "all tasks waited for a disk, share of the time"];
/// The subject of what is the host's as a whole.
const HOST: &str = "host";
/// The subject of the processes of published ports, and that of the engine.
const PROXY: &str = "docker-proxy";
const ENGINE: &str = "engine";

/// A line under construction: whose, and its steps.
type Drawn = (Layer, Vec<Step>);

impl Gallery<'_> {
    /// The baseline first, then the others in their order; none when nothing was sampled.
    pub(super) fn timeline(&self) -> Option<Timeline> {
        let mut chosen: Vec<(usize, &Series)> = Vec::new();
        for (row, series) in &self.results.series {
            let variant = self.results.rows.get(*row).and_then(|row| row.variant).filter(|variant| !self.is_copy(*variant));
            if let Some(variant) = variant.filter(|variant| chosen.iter().all(|(other, _)| other != variant)) {
                chosen.push((variant, series));
            }
        }
        chosen.sort_by_key(|(variant, _)| (*variant != self.results.baseline, *variant));
        let all = chosen.len();
        chosen.truncate(MOST_SCENES);
        let cast = Cast::of(self.results);
        let drawn: Vec<[Vec<Drawn>; 3]> = chosen
            .iter()
            .map(|(variant, series)| {
                let sampled = Sampled { series, cast: &cast, nested: self.results.variants[*variant].spec.engine.private.is_some() };
                [sampled.cpus(), sampled.of("throttled"), sampled.waiting()]
            })
            .collect();
        let shown: Vec<usize> = (0..PANELS.len()).filter(|panel| drawn.iter().any(|scene| !scene[*panel].is_empty())).collect();
        if shown.is_empty() {
            return None;
        }
        let layers = layers(&drawn);
        let scene = |((variant, series), panels): (&(usize, &Series), &[Vec<Drawn>; 3])| Scene {
            label: self.name(*variant),
            role: self.role(*variant),
            phases: phases(series),
            panels: shown.iter().map(|panel| lines(&panels[*panel], &layers)).collect(),
        };
        Some(Timeline {
            heading: Heading { title: self.results.presentation.title.clone(), subtitle: self.observed.source.clone() },
            panels: shown.iter().map(|panel| PANELS[*panel].to_owned()).collect(),
            scenes: chosen.iter().zip(&drawn).map(scene).collect(),
            layers,
            remark: remark(chosen.len(), all),
        })
    }
}

fn remark(shown: usize, all: usize) -> String {
    let of = if shown < all { format!("; the first {shown} of {all} variants") } else { String::new() };
    format!("one trial of each variant{of}; each step is the mean between two samples")
}

/// The layers of all lines in the order of the cast; of too many those that reach highest stay.
fn layers(drawn: &[[Vec<Drawn>; 3]]) -> Vec<Layer> {
    let mut found: Vec<(Layer, f64)> = Vec::new();
    for (layer, steps) in drawn.iter().flatten().flatten() {
        let peak = steps.iter().map(|step| step.value).fold(0.0, f64::max);
        match found.iter_mut().find(|(known, _)| known == layer) {
            Some((_, highest)) => *highest = highest.max(peak),
            None => found.push((layer.clone(), peak)),
        }
    }
    while found.len() > MOST_LINES {
        let lowest = found.iter().enumerate().min_by(|(_, (_, a)), (_, (_, b))| a.total_cmp(b)).map_or(0, |(at, _)| at);
        found.remove(lowest);
    }
    found.into_iter().map(|(layer, _)| layer).collect()
}

fn lines(drawn: &[Drawn], layers: &[Layer]) -> Vec<Line> {
    let line = |(layer, steps): &Drawn| Some(Line { layer: layers.iter().position(|known| known == layer)?, steps: steps.clone() });
    drawn.iter().filter_map(line).collect()
}

/// The phases, each from its first sample to that of the next.
fn phases(series: &Series) -> Vec<PhaseSpan> {
    let mut found: Vec<PhaseSpan> = Vec::new();
    for sample in &series.samples {
        if let Some(last) = found.last_mut() {
            last.to = sample.time;
        }
        if found.last().is_none_or(|last| last.name != sample.phase) {
            let measured = sample.phase == PHASES[2];
            found.push(PhaseSpan { name: sample.phase.clone(), measured, from: sample.time, to: sample.time });
        }
    }
    found
}

/// The samples of one trial.
struct Sampled<'s> {
    series: &'s Series,
    cast: &'s Cast,
    /// Whether the engine's time holds that of docker-proxy.
    nested: bool,
}

impl Sampled<'_> {
    fn column(&self, subject: &str, quantity: &str) -> Option<usize> {
        self.series.columns.iter().position(|column| column.subject == subject && column.quantity == quantity)
    }

    /// How much a column grew from one sample to the next; none where either is absent, or where it fell.
    fn grown(&self, column: usize, at: usize) -> Option<f64> {
        let value = |at: usize| *self.series.samples.get(at)?.values.get(column)?;
        Some(value(at + 1)? - value(at)?).filter(|grown| *grown >= 0.0)
    }

    /// Who belongs to a subject: its name and colour. What is neither a unit nor known is a process that the manifest names.
    fn layer(&self, subject: &str) -> Layer {
        let part = match subject {
            PROXY => Some(CpuPart::Proxy),
            ENGINE => Some(CpuPart::Engine),
            "observer" => Some(CpuPart::Observer),
            _ => self.cast.unit(subject).cloned(),
        };
        part.map_or_else(|| self.process(subject), |part| self.cast.layer(&part))
    }

    fn process(&self, name: &str) -> Layer {
        let is_one = |subject: &str| ![PROXY, ENGINE, HOST, "observer"].contains(&subject) && self.cast.unit(subject).is_none();
        let mut names: Vec<&str> = self.series.columns.iter().map(|column| column.subject.as_str()).filter(|name| is_one(name)).collect();
        names.dedup();
        let place = self.cast.services() + names.iter().position(|other| *other == name).unwrap_or(0);
        Layer { label: name.to_owned(), paint: Paint::Service(place) }
    }

    /// A line of what grew per second.
    fn steps(&self, grown: impl Fn(usize) -> Option<f64>) -> Vec<Step> {
        let step = |(at, pair): (usize, &[crate::model::observe::Sample])| {
            let (from, to) = (pair[0].time, pair[1].time);
            Some(Step { from, to, value: grown(at)? / (to - from) }).filter(|step| step.value.is_finite())
        };
        self.series.samples.windows(2).enumerate().filter_map(step).collect()
    }

    /// A line per unit and other subject but the host, of one quantity.
    fn of(&self, quantity: &str) -> Vec<Drawn> {
        let columns = self.series.columns.iter().enumerate();
        let own = columns.filter(|(_, column)| column.quantity == quantity && column.subject != HOST);
        let line = |(at, column): (usize, &crate::model::observe::SeriesColumn)| {
            let held = self.column(PROXY, quantity).filter(|_| self.nested && column.subject == ENGINE);
            let less = |sample: usize| held.map_or(Some(0.0), |held| self.grown_until(held, sample));
            (self.layer(&column.subject), self.steps(|sample| Some((self.grown(at, sample)? - less(sample)?).max(0.0))))
        };
        own.map(line).filter(|(_, steps)| !steps.is_empty()).collect()
    }

    /// The CPUs that everyone used, and those that tasks of others did.
    fn cpus(&self) -> Vec<Drawn> {
        let mut drawn = self.of("cpu");
        let foreign = self.column(HOST, "tasks-cpu").map(|tasks| self.steps(|at| self.foreign(tasks, at))).unwrap_or_default();
        if !foreign.is_empty() {
            drawn.push((self.cast.layer(&CpuPart::Foreign), foreign));
        }
        drawn
    }

    /// What all tasks used and nobody known did. Only where everyone known could be read.
    fn foreign(&self, tasks: usize, at: usize) -> Option<f64> {
        let columns = self.series.columns.iter().enumerate();
        let known =
            columns.filter(|(_, column)| column.quantity == "cpu" && column.subject != HOST && !(self.nested && column.subject == PROXY));
        let ours: f64 = known.map(|(column, _)| self.grown_until(column, at)).sum::<Option<f64>>()?;
        Some((self.grown(tasks, at)? - ours).max(0.0))
    }

    /// As [`Self::grown`], but a counter that was not there yet has counted nothing: those of units begin with the trial.
    fn grown_until(&self, column: usize, at: usize) -> Option<f64> {
        let value = |at: usize| self.series.samples.get(at).and_then(|sample| sample.values.get(column).copied().flatten());
        let earlier = (0..=at).any(|before| value(before).is_some());
        let later = (at + 1..self.series.samples.len()).any(|after| value(after).is_some());
        match value(at + 1) {
            Some(now) if !earlier => Some(now),
            None if !earlier && later => Some(0.0),
            _ => self.grown(column, at),
        }
    }

    /// The share of the time in which all tasks waited for a disk.
    fn waiting(&self) -> Vec<Drawn> {
        let steps = self.column(HOST, "pressure-io").map(|column| self.steps(|at| self.grown(column, at))).unwrap_or_default();
        if steps.is_empty() { Vec::new() } else { vec![(Layer { label: HOST.to_owned(), paint: Paint::Host }, steps)] }
    }
}
