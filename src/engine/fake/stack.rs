//! What scripted units stand in, and how they are seen.

use super::script::Seen;
use super::{Rule, State};
use crate::engine::{Furniture, Standing, UnitName};
use crate::model::spec::{Place, UnitSpec};
use crate::model::stack::{MountSource, PortSpec};
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};

/// The first port that is chosen where none is asked for.
const FIRST_PORT: u16 = 49_152;

/// The runs of the networks and volumes that are there, by the engine's name.
#[derive(Debug, Default)]
pub(super) struct Stock(BTreeMap<String, String>);

impl Stock {
    /// Makes what is asked for; what is kept and there stays.
    pub(super) fn make(&mut self, name: &UnitName, furniture: Furniture<'_>) {
        let networks = furniture.networks.iter().map(|network| name.network(&network.name));
        let volumes = furniture.volumes.iter().map(|volume| name.volume(&volume.name, volume.keep));
        self.0.extend(networks.chain(volumes).map(|engine_name| (engine_name, name.run.clone())));
    }

    /// Removes what is the trial's own of these.
    pub(super) fn remove(&mut self, name: &UnitName, furniture: Furniture<'_>) {
        furniture.networks.iter().for_each(|network| drop(self.0.remove(&name.network(&network.name))));
        let passing = furniture.volumes.iter().filter(|volume| !volume.keep);
        passing.for_each(|volume| drop(self.0.remove(&name.volume(&volume.name, false))));
    }

    /// Removes what belongs to no run of `alive`, and tells it.
    pub(super) fn sweep(&mut self, alive: &[String]) -> Vec<String> {
        self.0.extract_if(.., |_, run| !alive.contains(run)).map(|(engine_name, _)| engine_name).collect()
    }

    /// The names of everything that is there.
    pub(super) fn names(&self) -> impl Iterator<Item = &String> {
        self.0.keys()
    }

    /// What a container is to be attached to and is not there; names are the engine's by now.
    pub(super) fn missing(&self, spec: &UnitSpec) -> Option<String> {
        let volumes = spec.volumes.iter().filter_map(|mount| match &mount.source {
            MountSource::Volume(volume) => Some(volume),
            _ => None,
        });
        let mut wanted = spec.container.networks.iter().chain(volumes).filter(|_| spec.place == Place::Container);
        wanted.find(|name| !self.0.contains_key(*name)).map(|name| format!("`{name}` is not there"))
    }
}

impl State {
    /// The first rule for `furniture` that is not used up.
    pub(super) fn rule_of_furniture(&mut self, call: &str, name: &UnitName, furniture: Furniture<'_>) -> Rule {
        let networks = furniture.networks.iter().map(|network| network.name.as_str());
        let names: Vec<&str> = networks.chain(furniture.volumes.iter().map(|volume| volume.name.as_str())).collect();
        let names = names.join(" ");
        self.calls.push(format!("{call} {} {names}", name.trial).trim_end().to_owned());
        let wanted = |rule: &Rule| match call {
            "furnish" => rule.is_of_furniture() && rule.clear_error.is_none(),
            _ => rule.is_of_furniture() && rule.furnish_error.is_none(),
        };
        self.rule(&names, wanted).unwrap_or_default()
    }
}

/// How the `number`-th unit is seen.
pub(super) fn standing(spec: &UnitSpec, seen: &Seen, number: u8) -> Standing {
    let container = &spec.container;
    let chosen = |(index, port): (u16, &PortSpec)| PortSpec { host_port: port.host_port.or(Some(FIRST_PORT + index)), ..port.clone() };
    let mode = container.networks.first().or(container.network_mode.as_ref()).map(|mode| ("network_mode".to_owned(), mode.clone()));
    let mounts = spec.volumes.iter().map(|mount| {
        let kind = match mount.source {
            MountSource::Volume(_) | MountSource::Anonymous => "volume",
            MountSource::Bind(_) => "bind",
            MountSource::Tmpfs(_) => "tmpfs",
        };
        (format!("mount {}", mount.target.display()), kind.to_owned())
    });
    let mut settings: BTreeMap<String, String> = mode.into_iter().chain(mounts).collect();
    for (name, value) in &seen.settings {
        match value {
            Some(value) => settings.insert(name.clone(), value.clone()),
            None => settings.remove(name),
        };
    }
    let address = IpAddr::V4(Ipv4Addr::new(192, 0, 2, number));
    Standing {
        addresses: seen.addresses.clone().unwrap_or_else(|| vec![address]),
        ports: seen.ports.clone().unwrap_or_else(|| (0..).zip(&container.ports).map(chosen).collect()),
        pid: seen.pid,
        image: None,
        settings: settings.into_iter().collect(),
    }
}
