//! Control groups of version 2 on a tree of plain files: what is made, written, read and removed, without a kernel.

use shakedown::engine::control::{Control, ControlError};
use shakedown::measure::attest;
use shakedown::measure::window::{Helpers, Watched, Window};
use shakedown::model::cgroup::CgroupLayout;
use shakedown::model::spec::LimitsSpec;
use std::fs;
use std::path::Path;

const UNIT: &str = "shakedown/r/t/u";

/// A version 2 root that offers `controllers`, with the unit's group and the files that the kernel would put there.
fn tree(controllers: &str) -> (tempfile::TempDir, CgroupLayout) {
    let folder = tempfile::tempdir().expect("folder");
    let layout = CgroupLayout::from_mountinfo(&format!("24 23 0:22 / {} rw - cgroup2 cgroup2 rw", folder.path().display()));
    put(folder.path(), "cgroup.controllers", controllers);
    let mut group = folder.path().to_path_buf();
    put(&group, "cgroup.subtree_control", "");
    for part in UNIT.split('/') {
        group.push(part);
        fs::create_dir(&group).expect("group");
        put(&group, "cgroup.subtree_control", "");
    }
    for file in ["cpu.max", "cpu.weight", "cpuset.cpus", "memory.max", "pids.max", "cgroup.procs"] {
        put(&group, file, "");
    }
    (folder, layout)
}

fn put(folder: &Path, file: &str, text: &str) {
    fs::write(folder.join(file), text).expect("write");
}

fn get(folder: &Path, file: &str) -> String {
    fs::read_to_string(folder.join(file)).expect("read")
}

fn limits() -> LimitsSpec {
    LimitsSpec {
        cpus: Some(1.5),
        cpu_shares: Some(1024),
        cpuset: Some("0,1".into()),
        memory_bytes: Some(64 << 20),
        pids: Some(9),
        ..LimitsSpec::default()
    }
}

#[test]
fn limits_are_written_and_their_controllers_enabled_on_the_way() {
    let (root, layout) = tree("cpuset cpu io memory pids");
    let control = Control::new(layout.clone());
    control.create(UNIT, &limits()).expect("create");
    let group = root.path().join(UNIT);
    for (file, value) in
        [("cpu.max", "150000 100000"), ("cpu.weight", "100"), ("cpuset.cpus", "0,1"), ("memory.max", "67108864"), ("pids.max", "9")]
    {
        assert_eq!(get(&group, file), value, "{file}");
    }
    assert!(!group.join("memory.swap.max").exists(), "what the kernel does not offer is not made");
    // A plain file keeps the last write only; the kernel would collect them.
    for parent in ["", "shakedown", "shakedown/r", "shakedown/r/t"] {
        assert_eq!(get(&root.path().join(parent), "cgroup.subtree_control"), "+pids", "{parent}");
    }
    assert_eq!(get(&group, "cgroup.subtree_control"), "", "a group with processes may not have children with controllers");
    assert_eq!(control.entries(UNIT, &limits()), [group.join("cgroup.procs")]);
    let rows = attest::limits::read(&layout, "u", UNIT, &limits());
    assert_eq!(rows.len(), 5);
    assert!(rows.iter().all(|row| row.found.is_some() && !row.differs()), "{rows:?}");
}

#[test]
fn a_controller_that_is_not_offered_is_known_beforehand() {
    let (_root, layout) = tree("cpu memory");
    let control = Control::new(layout);
    assert_eq!(control.missing(&LimitsSpec { cpuset: None, pids: None, ..limits() }), Vec::<String>::new());
    let missing = control.missing(&limits());
    assert_eq!(missing.len(), 2, "{missing:?}");
    assert!(missing[0].contains("`cpuset`") && missing[1].contains("`pids_limit`"), "{missing:?}");
}

#[test]
fn a_container_parent_gets_the_weight_and_delegates() {
    let (root, layout) = tree("cpu memory");
    Control::new(layout).weight_parent(UNIT, Some(2)).expect("weight");
    let group = root.path().join(UNIT);
    assert_eq!((get(&group, "cpu.weight").as_str(), get(&group, "cgroup.subtree_control").as_str()), ("1", "+memory"));
}

#[test]
fn a_limit_without_its_controller_is_an_error_that_names_both() {
    let (_root, layout) = tree("cpu memory");
    let error = Control::new(layout).create(UNIT, &LimitsSpec { pids: Some(9), ..LimitsSpec::default() }).expect_err("no pids here");
    assert!(matches!(error, ControlError::NoController { controller: "pids", limit: "pids_limit", .. }), "{error}");
}

#[test]
fn differences_are_seen() {
    let (root, layout) = tree("cpu memory");
    let group = root.path().join(UNIT);
    for (file, text) in [("cpu.max", "max 100000\n"), ("cpu.weight", "39\n"), ("cpuset.cpus", "0\n"), ("memory.max", "max\n")] {
        put(&group, file, text);
    }
    fs::remove_file(group.join("pids.max")).expect("remove");
    let told: Vec<(String, Option<String>, bool)> = attest::limits::read(&layout, "u", UNIT, &limits())
        .into_iter()
        .map(|row| (row.setting.clone(), row.found.clone(), row.differs()))
        .collect();
    let row = |setting: &str, found: Option<&str>, differs| (setting.to_owned(), found.map(str::to_owned), differs);
    assert_eq!(
        told,
        [
            row("cpu.quota", Some("max per 100000 us"), true),
            row("cpu.shares", Some("1024 (weight 39)"), false),
            row("cpuset", Some("0"), true),
            row("memory.limit", Some("max"), true),
            row("pids.limit", None, false),
        ]
    );
}

#[test]
fn the_window_subtracts_what_was_counted_before() {
    let (root, layout) = tree("cpu memory");
    let group = root.path().join(UNIT);
    let watched = |quota| Watched {
        unit: "u".into(),
        cgroup: UNIT.into(),
        leaf: UNIT.into(),
        limits: LimitsSpec { cpus: quota, ..LimitsSpec::default() },
        inside: None,
    };
    let observed = |quota| {
        put(&group, "cpu.stat", "usage_usec 1000\nnr_periods 1\nnr_throttled 1\nthrottled_usec 100\n");
        let window = Window::open(&layout, vec![watched(quota)], Helpers::default());
        put(&group, "cpu.stat", "usage_usec 2501000\nnr_periods 26\nnr_throttled 9\nthrottled_usec 500100\n");
        let closed = window.close();
        assert_eq!(closed.units[0].quota, quota.map(|_| (25, 8)));
        closed.units[0].observations.iter().map(|seen| (seen.name.clone(), seen.value)).collect::<Vec<_>>()
    };
    put(&group, "cpu.max", "50000 100000");
    assert_eq!(observed(Some(0.5)), [("cpu_seconds".to_owned(), 2.5), ("throttled_seconds".to_owned(), 0.5)]);
    put(&group, "memory.peak", "4096\n");
    assert_eq!(observed(None), [("cpu_seconds".to_owned(), 2.5), ("memory_peak".to_owned(), 4096.0)]);
}

#[test]
fn a_group_that_was_never_seen_gives_no_numbers() {
    let (_root, layout) = tree("cpu memory");
    let watched =
        Watched { unit: "u".into(), cgroup: "shakedown/x".into(), leaf: "shakedown/x/leaf".into(), limits: limits(), inside: None };
    let closed = Window::open(&layout, vec![watched], Helpers::default()).close();
    assert_eq!(closed.units[0].observations, []);
    assert!(closed.units[0].attested.len() == 5 && closed.units[0].attested.iter().all(|row| row.found.is_none()));
}

#[test]
fn groups_go_deepest_first_and_only_empty_parents_with_them() {
    let root = tempfile::tempdir().expect("folder");
    let layout = CgroupLayout::from_mountinfo(&format!("24 23 0:22 / {} rw - cgroup2 cgroup2 rw", root.path().display()));
    let control = Control::new(layout);
    for path in ["shakedown/r/t/u/leaf/deep", "shakedown/r/t/v"] {
        fs::create_dir_all(root.path().join(path)).expect("groups");
    }
    control.remove(UNIT).expect("remove");
    let left = |path: &str| root.path().join(path).exists();
    assert!(!left(UNIT) && left("shakedown/r/t/v"));
    control.remove(UNIT).expect("again");
    control.remove("shakedown/r/t/v").expect("remove");
    assert!(!left("shakedown") && root.path().exists());
}
