//! Where a command aims at: the addresses and ports that its words name.

use super::spec::{Place, UnitSpec};

/// The spellings of an address that never leaves a host.
pub const LOOPBACK: [&str; 3] = ["127.0.0.1", "localhost", "[::1]"];

/// A word of a workload's command that may name an address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// The word.
    pub text: String,
    /// Whether it is meant from inside a bridge, whose packets the rules for the host's own address leave alone.
    pub from_bridge: bool,
}

impl Target {
    /// Those of a unit.
    pub fn all(unit: &UnitSpec) -> impl Iterator<Item = Self> + '_ {
        let from_bridge = unit.place == Place::Container && unit.container.network_mode.as_deref() != Some("host");
        unit.command.iter().map(move |text| Self { text: text.clone(), from_bridge })
    }

    /// Whether it names this address and port.
    #[must_use]
    pub fn names(&self, address: &str, port: u16) -> bool {
        let wanted = format!("{address}:{port}");
        let ends = |at: usize| !self.text[at + wanted.len()..].starts_with(|c: char| c.is_ascii_digit());
        self.text.match_indices(&wanted).any(|(at, _)| ends(at))
    }
}
