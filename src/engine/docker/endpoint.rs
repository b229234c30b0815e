//! Where the daemon is: one resolver with the docker command's precedence, over an injected environment.
//!
//! An explicit address, then `DOCKER_HOST`, then `DOCKER_CONTEXT`, then the current context of the command's configuration,
//! then the default sockets. Only the last step may go on to a next candidate: a named address or context that does not work
//! is an error, because measuring another daemon than the one meant is worse than measuring none.

use super::context;
use crate::engine::EngineError;
use std::collections::BTreeMap;
use std::io;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

/// Reads a whole file.
pub type Reader = Box<dyn Fn(&Path) -> io::Result<Vec<u8>> + Send + Sync>;

/// What the resolver may know of the outside.
pub struct Env {
    /// Environment variables.
    pub vars: BTreeMap<String, String>,
    /// The user's home folder; none when unknown.
    pub home: Option<PathBuf>,
    /// Reads a file.
    pub read: Reader,
    /// Whether a path leads to a socket; a dangling link does not.
    pub is_socket: Box<dyn Fn(&Path) -> bool + Send + Sync>,
}

impl Env {
    /// The environment of this process.
    #[must_use]
    pub fn of_process() -> Self {
        Self {
            vars: std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?))).collect(),
            home: std::env::home_dir(),
            read: Box::new(|path| fs_err::read(path)),
            is_socket: Box::new(|path| fs_err::metadata(path).is_ok_and(|meta| meta.file_type().is_socket())),
        }
    }

    /// A variable's value; empty counts as absent, as for the docker command.
    pub(super) fn var(&self, name: &str) -> Option<&str> {
        self.vars.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// The docker command's configuration folder.
    pub(super) fn config_dir(&self) -> Option<PathBuf> {
        self.var("DOCKER_CONFIG").map(PathBuf::from).or_else(|| self.home.as_ref().map(|home| home.join(".docker")))
    }
}

/// A daemon's address and how it was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// The address.
    pub address: Address,
    /// `DOCKER_HOST`, "context `x`", `default socket` or `engine host`.
    pub found_by: String,
}

/// How to reach a daemon.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Address {
    /// A unix socket.
    Unix(PathBuf),
    /// `host:port`, in the clear.
    Tcp(String),
    /// `host:port` with the folder of `ca.pem`, `cert.pem` and `key.pem`.
    Tls(String, PathBuf),
    /// `user@host` and more, through the ssh command.
    Ssh(String),
}

impl std::fmt::Display for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unix(path) => write!(f, "unix://{}", path.display()),
            Self::Tcp(authority) => write!(f, "tcp://{authority}"),
            Self::Tls(authority, _) => write!(f, "https://{authority}"),
            Self::Ssh(target) => write!(f, "ssh://{target}"),
        }
    }
}

/// No address could be found.
#[derive(Debug, thiserror::Error)]
pub enum EndpointError {
    /// The address has a form that we do not know.
    #[error("`{address}` ({found_by}) is not an engine address; use unix://, tcp://, http://, https:// or ssh://")]
    Address {
        /// As given.
        address: String,
        /// Where it was given.
        found_by: String,
    },
    /// The context does not exist.
    #[error("context `{name}` ({found_by}) does not exist below `{folder}`; `docker context ls` lists those that do")]
    UnknownContext {
        /// Its name.
        name: String,
        /// What names it.
        found_by: String,
        /// Where contexts are kept.
        folder: PathBuf,
    },
    /// A file of the docker command cannot be understood.
    #[error("`{path}` cannot be read: {reason}; fix it or name the engine with DOCKER_HOST")]
    File {
        /// The file.
        path: PathBuf,
        /// Why not.
        reason: String,
    },
    /// A context asks for something that we do not do.
    #[error("context `{name}` {what}; name the engine with DOCKER_HOST instead")]
    Context {
        /// Its name.
        name: String,
        /// What it asks for.
        what: String,
    },
    /// No default socket is there.
    #[error("no engine socket at {}; start the daemon, or name one with DOCKER_HOST or `docker context use`", tried.join(", "))]
    NoSocket {
        /// Every place that was looked at, in backticks.
        tried: Vec<String>,
    },
}

impl From<EndpointError> for EngineError {
    fn from(error: EndpointError) -> Self {
        let (endpoint, found_by) = match &error {
            EndpointError::Address { address, found_by } => (address.clone(), found_by.clone()),
            EndpointError::UnknownContext { name, found_by, .. } => (name.clone(), found_by.clone()),
            EndpointError::File { path, .. } => (path.display().to_string(), "docker configuration".into()),
            EndpointError::Context { name, .. } => (name.clone(), "context".into()),
            EndpointError::NoSocket { .. } => ("default sockets".into(), "nothing names another".into()),
        };
        Self::Unreachable { endpoint, found_by, reason: error.to_string() }
    }
}

/// Finds the daemon: `host` when given, else what the docker command would use in `env`.
///
/// # Errors
/// When what is named is unknown or malformed, or nothing is named and no default socket is there.
pub fn resolve(host: Option<&str>, env: &Env) -> Result<Endpoint, EndpointError> {
    if let Some(host) = host {
        return named(host, "engine host", env);
    }
    if let Some(host) = env.var("DOCKER_HOST") {
        return named(host, "DOCKER_HOST", env);
    }
    match context::chosen(env)? {
        Some((name, found_by)) => context::endpoint(&name, found_by, env),
        None => default_socket(env),
    }
}

/// An address written by a person; `tcp://` with `DOCKER_TLS_VERIFY` set speaks TLS, as for the docker command.
fn named(text: &str, found_by: &str, env: &Env) -> Result<Endpoint, EndpointError> {
    let folder = || env.var("DOCKER_CERT_PATH").map(PathBuf::from).or_else(|| env.config_dir()).unwrap_or_default();
    let tls = env.var("DOCKER_TLS_VERIFY").map(|_| folder());
    let unknown = || EndpointError::Address { address: text.to_owned(), found_by: found_by.to_owned() };
    let address = match text.strip_prefix("https://") {
        Some(_) => address(text, Some(tls.unwrap_or_else(folder))),
        None => address(text, tls),
    };
    Ok(Endpoint { address: address.ok_or_else(unknown)?, found_by: found_by.to_owned() })
}

/// Reads an address; `tls` is the folder of the certificates when TLS is wanted.
pub(super) fn address(text: &str, tls: Option<PathBuf>) -> Option<Address> {
    let (scheme, rest) = text.split_once("://")?;
    let rest = if scheme == "unix" { rest } else { rest.trim_end_matches('/') };
    if rest.is_empty() {
        return None;
    }
    let port = |port: u16| {
        if rest.rsplit_once(':').is_some_and(|(_, p)| p.parse::<u16>().is_ok()) { rest.to_owned() } else { format!("{rest}:{port}") }
    };
    match (scheme, tls) {
        ("unix", _) => rest.starts_with('/').then(|| Address::Unix(rest.into())),
        ("http", _) | ("tcp", None) => Some(Address::Tcp(port(2375))),
        ("tcp" | "https", Some(folder)) => Some(Address::Tls(port(2376), folder)),
        ("ssh", _) => Some(Address::Ssh(rest.to_owned())),
        _ => None,
    }
}

/// The first default socket that is there.
fn default_socket(env: &Env) -> Result<Endpoint, EndpointError> {
    let runtime = env.var("XDG_RUNTIME_DIR").map(PathBuf::from);
    let candidates = [
        Some(PathBuf::from("/var/run/docker.sock")),
        runtime.as_ref().map(|folder| folder.join("docker.sock")),
        runtime.as_ref().map(|folder| folder.join("podman/podman.sock")),
        Some(PathBuf::from("/run/podman/podman.sock")),
    ];
    let mut tried = Vec::new();
    for path in candidates.into_iter().flatten() {
        if (env.is_socket)(&path) {
            return Ok(Endpoint { address: Address::Unix(path), found_by: "default socket".into() });
        }
        tried.push(format!("`{}`", path.display()));
    }
    Err(EndpointError::NoSocket { tried })
}
