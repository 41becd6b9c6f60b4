//! Programs that corrupt their own memory: the state of the monitors is reported all the same.

use super::common::{BOTH, c, session};
use invigil_native::ProbeMode;
use invigil_session::RunOutcome;
use invigil_target::ResumeMode;

const COUNT: &str = "
    initialization { n = 0 }
    state init accepting { transition { event work(x) success { n = n + 1 } init } }";

/// Runs to the end, through any signals. Returns the number of calls, and the termination.
fn run_to_end(source: &str, property: &str, probes: ProbeMode) -> (u64, String) {
    let built = c(source, &["-O1"]);
    let mut session = session(&built, property, probes, false);
    for _ in 0..8 {
        if let RunOutcome::Ended(ending) = session.run(&ResumeMode::Continue).unwrap() {
            assert!(!session.monitors_lost(), "{probes:?}: what the monitors did is known");
            return (session.report().properties[0].steps, ending.to_string());
        }
    }
    panic!("the program does not end");
}

/// It corrupts its heap, and `free` and `malloc`, which have probes, fail on it.
#[test]
fn corrupt_heap_in_probed_functions_behaves_as_with_traps() {
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
    let [inline, trap] = BOTH.map(|probes| run_to_end(source, property, probes));
    assert_eq!(inline, trap);
    assert!(inline.0 > 600 && inline.1.starts_with("it was killed by"), "{inline:?}");
}

/// It crashes in the very instructions that execute elsewhere for a probe.
#[test]
fn crash_in_displaced_instructions_is_reported_at_original_address() {
    let source = r#"
        __attribute__((naked, noinline)) void work(long *at) { __asm__("incq (%rdi)\n\tnop\n\tnop\n\tret"); }
        int main(void) {
            long good = 0;
            for (long i = 0; i < 1000; i++) work(&good);
            work((long *) 16);
            return 0;
        }"#;
    for probes in BOTH {
        let built = c(source, &["-O1"]);
        let mut session = session(
            &built,
            "state init accepting { transition { event work(arg 1 as at) success init } }",
            probes,
            false,
        );
        let outcome = session.run(&ResumeMode::Continue).unwrap();
        assert!(matches!(outcome, RunOutcome::Signal { .. }), "{outcome:?}");
        // The reported address is the original one, not that of the copy.
        let frames = session.target().frames(4).unwrap();
        let names: Vec<&str> = frames.iter().map(|frame| frame.function.as_str()).collect();
        assert_eq!(names[..2], ["work", "main"], "{probes:?}");
        let outcome = session.run(&ResumeMode::Continue).unwrap();
        assert!(matches!(outcome, RunOutcome::Ended(_)), "{outcome:?}");
        assert_eq!(session.report().properties[0].steps, 1001, "{probes:?}");
    }
}

/// It overwrites its own code, jumps and traps included.
#[test]
fn overwritten_code_behaves_as_with_traps() {
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
        let (steps, ending) = run_to_end(source, COUNT, probes);
        // Overwritten sites are lost; the others still report.
        assert!((500..=1000).contains(&steps), "{probes:?}: {steps}");
        assert_eq!(ending, "it exited with status 7", "{probes:?}");
    }
}

/// The stack overflows while there are probes in all functions.
#[test]
fn stack_overflow_behaves_as_with_traps() {
    let source = r#"
        __attribute__((noinline)) long work(long x) {
            volatile char room[200];
            room[x % 200] = (char) x;
            return work(x + 1) + room[x % 100];
        }
        int main(void) { return (int) work(0); }"#;
    let [inline, trap] = BOTH.map(|probes| run_to_end(source, COUNT, probes));
    assert_eq!(inline.1, "it was killed by SIGSEGV");
    assert_eq!(trap.1, inline.1);
    // A probe itself needs some of the stack.
    assert!(inline.0 <= trap.0 && trap.0 - inline.0 < 100, "{inline:?} {trap:?}");
}
