//! `invigil run` without a terminal: reports, exit statuses and cleanup.

use crate::common::{Folder, shell};
use crate::program::{TANK, folder};
use std::io::Read;
use std::process::Stdio;
use std::time::{Duration, Instant};
use std::{fs, thread};

#[test]
fn violation_is_reported_and_program_terminated() {
    let ran = folder().run("run -p tank.prop -- ./tank 4 5 -1 3 2").exits(1);
    let ran = ran.stderr_has(&[
        "violation 1: tank\n",
        ": fill(amount=3)\n",
        "state  init → spilt",
        "#0 fill (amount=3) at program.c:",
        "#1 main (argc=6",
        "       i = 4\n  … 3 frames below `main`\n",
        "tank      violated",
        "Stopped at the violation. The program was terminated.",
    ]);
    assert_eq!(ran.stdout, "begin\n", "the program was ended there");
}

#[test]
fn satisfied_property_exits_0_with_program_output() {
    let ran = folder().run("run -p tank.prop -- ./tank 4 3").exits(0);
    let ran = ran.stdout_has(&["begin\nlevel 7\n"]);
    ran.stderr_has(&["tank      holds", "The program exited with status 7 after 2 events."]);
    let ran = folder().run("run -q -p tank.prop -- ./tank 4").exits(0);
    assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("begin\nlevel 4\n", ""));
    folder().run("run --batch -- ./tank").exits(0).stderr_has(&["exited with status 0 after 0 events"]);
}

#[test]
fn on_violation_continue_runs_to_the_end() {
    let ran = folder().run("run --on-violation continue --prints -p tank.prop -- ./tank 4 9").exits(1);
    let ran = ran.stdout_has(&["level 13\n"]);
    ran.stderr_has(&["tank: total 4", "violation 1: tank", "exited with status 13"]);
}

#[test]
fn json_report_moves_program_output_to_stderr() {
    let ran = folder().run("run --json -p tank.prop -- ./tank 4 9").exits(1);
    let json: serde_json::Value = serde_json::from_str(&ran.stdout).expect("a document");
    assert_eq!(json["verdict"], "violated");
    assert_eq!(json["findings"][0]["stack"][0]["function"], "fill");
    assert_eq!(json["findings"][0]["stack"][0]["arguments"]["amount"], "9");
    assert_eq!(json["findings"][0]["event"]["params"]["amount"], 9);
    assert!(ran.stderr.contains("begin"), "{}", ran.stderr);
    let folder = folder();
    let ran = folder.run("run --json --stdout out.txt -p tank.prop -- ./tank 4").exits(0);
    assert_eq!((folder.read("out.txt").as_str(), ran.stderr.as_str()), ("begin\nlevel 4\n", ""));
    let json: serde_json::Value = serde_json::from_str(&ran.stdout).expect("a document");
    assert_eq!((&json["program"]["end"], &json["program"]["status"]), (&"exited".into(), &4.into()));
}

#[test]
fn fatal_signal_is_reported_with_stack() {
    let ran = folder().run("run -p tank.prop -- ./tank 4 crash").exits(0);
    ran.stderr_has(&["SIGSEGV in thread", "main (argc=3", "The program was killed by SIGSEGV"]);
}

#[test]
fn unknown_function_is_an_error() {
    let folder = folder().file("typo.prop", TANK.replace("event fill(", "event fil("));
    let ran = folder.run("run -p typo.prop -- ./tank 4").exits(2);
    let ran = ran.stderr_has(&["no function `fil`", "typo.prop:4:15", "^^^", "did you mean `fill`"]);
    assert_eq!(ran.stdout, "", "the program did not run");
}

#[test]
fn unrunnable_programs_exit_3() {
    folder().run("run -p tank.prop -- ./missing").exits(3).stderr_has(&["missing", "no such file"]);
    folder().run("run -- ./tank.prop").exits(3);
    folder().run("run --batch -- no-such-program-anywhere").exits(3);
    folder().run("attach --batch 999999999").exits(3);
}

#[test]
fn invalid_arguments_exit_2() {
    let folder = folder().file("bad.prop", "stat init").file("bad.scn", "on entring state init { }");
    folder.run("run").exits(2).stderr_has(&["PROGRAM"]);
    folder.run("attach").exits(2).stderr_has(&["PID"]);
    folder.run("attach zero").exits(2);
    folder.run("run -p bad.prop -- ./tank").exits(2).stderr_has(&["bad.prop:1:1"]);
    folder.run("run -p none.prop -- ./tank").exits(2).stderr_has(&["none.prop: no such file"]);
    folder.run("run -p tank.prop -s bad.scn -- ./tank").exits(2).stderr_has(&["bad.scn:1:"]);
    folder.run("run -p tank.prop -s none.scn -- ./tank").exits(2).stderr_has(&["none.scn"]);
    folder.run("run --env X -- ./tank").exits(2).stderr_has(&["NAME=VALUE"]);
    folder.run("run --dir none -- ./tank").exits(2).stderr_has(&["none: no such directory"]);
    folder.run("run --stdin none -- ./tank").exits(2).stderr_has(&["none: cannot open"]);
    folder.run("run --record run.xyz -- ./tank").exits(2).stderr_has(&["run.xyz: unknown trace format"]);
    folder.run("run --max-checkpoint-memory lots -- ./tank").exits(2).stderr_has(&["K, M or G"]);
    folder.run("run --on-violation dance -- ./tank").exits(2).stderr_has(&["stop", "continue"]);
    folder.run("run -p - -- ./tank").exits(2).stderr_has(&["standard input belongs to the program"]);
    folder.run("run -q --json -- ./tank").exits(2);
}

#[test]
fn environment_streams_and_directory_are_passed_on() {
    let folder = folder().file("in.txt", "hello\n");
    let ran = folder.run("run -q --env COLOUR=green --stdin in.txt -- ./tank env cat").exits(0);
    ran.stdout_has(&["green\n", "hello\n"]);
    folder.feed("run -q -- ./tank cat", b"from a pipe\n").exits(0).stdout_has(&["from a pipe\n"]);
    fs::create_dir(folder.path("sub")).unwrap();
    folder.run("run -q --dir sub -- ./tank 1").exits(0).stdout_has(&["level 1\n"]);
}

#[test]
fn scenarios_print_and_stop() {
    let scenario = "\
initialization { print(\"ready\") }
on entering non-accepting state { print(\"spilt by \" + debugger(\"print amount\")); stop_execution() }
";
    let folder = folder().file("tell.scn", scenario);
    let ran = folder.run("run -p tank.prop -s tell.scn -- ./tank 4 9").exits(1);
    ran.stderr_has(&["ready\n", "spilt by amount = 9\n", "The scenario terminated the program."]);
    let folder = folder.file("fail.scn", "on entering state spilt { x = 1 / 0 }");
    let ran = folder.run("run -p tank.prop -s fail.scn -- ./tank 4 9").exits(1);
    ran.stderr_has(&["a block of the scenario failed", "fail.scn:1:"]);
}

#[test]
fn commands_file_is_run_until_first_error() {
    let folder = folder().file("look", "break drain\ncontinue\nprint amount\nwhere\n# done\n");
    let ran = folder.run("run -p tank.prop --commands look -- ./tank 4 -3 9").exits(0);
    ran.stderr_has(&[
        "Breakpoint 1: drain",
        "Breakpoint 1, drain",
        "amount = 3\n",
        "> #0 drain (amount=3)",
        "The commands ended before the program. The program was terminated.",
    ]);
    let folder = folder.file("wrong", "break drain\nprnt amount\n");
    let ran = folder.run("run --batch --commands wrong -- ./tank 4").exits(2);
    ran.stderr_has(&["wrong:2: `prnt amount`: unknown command `prnt`: did you mean `print`?"]);
    folder.feed("run --batch --commands - -- ./tank 4 cat", b"continue\n").exits(0).stdout_has(&["level 4"]);
}

#[test]
fn break_leave_stops_at_function_exit() {
    let folder = folder().file("look", "break -leave drain\ncontinue\nprint level\n");
    let ran = folder.run("run --batch --commands look -- ./tank 4 -3 9").exits(0);
    ran.stderr_has(&["Breakpoint 1: return of drain", "Breakpoint 1, return of drain", "level = 1\n"]);
}

#[test]
fn program_name_is_argv0() {
    folder().run("run -q -- ./tank name").exits(0).stdout_has(&["called ./tank\n"]);
}

#[test]
fn back_restores_earlier_event() {
    let folder = folder().file("go", "continue\nback 2\nslices\nprint amount\n");
    let ran = folder.run("run -p tank.prop --checkpoint-every 1 --commands go -- ./tank 4 5 9").exits(1);
    ran.stderr_has(&["Violation of tank", "Back at event 2", "total = 9", "amount = 5\n"]);
}

#[test]
fn recorded_trace_can_be_checked() {
    let folder = folder();
    for name in ["run.jsonl", "run.csv", "run.trace"] {
        folder.run(&format!("run -q --record {name} -p tank.prop -- ./tank 4 -1 9")).exits(1);
        folder.run(&format!("check -p tank.prop {name}")).exits(1).stdout_has(&["violation 1: tank"]);
    }
}

#[test]
fn interrupt_leaves_no_process_behind() {
    let folder = folder();
    let mut command = shell("exec invigil run --batch -p tank.prop -- ./tank 4 spin");
    command.current_dir(folder.path(".")).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the command can be run");
    // The program prints `begin` when it has started.
    let mut begun = [0; 6];
    child.stdout.as_mut().expect("a pipe").read_exact(&mut begun).expect("it begins");
    thread::sleep(Duration::from_millis(300));
    let children = children(child.id());
    assert!(!children.is_empty());
    let kill = |signal: &str, id: u32| {
        std::process::Command::new("kill").args([signal, &id.to_string()]).status().expect("kill is there");
    };
    kill("-INT", child.id());
    let done = child.wait_with_output().expect("it ends");
    let words = String::from_utf8_lossy(&done.stderr).into_owned();
    assert_eq!(done.status.code(), Some(130), "{words}");
    assert!(words.contains("Interrupted.") && words.contains("holds so far"), "{words}");
    let until = Instant::now() + Duration::from_secs(5);
    let is_there = |id: &u32| fs::metadata(format!("/proc/{id}/exe")).is_ok();
    while children.iter().any(is_there) {
        assert!(Instant::now() < until, "a process is left behind");
        thread::sleep(Duration::from_millis(20));
    }
}

/// The child processes of a process.
fn children(parent: u32) -> Vec<u32> {
    let tasks = fs::read_dir(format!("/proc/{parent}/task")).expect("the process is there").flatten();
    let lists = tasks.filter_map(|task| fs::read_to_string(task.path().join("children")).ok());
    lists
        .flat_map(|list| list.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
        .filter_map(|id| id.parse().ok())
        .collect()
}

#[test]
fn help_has_examples_and_hides_model_options() {
    let ran = Folder::new().run("run --help").exits(0);
    assert!(!ran.stdout.contains("--scheduler"), "{}", ran.stdout);
    ran.stdout_has(&[
        "Examples:",
        "invigil run -p queue.prop -- ./faulty",
        "Exit status",
        "--checkpoint-every",
    ]);
    let models = Folder::new().run("run --help-models").exits(0);
    assert!(!models.stdout.contains("--checkpoint-every"), "{}", models.stdout);
    models.stdout_has(&["--scheduler", "--seed", "--steps", "--property", "invigil run crossing.model"]);
    Folder::new().run("attach --help").exits(0).stdout_has(&["invigil attach -p queue.prop 4321"]);
}
