//! All trials of every variant, and of every workload of it.

use super::scaling::interval;
use super::{Material, metric_measure};
use crate::model::chart::ChartDecl;
use crate::report::charts::{Form, Measure, Role, Row, Strip};

/// Rows of one chart: more of them go on further pages.
pub(super) const ROWS_PER_PAGE: usize = 60;

impl Material<'_> {
    /// One row per variant.
    pub(super) fn strips(&self, chart: &ChartDecl, metric: usize, form: Form) -> Vec<Strip> {
        let row = |variant: usize| self.row(metric, variant, self.name(variant), 0, self.observed.ratio(metric, variant));
        let rows = self.order().into_iter().map(row).collect();
        self.sheets(chart, rows, &metric_measure(self.metric(metric)), form, "ratio")
    }

    /// One row per workload and variant, the workloads of a variant together; and what all of them measure. No direction is shown: what
    /// one workload wins another one loses.
    pub(super) fn workloads(&self, chart: &ChartDecl, metrics: &[usize]) -> (String, Vec<Strip>) {
        let parted: Vec<(&str, &str)> = metrics.iter().filter_map(|metric| self.metric(*metric).name.split_once('.')).collect();
        let what = parted.first().map_or("", |(_, what)| what).to_owned();
        let mut rows = Vec::new();
        for variant in self.order() {
            for (hue, metric) in metrics.iter().enumerate().filter(|(_, metric)| self.observed.level(**metric, variant).is_some()) {
                let workload = parted.get(hue).map_or("", |(workload, _)| workload);
                let label = format!("{} · {workload}", self.name(variant));
                rows.push(self.row(*metric, variant, label, hue, self.observed.ratio_within(*metric, variant)));
            }
        }
        let first = parted.first().map_or("", |(workload, _)| workload);
        let measure = Measure { name: what.clone(), unit: self.metric(metrics[0]).unit.clone(), better: None };
        (what, self.sheets(chart, rows, &measure, Form::Points, &format!("ratio to {first}")))
    }

    fn sheets(&self, chart: &ChartDecl, rows: Vec<Row>, measure: &Measure, form: Form, ratio: &str) -> Vec<Strip> {
        let remark = rows.iter().any(|row| !row.remark.is_empty()).then(|| ratio.to_owned());
        let page = |rows: &[Row]| Strip {
            heading: self.heading(chart),
            measure: measure.clone(),
            rows: rows.to_vec(),
            form,
            remark: remark.clone(),
        };
        rows.chunks(ROWS_PER_PAGE).map(page).collect()
    }

    /// In the order of the product, the A/A copy directly below the baseline.
    pub(super) fn order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.results.variants.len()).collect();
        order.sort_by_key(|variant| if self.is_copy(*variant) { (self.results.baseline, 1) } else { (*variant, 0) });
        order
    }

    pub(super) fn role(&self, variant: usize) -> Role {
        if self.is_copy(variant) {
            Role::Control
        } else if variant == self.results.baseline {
            Role::Baseline
        } else {
            Role::Plain
        }
    }

    pub(super) fn name(&self, variant: usize) -> String {
        match self.role(variant) {
            Role::Control => "A/A: the baseline again".to_owned(),
            Role::Baseline => format!("{} (baseline)", self.label(variant)),
            Role::Plain => self.label(variant),
        }
    }

    fn row(&self, metric: usize, variant: usize, label: String, hue: usize, remark: String) -> Row {
        let estimate = self.observed.level(metric, variant);
        Row {
            label,
            role: self.role(variant),
            hue: Some(hue),
            points: self.observed.points(metric, variant),
            median: estimate.map(|e| e.median),
            interval: interval(estimate),
            remark,
        }
    }
}
