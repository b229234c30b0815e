//! What only a real daemon can show of a trial's stack: networks, ports, volumes, files of the host, commands inside units.

use crate::engine_conformance_docker::{Bench, client, everyone, shell, text};
use bollard::query_parameters::{ListNetworksOptionsBuilder, ListVolumesOptionsBuilder};
use shakedown::engine::docker::{Docker, Env};
use shakedown::engine::{Created, Engine, EngineError, Furniture, LABEL_RUN};
use shakedown::model::spec::{FileSpec, UnitSpec};
use shakedown::model::stack::{MountSource, MountSpec, NetworkSpec, PortSpec, VolumeSpec};
use std::collections::HashMap;
use std::io::Read;
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::Path;
use std::time::{Duration, Instant};

/// How long a server inside a container may take until it answers.
const PATIENCE: Duration = Duration::from_secs(20);

fn network(name: &str) -> NetworkSpec {
    NetworkSpec { name: name.into(), driver: "bridge".into(), driver_opts: Vec::new(), subnet: None, internal: false, ipv6: false }
}

fn volume(name: &str) -> VolumeSpec {
    VolumeSpec { name: name.into(), tmpfs_bytes: None, keep: false, from: None }
}

fn networks(networks: &[NetworkSpec]) -> Furniture<'_> {
    Furniture { networks, volumes: &[] }
}

fn volumes(volumes: &[VolumeSpec]) -> Furniture<'_> {
    Furniture { networks: &[], volumes }
}

/// A unit on the daemon's own network, or on what is joined afterwards.
fn connected(script: &str) -> UnitSpec {
    let mut spec = shell(script);
    spec.container.network_mode = None;
    spec
}

fn mounted(script: &str, source: MountSource, read_only: bool) -> UnitSpec {
    UnitSpec { volumes: vec![MountSpec { source, target: "/data".into(), read_only }], ..shell(script) }
}

/// A unit that answers every connection to its port 80 with `hello`.
fn server() -> UnitSpec {
    connected("exec nc -ll -p 80 -e /bin/echo hello")
}

async fn started(bench: &Bench, unit: &str, spec: &UnitSpec) -> Created {
    let unit = bench.create(unit, spec).await.expect("create");
    bench.engine.start(&unit).await.expect("start");
    unit
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

/// The names of our networks and volumes of the run.
async fn furniture_of(run: &str) -> Vec<String> {
    let filters = HashMap::from([("label", vec![format!("{LABEL_RUN}={run}")])]);
    let networks = client().list_networks(Some(ListNetworksOptionsBuilder::default().filters(&filters).build())).await.expect("networks");
    let volumes = client().list_volumes(Some(ListVolumesOptionsBuilder::default().filters(&filters).build())).await.expect("volumes");
    let volumes = volumes.volumes.unwrap_or_default().into_iter().map(|volume| volume.name);
    networks.into_iter().filter_map(|network| network.name).chain(volumes).collect()
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

#[tokio::test]
async fn a_volume_is_fresh_for_each_trial_and_a_kept_one_goes_with_its_run() {
    let Some(bench) = Bench::new("volumes").await else { return };
    let name = bench.name("a");
    let specs = [volume("fresh"), VolumeSpec { keep: true, ..volume("kept") }];
    let (fresh, kept) = (name.volume("fresh", false), name.volume("kept", true));
    let script = "ls /data; touch /data/trace";
    let mut told = Vec::new();
    for _ in 0..2 {
        bench.engine.furnish(&name, volumes(&specs)).await.expect("furnish");
        for source in [&fresh, &kept] {
            let (_, output) = bench.run(&mounted(script, MountSource::Volume(source.clone()), false)).await;
            told.push(text(&output.stdout.bytes));
        }
        bench.engine.clear(&name, volumes(&specs)).await.expect("clear");
        assert_eq!(furniture_of(&bench.run).await, [kept.as_str()]);
    }
    assert_eq!(told, ["", "", "", "trace\n"]);
    // What a killed attempt left is not handed on, either.
    bench.engine.furnish(&name, volumes(&specs)).await.expect("furnish");
    bench.run(&mounted(script, MountSource::Volume(fresh.clone()), false)).await;
    bench.engine.furnish(&name, volumes(&specs)).await.expect("furnish again");
    let (_, output) = bench.run(&mounted(script, MountSource::Volume(fresh.clone()), false)).await;
    assert_eq!(text(&output.stdout.bytes), "");

    let daemon = Docker::connect(None, &Env::of_process()).await.expect("daemon");
    let (_nobody, mut alive) = everyone().await;
    alive.retain(|run| *run != bench.run);
    let mut swept = daemon.sweep(&alive).await.expect("sweep");
    swept.retain(|what| what.contains(&bench.run));
    swept.sort();
    assert_eq!(swept, [&fresh, &kept].map(|volume| format!("volume `{volume}` of run `{}`", bench.run)));
}

#[tokio::test]
async fn an_anonymous_volume_goes_with_its_unit() {
    let Some(bench) = Bench::new("anonymous").await else { return };
    let unit = started(&bench, "a", &mounted("sleep 1000", MountSource::Anonymous, false)).await;
    let (there, standing) = (furniture_of(&bench.run).await.len(), bench.engine.inspect(&unit).await.expect("inspect"));
    bench.engine.remove(&unit).await.expect("remove");
    assert_eq!((there, furniture_of(&bench.run).await.len()), (1, 0));
    assert!(standing.settings.contains(&("mount /data".to_owned(), "volume".to_owned())), "{standing:?}");
}

#[tokio::test]
async fn memory_is_limited_to_what_was_declared() {
    let Some(bench) = Bench::new("memory").await else { return };
    let (name, specs) = (bench.name("a"), [VolumeSpec { tmpfs_bytes: Some(1 << 20), ..volume("memory") }]);
    bench.engine.furnish(&name, volumes(&specs)).await.expect("furnish");
    let script = "dd if=/dev/zero of=/data/x bs=65536 count=64 2>&1; stat -c %s /data/x";
    for source in [MountSource::Volume(name.volume("memory", false)), MountSource::Tmpfs(Some(1 << 20))] {
        let (_, output) = bench.run(&mounted(script, source.clone(), false)).await;
        let said = text(&output.stdout.bytes);
        assert!(said.contains("No space left") && said.ends_with("\n1048576\n"), "{source:?}: {said}");
    }
    // What is placed in it would be gone at the start.
    let mut spec = mounted("true", MountSource::Volume(name.volume("memory", false)), false);
    spec.files = vec![FileSpec::text("/data/x", "", 0o644)];
    let refused = bench.create("b", &spec).await;
    bench.engine.clear(&name, volumes(&specs)).await.expect("clear");
    assert!(matches!(refused, Err(EngineError::Unsupported { .. })), "{refused:?}");
}

#[tokio::test]
async fn a_folder_of_the_host_is_seen_and_can_be_kept_from_writing() {
    let Some(bench) = Bench::new("bind").await else { return };
    let folder = tempfile::tempdir().expect("folder");
    std::fs::write(folder.path().join("x"), "content\n").expect("file");
    let source = MountSource::Bind(folder.path().into());
    let (exit, output) = bench.run(&mounted("cat /data/x; touch /data/y", source.clone(), true)).await;
    assert_eq!((exit.code, text(&output.stdout.bytes).as_str()), (1, "content\n"));
    assert!(text(&output.stderr.bytes).contains("Read-only file system") && !folder.path().join("y").exists());
    bench.run(&mounted("touch /data/y", source, false)).await;
    assert!(folder.path().join("y").exists());
    let missing = folder.path().join("missing");
    let refused = bench.create("b", &mounted("true", MountSource::Bind(missing.clone()), false)).await;
    assert!(refused.is_err() && !missing.exists(), "{refused:?}");
}

#[tokio::test]
async fn folders_of_the_host_are_copied_with_modes_and_owners() {
    let Some(bench) = Bench::new("copy").await else { return };
    let folder = tempfile::tempdir().expect("folder");
    let inside = |name: &str| folder.path().join(name);
    std::fs::create_dir(inside("sub")).expect("folder");
    std::fs::write(inside("sub/x"), vec![b'x'; 3_000_000]).expect("file");
    for (name, mode, owner) in [("sub/x", 0o640, 1234), ("sub", 0o750, 1234), (".", 0o711, 0)] {
        std::fs::set_permissions(inside(name), std::fs::Permissions::from_mode(mode)).expect("mode");
        if rustix::process::geteuid().is_root() {
            chown(inside(name), Some(owner), Some(owner)).expect("owner");
        }
    }
    let own = rustix::process::geteuid();
    let owner = if own.is_root() { 1234 } else { own.as_raw() };
    let copied = |target: &str| FileSpec { source: Some(folder.path().into()), ..FileSpec::text(target, "", 0o644) };
    let script = "for at in /data /srv/deep; do stat -c '%a %n' $at; stat -c '%a %u %n' $at/sub; stat -c '%a %u %s %n' $at/sub/x; done; \
                  stat -c '%a %s %n' /opt/one";
    let mut spec = mounted(script, MountSource::Anonymous, false);
    let one = FileSpec { source: Some(inside("sub/x")), ..FileSpec::text("/opt/one", "", 0o600) };
    spec.files = vec![copied("/data"), copied("/srv/deep"), one];
    let (_, output) = bench.run(&spec).await;
    let of = |at: &str| format!("711 {at}\n750 {owner} {at}/sub\n640 {owner} 3000000 {at}/sub/x\n");
    assert_eq!(text(&output.stdout.bytes), format!("{}{}640 3000000 /opt/one\n", of("/data"), of("/srv/deep")));
    // A volume can be filled where the rest is read-only.
    (spec.container.read_only, spec.files) = (true, vec![copied("/data/below")]);
    spec.command[2] = "cd /data/below/sub && pwd".into();
    assert_eq!(text(&bench.run(&spec).await.1.stdout.bytes), "/data/below/sub\n");

    spec.files = vec![FileSpec { source: Some(inside("missing")), ..FileSpec::text("/data/x", "", 0o644) }];
    let error = bench.create("b", &spec).await.expect_err("there is no such file").to_string();
    assert!(error.starts_with("pack files: ") && error.contains("missing"), "{error}");
    assert!(client().inspect_container(&bench.name("b").container(), None).await.is_err());
}

#[tokio::test]
async fn commands_inside_a_unit_tell_their_code_and_output() {
    let Some(bench) = Bench::new("exec").await else { return };
    let unit =
        started(&bench, "a", &UnitSpec { environment: vec![("WHAT".into(), "env".into())], ..shell("echo begun; sleep 1000") }).await;
    let run = async |words: &[&str]| {
        let command: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        bench.engine.exec(&unit, &command).await
    };
    let done = run(&["/bin/sh", "-c", "echo out $WHAT; echo err >&2; exit 7"]).await.expect("exec");
    assert_eq!((done.code, text(&done.output.stdout.bytes), text(&done.output.stderr.bytes)), (7, "out env\n".into(), "err\n".into()));
    let large = run(&["/bin/sh", "-c", "head -c 20971520 /dev/zero; exit 3"]).await.expect("exec");
    assert_eq!((large.code, large.output.stdout.total, large.output.stdout.bytes.len()), (3, 20_971_520, shakedown::engine::OUTPUT_CAP));
    // A shell's own 127 is a result.
    assert_eq!(run(&["/bin/sh", "-c", "nope"]).await.expect("exec").code, 127);
    for program in ["/does/not/exist", "nope", "/opt"] {
        let error = run(&[program]).await.expect_err("not executable");
        assert!(matches!(&error, EngineError::NotStarted { program: told, .. } if told == program), "{error}");
    }
    let output = bench.engine.output(&unit).await.expect("output so far");
    assert_eq!(text(&output.stdout.bytes), "begun\n");
    let pid = bench.engine.inspect(&unit).await.expect("inspect").pid.expect("a process");
    let process = std::fs::read(format!("/proc/{pid}/cmdline")).expect("its command line");
    assert!(text(&process).contains("sleep"), "{}", text(&process));
    bench.engine.remove(&unit).await.expect("remove");
    assert!(matches!(run(&["/bin/true"]).await, Err(EngineError::Call { .. })));
}

#[tokio::test]
async fn settings_are_told_of_a_unit_that_has_not_started_yet() {
    let Some(bench) = Bench::new("settings").await else { return };
    let mut spec = mounted("true", MountSource::Tmpfs(None), false);
    spec.container.tmpfs = vec![("/t".into(), "size=1m".into())];
    let unit = bench.create("a", &spec).await.expect("create");
    let standing = bench.engine.inspect(&unit).await.expect("inspect");
    let driver = bench.engine.facts().await.expect("facts").storage_driver;
    bench.engine.remove(&unit).await.expect("remove");
    let expected = [("mount /data", "tmpfs"), ("mount /t", "tmpfs"), ("network_mode", "none"), ("storage_driver", driver.as_str())];
    assert_eq!(standing.settings, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
    assert_eq!((standing.addresses, standing.ports, standing.pid), (Vec::new(), Vec::new(), None));
}

#[tokio::test]
async fn what_the_engine_cannot_make_is_told_with_what_to_do() {
    let Some(bench) = Bench::new("cannot").await else { return };
    let name = bench.name("a");
    let driver = [NetworkSpec { driver: "shakedown-none".into(), ..network("net") }];
    let from = [VolumeSpec { from: Some(Path::new("/srv").into()), ..volume("data") }];
    for (furniture, expected) in [(networks(&driver), "use one of"), (volumes(&from), "files: [{source: /srv")] {
        let error = bench.engine.furnish(&name, furniture).await.expect_err("it cannot");
        assert!(matches!(error, EngineError::Unsupported { .. }) && error.to_string().contains(expected), "{error}");
    }
    assert_eq!(furniture_of(&bench.run).await, Vec::<String>::new());
}
