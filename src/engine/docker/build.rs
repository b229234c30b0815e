//! Images built from a Dockerfile by the daemon's classic builder, once per content of the context.

use super::image::{image_error, present};
use super::{Docker, reason};
use crate::engine::{EngineError, Image};
use bollard::query_parameters::BuildImageOptionsBuilder;
use futures_util::StreamExt;
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::fmt::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Lines of the build's output that an error shows.
const SHOWN: usize = 12;

/// The image of `context`, built when the daemon does not have it yet.
///
/// The name holds a digest of the context, the Dockerfile's name and the arguments. A base image that moves on does not change
/// it, so a recorded experiment keeps what it was built from; remove the image to build it anew. The whole folder is sent: a
/// `.dockerignore`, which the docker command reads and the daemon does not, has no effect.
pub(super) async fn built(docker: &Docker, context: &Path, dockerfile: &str, args: &[(String, String)]) -> Result<Image, EngineError> {
    let declared = context.display().to_string();
    let failed = |reason: String| image_error(&declared, reason);
    if !context.join(dockerfile).is_file() {
        return Err(failed(format!("there is no `{dockerfile}` in it")));
    }
    let folder = context.to_path_buf();
    let packed = tokio::task::spawn_blocking(move || archive(&folder)).await.map_err(|error| failed(error.to_string()))?;
    let archive = packed.map_err(|error| failed(error.to_string()))?;
    let name = format!("shakedown-build:{}", tag(&archive, dockerfile, args));
    if let Some(image) = present(docker, &name, &declared).await? {
        return Ok(image);
    }
    let args: HashMap<&str, &str> = args.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let options = BuildImageOptionsBuilder::default().dockerfile(dockerfile).t(&name).buildargs(&args).rm(true).forcerm(true).build();
    run(docker, options, archive).await.map_err(&failed)?;
    present(docker, &name, &declared).await?.ok_or_else(|| failed("the engine built it and does not have it".into()))
}

/// Runs the build and reads every line: failures come inside an answer of 200.
async fn run(docker: &Docker, options: bollard::query_parameters::BuildImageOptions, archive: Vec<u8>) -> Result<(), String> {
    let mut lines = std::pin::pin!(docker.patient.build_image(options, None, Some(bollard::body_full(archive.into()))));
    let mut log = String::new();
    while let Some(line) = lines.next().await {
        match line {
            Ok(line) if line.error_detail.is_none() => log.push_str(line.stream.as_deref().unwrap_or_default()),
            Ok(_) => return Err(shown(&log, "the engine tells an error without words")),
            Err(error) => return Err(shown(&log, &reason(&error))),
        }
    }
    Ok(())
}

/// The error with the last lines before it.
fn shown(log: &str, error: &str) -> String {
    let lines: Vec<&str> = log.lines().filter(|line| !line.trim().is_empty()).collect();
    let last = lines[lines.len().saturating_sub(SHOWN)..].join("\n");
    if last.is_empty() { error.to_owned() } else { format!("{error}\n{last}") }
}

/// The context as a tar that depends on names, modes and contents only.
fn archive(context: &Path) -> std::io::Result<Vec<u8>> {
    let mut tar = tar::Builder::new(Vec::new());
    for entry in walkdir::WalkDir::new(context).min_depth(1).sort_by_file_name() {
        let entry = entry?;
        let name = entry.path().strip_prefix(context).unwrap_or(entry.path());
        let kind = entry.file_type();
        let mut header = tar::Header::new_gnu();
        header.set_mode(entry.metadata()?.permissions().mode() & 0o7777);
        header.set_mtime(0);
        header.set_size(0);
        if kind.is_symlink() {
            header.set_entry_type(tar::EntryType::Symlink);
            tar.append_link(&mut header, name, fs_err::read_link(entry.path())?)?;
        } else if kind.is_dir() {
            header.set_entry_type(tar::EntryType::Directory);
            tar.append_data(&mut header, name, std::io::empty())?;
        } else if kind.is_file() {
            let content = fs_err::read(entry.path())?;
            header.set_size(content.len() as u64);
            tar.append_data(&mut header, name, content.as_slice())?;
        }
    }
    tar.into_inner()
}

fn tag(archive: &[u8], dockerfile: &str, args: &[(String, String)]) -> String {
    let mut digest = Sha256::new();
    digest.update(dockerfile);
    for (name, value) in args {
        digest.update(format!("\0{name}={value}"));
    }
    digest.update("\0\0");
    digest.update(archive);
    short_hex(&digest.finalize())
}

/// The first 16 hexadecimal digits.
pub(super) fn short_hex(digest: &[u8]) -> String {
    digest.iter().take(8).fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_follows_the_content_and_not_the_clock() {
        let folder = tempfile::tempdir().expect("folder");
        let write = |name: &str, text: &str| fs_err::write(folder.path().join(name), text).expect("write");
        let now = || tag(&archive(folder.path()).expect("tar"), "Dockerfile", &[]);
        write("Dockerfile", "FROM scratch\n");
        write("a", "1");
        let first = now();
        assert_eq!(first.len(), 16);
        write("a", "1");
        assert_eq!(now(), first);
        write("a", "2");
        assert_ne!(now(), first);
        write("a", "1");
        let bytes = archive(folder.path()).expect("tar");
        assert_ne!(tag(&bytes, "Dockerfile", &[("A".into(), "b".into())]), first);
        assert_ne!(tag(&bytes, "Other", &[]), first);
    }

    #[test]
    fn an_error_shows_the_last_lines() {
        let log: String = (1..=20).map(|line| format!("line {line}\n\n")).collect();
        let text = shown(&log, "boom");
        assert!(text.starts_with("boom\nline 9\n") && text.ends_with("line 20"), "{text}");
        assert_eq!(shown("", "boom"), "boom");
    }
}
