//! Running the program, and points.

use crate::common::{QUEUE, open, open_program, queue};
use crate::fake::Op;

#[test]
fn a_violation_is_told_in_full() {
    let mut test = queue();
    let said = test.says("continue");
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
    assert_eq!(said, expected);
    assert_eq!(*test.heard.borrow(), ["queue: pushed 1", "queue: pushed 2"]);
}

#[test]
fn a_person_is_told_what_there_is_to_do_once() {
    let mut test = open(QUEUE, None, true).ok().unwrap();
    test.shows("continue", &["`help` lists all commands"]);
    test.says("break queue_push");
    assert!(!test.says("continue").contains("lists all commands"));
}

#[test]
fn the_end_of_the_program() {
    let mut test = queue();
    test.says("continue");
    test.shows("continue", &["The program has ended: it exited with status 0", "  queue: init, sink"]);
    test.refuses("continue", "the program has ended");
    test.refuses("kill", "not running");
    test.refuses("detach", "not running");
    test.refuses("checkpoint", "has ended");
    test.shows("run", &["Violation of queue"]);
    assert_eq!(test.log.borrow().begun, 2);
}

#[test]
fn steps() {
    let mut test = open("", None, false).ok().unwrap();
    test.shows("step", &["main () at prog.c:2", "> 2 | i = 0;"]);
    // In the same function the line is enough, and an empty line goes on.
    let said = test.says("");
    assert!(said.starts_with("queue_push") && said.contains("> 3 |"), "{said}");
    test.shows("next 2", &["> 5 |"]);
    test.shows("stepi", &["> 3 |"]);
    test.shows("finish", &["The value returned is 42"]);
    test.shows("until 3", &["> 3 |"]);
    test.refuses("until", "where to run to");
    test.refuses("step often", "`often` is not how often");
    test.refuses("step 0", "once is the least");
    test.refuses("finish now", "takes nothing");
}

#[test]
fn points_and_their_conditions() {
    let mut test = open("", None, false).ok().unwrap();
    test.shows("break queue_push if c == 2", &["Breakpoint 1: queue_push, prog.c"]);
    test.shows("tb queue_new", &["Breakpoint 2"]);
    test.shows("watch i", &["Watchpoint 3: writes of i"]);
    test.shows("rwatch i", &["Watchpoint 4: reads of i"]);
    test.shows("awatch i if i > 1", &["Watchpoint 5: accesses of i"]);
    test.shows("break", &["Breakpoint 6"]);
    test.shows("info breakpoints", &["if c == 2", "once", "reads of i", "queue_push"]);
    test.shows("disable 1", &["Turned off 1"]);
    test.shows("i b", &["off, if c == 2"]);
    test.shows("enable 1", &["Turned on 1"]);
    test.shows("ignore 3 16", &["takes the place of 3", "16 times"]);
    test.shows("delete 1,2", &["Removed 1, 2"]);
    test.shows("d", &["Removed 4, 5, 6, 7"]);
    test.shows("info b", &["There are no points"]);
    test.refuses("delete", "there are no points");
    test.refuses("delete 9", "there is no point 9: there is none at all");
    test.refuses("enable one", "`one` is not the number of a point");
    test.refuses("break nowhere", "there is no place `nowhere`");
    test.refuses("break queue_push if", "under which condition");
    test.refuses("watch", "what to watch");
    test.refuses("ignore", "which point");
    test.refuses("ignore 1", "how often");
}

#[test]
fn a_point_that_is_reached() {
    let mut test = open("", None, false).ok().unwrap();
    test.says("b queue_push");
    test.shows("c", &["Breakpoint 1, queue_push", "> 3 | queue_push(7, i);"]);
    test.says("watch i");
    test.shows("c", &["Watchpoint 2, i = 0"]);
    test.says("delete 2");
    test.shows("c 2", &["Breakpoint 1, queue_push", "c=2"]);
}

#[test]
fn a_signal_is_told_before_it_kills() {
    let ops = vec![Op::Set("i", 1), Op::Signal("SIGSEGV")];
    let mut test = open_program(ops, "", None, false).ok().unwrap();
    test.shows("continue", &["The program is about to get SIGSEGV", "main () at prog.c"]);
}

#[test]
fn commands_in_blocks() {
    let scenario = "on entering non-accepting state { print(debugger(\"print i\")); suspend_execution() }";
    let mut test = open(QUEUE, Some(scenario), false).ok().unwrap();
    test.says("continue");
    assert!(test.heard.borrow().contains(&"i = 2".to_owned()), "{:?}", test.heard.borrow());
    let scenario = "on entering non-accepting state { debugger(\"continue\") }";
    let mut test = open(QUEUE, Some(scenario), false).ok().unwrap();
    test.shows("continue", &["a block of the scenario failed", "cannot run the program"]);
    let scenario = "on entering non-accepting state { debugger(\"load-property x\") }";
    let mut test = open(QUEUE, Some(scenario), false).ok().unwrap();
    test.shows("continue", &["a block cannot load files"]);
}
