//! Loop files: made, copied, and let go of by the kernel.

use super::failed;
use crate::engine::EngineError;
use crate::model::private::{Backing, Filesystem};
use rustix::fs::{SeekFrom, copy_file_range, ftruncate, ioctl_ficlone, seek};
use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// How long the kernel may take to write back and let go of a loop file whose last mount is gone.
const RELEASE: Duration = Duration::from_secs(20);
/// The pause between two looks.
const PAUSE: Duration = Duration::from_millis(5);

/// The program that makes this file system, and its arguments before the file; none for memory.
pub fn maker(filesystem: Filesystem) -> Option<(&'static str, &'static [&'static str])> {
    match filesystem {
        Filesystem::Ext4 => Some(("mkfs.ext4", &["-q", "-F"])),
        Filesystem::Xfs => Some(("mkfs.xfs", &["-q"])),
        Filesystem::Btrfs => Some(("mkfs.btrfs", &["-q"])),
        Filesystem::Tmpfs => None,
    }
}

/// Makes a file with an empty file system in it; it takes only what is written.
pub fn make(path: &Path, backing: &Backing, program: &Path) -> Result<(), EngineError> {
    let what = || format!("make {} of {} bytes in {}", backing.filesystem.name(), backing.bytes, path.display());
    let call = |reason: String| failed(what(), reason);
    let file = OpenOptions::new().write(true).create(true).truncate(true).open(path).map_err(|error| call(error.to_string()))?;
    ftruncate(&file, backing.bytes).map_err(|error| call(error.to_string()))?;
    drop(file);
    let Some((_, arguments)) = maker(backing.filesystem) else { return Ok(()) };
    let made = Command::new(program).args(arguments).arg(path).stdin(Stdio::null()).env("LC_ALL", "C").output();
    let made = made.map_err(|error| call(format!("{}: {error}", program.display())))?;
    if made.status.success() {
        return Ok(());
    }
    // The last line of several says what is wrong, the others how to use the program.
    let said = String::from_utf8_lossy(&made.stderr).into_owned() + &String::from_utf8_lossy(&made.stdout);
    let said = said.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("it does not say why").to_owned();
    Err(call(format!("{}: {said}", program.display())))
}

/// Copies a loop file without its holes; shares its blocks where the file system below can.
pub fn copy(from: &Path, to: &Path) -> Result<(), EngineError> {
    copy_data(from, to).map_err(|error| failed(format!("copy {} to {}", from.display(), to.display()), error))
}

fn copy_data(from: &Path, to: &Path) -> io::Result<()> {
    let source = File::open(from)?;
    let target = OpenOptions::new().read(true).write(true).create(true).truncate(true).open(to)?;
    if ioctl_ficlone(&target, &source).is_ok() {
        return Ok(());
    }
    let length = source.metadata()?.len();
    ftruncate(&target, length)?;
    let mut at = 0;
    while at < length {
        let start = match seek(&source, SeekFrom::Data(at)) {
            Ok(start) => start,
            Err(rustix::io::Errno::NXIO) => break, // a hole up to the end
            Err(error) => return Err(error.into()),
        };
        at = seek(&source, SeekFrom::Hole(start))?;
        let (mut read, mut write) = (start, start);
        while read < at {
            let piece = usize::try_from(at - read).unwrap_or(usize::MAX);
            if copy_file_range(&source, Some(&mut read), &target, Some(&mut write), piece)? == 0 {
                return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the file became shorter"));
            }
        }
    }
    Ok(())
}

/// Waits until no loop device holds the file any more; the device that still does after that.
pub fn released(path: &Path) -> Option<PathBuf> {
    let since = Instant::now();
    loop {
        let holder = loops().into_iter().find(|(_, file)| file == path).map(|(device, _)| device)?;
        if since.elapsed() > RELEASE {
            return Some(holder);
        }
        std::thread::sleep(PAUSE);
    }
}

/// Every loop device with the file behind it, whether that is still there or not.
pub fn loops() -> Vec<(PathBuf, PathBuf)> {
    let entries = std::fs::read_dir("/sys/block").into_iter().flatten().flatten();
    let behind = |entry: std::fs::DirEntry| {
        let file = std::fs::read_to_string(entry.path().join("loop/backing_file")).ok()?;
        let file = file.trim_end_matches('\n');
        let file = file.strip_suffix(" (deleted)").unwrap_or(file);
        Some((Path::new("/dev").join(entry.file_name()), PathBuf::from(file)))
    };
    entries.filter_map(behind).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{FileExt, MetadataExt};

    #[test]
    fn a_copy_has_the_same_bytes_and_the_same_holes() {
        let folder = tempfile::tempdir().expect("folder");
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        let file = File::create(&from).expect("file");
        file.set_len(64 << 20).expect("length");
        file.write_all_at(b"begin", 0).expect("write");
        file.write_all_at(&[7; 100_000], 32 << 20).expect("write");
        std::fs::write(&to, [9; 1000]).expect("what was there before");
        copy(&from, &to).expect("copy");
        assert_eq!(std::fs::read(&from).expect("from"), std::fs::read(&to).expect("to"));
        let taken = std::fs::metadata(&to).expect("copy").blocks() * 512;
        assert!(taken < 1 << 20, "{taken} bytes for 100005 that were written");
        let error = copy(&folder.path().join("none"), &to).expect_err("nothing there").to_string();
        assert!(error.contains("none"), "{error}");
    }

    #[test]
    fn what_the_program_says_is_told() {
        let folder = tempfile::tempdir().expect("folder");
        let Some((name, _)) = maker(Filesystem::Ext4) else { return };
        let Some(program) = super::super::tools::find(name) else { return crate::skipped::skip(format!("there is no {name}")) };
        let small = Backing { filesystem: Filesystem::Ext4, bytes: 100 };
        let error = make(&folder.path().join("x"), &small, &program).expect_err("too small").to_string();
        assert!(error.contains("ext4 of 100 bytes") && error.contains("mkfs.ext4: "), "{error}");
    }
}
