//! Many threads, and stopping them.

use crate::live::common::{c, go, go_to, instrument_events, number, shown, stop_at};
use invigil_monitor::event::EventKind::{After, Before};
use invigil_target::prelude::*;
use invigil_target::{BreakpointKind, BreakpointSpec, Owner, ResumeMode, StopReason, Termination};
use std::collections::BTreeMap;
use std::time::Duration;

const MANY: &str = r#"
#include <pthread.h>
#define THREADS 32
long calls_same[THREADS], calls_odd[THREADS], calls_even[THREADS];
int rounds = ROUNDS;
__attribute__((noinline)) int same(int me) { calls_same[me]++; return me; }
__attribute__((noinline)) int odd(int me) { calls_odd[me]++; return me + 1; }
__attribute__((noinline)) int even(int me) { calls_even[me]++; return me + 2; }
static void *work(void *p) {
    int me = (int) (long) p, sum = 0;
    for (int i = 0; i < rounds; i++) {
        sum += same(me);
        sum += me % 2 ? odd(me) : even(me);
    }
    return (void *) (long) sum;
}
__attribute__((noinline)) void counted(int me, long s, long o, long e) { __asm__ volatile("" :: "r"(me), "r"(s), "r"(o), "r"(e)); }
__attribute__((noinline)) void finished(long s, long o, long e) { __asm__ volatile("" :: "r"(s), "r"(o), "r"(e)); }
int main(void) {
    pthread_t all[THREADS];
    for (long i = 0; i < THREADS; i++)
        pthread_create(&all[i], 0, work, (void *) i);
    long s = 0, o = 0, e = 0;
    for (int i = 0; i < THREADS; i++)
        pthread_join(all[i], 0);
    for (int i = 0; i < THREADS; i++)
    {
        counted(i, calls_same[i], calls_odd[i], calls_even[i]);
        s += calls_same[i], o += calls_odd[i], e += calls_even[i];
    }
    finished(s, o, e);
    return 0;
}
"#;

/// Number of occurrences of each event, by name and first parameter.
type Counts = BTreeMap<String, u64>;

/// Runs to the end, and calls a function every now and then between events.
fn count(
    target: &mut invigil_native::NativeTarget,
    catalog: &invigil_monitor::event::EventCatalog,
    counts: &mut Counts,
    mut now_and_then: impl FnMut(&mut invigil_native::NativeTarget, u64),
) -> (Termination, u64) {
    let (mut seen, mut hits) = (0u64, 0u64);
    loop {
        match target.resume(&ResumeMode::Continue).unwrap() {
            StopReason::Events => {
                for at in 0..target.events().len() {
                    *counts.entry(shown(target, catalog, at)).or_default() += 1;
                }
                seen += 1;
                now_and_then(target, seen);
            }
            StopReason::Breakpoints { .. } => hits += 1,
            StopReason::Interrupted => {}
            StopReason::Ended(ending) => return (ending, hits),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn million_hits_of_32_threads_are_counted_exactly() {
    // 32 threads, two calls a round, one of them with its exit: just above a million.
    const ROUNDS: u64 = 10_500;
    let program = c(MANY, &["-g", "-O1", "-pthread", &format!("-DROUNDS={ROUNDS}")]);
    let mut target = program.start();
    let (catalog, _) = instrument_events(
        &mut target,
        &[
            ("same", Before, &["me: int"]),
            ("odd", Before, &["me: int"]),
            ("even", Before, &["me: int"]),
            ("odd", After, &["ret: int"]),
            ("even", After, &["ret: int"]),
            ("counted", Before, &["me: int", "s: int", "o: int", "e: int"]),
        ],
    );
    let interrupter = target.interrupter();
    let done = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let over = std::sync::Arc::clone(&done);
    let disturber = std::thread::spawn(move || {
        while !over.load(std::sync::atomic::Ordering::SeqCst) {
            interrupter.interrupt();
            std::thread::sleep(Duration::from_millis(150));
        }
    });
    let mut point = None;
    let mut counts = Counts::new();
    let (ending, hits) = count(&mut target, &catalog, &mut counts, |target, seen| {
        if seen % 5000 == 0 {
            // A scenario's breakpoint is set and removed where threads are.
            let place = if seen % 10_000 == 0 { "same" } else { "odd" };
            point = match point.take() {
                None => {
                    let spec = BreakpointSpec {
                        ignore: 3,
                        once: true,
                        ..BreakpointSpec::new(BreakpointKind::Location(place.into()))
                    };
                    Some(target.set_breakpoint(Owner::Scenario, &spec).unwrap())
                }
                Some(id) => {
                    let _ = target.remove_breakpoint(id);
                    None
                }
            };
        }
    });
    done.store(true, std::sync::atomic::Ordering::SeqCst);
    disturber.join().unwrap();
    assert_eq!(ending, Termination::Exited(0));
    assert!(hits > 10, "{hits}");
    // The program's own count for each thread is the one that its exit event reports.
    let exits: Vec<String> =
        counts.extract_if(.., |name, _| name.starts_with("counted(")).map(|(n, _)| n).collect();
    assert_eq!(exits.len(), 32, "{exits:?}");
    let mut expected = Counts::new();
    for line in &exits {
        let numbers = line.trim_start_matches("counted(").trim_end_matches(')').split(", ");
        let numbers: Vec<u64> = numbers.map(|number| number.parse().unwrap()).collect();
        let [me, same, odd, even] = numbers[..] else { panic!("{line}") };
        expected.insert(format!("same({me})"), same);
        let (name, by, own) = if me % 2 == 1 { ("odd", 1, odd) } else { ("even", 2, even) };
        expected.insert(format!("{name}({me})"), own);
        expected.insert(format!("after {name}({})", me + by), own);
    }
    assert!(counts.values().sum::<u64>() > 1_000_000);
    assert_eq!(counts, expected);
}

#[test]
fn events_agree_with_count_of_program() {
    let program = c(MANY, &["-g", "-O1", "-pthread", "-DROUNDS=60"]);
    let mut target = program.start();
    let (catalog, _) = instrument_events(
        &mut target,
        &[
            ("same", Before, &["me: int"]),
            ("#thread", Before, &[]),
            ("#thread_exit", Before, &[]),
            ("finished", Before, &["s: int", "o: int", "e: int"]),
        ],
    );
    let mut counts = Counts::new();
    let (ending, _) = count(&mut target, &catalog, &mut counts, |target, seen| {
        // All threads are stopped in between: threads that start and end meanwhile are reported all the same.
        if seen % 7 == 0 {
            target.stop_all().unwrap();
        }
    });
    assert_eq!(ending, Termination::Exited(0));
    assert_eq!(counts["#thread()"], 32);
    assert_eq!(counts["#thread_exit()"], 32);
    assert_eq!(counts["finished(1920, 960, 960)"], 1);
    assert_eq!((0..32).map(|me| counts[&format!("same({me})")]).sum::<u64>(), 1920);
}

const BUSY: &str = r#"
#include <pthread.h>
#include <unistd.h>
volatile long counters[4];
volatile int started;
int pipes[2];
static void *spin(void *p) {
    volatile long *mine = &counters[(long) p];
    __atomic_add_fetch(&started, 1, __ATOMIC_SEQ_CST);
    for (;;)
        ++*mine;
}
static void *reads(void *p) {
    char c;
    __atomic_add_fetch(&started, 1, __ATOMIC_SEQ_CST);
    read(pipes[0], &c, 1);
    return p;
}
void ready(void) {}
int main(void) {
    pthread_t one;
    pipe(pipes);
    for (long i = 0; i < 3; i++)
        pthread_create(&one, 0, spin, (void *) i);
    pthread_create(&one, 0, reads, 0);
    while (started < 4)
        usleep(100);
    ready();
    for (;;)
        ++counters[3];
}
"#;

#[test]
fn all_threads_are_stopped_during_inspection() {
    let program = c(BUSY, &["-g", "-pthread"]);
    let mut target = program.start();
    let id = stop_at(&mut target, "ready");
    go_to(&mut target, id);
    let threads = target.threads();
    assert_eq!(threads.len(), 5);
    assert!(threads.iter().any(|thread| thread.location.contains("read")), "{threads:?}");
    let interrupter = target.interrupter();
    for _ in 0..5 {
        let before = print_counters(&mut target);
        std::thread::sleep(Duration::from_millis(5));
        assert_eq!(print_counters(&mut target), before);
        let late = target.interrupter();
        let other = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(20));
            late.interrupt();
        });
        assert_eq!(go(&mut target), StopReason::Interrupted);
        other.join().unwrap();
        assert_ne!(print_counters(&mut target), before);
    }
    // Each thread can be inspected.
    for thread in target.threads() {
        target.select_thread(thread.id).unwrap();
        assert!(!target.frames(10).unwrap().is_empty());
    }
    assert!(target.select_thread(1).is_err());
    // An interrupt while all threads are stopped is honoured later, and is not a signal of the program.
    interrupter.interrupt();
    assert_eq!(go(&mut target), StopReason::Interrupted);
    let process = target.process();
    target.kill().unwrap();
    assert!(!std::path::Path::new(&format!("/proc/{process}")).exists());
}

fn print_counters(target: &mut invigil_native::NativeTarget) -> String {
    crate::live::common::print(target, "counters")
}

#[test]
fn interrupt_stops_waiting_program() {
    for waiting in ["read(pipes[0], buffer, 1)", "sleep(100)", "pthread_join(other, 0)"] {
        let source = format!(
            "#include <pthread.h>\n#include <unistd.h>\nchar buffer[1];\nint pipes[2];\nvoid ready(void) {{}}\n\
             static void *nothing(void *p) {{ pause(); return p; }}\n\
             int main(void) {{ pthread_t other; pipe(pipes); pthread_create(&other, 0, nothing, 0); ready();\n\
             {waiting}; return 3; }}\n"
        );
        let program = c(&source, &["-g", "-pthread", "-w"]);
        let mut target = program.start();
        let id = stop_at(&mut target, "ready");
        go_to(&mut target, id);
        for _ in 0..3 {
            let interrupter = target.interrupter();
            let other = std::thread::spawn(move || {
                std::thread::sleep(Duration::from_millis(10));
                interrupter.interrupt();
                interrupter.interrupt();
            });
            assert_eq!(go(&mut target), StopReason::Interrupted, "{waiting}");
            other.join().unwrap();
        }
    }
}

#[test]
fn detached_program_continues() {
    let program = c(BUSY, &["-g", "-pthread"]);
    let mut child = std::process::Command::new(&program.path).spawn().unwrap();
    let process = child.id() as i32;
    std::thread::sleep(Duration::from_millis(50));
    for round in 0..5 {
        let mut target = invigil_native::NativeTarget::attach(process).unwrap();
        assert_eq!(target.threads().len(), 5);
        let interrupter = target.interrupter();
        if round % 2 == 0 {
            let other = std::thread::spawn(move || interrupter.interrupt());
            assert_eq!(go(&mut target), StopReason::Interrupted);
            other.join().unwrap();
        } else {
            // Interrupted, but detached before the stop.
            interrupter.interrupt();
        }
        target.detach().unwrap();
        std::thread::sleep(Duration::from_millis(10));
        let tasks = std::fs::read_dir(format!("/proc/{process}/task")).unwrap();
        for task in tasks {
            let status = std::fs::read_to_string(task.unwrap().path().join("status")).unwrap();
            assert!(!status.contains("State:\tT") && !status.contains("State:\tt"), "{status}");
            assert!(status.contains("TracerPid:\t0"));
        }
    }
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn events_respect_happens_before() {
    let source = r#"
#include <pthread.h>
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t turn_changes = PTHREAD_COND_INITIALIZER;
int turn;
__attribute__((noinline)) void ping(int n) { __asm__ volatile("" :: "r"(n)); }
__attribute__((noinline)) void pong(int n) { __asm__ volatile("" :: "r"(n)); }
static void *play(void *p) {
    int me = (int) (long) p;
    for (int i = 0; i < 2000; i++) {
        pthread_mutex_lock(&lock);
        while (turn != me)
            pthread_cond_wait(&turn_changes, &lock);
        if (me) pong(i); else ping(i);
        turn = !me;
        pthread_cond_signal(&turn_changes);
        pthread_mutex_unlock(&lock);
    }
    return 0;
}
int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, play, (void *) 0);
    pthread_create(&b, 0, play, (void *) 1);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
"#;
    let program = c(source, &["-g", "-O1", "-pthread"]);
    let mut target = program.start();
    let (catalog, _) =
        instrument_events(&mut target, &[("ping", Before, &["n: int"]), ("pong", Before, &["n: int"])]);
    let (events, stop) = crate::live::common::run(&mut target, &catalog);
    assert_eq!(stop, StopReason::Ended(Termination::Exited(0)));
    assert_eq!(events.len(), 4000);
    for (n, pair) in events.chunks(2).enumerate() {
        assert_eq!(pair, [format!("ping({n})"), format!("pong({n})")]);
    }
}

#[test]
fn leader_exit_before_other_threads_is_handled() {
    let source = r#"
#include <pthread.h>
#include <unistd.h>
#include <stdlib.h>
volatile int n;
void tick(int i) { n = i; }
static void *work(void *p) {
    usleep(20000);
    for (int i = 0; i < 10; i++)
        tick(i);
    exit(7);
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    pthread_exit(0);
}
"#;
    let program = c(source, &["-g", "-pthread"]);
    let mut target = program.start();
    let id = stop_at(&mut target, "tick");
    for n in 0..10 {
        go_to(&mut target, id);
        assert_eq!(number(&mut target, "i"), n);
        assert_eq!(target.threads().len(), 1);
    }
    assert_eq!(go(&mut target), StopReason::Ended(Termination::Exited(7)));
}

#[test]
fn exit_with_running_threads_is_reported() {
    let program = c(BUSY, &["-g", "-pthread"]);
    for _ in 0..5 {
        let mut target = program.start();
        let id = stop_at(&mut target, "ready");
        go_to(&mut target, id);
        let process = nix::unistd::Pid::from_raw(target.process());
        let interrupter = target.interrupter();
        let other = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(5));
            interrupter.interrupt();
            let _ = nix::sys::signal::kill(process, nix::sys::signal::Signal::SIGKILL);
        });
        let mut stop = go(&mut target);
        while stop == StopReason::Interrupted {
            stop = go(&mut target);
        }
        other.join().unwrap();
        assert!(matches!(stop, StopReason::Ended(Termination::Killed { .. })), "{stop:?}");
    }
}
