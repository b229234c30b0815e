//! What `doctor` says of hosts that this one is not: pure functions of what was seen there. And the command on this one.

use crate::program::{Place, said};
use serde_json::Value;
use shakedown::measure::doctor::{Asked, Finding, Process, Program, Sight, State, TOOLS, examine};
use shakedown::model::facts::{EngineFacts, HostFacts};
use shakedown::model::possible::{Answer, Possible, Survey};
use shakedown::model::private::Filesystem;
use snapbox::{assert_data_eq, file};
use std::collections::BTreeMap;

/// A host of version 2 with everything installed, as root, and quiet.
fn v2() -> Sight {
    let program = |name: &'static str| {
        let real = if name == "iptables" { "/usr/sbin/xtables-nft-multi".to_owned() } else { format!("/usr/bin/{name}") };
        (name, Program { path: format!("/usr/bin/{name}").into(), real: real.into() })
    };
    let some = |text: &str| Some(text.to_owned());
    let calm = "some avg10=0.00 avg60=0.10 avg300=0.05 total=11334119\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n";
    Sight {
        facts: HostFacts {
            name: "bench1".into(),
            kernel: "6.12.30-amd64".into(),
            arch: "x86_64".into(),
            cpu_model: "Some CPU @ 3.00GHz".into(),
            cpus: 8,
            memory_bytes: 32 << 30,
            cgroup: "v2".into(),
            os: "Debian GNU/Linux 13 (trixie)".into(),
            clocksource: "tsc".into(),
        },
        root: true,
        may_make_groups: true,
        status: some("Name:\tshakedown\nCapEff:\t000001ffffffffff\nCapBnd:\t000001ffffffffff\n"),
        mountinfo: some("28 22 0:25 / /sys/fs/cgroup rw,nosuid,nodev,noexec,relatime shared:9 - cgroup2 cgroup2 rw,nsdelegate\n"),
        controllers: some("cpuset cpu io memory hugetlb pids rdma misc\n"),
        governors: vec!["performance".to_owned(); 8],
        no_turbo: some("1\n"),
        boost: None,
        pressure: BTreeMap::from([("cpu", calm.to_owned()), ("io", calm.to_owned()), ("memory", calm.to_owned())]),
        modules: Some(
            ["net/bridge/bridge", "net/veth", "net/macvlan/macvlan", "net/ipvlan/ipvlan"]
                .map(|module| format!("kernel/{module}.ko.xz: kernel/lib/libcrc32c.ko.xz\n"))
                .concat(),
        ),
        config: some("CONFIG_BRIDGE=m\nCONFIG_VETH=m\nCONFIG_MACVLAN=m\nCONFIG_IPVLAN=m\nCONFIG_BLK_DEV_DM=m\n"),
        programs: TOOLS.iter().flat_map(|tool| tool.programs).copied().map(program).collect(),
        loadavg: some("0.02 0.05 0.01 1/212 4242\n"),
        meminfo: some("MemTotal:       32000000 kB\nSwapTotal:             0 kB\nSwapFree:              0 kB\n"),
        stat: Some((
            "cpu  1000 0 500 90000 10 0 5 0 0 0\ncpu0 1 2 3 4\n".to_owned(),
            "cpu  1002 0 501 90796 10 0 5 0 0 0\ncpu0 1 2 3 4\n".to_owned(),
        )),
        processes: vec![Process { name: "systemd".into(), command: "/sbin/init".into() }],
        space: vec![("/var/lib", Some(200 << 30)), ("/run", Some(3 << 30))],
    }
}

/// What private daemons can be where the file systems stand like this, and these drivers with them.
fn survey(backings: [Answer; 4], drivers: &[(&'static str, Answer)]) -> Survey {
    let pair = |(storage_driver, answer): &(&'static str, Answer)| {
        Filesystem::ALL.into_iter().zip(backings.clone()).map({
            let (storage_driver, answer) = (*storage_driver, answer.clone());
            move |(filesystem, backing)| Possible {
                storage_driver,
                filesystem,
                answer: Answer::worst([answer.clone(), backing]),
                ready_after: None,
            }
        })
    };
    Survey {
        pairs: drivers.iter().flat_map(pair).collect(),
        backings: Filesystem::ALL.into_iter().zip(backings.clone()).collect(),
        ..Survey::default()
    }
}

fn no(why: &str) -> Answer {
    Answer::No(why.to_owned())
}

fn everything() -> Survey {
    let drivers = [
        ("overlay2", Answer::Expected),
        ("vfs", Answer::Expected),
        ("zfs", no("this kernel has no zfs, and no module for it")),
        ("aufs", no("Docker removed it in version 24, and this one is 28")),
    ];
    survey([const { Answer::Expected }; 4], &drivers)
}

fn asked() -> Asked {
    Asked {
        engine: Ok(EngineFacts {
            kind: "docker".into(),
            endpoint: "unix:///var/run/docker.sock".into(),
            found_by: "default socket".into(),
            version: "28.2.2".into(),
            api: "1.50".into(),
            storage_driver: "overlay2".into(),
            backing_filesystem: "extfs".into(),
            runtime: "runc 1.2.5".into(),
            cgroup_driver: "systemd".into(),
            cpus: 8,
            memory_bytes: 32 << 30,
        }),
        neighbours: Some(Vec::new()),
        dockerd: Some("Docker version 28.2.2, build e6534b4".into()),
        survey: everything(),
    }
}

/// An ordinary user's view of it, in the middle of other work: no groups, no configuration, no frequency control to be seen.
fn user() -> Sight {
    let some = |text: &str| Some(text.to_owned());
    Sight {
        root: false,
        may_make_groups: false,
        status: some("CapEff:\t0000000000000000\nCapBnd:\t00000000a80425fb\n"),
        governors: Vec::new(),
        no_turbo: None,
        modules: None,
        config: None,
        loadavg: some("6.41 3.05 1.01 9/512 4242\n"),
        meminfo: some("SwapTotal: 2097152 kB\nSwapFree:  2000000 kB\n"),
        stat: Some(("cpu  1000 0 500 90000 10 0 5 0 0 0\n".to_owned(), "cpu  1480 0 540 90260 10 0 5 20 0 0\n".to_owned())),
        processes: vec![Process { name: "apt-get".into(), command: "apt-get -y upgrade".into() }],
        space: vec![("/var/lib", Some(1 << 30)), ("/run", None)],
        ..v2()
    }
}

/// A host without docker and without the programs of experiments.
fn bare() -> Sight {
    let mut sight = v2();
    sight.programs.retain(|name, _| ["cp", "mount", "unshare", "ip", "mkfs.ext4"].contains(name));
    sight
}

fn lines(findings: &[Finding]) -> String {
    let line = |finding: &Finding| {
        let Finding { area, what, state, detail, next, .. } = finding;
        let next = if next.is_empty() { String::new() } else { format!(" -> {next}") };
        format!("{} | {} | {what} | {detail}{next}\n", state.word(), area.word())
    };
    findings.iter().map(line).collect()
}

fn stopping(findings: &[Finding]) -> Vec<&str> {
    findings.iter().filter(|finding| finding.stops_plain_experiments()).map(|finding| finding.what.as_str()).collect()
}

#[test]
fn a_quiet_host_of_version_2_can_do_everything() {
    let found = examine(&v2(), &asked());
    assert_data_eq!(lines(&found), file!["transcripts/doctor_v2.txt"].raw());
    assert_eq!(stopping(&found), Vec::<&str>::new());
}

#[test]
fn a_user_in_the_middle_of_other_work_is_told_what_is_missing_and_what_disturbs() {
    let unseen = || Answer::Unseen("this kernel does not list it, and its list of modules is not readable".into());
    let survey = survey([Answer::Expected, unseen(), unseen(), Answer::Expected], &[("overlay2", Answer::Expected), ("zfs", unseen())]);
    let survey = Survey { general: vec!["a private daemon needs root".into()], ..survey };
    let asked = Asked { neighbours: Some(vec!["db".into(), "web".into()]), survey, ..asked() };
    let found = examine(&user(), &asked);
    assert_data_eq!(lines(&found), file!["transcripts/doctor_user.txt"].raw());
    assert_eq!(stopping(&found), Vec::<&str>::new(), "containers run and are timed without root");
}

#[test]
fn without_a_daemon_a_plain_experiment_cannot_run() {
    let why = "no engine at `default sockets` (nothing names another): no engine socket";
    let lacks = |program: &str, package: &str| no(&format!("`{program}` is not installed: install {package}"));
    let backings = [Answer::Expected, lacks("mkfs.xfs", "xfsprogs"), lacks("mkfs.btrfs", "btrfs-progs"), Answer::Expected];
    let drivers = [("overlay2", Answer::Expected), ("fuse-overlayfs", lacks("fuse-overlayfs", "fuse-overlayfs"))];
    let general = vec!["`dockerd` is not installed: install docker.io".into(), "`iptables` is not installed: install iptables".into()];
    let survey = Survey { general, ..survey(backings, &drivers) };
    let found = examine(&bare(), &Asked { engine: Err(why.into()), neighbours: None, dockerd: None, survey });
    assert_data_eq!(lines(&found), file!["transcripts/doctor_bare.txt"].raw());
    assert_eq!(stopping(&found), ["daemon"]);
}

#[test]
fn what_nobody_could_see_never_counts_as_fine() {
    let found =
        examine(&Sight::default(), &Asked { engine: Err("none".into()), neighbours: None, dockerd: None, survey: Survey::default() });
    let fine: Vec<&str> = found.iter().filter(|finding| finding.state == State::Ok).map(|finding| finding.what.as_str()).collect();
    // Docker makes these two of nothing.
    assert_eq!(fine, ["host", "none"]);
    let all = examine(&v2(), &asked());
    assert!(all.len() > 50);
    let mut names: Vec<(&str, &str)> = all.iter().map(|finding| (finding.area.word(), finding.what.as_str())).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), all.len(), "each thing is told once");
}

fn parsed(text: &str) -> Vec<Value> {
    serde_json::from_str(text).expect("an array")
}

#[test]
fn the_command_tells_machines_an_array() {
    let said = Place::new().fake("[]", &["doctor", "--format", "json"]);
    let found = parsed(&said.stdout);
    for finding in &found {
        let keys: Vec<&str> = finding.as_object().expect("object").keys().map(String::as_str).collect();
        assert_eq!(keys, ["area", "what", "state", "detail", "next"]);
        assert!(["ok", "warn", "no", "unobservable"].contains(&finding["state"].as_str().expect("state")), "{finding}");
        assert!(["host", "engine", "storage", "network", "tools", "now"].contains(&finding["area"].as_str().expect("area")), "{finding}");
    }
    let state = |what: &str| found.iter().find(|finding| finding["what"] == what).map(|finding| finding["state"].as_str().expect("state"));
    assert_eq!((state("daemon"), state("runtime"), state("other containers")), (Some("ok"), Some("unobservable"), Some("ok")));
    let lacks = [state("control groups"), state("controllers")].contains(&Some("no"));
    assert_eq!(said.code, if lacks { 3 } else { 0 }, "{}", said.stderr);
    assert!(lacks || said.stderr.starts_with("a plain experiment can run here ("), "{}", said.stderr);
}

#[test]
fn without_an_engine_the_command_still_tells_everything_else() {
    let said = Place::new().run(&["doctor", "--engine", "unix:///nowhere/engine.sock"]);
    assert_eq!(said.code, 3, "{}", said.stderr);
    assert!(
        said.stderr.starts_with("error: a plain experiment cannot run here: daemon: no engine at `unix:///nowhere/engine.sock`"),
        "{}",
        said.stderr
    );
    let line = |start: &str| said.stdout.lines().any(|line| line.split_whitespace().collect::<Vec<_>>().join(" ").starts_with(start));
    for start in
        ["state area what detail", "no engine daemon no engine at", "ok network none", "unobservable now other containers no daemon tells"]
    {
        assert!(line(start), "{start}:\n{}", said.stdout);
    }
}

#[test]
fn states_have_colours_for_who_wants_them() {
    let place = Place::new();
    place.write("script.json", "[]");
    let run = |color: &[&str]| place.run(&[&["doctor", "--engine", "fake:script.json"], color].concat()).stdout;
    let coloured = run(&["--color", "always"]);
    assert!(coloured.contains(" \u{1b}[32mok\u{1b}[0m ") && coloured.contains(" \u{1b}[2munobservable\u{1b}[0m "), "{coloured}");
    assert!(!run(&[]).contains('\u{1b}'), "no terminal");
    let mut command = place.command(&["doctor", "--engine", "fake:script.json"]);
    let quiet = said(&command.env("CLICOLOR_FORCE", "1").env("NO_COLOR", "1").output().expect("run"));
    assert!(!quiet.stdout.contains('\u{1b}'));
}

/// With a `PATH` of our own something is always missing.
#[test]
fn nothing_is_installed_without_consent() {
    let place = Place::new();
    place.write("bin/readme", "");
    let path = place.path("bin");
    let run = |arguments: &[&str]| said(&place.command(arguments).env("PATH", &path).output().expect("run"));
    let none = run(&["doctor", "--install", "--yes"]);
    assert_eq!(none.code, 3);
    assert!(none.stderr.starts_with("missing Debian packages: apache2-utils ") && none.stderr.contains("no apt-get"), "{}", none.stderr);
    // It is looked for, and not run.
    place.write("bin/apt-get", "");
    let asked = run(&["doctor", "--install"]);
    assert_eq!(asked.code, 3);
    let expected = if rustix::process::geteuid().is_root() { "say `--yes`" } else { "only root installs packages" };
    assert!(asked.stderr.starts_with("missing Debian packages: apache2-utils ") && asked.stderr.contains(expected), "{}", asked.stderr);
    assert_eq!((run(&["doctor", "--yes"]).code, run(&["doctor", "--install", "--format", "json"]).code), (2, 2));
}
