//! Opening files: valid, unsuitable and corrupted ones, and separate debug information.

use crate::common::program;
use invigil_debuginfo::error::ImageError;
use invigil_debuginfo::image::Image;
use invigil_debuginfo::machine::{Inaccessible, Memory, RBP, RIP, RSP, Registers};
use invigil_debuginfo::program::Program;
use invigil_test_support::cases;
use invigil_test_support::{Folder, Rng, tools};
use proptest::prelude::*;
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::Path;
use std::sync::OnceLock;

const C: &str = "#include <stdio.h>\n#define SIZE 3\nstatic inline int twice(int x) { return x / 3 * x; }\n\
                 int work(int x) { return twice(x) + SIZE; }\nint main(int c, char **v) { puts(v[0]); return work(c); }\n";

fn words(path: &Path) -> String {
    Image::open(path).unwrap_err().to_string()
}

#[test]
fn unsuitable_files_are_rejected_with_reason() {
    let folder = Folder::new();
    assert!(matches!(Image::open(&folder.join("absent")), Err(ImageError::NotFound)));
    assert!(matches!(Image::open(folder.path()), Err(ImageError::Directory)));
    assert!(matches!(Image::open(Path::new("/dev/null")), Err(ImageError::NotRegularFile)));
    assert!(matches!(Image::open(&folder.write("empty", "")), Err(ImageError::Malformed(_))));
    assert!(matches!(Image::open(&folder.write("text", "hello")), Err(ImageError::NotElf)));
    assert!(
        words(&folder.write("script", "#!/usr/bin/env python3\nprint()\n"))
            .contains("`/usr/bin/env python3`")
    );
    let secret = folder.write("secret", "x");
    std::fs::set_permissions(&secret, std::fs::Permissions::from_mode(0o000)).unwrap();
    // The superuser can read it nevertheless.
    if std::fs::read(&secret).is_err() {
        assert!(matches!(Image::open(&secret), Err(ImageError::PermissionDenied)));
    }
    folder.write("part.c", C);
    folder.run("cc", ["-c", "part.c", "-o", "part.o"]);
    assert!(words(&folder.join("part.o")).contains("not linked"));
}

#[test]
fn programs_for_other_machines_are_rejected() {
    let folder = Folder::new();
    let good = std::fs::read(folder.c(C, &[])).unwrap();
    let changed = |changes: &[(usize, u8)]| {
        let mut bytes = good.clone();
        for (at, value) in changes {
            bytes[*at] = *value;
        }
        Image::from_bytes(Path::new("program"), bytes)
    };
    assert!(changed(&[]).is_ok());
    let small = changed(&[(4, 1), (18, 3)]).unwrap_err();
    assert_eq!(small.to_string(), "is a 32-bit program; only 64-bit programs are supported");
    assert!(changed(&[(18, 183)]).unwrap_err().to_string().contains("AArch64"));
    assert!(changed(&[(5, 2), (18, 0), (19, 22)]).unwrap_err().to_string().contains("S/390"));
    assert!(matches!(changed(&[(4, 9)]), Err(ImageError::Malformed(_))));
    assert!(matches!(changed(&[(16, 4)]), Err(ImageError::NotProgram(_))));
}

#[test]
fn image_exposes_headers() {
    let folder = Folder::new();
    let path = folder.c(C, &["-g", "-Wl,--build-id=sha1"]);
    let (_, image) = program(&path, 0);
    assert_eq!(image.build_id().unwrap().len(), 20);
    assert!(image.is_code(image.entry()));
    assert!(image.interpreter().unwrap().to_str().unwrap().contains("ld"));
    assert_eq!(image.path(), path);
    assert!(image.debug_file().is_none());
}

#[test]
fn vdso_opens_from_bytes() {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let Some(line) = maps.lines().find(|line| line.ends_with("[vdso]")) else {
        eprintln!("skipped: the kernel maps no image here");
        return;
    };
    let (begin, end) = line.split(' ').next().unwrap().split_once('-').unwrap();
    let [begin, end] = [begin, end].map(|text| u64::from_str_radix(text, 16).unwrap());
    let mut bytes = vec![0; (end - begin) as usize];
    std::fs::File::open("/proc/self/mem").unwrap().read_exact_at(&mut bytes, begin).unwrap();
    let mut program = Program::new();
    program.add(Image::from_bytes(Path::new("[vdso]"), bytes).unwrap(), begin);
    let found = program.functions("__vdso_clock_gettime");
    assert_eq!(found.len(), 1, "{found:?}");
    assert!((begin..end).contains(&found[0].entry.unwrap()));
    // At its first instruction the return address is on top of the stack.
    let mut registers = Registers::default();
    registers.set(RIP, found[0].entry);
    registers.set(RSP, Some(0x7fff_0000));
    assert_eq!(program.cfa_at(&registers, &Filled(1)), Some(0x7fff_0008));
}

#[test]
fn separate_debug_files_are_used() {
    if !tools::is_installed("objcopy") {
        return;
    }
    let folder = Folder::new();
    let path = folder.c(C, &["-g3", "-O0", "-Wl,--build-id=sha1"]);
    let id = program(&path, 0).1.build_id().unwrap().to_owned();
    let line = |program: &Program| {
        program.line_of(program.functions("work")[0].entry.unwrap()).map(|line| line.line)
    };

    folder.run("objcopy", ["--only-keep-debug", "program", "program.debug"]);
    folder.run("objcopy", ["--strip-all", "--add-gnu-debuglink=program.debug", "program", "linked"]);
    let (linked, image) = program(&folder.join("linked"), 0x1000);
    assert_eq!(line(&linked), Some(4), "by its name, beside the program");
    assert!(image.debug_file().unwrap().ends_with("program.debug"));
    assert_eq!(linked.macro_definition("SIZE", None).unwrap().body, "3");
    assert_eq!(linked.symbol("work").unwrap().address, linked.functions("work")[0].entry.unwrap());

    let hex: Vec<String> = id.iter().map(|byte| format!("{byte:02x}")).collect();
    let location = format!("store/.build-id/{}/{}.debug", hex[0], hex[1..].concat());
    folder.write(&location, "");
    std::fs::rename(folder.join("program.debug"), folder.join(&location)).unwrap();
    folder.run("objcopy", ["--strip-all", "program", "stripped"]);
    let stripped = folder.join("stripped");
    let image = Image::open_with(&stripped, &[folder.join("store")]).unwrap();
    let mut by_id = Program::new();
    by_id.add(image, 0);
    assert_eq!(line(&by_id), Some(4), "by its build id");
    assert!(program(&stripped, 0).0.functions("work").is_empty(), "nothing is left without the directory");

    // A debug file of another build is not used, and the reason is recorded.
    folder.c("int other(void) { return 1; } int main(void) { return 0; }", &["-g", "-Wl,--build-id=sha1"]);
    folder.run("objcopy", ["--only-keep-debug", "program", "program.debug"]);
    let (wrong, image) = program(&folder.join("linked"), 0);
    assert!(wrong.functions("other").is_empty());
    assert!(image.debug_info_error().unwrap().contains("build id differs"));
}

/// Memory that contains one word throughout, so that frames point at frames.
struct Filled(u64);

impl Memory for Filled {
    fn read(&self, at: u64, into: &mut [u8]) -> Result<(), Inaccessible> {
        for (position, byte) in into.iter_mut().enumerate() {
            *byte = self.0.to_le_bytes()[(at as usize).wrapping_add(position) % 8];
        }
        Ok(())
    }
}

/// Runs all queries on a file. Only panics and endless loops are failures.
fn query_everything(bytes: Vec<u8>) {
    let Ok(image) = Image::from_bytes(Path::new("damaged"), bytes) else { return };
    let mut program = Program::new();
    program.add(image.clone(), 0x1000);
    let _ = image.debug_info_error();
    for name in ["work", "twice", "main", "puts", "part.c:work", "", "::", "<", "f(", "a:b", ".", "operator"]
    {
        for function in program.functions(name) {
            let _ = program.statements(&function);
        }
    }
    let _ = program.similar("wrok", 3);
    let _ = program.names_with_prefix("w", 3);
    let _ = program.addresses_of("program.c", 4);
    let _ = program.macro_definition("SIZE", None);
    let _ = program.symbol("main");
    let start = image.entry().wrapping_add(0x1000);
    for address in [start, start.wrapping_add(0x100), start.wrapping_add(0x180), 0, u64::MAX] {
        let _ = program.line_of(address);
        let _ = program.function_at(address);
        let _ = program.inline_chain(address);
        let _ = program.symbol_at(address);
        let mut registers = Registers::default();
        registers.set(RIP, Some(address));
        registers.set(RSP, Some(0x7fff_0000));
        registers.set(RBP, Some(0x7fff_0100));
        assert!(program.unwind(&registers, &Filled(start), 50).len() <= 50);
    }
}

#[test]
fn image_is_shared_between_threads() {
    fn is_shared<T: Send + Sync>() {}
    is_shared::<Image>();
    is_shared::<Program>();
}

#[test]
fn unreadable_debug_information_is_reported() {
    let bytes = good_file();
    let image = Image::from_bytes(Path::new("whole"), bytes.to_vec()).unwrap();
    assert!(image.dwarf().is_some() && image.debug_info_error().is_none());
    // Move the section of the debug information beyond the end of the file.
    let mut damaged = bytes.to_vec();
    let table = u64::from_le_bytes(bytes[40..48].try_into().unwrap()) as usize;
    let (size, count) = (64, usize::from(u16::from_le_bytes([bytes[60], bytes[61]])));
    let names = usize::from(u16::from_le_bytes([bytes[62], bytes[63]]));
    let field = |header: usize, at: usize, length: usize| {
        let at = table + header * size + at;
        bytes[at..at + length].iter().rev().fold(0_usize, |all, byte| all << 8 | usize::from(*byte))
    };
    let section = (0..count)
        .find(|header| bytes[field(names, 24, 8) + field(*header, 0, 4)..].starts_with(b".debug_info\0"))
        .unwrap();
    damaged[table + section * size + 24 + 6] = 0x7f;
    let image = Image::from_bytes(Path::new("damaged"), damaged).unwrap();
    assert!(image.dwarf().is_none());
    assert!(image.debug_info_error().unwrap().contains(".debug_info"), "{:?}", image.debug_info_error());
}

fn good_file() -> &'static [u8] {
    static FILE: OnceLock<Vec<u8>> = OnceLock::new();
    FILE.get_or_init(|| std::fs::read(Folder::new().c(C, &["-g3", "-O2"])).unwrap())
}

#[test]
fn truncated_files_never_panic() {
    let bytes = good_file();
    for part in 0..60 {
        query_everything(bytes[..bytes.len() * part / 60].to_vec());
    }
    query_everything(bytes.to_vec());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(600)))]

    #[test]
    fn corrupted_files_never_panic(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..40)) {
        let mut bytes = good_file().to_vec();
        for (at, value) in changes {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        query_everything(bytes);
    }

    #[test]
    fn corrupted_headers_never_panic(changes in prop::collection::vec((0_usize..0x400, any::<u8>()), 1..6)) {
        let mut bytes = good_file().to_vec();
        for (at, value) in changes {
            bytes[at.max(20)] = value;
        }
        query_everything(bytes);
    }

    #[test]
    fn random_bytes_never_panic(mut bytes in prop::collection::vec(any::<u8>(), 0..2000)) {
        query_everything(bytes.clone());
        // Random bytes after a valid header.
        for (byte, good) in bytes.iter_mut().zip(&good_file()[..64]) {
            *byte = *good;
        }
        query_everything(bytes);
    }
}

/// Corrupts only the debug sections, which are most of what is parsed.
#[test]
fn corrupted_debug_sections_never_panic() {
    let bytes = good_file();
    let rng = Rng::new(0);
    let debug = bytes.len() / 4;
    for _ in 0..600 {
        let mut damaged = bytes.to_vec();
        for _ in 0..1 + rng.below(100) {
            let at = debug + rng.below(bytes.len() - debug - 4096);
            damaged[at] = rng.next_u64() as u8;
        }
        query_everything(damaged);
    }
}
