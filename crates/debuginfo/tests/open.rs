//! Opening files: good ones, wrong ones, damaged ones, and separate debug information.

mod common;

use common::{Workshop, has, program};
use invigil_debuginfo::image::Image;
use invigil_debuginfo::machine::{Inaccessible, Memory, RBP, RIP, RSP, Registers};
use invigil_debuginfo::problem::Problem;
use invigil_debuginfo::program::Program;
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
fn wrong_files_are_refused_with_a_reason() {
    let workshop = Workshop::new();
    assert!(matches!(Image::open(&workshop.path.join("absent")), Err(Problem::Missing)));
    assert!(matches!(Image::open(&workshop.path), Err(Problem::Directory)));
    assert!(matches!(Image::open(Path::new("/dev/null")), Err(Problem::Special)));
    assert!(matches!(Image::open(&workshop.write("empty", "")), Err(Problem::Damaged(_))));
    assert!(matches!(Image::open(&workshop.write("text", "hello")), Err(Problem::NotElf)));
    assert!(
        words(&workshop.write("script", "#!/usr/bin/env python3\nprint()\n"))
            .contains("`/usr/bin/env python3`")
    );
    let secret = workshop.write("secret", "x");
    std::fs::set_permissions(&secret, std::fs::Permissions::from_mode(0o000)).unwrap();
    // The superuser may read it all the same.
    if std::fs::read(&secret).is_err() {
        assert!(matches!(Image::open(&secret), Err(Problem::Denied)));
    }
    workshop.write("part.c", C);
    workshop.run("cc", &["-c", "part.c", "-o", "part.o"]);
    assert!(words(&workshop.path.join("part.o")).contains("not linked"));
}

#[test]
fn programs_for_other_machines_are_refused() {
    let workshop = Workshop::new();
    let good = std::fs::read(workshop.c(C, &[])).unwrap();
    let changed = |changes: &[(usize, u8)]| {
        let mut bytes = good.clone();
        for (at, value) in changes {
            bytes[*at] = *value;
        }
        Image::from_bytes(Path::new("subject"), bytes)
    };
    assert!(changed(&[]).is_ok());
    let small = changed(&[(4, 1), (18, 3)]).unwrap_err();
    assert_eq!(small.to_string(), "a 32-bit program: Invigil watches 64-bit ones");
    assert!(changed(&[(18, 183)]).unwrap_err().to_string().contains("AArch64"));
    assert!(changed(&[(5, 2), (18, 0), (19, 22)]).unwrap_err().to_string().contains("S/390"));
    assert!(matches!(changed(&[(4, 9)]), Err(Problem::Damaged(_))));
    assert!(matches!(changed(&[(16, 4)]), Err(Problem::NotProgram(_))));
}

#[test]
fn headers_are_told() {
    let workshop = Workshop::new();
    let path = workshop.c(C, &["-g", "-Wl,--build-id=sha1"]);
    let (_, image) = program(&path, 0);
    assert_eq!(image.build_id().unwrap().len(), 20);
    assert!(image.is_code(image.entry()));
    assert!(image.interpreter().unwrap().to_str().unwrap().contains("ld"));
    assert_eq!(image.path(), path);
    assert!(image.debug_file().is_none());
}

#[test]
fn the_image_that_the_kernel_maps_can_be_opened() {
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
fn separate_debug_files_are_found() {
    if !has("objcopy") {
        return;
    }
    let workshop = Workshop::new();
    let path = workshop.c(C, &["-g3", "-O0", "-Wl,--build-id=sha1"]);
    let id = program(&path, 0).1.build_id().unwrap().to_owned();
    let line = |program: &Program| {
        program.line_of(program.functions("work")[0].entry.unwrap()).map(|line| line.line)
    };

    workshop.run("objcopy", &["--only-keep-debug", "subject", "subject.debug"]);
    workshop.run("objcopy", &["--strip-all", "--add-gnu-debuglink=subject.debug", "subject", "linked"]);
    let (linked, image) = program(&workshop.path.join("linked"), 0x1000);
    assert_eq!(line(&linked), Some(4), "by its name, beside the program");
    assert!(image.debug_file().unwrap().ends_with("subject.debug"));
    assert_eq!(linked.macro_definition("SIZE", None).unwrap().body, "3");
    assert_eq!(linked.symbol("work").unwrap().address, linked.functions("work")[0].entry.unwrap());

    let hex: Vec<String> = id.iter().map(|byte| format!("{byte:02x}")).collect();
    let place = format!("store/.build-id/{}/{}.debug", hex[0], hex[1..].concat());
    workshop.write(&place, "");
    std::fs::rename(workshop.path.join("subject.debug"), workshop.path.join(&place)).unwrap();
    workshop.run("objcopy", &["--strip-all", "subject", "stripped"]);
    let stripped = workshop.path.join("stripped");
    let image = Image::open_with(&stripped, &[workshop.path.join("store")]).unwrap();
    let mut by_id = Program::new();
    by_id.add(image, 0);
    assert_eq!(line(&by_id), Some(4), "by its build id");
    assert!(program(&stripped, 0).0.functions("work").is_empty(), "nothing is left without the directory");

    // Of another build: not used, and the reason is kept.
    workshop.c("int other(void) { return 1; } int main(void) { return 0; }", &["-g", "-Wl,--build-id=sha1"]);
    workshop.run("objcopy", &["--only-keep-debug", "subject", "subject.debug"]);
    let (wrong, image) = program(&workshop.path.join("linked"), 0);
    assert!(wrong.functions("other").is_empty());
    assert!(image.debug_problem().unwrap().contains("another build"));
}

/// Memory that is full of one word, so that frames point at frames.
struct Filled(u64);

impl Memory for Filled {
    fn read(&self, at: u64, into: &mut [u8]) -> Result<(), Inaccessible> {
        for (position, byte) in into.iter_mut().enumerate() {
            *byte = self.0.to_le_bytes()[(at as usize).wrapping_add(position) % 8];
        }
        Ok(())
    }
}

/// Asks everything that can be asked of a file; only panics and endless loops count.
fn ask_everything(bytes: Vec<u8>) {
    let Ok(image) = Image::from_bytes(Path::new("damaged"), bytes) else { return };
    let mut program = Program::new();
    program.add(image.clone(), 0x1000);
    let _ = image.debug_problem();
    for name in ["work", "twice", "main", "puts", "part.c:work", "", "::", "<", "f(", "a:b", ".", "operator"]
    {
        for function in program.functions(name) {
            let _ = program.statements(&function);
        }
    }
    let _ = program.similar("wrok", 3);
    let _ = program.names_with_prefix("w", 3);
    let _ = program.addresses_of("subject.c", 4);
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
fn images_can_be_shared_between_threads() {
    fn is_shared<T: Send + Sync>() {}
    is_shared::<Image>();
    is_shared::<Program>();
}

#[test]
fn unreadable_debug_information_is_said() {
    let bytes = good_file();
    let image = Image::from_bytes(Path::new("whole"), bytes.to_vec()).unwrap();
    assert!(image.dwarf().is_some() && image.debug_problem().is_none());
    // The section of the debug information is said to lie beyond the end of the file.
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
    assert!(image.debug_problem().unwrap().contains(".debug_info"), "{:?}", image.debug_problem());
}

fn good_file() -> &'static [u8] {
    static FILE: OnceLock<Vec<u8>> = OnceLock::new();
    FILE.get_or_init(|| std::fs::read(Workshop::new().c(C, &["-g3", "-O2"])).unwrap())
}

#[test]
fn files_cut_short_are_no_disaster() {
    let bytes = good_file();
    for part in 0..60 {
        ask_everything(bytes[..bytes.len() * part / 60].to_vec());
    }
    ask_everything(bytes.to_vec());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn damaged_files_are_no_disaster(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..40)) {
        let mut bytes = good_file().to_vec();
        for (at, value) in changes {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        ask_everything(bytes);
    }

    #[test]
    fn damaged_headers_are_no_disaster(changes in prop::collection::vec((0_usize..0x400, any::<u8>()), 1..6)) {
        let mut bytes = good_file().to_vec();
        for (at, value) in changes {
            bytes[at.max(20)] = value;
        }
        ask_everything(bytes);
    }

    #[test]
    fn random_bytes_are_no_disaster(mut bytes in prop::collection::vec(any::<u8>(), 0..2000)) {
        ask_everything(bytes.clone());
        // Behind a good beginning.
        for (byte, good) in bytes.iter_mut().zip(&good_file()[..64]) {
            *byte = *good;
        }
        ask_everything(bytes);
    }
}

/// The debug sections are most of what a reader has to understand: damage just them.
#[test]
fn damaged_debug_sections_are_no_disaster() {
    let bytes = good_file();
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = move || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed
    };
    let debug = bytes.len() / 4;
    for _ in 0..600 {
        let mut damaged = bytes.to_vec();
        for _ in 0..1 + next() % 100 {
            let at = debug + next() as usize % (bytes.len() - debug - 4096);
            damaged[at] = next() as u8;
        }
        ask_everything(damaged);
    }
}
