//! Inspecting and modifying the target.

use crate::prompt::common::queue;

#[test]
fn stack_commands_show_and_select_frames() {
    let mut test = queue();
    test.output_of("continue");
    test.shows("where", &["> #0 queue_push (queue=7, c=2) at prog.c:3", "  #1 main () at prog.c:3"]);
    test.shows("bt 1", &["#0 queue_push", "more frames"]);
    test.shows("bt full", &["#1 main", "i = 2"]);
    test.shows("up", &["#1 main () at prog.c:3"]);
    test.shows("frame", &["#1 main"]);
    test.shows("info frame", &["#1 main", "at address 0x2"]);
    test.fails_with("up", "there is no frame 2");
    test.shows("down", &["#0 queue_push"]);
    test.fails_with("down", "innermost");
    test.shows("f 1", &["#1 main"]);
    test.fails_with("frame 9", "there is no frame 9");
    test.fails_with("frame one", "expected a frame number, found `one`");
    test.fails_with("where now", "expected a number of frames or `full`, found `now`");
}

#[test]
fn threads_are_listed_and_selected() {
    let mut test = queue();
    test.shows("thread", &["> 1  7  main    prog.c:1", "  2  9  helper  poll"]);
    test.shows("t 2", &["Thread 9 (helper)"]);
    test.shows("thread 7", &["Thread 7 (main)"]);
    test.fails_with("thread 5", "no thread 5");
    test.fails_with("thread x", "expected a thread number, found `x`");
    test.shows("info threads", &["helper"]);
}

#[test]
fn values_are_printed_and_assigned() {
    let mut test = queue();
    test.output_of("continue");
    test.shows("print i", &["i = 2\n"]);
    test.shows("p/x i", &["i = 0x2\n"]);
    test.shows("p/t i", &["i = 10\n"]);
    test.fails_with("print", "missing expression");
    test.fails_with("print j", "there is no variable `j`");
    test.fails_with("print/xyz i", "unknown format");
    test.fails_with("print/q i", "unknown format");
    test.shows("ptype i", &["type = int"]);
    test.fails_with("whatis", "missing expression");
    test.shows("set i = 9", &["i = 9"]);
    test.shows("set var i = 8", &["i = 8"]);
    test.fails_with("set i", "is not an assignment");
    test.fails_with("set i == 3", "is not an assignment");
    test.fails_with("set j = 3", "cannot become");
    test.fails_with("set", "missing assignment");
}

#[test]
fn empty_line_continues_examining_memory() {
    let mut test = queue();
    test.output_of("continue");
    test.shows("x/8xw i", &["i: 8x4"]);
    test.shows("", &["0x22: 8x4"]);
    test.shows("x/s i", &["i: 1s1"]);
    test.fails_with("x", "missing address");
    test.fails_with("x/8y i", "neither a format");
    test.fails_with("x/0x i", "between 1 and");
}

#[test]
fn source_lines_are_listed() {
    let mut test = queue();
    test.output_of("continue");
    test.shows("list", &["  1 | queue_new(7, 2);", "> 3 | queue_push(7, i);", "  6 | exit(0);"]);
    test.fails_with("list", "has only 6 lines");
    test.fails_with("list -", "already at the start of the file");
    test.shows("list queue_new", &["  1 | queue_new"]);
    test.shows("list 6", &["  6 | exit(0);"]);
    test.fails_with("list nowhere", "there is no place `nowhere`");
    std::fs::remove_file(test.folder.path().join("prog.c")).unwrap();
    test.fails_with("list 1", "cannot read source file");
    test.shows("frame", &["queue_push (queue=7, c=2) at prog.c:3", "cannot read source file"]);
}

#[test]
fn info_shows_each_topic() {
    let mut test = queue();
    test.shows("info locals", &["no local variables"]);
    test.output_of("continue");
    test.shows("info locals", &["i = 2"]);
    test.shows("info args", &["queue = 7", "c     = 2"]);
    test.shows("info registers", &["rip = 0x2"]);
    test.shows("info line", &["prog.c:3"]);
    test.shows("info line queue_new", &["prog.c:1"]);
    test.fails_with("info line nowhere", "there is no place");
    test.shows("info program", &["process  7"]);
    test.shows("info signals", &["all are passed on"]);
    test.shows("info properties", &["* 1 queue: init (1), sink (1)"]);
    test.shows("info checkpoints", &["No checkpoints"]);
    test.shows("info stack", &["#1 main"]);
    test.fails_with("info", "missing topic");
    test.fails_with("info nonsense", "unknown topic `nonsense`");
    test.fails_with("info thraeds", "did you mean `threads`?");
}
