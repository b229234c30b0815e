//! Which file systems the running kernel has, now or after loading a module.

use crate::model::possible::Answer;
use std::path::Path;

/// The file systems of a kernel.
#[derive(Debug, Clone, Default)]
pub struct Kernel {
    /// Those that it has now, and those that it has a module for: a mount loads it.
    pub filesystems: Vec<String>,
    /// Whether there may be others: it loads modules, and their list is not readable (as in most containers).
    pub may_have_more: bool,
}

impl Kernel {
    /// The running one.
    pub fn this() -> Self {
        let listed = std::fs::read_to_string("/proc/filesystems").ok();
        let release = rustix::system::uname().release().to_string_lossy().into_owned();
        let modules = std::fs::read_to_string(Path::new("/lib/modules").join(release).join("modules.dep")).ok();
        Self::of(listed.as_deref(), Path::new("/proc/modules").exists(), modules.as_deref())
    }

    /// From `/proc/filesystems`, whether it loads modules, and `modules.dep`.
    fn of(listed: Option<&str>, loads_modules: bool, modules: Option<&str>) -> Self {
        let now = listed.unwrap_or_default().lines().filter_map(|line| line.split_whitespace().last()).map(str::to_owned);
        let files = modules.unwrap_or_default().lines().filter_map(|line| line.split_once(':')?.0.rsplit('/').next());
        let loadable = files.filter_map(|file| Some(file.split_once(".ko")?.0.to_owned()));
        Self { filesystems: now.chain(loadable).collect(), may_have_more: listed.is_none() || (loads_modules && modules.is_none()) }
    }

    /// Whether it has a file system of that name.
    pub fn answer(&self, name: &str) -> Answer {
        if self.filesystems.iter().any(|known| known == name) {
            Answer::Expected
        } else if self.may_have_more {
            Answer::Unseen(format!("this kernel does not list {name}, and its list of modules is not readable"))
        } else {
            Answer::No(format!("this kernel has no {name}, and no module for it"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_has_what_it_lists_and_what_it_can_load() {
        let modules = "kernel/fs/xfs/xfs.ko.xz: kernel/lib/libcrc32c.ko.xz\nkernel/fs/x.ko: kernel/btrfs.ko\n";
        let kernel = Kernel::of(Some("nodev\ttmpfs\n\text4\n"), true, Some(modules));
        let (ext4, xfs, btrfs) = (kernel.answer("ext4"), kernel.answer("xfs"), kernel.answer("btrfs"));
        assert_eq!((ext4, xfs), (Answer::Expected, Answer::Expected));
        assert_eq!(btrfs, Answer::No("this kernel has no btrfs, and no module for it".into()), "what a module needs is none itself");
        let none = |loads, modules| Kernel::of(Some("\text4\n"), loads, modules).answer("xfs");
        assert!(matches!(none(true, None), Answer::Unseen(_)), "a container often lacks the list");
        assert!(matches!(none(false, None), Answer::No(_)), "all of it is built in");
        assert!(matches!(Kernel::of(None, false, None).answer("ext4"), Answer::Unseen(_)));
    }
}
