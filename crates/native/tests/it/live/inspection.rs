//! Inspecting a program and changing it.

use crate::live::common::{at, c, go, go_to, number, print, stop_at};
use invigil_target::prelude::*;
use invigil_target::{StopReason, Termination};

const LAYERS: &str = r#"
#include <signal.h>
struct point { int x; double y; char name[8]; };
struct point here = {1, 2.5, "origin"};
volatile int sink;
static inline __attribute__((always_inline)) int added(int a, int b) {
    int s = a + b;
    sink = s;
    return s;
}
void deepest(int level) {
    sink = level;
}
void handler(int number) {
    int in_handler = number + 1;
    deepest(in_handler);
}
int middle(int outer_value) {
    int local_value = outer_value * 2;
    raise(SIGUSR2);
    return added(local_value, outer_value);
}
int main(void) {
    int wanted = 3;
    signal(SIGUSR2, handler);
    int r = middle(wanted);
    return r + here.x;
}
"#;

#[test]
fn backtrace_crosses_handler_and_inlined_calls() {
    let program = c(LAYERS, &["-g", "-O0"]);
    let mut target = program.start();
    let deep = stop_at(&mut target, "program.c:12");
    go_to(&mut target, deep);
    let frames = target.frames(50).unwrap();
    let names: Vec<&str> = frames.iter().map(|frame| frame.function.as_str()).collect();
    assert_eq!(names[..2], ["deepest", "handler"]);
    let middle = names.iter().position(|name| *name == "middle").expect("the interrupted function");
    assert!(names[middle + 1..].contains(&"main"), "{names:?}");
    assert_eq!(print(&mut target, "^in_handler"), "13");
    target.select_frame(1).unwrap();
    assert_eq!(target.selected_frame(), 1);
    assert_eq!(print(&mut target, "in_handler"), "13");
    target.select_frame(middle).unwrap();
    let locals = target.locals().unwrap();
    assert!(locals.iter().any(|local| local.name == "local_value" && local.value == "6"), "{locals:?}");
    assert!(target.select_frame(1000).is_err());
    let inner = stop_at(&mut target, "program.c:8");
    go_to(&mut target, inner);
    let frames = target.frames(3).unwrap();
    assert_eq!((frames[0].function.as_str(), frames[0].inlined), ("added", true));
    assert_eq!(frames[1].function, "middle");
    assert_eq!(print(&mut target, "s"), "9");
    assert_eq!(print(&mut target, "^outer_value"), "3");
}

#[test]
fn assignment_changes_outcome() {
    let program = c(LAYERS, &["-g", "-O0"]);
    let mut target = program.start();
    let id = stop_at(&mut target, "program.c:25");
    go_to(&mut target, id);
    assert_eq!(at(&mut target), "main:25");
    target.assign("wanted", "10").unwrap();
    target.assign("here.x", "wanted + 1").unwrap();
    target.assign("here.y", "0.5").unwrap();
    assert_eq!(print(&mut target, "here.y"), "0.5");
    assert_eq!(print(&mut target, "here.name"), "\"origin\"");
    assert!(target.type_of("here").unwrap().contains("point"));
    assert!(target.assign("wanted + 1", "3").is_err());
    assert!(target.assign("*(int *) 8", "3").is_err());
    let id = stop_at(&mut target, "middle");
    go_to(&mut target, id);
    target.assign("$rdi", "20").unwrap();
    assert_eq!(go(&mut target), StopReason::Ended(Termination::Exited(71)));
}

#[test]
fn memory_is_shown_in_all_formats() {
    let program = c(LAYERS, &["-g", "-O0"]);
    let mut target = program.start();
    let words = |target: &mut invigil_native::NativeTarget, format, size| {
        let lines = target.examine_memory("&here", 1, format, size).unwrap();
        lines[0].split_once(":  ").unwrap().1.to_owned()
    };
    assert_eq!(words(&mut target, 'x', 4), "0x00000001");
    assert_eq!(words(&mut target, 'd', 2), "1");
    assert_eq!(words(&mut target, 't', 1), "00000001");
    assert_eq!(words(&mut target, 'o', 8), "0o1");
    let text = target.examine_memory("&here.name", 1, 's', 1).unwrap();
    assert!(text[0].ends_with("\"origin\""), "{text:?}");
    let float = target.examine_memory("&here.y", 1, 'f', 8).unwrap();
    assert!(float[0].ends_with("2.5"), "{float:?}");
    let code = target.examine_memory("&middle", 3, 'i', 1).unwrap();
    assert_eq!(code.len(), 3);
    assert!(code[0].contains("middle"), "{code:?}");
    let far = target.examine_memory("&here", 40, 'x', 1).unwrap();
    assert_eq!(far.len(), 3);
    assert!(target.examine_memory("8", 1, 'i', 1).is_err());
}

#[test]
fn registers_and_target_info_are_listed() {
    let program = c(LAYERS, &["-g", "-O0"]);
    let mut target = program.start();
    let id = stop_at(&mut target, "middle");
    go_to(&mut target, id);
    let registers = target.registers().unwrap();
    let rdi = registers.iter().find(|register| register.name == "rdi").unwrap();
    assert_eq!(rdi.value, "0x3");
    assert_eq!(number(&mut target, "outer_value"), 3);
    let line = target.source_line(None).unwrap().unwrap();
    assert_eq!((line.line, line.file.file_name().unwrap().to_str()), (18, Some("program.c")));
    assert_eq!(target.source_line(Some("deepest")).unwrap().unwrap().line, 11);
    assert!(target.complete_function("deep").contains(&"deepest".to_owned()));
    let info = target.info();
    assert!(info.iter().any(|(name, value)| name == "image" && value.contains("program")), "{info:?}");
}

#[test]
fn huge_counts_and_addresses_are_rejected() {
    let program = c(LAYERS, &["-g", "-O0"]);
    let mut target = program.start();
    let id = stop_at(&mut target, "middle");
    go_to(&mut target, id);
    assert!(target.select_frame(usize::MAX).is_err());
    let end = target.examine_memory("0xfffffffffffffff8", 8, 'x', 8).unwrap();
    assert_eq!(end.len(), 1, "{end:?}");
    assert!(target.examine_memory("0xfffffffffffffff8", 8, 's', 1).is_err());
    assert!(target.examine_memory("0xfffffffffffffff8", 8, 'i', 1).is_err());
    assert!(target.examine_memory("&here", usize::MAX, 'x', 8).is_err());
    for place in ["99999999999", "program.c:4294967296"] {
        let error = target.source_line(Some(place)).unwrap_err().to_string();
        assert!(error.starts_with("no file has a line"), "{place}: {error}");
    }
    let error = target.source_line(Some("\u{e9}")).unwrap_err().to_string();
    assert!(!error.contains("--later"), "{error}");
}
