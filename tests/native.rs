//! Host processes with real control groups: limits, counters, attestation, private files, and nothing left behind.

use shakedown::engine::control::{self, Control};
use shakedown::engine::native::NativeEngine;
use shakedown::engine::{Created, Engine, EngineError, Exit, Output, UnitName};
use shakedown::measure::window::{Closed, Helpers, Watched, Window};
use shakedown::model::spec::{FileSpec, LimitsSpec, Place, UnitSpec};
use std::path::Path;

/// The engine, or none (and a word on it) where this host cannot have one.
pub fn engine() -> Option<NativeEngine> {
    NativeEngine::new().map_err(crate::skipped::skip).ok()
}

/// A name that no other test uses, of a run that is alive.
pub fn name(check: &str, unit: &str) -> UnitName {
    let run = format!("native{}{check}", std::process::id());
    crate::alive::hold(&run);
    UnitName { run, experiment: "native".into(), trial: "t1".into(), unit: unit.into() }
}

/// A unit that runs a script.
pub fn shell(script: &str) -> UnitSpec {
    UnitSpec { command: ["/bin/sh", "-c", script].map(str::to_owned).to_vec(), ..UnitSpec::bare(Place::Host) }
}

fn with_files(script: &str, files: &[(&str, &str)]) -> UnitSpec {
    let file = |(target, content): &(&str, &str)| FileSpec::text(*target, *content, 0o640);
    UnitSpec { files: files.iter().map(file).collect(), ..shell(script) }
}

/// The whole life of one unit, with what the kernel said of it.
pub async fn run(engine: &NativeEngine, name: &UnitName, spec: &UnitSpec) -> (Exit, Output, Closed) {
    let unit = engine.create(name, spec, None).await.expect("create");
    let layout = control::layout().expect("layout");
    let watched = Watched {
        unit: name.unit.clone(),
        cgroup: unit.cgroup.clone(),
        leaf: unit.leaf.clone(),
        limits: spec.limits.clone(),
        inside: None,
    };
    let window = Window::open(&layout, vec![watched], Helpers::default());
    engine.start(&unit).await.expect("start");
    engine.wait(&unit).await.expect("wait");
    let closed = window.close();
    let exit = engine.exit(&unit).await.expect("exit");
    let output = engine.output(&unit).await.expect("output");
    engine.remove(&unit).await.expect("remove");
    assert!(layout.roots().iter().all(|root| !root.join(&unit.cgroup).exists()), "its control groups are gone");
    (exit, output, closed)
}

fn value(closed: &Closed, name: &str) -> Option<f64> {
    closed.units[0].observations.iter().find(|observation| observation.name == name).map(|observation| observation.value)
}

/// What it wrote, as text.
pub fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout.bytes).into_owned()
}

#[tokio::test]
async fn limits_are_set_and_read_back() {
    let Some(engine) = engine() else { return };
    let limits = LimitsSpec {
        cpus: Some(0.5),
        cpu_shares: Some(512),
        cpuset: Some("0".into()),
        memory_bytes: Some(64 << 20),
        pids: Some(50),
        ..LimitsSpec::default()
    };
    let (exit, output, closed) = run(&engine, &name("limits", "a"), &UnitSpec { limits, ..shell("nproc") }).await;
    assert_eq!((exit.code, stdout(&output).as_str()), (0, "1\n"));
    let attested = &closed.units[0].attested;
    let settings: Vec<&str> = attested.iter().map(|row| row.setting.as_str()).collect();
    assert_eq!(settings, ["cpu.quota", "cpu.shares", "cpuset", "memory.limit", "pids.limit"]);
    for row in attested {
        assert!(row.found.is_some() && !row.differs(), "{row:?}");
    }
    assert_eq!(attested[0].asked, "50000 per 100000 us");
}

#[tokio::test]
async fn what_we_are_started_with_is_not_inherited() {
    use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
    let Some(engine) = engine() else { return };
    let all = sched_getaffinity(None).expect("affinity").count();
    // Of this test's own thread, from which the unit's is made.
    let mut first = CpuSet::new();
    first.set(0);
    sched_setaffinity(None, &first).expect("affinity");
    rustix::process::setpriority_process(None, 7).expect("nice");
    let (_, output, _) = run(&engine, &name("fresh", "a"), &shell("nproc; nice; cat /proc/self/oom_score_adj")).await;
    assert_eq!(stdout(&output), format!("{all}\n0\n0\n"));
    let facts = engine.facts().await.expect("facts");
    assert_eq!(facts.cpus, all);
}

#[tokio::test]
async fn what_cannot_be_is_known_before_any_trial() {
    let Some(engine) = engine() else { return };
    let facts = engine.facts().await.expect("facts");
    let reasons = engine.unsupported(&with_files("true", &[("/etc", "a folder")]), &facts);
    assert_eq!(reasons, ["`/etc` is a folder"]);
}

#[tokio::test]
async fn a_signal_is_told_apart_from_an_exit_code() {
    let Some(engine) = engine() else { return };
    for (script, expected) in [("kill -9 $$", (137, Some(9))), ("kill -15 $$", (143, Some(15))), ("exit 143", (143, None))] {
        let (exit, _, _) = run(&engine, &name("signal", "a"), &shell(script)).await;
        assert_eq!((exit.code, exit.signal), expected, "{script}");
    }
}

#[tokio::test]
async fn counters_belong_to_the_unit_alone() {
    let Some(engine) = engine() else { return };
    let (_, _, idle) = run(&engine, &name("idle", "a"), &shell("exit 0")).await;
    // A loop of a fixed length costs CPU time that does not depend on how busy the machine is.
    let (exit, _, busy) = run(&engine, &name("busy", "a"), &shell("i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done")).await;
    let (idle_cpu, busy_cpu) = (value(&idle, "cpu_seconds").expect("cpu"), value(&busy, "cpu_seconds").expect("cpu"));
    assert!(busy_cpu > 2.0 * idle_cpu, "{idle_cpu} {busy_cpu}");
    assert!(busy_cpu <= (exit.finished_ns - exit.started_ns) as f64 / 1e9 * 1.5, "one loop uses one CPU: {busy_cpu} {exit:?}");
    assert!(value(&busy, "memory_peak").expect("memory") > 0.0);
    assert_eq!(value(&busy, "throttled_seconds"), None, "without a quota there is no such number");
    assert!(busy.watch_cpu_seconds == 0.0, "nothing of ours runs in the window");
}

#[tokio::test]
async fn a_quota_throttles_and_says_so() {
    let Some(engine) = engine() else { return };
    let limits = LimitsSpec { cpus: Some(0.1), ..LimitsSpec::default() };
    let spec = UnitSpec { limits, ..shell("i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done") };
    let (exit, _, closed) = run(&engine, &name("quota", "a"), &spec).await;
    let (cpu, throttled) = (value(&closed, "cpu_seconds").expect("cpu"), value(&closed, "throttled_seconds").expect("throttled"));
    assert_eq!(exit.code, 0);
    // More than one period's 10 ms of CPU time cannot be had without waiting for the next period.
    assert!(cpu > 0.02 && throttled > 0.0, "{cpu} {throttled}");
}

#[tokio::test]
async fn the_kernel_ends_what_needs_too_much_memory() {
    let Some(engine) = engine() else { return };
    let limits = LimitsSpec { memory_bytes: Some(8 << 20), ..LimitsSpec::default() };
    // `tail` must hold the last 64 MiB before it can write any of them.
    let spec = UnitSpec { limits, ..shell("head -c 100000000 /dev/zero | tail -c 64m") };
    let (exit, _, _) = run(&engine, &name("oom", "a"), &spec).await;
    assert!(exit.oom, "{exit:?}");
    assert_ne!(exit.code, 0);
}

#[tokio::test]
async fn files_appear_for_the_unit_only() {
    let Some(engine) = engine() else { return };
    let hosts = std::fs::read_to_string("/etc/hosts").unwrap_or_default();
    let table = [
        // Over an existing file, beside existing files, below a new folder of the root, and all of these at once.
        ("cat /etc/hosts", vec![("/etc/hosts", "mine\n")], "mine\n"),
        ("cat /etc/shakedown-new/x; ls /etc/passwd", vec![("/etc/shakedown-new/x", "new\n")], "new\n/etc/passwd\n"),
        ("cat /shakedown-top/x; ls /etc/passwd; pwd", vec![("/shakedown-top/x", "top\n")], "top\n/etc/passwd\n/\n"),
        (
            "cat /etc/hosts /etc/shakedown-new/x /shakedown-top/a/b /tmp/shakedown-t/x; stat -c %a /tmp /etc/hosts",
            vec![("/etc/hosts", "1\n"), ("/etc/shakedown-new/x", "2\n"), ("/shakedown-top/a/b", "3\n"), ("/tmp/shakedown-t/x", "4\n")],
            "1\n2\n3\n4\n1777\n640\n",
        ),
        ("echo w > /etc/shakedown-w && cat /etc/shakedown-w", vec![("/etc/shakedown-new/x", "")], "w\n"),
    ];
    for (script, files, expected) in table {
        let (exit, output, _) = run(&engine, &name("files", "a"), &with_files(script, &files)).await;
        assert_eq!((stdout(&output).as_str(), exit.code), (expected, 0), "{script}: {}", String::from_utf8_lossy(&output.stderr.bytes));
    }
    assert_eq!(std::fs::read_to_string("/etc/hosts").unwrap_or_default(), hosts);
    for path in ["/etc/shakedown-new", "/etc/shakedown-w", "/shakedown-top", "/tmp/shakedown-t"] {
        assert!(!Path::new(path).exists(), "{path}");
    }
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").expect("mounts");
    assert!(!mounts.contains("shakedown-"), "{mounts}");
}

#[tokio::test]
async fn a_user_without_rights_runs_as_such() {
    let Some(engine) = engine() else { return };
    let spec = UnitSpec {
        user: Some("65534:65534".into()),
        ..with_files("id -u; id -g; id -G; cat /opt/shakedown-user", &[("/opt/shakedown-user", "")])
    };
    let (exit, output, _) = run(&engine, &name("user", "a"), &spec).await;
    assert_eq!(stdout(&output), "65534\n65534\n65534\n");
    assert_ne!(exit.code, 0, "the file of mode 640 is root's");
}

#[tokio::test]
async fn what_leaves_its_session_ends_with_the_unit() {
    let Some(engine) = engine() else { return };
    let name = name("session", "a");
    let unit = engine.create(&name, &shell("setsid sh -c 'sleep 987 & sleep 987' & setsid sleep 987 & wait"), None).await.expect("create");
    engine.start(&unit).await.expect("start");
    let control = Control::new(control::layout().expect("layout"));
    // Until all have appeared: the shell, the shell of its own session, three sleeps.
    while control.members(&unit.cgroup).len() < 5 {
        tokio::task::yield_now().await;
    }
    let members = control.members(&unit.cgroup);
    engine.remove(&unit).await.expect("remove");
    for pid in members {
        let status = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        assert!(status.is_empty() || status.contains(") Z ") || !status.contains("(sleep)"), "{status}");
    }
    assert!(control.members(&unit.cgroup).is_empty());
}

#[tokio::test]
async fn nothing_is_left_of_what_could_not_be_created() {
    let Some(engine) = engine() else { return };
    let name = name("refused", "a");
    let bad = [
        UnitSpec { working_dir: Some("/does/not/exist".into()), ..shell("true") },
        UnitSpec { limits: LimitsSpec { cpuset: Some("4000".into()), ..LimitsSpec::default() }, ..shell("true") },
        with_files("true", &[("/etc", "a folder")]),
        UnitSpec { user: Some("nobody-of-this-name".into()), ..shell("true") },
    ];
    for (number, spec) in bad.iter().enumerate() {
        let error = engine.create(&name, spec, None).await.expect_err("it cannot be created");
        assert!(number != 0 || matches!(&error, EngineError::NotStarted { reason, .. } if reason.contains("working_dir")), "{error}");
        let roots = control::layout().expect("layout");
        assert!(roots.roots().iter().all(|root| !root.join(format!("shakedown/{}", name.run)).exists()), "{error}");
    }
}

#[tokio::test]
async fn a_sweep_takes_dead_runs_with_their_processes() {
    let Some(engine) = engine() else { return };
    let control = Control::new(control::layout().expect("layout"));
    // Below another top than ours, for other tests' runs are alive.
    let top = format!("shakedown-sweep-{}", std::process::id());
    let limits = LimitsSpec::default();
    for run in ["dead", "alive"] {
        control.create(&format!("{top}/{run}/t1/a"), &limits).expect("create");
    }
    let unit: Created = engine.create(&name("sweep", "a"), &shell("sleep 987"), None).await.expect("create");
    engine.start(&unit).await.expect("start");
    let pid = control.members(&unit.cgroup)[0];
    for entry in control.entries(&format!("{top}/dead/t1/a"), &limits) {
        std::fs::write(entry, pid.to_string()).expect("move the process");
    }
    assert_eq!(control.sweep(&top, &["alive".to_owned()]).expect("sweep"), ["control groups of run `dead`, with every process in them"]);
    engine.wait(&unit).await.expect("wait");
    let exit = engine.exit(&unit).await.expect("exit");
    assert_eq!((exit.code, exit.signal), (137, Some(9)));
    engine.remove(&unit).await.expect("remove");
    assert_eq!(control.sweep(&top, &[]).expect("sweep"), ["control groups of run `alive`, with every process in them"]);
    for root in control.layout().roots() {
        let _ = std::fs::remove_dir(root.join(&top)); // not in every hierarchy
        assert!(!root.join(&top).exists());
    }
}

#[tokio::test]
async fn a_group_that_vanishes_with_its_container_was_watched() {
    let Some(_engine) = engine() else { return };
    // What an engine does: our parent stays, the limited group inside appears after the window opens and is gone before it closes.
    let layout = control::layout().expect("layout");
    let control = Control::new(layout.clone());
    let (cgroup, limits) = (name("vanish", "a").cgroup(), LimitsSpec { cpus: Some(0.1), cpu_shares: Some(512), ..LimitsSpec::default() });
    let leaf = format!("{cgroup}/leaf");
    control.weight_parent(&cgroup, limits.cpu_shares).expect("parent");
    // Beside it the same group without one of ours around it, as where the engine alone makes groups.
    let watched =
        |cgroup: &str| Watched { unit: "a".into(), cgroup: cgroup.to_owned(), leaf: leaf.clone(), limits: limits.clone(), inside: None };
    let window = Window::open(&layout, vec![watched(&cgroup), watched(&leaf)], Helpers::default());
    control.create(&leaf, &limits).expect("leaf");
    let entries: Vec<String> = control.entries(&leaf, &limits).iter().map(|path| path.display().to_string()).collect();
    let script = format!("for f in {}; do echo 0 > $f; done; i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done", entries.join(" "));
    assert!(std::process::Command::new("/bin/sh").args(["-c", &script]).status().expect("shell").success());
    control.remove_within(&leaf, &cgroup).expect("remove the leaf");
    let closed = window.close();
    assert!(value(&closed, "cpu_seconds").expect("cpu") > 0.02, "{closed:?}");
    assert!(value(&closed, "throttled_seconds").expect("throttled") > 0.0, "{closed:?}");
    assert!(closed.watch_cpu_seconds > 0.0);
    let alone: Vec<(&str, bool)> = closed.units[1].observations.iter().map(|found| (found.name.as_str(), found.value > 0.0)).collect();
    assert_eq!(alone, [("throttled_seconds", true)], "what is gone was counted by nobody");
    let told: Vec<(&str, bool)> =
        closed.units[0].attested.iter().map(|row| (row.setting.as_str(), row.found.is_some() && !row.differs())).collect();
    assert_eq!(told, [("cpu.quota", true), ("cpu.shares", true)]);
    if !layout.is_v2() {
        let weight = layout.dir("cpu", &cgroup).expect("cpu").join("cpu.shares");
        assert_eq!(std::fs::read_to_string(weight).expect("shares"), "512\n", "units share by their parents");
    }
    control.remove(&cgroup).expect("remove");
}

#[tokio::test]
async fn a_killed_group_takes_a_container_s_leaf_along() {
    let Some(_engine) = engine() else { return };
    let control = Control::new(control::layout().expect("layout"));
    let (cgroup, limits) = (name("tree", "a").cgroup(), LimitsSpec::default());
    let leaf = format!("{cgroup}/leaf/deeper");
    control.create(&leaf, &limits).expect("leaf");
    let mut sleeper = std::process::Command::new("/bin/sleep").arg("987").spawn().expect("sleep");
    for entry in control.entries(&leaf, &limits) {
        std::fs::write(entry, sleeper.id().to_string()).expect("move the process");
    }
    assert_eq!(control.members(&cgroup), [sleeper.id()]);
    let remover = std::thread::spawn({
        let (control, cgroup) = (control.clone(), cgroup.clone());
        move || control.remove(&cgroup)
    });
    assert!(!sleeper.wait().expect("wait").success());
    remover.join().expect("thread").expect("remove");
    assert!(control.layout().roots().iter().all(|root| !root.join(&cgroup).exists()));
}
