//! The whole program on private daemons: they come and go with the run, however that ends, and the host and the user's own daemon
//! never notice. Skipped without root or what such daemons need.

mod broken;
mod ended;
mod refused;
mod turns;

use crate::program::Place;
use crate::snapshot::{GUEST, Snapshot};
use shakedown::engine::control;
use shakedown::engine::docker::{Docker, Env};
use shakedown::engine::dockerd::survey;
use shakedown::engine::{Engine, Image};
use shakedown::model::event::TrialRow;
use shakedown::model::outcome::Outcome;
use shakedown::model::possible::{Answer, Possible};
use shakedown::model::private::Filesystem;
use shakedown::model::spec::ImageSpec;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

const BUSYBOX: &str = "/bin/busybox";

/// Two settings of a daemon, and a host process that asks a service in it through a published port: thrice, a tenth of a second apart.
const TWO: &str = "matrix: {userland_proxy: [true, false]}
engine: {storage_driver: overlay2, backing: tmpfs, userland_proxy: '{{ userland_proxy }}'}
services:
  web:
    pack: [/bin/busybox]
    command: [/bin/busybox, httpd, -f, -p, '80', -h, /bin]
    ports: ['127.0.0.1:5000:80']
    ready: {tcp: '127.0.0.1:5000'}
workload:
  on: host
  command: [/bin/busybox, sh, -c, 'for i in 1 2 3; do busybox wget -q -O /dev/null http://127.0.0.1:5000/busybox && sleep 0.1 || exit 1; done']
  timeout: 20s
design: {blocks: 2, min_window: 100ms}
";

/// A host before the program runs on it, with a container of somebody else on the daemon that docker would use.
struct Host {
    before: Snapshot,
    guest: Option<Guest>,
}

impl Host {
    /// None, and said so, where there can be no private daemons.
    #[track_caller]
    fn new(test: &'static str) -> Option<impl Future<Output = Self>> {
        if let Some(reason) = impossible() {
            crate::skipped::skip(reason);
            return None;
        }
        Some(async move {
            let guest = Guest::arrive(test).await;
            // No run has such an id: this one asks for what all runs share.
            Self { before: Snapshot::take("none-of-them").await, guest }
        })
    }

    /// Fails when something of an experiment's runs is left, or the host has changed.
    async fn has_nothing_of(&self, place: &Place, experiment: &str) {
        Snapshot::assert_nothing_of(&place.run_ids(experiment)).await;
        self.before.assert_same().await;
        if let Some(guest) = &self.guest {
            assert_eq!(guest.state().await, guest.before, "somebody else's container was touched");
        }
    }

    /// The same, and lets the guest go.
    async fn ends(self, place: &Place, experiment: &str) {
        self.has_nothing_of(place, experiment).await;
        if let Some(guest) = self.guest {
            guest.leave().await;
        }
    }
}

/// Why there are no private daemons here; none when there are. Missing programs are an error where engines are required.
pub fn impossible() -> Option<String> {
    if !rustix::process::geteuid().is_root() {
        return Some("private daemons need root".to_owned());
    }
    if !control::may_make_groups(&control::layout().unwrap_or_default()) {
        return Some("no control groups of our own here".to_owned());
    }
    let survey = survey();
    let busybox = (!Path::new(BUSYBOX).exists()).then(|| format!("there is no {BUSYBOX}"));
    let missing: Vec<String> = survey.general.into_iter().chain(busybox).collect();
    assert!(missing.is_empty() || std::env::var("SHAKEDOWN_TEST_ENGINE").as_deref() != Ok("required"), "{missing:?}");
    let asked = |row: &&Possible| (row.storage_driver, row.filesystem) == ("overlay2", Filesystem::Tmpfs);
    let storage = match &survey.pairs.iter().find(asked).expect("in the table").answer {
        Answer::No(reason) => Some(reason.clone()),
        Answer::Expected | Answer::Ran | Answer::Unseen(_) => None,
    };
    let reasons: Vec<String> = missing.into_iter().chain(storage).collect();
    (!reasons.is_empty()).then(|| reasons.join("; "))
}

/// A container without a label of ours, as another user of the daemon would have it. It ends by itself when a test fails.
pub struct Guest {
    client: bollard::Docker,
    engine: Docker,
    image: Image,
    name: String,
    before: Vec<String>,
}

impl Guest {
    /// None where there is no such daemon.
    pub async fn arrive(test: &str) -> Option<Self> {
        let engine = Docker::connect(None, &Env::of_process()).await.ok()?;
        // A path of its own, so that no other test has the same image.
        let folder = tempfile::tempdir().expect("folder");
        let own = folder.path().join("busybox");
        std::fs::copy(BUSYBOX, &own).expect("copy");
        let image = engine.image(&ImageSpec::Pack(vec![own.clone()]), Path::new("/")).await.expect("image");
        let own = own.display().to_string();
        let client = bollard::Docker::connect_with_defaults().expect("client");
        let name = format!("{GUEST}{}-{test}", std::process::id());
        let config = bollard::models::ContainerCreateBody {
            image: Some(image.reference.clone()),
            entrypoint: Some([own.as_str(), "sleep", "600"].map(str::to_owned).to_vec()),
            host_config: Some(bollard::models::HostConfig { auto_remove: Some(true), ..Default::default() }),
            ..Default::default()
        };
        let options = bollard::query_parameters::CreateContainerOptionsBuilder::default().name(&name).build();
        client.create_container(Some(options), config).await.expect("create");
        client.start_container(&name, None::<bollard::query_parameters::StartContainerOptions>).await.expect("start");
        let mut guest = Self { client, engine, image, name, before: Vec::new() };
        guest.before = guest.state().await;
        Some(guest)
    }

    /// What it is called.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its process, its start, and its address.
    async fn state(&self) -> Vec<String> {
        let seen = self.client.inspect_container(&self.name, None::<bollard::query_parameters::InspectContainerOptions>).await;
        let seen = seen.expect("it is there");
        let state = seen.state.expect("state");
        let networks = seen.network_settings.and_then(|settings| settings.networks).unwrap_or_default();
        let addresses = networks.into_iter().map(|(name, end)| format!("{name} {:?}", end.ip_address));
        let own = [format!("{:?}", state.pid), format!("{:?}", state.started_at), format!("{:?}", state.status)];
        own.into_iter().chain(addresses).collect()
    }

    /// Removes it, with its image.
    pub async fn leave(self) {
        let options = bollard::query_parameters::RemoveContainerOptionsBuilder::default().force(true).build();
        self.client.remove_container(&self.name, Some(options)).await.expect("remove");
        self.engine.forget_image(&self.image).await.expect("forget");
    }
}

/// Rows of trials, without primers.
fn trials(place: &Place, experiment: &str) -> Vec<TrialRow> {
    place.rows(experiment).into_iter().filter(|row| !row.is_primer()).collect()
}

/// Every trial of [`TWO`] has one good row, which says the engine start of its block.
fn each_trial_once(place: &Place) {
    let rows = trials(place, "two");
    let mut seen: HashMap<&str, usize> = HashMap::new();
    rows.iter().for_each(|row| *seen.entry(&row.trial).or_default() += 1);
    assert!(rows.iter().all(|row| row.outcome == Outcome::Ok && row.engine_start == Some(row.block)), "{rows:#?}");
    assert!(seen.len() == 6 && seen.values().all(|count| *count == 1), "{seen:?}");
    let short = rows.iter().filter(|row| !row.metrics.iter().any(|metric| metric.name == "wall" && metric.value >= 0.2));
    assert_eq!(short.count(), 0, "three questions with a tenth of a second after each: {rows:#?}");
}

/// The processes of private daemons of these runs: `dockerd` itself, in this host's numbers.
fn daemons(runs: &[String]) -> Vec<i32> {
    let entries = std::fs::read_dir("/proc").expect("proc").flatten().map(|entry| entry.path());
    let is_daemon = |path: &PathBuf| {
        let command = String::from_utf8_lossy(&std::fs::read(path.join("cmdline")).unwrap_or_default()).into_owned();
        let name = std::fs::read_to_string(path.join("comm")).unwrap_or_default();
        name.trim() == "dockerd" && runs.iter().any(|run| command.contains(&format!("{}/{run}-", shakedown::engine::dockerd::RUN)))
    };
    entries.filter(is_daemon).filter_map(|path| path.file_name()?.to_str()?.parse().ok()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_measures_and_leaves_nothing() {
    let Some(host) = Host::new("run") else { return };
    let host = host.await;
    let place = Place::with("two", TWO);
    let said = place.run(&["run", "two"]);
    assert_eq!(said.code, 0, "{}", said.stderr);
    each_trial_once(&place);
    // Each setting's daemon starts anew for each block, and what it does first is thrown away.
    let mut primers: Vec<(String, Option<u32>, String)> =
        place.rows("two").into_iter().filter(TrialRow::is_primer).map(|row| (row.variant, row.engine_start, row.trial)).collect();
    primers.sort();
    let started: Vec<(&str, Option<u32>)> = primers.iter().map(|(variant, start, _)| (variant.as_str(), *start)).collect();
    let variants = ["userland_proxy=false", "userland_proxy=true", "userland_proxy=true#aa"];
    let expected: Vec<(&str, Option<u32>)> = variants.into_iter().flat_map(|variant| [(variant, Some(1)), (variant, Some(2))]).collect();
    assert_eq!(started, expected);
    assert!(primers.iter().all(|(_, _, trial)| trial.ends_with("-primer")), "{primers:?}");
    host.ends(&place, "two").await;
}
