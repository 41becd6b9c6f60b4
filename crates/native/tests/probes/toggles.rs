//! Jumps that are put and lifted all the time while many threads run through them: no call is lost, none is told twice.
//!
//! `INVIGIL_TOGGLES` says how often the program is held and let go: 1,500 times, unless it says otherwise, or 150 times where there
//! are many jumps: each time all of them are lifted and put again. With 2,000, a million jumps are.

use super::common::{compiled, session};
use invigil_native::Probes;
use invigil_session::Outcome;
use invigil_session::subject::{Owner, PointSpec, Resume, What};
use std::sync::mpsc;
use std::time::Duration;

/// Sixteen threads call a function until they are told to end. With a timer, its handler calls it, too, wherever they are.
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

/// Begins and ends of calls.
const PROPERTY: &str = "
    initialization { begun = 0; ended = 0 }
    state init accepting {
        transition { event work(x) success { begun = begun + 1 } init }
        transition { after event work(ret as r: int) success { ended = ended + 1 } init }
    }";

/// So many functions are called in turn by all threads.
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

fn toggles(usually: u32) -> u32 {
    std::env::var("INVIGIL_TOGGLES").ok().and_then(|text| text.parse().ok()).unwrap_or(usually)
}

/// Holds the program and lets it go, again and again; every call is told once by each of so many events.
fn is_exact((source, property, events): (&str, &str, u64), flags: &[&str], toggles: u32) {
    let built = compiled("cc", source, &[&["-pthread"], flags].concat());
    let mut session = session(&built, property, Probes::Inline, false);
    let interrupter = session.subject().interrupter();
    let (goes, gone) = mpsc::channel::<u32>();
    let begun = std::time::Instant::now();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            for toggle in gone {
                // At any moment, not always at the same.
                std::thread::sleep(Duration::from_micros(u64::from(toggle * 7919 % 500)));
                interrupter.interrupt();
            }
        });
        for toggle in 0..toggles {
            goes.send(toggle).unwrap();
            let outcome = session.run(&Resume::Continue).unwrap();
            assert!(matches!(outcome, Outcome::Interrupted), "{outcome:?}");
        }
        drop(goes);
    });
    println!("{toggles} toggles took {:?}", begun.elapsed());
    session.subject().assign("over", "1").unwrap();
    let exit = PointSpec::new(What::Reach("exit".to_owned()));
    let point = session.subject().set_point(Owner::Developer, &exit).unwrap();
    let outcome = session.run(&Resume::Continue).unwrap();
    assert!(matches!(&outcome, Outcome::Points(points) if *points == [point]), "{outcome:?}");
    let total: u64 = session.subject().print("total").unwrap().parse().unwrap();
    assert_eq!(session.report().properties[0].steps, events * total);
    assert!(total > u64::from(toggles), "{total}");
    let outcome = session.run(&Resume::Continue).unwrap();
    assert!(matches!(outcome, Outcome::Ended(_)), "{outcome:?}");
}

#[test]
fn many_threads() {
    is_exact((SOURCE, PROPERTY, 2), &["-O2"], toggles(1_500));
}

#[test]
fn many_threads_and_signals() {
    is_exact((SOURCE, PROPERTY, 2), &["-O0", "-DTIMER"], toggles(1_500));
}

#[test]
fn many_threads_and_functions() {
    let (source, property) = many_functions();
    is_exact((&source, &property, 1), &["-O2"], toggles(150));
}
