//! Names that are known only while a trial runs: `${web.ip}` stands in a plan for what is filled in just before use.
//!
//! Only names of units (and `host`) with a dot are such; `${HOME}` and everything else is the program's own business.

use std::borrow::Cow;

/// What can be asked of a unit.
pub const UNIT_ATTRIBUTES: [&str; 5] = ["ip", "host", "port", "pid", "name"];

/// What can be asked of the host.
pub const HOST_ATTRIBUTES: [&str; 1] = ["ip"];

/// The name under which the host is asked.
pub const HOST: &str = "host";

/// A symbol as it stands in a text.
#[must_use]
pub fn symbol(name: &str, attribute: &str) -> String {
    format!("${{{name}.{attribute}}}")
}

/// Every `${name.attribute}` in a text: name and attribute.
pub fn symbols(text: &str) -> impl Iterator<Item = (&str, &str)> {
    pieces(text).filter_map(|piece| match piece {
        Piece::Symbol { name, attribute, .. } => Some((name, attribute)),
        Piece::Text(_) => None,
    })
}

/// What is known of a name's attribute; none when the name is nobody's.
pub type Value<'v, E> = dyn Fn(&str, &str) -> Result<Option<String>, E> + 'v;

/// The text with every symbol replaced by what `value` knows of it; one that it does not know stays as it is.
///
/// # Errors
/// That of `value`, for a symbol that it knows and has no value of.
pub fn fill<'t, E>(text: &'t str, value: &Value<'_, E>) -> Result<Cow<'t, str>, E> {
    if !text.contains("${") {
        return Ok(Cow::Borrowed(text));
    }
    let mut filled = String::with_capacity(text.len());
    for piece in pieces(text) {
        match piece {
            Piece::Text(text) => filled.push_str(text),
            Piece::Symbol { whole, name, attribute } => match value(name, attribute)? {
                Some(known) => filled.push_str(&known),
                None => filled.push_str(whole),
            },
        }
    }
    Ok(Cow::Owned(filled))
}

enum Piece<'t> {
    Text(&'t str),
    Symbol { whole: &'t str, name: &'t str, attribute: &'t str },
}

fn pieces(text: &str) -> impl Iterator<Item = Piece<'_>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let mut from = 0;
        while let Some(open) = rest[from..].find("${").map(|at| at + from) {
            let Some((whole, name, attribute)) = leading(&rest[open..]) else {
                from = open + 2;
                continue;
            };
            if open == 0 {
                rest = &rest[whole.len()..];
                return Some(Piece::Symbol { whole, name, attribute });
            }
            let before = &rest[..open];
            rest = &rest[open..];
            return Some(Piece::Text(before));
        }
        Some(Piece::Text(std::mem::take(&mut rest)))
    })
}

/// The symbol that a text begins with.
fn leading(text: &str) -> Option<(&str, &str, &str)> {
    let inner = text.strip_prefix("${")?;
    let end = inner.find('}')?;
    let (name, attribute) = inner[..end].split_once('.')?;
    let plain = |word: &str| !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
    (plain(name) && plain(attribute)).then_some((&text[..end + 3], name, attribute))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_with_a_dot_are_symbols() {
        let found = |text: &'static str| symbols(text).map(|(name, attribute)| format!("{name}.{attribute}")).collect::<Vec<_>>();
        let table = [
            ("http://${web.ip}:${web.port}/", vec!["web.ip", "web.port"]),
            ("${HOME} $web.ip {web.ip} ${web.} ${.ip} ${a b.c} ${", vec![]),
            ("a${${web-1.ip}}b${", vec!["web-1.ip"]),
            ("ä${ü.ip}${w.ip}", vec!["w.ip"]),
        ];
        for (text, expected) in table {
            assert_eq!(found(text), expected, "{text}");
        }
    }

    #[test]
    fn what_is_known_is_filled_in_and_the_rest_stays() {
        let value = |name: &str, attribute: &str| match (name, attribute) {
            ("web", "ip") => Ok(Some("10.0.0.2".to_owned())),
            ("web", _) => Err("no port"),
            _ => Ok(None),
        };
        assert_eq!(fill("x ${web.ip}:80 ${java.home} ${P}", &value).as_deref(), Ok("x 10.0.0.2:80 ${java.home} ${P}"));
        assert_eq!(fill("${web.port}", &value), Err("no port"));
        assert!(matches!(fill("plain", &value), Ok(Cow::Borrowed("plain"))));
    }
}
