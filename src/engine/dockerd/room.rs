//! Whether a data root has room left: a unit that fails for want of it cannot say so, because the daemon keeps its words there, too.

use crate::model::private::PrivateSpec;
use std::path::Path;

/// Bytes below which it counts as full: less than what a line of a container's log or a layer's next file takes.
const LEAST: u64 = 64 << 10;

/// What is to be said of a unit that ended with `code`, when the data root at `path` is full; none when there is room, or when
/// that is not known.
pub(super) fn full(spec: &PrivateSpec, path: &Path, code: i64) -> Option<String> {
    let room = rustix::fs::statvfs(path).ok()?;
    let left = room.f_bavail.saturating_mul(room.f_frsize);
    let (kind, bytes) = (spec.backing.filesystem.name(), spec.backing.bytes);
    (left < LEAST)
        .then(|| format!("ended with exit code {code} on a full data root ({kind} of {bytes} bytes): raise `engine.backing.size`"))
}

#[cfg(test)]
mod tests {
    use super::super::tests::spec;
    use super::*;

    #[test]
    fn only_what_is_full_is_said_to_be() {
        let of = |path: &str| full(&spec("overlay2", "tmpfs"), Path::new(path), 1);
        // A file system without blocks has none left.
        let said = of("/proc").expect("no room");
        assert_eq!(said, "ended with exit code 1 on a full data root (tmpfs of 8589934592 bytes): raise `engine.backing.size`");
        assert_eq!((of("/"), of("/does/not/exist")), (None, None));
    }
}
