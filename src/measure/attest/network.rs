//! Which network namespace a unit is in: that of its engine, its own, or that of another unit.

use crate::model::event::Attested;
use crate::model::spec::{Place, UnitSpec};
use std::fmt;

/// The namespace that was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Namespace {
    /// The engine's: `network_mode: host`, and every host process.
    Engines,
    /// One of its own: `bridge`, `none` and networks.
    Own,
    /// That of another unit or container: `service:NAME`, `container:NAME`.
    Of(String),
}

impl Namespace {
    /// The one that a unit asks for.
    #[must_use]
    pub fn asked(unit: &UnitSpec) -> Self {
        match (unit.place, unit.container.network_mode.as_deref()) {
            (Place::Host, _) | (_, Some("host")) => Self::Engines,
            (_, mode) => mode
                .and_then(|mode| mode.strip_prefix("service:").or_else(|| mode.strip_prefix("container:")))
                .map_or(Self::Own, |name| Self::Of(name.to_owned())),
        }
    }
}

impl fmt::Display for Namespace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Engines => f.write_str("the engine's"),
            Self::Own => f.write_str("its own"),
            Self::Of(name) => write!(f, "that of {name}"),
        }
    }
}

/// Namespaces by the kernel's numbers of them, as in the link `net:[4026531840]`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Known {
    /// The engine's own.
    pub engine: u64,
    /// Those of units and containers that run, by name.
    pub others: Vec<(String, u64)>,
}

impl Known {
    /// Whose `number` is, as far as it matters to who asked. Several units may share one, and the one whose own it is did not ask
    /// for that: to it, it is its own.
    fn whose(&self, number: u64, asked: &Namespace) -> Namespace {
        let is_of = |name: &str| self.others.iter().any(|(other, known)| other == name && *known == number);
        match asked {
            Namespace::Of(name) if is_of(name) => asked.clone(),
            _ if number == self.engine => Namespace::Engines,
            _ => Namespace::Own,
        }
    }
}

/// The row `network.namespace` of a unit, of whose namespace `found` is the number; none when it was not read.
///
/// What was asked of a unit whose own namespace is not known cannot be told from another: that is none, too.
#[must_use]
pub fn row(unit: &str, asked: &Namespace, known: &Known, found: Option<u64>, source: &str) -> Attested {
    let knowable = match asked {
        Namespace::Of(name) => known.others.iter().any(|(other, _)| other == name),
        Namespace::Engines | Namespace::Own => true,
    };
    let found = found.filter(|_| knowable).map(|number| known.whose(number, asked).to_string());
    Attested { unit: unit.to_owned(), setting: "network.namespace".to_owned(), asked: asked.to_string(), found, source: source.to_owned() }
}

/// Reads the number of a process's network namespace; none when there is no such process, or it may not be looked at.
#[must_use]
pub fn number(pid: u32) -> Option<u64> {
    parse(std::fs::read_link(format!("/proc/{pid}/ns/net")).ok()?.to_str()?)
}

fn parse(link: &str) -> Option<u64> {
    link.strip_prefix("net:[")?.strip_suffix(']')?.parse().ok()
}

/// The row of a running unit; `pid` is any process of it.
#[must_use]
pub fn read(unit: &str, pid: u32, asked: &Namespace, known: &Known) -> Attested {
    row(unit, asked, known, number(pid), &format!("/proc/{pid}/ns/net"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_asks_for_one_namespace() {
        let unit = |place, mode: Option<&str>| {
            let mut unit = UnitSpec::bare(place);
            unit.container.network_mode = mode.map(str::to_owned);
            Namespace::asked(&unit).to_string()
        };
        for (mode, asked) in [
            (None, "its own"),
            (Some("bridge"), "its own"),
            (Some("none"), "its own"),
            (Some("host"), "the engine's"),
            (Some("service:web"), "that of web"),
            (Some("container:db"), "that of db"),
        ] {
            assert_eq!((unit(Place::Container, mode).as_str(), unit(Place::Host, mode).as_str()), (asked, "the engine's"), "{mode:?}");
        }
    }

    #[test]
    fn what_is_found_is_spelled_as_what_was_asked() {
        let of = |name: &str| Namespace::Of(name.to_owned());
        let known = Known { engine: 1, others: vec![("web".into(), 7), ("app".into(), 7), ("proxy".into(), 1)] };
        for (asked, number, found) in [
            (Namespace::Engines, Some(1), Some("the engine's")),
            (Namespace::Engines, Some(5), Some("its own")),
            (Namespace::Own, Some(5), Some("its own")),
            (Namespace::Own, Some(7), Some("its own")),
            (Namespace::Own, Some(1), Some("the engine's")),
            (of("app"), Some(7), Some("that of app")),
            (of("app"), Some(1), Some("the engine's")),
            (of("proxy"), Some(1), Some("that of proxy")),
            (of("web"), Some(5), Some("its own")),
            (of("cache"), Some(5), None),
            (Namespace::Own, None, None),
        ] {
            let row = row("u", &asked, &known, number, "s");
            assert_eq!(row.found.as_deref(), found, "{asked} {number:?}");
            assert_eq!(row.differs(), found.is_some_and(|found| found != asked.to_string()));
        }
    }

    #[test]
    fn numbers_are_the_kernels() {
        for (link, number) in [("net:[4026532184]", Some(4_026_532_184)), ("mnt:[1]", None), ("net:[]", None), ("net:[1", None), ("", None)]
        {
            assert_eq!(parse(link), number, "{link}");
        }
        let own = number(std::process::id()).expect("our own");
        let known = Known { engine: own, others: Vec::new() };
        let row = read("u", std::process::id(), &Namespace::Engines, &known);
        assert_eq!((row.found.as_deref(), row.setting.as_str()), (Some("the engine's"), "network.namespace"));
        assert_eq!(read("u", u32::MAX, &Namespace::Engines, &known).found, None);
    }
}
