//! Which variants aim at a published port through docker-proxy, as far as the manifest alone tells: that is said before anything runs.
//!
//! A client on the host that aims at loopback reaches a published port through docker-proxy, for the rules of the packet filter leave
//! loopback alone; so does a container that aims at the host's own address. Nobody who only reads the numbers can tell.

use crate::model::diagnostic::Diagnostic;
use crate::model::spec::TrialSpec;
use crate::model::stack::PortSpec;
use crate::model::symbol::{HOST, symbol};
use crate::model::target::{LOOPBACK, Target};
use crate::model::tree::Span;

/// Most variants that are named.
const MOST_NAMED: usize = 3;

/// A published port that is reached through docker-proxy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Proxied {
    service: String,
    endpoint: String,
    /// Whether the engine is started with docker-proxy; else it is the daemon's default.
    sure: bool,
}

impl Proxied {
    /// The first such port of a trial; none where there is none, or where the engine has no docker-proxy.
    pub(super) fn of(spec: &TrialSpec) -> Option<Self> {
        let sure = spec.engine.private.as_ref().map(|private| private.userland_proxy);
        if sure == Some(false) {
            return None;
        }
        let targets: Vec<Target> = spec.workloads.iter().flat_map(|workload| Target::all(&workload.unit)).collect();
        let shares_host = |mode: Option<&str>| mode == Some("host");
        let services = spec.services.iter().filter(|service| !shares_host(service.unit.container.network_mode.as_deref()));
        let ports = services.flat_map(|service| service.unit.container.ports.iter().map(|port| (service.name.as_str(), port)));
        ports.filter_map(|(service, port)| Some((service, reached(service, port, &targets)?))).next().map(|(service, endpoint)| Self {
            service: service.to_owned(),
            endpoint,
            sure: sure.is_some(),
        })
    }
}

/// How the targets spell a port that docker-proxy serves.
fn reached(service: &str, port: &PortSpec, targets: &[Target]) -> Option<String> {
    let of_host = symbol(HOST, "ip");
    let number = port.host_port;
    let named = number.and_then(|number| {
        let through = |target: &&Target, address: &str| target.names(address, number);
        let loopback = LOOPBACK.into_iter().find(|address| targets.iter().any(|t| !t.from_bridge && through(&t, address)));
        let own = targets.iter().any(|target| target.from_bridge && through(&target, &of_host)).then_some("the host's own address");
        loopback.or(own).map(|address| format!("{address}:{number}"))
    });
    // `${web.host}` becomes the address that the port is published on, or loopback where it is published on all.
    let is_loopback = port.host_ip.is_none_or(|ip| ip.is_unspecified() || ip.is_loopback());
    let by_symbol = || {
        let address = symbol(service, "host");
        let named = targets.iter().any(|target| !target.from_bridge && target.text.contains(&address));
        (is_loopback && named).then(|| format!("127.0.0.1:{}", number.map_or_else(|| "its published port".to_owned(), |n| n.to_string())))
    };
    named.or_else(by_symbol)
}

/// A warning about the variants that docker-proxy stands in the way of; `ids` and `proxied` have the same order.
pub(super) fn warning<'v>(ids: impl Iterator<Item = &'v str>, proxied: &[Option<Proxied>]) -> Option<Diagnostic> {
    let first = proxied.iter().flatten().next()?;
    let named: Vec<&str> = ids.zip(proxied).filter(|(_, proxied)| proxied.is_some()).map(|(id, _)| id).collect();
    let (count, all) = (named.len(), proxied.len());
    let which = match named.as_slice() {
        _ if all == 1 => "the workload reaches".to_owned(),
        _ if count == all => format!("all {all} variants reach"),
        few if count <= MOST_NAMED => {
            format!(
                "{} {}",
                few.iter().map(|id| format!("`{id}`")).collect::<Vec<_>>().join(" and "),
                if count == 1 { "reaches" } else { "reach" }
            )
        }
        few => format!("`{}` and {} more variants reach", few[0], count - 1),
    };
    let unless = if first.sure { "" } else { ", unless its daemon runs without" };
    let message = format!(
        "docker-proxy is on the path: {which} `{}` at {}{unless}; every byte is copied by a process of the engine, and its CPU is measured with the server's",
        first.service, first.endpoint
    );
    let help = if count == all {
        "aim at `{{ NAME.ip }}` or `{{ host.ip }}`, or set `engine: {userland_proxy: false}`; or make the path a factor"
    } else {
        "that is fine where the path is the question; else aim at `{{ NAME.ip }}` or `{{ host.ip }}`, or set `engine: {userland_proxy: false}`"
    };
    Some(Diagnostic::warning(Span::default(), message).help(help.replace("NAME", &first.service)))
}
