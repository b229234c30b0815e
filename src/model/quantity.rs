//! How the manifest spells durations, sizes, percentages and numbers. A bare number where a unit is needed is refused.

use std::time::Duration;

/// Why a quantity was refused; the text goes behind the field's name in a message.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum QuantityError {
    /// A number without the unit that it needs.
    #[error("`{text}` has no unit")]
    NoUnit {
        /// As written.
        text: String,
        /// How to write it, such as `90s`.
        example: &'static str,
    },
    /// Not of the form at all.
    #[error("`{text}` is not {what}")]
    Malformed {
        /// As written.
        text: String,
        /// What was expected, such as "a duration".
        what: &'static str,
        /// How to write one.
        example: &'static str,
    },
}

impl QuantityError {
    /// What to write instead.
    #[must_use]
    pub fn example(&self) -> &'static str {
        match self {
            Self::NoUnit { example, .. } | Self::Malformed { example, .. } => example,
        }
    }
}

/// Reads `90s`, `1.5m`, `2h`, `250ms`, or several in descending order: `1m30s`.
///
/// # Errors
/// When a unit is missing or unknown, or the number is negative or not finite.
pub fn duration(text: &str) -> Result<Duration, QuantityError> {
    let example = "such as `90s`, `2m`, `250ms`";
    let malformed = || QuantityError::Malformed { text: text.to_owned(), what: "a duration", example };
    if number(text).is_some() {
        return Err(QuantityError::NoUnit { text: text.to_owned(), example });
    }
    let mut rest = text.trim();
    let mut seconds = 0.0;
    let mut last = f64::INFINITY;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !(c.is_ascii_digit() || c == '.')).ok_or_else(malformed)?;
        let value = number(&rest[..digits]).ok_or_else(malformed)?;
        rest = rest[digits..].trim_start();
        let letters = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
        let scale = match &rest[..letters] {
            "us" => 1e-6,
            "ms" => 1e-3,
            "s" => 1.0,
            "m" | "min" => 60.0,
            "h" => 3600.0,
            _ => return Err(malformed()),
        };
        if scale >= last {
            return Err(malformed());
        }
        last = scale;
        seconds += value * scale;
        rest = rest[letters..].trim_start();
    }
    if last.is_infinite() {
        return Err(malformed());
    }
    Duration::try_from_secs_f64(seconds).map_err(|_| malformed())
}

/// Reads a size in bytes as Docker spells them: `512m`, `2g`, `1.5GiB`, `4096b`; every prefix is a power of 1024.
///
/// # Errors
/// When the unit is missing or unknown.
pub fn size(text: &str) -> Result<u64, QuantityError> {
    let example = "such as `512m`, `2g`, `4096b`";
    let malformed = || QuantityError::Malformed { text: text.to_owned(), what: "a size", example };
    let text_ = text.trim();
    let digits = text_.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text_.len());
    let value = number(&text_[..digits]).ok_or_else(malformed)?;
    let scale: u64 = match text_[digits..].trim().to_ascii_lowercase().as_str() {
        "" => return Err(QuantityError::NoUnit { text: text.to_owned(), example }),
        "b" => 1,
        "k" | "kb" | "kib" => 1 << 10,
        "m" | "mb" | "mib" => 1 << 20,
        "g" | "gb" | "gib" => 1 << 30,
        "t" | "tb" | "tib" => 1 << 40,
        _ => return Err(malformed()),
    };
    let bytes = value * scale as f64;
    if bytes < 9e15 { Ok(bytes as u64) } else { Err(malformed()) }
}

/// Reads `3%` as 0.03, and a plain number as itself; none for anything else, and for what is below 0.
#[must_use]
pub fn amount(text: &str) -> Option<f64> {
    percent(text).ok().or_else(|| number(text.trim()))
}

/// Reads `3%` as 0.03.
///
/// # Errors
/// When the percent sign is missing or the number is negative.
pub fn percent(text: &str) -> Result<f64, QuantityError> {
    let example = "such as `3%`";
    match text.trim().strip_suffix('%') {
        Some(digits) => number(digits.trim()).map(|n| n / 100.0).ok_or_else(|| QuantityError::Malformed {
            text: text.to_owned(),
            what: "a percentage",
            example,
        }),
        None if number(text).is_some() => Err(QuantityError::NoUnit { text: text.to_owned(), example }),
        None => Err(QuantityError::Malformed { text: text.to_owned(), what: "a percentage", example }),
    }
}

/// Reads a finite number of at least 0, in decimal digits; no `inf`, `nan` or leading-zero octals.
#[must_use]
pub fn number(text: &str) -> Option<f64> {
    let text = text.trim();
    let first = text.chars().next()?;
    if !(first.is_ascii_digit() || first == '.') {
        return None;
    }
    text.parse::<f64>().ok().filter(|n| n.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations() {
        for (text, ms) in
            [("90s", 90_000), ("2m", 120_000), ("1m30s", 90_000), ("250ms", 250), ("1.5 h", 5_400_000), (".5s", 500), ("0s", 0)]
        {
            assert_eq!(duration(text), Ok(Duration::from_millis(ms)), "{text}");
        }
        assert!(matches!(duration("90"), Err(QuantityError::NoUnit { .. })));
        for text in ["", "s", "5x", "-1s", "1s1m", "1s 1s", "nan s", "1e999h", "5 s x"] {
            assert!(duration(text).is_err(), "{text}");
        }
    }

    #[test]
    fn sizes() {
        for (text, bytes) in [("512m", 512 << 20), ("2g", 2 << 30), ("1.5GiB", 3 << 29), ("4096b", 4096), ("64 kB", 64 << 10)] {
            assert_eq!(size(text), Ok(bytes), "{text}");
        }
        assert!(matches!(size("4096"), Err(QuantityError::NoUnit { .. })));
        for text in ["", "m", "1x", "-1m", "99999999t"] {
            assert!(size(text).is_err(), "{text}");
        }
    }

    #[test]
    fn percentages() {
        assert_eq!(percent("3%"), Ok(0.03));
        assert!(matches!(percent("3"), Err(QuantityError::NoUnit { .. })));
        assert!(percent("x%").is_err());
    }
}
