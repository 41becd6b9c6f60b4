//! Signals that arrive while a thread is in a probe.

use super::common::{BOTH, c, session, steps_to_end};

/// A timer interrupts calls all the time; its handler makes such calls, too, and sometimes never returns.
const SOURCE: &str = r#"
#include <setjmp.h>
#include <signal.h>
#include <sys/time.h>
static sigjmp_buf back;
static volatile long calls, alarms;
__attribute__((noinline)) void work(long x) { __asm__ volatile("" :: "r"(x) : "memory"); }
static void handler(int signal) {
    alarms++;
    calls++;
    work(alarms);
    if (alarms % 4 == 0) siglongjmp(back, 1);
}
int main(void) {
    struct itimerval every = {{0, 300}, {0, 300}};
    signal(SIGALRM, handler);
    setitimer(ITIMER_REAL, &every, 0);
    sigset_t alarm;
    sigemptyset(&alarm);
    sigaddset(&alarm, SIGALRM);
    while (alarms < 400) {
        if (sigsetjmp(back, 1)) continue;
        for (int i = 0; i < 50; i++) {
            /* A call and its count are one. */
            sigprocmask(SIG_BLOCK, &alarm, 0);
            calls++;
            sigprocmask(SIG_UNBLOCK, &alarm, 0);
            work(i);
        }
    }
    every = (struct itimerval) {0};
    setitimer(ITIMER_REAL, &every, 0);
    return alarms >= 400 ? 0 : 1;
}
"#;

#[test]
fn signal_handlers_run_with_probes() {
    let property = "
        initialization { n = 0 }
        state init accepting { transition { event work(x) success { n = n + 1 } init } }";
    let built = c(SOURCE, &["-O2"]);
    for probes in BOTH {
        let mut session = session(&built, property, probes, false);
        let steps = steps_to_end(&mut session);
        assert_eq!(
            session.termination().map(ToString::to_string).unwrap(),
            "it exited with status 0",
            "{probes:?}"
        );
        assert!(steps > 400, "{probes:?}: {steps}");
    }
}

#[test]
fn violation_in_signal_handler_stops_there() {
    let property = "
        state init accepting { transition { event work(x: int) { return x == 390 } success bad } }
        state bad non-accepting";
    let built = c(SOURCE, &["-O2"]);
    for probes in BOTH {
        let mut session = session(&built, property, probes, true);
        session.run(&invigil_target::ResumeMode::Continue).unwrap();
        let names: Vec<String> =
            session.target().frames(3).unwrap().into_iter().map(|frame| frame.function).collect();
        assert_eq!(names[..2], ["work", "handler"], "{probes:?}");
        assert_eq!(session.target().evaluate("x").unwrap(), "390");
    }
}

/// Two threads violate the property in turns while a third one receives signals that are events, too: in whichever
/// order they are reported, no violation is lost or reported twice.
#[test]
fn simultaneous_violations_and_signals_are_all_reported() {
    let source = r#"
        #include <pthread.h>
        #include <signal.h>
        static volatile int ready;
        __attribute__((noinline)) void flip(long x) { __asm__ volatile("" :: "r"(x) : "memory"); }
        static void nothing(int signal) {}
        static void *flips(void *p) { for (long i = 0; i < 60; i++) flip(i); return 0; }
        static void *noise(void *p) { while (!ready) for (volatile int i = 0; i < 10000; i++); return 0; }
        int main(void) {
            pthread_t noisy, one, other;
            signal(SIGUSR1, nothing);
            pthread_create(&noisy, 0, noise, 0);
            pthread_create(&one, 0, flips, 0);
            pthread_create(&other, 0, flips, 0);
            for (int i = 0; i < 100; i++) pthread_kill(noisy, SIGUSR1);
            pthread_join(one, 0);
            pthread_join(other, 0);
            ready = 1;
            pthread_join(noisy, 0);
            return 0;
        }"#;
    let property = "
        initialization { n = 0 }
        state init accepting {
            transition { event flip(x) success bad }
            transition { event #signal(number) success { n = n + 1 } init }
        }
        state bad non-accepting {
            transition { event flip(x) success init }
        }";
    let built = c(source, &["-O2", "-pthread"]);
    for probes in BOTH {
        let mut session = session(&built, property, probes, true);
        let mut stops = 0;
        while let invigil_session::RunOutcome::Suspended(_) =
            session.run(&invigil_target::ResumeMode::Continue).unwrap()
        {
            stops += 1;
        }
        assert_eq!(stops, 60, "{probes:?}");
        assert_eq!(session.report().properties[0].violations, 60, "{probes:?}");
    }
}
