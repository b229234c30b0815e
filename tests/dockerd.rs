//! Private daemons on this host: they come up as asked, keep their images, and leave nothing. Skipped without root or a dockerd.

use crate::snapshot::Snapshot;
use shakedown::engine::dockerd::{Daemons, Private};
use shakedown::engine::{Created, Engine, EngineError, Image, Output, UnitName};
use shakedown::model::private::{BACKING_BYTES, Backing, Filesystem, PrivateSpec};
use shakedown::model::spec::{ContainerSpec, ImageSpec, Place, UnitSpec};
use std::path::Path;
use std::sync::Arc;

const BUSYBOX: &str = "/bin/busybox";

fn spec(driver: &str, filesystem: Filesystem) -> PrivateSpec {
    PrivateSpec {
        storage_driver: driver.to_owned(),
        backing: Backing { filesystem, bytes: BACKING_BYTES },
        userland_proxy: true,
        iptables: true,
        binary: None,
        daemon: std::collections::BTreeMap::new(),
    }
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
        let daemons = Daemons::new();
        let private = Private::new(spec, Arc::clone(&daemons));
        let impossible = private.impossible();
        if !impossible.is_empty() {
            eprintln!("skipped: {}", impossible.join("; "));
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
