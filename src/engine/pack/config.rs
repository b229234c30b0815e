//! The two JSON texts of a docker-archive: the image's configuration, whose digest is the image's id, and the manifest.

use super::IMAGE_PATH;
use super::layer::hex;
use serde_json::json;
use sha2::{Digest, Sha256};

/// Name of the layer in the archive.
pub(super) const LAYER: &str = "layer.tar";

/// An image's configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Config {
    /// As written into the archive.
    pub(super) text: String,
    /// SHA-256 of the text in hex.
    pub(super) digest: String,
}

/// The configuration of an image with the one layer of that digest; nothing in it depends on the time or the host's name.
pub(super) fn config(layer_digest: &str) -> Config {
    let text = json!({
        "architecture": architecture(),
        "os": "linux",
        "created": "1970-01-01T00:00:00Z",
        "config": {"Env": [format!("PATH={IMAGE_PATH}")], "Cmd": []},
        "rootfs": {"type": "layers", "diff_ids": [format!("sha256:{layer_digest}")]},
        "history": [{"created": "1970-01-01T00:00:00Z", "created_by": "shakedown pack"}],
    })
    .to_string();
    let digest = hex(&Sha256::digest(text.as_bytes()));
    Config { text, digest }
}

/// The archive's table of contents.
pub(super) fn manifest(config_digest: &str, reference: &str) -> String {
    json!([{"Config": format!("{config_digest}.json"), "RepoTags": [reference], "Layers": [LAYER]}]).to_string()
}

/// This host's architecture as images name it.
fn architecture() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "x86" => "386",
        "aarch64" => "arm64",
        "powerpc64" => "ppc64le",
        "loongarch64" => "loong64",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_configuration_depends_on_the_layer_alone() {
        let config = config(&"ab".repeat(32));
        let value: serde_json::Value = serde_json::from_str(&config.text).unwrap();
        assert_eq!(value["rootfs"]["diff_ids"][0], format!("sha256:{}", "ab".repeat(32)));
        assert_eq!(value["config"]["Env"][0], "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
        assert_eq!(config.digest.len(), 64);
        assert_eq!(config, super::config(&"ab".repeat(32)));
        assert_ne!(config.digest, super::config(&"ac".repeat(32)).digest);
    }

    #[test]
    fn the_manifest_names_configuration_layer_and_reference() {
        assert_eq!(manifest("12", "a:b"), r#"[{"Config":"12.json","RepoTags":["a:b"],"Layers":["layer.tar"]}]"#);
    }
}
