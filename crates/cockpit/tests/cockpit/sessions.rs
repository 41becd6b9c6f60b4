//! Files, the end of a session, and its report.

use crate::common::{QUEUE, attached, open, queue};
use invigil_check::report::Style;
use invigil_cockpit::Failed;
use invigil_cockpit::report::Told;
use std::fs;

#[test]
fn properties_that_are_loaded_later() {
    let mut test = open("", None, false).ok().unwrap();
    let path = test.folder.path().join("late.prop");
    fs::write(&path, QUEUE).unwrap();
    test.shows(&format!("load-property {}", path.display()), &["Watching late"]);
    test.shows("continue", &["Violation of late"]);
    test.shows("delete-monitor late", &["No property is watched; the program is at its beginning"]);
    test.refuses("load-property", "which file");
    test.refuses("load-property /none.prop", "/none.prop");
    test.refuses("load-scenario", "which file");
    test.refuses("load-functions", "which file");
    let scenario = test.folder.path().join("s.scn");
    fs::write(&scenario, "initialization { print(\"hello\") }").unwrap();
    test.says(&format!("load-scenario {}", scenario.display()));
    assert!(test.heard.borrow().contains(&"hello".to_owned()));
}

#[test]
fn a_file_that_cannot_be_used_changes_nothing() {
    let mut test = queue();
    let path = test.folder.path().join("bad.prop");
    fs::write(&path, "stat init").unwrap();
    test.refuses(&format!("load-property {}", path.display()), "bad.prop:1:1");
    fs::write(&path, QUEUE.replace("queue_push", "queue_puhs")).unwrap();
    test.refuses(&format!("load-property {}", path.display()), "did you mean `queue_push`?");
    test.shows("property", &["* 1 queue: init"]);
    test.shows("continue", &["Violation of queue"]);
}

#[test]
fn unknown_functions_are_pointed_out() {
    let Err(Failed::Input(words)) = open(&QUEUE.replace("queue_push", "queue_puhs"), None, false) else {
        panic!("there is no such function")
    };
    for part in
        ["there is no function `queue_puhs`", "queue.prop:8:15", "^^^^^^^^^^", "did you mean `queue_push`?"]
    {
        assert!(words.contains(part), "{words}");
    }
}

#[test]
fn recordings() {
    let mut test = queue();
    let path = test.folder.path().join("run.jsonl");
    test.shows(&format!("record {}", path.display()), &["from now on"]);
    test.says("continue");
    test.says("kill");
    let text = fs::read_to_string(path).unwrap();
    assert_eq!(text.lines().count(), 4, "{text}");
    assert!(text.contains("queue_push"), "{text}");
    test.refuses("record", "where to");
    test.refuses("record run.xyz", "the end of the name says how");
    test.refuses("record /no/such/folder/run.csv", "cannot write");
}

#[test]
fn questions_before_something_is_lost() {
    let mut test = open(QUEUE, None, true).ok().unwrap();
    test.says("continue");
    for line in ["quit", "kill", "run", "load-property x.prop"] {
        assert_eq!(test.says(line), "");
        assert!(test.cockpit.question().is_some(), "{line}");
    }
    assert!(!test.cockpit.is_over() && !test.log.borrow().killed);
    assert!(test.cockpit.run_surely("kill").unwrap().contains("begins it anew"));
    assert!(test.log.borrow().killed);
    // There is nothing left to lose.
    test.says("quit");
    assert!(test.cockpit.question().is_none() && test.cockpit.is_over());
}

#[test]
fn leaving() {
    let mut test = queue();
    test.shows("detach", &["runs on without us"]);
    test.refuses("continue", "has ended");
    test.says("q");
    assert!(test.cockpit.is_over());
    test.refuses("quit now", "takes nothing");
    test.refuses("detach now", "takes nothing");
}

#[test]
fn the_report() {
    let mut test = queue();
    test.says("checkpoint");
    test.says("continue");
    let report = test.cockpit.session().report();
    let told = Told {
        report: &report,
        loaded: test.cockpit.loaded(),
        crash: None,
        cut_short: Some("It was stopped."),
        errors: &[],
    };
    assert_eq!((told.violations(), told.is_complete()), (1, false));
    let text = told.text(&Style::default());
    for part in [
        "violation 1: queue with queue = 7\n  event  4",
        "  state  ready → sink\n",
        "  #0 queue_push (queue=7, c=2) at prog.c:3\n",
        "  #1 main () at prog.c:3\n       i = 2\n",
        "queue     violated",
        "checkpoints\n* 1  after event 0",
        "The program was watched for 4 events. It was stopped.",
    ] {
        assert!(text.contains(part) || text.contains(&part.replace("* 1", "  1")), "{part}\n{text}");
    }
    let json: serde_json::Value = serde_json::from_str(&told.json()).unwrap();
    assert_eq!(json["verdict"], "violated");
    assert_eq!(json["findings"][0]["slice"]["queue"], 7);
    assert_eq!(json["findings"][0]["path"][4]["state"], "sink");
    assert_eq!(json["findings"][0]["stack"][1]["locals"]["i"], "2");
    assert_eq!(json["program"]["end"], "alive");
    assert_eq!(json["checkpoints"][0]["event"], 0);
}

#[test]
fn a_program_that_ran_before_is_never_ended_unasked() {
    let mut test = attached("").ok().unwrap();
    let path = test.folder.path().join("late.prop");
    fs::write(&path, QUEUE).unwrap();
    test.shows(&format!("load-property {}", path.display()), &["Watching late\n"]);
    test.shows("continue", &["Violation of late"]);
    test.refuses("run", "cannot be begun anew");
    test.says("delete-monitor late");
    assert!(test.cockpit.question().unwrap().contains("properties are to begin anew"));
    let said = test.cockpit.run_surely("delete-monitor late").unwrap();
    assert!(said.contains("No property is watched from now on"), "{said}");
    fs::write(&path, QUEUE.replace("queue_push", "queue_puhs")).unwrap();
    test.refuses(&format!("load-property {}", path.display()), "did you mean `queue_push`?");
    test.says("quit");
    assert_eq!(test.cockpit.question().unwrap(), "Let the program run on, and leave?");
    let log = test.log.borrow();
    assert!(log.detached && !log.killed, "it was let go, and taken hold of again");
    drop(log);
    assert_eq!(test.cockpit.run_surely("kill").unwrap(), "The program is ended.\n");
    test.refuses("run", "not started from here");
}

#[test]
fn the_end_of_a_function() {
    let mut test = queue();
    test.shows("break -leave queue_push if c == 1", &["Breakpoint 1: the end of queue_push"]);
    test.shows("tbreak -leave queue_new", &["the end of queue_new"]);
    test.shows("info breakpoints", &["the end of queue_push", "if c == 1", "once"]);
    test.refuses("break -leave", "which function");
}
