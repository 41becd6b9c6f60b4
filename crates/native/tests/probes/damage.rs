//! Programs that damage themselves: what the monitors knew is told all the same.

use super::common::{BOTH, compiled, session};
use invigil_native::Probes;
use invigil_session::Outcome;
use invigil_session::subject::Resume;

const COUNT: &str = "
    initialization { n = 0 }
    state init accepting { transition { event work(x) success { n = n + 1 } init } }";

/// Runs to the end, through whatever signal it may be told of; how many calls there were, and how it ended.
fn told(source: &str, property: &str, probes: Probes) -> (u64, String) {
    let built = compiled("cc", source, &["-O1"]);
    let mut session = session(&built, property, probes, false);
    for _ in 0..8 {
        if let Outcome::Ended(ending) = session.run(&Resume::Continue).unwrap() {
            assert!(!session.is_blind(), "{probes:?}: what the monitors did is known");
            return (session.report().properties[0].steps, ending.to_string());
        }
    }
    panic!("the program does not end");
}

/// It destroys its heap, and `free` and `malloc`, which are probed, run into what is left.
#[test]
fn a_corrupt_heap_in_probed_functions() {
    let source = r#"
        #include <stdlib.h>
        #include <string.h>
        __attribute__((noinline)) void work(long x) { __asm__ volatile("" :: "r"(x) : "memory"); }
        int main(void) {
            char *all[200];
            for (long i = 0; i < 200; i++) { all[i] = malloc(24 + i * 8); work(i); }
            for (long i = 0; i < 200; i++) { memset(all[i] - 16, 0x41, 40 + i * 8); work(i); }
            for (long i = 0; i < 200; i++) { work(i); free(all[i]); work((long) malloc(100)); }
            return 0;
        }"#;
    let property = "
        initialization { n = 0 }
        state init accepting {
            transition { event work(x) success { n = n + 1 } init }
            transition { event malloc(arg 1 as size) success { n = n + 1 } init }
            transition { event free(arg 1 as at) success { n = n + 1 } init }
        }";
    let [inline, trap] = BOTH.map(|probes| told(source, property, probes));
    assert_eq!(inline, trap);
    assert!(inline.0 > 600 && inline.1.starts_with("it was killed by"), "{inline:?}");
}

/// It crashes in the very instructions that are executed elsewhere for a probe.
#[test]
fn a_crash_in_the_instructions_under_a_jump() {
    let source = r#"
        __attribute__((naked, noinline)) void work(long *at) { __asm__("incq (%rdi)\n\tnop\n\tnop\n\tret"); }
        int main(void) {
            long good = 0;
            for (long i = 0; i < 1000; i++) work(&good);
            work((long *) 16);
            return 0;
        }"#;
    for probes in BOTH {
        let built = compiled("cc", source, &["-O1"]);
        let mut session = session(
            &built,
            "state init accepting { transition { event work(arg 1 as at) success init } }",
            probes,
            false,
        );
        let outcome = session.run(&Resume::Continue).unwrap();
        assert!(matches!(outcome, Outcome::Signal { .. }), "{outcome:?}");
        // It is where the program says, not where the copy is.
        let frames = session.subject().frames(4).unwrap();
        let names: Vec<&str> = frames.iter().map(|frame| frame.function.as_str()).collect();
        assert_eq!(names[..2], ["work", "main"], "{probes:?}");
        let outcome = session.run(&Resume::Continue).unwrap();
        assert!(matches!(outcome, Outcome::Ended(_)), "{outcome:?}");
        assert_eq!(session.report().properties[0].steps, 1001, "{probes:?}");
    }
}

/// It writes over its own code, jumps and traps and all.
#[test]
fn code_that_is_overwritten() {
    let source = r#"
        #include <stdint.h>
        #include <string.h>
        #include <sys/mman.h>
        __attribute__((noinline)) long work(long x) { __asm__ volatile("" : "+r"(x) :: "memory"); return x + 1; }
        int main(void) {
            long sum = 0;
            for (long i = 0; i < 500; i++) sum += work(i);
            void *page = (void *) ((uintptr_t) work & ~4095ul);
            mprotect(page, 8192, PROT_READ | PROT_WRITE | PROT_EXEC);
            /* mov eax, 7; ret */
            memcpy((void *) work, "\xb8\x07\x00\x00\x00\xc3", 6);
            for (long i = 0; i < 500; i++) sum += work(i);
            return sum == 125250 + 3500 ? 7 : 8;
        }"#;
    for probes in BOTH {
        let (steps, ending) = told(source, COUNT, probes);
        // What is written over is gone, and what is not is still told.
        assert!((500..=1000).contains(&steps), "{probes:?}: {steps}");
        assert_eq!(ending, "it exited with status 7", "{probes:?}");
    }
}

/// The stack is used up while probes are everywhere on it.
#[test]
fn a_stack_that_overflows() {
    let source = r#"
        __attribute__((noinline)) long work(long x) {
            volatile char room[200];
            room[x % 200] = (char) x;
            return work(x + 1) + room[x % 100];
        }
        int main(void) { return (int) work(0); }"#;
    let [inline, trap] = BOTH.map(|probes| told(source, COUNT, probes));
    assert_eq!(inline.1, "it was killed by SIGSEGV");
    assert_eq!(trap.1, inline.1);
    // A probe needs some of the stack itself.
    assert!(inline.0 <= trap.0 && trap.0 - inline.0 < 100, "{inline:?} {trap:?}");
}
