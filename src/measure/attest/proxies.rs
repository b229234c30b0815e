//! docker-proxy: the process of a daemon that copies a published port's bytes in user space, when `userland_proxy` is on.

use super::{network, processes};
use crate::model::event::Attested;
use crate::model::stack::PortSpec;
use std::net::IpAddr;

/// A docker-proxy process and the one port that it serves. A port on every address of the host has two: for IPv4 and for IPv6.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proxy {
    /// Its process, in this host's numbers.
    pub pid: u32,
    /// `tcp`, `udp` or `sctp`.
    pub protocol: String,
    /// The host's address that it listens on.
    pub host_ip: IpAddr,
    /// The host's port.
    pub host_port: u16,
    /// The container's address.
    pub container_ip: IpAddr,
    /// The container's port.
    pub container_port: u16,
}

impl Proxy {
    /// Reads the text of `/proc/<pid>/cmdline`; none of any other program.
    #[must_use]
    pub fn parse(pid: u32, cmdline: &str) -> Option<Self> {
        let words: Vec<&str> = cmdline.split('\0').collect();
        if processes::program(&words) != "docker-proxy" {
            return None;
        }
        let option = |name: &str| processes::option(&words, name);
        Some(Self {
            pid,
            protocol: option("proto").unwrap_or("tcp").to_owned(),
            host_ip: option("host-ip")?.parse().ok()?,
            host_port: option("host-port")?.parse().ok()?,
            container_ip: option("container-ip")?.parse().ok()?,
            container_port: option("container-port")?.parse().ok()?,
        })
    }

    /// Whether it serves this published port. One without an address of the host is on all of them; one without a port of the host
    /// is not known well enough.
    #[must_use]
    pub fn serves(&self, port: &PortSpec) -> bool {
        port.host_port == Some(self.host_port)
            && self.protocol == port.protocol
            && self.container_port == port.port
            && port.host_ip.map_or(self.host_ip.is_unspecified(), |ip| ip == self.host_ip)
    }
}

/// CPU time of one docker-proxy over a window.
#[derive(Debug, Clone, PartialEq)]
pub struct ProxyCpu {
    /// Which.
    pub proxy: Proxy,
    /// CPU seconds, in whole ticks; none when it ended meanwhile.
    pub cpu_seconds: Option<f64>,
}

/// The proxies among processes; of one daemon only when they must be in its network namespace, as a daemon's proxies are.
#[must_use]
pub fn find(pids: &[u32], namespace: Option<u64>) -> Vec<Proxy> {
    let proxy = |pid: &u32| {
        let cmdline = std::fs::read(format!("/proc/{pid}/cmdline")).ok()?;
        Proxy::parse(*pid, &String::from_utf8_lossy(&cmdline))
    };
    let there = |proxy: &Proxy| namespace.is_none_or(|namespace| network::number(proxy.pid) == Some(namespace));
    pids.iter().filter_map(proxy).filter(there).collect()
}

/// All proxies of the daemon in a network namespace that are visible from here.
#[must_use]
pub fn of_engine(namespace: u64) -> Vec<Proxy> {
    find(&processes::all(), Some(namespace))
}

/// The rows `docker-proxy PORT` of a unit's published ports, with the host's ports as they became: whether a docker-proxy serves
/// each, when `asked` (`userland_proxy`) says what should be so.
///
/// `proxies` is none where the daemon's processes are not visible.
#[must_use]
pub fn attested(unit: &str, ports: &[PortSpec], asked: Option<bool>, proxies: Option<&[Proxy]>) -> Vec<Attested> {
    let Some(asked) = asked else { return Vec::new() };
    let told = |yes: bool| if yes { "yes" } else { "no" }.to_owned();
    let row = |port: &PortSpec| {
        let serving: Option<Vec<String>> = proxies
            .filter(|_| port.host_port.is_some())
            .map(|proxies| proxies.iter().filter(|proxy| proxy.serves(port)).map(|proxy| format!("/proc/{}/cmdline", proxy.pid)).collect());
        Attested {
            unit: unit.to_owned(),
            setting: format!("docker-proxy {}", name(port)),
            asked: told(asked),
            found: serving.as_ref().map(|serving| told(!serving.is_empty())),
            source: serving.filter(|serving| !serving.is_empty()).map_or_else(|| "/proc/*/cmdline".to_owned(), |serving| serving.join(" ")),
        }
    };
    ports.iter().map(row).collect()
}

/// A published port by its host side: `127.0.0.1:5000/tcp`, `5000/udp`.
#[must_use]
pub fn name(port: &PortSpec) -> String {
    let number = port.host_port.map_or_else(|| "?".to_owned(), |number| number.to_string());
    match port.host_ip {
        Some(IpAddr::V6(ip)) => format!("[{ip}]:{number}/{}", port.protocol),
        Some(IpAddr::V4(ip)) => format!("{ip}:{number}/{}", port.protocol),
        None => format!("{number}/{}", port.protocol),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TCP: &str = "/usr/sbin/docker-proxy -proto tcp -host-ip 127.0.0.1 -host-port 28191 -container-ip 172.17.0.2 -container-port 80";
    const UDP: &str = "/usr/sbin/docker-proxy -proto udp -host-ip :: -host-port 28192 -container-ip 172.17.0.2 -container-port 81";

    fn proxy(line: &str) -> Option<Proxy> {
        Proxy::parse(7, &format!("{}\0", line.replace(' ', "\0")))
    }

    fn port(host_ip: Option<&str>, host_port: Option<u16>, port: u16, protocol: &str) -> PortSpec {
        PortSpec { host_ip: host_ip.map(|ip| ip.parse().expect("address")), host_port, port, protocol: protocol.into() }
    }

    #[test]
    fn the_command_line_tells_the_port() {
        let told = |line: &str| {
            proxy(line).map(|p| format!("{} {} {} {} {}", p.protocol, p.host_ip, p.host_port, p.container_ip, p.container_port))
        };
        let tcp = Some("tcp 127.0.0.1 28191 172.17.0.2 80".to_owned());
        for (line, found) in [
            (TCP.to_owned(), tcp.clone()),
            (TCP.replace(" -host-port ", " --host-port="), tcp.clone()),
            (TCP.replace("-host-ip ", "-host-ip=").replace("-proto ", "-proto="), tcp.clone()),
            (format!("{TCP} -use-listen-fd"), tcp.clone()),
            (TCP.replace("-proto tcp ", ""), tcp.clone()),
            (TCP.replace("/usr/sbin/", ""), tcp),
            (UDP.to_owned(), Some("udp :: 28192 172.17.0.2 81".to_owned())),
            (TCP.replace("docker-proxy", "docker-proxy2"), None),
            (TCP.replace("28191", "65536"), None),
            (TCP.replace(" -container-port 80", " -container-port"), None),
            (TCP.replace("127.0.0.1", "localhost"), None),
            (format!("grep {TCP}"), None),
            (String::new(), None),
        ] {
            assert_eq!(told(&line), found, "{line}");
        }
    }

    #[test]
    fn a_proxy_serves_its_own_port_only() {
        let (tcp, udp) = (proxy(TCP).expect("tcp"), proxy(UDP).expect("udp"));
        for (port, by) in [
            (port(Some("127.0.0.1"), Some(28191), 80, "tcp"), (true, false)),
            (port(None, Some(28191), 80, "tcp"), (false, false)),
            (port(Some("127.0.0.1"), Some(28191), 80, "udp"), (false, false)),
            (port(Some("127.0.0.1"), Some(28191), 81, "tcp"), (false, false)),
            (port(Some("127.0.0.1"), None, 80, "tcp"), (false, false)),
            (port(None, Some(28192), 81, "udp"), (false, true)),
            (port(Some("::"), Some(28192), 81, "udp"), (false, true)),
            (port(Some("0.0.0.0"), Some(28192), 81, "udp"), (false, false)),
        ] {
            assert_eq!((tcp.serves(&port), udp.serves(&port)), by, "{port:?}");
        }
    }

    #[test]
    fn each_published_port_has_a_row() {
        let proxies = [proxy(TCP).expect("tcp")];
        let ports =
            [port(Some("127.0.0.1"), Some(28191), 80, "tcp"), port(None, Some(9000), 90, "udp"), port(Some("::1"), None, 80, "tcp")];
        let rows = attested("web", &ports, Some(true), Some(&proxies));
        let told: Vec<(&str, Option<&str>, &str)> =
            rows.iter().map(|r| (r.setting.as_str(), r.found.as_deref(), r.source.as_str())).collect();
        assert_eq!(
            told,
            [
                ("docker-proxy 127.0.0.1:28191/tcp", Some("yes"), "/proc/7/cmdline"),
                ("docker-proxy 9000/udp", Some("no"), "/proc/*/cmdline"),
                ("docker-proxy [::1]:?/tcp", None, "/proc/*/cmdline"),
            ]
        );
        assert!(!rows[0].differs() && rows[1].differs());
        assert!(attested("web", &ports[..1], Some(false), Some(&proxies))[0].differs());
        assert_eq!(attested("web", &ports[..1], Some(true), None)[0].found, None);
        assert_eq!(attested("web", &ports, None, Some(&proxies)), []);
    }

    #[test]
    fn we_are_no_proxy() {
        assert_eq!(find(&[std::process::id(), u32::MAX], None), []);
    }
}
