//! ELF: enough of the header to know what machine a file is for, which loader it names and which libraries it asks for;
//! and the loader's own `--list`, which says where it finds them without executing the program.

use super::error::PackError;
use std::fs::File;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const EXECUTABLE: u16 = 2;
const SHARED: u16 = 3;
const PT_LOAD: u32 = 1;
const PT_DYNAMIC: u32 = 2;
const PT_INTERP: u32 = 3;
const DT_NULL: u64 = 0;
const DT_NEEDED: u64 = 1;
const DT_STRTAB: u64 = 5;
const DT_RPATH: u64 = 15;
const DT_RUNPATH: u64 = 29;

/// Sections longer than this are not believed.
const SECTION_LIMIT: u64 = 1 << 20;

/// What an executable or shared object says of itself.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Elf {
    /// The architecture's ELF number.
    pub(super) machine: u16,
    /// The loader that it names; none for shared libraries and static programs.
    pub(super) interpreter: Option<PathBuf>,
    /// The libraries that it asks for by name.
    pub(super) needed: Vec<String>,
    /// Whether it brings folders of its own to search.
    pub(super) own_search: bool,
}

/// ELF numbers that this host's kernel runs, and their names.
const MACHINES: &[(u16, &str, &[&str])] = &[
    (3, "x86", &["x86", "x86_64"]),
    (62, "x86_64", &["x86_64"]),
    (40, "arm", &["arm"]),
    (183, "aarch64", &["aarch64"]),
    (243, "riscv64", &["riscv64"]),
    (21, "powerpc64", &["powerpc64"]),
    (22, "s390x", &["s390x"]),
    (258, "loongarch64", &["loongarch64"]),
];

impl Elf {
    /// Whether this host runs it.
    pub(super) fn is_native(&self) -> bool {
        MACHINES.iter().any(|(number, _, hosts)| *number == self.machine && hosts.contains(&std::env::consts::ARCH))
    }

    /// The architecture's name.
    pub(super) fn machine_name(&self) -> String {
        let known = MACHINES.iter().find(|(number, ..)| *number == self.machine);
        known.map_or_else(|| format!("ELF machine {}", self.machine), |(_, name, _)| (*name).to_owned())
    }

    /// Whether it runs without any other file.
    pub(super) fn is_static(&self) -> bool {
        self.interpreter.is_none() && self.needed.is_empty()
    }

    /// Reads `file`; none when it is no executable or shared object, or is cut off.
    pub(super) fn read(file: &File) -> Option<Self> {
        let image = Image::open(file)?;
        let mut elf = Self { machine: image.machine, ..Self::default() };
        let segments = image.segments()?;
        if let Some(interp) = segments.iter().find(|s| s.kind == PT_INTERP) {
            let mut path = image.bytes(interp.offset, interp.size)?;
            path.truncate(path.iter().position(|byte| *byte == 0).unwrap_or(path.len()));
            elf.interpreter = Some(PathBuf::from(std::ffi::OsString::from_vec(path)));
        }
        if let Some(dynamic) = segments.iter().find(|s| s.kind == PT_DYNAMIC) {
            let tags = image.tags(dynamic)?;
            elf.own_search = tags.iter().any(|(tag, _)| matches!(*tag, DT_RPATH | DT_RUNPATH));
            let table = tags.iter().find(|(tag, _)| *tag == DT_STRTAB).map(|(_, address)| *address);
            let load =
                |address: u64| segments.iter().find(|s| s.kind == PT_LOAD && address.checked_sub(s.address).is_some_and(|d| d < s.size));
            if let Some((table, load)) = table.and_then(|table| Some((table, load(table)?))) {
                let start = load.offset.checked_add(table - load.address)?;
                let names = tags.iter().filter(|(tag, _)| *tag == DT_NEEDED);
                elf.needed = names.map(|(_, at)| image.text(start.checked_add(*at)?)).collect::<Option<_>>()?;
            }
        }
        Some(elf)
    }
}

struct Segment {
    kind: u32,
    offset: u64,
    address: u64,
    size: u64,
}

/// An open ELF file with its byte order and word size.
struct Image<'a> {
    file: &'a File,
    wide: bool,
    little: bool,
    machine: u16,
    header: [u8; 64],
}

impl<'a> Image<'a> {
    fn open(file: &'a File) -> Option<Self> {
        let mut header = [0; 64];
        file.read_exact_at(&mut header[..52], 0).ok()?;
        let wide = header[4] == 2;
        if !header.starts_with(b"\x7fELF") || (wide && file.read_exact_at(&mut header, 0).is_err()) {
            return None;
        }
        let mut image = Self { file, wide, little: header[5] == 1, machine: 0, header };
        image.machine = image.number(&header, 18, 2)? as u16;
        let kind = image.number(&header, 16, 2)? as u16;
        matches!(kind, EXECUTABLE | SHARED).then_some(image)
    }

    fn number(&self, bytes: &[u8], at: usize, width: usize) -> Option<u64> {
        let bytes = bytes.get(at..at + width)?;
        let join = |value: u64, byte: &u8| value << 8 | u64::from(*byte);
        Some(if self.little { bytes.iter().rev().fold(0, join) } else { bytes.iter().fold(0, join) })
    }

    fn bytes(&self, offset: u64, size: u64) -> Option<Vec<u8>> {
        let mut bytes = vec![0; usize::try_from(size).ok().filter(|_| size <= SECTION_LIMIT)?];
        self.file.read_exact_at(&mut bytes, offset).ok()?;
        Some(bytes)
    }

    /// The zero-ended text at `offset`; library names are file names, so 256 bytes suffice.
    fn text(&self, offset: u64) -> Option<String> {
        let mut bytes = [0; 256];
        let read = self.file.read_at(&mut bytes, offset).ok()?;
        let end = bytes[..read].iter().position(|byte| *byte == 0)?;
        Some(String::from_utf8_lossy(&bytes[..end]).into_owned())
    }

    fn segments(&self) -> Option<Vec<Segment>> {
        let (table, size_at, word) = if self.wide { (32, 54, 8) } else { (28, 42, 4) };
        let start = self.number(&self.header, table, word)?;
        let size = self.number(&self.header, size_at, 2)?;
        let count = self.number(&self.header, size_at + 2, 2)?;
        let bytes = self.bytes(start, size.checked_mul(count)?)?;
        let [offset, address, length] = if self.wide { [8, 16, 32] } else { [4, 8, 16] };
        let segment = |row: &[u8]| {
            Some(Segment {
                kind: self.number(row, 0, 4)? as u32,
                offset: self.number(row, offset, word)?,
                address: self.number(row, address, word)?,
                size: self.number(row, length, word)?,
            })
        };
        bytes.chunks_exact(usize::try_from(size.max(1)).ok()?).map(segment).collect()
    }

    fn tags(&self, dynamic: &Segment) -> Option<Vec<(u64, u64)>> {
        let word = if self.wide { 8 } else { 4 };
        let bytes = self.bytes(dynamic.offset, dynamic.size)?;
        let tags = bytes.chunks_exact(2 * word).map(|row| Some((self.number(row, 0, word)?, self.number(row, word, word)?)));
        tags.take_while(|tag| !matches!(tag, Some((DT_NULL, _)))).collect()
    }
}

/// A library as the loader answers: its name, and where it is when it was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Library {
    /// The name that was asked for.
    pub(super) name: String,
    /// The file; none when the loader does not find it.
    pub(super) path: Option<PathBuf>,
}

/// How glibc begins to say which library it does not find.
const GLIBC_LOST: &str = "error while loading shared libraries: ";

/// Whether `path` is named like a loader: no other program is ever started for a file's sake.
pub(super) fn is_loader(path: &Path) -> bool {
    path.is_absolute() && path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with("ld") && name.contains(".so"))
}

/// Asks `loader` where it finds the libraries of `program`; `cached` tells whether it may look into the host's cache.
///
/// # Errors
/// When the loader cannot be started or refuses.
pub(super) fn list(loader: &Path, program: &Path, cached: bool) -> Result<Vec<Library>, PackError> {
    let search: &[&str] = if cached { &[] } else { &["--inhibit-cache"] };
    let (success, stdout, stderr) = start(loader, &[search, &["--list"]].concat(), program, &[])?;
    let libraries = parse(&stdout, &stderr);
    if success {
        return Ok(libraries);
    }
    if libraries.iter().all(|library| library.path.is_some()) {
        return Err(PackError::List { program: program.to_path_buf(), reason: stderr.trim().to_owned() });
    }
    // glibc ends `--list` at the first library that is lost. Its tracing goes on, which tells who asked for it. The program
    // cannot start by that: it has just failed to load.
    if !stderr.contains(GLIBC_LOST) {
        return Ok(libraries);
    }
    let (_, stdout, _) = start(loader, search, program, &[("LD_TRACE_LOADED_OBJECTS", "1")])?;
    let traced = parse(&stdout, "");
    Ok(if traced.is_empty() { libraries } else { traced })
}

/// Starts the loader: whether it succeeded, and what it wrote to both streams.
fn start(loader: &Path, options: &[&str], program: &Path, variables: &[(&str, &str)]) -> Result<(bool, String, String), PackError> {
    let mut command = Command::new(loader);
    // Inside an image there is no LD_LIBRARY_PATH and no LD_PRELOAD either.
    command.args(options).arg(program).env_clear().envs(variables.iter().copied()).stdin(Stdio::null());
    let output = command.output().map_err(|source| PackError::List { program: program.to_path_buf(), reason: source.to_string() })?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ok((output.status.success(), text(&output.stdout), text(&output.stderr)))
}

/// Reads what the loader prints: glibc's `name => path (address)` and `name => not found`, and musl's complaints.
fn parse(stdout: &str, stderr: &str) -> Vec<Library> {
    let found = stdout.lines().filter_map(|line| {
        let line = line.trim();
        let line = line.rsplit_once(" (0x").map_or(line, |(rest, _)| rest);
        match line.split_once(" => ") {
            Some((name, "not found")) => Some(Library { name: name.to_owned(), path: None }),
            Some((name, path)) if path.starts_with('/') => Some(Library { name: name.to_owned(), path: Some(path.into()) }),
            // The kernel's own library has a name without a path.
            None if line.starts_with('/') => Some(Library { name: line.to_owned(), path: Some(line.into()) }),
            _ => None,
        }
    });
    let lost = stderr.lines().filter_map(|line| {
        let musl = line.strip_prefix("Error loading shared library ").and_then(|rest| rest.split_once(": ")).map(|(name, _)| name);
        let glibc = line.split_once(GLIBC_LOST).map(|(_, rest)| rest);
        let glibc = glibc.and_then(|rest| rest.split_once(": cannot open shared object file")).map(|(name, _)| name);
        musl.or(glibc).map(|name| Library { name: name.to_owned(), path: None })
    });
    found.chain(lost).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn library(name: &str, path: Option<&str>) -> Library {
        Library { name: name.to_owned(), path: path.map(PathBuf::from) }
    }

    #[test]
    fn the_loaders_answer_is_read_line_by_line() {
        let stdout = "\tlinux-vdso.so.1 (0x00007ffc)\n\tlibz.so.1 => /lib/a b/libz.so.1 (0x00007f)\n\tlibx.so => not found\n\
                      \t/lib64/ld-linux-x86-64.so.2 (0x00007f)\n";
        let expected = [
            library("libz.so.1", Some("/lib/a b/libz.so.1")),
            library("libx.so", None),
            library("/lib64/ld-linux-x86-64.so.2", Some("/lib64/ld-linux-x86-64.so.2")),
        ];
        assert_eq!(parse(stdout, ""), expected);
    }

    #[test]
    fn complaints_of_both_c_libraries_name_the_lost_library() {
        let musl = "Error loading shared library libq.so.1: No such file or directory (needed by /bin/q)\n";
        let glibc = "/bin/q: error while loading shared libraries: libq.so.1: cannot open shared object file: No such file or directory\n";
        for stderr in [musl, glibc] {
            assert_eq!(parse("", stderr), [library("libq.so.1", None)]);
        }
    }

    /// A 32-bit big-endian program for machine 20 with an interpreter, by hand: header, one segment, the path.
    fn foreign() -> Vec<u8> {
        let mut bytes = b"\x7fELF\x01\x02\x01".to_vec();
        bytes.resize(16, 0);
        bytes.extend([0, 2, 0, 20]); // executable, PowerPC
        bytes.resize(28, 0);
        bytes.extend([0, 0, 0, 52]); // program headers start here
        bytes.resize(42, 0);
        bytes.extend([0, 32, 0, 1]); // 32 bytes each, one of them
        bytes.resize(52, 0);
        for word in [3_u32, 84, 0, 0, 9] {
            bytes.extend(word.to_be_bytes()); // interpreter at byte 84, 9 bytes long
        }
        bytes.resize(84, 0);
        bytes.extend(b"/lib/ld.1\0");
        bytes
    }

    fn read(bytes: &[u8]) -> Option<Elf> {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        Elf::read(&file)
    }

    #[test]
    fn a_header_of_other_word_size_and_byte_order_is_understood() {
        let elf = read(&foreign()).unwrap();
        assert_eq!((elf.machine, elf.interpreter.as_deref()), (20, Some(Path::new("/lib/ld.1"))));
        assert!(!elf.is_native());
        assert_eq!(elf.machine_name(), "ELF machine 20");
    }

    #[test]
    fn no_cut_or_damaged_file_is_taken_for_a_program_and_none_is_a_panic() {
        let whole = foreign();
        for length in 0..84 {
            assert_eq!(read(&whole[..length]), None, "{length} bytes");
        }
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] = 0xff;
            let _ = read(&damaged);
        }
        let mut object = whole;
        object[17] = 1;
        assert_eq!(read(&object), None, "an object file runs nowhere");
    }

    #[test]
    fn this_very_program_is_native() {
        let elf = Elf::read(&File::open("/proc/self/exe").unwrap()).unwrap();
        assert!(elf.is_native());
        assert_eq!(elf.is_static(), elf.needed.is_empty());
    }

    #[test]
    fn only_loaders_are_ever_started() {
        for (path, expected) in [
            ("/lib64/ld-linux-x86-64.so.2", true),
            ("/lib/ld-musl-aarch64.so.1", true),
            ("/usr/bin/rm", false),
            ("/usr/bin/ld", false),
            ("ld-linux.so.2", false),
        ] {
            assert_eq!(is_loader(Path::new(path)), expected, "{path}");
        }
    }
}
