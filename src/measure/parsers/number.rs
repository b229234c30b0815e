//! Reads numbers as tools print them. A text is a number in full or not at all; NaN and infinity are absent.

/// A number of unknown origin: digits with a decimal point and exponent; a decimal comma only where it cannot be a thousands
/// separator (`12,5`, `0,125`). Thousands separators are not guessed: `1,234` is no number.
pub(super) fn unambiguous(text: &str) -> Option<f64> {
    let text = text.trim();
    match text.split_once(',') {
        None => finite(text),
        Some((whole, rest)) => {
            let decimals = rest.bytes().take_while(u8::is_ascii_digit).count();
            let whole = whole.trim_start_matches(['+', '-']);
            let clear = decimals > 0 && (decimals != 3 || whole == "0") && !whole.is_empty() && !text.contains('.');
            if clear { finite(&text.replacen(',', ".", 1)) } else { None }
        }
    }
}

/// A number at a place where the format has decimals and no thousands: a comma is the decimal mark of the tool's locale.
pub(super) fn decimal(text: &str) -> Option<f64> {
    point(&text.replacen(',', ".", 1))
}

/// A number of a tool that always writes a decimal point, and a digit before it.
pub(super) fn point(text: &str) -> Option<f64> {
    let text = text.trim();
    if text.starts_with(|c: char| c.is_ascii_digit()) { finite(text) } else { None }
}

/// A count: digits alone.
pub(super) fn count(text: &str) -> Option<f64> {
    let text = text.trim();
    if text.bytes().all(|byte| byte.is_ascii_digit()) { finite(text) } else { None }
}

/// A number at a place where the format groups thousands with commas and has at most two decimals: `2,035.5`. What other locales
/// write there (`2.035,5`, `1.446`) is none.
pub(super) fn grouped(text: &str) -> Option<f64> {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, "0"));
    let mut groups = whole.split(',');
    let first = groups.next()?;
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let clear = !first.is_empty() && digits(first) && groups.all(|group| group.len() == 3 && digits(group));
    let thousands = first.len() <= 3 || !whole.contains(',');
    if clear && thousands && (1..=2).contains(&decimals.len()) && digits(decimals) { finite(&text.replace(',', "")) } else { None }
}

/// A decimal number times ten to the `exponent`, rounded once (so 0.95 ms is 0.00095 s, not its neighbour).
pub(super) fn shifted(text: &str, exponent: i32) -> Option<f64> {
    let text = text.trim();
    if text.contains(['e', 'E']) {
        return finite(text).map(|value| value * 10f64.powi(exponent));
    }
    finite(&format!("{}e{exponent}", text.replacen(',', ".", 1)))
}

/// Hours, minutes and seconds in seconds; an empty text is 0, the seconds may have decimals.
pub(super) fn clock(hours: &str, minutes: &str, seconds: &str) -> Option<f64> {
    let whole = |text: &str| if text.is_empty() { Some(0) } else { text.parse::<u64>().ok() };
    let (full, fraction) = seconds.split_once(['.', ',']).unwrap_or((seconds, "0"));
    let total = whole(hours)?.checked_mul(3600)?.checked_add(whole(minutes)?.checked_mul(60)?)?.checked_add(full.parse().ok()?)?;
    finite(&format!("{total}.{fraction}"))
}

/// Rust reads `inf`, `nan`, `5.`, `5.e1` and `.5`; only the last is a number that a tool prints.
fn finite(text: &str) -> Option<f64> {
    let digits = text.trim_start_matches(['+', '-']);
    let plain = digits.starts_with(|c: char| c.is_ascii_digit() || c == '.') && text.len() - digits.len() <= 1;
    let ended = text.ends_with(|c: char| c.is_ascii_digit());
    let decimals = text.split_once('.').is_none_or(|(_, decimals)| decimals.starts_with(|c: char| c.is_ascii_digit()));
    if plain && ended && decimals { text.parse().ok().filter(|value: &f64| value.is_finite()) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_in_full_or_not_at_all() {
        let table = [
            ("12", Some(12.0)),
            (" -1.5e-3 ", Some(-0.0015)),
            ("+7", Some(7.0)),
            (".5", Some(0.5)),
            ("12,5", Some(12.5)),
            ("-0,125", Some(-0.125)),
            ("1,2345", Some(1.2345)),
            ("1,234", None),
            ("1,234.5", None),
            ("1.234,5", None),
            ("1,2,3", None),
            (",5", None),
            ("5.", None),
            ("5.e1", None),
            ("--5", None),
            ("1 000", None),
            ("12.5%", None),
            ("1e999", None),
            ("nan", None),
            ("-nan", None),
            ("inf", None),
            ("0x10", None),
            ("", None),
        ];
        for (text, expected) in table {
            assert_eq!(unambiguous(text), expected, "{text}");
        }
    }

    #[test]
    fn thousands_are_grouped_by_commas_or_not_at_all() {
        let table = [
            ("2,035.5", Some(2035.5)),
            ("1,446", Some(1446.0)),
            ("12,345,678.25", Some(12_345_678.25)),
            ("2035.5", Some(2035.5)),
            ("0", Some(0.0)),
            ("1.446", None),
            ("2.035,5", None),
            ("1,44", None),
            ("1234,567", None),
            (",446", None),
            ("1,446.", None),
            ("-1", None),
            ("", None),
        ];
        for (text, expected) in table {
            assert_eq!(grouped(text), expected, "{text}");
        }
    }

    #[test]
    fn scaling_rounds_once() {
        assert_eq!(shifted("0.95", -3), Some(0.00095));
        assert_eq!(shifted("9,87", -3), Some(0.00987));
        assert_eq!(shifted("1.2", 6), Some(1_200_000.0));
        assert_eq!(shifted("1.", 6), None);
        assert_eq!(clock("", "1", "1.01"), Some(61.01));
        assert_eq!(clock("1", "1", "01"), Some(3661.0));
        assert_eq!(clock("", "0", "0,128"), Some(0.128));
        assert_eq!(clock("", "x", "1"), None);
        assert_eq!(clock("99999999999999999999", "1", "1"), None);
        assert_eq!(decimal("0,964"), Some(0.964));
        assert_eq!((decimal(",964"), point("0,964"), point(".5"), point("-1"), point("1.5")), (None, None, None, None, Some(1.5)));
        assert_eq!((count("12"), count("1.2"), count("+1"), count("")), (Some(12.0), None, None, None));
    }
}
