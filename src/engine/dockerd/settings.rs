//! What a private daemon is told: its daemon.json and its flags.

use super::place::Place;
use crate::model::private::{PrivateSpec, TAKEN_KEYS};
use serde_json::{Map, Value as Json, json};

/// The keys of `daemon` that cannot be given, each with what to do.
pub fn refused(spec: &PrivateSpec) -> Vec<String> {
    let taken = TAKEN_KEYS.iter().filter(|(key, _)| spec.daemon.contains_key(*key));
    let mut found: Vec<String> = taken.map(|(key, instead)| format!("`daemon.{key}` cannot be given: {instead}")).collect();
    if let Some(options) = spec.daemon.get("exec-opts") {
        let texts: Option<Vec<&str>> = options.as_array().and_then(|options| options.iter().map(Json::as_str).collect());
        match texts {
            None => found.push("`daemon: exec-opts` must be a list of texts".to_owned()),
            Some(texts) if texts.iter().any(|option| option.starts_with("native.cgroupdriver")) => {
                let what = "`daemon: exec-opts` cannot choose the control group driver: a private daemon writes its groups itself";
                found.push(what.to_owned());
            }
            Some(_) => {}
        }
    }
    found
}

/// The text of daemon.json. Where systemd runs, the daemon would otherwise ask it for groups, which then are not ours.
pub fn daemon_json(spec: &PrivateSpec) -> String {
    let mut keys: Map<String, Json> = spec.daemon.iter().map(|(key, value)| (key.clone(), value.clone())).collect();
    let options = keys.entry("exec-opts").or_insert_with(|| json!([]));
    if let Json::Array(options) = options {
        options.push(json!("native.cgroupdriver=cgroupfs"));
    }
    format!("{:#}\n", Json::Object(keys))
}

/// The daemon's arguments.
pub fn flags(spec: &PrivateSpec, place: &Place) -> Vec<String> {
    vec![
        format!("--config-file={}", place.folder().join("daemon.json").display()),
        format!("--data-root={}", place.data().display()),
        format!("--exec-root={}", place.exec().display()),
        format!("--pidfile={}", place.exec().join("docker.pid").display()),
        format!("--host=unix://{}", place.socket().display()),
        format!("--cgroup-parent=/{}", place.containers()),
        format!("--storage-driver={}", spec.storage_driver),
        format!("--userland-proxy={}", spec.userland_proxy),
        format!("--iptables={}", spec.iptables),
    ]
}

#[cfg(test)]
mod tests {
    use super::super::tests::spec;
    use super::*;

    #[test]
    fn keys_that_are_given_otherwise_are_named() {
        for (key, _) in TAKEN_KEYS {
            let mut spec = spec("overlay2", "ext4");
            spec.daemon.insert((*key).to_owned(), json!("x"));
            let found = refused(&spec);
            assert!(found.len() == 1 && found[0].contains(&format!("`daemon.{key}`")), "{found:?}");
        }
        let mut options = spec("overlay2", "ext4");
        options.daemon.insert("exec-opts".into(), json!(["native.cgroupdriver=systemd"]));
        assert_eq!(refused(&options).len(), 1);
        options.daemon.insert("exec-opts".into(), json!("x"));
        assert_eq!(refused(&options), ["`daemon: exec-opts` must be a list of texts"]);
        options.daemon.insert("exec-opts".into(), json!(["other=1"]));
        options.daemon.insert("live-restore".into(), json!(false));
        assert_eq!(refused(&options), Vec::<String>::new());
        let text: Json = serde_json::from_str(&daemon_json(&options)).expect("JSON");
        assert_eq!(text, json!({"exec-opts": ["other=1", "native.cgroupdriver=cgroupfs"], "live-restore": false}));
    }

    #[test]
    fn no_flag_is_also_a_key() {
        let mut with = spec("vfs", "xfs");
        (with.userland_proxy, with.iptables) = (false, true);
        let flags = flags(&with, &Place { run: "r".into(), slot: 3 });
        for flag in &flags {
            let key = flag.trim_start_matches("--").split('=').next().expect("name");
            let taken = TAKEN_KEYS.iter().any(|(taken, _)| *taken == key);
            assert!(taken || key == "config-file", "{flag}");
        }
        for expected in
            ["--storage-driver=vfs", "--userland-proxy=false", "--iptables=true", "--host=unix:///run/shakedown/r-3/docker.socket"]
        {
            assert!(flags.iter().any(|flag| flag == expected), "{expected}: {flags:?}");
        }
    }
}
