//! The kernel's log, read from where it was left.

use super::super::held::Buffer;
use super::super::source::kmsg::complaint;
use rustix::io::Errno;
use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::fs::OpenOptionsExt;

/// The kernel gives a record whole or not at all; none is longer.
const LONGEST: usize = 8 << 10;

/// `/dev/kmsg`, held open: only who may read the kernel's log has it.
#[derive(Debug)]
pub(super) struct KernelLog(File);

impl KernelLog {
    /// Opens it at its end.
    pub(super) fn open() -> Option<Self> {
        // A read waits for the next record otherwise.
        let flags = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
        let mut file = OpenOptions::new().read(true).custom_flags(flags).open("/dev/kmsg").ok()?;
        file.seek(SeekFrom::End(0)).ok()?;
        Some(Self(file))
    }

    /// What the kernel complained of since the last look.
    pub(super) fn complaints(&mut self, buffer: &mut Buffer) -> Vec<String> {
        let mut found = Vec::new();
        loop {
            let room = buffer.room(LONGEST);
            match self.0.read(room) {
                Ok(0) => return found,
                Ok(length) => found.extend(complaint(&String::from_utf8_lossy(&room[..length])).map(str::to_owned)),
                // Records were overwritten before they were read; the next one is there.
                Err(error) if Errno::from_io_error(&error) == Some(Errno::PIPE) => {}
                Err(_) => return found, // nothing new
            }
        }
    }
}
