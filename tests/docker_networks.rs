//! What only a real daemon can show of networks and published ports.

use crate::docker_stack::{furniture_of, network, networks, started};
use crate::engine_conformance_docker::{Bench, shell, text};
use shakedown::engine::{Created, Engine};
use shakedown::model::spec::UnitSpec;
use shakedown::model::stack::{NetworkSpec, PortSpec};
use std::io::Read;
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::time::{Duration, Instant};

/// How long a server inside a container may take until it answers.
const PATIENCE: Duration = Duration::from_secs(20);

/// A unit on the daemon's own network, or on what is joined afterwards.
fn connected(script: &str) -> UnitSpec {
    let mut spec = shell(script);
    spec.container.network_mode = None;
    spec
}

/// A unit that answers every connection to its port 80 with `hello`.
fn server() -> UnitSpec {
    connected("exec nc -ll -p 80 -e /bin/echo hello")
}

/// What `address` answers, asked until it answers something.
fn answer(address: SocketAddr) -> String {
    let started = Instant::now();
    while started.elapsed() < PATIENCE {
        let mut said = String::new();
        let stream = TcpStream::connect_timeout(&address, PATIENCE);
        if stream.is_ok_and(|mut stream| stream.read_to_string(&mut said).is_ok()) && !said.is_empty() {
            return said;
        }
        std::thread::yield_now();
    }
    panic!("`{address}` does not answer");
}

async fn execute(bench: &Bench, unit: &Created, script: &str) -> (i64, String) {
    let command = ["/bin/sh", "-c", script].map(str::to_owned);
    let done = bench.engine.exec(unit, &command).await.expect("exec");
    (done.code, text(&done.output.stdout.bytes))
}

#[tokio::test]
async fn units_of_a_network_know_each_other_by_name() {
    let Some(bench) = Bench::new("names2").await else { return };
    let name = bench.name("web");
    let specs = [network("front"), NetworkSpec { ipv6: true, internal: true, ..network("back") }];
    bench.engine.furnish(&name, networks(&specs)).await.expect("furnish");
    let (front, back) = (name.network("front"), name.network("back"));
    let mut web = server();
    web.container.networks = vec![back.clone(), front.clone()];
    let web = started(&bench, "web", &web).await;
    let standing = bench.engine.inspect(&web).await.expect("inspect");
    for network in [&front, &back] {
        let mut asking = connected("sleep 1000");
        asking.container.networks = vec![network.clone()];
        let asking = started(&bench, "asking", &asking).await;
        let (code, said) = execute(&bench, &asking, "for i in 1 2 3 4 5 6 7 8 9; do nc web 80 && exit 0; sleep 1; done; exit 1").await;
        assert_eq!((code, said.as_str()), (0, "hello\n"), "{network}");
        bench.engine.remove(&asking).await.expect("remove");
    }
    assert!(standing.settings.contains(&("network_mode".to_owned(), back)), "{standing:?}");
    let families: Vec<bool> = standing.addresses.iter().map(IpAddr::is_ipv4).collect();
    assert_eq!(families, [true, false, true], "those of `back` first: {standing:?}");
    assert_eq!(answer(SocketAddr::new(standing.addresses[2], 80)), "hello\n");
    // The networks are still in use here.
    let (cleared, removed) = tokio::join!(bench.engine.clear(&name, networks(&specs)), bench.engine.remove(&web));
    removed.expect("remove");
    cleared.expect("clear");
    assert_eq!(furniture_of(&bench.run).await, Vec::<String>::new());
    bench.engine.clear(&name, networks(&specs)).await.expect("nothing is there");
}

#[tokio::test]
async fn a_network_that_a_dead_attempt_left_is_made_anew() {
    let Some(bench) = Bench::new("anew").await else { return };
    let (name, specs) = (bench.name("web"), [NetworkSpec { subnet: Some("10.213.7.0/24".into()), ..network("net") }]);
    for _ in 0..2 {
        bench.engine.furnish(&name, networks(&specs)).await.expect("furnish");
        assert_eq!(furniture_of(&bench.run).await, [name.network("net")]);
    }
    let mut spec = connected("sleep 1000");
    spec.container.networks = vec![name.network("net")];
    let unit = started(&bench, "web", &spec).await;
    let addresses = bench.engine.inspect(&unit).await.expect("inspect").addresses;
    bench.engine.remove(&unit).await.expect("remove");
    bench.engine.clear(&name, networks(&specs)).await.expect("clear");
    assert!(matches!(addresses.as_slice(), [one] if one.to_string().starts_with("10.213.7.")), "{addresses:?}");
}

#[tokio::test]
async fn published_ports_answer_and_are_told_as_they_became() {
    let Some(bench) = Bench::new("ports").await else { return };
    let free = std::net::TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a free port").port();
    let port = |ip: Option<&str>, host_port, port, protocol: &str| PortSpec {
        host_ip: ip.map(|ip| ip.parse().expect("address")),
        host_port,
        port,
        protocol: protocol.into(),
    };
    let mut spec = server();
    spec.container.ports = vec![
        port(Some("127.0.0.1"), Some(free), 80, "tcp"),
        port(Some("::1"), None, 80, "tcp"),
        port(None, None, 81, "tcp"),
        port(Some("127.0.0.1"), None, 53, "udp"),
    ];
    let unit = started(&bench, "web", &spec).await;
    let ports = bench.engine.inspect(&unit).await.expect("inspect").ports;
    let said = answer(SocketAddr::new([127, 0, 0, 1].into(), free));
    let chosen = ports.iter().find(|port| port.host_ip.is_some_and(|ip| ip.is_ipv6() && ip.is_loopback())).expect("::1");
    let said_v6 = answer(SocketAddr::new(chosen.host_ip.expect("::1"), chosen.host_port.expect("a port")));
    bench.engine.remove(&unit).await.expect("remove");
    assert_eq!((said.as_str(), said_v6.as_str()), ("hello\n", "hello\n"));
    let told = |port: u16, protocol: &str| ports.iter().filter(|one| one.port == port && one.protocol == protocol).count();
    assert_eq!((told(80, "tcp"), told(53, "udp")), (2, 1), "{ports:?}");
    assert!(told(81, "tcp") >= 1 && ports.iter().all(|one| one.host_port.is_some_and(|port| port > 0)), "{ports:?}");
}

#[tokio::test]
async fn a_unit_in_another_s_namespace_has_its_address() {
    let Some(bench) = Bench::new("shared").await else { return };
    let web = started(&bench, "web", &server()).await;
    let mut spec = connected("sleep 1000");
    spec.container.network_mode = Some(format!("container:{}", bench.name("web").container()));
    let side = started(&bench, "side", &spec).await;
    let (of_web, of_side) = (bench.engine.inspect(&web).await.expect("web"), bench.engine.inspect(&side).await.expect("side"));
    let (code, said) = execute(&bench, &side, "for i in 1 2 3 4 5 6 7 8 9; do nc 127.0.0.1 80 && exit 0; sleep 1; done; exit 1").await;
    for unit in [&side, &web] {
        bench.engine.remove(unit).await.expect("remove");
    }
    assert_eq!((code, said.as_str()), (0, "hello\n"));
    assert_eq!((of_web.addresses.len(), &of_side.addresses), (1, &of_web.addresses));
    let mode = |standing: &shakedown::engine::Standing| standing.settings.iter().find(|(name, _)| name == "network_mode").cloned();
    assert_eq!(mode(&of_side).map(|(_, mode)| mode), Some(format!("container:{}", web.id)));
}
