//! The command alone, without any file beside it.

use crate::common::{Folder, Ran};
use invigil_test_support::{Program, java};
use std::path::{Path, PathBuf};

const PUSHES: &str = "\
initialization { n = 0 }
state init accepting {
    transition { event push(item: int) { return n < 5 } success { n = n + 1 } init failure bad }
}
state bad non-accepting
";

/// A folder that contains nothing but the command and the property `push.prop`.
fn alone() -> Folder {
    let folder = Folder::new().file("push.prop", PUSHES);
    std::fs::copy(env!("CARGO_BIN_EXE_invigil"), folder.path("invigil")).expect("the command can be copied");
    folder
}

fn program() -> Program {
    let source = "#include <stdlib.h>
        volatile int sum;
        __attribute__((noinline)) void push(int item) { sum += item; sum *= 3; sum -= item; }
        int main(int count, char **words) { for (int i = 0; i < atoi(words[1]); i++) push(i); return 0; }";
    Program::c(source, &["-g", "-O1"])
}

fn info_probes(folder: &Folder, variables: &str, program: &Path) -> Ran {
    std::fs::write(folder.path("commands"), "continue\ninfo probes\n").expect("a file");
    let program = program.display();
    folder
        .shell(&format!("{variables} ./invigil run --batch --commands commands -p push.prop -- {program} 3"))
}

/// The private directories for agents that are left in a directory.
fn left_in(temporary: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(temporary).expect("a directory");
    entries.map(|entry| entry.expect("an entry").path()).filter(|path| path.is_dir()).collect()
}

#[test]
fn lone_command_places_probes_in_native_program() {
    let (folder, program) = (alone(), program());
    let ran =
        info_probes(&folder, "", &program.path).exits(0).stderr_has(&["push  push (program.c:3)  probe\n"]);
    assert!(!ran.stderr.contains("trap"), "{}", ran.stderr);
}

#[test]
fn unusable_probe_library_is_reported_once() {
    let (folder, program) = (alone().file("garbage.so", "no library"), program());
    let ran = info_probes(&folder, "INVIGIL_PROBE=garbage.so", &program.path).exits(0);
    assert_eq!(
        ran.stderr.matches("note: probes cannot be used in this program").count(),
        1,
        "{}",
        ran.stderr
    );
    let ran = info_probes(&folder, "INVIGIL_PROBE=missing.so", &program.path).exits(0);
    ran.stderr_has(&["note: probes cannot be used in this program", "INVIGIL_PROBE", "missing.so"]);
    // Who asks for traps needs no reason.
    let ran = info_probes(&folder, "INVIGIL_PROBES=trap INVIGIL_PROBE=missing.so", &program.path).exits(0);
    assert!(!ran.stderr.contains("note:"), "{}", ran.stderr);
}

#[test]
fn lone_command_watches_java_program_and_leaves_no_agent() {
    let folder = alone();
    let source = folder.path("Main.java");
    let text = "public class Main {
        static void push(int item) {}
        public static void main(String[] words) { for (int i = 0; i < 9; i++) push(i); }
    }";
    std::fs::write(&source, text).expect("a file");
    java::compile(&[source], &["-g"], &folder.path("."));
    std::fs::create_dir(folder.path("temporary")).expect("a directory");
    let property = PUSHES.replace("event push", "event Main.push");
    let folder = folder.file("push.prop", property);
    let ran =
        folder.shell("TMPDIR=$PWD/temporary ./invigil run --batch -p push.prop -- java -cp . Main").exits(1);
    ran.stderr_has(&["Main.push", "6 events"]);
    assert_eq!(left_in(&folder.path("temporary")), Vec::<PathBuf>::new());
}
