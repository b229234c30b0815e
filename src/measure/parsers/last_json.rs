//! Finds the last complete JSON document in a text that also holds warnings, logs and other documents.
//!
//! A document is a non-empty object, or an array of objects. When the last one is cut off or damaged there is no answer: an earlier one
//! may be an interim report, and a piece of it is not what was asked for.

use super::repeated_keys::first_wins;
use regex::Regex;
use serde_json::Value;
use std::sync::LazyLock;

/// `nan` and `inf` where JSON allows only `null`.
static NOT_A_NUMBER: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"([:\[,]\s*)[-+]?(?i:nan|inf|infinity)(\s*[,}\]\n])").expect("the pattern is constant"));

/// A document, and how it would read otherwise.
#[derive(Debug, PartialEq)]
pub(super) struct Document {
    /// As usually read: of a repeated key, the last value.
    pub value: Value,
    /// With the first value of every repeated key; none when no key is repeated.
    pub first_wins: Option<Value>,
}

/// How a document begins: `{"name":`, or an array of such. Log lines such as `[ 1s ]` and `{x}` do not, so each look costs little.
static OPENING: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r#"^(?:\[\s*\{\s*\}|(?:\[\s*)?\{\s*"(?:[^"\\\n]|\\.)*"\s*:)"#).expect("the pattern is constant"));

/// The last document.
///
/// # Errors
/// There is none, or the last one is cut off or damaged.
pub(super) fn last_document(text: &str) -> Result<Document, String> {
    // Twice, because neighbours in an array share the comma.
    let once = NOT_A_NUMBER.replace_all(text, "${1}null${2}");
    let text = NOT_A_NUMBER.replace_all(&once, "${1}null${2}");
    let mut last = Err("no JSON document in the output".to_owned());
    let mut at = 0;
    while let Some(start) = text[at..].find(['{', '[']).map(|found| at + found) {
        if !OPENING.is_match(&text[start..]) {
            at = start + 1;
            continue;
        }
        let mut stream = serde_json::Deserializer::from_str(&text[start..]).into_iter::<Value>();
        match stream.next() {
            Some(Ok(value)) => {
                at = start + stream.byte_offset();
                last = Ok(Document { first_wins: first_wins(&text[start..at], &value), value });
            }
            Some(Err(error)) => {
                let state = if error.is_eof() { "cut off" } else { "damaged" };
                last = Err(format!("the last JSON document is {state}: {error}"));
                match matching_end(&text[start..]) {
                    Some(length) => at = start + length,
                    None => break,
                }
            }
            None => break,
        }
    }
    last
}

/// Length of a damaged document up to the bracket that closes it, strings respected.
fn matching_end(text: &str) -> Option<usize> {
    let (mut depth, mut in_string, mut escaped) = (0_usize, false, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            // No JSON string spans lines: a lost quote must not swallow the rest.
            b'"' => in_string = !in_string,
            b'\n' => in_string = false,
            b'{' | b'[' if !in_string => depth += 1,
            b'}' | b']' if !in_string => {
                depth -= 1;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::last_document;

    #[test]
    fn the_last_complete_document_is_found() {
        let table = [
            ("note: {x} [ 1s ] [12]\n{\"a\": 1}\n{\"a\": 2} done {}", r#"{"a":2}"#),
            ("{\"a\": nan, \"b\": [-nan,inf,NaN], \"c\": -Infinity}", r#"{"a":null,"b":[null,null,null],"c":null}"#),
            ("x\n[{\"a\": 1}, {\"a\": 2}]", r#"[{"a":1},{"a":2}]"#),
            ("{\"a\": \"}{:\"}", r#"{"a":"}{:"}"#),
            ("{\"a\": 1,}\n{\"a\": 2}", r#"{"a":2}"#),
        ];
        for (text, expected) in table {
            assert_eq!(last_document(text).map(|document| document.value.to_string()), Ok(expected.to_owned()), "{text}");
        }
    }

    #[test]
    fn a_damaged_or_cut_last_document_is_no_document() {
        let table = [
            ("", "no JSON document"),
            ("{} [] [1, 2] {x}", "no JSON document"),
            ("{\"a\": 1}\n{\"a\": {\"a\": 2}, \"b\"", "cut off"),
            ("{\"a\": 1}\n{\"x\": {\"a\": 2}, \"b\": }", "damaged"),
            ("{\"x\": x, \"y\": {\"a\": 2}", "damaged"),
        ];
        for (text, expected) in table {
            let reason = last_document(text).expect_err(text);
            assert!(reason.contains(expected), "{text}: {reason}");
        }
    }

    #[test]
    fn hostile_texts_end() {
        for piece in ["{", "[", "{\"a\":", "{\"a\":[", "[{\"a\":1},", "{\"", "{\"a\":1"] {
            assert!(last_document(&piece.repeat(20_000)).is_err(), "{piece}");
        }
    }
}
