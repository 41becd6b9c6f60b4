//! Unwinding of real processes.

use crate::common::line_with;
use crate::common::stopped_process::Stopped;
use invigil_debuginfo::machine::{Inaccessible, Memory, RBP, RIP, RSP};
use invigil_test_support::Folder;
use nix::sys::signal::Signal;

const CHAIN: &str = r#"
#include <alloca.h>
#include <string.h>
volatile int sink;
__attribute__((noinline)) int leaf(int x) { __asm__ volatile("int3"); sink = x; return x + 1; }
__attribute__((noinline)) int middle(int x) {
    char *room = alloca(x + 16);
    memset(room, x, x + 16);
    return leaf(x) + room[3]; // call
}
__attribute__((noinline)) int outer(int a, int b, int c, int d, int e, int f, int g, int h) {
    sink = a + b + c + d + e + f + g + h;
    int r = middle(a);
    for (int i = 0; i < sink; i++) r += a * b + c * d + e * f + g * h + sink;
    return r + a + b + c + d + e + f + g + h;
}
int main(void) { return outer(1, 2, 3, 4, 5, 6, 7, 8) & 1; }
"#;

#[test]
fn call_stack_is_complete_for_all_compiler_options() {
    let folder = Folder::new();
    for options in [
        &["-g", "-O0"][..],
        &["-g", "-O2", "-fomit-frame-pointer"],
        &["-g", "-O2", "-static"],
        &["-g", "-O1", "-fno-pie", "-no-pie"],
        &["-g", "-O2", "-gdwarf-4"],
        // No `.eh_frame`: the rules are in `.debug_frame`.
        &["-g", "-O2", "-fno-asynchronous-unwind-tables"],
        &["-g", "-O2", "-fno-asynchronous-unwind-tables", "-gz"],
        // No search table: the section itself is searched.
        &["-g", "-O2", "-Wl,--no-eh-frame-hdr"],
        // No rules at all: by the frame pointers.
        &["-O0", "-fno-asynchronous-unwind-tables"],
        &["-O2"],
    ] {
        let mut subject = Stopped::start(&folder.c(CHAIN, options));
        subject.run_to_trap();
        assert_eq!(subject.calls(), ["leaf", "middle", "outer", "main"], "{options:?}");
        let frames = subject.program.unwind(&subject.registers(), &subject, 100);
        assert!(!frames[0].is_caller && frames[1].is_caller);
        assert!(frames.windows(2).all(|pair| pair[1].registers.sp() > pair[0].registers.sp()));
        if options.contains(&"-g") {
            assert_eq!(frames[1].line.as_ref().unwrap().line, line_with(CHAIN, "// call"), "{options:?}");
            assert_eq!(frames[0].cfa, Some(frames[1].registers.sp()));
            assert_eq!(subject.program.cfa_at(&subject.registers(), &subject), frames[0].cfa);
        }
        assert_eq!(subject.program.unwind(&subject.registers(), &subject, 2).len(), 2);
    }
}

#[test]
fn unwinding_works_at_every_instruction() {
    let folder = Folder::new();
    let text = CHAIN.replace("__asm__ volatile(\"int3\");", "");
    for options in [&["-g", "-O0"][..], &["-g", "-O2", "-fomit-frame-pointer"], &["-g", "-Os"]] {
        let mut subject = Stopped::start(&folder.c(&text, options));
        let outer = subject.program.functions("outer").remove(0);
        subject.run_to_address(outer.entry.unwrap());
        assert_eq!(subject.calls(), ["outer", "main"], "at the first instruction");
        let after = subject.program.step_out(&subject.registers(), &subject).unwrap();
        let mut seen = std::collections::BTreeSet::new();
        let mut count = 0;
        while subject.registers().pc() != after.pc() {
            let calls = subject.calls();
            let frames = calls.len();
            // Calls of the C library go through its loader; only unwinding out of it is checked.
            assert!(frames >= 2, "{calls:?}");
            assert_eq!(
                calls[frames - 2..],
                ["outer", "main"],
                "at {:#x} {options:?}",
                subject.registers().pc()
            );
            seen.insert(calls);
            subject.step();
            count += 1;
            assert!(count < 100_000);
        }
        // The return address and the registers after returning were known at the first instruction.
        let found = subject.registers();
        for register in [3, 6, 7, 12, 13, 14, 15, 16].map(gimli::Register) {
            assert_eq!(after.get(register), found.get(register), "{register:?} {options:?}");
        }
        assert_eq!(after.get(gimli::Register(0)), None, "what a call may change is not known");
        let chain = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        assert!(seen.contains(&chain(&["leaf", "middle", "outer", "main"])), "{seen:?}");
    }
}

const SIGNALS: &str = r#"
#define _GNU_SOURCE
#include <signal.h>
#include <stdlib.h>
__attribute__((noinline)) void leaf(int x) { __asm__ volatile("int3" : : "r"(x)); }
void handler(int signal) { leaf(signal); __asm__ volatile(""); }
__attribute__((noinline)) int work(volatile int *x) {
    *x = 1;
    __asm__ volatile("ud2"); // here
    return *x;
}
int main(int argc, char **argv) {
    (void)argv;
    struct sigaction action = { .sa_handler = handler };
#ifdef OWN_STACK
    static char room[1 << 16];
    stack_t stack = { .ss_sp = room, .ss_size = sizeof room };
    sigaltstack(&stack, 0);
    action.sa_flags = SA_ONSTACK;
#endif
    sigaction(SIGILL, &action, 0);
    return work(&argc);
}
"#;

#[test]
fn unwinding_crosses_signal_handler() {
    let folder = Folder::new();
    for options in
        [&["-g", "-O2"][..], &["-g", "-O2", "-DOWN_STACK"], &["-g", "-O0", "-static", "-DOWN_STACK"]]
    {
        let mut subject = Stopped::start(&folder.c(SIGNALS, options));
        subject.run_to_trap();
        let calls = subject.calls();
        assert_eq!(
            (&calls[..2], &calls[3..]),
            (&["leaf".into(), "handler".into()][..], &["work".into(), "main".into()][..]),
            "{calls:?}"
        );
        let frames = subject.program.unwind(&subject.registers(), &subject, 100);
        // The interrupted instruction is the next one to run, so it is not looked up at `pc - 1`.
        assert!(!frames[3].is_caller);
        assert_eq!(frames[3].line.as_ref().unwrap().line, line_with(SIGNALS, "// here"), "{options:?}");
        let interrupted = frames[3].registers;
        assert!(interrupted.get(gimli::Register(5)).is_some(), "the kernel saved all registers");
    }
}

#[test]
fn inlined_calls_have_their_own_frames() {
    let folder = Folder::new();
    let text = r#"
volatile int sink;
static inline __attribute__((always_inline)) int inner(int x) { sink = x; __asm__ volatile("int3"); return x / 3; }
static inline __attribute__((always_inline)) int outer(int x) { return inner(x + 1) * 2; } // calls inner
__attribute__((noinline)) int work(int x) { return outer(x) + 1; } // calls outer
int main(int argc, char **argv) { (void)argv; return work(argc) & 1; }
"#;
    let mut subject = Stopped::start(&folder.c(text, &["-g", "-O2"]));
    subject.run_to_trap();
    assert_eq!(subject.calls(), ["inner", "outer", "work", "main"]);
    let frames = subject.program.unwind(&subject.registers(), &subject, 10);
    assert_eq!(
        frames.iter().map(|frame| frame.is_inlined).take(4).collect::<Vec<_>>(),
        [true, true, false, false]
    );
    assert_eq!(frames[0].registers, frames[2].registers);
    assert_eq!(frames[1].line.as_ref().unwrap().line, line_with(text, "// calls inner"));
    assert_eq!(frames[2].line.as_ref().unwrap().line, line_with(text, "// calls outer"));
}

#[test]
fn call_to_invalid_address_unwinds_to_caller() {
    let folder = Folder::new();
    let text = r#"
void (*volatile nothing)(void) = 0;
__attribute__((noinline)) void work(void) { nothing(); __asm__ volatile(""); }
int main(void) { work(); return 0; }
"#;
    let mut subject = Stopped::start(&folder.c(text, &["-g", "-O2"]));
    subject.run_to(Signal::SIGSEGV);
    assert_eq!(subject.registers().pc(), 0);
    assert_eq!(subject.calls(), ["?", "work", "main"]);
}

#[test]
fn deep_recursion_is_cut_at_limit() {
    let folder = Folder::new();
    let text = r#"
volatile int sink;
int down(int n) { if (n == 0) { __asm__ volatile("int3"); return 0; } int r = down(n - 1); sink = r; return r + sink; }
int main(void) { return down(3000); }
"#;
    let mut subject = Stopped::start(&folder.c(text, &["-g", "-O0"]));
    subject.run_to_trap();
    let registers = subject.registers();
    assert_eq!(subject.program.unwind(&registers, &subject, 500).len(), 500);
    let all = subject.program.unwind(&registers, &subject, 100_000);
    let names =
        all.iter().filter_map(|frame| frame.function.as_ref()).filter(|function| function.name == "down");
    assert_eq!(names.count(), 3001);
    assert!(all.len() < 3020, "it ends after `main`, with {} frames", all.len());
}

#[test]
fn call_stack_includes_library_functions() {
    let folder = Folder::new();
    let text = r#"
#include <stdlib.h>
static int compare(const void *a, const void *b) {
    __asm__ volatile("int3");
    return *(const int *)a - *(const int *)b;
}
int main(void) { int all[3] = {3, 1, 2}; qsort(all, 3, sizeof all[0], compare); return all[0]; }
"#;
    let mut subject = Stopped::start(&folder.c(text, &["-g", "-O2"]));
    subject.run_to_trap();
    let calls = subject.calls();
    assert_eq!(
        (calls.first().map(String::as_str), calls.last().map(String::as_str)),
        (Some("compare"), Some("main"))
    );
    assert!(calls.iter().any(|name| name.contains("qsort")), "{calls:?}");
    let found = subject.program.functions("qsort");
    assert_eq!(found.len(), 1, "{found:?}");
}

/// A stack whose words all point back to the stack.
struct Circle<'a>(&'a Stopped, u64);

impl Memory for Circle<'_> {
    fn read(&self, at: u64, into: &mut [u8]) -> Result<(), Inaccessible> {
        if self.0.program.image_at(at).is_some() {
            return self.0.read(at, into);
        }
        for (position, byte) in into.iter_mut().enumerate() {
            *byte = self.1.to_le_bytes()[position % 8];
        }
        Ok(())
    }
}

#[test]
fn unwinding_corrupted_stack_terminates() {
    let folder = Folder::new();
    let mut subject = Stopped::start(&folder.c(CHAIN, &["-g", "-O0"]));
    subject.run_to_trap();
    let good = subject.registers();
    let middle = subject.program.functions("middle")[0].entry.unwrap() + 8;
    for stack in [0, 8, good.sp(), good.sp() & !0xfff, u64::MAX - 7, u64::MAX] {
        for value in [0, 1, middle, u64::MAX, stack] {
            let mut registers = good;
            registers.set(RSP, Some(stack));
            registers.set(RBP, Some(value));
            let _ = subject.program.unwind(&registers, &subject, 200);
            let frames = subject.program.unwind(&registers, &Circle(&subject, value), 200);
            assert!((1..=200).contains(&frames.len()));
            registers.set(RIP, Some(value));
            let _ = subject.program.unwind(&registers, &Circle(&subject, middle), 200);
            registers.set(RSP, None);
            assert!(!subject.program.unwind(&registers, &subject, 200).is_empty());
        }
    }
}
