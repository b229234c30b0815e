//! The few files that any program needs to start: users, groups, name services with their libraries, scratch folders and
//! mount points. Generated, so that they say nothing of the host but a few well-known ids.

use super::error::PackError;
use super::tree::{Content, KERNEL_FOLDERS, Node, Reached, Tree};
use std::fs;
use std::path::Path;

/// Users of common services that an image knows when the host does, with the host's ids.
const SERVICE_USERS: [&str; 3] = ["www-data", "mysql", "memcache"];

/// Libraries that the C library loads by name while running, and no program lists.
const LOADED_LATE: [&str; 4] = ["libnss_files.so.2", "libnss_dns.so.2", "libresolv.so.2", "libgcc_s.so.1"];

const NAME_SERVICES: &str =
    "passwd: files\ngroup: files\nshadow: files\nhosts: files dns\nnetworks: files\nprotocols: files\nservices: files\n";

const FOLDERS: [(&str, u32); 6] =
    [("/etc", 0o755), ("/root", 0o700), ("/run", 0o755), ("/tmp", 0o1777), ("/var", 0o755), ("/var/tmp", 0o1777)];

/// Folders that a host with a merged `/usr` has as links.
const MERGED: [&str; 4] = ["/bin", "/lib", "/lib64", "/sbin"];

/// Adds them to `tree` where it has nothing of that name; `libc` is the C library's folder, none when no program uses one.
///
/// # Errors
/// When a file that is there cannot be read.
pub(super) fn furnish(tree: &mut Tree, libc: Option<&Path>) -> Result<(), PackError> {
    for (path, mode) in FOLDERS.into_iter().chain(KERNEL_FOLDERS.map(|path| (path, 0o755))) {
        tree.furnish(Path::new(path), Node { mode, content: Content::Folder });
    }
    // A host without them, or with odd bytes in a comment, still gives root and nobody.
    let [users, groups] = ["/etc/passwd", "/etc/group"].map(|path| fs::read(path).unwrap_or_default());
    let users = known_users(&String::from_utf8_lossy(&users));
    let groups = String::from_utf8_lossy(&groups);
    let texts = [("/etc/passwd", passwd(&users)), ("/etc/group", group(&users, &groups)), ("/etc/nsswitch.conf", NAME_SERVICES.to_owned())];
    for (path, text) in texts {
        tree.furnish(Path::new(path), Node { mode: 0o644, content: Content::Text(text) });
    }
    for name in LOADED_LATE {
        if let Some(path) = libc.map(|folder| folder.join(name)).filter(|path| path.is_file()) {
            tree.reach(&path)?;
        }
    }
    for link in MERGED.map(Path::new) {
        let used = fs::read_link(link).is_ok_and(|target| tree.nodes().contains_key(&Path::new("/").join(target)));
        if used {
            let reached = tree.reach(link)?;
            debug_assert!(matches!(reached, Reached::Folder(_)), "{reached:?}");
        }
    }
    Ok(())
}

/// A user of the image.
#[derive(Debug, Clone, PartialEq, Eq)]
struct User {
    name: String,
    uid: u32,
    gid: u32,
}

/// Root, nobody and the service users that the host's `/etc/passwd` has.
fn known_users(host: &str) -> Vec<User> {
    let root = User { name: "root".to_owned(), uid: 0, gid: 0 };
    let nobody = User { name: "nobody".to_owned(), uid: 65534, gid: 65534 };
    let services = SERVICE_USERS.iter().filter_map(|name| {
        let line = host.lines().find(|line| line.split(':').next() == Some(*name))?;
        let mut ids = line.split(':').skip(2).map(str::parse);
        Some(User { name: (*name).to_owned(), uid: ids.next()?.ok()?, gid: ids.next()?.ok()? })
    });
    [root, nobody].into_iter().chain(services).collect()
}

fn passwd(users: &[User]) -> String {
    let line = |User { name, uid, gid }: &User| match uid {
        0 => format!("{name}:x:{uid}:{gid}:{name}:/root:/bin/sh\n"),
        _ => format!("{name}:x:{uid}:{gid}:{name}:/nonexistent:/usr/sbin/nologin\n"),
    };
    users.iter().map(line).collect()
}

/// The users' own groups, by the names that the host's `/etc/group` has for them.
fn group(users: &[User], host: &str) -> String {
    let name = |user: &User| {
        let same = |line: &&str| line.split(':').nth(2) == Some(&user.gid.to_string());
        let known = host.lines().find(same).and_then(|line| line.split(':').next());
        known.unwrap_or(if user.name == "nobody" { "nogroup" } else { &user.name }).to_owned()
    };
    let mut seen = Vec::new();
    let mut text = String::new();
    for user in users {
        if !seen.contains(&user.gid) {
            seen.push(user.gid);
            text.push_str(&format!("{}:x:{}:\n", name(user), user.gid));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const PASSWD: &str = "root:x:0:0:root:/root:/bin/bash\nwww-data:x:33:33:w:/var/www:/bin/sh\nwww-data2:x:34:34::/:\nmysql:x:107:115::/:\n\
                          secret:x:1000:1000::/:\nmemcache:x:broken:1::/:\n";
    const GROUP: &str = "root:x:0:\nwww-data:x:33:someone\ndb:x:115:\nnogroup:x:65534:\n";

    #[test]
    fn only_well_known_users_are_told_with_the_hosts_ids() {
        let users = known_users(PASSWD);
        assert_eq!(
            passwd(&users),
            "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n\
             www-data:x:33:33:www-data:/nonexistent:/usr/sbin/nologin\nmysql:x:107:115:mysql:/nonexistent:/usr/sbin/nologin\n"
        );
        assert_eq!(group(&users, GROUP), "root:x:0:\nnogroup:x:65534:\nwww-data:x:33:\ndb:x:115:\n");
    }

    #[test]
    fn a_host_without_users_still_gives_root_and_nobody() {
        let users = known_users("");
        assert_eq!(group(&users, ""), "root:x:0:\nnogroup:x:65534:\n");
        assert_eq!(passwd(&users).lines().count(), 2);
    }
}
