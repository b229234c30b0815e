//! What this host looks like to somebody who does not know us, and whether it looks the same afterwards.
//!
//! Others use the host at the same time: what comes and goes with every container of theirs is left out, and of our own things only
//! those count whose run begins with the tag that the caller gives. Who learns the runs' ids only later asks for them then.

use shakedown::engine::dockerd::{DISKS, RUN};
use shakedown::engine::{LABEL_RUN, control};
use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// Beginning of the names of containers that tests start without our labels, as somebody else would: they come and go.
pub const GUEST: &str = "guest-of-shakedowns-tests-";

/// How long the kernel and others may take until all is as it was.
const PATIENCE: Duration = Duration::from_secs(10);

/// Looks for one kind of thing of the runs whose ids begin with a tag.
type Look = fn(&str) -> Vec<String>;

/// One look at the host: what is there, by kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    tag: String,
    things: BTreeMap<&'static str, Vec<String>>,
}

impl Snapshot {
    /// Looks. Runs whose ids begin with `tag` are the caller's.
    pub async fn take(tag: &str) -> Self {
        let mut things = BTreeMap::new();
        things.insert("mounts", mounts());
        things.insert("links", links());
        things.insert("packet filter", packet_filter());
        things.insert("loop devices", loops(tag));
        things.insert("control groups", groups(tag));
        things.insert("processes", processes(tag));
        things.insert("folders", folders(tag));
        things.insert("docker", docker(tag).await);
        things.values_mut().for_each(|list: &mut Vec<String>| list.sort());
        Self { tag: tag.to_owned(), things }
    }

    /// Fails when the host does not come to look like this again, and says in what it differs.
    pub async fn assert_same(&self) {
        let since = Instant::now();
        loop {
            let now = Self::take(&self.tag).await;
            if now == *self {
                return;
            }
            assert!(since.elapsed() < PATIENCE, "the host has changed:\n{}", self.differences(&now).join("\n"));
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// Fails when something of these runs stays on the host.
    pub async fn assert_nothing_of(runs: &[String]) {
        let since = Instant::now();
        loop {
            let kinds: [(&str, Look); 4] =
                [("loop devices", loops), ("control groups", groups), ("processes", processes), ("folders", folders)];
            let of =
                |run: &String| kinds.map(|(kind, look)| look(run).into_iter().map(|thing| format!("{kind}: {thing}")).collect::<Vec<_>>());
            let found: Vec<String> = runs.iter().flat_map(of).flatten().chain(crate::program::left(runs, "")).collect();
            if found.is_empty() {
                return;
            }
            assert!(since.elapsed() < PATIENCE, "left of {runs:?}:\n{}", found.join("\n"));
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    fn differences(&self, now: &Self) -> Vec<String> {
        let mut found = Vec::new();
        for (kind, before) in &self.things {
            let after = &now.things[kind];
            found.extend(before.iter().filter(|thing| !after.contains(thing)).map(|thing| format!("- {kind}: {thing}")));
            found.extend(after.iter().filter(|thing| !before.contains(thing)).map(|thing| format!("+ {kind}: {thing}")));
        }
        found
    }
}

/// Where something is mounted, and what; not what the daemon mounts for each container.
fn mounts() -> Vec<String> {
    let text = std::fs::read_to_string("/proc/self/mountinfo").expect("mounts");
    let mount = |line: &str| {
        let (left, right) = line.split_once(" - ").expect("separator");
        format!("{} {}", left.split(' ').nth(4).expect("place"), right.split(' ').next().expect("type"))
    };
    let passing = |mount: &String| ["/var/lib/docker/", "/run/docker/", "/tmp/", "/run/netns/"].iter().any(|at| mount.starts_with(at));
    text.lines().map(mount).filter(|mount| !passing(mount)).collect()
}

/// Network devices with their addresses; not those that come and go with containers and networks.
fn links() -> Vec<String> {
    let told = Command::new("ip").args(["-brief", "address"]).output().expect("ip");
    let text = String::from_utf8_lossy(&told.stdout).into_owned();
    // The second word is the state, which changes with the containers on a bridge; addresses of version 6 do so, too.
    let link = |line: &str| {
        line.split_whitespace()
            .enumerate()
            .filter(|(at, word)| *at != 1 && !word.contains(':'))
            .map(|(_, w)| w.to_owned())
            .collect::<Vec<_>>()
            .join(" ")
    };
    text.lines().filter(|line| !line.starts_with("veth") && !line.starts_with("br-")).map(link).collect()
}

/// Chains and rules, but for those of single containers and networks.
fn packet_filter() -> Vec<String> {
    let mut rules = Vec::new();
    for table in ["filter", "nat", "mangle", "raw", "security"] {
        let Ok(told) = Command::new("iptables").args(["-w", "5", "-t", table, "-S"]).output() else { continue };
        let text = String::from_utf8_lossy(&told.stdout).into_owned();
        rules.extend(text.lines().filter(|rule| !rule.contains("/32") && !rule.contains("br-")).map(|rule| format!("{table} {rule}")));
    }
    rules
}

fn loops(tag: &str) -> Vec<String> {
    let entries = std::fs::read_dir("/sys/block").into_iter().flatten().flatten();
    let behind = entries.filter_map(|entry| std::fs::read_to_string(entry.path().join("loop/backing_file")).ok());
    behind.map(|file| file.trim().to_owned()).filter(|file| file.contains(&format!("{DISKS}/{tag}"))).collect()
}

fn groups(tag: &str) -> Vec<String> {
    let layout = control::layout().expect("layout");
    layout.roots().into_iter().flat_map(|root| names(&root.join(control::TOP), tag)).collect()
}

fn folders(tag: &str) -> Vec<String> {
    [RUN, DISKS].into_iter().flat_map(|folder| names(Path::new(folder), tag)).collect()
}

/// Processes in a run's control groups, and those whose command line names its private daemons' folder; without their numbers,
/// which differ for each.
fn processes(tag: &str) -> Vec<String> {
    let (group, folder) = (format!("/{}/{tag}", control::TOP), format!("{RUN}/{tag}"));
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten().map(|entry| entry.path());
    let ours = entries.filter_map(|path| {
        let command = String::from_utf8_lossy(&std::fs::read(path.join("cmdline")).ok()?).replace('\0', " ");
        let groups = std::fs::read_to_string(path.join("cgroup")).ok()?;
        (groups.contains(&group) || command.contains(&folder)).then_some(command)
    });
    ours.collect()
}

fn names(folder: &Path, tag: &str) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(tag)).map(|entry| entry.path().display().to_string()).collect()
}

/// The user's daemon: its process, and what is on it; empty where there is none. Of what bears our name only the caller's counts:
/// other tests have theirs there at the same time.
async fn docker(tag: &str) -> Vec<String> {
    let Ok(client) = bollard::Docker::connect_with_defaults() else { return Vec::new() };
    let pid = std::fs::read_to_string("/run/docker.pid").unwrap_or_default();
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    let started = stat.rsplit_once(')').and_then(|(_, rest)| rest.split_whitespace().nth(19)).unwrap_or_default().to_owned();
    let mut found = vec![format!("process {} started at {started}", pid.trim())];
    let counts = |name: &str, labels: &Option<HashMap<String, String>>| {
        let run = labels.as_ref().and_then(|labels| labels.get(LABEL_RUN));
        run.map_or(!name.contains("shakedown"), |run| run.starts_with(tag))
    };
    let mut note = |kind: &str, name: String, labels: &Option<HashMap<String, String>>| {
        if counts(&name, labels) {
            found.push(format!("{kind} {name}"));
        }
    };
    let all = bollard::query_parameters::ListContainersOptionsBuilder::default().all(true).build();
    let containers = client.list_containers(Some(all)).await.unwrap_or_default();
    for container in containers.into_iter().filter(|one| !is_guest(one.names.as_deref())) {
        note("container", container.names.unwrap_or_default().join(" "), &container.labels);
    }
    for network in client.list_networks(None::<bollard::query_parameters::ListNetworksOptions>).await.unwrap_or_default() {
        note("network", network.name.unwrap_or_default(), &network.labels);
    }
    let volumes = client.list_volumes(None::<bollard::query_parameters::ListVolumesOptions>).await;
    for volume in volumes.ok().and_then(|list| list.volumes).unwrap_or_default() {
        note("volume", volume.name, &Some(volume.labels));
    }
    for image in client.list_images(None::<bollard::query_parameters::ListImagesOptions>).await.unwrap_or_default() {
        // One without a name may be in the making.
        if !image.repo_tags.is_empty() {
            note("image", image.repo_tags.join(" "), &None);
        }
    }
    found
}

fn is_guest(names: Option<&[String]>) -> bool {
    names
        .unwrap_or_default()
        .iter()
        .any(|name| [GUEST, "shakedown-test-"].iter().any(|ours| name.trim_start_matches('/').starts_with(ours)))
}

#[tokio::test]
async fn the_look_sees_what_is_left_and_what_is_lost() {
    let tag = format!("look{}", std::process::id());
    let before = Snapshot::take(&tag).await;
    before.assert_same().await;
    let mut other = before.clone();
    other.things.get_mut("links").expect("links").clear();
    other.things.get_mut("folders").expect("folders").push("/run/shakedown/x".to_owned());
    let told = before.differences(&other).join("\n");
    assert!(told.contains("- links: lo") && told.contains("+ folders: /run/shakedown/x"), "{told}");
}
