//! The image's one layer as a tar stream, with nothing in it that differs between two hosts holding the same files: sorted
//! paths, root as owner, no times, no hard links, no extended attributes.

use super::error::PackError;
use super::tree::{Content, Node, Tree};
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use tar::{Builder, EntryType, Header};

/// A link target up to this many bytes stands in the header itself.
const SHORT_TARGET: usize = 100;

/// What was written: its digest and its size in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Written {
    /// SHA-256 in hex.
    pub(super) digest: String,
    /// Bytes.
    pub(super) size: u64,
}

/// Writes the layer of `tree` to `out`.
///
/// # Errors
/// When a file cannot be read or is no longer of the size it had.
pub(super) fn write(tree: &Tree, out: impl Write) -> Result<Written, PackError> {
    let mut builder = Builder::new(Hashing { out, hash: Sha256::new(), size: 0 });
    for (path, node) in tree.nodes() {
        entry(&mut builder, path, node)?;
    }
    let done = builder.into_inner().map_err(PackError::write("/"))?;
    Ok(Written { digest: hex(&done.hash.finalize()), size: done.size })
}

fn entry(builder: &mut Builder<impl Write>, path: &Path, node: &Node) -> Result<(), PackError> {
    let inside = path.strip_prefix("/").unwrap_or(path);
    match &node.content {
        Content::Folder => {
            let name = inside.join("");
            builder.append_data(&mut header(EntryType::Directory, node.mode, 0), name, io::empty())
        }
        Content::Link(target) => {
            let mut header = header(EntryType::Symlink, node.mode, 0);
            // The target is kept as the host writes it; only the crate's way for long ones tidies it.
            if target.as_os_str().len() <= SHORT_TARGET {
                header
                    .set_link_name_literal(target.as_os_str().as_bytes())
                    .and_then(|()| builder.append_data(&mut header, inside, io::empty()))
            } else {
                builder.append_link(&mut header, inside, target)
            }
        }
        Content::Text(text) => builder.append_data(&mut header(EntryType::Regular, node.mode, text.len() as u64), inside, text.as_bytes()),
        Content::Host(size) => {
            let changed = || PackError::Changed { path: path.to_path_buf() };
            let file = File::open(path).map_err(PackError::read(path))?;
            if file.metadata().map_err(PackError::read(path))?.len() != *size {
                return Err(changed());
            }
            let mut data = file.take(*size);
            builder.append_data(&mut header(EntryType::Regular, node.mode, *size), inside, &mut data).map_err(PackError::read(path))?;
            return if data.limit() == 0 { Ok(()) } else { Err(changed()) };
        }
    }
    .map_err(PackError::write(path))
}

/// A header without time and owner; the caller or the builder sets name and checksum.
pub(super) fn header(kind: EntryType, mode: u32, size: u64) -> Header {
    let mut header = Header::new_gnu();
    header.set_entry_type(kind);
    header.set_mode(mode);
    header.set_uid(0);
    header.set_gid(0);
    header.set_mtime(0);
    header.set_size(size);
    header
}

/// Passes bytes on and hashes them.
struct Hashing<W> {
    out: W,
    hash: Sha256,
    size: u64,
}

impl<W: Write> Write for Hashing<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = self.out.write(bytes)?;
        self.hash.update(&bytes[..taken]);
        self.size += taken as u64;
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Lowercase hex.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
