//! Commands run inside host processes' units, what a unit wrote so far, and units in another network namespace.

use crate::native::{engine, name, run, shell, stdout};
use shakedown::engine::control::{self, Control};
use shakedown::engine::namespace::Namespace;
use shakedown::engine::native::NativeEngine;
use shakedown::engine::{Created, Engine, EngineError, Executed, OUTPUT_CAP};
use shakedown::model::spec::{FileSpec, LimitsSpec, UnitSpec};
use shakedown::model::stack::{MountSource, MountSpec};
use std::process::{Child, Command};
use std::sync::Arc;

async fn started(engine: &NativeEngine, check: &str, spec: &UnitSpec) -> Created {
    let unit = engine.create(&name(check, "a"), spec, None).await.expect("create");
    engine.start(&unit).await.expect("start");
    unit
}

async fn exec(engine: &NativeEngine, unit: &Created, script: &str) -> Result<Executed, EngineError> {
    engine.exec(unit, &["/bin/sh", "-c", script].map(str::to_owned)).await
}

#[tokio::test]
async fn a_command_has_all_that_its_unit_has() {
    let Some(engine) = engine() else { return };
    let spec = UnitSpec {
        environment: vec![("GREETING".into(), "hello".into())],
        working_dir: Some("/shakedown-e".into()),
        user: Some("65534:65534".into()),
        limits: LimitsSpec { cpuset: Some("0".into()), ..LimitsSpec::default() },
        // Below the root, so that the unit has a root of its own.
        files: vec![FileSpec::text("/shakedown-e/x", "file\n", 0o644)],
        volumes: vec![MountSpec { source: MountSource::Tmpfs(None), target: "/srv".into(), read_only: false }],
        ..shell("echo volume > /srv/v; cat /proc/self/cgroup; echo done; exec sleep 987")
    };
    let unit = started(&engine, "has", &spec).await;
    // While it runs, what it wrote so far can be read.
    let groups = loop {
        let so_far = stdout(&engine.output(&unit).await.expect("output"));
        if let Some(groups) = so_far.strip_suffix("done\n") {
            break groups.to_owned();
        }
        tokio::task::yield_now().await;
    };
    let seen = "cat x /srv/v; pwd; id -u; id -g; nproc; echo $GREETING; readlink /proc/self/ns/mnt; echo err >&2; exit 3";
    let told = exec(&engine, &unit, seen).await.expect("exec");
    let pid = engine.inspect(&unit).await.expect("inspect").pid.expect("pid");
    let mounts = std::fs::read_link(format!("/proc/{pid}/ns/mnt")).expect("namespace");
    let expected = format!("file\nvolume\n/shakedown-e\n65534\n65534\n1\nhello\n{}\n", mounts.display());
    assert_eq!((told.code, stdout(&told.output)), (3, expected));
    assert_eq!(told.output.stderr.bytes, b"err\n");
    let own = exec(&engine, &unit, "cat /proc/self/cgroup").await.expect("exec");
    assert_eq!(stdout(&own.output), groups);
    assert!(groups.contains(&unit.cgroup), "{groups}");
    engine.remove(&unit).await.expect("remove");
    assert!(!std::path::Path::new("/shakedown-e").exists());
}

#[tokio::test]
async fn what_cannot_be_executed_is_not_started() {
    let Some(engine) = engine() else { return };
    let (plain, filed) =
        (shell("sleep 987"), UnitSpec { files: vec![FileSpec::text("/opt/shakedown-e", "", 0o644)], ..shell("sleep 987") });
    for (check, spec) in [("plain", plain), ("filed", filed)] {
        let waiting = engine.create(&name(check, "waits"), &spec, None).await.expect("create");
        let error = exec(&engine, &waiting, "true").await.expect_err("it was not started");
        assert!(matches!(error, EngineError::Call { .. }), "{error}");
        engine.remove(&waiting).await.expect("remove");
        let unit = started(&engine, check, &spec).await;
        for program in ["/does/not/exist", "/etc/passwd", "no-such-program"] {
            let error = engine.exec(&unit, &[program.to_owned()]).await.expect_err("it cannot be executed");
            assert!(matches!(&error, EngineError::NotStarted { program: told, .. } if told == program), "{error}");
        }
        assert!(matches!(engine.exec(&unit, &[]).await, Err(EngineError::Unsupported { .. })));
        let killed = exec(&engine, &unit, "kill -9 $$").await.expect("exec");
        assert_eq!(killed.code, 137);
        engine.remove(&unit).await.expect("remove");
        let error = exec(&engine, &unit, "true").await.expect_err("it is gone");
        assert!(matches!(error, EngineError::Call { .. }), "{error}");
    }
}

#[tokio::test]
async fn a_command_s_output_is_capped_as_its_unit_s() {
    let Some(engine) = engine() else { return };
    let unit = started(&engine, "capped", &shell("sleep 987")).await;
    let told = exec(&engine, &unit, "printf head; head -c 20971520 /dev/zero; printf tail").await.expect("exec");
    assert_eq!((told.code, told.output.stdout.total, told.output.stdout.bytes.len()), (0, 20_971_528, OUTPUT_CAP));
    engine.remove(&unit).await.expect("remove");
}

#[tokio::test]
async fn a_command_ends_with_its_unit() {
    let Some(engine) = engine() else { return };
    let unit = started(&engine, "ends", &shell("sleep 987")).await;
    let control = Control::new(control::layout().expect("layout"));
    let removed = async {
        while control.members(&unit.cgroup).iter().filter(|pid| cmdline(**pid).contains("sleep\u{0}986")).count() == 0 {
            tokio::task::yield_now().await;
        }
        engine.remove(&unit).await.expect("remove");
    };
    let command = ["/bin/sleep".to_owned(), "986".to_owned()];
    let (told, ()) = tokio::join!(engine.exec(&unit, &command), removed);
    assert_eq!(told.expect("exec").code, 137);
    assert!(control.members(&unit.cgroup).is_empty());
}

#[tokio::test]
async fn a_command_that_nobody_waits_for_is_ended() {
    let Some(engine) = engine() else { return };
    let unit = started(&engine, "dropped", &shell("exec sleep 987")).await;
    let control = Control::new(control::layout().expect("layout"));
    let sleepers = || control.members(&unit.cgroup).iter().filter(|pid| cmdline(**pid).contains("sleep\u{0}985")).count();
    let both = async {
        while sleepers() < 2 {
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        told = exec(&engine, &unit, "sleep 985 & sleep 985; true") => panic!("{told:?}"),
        () = both => {}
    }
    let left = loop {
        match control.members(&unit.cgroup).as_slice() {
            [one] => break cmdline(*one),
            _ => tokio::task::yield_now().await,
        }
    };
    assert!(left.ends_with("sleep\u{0}987\u{0}"), "the unit itself runs on: {left}");
    engine.remove(&unit).await.expect("remove");
}

fn cmdline(pid: u32) -> String {
    std::fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default()
}

/// A network namespace with a process in it.
struct Apart(Child);

impl Apart {
    /// None, and a word on it, where it cannot be made.
    fn new() -> Option<(Self, Arc<Namespace>)> {
        let child = Command::new("unshare").args(["--net", "sleep", "987"]).spawn();
        let mut apart = child.map(Self).map_err(|error| crate::skipped::skip(format!("unshare: {error}"))).ok()?;
        let own = Namespace::of_process(std::process::id()).expect("our own");
        loop {
            if let Ok(Some(status)) = apart.0.try_wait() {
                crate::skipped::skip(format!("unshare --net: {status}"));
                return None;
            }
            if let Ok(other) = Namespace::of_process(apart.0.id())
                && other.id() != own.id()
            {
                return Some((apart, Arc::new(other)));
            }
            std::thread::yield_now();
        }
    }
}

impl Drop for Apart {
    fn drop(&mut self) {
        let _ = self.0.kill(); // it may have ended
        let _ = self.0.wait();
    }
}

#[tokio::test]
async fn units_start_in_the_network_namespace_of_their_engine() {
    let Some(engine) = engine() else { return };
    let Some((_apart, namespace)) = Apart::new() else { return };
    let id = namespace.id();
    let engine = engine.within(Some(namespace));
    let look = "readlink /proc/self/ns/net; tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' '";
    let expected = format!("net:[{id}]\nlo\n");
    let (_, output, _) = run(&engine, &name("apart", "a"), &shell(look)).await;
    // The namespace has one interface only; `/sys` is the host's all the same.
    assert_eq!(stdout(&output), expected);
    let filed = UnitSpec { files: vec![FileSpec::text("/opt/shakedown-e", "", 0o644)], ..shell("sleep 987") };
    for spec in [shell("sleep 987"), filed] {
        let unit = started(&engine, "apart", &spec).await;
        let told = exec(&engine, &unit, look).await.expect("exec");
        assert_eq!(stdout(&told.output), expected);
        let standing = engine.inspect(&unit).await.expect("inspect");
        assert_eq!(standing.settings, [("network_mode".to_owned(), "host".to_owned())], "the host of it is its engine's namespace");
        engine.remove(&unit).await.expect("remove");
    }
}
