//! Mean and variance.

/// Mean and variance (n - 1; 0 of one value); none without values.
pub(super) fn moments(values: &[f64]) -> Option<(f64, f64)> {
    let n = values.len();
    let mean = values.iter().sum::<f64>() / n as f64;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (n > 0).then_some((mean, if n < 2 { 0.0 } else { squares / (n - 1) as f64 }))
}
