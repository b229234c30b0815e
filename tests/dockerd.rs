//! Private daemons on this host: they come up as asked, keep their images, and leave nothing. Skipped without root or a dockerd.

use crate::engine_conformance::{Subject, every_check};
use crate::snapshot::Snapshot;
use shakedown::engine::control::{self, Control};
use shakedown::engine::docker::{Docker, Env};
use shakedown::engine::dockerd::{DISKS, Daemons, Private, RUN, sweep_host};
use shakedown::engine::{Created, Engine, EngineError, Image, Output, UnitName};
use shakedown::model::private::{Filesystem, OWN_ADDRESS, PrivateSpec};
use shakedown::model::spec::{ContainerSpec, ImageSpec, Place, UnitSpec};
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;

const BUSYBOX: &str = "/bin/busybox";

fn spec(driver: &str, filesystem: Filesystem) -> PrivateSpec {
    PrivateSpec::plain(driver, filesystem)
}

/// A daemon under test, with a run of its own.
struct Bench {
    private: Private,
    daemons: Arc<Daemons>,
    run: String,
    before: Snapshot,
}

impl Bench {
    /// None where this host cannot give it.
    async fn new(test: &str, spec: PrivateSpec) -> Option<Self> {
        let daemons = Daemons::new(None);
        let private = Private::new(spec, Arc::clone(&daemons));
        let impossible = private.impossible();
        if !impossible.is_empty() {
            crate::skipped::skip(impossible.join("; "));
            return None;
        }
        let run = format!("dkd{}{test}", std::process::id());
        crate::alive::hold(&run);
        let before = Snapshot::take(&run).await;
        Some(Self { private, daemons, run, before })
    }

    async fn up(&self) {
        self.private.up(&self.run).await.expect("up");
    }

    async fn busybox(&self) -> Image {
        self.private.image(&ImageSpec::Pack(vec![BUSYBOX.into()]), Path::new("/")).await.expect("image")
    }

    async fn create(&self, image: &Image, command: &[&str]) -> Result<Created, EngineError> {
        let name = UnitName { run: self.run.clone(), experiment: "dockerd".into(), trial: "t1".into(), unit: "a".into() };
        self.private.create(&name, &unit(command), Some(image)).await
    }

    /// The output of a container that ends with 0.
    async fn run(&self, image: &Image, command: &[&str]) -> String {
        let unit = self.create(image, command).await.expect("create");
        self.private.start(&unit).await.expect("start");
        self.private.wait(&unit).await.expect("wait");
        let code = self.private.exit(&unit).await.expect("exit").code;
        let Output { stdout, stderr } = self.private.output(&unit).await.expect("output");
        self.private.remove(&unit).await.expect("remove");
        assert_eq!(code, 0, "{}", String::from_utf8_lossy(&stderr.bytes));
        String::from_utf8_lossy(&stdout.bytes).into_owned()
    }

    /// Everything is as it was before.
    async fn ends_clean(self) {
        self.private.down().await.expect("down");
        drop((self.private, self.daemons));
        self.before.assert_same().await;
    }
}

fn unit(command: &[&str]) -> UnitSpec {
    UnitSpec {
        command: command.iter().map(|word| (*word).to_owned()).collect(),
        container: ContainerSpec { network_mode: Some("none".into()), ..ContainerSpec::default() },
        ..UnitSpec::bare(Place::Container)
    }
}

/// The type of the root file system that a container sees: what the storage driver really is.
async fn root_type(bench: &Bench, image: &Image) -> String {
    let mounts = bench.run(image, &[BUSYBOX, "cat", "/proc/mounts"]).await;
    let root = mounts.lines().find(|line| line.split(' ').nth(1) == Some("/")).expect("root");
    root.split(' ').nth(2).expect("type").to_owned()
}

/// Up, an image, a container; down and up again with the image there and nothing else; down with nothing left.
async fn lives(test: &str, driver: &str, filesystem: Filesystem, root: &str) {
    let Some(bench) = Bench::new(test, spec(driver, filesystem)).await else { return };
    bench.up().await;
    let image = bench.busybox().await;
    assert_eq!(root_type(&bench, &image).await, root);
    let left = bench.create(&image, &[BUSYBOX, "sleep", "1000"]).await.expect("create");
    bench.private.start(&left).await.expect("start");
    bench.private.down().await.expect("down with a container that runs");
    bench.up().await;
    assert_eq!(root_type(&bench, &image).await, root);
    assert!(bench.create(&image, &[BUSYBOX, "true"]).await.is_ok(), "the name of the container before is free");
    bench.ends_clean().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn overlay2_on_ext4() {
    lives("e", "overlay2", Filesystem::Ext4, "overlay").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn overlay2_on_xfs() {
    lives("x", "overlay2", Filesystem::Xfs, "overlay").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn overlay2_on_tmpfs() {
    lives("t", "overlay2", Filesystem::Tmpfs, "overlay").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn btrfs_on_btrfs() {
    lives("b", "btrfs", Filesystem::Btrfs, "btrfs").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn vfs_on_xfs() {
    lives("v", "vfs", Filesystem::Xfs, "xfs").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fuse_overlayfs_on_xfs() {
    lives("f", "fuse-overlayfs", Filesystem::Xfs, "fuse.fuse-overlayfs").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn conforms() {
    let Some(bench) = Bench::new("c", spec("overlay2", Filesystem::Ext4)).await else { return };
    let rootfs = match crate::engine_conformance_docker::rootfs() {
        Ok(rootfs) => ImageSpec::Archive(rootfs),
        Err(reason) => return crate::skipped::skip(reason),
    };
    bench.up().await;
    let engine = Box::new(bench.private);
    let subject = Subject { name: "private", engine, image: Some(rootfs), real: true };
    let subject = every_check(subject).await;
    subject.engine.down().await.expect("down");
    drop((subject, bench.daemons));
    bench.before.assert_same().await;
}

/// The daemon's own process.
fn dockerd(bench: &Bench) -> u32 {
    let control = Control::new(control::layout().expect("layout"));
    let members = control.members(&bench.private.own_group().expect("up"));
    let is_dockerd = |pid: &u32| std::fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|name| name.trim() == "dockerd");
    members.into_iter().find(is_dockerd).expect("a dockerd in its own group")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_daemon_is_an_error_of_the_engine_and_comes_up_again() {
    let Some(bench) = Bench::new("k", spec("overlay2", Filesystem::Tmpfs)).await else { return };
    bench.up().await;
    let image = bench.busybox().await;
    let unit = bench.create(&image, &[BUSYBOX, "sleep", "1000"]).await.expect("create");
    bench.private.start(&unit).await.expect("start");
    let pid = rustix::process::Pid::from_raw(i32::try_from(dockerd(&bench)).expect("pid")).expect("pid");
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).expect("kill");
    let error = bench.private.wait(&unit).await.expect_err("no exit is made up");
    assert!(matches!(&error, EngineError::Call { reason, .. } if reason.contains("(overlay2 on tmpfs): it has ended")), "{error}");
    assert!(matches!(bench.create(&image, &[BUSYBOX, "true"]).await, Err(EngineError::Call { .. })));
    bench.up().await;
    assert_eq!(bench.run(&image, &[BUSYBOX, "echo", "again"]).await, "again\n");
    bench.ends_clean().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_daemon_refuses_is_explained_and_leaves_nothing() {
    let unknown = PrivateSpec { daemon: [("no-such-key".to_owned(), true.into())].into(), ..spec("vfs", Filesystem::Tmpfs) };
    let limit = PrivateSpec {
        daemon: [("storage-opts".to_owned(), serde_json::json!(["overlay2.size=1G"]))].into(),
        ..spec("overlay2", Filesystem::Ext4)
    };
    for (name, spec, expected) in [("u", unknown, "does not know"), ("q", limit, "needs `backing: xfs`")] {
        let Some(bench) = Bench::new(name, spec).await else { return };
        let error = bench.private.up(&bench.run).await.expect_err("refused");
        assert!(matches!(&error, EngineError::Unsupported { what } if what.contains(expected)), "{error}");
        assert!(bench.private.namespace().is_none(), "it is not up");
        bench.ends_clean().await;
    }
    let gone = Private::new(spec("devicemapper", Filesystem::Ext4), Daemons::new(None));
    let error = gone.up("dkdnone").await.expect_err("not on this kernel").to_string();
    assert!(error.contains("`storage_driver: devicemapper`") && error.contains("available here: "), "{error}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_driver_that_fails_only_with_a_container_is_found_out() {
    // A dockerd with a fuse-overlayfs of its own beside it, which can do nothing.
    let Some(dockerd) = ["/usr/sbin/dockerd", "/usr/bin/dockerd"].into_iter().find(|path| Path::new(path).exists()) else {
        return crate::skipped::skip("there is no dockerd");
    };
    let folder = tempfile::tempdir().expect("folder");
    std::os::unix::fs::symlink(dockerd, folder.path().join("dockerd")).expect("link");
    let useless = folder.path().join("fuse-overlayfs");
    std::fs::write(&useless, "#!/bin/sh\necho no luck >&2\nexit 1\n").expect("write");
    std::fs::set_permissions(&useless, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("mode");
    let binary = Some(folder.path().join("dockerd").display().to_string());
    let Some(bench) = Bench::new("n", PrivateSpec { binary, ..spec("fuse-overlayfs", Filesystem::Tmpfs) }).await else { return };
    let error = bench.private.up(&bench.run).await.expect_err("useless");
    let EngineError::Unsupported { what } = &error else { panic!("{error}") };
    for expected in ["`storage_driver: fuse-overlayfs` on tmpfs", "no container runs on it", "no luck", "available here"] {
        assert!(what.contains(expected), "{expected}: {what}");
    }
    bench.ends_clean().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn daemons_that_differ_in_the_network_share_images_and_stand_side_by_side() {
    let Some(bench) = Bench::new("s", spec("overlay2", Filesystem::Xfs)).await else { return };
    bench.up().await;
    let image = bench.busybox().await;
    bench.private.down().await.expect("down");
    let other = PrivateSpec { userland_proxy: false, ..spec("overlay2", Filesystem::Xfs) };
    let other = Private::new(other, Arc::clone(&bench.daemons));
    other.up(&bench.run).await.expect("up");
    bench.up().await;
    let (one, two) = (bench.private.namespace().expect("up"), other.namespace().expect("up"));
    assert_ne!(one.id(), two.id());
    for namespace in [&one, &two] {
        // Only who has an address can listen on it; the daemon's bridge has the same in both.
        for address in [OWN_ADDRESS, std::net::Ipv4Addr::new(172, 17, 0, 1)] {
            let listens = namespace.within(|| std::net::TcpListener::bind((address, 28080)).map(drop)).expect("enter");
            listens.unwrap_or_else(|error| panic!("{address}: {error}"));
        }
    }
    let name = UnitName { run: bench.run.clone(), experiment: "dockerd".into(), trial: "t1".into(), unit: "b".into() };
    let created = other.create(&name, &unit(&[BUSYBOX, "true"]), Some(&image)).await.expect("the image of the other is there");
    other.remove(&created).await.expect("remove");
    other.down().await.expect("down");
    drop((one, two, other));
    bench.ends_clean().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn images_that_it_cannot_make_itself_come_from_the_daemon_that_docker_would_use() {
    let Some(bench) = Bench::new("i", spec("vfs", Filesystem::Tmpfs)).await else { return };
    let Ok(usual) = Docker::connect(None, &Env::of_process()).await else { return crate::skipped::skip("there is no other daemon") };
    let folder = tempfile::tempdir().expect("folder");
    // A path of its own, so that no other test has the same image.
    let own = folder.path().join("busybox");
    std::fs::copy(BUSYBOX, &own).expect("copy");
    let packed = shakedown::engine::pack::pack(std::slice::from_ref(&own)).expect("pack");
    let there = usual.image(&ImageSpec::Pack(vec![own.clone()]), Path::new("/")).await.expect("image");
    bench.up().await;
    let named = ImageSpec::Reference(packed.reference().to_owned());
    let image = bench.private.image(&named, Path::new("/")).await;
    usual.forget_image(&there).await.expect("forget");
    let image = image.expect("taken over");
    assert_eq!(image.digest, there.digest);
    assert_eq!(bench.run(&image, &[&own.display().to_string(), "echo", "moved"]).await, "moved\n");
    let absent = bench.private.image(&ImageSpec::Reference("..".into()), Path::new("/")).await.expect_err("no such image");
    assert!(matches!(&absent, EngineError::Image { .. }), "{absent}");
    bench.ends_clean().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn swept_with_its_own_run_it_comes_up_again_with_its_images() {
    let Some(bench) = Bench::new("w", spec("overlay2", Filesystem::Xfs)).await else { return };
    bench.up().await;
    let image = bench.busybox().await;
    bench.private.down().await.expect("down");
    bench.up().await;
    let living = bench.private.own_group().expect("up");
    // Nobody else sweeps while this lives, and everybody else is spared.
    let alive = shakedown::record::alive_runs();
    let told = bench.private.sweep(&alive.runs).await.expect("sweep");
    assert!(!told.iter().any(|what| what.contains(&bench.run)), "who lives is spared: {told:?}");
    assert_eq!(bench.private.own_group(), Some(living));
    let spared: Vec<String> = alive.runs.iter().filter(|run| **run != bench.run).cloned().collect();
    let told = bench.private.sweep(&spared).await.expect("sweep").join("\n");
    drop(alive);
    for expected in [format!("(overlay2 on xfs) of run `{}`", bench.run), format!("{}-seed-0.img", bench.run)] {
        assert!(told.contains(&expected), "{expected}: {told}");
    }
    assert!(bench.private.namespace().is_none(), "it is down");
    bench.up().await;
    assert_eq!(bench.run(&image, &[BUSYBOX, "echo", "back"]).await, "back\n");
    bench.ends_clean().await;
}

/// Says in the environment of a helper process which run it holds a daemon up for.
const HOLD: &str = "SHAKEDOWN_TEST_HOLD_DAEMON";

/// Not a test by itself: the process that [`a_killed_process_leaves_only_what_the_sweep_removes`] starts and kills.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn helper_that_holds_a_daemon_up() {
    let Ok(run) = std::env::var(HOLD) else { return };
    crate::alive::hold(&run);
    let private = Private::new(spec("overlay2", Filesystem::Ext4), Daemons::new(None));
    private.up(&run).await.expect("up");
    println!("it is up");
    std::future::pending::<()>().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_process_leaves_only_what_the_sweep_removes() {
    use std::io::BufRead;
    let Some(bench) = Bench::new("h", spec("overlay2", Filesystem::Ext4)).await else { return };
    let run = format!("{}elper", bench.run);
    let mut command = std::process::Command::new(std::env::current_exe().expect("this program"));
    command.args(["--exact", "dockerd::helper_that_holds_a_daemon_up", "--nocapture"]).env(HOLD, &run);
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().expect("spawn");
    let mut lines = std::io::BufReader::new(child.stdout.take().expect("stdout")).lines();
    let up = lines.any(|line| line.is_ok_and(|line| line.contains("it is up")));
    // Nobody else sweeps while this lives.
    let alive = shakedown::record::alive_runs();
    child.kill().expect("kill");
    child.wait().expect("wait");
    assert!(up, "it came up");
    let folder = Path::new(RUN).join(format!("{run}-0"));
    let lease = std::fs::read_to_string(folder.join("lease.json")).expect("lease");
    assert!(lease.contains(&run) && lease.contains("shakedown clean"), "{lease}");
    assert!(Path::new(DISKS).join(format!("{run}-0.img")).exists());
    let spared: Vec<String> = alive.runs.iter().filter(|other| **other != run).cloned().collect();
    let told = sweep_host(&[spared.clone(), vec![run.clone()]].concat()).expect("sweep");
    assert!(!told.iter().any(|what| what.contains(&run)), "who lives is spared: {told:?}");
    let told = sweep_host(&spared).expect("sweep").join("\n");
    assert!(
        told.contains(&format!("private daemon of run `{run}`, with {}", folder.display())) && told.contains(&format!("{run}-0.img")),
        "{told}"
    );
    let control = Control::new(control::layout().expect("layout"));
    assert_eq!(control.members(&format!("{}/{run}", control::TOP)), Vec::<u32>::new());
    control.remove(&format!("{}/{run}", control::TOP)).expect("the run's own group");
    drop(alive);
    bench.ends_clean().await;
}
