//! `pack`: a FROM-scratch image of host binaries with their shared-library closure, byte-reproducible.
//!
//! Native and container then run the very same binary, without a registry or a network. The same files give the same bytes
//! and the same image id, whatever their times, owners and hard links are. Not taken, therefore: owners (everything belongs
//! to root), extended attributes and file capabilities, and the host's loader cache.
//!
//! `closure` finds the paths (`elf` and `script` say what a file needs, `tree` follows links, `base` adds what any program
//! needs), `layer` writes them, `config` describes the image. Nothing here talks to an engine.

mod base;
mod closure;
mod config;
mod elf;
mod error;
mod layer;
mod script;
mod tree;

pub use error::PackError;

use config::Config;
use layer::Written;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use tar::{EntryType, Header};
use tree::{Content, Tree};

/// The search path inside an image.
pub const IMAGE_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// An image that is known down to its id, and not yet written.
#[derive(Debug)]
pub struct Packed {
    tree: Tree,
    entries: Vec<Entry>,
    layer: Written,
    config: Config,
    reference: String,
    image_id: String,
}

/// One path of an image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Absolute path inside, the same as on the host.
    pub path: PathBuf,
    /// What it is.
    pub kind: EntryKind,
    /// Permission bits with setuid, setgid and sticky.
    pub mode: u32,
    /// Bytes of a file; 0 for all else.
    pub size: u64,
}

/// What a path of an image is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EntryKind {
    /// A folder.
    Dir,
    /// A regular file.
    File,
    /// A symbolic link.
    Symlink {
        /// Where it leads, as the host writes it.
        target: PathBuf,
    },
}

/// Resolves what `paths` need and reads every file once, for its digest.
///
/// A path with a slash that is not absolute is relative to the current folder.
///
/// # Errors
/// When a path is missing, unreadable or of a kind that cannot be packed, or a program among them cannot run on this host.
pub fn pack(paths: &[PathBuf]) -> Result<Packed, PackError> {
    if paths.is_empty() {
        return Err(PackError::Empty);
    }
    let tree = closure::resolve(paths)?;
    let layer = layer::write(&tree, io::sink())?;
    let config = config::config(&layer.digest);
    let entries = tree.nodes().iter().map(|(path, node)| {
        let (kind, size) = match &node.content {
            Content::Folder => (EntryKind::Dir, 0),
            Content::Link(target) => (EntryKind::Symlink { target: target.clone() }, 0),
            Content::Host(size) => (EntryKind::File, *size),
            Content::Text(text) => (EntryKind::File, text.len() as u64),
        };
        Entry { path: path.clone(), kind, mode: node.mode, size }
    });
    Ok(Packed {
        entries: entries.collect(),
        reference: format!("shakedown-pack:{}", &config.digest[..16]),
        image_id: format!("sha256:{}", config.digest),
        tree,
        layer,
        config,
    })
}

impl Packed {
    /// The name to load and run it under: `shakedown-pack:` and the first 16 hex digits of the image id.
    #[must_use]
    pub fn reference(&self) -> &str {
        &self.reference
    }

    /// What a daemon calls it: `sha256:` and the digest of the image's configuration.
    #[must_use]
    pub fn image_id(&self) -> &str {
        &self.image_id
    }

    /// Every path of the image, parents before children.
    #[must_use]
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The image as a docker-archive, for `docker load`.
    ///
    /// # Errors
    /// When a file cannot be read, or is no longer what it was when it was packed.
    pub fn archive(&self) -> Result<Vec<u8>, PackError> {
        let mut out = Vec::with_capacity(usize::try_from(self.layer.size).unwrap_or(0) + 16 * 1024);
        let manifest = config::manifest(&self.config.digest, &self.reference);
        let config = format!("{}.json", self.config.digest);
        part(&mut out, &config, self.config.text.len() as u64, |out| {
            out.write_all(self.config.text.as_bytes()).map_err(PackError::write(&config))
        })?;
        part(&mut out, config::LAYER, self.layer.size, |out| match layer::write(&self.tree, out)? {
            same if same == self.layer => Ok(()),
            _ => Err(PackError::Changed { path: PathBuf::from("/") }),
        })?;
        part(&mut out, "manifest.json", manifest.len() as u64, |out| {
            out.write_all(manifest.as_bytes()).map_err(PackError::write("manifest.json"))
        })?;
        out.extend_from_slice(&[0; 2 * BLOCK]);
        Ok(out)
    }
}

const BLOCK: usize = 512;

/// One file of the archive, written in place: a layer is large and must not be held twice.
fn part(out: &mut Vec<u8>, name: &str, size: u64, content: impl FnOnce(&mut Vec<u8>) -> Result<(), PackError>) -> Result<(), PackError> {
    let mut header: Header = layer::header(EntryType::Regular, 0o644, size);
    header.set_path(Path::new(name)).map_err(PackError::write(name))?;
    header.set_cksum();
    out.extend_from_slice(header.as_bytes());
    content(out)?;
    out.resize(out.len().next_multiple_of(BLOCK), 0);
    Ok(())
}
