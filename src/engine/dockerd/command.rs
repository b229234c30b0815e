//! The command that makes a private daemon's namespaces, mounts its data root there and becomes the daemon.

use super::place::Place;
use super::settings;
use crate::model::private::{Filesystem, OWN_ADDRESS, OWN_DEVICE, OWN_PREFIX, PARENT_DEVICE, PrivateSpec};
use std::path::Path;

/// Open files that the daemon, and with it every container, may have: what its usual service file comes to. Neither our own limit
/// nor an endless one, for which some programs close a thousand million files.
const OPEN_FILES: u32 = 1_048_576;

/// The program, its namespaces, and the shell that prepares them. With `set -e` a failed mount ends it all: the daemon would
/// otherwise use the folder below.
pub fn command(spec: &PrivateSpec, place: &Place, dockerd: &Path, init: &Path) -> Vec<String> {
    let mut words: Vec<String> = [
        "unshare",
        "--pid",
        "--fork",
        "--kill-child=SIGKILL",
        "--mount",
        "--propagation",
        "slave",
        "--net",
        "--mount-proc",
        "--",
        "/bin/sh",
        "-c",
    ]
    .map(str::to_owned)
    .into();
    words.push(script(spec, place));
    words.push(init.display().to_string()); // $0, and so the script's `exec "$0" "$@"`
    words.extend(["-s".to_owned(), "--".to_owned(), dockerd.display().to_string()]);
    words.extend(settings::flags(spec, place));
    words
}

fn script(spec: &PrivateSpec, place: &Place) -> String {
    let mount = mount(spec, place);
    // An empty /etc/docker takes the key that older daemons write there. An empty /run/containerd hides a containerd of the host, which the daemon would use instead of one of its own, and takes the
    // sockets that its own puts there wherever its folder is.
    format!(
        "set -e\n\
         ulimit -n {OPEN_FILES} 2>/dev/null || ulimit -S -n \"$(ulimit -H -n)\"\n\
         ip -batch - <<EOF\n\
         link set lo up\n\
         link add {OWN_DEVICE} type veth peer name {PARENT_DEVICE}\n\
         address add {OWN_ADDRESS}/{OWN_PREFIX} dev {OWN_DEVICE}\n\
         link set {OWN_DEVICE} up\n\
         link set {PARENT_DEVICE} up\n\
         EOF\n\
         mkdir -p /run/containerd\n\
         mount -t tmpfs tmpfs /run/containerd\n\
         [ ! -d /etc/docker ] || mount -t tmpfs tmpfs /etc/docker\n\
         {mount}\n\
         exec \"$0\" \"$@\"\n"
    )
}

/// How the data root is mounted. All its paths are ours and need no quotes.
fn mount(spec: &PrivateSpec, place: &Place) -> String {
    let (data, disk) = (place.data(), place.disk());
    let options = match spec.backing.filesystem {
        // The kernel's late initialisation of inode tables would run beside the trials.
        Filesystem::Ext4 => "loop,noinit_itable",
        // A copy has the identity of what it was copied from, which may be mounted, too.
        Filesystem::Xfs => "loop,nouuid",
        Filesystem::Btrfs => "loop",
        Filesystem::Tmpfs => return format!("mount -t tmpfs -o size={},mode=711 tmpfs {}", spec.backing.bytes, data.display()),
    };
    format!("mount -t {} -o {options} {} {}", spec.backing.filesystem.name(), disk.display(), data.display())
}

#[cfg(test)]
mod tests {
    use super::super::tests::spec;
    use super::*;

    #[test]
    fn the_shell_mounts_before_it_becomes_the_daemon() {
        let place = Place { run: "r".into(), slot: 0 };
        let table = [
            ("ext4", "mount -t ext4 -o loop,noinit_itable /var/lib/shakedown/r-0.img /run/shakedown/r-0/data\n"),
            ("xfs", "mount -t xfs -o loop,nouuid /var/lib/shakedown/r-0.img /run/shakedown/r-0/data\n"),
            ("btrfs", "mount -t btrfs -o loop /var/lib/shakedown/r-0.img /run/shakedown/r-0/data\n"),
            ("tmpfs", "mount -t tmpfs -o size=8589934592,mode=711 tmpfs /run/shakedown/r-0/data\n"),
        ];
        for (backing, mount) in table {
            let words = command(&spec("overlay2", backing), &place, Path::new("/d/dockerd"), Path::new("/i/tini"));
            let shell = words.iter().position(|word| word == "-c").expect("shell");
            assert!(words[shell + 1].starts_with("set -e\n") && words[shell + 1].contains(mount), "{}", words[shell + 1]);
            assert!(words[shell + 1].ends_with("exec \"$0\" \"$@\"\n"));
            assert_eq!(words[shell + 2..shell + 6], ["/i/tini", "-s", "--", "/d/dockerd"]);
            assert!(words[..shell].contains(&"--net".to_owned()), "never in the host's network namespace");
        }
    }
}
