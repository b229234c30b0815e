//! Host processes with volumes and copied files: what they see, what stays the host's, and what is left.

use crate::native::{engine, name, run, shell, stdout};
use shakedown::engine::native::NativeEngine;
use shakedown::engine::{Created, Engine, EngineError, Furniture, UnitName};
use shakedown::model::spec::{FileSpec, UnitSpec};
use shakedown::model::stack::{MountSource, MountSpec, NetworkSpec, VolumeSpec};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

const STORE: &str = "/var/lib/shakedown";

/// What a user may have on disk: a folder with two files and a folder, one of the files a script.
fn belongings() -> tempfile::TempDir {
    let scene = tempfile::tempdir().expect("folder");
    let path = |name: &str| scene.path().join(name);
    std::fs::create_dir(path("sub")).expect("folder");
    std::fs::write(path("one"), "host\n").expect("file");
    std::fs::write(path("sub/run.sh"), "echo ran\n").expect("file");
    std::fs::set_permissions(path("sub/run.sh"), std::fs::Permissions::from_mode(0o755)).expect("mode");
    std::os::unix::fs::symlink("one", path("link")).expect("link");
    std::os::unix::fs::chown(path("one"), Some(12), Some(34)).expect("owner");
    scene
}

fn mount(source: MountSource, target: &str, read_only: bool) -> MountSpec {
    MountSpec { source, target: target.into(), read_only }
}

fn volume(name: &str, keep: bool, from: Option<&Path>) -> VolumeSpec {
    VolumeSpec { name: name.into(), tmpfs_bytes: None, keep, from: from.map(Path::to_path_buf) }
}

fn copied(source: &Path, target: &str) -> FileSpec {
    FileSpec { source: Some(source.to_path_buf()), ..FileSpec::text(target, "", 0o640) }
}

/// Everything of one run below the store, and every mount there.
fn left(run: &str) -> Vec<String> {
    let mut found: Vec<String> = ["volumes", "units"]
        .iter()
        .flat_map(|kind| std::fs::read_dir(format!("{STORE}/{kind}")).into_iter().flatten().flatten())
        .map(|entry| entry.path().display().to_string())
        .collect();
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").expect("mounts");
    found.extend(mounts.lines().filter_map(|line| line.split(' ').nth(4)).map(str::to_owned));
    found.retain(|path| path.contains(&format!("shakedown-{run}-")) || path.contains(&format!("shakedown-files-{run}-")));
    found
}

#[tokio::test]
async fn mounts_appear_and_what_is_not_a_bind_never_reaches_the_host() {
    let Some(engine) = engine() else { return };
    let scene = belongings();
    let (host, one) = (scene.path(), scene.path().join("one"));
    let bind = || MountSource::Bind(host.to_path_buf());
    let table: Vec<(&str, Vec<MountSpec>, Vec<FileSpec>, &str)> = vec![
        // On a folder that is there, one that is not, and one below the root.
        ("cat /srv/one; ls /srv", vec![mount(bind(), "/srv", false)], vec![], "host\nlink\none\nsub\n"),
        (
            "cat /etc/shakedown-m/a/one; test -e /etc/passwd && echo yes",
            vec![mount(bind(), "/etc/shakedown-m/a", false)],
            vec![],
            "host\nyes\n",
        ),
        ("cat /shakedown-m/one; ls -d /etc", vec![mount(bind(), "/shakedown-m", false)], vec![], "host\n/etc\n"),
        ("cat /shakedown-m/x", vec![mount(MountSource::Bind(one.clone()), "/shakedown-m/x", false)], vec![], "host\n"),
        ("echo no 2>&- > /srv/new || echo refused", vec![mount(bind(), "/srv", true)], vec![], "refused\n"),
        ("echo no 2>&- > /etc/shakedown-m/new || echo refused", vec![mount(bind(), "/etc/shakedown-m", true)], vec![], "refused\n"),
        // Memory has a size; what it is not told forbids nothing.
        (
            "cd /srv; stat -f -c %T .; stat -c %a .; head -c 99999 /dev/zero > a && echo fits; \
             head -c 2000000 /dev/zero 2>&- > b || echo full",
            vec![mount(MountSource::Tmpfs(Some(1 << 20)), "/srv", false)],
            vec![],
            "tmpfs\n1777\nfits\nfull\n",
        ),
        // A volume without a name is empty, and has the permissions of what it covers.
        (
            "ls -A /root; stat -c %a /root; echo x > /root/x; cat /root/x",
            vec![mount(MountSource::Anonymous, "/root", false)],
            vec![],
            "MODE\nx\n",
        ),
        ("echo no 2>&- > /srv/x || echo refused", vec![mount(MountSource::Anonymous, "/srv", true)], vec![], "refused\n"),
        // One in another, and files in them.
        (
            "cat /srv/a/b/one /srv/f /srv/a/b/sub/run.sh; ls /srv",
            vec![mount(MountSource::Anonymous, "/srv", true), mount(bind(), "/srv/a/b", false)],
            vec![FileSpec::text("/srv/f", "file\n", 0o600), FileSpec::text("/srv/a/b/sub/run.sh", "over\n", 0o600)],
            "host\nfile\nover\na\nf\n",
        ),
        // Copies: a file with its own mode, a folder over another one, which shows both; both may be changed.
        (
            "cat /opt/shakedown-c; stat -c %a /opt/shakedown-c; echo mine > /opt/shakedown-c; cat /opt/shakedown-c",
            vec![],
            vec![copied(&one, "/opt/shakedown-c")],
            "host\n640\nmine\n",
        ),
        (
            "cd /etc; cat one link; sub/run.sh; test -e passwd && echo yes; echo mine > one; \
             rm -r sub; cat link; echo > shakedown-m; cat hosts",
            vec![],
            vec![copied(host, "/etc"), FileSpec::text("/etc/hosts", "hosts\n", 0o600)],
            "host\nhost\nran\nyes\nmine\nhosts\n",
        ),
        (
            "stat -c %u:%g /shakedown-m/app/one; cat /shakedown-m/app/f",
            vec![],
            vec![copied(host, "/shakedown-m/app"), FileSpec::text("/shakedown-m/app/f", "f\n", 0o600)],
            "12:34\nf\n",
        ),
    ];
    let mode = format!("{:o}", std::fs::metadata("/root").expect("root").mode() & 0o7777);
    let name = name("mounts", "a");
    for (script, volumes, files, expected) in table {
        let spec = UnitSpec { volumes, files, ..shell(script) };
        let facts = engine.facts().await.expect("facts");
        assert_eq!(engine.unsupported(&spec, &facts), Vec::<String>::new(), "{script}");
        let (_, output, _) = run(&engine, &name, &spec).await;
        let told = String::from_utf8_lossy(&output.stderr.bytes).into_owned();
        assert_eq!(stdout(&output), expected.replace("MODE", &mode), "{script}: {told}");
        assert_eq!(left(&name.run), Vec::<String>::new(), "{script}");
    }
    let run_sh = std::fs::read_to_string(host.join("sub/run.sh")).expect("still there");
    assert_eq!((std::fs::read_to_string(&one).expect("one").as_str(), run_sh.as_str()), ("host\n", "echo ran\n"));
    for path in ["/srv/new", "/srv/f", "/srv/a", "/etc/shakedown-m", "/shakedown-m", "/root/x", "/opt/shakedown-c"] {
        assert!(!Path::new(path).exists(), "{path}");
    }
    // A bind is the thing itself.
    run(&engine, &name, &UnitSpec { volumes: vec![mount(bind(), "/srv", false)], ..shell("echo written > /srv/new") }).await;
    assert_eq!(std::fs::read_to_string(host.join("new")).expect("written"), "written\n");
}

#[tokio::test]
async fn a_user_without_rights_writes_to_a_volume_over_its_own_folder() {
    let Some(engine) = engine() else { return };
    let home = tempfile::tempdir().expect("folder");
    std::os::unix::fs::chown(home.path(), Some(65534), Some(65534)).expect("owner");
    let target = home.path().to_str().expect("text");
    let spec = UnitSpec {
        user: Some("65534:65534".into()),
        volumes: vec![mount(MountSource::Anonymous, target, false)],
        ..shell(&format!("echo mine > {target}/x && cat {target}/x"))
    };
    let (exit, output, _) = run(&engine, &name("adopted", "a"), &spec).await;
    assert_eq!((stdout(&output).as_str(), exit.code), ("mine\n", 0));
    assert_eq!(std::fs::read_dir(home.path()).expect("home").count(), 0, "the host's folder stays empty");
}

/// Runs a script that sees a volume at `/srv/v`.
async fn see(engine: &NativeEngine, name: &UnitName, volume: &VolumeSpec, script: &str) -> String {
    let source = MountSource::Volume(name.volume(&volume.name, volume.keep));
    let (_, output, _) = run(engine, name, &UnitSpec { volumes: vec![mount(source, "/srv", false)], ..shell(script) }).await;
    stdout(&output)
}

#[tokio::test]
async fn volumes_are_shared_in_a_trial_fresh_in_the_next_and_kept_until_a_sweep() {
    let Some(engine) = engine() else { return };
    let scene = belongings();
    let volumes = [
        volume("fresh", false, Some(scene.path())),
        volume("kept", true, None),
        VolumeSpec { tmpfs_bytes: Some(1 << 20), ..volume("memory", false, Some(scene.path())) },
    ];
    let furniture = Furniture { networks: &[], volumes: &volumes };
    let first = name("volumes", "a");
    let second = UnitName { unit: "b".into(), ..first.clone() };
    let next = UnitName { trial: "t2".into(), ..first.clone() };
    engine.furnish(&first, furniture).await.expect("furnish");
    for (volume, kind) in [(&volumes[0], false), (&volumes[2], true)] {
        let script = "stat -c %u:%g /srv/one; /srv/sub/run.sh; readlink /srv/link; echo changed > /srv/one; stat -f -c %T /srv";
        let told = see(&engine, &first, volume, script).await;
        assert!(told.starts_with("12:34\nran\none\n") && told.ends_with("tmpfs\n") == kind, "{}: {told}", volume.name);
        assert_eq!(see(&engine, &second, volume, "cat /srv/one").await, "changed\n", "the units of a trial share it");
    }
    assert_eq!(see(&engine, &second, &volumes[2], "head -c 2000000 /dev/zero 2>&- > /srv/b || echo full").await, "full\n");
    assert_eq!(see(&engine, &first, &volumes[1], "echo kept > /srv/k; cat /srv/k").await, "kept\n");
    assert_eq!(std::fs::read_to_string(scene.path().join("one")).expect("the host's"), "host\n");
    engine.clear(&first, furniture).await.expect("clear");
    engine.clear(&first, furniture).await.expect("clear again");
    let kept = format!("{STORE}/volumes/{}", first.volume("kept", true));
    assert_eq!(left(&first.run), std::slice::from_ref(&kept), "only what is kept is left");

    engine.furnish(&next, furniture).await.expect("furnish");
    for volume in [&volumes[0], &volumes[2]] {
        assert_eq!(see(&engine, &next, volume, "cat /srv/one").await, "host\n", "each trial has a fresh one");
    }
    assert_eq!(see(&engine, &next, &volumes[1], "cat /srv/k").await, "kept\n");
    // As if killed here: a sweep finds the folders and the mount.
    assert!(left(&first.run).len() >= 4, "{:?}", left(&first.run));
    let alive = shakedown::record::alive_runs();
    let others: Vec<String> = alive.runs.iter().filter(|run| **run != first.run).cloned().collect();
    let removed = engine.sweep(&others).await.expect("sweep");
    assert!(removed.contains(&format!("folder {kept}")), "{removed:?}");
    assert_eq!(left(&first.run), Vec::<String>::new());
}

#[tokio::test]
async fn what_is_mounted_is_told_as_the_kernel_has_it() {
    let Some(engine) = engine() else { return };
    let scene = belongings();
    let volumes = vec![
        mount(MountSource::Anonymous, "/srv", false),
        mount(MountSource::Bind(scene.path().to_path_buf()), "/var/run/shakedown-m", true),
        mount(MountSource::Tmpfs(None), "/shakedown-m", false),
    ];
    let unit = engine.create(&name("told", "a"), &UnitSpec { volumes, ..shell("umount /srv; sleep 987") }, None).await.expect("create");
    assert!(engine.inspect(&unit).await.is_err(), "it was not started");
    engine.start(&unit).await.expect("start");
    let expected = [("network_mode", "host"), ("mount /var/run/shakedown-m", "bind"), ("mount /shakedown-m", "tmpfs")];
    let standing = loop {
        let standing = engine.inspect(&unit).await.expect("inspect");
        if standing.settings.len() <= expected.len() {
            break standing;
        }
        tokio::task::yield_now().await; // until the unit itself has taken one away
    };
    let told: Vec<(&str, &str)> = standing.settings.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
    assert_eq!(told, expected);
    assert_eq!((standing.addresses.len(), standing.ports.len()), (0, 0));
    let pid = standing.pid.expect("pid");
    assert!(std::fs::read_to_string(format!("/proc/{pid}/cmdline")).expect("cmdline").contains("sleep 987"));
    engine.remove(&unit).await.expect("remove");
    assert!(engine.inspect(&unit).await.is_err());
}

#[tokio::test]
async fn what_cannot_be_mounted_is_refused_and_leaves_nothing() {
    let Some(engine) = engine() else { return };
    let name = name("unmountable", "a");
    let with = |source, target: &str| UnitSpec { volumes: vec![mount(source, target, false)], ..shell("true") };
    let bind = |path: &str| MountSource::Bind(PathBuf::from(path));
    let facts = engine.facts().await.expect("facts");
    let foreseen = [
        (with(bind("/does/not/exist"), "/srv"), "/does/not/exist"),
        (with(bind("/etc"), "/etc/hosts"), "`/etc/hosts` is not a folder"),
        (with(MountSource::Anonymous, "srv"), "`srv` must be an absolute path"),
        (UnitSpec { files: vec![copied(Path::new("/does/not/exist"), "/srv/x")], ..shell("true") }, "/does/not/exist"),
        (UnitSpec { files: vec![copied(Path::new("/etc/hosts"), "/etc")], ..shell("true") }, "`/etc` is a folder"),
    ];
    let late = [
        (with(MountSource::Volume("shakedown-never-made".into()), "/srv"), "no volume `shakedown-never-made`"),
        (with(MountSource::Volume("../units".into()), "/srv"), "no volume `../units`"),
        (
            UnitSpec {
                volumes: vec![
                    mount(MountSource::Anonymous, "/srv", false),
                    mount(MountSource::Volume("shakedown-never-made".into()), "/opt", false),
                ],
                ..shell("true")
            },
            "no volume `shakedown-never-made`",
        ),
        (with(bind("relative"), "/srv"), "`relative` is no absolute path"),
        (UnitSpec { files: vec![copied(Path::new("relative"), "/srv/x")], ..shell("true") }, "`relative` is no absolute path"),
    ];
    for (number, (spec, why)) in foreseen.iter().chain(&late).enumerate() {
        let reasons = engine.unsupported(spec, &facts);
        assert_eq!(reasons.iter().any(|reason| reason.contains(why)), number < foreseen.len(), "{why}: {reasons:?}");
        let refused: Result<Created, EngineError> = engine.create(&name, spec, None).await;
        let error = refused.expect_err(why);
        assert!(error.to_string().contains(why), "{error}");
        assert_eq!(left(&name.run), Vec::<String>::new(), "{error}");
    }
    let network =
        NetworkSpec { name: "front".into(), driver: "bridge".into(), driver_opts: Vec::new(), subnet: None, internal: false, ipv6: false };
    let error = engine.furnish(&name, Furniture { networks: &[network], volumes: &[] }).await.expect_err("no network");
    assert!(error.to_string().contains("network `front` needs a container"), "{error}");
    let missing = [volume("v", false, Some(Path::new("/does/not/exist")))];
    let furniture = Furniture { networks: &[], volumes: &missing };
    let error = engine.furnish(&name, furniture).await.expect_err("nothing to begin with");
    assert!(error.to_string().contains("make volume `v`"), "{error}");
    engine.clear(&name, furniture).await.expect("clear");
    assert_eq!(left(&name.run), Vec::<String>::new());
}
