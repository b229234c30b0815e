//! JSON objects that repeat a key, as iperf3 writes them: the usual reading keeps the last value silently; this one keeps the first,
//! so that both can be asked and an answer that depends on the reading is noticed.

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};
use std::fmt;

/// The document with the first value of every repeated key; none when no key is repeated. `last_wins` is the same document as
/// usually read.
pub(super) fn first_wins(document: &str, last_wins: &Value) -> Option<Value> {
    if colons(document) == members(last_wins) {
        return None;
    }
    serde_json::from_str::<FirstWins>(document).ok().map(|FirstWins(value)| value)
}

/// Members that a valid document writes down: its colons outside strings.
fn colons(document: &str) -> usize {
    let (mut count, mut in_string, mut escaped) = (0, false, false);
    for byte in document.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => in_string = !in_string,
            b':' if !in_string => count += 1,
            _ => {}
        }
    }
    count
}

/// Members that were kept.
fn members(value: &Value) -> usize {
    match value {
        Value::Object(object) => object.len() + object.values().map(members).sum::<usize>(),
        Value::Array(items) => items.iter().map(members).sum(),
        _ => 0,
    }
}

struct FirstWins(Value);

impl<'de> Deserialize<'de> for FirstWins {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Reader).map(Self)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut all = Vec::new();
        while let Some(FirstWins(item)) = items.next_element()? {
            all.push(item);
        }
        Ok(Value::Array(all))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some((key, FirstWins(value))) = members.next_entry::<String, FirstWins>()? {
            object.entry(key).or_insert(value);
        }
        Ok(Value::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use super::first_wins;

    #[test]
    fn the_first_value_of_a_repeated_key_is_kept() {
        let table = [
            (r#"{"a": 1, "b": {"c": "x:\":"}, "d": [1.5, null, true, -2, {"e": 1}]}"#, None),
            (r#"{"a": {"b": 1}, "a": {"b": 2}, "c": [{"d": -1, "d": 2.5}]}"#, Some(r#"{"a":{"b":1},"c":[{"d":-1}]}"#)),
        ];
        for (text, expected) in table {
            let last = serde_json::from_str(text).expect("a document");
            assert_eq!(first_wins(text, &last).map(|value| value.to_string()).as_deref(), expected, "{text}");
        }
    }
}
