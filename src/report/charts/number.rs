//! Numbers as people write them on axes: a prefix in the axis title, few digits at the ticks.

/// The unit that an axis counts in, so that its numbers stay short.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct AxisUnit {
    /// A value divided by this is what the axis shows.
    pub(super) factor: f64,
    /// The text for the title; empty for plain counts.
    pub(super) text: String,
}

/// Symbols that take a prefix for large amounts; seconds take one only for small amounts.
const LARGE: [&str; 7] = ["B", "B/s", "bit/s", "b/s", "Hz", "J", "W"];

impl AxisUnit {
    /// The unit for values whose largest magnitude is `largest`.
    pub(super) fn choose(symbol: &str, largest: f64) -> Self {
        let exponent = if largest > 0.0 && largest.is_finite() { (largest.log10() / 3.0).floor() as i32 * 3 } else { 0 };
        let named = |factor: i32, prefix: &str| Self { factor: 10f64.powi(factor), text: format!("{prefix}{symbol}") };
        if symbol == "s" && exponent < 0 {
            return match exponent {
                -3 => named(-3, "m"),
                -6 => named(-6, "µ"),
                _ => named(-9, "n"),
            };
        }
        if LARGE.contains(&symbol) && exponent > 0 {
            return match exponent {
                3 => named(3, "k"),
                6 => named(6, "M"),
                9 => named(9, "G"),
                _ => named(12, "T"),
            };
        }
        let plain = if symbol == "1" { "" } else { symbol };
        if largest > 0.0 && !(1e-3..1e6).contains(&largest) && symbol != "s" {
            let text = format!("×10{} {plain}", superscript(exponent)).trim_end().to_owned();
            return Self { factor: 10f64.powi(exponent), text };
        }
        Self { factor: 1.0, text: plain.to_owned() }
    }

    /// The unit as it is, for axes over many decades.
    pub(super) fn plain(symbol: &str) -> Self {
        Self { factor: 1.0, text: if symbol == "1" { String::new() } else { symbol.to_owned() } }
    }
}

/// A tick of an axis whose ticks are `step` apart (both already divided by the factor): as many decimals as the step needs.
pub(super) fn tick(value: f64, step: f64) -> String {
    if value.abs() < step * 1e-6 {
        return "0".to_owned();
    }
    if value.abs() >= 1e15 {
        return significant(value, 3);
    }
    let decimals = if step > 0.0 { (-(step.log10() + 1e-9).floor()).clamp(0.0, 15.0) as usize } else { 0 };
    fixed(value, decimals)
}

/// A tick of a logarithmic axis: plain where that is short, else a power of ten.
pub(super) fn log_tick(value: f64) -> String {
    if (1e-3..1e6).contains(&value) {
        return significant(value, 1);
    }
    let exponent = (value.log10() + 1e-9).floor() as i32;
    let lead = (value / 10f64.powi(exponent)).round();
    if lead == 1.0 { format!("10{}", superscript(exponent)) } else { format!("{lead}×10{}", superscript(exponent)) }
}

/// `digits` significant digits and no noise; whole numbers keep all their digits.
pub(super) fn significant(value: f64, digits: i32) -> String {
    if value == 0.0 || !value.is_finite() {
        return "0".to_owned();
    }
    let exponent = value.abs().log10().floor() as i32;
    if !(-4..15).contains(&exponent) {
        let lead = fixed(value / 10f64.powi(exponent), (digits - 1).max(0) as usize);
        return format!("{lead}×10{}", superscript(exponent));
    }
    fixed(value, (digits - 1 - exponent).clamp(0, 12) as usize)
}

/// At most so many decimals, without zeros at the end.
pub(super) fn trimmed(value: f64, decimals: usize) -> String {
    let text = fixed(value, decimals);
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// Fixed decimals, thousands apart, a real minus sign and no negative zero.
fn fixed(value: f64, decimals: usize) -> String {
    let digits = format!("{:.decimals$}", value.abs());
    let (whole, fraction) = digits.split_once('.').map_or((digits.as_str(), None), |(whole, fraction)| (whole, Some(fraction)));
    let mut text = String::new();
    if value < 0.0 && digits.contains(|c| ('1'..='9').contains(&c)) {
        text.push('−');
    }
    for (at, digit) in whole.chars().enumerate() {
        if at > 0 && (whole.len() - at).is_multiple_of(3) && whole.len() > 4 {
            text.push(',');
        }
        text.push(digit);
    }
    if let Some(fraction) = fraction {
        text.push('.');
        text.push_str(fraction);
    }
    text
}

fn superscript(exponent: i32) -> String {
    let raised = |c| match c {
        '-' => '⁻',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        '4' => '⁴',
        '5' => '⁵',
        '6' => '⁶',
        '7' => '⁷',
        '8' => '⁸',
        '9' => '⁹',
        _ => '⁰',
    };
    exponent.to_string().chars().map(raised).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_prefix_goes_to_the_title() {
        let table = [
            ("s", 6.6, 1.0, "s"),
            ("s", 0.0034, 1e-3, "ms"),
            ("s", 4e-7, 1e-9, "ns"),
            ("s", 90_000.0, 1.0, "s"),
            ("B", 3.2e9, 1e9, "GB"),
            ("B/s", 512.0, 1.0, "B/s"),
            ("1/s", 84_000.0, 1.0, "1/s"),
            ("1/s", 8.4e7, 1e6, "×10⁶ 1/s"),
            ("1", 0.5, 1.0, ""),
            ("1", 1e-12, 1e-12, "×10⁻¹²"),
            ("s", 0.0, 1.0, "s"),
        ];
        for (symbol, largest, factor, text) in table {
            let unit = AxisUnit::choose(symbol, largest);
            assert_eq!(unit.text, text, "{symbol} {largest}");
            assert!((unit.factor / factor - 1.0).abs() < 1e-12, "{symbol} {largest}");
        }
    }

    #[test]
    fn numbers_have_the_digits_they_need() {
        assert_eq!([tick(2.0, 1.0), tick(2.5, 0.5), tick(0.15, 0.05), tick(12_000.0, 2000.0)], ["2", "2.5", "0.15", "12,000"]);
        assert_eq!([tick(-0.0, 1.0), tick(-0.5, 0.5), tick(1500.0, 500.0)], ["0", "−0.5", "1500"]);
        assert_eq!(tick(0.0, 0.2), "0");
        assert_eq!(tick(-1e150, 5e149), "−1.00×10¹⁵⁰");
        assert_eq!([log_tick(0.01), log_tick(500.0), log_tick(1e-12), log_tick(2e9)], ["0.01", "500", "10⁻¹²", "2×10⁹"]);
        assert_eq!(
            [significant(1.61803, 3), significant(15_234.4, 3), significant(0.0123, 3), significant(9e-9, 3)],
            ["1.62", "15,234", "0.0123", "9.00×10⁻⁹"]
        );
    }
}
