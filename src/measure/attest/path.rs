//! Which way the packets to a published port took: through docker-proxy, by the kernel's rewriting of addresses (DNAT), or neither.
//!
//! The nat table is asked for the first packet of a connection only, so its packet counters count connections (iptables(8));
//! docker-proxy leaves no counter, but CPU time. Of connections that were open before, DNAT shows nothing.

use super::processes;
use super::proxies::{self, ProxyCpu};
use crate::model::event::Attested;
use crate::model::stack::PortSpec;
use std::fmt;

/// A rule that sends connections to a container.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DnatRule {
    /// Connections so far.
    pub packets: u64,
    /// `tcp`, `udp`, `sctp`, or the number of another.
    pub protocol: String,
    /// The port that they were made to.
    pub port: u16,
    /// Where they are sent, such as `172.17.0.2:80`.
    pub to: String,
}

/// The DNAT rules for one port each in the output of `iptables -t nat -L -n -v -x`, of either back end, or `ip6tables`. None when it
/// is no such output, or a counter of it cannot be read.
#[must_use]
pub fn dnat_rules(text: &str) -> Option<Vec<DnatRule>> {
    let mut rules = Vec::new();
    let mut chains = 0;
    for line in text.lines() {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        match words[..] {
            ["Chain", ..] => chains += 1,
            [packets, _, "DNAT", protocol, ..] => {
                // Behind the addresses: `tcp dpt:80 to:172.17.0.2:80`, with other conditions in between.
                let option = |name: &str| words.iter().find_map(|word| word.strip_prefix(name));
                let packets = packets.parse().ok()?;
                let (Some(port), Some(to)) = (option("dpt:"), option("to:")) else { continue };
                rules.push(DnatRule { packets, protocol: protocol_name(protocol).to_owned(), port: port.parse().ok()?, to: to.to_owned() });
            }
            _ => {}
        }
    }
    (chains > 0).then_some(rules)
}

/// Since 1.8.9 iptables prints numbers with `-n`, before that names.
fn protocol_name(protocol: &str) -> &str {
    match protocol {
        "6" => "tcp",
        "17" => "udp",
        "132" => "sctp",
        other => other,
    }
}

/// The way that was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// Through docker-proxy.
    Proxy,
    /// By DNAT.
    Dnat,
    /// Some by the one, some by the other.
    Both,
    /// By neither, as to the container's own address.
    Direct,
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Proxy => "docker-proxy",
            Self::Dnat => "dnat",
            Self::Both => "docker-proxy and dnat",
            Self::Direct => "direct",
        })
    }
}

/// The way, and what says so.
#[derive(Debug, Clone, PartialEq)]
pub struct Taken {
    /// The way.
    pub way: Way,
    /// Connections that DNAT rules of the port saw; none when the rules could not be read.
    pub connections: Option<u64>,
    /// CPU seconds of its docker-proxy processes; none when there is no such process.
    pub proxy_cpu_seconds: Option<f64>,
}

impl fmt::Display for Taken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.connections {
            Some(connections) => write!(f, "{connections} connections by DNAT, ")?,
            None => f.write_str("rules not readable, ")?,
        }
        match self.proxy_cpu_seconds {
            Some(seconds) => write!(f, "{seconds:.2} s of docker-proxy"),
            None => f.write_str("no docker-proxy"),
        }
    }
}

/// The way to a published port between two outputs of iptables, by the CPU time in between of the `proxies` that serve it.
///
/// Beside connections by DNAT a docker-proxy with no more than one tick of the CPU clock was idle: it wakes up now and then. None
/// when it cannot be told: a proxy of it ended meanwhile, or its rules cannot be read or were written anew, without any CPU time of
/// a proxy.
#[must_use]
pub fn taken(before: &str, after: &str, port: &PortSpec, proxies: &[ProxyCpu]) -> Option<Taken> {
    let serving: Vec<&ProxyCpu> = proxies.iter().filter(|proxy| proxy.proxy.serves(port)).collect();
    let spent = serving.iter().map(|proxy| proxy.cpu_seconds).sum::<Option<f64>>()?;
    let count = |text: &str| {
        let rules = dnat_rules(text)?;
        let ours = rules.iter().filter(|rule| Some(rule.port) == port.host_port && rule.protocol == port.protocol);
        ours.map(|rule| rule.packets).try_fold(0_u64, u64::checked_add)
    };
    let connections = count(before).zip(count(after)).and_then(|(before, after)| after.checked_sub(before));
    let way = match connections {
        Some(0) | None if spent > 0.0 => Way::Proxy,
        Some(0) => Way::Direct,
        Some(_) if spent > processes::tick_seconds() * 1.5 => Way::Both,
        Some(_) => Way::Dnat,
        None => return None,
    };
    Some(Taken { way, connections, proxy_cpu_seconds: Some(spent).filter(|_| !serving.is_empty()) })
}

/// The row `path PORT` of a unit.
#[must_use]
pub fn row(unit: &str, port: &PortSpec, asked: Way, taken: Option<&Taken>) -> Attested {
    Attested {
        unit: unit.to_owned(),
        setting: format!("path {}", proxies::name(port)),
        asked: asked.to_string(),
        found: taken.map(|taken| taken.way.to_string()),
        source: taken.map_or_else(|| "iptables -t nat".to_owned(), Taken::to_string),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{IpAddr, Ipv4Addr};

    const NFT: &str = "\
Chain PREROUTING (policy ACCEPT 0 packets, 0 bytes)
    pkts      bytes target     prot opt in     out     source               destination         
       4      240 DOCKER     0    --  *      *       0.0.0.0/0            0.0.0.0/0            ADDRTYPE match dst-type LOCAL

Chain POSTROUTING (policy ACCEPT 0 packets, 0 bytes)
    pkts      bytes target     prot opt in     out     source               destination         
       9      540 MASQUERADE  6    --  *      *       172.17.0.2           172.17.0.2           tcp dpt:80

Chain DOCKER (2 references)
    pkts      bytes target     prot opt in     out     source               destination         
       0        0 RETURN     0    --  docker0 *       0.0.0.0/0            0.0.0.0/0           
       3      180 DNAT       17   --  !docker0 *       0.0.0.0/0            0.0.0.0/0            udp dpt:28192 to:172.17.0.2:81
      12      720 DNAT       6    --  !docker0 *       0.0.0.0/0            127.0.0.1            tcp dpt:28191 to:172.17.0.2:80
";
    const LEGACY: &str = "\
Chain DOCKER (2 references)
    pkts      bytes target     prot opt in     out     source               destination         
       7      420 DNAT       tcp  --  !docker0 *       0.0.0.0/0            0.0.0.0/0            /* web */ tcp dpt:8080 to:172.17.0.3:80
       5      300 DNAT       all  --  *      *       0.0.0.0/0            10.0.0.1             to:10.0.0.2
";
    const IPV6: &str = "\
Chain DOCKER (2 references)
    pkts      bytes target     prot opt in     out     source               destination         
       2      160 DNAT       tcp      !docker0 *       ::/0                 ::/0                 tcp dpt:8080 to:[fd00::2]:80
";

    fn port(host_port: u16, protocol: &str) -> PortSpec {
        PortSpec { host_ip: None, host_port: Some(host_port), port: 80, protocol: protocol.into() }
    }

    /// A docker-proxy of a port, and what it spent.
    fn proxy(port: &PortSpec, cpu_seconds: Option<f64>) -> ProxyCpu {
        let any = IpAddr::V4(Ipv4Addr::UNSPECIFIED);
        let (protocol, host_port) = (port.protocol.clone(), port.host_port.expect("a port"));
        let proxy = proxies::Proxy { pid: 1, protocol, host_ip: any, host_port, container_ip: any, container_port: port.port };
        ProxyCpu { proxy, cpu_seconds }
    }

    #[test]
    fn rules_are_read_of_either_back_end() {
        let told = |text: &str| {
            let rules = dnat_rules(text)?;
            Some(rules.iter().map(|rule| format!("{} {} {} {}", rule.packets, rule.protocol, rule.port, rule.to)).collect::<Vec<_>>())
        };
        let rules = |rules: &[&str]| Some(rules.iter().map(|rule| (*rule).to_owned()).collect::<Vec<_>>());
        for (text, found) in [
            (NFT.to_owned(), rules(&["3 udp 28192 172.17.0.2:81", "12 tcp 28191 172.17.0.2:80"])),
            (LEGACY.to_owned(), rules(&["7 tcp 8080 172.17.0.3:80"])),
            (IPV6.to_owned(), rules(&["2 tcp 8080 [fd00::2]:80"])),
            ("Chain PREROUTING (policy ACCEPT 0 packets, 0 bytes)\n".to_owned(), rules(&[])),
            // Without -x a counter may be rounded.
            (LEGACY.replace("       7 ", "     12K "), None),
            (LEGACY.replace("dpt:8080", "dpt:808080"), None),
            ("iptables v1.8.9 (legacy): can't initialize iptables table `nat': Permission denied".to_owned(), None),
            (String::new(), None),
        ] {
            assert_eq!(told(&text), found, "{text}");
        }
        for end in 0..NFT.len() {
            let _ = dnat_rules(&NFT[..end]);
        }
    }

    #[test]
    fn counters_and_cpu_time_tell_the_way() {
        let more = NFT.replace("      12      720", "     112     6720");
        let fewer = NFT.replace("      12      720", "       0        0");
        let tcp = port(28191, "tcp");
        for (before, after, port, seconds, way, words) in [
            (NFT, more.as_str(), &tcp, vec![], Some("dnat"), "100 connections by DNAT, no docker-proxy"),
            (NFT, &more, &tcp, vec![Some(0.0)], Some("dnat"), "100 connections by DNAT, 0.00 s of docker-proxy"),
            (NFT, &more, &tcp, vec![Some(0.01)], Some("dnat"), "100 connections by DNAT, 0.01 s of docker-proxy"),
            (NFT, &more, &tcp, vec![Some(0.5)], Some("docker-proxy and dnat"), "100 connections by DNAT, 0.50 s of docker-proxy"),
            (NFT, NFT, &tcp, vec![Some(0.5)], Some("docker-proxy"), "0 connections by DNAT, 0.50 s of docker-proxy"),
            (NFT, NFT, &tcp, vec![Some(0.0)], Some("direct"), "0 connections by DNAT, 0.00 s of docker-proxy"),
            (NFT, &more, &port(28191, "udp"), vec![], Some("direct"), "0 connections by DNAT, no docker-proxy"),
            // Rules that come with the container count from 0.
            (LEGACY, &more, &tcp, vec![], Some("dnat"), "112 connections by DNAT, no docker-proxy"),
            ("", &more, &tcp, vec![Some(0.5)], Some("docker-proxy"), "rules not readable, 0.50 s of docker-proxy"),
            (NFT, &fewer, &tcp, vec![Some(0.0)], None, ""),
            (NFT, "", &tcp, vec![], None, ""),
            (NFT, &more, &tcp, vec![Some(0.5), None], None, ""),
            (NFT, NFT, &port(28191, "udp"), vec![None], Some("direct"), "0 connections by DNAT, no docker-proxy"),
            (NFT, NFT, &tcp, vec![Some(0.25), Some(0.5)], Some("docker-proxy"), "0 connections by DNAT, 0.75 s of docker-proxy"),
        ] {
            let proxies: Vec<ProxyCpu> = seconds.iter().map(|seconds| proxy(&tcp, *seconds)).collect();
            let taken = taken(before, after, port, &proxies);
            assert_eq!(taken.as_ref().map(|taken| taken.way.to_string()).as_deref(), way, "{words}");
            assert_eq!(taken.map(|taken| taken.to_string()).unwrap_or_default(), words);
        }
    }

    #[test]
    fn a_row_names_the_port_and_its_numbers() {
        let port = port(28191, "tcp");
        let taken = taken(NFT, NFT, &port, &[proxy(&port, Some(0.5))]).expect("a way");
        let row = row("web", &port, Way::Dnat, Some(&taken));
        assert_eq!((row.setting.as_str(), row.found.as_deref(), row.differs()), ("path 28191/tcp", Some("docker-proxy"), true));
        assert_eq!((row.asked.as_str(), row.source.as_str()), ("dnat", "0 connections by DNAT, 0.50 s of docker-proxy"));
        assert_eq!(super::row("web", &port, Way::Dnat, None).found, None);
    }
}
