//! `invigil record`: recorded events and their check.

use crate::common::{Folder, shell};
use crate::program::{TANK, folder};
use serde_json::Value;
use std::io::Read;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Number of lines of a file.
fn lines(folder: &Folder, file: &str) -> usize {
    folder.read(file).lines().count()
}

/// Whether a program from this directory is still running.
fn is_left(folder: &Folder) -> bool {
    let program = folder.path("tank");
    let all = std::fs::read_dir("/proc").expect("processes").flatten();
    all.filter_map(|entry| std::fs::read_link(entry.path().join("exe")).ok()).any(|exe| exe == program)
}

#[test]
fn recorded_trace_has_verdict_of_live_run() {
    let folder = folder();
    for (amounts, status) in [("3 -2 7 2", 0), ("3 4 -1 5", 1)] {
        folder.run(&format!("run --batch -p tank.prop -- ./tank {amounts}")).exits(status);
        for file in ["t.jsonl", "t.csv", "t.trace"] {
            let ran = folder.run(&format!("record -p tank.prop -o {file} -- ./tank {amounts}")).exits(0);
            ran.stdout_has(&["level"])
                .stderr_has(&["The program exited with status", &format!("Wrote 4 events to {file}.")]);
            folder.run(&format!("check -q -p tank.prop {file}")).exits(status);
        }
    }
    folder.run("record -q -p tank.prop -- ./tank 1 2").exits(0);
    assert_eq!(lines(&folder, "trace.jsonl"), 2);
    let formula = "record -q -p ltl:G(drain->O(fill)) -o f.jsonl -- ./tank 1 -2";
    folder.run(formula).exits(0);
    assert_eq!(lines(&folder, "f.jsonl"), 2);
}

#[test]
fn events_can_be_piped_to_check() {
    let folder = folder();
    let line = "invigil record -q -p tank.prop -o - -- ./tank 3 4 -1 5 | invigil check -p tank.prop";
    folder.shell(line).exits(1).stdout_has(&["spilt"]).stderr_has(&["level 11"]);
    let line = "invigil record -p tank.prop -o - --format csv -- ./tank 3";
    folder
        .shell(line)
        .exits(0)
        .stdout_has(&["event,", "fill,"])
        .stderr_has(&["Wrote 1 event to standard output."]);
}

#[test]
fn json_summary_counts_events() {
    let folder = folder();
    let ran = folder.run("record --json --lossy --time -p tank.prop -o t.jsonl -- ./tank 3 -1").exits(0);
    let reported: Value = serde_json::from_str(&ran.stdout).expect("a document");
    assert_eq!(
        (&reported["events"], &reported["lost"], &reported["file"]),
        (&2.into(), &0.into(), &"t.jsonl".into())
    );
    assert_eq!((&reported["program"]["end"], &reported["program"]["status"]), (&"exited".into(), &2.into()));
    assert_eq!(reported["probes"][0]["event"], "fill");
    assert!(folder.read("t.jsonl").lines().all(|line| line.contains("\"time\":")));
}

#[test]
fn events_before_crash_are_recorded() {
    let folder = folder();
    let ran = folder.run("record -p tank.prop -o t.jsonl -- ./tank 3 4 crash 5").exits(0);
    ran.stderr_has(&["killed by SIGSEGV", "Wrote 2 events to t.jsonl."]);
    assert_eq!(lines(&folder, "t.jsonl"), 2);
}

#[test]
fn closed_pipe_terminates_program() {
    let folder = folder();
    let line = "(invigil record -p tank.prop -o - -- ./tank pour; echo $? > status) | head -1";
    let ran = folder.shell(line).exits(0).stdout_has(&["fill"]);
    ran.stderr_has(&["the reader has closed the pipe", "it was terminated"]);
    assert_eq!(folder.read("status"), "2\n");
    assert!(!is_left(&folder));
}

#[test]
fn write_error_terminates_program() {
    let folder = folder();
    let ran = folder.run("record -p tank.prop --format jsonl -o /dev/full -- ./tank pour").exits(2);
    ran.stderr_has(&["/dev/full: cannot write the events: No space left on device", "it was terminated"]);
    assert!(!is_left(&folder));
}

#[test]
fn invalid_inputs_are_errors() {
    let folder = folder()
        .file("typo.prop", TANK.replace("event fill(", "event fil("))
        .file("bad.prop", "stat init {")
        .file("old.jsonl", "precious");
    let refused = |line: &str, status, words: &[&str]| {
        folder.run(line).exits(status).stderr_has(words);
        assert!(!is_left(&folder));
        assert_eq!(folder.read("old.jsonl"), "precious", "{line}");
    };
    refused("record -o old.jsonl -- ./tank 1", 2, &["--property"]);
    refused("record -p none.prop -o old.jsonl -- ./tank 1", 2, &["none.prop: no such file"]);
    refused("record -p bad.prop -o old.jsonl -- ./tank 1", 2, &["bad.prop:1:1"]);
    refused("record -p typo.prop -o old.jsonl -- ./tank 1", 2, &["no function `fil`", "fill"]);
    refused("record -p tank.prop -o old.jsonl", 2, &["PROGRAM"]);
    refused("record -p tank.prop -o old.jsonl -- ./none", 3, &["./none"]);
    refused("record -p tank.prop -o old.jsonl -- java Main", 2, &["native programs only", "run --record"]);
    refused("record -p tank.prop -o x.xml -- ./tank 1", 2, &["x.xml: unknown trace format"]);
    refused(
        "record -p tank.prop -o none/x.csv -- ./tank 1",
        2,
        &["none/x.csv: cannot write", "No such file"],
    );
    refused("record -p tank.prop -o - --json -- ./tank 1", 2, &["use `-o FILE`"]);
    refused("record -p - -o old.jsonl -- ./tank 1", 2, &["standard input belongs to the program"]);
    refused("record -p tank.prop --ring lots -- ./tank 1", 2, &["number of bytes"]);
    refused("record -p tank.prop --pid 1 -- ./tank 1", 2, &["cannot be used with"]);
    refused("record -p tank.prop -o old.jsonl --pid 999999999", 3, &["999999999"]);
}

/// Sends a signal to a command as soon as a file has five lines. Returns the exit status.
fn signalled(folder: &Folder, line: &str, signal: &str, file: &str) -> Option<i32> {
    let mut command = shell(&format!("exec invigil {line}"));
    command.current_dir(folder.path(".")).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().expect("the command can be run");
    let until = Instant::now() + Duration::from_secs(20);
    while !folder.path(file).exists() || lines(folder, file) < 5 {
        assert!(Instant::now() < until, "nothing is recorded");
        thread::sleep(Duration::from_millis(10));
    }
    let sent = Command::new("kill").args([signal, &child.id().to_string()]).status();
    assert!(sent.expect("kill is there").success());
    child.wait().expect("it ends").code()
}

#[test]
fn ctrl_c_terminates_launched_program() {
    for signal in ["-INT", "-TERM"] {
        let folder = folder();
        let line = "record -p tank.prop -o t.jsonl -- ./tank pour";
        assert_eq!(signalled(&folder, line, signal, "t.jsonl"), Some(130));
        assert!(!is_left(&folder));
        folder.run("check -q --strict -p tank.prop t.jsonl").exits(0);
    }
}

#[test]
fn ctrl_c_detaches_from_attached_program() {
    let folder = folder();
    let mut child = Command::new(folder.path("tank"))
        .arg("pour")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program can be run");
    let mut begun = [0; 6];
    child.stdout.as_mut().expect("a pipe").read_exact(&mut begun).expect("it begins");
    for file in ["a.jsonl", "b.jsonl"] {
        let line = format!("record -p tank.prop -o {file} --pid {}", child.id());
        assert_eq!(signalled(&folder, &line, "-INT", file), Some(130));
        folder.run(&format!("check -q --strict -p tank.prop {file}")).exits(0);
    }
    thread::sleep(Duration::from_millis(100));
    assert!(child.try_wait().expect("it is our child").is_none(), "it runs on");
    let _ = child.kill();
    let _ = child.wait();
}

#[test]
fn help_has_examples() {
    Folder::new().run("record --help").exits(0).stdout_has(&[
        "Examples:",
        "--lossy",
        "invigil check -p queue.prop",
    ]);
}
