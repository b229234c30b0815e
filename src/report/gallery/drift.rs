//! The trials in the order in which they ran, by what is left of each when its variant's level is taken away.

use super::Material;
use super::kinds::Absent;
use crate::model::chart::ChartDecl;
use crate::model::sequence::{Drift, Residual};
use crate::report::charts::{DriftRun, DriftTrial, DriftVariant, Drifting, Heading};
use crate::report::templates::number;

impl Material<'_> {
    /// The chart, and its text.
    pub(super) fn drifting(&self, chart: &ChartDecl) -> Result<(Drifting, String), Absent> {
        let drift = self.analysis.drift.as_ref().filter(|drift| !drift.residuals.is_empty()).ok_or(Absent::Sequence)?;
        let mut shown: Vec<usize> = drift.residuals.iter().filter_map(|residual| self.results.rows.get(residual.row)?.variant).collect();
        shown.sort_unstable();
        shown.dedup();
        let variants: Vec<usize> = self.order().into_iter().filter(|variant| shown.binary_search(variant).is_ok()).collect();
        let run_of = |residual: &Residual| self.results.rows.get(residual.row).map(|row| row.run);
        let runs = drift.residuals.chunk_by(|one, next| run_of(one) == run_of(next));
        let runs = runs.map(|residuals| self.drift_run(residuals, &variants, drift.is_drifting())).collect();
        let name = &self.metric(self.main).name;
        let told = told(drift);
        let Heading { title, subtitle } = self.heading(chart);
        let drawn = Drifting {
            heading: Heading { title, subtitle: format!("{told} · {subtitle}") },
            measure: format!("{name} of a trial, above or below the level of its variant in the run (%)"),
            variants: variants.iter().map(|variant| self.drift_variant(*variant)).collect(),
            runs,
        };
        Ok((drawn, format!("{name} of {} trials in the order in which they ran: {told}", drift.residuals.len())))
    }

    fn drift_variant(&self, variant: usize) -> DriftVariant {
        DriftVariant { label: self.name(variant), role: self.role(variant), hue: self.hue(variant) }
    }

    fn drift_run(&self, residuals: &[Residual], variants: &[usize], is_drifting: bool) -> DriftRun {
        let rows = &self.results.rows;
        let trial = |residual: &Residual| {
            let row = rows.get(residual.row)?;
            let variant = variants.iter().position(|variant| Some(*variant) == row.variant)?;
            let tainted = !row.row.taints.is_empty();
            Some(DriftTrial { variant, block: row.row.block, percent: percent(residual.log), tainted })
        };
        let run = residuals.first().and_then(|residual| self.results.runs.get(rows.get(residual.row)?.run));
        DriftRun {
            label: run.map(|run| run.run.clone()).unwrap_or_default(),
            trials: residuals.iter().filter_map(trial).collect(),
            line: is_drifting.then(|| ends(residuals)).flatten().map(|(from, to)| (percent(from), percent(to))),
        }
    }
}

fn percent(log: f64) -> f64 {
    (log.exp() - 1.0) * 100.0
}

/// The least-squares line through the residuals at the first and the last of them; none through fewer than three.
fn ends(residuals: &[Residual]) -> Option<(f64, f64)> {
    let n = residuals.len() as f64;
    let middle = (n - 1.0) / 2.0;
    let mean = residuals.iter().map(|residual| residual.log).sum::<f64>() / n;
    let along = |at: usize| at as f64 - middle;
    let (over, under) = residuals
        .iter()
        .enumerate()
        .fold((0.0, 0.0), |(over, under), (at, residual)| (over + along(at) * (residual.log - mean), under + along(at).powi(2)));
    (residuals.len() > 2).then(|| (mean - over / under * middle, mean + over / under * middle))
}

fn told(drift: &Drift) -> String {
    let equal = |p: f64| {
        let text = number::probability(p);
        if text.starts_with('<') { text } else { format!("= {text}") }
    };
    let p = match drift.p {
        Some(p) if drift.is_drifting() => format!("drift, Mann-Kendall p {}", equal(p)),
        Some(p) => format!("no drift shown, Mann-Kendall p {}", equal(p)),
        None => "too few trials for a test of drift".to_owned(),
    };
    let slow = if drift.is_slow_noise() { ", slow noise" } else { "" };
    drift.autocorrelation.map_or_else(|| p.clone(), |r| format!("{p}; lag-1 autocorrelation {r:.2}{slow}"))
}
