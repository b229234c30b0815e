//! Axes for ratios: logarithmic, 1 in the middle, round ratios as ticks, whether they are half a percent or forty-fold.

use super::number;
use super::scale::Scale;

/// Beyond this ratio nobody reads an axis; what lies there ends in an arrow.
const MOST: f64 = 1e6;
/// Room beyond the last value, as a share of the half axis.
const ROOM: f64 = 1.08;

/// The largest ratio of an axis that holds all of `values` and at least `least`, to either side of 1. Values that are no ratio are
/// passed over.
pub(super) fn largest(values: impl Iterator<Item = f64>, least: f64) -> f64 {
    values.filter(|value| is_ratio(*value)).map(|value| value.ln().abs()).fold(least.ln(), f64::max).exp().min(MOST)
}

/// Whether a number is a ratio that has a place on an axis.
pub(super) fn is_ratio(value: f64) -> bool {
    value.is_finite() && value > 0.0 && value.ln().is_finite()
}

/// An axis for effects: all of `values`, and the `ends` of intervals as far as they do not dwarf everything else. It holds `least` in
/// any case.
pub(super) fn axis(values: impl Iterator<Item = f64>, ends: &[(f64, f64)], least: f64) -> Scale {
    let known = largest(values, least).ln();
    let far =
        |(low, high): &(f64, f64)| [*low, *high].into_iter().filter(|end| is_ratio(*end)).map(|end| end.ln().abs()).fold(0.0, f64::max);
    let mut reaches: Vec<f64> = ends.iter().map(far).collect();
    reaches.sort_by(f64::total_cmp);
    // Of half of the intervals both ends are shown with room to spare: only one much wider than its neighbours is cut off.
    let usual = reaches.get(reaches.len() / 2).map_or(0.0, |reach| reach * 2.5);
    let widest = reaches.last().copied().unwrap_or(0.0);
    Scale::of_ratios((known.max(widest.min(usual.max(known * 3.0))) * ROOM).exp().min(MOST))
}

/// Round ratios to mark on such an axis, with their texts: of the sets that leave `room` between all neighbours, the one with most
/// marks. `room` gets two texts and their distance as a share of the axis.
pub(super) fn ticks(scale: &Scale, room: impl Fn(&str, &str, f32) -> bool) -> Vec<(f64, String)> {
    let written = |marks: Vec<f64>| -> Vec<(f64, String)> {
        marks.into_iter().filter(|mark| scale.holds(*mark)).map(|mark| (mark, text(mark))).collect()
    };
    let fits = |marks: &Vec<(f64, String)>| {
        let mut pairs = marks.windows(2);
        marks.len() <= 11 && pairs.all(|pair| room(&pair[0].1, &pair[1].1, scale.share(pair[1].0) - scale.share(pair[0].0)))
    };
    candidates(scale.largest()).into_iter().map(written).find(fits).unwrap_or_else(|| written(vec![1.0]))
}

/// Sets of ticks for an axis up to this ratio, the densest first.
fn candidates(most: f64) -> Vec<Vec<f64>> {
    const STEPS: [f64; 10] = [0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.25];
    const QUARTERS: [f64; 7] = [0.5, 2.0 / 3.0, 0.8, 1.0, 1.25, 1.5, 2.0];
    const HALVES: [f64; 9] = [0.25, 1.0 / 3.0, 0.5, 2.0 / 3.0, 1.0, 1.5, 2.0, 3.0, 4.0];
    const DOUBLES: [f64; 5] = [0.25, 0.5, 1.0, 2.0, 4.0];
    let even = |step: f64| {
        let count = ((most - 1.0) / step).floor().min(50.0) as i32;
        (-count..=count).map(|at| 1.0 + f64::from(at) * step).collect()
    };
    // Further out, equal steps would crowd at the right.
    let mut sets: Vec<Vec<f64>> = if most < 2.0 { STEPS.into_iter().map(even).collect() } else { Vec::new() };
    if most < 2.5 {
        sets.push(QUARTERS.to_vec());
    }
    if most < 6.0 {
        sets.extend([HALVES.to_vec(), DOUBLES.to_vec()]);
    }
    sets.extend([
        decades(&[1.0, 2.0, 5.0], 1),
        decades(&[1.0, 3.0], 1),
        decades(&[1.0], 1),
        decades(&[1.0], 2),
        decades(&[1.0], 3),
        decades(&[1.0], 6),
    ]);
    sets
}

/// Ratios that begin with one of `leads`, over every so many powers of ten.
fn decades(leads: &[f64], every: usize) -> Vec<f64> {
    let powers = (-6..=6).step_by(every);
    powers.flat_map(|power| leads.iter().map(move |lead| lead * 10f64.powi(power))).collect()
}

/// A tick: as many decimals as it needs.
fn text(mark: f64) -> String {
    if !(1e-3..1e3).contains(&mark) {
        return number::log_tick(mark);
    }
    let is_short = (mark * 1e4 - (mark * 1e4).round()).abs() < 1e-6;
    number::trimmed(mark, if is_short { 4 } else { 2 })
}

/// A fraction in percent, without digits that say nothing.
pub(super) fn percent(fraction: f64) -> String {
    number::trimmed(fraction * 100.0, 2)
}

/// A ratio in a cell: two decimals, three within a percent of 1, two or three digits where it is far from it, never more than five
/// characters.
pub(super) fn short(ratio: f64) -> String {
    match ratio {
        near if near.ln().abs() < 0.01 => format!("{near:.3}"),
        small if small < 0.01 => "<0.01".to_owned(),
        small if small < 0.1 => format!("{small:.3}"),
        middle if middle < 10.0 => format!("{middle:.2}"),
        large if large < 9999.5 => number::significant(large, 3),
        _ => ">9999".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ticks of an axis where a text of `n` characters is 9 wide and the plot 500.
    fn marks(scale: &Scale) -> Vec<String> {
        let width = |text: &str| text.chars().count() as f32 * 9.0;
        ticks(scale, |one, other, apart| (width(one) + width(other)) / 2.0 + 16.0 < apart * 500.0)
            .into_iter()
            .map(|(_, text)| text)
            .collect()
    }

    #[test]
    fn ticks_are_round_ratios_at_every_zoom() {
        let table: [(f64, &[&str]); 10] = [
            (1.0008, &["0.9995", "1", "1.0005"]),
            (1.005, &["0.996", "0.998", "1", "1.002", "1.004"]),
            (1.035, &["0.97", "0.98", "0.99", "1", "1.01", "1.02", "1.03"]),
            (1.3, &["0.8", "0.9", "1", "1.1", "1.2", "1.3"]),
            (2.1, &["0.5", "0.67", "0.8", "1", "1.25", "1.5", "2"]),
            (3.1, &["0.33", "0.5", "0.67", "1", "1.5", "2", "3"]),
            (5.0, &["0.25", "0.5", "1", "2", "4"]),
            (12.0, &["0.1", "0.2", "0.5", "1", "2", "5", "10"]),
            (45.0, &["0.03", "0.1", "0.3", "1", "3", "10", "30"]),
            (1e6, &["10⁻⁶", "10⁻⁴", "0.01", "1", "100", "10,000", "10⁶"]),
        ];
        for (most, expected) in table {
            assert_eq!(marks(&Scale::of_ratios(most)), expected, "{most}");
        }
    }

    #[test]
    fn ratios_in_cells_are_short() {
        let table =
            [(1e-9, "<0.01"), (0.0123, "0.012"), (0.9345, "0.93"), (0.9951, "0.995"), (1.0, "1.000"), (1.25, "1.25"), (40.0, "40.0")];
        for (ratio, text) in table.into_iter().chain([(1234.5, "1234"), (1e300, ">9999")]) {
            assert_eq!(short(ratio), text, "{ratio}");
        }
    }

    #[test]
    fn one_is_in_the_middle_whatever_the_values() {
        let nasty: [&[f64]; 7] = [&[], &[1.0], &[f64::NAN, f64::INFINITY, -1.0, 0.0], &[1e300], &[5e-324], &[0.025, 1.0], &[0.999, 1.001]];
        for values in nasty {
            let scale = axis(values.iter().copied(), &[(0.0, f64::INFINITY), (f64::NAN, 2.0)], 1.03);
            assert!((scale.share(1.0) - 0.5).abs() < 1e-4, "{values:?}");
            assert!(scale.holds(1.03) && scale.largest() <= MOST, "{values:?}: {scale:?}");
            assert!(marks(&scale).contains(&"1".to_owned()), "{values:?}");
        }
        assert!(axis([0.025].into_iter(), &[], 1.03).holds(40.0));
    }

    #[test]
    fn an_interval_that_dwarfs_all_others_is_cut_off() {
        let usual = [(0.95, 1.05), (0.9, 1.1), (0.97, 1.0)];
        let all = |ends: &[(f64, f64)]| axis([1.0, 0.99].into_iter(), ends, 1.03);
        assert!(all(&usual).holds(0.9) && all(&usual).holds(1.1), "none of these");
        let wild = all(&[&usual[..], &[(1e-9, 1e9)]].concat());
        assert!(wild.holds(0.9) && !wild.holds(2.0), "{wild:?}");
        assert!(all(&[(0.2, 5.0), (0.3, 4.0)]).holds(0.2), "where all are wide, all are shown");
    }
}
