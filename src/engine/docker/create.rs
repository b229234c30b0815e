//! From a unit's spec to the daemon's container configuration: pure, so that every field is checked without a daemon.

use super::{attach, labels};
use crate::engine::UnitName;
use crate::model::spec::{LimitsSpec, UnitSpec};
use bollard::models::{ContainerCreateBody, HealthConfig, HostConfig, HostConfigLogConfig, ResourcesUlimits};

/// Where the daemon puts a unit's control group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Placement {
    /// What the daemon is told as parent; none leaves the container where the daemon puts it by itself.
    pub parent: Option<String>,
    /// The parent's path below each hierarchy.
    cgroup: String,
    /// What stands before and after the id in the leaf's name.
    leaf: (&'static str, &'static str),
}

impl Placement {
    /// In a group of ours around `name`, which the cgroupfs driver takes as a path and makes `<parent>/<id>` in.
    pub fn in_our_group(name: &UnitName, podman: bool) -> Self {
        let leaf = if podman { ("libpod-", "") } else { ("", "") };
        Self { parent: Some(format!("/{}", name.cgroup())), cgroup: name.cgroup(), leaf }
    }

    /// Where the daemon puts a container by itself. With systemd's driver, or without the right to make groups, this keeps
    /// containers siblings, so that they share CPU by their shares, and leaves nothing behind; but nothing can be counted after
    /// the exit.
    pub fn of_the_engine(systemd: bool, podman: bool) -> Self {
        let (cgroup, leaf) = match (systemd, podman) {
            (false, false) => ("docker", ("", "")),
            (false, true) => ("libpod_parent", ("libpod-", "")),
            (true, false) => ("system.slice", ("docker-", ".scope")),
            (true, true) => ("machine.slice", ("libpod-", ".scope")),
        };
        Self { parent: None, cgroup: cgroup.to_owned(), leaf }
    }

    /// The group whose counters are this unit's alone.
    pub fn counted(&self, id: &str) -> String {
        if self.parent.is_some() { self.cgroup.clone() } else { self.leaf(id) }
    }

    /// The control group of the container `id` itself.
    pub fn leaf(&self, id: &str) -> String {
        format!("{}/{}{id}{}", self.cgroup, self.leaf.0, self.leaf.1)
    }
}

/// The configuration of a container for `spec` from `image`.
pub(super) fn body(name: &UnitName, spec: &UnitSpec, image: &str, placement: &Placement) -> ContainerCreateBody {
    ContainerCreateBody {
        image: Some(image.to_owned()),
        hostname: spec.container.hostname.clone(),
        user: spec.user.clone(),
        working_dir: spec.working_dir.clone(),
        entrypoint: spec.entrypoint.clone(),
        cmd: (!spec.command.is_empty()).then(|| spec.command.clone()),
        env: Some(environment(spec)),
        labels: Some(labels(name)),
        // A probe inside the container would run beside the measured command.
        healthcheck: Some(HealthConfig { test: Some(vec!["NONE".into()]), ..HealthConfig::default() }),
        tty: Some(false),
        open_stdin: Some(false),
        attach_stdin: Some(false),
        attach_stdout: Some(false),
        attach_stderr: Some(false),
        exposed_ports: attach::exposed(&spec.container.ports),
        networking_config: attach::first_network(name, spec),
        host_config: Some(host(name, spec, placement)),
        ..ContainerCreateBody::default()
    }
}

/// What was declared, and a fixed locale unless one was.
fn environment(spec: &UnitSpec) -> Vec<String> {
    let locale = (!spec.environment.iter().any(|(name, _)| name == "LC_ALL")).then(|| "LC_ALL=C".to_owned());
    spec.environment.iter().map(|(name, value)| format!("{name}={value}")).chain(locale).collect()
}

fn host(name: &UnitName, spec: &UnitSpec, placement: &Placement) -> HostConfig {
    let container = &spec.container;
    let some = |list: &Vec<String>| (!list.is_empty()).then(|| list.clone());
    let map = |pairs: &Vec<(String, String)>| (!pairs.is_empty()).then(|| pairs.iter().cloned().collect());
    let ulimits = container.ulimits.iter().map(|(name, soft, hard)| ResourcesUlimits {
        name: Some(name.clone()),
        soft: Some(*soft),
        hard: Some(*hard),
    });
    HostConfig {
        cgroup_parent: placement.parent.clone(),
        network_mode: attach::network_mode(spec),
        port_bindings: attach::bindings(&container.ports),
        mounts: attach::mounts(name, &spec.volumes),
        init: Some(container.init),
        privileged: Some(container.privileged),
        readonly_rootfs: Some(container.read_only),
        cap_add: some(&container.cap_add),
        cap_drop: some(&container.cap_drop),
        security_opt: some(&container.security_opt),
        extra_hosts: some(&container.extra_hosts),
        sysctls: map(&container.sysctls),
        ulimits: (!container.ulimits.is_empty()).then(|| ulimits.collect()),
        tmpfs: map(&container.tmpfs),
        shm_size: container.shm_bytes.map(signed),
        // The exit code and the stamps are read after the exit, so the container must still be there then.
        auto_remove: Some(false),
        log_config: Some(log_config()),
        ..limits(&spec.limits)
    }
}

fn limits(limits: &LimitsSpec) -> HostConfig {
    let older = limits.cpus.is_none();
    HostConfig {
        nano_cpus: limits.nano_cpus().map(signed),
        cpu_period: limits.cpu_period_us.filter(|_| older).map(signed),
        cpu_quota: limits.cpu_quota_us.filter(|_| older).map(signed),
        cpu_shares: limits.cpu_shares.map(signed),
        cpuset_cpus: limits.cpuset.clone(),
        memory: limits.memory_bytes.map(signed),
        pids_limit: limits.pids.map(signed),
        ..HostConfig::default()
    }
}

fn signed(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// Keeps the whole output whatever the daemon's own defaults are.
///
/// `json-file` is what docker and podman both have. It replaces bytes that are no UTF-8; the `local` driver keeps them, but loses
/// the end of every line longer than 16 KiB, which would join two lines of a tool's output. A size of "unlimited" cannot be
/// written down, so a size that no disk has stands for it; the mode keeps a daemon's `non-blocking` default from dropping lines.
fn log_config() -> HostConfigLogConfig {
    let options = [("max-size", "1000t"), ("max-file", "1"), ("compress", "false"), ("mode", "blocking")];
    let config = options.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
    HostConfigLogConfig { typ: Some("json-file".into()), config: Some(config) }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::model::spec::{ContainerSpec, Place};

    /// A container that runs `command` and asks for nothing else.
    pub(in super::super) fn spec(command: &[&str]) -> UnitSpec {
        UnitSpec { command: command.iter().map(|word| (*word).to_owned()).collect(), ..UnitSpec::bare(Place::Container) }
    }

    pub(in super::super) fn name() -> UnitName {
        UnitName { run: "r1".into(), experiment: "e".into(), trial: "b1-2".into(), unit: "web".into() }
    }

    fn made(spec: &UnitSpec) -> ContainerCreateBody {
        body(&name(), spec, "sha256:1", &Placement::in_our_group(&name(), false))
    }

    #[test]
    fn control_groups_follow_the_driver() {
        let ours = |podman| Placement::in_our_group(&name(), podman);
        let table = [
            (ours(false), Some("/shakedown/r1/b1-2-web"), "shakedown/r1/b1-2-web", "shakedown/r1/b1-2-web/id"),
            (ours(true), Some("/shakedown/r1/b1-2-web"), "shakedown/r1/b1-2-web", "shakedown/r1/b1-2-web/libpod-id"),
            (Placement::of_the_engine(false, false), None, "docker/id", "docker/id"),
            (Placement::of_the_engine(true, false), None, "system.slice/docker-id.scope", "system.slice/docker-id.scope"),
            (Placement::of_the_engine(true, true), None, "machine.slice/libpod-id.scope", "machine.slice/libpod-id.scope"),
        ];
        for (placement, parent, counted, leaf) in table {
            assert_eq!(
                (placement.parent.as_deref(), placement.counted("id").as_str(), placement.leaf("id").as_str()),
                (parent, counted, leaf)
            );
        }
    }

    #[test]
    fn nothing_is_asked_for_that_was_not_declared() {
        let body = made(&spec(&["true"]));
        assert_eq!(body.cmd, Some(vec!["true".to_owned()]));
        assert_eq!((body.entrypoint, body.user, body.tty), (None, None, Some(false)));
        assert_eq!(body.env, Some(vec!["LC_ALL=C".to_owned()]));
        assert_eq!(body.healthcheck.and_then(|check| check.test), Some(vec!["NONE".to_owned()]));
        assert_eq!(body.labels.as_ref().and_then(|labels| labels.get("shakedown.run")).map(String::as_str), Some("r1"));
        let host = body.host_config.expect("host config");
        assert_eq!((host.nano_cpus, host.cpu_quota, host.memory, host.network_mode), (None, None, None, None));
        assert_eq!((host.restart_policy, host.auto_remove, host.init), (None, Some(false), Some(false)));
        assert_eq!((host.ulimits, host.sysctls, host.tmpfs, host.cap_add), (None, None, None, None));
        assert_eq!(host.log_config.and_then(|log| log.typ).as_deref(), Some("json-file"));
    }

    #[test]
    fn limits_reach_the_field_that_the_daemon_reads() {
        let mut wanted = spec(&[]);
        wanted.limits = LimitsSpec {
            cpus: Some(0.35),
            cpu_shares: Some(512),
            cpuset: Some("0-1".into()),
            memory_bytes: Some(64 << 20),
            pids: Some(20),
            ..LimitsSpec::default()
        };
        let body = made(&wanted);
        assert_eq!(body.cmd, None);
        let host = body.host_config.expect("host config");
        assert_eq!(
            (host.nano_cpus, host.cpu_shares, host.memory, host.pids_limit),
            (Some(350_000_000), Some(512), Some(67_108_864), Some(20))
        );
        assert_eq!(host.cpuset_cpus.as_deref(), Some("0-1"));
        wanted.limits = LimitsSpec { cpu_period_us: Some(50_000), cpu_quota_us: Some(25_000), ..LimitsSpec::default() };
        let host = made(&wanted).host_config.expect("host config");
        assert_eq!((host.nano_cpus, host.cpu_period, host.cpu_quota), (None, Some(50_000), Some(25_000)));
    }

    #[test]
    fn every_container_setting_arrives() {
        let mut wanted = spec(&["a", "b c"]);
        wanted.entrypoint = Some(vec!["/e".into()]);
        wanted.environment = vec![("LC_ALL".into(), "de".into()), ("A".into(), "x=y".into())];
        wanted.container = ContainerSpec {
            network_mode: Some("host".into()),
            networks: Vec::new(),
            ports: Vec::new(),
            init: true,
            privileged: true,
            read_only: true,
            hostname: Some("h".into()),
            cap_add: vec!["NET_ADMIN".into()],
            cap_drop: vec!["ALL".into()],
            security_opt: vec!["seccomp=unconfined".into()],
            extra_hosts: vec!["db:10.0.0.1".into()],
            sysctls: vec![("kernel.msgmax".into(), "9".into())],
            ulimits: vec![("nofile".into(), 10, 20)],
            tmpfs: vec![("/t".into(), "size=1m".into())],
            shm_bytes: Some(4096),
        };
        let body = made(&wanted);
        assert_eq!((body.entrypoint, body.hostname.as_deref()), (Some(vec!["/e".to_owned()]), Some("h")));
        assert_eq!(body.env, Some(vec!["LC_ALL=de".to_owned(), "A=x=y".to_owned()]));
        let host = body.host_config.expect("host config");
        assert_eq!(
            (host.network_mode.as_deref(), host.init, host.privileged, host.readonly_rootfs),
            (Some("host"), Some(true), Some(true), Some(true))
        );
        assert_eq!((host.cap_add, host.cap_drop), (Some(vec!["NET_ADMIN".to_owned()]), Some(vec!["ALL".to_owned()])));
        assert_eq!(
            (host.security_opt, host.extra_hosts),
            (Some(vec!["seccomp=unconfined".to_owned()]), Some(vec!["db:10.0.0.1".to_owned()]))
        );
        assert_eq!(host.sysctls, Some([("kernel.msgmax".to_owned(), "9".to_owned())].into()));
        assert_eq!((host.tmpfs, host.shm_size), (Some([("/t".to_owned(), "size=1m".to_owned())].into()), Some(4096)));
        let limit = host.ulimits.and_then(|limits| limits.first().cloned()).expect("ulimit");
        assert_eq!((limit.name.as_deref(), limit.soft, limit.hard), (Some("nofile"), Some(10), Some(20)));
    }
}
