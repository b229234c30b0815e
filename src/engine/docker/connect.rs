//! From an address to a client: one API version agreed on and pinned on the wire, and what the daemon can do learned once.

use super::endpoint::{Address, Endpoint};
use super::lifecycle::Units;
use super::{Docker, reason};
use crate::engine::EngineError;
use bollard::errors::Error;
use bollard::models::{SystemInfo, SystemVersion};
use std::time::Duration;

/// The oldest API version that we speak: that of Docker 20.10, and what podman offers.
pub const OLDEST_API: (usize, usize) = (1, 41);

/// The newest API version that we speak.
#[must_use]
pub fn newest_api() -> (usize, usize) {
    let version = bollard::API_DEFAULT_VERSION;
    (version.major_version, version.minor_version)
}

/// Limit of the client itself on a call that should answer soon; callers set tighter ones.
const SOON: Duration = Duration::from_secs(120);
/// Limit on calls that may rightly take long: podman sends no header before the exit that is waited for.
const PATIENT: Duration = Duration::from_secs(7 * 24 * 3600);

/// What a daemon is and can do, read once when connecting.
pub(super) struct Abilities {
    /// The agreed API version.
    pub api: String,
    /// The answer to `/version`.
    pub version: SystemVersion,
    /// The answer to `/info`.
    pub info: SystemInfo,
}

/// Connects, negotiates and asks what there is.
pub(super) async fn connect(endpoint: Endpoint) -> Result<Docker, EngineError> {
    let unreachable =
        |reason: String| EngineError::Unreachable { endpoint: endpoint.address.to_string(), found_by: endpoint.found_by.clone(), reason };
    let probe = client(&endpoint.address).map_err(unreachable)?;
    let version = probe.version().await.map_err(|error| unreachable(next_step(&endpoint.address, &error)))?;
    let api = agree(version.min_api_version.as_deref(), version.api_version.as_deref()).map_err(unreachable)?;
    let prefix = format!("/v{api}");
    let client = probe.with_request_modifier(move |mut request| {
        // The client sends unversioned paths, which the daemon answers in its own newest form; `scheme://authority/path` takes
        // the version in front of the path.
        let uri = request.uri();
        let path = uri.path_and_query().map_or("/", |path| path.as_str());
        if !path.starts_with("/v1.") {
            let scheme = uri.scheme_str().unwrap_or("http");
            let authority = uri.authority().map_or("", |authority| authority.as_str());
            if let Ok(pinned) = format!("{scheme}://{authority}{prefix}{path}").parse() {
                *request.uri_mut() = pinned;
            }
        }
        request
    });
    let info = client.info().await.map_err(|error| unreachable(reason(&error)))?;
    let patient = client.clone().with_timeout(PATIENT);
    let abilities = Abilities { api, version, info };
    let own_groups = !abilities.systemd();
    Ok(Docker { client: client.with_timeout(SOON), patient, endpoint, abilities, units: Units::default(), own_groups })
}

/// A client that has not yet said a word.
fn client(address: &Address) -> Result<bollard::Docker, String> {
    let version = bollard::API_DEFAULT_VERSION;
    let made = match address {
        Address::Unix(path) => bollard::Docker::connect_with_unix(&path.to_string_lossy(), SOON.as_secs(), version),
        Address::Tcp(authority) => bollard::Docker::connect_with_http(authority, SOON.as_secs(), version),
        #[cfg(feature = "tls")]
        Address::Tls(authority, folder) => bollard::Docker::connect_with_ssl(
            authority,
            &folder.join("key.pem"),
            &folder.join("cert.pem"),
            &folder.join("ca.pem"),
            SOON.as_secs(),
            version,
        ),
        #[cfg(not(feature = "tls"))]
        Address::Tls(..) => return Err("TLS is not built in; build shakedown with `--features tls`".into()),
        #[cfg(feature = "ssh")]
        Address::Ssh(target) => bollard::Docker::connect_with_ssh(target, SOON.as_secs(), version, None),
        #[cfg(not(feature = "ssh"))]
        Address::Ssh(_) => return Err("ssh is not built in; build shakedown with `--features ssh`".into()),
    };
    made.map_err(|error| next_step(address, &error))
}

fn next_step(address: &Address, error: &Error) -> String {
    let what = reason(error);
    let next = match address {
        _ if what.contains("ermission denied") => "may this user use it? The group `docker` may, and root",
        Address::Unix(_) => "is the daemon running?",
        _ => "is the daemon running, and is its port reachable from here?",
    };
    format!("{what}; {next}")
}

/// The highest version that both sides speak, as `1.41`.
fn agree(their_oldest: Option<&str>, their_newest: Option<&str>) -> Result<String, String> {
    let newest = their_newest.and_then(parse).ok_or_else(|| "it does not say which API version it speaks".to_owned())?;
    let oldest = their_oldest.and_then(parse).unwrap_or((1, 0));
    let common = newest.min(newest_api());
    let ranges =
        || format!("it speaks API {} to {}, shakedown {} to {}", dotted(oldest), dotted(newest), dotted(OLDEST_API), dotted(newest_api()));
    if common < OLDEST_API {
        return Err(format!("the engine is too old: {}; update the engine", ranges()));
    }
    if common < oldest {
        return Err(format!("the engine is too new: {}; update shakedown", ranges()));
    }
    Ok(dotted(common))
}

fn parse(text: &str) -> Option<(usize, usize)> {
    let (major, minor) = text.trim().split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

fn dotted((major, minor): (usize, usize)) -> String {
    format!("{major}.{minor}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_highest_common_version_is_chosen_or_both_ranges_are_told() {
        assert_eq!(agree(Some("1.12"), Some("1.41")), Ok("1.41".into()));
        assert_eq!(agree(Some("1.44"), Some("1.52")), Ok("1.52".into()));
        assert_eq!(agree(None, Some("1.45")), Ok("1.45".into()));
        assert_eq!(agree(Some("1.44"), Some("1.99")), Ok(dotted(newest_api())));
        let old = agree(Some("1.12"), Some("1.40")).expect_err("too old");
        assert!(old.contains("1.12 to 1.40") && old.contains("1.41 to ") && old.ends_with("update the engine"), "{old}");
        let new = agree(Some("1.90"), Some("1.99")).expect_err("too new");
        assert!(new.contains("1.90 to 1.99") && new.ends_with("update shakedown"), "{new}");
        assert!(agree(None, None).is_err());
        assert!(agree(None, Some("one")).is_err());
    }
}
