//! Looking at the program, and changing it.

use crate::common::queue;

#[test]
fn the_stack() {
    let mut test = queue();
    test.says("continue");
    test.shows("where", &["> #0 queue_push (queue=7, c=2) at prog.c:3", "  #1 main () at prog.c:3"]);
    test.shows("bt 1", &["#0 queue_push", "there are more"]);
    test.shows("bt full", &["#1 main", "i = 2"]);
    test.shows("up", &["#1 main () at prog.c:3"]);
    test.shows("frame", &["#1 main"]);
    test.shows("info frame", &["#1 main", "at address 0x2"]);
    test.refuses("up", "there is no frame 2");
    test.shows("down", &["#0 queue_push"]);
    test.refuses("down", "innermost");
    test.shows("f 1", &["#1 main"]);
    test.refuses("frame 9", "there is no frame 9");
    test.refuses("frame one", "`one` is not a frame");
    test.refuses("where now", "`now` is not a number of frames");
}

#[test]
fn threads() {
    let mut test = queue();
    test.shows("thread", &["> 1  7  main    prog.c:1", "  2  9  helper  poll"]);
    test.shows("t 2", &["Thread 9 (helper)"]);
    test.shows("thread 7", &["Thread 7 (main)"]);
    test.refuses("thread 5", "there is no thread 5");
    test.refuses("thread x", "`x` is not a thread");
    test.shows("info threads", &["helper"]);
}

#[test]
fn values() {
    let mut test = queue();
    test.says("continue");
    test.shows("print i", &["i = 2\n"]);
    test.shows("p/x i", &["i = 0x2\n"]);
    test.shows("p/t i", &["i = 10\n"]);
    test.refuses("print", "what to print");
    test.refuses("print j", "there is no variable `j`");
    test.refuses("print/xyz i", "is no format");
    test.refuses("print/q i", "is no format");
    test.shows("ptype i", &["type = int"]);
    test.refuses("whatis", "the type of what");
    test.shows("set i = 9", &["i = 9"]);
    test.shows("set var i = 8", &["i = 8"]);
    test.refuses("set i", "is no assignment");
    test.refuses("set i == 3", "is no assignment");
    test.refuses("set j = 3", "cannot become");
    test.refuses("set", "what to change");
}

#[test]
fn memory_and_how_it_goes_on() {
    let mut test = queue();
    test.says("continue");
    test.shows("x/8xw i", &["i: 8x4"]);
    test.shows("", &["0x22: 8x4"]);
    test.shows("x/s i", &["i: 1s1"]);
    test.refuses("x", "from where");
    test.refuses("x/8y i", "neither a format");
    test.refuses("x/0x i", "between 1 and");
}

#[test]
fn the_sources() {
    let mut test = queue();
    test.says("continue");
    test.shows("list", &["  1 | queue_new(7, 2);", "> 3 | queue_push(7, i);", "  6 | exit(0);"]);
    test.refuses("list", "has 6 lines");
    test.refuses("list -", "the beginning of the file");
    test.shows("list queue_new", &["  1 | queue_new"]);
    test.shows("list 6", &["  6 | exit(0);"]);
    test.refuses("list nowhere", "there is no place `nowhere`");
    std::fs::remove_file(test.folder.path().join("prog.c")).unwrap();
    test.refuses("list 1", "cannot be read");
    test.shows("frame", &["queue_push (queue=7, c=2) at prog.c:3", "cannot be read"]);
}

#[test]
fn what_there_is() {
    let mut test = queue();
    test.shows("info locals", &["no local variables"]);
    test.says("continue");
    test.shows("info locals", &["i = 2"]);
    test.shows("info args", &["queue = 7", "c     = 2"]);
    test.shows("info registers", &["rip = 0x2"]);
    test.shows("info line", &["prog.c:3"]);
    test.shows("info line queue_new", &["prog.c:1"]);
    test.refuses("info line nowhere", "there is no place");
    test.shows("info program", &["process  7"]);
    test.shows("info signals", &["all are passed on"]);
    test.shows("info properties", &["* 1 queue: init (1), sink (1)"]);
    test.shows("info checkpoints", &["There are no checkpoints"]);
    test.shows("info stack", &["#1 main"]);
    test.refuses("info", "say what about");
    test.refuses("info nonsense", "nothing to tell about `nonsense`");
    test.refuses("info thraeds", "did you mean `threads`?");
}
