//! How numbers look to people: three or four significant digits, a unit of a fitting size, never more than was measured.

use super::inline::Inline;
use crate::model::metric::Unit;

/// Stands where there is no number.
pub const ABSENT: &str = "–";

/// A unit of a size that fits some values, so that all of them can stand in one column.
#[derive(Debug, Clone, PartialEq)]
pub struct Scale {
    divisor: f64,
    symbol: String,
}

impl Scale {
    /// The unit that suits values up to `largest`: ns to s for seconds, B to TiB for bytes, any other unit as it is.
    #[must_use]
    pub fn of(unit: &Unit, largest: f64) -> Self {
        const TIMES: [(f64, &str); 4] = [(1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")];
        const SIZES: [(f64, &str); 5] =
            [(1_099_511_627_776.0, "TiB"), (1_073_741_824.0, "GiB"), (1_048_576.0, "MiB"), (1024.0, "KiB"), (1.0, "B")];
        let (steps, per, none): (&[(f64, &str)], &str, (f64, &str)) = match unit.symbol() {
            "s" => (&TIMES, "", (1.0, "s")),
            "B" => (&SIZES, "", (1.0, "B")),
            "B/s" => (&SIZES, "/s", (1.0, "B")),
            "1" => return Self { divisor: 1.0, symbol: String::new() },
            other => return Self { divisor: 1.0, symbol: other.to_owned() },
        };
        let size = largest.abs();
        let smallest = steps.last().copied().unwrap_or(none);
        let (divisor, symbol) =
            if size > 0.0 { steps.iter().copied().find(|(divisor, _)| size >= *divisor).unwrap_or(smallest) } else { none };
        Self { divisor, symbol: format!("{symbol}{per}") }
    }

    /// The unit's symbol; empty for counts and ratios.
    #[must_use]
    pub fn symbol(&self) -> &str {
        &self.symbol
    }

    /// Writes values without their unit that stand below each other, all with the same decimals: the largest has four significant digits,
    /// or one more where the smallest needs it for four of its own, and the smallest has two. Where every value is whole none has decimals.
    pub fn column(&self, values: &[f64]) -> impl Fn(f64) -> String + use<> {
        let divisor = self.divisor;
        let sizes = || values.iter().map(|value| (value / divisor).abs()).filter(|size| size.is_finite() && *size > 0.0);
        // Dividing by a power of ten leaves dust: 0.563 s is not quite 563 ms.
        let whole = sizes().all(|size| (size - size.round()).abs() <= size * 1e-9);
        let (small, large) = (sizes().reduce(f64::min).unwrap_or(0.0), sizes().reduce(f64::max).unwrap_or(0.0));
        let most = decimals(large, 4);
        let places = if whole { 0 } else { most.max(decimals(small, 4).min(most + 1)).max(decimals(small, 2)).min(6) };
        move |value| {
            let scaled = value / divisor;
            if scaled == 0.0 || (1e-4..1e9).contains(&scaled.abs()) { grouped(&format!("{scaled:.places$}")) } else { significant(scaled) }
        }
    }

    /// The value without its unit.
    #[must_use]
    fn bare(&self, value: f64) -> String {
        significant(value / self.divisor)
    }

    /// The value with its unit.
    #[must_use]
    pub fn show(&self, value: f64) -> String {
        if self.symbol.is_empty() { self.bare(value) } else { format!("{} {}", self.bare(value), self.symbol) }
    }
}

/// How many there are, as it stands in a table.
#[must_use]
pub fn count(many: usize) -> Inline {
    Inline::from(many.to_string()).of(many as f64)
}

/// A value in a unit of its own size: `50 ms`, `512 MiB`, `38,446 1/s`.
#[must_use]
pub fn quantity(value: f64, unit: &Unit) -> String {
    Scale::of(unit, value).show(value)
}

/// Four significant digits; a whole number below a million entirely; thousands grouped by commas.
#[must_use]
pub fn significant(value: f64) -> String {
    let size = value.abs();
    if !value.is_finite() {
        ABSENT.to_owned()
    } else if value.fract() == 0.0 && size < 1e6 {
        grouped(&format!("{value:.0}"))
    } else if (1e-4..1e9).contains(&size) {
        let rounded: f64 = format!("{value:.3e}").parse().unwrap_or(value);
        grouped(&format!("{rounded:.*}", decimals(rounded, 4)))
    } else {
        format!("{value:.3e}")
    }
}

/// A ratio with the ends of its interval, all with the same decimals: four significant digits, a fifth within 1 % of 1, and never
/// more than two digits of the interval's half-width.
#[must_use]
pub fn ratio(value: f64, ends: [Option<f64>; 2]) -> (String, Option<[String; 2]>) {
    let most = if value.ln().abs() < 0.01 { 4 } else { decimals(value, 4) };
    let places = match ends {
        [Some(low), Some(high)] => decimals((high - low) / 2.0, 2).min(most),
        _ => most.min(decimals(value, 3).max(if value.ln().abs() < 0.1 { 3 } else { 0 })),
    };
    let show = |value: f64| if (1e-6..1e9).contains(&value) { grouped(&format!("{value:.places$}")) } else { format!("{value:.2e}") };
    let ends = match ends {
        [Some(low), Some(high)] => Some([show(low), show(high)]),
        _ => None,
    };
    (show(value), ends)
}

/// The change that a ratio stands for: `+101 %`, `-3.9 %`.
#[must_use]
pub fn change(ratio: f64) -> String {
    let points = (ratio - 1.0) * 100.0;
    let places = match points.abs() {
        size if size < 1.0 => 2,
        size if size < 10.0 => 1,
        _ => 0,
    };
    let text = grouped(&format!("{points:.places$}"));
    if points >= 0.0 && !text.starts_with('-') { format!("+{text} %") } else { format!("{text} %") }
}

/// A fraction as a percentage with two significant digits: `3 %`, `0.5 %`.
#[must_use]
pub fn percent(fraction: f64) -> String {
    let points = fraction * 100.0;
    let text = format!("{points:.*}", decimals(points, 2));
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    format!("{} %", grouped(text))
}

/// Two significant digits at least, a whole number entirely: for what is only roughly known.
#[must_use]
pub fn two_digits(value: f64) -> String {
    grouped(&format!("{value:.*}", decimals(value, 2)))
}

/// A probability: two significant digits, or that it is below one in ten thousand.
#[must_use]
pub fn probability(p: f64) -> String {
    if p < 1e-4 { "< 0.0001".to_owned() } else { format!("{p:.*}", decimals(p, 2)) }
}

/// The decimals that show `digits` significant ones.
fn decimals(value: f64, digits: i32) -> usize {
    if value == 0.0 || !value.is_finite() {
        return 0;
    }
    // Written out rather than by a logarithm, whose last digit may differ between machines.
    let exponent: i32 = format!("{value:e}").rsplit('e').next().and_then(|digits| digits.parse().ok()).unwrap_or(0);
    usize::try_from(digits - 1 - exponent).unwrap_or(0).min(12)
}

/// Commas between the thousands of the whole part.
fn grouped(text: &str) -> String {
    let (sign, digits) = text.strip_prefix('-').map_or(("", text), |digits| ("-", digits));
    let (whole, rest) = digits.find('.').map_or((digits, ""), |at| digits.split_at(at));
    let mut shown = String::from(sign);
    for (at, digit) in whole.char_indices() {
        if at > 0 && (whole.len() - at) % 3 == 0 {
            shown.push(',');
        }
        shown.push(digit);
    }
    shown + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_have_a_unit_of_their_size() {
        let table = [
            (2.0, "s", "2 s"),
            (75.25, "s", "75.25 s"),
            (0.0498, "s", "49.80 ms"),
            (1.5e-6, "s", "1.500 µs"),
            (3e-12, "s", "0.003000 ns"),
            (0.0, "s", "0 s"),
            (536_870_912.0, "B", "512 MiB"),
            (1e9, "B", "953.7 MiB"),
            (2048.0, "B/s", "2 KiB/s"),
            (38_446.0, "1/s", "38,446 1/s"),
            (38_446.27, "1/s", "38,450 1/s"),
            (0.25, "1", "0.2500"),
            (-1234.5, "JPY", "-1,234 JPY"),
            (12_345_678_901.0, "1", "1.235e10"),
        ];
        for (value, unit, shown) in table {
            assert_eq!(quantity(value, &Unit::custom(unit)), shown, "{value} {unit}");
        }
        assert_eq!(quantity(f64::NAN, &Unit::ONE), ABSENT);
    }

    #[test]
    fn a_column_has_one_number_of_decimals() {
        let table: [(&str, &[f64], &[&str]); 6] = [
            ("KiB", &[977.5, 1006.0], &["977.5", "1,006.0"]),
            ("s", &[0.552, 0.563, 0.160], &["552", "563", "160"]),
            ("s", &[0.0498, 9.5], &["0.0498", "9.5000"]),
            ("s", &[6.403, 5.872], &["6.403", "5.872"]),
            ("1/s", &[38_446.27, 1_000.0], &["38,446", "1,000"]),
            ("1", &[0.9757, 0.0], &["0.9757", "0.0000"]),
        ];
        for (unit, values, shown) in table {
            let scale = Scale::of(&Unit::custom(unit), values.iter().copied().fold(0.0, f64::max));
            let column = scale.column(values);
            assert_eq!(values.iter().map(|value| column(*value)).collect::<Vec<_>>(), shown, "{unit}");
        }
    }

    #[test]
    fn ratios_show_more_near_one() {
        let shown = |value| ratio(value, [None, None]).0;
        assert_eq!([2.0134, 0.96113, 1.00302, 0.5, 123.4, 4567.8].map(shown), ["2.01", "0.961", "1.003", "0.500", "123", "4,568"]);
        let table = [
            ([2.0134, 1.98, 2.0399], ["2.013", "1.980", "2.040"]),
            ([0.96113, 0.95458, 0.96772], ["0.9611", "0.9546", "0.9677"]),
            ([1.00284, 1.0001, 1.0056], ["1.0028", "1.0001", "1.0056"]),
            ([1.0074, 0.6, 1.7], ["1.01", "0.60", "1.70"]),
            ([20.5, 3.1, 140.2], ["20", "3", "140"]),
        ];
        for ([value, low, high], [shown, from, to]) in table {
            assert_eq!(ratio(value, [Some(low), Some(high)]), (shown.to_owned(), Some([from.to_owned(), to.to_owned()])));
        }
    }

    #[test]
    fn shares_and_probabilities() {
        assert_eq!([2.01, 0.961, 1.003, 1.0, 31.0].map(change), ["+101 %", "-3.9 %", "+0.30 %", "+0.00 %", "+3,000 %"]);
        assert_eq!([0.03, 0.005, 0.0375, 0.128, 2.5].map(percent), ["3 %", "0.5 %", "3.8 %", "13 %", "250 %"]);
        assert_eq!([0.000_087, 0.0087, 0.31, 1.0].map(probability), ["< 0.0001", "0.0087", "0.31", "1.0"]);
    }
}
