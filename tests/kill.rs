//! `kill -9` at any moment, again and again: in the end every trial has one row, and nothing is left on the host.

use crate::program::{Place, left};
use shakedown::engine::LABEL_RUN;
use shakedown::model::outcome::Outcome;
use std::collections::{BTreeMap, HashMap};
use std::process::Stdio;
use std::time::Duration;

/// A small generator: moments differ, and are the same in every run of the test.
pub struct Moments(pub u64);

impl Moments {
    /// The next moment, before `most_ms`.
    pub fn next(&mut self, most_ms: u64) -> Duration {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        Duration::from_millis((self.0 >> 33) % most_ms)
    }
}

/// Kills `kills` runs at moments up to `most_ms`, then runs to the end; returns how many were killed on their way.
fn torture(place: &Place, kills: u32, most_ms: u64) -> u32 {
    let mut moments = Moments(7);
    let mut hit = 0;
    for _ in 0..kills {
        let mut child = place.command(&["run", "kill"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("spawn");
        std::thread::sleep(moments.next(most_ms));
        child.kill().expect("kill");
        hit += u32::from(child.wait().expect("wait").code().is_none());
    }
    let said = place.run(&["run", "kill"]);
    assert_eq!(said.code, 0, "{}", said.stderr);
    hit
}

/// Every trial of the plan has exactly one good row, in one run folder.
fn each_trial_once(place: &Place, trials: usize) {
    let rows = place.rows("kill");
    let mut count: BTreeMap<&str, usize> = BTreeMap::new();
    rows.iter().for_each(|row| *count.entry(&row.trial).or_default() += 1);
    assert!(rows.iter().all(|row| row.outcome == Outcome::Ok), "{rows:?}");
    assert!(count.values().all(|count| *count == 1), "{count:?}");
    assert_eq!(count.len(), trials);
    let torn = walkdir::WalkDir::new(place.path("reports")).into_iter().flatten().map(|entry| entry.into_path());
    let torn: Vec<_> = torn.filter(|path| path.display().to_string().contains(".shakedown-")).collect();
    assert!(torn.is_empty(), "{torn:?}");
    let plan = place.run(&["plan", "kill"]).stdout;
    assert!(plan.contains("everything is up to date"), "{plan}");
}

/// Kills runs of host processes, each trial a tenth of a second long, in so many blocks that most kills meet them on their way.
fn of_host_processes_in(blocks: u32, kills: u32) {
    let tag = format!("shakedown-kill-{}-{blocks}", std::process::id());
    // Two levels and the hidden copy. A file, so that there are mounts to leave behind.
    let manifest = format!(
        "matrix: {{level: [a, b]}}\nworkload:\n  on: host\n  command: [/bin/sh, -c, 'sleep 0.1; : {tag} {{{{ level }}}}']\n  \
         timeout: 20s\n  files: [{{target: /opt/shakedown-kill/file, content: x}}]\ndesign: {{blocks: {blocks}}}\n"
    );
    let place = Place::with("kill", &manifest);
    let said = place.run(&["plan", "kill", "--preflight"]);
    if said.code == 3 {
        crate::skipped::skip(&said.stderr);
        return;
    }
    assert_eq!(said.code, 0, "{}", said.stderr);
    let hit = torture(&place, kills, 300);
    assert!(hit >= kills / 2, "only {hit} of {kills} were killed on their way");
    each_trial_once(&place, 3 * blocks as usize);
    assert_eq!(left(&place.run_ids("kill"), &tag), Vec::<String>::new());
}

#[test]
fn of_host_processes() {
    of_host_processes_in(10, 20);
}

#[test]
#[ignore = "minutes: `make soak`"]
fn soak_of_host_processes() {
    of_host_processes_in(100, 200);
}

#[tokio::test]
async fn of_containers() {
    let manifest = "matrix: {time: ['0.01', '0.02']}\nworkload:\n  pack: [/bin/sleep]\n  command: ['/bin/sleep', '{{ time }}']\n  \
                    network_mode: none\n  timeout: 60s\ndesign: {blocks: 2}\n";
    let place = Place::with("kill", manifest);
    let said = place.run(&["plan", "kill", "--preflight"]);
    if said.code != 0 {
        assert!(std::env::var("SHAKEDOWN_TEST_ENGINE").as_deref() != Ok("required"), "{}", said.stderr);
        crate::skipped::skip(&said.stderr);
        return;
    }
    torture(&place, 6, 3000);
    each_trial_once(&place, 6);
    let runs = place.run_ids("kill");
    assert_eq!(left(&runs, ""), Vec::<String>::new());
    assert_eq!(labelled(&runs).await, Vec::<String>::new());
}

/// Containers and networks of these runs on the daemon that docker would use.
async fn labelled(runs: &[String]) -> Vec<String> {
    let client = bollard::Docker::connect_with_defaults().expect("client");
    let mut found = Vec::new();
    for run in runs {
        let filters: HashMap<&str, Vec<String>> = [("label", vec![format!("{LABEL_RUN}={run}")])].into();
        let options = bollard::query_parameters::ListContainersOptionsBuilder::default().all(true).filters(&filters).build();
        found.extend(client.list_containers(Some(options)).await.expect("list").into_iter().filter_map(|container| container.id));
        let options = bollard::query_parameters::ListNetworksOptionsBuilder::default().filters(&filters).build();
        found.extend(client.list_networks(Some(options)).await.expect("list").into_iter().filter_map(|network| network.id));
    }
    found
}

#[tokio::test]
async fn of_a_run_that_is_told_to_stop_while_a_container_is_made() {
    use std::io::{BufRead, BufReader, Read};
    let manifest =
        "workload:\n  pack: [/bin/sleep]\n  command: [/bin/sleep, '30']\n  network_mode: none\n  timeout: 60s\ndesign: {blocks: 1}\n";
    let place = Place::with("stop", manifest);
    let said = place.run(&["plan", "stop", "--preflight"]);
    if said.code != 0 {
        assert!(std::env::var("SHAKEDOWN_TEST_ENGINE").as_deref() != Ok("required"), "{}", said.stderr);
        crate::skipped::skip(&said.stderr);
        return;
    }
    let mut moments = Moments(11);
    // At once, which is while it is created; and at moments up to well after its start.
    for most_ms in [1, 400, 1500] {
        let mut command = place.command(&["run", "stop", "--log-format", "json"]);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("spawn");
        let mut events = BufReader::new(child.stderr.take().expect("stderr"));
        let mut line = String::new();
        while !line.contains("trial-started") {
            line.clear();
            assert!(events.read_line(&mut line).expect("line") > 0, "it ended too early");
        }
        std::thread::sleep(moments.next(most_ms));
        crate::program::signal(&child, rustix::process::Signal::INT);
        let mut said = String::new();
        events.read_to_string(&mut said).expect("UTF-8");
        assert_eq!(child.wait().expect("end").code(), Some(130), "{said}");
        let runs = place.run_ids("stop");
        assert_eq!((left(&runs, ""), labelled(&runs).await), (Vec::new(), Vec::new()), "{said}");
    }
    assert_eq!(place.rows("stop"), []);
}
