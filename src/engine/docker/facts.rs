//! What the daemon is, answered from what was learned when connecting, so no call is made.

use super::connect::Abilities;
use super::endpoint::Endpoint;
use crate::model::facts::EngineFacts;

impl Abilities {
    /// Whether this is podman behind Docker's API.
    pub fn podman(&self) -> bool {
        self.component("Podman Engine").is_some()
    }

    /// Whether systemd makes the control groups.
    pub fn systemd(&self) -> bool {
        self.info.cgroup_driver.as_ref().is_some_and(|driver| driver.to_string() == "systemd")
    }

    /// The daemon's architecture in the spelling of images; none when it does not tell.
    pub fn arch(&self) -> Option<&str> {
        let arch = self.version.arch.as_deref().or(self.info.architecture.as_deref())?;
        Some(image_arch(arch)).filter(|arch| !arch.is_empty())
    }

    fn component(&self, name: &str) -> Option<&str> {
        let components = self.version.components.as_deref().unwrap_or_default();
        components.iter().find(|component| component.name == name).map(|component| component.version.as_str())
    }

    /// The facts that go into the record.
    pub fn facts(&self, endpoint: &Endpoint) -> EngineFacts {
        let text = |value: &Option<String>| value.clone().unwrap_or_default();
        let runtime = text(&self.info.default_runtime);
        let backing = self.info.driver_status.iter().flatten().find(|pair| pair.first().is_some_and(|key| key == "Backing Filesystem"));
        EngineFacts {
            kind: "docker".into(),
            endpoint: endpoint.address.to_string(),
            found_by: endpoint.found_by.clone(),
            version: if self.podman() { format!("{} (podman)", text(&self.version.version)) } else { text(&self.version.version) },
            api: self.api.clone(),
            storage_driver: text(&self.info.driver),
            backing_filesystem: backing.and_then(|pair| pair.get(1)).cloned().unwrap_or_default(),
            runtime: self.component(&runtime).map_or_else(|| runtime.clone(), |version| format!("{runtime} {version}")),
            cgroup_driver: self.info.cgroup_driver.as_ref().map(ToString::to_string).unwrap_or_default(),
            cpus: self.info.ncpu.and_then(|cpus| u32::try_from(cpus).ok()).unwrap_or(0),
            memory_bytes: self.info.mem_total.and_then(|bytes| u64::try_from(bytes).ok()).unwrap_or(0),
        }
    }
}

/// The kernel's name of an architecture, as images spell it.
pub(super) fn image_arch(name: &str) -> &str {
    match name {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        "i386" | "i686" => "386",
        "armv7l" | "armv6l" | "armhf" => "arm",
        other => other,
    }
}
