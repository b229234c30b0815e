//! What every engine must do, asked of each one through the same front door.
//!
//! A [`Subject`] is an engine with what the suite needs to know of it; the checks know nothing else. Adding an engine: a
//! function that makes its subject, or says why this host cannot, and a line in `conformance!` below.

use shakedown::engine::fake::FakeEngine;
use shakedown::engine::native::NativeEngine;
use shakedown::engine::{Created, Engine, EngineError, Exit, Image, OUTPUT_CAP, Output, UnitName};
use shakedown::model::spec::{ContainerSpec, FileSpec, ImageSpec, Place, UnitSpec};
use std::path::PathBuf;

/// An engine under test.
pub struct Subject {
    /// A short name; part of the run ids, so that subjects never meet.
    pub name: &'static str,
    /// The engine.
    pub engine: Box<dyn Engine>,
    /// The image that units run in; it has `/bin/sh`, `cat`, `sleep`, `head`. None for host processes.
    pub image: Option<ImageSpec>,
    /// Whether commands really run: the fake engine only plays back what it was told.
    pub real: bool,
}

macro_rules! conformance {
    (@with_checks $($to:tt)*) => {
        conformance!($($to)* tells_what_it_is, exit_codes, signals_are_128_plus_n, streams_stay_apart, a_missing_program_is_not_started,
            environment_and_folder, files_stand_at_their_targets, stamps_enclose_the_command, remove_ends_a_running_unit,
            remove_without_start, units_start_together, orphans_end_with_their_unit, output_is_capped,
            sweep_takes_the_dead_and_spares_the_living);
    };
    (@tests $make:path; $($check:ident),*) => {
        $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
        async fn $check() {
            match $make() {
                Ok(subject) => super::$check(&subject.on(stringify!($check))).await,
                Err(reason) => crate::skipped::skip(reason),
            }
        })*
    };
    (@one_by_one $($check:ident),*) => {
        /// Every check on one engine, one after the other, for a subject that is too dear to make for each; gives it back.
        pub async fn every_check(subject: Subject) -> Subject {
            let mut bench = subject.on("");
            $(bench.check = stringify!($check);
            $check(&bench).await;)*
            bench.subject
        }
    };
    ($($subject:ident: $make:path;)*) => {
        $(mod $subject { conformance!(@with_checks @tests $make;); })*
        conformance!(@with_checks @one_by_one);
    };
}

conformance! {
    fake: super::fake_subject;
    native: super::native_subject;
    docker: crate::engine_conformance_docker::subject;
}

/// The fake engine, told to do what the checks' commands would do.
fn fake_subject() -> Result<Subject, String> {
    let script = r#"[
        {"match": "exit 3", "wait": {"exit": 3}},
        {"match": "kill -9", "wait": {"exit": 137}},
        {"match": "echo out", "stdout": "out\n", "stderr": "err\n"},
        {"match": "/does/not/exist", "not_started": "no such file"},
        {"match": "GREETING", "stdout": "hello\n/tmp\n"},
        {"match": "cat /opt/shakedown", "stdout": "one\ntwo\n"},
        {"match": "sleep 0.05", "wait": {"wall_ms": 60}},
        {"match": "sleep 1000", "wait": {"hang": true}}
    ]"#;
    let engine = FakeEngine::from_json(script).map_err(|error| error.to_string())?;
    Ok(Subject { name: "fake", engine: Box::new(engine), image: None, real: false })
}

/// Host processes; needs the right to make cgroups.
fn native_subject() -> Result<Subject, String> {
    let engine = NativeEngine::new().map_err(|error| error.to_string())?;
    Ok(Subject { name: "native", engine: Box::new(engine), image: None, real: true })
}

/// A subject with the name of the check that it serves.
struct Bench {
    subject: Subject,
    check: &'static str,
}

impl Subject {
    fn on(self, check: &'static str) -> Bench {
        Bench { subject: self, check }
    }
}

impl Bench {
    fn engine(&self) -> &dyn Engine {
        self.subject.engine.as_ref()
    }

    /// A name that no other check, subject or process of this suite uses.
    fn name(&self, unit: &str) -> UnitName {
        let run = format!("conf{}{}{}", std::process::id(), self.subject.name, self.check.replace('_', ""));
        if self.subject.real {
            crate::alive::hold(&run);
        }
        UnitName { run, experiment: "conformance".into(), trial: "t1".into(), unit: unit.into() }
    }

    fn spec(&self, command: &[&str]) -> UnitSpec {
        UnitSpec {
            image: self.subject.image.clone(),
            command: command.iter().map(|word| (*word).to_owned()).collect(),
            container: ContainerSpec { network_mode: self.subject.image.as_ref().map(|_| "none".into()), ..ContainerSpec::default() },
            ..UnitSpec::bare(if self.subject.image.is_some() { Place::Container } else { Place::Host })
        }
    }

    fn shell(&self, script: &str) -> UnitSpec {
        self.spec(&["/bin/sh", "-c", script])
    }

    async fn image(&self) -> Option<Image> {
        match &self.subject.image {
            Some(image) => Some(self.engine().image(image, &PathBuf::from(".")).await.expect("image")),
            None => None,
        }
    }

    async fn create(&self, unit: &str, spec: &UnitSpec) -> Created {
        self.engine().create(&self.name(unit), spec, self.image().await.as_ref()).await.expect("create")
    }

    async fn remove(&self, unit: &Created) {
        self.engine().remove(unit).await.expect("remove");
    }

    /// The whole life of one unit.
    async fn run(&self, spec: &UnitSpec) -> (Exit, Output) {
        let unit = self.create("a", spec).await;
        self.engine().start(&unit).await.expect("start");
        self.engine().wait(&unit).await.expect("wait");
        let exit = self.engine().exit(&unit).await.expect("exit");
        let output = self.engine().output(&unit).await.expect("output");
        self.remove(&unit).await;
        (exit, output)
    }
}

async fn tells_what_it_is(bench: &Bench) {
    let facts = bench.engine().facts().await.expect("facts");
    assert!(!facts.kind.is_empty());
    assert_eq!(bench.engine().unsupported(&bench.shell("true"), &facts), Vec::<String>::new());
}

async fn exit_codes(bench: &Bench) {
    let (exit, _) = bench.run(&bench.shell("exit 3")).await;
    assert_eq!((exit.code, exit.oom), (3, false));
}

async fn signals_are_128_plus_n(bench: &Bench) {
    // A shell inside a shell: process 1 of a container cannot kill itself.
    let (exit, _) = bench.run(&bench.shell("/bin/sh -c 'kill -9 $$'; exit $?")).await;
    assert_eq!(exit.code, 137);
}

async fn streams_stay_apart(bench: &Bench) {
    let (exit, output) = bench.run(&bench.shell("echo out; echo err >&2")).await;
    assert_eq!(exit.code, 0);
    assert_eq!((output.stdout.bytes.as_slice(), output.stdout.total), (b"out\n".as_slice(), 4));
    assert_eq!((output.stderr.bytes.as_slice(), output.stderr.total), (b"err\n".as_slice(), 4));
}

async fn a_missing_program_is_not_started(bench: &Bench) {
    let unit = bench.create("a", &bench.spec(&["/does/not/exist"])).await;
    let error = bench.engine().start(&unit).await.expect_err("it does not exist");
    assert!(matches!(&error, EngineError::NotStarted { program, .. } if program == "/does/not/exist"), "{error}");
    bench.remove(&unit).await;
}

async fn environment_and_folder(bench: &Bench) {
    let spec = UnitSpec {
        environment: vec![("GREETING".into(), "hello".into())],
        working_dir: Some("/tmp".into()),
        ..bench.shell("echo $GREETING; pwd")
    };
    let (_, output) = bench.run(&spec).await;
    assert_eq!(String::from_utf8_lossy(&output.stdout.bytes), "hello\n/tmp\n");
}

async fn files_stand_at_their_targets(bench: &Bench) {
    let file = |target: &str, content: &str| FileSpec::text(target, content, 0o644);
    let spec = UnitSpec {
        files: vec![file("/opt/shakedown-conformance/deep/one", "one\n"), file("/opt/shakedown-conformance/two", "two\n")],
        ..bench.shell("cat /opt/shakedown-conformance/deep/one /opt/shakedown-conformance/two")
    };
    let (exit, output) = bench.run(&spec).await;
    assert_eq!(String::from_utf8_lossy(&output.stdout.bytes), "one\ntwo\n", "{}", String::from_utf8_lossy(&output.stderr.bytes));
    assert_eq!(exit.code, 0);
    assert!(!PathBuf::from("/opt/shakedown-conformance").exists(), "the host's own files stay untouched");
}

async fn stamps_enclose_the_command(bench: &Bench) {
    // A daemon stamps the start late: how late depends on its load. A second is far beyond it. (The scripted engine says 0.1 s.)
    let (exit, _) = bench.run(&bench.shell("sleep 1")).await;
    assert!(exit.finished_ns - exit.started_ns >= 50_000_000, "{exit:?}");
}

async fn remove_ends_a_running_unit(bench: &Bench) {
    let unit = bench.create("a", &bench.shell("sleep 1000")).await;
    bench.engine().start(&unit).await.expect("start");
    bench.remove(&unit).await;
    bench.remove(&unit).await;
    assert!(bench.engine().wait(&unit).await.is_err(), "a removed unit has no exit code");
    assert!(bench.engine().exit(&unit).await.is_err(), "a removed unit has no exit code");
}

async fn remove_without_start(bench: &Bench) {
    let unit = bench.create("a", &bench.shell("echo never")).await;
    bench.remove(&unit).await;
}

async fn units_start_together(bench: &Bench) {
    let (a, b) = (bench.create("a", &bench.shell("exit 3")).await, bench.create("b", &bench.shell("sleep 0.05")).await);
    let (first, second) = tokio::join!(bench.engine().start(&a), bench.engine().start(&b));
    first.expect("start a");
    second.expect("start b");
    let (first, second) = tokio::join!(bench.engine().wait(&a), bench.engine().wait(&b));
    first.expect("wait a");
    second.expect("wait b");
    let (first, second) = (bench.engine().exit(&a).await, bench.engine().exit(&b).await);
    assert_eq!((first.expect("exit a").code, second.expect("exit b").code), (3, 0));
    bench.remove(&a).await;
    bench.remove(&b).await;
}

async fn orphans_end_with_their_unit(bench: &Bench) {
    // The orphan keeps the streams open: neither the wait nor the output may hang on it.
    let (exit, output) = bench.run(&bench.shell("(trap '' TERM HUP; sleep 1000) & echo out; echo err >&2")).await;
    assert_eq!((exit.code, output.stdout.bytes.as_slice()), (0, b"out\n".as_slice()));
}

async fn output_is_capped(bench: &Bench) {
    if !bench.subject.real {
        return;
    }
    let script = "printf head; head -c 20971520 /dev/zero; printf tail";
    let (exit, output) = bench.run(&bench.shell(script)).await;
    assert_eq!((exit.code, output.stdout.total, output.stdout.bytes.len()), (0, 20_971_528, OUTPUT_CAP));
    assert!(output.stdout.bytes.starts_with(b"head\0") && output.stdout.bytes.ends_with(b"\0tail"));
}

async fn sweep_takes_the_dead_and_spares_the_living(bench: &Bench) {
    if bench.subject.real {
        // It would take the units of every test that runs at the same time: real sweeps stand in each engine's own tests.
        return;
    }
    let unit = bench.create("a", &bench.shell("sleep 1000")).await;
    assert_eq!(bench.engine().sweep(&[bench.name("a").run]).await.expect("sweep"), Vec::<String>::new());
    assert_eq!(bench.engine().sweep(&[]).await.expect("sweep"), vec![unit.id.clone()]);
    bench.remove(&unit).await;
}
