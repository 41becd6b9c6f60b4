//! Loading files, ending a session, and the report.

use crate::prompt::common::{QUEUE, attached, open, queue};
use invigil_check::report::Style;
use invigil_cockpit::OpenError;
use invigil_cockpit::report::RunReport;
use std::fs;

#[test]
fn property_loaded_later_is_monitored_from_the_start() {
    let mut test = open("", None, false).ok().unwrap();
    let path = test.folder.path().join("late.prop");
    fs::write(&path, QUEUE).unwrap();
    test.shows(&format!("load-property {}", path.display()), &["Monitoring late"]);
    test.shows("continue", &["Violation of late"]);
    test.shows("delete-monitor late", &["No property is loaded; the program is at its start"]);
    test.fails_with("load-property", "missing file");
    test.fails_with("load-property /none.prop", "/none.prop");
    test.fails_with("load-scenario", "missing file");
    test.fails_with("load-functions", "missing file");
    let scenario = test.folder.path().join("s.scn");
    fs::write(&scenario, "initialization { print(\"hello\") }").unwrap();
    test.output_of(&format!("load-scenario {}", scenario.display()));
    assert!(test.printed.borrow().contains(&"hello".to_owned()));
}

#[test]
fn invalid_file_leaves_the_session_unchanged() {
    let mut test = queue();
    let path = test.folder.path().join("bad.prop");
    fs::write(&path, "stat init").unwrap();
    test.fails_with(&format!("load-property {}", path.display()), "bad.prop:1:1");
    fs::write(&path, QUEUE.replace("queue_push", "queue_puhs")).unwrap();
    test.fails_with(&format!("load-property {}", path.display()), "did you mean `queue_push`?");
    test.shows("property", &["* 1 queue: init"]);
    test.shows("continue", &["Violation of queue"]);
}

#[test]
fn unknown_function_is_reported_with_position() {
    let Err(OpenError::Input(words)) = open(&QUEUE.replace("queue_push", "queue_puhs"), None, false) else {
        panic!("there is no such function")
    };
    for part in
        ["there is no function `queue_puhs`", "queue.prop:8:15", "^^^^^^^^^^", "did you mean `queue_push`?"]
    {
        assert!(words.contains(part), "{words}");
    }
}

#[test]
fn record_writes_a_trace() {
    let mut test = queue();
    let path = test.folder.path().join("run.jsonl");
    test.shows(&format!("record {}", path.display()), &["from now on"]);
    test.output_of("continue");
    test.output_of("kill");
    let text = fs::read_to_string(path).unwrap();
    assert_eq!(text.lines().count(), 4, "{text}");
    assert!(text.contains("queue_push"), "{text}");
    test.fails_with("record", "missing file");
    test.fails_with("record run.xyz", "unknown trace format");
    test.fails_with("record /no/such/folder/run.csv", "cannot write");
}

#[test]
fn destructive_commands_ask_for_confirmation() {
    let mut test = open(QUEUE, None, true).ok().unwrap();
    test.output_of("continue");
    for line in ["quit", "kill", "run", "load-property x.prop"] {
        assert_eq!(test.output_of(line), "");
        assert!(test.debugger.take_question().is_some(), "{line}");
    }
    assert!(!test.debugger.has_quit() && !test.log.borrow().killed);
    assert!(test.debugger.run_confirmed("kill").unwrap().contains("restarts it"));
    assert!(test.log.borrow().killed);
    // No target is left, so there is no question.
    test.output_of("quit");
    assert!(test.debugger.take_question().is_none() && test.debugger.has_quit());
}

#[test]
fn quit_and_detach_end_the_session() {
    let mut test = queue();
    test.shows("detach", &["continues unmonitored"]);
    test.fails_with("continue", "has ended");
    test.output_of("q");
    assert!(test.debugger.has_quit());
    test.fails_with("quit now", "takes no arguments");
    test.fails_with("detach now", "takes no arguments");
}

#[test]
fn report_has_violation_stack_and_checkpoints() {
    let mut test = queue();
    test.output_of("checkpoint");
    test.output_of("continue");
    let report = test.debugger.session().report();
    let rendered = RunReport {
        report: &report,
        loaded: test.debugger.loaded(),
        crash: None,
        early_end_reason: Some("It was stopped."),
        errors: &[],
    };
    assert_eq!((rendered.violation_count(), rendered.is_complete()), (1, false));
    let text = rendered.text(&Style::default());
    for part in [
        "violation 1: queue with queue = 7\n  event  4",
        "  state  ready → sink\n",
        "  #0 queue_push (queue=7, c=2) at prog.c:3\n",
        "  #1 main () at prog.c:3\n       i = 2\n",
        "queue     violated",
        "checkpoints\n* 1  after event 0",
        "Monitored the program for 4 events. It was stopped.",
    ] {
        assert!(text.contains(part) || text.contains(&part.replace("* 1", "  1")), "{part}\n{text}");
    }
    let json: serde_json::Value = serde_json::from_str(&rendered.json()).unwrap();
    assert_eq!(json["verdict"], "violated");
    assert_eq!(json["findings"][0]["slice"]["queue"], 7);
    assert_eq!(json["findings"][0]["path"][4]["state"], "sink");
    assert_eq!(json["findings"][0]["stack"][1]["locals"]["i"], "2");
    assert_eq!(json["program"]["end"], "alive");
    assert_eq!(json["checkpoints"][0]["event"], 0);
}

#[test]
fn attached_process_is_detached_instead_of_killed() {
    let mut test = attached("").ok().unwrap();
    let path = test.folder.path().join("late.prop");
    fs::write(&path, QUEUE).unwrap();
    test.shows(&format!("load-property {}", path.display()), &["Monitoring late\n"]);
    test.shows("continue", &["Violation of late"]);
    test.fails_with("run", "cannot be restarted");
    test.output_of("delete-monitor late");
    assert!(test.debugger.take_question().unwrap().contains("All monitors will restart"));
    let output = test.debugger.run_confirmed("delete-monitor late").unwrap();
    assert!(output.contains("No property is loaded from now on"), "{output}");
    fs::write(&path, QUEUE.replace("queue_push", "queue_puhs")).unwrap();
    test.fails_with(&format!("load-property {}", path.display()), "did you mean `queue_push`?");
    test.output_of("quit");
    assert_eq!(test.debugger.take_question().unwrap(), "Detach from the program and quit?");
    let log = test.log.borrow();
    assert!(log.detached && !log.killed, "detached and attached again");
    drop(log);
    assert_eq!(test.debugger.run_confirmed("kill").unwrap(), "The program was killed.\n");
    test.fails_with("run", "cannot be restarted");
}

#[test]
fn break_leave_stops_at_the_return_of_a_function() {
    let mut test = queue();
    test.shows("break -leave queue_push if c == 1", &["Breakpoint 1: return of queue_push"]);
    test.shows("tbreak -leave queue_new", &["return of queue_new"]);
    test.shows("info breakpoints", &["return of queue_push", "if c == 1", "once"]);
    test.fails_with("break -leave", "missing function");
}
