//! Programs made for the purpose: damaged, foreign, static, with libraries of their own or known to the cache alone.

use super::{folder, packed, refused, works, write};
use shakedown::engine::pack::EntryKind;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

/// A copy of `program` in which `from` stands as `to`.
fn patched(program: &str, copy: &Path, from: &[u8], to: &[u8]) {
    assert_eq!(from.len(), to.len());
    let mut bytes = fs::read(program).unwrap();
    let at = bytes.windows(from.len()).position(|window| window == from).expect("the text is in the program");
    bytes[at..at + to.len()].copy_from_slice(to);
    write(copy, 0o755, bytes);
}

#[test]
fn programs_that_do_not_run_here_are_refused_and_tolerated_in_folders() {
    let (_keep, root) = folder();
    let app = root.join("app");
    patched("/usr/bin/env", &app.join("lost"), b"libc.so.6\0", b"libq.so.9\0");
    let lost = app.join("lost").display().to_string();
    assert_eq!(refused(app.join("lost")), format!("`{lost}` needs the library `libq.so.9`, which is not found"));

    let elf = fs::read("/usr/bin/env").unwrap();
    let mut foreign = elf.clone();
    foreign[18..20].copy_from_slice(&[22, 0]);
    write(&app.join("foreign"), 0o755, foreign);
    let message = refused(app.join("foreign"));
    assert!(message.contains(&format!("is made for s390x, this host is {}", std::env::consts::ARCH)), "{message}");

    patched("/usr/bin/env", &app.join("hostile"), b"/lib64/ld-linux-", b"/lib64/rm-linux-");
    let message = refused(app.join("hostile"));
    assert!(message.contains("which is not the name of a loader"), "{message}");

    let packed = packed([&app]).unwrap();
    assert!(works(&packed, app.join("lost")) && works(&packed, app.join("foreign")));
}

/// Compiles `source` to `target` in `folder` with the C compiler that linking Rust needs anyway.
fn compile(folder: &Path, target: &str, source: &str, options: &[&str]) {
    write(&folder.join("source.c"), 0o644, source);
    let status = Command::new("cc").current_dir(folder).args(["-o", target, "source.c"]).args(options).status();
    assert!(status.expect("cc").success(), "{target}");
}

#[test]
fn libraries_beside_a_program_are_found_and_who_misses_one_is_told() {
    let (_keep, root) = folder();
    fs::create_dir(root.join("lib")).unwrap();
    compile(&root, "lib/libinner.so", "int inner(void) { return 1; }", &["-shared", "-fPIC"]);
    compile(&root, "lib/libouter.so", "int inner(void); int outer(void) { return inner(); }", &["-shared", "-fPIC", "-Llib", "-linner"]);
    let own_folder = ["-Llib", "-louter", "-Wl,-rpath-link,lib", "-Wl,--disable-new-dtags,-rpath,$ORIGIN/lib"];
    compile(&root, "program", "int outer(void); int main(void) { return outer(); }", &own_folder);
    symlink("program", root.join("alias")).unwrap();
    let whole = packed([root.join("alias")]).unwrap();
    for path in ["alias", "program", "lib/libouter.so", "lib/libinner.so"] {
        assert!(works(&whole, root.join(path)), "{path}");
    }
    fs::remove_file(root.join("lib/libinner.so")).unwrap();
    let outer = root.join("lib/libouter.so");
    assert_eq!(refused(root.join("alias")), format!("`{}` needs the library `libinner.so`, which is not found", outer.display()));
}

#[test]
fn a_program_without_loader_and_libraries_comes_alone() {
    let (_keep, root) = folder();
    compile(&root, "alone", "void _start(void) { for (;;) {} }", &["-static", "-nostdlib"]);
    let alone = packed([root.join("alone")]).unwrap();
    let files: Vec<&Path> =
        alone.entries().iter().filter(|entry| entry.kind == EntryKind::File).map(|entry| entry.path.as_path()).collect();
    let program = root.join("alone");
    for path in &files {
        assert!(*path == program || path.starts_with("/etc"), "{}", path.display());
    }
    assert_eq!(files.len(), 4, "the program, users, groups and name services: {files:?}");
}

/// Set in the second life of the test below, with the folder to pack.
const SECOND_LIFE: &str = "SHAKEDOWN_TEST_PACK_CACHED";

#[test]
fn a_library_known_only_to_the_loaders_cache_is_found_inside_too() {
    if let Some(root) = std::env::var_os(SECOND_LIFE) {
        let root = Path::new(&root);
        let cached = packed([root.join("program")]).unwrap();
        let link = EntryKind::Symlink { target: root.join("odd/libodd.so") };
        let leading = cached.entries().iter().filter(|entry| entry.kind == link && entry.path.ends_with("libodd.so"));
        assert_eq!(leading.count(), 1, "one link beside the C library");
        assert!(works(&cached, root.join("odd/libodd.so")));
        assert!(!works(&cached, "/etc/ld.so.cache"));
        return;
    }
    // A mount namespace of our own, so that the cache of the host stays as it is.
    let unshare = |arguments: &[&str]| Command::new("unshare").arg("-rm").args(arguments).env_remove(SECOND_LIFE).output();
    if !unshare(&["true"]).is_ok_and(|output| output.status.success()) {
        crate::skipped::skip("no namespaces of our own here");
        return;
    }
    let (_keep, root) = folder();
    fs::create_dir(root.join("odd")).unwrap();
    compile(&root, "odd/libodd.so", "int odd(void) { return 1; }", &["-shared", "-fPIC", "-Wl,-soname,libodd.so"]);
    compile(&root, "program", "int odd(void); int main(void) { return odd(); }", &["-Lodd", "-lodd"]);
    write(&root.join("conf"), 0o644, format!("include /etc/ld.so.conf\n{}/odd\n", root.display()));
    let script = r#"cd "$1" && PATH=$PATH:/sbin:/usr/sbin && ldconfig -X -C "$1/cache" -f "$1/conf" &&
        mount --bind "$1/cache" /etc/ld.so.cache && SHAKEDOWN_TEST_PACK_CACHED=$1 exec "$0" --exact "$2""#;
    let this = std::env::current_exe().unwrap();
    let name = "pack::programs::a_library_known_only_to_the_loaders_cache_is_found_inside_too";
    let output = unshare(&["sh", "-c", script, this.to_str().unwrap(), root.to_str().unwrap(), name]).unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("1 passed"), "{text}{}", String::from_utf8_lossy(&output.stderr));
}
