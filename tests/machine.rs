//! How packages are installed by `scripts/machine` and by `doctor --install`, with a scripted apt-get in a folder of its own.

use shakedown::measure::doctor::TOOLS;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

/// A machine on which nothing is installed but what the script itself needs.
struct Bare {
    folder: tempfile::TempDir,
}

/// Notes its arguments and what the policy answers; fails, or ends who started it, on request.
const APT: &str = "#!/bin/sh
code=none
if [ -e \"$SHAKEDOWN_POLICY\" ]; then sh \"$SHAKEDOWN_POLICY\" && code=0 || code=$?; fi
echo \"$* ($code)\" >>\"$CALLS\"
case \"$* $SCRIPT\" in
    *wrong*) exit 100 ;;
    *install*signal*) kill -s TERM $PPID; exec /bin/sleep 60 ;;
esac
";

impl Bare {
    fn new(user: &str) -> Self {
        let bare = Self { folder: tempfile::tempdir().expect("folder") };
        std::fs::create_dir(bare.at("bin")).expect("folder");
        for name in ["cat", "chmod", "flock", "rm", "sh"] {
            let found = ["/usr/bin", "/bin"].iter().map(|folder| PathBuf::from(folder).join(name)).find(|path| path.exists());
            symlink(found.unwrap_or_else(|| panic!("no {name}")), bare.at("bin").join(name)).expect("link");
        }
        bare.program("id", &format!("#!/bin/sh\necho {user}\n"));
        bare.program("apt-get", APT);
        bare
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Written by a child: a file that this process has open for writing, and so whatever it is starting elsewhere, cannot be run.
    fn program(&self, name: &str, text: &str) {
        let write = "printf %s \"$2\" >\"$1\" && chmod 755 \"$1\"";
        let status = Command::new("/bin/sh").args(["-c", write, "sh"]).arg(self.at("bin").join(name)).arg(text).status();
        assert!(status.expect("sh").success(), "{name}");
    }

    /// The script.
    fn run(&self, needs: &[&str]) -> Output {
        let mut command = Command::new("/bin/sh");
        self.settle(command.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/scripts/machine")).args(needs)).output().expect("sh")
    }

    /// The program, whose apt-get behaves as asked. With this `PATH` something is always missing.
    fn doctor(&self, script: &str) -> (Option<i32>, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_shakedown"));
        let command = self.settle(command.args(["doctor", "--install", "--yes"])).env("SCRIPT", script).stdin(Stdio::null());
        said(&command.output().expect("shakedown"))
    }

    fn settle<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        command
            .env_clear()
            .env("PATH", self.at("bin"))
            .env("SHAKEDOWN_POLICY", self.at("policy-rc.d"))
            .env("SHAKEDOWN_INSTALL_LOCK", self.at("lock"))
            .env("CALLS", self.at("calls"))
    }

    fn calls(&self) -> Vec<String> {
        std::fs::read_to_string(self.at("calls")).unwrap_or_default().lines().map(str::to_owned).collect()
    }
}

fn said(output: &Output) -> (Option<i32>, String) {
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn one_call_installs_all_that_is_missing_with_services_forbidden() {
    let bare = Bare::new("0");
    bare.program("wrk", "");
    let output = bare.run(&["nginx", "mkfs.xfs", "wrk", "ab", "nginx", "hyperfine"]);
    assert_eq!(said(&output), (Some(0), "machine: installing nginx xfsprogs apache2-utils hyperfine\n".to_owned()));
    let install = "install -qq -y --no-install-recommends nginx xfsprogs apache2-utils hyperfine (101)";
    assert_eq!(bare.calls(), ["update -qq (101)", install]);
    assert!(!bare.at("policy-rc.d").exists());
    assert_eq!(said(&bare.run(&["wrk"])), (Some(0), String::new()), "nothing is missing");
    assert_eq!(bare.calls().len(), 2);
}

#[test]
fn a_failure_leaves_no_policy_and_a_policy_of_others_stays() {
    let bare = Bare::new("0");
    assert_eq!(bare.run(&["wrong"]).status.code(), Some(100));
    assert!(bare.calls()[1].ends_with("wrong (101)") && !bare.at("policy-rc.d").exists(), "{:?}", bare.calls());
    let others = "#!/bin/sh\nexit 104\n";
    std::fs::write(bare.at("policy-rc.d"), others).expect("policy");
    assert_eq!(bare.run(&["fio"]).status.code(), Some(0));
    assert_eq!(bare.calls()[3], "install -qq -y --no-install-recommends fio (104)");
    assert_eq!(std::fs::read_to_string(bare.at("policy-rc.d")).expect("policy"), others);
}

/// What the script writes is what the program writes: each removes what the other left.
fn left_behind() -> String {
    let source = include_str!("../src/cli/install.rs");
    let text = source.split("const FORBID: &str = \"").nth(1).and_then(|rest| rest.split("\";").next()).expect("the text");
    text.replace("\\n", "\n")
}

#[test]
fn what_a_dead_installation_left_is_removed_by_the_next() {
    let bare = Bare::new("0");
    std::fs::write(bare.at("policy-rc.d"), left_behind()).expect("policy");
    assert_eq!(bare.run(&["fio"]).status.code(), Some(0));
    assert_eq!(bare.calls()[1], "install -qq -y --no-install-recommends fio (101)");
    assert!(!bare.at("policy-rc.d").exists());
}

#[test]
fn whoever_may_not_install_is_told_what_to_do() {
    let bare = Bare::new("1000");
    let (code, text) = said(&bare.run(&["no-such-program", "no-other-one"]));
    let packages = "no-such-program no-other-one";
    let expected = format!(
        "machine: missing: {packages}: install them (Debian: sudo apt-get install --no-install-recommends {packages}) and try again\n"
    );
    assert_eq!((code, text), (Some(3), expected));
    assert_eq!(bare.calls(), Vec::<String>::new());
}

/// The script runs before the program is built, so it has a list of its own.
#[test]
fn programs_come_from_the_packages_that_doctor_names() {
    for tool in TOOLS.iter().filter(|tool| tool.programs[0] != "dockerd") {
        let bare = Bare::new("0");
        assert_eq!(bare.run(&[tool.programs[0]]).status.code(), Some(0));
        assert_eq!(bare.calls()[1], format!("install -qq -y --no-install-recommends {} (101)", tool.package), "{}", tool.programs[0]);
    }
    let makefile = include_str!("../Makefile");
    let needs =
        makefile.lines().find_map(|line| line.trim().strip_prefix("./scripts/machine engine sysbench ")).expect("needs of the tests");
    for need in needs.split(' ') {
        assert!(TOOLS.iter().any(|tool| tool.programs.contains(&need)), "doctor does not look for {need}");
    }
}

/// A machine for the program, which asks the kernel who it is; none for a user, who may not install.
fn roots() -> Option<Bare> {
    if rustix::process::geteuid().is_root() {
        return Some(Bare::new("0"));
    }
    crate::skipped::skip("only root installs packages");
    None
}

#[test]
fn doctor_installs_with_services_forbidden_for_the_time_of_the_calls_only() {
    let Some(bare) = roots() else { return };
    let (code, text) = bare.doctor("");
    let list = text.lines().next().and_then(|line| line.strip_prefix("missing Debian packages: ")).expect("a list");
    assert!(list.starts_with("apache2-utils ") && list.contains(" wrk"), "{list}");
    assert!(code == Some(0) && text.contains(&format!("\ninstalled {list}\n")), "{text}");
    assert_eq!(bare.calls(), ["update -qq (101)".to_owned(), format!("install -y --no-install-recommends {list} (101)")]);
    assert!(!bare.at("policy-rc.d").exists());
}

#[test]
fn doctor_leaves_no_policy_after_a_failure_or_a_signal() {
    let Some(bare) = roots() else { return };
    let (code, text) = bare.doctor("wrong");
    assert!(code == Some(3) && text.contains("`apt-get update -qq` failed"), "{text}");
    assert!(bare.calls() == ["update -qq (101)"] && !bare.at("policy-rc.d").exists());
    let (code, text) = bare.doctor("signal");
    assert_eq!(code, Some(143), "{text}");
    assert!(bare.calls()[2].ends_with(" (101)") && !bare.at("policy-rc.d").exists());
}

#[test]
fn doctor_respects_a_policy_of_others_and_an_installation_that_runs() {
    let Some(bare) = roots() else { return };
    let others = "#!/bin/sh\nexit 104\n";
    std::fs::write(bare.at("policy-rc.d"), others).expect("policy");
    assert_eq!(bare.doctor("").0, Some(0));
    assert!(bare.calls()[1].ends_with(" (104)"), "{:?}", bare.calls());
    assert_eq!(std::fs::read_to_string(bare.at("policy-rc.d")).expect("policy"), others);
    std::fs::write(bare.at("policy-rc.d"), left_behind()).expect("policy");
    assert_eq!(bare.doctor("").0, Some(0));
    assert!(!bare.at("policy-rc.d").exists());
    let held = std::fs::File::open(bare.at("lock")).expect("lock");
    rustix::fs::flock(&held, rustix::fs::FlockOperation::NonBlockingLockExclusive).expect("lock");
    let (code, text) = bare.doctor("");
    assert!(code == Some(3) && text.contains("is installing: wait for it"), "{text}");
    assert_eq!(bare.calls().len(), 4);
}
