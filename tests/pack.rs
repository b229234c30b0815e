//! Images of host files: the closure is complete, the bytes are reproducible, and a real daemon runs what was packed.

mod daemon;
mod programs;

use shakedown::engine::pack::{EntryKind, PackError, Packed, pack};
use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Component, Path, PathBuf};
use std::process::Command;

fn packed<P: AsRef<Path>>(paths: impl IntoIterator<Item = P>) -> Result<Packed, PackError> {
    let paths: Vec<PathBuf> = paths.into_iter().map(|path| path.as_ref().to_path_buf()).collect();
    pack(&paths)
}

fn refused<P: AsRef<Path>>(path: P) -> String {
    packed([path]).expect_err("refused").to_string()
}

fn write(path: &Path, mode: u32, bytes: impl AsRef<[u8]>) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

fn folder() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().canonicalize().unwrap();
    (folder, path)
}

/// Follows `path` among the packed entries as a kernel would inside the image.
fn resolve(image: &BTreeMap<&Path, &EntryKind>, path: &Path, links: usize) -> Option<PathBuf> {
    let mut at = PathBuf::from("/");
    let mut parts = path.components();
    while let Some(part) = parts.next() {
        match part {
            Component::RootDir => at = PathBuf::from("/"),
            Component::ParentDir => drop(at.pop()),
            Component::Normal(name) => at.push(name),
            _ => {}
        }
        match image.get(at.as_path()) {
            Some(EntryKind::Symlink { target }) if links > 0 => {
                let next = at.parent().unwrap().join(target).join(parts.as_path());
                return resolve(image, &next, links - 1);
            }
            Some(EntryKind::Dir | EntryKind::File) => {}
            _ if at == Path::new("/") => {}
            _ => return None,
        }
    }
    Some(at)
}

fn by_path(packed: &Packed) -> BTreeMap<&Path, &EntryKind> {
    packed.entries().iter().map(|entry| (entry.path.as_path(), &entry.kind)).collect()
}

fn works(packed: &Packed, path: impl AsRef<Path>) -> bool {
    resolve(&by_path(packed), path.as_ref(), 40).is_some()
}

/// What `ldd` says a program needs: an answer from outside.
fn ldd(program: &str) -> Vec<PathBuf> {
    let output = Command::new("ldd").arg(program).output().expect("ldd");
    let text = String::from_utf8(output.stdout).unwrap();
    text.split_whitespace().filter(|word| word.starts_with('/')).map(PathBuf::from).collect()
}

#[test]
fn programs_come_with_everything_that_ldd_names() {
    for program in ["/bin/bash", "/usr/bin/dd", "/usr/bin/md5sum", "/usr/bin/env"] {
        let packed = packed([program]).unwrap();
        let needed = ldd(program);
        assert!(needed.len() >= 2, "{program}: loader and C library at least: {needed:?}");
        for path in needed.iter().map(PathBuf::as_path).chain([Path::new(program), Path::new("/tmp"), Path::new("/etc/passwd")]) {
            assert!(works(&packed, path), "{program}: {} is missing", path.display());
        }
    }
}

#[test]
fn every_link_resolves_and_every_parent_stands_before_its_children() {
    let packed = packed(["/bin/bash", "/usr/bin/awk", "/usr/bin/env"]).unwrap();
    let image = by_path(&packed);
    let mut seen = vec![Path::new("/")];
    let mut links = 0;
    for entry in packed.entries() {
        assert!(seen.contains(&entry.path.parent().unwrap()), "{}", entry.path.display());
        seen.push(&entry.path);
        if let EntryKind::Symlink { .. } = entry.kind {
            links += 1;
            assert!(resolve(&image, &entry.path, 40).is_some(), "{} dangles", entry.path.display());
        }
    }
    assert!(links > 0, "the host has links");
    assert!(works(&packed, "/usr/bin/awk"));
}

#[test]
fn the_generated_files_tell_nothing_of_the_host() {
    let packed = packed(["/usr/bin/env"]).unwrap();
    for path in ["/etc/hostname", "/etc/resolv.conf", "/etc/ssl", "/etc/ld.so.cache", "/etc/shadow"] {
        assert!(!works(&packed, path), "{path}");
    }
    let mode = |path: &str| packed.entries().iter().find(|entry| entry.path == Path::new(path)).map(|entry| entry.mode);
    let expected = [("/tmp", 0o1777), ("/var/tmp", 0o1777), ("/etc/passwd", 0o644), ("/proc", 0o755), ("/run", 0o755)];
    for (path, bits) in expected {
        assert_eq!(mode(path), Some(bits), "{path}");
    }
}

#[test]
fn a_static_program_needs_no_library() {
    let Some(busybox) = ["/bin/busybox", "/usr/bin/busybox"].into_iter().find(|path| Path::new(path).exists()) else {
        crate::skipped::skip("no busybox on this host");
        return;
    };
    let packed = packed([busybox]).unwrap();
    let libraries = packed.entries().iter().filter(|entry| entry.path.to_string_lossy().contains(".so"));
    assert_eq!(libraries.count(), ldd(busybox).len());
}

#[test]
fn scripts_bring_their_interpreters_along() {
    let (_keep, root) = folder();
    write(&root.join("direct"), 0o755, "#!/bin/bash -e\necho hi\n");
    write(&root.join("searched"), 0o755, "#!/usr/bin/env -S bash -e\necho hi\n");
    write(&root.join("nested"), 0o755, format!("#!{}\n", root.join("direct").display()));
    write(&root.join("self"), 0o755, format!("#!{}\n", root.join("self").display()));
    for (script, needs) in [
        ("direct", vec!["/bin/bash"]),
        ("searched", vec!["/usr/bin/env", "/usr/bin/bash"]),
        ("nested", vec!["/bin/bash"]),
        ("self", vec![]),
    ] {
        let packed = packed([root.join(script)]).unwrap();
        let libraries: Vec<PathBuf> = needs.iter().flat_map(|program| ldd(program)).collect();
        for path in needs.iter().map(PathBuf::from).chain(libraries) {
            assert!(works(&packed, &path), "{script}: {}", path.display());
        }
    }
    write(&root.join("lost"), 0o755, "#!/usr/bin/env no-such-program\n");
    assert_eq!(
        refused(root.join("lost")),
        format!("the script `{}` needs `no-such-program`, which is not found", root.join("lost").display())
    );
}

#[test]
fn folders_are_taken_whole_and_their_links_lead_somewhere() {
    let (_keep, root) = folder();
    let (_other, outside) = folder();
    write(&root.join("site/a/page.html"), 0o640, "page");
    fs::create_dir(root.join("site/empty")).unwrap();
    write(&outside.join("shared/b"), 0o644, "b");
    symlink(outside.join("shared"), root.join("site/shared")).unwrap();
    symlink("..", root.join("site/up")).unwrap();
    symlink("nowhere", root.join("site/dangling")).unwrap();
    symlink("round", root.join("site/round")).unwrap();
    symlink("/dev/stdout", root.join("site/log")).unwrap();
    write(&root.join("beside"), 0o644, "not asked for");
    let _socket = std::os::unix::net::UnixListener::bind(root.join("site/socket")).unwrap();
    fs::copy("/bin/bash", root.join("site/plugin.so")).unwrap();
    let packed = packed([root.join("site")]).unwrap();
    for path in ["site/a/page.html", "site/empty", "site/shared/b", "site/up/site/a"] {
        assert!(works(&packed, root.join(path)), "{path}");
    }
    for path in ["beside", "site/socket", "site/dangling", "site/round"] {
        assert!(!works(&packed, root.join(path)), "{path}");
    }
    let image = by_path(&packed);
    for link in ["dangling", "round", "log"] {
        assert!(matches!(image[root.join("site").join(link).as_path()], EntryKind::Symlink { .. }), "{link}");
    }
    for library in ldd("/bin/bash") {
        assert!(works(&packed, &library), "a plugin's {}", library.display());
    }
    let page = packed.entries().iter().find(|entry| entry.path.ends_with("page.html")).unwrap();
    assert_eq!((page.mode, page.size), (0o640, 4));
}

#[test]
fn the_same_files_give_the_same_bytes_whatever_their_times_and_hard_links() {
    let (_keep, root) = folder();
    let tree = root.join("app");
    let long = "x".repeat(60);
    let fill = || {
        write(&tree.join("z"), 0o755, "#!/bin/bash\n");
        write(&tree.join(format!("{long}/{long}/{long}/deep")), 0o600, "deep");
        write(&tree.join("a"), 0o644, "same");
    };
    fill();
    symlink(format!("{long}/{long}/{long}/deep"), tree.join("link")).unwrap();
    fs::hard_link(tree.join("a"), tree.join("b")).unwrap();
    let first = packed([&tree]).unwrap();
    let bytes = first.archive().unwrap();
    assert_eq!(bytes, first.archive().unwrap());

    fs::remove_dir_all(&tree).unwrap();
    fill();
    write(&tree.join("b"), 0o644, "same");
    symlink(format!("{long}/{long}/{long}/deep"), tree.join("link")).unwrap();
    let old = fs::FileTimes::new().set_modified(std::time::UNIX_EPOCH + std::time::Duration::from_secs(86_400));
    fs::File::open(tree.join("a")).unwrap().set_times(old).unwrap();
    let second = packed([&tree]).unwrap();
    assert_eq!(first.image_id(), second.image_id());
    assert!(bytes == second.archive().unwrap(), "byte for byte");

    write(&tree.join("a"), 0o644, "else");
    assert_ne!(packed([&tree]).unwrap().image_id(), first.image_id(), "content counts");
    assert!(matches!(second.archive(), Err(PackError::Changed { .. })), "what was hashed is what is archived");
    write(&tree.join("a"), 0o600, "same");
    assert_ne!(packed([&tree]).unwrap().image_id(), first.image_id(), "permissions count");
    write(&tree.join("a"), 0o644, "longer than before");
    assert!(matches!(second.archive(), Err(PackError::Changed { path }) if path.ends_with("app/a")));
}

#[test]
fn the_archive_is_what_the_entries_say() {
    let (_keep, root) = folder();
    write(&root.join("run"), 0o750, "#!/bin/bash\n");
    let long = root.join("y".repeat(120));
    write(&long, 0o644, "long");
    symlink(&long, root.join("link")).unwrap();
    let packed = packed([root.join("run"), root.join("link")]).unwrap();
    let bytes = packed.archive().unwrap();
    let mut outer = tar::Archive::new(bytes.as_slice());
    let mut parts = BTreeMap::new();
    for part in outer.entries().unwrap() {
        let mut part = part.unwrap();
        let mut content = Vec::new();
        part.read_to_end(&mut content).unwrap();
        parts.insert(part.path().unwrap().display().to_string(), content);
    }
    let id = packed.image_id().strip_prefix("sha256:").unwrap();
    assert_eq!(parts.keys().cloned().collect::<Vec<_>>(), [format!("{id}.json"), "layer.tar".into(), "manifest.json".into()]);
    assert_eq!(packed.reference(), format!("shakedown-pack:{}", &id[..16]));

    let mut inner = tar::Archive::new(parts["layer.tar"].as_slice());
    let mut count = 0;
    for (member, entry) in inner.entries().unwrap().zip(packed.entries()) {
        let member = member.unwrap();
        let header = member.header();
        assert_eq!(Path::new("/").join(member.path().unwrap()), entry.path);
        assert_eq!((header.mode().unwrap(), header.mtime().unwrap(), header.uid().unwrap(), header.gid().unwrap()), (entry.mode, 0, 0, 0));
        let target = member.link_name().unwrap().map(|target| target.into_owned());
        match &entry.kind {
            EntryKind::Symlink { target: expected } => assert_eq!(target.as_ref(), Some(expected)),
            EntryKind::File => assert_eq!(header.size().unwrap(), entry.size),
            EntryKind::Dir => assert_eq!(target, None),
        }
        count += 1;
    }
    assert_eq!(count, packed.entries().len());
}

#[test]
fn errors_name_the_path_and_what_to_write_instead() {
    let (_keep, root) = folder();
    write(&root.join("nginx.conf"), 0o644, "");
    let shown = root.display();
    let table = [
        (PathBuf::from("md5sum"), "`md5sum` is not a path; write `/usr/bin/md5sum`".to_owned()),
        (PathBuf::from("no-such-program"), "`no-such-program` is not a path".to_owned()),
        (root.join("nginx.cnf"), format!("`{shown}/nginx.cnf` does not exist; did you mean `{shown}/nginx.conf`?")),
        (root.join("quite/else"), format!("`{shown}/quite/else` does not exist")),
        (root.join("nginx.conf/x"), format!("`{shown}/nginx.conf/x` does not exist")),
        (PathBuf::from("/"), "`/` cannot be packed: name files and folders below it, not the root".to_owned()),
        (PathBuf::from("/dev/null"), "`/dev` cannot be packed: name files and folders below it, not a kernel file system".to_owned()),
    ];
    for (path, expected) in table {
        assert_eq!(refused(&path), expected);
    }
    assert!(matches!(pack(&[]), Err(PackError::Empty)));
}
