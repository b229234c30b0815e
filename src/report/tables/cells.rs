//! How a cell is written, and the writer that all files share.

use crate::report::visible::visible;

/// Text that a spreadsheet would run begins with one of these.
const TRIGGERS: [char; 7] = ['=', '+', '-', '@', '\t', '\r', '\n'];

/// A table under construction: rows of cells, then bytes.
pub(super) struct Table {
    writer: csv::Writer<Vec<u8>>,
}

impl Table {
    /// A part of a table whose header stands elsewhere.
    pub(super) fn headless() -> Self {
        Self { writer: csv::WriterBuilder::new().terminator(csv::Terminator::Any(b'\n')).from_writer(Vec::new()) }
    }

    /// A table with its header.
    pub(super) fn new(header: &[String]) -> Self {
        let mut table = Self::headless();
        table.row(header);
        table
    }

    /// Adds a row; it has as many cells as the header.
    pub(super) fn row(&mut self, cells: &[String]) {
        // The sink is memory, and every caller builds its rows from the same list of columns as its header.
        self.writer.write_record(cells).expect("rows of equal length into memory");
    }

    /// The finished file.
    pub(super) fn bytes(self) -> Vec<u8> {
        self.writer.into_inner().expect("flushing into memory")
    }
}

/// A text cell, neutralised where a spreadsheet would run it, with its unseen characters named.
#[must_use]
pub fn text(text: &str) -> String {
    let text = visible(text);
    let begins = text.trim_start_matches('\'').starts_with(TRIGGERS);
    if begins && !is_number(&text) { format!("'{text}") } else { text.into_owned() }
}

/// A number with the shortest digits that read back as the same value; empty when it is not finite.
pub(super) fn number(value: f64) -> String {
    let size = value.abs();
    if !value.is_finite() {
        String::new()
    } else if value == 0.0 || (1e-5..1e17).contains(&size) {
        value.to_string()
    } else {
        format!("{value:e}")
    }
}

/// A number that was computed with logarithms: 12 significant digits, because the last ones depend on the machine's mathematics
/// library and the same record must give the same bytes anywhere.
pub(super) fn computed(value: f64) -> String {
    format!("{value:.11e}").parse().map_or_else(|_| String::new(), number)
}

/// A number, or an empty cell.
pub(super) fn optional(value: Option<f64>) -> String {
    value.map_or_else(String::new, number)
}

/// Whether a text is a number in decimal digits: spreadsheets and readers take it for one.
fn is_number(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte)) && text.parse::<f64>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_neutralised_and_numbers_are_not() {
        let touched =
            ["=1+1", "@x", "-2+3", "\tx", "-p 80", "+", "-inf", "-", "'=1", "\rx", "\n=1", "=", "+1 000", "=cmd()", "-x", "+…", "=\"a\""];
        for original in touched {
            let written = text(original);
            assert_eq!(written, format!("'{original}"), "{original}");
        }
        let kept = ["-5.00", "-1e-7", "+3", "a", "", "'quoted'", "a=1", "3.10", "cpus=-1", " padded ", "日本", "+1", "-1", "\"quoted\""];
        for original in kept {
            assert_eq!(text(original), original, "{original}");
        }
    }

    #[test]
    fn numbers_are_shortest_and_read_back() {
        let table = [
            (0.1 + 0.2, "0.30000000000000004"),
            (38446.0, "38446"),
            (-0.02, "-0.02"),
            (1e-7, "1e-7"),
            (-1.5e-12, "-1.5e-12"),
            (8_589_934_592.0, "8589934592"),
            (1e300, "1e300"),
            (0.0, "0"),
        ];
        for (value, written) in table {
            assert_eq!(number(value), written);
            assert_eq!(written.parse::<f64>(), Ok(value), "{written}");
        }
        assert_eq!((computed(1.999_999_999_999_999_8), computed(0.961_131_056_434_689_2)), ("2".into(), "0.961131056435".into()));
        assert_eq!(computed(f64::NAN), "");
        assert_eq!((number(f64::NAN), number(f64::INFINITY), optional(None)), (String::new(), String::new(), String::new()));
    }
}
