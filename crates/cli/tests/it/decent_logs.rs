//! `invigil decent run`: tables of states and logs of events as observations.

use crate::common::{Folder, Ran};

const DOOR: &str = "\
component server: open, close
component client: enter
came @ client = enter
root @ server = G(open -> @came | X @came)
";

fn folder() -> Folder {
    Folder::new().file("door.dec", DOOR)
}

fn run(folder: &Folder, args: &str) -> Ran {
    folder.shell(&format!("invigil decent run door.dec {args}"))
}

#[test]
fn state_table_is_read_as_in_check() {
    let rows = "open;enter;unasked\n1;0;x\n0;1;y\ntrue;f;\n;0;\n";
    let folder =
        folder().file("t.csv", rows).file("t.jsonl", "{\"open\": 1, \"enter\": false}\n{\"enter\": 0}\n");
    run(&folder, "--table t.csv").exits(1).stdout_has(&["false at instant 4"]);
    run(&folder, "--table t.jsonl").exits(1).stdout_has(&["false at instant 2"]);
    folder.shell("gzip -c t.csv | invigil decent run door.dec --table -").exits(1);
    let none = run(&folder, "--table nowhere.csv").exits(2);
    none.stderr_has(&["nowhere.csv: cannot open the trace", "check the path"]);
    let folder = folder.file("bad.csv", "open,enter\n1,0\n1\n").file("one.csv", "open\n1\n");
    run(&folder, "--table bad.csv").exits(2).stderr_has(&["bad.csv:3: the line has 1 cell, the header 2"]);
    run(&folder, "--table one.csv")
        .exits(2)
        .stderr_has(&["one.csv: this is not a table of states", "--format csv"]);
    run(&folder, "--table one.csv --format csv").exits(0);
}

#[test]
fn event_makes_proposition_true_in_its_round() {
    let folder = folder()
        .file("log", "@1 open\n@1.5 enter\n@2 close\n@3.2 open\n@3.9 other\n@4.5 close\n@5.5 open\n")
        .file("client.log", "@4.1 enter\n")
        .file("ticks", "{\"event\":\"open\"}\n{\"event\":\"tick\"}\n{\"event\":\"tick\"}\n");
    // From the log alone.
    run(&folder, "--events log --step 1s").exits(1).stdout_has(&["false at instant 4"]);
    run(&folder, "--events log --events client.log --step 1s").exits(0).stdout_has(&["unknown"]);
    run(&folder, "--events ticks --round tick").exits(1).stdout_has(&["false at instant 2"]);
    for (args, words) in [
        ("--events log", "the end of a round is not defined"),
        ("--events ticks --step 1s", "ticks:1: the event has no time"),
        ("--events log --round tock", "`tock` never occurs"),
        ("--events log --step 1h", "a number with the unit ms, s or min"),
        ("--events log --step 1ns", "a number with the unit ms, s or min"),
        ("--events log --step 1s --round tick", "cannot be used with"),
        ("--events log --trace open:t", "cannot be used with"),
        ("--table ticks", "its records name an event"),
    ] {
        run(&folder, args).exits(2).stderr_has(&[words]);
    }
    let folder = folder.file("torn", "@1 open\n@1.2 enter\ngarb(age\n@3 close\n");
    run(&folder, "--events torn --step 1s").exits(0).stderr_has(&["note: 1 line of the log", "torn:3: "]);
    run(&folder, "--events torn --step 1s --strict").exits(2).stderr_has(&["torn:3: "]);
}
