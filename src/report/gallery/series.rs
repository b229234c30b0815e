//! One trial of each variant over time: what its samples say of CPUs, throttling and disks.

use super::Material;
use super::cpu::Cast;
use crate::model::chart::ChartDecl;
use crate::model::cpu::CpuPart;
use crate::model::observe::{PHASES, Sample, Series, SeriesColumn};
use crate::report::charts::{Layer, Line, Paint, PhaseSpan, Scene, Step, Timeline};

/// Variants of one chart; beyond it nobody compares.
const MOST_SCENES: usize = 6;
/// Lines that can be told apart.
const MOST_LINES: usize = 12;
/// So many seconds before a window are shown, or as many as the longest window has: a trial may have waited long for a quiet host.
const LEAD: f64 = 10.0;
/// The panels, from top to bottom.
const PANELS: [&str; 3] = ["CPUs used", "throttled by a CPU quota, seconds per second", "all tasks waited for a disk, share of the time"];
/// The subject of what is the host's as a whole.
const HOST: &str = "host";
/// The subject of the processes of published ports, and that of the engine.
const PROXY: &str = "docker-proxy";
const ENGINE: &str = "engine";
/// The subject of shakedown itself.
const OBSERVER: &str = "observer";

/// A line under construction: whose, and its steps.
type Drawn = (Layer, Vec<Step>);

impl Material<'_> {
    /// The baseline first, then the others in their order; none when nothing was sampled.
    pub(super) fn timeline(&self, chart: &ChartDecl) -> Option<Timeline> {
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
        let lead = chosen.iter().map(|(_, series)| window(series)).map(|(from, to)| to - from).fold(LEAD, f64::max);
        let is_cut = chosen.iter().any(|(_, series)| window(series).0 > lead);
        let cut: Vec<(usize, Series)> = chosen.into_iter().map(|(variant, series)| (variant, near(series, lead))).collect();
        let chosen: Vec<(usize, &Series)> = cut.iter().map(|(variant, series)| (*variant, series)).collect();
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
        let (layers, left_out) = layers(&drawn);
        let scene = |((variant, series), panels): (&(usize, &Series), &[Vec<Drawn>; 3])| Scene {
            label: self.name(*variant),
            role: self.role(*variant),
            phases: phases(series),
            panels: shown.iter().map(|panel| lines(&panels[*panel], &layers)).collect(),
        };
        Some(Timeline {
            heading: self.heading(chart),
            panels: shown.iter().map(|panel| PANELS[*panel].to_owned()).collect(),
            axis: if is_cut {
                format!("seconds, from {lead:.0} s before the window on")
            } else {
                "seconds since the trial began".to_owned()
            },
            scenes: chosen.iter().zip(&drawn).map(scene).collect(),
            layers,
            remark: remark(chosen.len(), all, left_out),
        })
    }
}

fn remark(shown: usize, all: usize, left_out: usize) -> String {
    let of = if shown < all { format!("; the first {shown} of {all} variants") } else { String::new() };
    let without = if left_out > 0 { format!("; without the {left_out} lines that stay lowest") } else { String::new() };
    format!("one trial of each variant{of}; each step is the mean between two samples{without}")
}

/// The layers of all lines in their order, of too many those that reach highest; and how many are left out.
fn layers(drawn: &[[Vec<Drawn>; 3]]) -> (Vec<Layer>, usize) {
    let mut found: Vec<(Layer, f64)> = Vec::new();
    for (layer, steps) in drawn.iter().flatten().flatten() {
        let peak = steps.iter().map(|step| step.value).fold(0.0, f64::max);
        match found.iter_mut().find(|(known, _)| known == layer) {
            Some((_, highest)) => *highest = highest.max(peak),
            None => found.push((layer.clone(), peak)),
        }
    }
    let left_out = found.len().saturating_sub(MOST_LINES);
    for _ in 0..left_out {
        let lowest = found.iter().enumerate().min_by(|(_, (_, a)), (_, (_, b))| a.total_cmp(b)).map_or(0, |(at, _)| at);
        found.remove(lowest);
    }
    (found.into_iter().map(|(layer, _)| layer).collect(), left_out)
}

fn lines(drawn: &[Drawn], layers: &[Layer]) -> Vec<Line> {
    let line = |(layer, steps): &Drawn| Some(Line { layer: layers.iter().position(|known| known == layer)?, steps: steps.clone() });
    drawn.iter().filter_map(line).collect()
}

/// When the window opened and closed; all of the time where there is none.
fn window(series: &Series) -> (f64, f64) {
    let of_window = || series.samples.iter().filter(|sample| sample.phase == PHASES[2]);
    let all = || (series.samples.first().map_or(0.0, |sample| sample.time), series.samples.last().map_or(0.0, |sample| sample.time));
    of_window().next().zip(of_window().next_back()).map_or_else(all, |(first, last)| (first.time, last.time))
}

/// The samples from so many seconds before the window on, counted from there; of a shorter start all of them.
fn near(series: &Series, lead: f64) -> Series {
    let begin = (window(series).0 - lead).max(0.0);
    // The last sample before it stays: what grew since then belongs to the time after it.
    let first = series.samples.iter().rposition(|sample| sample.time <= begin).unwrap_or(0);
    let moved = |sample: &Sample| Sample { time: (sample.time - begin).max(0.0), ..sample.clone() };
    Series { columns: series.columns.clone(), samples: series.samples[first..].iter().map(moved).collect() }
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
            OBSERVER => Some(CpuPart::Observer),
            _ => self.cast.unit(subject).cloned(),
        };
        part.map_or_else(|| self.process(subject), |part| self.cast.layer(&part))
    }

    fn process(&self, name: &str) -> Layer {
        let is_one = |subject: &str| ![PROXY, ENGINE, HOST, OBSERVER].contains(&subject) && self.cast.unit(subject).is_none();
        let mut names: Vec<&str> = self.series.columns.iter().map(|column| column.subject.as_str()).filter(|name| is_one(name)).collect();
        names.dedup();
        let place = self.cast.services() + names.iter().position(|other| *other == name).unwrap_or(0);
        Layer { label: name.to_owned(), paint: Paint::Service(place) }
    }

    /// A line of what grew per second.
    fn steps(&self, grown: impl Fn(usize) -> Option<f64>) -> Vec<Step> {
        let step = |(at, pair): (usize, &[Sample])| {
            let (from, to) = (pair[0].time, pair[1].time);
            Some(Step { from, to, value: grown(at)? / (to - from) }).filter(|step| step.value.is_finite())
        };
        self.series.samples.windows(2).enumerate().filter_map(step).collect()
    }

    /// A line per unit and other subject but the host, of one quantity.
    fn of(&self, quantity: &str) -> Vec<Drawn> {
        let columns = self.series.columns.iter().enumerate();
        let own = columns.filter(|(_, column)| column.quantity == quantity && column.subject != HOST);
        let line = |(at, column): (usize, &SeriesColumn)| {
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The cumulative seconds of each subject, a sample every two seconds.
    fn series(columns: &[(&str, &str, &[Option<f64>])]) -> Series {
        let column = |(subject, quantity, _): &(&str, &str, &[Option<f64>])| SeriesColumn {
            subject: (*subject).to_owned(),
            quantity: (*quantity).to_owned(),
            unit: "s".to_owned(),
        };
        let phase = |at: usize| PHASES[at.div_ceil(2)].to_owned();
        let values = |at: usize| columns.iter().map(|(.., values)| values[at]).collect();
        let sample = |at: usize| Sample { time: 2.0 * at as f64, phase: phase(at), values: values(at) };
        Series { columns: columns.iter().map(column).collect(), samples: (0..columns[0].2.len()).map(sample).collect() }
    }

    fn sampled<'s>(series: &'s Series, cast: &'s Cast, nested: bool) -> Sampled<'s> {
        Sampled { series, cast, nested }
    }

    /// When each step begins, and its value.
    fn told(drawn: &[Drawn], label: &str) -> Vec<(f64, f64)> {
        let steps = drawn.iter().find(|(layer, _)| layer.label == label).map(|(_, steps)| steps.as_slice()).unwrap_or_default();
        steps.iter().map(|step| (step.from, (step.value * 1e9).round() / 1e9)).collect()
    }

    #[test]
    fn rates_are_what_grew_over_the_time_and_absent_where_it_is_unknown() {
        let cast = Cast::of_units(&[("web", CpuPart::Service("web".to_owned()))]);
        let series = series(&[
            ("web", "cpu", &[Some(0.0), Some(3.0), None, Some(5.0), Some(4.0), Some(6.0)]),
            ("host", "pressure-io", &[Some(7.0), Some(7.5), Some(7.5), None, None, None]),
        ]);
        let sampled = sampled(&series, &cast, false);
        assert_eq!(told(&sampled.cpus(), "web"), [(0.0, 1.5), (8.0, 1.0)], "no step over a gap, nor where a counter fell");
        assert_eq!(told(&sampled.waiting(), "host"), [(0.0, 0.25), (2.0, 0.0)]);
        assert!(sampled.of("throttled").is_empty());
        assert!(told(&sampled.cpus(), "foreign").is_empty(), "nobody told what all tasks used");
    }

    #[test]
    fn foreign_is_what_is_left_of_all_tasks() {
        let cast = Cast::of_units(&[("wrk", CpuPart::Workload("generator".to_owned()))]);
        let columns: [(&str, &str, &[Option<f64>]); 6] = [
            ("wrk", "cpu", &[None, None, Some(1.0), Some(2.0), None]),
            ("engine", "cpu", &[Some(9.0), Some(10.0), Some(11.0), Some(12.0), Some(13.0)]),
            ("docker-proxy", "cpu", &[None, None, Some(0.5), Some(1.0), Some(1.5)]),
            ("chronyd", "cpu", &[Some(3.0), Some(3.0), Some(3.0), Some(3.5), Some(3.5)]),
            ("observer", "cpu", &[Some(0.0), Some(0.0), Some(0.0), Some(0.0), Some(0.0)]),
            ("host", "tasks-cpu", &[Some(50.0), Some(51.5), Some(54.0), Some(56.0), Some(60.0)]),
        ];
        let series = series(&columns);
        let private = sampled(&series, &cast, true).cpus();
        assert_eq!(told(&private, "engine"), [(0.0, 0.5), (2.0, 0.25), (4.0, 0.25), (6.0, 0.25)], "without docker-proxy");
        assert_eq!(told(&private, "docker-proxy"), [(4.0, 0.25), (6.0, 0.25)]);
        // 1.5 - 1; 2.5 - 1 of the new group - 1; 2 - 1 - 1 - 0.5, which is less than nothing; the last one lacks the generator.
        assert_eq!(told(&private, "foreign"), [(0.0, 0.25), (2.0, 0.25), (4.0, 0.0)]);
        let running = sampled(&series, &cast, false).cpus();
        assert_eq!(told(&running, "engine"), [(0.0, 0.5), (2.0, 0.5), (4.0, 0.5), (6.0, 0.5)]);
        assert_eq!(told(&running, "foreign"), [(0.0, 0.25), (2.0, 0.0), (4.0, 0.0)]);
        let own = private.iter().find(|(layer, _)| layer.label == "chronyd").map(|(layer, _)| layer.paint);
        assert_eq!(own, Some(Paint::Service(0)), "a program of the manifest has a colour that no service has");
    }

    /// Samples at 0, 2, ... 10 s, of which the window has those from 6 to 8 s.
    #[test]
    fn what_came_long_before_the_window_is_left_out() {
        let series = series(&[("web", "cpu", &[Some(0.0); 6])]);
        assert_eq!(window(&series), (6.0, 8.0));
        assert_eq!(near(&series, 10.0), series);
        let times = |lead: f64| near(&series, lead).samples.iter().map(|sample| sample.time).collect::<Vec<f64>>();
        assert_eq!(times(2.0), [0.0, 2.0, 4.0, 6.0]);
        assert_eq!(times(3.0), [0.0, 1.0, 3.0, 5.0, 7.0], "the sample before the cut stands at its place");
        assert_eq!(near(&Series::default(), 1.0), Series::default());
    }

    #[test]
    fn phases_follow_each_other_without_a_gap() {
        let series = series(&[("web", "cpu", &[Some(0.0); 6])]);
        let spans: Vec<(String, f64, f64, bool)> = phases(&series).into_iter().map(|p| (p.name, p.from, p.to, p.measured)).collect();
        let span = |name: &str, from, to| (name.to_owned(), from, to, name == "window");
        assert_eq!(spans, [span("start", 0.0, 2.0), span("warm-up", 2.0, 6.0), span("window", 6.0, 10.0), span("drain", 10.0, 10.0)]);
        assert!(phases(&Series::default()).is_empty());
    }

    #[test]
    fn of_too_many_lines_the_highest_stay() {
        let layer = |at: usize| Layer { label: at.to_string(), paint: Paint::Service(at) };
        let drawn = |at: usize| (layer(at), vec![Step { from: 0.0, to: 1.0, value: if at == 3 { 0.1 } else { 1.0 + at as f64 } }]);
        let (kept, left_out) = layers(&[[(0..13).map(drawn).collect(), vec![], vec![]]]);
        assert_eq!((kept.len(), left_out), (12, 1));
        assert!(!kept.contains(&layer(3)));
        assert_eq!(lines(&[drawn(3), drawn(4)], &kept).len(), 1);
        assert!(
            remark(6, 40, 1).contains("the first 6 of 40 variants") && remark(1, 1, 2).ends_with("without the 2 lines that stay lowest")
        );
    }
}
