//! The samples so far. Pure.

use crate::model::observe::{Sample, Series, SeriesColumn};
use std::time::Duration;

/// So many samples are kept: enough for any chart.
const MOST: usize = 4096;

/// Steps of a second that are kept of times: a thread is not woken more exactly.
const TIMES: f64 = 1e3;
/// Steps of a second that are kept of counters: the digits behind them are their age, and would double the file.
const SECONDS: f64 = 1e4;

/// The samples of one sampler; a row that was taken before a column was known is shorter.
#[derive(Debug)]
pub(super) struct Rows {
    columns: Vec<SeriesColumn>,
    phases: Vec<String>,
    rows: Vec<Row>,
}

#[derive(Debug)]
struct Row {
    time: Duration,
    phase: usize,
    values: Vec<Option<f64>>,
}

impl Rows {
    pub(super) fn new(phase: &str) -> Self {
        Self { columns: Vec::new(), phases: vec![phase.to_owned()], rows: Vec::new() }
    }

    pub(super) fn add(&mut self, columns: impl Iterator<Item = SeriesColumn>) {
        self.columns.extend(columns);
    }

    /// The phase of the rows to come.
    pub(super) fn phase(&mut self, name: String) {
        self.phases.push(name);
    }

    /// How many values a row has now.
    pub(super) fn width(&self) -> usize {
        self.columns.len()
    }

    pub(super) fn push(&mut self, time: Duration, values: Vec<Option<f64>>) {
        self.rows.push(Row { time, phase: self.phases.len() - 1, values });
    }

    /// Drops every other row when there are too many; whether it did.
    pub(super) fn thin(&mut self) -> bool {
        if self.rows.len() < MOST {
            return false;
        }
        let mut keep = false;
        self.rows.retain(|_| {
            keep = !keep;
            keep
        });
        true
    }

    pub(super) fn into_series(self) -> Series {
        let Self { columns, phases, rows } = self;
        let width = columns.len();
        let sample = |Row { time, phase, mut values }: Row| {
            for (column, value) in columns.iter().zip(&mut values) {
                *value = value.map(|value| if column.unit == "s" { rounded(value, SECONDS) } else { value });
            }
            values.resize(width, None);
            Sample { time: rounded(time.as_secs_f64(), TIMES), phase: phases[phase].clone(), values }
        };
        let samples = rows.into_iter().map(sample).collect();
        Series { columns, samples }
    }
}

fn rounded(value: f64, steps: f64) -> f64 {
    (value * steps).round() / steps
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(subject: &str) -> SeriesColumn {
        SeriesColumn { subject: subject.to_owned(), quantity: "cpu".to_owned(), unit: "s".to_owned() }
    }

    #[test]
    fn what_was_added_later_is_absent_before() {
        let mut rows = Rows::new("start");
        rows.add([column("a")].into_iter());
        rows.push(Duration::ZERO, vec![Some(1.0)]);
        rows.add([column("b")].into_iter());
        rows.phase("window".to_owned());
        rows.push(Duration::from_micros(1_500_400), vec![None, Some(2.000_01)]);
        let series = rows.into_series();
        let told: Vec<_> = series.samples.iter().map(|sample| (sample.time, sample.phase.as_str(), sample.values.clone())).collect();
        assert_eq!(told, [(0.0, "start", vec![Some(1.0), None]), (1.5, "window", vec![None, Some(2.0)])]);
        assert_eq!(series.columns, [column("a"), column("b")]);
    }

    #[test]
    fn too_many_rows_are_thinned_and_the_first_stays() {
        let mut rows = Rows::new("start");
        for second in 0..MOST as u64 {
            assert!(!rows.thin());
            rows.push(Duration::from_secs(second), Vec::new());
        }
        assert!(rows.thin());
        let times: Vec<f64> = rows.into_series().samples.iter().map(|sample| sample.time).collect();
        assert_eq!((times.len(), &times[..3]), (MOST / 2, &[0.0, 2.0, 4.0][..]));
    }
}
