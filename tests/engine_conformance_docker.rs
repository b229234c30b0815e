//! The docker subject of the conformance suite, and what only a real daemon can show. Skipped where none answers.

use crate::engine_conformance::Subject;
use shakedown::engine::control::{Control, layout};
use shakedown::engine::docker::{Docker, Env};
use shakedown::engine::grouped::Grouped;
use shakedown::engine::{Created, Engine, EngineError, Exit, Image, LABEL_RUN, Output, UnitName, pack};
use shakedown::model::spec::{ContainerSpec, FileSpec, ImageSpec, LimitsSpec, Place, UnitSpec};
use shakedown::record::Alive;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

const BUSYBOX: &str = "/bin/busybox";
const TOOLS: &[&str] = &["sh", "cat", "sleep", "head", "true", "printf", "id", "stat", "kill", "pwd", "echo", "nc", "ls", "dd", "touch"];

/// The docker subject, or why this host has none.
pub fn subject() -> Result<Subject, String> {
    let engine = tokio::task::block_in_place(|| tokio::runtime::Handle::current().block_on(connect()))?;
    Ok(Subject { name: "docker", engine: Box::new(engine), image: Some(ImageSpec::Archive(rootfs()?)), real: true })
}

/// A root file system of a static busybox: one archive for the whole process, so one image on the daemon.
pub fn rootfs() -> Result<PathBuf, String> {
    static ROOTFS: OnceLock<Result<(tempfile::TempDir, PathBuf), String>> = OnceLock::new();
    let made = ROOTFS.get_or_init(|| {
        let busybox = std::fs::read(BUSYBOX).map_err(|error| format!("{BUSYBOX}: {error}; install busybox-static"))?;
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        let path = folder.path().join("rootfs.tar");
        write_rootfs(&path, &busybox).map_err(|error| error.to_string())?;
        Ok((folder, path))
    });
    made.as_ref().map(|(_, path)| path.clone()).map_err(Clone::clone)
}

fn write_rootfs(path: &Path, busybox: &[u8]) -> std::io::Result<()> {
    let mut tar = tar::Builder::new(std::fs::File::create(path)?);
    let header = |kind, mode, size| {
        let mut header = tar::Header::new_gnu();
        header.set_entry_type(kind);
        header.set_mode(mode);
        header.set_size(size);
        header.set_mtime(0);
        header
    };
    for (folder, mode) in [("bin", 0o755), ("tmp", 0o1777), ("opt", 0o755)] {
        tar.append_data(&mut header(tar::EntryType::Directory, mode, 0), folder, std::io::empty())?;
    }
    tar.append_data(&mut header(tar::EntryType::Regular, 0o755, busybox.len() as u64), "bin/busybox", busybox)?;
    for tool in TOOLS {
        tar.append_link(&mut header(tar::EntryType::Symlink, 0o777, 0), format!("bin/{tool}"), "busybox")?;
    }
    tar.finish()
}

/// The engine as the program uses it: the daemon with our control groups around its containers. The image is there already, and
/// its import is one for all: tests run beside each other, and two imports of one archive at a time would leave a nameless image.
async fn connect() -> Result<Grouped<Docker>, String> {
    static ONE: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());
    let docker = Docker::connect(None, &Env::of_process()).await.map_err(|error| error.to_string())?;
    let engine = Grouped::new(docker, Control::new(layout().map_err(|error| error.to_string())?));
    let _one = ONE.lock().await;
    engine.image(&ImageSpec::Archive(rootfs()?), Path::new("/")).await.map_err(|error| error.to_string())?;
    Ok(engine)
}

/// An engine with an image for the tests below.
pub struct Bench {
    pub engine: Grouped<Docker>,
    pub image: Image,
    pub run: String,
}

impl Bench {
    pub async fn new(test: &str) -> Option<Self> {
        let made = async {
            let engine = connect().await?;
            let image = engine.image(&ImageSpec::Archive(rootfs()?), Path::new("/")).await.map_err(|error| error.to_string())?;
            let run = format!("own{}{test}", std::process::id());
            crate::alive::hold(&run);
            Ok::<_, String>(Self { engine, image, run })
        };
        made.await.map_err(crate::skipped::skip).ok()
    }

    pub fn name(&self, unit: &str) -> UnitName {
        UnitName { run: self.run.clone(), experiment: "own".into(), trial: "t1".into(), unit: unit.into() }
    }

    pub async fn create(&self, unit: &str, spec: &UnitSpec) -> Result<Created, EngineError> {
        self.engine.create(&self.name(unit), spec, Some(&self.image)).await
    }

    /// The whole life of one unit.
    pub async fn run(&self, spec: &UnitSpec) -> (Exit, Output) {
        let unit = self.create("a", spec).await.expect("create");
        self.engine.start(&unit).await.expect("start");
        self.engine.wait(&unit).await.expect("wait");
        let exit = self.engine.exit(&unit).await.expect("exit");
        let output = self.engine.output(&unit).await.expect("output");
        self.engine.remove(&unit).await.expect("remove");
        (exit, output)
    }
}

pub fn shell(script: &str) -> UnitSpec {
    UnitSpec {
        command: ["/bin/sh", "-c", script].map(str::to_owned).into(),
        container: ContainerSpec { network_mode: Some("none".into()), ..ContainerSpec::default() },
        ..UnitSpec::bare(Place::Container)
    }
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A client beside the engine, for what the engine itself has no business to do.
pub fn client() -> bollard::Docker {
    bollard::Docker::connect_with_defaults().expect("client")
}

async fn forget_image(id: &str) {
    let options = bollard::query_parameters::RemoveImageOptionsBuilder::default().force(true).build();
    client().remove_image(id, Some(options), None).await.expect("remove image");
}

/// Whoever uses this daemon now, for sweeps that must spare them: the runs with a lease, and those that anything on it belongs to.
/// While the first value lives, nobody begins.
pub async fn everyone() -> (Alive, Vec<String>) {
    let nobody = shakedown::record::alive_runs();
    let all = bollard::query_parameters::ListContainersOptionsBuilder::default().all(true).build();
    let containers = client().list_containers(Some(all)).await.expect("containers").into_iter().filter_map(|one| one.labels);
    let networks = client().list_networks(None::<bollard::query_parameters::ListNetworksOptions>).await.expect("networks");
    let volumes = client().list_volumes(None::<bollard::query_parameters::ListVolumesOptions>).await.expect("volumes");
    let volumes = volumes.volumes.unwrap_or_default().into_iter().map(|one| one.labels);
    let labels = containers.chain(networks.into_iter().filter_map(|one| one.labels)).chain(volumes);
    let runs = labels.filter_map(|mut labels| labels.remove(LABEL_RUN)).chain(nobody.runs.clone()).collect();
    (nobody, runs)
}

#[tokio::test]
async fn limits_reach_the_kernel_in_the_promised_control_group() {
    let Some(bench) = Bench::new("limits").await else { return };
    let mut spec = shell("sleep 1000");
    spec.limits = LimitsSpec {
        cpus: Some(0.25),
        cpu_shares: Some(512),
        cpuset: Some("0".into()),
        memory_bytes: Some(64 << 20),
        pids: Some(32),
        ..LimitsSpec::default()
    };
    let unit = bench.create("a", &spec).await.expect("create");
    bench.engine.start(&unit).await.expect("start");
    let layout = layout().expect("layout");
    let read = |controller: &str, v1: &str, v2: &str| {
        let file = if layout.is_v2() { v2 } else { v1 };
        std::fs::read_to_string(layout.dir(controller, &unit.leaf).expect("controller").join(file)).expect("counter").trim().to_owned()
    };
    let memory = read("memory", "memory.limit_in_bytes", "memory.max");
    let (cpus, pids) = (read("cpuset", "cpuset.cpus", "cpuset.cpus"), read("pids", "pids.max", "pids.max"));
    let quota = read("cpu", "cpu.cfs_quota_us", "cpu.max");
    bench.engine.remove(&unit).await.expect("remove");
    assert_eq!((memory.as_str(), cpus.as_str(), pids.as_str()), ("67108864", "0", "32"));
    assert_eq!(quota.split(' ').next(), Some("25000"));
}

#[tokio::test]
async fn a_unit_killed_for_memory_says_so() {
    let Some(bench) = Bench::new("oom").await else { return };
    let mut spec = shell("x=a; while :; do x=$x$x; done");
    spec.limits.memory_bytes = Some(16 << 20);
    let (exit, _) = bench.run(&spec).await;
    assert_eq!((exit.code, exit.oom), (137, true));
}

#[tokio::test]
async fn lines_longer_than_a_frame_stay_lines_and_the_last_needs_no_end() {
    let Some(bench) = Bench::new("lines").await else { return };
    let (_, output) = bench.run(&shell("printf 'a\\r b\\r'; head -c 40000 /dev/zero; printf '\\nnext\\n\\001\\000last'")).await;
    let zeros = vec![0; 40_000];
    assert_eq!(output.stdout.bytes, [b"a\r b\r".as_slice(), &zeros, b"\nnext\n\x01\x00last"].concat());
}

#[tokio::test]
async fn an_exit_within_milliseconds_is_not_missed() {
    let Some(bench) = Bench::new("fast").await else { return };
    for code in [7, 0, 255] {
        let (exit, output) = bench.run(&shell(&format!("exit {code}"))).await;
        assert_eq!((exit.code, exit.oom, output), (code, false, Output::default()));
    }
}

#[tokio::test]
async fn files_have_their_mode_and_existing_folders_keep_theirs() {
    let Some(bench) = Bench::new("files").await else { return };
    let file = |target: &str| FileSpec::text(target, "x", 0o640);
    let mut spec = shell("stat -c '%a %Y %n' /tmp /tmp/f /new /new/deep /new/deep/f");
    spec.files = vec![file("/tmp/f"), file("/new/deep/f")];
    let (_, output) = bench.run(&spec).await;
    let told = text(&output.stdout.bytes);
    let modes: Vec<&str> = told.lines().map(|line| line.split(' ').next().unwrap_or_default()).collect();
    assert_eq!(modes, ["1777", "640", "755", "755", "640"], "{told}{}", text(&output.stderr.bytes));
    assert!(told.contains("640 0 /tmp/f"), "{told}");
}

#[tokio::test]
async fn what_fails_after_the_create_leaves_nothing() {
    let Some(bench) = Bench::new("undo").await else { return };
    let mut spec = shell("true");
    spec.files = vec![FileSpec::text("/bin/busybox/x", "", 0o644)];
    bench.create("a", &spec).await.expect_err("a file is no folder");
    let left = client().inspect_container(&format!("shakedown-{}-t1-a", bench.run), None).await;
    assert!(left.is_err(), "{left:?}");
}

#[tokio::test]
async fn a_name_left_by_a_dead_trial_is_taken_over_and_a_foreign_one_is_not() {
    let Some(bench) = Bench::new("names").await else { return };
    let first = bench.create("a", &shell("sleep 1000")).await.expect("create");
    bench.engine.start(&first).await.expect("start");
    let second = bench.create("a", &shell("exit 3")).await.expect("create again");
    assert_ne!(first.id, second.id);
    bench.engine.remove(&second).await.expect("remove");

    let name = format!("shakedown-{}-t1-b", bench.run);
    let options = bollard::query_parameters::CreateContainerOptionsBuilder::default().name(&name).build();
    let body = bollard::models::ContainerCreateBody {
        image: Some(bench.image.reference.clone()),
        cmd: Some(vec!["true".into()]),
        ..Default::default()
    };
    let foreign = client().create_container(Some(options), body).await.expect("foreign");
    let error = bench.create("b", &shell("true")).await.expect_err("taken").to_string();
    let there = client().inspect_container(&foreign.id, None).await.is_ok();
    client().remove_container(&foreign.id, None).await.expect("remove foreign");
    assert!(there && error.contains("not ours"), "{error}");
}

#[tokio::test]
async fn the_sweep_takes_created_running_and_ended_units_of_dead_runs() {
    let Some(bench) = Bench::new("sweep").await else { return };
    let units = [bench.create("a", &shell("true")).await, bench.create("b", &shell("sleep 1000")).await].map(|unit| unit.expect("create"));
    bench.engine.start(&units[1]).await.expect("start");
    // The daemon alone: control groups of runs without containers are not this test's.
    let daemon = Docker::connect(None, &Env::of_process()).await.expect("daemon");
    let (_nobody, mut alive) = everyone().await;
    assert!(daemon.sweep(&alive).await.expect("sweep").iter().all(|what| !what.contains(&bench.run)));
    alive.retain(|run| *run != bench.run);
    let mut swept = daemon.sweep(&alive).await.expect("sweep");
    swept.retain(|what| what.contains(&bench.run));
    assert_eq!(swept.len(), 2, "{swept:?}");
    for unit in &units {
        bench.engine.remove(unit).await.expect("gone is fine");
    }
}

#[tokio::test]
async fn packed_images_are_loaded_once_and_as_archives_too() {
    let Some(bench) = Bench::new("pack").await else { return };
    // An image that nobody else uses: it is removed in the end.
    let folder = tempfile::tempdir().expect("folder");
    let own = folder.path().join("busybox");
    std::fs::copy(BUSYBOX, &own).expect("copy");
    let paths = vec![own.clone()];
    let spec = ImageSpec::Pack(paths.clone());
    let packed = pack::pack(&paths).expect("pack");
    let first = bench.engine.image(&spec, Path::new("/")).await.expect("load");
    assert_eq!(first.digest, packed.image_id());
    assert_eq!(bench.engine.image(&spec, Path::new("/")).await.expect("present"), first);

    std::fs::write(folder.path().join("image.tar"), packed.archive().expect("archive")).expect("write");
    let archived = bench.engine.image(&ImageSpec::Archive("image.tar".into()), folder.path()).await.expect("archive");
    assert_eq!(archived.digest, first.digest);

    let mut unit = shell("true");
    (unit.image, unit.command) = (Some(spec), Vec::new());
    assert!(matches!(bench.create("a", &unit).await, Err(EngineError::Unsupported { .. })));
    unit.command = [own.to_str().expect("UTF-8"), "echo", "packed"].map(str::to_owned).into();
    let packed = Bench { image: first.clone(), ..bench };
    assert_eq!(text(&packed.run(&unit).await.1.stdout.bytes), "packed\n");
    forget_image(&first.digest).await;
}

#[tokio::test]
async fn images_are_built_once_and_failures_are_told() {
    let Some(bench) = Bench::new("build").await else { return };
    let folder = tempfile::tempdir().expect("folder");
    std::fs::copy(BUSYBOX, folder.path().join("busybox")).expect("copy");
    let dockerfile = "FROM scratch\nARG WHAT\nCOPY busybox /bin/busybox\nENV WHAT=$WHAT\nENTRYPOINT [\"/bin/busybox\"]\n";
    std::fs::write(folder.path().join("Dockerfile"), dockerfile).expect("write");
    std::fs::write(folder.path().join("Broken"), "FROM scratch\nCOPY absent /\n").expect("write");
    let args = vec![("WHAT".to_owned(), bench.run.clone())];
    let spec = |dockerfile: &str| ImageSpec::Build { context: ".".into(), dockerfile: dockerfile.into(), args: args.clone() };
    let first = bench.engine.image(&spec("Dockerfile"), folder.path()).await.expect("build");
    assert_eq!(bench.engine.image(&spec("Dockerfile"), folder.path()).await.expect("present"), first);
    for (dockerfile, expected) in [("Broken", "absent"), ("Missing", "there is no `Missing`")] {
        let error = bench.engine.image(&spec(dockerfile), folder.path()).await.expect_err("broken").to_string();
        assert!(error.contains(expected), "{error}");
    }
    let mut unit = shell("true");
    unit.command = ["sh", "-c", "echo $WHAT $LC_ALL"].map(str::to_owned).into();
    let built = Bench { image: first.clone(), ..bench };
    assert_eq!(text(&built.run(&unit).await.1.stdout.bytes), format!("{} C\n", built.run));
    forget_image(&first.digest).await;
}
