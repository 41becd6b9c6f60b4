//! Arguments at the entry, reported at the exit.

use super::common::{BOTH, c, mechanisms, session, steps_to_end};
use invigil_native::ProbeMode;
use invigil_session::RunOutcome;
use invigil_target::ResumeMode;

/// Functions with several exits: returns, a tail call, and calls abandoned by `longjmp`; nested, and in threads. Each
/// returns its first argument, and writes it to `into`.
const CALLS: &str = r#"
#include <pthread.h>
#include <setjmp.h>
#define KEPT __attribute__((noinline, noipa))
static __thread jmp_buf out;
KEPT long twice(long x, long y) { __asm__ volatile("" ::: "rdi", "rsi", "memory"); return 2 * x + y; }
KEPT long deep(long x, long y) {
    if (x % 7 == 0) return twice(x, y);
    if (x % 5 == 0) longjmp(out, 1);
    long below = x > 3 ? deep(x - 3, y) : 0;
    __asm__ volatile("" ::: "rdi", "rsi", "memory");
    return 2 * x + y + 0 * below;
}
KEPT int into(long *place, long x) {
    long now = *place + deep(x % 4 + 1, 0) * 0;
    __asm__ volatile("" ::: "rdi", "rsi", "memory");
    *place = now + 1;
    return x % 2;
}
static void *work(void *unused) {
    long place = 0;
    for (volatile long i = 1; i < 300; i++) {
        if (!setjmp(out)) deep(i % 40, i);
        into(&place, i);
    }
    return unused;
}
int main(void) {
    pthread_t threads[3];
    work(0);
    for (int i = 0; i < 3; i++) pthread_create(&threads[i], 0, work, 0);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], 0);
    return 0;
}
"#;

const RIGHT: &str = "
initialization { ends = 0 }
state init accepting {
    transition { after event deep(arg 1 as x: int, arg 2 as y: int, ret as r: int) { return r == 2 * x + y } success { ends = ends + 1 } init failure bad }
}
state bad non-accepting
";

/// The object behind a pointer is read at the exit: it grows by one with each.
const BEHIND: &str = "
slice on t
initialization { last = 0 }
state init accepting {
    transition { after event into(#thread as t, *arg 1 as now: int) { return now == last + 1 } success { last = now } init failure bad }
}
state bad non-accepting
";

#[test]
fn arguments_are_available_at_function_exit() {
    for flags in [["-O2", "-g0"], ["-O2", "-g"], ["-O1", "-g0"], ["-O0", "-g"]] {
        let built = c(CALLS, &[flags[0], flags[1], "-pthread"]);
        for property in [RIGHT, BEHIND] {
            let seen = BOTH.map(|probes| {
                let mut session = session(&built, property, probes, false);
                let steps = steps_to_end(&mut session);
                let report = session.report();
                assert!(report.violations.is_empty(), "{flags:?} {probes:?} {:?}", report.violations);
                (steps, report.properties[0].slices)
            });
            assert_eq!(seen[0], seen[1], "{flags:?}");
            assert!(seen[0].0 >= 4 * 299, "{flags:?} {seen:?}");
        }
    }
}

#[test]
fn arguments_are_noted_by_probes() {
    let built = c(CALLS, &["-O2", "-g0", "-pthread"]);
    for (property, event) in [(RIGHT, "deep"), (BEHIND, "into")] {
        let mut session = session(&built, property, ProbeMode::Inline, false);
        session.run(&ResumeMode::Continue).unwrap();
        assert!(
            mechanisms(&mut session).contains(&(event.to_owned(), "probe".to_owned())),
            "{:?}",
            mechanisms(&mut session)
        );
    }
}

/// A text has its value at the entry. Probes do not note texts, and these must not get lost among the noted values.
#[test]
fn text_arguments_freed_before_exit_are_kept() {
    let source = "
        #include <string.h>
        #define KEPT __attribute__((noinline, noipa))
        static char name[8];
        KEPT long inner(long x) { __asm__ volatile(\"\" ::: \"rdi\", \"memory\"); return x; }
        KEPT long outer(char *text, long x) {
            long y = inner(x);
            memset(text, 'z', 7);
            __asm__ volatile(\"\" ::: \"rdi\", \"rsi\", \"memory\");
            return y;
        }
        int main(void) {
            for (long i = 0; i < 60; i++) { strcpy(name, i % 2 ? \"odd\" : \"even\"); outer(name, i); }
            return 0;
        }";
    let property = "
        initialization { N = 0 }
        state init accepting {
            transition { event inner(arg 1 as x: int) { return x % 10 != 7 } success init failure stopped }
            transition { after event inner(arg 1 as x: int) { return x == N } success init failure bad }
            transition { after event outer(arg 1 as s: str, arg 2 as x: int) { return x == N and s == ['even', 'odd'][x % 2] } success { N = N + 1 } init failure bad }
        }
        state stopped non-accepting {
            transition { after event inner(arg 1 as x: int) { return x == N } success init failure bad }
            transition { after event outer(arg 1 as s: str, arg 2 as x: int) success bad }
        }
        state bad non-accepting final";
    let built = c(source, &["-O2", "-g0"]);
    let seen = BOTH.map(|probes| {
        let mut session = session(&built, property, probes, true);
        let mut stops = 0;
        while let RunOutcome::Suspended(_) = session.run(&ResumeMode::Continue).unwrap() {
            assert!(stops < 10, "{probes:?} {:?}", session.report().violations);
            stops += 1;
        }
        (stops, session.report().properties[0].steps)
    });
    assert_eq!(seen, [(6, 180); 2]);
}

/// If the program stops in the middle of calls, the noted arguments move to the debugger and back.
#[test]
fn stops_between_entry_and_exit_keep_arguments() {
    let source = "
        #define KEPT __attribute__((noinline, noipa))
        KEPT long stop(long x) { __asm__ volatile(\"\" ::: \"memory\"); return x; }
        KEPT long outer(long x) { long y = stop(x); __asm__ volatile(\"\" ::: \"rdi\", \"memory\"); return y + 1; }
        int main(void) { long sum = 0; for (long i = 0; i < 50; i++) sum += outer(i); return sum == 0; }";
    let property = "
        initialization { ends = 0 }
        state init accepting {
            transition { event stop(arg 1 as x: int) { return x % 10 != 7 } success init failure stopped }
            transition { after event outer(arg 1 as x: int, ret as r: int) { return r == x + 1 and x == ends } success { ends = ends + 1 } init failure bad }
        }
        state stopped non-accepting {
            transition { after event outer(arg 1 as x: int, ret as r: int) { return r == x + 1 and x == ends } success { ends = ends + 1 } init failure bad }
        }
        state bad non-accepting final";
    for flags in [["-O2", "-g0"], ["-O2", "-g"]] {
        let built = c(source, &flags);
        let seen = BOTH.map(|probes| {
            let mut session = session(&built, property, probes, true);
            let mut stops = 0;
            while let RunOutcome::Suspended(_) = session.run(&ResumeMode::Continue).unwrap() {
                assert!(stops < 10, "{flags:?} {probes:?} {:?}", session.report().violations);
                stops += 1;
            }
            (stops, session.report().properties[0].steps)
        });
        assert_eq!(seen, [(5, 100); 2], "{flags:?}");
    }
}
