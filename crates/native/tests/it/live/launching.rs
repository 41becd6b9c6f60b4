//! Launching programs as requested.

use crate::live::common::{c, instrument_events, run, with_output};
use invigil_monitor::event::EventKind::{After, Before};
use invigil_native::{Launch, NativeTarget, Stream};
use invigil_target::prelude::*;
use invigil_target::{StopReason, Termination};
use invigil_test_support::Folder;
use std::os::unix::fs::PermissionsExt;

const DONE: StopReason = StopReason::Ended(Termination::Exited(0));

const SIMPLE: &str = r#"
    #include <stdio.h>
    #include <stdlib.h>
    #include <unistd.h>
    __attribute__((noinline)) int step(int i) { return i * 2; }
    int main(int argc, char **argv) {
        int sum = 0;
        for (int i = 0; i < 5; i++) sum += step(i);
        char dir[4096];
        const char *value = getenv("INVIGIL_TEST");
        printf("%d %s %s %s %p\n", sum, argc > 1 ? argv[1] : "-", value ? value : "-", getcwd(dir, sizeof dir), (void *)main);
        return 0;
    }"#;

#[test]
fn static_dynamic_and_pie_programs_run() {
    for flags in [
        &["-g", "-pie", "-fPIE"][..],
        &["-g", "-no-pie"],
        &["-g", "-static"],
        &["-g", "-static-pie"],
        &["-g", "-O2", "-fcf-protection=full"],
        &["-g", "-gdwarf-4"],
        &["-g", "-Wl,-z,now"],
        &["-g", "-Wl,-z,noseparate-code"],
    ] {
        let program = c(SIMPLE, flags);
        for randomize in [false, true] {
            let (mut launch, output) = with_output(&program);
            launch.randomize = randomize;
            let mut target = NativeTarget::launch(&launch).unwrap();
            let (catalog, _) = instrument_events(
                &mut target,
                &[("step", Before, &["i"]), ("step", After, &["ret"]), ("main", Before, &["argc"])],
            );
            let (events, stop) = run(&mut target, &catalog);
            assert_eq!(stop, DONE);
            assert_eq!(events.len(), 11, "{flags:?} {randomize} {events:?}");
            assert_eq!((events[0].as_str(), events[10].as_str()), ("main(1)", "after step(8)"));
            assert!(std::fs::read_to_string(output).unwrap().starts_with("20 - - "));
        }
    }
}

#[test]
fn address_layout_is_fixed_by_default() {
    let program = c(SIMPLE, &["-pie", "-fPIE"]);
    let address = |randomize: bool| {
        let (mut launch, output) = with_output(&program);
        launch.randomize = randomize;
        let mut target = NativeTarget::launch(&launch).unwrap();
        let (catalog, _) = instrument_events(&mut target, &[]);
        assert_eq!(run(&mut target, &catalog).1, DONE);
        std::fs::read_to_string(output).unwrap().split_whitespace().last().unwrap().to_owned()
    };
    assert_eq!(address(false), address(false));
    let all: std::collections::BTreeSet<String> = (0..4).map(|_| address(true)).collect();
    assert!(all.len() > 1, "{all:?}");
}

#[test]
fn arguments_environment_directory_and_streams_are_passed() {
    let program = c(SIMPLE, &["-g"]);
    let elsewhere = Folder::new();
    let (mut launch, output) = with_output(&program);
    launch = launch.arg("a b").env("INVIGIL_TEST", Some("here".into())).dir(elsewhere.path());
    launch.stdin = Stream::Null;
    let mut target = NativeTarget::launch(&launch).unwrap();
    let (catalog, _) = instrument_events(&mut target, &[("step", Before, &[])]);
    assert_eq!(run(&mut target, &catalog).0.len(), 5);
    let expected = format!("20 a b here {} ", elsewhere.path().canonicalize().unwrap().display());
    let written = std::fs::read_to_string(output).unwrap();
    assert!(written.starts_with(&expected), "{written}");
}

#[test]
fn script_and_path_lookup_are_supported() {
    let program = c(SIMPLE, &["-g"]);
    let script = program.dir().join("script");
    std::fs::write(&script, format!("#!{}\n", program.path.display())).unwrap();
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut launch = Launch::new(&script);
    launch.stdout = Stream::Null;
    let mut target = NativeTarget::launch(&launch).unwrap();
    let (catalog, _) = instrument_events(&mut target, &[("step", Before, &["i"])]);
    assert_eq!(run(&mut target, &catalog).0.len(), 5);

    let mut launch = Launch::new("program").env("PATH", Some(program.dir().into()));
    launch.stdout = Stream::Null;
    let mut target = NativeTarget::launch(&launch).unwrap();
    let (catalog, _) = instrument_events(&mut target, &[("step", Before, &["i"])]);
    assert_eq!(run(&mut target, &catalog).0.len(), 5);
}

#[test]
fn program_that_closes_its_streams_runs() {
    let source = "
        #include <unistd.h>
        __attribute__((noinline)) void step(int i) { }
        int main(void) { close(0); close(1); close(2); for (int i = 0; i < 3; i++) step(i); return 0; }";
    let program = c(source, &["-g"]);
    let mut target = program.start();
    let (catalog, _) = instrument_events(&mut target, &[("step", Before, &["i"])]);
    assert_eq!(
        run(&mut target, &catalog),
        (vec!["step(0)".into(), "step(1)".into(), "step(2)".into()], DONE)
    );
    assert!(!target.is_alive());
}
