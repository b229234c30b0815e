//! Where the daemon is looked for: the docker command's precedence, over an environment made up here.

use shakedown::engine::EngineError;
use shakedown::engine::docker::{Address, Docker, Env, resolve};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{Error, ErrorKind};
use std::path::{Path, PathBuf};

/// sha256 of `lab`, the name of the context below.
const LAB: &str = "a51146d38077ff992eba84cf1d5e9b249073503eb74868699016153b031a38f7";

/// A made-up environment: variables, files and sockets.
fn env(vars: &[(&str, &str)], files: &[(&str, &str)], sockets: &[&str]) -> Env {
    let files: BTreeMap<PathBuf, Vec<u8>> = files.iter().map(|(path, text)| (path.into(), text.as_bytes().to_vec())).collect();
    let sockets: BTreeSet<PathBuf> = sockets.iter().map(PathBuf::from).collect();
    Env {
        vars: vars.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
        home: Some("/home/u".into()),
        read: Box::new(move |path| files.get(path).cloned().ok_or_else(|| Error::from(ErrorKind::NotFound))),
        is_socket: Box::new(move |path: &Path| sockets.contains(path)),
    }
}

/// The address and how it was found, or the error's text.
fn found(host: Option<&str>, env: &Env) -> Result<(String, String), String> {
    resolve(host, env).map(|endpoint| (endpoint.address.to_string(), endpoint.found_by)).map_err(|error| error.to_string())
}

fn is(address: &str, found_by: &str) -> Result<(String, String), String> {
    Ok((address.to_owned(), found_by.to_owned()))
}

#[test]
fn the_command_s_precedence_is_kept() {
    let meta = format!("/home/u/.docker/contexts/meta/{LAB}/meta.json");
    let config = ("/home/u/.docker/config.json", r#"{"currentContext":"lab"}"#);
    let lab = (meta.as_str(), r#"{"Name":"lab","Endpoints":{"docker":{"Host":"unix:///lab.sock"}}}"#);
    let default = "/var/run/docker.sock";
    let host = ("DOCKER_HOST", "tcp://10.0.0.1");
    let context = ("DOCKER_CONTEXT", "lab");
    let all = [config, lab];

    assert_eq!(found(Some("unix:///x.sock"), &env(&[host, context], &all, &[default])), is("unix:///x.sock", "engine host"));
    assert_eq!(found(None, &env(&[host, context], &all, &[default])), is("tcp://10.0.0.1:2375", "DOCKER_HOST"));
    assert_eq!(found(None, &env(&[context], &[lab], &[default])), is("unix:///lab.sock", "context `lab`"));
    assert_eq!(found(None, &env(&[], &all, &[default])), is("unix:///lab.sock", "context `lab`"));
    assert_eq!(found(None, &env(&[("DOCKER_HOST", "")], &all, &[])), is("unix:///lab.sock", "context `lab`"));
    assert_eq!(found(None, &env(&[("DOCKER_CONTEXT", "default")], &all, &[default])), is("unix:///var/run/docker.sock", "default socket"));
    assert_eq!(found(None, &env(&[], &[], &[default])), is("unix:///var/run/docker.sock", "default socket"));
}

#[test]
fn the_configuration_folder_can_be_elsewhere() {
    let meta = format!("/cfg/contexts/meta/{LAB}/meta.json");
    let files = [("/cfg/config.json", r#"{"currentContext":"lab"}"#), (meta.as_str(), r#"{"Endpoints":{"docker":{"Host":"ssh://u@h"}}}"#)];
    assert_eq!(found(None, &env(&[("DOCKER_CONFIG", "/cfg")], &files, &[])), is("ssh://u@h", "context `lab`"));
}

#[test]
fn an_unknown_context_is_an_error_and_never_another_daemon() {
    let config = ("/home/u/.docker/config.json", r#"{"currentContext":"gone"}"#);
    for (vars, files, by) in [(vec![("DOCKER_CONTEXT", "gone")], vec![], "DOCKER_CONTEXT"), (vec![], vec![config], "current context")] {
        let error = found(None, &env(&vars, &files, &["/var/run/docker.sock"])).expect_err("unknown context");
        assert!(error.contains("`gone`") && error.contains(by) && error.contains("docker context ls"), "{error}");
    }
}

#[test]
fn a_broken_configuration_or_context_is_told() {
    let meta = format!("/home/u/.docker/contexts/meta/{LAB}/meta.json");
    let table = [
        ("/home/u/.docker/config.json", "{", "config.json` cannot be read"),
        (meta.as_str(), "[]", "names no docker host"),
        (meta.as_str(), r#"{"Endpoints":{"docker":{"Host":"npipe:////./pipe/x"}}}"#, "npipe"),
        (meta.as_str(), r#"{"Endpoints":{"docker":{"Host":"tcp://h:1","SkipTLSVerify":true}}}"#, "verification"),
    ];
    for (path, text, expected) in table {
        let vars: &[(&str, &str)] = if path.ends_with("config.json") { &[] } else { &[("DOCKER_CONTEXT", "lab")] };
        let error = found(None, &env(vars, &[(path, text)], &["/var/run/docker.sock"])).expect_err(expected);
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn an_absent_default_socket_leads_to_the_next_and_all_are_named() {
    let vars = [("XDG_RUNTIME_DIR", "/run/user/7")];
    let table = [
        ("/run/user/7/docker.sock", "unix:///run/user/7/docker.sock"),
        ("/run/user/7/podman/podman.sock", "unix:///run/user/7/podman/podman.sock"),
        ("/run/podman/podman.sock", "unix:///run/podman/podman.sock"),
    ];
    for (socket, address) in table {
        assert_eq!(found(None, &env(&vars, &[], &[socket])), is(address, "default socket"));
    }
    let error = found(None, &env(&vars, &[], &[])).expect_err("no socket");
    for text in ["`/var/run/docker.sock`", "`/run/user/7/docker.sock`", "podman.sock`", "start the daemon", "DOCKER_HOST"] {
        assert!(error.contains(text), "{error}");
    }
}

#[test]
fn a_dangling_link_is_no_socket() {
    let folder = tempfile::tempdir().expect("folder");
    let link = folder.path().join("docker.sock");
    std::os::unix::fs::symlink(folder.path().join("stopped.sock"), &link).expect("link");
    let here = std::os::unix::net::UnixListener::bind(folder.path().join("live.sock")).expect("socket");
    let env = Env::of_process();
    assert!(!(env.is_socket)(&link));
    assert!((env.is_socket)(&folder.path().join("live.sock")));
    drop(here);
}

#[test]
fn addresses_are_read_and_refused() {
    let none = env(&[], &[], &[]);
    let tls = env(&[("DOCKER_TLS_VERIFY", "1"), ("DOCKER_CERT_PATH", "/certs")], &[], &[]);
    let address = |host: &str, env: &Env| resolve(Some(host), env).map(|endpoint| endpoint.address).ok();
    let tcp = |text: &str| Some(Address::Tcp(text.to_owned()));
    assert_eq!(address("tcp://h:1234", &none), tcp("h:1234"));
    assert_eq!(address("http://[::1]:80/", &none), tcp("[::1]:80"));
    assert_eq!(address("tcp://h", &none), tcp("h:2375"));
    assert_eq!(address("tcp://h", &tls), Some(Address::Tls("h:2376".into(), "/certs".into())));
    assert_eq!(address("https://h:1", &none), Some(Address::Tls("h:1".into(), "/home/u/.docker".into())));
    for bad in ["", "h:1", "unix://", "unix://relative", "ftp://h", "tcp://"] {
        assert_eq!(address(bad, &none), None, "{bad}");
    }
}

#[tokio::test]
async fn what_is_not_built_in_names_its_feature() {
    let none = env(&[], &[], &[]);
    for (host, feature, built_in) in [("ssh://u@h", "ssh", cfg!(feature = "ssh")), ("https://h:1", "tls", cfg!(feature = "tls"))] {
        if built_in {
            continue;
        }
        match Docker::connect(Some(host), &none).await {
            Err(EngineError::Unreachable { endpoint, found_by, reason }) => {
                assert_eq!((endpoint.as_str(), found_by.as_str()), (host, "engine host"));
                assert!(reason.contains(&format!("--features {feature}")), "{reason}");
            }
            _ => panic!("{host} was accepted"),
        }
    }
}
