//! Recordings: all events, in order, however the program ends.

use super::common::c;
use invigil_monitor::event::{EventBatch, EventCatalog};
use invigil_native::{
    Launch, NativeTarget, ProbeMode, RecordingOptions, RecordingResult, RecordingSink, Stream,
};
use invigil_target::prelude::*;
use invigil_target::{ResumeMode, StopReason, Termination};
use invigil_test_support::Program;
use invigil_test_support::language;
use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// The smallest ring.
const TINY: RecordingOptions = RecordingOptions { bytes: 0, lossy: false, timed: false };

/// An event: its name, its parameters as text, its time, and its thread.
type Event = (String, Vec<String>, f64, u32);

/// A sink in memory; may be slow, or fail after some events.
#[derive(Clone, Default)]
struct Collected {
    catalog: EventCatalog,
    events: Arc<Mutex<Vec<Event>>>,
    pause: Duration,
    most: Option<usize>,
}

impl RecordingSink for Collected {
    fn write(&mut self, events: &EventBatch, threads: &[u32]) -> io::Result<()> {
        thread::sleep(self.pause);
        let mut collected = self.events.lock().unwrap();
        for (at, thread) in threads.iter().enumerate() {
            if self.most.is_some_and(|most| collected.len() >= most) {
                return Err(io::Error::other("enough"));
            }
            let event = events.event(at);
            let words = event.params.iter().map(|value| match value.as_text() {
                Some((start, length)) => event.text[start as usize..(start + length) as usize].to_owned(),
                None => value.as_short().map_or_else(|| format!("{value:?}"), str::to_owned),
            });
            let name = self.catalog.get(event.id).unwrap().to_string();
            let name = name.split('(').next().unwrap().to_owned();
            collected.push((name, words.collect(), events.meta(at).time, *thread));
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A property that mentions these events.
fn property(events: &[&str]) -> String {
    let transitions = events.iter().map(|event| match event.strip_prefix("after ") {
        Some(event) => format!("transition {{ after event {event} success init }}\n"),
        None => format!("transition {{ event {event} success init }}\n"),
    });
    format!("state init accepting {{ {} }}", transitions.collect::<String>())
}

/// A program that is about to be recorded.
fn start_recording(
    source: &str,
    events: &[&str],
    how: RecordingOptions,
    collected: &mut Collected,
) -> (NativeTarget, Program) {
    start_recording_by(ProbeMode::Inline, source, events, how, collected)
}

fn start_recording_by(
    probes: ProbeMode,
    source: &str,
    events: &[&str],
    how: RecordingOptions,
    collected: &mut Collected,
) -> (NativeTarget, Program) {
    let built = c(source, &["-O2", "-pthread", "-ldl"]);
    let mut catalog = EventCatalog::default();
    language::property("recorded", &property(events), &mut catalog);
    let mut launch = Launch::new(&built.path);
    (launch.stdout, launch.stderr, launch.probes) = (Stream::Null, Stream::Null, probes);
    let mut target = NativeTarget::launch(&launch).expect("the program starts");
    target.allow_pending_events(true);
    let unknown = target.prepare(&catalog).expect("it can be prepared");
    assert!(unknown.iter().all(|unknown| unknown.pending), "{unknown:?}");
    collected.catalog = catalog;
    target.record(how, Box::new(collected.clone())).expect("it can be recorded");
    (target, built)
}

/// Runs to the end, through any signals.
fn to_end(target: &mut NativeTarget) -> (Termination, RecordingResult) {
    for _ in 0..4 {
        if let StopReason::Ended(ending) = target.resume(&ResumeMode::Continue).unwrap() {
            return (ending, target.finish_recording().expect("there is a recording"));
        }
    }
    panic!("the program does not end");
}

/// Records a whole run.
fn recorded(
    source: &str,
    events: &[&str],
    how: RecordingOptions,
) -> (Vec<Event>, Termination, RecordingResult) {
    let mut collected = Collected::default();
    let (mut target, _built) = start_recording(source, events, how, &mut collected);
    let (ending, recorded) = to_end(&mut target);
    assert!(recorded.error.is_none(), "{recorded:?}");
    let events = std::mem::take(&mut *collected.events.lock().unwrap());
    assert_eq!(recorded.events, events.len() as u64);
    (events, ending, recorded)
}

const WORK: &str = "work(t: int, i: int)";

fn source(body: &str) -> String {
    format!(
        "#include <pthread.h>\n#include <signal.h>\n#include <stdlib.h>\n#include <string.h>\n#include <sys/time.h>\n\
         #include <unistd.h>\n\
         __attribute__((noinline)) void work(long t, long i) {{ __asm__ volatile(\"nop; nop; nop; nop; nop\" :: \"r\"(t), \"r\"(i) : \"memory\"); }}\n\
         static long each;\n\
         static void *run(void *p) {{ for (long i = 0; i < each; i++) work((long) p, i); return 0; }}\n\
         static void threads(long count) {{\n\
             pthread_t all[16];\n\
             for (long t = 0; t < count; t++) pthread_create(&all[t], 0, run, (void *) t);\n\
             for (long t = 0; t < count; t++) pthread_join(all[t], 0);\n\
         }}\n{body}"
    )
}

/// For each thread, the last parameter of its `work` events. Threads pass their own number.
fn by_thread(events: &[Event]) -> Vec<Vec<u64>> {
    let mut all: BTreeMap<u32, (String, Vec<u64>)> = BTreeMap::new();
    for (name, params, _, thread) in events {
        assert_eq!(name, "work");
        let of = all.entry(*thread).or_insert_with(|| (params[0].clone(), Vec::new()));
        assert_eq!(of.0, params[0], "the number of the thread is right");
        of.1.push(params[1].parse().unwrap());
    }
    all.into_values().map(|(_, numbers)| numbers).collect()
}

#[test]
fn all_events_of_four_threads_are_recorded() {
    let source = source("int main(void) { each = 50000; threads(4); return 7; }");
    for how in [TINY, RecordingOptions::default()] {
        let (events, ending, recorded) = recorded(&source, &[WORK], how);
        assert_eq!((ending, recorded.events, recorded.lost), (Termination::Exited(7), 200_000, 0));
        let all = by_thread(&events);
        assert_eq!(all.len(), 4);
        assert!(all.iter().all(|numbers| numbers.iter().copied().eq(0..50_000)), "{how:?}");
        assert!(events.iter().all(|(_, _, time, _)| time.is_nan()));
    }
}

#[test]
fn lossy_recording_counts_lost_events() {
    let source = source("int main(void) { each = 50000; threads(4); return 0; }");
    let mut collected = Collected { pause: Duration::from_millis(5), ..Collected::default() };
    let (mut target, _built) =
        start_recording(&source, &[WORK], RecordingOptions { lossy: true, ..TINY }, &mut collected);
    let (_, recorded) = to_end(&mut target);
    assert!(recorded.lost > 0);
    assert_eq!(recorded.events + recorded.lost, 200_000);
    let all = by_thread(&collected.events.lock().unwrap());
    assert!(all.iter().all(|numbers| numbers.is_sorted()));
}

#[test]
fn events_before_crash_or_kill_are_recorded() {
    for (end, expected) in [("*(volatile int *) 8 = 1", "SIGSEGV"), ("kill(getpid(), SIGKILL)", "SIGKILL")] {
        let source = source(&format!(
            "int main(void) {{ each = 5000; threads(3); for (long i = 0; i < 7000; i++) work(9, i); {end}; return 0; }}"
        ));
        let (events, ending, _) = recorded(&source, &[WORK], RecordingOptions::default());
        assert!(ending.to_string().contains(expected), "{ending}");
        let mut all = by_thread(&events);
        all.sort_by_key(Vec::len);
        assert!(all[3].iter().copied().eq(0..7000));
        assert!(all[..3].iter().all(|numbers| numbers.iter().copied().eq(0..5000)));
    }
}

#[test]
fn exit_with_running_threads_keeps_their_events() {
    let source = source(
        "static void *forever(void *p) { for (long i = 0;; i++) work((long) p, i); return 0; }
         int main(void) {
             pthread_t thread;
             for (long t = 0; t < 4; t++) pthread_create(&thread, 0, forever, (void *) t);
             usleep(30000);
             exit(3);
         }",
    );
    for how in [TINY, RecordingOptions::default()] {
        let (events, ending, _) = recorded(&source, &[WORK], how);
        assert_eq!(ending, Termination::Exited(3));
        let all = by_thread(&events);
        assert!(all.iter().all(|numbers| numbers.iter().copied().eq(0..numbers.len() as u64)));
        assert!(!all.is_empty());
    }
}

#[test]
fn reused_thread_memory_gets_new_thread_id() {
    let source = source(
        "int main(void) {
             each = 50;
             for (long t = 0; t < 200; t++) {
                 pthread_t thread;
                 pthread_create(&thread, 0, run, (void *) t);
                 pthread_join(thread, 0);
             }
             return 0;
         }",
    );
    let (events, ..) = recorded(&source, &[WORK], RecordingOptions::default());
    let all = by_thread(&events);
    assert_eq!(all.len(), 200);
    assert!(all.iter().all(|numbers| numbers.iter().copied().eq(0..50)));
}

#[test]
fn reloaded_library_is_recorded() {
    let library = "__attribute__((noinline)) long work(long t, long i) { return t * 1000 + i; }\n";
    let library = c(library, &["-shared", "-fPIC", "-O1"]);
    let source = format!(
        r#"
        #include <dlfcn.h>
        int main(void) {{
            for (long t = 0; t < 5; t++) {{
                void *library = dlopen("{}", RTLD_NOW);
                long (*work)(long, long) = dlsym(library, "work");
                for (long i = 0; i < 300; i++) if (work(t, i) != t * 1000 + i) return 1;
                if (t < 4) dlclose(library);
            }}
            return 0;
        }}"#,
        library.path.display()
    );
    let mut collected = Collected::default();
    let (mut target, _built) = start_recording(&source, &[WORK], TINY, &mut collected);
    assert_eq!(to_end(&mut target).0, Termination::Exited(0));
    let how: Vec<String> = target.probes().into_iter().map(|probe| probe.mechanism).collect();
    assert_eq!(how, ["probe"]);
    let expected = (0..5).flat_map(|t| (0..300).map(move |i| vec![t.to_string(), i.to_string()]));
    assert!(collected.events.lock().unwrap().iter().map(|event| event.1.clone()).eq(expected));
}

#[test]
fn trap_and_probe_events_are_recorded_in_order() {
    let source = source(
        "__asm__(\".globl tiny\\n.type tiny, @function\\n.p2align 4\\nbefore: ret\\ntiny: ret\\n.size tiny, 1\\nafter: ret\\n\");
         void tiny(long i);
         int main(void) { for (long i = 0; i < 300; i++) { work(1, i); tiny(i); work(1, i); } return 0; }",
    );
    let mut collected = Collected::default();
    let (mut target, _built) = start_recording(&source, &[WORK, "tiny(arg 1 as i)"], TINY, &mut collected);
    to_end(&mut target);
    let how: Vec<(String, String)> =
        target.probes().into_iter().map(|probe| (probe.event, probe.mechanism)).collect();
    assert_eq!(how[0], ("work".to_owned(), "probe".to_owned()));
    assert!(how[1].1.starts_with("trap: "), "{how:?}");
    let events = collected.events.lock().unwrap();
    let reported: Vec<(&str, &str)> =
        events.iter().map(|(name, params, ..)| (name.as_str(), params.last().unwrap().as_str())).collect();
    let expected: Vec<String> = (0..300).map(|i| i.to_string()).collect();
    let expected: Vec<(&str, &str)> =
        expected.iter().flat_map(|i| [("work", i.as_str()), ("tiny", i), ("work", i)]).collect();
    assert_eq!(reported, expected);
}

#[test]
fn texts_times_and_trap_only_parameters_are_recorded() {
    let source = source(
        "long level;
         __attribute__((noinline)) void say(const char *words, double loud) {
             __asm__ volatile(\"nop; nop; nop; nop; nop; nop\" :: \"r\"(words), \"x\"(loud) : \"memory\");
         }
         int main(void) {
             char words[5000];
             memset(words, 'x', 4999); words[4999] = 0;
             say(\"short\", 0.5); say(\"a text that is longer than a value\", 1.5);
             for (int i = 0; i < 500; i++) say(words + i * 10, 2.0);
             say((char *) 16, 3.0);
             getppid(); level = 5; work(1, 2);
             return 4;
         }",
    );
    let words = "say(words: str, loud: float)";
    let timed = RecordingOptions { timed: true, ..TINY };
    let (said, ..) = recorded(&source, &[words, WORK, "#exit(status)"], timed);
    assert_eq!(said[0].1, ["short", "0.5"]);
    assert_eq!(said[1].1, ["a text that is longer than a value", "1.5"]);
    for (at, event) in said[2..502].iter().enumerate() {
        assert_eq!(event.1[0].len(), (4999 - at * 10).min(4096));
    }
    assert_eq!(said[502].1, ["unset", "3.0"]);
    assert_eq!((said[503].0.as_str(), said[504].0.as_str()), ("work", "#exit"));
    assert_eq!(said[504].1, ["4"]);
    assert!(said.iter().map(|event| event.2).is_sorted() && said[0].2 > 0.0);
    // With memory accesses and system calls among them, all are observed by traps.
    let mixed = [WORK, "write level", "syscall:getppid()"];
    let (all, ..) = recorded(&source, &mixed, TINY);
    let names: Vec<&str> = all.iter().map(|event| event.0.as_str()).collect();
    assert_eq!(names.len(), 3, "{all:?}");
    assert_eq!(names[2], "work");
}

#[test]
fn recording_continues_after_exec() {
    let source = source(
        "int main(int argc, char **argv) {
             for (long i = 0; i < 700; i++) work(argc, i);
             if (argc == 1) execl(argv[0], argv[0], \"again\", NULL);
             return 0;
         }",
    );
    let mut collected = Collected::default();
    let (mut target, _built) = start_recording(&source, &[WORK], RecordingOptions::default(), &mut collected);
    let (_, recorded) = to_end(&mut target);
    assert_eq!(recorded.events, 1400);
    let how: Vec<String> = target.probes().into_iter().map(|probe| probe.mechanism).collect();
    assert_eq!(how, ["probe"]);
    let events = collected.events.lock().unwrap();
    let expected = (1..3).flat_map(|argc| (0..700).map(move |i| [argc.to_string(), i.to_string()]));
    assert!(events.iter().map(|event| event.1.clone()).eq(expected.map(Vec::from)));
}

#[test]
fn signals_reach_threads_that_wait_for_ring_slots() {
    let source = source(
        "static volatile long ticks;
         static void tick(int n) { work(77, ticks++); }
         int main(void) {
             struct itimerval often = { { 0, 500 }, { 0, 500 } };
             signal(SIGALRM, tick);
             setitimer(ITIMER_REAL, &often, 0);
             each = 60000; threads(2);
             return ticks > 0 ? 0 : 1;
         }",
    );
    let mut collected = Collected { pause: Duration::from_millis(1), ..Collected::default() };
    let (mut target, _built) = start_recording(&source, &[WORK], TINY, &mut collected);
    let (ending, recorded) = to_end(&mut target);
    assert_eq!((ending, recorded.lost), (Termination::Exited(0), 0));
    let events = collected.events.lock().unwrap();
    for t in 0..2 {
        let of = events.iter().filter(|event| event.1[0] == t.to_string());
        assert!(of.map(|event| event.1[1].parse::<u64>().unwrap()).eq(0..60_000));
    }
}

#[test]
fn slow_sink_does_not_prevent_stop() {
    let source = source("int main(void) { each = 1L << 40; threads(4); return 0; }");
    for probes in [ProbeMode::Inline, ProbeMode::Trap] {
        let mut collected = Collected { pause: Duration::from_millis(800), ..Collected::default() };
        let (mut target, _built) = start_recording_by(probes, &source, &[WORK], TINY, &mut collected);
        let interrupter = NativeTarget::interrupter(&target);
        let (start_recording, waits) = (Instant::now(), Duration::from_millis(300));
        thread::spawn(move || {
            thread::sleep(waits);
            interrupter.interrupt();
        });
        assert_eq!(target.resume(&ResumeMode::Continue).unwrap(), StopReason::Interrupted);
        assert!(
            start_recording.elapsed() - waits < Duration::from_millis(400),
            "{probes:?} {:?}",
            start_recording.elapsed()
        );
        target.kill().unwrap();
        let recorded = target.finish_recording().unwrap();
        assert!(recorded.error.is_none() && recorded.lost == 0);
        let all = by_thread(&collected.events.lock().unwrap());
        assert!(all.iter().all(|numbers| numbers.iter().copied().eq(0..numbers.len() as u64)));
    }
}

#[test]
fn failing_sink_ends_recording() {
    let source = source("int main(void) { each = 1L << 40; threads(4); return 0; }");
    for probes in [ProbeMode::Inline, ProbeMode::Trap] {
        let mut collected = Collected { most: Some(3000), ..Collected::default() };
        let (mut target, _built) = start_recording_by(probes, &source, &[WORK], TINY, &mut collected);
        assert_eq!(target.resume(&ResumeMode::Continue).unwrap(), StopReason::Interrupted);
        target.kill().unwrap();
        let recorded = target.finish_recording().unwrap();
        assert_eq!(recorded.error.unwrap().to_string(), "enough");
        assert_eq!(collected.events.lock().unwrap().len(), 3000);
    }
}

/// Tail calls, which end innermost first.
#[test]
fn exits_by_tail_calls_are_recorded() {
    let source = "
        #include <pthread.h>
        #include <stdlib.h>
        #define KEPT __attribute__((noinline, noipa))
        static volatile long sink;
        KEPT long inner(long x, long *place) { *place = 2 * x; __asm__ volatile(\"\" ::: \"memory\"); return x + 1; }
        KEPT long between(long x, long *place) { sink++; __asm__ volatile(\"\" ::: \"memory\"); return inner(x, place); }
        KEPT long outer(long x, long *place) { sink++; __asm__ volatile(\"\" ::: \"memory\"); return between(x, place); }
        static void *run(void *unused) { long place; for (long i = 0; i < 5000; i++) outer(i, &place); return unused; }
        int main(void) {
            pthread_t thread;
            run(0);
            pthread_create(&thread, 0, run, 0);
            pthread_join(thread, 0);
            for (long i = 0; i < 300; i++) { void *volatile piece = calloc(1, 1000); free(piece); }
            return 0;
        }";
    let events = [
        "outer(arg 1 as x: int)",
        "after between(arg 1 as x: int, ret as r: int)",
        "after outer(ret as r: int, *arg 2 as there: int)",
        "after calloc(arg 2 as size: int)",
    ];
    let [inline, trap] = [ProbeMode::Inline, ProbeMode::Trap].map(|probes| {
        let mut collected = Collected::default();
        let (mut target, _built) = start_recording_by(probes, source, &events, TINY, &mut collected);
        let (_, recorded) = to_end(&mut target);
        assert!(recorded.error.is_none(), "{recorded:?}");
        let events = std::mem::take(&mut *collected.events.lock().unwrap());
        events.into_iter().map(|(name, params, ..)| (name, params)).collect::<Vec<_>>()
    });
    assert!(inline.len() >= 3 * 10_000 + 300, "{}", inline.len());
    let differ = inline.iter().zip(&trap).position(|(one, other)| one != other);
    assert_eq!(differ.map(|at| (&inline[at], &trap[at])), None);
    assert_eq!(inline.len(), trap.len());
}
