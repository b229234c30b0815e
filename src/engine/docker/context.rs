//! Contexts of the docker command: which one is chosen, and where it leads. Files are read through the injected environment.

use super::endpoint::{Endpoint, EndpointError, Env, address};
use sha2::{Digest, Sha256};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// The context that is chosen and what chose it; none for the default one, which is no context at all.
pub(super) fn chosen(env: &Env) -> Result<Option<(String, &'static str)>, EndpointError> {
    if let Some(name) = env.var("DOCKER_CONTEXT") {
        return Ok(named(name, "DOCKER_CONTEXT"));
    }
    let Some(path) = env.config_dir().map(|folder| folder.join("config.json")) else { return Ok(None) };
    let Some(config) = json(&path, env)? else { return Ok(None) };
    Ok(config.get("currentContext").and_then(|name| name.as_str()).and_then(|name| named(name, "current context")))
}

fn named(name: &str, by: &'static str) -> Option<(String, &'static str)> {
    (!name.is_empty() && name != "default").then(|| (name.to_owned(), by))
}

/// Where the context `name` leads.
pub(super) fn endpoint(name: &str, chosen_by: &str, env: &Env) -> Result<Endpoint, EndpointError> {
    let folder = env.config_dir().unwrap_or_default().join("contexts");
    let id: String = Sha256::digest(name.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
    let path = folder.join("meta").join(&id).join("meta.json");
    let Some(meta) = json(&path, env)? else {
        return Err(EndpointError::UnknownContext { name: name.to_owned(), found_by: chosen_by.to_owned(), folder });
    };
    let docker = &meta["Endpoints"]["docker"];
    let refused = |what: String| EndpointError::Context { name: name.to_owned(), what };
    let host = docker["Host"].as_str().filter(|host| !host.is_empty()).ok_or_else(|| refused("names no docker host".into()))?;
    if docker["SkipTLSVerify"].as_bool() == Some(true) {
        return Err(refused("skips the verification of TLS certificates, which is not supported".into()));
    }
    let tls = certificates(&folder.join("tls").join(&id).join("docker"), env);
    let address = address(host, tls).ok_or_else(|| refused(format!("has the host `{host}`, which is not an address we know")))?;
    Ok(Endpoint { address, found_by: format!("context `{name}`") })
}

/// The folder, when it holds any TLS material.
fn certificates(folder: &Path, env: &Env) -> Option<PathBuf> {
    ["ca.pem", "cert.pem", "key.pem"].iter().any(|file| (env.read)(&folder.join(file)).is_ok()).then(|| folder.to_path_buf())
}

/// A JSON file; none when it does not exist.
fn json(path: &Path, env: &Env) -> Result<Option<serde_json::Value>, EndpointError> {
    let refused = |reason: String| EndpointError::File { path: path.to_path_buf(), reason };
    match (env.read)(path) {
        Ok(bytes) => serde_json::from_slice(&bytes).map(Some).map_err(|error| refused(error.to_string())),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(None),
        Err(error) => Err(refused(error.to_string())),
    }
}
