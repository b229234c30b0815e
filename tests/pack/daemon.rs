//! A real daemon loads what was packed under the predicted id, and runs it.

use super::{folder, packed, write};
use std::io::Write;
use std::process::{Command, Stdio};

/// `dd if=/dev/zero bs=1M count=1 | md5sum`.
const MEBIBYTE_OF_ZEROS: &str = "b6d81b360a5672d80c27430f39153e2c";

/// Removes a loaded image on every path out of a test.
struct Loaded(String);

impl Drop for Loaded {
    fn drop(&mut self) {
        let _ = docker(&["image", "rm", &self.0], &[]);
    }
}

/// Runs the `docker` command; its output when it succeeds, else what it complains of.
fn docker(arguments: &[&str], input: &[u8]) -> Result<String, String> {
    let mut command = Command::new("docker");
    let child = command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child = child.map_err(|error| error.to_string())?;
    // A child that ends early is heard below.
    let _ = child.stdin.take().expect("piped").write_all(input);
    let output = child.wait_with_output().map_err(|error| error.to_string())?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned()),
        false => Err(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
    }
}

#[test]
fn a_real_daemon_loads_it_under_the_predicted_id_and_runs_it() {
    if let Err(reason) = docker(&["version", "--format", "{{.Server.Version}}"], &[]) {
        crate::skipped::skip(format!("no Docker daemon answers: {reason}"));
        return;
    }
    let (_keep, root) = folder();
    // The folder's name is in the image, so that no other user of this daemon has the same one.
    write(&root.join("script"), 0o755, "#!/usr/bin/env bash\necho from $0 in $PWD as $(id -un)\n");
    let script = root.join("script").display().to_string();
    let packed = packed(["/bin/bash", "/usr/bin/dd", "/usr/bin/md5sum", "/usr/bin/id", "/usr/bin/awk", &script]).unwrap();
    docker(&["load", "-q"], &packed.archive().unwrap()).expect("load");
    let loaded = Loaded(packed.reference().to_owned());
    let name = packed.reference();
    assert_eq!(docker(&["image", "inspect", "--format", "{{.Id}}", name], &[]).unwrap(), packed.image_id());

    let container = format!("shakedown-test-pack-{}", &packed.image_id()[7..23]);
    let run = |command: &[&str]| {
        let options = ["run", "--rm", "--network", "none", "--name", &container, name];
        docker(&[&options, command].concat(), &[])
    };
    assert_eq!(run(&["bash", "-c", "dd if=/dev/zero bs=1M count=1 | md5sum"]).unwrap(), format!("{MEBIBYTE_OF_ZEROS}  -"));
    assert_eq!(run(&[&script]).unwrap(), format!("from {script} in / as root"));
    assert_eq!(run(&["awk", "BEGIN { print 6 * 7 }"]).unwrap(), "42");

    drop(loaded);
    assert!(docker(&["image", "inspect", packed.image_id()], &[]).is_err(), "the image is gone");
    let left = docker(&["ps", "-aq", "--filter", &format!("name={container}")], &[]).unwrap();
    assert_eq!(left, "", "no container is left");
}
