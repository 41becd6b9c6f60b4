//! Code from several files, loaded at the start or later.

use crate::live::common::{Built, c, instrument_events, run};
use invigil_monitor::event::EventKind::{After, Before};
use invigil_target::prelude::*;
use invigil_target::{StopReason, Termination};
use std::process::Command;

const DONE: StopReason = StopReason::Ended(Termination::Exited(0));

/// Compiles a library into the program's directory.
fn library(beside: &Built, name: &str, source: &str, flags: &[&str]) {
    let file = beside.dir().join(format!("{name}.c"));
    std::fs::write(&file, source).unwrap();
    let mut command = Command::new("cc");
    command.arg(&file).args(["-shared", "-fPIC", "-o"]).arg(beside.dir().join(format!("lib{name}.so")));
    assert!(command.args(flags).status().unwrap().success());
}

fn run_tool(name: &str, beside: &Built, args: &[&str]) {
    assert!(Command::new(name).current_dir(beside.dir()).args(args).status().unwrap().success());
}

#[test]
fn linked_library_functions_are_found() {
    let program = c("int main(void) { return 0; }", &[]);
    let source = "
        int started;
        __attribute__((constructor)) void begin(void) { started = 5; }
        __attribute__((destructor)) void wind_up(void) { started = 0; }
        int work(int x) { return x + started; }";
    library(&program, "work", source, &["-g"]);
    let main = "int work(int); int main(void) { return work(4) - 9; }";
    std::fs::write(program.dir().join("program.c"), main).unwrap();
    run_tool("cc", &program, &["-g", "program.c", "-o", "program", "-L.", "-lwork", "-Wl,-rpath,$ORIGIN"]);
    let mut target = program.start();
    let (catalog, _) = instrument_events(
        &mut target,
        &[
            ("begin", Before, &["started"]),
            ("begin", After, &["started"]),
            ("work", Before, &["x"]),
            ("work", After, &["x", "ret"]),
            ("wind_up", Before, &[]),
        ],
    );
    let (events, stop) = run(&mut target, &catalog);
    assert_eq!(stop, DONE);
    assert_eq!(events, ["begin(0)", "after begin(5)", "work(4)", "after work(4, 9)", "wind_up()"]);
}

const LOADS: &str = r#"
    #include <dlfcn.h>
    #include <stdio.h>
    int main(int argc, char **argv) {
        int bad = 0;
        for (int i = 1; i < argc; i++) {
            void *library = dlopen(argv[i], RTLD_NOW);
            if (!library) { puts(dlerror()); return 1; }
            int (*work)(int) = (int (*)(int))dlsym(library, "work");
            for (int x = 0; x < 2; x++) if (work(x) <= x) bad = 1;
            dlclose(library);
        }
        return bad;
    }"#;

#[test]
fn reloaded_library_functions_are_found_again() {
    let program = c(LOADS, &["-g"]);
    // The second library is probably mapped where the first was, and has its function elsewhere.
    let first = "int ready; __attribute__((constructor)) void begin(void) { ready = 1; } int work(int x) { return x + ready; }";
    let second = "int pad(int x) { return x * 3; } int ready2; int other(int x) { return pad(x) + 2; } int work(int x) { return other(x) + 10; }";
    library(&program, "first", first, &["-g"]);
    library(&program, "second", second, &["-g", "-O0"]);
    let (one, two) = (program.dir().join("libfirst.so"), program.dir().join("libsecond.so"));
    let launch = program.launch().args([&one, &two, &one, &two]);
    let mut target = invigil_native::NativeTarget::launch(&launch).unwrap();
    let events: &[(&str, _, &[&str])] = &[
        ("work", Before, &["x"]),
        ("work", After, &["x", "ret"]),
        ("begin", Before, &[]),
        ("other", Before, &["x"]),
    ];
    let (catalog, needs) = crate::live::common::catalog(events);
    let unknown = target.prepare(&catalog).unwrap();
    assert_eq!(unknown.len(), 4);
    assert!(unknown.iter().all(|unknown| !unknown.pending));
    target.allow_pending_events(true);
    let unknown = target.prepare(&catalog).unwrap();
    assert!(unknown.len() == 4 && unknown.iter().all(|unknown| unknown.pending), "{unknown:?}");
    target.instrument(&needs).unwrap();
    let (events, stop) = run(&mut target, &catalog);
    assert_eq!(stop, DONE);
    let first = ["begin()", "work(0)", "after work(0, 1)", "work(1)", "after work(1, 2)"];
    let second = ["work(0)", "other(0)", "after work(0, 12)", "work(1)", "other(1)", "after work(1, 15)"];
    let expected: Vec<&str> = [&first[..], &second, &first, &second].concat();
    assert_eq!(events, expected);
}

const STEPS: &str = "
    __attribute__((noinline)) int stride(int i, const char *s) { return i + s[0]; }
    int main(int argc, char **argv) { int sum = 0; for (int i = 0; i < 3; i++) sum += stride(i, \"ab\"); return sum == 0; }";

#[test]
fn symbols_are_used_without_debug_information() {
    let program = c(STEPS, &["-g", "-O1"]);
    run_tool("strip", &program, &["-g", "program"]);
    let mut target = program.start();
    let (catalog, _) = instrument_events(
        &mut target,
        &[("stride", Before, &["arg 1", "arg 2: str"]), ("stride", After, &["ret", "arg 1"])],
    );
    let (events, stop) = run(&mut target, &catalog);
    assert_eq!(stop, DONE);
    assert_eq!(&events[..2], ["stride(0, \"ab\")", "after stride(97, 0)"]);
    assert_eq!(events.len(), 6);
}

#[test]
fn exported_symbols_of_stripped_files_are_used() {
    let program = c(STEPS, &["-g", "-O1", "-rdynamic"]);
    run_tool("strip", &program, &["program"]);
    let mut target = program.start();
    let (catalog, _) = instrument_events(&mut target, &[("stride", Before, &["arg 1"])]);
    assert_eq!(run(&mut target, &catalog).0, ["stride(0)", "stride(1)", "stride(2)"]);

    let program = c(STEPS, &["-O1"]);
    run_tool("strip", &program, &["program"]);
    let mut target = program.start();
    let (catalog, _) = crate::live::common::catalog(&[("stride", Before, &["arg 1"])]);
    let unknown = target.prepare(&catalog).unwrap();
    assert!(unknown[0].reason.contains("no function `stride`"), "{unknown:?}");
}

#[test]
fn separate_debug_file_is_used() {
    let program = c(STEPS, &["-g", "-O0"]);
    run_tool("objcopy", &program, &["--only-keep-debug", "program", "program.debug"]);
    run_tool("strip", &program, &["program"]);
    run_tool("objcopy", &program, &["--add-gnu-debuglink=program.debug", "program"]);
    let mut target = program.start();
    let (catalog, _) = instrument_events(
        &mut target,
        &[("stride", Before, &["i", "s: str"]), ("stride", After, &["i", "ret"])],
    );
    let (events, stop) = run(&mut target, &catalog);
    assert_eq!(stop, DONE);
    assert_eq!(&events[..2], ["stride(0, \"ab\")", "after stride(0, 97)"]);
}

#[test]
fn c_library_functions_are_observed() {
    let source = "
        #include <stdio.h>
        #include <stdlib.h>
        int main(void) { for (int i = 1; i < 4; i++) { void *p = malloc(i * 100); free(p); } return 0; }";
    let program = c(source, &["-g", "-O0"]);
    let mut target = program.start();
    let (catalog, _) = instrument_events(
        &mut target,
        &[("malloc", Before, &["arg 1"]), ("malloc", After, &["arg 1", "ret: bool"]), ("free", Before, &[])],
    );
    let (events, stop) = run(&mut target, &catalog);
    assert_eq!(stop, DONE);
    for i in 1..4 {
        assert!(events.contains(&format!("malloc({})", 100 * i)), "{events:?}");
        assert!(events.contains(&format!("after malloc({}, true)", 100 * i)), "{events:?}");
    }
}
