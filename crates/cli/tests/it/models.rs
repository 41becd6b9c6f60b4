//! Models at the command line: `explore`, `debug` and `run`, what they say and how they exit.

use crate::common::Folder;
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;
use std::{fs, thread};

const COUNTER: &str = "\
x: 0..3

process Counter {
    state run {
        up(by = 1): when x < 3 { x++ }
        down: when x > 0 { x-- }
    }
}

predicate low = x < 2
invariant small: x < 4
";

/// Violated by the third step up that is not followed by one down.
const LIMIT: &str = "\
initialization { n = 0 }
state init accepting {
    transition {
        event up(by: int) { return n + by < 3 }
        success { n = n + by } init
        failure bad
    }
    transition { event down() success { n = n - 1 } init }
}
state bad non-accepting
";

/// Two processes that count, one to a bound, the other without end.
const RACE: &str = "\
x: 0..2

process Runner { state run { go: when x < 2 { x++ } } }
process Idler { state here { -> there; } state there { -> here; } }

ltl arrives: F \"x == 2\"
";

fn folder() -> Folder {
    Folder::new().file("counter.model", COUNTER).file("limit.prop", LIMIT).file("race.model", RACE)
}

fn example(path: &str) -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(path);
    fs::read_to_string(file).expect("an example")
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("a document")
}

#[test]
fn setups_table_has_twelve_rows() {
    let folder = Folder::new().file("crossing.model", example("crossing/crossing.model"));
    let order = "priority:Entrance0,Entrance1,Exit,RoadSign,Gate,Controller,RailwaySign";
    let ran = folder.run(&format!("explore crossing.model --setups --scheduler {order}")).exits(0);
    let rows: Vec<Vec<&str>> = ran
        .stdout
        .lines()
        .filter(|line| line.contains(['✓', '✗']))
        .map(|line| line.trim().split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect())
        .collect();
    let reported: Vec<String> = rows.iter().map(|row| row.join(" ")).collect();
    let expected = [
        "no scheduler 145 287 2 ✓ ✓ ✓ ✗",
        "round-robin 21 24 1 ✓ ✓ ✓ ✗",
        "fixed priority 23 23 0 ✓ ✓ ✓ ✓",
        "no scheduler, reactive 47 66 1 ✓ ✓ ✓ ✗",
        "round-robin, reactive 13 12 1 ✓ ✓ ✓ ✗",
        "fixed priority, reactive 23 23 0 ✓ ✓ ✓ ✓",
        "no scheduler 106 210 0 ✓ ✓ ✓ ✓",
        "round-robin 33 37 0 ✓ ✓ ✓ ✓",
        "fixed priority 23 23 0 ✓ ✓ ✓ ✓",
        "no scheduler, reactive 37 53 0 ✓ ✓ ✓ ✓",
        "round-robin, reactive 25 25 0 ✓ ✓ ✓ ✓",
        "fixed priority, reactive 23 23 0 ✓ ✓ ✓ ✓",
    ];
    assert_eq!(reported, expected);
    // One row alone is the same as `explore` with that set-up.
    let ran = folder
        .run("explore crossing.model --reactive --scheduler round-robin --mailboxes deferred --json")
        .exits(0);
    assert_eq!((&json(&ran.stdout)["states"], &json(&ran.stdout)["transitions"]), (&25.into(), &25.into()));
    let halves = folder.run("explore crossing.model --setups --mailboxes fifo").exits(0).stdout;
    assert_eq!(halves.lines().filter(|line| line.contains('✓')).count(), 6, "{halves}");
    assert!(!halves.contains("mailboxes"), "{halves}");
}

#[test]
fn claims_determine_exit_status() {
    let folder = folder();
    folder.run("explore counter.model").exits(0).stdout_has(&[
        "counter.model: 4 configurations, 6 transitions, no deadlock, depth 3",
        "small  holds",
    ]);
    let ran =
        folder.shell(r#"invigil explore counter.model -a 'x < 3' -a 'early: low' -a "x' <= x + 1""#).exits(1);
    ran.stdout_has(&[
        "small        holds\n",
        "x < 3        violated after 3 steps\n",
        "early        violated after 2 steps\n",
        "x' <= x + 1  holds\n",
        "violation of early\n    0  start               x = 0, Counter = run\n    1  Counter: run → run  x: 0 → 1\n",
    ]);
    folder
        .shell("invigil explore counter.model -a 'x > 0'")
        .exits(1)
        .stdout_has(&["x > 0  violated at the start"]);
    let ran = folder.shell("invigil explore -q counter.model -a 'x < 3'").exits(1);
    assert!(ran.stdout.is_empty() && ran.stderr.is_empty(), "{ran:?}");
    folder.feed("explore -", COUNTER.as_bytes()).exits(0);
}

#[test]
fn json_report_has_claims_and_totals() {
    let folder = folder();
    let report = json(&folder.shell("invigil explore counter.model --json -a 'x < 1'").exits(1).stdout);
    assert_eq!(report["model"], "counter.model");
    assert_eq!(
        (&report["states"], &report["transitions"], &report["depth"]),
        (&4.into(), &6.into(), &3.into())
    );
    assert_eq!((&report["complete"], &report["incomplete"]), (&true.into(), &Value::Null));
    assert_eq!(report["claims"][0]["verdict"], "holds");
    let claim = &report["claims"][1];
    assert_eq!((&claim["claim"], &claim["verdict"]), (&"x < 1".into(), &"violated".into()));
    let steps = claim["execution"]["steps"].as_array().expect("steps");
    assert_eq!(steps.len(), 2);
    assert_eq!(steps[1]["event"], "up");
    assert_eq!((&steps[1]["parameters"]["by"], &steps[1]["state"]["x"]), (&1.into(), &1.into()));
    assert_eq!(claim["execution"]["ending"]["kind"], "end");
    let report = json(&folder.run("explore race.model --json").exits(1).stdout);
    let ending = &report["claims"][0]["execution"]["ending"];
    assert_eq!(ending["kind"], "repeats", "{report}");
}

#[test]
fn same_property_works_in_all_verbs() {
    let folder = folder();
    // Over all executions, and over the one that it found.
    let ran = folder.run("explore counter.model -p limit.prop --trace found.jsonl").exits(1);
    ran.stdout_has(&["limit  violated after 3 steps"]);
    folder.run("check -p limit.prop found.jsonl").exits(1).stdout_has(&["violation 1: limit", "(event 3)"]);
    folder.run("check -m counter.model found.jsonl").exits(0);
    // While the model runs, and over the record of that.
    let ran = folder.run("run --steps 200 -p limit.prop --record ran.jsonl counter.model").exits(1);
    ran.stdout_has(&["violation of limit"]);
    folder.run("check -p limit.prop ran.jsonl").exits(1);
    folder.run("check -m counter.model ran.jsonl").exits(0);
    let ran = folder.run("run --steps 200 --record ran.csv counter.model").exits(2);
    ran.stderr_has(&["ran.csv: a model's execution is written as JSON Lines: name the file *.jsonl"]);
    // As a breakpoint.
    let ran = folder.feed("debug counter.model", b"break prop limit.prop\nrun\nexpect x == 3\n").exits(0);
    ran.stdout_has(&["after 3 steps", "as expected"]);
}

#[test]
fn formulae_are_checked_by_explore_and_run() {
    let folder = folder();
    let ran = folder.shell(r#"invigil explore counter.model -p 'ltl:G F "x == 0"'"#).exits(1);
    ran.stdout_has(&[
        "violated in a cycle of 2 steps, after 1 step",
        "┌ 1  ",
        "└ step 3 leads back to the configuration of step 1",
    ]);
    folder.shell("invigil explore counter.model -p 'ltl:G F low' -p 'ltl:G(up -> X !enters)'").exits(2);
    folder
        .shell(r#"invigil explore counter.model -p 'safe=ltl:G "x <= 3"'"#)
        .exits(0)
        .stdout_has(&["safe   holds"]);
    let watched =
        |formula: &str| folder.shell(&format!("invigil run --steps 200 -p 'ltl:{formula}' counter.model"));
    watched(r#"G "x < 3""#).exits(1).stdout_has(&["x: 2 → 3\nafter ", r#"violation of G "x < 3""#]);
    watched(r#"G F "x == 3""#).exits(0).stdout_has(&["after 200 steps: no claim violated so far"]);
    // From the start on it is clear that this cannot be satisfied any more.
    watched(r#""x == 1" & F up"#).exits(1).stdout_has(&["after 0 steps: violation of"]);
    // The formulae of the file are watched, too.
    let file = format!("{COUNTER}ltl never_high: G \"x < 3\"\n");
    Folder::new()
        .file("m.model", file)
        .run("run --steps 200 m.model")
        .exits(1)
        .stdout_has(&["violation of never_high"]);
}

#[test]
fn fairness_removes_unfair_counterexamples() {
    let folder = folder();
    folder
        .run("explore race.model")
        .exits(1)
        .stdout_has(&["arrives  violated in a cycle of 2 steps, from the start"]);
    folder.run("explore race.model --fair weak").exits(0);
    folder.run("explore race.model --fair strong").exits(0);
    folder.run("explore race.model --fair very").exits(2).stderr_has(&["weak", "strong"]);
}

#[test]
fn limits_give_no_verdict() {
    let folder = folder();
    let ran = folder.run("explore counter.model --max-states 2").exits(2);
    ran.stdout_has(&[
        "note: incomplete: the limit on configurations was exceeded (`--max-states`)",
        "small  unknown",
    ]);
    folder.run("explore counter.model --max-depth 1").exits(2).stdout_has(&["(`--max-depth`)"]);
    let report = json(&folder.run("explore counter.model --max-states 2 --json").exits(2).stdout);
    assert_eq!((&report["complete"], &report["claims"][0]["verdict"]), (&false.into(), &"unknown".into()));
    // What is wrong is wrong, however little was looked at.
    folder.shell("invigil explore counter.model --max-states 2 -a 'x < 1'").exits(1);
}

#[test]
fn all_search_strategies_find_the_violation() {
    let folder = folder();
    let look = |how: &str, more: &str| {
        folder.shell(&format!(
            "invigil explore counter.model --search {how} --runs 5 --table 1M --max-depth 50 {more}"
        ))
    };
    look("depth", "").exits(0).stdout_has(&["4 configurations, 6 transitions"]);
    for how in ["walk", "compact", "bitstate", "swarm"] {
        let ran = look(how, "").exits(2);
        ran.stdout_has(&["note: ", "small  unknown: nothing was found, but not everything was explored"]);
    }
    for how in ["breadth", "depth", "walk", "compact", "bitstate", "swarm"] {
        look(how, "-a 'x < 3'").exits(1).stdout_has(&["violation of x < 3", "x: 2 → 3"]);
    }
    let once = look("walk", "-a 'x < 3' --seed 7").stdout;
    assert_eq!(once, look("walk", "-a 'x < 3' --seed 7").stdout);
}

#[test]
fn reduction_is_reported_or_rejected() {
    let folder = folder();
    folder.run("explore counter.model --reduce").exits(0).stdout_has(&["note: no partial-order reduction: "]);
    let apart = "\
process P[i in 0..2] {
    state first { -> second; }
    state second { -> third; }
    state third
}
";
    let folder = Folder::new().file("apart.model", apart);
    folder.run("explore apart.model --may-end").exits(0).stdout_has(&["27 configurations"]);
    let ran = folder.run("explore apart.model --may-end --reduce").exits(0);
    ran.stdout_has(&["7 configurations", "note: partial-order reduction"]);
    let ran = folder.run("explore apart.model --may-end --reduce --reactive").exits(0);
    ran.stdout_has(&[
        "27 configurations",
        "note: no partial-order reduction: a scheduler or a filter restricts",
    ]);
}

#[test]
fn counterexamples_open_in_debug_and_check() {
    let folder = Folder::new().file("phils.model", example("philosophers/philosophers.model"));
    folder.run("explore -q phils.model --trace stuck.jsonl").exits(1);
    assert_eq!(folder.read("stuck.jsonl").lines().count(), 4);
    folder.run("check -m phils.model stuck.jsonl").exits(0);
    let ran = folder
        .feed("debug phils.model stuck.jsonl", b"expect Philosopher[0].waits\nback\nactions\n")
        .exits(0);
    ran.stdout_has(&["no action is enabled", "as expected", "1  Philosopher[1]: waits → eats"]);
    let ran = folder.run("explore phils.model --trace -").exits(1);
    ran.stdout_has(&["\"event\":\"left\""]);
}

#[test]
fn faults_are_reported() {
    let folder = Folder::new()
        .file("range.model", "x: 0..3\nprocess P { state a { up: { x = x + 1 } } }\n")
        .file(
            "zero.model",
            "x: 0..3 = 2\ny: 0..9\nprocess P { state a { when x > 0 { y = 6 / (x - 1); x-- } } }\n",
        )
        .file("room.model", "l: [2] of bool\ni: 0..2\nprocess P { state a { { l[i] = true; i++ } } }\n")
        .file(
            "reported.model",
            "process P { state a { -> b; } state b { { assert false, \"never here\" } } }\n",
        );
    folder.run("explore range.model --trace far.jsonl").exits(1).stdout_has(&[
        "4 configurations, 3 transitions, no deadlock, 1 fault, depth 3",
        "an action raises a fault: x cannot hold 4: its range is 0 to 3",
        "    3  P: a → a  x: 2 → 3\n  P: a → a raises a fault: x cannot hold 4",
    ]);
    folder.run("debug range.model far.jsonl").exits(0).stdout_has(&["x: 2 → 3"]);
    folder.run("explore zero.model").exits(1).stdout_has(&["an action raises a fault: division by zero"]);
    folder
        .run("run zero.model")
        .exits(1)
        .stdout_has(&["after 1 step: P: a → a raises a fault: division by zero"]);
    folder.run("explore zero.model --faultless --may-end").exits(0);
    folder.run("explore room.model").exits(1).stdout_has(&["an action raises a fault: "]);
    folder.run("explore reported.model").exits(1).stdout_has(&["never here"]);
}

#[test]
fn invalid_model_files_are_errors() {
    let folder = Folder::new()
        .file("types.model", "x: 0..3\nprocess P { state a { -> b { x = true } } state b { -> c; } }\n")
        .file("claim.model", "process P { state a { -> a; } }\ninvariant i: Q.a\n")
        .file("binary.model", b"\x7fELF\x02\0\0\0\xff\xfe")
        .file("empty.model", "")
        .file("words.dve", "this is no model");
    let ran = folder.run("explore types.model").exits(2);
    ran.stderr_has(&["expected a number, found a Boolean", "types.model:2:34", "`P` has no state `c`"]);
    folder.run("explore claim.model").exits(2).stderr_has(&["`Q`", "claim.model:2:14"]);
    folder.run("explore binary.model").exits(2).stderr_has(&["binary.model", "binary data"]);
    folder.run("explore empty.model").exits(2).stderr_has(&["the model has no processes"]);
    folder.run("explore words.dve").exits(2).stderr_has(&["words.dve:1:"]);
    for verb in ["explore", "debug", "run"] {
        folder.run(&format!("{verb} nowhere.model")).exits(2).stderr_has(&["nowhere.model: no such file"]);
        folder.run(&format!("{verb} empty.model")).exits(2).stderr_has(&["the model has no processes"]);
    }
}

#[test]
fn invalid_options_are_errors() {
    let folder = folder();
    let wrong = |args: &str, words: &[&str]| {
        folder.shell(&format!("invigil {args}")).exits(2).stderr_has(words);
    };
    wrong("explore counter.model -a 'xs < 3'", &["unknown name `xs`", "did you mean `x`?"]);
    wrong("explore counter.model -a x", &["expected a Boolean, found a number"]);
    wrong("explore counter.model -p 'ltl:G(up ->'", &["<command line>"]);
    wrong("explore counter.model -p 'ltlf:G up'", &["write `ltl:FORMULA`"]);
    wrong("explore counter.model -p nowhere.prop", &["nowhere.prop"]);
    wrong("explore counter.model --scheduler fast", &["unknown scheduler `fast`", "round-robin"]);
    wrong("explore counter.model --scheduler priority:Countr", &["did you mean `Counter`?"]);
    wrong("explore counter.model --scheduler random:x", &["`random:7`"]);
    wrong("explore counter.model --setups --scheduler round-robin", &["`--scheduler priority:A,B`"]);
    wrong("explore counter.model --setups --json", &["--setups", "--json"]);
    wrong("explore counter.model --mailboxes bag", &["fifo", "deferred"]);
    wrong("explore counter.model --search far", &["breadth", "swarm"]);
    wrong("explore counter.model --max-memory lots", &["500M"]);
    wrong("explore counter.model --threads 0", &["--threads"]);
    wrong("run counter.model extra", &["a model takes no arguments"]);
    wrong("debug counter.model nowhere.jsonl", &["nowhere.jsonl"]);
    wrong("debug counter.model --commands nowhere.txt", &["nowhere.txt: no such file"]);
    folder.feed("debug counter.model", b"step 9\nstep 1\n").exits(2).stdout_has(&["no action 9"]);
    folder.feed("debug counter.model", b"expect x == 1\n").exits(2);
}

#[test]
fn scheduler_determines_execution() {
    let folder = Folder::new().file("crossing.model", example("crossing/crossing.model"));
    let ran = folder.run("run --scheduler round-robin --reactive crossing.model").exits(0);
    ran.stdout_has(&["after 12 steps: deadlock: no step is possible"]);
    let ran =
        folder.run("run --scheduler round-robin --reactive --mailboxes deferred --steps 60 crossing.model");
    ran.exits(0).stdout_has(&["after 60 steps: no claim violated so far"]);
    let twice =
        |seed: u32| folder.run(&format!("run --steps 30 --seed {seed} crossing.model")).exits(0).stdout;
    assert_eq!(twice(3), twice(3));
    assert_ne!(twice(3), twice(4));
}

/// A state space that is too large to be explored during the test.
#[test]
fn interrupt_reports_totals_so_far() {
    let many = "process P[i in 0..15] { n: byte  state run { { n = (n + 1) % 256 } } }\n";
    let folder = Folder::new().file("many.model", many);
    let mut command = Command::new(env!("CARGO_BIN_EXE_invigil"));
    command.args(["explore", "many.model", "--max-memory", "300M"]).current_dir(folder.path("."));
    let child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("the command can be run");
    thread::sleep(Duration::from_millis(500));
    let kill = format!("kill -INT {}", child.id());
    assert!(Command::new("sh").args(["-c", &kill]).status().expect("a shell").success());
    let done = child.wait_with_output().expect("it ends");
    let reported = String::from_utf8(done.stdout).expect("text");
    assert_eq!(done.status.code(), Some(130), "{reported}");
    assert!(reported.contains("note: incomplete: the search was stopped"), "{reported}");
    let ran = folder.run("explore many.model --timeout 0.1").exits(2);
    ran.stdout_has(&["the time limit was exceeded (`--timeout`)"]);
    folder.run("explore many.model --max-memory 1M").exits(2).stdout_has(&["(`--max-memory`)"]);
}

#[test]
fn trace_opens_with_recorded_outcomes() {
    let model =
        "x: 0..3\nprocess P { state a { up: -> b { x = any(1..3) } } state b { down: when x == 3 -> a; } }\n";
    let folder = Folder::new().file("choice.model", model);
    folder.shell("invigil explore -q choice.model --may-end -n 'happens(down)' --trace bad.jsonl").exits(1);
    folder.feed("debug choice.model bad.jsonl", b"expect x == 3\n").exits(0);
}

#[test]
fn fault_in_claim_leaves_it_undecided() {
    let model = "x: 0..2\nprocess P { state a { up: when x < 2 { x++ } down: when x > 0 { x-- } } }\n";
    let folder = Folder::new().file("count.model", model);
    let ran = folder.shell("invigil explore count.model -p 'ltl:G \"4 / x >= 0\"'").exits(2);
    ran.stdout_has(&["undecided: evaluation fails: division by zero"]);
}
