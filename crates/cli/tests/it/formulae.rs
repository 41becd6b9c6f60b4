//! Formulae in the place of property files.

use crate::common::Folder;
use crate::program;
use serde_json::Value;

fn log() -> Folder {
    Folder::new()
        .file("log.trace", "request(id=1)\nrequest(id=2)\ngrant(id=2)\nidle\nrequest(id=2)\n")
        .file("states.csv", "time,a,b\n1,0,1\n2,1,0\n3,0,0\n4,true,1\n")
        .file("states.jsonl", "{\"a\": true}\n{\"b\": 1}\n{\"a\": true, \"b\": true}\n")
}

#[test]
fn formula_is_checked_on_log() {
    let folder = log();
    folder.shell("invigil check -p 'ltl:G(request -> F grant)' log.trace").exits(0).stdout_has(&[
        "presumably violated",
        "it would be violated if the trace ended here (state waiting_for_grant)",
        "log.trace: 5 lines, 4 events, 1 not mentioned by any property",
    ]);
    folder.shell("invigil check -p 'ltlf:G(request -> F grant)' log.trace").exits(1).stdout_has(&[
        "violation 1: G(request -> F grant)",
        "at     the end of the trace",
        "4     5  request        waiting_for_grant",
    ]);
    folder.shell("invigil check -p 'twice=ltl:G(request -> X !request)' log.trace").exits(1).stdout_has(&[
        "violation 1: twice\n  spec   G(request -> X !request)\n  at     log.trace:2 (event 2)",
        "state  waiting_for_not_request → violated",
    ]);
    folder.shell("invigil check -q -p 'ltl:F grant' log.trace").exits(0);
}

#[test]
fn sliced_formula_has_instance_per_value() {
    let folder = log();
    let ran = folder.shell("invigil check --json -p 'ltlf[id]:G(request -> F grant)' log.trace").exits(1);
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(report["violations"], 2);
    assert_eq!(report["findings"][0]["slice"]["id"], 1);
    assert_eq!(report["findings"][1]["slice"]["id"], 2);
    assert_eq!(report["findings"][1]["at_end"], true);
    assert_eq!(report["findings"][1]["path"].as_array().unwrap().len(), 4);
}

#[test]
fn formula_is_checked_on_state_table() {
    let folder = log();
    folder.shell("invigil check -p 'mutex=ltl:G !(a & b)' states.csv").exits(1).stdout_has(&[
        "at     states.csv:5 (event 4, time 4)",
        "event  #state(a=True, b=1)",
        "since  a & b",
    ]);
    let ran = folder.shell("invigil check --json -p 'mutex=ltl:G !(a & b)' states.jsonl").exits(1);
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(report["findings"][0]["why"], "a & b");
    assert_eq!(report["properties"][0]["formula"], "G !(a & b)");
    assert_eq!(report["findings"][0]["event"]["line"], 3);
    folder
        .shell("invigil check -p 'ltl:G(a -> c)' states.csv")
        .exits(1)
        .stdout_has(&["no `#state` in the trace has a value for `c` (true or false)"]);
    folder
        .shell("invigil check -q -p 'ltl:G !c' -p 'ltl:G(a | !a)' states.csv")
        .exits(0)
        .stderr_has(&["has a value for `c` (true or false)", "the verdict may be wrong"]);
    // For a stream, the path comes from the bounded history.
    folder
        .shell("cat states.csv | invigil check -p 'ltl:G !(a & b)' -")
        .exits(1)
        .stdout_has(&["standard input:5 (event 4"]);
}

#[test]
fn expressions_read_every_event() {
    let folder = Folder::new().file("fill.trace", "fill(amount=3)\npour(amount=9)\nfill(amount=7)\n");
    folder.shell("invigil check -p 'ltl:G(fill -> \"amount <= 5\")' fill.trace").exits(1).stdout_has(&[
        "at     fill.trace:3 (event 2)",
        "event  fill(amount=7)",
        "since  !\"amount <= 5\"",
    ]);
    folder
        .shell("invigil check -p 'ltl:G \"amount <= 5\"' fill.trace")
        .exits(1)
        .stdout_has(&["at     fill.trace:2", "#any(event='pour', amount=9)"]);
    // An expression that cannot be evaluated ends the monitor, not the check.
    let wrong = folder.shell("invigil check -p 'ltl:G(fill -> \"amount < \\\"x\\\"\")' fill.trace");
    wrong.exits(2).stderr_has(&["<command line>:1:"]);
}

#[test]
fn formula_files_are_checked() {
    let folder = log().file(
        "rules.ltl",
        "// What must hold.\nboth=a&&b\nmutex = [] ! @both   // never together\nalive = G( a-> <> b)\n",
    );
    folder.run("check -p rules.ltl states.csv").exits(1).stdout_has(&["violation 1: mutex", "alive  "]);
    folder.run("check -p ltlf:rules.ltl states.csv").exits(1).stdout_has(&["violation 1: mutex"]);
    folder.run("check -p x=ltl:rules.ltl states.csv").exits(1).stdout_has(&["violation 1: x.mutex"]);
    folder.run("fmt --check rules.ltl").exits(1).stdout_has(&["not formatted: rules.ltl"]);
    folder.run("fmt rules.ltl").exits(0);
    let formatted = folder.read("rules.ltl");
    assert!(formatted.contains("mutex = G !@both  // never together\nalive = G(a -> F b)\n"), "{formatted}");
    folder.run("check -p rules.ltl states.csv").exits(1).stdout_has(&["violation 1: mutex"]);
}

#[test]
fn errors_in_formulae_have_positions() {
    let folder = log().file("bad.ltl", "ok = G a\nbad = G(a -> @c)\n");
    folder
        .shell("invigil check -p 'ltl:G(request -> )' log.trace")
        .exits(2)
        .stderr_has(&["expected a formula, found `)`", "1 | ltl:G(request -> )\n  |                  ^"]);
    folder.run("check -p bad.ltl log.trace").exits(2).stderr_has(&["bad.ltl:2:14", "unknown formula `c`"]);
    folder.run("fmt bad.prop").exits(2);
    folder.run("check -p bad.ltl ltl:G").exits(2);
    folder.run("check -p rules.ltl log.trace").exits(2).stderr_has(&["rules.ltl: no such file"]);
    folder
        .shell("invigil check -p 'ltl:G a' 'ltl:G b'")
        .exits(2)
        .stderr_has(&["this is a property, not a trace"]);
    let many: Vec<String> = (0..60).map(|n| format!("F a{n}")).collect();
    let line = format!("invigil check -p 'ltl:{}' log.trace", many.join("&"));
    folder
        .shell(&line)
        .exits(2)
        .stderr_has(&["the monitor for this formula is too large", "more than 262144 edges of a monitor"]);
}

#[test]
fn explain_prints_all_parts_of_formula() {
    let folder = Folder::new();
    folder.shell("invigil explain 'G(request -> F grant)'").exits(0).stdout_has(&[
        "`request` is always answered by `grant`.",
        "response, globally",
        "recurrence",
        "not monitorable",
        "state waiting_for_grant: undecided, presumably violated\n  grant → fine",
    ]);
    let ran = folder.shell("invigil explain --json 'ltl:a U b' 'G a'").exits(0);
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(report["properties"][0]["good_prefix"], serde_json::json!([["b"]]));
    assert_eq!(report["properties"][1]["class"], "safety");
    assert_eq!(report["properties"][1]["states"][1]["verdict"], "non-accepting");
    folder.shell("invigil explain 'a U b' --hoa -").exits(0).stdout_has(&["HOA: v1", "AP: 2 \"a\" \"b\""]);
    folder.shell("invigil explain 'a U b' --spin -").exits(0).stdout_has(&["never {"]);
    folder
        .shell("invigil explain 'a U b' --dot - --svg picture.svg")
        .exits(0)
        .stdout_has(&["\"waiting_for_b\" ->"]);
    assert!(folder.read("picture.svg").contains("data-state=\"violated\""));
    folder.shell("invigil explain 'a U b' 'G a' --hoa -").exits(2).stderr_has(&["exactly one property"]);
    folder.run("explain quue.prp").exits(2).stderr_has(&["no such file"]);
}

#[test]
fn live_program_stops_at_violating_event() {
    let folder = program::folder();
    let watch = |property: &str, calls: &str| {
        folder.shell(&format!("invigil run --batch -p '{property}' -- ./tank {calls}"))
    };
    watch("ltl:G(drain -> X !fill)", "1 -1 2 3").exits(1).stderr_has(&[
        "violation 1: G(drain -> X !fill)",
        "fill()\n  state  waiting → violated",
        "#0 fill (amount=2)",
        "Stopped at the violation.",
    ]);
    watch("small=ltl:G(fill -> \"amount <= 5\")", "1 7 1")
        .exits(1)
        .stderr_has(&["spec   G(fill -> \"amount <= 5\")", "fill(amount=7)\n  since  !\"amount <= 5\""]);
    watch("ltl:G(fill -> \"level + amount <= 10\")", "6 4 1 1").exits(1).stderr_has(&["#0 fill (amount=1)"]);
    watch("ltlf:G(fill -> F drain)", "1 -1 2")
        .exits(1)
        .stderr_has(&["at the end of the run", "state  waiting_for_drain"]);
    watch("ltl:G(fill -> F drain)", "1").exits(0).stderr_has(&["presumably violated"]);
    watch("ltl:G \"level > 0\"", "1").exits(2).stderr_has(&["names no event of the program"]);
    watch("ltl:G(fil -> X drain)", "1")
        .exits(2)
        .stderr_has(&["there is no function `fil`", "did you mean `fill`"]);
}

#[test]
fn scenario_reacts_to_formula() {
    let folder = program::folder().file(
        "tell.scn",
        "on entering state waiting_for_drain of tidy { print(\"owed\") }\non leaving state waiting_for_drain { print(\"paid\") }\n",
    );
    folder
        .shell("invigil run --batch -p 'tidy=ltl:G(fill -> F drain)' -s tell.scn -- ./tank 1 -1 2")
        .exits(0)
        .stderr_has(&["owed\npaid\nowed"]);
}

#[test]
fn prompt_loads_formula() {
    let folder = program::folder()
        .file("rules.ltl", "one = G(fill -> \"amount < 5\")\ntwo = F drain\n")
        .file(
            "do",
            "load-property rules.ltl\nload-property x=ltlf:G(fill -> F drain)\ndelete-monitor two\ncontinue\n",
        );
    folder.shell("invigil run -p tank.prop --commands do -- ./tank 1 7").exits(1).stderr_has(&[
        "Monitoring tank, one, two, x\n",
        "Monitoring tank, x\n",
        "x: waiting_for_drain, violated at the end",
    ]);
}

#[test]
fn prompt_draws_formula() {
    let folder = program::folder().file("do", "continue\ngraph it.svg\nproperty\nkill\n");
    folder
        .shell("invigil run -p 'dry=ltl:G(drain -> O fill)' --commands do -- ./tank -1 2")
        .exits(1)
        .stderr_has(&[
            "Violation of dry\n  spec       G(drain -> O fill)\n  state      fine → violated",
            "dry: violated",
        ]);
    assert!(folder.read("it.svg").contains("data-state=\"violated\""));
}
