//! Endless streams: violations are reported as they occur.

use crate::common::{Folder, shell};
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Stdio};

fn start(folder: &Folder, line: &str) -> Child {
    let mut command = shell(&format!("exec {line}"));
    command.current_dir(folder.path(".")).stdin(Stdio::piped()).stdout(Stdio::piped());
    command.spawn().expect("the command can be run")
}

#[test]
fn violation_is_reported_before_stream_ends() {
    let folder = Folder::with_hit();
    let mut child = start(&folder, "invigil check -p hit.prop -");
    let mut input = child.stdin.take().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();

    input.write_all(b"hit(x=4)\nhit(x=1)\n").unwrap();
    // This would block forever if nothing were reported.
    output.read_line(&mut line).unwrap();
    assert_eq!(line, "violation 1: hit\n");
    input.write_all(b"back(x=0)\nhit(x=2)\n").unwrap();
    while !line.ends_with("violation 2: hit\n") {
        assert!(output.read_line(&mut line).unwrap() > 0);
    }
    drop(input);
    output.read_to_string(&mut line).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(1));

    let file = folder.file("standard input", "hit(x=4)\nhit(x=1)\nback(x=0)\nhit(x=2)\n");
    let whole = file.shell("invigil check -p hit.prop 'standard input'").exits(1);
    assert_eq!(line, whole.stdout, "the same report as for a file");
}

#[test]
fn limit_applies_to_streams() {
    let input = "hit(x=1)\nback(x=0)\n".repeat(5);
    let ran = Folder::with_hit().feed("check --limit 2 -p hit.prop", input.as_bytes()).exits(1);
    let ran = ran.stdout_has(&["violation 2", "3 more violations"]);
    assert_eq!(ran.stdout.matches("violation 1:").count(), 1);
    assert!(!ran.stdout.contains("violation 3"), "{}", ran.stdout);
}

#[test]
fn machine_readable_report_is_written_at_the_end() {
    let folder = Folder::with_hit();
    let ran = folder.feed("check --json -p hit.prop", b"hit(x=1)\n").exits(1);
    assert!(ran.stdout.starts_with('{'), "{}", ran.stdout);
    assert_eq!(folder.feed("check -q -p hit.prop", b"hit(x=1)\n").exits(1).stdout, "");
}
