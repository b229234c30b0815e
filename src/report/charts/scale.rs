//! Where a value stands on an axis, and where its ticks are. Degenerate data gets a sensible range: no axis is ever empty.

/// Whether zero belongs on a linear axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Zero {
    /// Always: lengths of bars start there.
    Required,
    /// When the data comes near it, so that halves look like halves.
    Near,
}

/// An axis: its kind and the values at its two ends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Scale {
    pub(super) log: bool,
    low: f64,
    high: f64,
}

/// Beyond this, differences and ratios of values would overflow.
const HUGE: f64 = 1e150;
/// Below this, a magnitude is zero on any axis: its ratios would overflow too.
const TINY: f64 = 1e-150;
/// From this ratio of largest to smallest a linear axis would hide the small ones.
const WIDE: f64 = 100.0;

fn bounds(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    let tame = |value: f64| if value.abs() < TINY { 0.0 } else { value.clamp(-HUGE, HUGE) };
    values.filter(|value| value.is_finite()).map(tame).fold(None, |found, value| match found {
        None => Some((value, value)),
        Some((low, high)) => Some((low.min(value), high.max(value))),
    })
}

impl Scale {
    /// An axis for measured values; logarithmic where they are positive, span much, and zero is not required.
    pub(super) fn of_values(values: impl Iterator<Item = f64>, zero: Zero) -> Self {
        let Some((low, high)) = bounds(values) else { return Self { log: false, low: 0.0, high: 1.0 } };
        if zero == Zero::Near && low > 0.0 && high / low >= WIDE {
            return Self { log: true, low, high }.padded(0.06);
        }
        let anchored = zero == Zero::Required || low.min(0.0) >= 0.0 && low <= high * 0.5;
        if anchored && low >= 0.0 {
            return Self { log: false, low: 0.0, high: if high > 0.0 { high * 1.06 } else { 1.0 } };
        }
        let (low, high) = if anchored { (low, high.max(0.0)) } else { (low, high) };
        Self { log: false, low, high }.padded(0.08)
    }

    /// An axis for the levels of a factor: base-2 logarithmic (equal steps for equal ratios) where all are positive and
    /// the largest is at least four times the smallest, else linear.
    pub(super) fn of_levels(values: impl Iterator<Item = f64>) -> Self {
        let Some((low, high)) = bounds(values) else { return Self { log: false, low: 0.0, high: 1.0 } };
        Self { log: low > 0.0 && high / low >= 4.0, low, high }.padded(0.06)
    }

    /// A logarithmic axis for ratios, from one over `most` to `most`: 1 is in its middle.
    pub(super) fn of_ratios(most: f64) -> Self {
        Self { log: true, low: 1.0 / most, high: most }
    }

    /// A logarithmic axis where all values are positive, so that equal ratios are equal steps, however little they span; else as
    /// [`Self::of_values`].
    pub(super) fn of_factors(values: impl Iterator<Item = f64> + Clone) -> Self {
        match bounds(values.clone()) {
            Some((low, high)) if low > 0.0 => {
                let (low, high) = if high / low < 1.000_001 { (low / 1.1, high * 1.1) } else { (low, high) };
                Self { log: true, low, high }.padded(0.06)
            }
            _ => Self::of_values(values, Zero::Near),
        }
    }

    /// Whether it spans so many powers of ten that they are its ticks.
    pub(super) fn is_decadic(&self) -> bool {
        self.log && self.high / self.low >= 12.0
    }

    /// A logarithmic axis for measured values, however close they are; what is not above zero has no place on it.
    pub(super) fn of_positive(values: impl Iterator<Item = f64>) -> Self {
        let (low, high) = bounds(values.filter(|value| *value >= TINY)).unwrap_or((1.0, 10.0));
        let room = if high / low < 1.05 { 1.05 } else { 1.0 };
        Self { log: true, low: low / room, high: high * room }.padded(0.06)
    }

    /// A linear axis from the smallest to the largest value.
    pub(super) fn of_span(values: impl Iterator<Item = f64>) -> Self {
        let (low, high) = bounds(values).unwrap_or((0.0, 1.0));
        Self { log: false, low, high }.padded(0.06)
    }

    /// Adds a share of the length at both ends, and makes something of nothing.
    fn padded(self, share: f64) -> Self {
        if self.log {
            let room = (self.high / self.low).powf(share);
            return Self { low: self.low / room, high: self.high * room, ..self };
        }
        let magnitude = self.low.abs().max(self.high.abs());
        let span = self.high - self.low;
        let room = if span > magnitude * 1e-9 { span * share } else { magnitude * 0.1 };
        let room = if magnitude == 0.0 { 0.5 } else { room };
        Self { low: self.low - room, high: self.high + room, ..self }
    }

    /// The place of a value between the ends, 0 to 1; values beyond the ends stand at them.
    pub(super) fn share(&self, value: f64) -> f32 {
        let value = value.clamp(self.low, self.high);
        let share =
            if self.log { (value / self.low).ln() / (self.high / self.low).ln() } else { (value - self.low) / (self.high - self.low) };
        if share.is_finite() { share.clamp(0.0, 1.0) as f32 } else { 0.0 }
    }

    /// The value at a place between the ends.
    pub(super) fn value(&self, share: f64) -> f64 {
        if self.log { self.low * (self.high / self.low).powf(share) } else { self.low + (self.high - self.low) * share }
    }

    /// Whether a value lies between the ends.
    pub(super) fn holds(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }

    /// The largest magnitude on the axis.
    pub(super) fn largest(&self) -> f64 {
        self.low.abs().max(self.high.abs())
    }

    /// Round values to mark, about `wanted` of them, and the step between them in `unit`s of the axis (0 on a
    /// decadic one).
    pub(super) fn ticks(&self, wanted: usize, unit: f64) -> (Vec<f64>, f64) {
        if !self.is_decadic() {
            return self.even(wanted, unit);
        }
        let tries = [wanted, usize::MAX].map(|wanted| self.decades(wanted));
        tries.into_iter().find(|marks| marks.len() > 2).map_or_else(|| self.even(wanted, unit), |marks| (marks, 0.0))
    }

    fn even(&self, wanted: usize, unit: f64) -> (Vec<f64>, f64) {
        let (low, high) = (self.low / unit, self.high / unit);
        let raw = (high - low) / wanted.max(1) as f64;
        let power = 10f64.powf(raw.log10().floor());
        let step = [1.0, 2.0, 5.0].into_iter().map(|lead| lead * power).find(|step| *step >= raw * 0.75).unwrap_or(10.0 * power);
        let first = (low / step - 1e-9).ceil();
        let marks = (0..64).map(|at| (first + f64::from(at)) * step).take_while(|mark| *mark <= high + step * 1e-9);
        (marks.map(|mark| mark * unit).collect(), step)
    }

    fn decades(&self, wanted: usize) -> Vec<f64> {
        let (from, to) = (self.low.log10().floor() as i32, self.high.log10().ceil() as i32);
        let every = ((to - from) as usize).div_ceil(wanted.max(1)).max(1);
        let leads: &[f64] = if (to - from) as usize <= wanted / 3 { &[1.0, 2.0, 5.0] } else { &[1.0] };
        let marks = (from..=to).filter(|exponent| exponent.rem_euclid(every as i32) == 0);
        marks.flat_map(|exponent| leads.iter().map(move |lead| lead * 10f64.powi(exponent))).filter(|mark| self.holds(*mark)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_ratios_are_equal_steps_on_a_true_axis() {
        let scale = Scale::of_levels([0.25, 0.5, 1.0, 2.0].into_iter());
        assert!(scale.log);
        let at: Vec<f32> = [0.25, 0.5, 1.0, 2.0].map(|level| scale.share(level)).to_vec();
        assert!((at[1] - at[0] - (at[3] - at[2])).abs() < 1e-6);
        let linear = Scale::of_levels([1.0, 2.0, 3.0].into_iter());
        assert!(!linear.log);
        assert!((linear.share(2.0) - 0.5).abs() < 1e-6);
        let uneven = Scale::of_levels([0.0, 1.0, 10.0].into_iter());
        assert!(!uneven.log, "zero has no logarithm");
    }

    #[test]
    fn zero_belongs_where_data_is_near_it_or_bars_start_there() {
        let ends = |values: &[f64], zero| {
            let scale = Scale::of_values(values.iter().copied(), zero);
            (scale.value(0.0), scale.value(1.0))
        };
        assert_eq!(ends(&[1.6, 6.6], Zero::Near).0, 0.0);
        assert!(ends(&[95.0, 100.0], Zero::Near).0 > 90.0);
        assert_eq!(ends(&[95.0, 100.0], Zero::Required).0, 0.0);
        let below = ends(&[-5.0, -4.0], Zero::Required);
        assert!(below.0 < -5.0 && below.1 >= 0.0);
        assert_eq!(ends(&[0.0, 0.0], Zero::Near), (0.0, 1.0));
    }

    #[test]
    fn ticks_are_round_few_and_inside_whatever_the_data() {
        let inputs: [&[f64]; 12] = [
            &[],
            &[42.0],
            &[42.0, 42.0, 42.0],
            &[0.0],
            &[-3.0],
            &[1e-12, 1e12],
            &[1e12, 1.000_001e12],
            &[f64::NAN, f64::INFINITY, 1.0],
            &[f64::MAX, f64::MIN],
            &[f64::MIN_POSITIVE],
            &[5e-324],
            &[0.0, 10.0, 1000.0],
        ];
        for values in inputs {
            for zero in [Zero::Near, Zero::Required] {
                let scale = Scale::of_values(values.iter().copied(), zero);
                let (marks, _) = scale.ticks(6, 1.0);
                assert!(marks.len() <= 14, "{values:?}: {marks:?}");
                assert!(!marks.is_empty(), "{values:?}: {scale:?}");
                for value in values {
                    assert!((0.0..=1.0).contains(&scale.share(*value)), "{values:?}");
                }
            }
        }
        let (close, step) = Scale::of_positive([0.0001, 0.0047].into_iter()).ticks(8, 1e-3);
        assert_eq!((close.len(), step), (6, 0.0), "1-2-5 where decades alone are too few: {close:?}");
        let (closer, step) = Scale::of_positive([0.004, 0.006].into_iter()).ticks(8, 1e-3);
        assert!(closer.len() > 3 && step > 0.0, "even ones where those are too few: {closer:?}");
        let (marks, step) = Scale::of_values([1.6, 6.6].into_iter(), Zero::Near).ticks(6, 1.0);
        assert_eq!((marks, step), (vec![0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 1.0));
        let wide = Scale::of_values([1.0, 500.0].into_iter(), Zero::Near);
        assert_eq!(wide.ticks(6, 1.0).0, [1.0, 10.0, 100.0]);
    }
}
