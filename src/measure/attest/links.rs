//! Where a path of a container leads: its symbolic links are those of the container's own files.

use std::path::{Path, PathBuf};

/// Most links that are followed, as many as the kernel follows.
const LINKS: usize = 40;

/// Where `path` leads below `root` when its symbolic links are followed without ever leaving that.
pub(super) fn resolved(root: &Path, path: &Path) -> PathBuf {
    let parts = |path: &Path| path.components().rev().map(|part| part.as_os_str().to_owned()).collect::<Vec<_>>();
    let (mut ahead, mut reached, mut links) = (parts(path), PathBuf::from("/"), 0);
    while let Some(part) = ahead.pop() {
        match part.to_str() {
            Some("/") => reached = PathBuf::from("/"),
            Some(".") => {}
            Some("..") => drop(reached.pop()),
            _ => match std::fs::read_link(root.join(reached.strip_prefix("/").unwrap_or(&reached)).join(&part)) {
                Ok(link) if links < LINKS => {
                    links += 1;
                    ahead.extend(parts(&link));
                }
                _ => reached.push(part),
            },
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_of_the_image_are_followed_and_lead_nowhere_outside() {
        let root = tempfile::tempdir().expect("folder");
        std::fs::create_dir_all(root.path().join("var/lib")).expect("folders");
        for (to, link) in [("/run", "var/run"), ("../../x", "var/lib/up"), ("loop", "loop"), ("lib/up", "var/twice")] {
            std::os::unix::fs::symlink(to, root.path().join(link)).expect("link");
        }
        for (path, leads) in [
            ("/var/run/mysqld", "/run/mysqld"),
            ("/var/lib/mysql/", "/var/lib/mysql"),
            ("/var/lib/up", "/x"),
            ("/var/twice/y", "/x/y"),
            ("/var/run/../../../tmp", "/tmp"),
            ("/loop/z", "/loop/z"),
            ("/", "/"),
        ] {
            assert_eq!(resolved(root.path(), Path::new(path)), PathBuf::from(leads), "{path}");
        }
    }
}
