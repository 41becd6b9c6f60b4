//! `invigil run` when nobody is there: reports, exit statuses, and nothing left behind.

use crate::common::{Folder, shell};
use crate::program::{TANK, folder};
use std::io::Read;
use std::process::Stdio;
use std::time::{Duration, Instant};
use std::{fs, thread};

#[test]
fn a_violation_is_reported_and_the_program_ended() {
    let ran = folder().run("run -p tank.prop -- ./tank 4 5 -1 3 2").exits(1);
    let ran = ran.complains(&[
        "violation 1: tank\n",
        ": fill(amount=3)\n",
        "state  init → spilt",
        "#0 fill (amount=3) at tank.c:",
        "#1 main (argc=6",
        "       i = 4\n  … 3 frames around `main`\n",
        "tank      violated",
        "It was stopped at the violation. It is ended now.",
    ]);
    assert_eq!(ran.stdout, "begin\n", "the program was ended there");
}

#[test]
fn what_holds_and_what_the_program_says_itself() {
    let ran = folder().run("run -p tank.prop -- ./tank 4 3").exits(0);
    let ran = ran.says(&["begin\nlevel 7\n"]);
    ran.complains(&["tank      holds", "The program exited with status 7, after 2 events."]);
    let ran = folder().run("run -q -p tank.prop -- ./tank 4").exits(0);
    assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("begin\nlevel 4\n", ""));
    folder().run("run --batch -- ./tank").exits(0).complains(&["exited with status 0, after 0 events"]);
}

#[test]
fn going_on_after_a_violation() {
    let ran = folder().run("run --on-violation continue --prints -p tank.prop -- ./tank 4 9").exits(1);
    let ran = ran.says(&["level 13\n"]);
    ran.complains(&["tank: total 4", "violation 1: tank", "exited with status 13"]);
}

#[test]
fn json_is_alone_on_standard_output() {
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
fn a_program_that_dies_of_a_signal() {
    let ran = folder().run("run -p tank.prop -- ./tank 4 crash").exits(0);
    ran.complains(&["SIGSEGV in thread", "main (argc=3", "The program died: it was killed by SIGSEGV"]);
}

#[test]
fn functions_that_the_program_does_not_have() {
    let folder = folder().file("typo.prop", TANK.replace("event fill(", "event fil("));
    let ran = folder.run("run -p typo.prop -- ./tank 4").exits(2);
    let ran = ran.complains(&["no function `fil`", "typo.prop:4:15", "^^^", "did you mean `fill`"]);
    assert_eq!(ran.stdout, "", "the program did not run");
}

#[test]
fn programs_that_cannot_be_run() {
    folder().run("run -p tank.prop -- ./missing").exits(3).complains(&["missing", "no such file"]);
    folder().run("run -- ./tank.prop").exits(3);
    folder().run("run --batch -- no-such-program-anywhere").exits(3);
    folder().run("attach --batch 999999999").exits(3);
}

#[test]
fn wrong_words() {
    let folder = folder().file("bad.prop", "stat init").file("bad.scn", "on entring state init { }");
    folder.run("run").exits(2).complains(&["PROGRAM"]);
    folder.run("attach").exits(2).complains(&["PID"]);
    folder.run("attach zero").exits(2);
    folder.run("run -p bad.prop -- ./tank").exits(2).complains(&["bad.prop:1:1"]);
    folder.run("run -p none.prop -- ./tank").exits(2).complains(&["none.prop: there is no such file"]);
    folder.run("run -p tank.prop -s bad.scn -- ./tank").exits(2).complains(&["bad.scn:1:"]);
    folder.run("run -p tank.prop -s none.scn -- ./tank").exits(2).complains(&["none.scn"]);
    folder.run("run --env X -- ./tank").exits(2).complains(&["NAME=VALUE"]);
    folder.run("run --dir none -- ./tank").exits(2).complains(&["none: there is no such directory"]);
    folder.run("run --stdin none -- ./tank").exits(2).complains(&["none: cannot open"]);
    folder.run("run --record run.xyz -- ./tank").exits(2).complains(&["run.xyz: the end of the name"]);
    folder.run("run --max-checkpoint-memory lots -- ./tank").exits(2).complains(&["K, M or G"]);
    folder.run("run --on-violation dance -- ./tank").exits(2).complains(&["stop", "continue"]);
    folder.run("run -p - -- ./tank").exits(2).complains(&["standard input is the program's"]);
    folder.run("run -q --json -- ./tank").exits(2);
}

#[test]
fn the_programs_surroundings() {
    let folder = folder().file("in.txt", "hello\n");
    let ran = folder.run("run -q --env COLOUR=green --stdin in.txt -- ./tank env cat").exits(0);
    ran.says(&["green\n", "hello\n"]);
    folder.feed("run -q -- ./tank cat", b"from a pipe\n").exits(0).says(&["from a pipe\n"]);
    fs::create_dir(folder.path("sub")).unwrap();
    folder.run("run -q --dir sub -- ./tank 1").exits(0).says(&["level 1\n"]);
}

#[test]
fn scenarios() {
    let scenario = "\
initialization { print(\"ready\") }
on entering non-accepting state { print(\"spilt by \" + debugger(\"print amount\")); stop_execution() }
";
    let folder = folder().file("tell.scn", scenario);
    let ran = folder.run("run -p tank.prop -s tell.scn -- ./tank 4 9").exits(1);
    ran.complains(&["ready\n", "spilt by amount = 9\n", "The scenario ended it."]);
    let folder = folder.file("fail.scn", "on entering state spilt { x = 1 / 0 }");
    let ran = folder.run("run -p tank.prop -s fail.scn -- ./tank 4 9").exits(1);
    ran.complains(&["a block of the scenario failed", "fail.scn:1:"]);
}

#[test]
fn commands_from_a_file() {
    let folder = folder().file("look", "break drain\ncontinue\nprint amount\nwhere\n# done\n");
    let ran = folder.run("run -p tank.prop --commands look -- ./tank 4 -3 9").exits(0);
    ran.complains(&[
        "Breakpoint 1: drain",
        "Breakpoint 1, drain",
        "amount = 3\n",
        "> #0 drain (amount=3)",
        "The commands came to their end first. It is ended now.",
    ]);
    let folder = folder.file("wrong", "break drain\nprnt amount\n");
    let ran = folder.run("run --batch --commands wrong -- ./tank 4").exits(2);
    ran.complains(&["wrong:2: `prnt amount`: there is no command `prnt`: did you mean `print`?"]);
    folder.feed("run --batch --commands - -- ./tank 4 cat", b"continue\n").exits(0).says(&["level 4"]);
}

#[test]
fn stopping_where_a_function_returns() {
    let folder = folder().file("look", "break -leave drain\ncontinue\nprint level\n");
    let ran = folder.run("run --batch --commands look -- ./tank 4 -3 9").exits(0);
    ran.complains(&["Breakpoint 1: the end of drain", "Breakpoint 1, the end of drain", "level = 1\n"]);
}

#[test]
fn the_program_is_called_as_it_was_named() {
    folder().run("run -q -- ./tank name").exits(0).says(&["called ./tank\n"]);
}

#[test]
fn going_back_in_a_program() {
    let folder = folder().file("go", "continue\nback 2\nslices\nprint amount\n");
    let ran = folder.run("run -p tank.prop --checkpoint-every 1 --commands go -- ./tank 4 5 9").exits(1);
    ran.complains(&["Violation of tank", "Back at event 2", "total = 9", "amount = 5\n"]);
}

#[test]
fn a_recording_is_a_trace() {
    let folder = folder();
    for name in ["run.jsonl", "run.csv", "run.trace"] {
        folder.run(&format!("run -q --record {name} -p tank.prop -- ./tank 4 -1 9")).exits(1);
        folder.run(&format!("check -p tank.prop {name}")).exits(1).says(&["violation 1: tank"]);
    }
}

#[test]
fn interrupting_leaves_nothing_behind() {
    let folder = folder();
    let mut command = shell("exec invigil run --batch -p tank.prop -- ./tank 4 spin");
    command.current_dir(folder.path(".")).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the command can be run");
    // The program says when it has begun.
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
    assert!(words.contains("It was interrupted.") && words.contains("holds so far"), "{words}");
    let until = Instant::now() + Duration::from_secs(5);
    let is_there = |id: &u32| fs::metadata(format!("/proc/{id}/exe")).is_ok();
    while children.iter().any(is_there) {
        assert!(Instant::now() < until, "a process is left behind");
        thread::sleep(Duration::from_millis(20));
    }
}

/// The processes that one has started.
fn children(parent: u32) -> Vec<u32> {
    let tasks = fs::read_dir(format!("/proc/{parent}/task")).expect("the process is there").flatten();
    let lists = tasks.filter_map(|task| fs::read_to_string(task.path().join("children")).ok());
    lists
        .flat_map(|list| list.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
        .filter_map(|id| id.parse().ok())
        .collect()
}

#[test]
fn help_teaches() {
    let ran = Folder::new().run("run --help").exits(0);
    ran.says(&["Examples:", "invigil run -p queue.prop -- ./faulty", "Exit status", "--checkpoint-every"]);
    Folder::new().run("attach --help").exits(0).says(&["invigil attach -p queue.prop 4321"]);
}
