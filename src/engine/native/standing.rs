//! A running process as the kernel sees it: what was asked for is told only where it is so.

use super::files;
use super::unit::{Progress, Unit};
use crate::engine::Standing;
use crate::engine::namespace::Namespace;
use std::io;

/// Looks at a process, which is expected in `namespace`; none is ours.
pub(super) fn of(process: &Unit, namespace: Option<&Namespace>) -> io::Result<Standing> {
    let Progress::Running { pid } = process.progress() else { return Err(io::Error::other("it does not run")) };
    let mut settings = Vec::new();
    let expected = match namespace {
        Some(namespace) => namespace.id(),
        None => Namespace::of_process(std::process::id())?.id(),
    };
    if Namespace::of_process(pid)?.id() == expected {
        settings.push(("network_mode".to_owned(), "host".to_owned()));
    }
    if !process.mounts.is_empty() {
        let points = files::mount_points(&pid.to_string())?;
        let there = process.mounts.iter().filter(|mount| points.contains(&mount.point));
        settings.extend(there.map(|mount| (format!("mount {}", mount.target.display()), mount.kind.to_owned())));
    }
    Ok(Standing { pid: Some(pid), settings, ..Standing::default() })
}
