//! How requests were answered, by status and by error, as load generators for HTTP list it.

use super::constants::pattern;
use super::number;
use super::plain_text::quoted;
use super::reading::Reading;
use crate::model::metric::Unit;
use regex::Regex;
use std::sync::LazyLock;

/// Most kinds of errors and statuses that one reason names.
const MOST_KINDS: usize = 3;

static STATUS: LazyLock<Regex> = LazyLock::new(|| pattern(r"^\[([1-5]\d\d)\]\s+(\d+) responses$"));
static ERROR: LazyLock<Regex> = LazyLock::new(|| pattern(r"^\[(\d+)\]\s+(\S.*)$"));

/// Responses by status, and requests that got none by what the tool says of them.
#[derive(Debug, Default)]
pub(super) struct Answers {
    pub statuses: Vec<(u16, f64)>,
    pub errors: Vec<(String, f64)>,
}

impl Answers {
    /// Reads the lists below `Status code distribution:` and `Error distribution:`; without errors the second one may be missing.
    /// None when the first one is missing or a line does not have its form.
    pub(super) fn listed(text: &str) -> Option<Self> {
        let lines = || text.lines().map(str::trim);
        let mut answers = Self::default();
        for line in lines().skip_while(|line| *line != "Status code distribution:").skip(1).take_while(|line| !line.is_empty()) {
            if line == "Error distribution:" {
                break;
            }
            let found = STATUS.captures(line)?;
            answers.statuses.push((found[1].parse().ok()?, number::count(&found[2])?));
        }
        // What a library says of an error may have several lines.
        for line in lines().skip_while(|line| *line != "Error distribution:").filter(|line| line.starts_with('[')) {
            let found = ERROR.captures(line)?;
            answers.errors.push((found[2].to_owned(), number::count(&found[1])?));
        }
        lines().any(|line| line == "Status code distribution:").then_some(answers)
    }

    /// Requests that got a response, of whatever status.
    pub(super) fn responses(&self) -> f64 {
        sum(self.statuses.iter())
    }

    /// Requests that got none.
    pub(super) fn errors(&self) -> f64 {
        sum(self.errors.iter())
    }

    /// Responses that were neither 2xx nor 3xx.
    pub(super) fn bad(&self) -> f64 {
        sum(self.bad_statuses())
    }

    fn bad_statuses(&self) -> impl Iterator<Item = &(u16, f64)> {
        self.statuses.iter().filter(|(status, _)| !(200..400).contains(status))
    }

    /// Reports `requests`, `errors` and `non_2xx_3xx`.
    pub(super) fn count(&self, reading: &mut Reading) {
        reading.metric("requests", self.responses(), Unit::ONE);
        reading.metric("errors", self.errors(), Unit::ONE);
        reading.metric("non_2xx_3xx", self.bad(), Unit::ONE);
    }

    /// Says what is wrong with the answers.
    pub(super) fn judge(&self, reading: &mut Reading) {
        if self.responses() == 0.0 {
            reading.fail("no request was completed");
        }
        if self.errors() > 0.0 {
            let kinds = most_frequent(self.errors.iter().map(|(text, count)| (quoted(text), *count)));
            reading.fail(format!("{} requests got no response ({kinds})", self.errors()));
        }
        if self.bad() > 0.0 {
            let kinds = most_frequent(self.bad_statuses().map(|(status, count)| (format!("status {status}"), *count)));
            reading.fail(format!("{} responses were neither 2xx nor 3xx ({kinds})", self.bad()));
        }
    }
}

/// From 0, because the sum of nothing would be -0.
fn sum<'a, T: 'a>(counts: impl Iterator<Item = &'a (T, f64)>) -> f64 {
    counts.fold(0.0, |sum, (_, count)| sum + count)
}

/// `a`, or `7 b, 3 d, 2 c, and others`.
fn most_frequent(kinds: impl Iterator<Item = (String, f64)>) -> String {
    let mut kinds: Vec<(String, f64)> = kinds.filter(|(_, count)| *count > 0.0).collect();
    kinds.sort_by(|(_, one), (_, other)| other.total_cmp(one));
    if let [(only, _)] = &kinds[..] {
        return only.clone();
    }
    let named: Vec<String> = kinds.iter().take(MOST_KINDS).map(|(what, count)| format!("{count} {what}")).collect();
    let rest = if kinds.len() > MOST_KINDS { ", and others" } else { "" };
    format!("{}{rest}", named.join(", "))
}

#[cfg(test)]
mod tests {
    use super::Answers;

    #[test]
    fn lists_are_read_in_full_or_not_at_all() {
        let table = [
            ("Status code distribution:\n  [200]\t450 responses\n  [503] 50 responses\n\n\n", Some((500.0, 50.0, 0.0))),
            ("Status code distribution:\nError distribution:\n[20]\tGet \"x\": EOF\n more\n[1] y\n", Some((0.0, 0.0, 21.0))),
            ("Status code distribution:\n[200] 5 responses\n\nError distribution:\n[]\tEOF\n", None),
            ("Status code distribution:\n[200] 5 respon", None),
            ("Status code distribution:\n200] 5 responses\n", None),
            ("Status code distribution:\n[900] 5 responses\n", None),
            ("[200] 5 responses\n", None),
        ];
        for (text, expected) in table {
            let found = Answers::listed(text).map(|answers| (answers.responses(), answers.bad(), answers.errors()));
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn the_most_frequent_kinds_are_named() {
        let kinds = [("a", 1.0), ("b", 7.0), ("c", 2.0), ("d", 3.0), ("e", 0.0)].map(|(what, count)| (what.to_owned(), count));
        assert_eq!(super::most_frequent(kinds.clone().into_iter()), "7 b, 3 d, 2 c, and others");
        assert_eq!(super::most_frequent(kinds.into_iter().take(1)), "a");
    }
}
