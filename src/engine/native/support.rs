//! What a host process cannot honour, and what to do instead.

use super::user;
use crate::model::cpus::CpuList;
use crate::model::facts::EngineFacts;
use crate::model::spec::{ContainerSpec, ImageSpec, LimitsSpec, UnitSpec};

/// Every reason why `spec` cannot run as a host process; the passwd and group texts are those of the host.
pub(super) fn unsupported(spec: &UnitSpec, facts: &EngineFacts, passwd: &str, group: &str) -> Vec<String> {
    let mut reasons: Vec<String> = container_only(&spec.container)
        .into_iter()
        .map(|field| format!("`{field}` needs a container{}: remove it, or set `on: container`", because(field)))
        .collect();
    if spec.command.is_empty() && spec.entrypoint.as_ref().is_none_or(Vec::is_empty) {
        reasons.push("a host process has no image that says what to run: set `command`".to_owned());
    }
    if let Some(image) = &spec.image
        && let Some(reason) = no_image(image)
    {
        reasons.push(reason);
    }
    if let Some(user) = &spec.user
        && let Err(reason) = user::resolve(user, passwd, group)
    {
        reasons.push(reason);
    }
    reasons.extend(limits(&spec.limits, facts));
    reasons
}

/// Why an image cannot be used by a host process; none when its files are the host's own.
pub(super) fn no_image(image: &ImageSpec) -> Option<String> {
    let key = match image {
        ImageSpec::Pack(_) => return None,
        ImageSpec::Reference(_) => "image",
        ImageSpec::Build { .. } => "build",
        ImageSpec::Archive(_) => "archive",
    };
    Some(format!("`{key}` needs a container: a host process runs the host's own files, say which with `pack`"))
}

/// Why, where it is not obvious.
fn because(field: &str) -> &'static str {
    match field {
        "network_mode" | "networks" => " (a host process is in the network of its engine)",
        "ports" => " (a host process listens in the network of its engine itself)",
        _ => "",
    }
}

/// The container settings that are set.
fn container_only(spec: &ContainerSpec) -> Vec<&'static str> {
    // Taken apart in full, so that a new setting cannot be forgotten here.
    let ContainerSpec {
        network_mode,
        networks,
        ports,
        init,
        privileged,
        read_only,
        hostname,
        cap_add,
        cap_drop,
        security_opt,
        extra_hosts,
        sysctls,
        ulimits,
        tmpfs,
        shm_bytes,
    } = spec;
    let set = [
        ("network_mode", network_mode.as_ref().is_some_and(|mode| mode != "host")),
        ("networks", !networks.is_empty()),
        ("ports", !ports.is_empty()),
        ("init", *init),
        ("privileged", *privileged),
        ("read_only", *read_only),
        ("hostname", hostname.is_some()),
        ("cap_add", !cap_add.is_empty()),
        ("cap_drop", !cap_drop.is_empty()),
        ("security_opt", !security_opt.is_empty()),
        ("extra_hosts", !extra_hosts.is_empty()),
        ("sysctls", !sysctls.is_empty()),
        ("ulimits", !ulimits.is_empty()),
        ("tmpfs", !tmpfs.is_empty()),
        ("shm_size", shm_bytes.is_some()),
    ];
    set.into_iter().filter_map(|(name, set)| set.then_some(name)).collect()
}

/// The limits that this host cannot give: the same bounds as an engine's, so that both forms refuse alike.
fn limits(limits: &LimitsSpec, facts: &EngineFacts) -> Vec<String> {
    let mut reasons = Vec::new();
    if let Some(cpus) = limits.cpus
        && !(0.01..=f64::from(facts.cpus)).contains(&cpus)
    {
        reasons.push(format!("`cpus: {cpus}` must be from 0.01 to this host's {}", facts.cpus));
    }
    if let Some(period) = limits.cpu_period_us
        && !(1_000..=1_000_000).contains(&period)
    {
        reasons.push(format!("`cpu_period: {period}` must be from 1000 to 1000000 microseconds"));
    }
    if let Some(quota) = limits.cpu_quota_us
        && quota < 1_000
    {
        reasons.push(format!("`cpu_quota: {quota}` must be at least 1000 microseconds"));
    }
    if let Some(shares) = limits.cpu_shares
        && !(2..=262_144).contains(&shares)
    {
        reasons.push(format!("`cpu_shares: {shares}` must be from 2 to 262144"));
    }
    if let Some(cpuset) = &limits.cpuset {
        match CpuList::parse(cpuset).map(|list| list.highest()) {
            None => reasons.push(format!("`cpuset: {cpuset}` is not a list of CPUs such as `0,2-3`")),
            Some(cpu) if cpu >= facts.cpus => reasons.push(format!("`cpuset: {cpuset}`: this host has no CPU {cpu}")),
            Some(_) => {}
        }
    }
    reasons
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::spec::Place;
    use crate::model::stack::PortSpec;

    fn spec() -> UnitSpec {
        UnitSpec { command: vec!["true".into()], ..UnitSpec::bare(Place::Host) }
    }

    #[test]
    fn each_reason_names_its_field() {
        let facts = EngineFacts { cpus: 2, ..EngineFacts::default() };
        let ask = |spec: &UnitSpec| unsupported(spec, &facts, "www:x:33:33::/var/www:/bin/sh\n", "").join("; ");
        assert_eq!(ask(&spec()), "");
        let container = |container| UnitSpec { container, ..spec() };
        let limited = |limits| UnitSpec { limits, ..spec() };
        let port = PortSpec { host_ip: None, host_port: None, port: 80, protocol: "tcp".into() };
        let table = [
            (container(ContainerSpec { init: true, ..ContainerSpec::default() }), "`init`"),
            (container(ContainerSpec { network_mode: Some("bridge".into()), ..ContainerSpec::default() }), "`network_mode`"),
            (
                container(ContainerSpec { network_mode: Some("service:db".into()), ..ContainerSpec::default() }),
                "in the network of its engine",
            ),
            (
                container(ContainerSpec { networks: vec!["front".into()], ..ContainerSpec::default() }),
                "`networks` needs a container (a host",
            ),
            (container(ContainerSpec { ports: vec![port], ..ContainerSpec::default() }), "`ports` needs a container (a host"),
            (container(ContainerSpec { ulimits: vec![("nofile".into(), 1, 1)], ..ContainerSpec::default() }), "`ulimits`"),
            (UnitSpec { command: Vec::new(), ..spec() }, "`command`"),
            (UnitSpec { image: Some(ImageSpec::Reference("nginx".into())), ..spec() }, "`image`"),
            (UnitSpec { user: Some("nobody-here".into()), ..spec() }, "`nobody-here`"),
            (limited(LimitsSpec { cpus: Some(64.0), ..LimitsSpec::default() }), "`cpus: 64`"),
            (limited(LimitsSpec { cpus: Some(0.001), ..LimitsSpec::default() }), "`cpus: 0.001`"),
            (limited(LimitsSpec { cpuset: Some("0-3".into()), ..LimitsSpec::default() }), "no CPU 3"),
            (limited(LimitsSpec { cpu_shares: Some(1), ..LimitsSpec::default() }), "`cpu_shares: 1`"),
        ];
        for (spec, expected) in table {
            assert!(ask(&spec).contains(expected), "{expected}: {}", ask(&spec));
        }
        let host = container(ContainerSpec { network_mode: Some("host".into()), ..ContainerSpec::default() });
        let pack = UnitSpec { image: Some(ImageSpec::Pack(vec!["/bin/true".into()])), user: Some("www".into()), ..host };
        assert_eq!(ask(&pack), "");
    }
}
