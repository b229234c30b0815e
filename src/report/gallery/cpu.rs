//! Where the CPU time went, and the colours of those who used it.

use super::Material;
use super::strips::ROWS_PER_PAGE;
use crate::analyse::cpu_parts;
use crate::model::chart::ChartDecl;
use crate::model::cpu::{CpuPart, CpuSplit, Work};
use crate::model::metric::Unit;
use crate::model::results::Results;
use crate::report::charts::{Bar, Layer, Measure, Paint, Stack};
use crate::report::parts::parts;

/// All that can use CPU time in an experiment: each has one colour in all charts.
pub(super) struct Cast {
    units: Vec<(String, CpuPart)>,
}

impl Cast {
    pub(super) fn of(results: &Results) -> Self {
        Self { units: cpu_parts(results) }
    }

    /// A cast of these units.
    #[cfg(test)]
    pub(super) fn of_units(units: &[(&str, CpuPart)]) -> Self {
        Self { units: units.iter().map(|(name, part)| ((*name).to_owned(), part.clone())).collect() }
    }

    /// The part that a unit's CPU time is.
    pub(super) fn unit(&self, name: &str) -> Option<&CpuPart> {
        self.units.iter().find(|(unit, _)| unit == name).map(|(_, part)| part)
    }

    /// A part with its name and colour.
    pub(super) fn layer(&self, part: &CpuPart) -> Layer {
        let paint = match part {
            CpuPart::Workload(_) => Paint::Workload(self.place(part)),
            CpuPart::Service(_) => Paint::Service(self.place(part)),
            CpuPart::Proxy => Paint::Proxy,
            CpuPart::Engine => Paint::Engine,
            CpuPart::Named => Paint::Named,
            CpuPart::Softirq => Paint::Softirq,
            CpuPart::Foreign => Paint::Foreign,
            CpuPart::Observer => Paint::Observer,
        };
        Layer { label: part.words().to_owned(), paint }
    }

    /// How many parts there are that are painted like services.
    pub(super) fn services(&self) -> usize {
        self.alike(&CpuPart::Service(String::new())).len()
    }

    fn place(&self, part: &CpuPart) -> usize {
        self.alike(part).iter().position(|other| *other == part).unwrap_or(0)
    }

    /// The parts of the same kind, each once.
    fn alike(&self, part: &CpuPart) -> Vec<&CpuPart> {
        let mut found: Vec<&CpuPart> = Vec::new();
        for (_, other) in &self.units {
            if std::mem::discriminant(other) == std::mem::discriminant(part) && !found.contains(&other) {
                found.push(other);
            }
        }
        found
    }
}

impl Material<'_> {
    /// One bar per variant, one segment per part.
    pub(super) fn cpu(&self, chart: &ChartDecl, splits: &[CpuSplit], work: Work) -> Vec<Stack> {
        let cast = Cast::of(self.results);
        let parts = parts(self.results, splits);
        let bar = |variant: usize| {
            let split = splits.iter().find(|split| split.variant == variant)?;
            let amount = |part: &CpuPart| split.shares.iter().find(|share| share.part == *part).map(|share| share.seconds);
            Some(Bar {
                label: self.name(variant),
                role: self.role(variant),
                trials: split.shares.iter().map(|share| share.n).max().unwrap_or(0),
                amounts: parts.iter().map(amount).collect(),
            })
        };
        let bars: Vec<Bar> = self.order().into_iter().filter_map(bar).collect();
        let page = |bars: &[Bar]| Stack {
            heading: self.heading(chart),
            measure: Measure { name: format!("CPU time per {}", work.word()), unit: Unit::SECOND, better: None },
            parts: parts.iter().map(|part| cast.layer(part)).collect(),
            bars: bars.to_vec(),
        };
        bars.chunks(ROWS_PER_PAGE).map(page).collect()
    }
}
