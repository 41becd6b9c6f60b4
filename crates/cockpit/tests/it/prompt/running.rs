//! Running the target, breakpoints and watchpoints.

use crate::prompt::common::{QUEUE, open, open_program, queue};
use crate::prompt::fake_target::Op;

#[test]
fn violation_stop_shows_property_event_and_source() {
    let mut test = queue();
    let output = test.output_of("continue");
    let expected = "\
Violation of queue with queue = 7
  state      ready → sink (non-accepting)
  event      4, queue_push(queue=7)
  variables  N = 2, max = 2

queue_push (queue=7, c=2) at prog.c:3
  1 | queue_new(7, 2);
  2 | i = 0;
> 3 | queue_push(7, i);
  4 | i += 1;
  5 | if (i < 4) goto 3;
";
    assert_eq!(output, expected);
    assert_eq!(*test.printed.borrow(), ["queue: pushed 1", "queue: pushed 2"]);
}

#[test]
fn hint_is_shown_once() {
    let mut test = open(QUEUE, None, true).ok().unwrap();
    test.shows("continue", &["`help` lists all commands"]);
    test.output_of("break queue_push");
    assert!(!test.output_of("continue").contains("lists all commands"));
}

#[test]
fn exit_is_reported_and_run_restarts() {
    let mut test = queue();
    test.output_of("continue");
    test.shows("continue", &["The program exited with status 0", "  queue: init, sink"]);
    test.fails_with("continue", "the program has ended");
    test.fails_with("kill", "not running");
    test.fails_with("detach", "not running");
    test.fails_with("checkpoint", "has ended");
    test.shows("run", &["Violation of queue"]);
    assert_eq!(test.log.borrow().starts, 2);
}

#[test]
fn stepping_commands_stop_at_the_expected_lines() {
    let mut test = open("", None, false).ok().unwrap();
    test.shows("step", &["main () at prog.c:2", "> 2 | i = 0;"]);
    // Within a function only the line is shown, and an empty line repeats the command.
    let output = test.output_of("");
    assert!(output.starts_with("queue_push") && output.contains("> 3 |"), "{output}");
    test.shows("next 2", &["> 5 |"]);
    test.shows("stepi", &["> 3 |"]);
    test.shows("finish", &["Value returned: 42"]);
    test.shows("until 3", &["> 3 |"]);
    test.fails_with("until", "missing location");
    test.fails_with("step often", "expected a count, found `often`");
    test.fails_with("step 0", "at least 1");
    test.fails_with("finish now", "takes no arguments");
}

#[test]
fn breakpoints_are_set_listed_changed_and_deleted() {
    let mut test = open("", None, false).ok().unwrap();
    test.shows("break queue_push if c == 2", &["Breakpoint 1: queue_push, prog.c"]);
    test.shows("tb queue_new", &["Breakpoint 2"]);
    test.shows("watch i", &["Watchpoint 3: writes of i"]);
    test.shows("rwatch i", &["Watchpoint 4: reads of i"]);
    test.shows("awatch i if i > 1", &["Watchpoint 5: accesses of i"]);
    test.shows("break", &["Breakpoint 6"]);
    test.shows("info breakpoints", &["if c == 2", "once", "reads of i", "queue_push"]);
    test.shows("disable 1", &["Disabled 1"]);
    test.shows("i b", &["disabled, if c == 2"]);
    test.shows("enable 1", &["Enabled 1"]);
    test.shows("ignore 3 16", &["replaces 3", "16 hits"]);
    test.shows("delete 1,2", &["Deleted 1, 2"]);
    test.shows("d", &["Deleted 4, 5, 6, 7"]);
    test.shows("info b", &["No breakpoints"]);
    test.fails_with("delete", "there are no breakpoints");
    test.fails_with("delete 9", "no breakpoint 9: there are none");
    test.fails_with("enable one", "expected a breakpoint number, found `one`");
    test.fails_with("break nowhere", "there is no location `nowhere`");
    test.fails_with("break queue_push if", "missing condition");
    test.fails_with("watch", "missing lvalue");
    test.fails_with("ignore", "missing breakpoint number");
    test.fails_with("ignore 1", "missing count");
}

#[test]
fn breakpoint_stop_shows_location() {
    let mut test = open("", None, false).ok().unwrap();
    test.output_of("b queue_push");
    test.shows("c", &["Breakpoint 1, queue_push", "> 3 | queue_push(7, i);"]);
    test.output_of("watch i");
    test.shows("c", &["Watchpoint 2, i = 0"]);
    test.output_of("delete 2");
    test.shows("c 2", &["Breakpoint 1, queue_push", "c=2"]);
}

#[test]
fn fatal_signal_is_reported_before_exit() {
    let ops = vec![Op::Set("i", 1), Op::Signal("SIGSEGV")];
    let mut test = open_program(ops, "", None, false).ok().unwrap();
    test.shows("continue", &["The program is about to receive SIGSEGV", "main () at prog.c"]);
}

#[test]
fn block_can_run_commands_except_resuming() {
    let scenario = "on entering non-accepting state { print(debugger(\"print i\")); suspend_execution() }";
    let mut test = open(QUEUE, Some(scenario), false).ok().unwrap();
    test.output_of("continue");
    assert!(test.printed.borrow().contains(&"i = 2".to_owned()), "{:?}", test.printed.borrow());
    let scenario = "on entering non-accepting state { debugger(\"continue\") }";
    let mut test = open(QUEUE, Some(scenario), false).ok().unwrap();
    test.shows("continue", &["a block of the scenario failed", "cannot run the program"]);
    let scenario = "on entering non-accepting state { debugger(\"load-property x\") }";
    let mut test = open(QUEUE, Some(scenario), false).ok().unwrap();
    test.shows("continue", &["blocks cannot load files"]);
}
