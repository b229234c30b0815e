//! From a unit as planned to a unit as it runs: symbols filled in, names of networks and volumes turned into the engine's, paths
//! made absolute.

use crate::engine::namespace::{Namespace, own_address};
use crate::engine::{Standing, UnitName};
use crate::model::spec::{Place, TrialSpec, UnitSpec};
use crate::model::stack::{MountSource, VolumeSpec};
use crate::model::symbol::{self, HOST};
use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// What is known of the units of one trial while it runs.
pub(super) struct Names<'t> {
    trial: &'t TrialSpec,
    name: &'t UnitName,
    folder: &'t Path,
    namespace: Option<Arc<Namespace>>,
    host_ip: OnceLock<Result<IpAddr, String>>,
    known: Mutex<HashMap<String, Standing>>,
}

impl<'t> Names<'t> {
    /// Nothing is known yet. Relative paths are relative to `folder`.
    pub(super) fn new(trial: &'t TrialSpec, name: &'t UnitName, folder: &'t Path, namespace: Option<Arc<Namespace>>) -> Self {
        Self { trial, name, folder, namespace, host_ip: OnceLock::new(), known: Mutex::default() }
    }

    /// The trial as planned.
    pub(super) fn trial(&self) -> &TrialSpec {
        self.trial
    }

    /// The engine's name of a unit.
    pub(super) fn of(&self, unit: &str) -> UnitName {
        UnitName { unit: unit.to_owned(), ..self.name.clone() }
    }

    /// Remembers how a unit stands.
    pub(super) fn learn(&self, unit: &str, standing: Standing) {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).insert(unit.to_owned(), standing);
    }

    /// The namespace of the trial's engine; none where that is ours.
    pub(super) fn namespace(&self) -> Option<&Arc<Namespace>> {
        self.namespace.as_ref()
    }

    /// A unit as the engine gets it.
    ///
    /// # Errors
    /// What is asked for and not there.
    pub(super) fn bind(&self, unit: &UnitSpec) -> Result<UnitSpec, String> {
        let mut bound = unit.clone();
        for text in bound.texts_mut() {
            if let std::borrow::Cow::Owned(filled) = self.fill(text)? {
                *text = filled;
            }
        }
        for mount in &mut bound.volumes {
            match &mut mount.source {
                MountSource::Bind(path) => *path = self.folder.join(&path),
                MountSource::Volume(name) => *name = self.name.volume(name, self.volume(name).is_some_and(|volume| volume.keep)),
                MountSource::Anonymous | MountSource::Tmpfs(_) => {}
            }
        }
        bound.files.iter_mut().filter_map(|file| file.source.as_mut()).for_each(|source| *source = self.folder.join(&*source));
        bound.container.networks.iter_mut().for_each(|network| *network = self.name.network(network));
        if let Some(mode) = &mut bound.container.network_mode
            && let Some(other) = mode.strip_prefix("service:")
        {
            *mode = match self.unit(other).map(|unit| unit.place) {
                Some(Place::Host) => "host".to_owned(),
                _ => format!("container:{}", self.of(other).container()),
            };
        }
        Ok(bound)
    }

    /// The words of a command with every symbol filled in.
    ///
    /// # Errors
    /// What is asked for and not there.
    pub(super) fn command(&self, words: &[String]) -> Result<Vec<String>, String> {
        words.iter().map(|word| self.text(word)).collect()
    }

    /// A text with every symbol filled in.
    ///
    /// # Errors
    /// What is asked for and not there.
    pub(super) fn text(&self, text: &str) -> Result<String, String> {
        self.fill(text).map(std::borrow::Cow::into_owned)
    }

    /// The host's own address, as `${host.ip}` gives it.
    ///
    /// # Errors
    /// When it has none besides loopback.
    pub(super) fn host_address(&self) -> Result<String, String> {
        let address = self.host_ip.get_or_init(|| {
            own_address(self.namespace.as_deref()).map_err(|error| format!("the host has no address besides loopback: {error}"))
        });
        address.as_ref().map(ToString::to_string).map_err(Clone::clone)
    }

    /// How the units stand that run.
    pub(super) fn standing(&self) -> Vec<(String, Standing)> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let mut all: Vec<_> = known.iter().map(|(name, standing)| (name.clone(), standing.clone())).collect();
        all.sort_by(|a, b| a.0.cmp(&b.0));
        all
    }

    /// The trial's volumes that units of a place use, with absolute paths.
    pub(super) fn volumes(&self, place: Place) -> Vec<VolumeSpec> {
        let used = |volume: &&VolumeSpec| {
            let here = self.trial.units().filter(|(_, unit)| unit.place == place);
            here.flat_map(|(_, unit)| unit.named_volumes()).any(|name| name == volume.name)
        };
        let absolute = |volume: &VolumeSpec| VolumeSpec { from: volume.from.as_ref().map(|from| self.folder.join(from)), ..volume.clone() };
        self.trial.volumes.iter().filter(used).map(absolute).collect()
    }

    fn fill<'s>(&self, text: &'s str) -> Result<std::borrow::Cow<'s, str>, String> {
        symbol::fill(text, &|name, attribute| self.value(name, attribute))
    }

    fn unit(&self, name: &str) -> Option<&UnitSpec> {
        self.trial.units().find(|(known, _)| *known == name).map(|(_, unit)| unit)
    }

    fn volume(&self, name: &str) -> Option<&VolumeSpec> {
        self.trial.volumes.iter().find(|volume| volume.name == name)
    }

    fn value(&self, name: &str, attribute: &str) -> Result<Option<String>, String> {
        if name == HOST {
            return self.host_address().map(Some);
        }
        let Some(unit) = self.unit(name) else { return Ok(None) };
        if attribute == "name" {
            return Ok(Some(self.of(name).container()));
        }
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(standing) = known.get(name) else { return Err(format!("`{name}` does not run yet, so its `{attribute}` is not known")) };
        let published = standing.ports.iter().find(|port| port.host_port.is_some());
        let value = match attribute {
            "ip" => standing.addresses.first().copied().or_else(|| shares_host(unit).then_some(LOOPBACK)).map(|ip| ip.to_string()),
            "host" => match published {
                Some(port) => Some(in_url(port.host_ip.filter(|ip| !ip.is_unspecified()).unwrap_or(LOOPBACK))),
                None => standing.addresses.first().copied().or_else(|| shares_host(unit).then_some(LOOPBACK)).map(in_url),
            },
            "port" => published.and_then(|port| port.host_port).map(|port| port.to_string()),
            "pid" => standing.pid.map(|pid| pid.to_string()),
            _ => None,
        };
        value.map(Some).ok_or_else(|| format!("`{name}` has no `{attribute}`"))
    }
}

const LOOPBACK: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// Whether a unit listens on its engine's own addresses.
fn shares_host(unit: &UnitSpec) -> bool {
    unit.place == Place::Host || unit.container.network_mode.as_deref() == Some("host")
}

/// An address as it stands in a URL.
fn in_url(address: IpAddr) -> String {
    match address {
        IpAddr::V4(address) => address.to_string(),
        IpAddr::V6(address) => format!("[{address}]"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::spec::{EngineSpec, FileSpec};
    use crate::model::stack::{MountSpec, PortSpec, ServiceSpec};

    fn trial() -> TrialSpec {
        let mut web = UnitSpec::bare(Place::Container);
        web.container.networks = vec!["front".into()];
        web.volumes = vec![MountSpec { source: MountSource::Volume("data".into()), target: "/d".into(), read_only: false }];
        let mut side = UnitSpec::bare(Place::Container);
        side.container.network_mode = Some("service:web".into());
        let service = |name: &str, unit| ServiceSpec { name: name.into(), unit, depends_on: Vec::new(), ready: None, prepare: Vec::new() };
        let native = UnitSpec::bare(Place::Host);
        let keep = VolumeSpec { name: "data".into(), tmpfs_bytes: None, keep: true, from: Some("seed".into()) };
        TrialSpec {
            services: vec![service("web", web), service("side", side), service("native", native)],
            volumes: vec![keep],
            ..TrialSpec::bare(EngineSpec::default())
        }
    }

    #[test]
    fn a_unit_gets_the_names_of_the_engine_and_what_is_known_of_others() {
        let (trial, name) = (trial(), UnitName { run: "r1".into(), experiment: "e".into(), trial: "b1p1".into(), unit: String::new() });
        let names = Names::new(&trial, &name, Path::new("/m"), None);
        let mut unit =
            UnitSpec { command: vec!["get".into(), "${web.ip}:${web.port} ${web.host} ${HOME}".into()], ..trial.services[1].unit.clone() };
        unit.volumes = vec![
            MountSpec { source: MountSource::Volume("data".into()), target: "/d".into(), read_only: false },
            MountSpec { source: MountSource::Bind("conf".into()), target: "/c".into(), read_only: true },
        ];
        unit.files = vec![FileSpec { source: Some("x".into()), ..FileSpec::text("/x", "", 0o644) }];
        assert_eq!(names.bind(&unit), Err("`web` does not run yet, so its `ip` is not known".to_owned()));
        let port = PortSpec { host_ip: Some("::1".parse().expect("address")), host_port: Some(5000), port: 80, protocol: "tcp".into() };
        let addresses = vec!["172.18.0.2".parse().expect("address")];
        names.learn("web", Standing { addresses, ports: vec![port], ..Standing::default() });
        names.learn("native", Standing::default());
        let bound = names.bind(&unit).expect("known now");
        assert_eq!(bound.command, ["get", "172.18.0.2:5000 [::1] ${HOME}"]);
        assert_eq!(bound.container.network_mode.as_deref(), Some("container:shakedown-r1-b1p1-web"));
        assert_eq!(bound.volumes[0].source, MountSource::Volume("shakedown-r1-vol-data".into()));
        assert_eq!(
            (&bound.volumes[1].source, bound.files[0].source.as_deref()),
            (&MountSource::Bind("/m/conf".into()), Some(Path::new("/m/x")))
        );
        assert_eq!(names.volumes(Place::Host), []);
        assert_eq!(names.volumes(Place::Container)[0].from.as_deref(), Some(Path::new("/m/seed")));
        let table = [
            ("${native.ip}", Ok("127.0.0.1")),
            ("${side.name}", Ok("shakedown-r1-b1p1-side")),
            ("${native.port}", Err("`native` has no `port`")),
        ];
        for (text, expected) in table {
            assert_eq!(names.text(text), expected.map(str::to_owned).map_err(str::to_owned), "{text}");
        }
        assert_eq!(names.bind(&trial.services[0].unit).expect("web").container.networks, ["shakedown-r1-b1p1-net-front"]);
    }
}
