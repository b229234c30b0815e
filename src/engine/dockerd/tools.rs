//! The programs that a private daemon needs, and what to install for one that is missing.

use crate::model::private::PrivateSpec;
use serde_json::Value as Json;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Folders that are searched after those of our own `PATH`: system programs are often not in a user's.
const SYSTEM: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// What to install for a program, in the names of Debian.
const PACKAGES: &[(&str, &str)] = &[
    ("dockerd", "docker.io, or Docker's own docker-ce; or name one with `binary`"),
    ("containerd", "containerd"),
    ("runc", "runc"),
    ("unshare", "util-linux"),
    ("mount", "mount"),
    ("ip", "iproute2"),
    ("iptables", "iptables"),
    ("docker-init", "docker.io, or tini"),
    ("mkfs.ext4", "e2fsprogs"),
    ("mkfs.xfs", "xfsprogs"),
    ("mkfs.btrfs", "btrfs-progs"),
    ("fuse-overlayfs", "fuse-overlayfs"),
];

/// The search path for a private daemon and everything that is started for it.
pub fn search_path(spec: &PrivateSpec) -> String {
    let own = std::env::var("PATH").unwrap_or_default();
    // Another dockerd usually comes with its own containerd, runc and docker-proxy beside it.
    let beside = spec.binary.as_deref().and_then(|binary| Path::new(binary).parent()).map(|folder| folder.display().to_string());
    let parts: Vec<&str> = beside.as_deref().into_iter().chain([own.as_str(), SYSTEM]).filter(|part| !part.is_empty()).collect();
    parts.join(":")
}

/// A program of that name in our `PATH` or a system folder.
pub fn find(name: &str) -> Option<PathBuf> {
    find_in(&format!("{}:{SYSTEM}", std::env::var("PATH").unwrap_or_default()), name)
}

/// A program of that name in the first folder of `path` that has one.
pub fn find_in(path: &str, name: &str) -> Option<PathBuf> {
    path.split(':').filter(|folder| folder.starts_with('/')).map(|folder| Path::new(folder).join(name)).find(|program| is_program(program))
}

fn is_program(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

/// What to say of a program that is not there.
pub fn missing(name: &str) -> String {
    let package = PACKAGES.iter().find(|(known, _)| *known == name).map(|(_, package)| *package);
    package.map_or_else(|| format!("`{name}` is not installed"), |package| format!("`{name}` is not installed: install {package}"))
}

/// The dockerd that a spec means.
pub fn dockerd(spec: &PrivateSpec) -> Result<PathBuf, String> {
    match &spec.binary {
        None => find("dockerd").ok_or_else(|| missing("dockerd")),
        Some(binary) => match Path::new(binary) {
            path if !path.is_absolute() => Err(format!("`binary: {binary}` must be an absolute path")),
            path if !path.exists() => Err(format!("`binary: {binary}` does not exist")),
            path if !is_program(path) => Err(format!("`binary: {binary}` is not a program")),
            path => Ok(path.to_owned()),
        },
    }
}

/// The small init that reaps for the daemon.
pub fn init() -> Option<PathBuf> {
    find("docker-init").or_else(|| find("tini"))
}

/// The version of a dockerd, as its API spells it; none when it does not tell.
pub fn dockerd_version(dockerd: &Path) -> Option<String> {
    let said = said(dockerd)?;
    let version = said.split_once("version ")?.1.split([',', '\n']).next()?.trim();
    (!version.is_empty()).then(|| version.to_owned())
}

/// The default runtime with its version, as the daemon's API tells both; the name alone when its program does not tell.
pub fn runtime(spec: &PrivateSpec) -> String {
    let name = spec.daemon.get("default-runtime").and_then(Json::as_str).unwrap_or("runc");
    let declared = spec.daemon.get("runtimes").and_then(|runtimes| runtimes.get(name)?.get("path")?.as_str());
    let program = declared.unwrap_or(name);
    let program = if program.starts_with('/') { Some(PathBuf::from(program)) } else { find_in(&search_path(spec), program) };
    let said = program.and_then(|program| said(&program)).unwrap_or_default();
    let version = said.lines().find_map(|line| Some(line.rsplit_once("version")?.1.trim().to_owned())).filter(|text| !text.is_empty());
    version.map_or_else(|| name.to_owned(), |version| format!("{name} {version}"))
}

/// What a program says of its version.
fn said(program: &Path) -> Option<String> {
    let told = Command::new(program).arg("--version").stdin(Stdio::null()).output().ok()?;
    told.status.success().then(|| String::from_utf8_lossy(&told.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::super::tests::spec;
    use super::*;
    use serde_json::json;

    fn program(folder: &Path, name: &str, says: &str) -> String {
        let path = folder.join(name);
        std::fs::write(&path, format!("#!/bin/sh\nprintf '%s\\n' '{says}'\n")).expect("write");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("mode");
        path.display().to_string()
    }

    #[test]
    fn versions_are_spelled_as_the_api_does() {
        let folder = tempfile::tempdir().expect("folder");
        let table = [
            ("Docker version 20.10.24+dfsg1, build 5d6db84", Some("20.10.24+dfsg1")),
            ("Docker version 27.3.1, build 41ca978", Some("27.3.1")),
            ("Docker version , build x", None),
            ("hello", None),
        ];
        for (index, (says, version)) in table.into_iter().enumerate() {
            let path = program(folder.path(), &format!("dockerd{index}"), says);
            assert_eq!(dockerd_version(Path::new(&path)).as_deref(), version, "{says}");
        }
        let mut with = spec("vfs", "tmpfs");
        with.binary = Some(program(folder.path(), "dockerd", "Docker version 1, build x"));
        program(folder.path(), "runc", "runc version 9.9+x\ncommit: 1\nspec: 1.0.2");
        assert_eq!(runtime(&with), "runc 9.9+x");
        let crun = program(folder.path(), "my-crun", "crun version 1.8");
        with.daemon.insert("default-runtime".into(), json!("other"));
        assert_eq!(runtime(&with), "other");
        with.daemon.insert("runtimes".into(), json!({"other": {"path": crun}}));
        assert_eq!(runtime(&with), "other 1.8");
    }

    #[test]
    fn a_binary_is_taken_as_it_is_named_or_refused() {
        let folder = tempfile::tempdir().expect("folder");
        let named = |binary: &str| PrivateSpec { binary: Some(binary.to_owned()), ..spec("vfs", "tmpfs") };
        let fine = program(folder.path(), "dockerd", "");
        assert_eq!(dockerd(&named(&fine)), Ok(PathBuf::from(&fine)));
        for (binary, why) in [("dockerd", "absolute"), ("/does/not/exist", "does not exist"), ("/etc", "not a program")] {
            assert!(dockerd(&named(binary)).is_err_and(|reason| reason.contains(why) && reason.contains(binary)), "{binary}");
        }
        assert!(missing("mkfs.xfs").ends_with("install xfsprogs"));
    }
}
