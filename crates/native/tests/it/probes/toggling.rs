//! Jumps are inserted and removed all the time while many threads run through them: no call is lost or reported
//! twice.
//!
//! The target is stopped and resumed 1,500 times, or 150 times with many jumps; each time all jumps are removed and inserted
//! again.

use super::common::{c, session};
use invigil_native::ProbeMode;
use invigil_session::RunOutcome;
use invigil_target::{BreakpointKind, BreakpointSpec, Owner, ResumeMode};
use invigil_test_support::cases;
use std::sync::mpsc;
use std::time::Duration;

/// Sixteen threads call a function until they are asked to end. With a timer, its handler calls it, too, wherever they
/// are.
const SOURCE: &str = r#"
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#define THREADS 16
volatile int over;
volatile long total;
static __thread volatile long calls, handled;
__attribute__((noinline)) long work(long x) {
    long y = x * 3;
    __asm__ volatile("" : "+r"(y) :: "memory", "rbx", "r12");
    return y + 1;
}
static void handler(int signal) { handled++; work(handled); }
static void *run(void *p) {
    for (long i = 0; !over; i++) {
        calls++;
        if (work(i) != i * 3 + 1) __builtin_trap();
    }
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, 0);
    __sync_fetch_and_add(&total, calls + handled);
    return 0;
}
int main(int argc, char **argv) {
    pthread_t all[THREADS];
    signal(SIGALRM, handler);
    for (long i = 0; i < THREADS; i++) pthread_create(&all[i], 0, run, 0);
#ifdef TIMER
    sigset_t alarm;
    sigemptyset(&alarm);
    sigaddset(&alarm, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &alarm, 0);
    struct itimerval every = {{0, 700}, {0, 700}};
    setitimer(ITIMER_REAL, &every, 0);
#endif
    for (int i = 0; i < THREADS; i++) pthread_join(all[i], 0);
    return 0;
}
"#;

/// Entries and exits of calls.
const PROPERTY: &str = "
    initialization { begun = 0; ended = 0 }
    state init accepting {
        transition { event work(x) success { begun = begun + 1 } init }
        transition { after event work(ret as r: int) success { ended = ended + 1 } init }
    }";

/// Number of functions that all threads call in turn.
const FUNCTIONS: usize = 250;

/// The same with many functions.
fn many_functions() -> (String, String) {
    let (one, rest) = SOURCE.split_once("static void handler").unwrap();
    let (start, work) = one.split_once("__attribute__").unwrap();
    let work = format!("__attribute__{work}");
    let mut source = start.to_owned();
    let mut property = "initialization { begun = 0 } state init accepting {".to_owned();
    for number in 0..FUNCTIONS {
        source += &work.replace("work(", &format!("work{number}("));
        property += &format!("transition {{ event work{number}(x) success {{ begun = begun + 1 }} init }}\n");
    }
    let names: Vec<String> = (0..FUNCTIONS).map(|number| format!("work{number}")).collect();
    source += &format!("static long (*const all[])(long) = {{ {} }};\n", names.join(", "));
    source += &format!("static inline long work(long x) {{ return all[x % {FUNCTIONS}](x); }}\n");
    (source + "static void handler" + rest, property + "}")
}

/// Stops and resumes the target again and again; every call is reported once by each of so many events.
fn is_exact((source, property, events): (&str, &str, u64), flags: &[&str], toggles: u32) {
    let built = c(source, &[&["-pthread"], flags].concat());
    let mut session = session(&built, property, ProbeMode::Inline, false);
    let interrupter = session.target().interrupter();
    let (goes, gone) = mpsc::channel::<u32>();
    let begun = std::time::Instant::now();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            for toggle in gone {
                // At a random moment.
                std::thread::sleep(Duration::from_micros(u64::from(toggle * 7919 % 500)));
                interrupter.interrupt();
            }
        });
        for toggle in 0..toggles {
            goes.send(toggle).unwrap();
            let outcome = session.run(&ResumeMode::Continue).unwrap();
            assert!(matches!(outcome, RunOutcome::Interrupted), "{outcome:?}");
        }
        drop(goes);
    });
    println!("{toggles} toggles took {:?}", begun.elapsed());
    session.target().assign("over", "1").unwrap();
    let exit = BreakpointSpec::new(BreakpointKind::Location("exit".to_owned()));
    let point = session.target().set_breakpoint(Owner::User, &exit).unwrap();
    let outcome = session.run(&ResumeMode::Continue).unwrap();
    assert!(matches!(&outcome, RunOutcome::Breakpoints(points) if *points == [point]), "{outcome:?}");
    let total: u64 = session.target().evaluate("total").unwrap().parse().unwrap();
    assert_eq!(session.report().properties[0].steps, events * total);
    assert!(total > u64::from(toggles), "{total}");
    let outcome = session.run(&ResumeMode::Continue).unwrap();
    assert!(matches!(outcome, RunOutcome::Ended(_)), "{outcome:?}");
}

#[test]
fn probes_toggle_under_many_threads() {
    is_exact((SOURCE, PROPERTY, 2), &["-O2"], cases(1_500));
}

#[test]
fn probes_toggle_under_threads_and_signals() {
    is_exact((SOURCE, PROPERTY, 2), &["-O0", "-DTIMER"], cases(1_500));
}

#[test]
fn probes_of_many_functions_toggle_under_threads() {
    let (source, property) = many_functions();
    is_exact((&source, &property, 1), &["-O2"], cases(150));
}
