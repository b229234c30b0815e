//! Files placed in a created container: one tar, uploaded before the start.

use super::{failed, status};
use crate::engine::EngineError;
use crate::model::spec::FileSpec;
use bollard::query_parameters::{ContainerArchiveInfoOptionsBuilder, UploadToContainerOptionsBuilder};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Places `files` in the container `id`.
pub(super) async fn place(client: &bollard::Docker, id: &str, files: &[FileSpec]) -> Result<(), EngineError> {
    if files.is_empty() {
        return Ok(());
    }
    let mut folders = BTreeSet::new();
    for file in files {
        missing(client, id, &file.target, &mut folders).await?;
    }
    let archive =
        archive(files, &folders).map_err(|error| EngineError::Call { operation: "pack files".into(), reason: error.to_string() })?;
    let options = UploadToContainerOptionsBuilder::default().path("/").build();
    let uploaded = client.upload_to_container(id, Some(options), bollard::body_full(archive.into())).await;
    uploaded.map_err(|error| failed("place files in the container", &error))
}

/// Adds the folders above `target` that the container does not have. An entry for one that it has would change its mode.
async fn missing(client: &bollard::Docker, id: &str, target: &Path, folders: &mut BTreeSet<PathBuf>) -> Result<(), EngineError> {
    for folder in target.ancestors().skip(1) {
        if folder.parent().is_none() || folders.contains(folder) {
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

/// The tar: the missing folders first, then the files; owned by root, times at zero.
fn archive(files: &[FileSpec], folders: &BTreeSet<PathBuf>) -> std::io::Result<Vec<u8>> {
    let mut tar = tar::Builder::new(Vec::new());
    for folder in folders {
        let mut header = header(tar::EntryType::Directory, 0o755, 0);
        tar.append_data(&mut header, relative(folder), std::io::empty())?;
    }
    for file in files {
        let mut header = header(tar::EntryType::Regular, file.mode, file.content.len() as u64);
        tar.append_data(&mut header, relative(&file.target), file.content.as_bytes())?;
    }
    tar.into_inner()
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

fn relative(path: &Path) -> &Path {
    path.strip_prefix("/").unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    #[test]
    fn the_tar_holds_missing_folders_and_files_with_mode_and_no_time() {
        let file = FileSpec::text("/etc/app/x.conf", "a\nb", 0o600);
        let bytes = archive(&[file], &[PathBuf::from("/etc/app")].into()).expect("tar");
        let mut reader = tar::Archive::new(bytes.as_slice());
        let mut seen = Vec::new();
        for entry in reader.entries().expect("entries") {
            let mut entry = entry.expect("entry");
            let mut content = String::new();
            entry.read_to_string(&mut content).expect("content");
            let header = entry.header();
            let path = entry.path().expect("path").display().to_string();
            seen.push((path, header.mode().expect("mode"), header.mtime().expect("time"), content));
        }
        assert_eq!(seen, [("etc/app".to_owned(), 0o755, 0, String::new()), ("etc/app/x.conf".to_owned(), 0o600, 0, "a\nb".to_owned())]);
    }
}
