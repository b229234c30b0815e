//! Images made ready: found, pulled only if absent, loaded, imported or packed. What counts is what the daemon holds afterwards.

use super::facts::image_arch;
use super::{Docker, build, failed, reason, status};
use crate::engine::{EngineError, Image, pack};
use crate::model::spec::ImageSpec;
use bollard::models::{CreateImageInfo, ImageInspect};
use bollard::query_parameters::{CreateImageOptionsBuilder, ImportImageOptionsBuilder, RemoveImageOptionsBuilder, TagImageOptionsBuilder};
use futures_util::{Stream, StreamExt, TryStreamExt, stream};
use sha2::{Digest, Sha256};
use std::io::Read;
use std::path::{Path, PathBuf};
use tokio::io::AsyncReadExt;

/// Repository of images from archives; the tag is a digest of the archive.
const ARCHIVES: &str = "shakedown-archive";
/// Bytes sent or hashed at a time.
const PIECE: usize = 1 << 18;

/// A failure to have the image `image`, as declared.
pub(super) fn image_error(image: &str, reason: impl Into<String>) -> EngineError {
    EngineError::Image { image: image.to_owned(), reason: reason.into() }
}

/// Makes `spec` ready.
pub(super) async fn ready(docker: &Docker, spec: &ImageSpec, folder: &Path) -> Result<Image, EngineError> {
    match spec {
        ImageSpec::Reference(name) => referenced(docker, name).await,
        ImageSpec::Build { context, dockerfile, args } => build::built(docker, &folder.join(context), dockerfile, args).await,
        ImageSpec::Archive(path) => archived(docker, &folder.join(path)).await,
        // A bare name stays one: packing says where the program of that name is.
        ImageSpec::Pack(paths) => {
            packed(docker, paths.iter().map(|path| if path.components().count() > 1 { folder.join(path) } else { path.clone() }).collect())
                .await
        }
    }
}

/// The image `name` if the daemon has it; none if not.
pub(super) async fn present(docker: &Docker, name: &str, declared: &str) -> Result<Option<Image>, EngineError> {
    match docker.client.inspect_image(name).await {
        Ok(found) => usable(docker, &found, declared).map(Some),
        Err(error) if status(&error) == Some(404) => Ok(None),
        Err(error) => Err(image_error(declared, reason(&error))),
    }
}

/// Streams an image of another daemon into this one, unless it is there.
pub(super) async fn take(docker: &Docker, from: &Docker, image: &Image) -> Result<Image, EngineError> {
    let declared = &image.reference;
    if let Some(there) = present(docker, declared, declared).await? {
        return Ok(there);
    }
    let archive = from.patient.export_image(declared).map_ok(Vec::from).map_err(|error| std::io::Error::other(reason(&error)));
    let loaded = load(docker, archive).await.map_err(|reason| image_error(declared, reason))?;
    present(docker, &loaded, declared).await?.ok_or_else(|| image_error(declared, "the engine loaded it and does not have it"))
}

/// Removes an image and its names.
pub(super) async fn forget(docker: &Docker, image: &Image) -> Result<(), EngineError> {
    let options = RemoveImageOptionsBuilder::default().force(true).build();
    match docker.client.remove_image(&image.reference, Some(options), None).await {
        Err(error) if status(&error) != Some(404) => Err(failed(format!("remove image `{}`", image.reference), &error)),
        _ => Ok(()),
    }
}

/// Checks that the daemon's own processor can run the image: an emulator would only make it slow.
fn usable(docker: &Docker, found: &ImageInspect, declared: &str) -> Result<Image, EngineError> {
    let arch = found.architecture.as_deref().filter(|arch| !arch.is_empty()).map(image_arch);
    if let (Some(own), Some(arch)) = (docker.abilities.arch(), arch)
        && own != arch
    {
        return Err(image_error(declared, format!("it is made for `{arch}` and the engine runs `{own}`; use an image for `{own}`")));
    }
    // The id and not the name is what units are created from, so a tag that moves meanwhile changes nothing.
    let id = found.id.clone().ok_or_else(|| image_error(declared, "the engine tells no id of it"))?;
    Ok(Image { reference: id.clone(), digest: id })
}

async fn referenced(docker: &Docker, name: &str) -> Result<Image, EngineError> {
    if !is_reference(name) {
        return Err(image_error(name, "it is not an image reference such as `nginx:1.27`"));
    }
    if let Some(image) = present(docker, name, name).await? {
        return Ok(image);
    }
    let (repository, tag) = split(name);
    let options = CreateImageOptionsBuilder::default().from_image(repository).tag(tag).build();
    let lines = docker.patient.create_image(Some(options), None, None);
    drain(lines).await.map_err(|reason| image_error(name, explain(&reason)))?;
    present(docker, name, name).await?.ok_or_else(|| image_error(name, "the engine pulled it and does not have it"))
}

/// Characters of references only: the name becomes part of a path of the API.
fn is_reference(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || "._-/:@".contains(c))
        && !name.split('/').any(|part| part.is_empty() || part.starts_with('.'))
}

/// The repository and the tag to pull; without a tag the daemon would pull every one.
fn split(name: &str) -> (&str, &str) {
    match name.rsplit_once(':') {
        _ if name.contains('@') => (name, ""),
        Some((repository, tag)) if !tag.contains('/') => (repository, tag),
        _ => (name, "latest"),
    }
}

/// What a failed pull means; registries and proxies wrap a rate limit in other words, so it is looked for first.
fn explain(text: &str) -> String {
    let lower = text.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    let what = if has(&["toomanyrequests", "too many requests", "rate limit", " 429"]) {
        "the registry's rate limit is reached; wait, or log in and pull it with the docker command"
    } else if has(&["no matching manifest", "does not match the specified platform"]) {
        "the registry has it, but not for the engine's architecture"
    } else if has(&["unauthorized", "authentication required", "access denied", "access to the resource is denied", "denied:"]) {
        "the registry wants a login, or it does not exist; pull it with the docker command, then it is used as it is"
    } else if has(&["not found", "manifest unknown", "name unknown", "does not exist"]) {
        "the registry does not have it"
    } else {
        "it is not on the engine and could not be pulled"
    };
    format!("{what} ({text})")
}

/// Reads every line of a stream that answers 200 before it fails.
async fn drain(lines: impl Stream<Item = Result<CreateImageInfo, bollard::errors::Error>>) -> Result<(), String> {
    let mut lines = std::pin::pin!(lines);
    while let Some(line) = lines.next().await {
        let line = line.map_err(|error| reason(&error))?;
        if line.error_detail.is_some() {
            return Err("the engine tells an error without words".into());
        }
    }
    Ok(())
}

async fn packed(docker: &Docker, paths: Vec<PathBuf>) -> Result<Image, EngineError> {
    let declared = paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ");
    let lost = |error: tokio::task::JoinError| error.to_string();
    let made = tokio::task::spawn_blocking(move || pack::pack(&paths).map_err(|error| error.to_string())).await.map_err(lost);
    let made = made.flatten().map_err(|reason| image_error(&declared, reason))?;
    if let Some(image) = present(docker, made.image_id(), &declared).await? {
        return Ok(image);
    }
    let (id, name) = (made.image_id().to_owned(), made.reference().to_owned());
    let bytes = tokio::task::spawn_blocking(move || made.archive().map_err(|error| error.to_string())).await.map_err(lost);
    let bytes = bytes.flatten().map_err(|reason| image_error(&declared, reason))?;
    load(docker, stream::iter([Ok(bytes)])).await.map_err(|reason| image_error(&declared, reason))?;
    // An image store of containerd's gives ids of its own; there the name, which holds a digest, finds it.
    let image = match present(docker, &id, &declared).await? {
        None => present(docker, &name, &declared).await?,
        found => found,
    };
    image.ok_or_else(|| image_error(&declared, "the engine loaded it and does not have it"))
}

async fn archived(docker: &Docker, path: &Path) -> Result<Image, EngineError> {
    let declared = path.display().to_string();
    let failed = |reason: String| image_error(&declared, reason);
    let file = path.to_path_buf();
    let looked = tokio::task::spawn_blocking(move || look(&file)).await.map_err(|error| failed(error.to_string()))?;
    let (tag, kind) = looked.map_err(|error| failed(error.to_string()))?;
    let name = format!("{ARCHIVES}:{tag}");
    if let Some(image) = present(docker, &name, &declared).await? {
        return Ok(image);
    }
    if kind != Kind::RootFs {
        match load(docker, pieces(path).await.map_err(&failed)?).await {
            Ok(loaded) => {
                let options = TagImageOptionsBuilder::default().repo(ARCHIVES).tag(&tag).build();
                docker.client.tag_image(&loaded, Some(options)).await.map_err(|error| failed(reason(&error)))?;
                return present(docker, &name, &declared).await?.ok_or_else(|| failed("the engine loaded it and does not have it".into()));
            }
            Err(reason) if kind == Kind::Image => return Err(failed(reason)),
            Err(_) => {}
        }
    }
    // The tag stands in `repo`, as the docker command writes it: podman overlooks `tag` here.
    let options = CreateImageOptionsBuilder::default().from_src("-").repo(&name).build();
    let archive = bollard::body_try_stream(pieces(path).await.map_err(&failed)?.map_ok(Into::into));
    let lines = docker.patient.create_image(Some(options), Some(archive), None);
    drain(lines).await.map_err(&failed)?;
    present(docker, &name, &declared).await?.ok_or_else(|| failed("the engine imported it and does not have it".into()))
}

/// What an archive holds, as far as can be seen without unpacking it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Image,
    RootFs,
    /// It is compressed, which the daemon understands and we do not.
    Compressed,
}

/// The tag of an archive and what it holds.
fn look(path: &Path) -> std::io::Result<(String, Kind)> {
    let mut file = fs_err::File::open(path)?;
    let mut digest = Sha256::new();
    let mut piece = vec![0; PIECE];
    let mut kind = None;
    loop {
        let read = file.read(&mut piece)?;
        if read == 0 {
            break;
        }
        // "ustar" stands at byte 257 of every tar of our time.
        kind = kind.or_else(|| (piece.get(257..262) != Some(b"ustar")).then_some(Kind::Compressed)).or(Some(Kind::RootFs));
        digest.update(&piece[..read]);
    }
    let mut kind = kind.unwrap_or(Kind::Compressed);
    if kind == Kind::RootFs {
        let mut entries = tar::Archive::new(fs_err::File::open(path)?);
        for entry in entries.entries()? {
            let name = entry?.path()?.into_owned();
            if matches!(name.strip_prefix(".").unwrap_or(&name).to_str(), Some("manifest.json" | "oci-layout")) {
                kind = Kind::Image;
                break;
            }
        }
    }
    Ok((build::short_hex(&digest.finalize()), kind))
}

/// A file in pieces, read while they are sent.
async fn pieces(path: &Path) -> Result<impl Stream<Item = std::io::Result<Vec<u8>>> + Send + 'static + use<>, String> {
    let file = tokio::fs::File::open(path).await.map_err(|error| error.to_string())?;
    Ok(stream::try_unfold(file, |mut file| async move {
        let mut piece = vec![0; PIECE];
        let read = file.read(&mut piece).await?;
        piece.truncate(read);
        Ok((read > 0).then_some((piece, file)))
    }))
}

/// Loads a docker-archive and tells the name or id of its only image.
async fn load(docker: &Docker, archive: impl Stream<Item = std::io::Result<Vec<u8>>> + Send + 'static) -> Result<String, String> {
    let archive = bollard::body_try_stream(archive.map_ok(Into::into));
    let options = ImportImageOptionsBuilder::default().quiet(true).build();
    let lines: Vec<_> = docker.patient.import_image(options, archive, None).try_collect().await.map_err(|error| reason(&error))?;
    if lines.iter().any(|line| line.error_detail.is_some()) {
        return Err("the engine tells an error without words".into());
    }
    let text: String = lines.into_iter().filter_map(|line| line.stream).collect();
    let mut loaded: Vec<&str> = text
        .lines()
        .filter(|line| line.starts_with("Loaded image"))
        .filter_map(|line| line.split_once(": "))
        .map(|(_, name)| name.trim())
        .collect();
    loaded.dedup();
    match loaded.as_slice() {
        [one] => Ok((*one).to_owned()),
        [] => Err(format!("the engine does not say what it loaded: {}", text.trim())),
        several => Err(format!("it holds several images ({}); make an archive with one", several.join(", "))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_split_at_the_tag_and_never_reach_other_paths() {
        let table = [
            ("nginx", "nginx", "latest"),
            ("nginx:1.27", "nginx", "1.27"),
            ("host:5000/a/b", "host:5000/a/b", "latest"),
            ("host:5000/a/b:x", "host:5000/a/b", "x"),
            ("a@sha256:00", "a@sha256:00", ""),
        ];
        for (name, repository, tag) in table {
            assert!(is_reference(name), "{name}");
            assert_eq!(split(name), (repository, tag));
        }
        for name in ["", "../containers/json", "a/../b", "a?b", "a b", "-x", "a//b", "a%2e"] {
            assert!(!is_reference(name), "{name}");
        }
    }

    #[test]
    fn failed_pulls_say_what_to_do() {
        let table = [
            ("toomanyrequests: You have reached your pull rate limit", "rate limit"),
            ("denied: access denied: 429 Too Many Requests", "rate limit"),
            ("pull access denied for x, repository does not exist or may require 'docker login'", "wants a login"),
            ("manifest for x:y not found: manifest unknown", "does not have it"),
            ("no matching manifest for linux/arm64 in the manifest list entries", "architecture"),
            ("dial tcp: lookup registry-1.docker.io: no such host", "could not be pulled"),
        ];
        for (text, expected) in table {
            let told = explain(text);
            assert!(told.contains(expected) && told.contains(text), "{told}");
        }
    }
}
