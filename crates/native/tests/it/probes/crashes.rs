//! Programs that crash: the state of the monitors is not lost.

use super::common::{BOTH, c, session, steps_to_end};
use invigil_native::ProbeMode;
use invigil_session::RunOutcome;
use invigil_target::ResumeMode;

const COUNT: &str = "
    initialization { n = 0 }
    state init accepting { transition { event work(x) success { n = n + 1 } init } }";

/// Runs to the end, through any signals.
fn steps_of(source: &str, probes: ProbeMode) -> (u64, String) {
    let built = c(source, &["-O2", "-pthread"]);
    let mut session = session(&built, COUNT, probes, false);
    for _ in 0..4 {
        if let RunOutcome::Ended(ending) = session.run(&ResumeMode::Continue).unwrap() {
            assert!(!session.monitors_lost(), "{probes:?}: the replay log is complete");
            return (session.report().properties[0].steps, ending.to_string());
        }
    }
    panic!("the program does not end");
}

fn source(body: &str) -> String {
    format!(
        "#include <pthread.h>\n#include <signal.h>\n#include <stdlib.h>\n#include <string.h>\n#include <unistd.h>\n\
         __attribute__((noinline)) void work(long x) {{ __asm__ volatile(\"\" :: \"r\"(x) : \"memory\"); }}\n{body}"
    )
}

#[test]
fn crash_keeps_monitor_state() {
    let source = source(
        "int main(void) { for (long i = 0; i < 5000; i++) work(i); *(volatile int *) 8 = 1; return 0; }",
    );
    for probes in BOTH {
        assert_eq!(steps_of(&source, probes), (5000, "it was killed by SIGSEGV".to_owned()), "{probes:?}");
    }
}

#[test]
fn self_kill_keeps_monitor_state() {
    let source = source(
        "int main(void) { for (long i = 0; i < 5000; i++) work(i); kill(getpid(), SIGKILL); return 0; }",
    );
    for probes in BOTH {
        assert_eq!(steps_of(&source, probes), (5000, "it was killed by SIGKILL".to_owned()), "{probes:?}");
    }
}

#[test]
fn exit_with_running_threads_keeps_monitor_state() {
    let source = source(
        "static void *run(void *p) { for (long i = 0;; i++) work(i); return 0; }
         int main(void) {
             pthread_t all[4];
             for (int i = 0; i < 4; i++) pthread_create(&all[i], 0, run, 0);
             usleep(20000);
             exit(3);
         }",
    );
    for _ in 0..5 {
        let (steps, ending) = steps_of(&source, ProbeMode::Inline);
        assert!(steps > 0);
        assert_eq!(ending, "it exited with status 3");
    }
}

/// Threads with objects of their own are killed at any point: all their steps are known, except which object each
/// concerned.
#[test]
fn exit_with_open_shards_keeps_monitor_state() {
    let counts = tempfile::NamedTempFile::new().unwrap();
    let source = source(&format!(
        r#"#include <fcntl.h>
         #include <sys/mman.h>
         static volatile long *counts;
         static void *run(void *p) {{ for (;;) {{ counts[(long) p]++; work((long) p); }} return 0; }}
         int main(void) {{
             int file = open("{}", O_RDWR | O_CREAT, 0600);
             ftruncate(file, 4096);
             counts = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
             pthread_t all[4];
             for (long i = 0; i < 4; i++) pthread_create(&all[i], 0, run, (void *) (8 * i));
             usleep(100000);
             kill(getpid(), SIGKILL);
         }}"#,
        counts.path().display()
    ));
    let property = "
        slice on x
        initialization { n = 0 }
        state init accepting { transition { event work(arg 1 as x: int) success { n = n + 1 } init } }";
    let built = c(&source, &["-O2", "-pthread"]);
    for _ in 0..5 {
        std::fs::write(counts.path(), [0; 4096]).unwrap();
        let mut session = session(&built, property, ProbeMode::Inline, false);
        let steps = steps_to_end(&mut session);
        let bytes = std::fs::read(counts.path()).unwrap();
        let done: u64 =
            (0..4).map(|thread| u64::from_le_bytes(bytes[64 * thread..][..8].try_into().unwrap())).sum();
        assert!(steps > 1000 && (steps..=steps + 8).contains(&done), "{steps} of {done}");
    }
}

#[test]
fn exec_keeps_monitor_state() {
    let source = source(
        "int main(int argc, char **argv) {
             for (long i = 0; i < 700; i++) work(i);
             if (argc == 1) execl(argv[0], argv[0], \"again\", NULL);
             return 0;
         }",
    );
    for probes in BOTH {
        assert_eq!(steps_of(&source, probes), (1400, "it exited with status 0".to_owned()), "{probes:?}");
    }
}

#[test]
fn corrupt_library_heap_loses_monitors_only() {
    let source = source(
        "int main(void) {
             char *all[100];
             for (long i = 0; i < 100; i++) { all[i] = malloc(40); work(i); }
             for (long i = 0; i < 100; i++) { memset(all[i] - 16, 0x41, 64); work(i); }
             for (long i = 0; i < 100; i++) { work(i); free(all[i]); }
             return 0;
         }",
    );
    let [inline, trap] = BOTH.map(|probes| steps_of(&source, probes));
    assert_eq!(inline, trap);
    assert!(inline.0 > 200);
}
