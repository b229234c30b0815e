//! What a private daemon costs: up to its API's answer and down to the last process and file, beside the same daemon in the same
//! namespaces started by hand.

use super::http::Http;
use super::table::{Table, Value, median};
use shakedown::engine::dockerd::{Daemons, Private};
use shakedown::engine::{Engine, UnitName};
use shakedown::model::private::{BACKING_BYTES, Backing, Filesystem, PrivateSpec};
use shakedown::model::spec::{ContainerSpec, ImageSpec, Place, UnitSpec};
use shakedown::record::Lease;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Pairs of one by hand and one of ours.
const ROUNDS: usize = 7;
/// Seconds that a daemon may take.
const LIMIT: Duration = Duration::from_secs(60);

/// Seconds up and down.
type Cycle = (f64, f64);

pub fn measure(table: &mut Table) -> Result<(), String> {
    let daemons = Daemons::new(None);
    let private = |filesystem| Private::new(spec(filesystem), daemons.clone());
    let (memory, disk) = (private(Filesystem::Tmpfs), private(Filesystem::Ext4));
    let impossible = [memory.impossible(), disk.impossible()].concat();
    if !impossible.is_empty() {
        table.note(&format!("private daemons: not available: {}", impossible.join("; ")));
        return Ok(());
    }
    let run = format!("bars{}", std::process::id());
    let _lease = Lease::take(&run).map_err(|error| error.to_string())?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().map_err(|error| error.to_string())?;
    let cycle = |private: &Private| runtime.block_on(cycle(private, &run)).map_err(|error| error.to_string());
    // The first start shows that containers run, which the others need not; and makes the seed.
    cycle(&memory)?;
    runtime.block_on(seed(&disk, &run)).map_err(|error| error.to_string())?;
    let (mut bare_cycles, mut own, mut seeded) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        bare_cycles.push(bare()?);
        own.push(cycle(&memory)?);
        seeded.push(cycle(&disk)?);
    }
    let mut told = |name: &str, cycles: &[Cycle]| {
        let up = median(&mut cycles.iter().map(|cycle| cycle.0).collect::<Vec<_>>());
        let down = median(&mut cycles.iter().map(|cycle| cycle.1).collect::<Vec<_>>());
        table.number(&format!("{name}: up to the API's answer"), Value::Seconds(up));
        table.number(&format!("{name}: down, nothing left"), Value::Seconds(down));
    };
    told("dockerd by hand, overlay2 on tmpfs", &bare_cycles);
    told("private daemon, overlay2 on tmpfs", &own);
    told("private daemon, overlay2 on ext4 from a seed", &seeded);
    let whole = |cycle: &Cycle| cycle.0 + cycle.1;
    let mut ratios: Vec<f64> = own.iter().zip(&bare_cycles).map(|(own, bare)| whole(own) / whole(bare)).collect();
    table.bar("private daemon / by hand, up and down", Value::Times(median(&mut ratios)), Value::Times(1.2));
    let other = Private::new(PrivateSpec { userland_proxy: false, ..spec(Filesystem::Tmpfs) }, daemons.clone());
    let (stayed, switched) = runtime.block_on(switching([&memory, &other], &run)).map_err(|error| error.to_string())?;
    table.number("a container on the daemon that had the last one, too", Value::Seconds(stayed));
    table.bar("after a switch to another daemon that is up", Value::Times(switched / stayed), Value::Times(1.05));
    Ok(())
}

/// Pairs of containers on each of two daemons in turn.
const SWITCHES: usize = 24;

/// Median seconds of a container on the daemon that had the last one, and on the other.
async fn switching(daemons: [&Private; 2], run: &str) -> Result<(f64, f64), shakedown::engine::EngineError> {
    let mut images = Vec::new();
    for daemon in daemons {
        daemon.up(run).await?;
        images.push(daemon.image(&ImageSpec::Pack(vec!["/bin/true".into()]), Path::new("/")).await?);
    }
    let unit = UnitSpec {
        command: vec!["/bin/true".to_owned()],
        container: ContainerSpec { network_mode: Some("none".to_owned()), ..ContainerSpec::default() },
        ..UnitSpec::bare(Place::Container)
    };
    let (mut stayed, mut switched) = (Vec::new(), Vec::new());
    for number in 0..2 * SWITCHES {
        let which = number / 2 % 2;
        let name = UnitName { run: run.to_owned(), experiment: "bars".to_owned(), trial: format!("t{number}"), unit: "u".to_owned() };
        let clock = Instant::now();
        let created = daemons[which].create(&name, &unit, Some(&images[which])).await?;
        daemons[which].start(&created).await?;
        daemons[which].wait(&created).await?;
        daemons[which].remove(&created).await?;
        let seconds = clock.elapsed().as_secs_f64();
        // The very first ones of each have everything to load.
        if number >= 4 {
            if number % 2 == 0 { switched.push(seconds) } else { stayed.push(seconds) }
        }
    }
    for daemon in daemons {
        daemon.down().await?;
    }
    Ok((median(&mut stayed), median(&mut switched)))
}

fn spec(filesystem: Filesystem) -> PrivateSpec {
    PrivateSpec {
        storage_driver: "overlay2".to_owned(),
        backing: Backing { filesystem, bytes: BACKING_BYTES },
        userland_proxy: true,
        iptables: true,
        binary: None,
        daemon: std::collections::BTreeMap::new(),
    }
}

async fn cycle(private: &Private, run: &str) -> Result<Cycle, shakedown::engine::EngineError> {
    let clock = Instant::now();
    private.up(run).await?;
    let up = clock.elapsed().as_secs_f64();
    let clock = Instant::now();
    private.down().await?;
    Ok((up, clock.elapsed().as_secs_f64()))
}

async fn seed(private: &Private, run: &str) -> Result<(), shakedown::engine::EngineError> {
    private.up(run).await?;
    private.image(&ImageSpec::Pack(vec!["/bin/true".into()]), Path::new("/")).await?;
    private.down().await
}

/// The same flags, devices and mounts, without anything of ours.
fn bare() -> Result<Cycle, String> {
    let said = |error: std::io::Error| error.to_string();
    let clock = Instant::now();
    let folder = tempfile::Builder::new().prefix("bars-").rand_bytes(4).tempdir_in("/run").map_err(said)?;
    let at = folder.path().display().to_string();
    let socket = folder.path().join("docker.socket");
    std::fs::write(folder.path().join("daemon.json"), r#"{"exec-opts":["native.cgroupdriver=cgroupfs"]}"#).map_err(said)?;
    let script = format!(
        "set -e; mkdir {at}/data {at}/exec\n\
         printf 'link set lo up\\nlink add sd0 type veth peer name sd1\\naddress add 198.18.0.1/24 dev sd0\\nlink set sd0 up\\nlink set sd1 up\\n' | ip -batch -\n\
         mount -t tmpfs tmpfs /run/containerd; mount -t tmpfs -o size={BACKING_BYTES},mode=711 tmpfs {at}/data\n\
         exec docker-init -s -- dockerd --config-file={at}/daemon.json --data-root={at}/data --exec-root={at}/exec \
         --pidfile={at}/exec/docker.pid --host=unix://{at}/docker.socket --storage-driver=overlay2 --userland-proxy=true --iptables=true"
    );
    let words =
        ["--pid", "--fork", "--kill-child=SIGKILL", "--mount", "--propagation", "slave", "--net", "--mount-proc", "--", "/bin/sh", "-c"];
    let mut command = Command::new("unshare");
    command.args(words).arg(script).stdin(Stdio::null()).stderr(Stdio::null()).stdout(Stdio::piped());
    let mut child = command.spawn().map_err(said)?;
    let mut everyone = child.stdout.take().ok_or("no pipe")?;
    let answers = || Http::at(&socket).and_then(|mut http| http.call("GET", "/version", "").and_then(|_| http.call("GET", "/info", "")));
    while answers().is_err() && clock.elapsed() < LIMIT {
        std::thread::sleep(Duration::from_millis(2));
    }
    let up = clock.elapsed().as_secs_f64();
    let clock = Instant::now();
    child.kill().map_err(said)?;
    child.wait().map_err(said)?;
    // All of them hold the pipe: its end is theirs.
    everyone.read_to_end(&mut Vec::new()).map_err(said)?;
    folder.close().map_err(said)?;
    if up > LIMIT.as_secs_f64() { Err("dockerd by hand does not answer".to_owned()) } else { Ok((up, clock.elapsed().as_secs_f64())) }
}
