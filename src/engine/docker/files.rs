//! Files placed in a created container: one tar for its layer and one for each volume that holds some, streamed before the start.

use super::make::Maker;
use super::{failed, status};
use crate::engine::EngineError;
use crate::model::spec::{FileSpec, UnitSpec};
use crate::model::stack::MountSource;
use bollard::query_parameters::{ContainerArchiveInfoOptionsBuilder, UploadToContainerOptionsBuilder};
use futures_util::{TryStreamExt, stream};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use tokio::sync::mpsc;

/// Bytes sent at a time.
const PIECE: usize = 1 << 18;
/// Pieces that wait to be sent.
const WAITING: usize = 4;

/// Places the files of `spec` in the container `id`.
///
/// Docker unpacks into volumes also from the root, and only from there takes the mode and owner of a volume's own folder. The root of
/// a read-only container it refuses, and podman overlooks volumes there: those have each volume filled by its own path.
pub(super) async fn place(maker: &Maker, id: &str, spec: &UnitSpec) -> Result<(), EngineError> {
    let client = &maker.client;
    let apart = maker.podman || spec.container.read_only;
    for (root, files) in by_root(spec) {
        if let Some(MountSource::Volume(volume)) = spec.volumes.iter().find(|mount| mount.target == root).map(|mount| &mount.source) {
            keeps_files(client, volume, &root).await?;
        }
        let mut folders = BTreeSet::new();
        for file in &files {
            missing(client, id, &file.target, &root, &mut folders).await?;
        }
        let root = if apart { root } else { "/".into() };
        upload(&maker.patient, id, root, folders, files).await?;
    }
    Ok(())
}

/// The files by what they are placed in: the root file system, or the innermost volume.
fn by_root(spec: &UnitSpec) -> BTreeMap<PathBuf, Vec<FileSpec>> {
    let mut by_root: BTreeMap<PathBuf, Vec<FileSpec>> = BTreeMap::new();
    for file in &spec.files {
        let holders = spec.volumes.iter().map(|mount| &mount.target).filter(|target| file.target.starts_with(target));
        let root = holders.max_by_key(|target| target.components().count()).cloned().unwrap_or_else(|| "/".into());
        by_root.entry(root).or_default().push(file.clone());
    }
    by_root
}

/// Refuses a volume in memory: what is placed in it is gone before the container starts.
async fn keeps_files(client: &bollard::Docker, volume: &str, root: &Path) -> Result<(), EngineError> {
    let found = client.inspect_volume(volume).await.map_err(|error| failed(format!("look at volume `{volume}`"), &error))?;
    if found.options.get("type").is_some_and(|kind| kind == "tmpfs") {
        let root = root.display();
        let what =
            format!("files below `{root}` cannot be placed in a volume in memory; place them elsewhere and copy them with a command");
        return Err(EngineError::Unsupported { what });
    }
    Ok(())
}

/// Adds the folders between `root` and `target` that the container does not have. An entry for one that it has would change its mode.
async fn missing(
    client: &bollard::Docker,
    id: &str,
    target: &Path,
    root: &Path,
    folders: &mut BTreeSet<PathBuf>,
) -> Result<(), EngineError> {
    for folder in target.ancestors().skip(1) {
        if !folder.starts_with(root) || folder == root || folders.contains(folder) {
            break;
        }
        let options = ContainerArchiveInfoOptionsBuilder::default().path(&folder.to_string_lossy()).build();
        match client.get_container_archive_info(id, Some(options)).await {
            Ok(_) => break,
            Err(error) if status(&error) == Some(404) => {
                folders.insert(folder.to_path_buf());
            }
            Err(error) => return Err(failed(format!("look for `{}` in the container", folder.display()), &error)),
        }
    }
    Ok(())
}

/// Sends the tar while it is made.
async fn upload(
    client: &bollard::Docker,
    id: &str,
    root: PathBuf,
    folders: BTreeSet<PathBuf>,
    files: Vec<FileSpec>,
) -> Result<(), EngineError> {
    let options = UploadToContainerOptionsBuilder::default().path(&root.to_string_lossy()).build();
    let (sender, mut pieces) = mpsc::channel(WAITING);
    let making = tokio::task::spawn_blocking(move || {
        let mut pieces = BufWriter::with_capacity(PIECE, Pieces(sender));
        archive(&mut pieces, &root, &folders, &files).and_then(|()| pieces.flush())
    });
    let body = stream::poll_fn(move |context| pieces.poll_recv(context)).map_ok(Into::into);
    let sent = client.upload_to_container(id, Some(options), bollard::body_try_stream(body)).await;
    let made = making.await.unwrap_or_else(|error| Err(io::Error::other(error)));
    match (made, sent) {
        (Ok(()), sent) => sent.map_err(|error| failed("place files in the container", &error)),
        // The daemon hung up: its own words say why.
        (Err(error), Err(refused)) if error.kind() == io::ErrorKind::BrokenPipe => Err(failed("place files in the container", &refused)),
        (Err(error), _) => Err(EngineError::Call { operation: "pack files".into(), reason: error.to_string() }),
    }
}

/// The body of a request, written from a thread that may block.
struct Pieces(mpsc::Sender<io::Result<Vec<u8>>>);

impl Write for Pieces {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.blocking_send(Ok(bytes.to_vec())).map_err(|_| io::Error::from(io::ErrorKind::BrokenPipe))?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Writes the tar: the missing folders first, then the files. What comes from a text belongs to root and has the time zero; what
/// comes from the host keeps its owner, mode and time.
fn archive(to: impl Write, root: &Path, folders: &BTreeSet<PathBuf>, files: &[FileSpec]) -> io::Result<()> {
    let mut tar = tar::Builder::new(to);
    tar.follow_symlinks(false);
    for folder in folders {
        let mut header = header(tar::EntryType::Directory, 0o755, 0);
        tar.append_data(&mut header, relative(folder, root), io::empty())?;
    }
    for file in files {
        match &file.source {
            Some(source) => copy(&mut tar, source, relative(&file.target, root))?,
            None => {
                let mut header = header(tar::EntryType::Regular, file.mode, file.content.len() as u64);
                tar.append_data(&mut header, relative(&file.target, root), file.content.as_bytes())?;
            }
        }
    }
    tar.into_inner().map(drop)
}

/// Adds a file of the host, or a folder with all that is in it; sockets are no content.
fn copy(tar: &mut tar::Builder<impl Write>, source: &Path, target: &Path) -> io::Result<()> {
    let source = fs_err::canonicalize(source)?;
    for entry in walkdir::WalkDir::new(&source).sort_by_file_name() {
        let entry = entry?;
        if entry.file_type().is_socket() {
            continue;
        }
        let below = entry.path().strip_prefix(&source).unwrap_or(entry.path());
        let name = if below.as_os_str().is_empty() { target.to_path_buf() } else { target.join(below) };
        let added = tar.append_path_with_name(entry.path(), name);
        added.map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", entry.path().display())))?;
    }
    Ok(())
}

fn header(kind: tar::EntryType, mode: u32, size: u64) -> tar::Header {
    let mut header = tar::Header::new_gnu();
    header.set_entry_type(kind);
    header.set_mode(mode);
    header.set_size(size);
    header.set_uid(0);
    header.set_gid(0);
    header.set_mtime(0);
    header
}

/// The path in a tar that is unpacked in `root`; a dot for the root itself.
fn relative<'p>(path: &'p Path, root: &Path) -> &'p Path {
    let path = path.strip_prefix(root).unwrap_or(path);
    if path.as_os_str().is_empty() { Path::new(".") } else { path }
}

#[cfg(test)]
mod tests {
    use super::super::create::tests::spec;
    use super::*;
    use crate::model::stack::MountSpec;
    use std::io::Read;
    use std::os::unix::fs::{MetadataExt, PermissionsExt};

    /// Path, mode, time and content of each entry.
    fn entries(bytes: &[u8]) -> Vec<(String, u32, u64, String)> {
        let mut reader = tar::Archive::new(bytes);
        let mut seen = Vec::new();
        for entry in reader.entries().expect("entries") {
            let mut entry = entry.expect("entry");
            let mut content = String::new();
            entry.read_to_string(&mut content).expect("content");
            let link = entry.link_name().expect("link").map(|to| format!("-> {}", to.display()));
            let header = entry.header();
            let path = entry.path().expect("path").display().to_string();
            seen.push((path, header.mode().expect("mode") & 0o7777, header.mtime().expect("time"), link.unwrap_or(content)));
        }
        seen
    }

    #[test]
    fn the_tar_holds_missing_folders_and_files_with_mode_and_no_time() {
        let file = FileSpec::text("/etc/app/x.conf", "a\nb", 0o600);
        let mut bytes = Vec::new();
        archive(&mut bytes, Path::new("/"), &[PathBuf::from("/etc/app")].into(), &[file]).expect("tar");
        let expected = [("etc/app".to_owned(), 0o755, 0, String::new()), ("etc/app/x.conf".to_owned(), 0o600, 0, "a\nb".to_owned())];
        assert_eq!(entries(&bytes), expected);
    }

    #[test]
    fn a_folder_of_the_host_keeps_modes_times_and_links() {
        let folder = tempfile::tempdir().expect("folder");
        let inside = |name: &str| folder.path().join(name);
        std::fs::create_dir(inside("sub")).expect("folder");
        std::fs::write(inside("sub/x"), "hello").expect("file");
        std::os::unix::fs::symlink("x", inside("sub/link")).expect("link");
        let _socket = std::os::unix::net::UnixListener::bind(inside("socket")).expect("socket");
        for (name, mode) in [("sub/x", 0o640), ("sub", 0o750), (".", 0o711)] {
            std::fs::set_permissions(inside(name), std::fs::Permissions::from_mode(mode)).expect("mode");
        }
        let time = |name: &str| u64::try_from(std::fs::symlink_metadata(inside(name)).expect("metadata").mtime()).expect("time");
        let file = FileSpec { source: Some(folder.path().into()), ..FileSpec::text("/data", "", 0o644) };
        let told = |root: &str, top: &str, below: &str| {
            let mut bytes = Vec::new();
            archive(&mut bytes, Path::new(root), &BTreeSet::new(), std::slice::from_ref(&file)).expect("tar");
            let path = |name: &str| if name == "." { top.to_owned() } else { format!("{below}{name}") };
            let expected = [(".", 0o711, ""), ("sub", 0o750, ""), ("sub/link", 0o777, "-> x"), ("sub/x", 0o640, "hello")]
                .map(|(name, mode, content)| (path(name), mode, time(name), content.to_owned()));
            assert_eq!(entries(&bytes), expected);
        };
        told("/", "data", "data/");
        told("/data", ".", "");
    }

    #[test]
    fn files_are_placed_in_the_innermost_volume() {
        let mount = |target: &str| MountSpec { source: MountSource::Anonymous, target: target.into(), read_only: false };
        let mut wanted = spec(&["true"]);
        wanted.volumes = vec![mount("/var"), mount("/var/lib/mysql")];
        wanted.files = ["/etc/x", "/var/y", "/var/lib/mysql", "/var/lib/mysql/z", "/var/lib/mysqlx"]
            .map(|path| FileSpec::text(path, "", 0o644))
            .into();
        let told: Vec<(String, usize)> =
            by_root(&wanted).into_iter().map(|(root, files)| (root.display().to_string(), files.len())).collect();
        assert_eq!(told, [("/".to_owned(), 1), ("/var".to_owned(), 2), ("/var/lib/mysql".to_owned(), 2)]);
    }
}
