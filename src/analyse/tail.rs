//! The tails of Student's t and of the normal distribution: the only outside mathematics of this room.

use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

/// The quantile of `p` (between 0 and 1) at `freedom` degrees, which need not be whole; none at 0 degrees.
pub(super) fn quantile(p: f64, freedom: f64) -> Option<f64> {
    distribution(freedom).map(|t| t.inverse_cdf(p)).filter(|t| t.is_finite())
}

/// The probability of a value at least as far from 0 as `t`, on either side; none at 0 degrees of freedom.
pub(super) fn two_sided(t: f64, freedom: f64) -> Option<f64> {
    distribution(freedom).map(|d| (2.0 * d.sf(t.abs())).min(1.0)).filter(|p| p.is_finite())
}

/// The probability of a standard normal value at least as far from 0 as `z`, on either side.
pub(super) fn normal_two_sided(z: f64) -> f64 {
    (2.0 * Normal::standard().sf(z.abs())).min(1.0)
}

fn distribution(freedom: f64) -> Option<StudentsT> {
    StudentsT::new(0.0, 1.0, freedom).ok()
}
