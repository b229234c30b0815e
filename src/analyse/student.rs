//! Student's t distribution, the only outside mathematics of this room.

use statrs::distribution::{ContinuousCDF, StudentsT};

/// The quantile of `p` (between 0 and 1) at `freedom` degrees; none below one degree.
pub(super) fn quantile(p: f64, freedom: usize) -> Option<f64> {
    quantile_at(p, freedom as f64)
}

/// The same at degrees of freedom that need not be whole, as Welch's test has them.
pub(super) fn quantile_at(p: f64, freedom: f64) -> Option<f64> {
    distribution(freedom).map(|t| t.inverse_cdf(p)).filter(|t| t.is_finite())
}

/// The probability of a value at least as far from 0 as `t`, on either side; none below one degree of freedom.
pub(super) fn two_sided(t: f64, freedom: usize) -> Option<f64> {
    two_sided_at(t, freedom as f64)
}

/// The same at degrees of freedom that need not be whole.
pub(super) fn two_sided_at(t: f64, freedom: f64) -> Option<f64> {
    distribution(freedom).map(|d| (2.0 * d.sf(t.abs())).min(1.0)).filter(|p| p.is_finite())
}

fn distribution(freedom: f64) -> Option<StudentsT> {
    StudentsT::new(0.0, 1.0, freedom).ok()
}
