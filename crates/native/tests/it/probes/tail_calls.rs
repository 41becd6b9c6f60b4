//! Functions that end with a tail call.

use super::common::{BOTH, c, cpp, mechanisms, session, session_of, steps_to_end};
use invigil_native::ProbeMode;
use invigil_session::{RunOutcome, Session};
use invigil_target::{BreakpointKind, BreakpointSpec, Owner, ResumeMode, Termination};
use invigil_test_support::Program;

/// All kinds of tail calls: several at the same place of the stack, in a circle, through a pointer, conditional,
/// beside a jump table, out of a function that `longjmp` abandons, and with a signal handler in between.
const TAILS: &str = r#"
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#define KEPT __attribute__((noinline, noipa))
#define CLOBBER __asm__ volatile("" ::: "rdi", "rsi", "rdx", "rcx", "memory")
static jmp_buf out;
static volatile long sink;
KEPT long last(long x, long y) { sink += x; CLOBBER; return 3 * x + y; }
KEPT long middle(long x, long y) { sink++; CLOBBER; return last(x + 1, y); }
KEPT long first(long x, long y) { sink++; CLOBBER; return middle(x + 1, y); }
KEPT long odd(long n, long x);
KEPT long even(long n, long x) { if (n == 0) return x; CLOBBER; return odd(n - 1, x + 1); }
KEPT long odd(long n, long x) { if (n == 0) return -x; CLOBBER; return even(n - 1, x + 2); }
long (*volatile pointer)(long, long) = last;
KEPT long through(long x, long y) { CLOBBER; return pointer(x, y); }
KEPT long perhaps(long x, long y) { if (x & 1) return last(x, y); sink++; return x; }
KEPT long table(long x, long y) {
    switch (x % 8) {
        case 0: sink += 1; return y;
        case 1: sink += 2; return last(x, y);
        case 2: sink += 3; return y + 2;
        case 3: sink += 4; return middle(x, y);
        case 4: sink += 5; return y + 9;
        case 5: sink += 6; return 2 * y;
        case 6: sink += 7; return first(y, x);
        default: return 7;
    }
}
/* Compilers seldom write a jump to another function that depends on a condition. */
long choose(long x, long y);
__asm__(".globl choose\n.type choose, @function\nchoose:\n"
        "testq $1, %rdi\njne last\nleaq 5(%rdi), %rax\nret\n.size choose, . - choose\n");
KEPT long leaps(long x) { if (x % 3 == 0) longjmp(out, 1); return x; }
KEPT long leaving(long x) { CLOBBER; sink++; return leaps(x + 1); }
KEPT long raises(long x) { raise(SIGUSR1); return x; }
KEPT long signals(long x) { CLOBBER; sink++; return raises(x + 1); }
static void handler(int signal) { first(signal, 5); }
KEPT long deep(long n) { if (n == 0) return first(n, n); return deep(n - 1) + middle(n, 1); }
KEPT void end(void) { __asm__ volatile("" ::: "memory"); }
static void all(long i) {
    first(i, 1);
    even(i % 7, i);
    through(i, 2);
    perhaps(i, 3);
    table(i, 4);
    choose(i, 5);
    if (!setjmp(out)) leaving(i);
    if (i % 4 == 0) signals(i);
    deep(i % 5);
    free(calloc(i % 9 + 1, 300));
    free(realloc(0, i + 1));
}
int main(void) {
    signal(SIGUSR1, handler);
    for (volatile long i = 0; i < ROUNDS; i++) all(i);
    end();
    return 0;
}
"#;

/// All of these exits, with arguments and return values.
const ENDS: &str = "
initialization { ends = 0 }
state init accepting {
    transition { after event first(arg 1 as x: int, arg 2 as y: int, ret as r: int) { return x + y + r != 987654321 } success { ends = ends + 1 } init }
    transition { after event middle(arg 1 as x: int, ret as r: int) { return x + r != 987654321 } success { ends = ends + 1 } init }
    transition { after event last(ret as r: int) { return r != 987654321 } success { ends = ends + 1 } init }
    transition { after event even(arg 1 as n: int, arg 2 as x: int, ret as r: int) { return n + x + r != 987654321 } success { ends = ends + 1 } init }
    transition { after event odd(arg 2 as x: int, ret as r: int) { return x + r != 987654321 } success { ends = ends + 1 } init }
    transition { after event through(ret as r: int, arg 2 as y: int) { return r + y != 987654321 } success { ends = ends + 1 } init }
    transition { after event perhaps(arg 1 as x: int, ret as r: int) { return x + r != 987654321 } success { ends = ends + 1 } init }
    transition { after event table(arg 1 as x: int, ret as r: int) { return x + r != 987654321 } success { ends = ends + 1 } init }
    transition { after event choose(arg 1 as x: int, ret as r: int) { return x + r != 987654321 } success { ends = ends + 1 } init }
    transition { after event leaving(arg 1 as x: int, ret as r: int) { return x + r != 987654321 } success { ends = ends + 1 } init }
    transition { after event signals(arg 1 as x: int, ret as r: int) { return x + r != 987654321 } success { ends = ends + 1 } init }
    transition { after event deep(ret as r: int) { return r != 987654321 } success { ends = ends + 1 } init }
    transition { after event calloc(arg 1 as count: int, arg 2 as size: int) { return count + size != 987654321 } success { ends = ends + 1 } init }
    transition { after event realloc(arg 1 as p: int, arg 2 as size: int) { return p + size != 987654321 } success { ends = ends + 1 } init }
}
";

fn tails(rounds: u32, flags: &[&str]) -> Program {
    let rounds = format!("-DROUNDS={rounds}");
    c(TAILS, &[&[&*rounds, "-fno-builtin"], flags].concat())
}

/// The events of a run, in their order.
fn event_lines(session: &mut Session) -> Vec<String> {
    let count = session.event_count();
    let past = session.events(1..=count).into_iter().map(|past| past.event);
    past.map(|event| format!("{} {:?}", event.name, event.params)).collect()
}

#[test]
fn probes_and_traps_report_same_tail_call_events() {
    for flags in [["-O2", "-g0"], ["-O2", "-g"], ["-O1", "-g0"], ["-O3", "-g"]] {
        let built = tails(20, &flags);
        let [inline, trap] = BOTH.map(|probes| {
            let mut session = session(&built, ENDS, probes, false);
            steps_to_end(&mut session);
            (session.report().properties[0].steps, event_lines(&mut session))
        });
        assert!(trap.0 > 400, "{flags:?} {}", trap.0);
        if let Some(at) = inline.1.iter().zip(&trap.1).position(|(one, other)| one != other) {
            let around = at.saturating_sub(3)..at + 3;
            panic!("{flags:?} {:#?}", (&inline.1[around.clone()], &trap.1[around]));
        }
        assert_eq!(inline.0, trap.0, "{flags:?}");
        assert_eq!(inline.1.len(), trap.1.len(), "{flags:?}");
    }
}

/// Runs a program under a property that it does not violate, in both modes. Returns the counts.
fn count_steps(built: &Program, property: &str) -> u64 {
    let [inline, trap] = BOTH.map(|probes| {
        let mut session = session(built, property, probes, false);
        let steps = steps_to_end(&mut session);
        let report = session.report();
        assert!(report.violations.is_empty(), "{probes:?} {:?}", report.violations);
        steps
    });
    assert_eq!(inline, trap);
    inline
}

/// The program counts its own stops.
#[test]
fn tail_calls_do_not_stop_target() {
    let source = "
        #include <stdlib.h>
        #include <sys/resource.h>
        #define KEPT __attribute__((noinline, noipa))
        KEPT long inner(long x) { __asm__ volatile(\"\" ::: \"memory\"); return x + 1; }
        KEPT long outer(long x) { __asm__ volatile(\"\" ::: \"rdi\", \"memory\"); return inner(x); }
        KEPT void stopped(long times) { __asm__ volatile(\"\" :: \"r\"(times) : \"memory\"); }
        static long times(void) { struct rusage used; getrusage(RUSAGE_SELF, &used); return used.ru_nvcsw; }
        int main(void) {
            long before = times();
            for (volatile long i = 0; i < 5000; i++) { outer(i); free(calloc(1, 1000)); }
            stopped(times() - before);
            return 0;
        }";
    let property = "
        initialization { ends = 0; pieces = 0 }
        state init accepting {
            transition { after event outer(arg 1 as x: int, ret as r: int) { return r == x + 1 and x == ends } success { ends = ends + 1 } init failure bad }
            transition { after event calloc(ret as p: int) { return p != 0 } success { pieces = pieces + 1 } init failure bad }
            transition { event stopped(arg 1 as times: int) { return times < 200 and ends == 5000 and pieces == 5000 } success init failure bad }
        }
        state bad non-accepting final";
    for flags in [["-O2", "-g0"], ["-O2", "-g"]] {
        let built = c(source, &[flags[0], flags[1], "-fno-builtin"]);
        let mut session = session(&built, property, ProbeMode::Inline, false);
        steps_to_end(&mut session);
        assert!(session.report().violations.is_empty(), "{flags:?} {:?}", session.report().violations);
        let outer = mechanisms(&mut session).into_iter().filter(|(event, _)| event == "outer");
        assert!(outer.into_iter().all(|(_, how)| how.starts_with("probe")), "{:?}", mechanisms(&mut session));
    }
}

/// Threads with tail calls at the same sites, while all are stopped again and again.
const THREADS: &str = r#"
#include <pthread.h>
#define KEPT __attribute__((noinline, noipa))
volatile int over;
KEPT long inner(long x, long *place) { *place = x; __asm__ volatile("" ::: "memory"); return x + 1; }
#ifdef CONDITION
long between(long x, long *place);
__asm__(".globl between\n.type between, @function\nbetween:\n"
        "movq $6, (%rsi)\naddq $1, %rdi\njns inner\nleaq 7(%rdi), %rax\nret\n.size between, . - between\n");
#else
KEPT long between(long x, long *place) { *place = 6; __asm__ volatile("" ::: "rcx", "memory"); return inner(x + 1, place); }
#endif
KEPT long outer(long x, long *place) { *place = 5; __asm__ volatile("" ::: "rcx", "memory"); return between(x, place); }
KEPT void tick(long i) { for (volatile long j = 0; j < 20000; j++) {} __asm__ volatile("" :: "r"(i) : "memory"); }
static void *run(void *unused) {
    long place;
    for (long i = 0; !over; i++) if (outer(i, &place) != i + 2 || place != i + 1) __builtin_trap();
    return unused;
}
int main(void) {
    pthread_t all[4];
    for (int i = 0; i < 4; i++) pthread_create(&all[i], 0, run, 0);
    for (long i = 0; i < TICKS; i++) tick(i);
    over = 1;
    for (int i = 0; i < 4; i++) pthread_join(all[i], 0);
    return 0;
}
"#;

/// All events are used in one state: events of a state that is not entered yet are not trapped, so a tail call made
/// then has no observed exit.
const NESTED: &str = "
slice on t
initialization { n = 0; phase = 0 }
state init accepting {
    transition { event outer(#thread as t, arg 1 as x: int) { return x == n and phase == 0 } success { phase = 1 } init failure bad }
    transition { event inner(#thread as t, arg 1 as x: int) { return x == n + 1 and phase == 1 } success { phase = 2 } init failure bad }
    transition { after event between(#thread as t, arg 1 as x: int, ret as r: int) { return x == n and r == n + 2 and phase == 2 } success { phase = 3 } init failure bad }
    transition { after event outer(#thread as t, arg 1 as x: int, ret as r: int, *arg 2 as there: int) { return x == n and r == n + 2 and there == n + 1 and phase == 3 } success { n = n + 1 \n phase = 0 } init failure bad }
}
state bad non-accepting
";

#[test]
fn frequent_stops_lose_no_tail_calls() {
    for flags in [["-g0", "-DPLAIN"], ["-g", "-DPLAIN"], ["-g0", "-DCONDITION"]] {
        let built = c(THREADS, &["-O2", flags[0], flags[1], "-pthread", "-DTICKS=150"]);
        for probes in BOTH {
            let mut session = session(&built, NESTED, probes, false);
            let spec = BreakpointSpec::new(BreakpointKind::Location("tick".to_owned()));
            let point = session.target().set_breakpoint(Owner::User, &spec).unwrap();
            let mut ticks = 0;
            while let RunOutcome::Breakpoints(points) = session.run(&ResumeMode::Continue).unwrap() {
                assert_eq!(points, [point]);
                ticks += 1;
            }
            let report = session.report();
            assert!(report.violations.is_empty(), "{flags:?} {probes:?} {:?}", report.violations);
            assert_eq!(ticks, 150, "{flags:?} {probes:?}");
            assert!(report.properties[0].steps > 600, "{flags:?} {probes:?}");
        }
    }
}

#[test]
fn free_running_threads_lose_no_tail_calls() {
    let built = c(THREADS, &["-O2", "-g0", "-pthread", "-DTICKS=8000"]);
    let mut session = session(&built, NESTED, ProbeMode::Inline, false);
    let steps = steps_to_end(&mut session);
    assert!(session.report().violations.is_empty(), "{:?}", session.report().violations);
    assert!(steps > 1000, "{steps}");
}

/// An exception leaves a function that was tail-called, and a frame in between: nothing of the probes is on the
/// stack.
#[test]
fn exceptions_abandon_tail_calls() {
    let source = "
        #define KEPT __attribute__((noinline, noipa))
        KEPT long throws(long x) { if (x % 3 == 0) throw x; return x + 1; }
        KEPT long jumps(long x) { __asm__ volatile(\"\" ::: \"rdi\", \"memory\"); return throws(x); }
        KEPT long frame(long x) { long y = jumps(x); __asm__ volatile(\"\" ::: \"memory\"); return y * 2; }
        KEPT long thrown_through(long x) { long y = jumps(x); __asm__ volatile(\"\" ::: \"memory\"); return y * 3; }
        int main() {
            long caught = 0;
            for (volatile long i = 0; i < 300; i = i + 1) {
                try { caught += i % 3 ? frame(i) : thrown_through(i); } catch (long x) { caught += x; }
            }
            return caught == 0;
        }";
    let property = "
        initialization { n = 0 }
        state init accepting {
            transition { after event jumps(arg 1 as x: int, ret as r: int) { return x % 3 != 0 and r == x + 1 } success { n = n + 1 } init failure bad }
        }
        state bad non-accepting";
    for flags in [["-O2", "-g0"], ["-O2", "-g"]] {
        // Without debug information, the names of C++ functions are demangled.
        let source = source.replace("KEPT long jumps", "extern \"C\" KEPT long jumps");
        let built = cpp(&source, &flags);
        assert_eq!(count_steps(&built, property), 200, "{flags:?}");
    }
}

/// A reaction is due at the exit of a tail call: the program stops at the return site.
#[test]
fn stops_and_checkpoints_keep_pending_tail_calls() {
    let source = "
        #define KEPT __attribute__((noinline, noipa))
        KEPT long inner(long x) { __asm__ volatile(\"\" ::: \"memory\"); return x + 1; }
        KEPT long outer(long x) { __asm__ volatile(\"\" ::: \"rdi\", \"memory\"); return inner(x); }
        KEPT long whole(long x) { __asm__ volatile(\"\" ::: \"rdi\", \"memory\"); return outer(x); }
        int main(void) { long sum = 0; for (long i = 0; i < 600; i++) sum += whole(i); return sum == 0; }";
    let property = "
        initialization { ends = 0 }
        state init accepting {
            transition { event inner(arg 1 as x: int) { return x % 100 != 50 } success init failure stopped }
            transition { after event outer(arg 1 as x: int, ret as r: int) { return x % 100 != 70 } success init failure stopped }
            transition { after event whole(arg 1 as x: int, ret as r: int) { return r == x + 1 and x == ends } success { ends = ends + 1 } init failure bad }
        }
        state stopped non-accepting {
            transition { after event outer(arg 1 as x: int, ret as r: int) success stopped }
            transition { after event whole(arg 1 as x: int, ret as r: int) { return r == x + 1 and x == ends } success { ends = ends + 1 } init failure bad }
        }
        state bad non-accepting final";
    for flags in [["-O2", "-g0"], ["-O2", "-g"]] {
        let built = c(source, &flags);
        let [inline, trap] = BOTH.map(|probes| {
            let mut session = session(&built, property, probes, true);
            let mut seen = Vec::new();
            let mut kept = None;
            for turn in 0.. {
                let outcome = session.run(&ResumeMode::Continue).unwrap();
                if !matches!(outcome, RunOutcome::Suspended(_)) {
                    assert!(matches!(outcome, RunOutcome::Ended(_)), "{outcome:?}");
                    break;
                }
                assert!(turn < 40, "{seen:?}");
                let last = session.event_count();
                let past = session.events(last.saturating_sub(3)..=last);
                let past: Vec<String> = past.into_iter().map(|past| past.event.name).collect();
                let frames = session.target().frames(4).unwrap();
                let frames: Vec<String> = frames.into_iter().map(|frame| frame.function).collect();
                seen.push(format!("{last} {} {frames:?} {past:?}", session.target().current_location()));
                match turn {
                    4 => kept = Some(session.take_checkpoint("here").unwrap()),
                    9 => session.restore_checkpoint(kept.unwrap()).unwrap(),
                    5 => {
                        // Step out by instructions: the debugger awaits the returns.
                        for _ in 0..40 {
                            session.run(&ResumeMode::Instruction).unwrap();
                        }
                        seen.push(format!("{}", session.event_count()));
                    }
                    _ => {}
                }
            }
            (seen, session.event_count(), session.report().properties[0].steps)
        });
        assert_eq!(inline, trap, "{flags:?}");
        assert!(inline.0.len() > 16, "{flags:?} {inline:?}");
    }
}

/// A reaction in the middle of calls, without stopping the other threads.
#[test]
fn reactions_keep_pending_tail_calls() {
    let source = "
        #define KEPT __attribute__((noinline, noipa))
        KEPT long noted(long x) { __asm__ volatile(\"\" ::: \"memory\"); return x; }
        KEPT long inner(long x) { long y = noted(x); __asm__ volatile(\"\" ::: \"memory\"); return y + 1; }
        KEPT long outer(long x) { __asm__ volatile(\"\" ::: \"rdi\", \"memory\"); return inner(x); }
        KEPT long plain(long x) { long y = noted(x); __asm__ volatile(\"\" ::: \"rdi\", \"memory\"); return y + 2; }
        int main(void) {
            long sum = 0;
            for (volatile long i = 0; i < 20000; i++) { sum += outer(i); sum += plain(i); }
            return sum == 0;
        }";
    let property = "
        initialization { outer = 0; plain = 0 }
        state init accepting {
            transition { event noted(arg 1 as x: int) { return x % 5000 == 77 } success reported failure init }
            transition { after event outer(arg 1 as x: int, ret as r: int) { return x == outer and r == x + 1 } success { outer = outer + 1 } init failure bad }
            transition { after event plain(arg 1 as x: int, ret as r: int) { return x == plain and r == x + 2 } success { plain = plain + 1 } init failure bad }
        }
        state reported accepting {
            transition { after event outer(arg 1 as x: int, ret as r: int) { return x == outer and r == x + 1 } success { outer = outer + 1 } init failure bad }
            transition { after event plain(arg 1 as x: int, ret as r: int) { return x == plain and r == x + 2 } success { plain = plain + 1 } init failure bad }
        }
        state bad non-accepting final";
    let built = c(source, &["-O2", "-g0"]);
    for probes in BOTH {
        let scenario = "initialization { times = 0 } on entering state reported { times = times + 1 }";
        let mut session = session_of(&built, property, probes, scenario);
        let steps = steps_to_end(&mut session);
        assert!(session.report().violations.is_empty(), "{probes:?} {:?}", session.report().violations);
        assert_eq!(steps, 80_000, "{probes:?}");
    }
}

/// Child processes created during a tail call, with shared or copied memory, are not the target.
#[test]
fn tail_calls_of_other_processes_are_ignored() {
    let source = "
        #include <stdlib.h>
        #include <sys/wait.h>
        #include <unistd.h>
        #define KEPT __attribute__((noinline, noipa))
        static volatile long sink;
        KEPT long plain(long x) { sink++; return x + 1; }
        KEPT long jumps(long x) { sink++; __asm__ volatile(\"\" ::: \"rdi\", \"memory\"); return plain(x); }
        KEPT long forks(long x) {
            int status;
            pid_t child = fork();
            if (child == 0) { for (long i = 0; i < 50; i++) jumps(-1000); _exit(0); }
            waitpid(child, &status, 0);
            return x + 1;
        }
        KEPT long lends(long x) {
            int status;
            pid_t child = vfork();
            if (child == 0) { jumps(-1000); _exit(0); }
            waitpid(child, &status, 0);
            return x + 1;
        }
        KEPT long around_fork(long x) { sink++; __asm__ volatile(\"\" ::: \"rdi\", \"memory\"); return forks(x); }
        KEPT long around_vfork(long x) { sink++; __asm__ volatile(\"\" ::: \"rdi\", \"memory\"); return lends(x); }
        int main(void) {
            for (volatile long i = 0; i < 12; i++) {
                for (volatile long j = 0; j < 20; j++) jumps(j);
                around_fork(i);
                around_vfork(i);
                system(\"exit 0\");
            }
            return 0;
        }";
    let right = "{ return x >= 0 and r == x + 1 } success { n = n + 1 } init failure bad";
    let property = format!(
        "initialization {{ n = 0 }}
        state init accepting {{
            transition {{ after event jumps(arg 1 as x: int, ret as r: int) {right} }}
            transition {{ after event around_fork(arg 1 as x: int, ret as r: int) {right} }}
            transition {{ after event around_vfork(arg 1 as x: int, ret as r: int) {right} }}
        }}
        state bad non-accepting"
    );
    for flags in [["-O2", "-g0"], ["-O2", "-g"]] {
        assert_eq!(count_steps(&c(source, &flags), &property), 12 * 22, "{flags:?}");
    }
}

#[test]
fn info_probes_lists_return_sites() {
    let built = tails(40, &["-O2", "-g0"]);
    let mut session = session(&built, ENDS, ProbeMode::Inline, false);
    steps_to_end(&mut session);
    let all = mechanisms(&mut session);
    let first = all.iter().find(|(event, how)| event == "first" && how.starts_with("probe, and "));
    assert!(first.is_some_and(|(_, how)| how.contains("return sites of tail calls")), "{all:#?}");
}

/// A handler returns to just behind an address that became a return site while it ran: there must be no jump to fall
/// into.
#[test]
fn handler_returning_into_return_site_is_safe() {
    let source = r#"
        #define _GNU_SOURCE
        #include <signal.h>
        #include <ucontext.h>
        #define KEPT __attribute__((noinline, noipa))
        static long word = 42;
        long place(long x), maybe(long x);
        KEPT long other(long x) { __asm__ volatile("" ::: "memory"); return (long) &word; }
        __asm__(".globl maybe\n.type maybe, @function\nmaybe:\n"
                "testq %rdi, %rdi\nje 1f\njmp other\n1: xorl %eax, %eax\nret\n.size maybe, . - maybe\n"
                ".globl place\n.type place, @function\nplace:\n"
                "pushq %rbx\ncall maybe\nnop\nnop\nmovq (%rax), %rax\npopq %rbx\nret\n.size place, . - place\n");
        static void handler(int signal, siginfo_t *info, void *context) {
            if (place(1) != 42 || place(2) != 42) __builtin_trap();
            ((ucontext_t *) context)->uc_mcontext.gregs[REG_RAX] = (long) &word;
        }
        int main(void) {
            struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};
            sigaction(SIGSEGV, &action, 0);
            for (int i = 0; i < 4; i++) if (place(0) != 42) return 1;
            return place(3) != 42;
        }"#;
    let property = "
        initialization { n = 0 }
        state init accepting { transition { after event maybe(ret as r: int) success { n = n + 1 } init } }";
    let built = c(source, &["-O2", "-g0"]);
    for probes in BOTH {
        let mut session = session(&built, property, probes, false);
        let mut outcome = session.run(&ResumeMode::Continue).unwrap();
        while matches!(outcome, RunOutcome::Signal { .. }) {
            outcome = session.run(&ResumeMode::Continue).unwrap();
        }
        assert!(matches!(outcome, RunOutcome::Ended(Termination::Exited(0))), "{probes:?} {outcome:?}");
        assert_eq!(session.report().properties[0].steps, 4 * 3 + 1, "{probes:?}");
    }
}

/// Handlers that interrupt any instruction and call the same functions, while all threads are stopped again and
/// again: there are as many exits as entries.
#[test]
fn signal_handlers_at_any_instruction_lose_no_tail_calls() {
    let source = format!(
        "#include <signal.h>\n#include <sys/time.h>\n#define main unused_main\n{}\n#undef main\n{}",
        THREADS,
        r#"
        KEPT void done(void) { __asm__ volatile("" ::: "memory"); }
        static void handler(int signal) { long place; if (outer(5, &place) != 7 || place != 6) __builtin_trap(); }
        int main(void) {
            pthread_t all[4];
            sigset_t alarm;
            signal(SIGALRM, handler);
            for (int i = 0; i < 4; i++) pthread_create(&all[i], 0, run, 0);
            sigemptyset(&alarm);
            sigaddset(&alarm, SIGALRM);
            pthread_sigmask(SIG_BLOCK, &alarm, 0);
            struct itimerval every = {{0, 700}, {0, 700}}, never = {{0, 0}, {0, 0}};
            setitimer(ITIMER_REAL, &every, 0);
            for (long i = 0; i < TICKS; i++) tick(i);
            setitimer(ITIMER_REAL, &never, 0);
            over = 1;
            for (int i = 0; i < 4; i++) pthread_join(all[i], 0);
            done();
            return 0;
        }"#
    );
    let property = "
        initialization { outer = 0; between = 0 }
        state init accepting {
            transition { event outer() success { outer = outer + 1 } init }
            transition { event between() success { between = between + 1 } init }
            transition { after event between(arg 1 as x: int, ret as r: int) { return r == x + 2 and between > 0 } success { between = between - 1 } init failure bad }
            transition { after event outer(arg 1 as x: int, ret as r: int) { return r == x + 2 and outer > 0 } success { outer = outer - 1 } init failure bad }
            transition { event done() { return outer == 0 and between == 0 } success init failure bad }
        }
        state bad non-accepting";
    for flags in [["-g0", "-DPLAIN"], ["-g0", "-DCONDITION"]] {
        let built = c(&source, &["-O2", flags[0], flags[1], "-pthread", "-DTICKS=150"]);
        let mut session = session(&built, property, ProbeMode::Inline, false);
        let spec = BreakpointSpec::new(BreakpointKind::Location("tick".to_owned()));
        session.target().set_breakpoint(Owner::User, &spec).unwrap();
        while let RunOutcome::Breakpoints(_) = session.run(&ResumeMode::Continue).unwrap() {}
        let report = session.report();
        assert!(report.violations.is_empty(), "{flags:?} {:?}", report.violations);
        assert!(report.properties[0].steps > 600, "{flags:?}");
    }
}
