//! Reading back from the kernel with a real daemon and real host processes: what a unit's process says of its files and network.
//!
//! Skipped where no daemon answers, its processes are not this host's, or the control groups are not ours to make.

use crate::engine_conformance_docker::subject;
use shakedown::engine::native::NativeEngine;
use shakedown::engine::{Engine, Image, UnitName, control};
use shakedown::measure::attest::network::{self, Known, Namespace};
use shakedown::measure::attest::storage::{self, MountAsked, Root};
use shakedown::measure::window::{Closed, Expected, Helpers, Watched, Window};
use shakedown::model::event::Attested;
use shakedown::model::spec::{ContainerSpec, Place, UnitSpec};
use std::path::Path;

/// A unit of a window, and what must be seen of it.
type Asked<'a> = (&'a str, UnitSpec, Expected);

/// The whole life of units that start together.
async fn run(engine: &dyn Engine, image: Option<&Image>, check: &str, units: &[Asked<'_>]) -> Closed {
    let run = format!("attest{}{check}", std::process::id());
    crate::alive::hold(&run);
    let mut created = Vec::new();
    let mut watched = Vec::new();
    for (unit, spec, expected) in units {
        let name = UnitName { run: run.clone(), experiment: "attest".into(), trial: "t1".into(), unit: (*unit).into() };
        let made = engine.create(&name, spec, image).await.expect("create");
        watched.push(Watched {
            unit: (*unit).into(),
            cgroup: made.cgroup.clone(),
            leaf: made.leaf.clone(),
            limits: spec.limits.clone(),
            inside: Some(expected.clone()),
        });
        created.push(made);
    }
    let window = Window::open(&control::layout().expect("layout"), watched, Helpers::default());
    for unit in &created {
        engine.start(unit).await.expect("start");
    }
    for unit in &created {
        engine.wait(unit).await.expect("wait");
    }
    let closed = window.close();
    for unit in &created {
        engine.remove(unit).await.expect("remove");
    }
    closed
}

fn told(rows: &[Attested]) -> Vec<(&str, &str, Option<&str>)> {
    rows.iter().map(|row| (row.setting.as_str(), row.asked.as_str(), row.found.as_deref())).collect()
}

fn container(network_mode: &str) -> UnitSpec {
    let tmpfs = vec![("/tmp/memory".to_owned(), "size=1m,ro".to_owned())];
    UnitSpec {
        command: ["/bin/sh", "-c", "sleep 1"].map(str::to_owned).into(),
        container: ContainerSpec { network_mode: Some(network_mode.into()), tmpfs, ..ContainerSpec::default() },
        ..UnitSpec::bare(Place::Container)
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_containers_mounts_and_network_are_seen_without_asking_the_daemon() {
    let subject = match subject() {
        Ok(subject) => subject,
        Err(reason) => return crate::skipped::skip(reason),
    };
    let driver = subject.engine.facts().await.expect("facts").storage_driver;
    let Some(kind) = storage::root_kind(&driver, None) else {
        return crate::skipped::skip(format!("nothing is known of a container's root with the storage driver `{driver}`"));
    };
    let image = subject.engine.image(&subject.image.expect("an image"), Path::new("/")).await.expect("image");
    let own = std::process::id();
    let (mounts, _) = storage::mounts(own).expect("our own mounts");
    let known = Known { engine: network::number(own).expect("our own namespace"), others: Vec::new() };
    let mount = |target: &str, read_only| MountAsked { target: target.into(), kind: "tmpfs".into(), read_only };
    let expected = |driver: &str, namespace, mounts_asked| Expected {
        outside: Root::of(&mounts),
        storage: Some(storage::Asked { driver: Some(driver.to_owned()), mounts: mounts_asked, ..storage::Asked::default() }),
        network: Some((namespace, known.clone())),
    };
    let other = if kind == "overlay" { "btrfs" } else { "overlay2" };
    let other_kind = storage::root_kind(other, None).expect("a kind");
    let units = [
        ("a", container("none"), expected(&driver, Namespace::Own, vec![mount("/tmp/memory", true)])),
        ("b", container("host"), expected(&driver, Namespace::Engines, Vec::new())),
        // What was asked is not what runs.
        ("c", container("none"), expected(other, Namespace::Engines, vec![mount("/tmp/memory", false), mount("/opt", false)])),
    ];
    let closed = run(&*subject.engine, Some(&image), "docker", &units).await;
    let memory = "mount /tmp/memory";
    assert_eq!(
        told(&closed.units[0].attested),
        [
            ("storage.root", kind, Some(kind)),
            (memory, "tmpfs, read-only", Some("tmpfs, read-only")),
            ("network.namespace", "its own", Some("its own"))
        ]
    );
    assert_eq!(
        told(&closed.units[1].attested),
        [("storage.root", kind, Some(kind)), ("network.namespace", "the engine's", Some("the engine's"))]
    );
    assert_eq!(
        told(&closed.units[2].attested),
        [
            ("storage.root", other_kind, Some(kind)),
            (memory, "tmpfs", Some("tmpfs, read-only")),
            ("mount /opt", "tmpfs", Some("not mounted")),
            ("network.namespace", "the engine's", Some("its own"))
        ]
    );
    assert!(closed.watch_cpu_seconds > 0.0, "a thread looked");
}

#[tokio::test]
async fn a_host_process_is_seen_before_it_starts() {
    let engine = match NativeEngine::new() {
        Ok(engine) => engine,
        Err(error) => return crate::skipped::skip(error),
    };
    let own = network::number(std::process::id()).expect("our own namespace");
    let expected = |engine, unit: &str| Expected {
        network: Some((Namespace::Engines, Known { engine, others: vec![(unit.to_owned(), own)] })),
        ..Expected::default()
    };
    let unit = UnitSpec { command: vec!["/bin/true".into()], ..UnitSpec::bare(Place::Host) };
    let units = [
        ("a", unit.clone(), expected(own, "x")),
        ("b", unit.clone(), expected(own + 1, "x")),
        // Another unit of the window, of which nobody knew the namespace beforehand.
        (
            "c",
            unit,
            Expected { network: Some((Namespace::Of("a".into()), Known { engine: own + 1, others: vec![] })), ..Expected::default() },
        ),
    ];
    let closed = run(&engine, None, "native", &units).await;
    let found: Vec<Option<&str>> = closed.units.iter().map(|unit| unit.attested[0].found.as_deref()).collect();
    assert_eq!(found, [Some("the engine's"), Some("its own"), Some("that of a")]);
    assert_eq!(closed.watch_cpu_seconds, 0.0, "nothing was left to look for in the window");
}

#[test]
fn what_was_never_seen_is_none() {
    let Ok(layout) = control::layout() else { return crate::skipped::skip("no control groups") };
    let group = format!("shakedown-nothing-{}", std::process::id());
    let mounts = vec![MountAsked { target: "/data".into(), kind: "ext4".into(), read_only: false }];
    let expected = Expected {
        outside: None,
        storage: Some(storage::Asked { driver: Some("overlay2".into()), mounts, ..storage::Asked::default() }),
        network: Some((Namespace::Own, Known { engine: 1, others: Vec::new() })),
    };
    let limits = shakedown::model::spec::LimitsSpec::default();
    let watched = Watched { unit: "u".into(), cgroup: group.clone(), leaf: group.clone(), limits, inside: Some(expected) };
    let closed = Window::open(&layout, vec![watched], Helpers::default()).close();
    let rows = &closed.units[0].attested;
    assert_eq!(told(rows), [("storage.root", "overlay", None), ("mount /data", "ext4", None), ("network.namespace", "its own", None)]);
    assert!(rows.iter().all(|row| row.source == format!("cgroup.procs of {group}")), "{rows:?}");
}
