//! Programs that cannot run, or that behave badly.

use crate::live::common::{
    Built, c, catalog, eventually, instrument_events, processes_with, run, with_output,
};
use invigil_monitor::event::EventKind::{After, Before};
use invigil_native::{Launch, NativeTarget, Stream};
use invigil_target::prelude::*;
use invigil_target::{ResumeMode, StopReason, TargetError, Termination};
use invigil_test_support::Folder;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

const DONE: StopReason = StopReason::Ended(Termination::Exited(0));

fn killed(signal: &str) -> StopReason {
    StopReason::Ended(Termination::Killed { signal: signal.into(), core: false })
}

/// Whether it was killed by a signal, with or without a core dump.
fn is_killed_by(stop: &StopReason, name: &str) -> bool {
    matches!(stop, StopReason::Ended(Termination::Killed { signal, .. }) if signal == name)
}

fn kill(process: i32, signal: &str) {
    assert!(
        Command::new("kill").args([&format!("-{signal}"), &process.to_string()]).status().unwrap().success()
    );
}

fn file(dir: &Path, name: &str, content: &[u8], mode: u32) -> std::path::PathBuf {
    let path = dir.join(name);
    std::fs::write(&path, content).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
    path
}

#[test]
fn unrunnable_files_are_rejected_with_reason() {
    let dir = Folder::new();
    let mut elf32 = b"\x7fELF\x01\x01\x01".to_vec();
    elf32.resize(16, 0);
    elf32.extend([2, 0, 3, 0, 1, 0, 0, 0]);
    elf32.resize(200, 0);
    let mut arm = b"\x7fELF\x02\x01\x01".to_vec();
    arm.resize(16, 0);
    arm.extend([2, 0, 0xb7, 0, 1, 0, 0, 0]);
    arm.resize(200, 0);
    let mut damaged = b"\x7fELF\x02\x01\x01".to_vec();
    damaged.resize(16, 0);
    damaged.extend([2, 0, 0x3e, 0, 1, 0, 0, 0]);
    damaged.resize(200, 0);
    let cases = [
        (dir.join("nothing"), "no such file"),
        (file(dir.path(), "plain", b"#!/bin/sh\n", 0o644), "not executable"),
        (dir.path().to_owned(), "directory"),
        (file(dir.path(), "old", &elf32, 0o755), "32-bit"),
        (file(dir.path(), "arm", &arm, 0o755), "processor"),
        (file(dir.path(), "damaged", &damaged, 0o755), "cannot run"),
        (file(dir.path(), "text", b"just words\n", 0o755), "neither a program nor a script"),
        (file(dir.path(), "empty", b"", 0o755), "empty"),
        (file(dir.path(), "script", b"#!/nowhere/interpreter\n", 0o755), "interpreter"),
        ("no_such_program_anywhere".into(), "PATH"),
    ];
    let mark = format!("INVIGIL_MARK=refused-{}", std::process::id());
    let (name, value) = mark.split_once('=').unwrap();
    for (path, words) in cases {
        let launch = Launch::new(&path).env(name, Some(value.into()));
        match NativeTarget::launch(&launch) {
            Err(TargetError::Control(error)) => assert!(error.contains(words), "{}: {error}", path.display()),
            Err(other) => panic!("{}: {other:?}", path.display()),
            Ok(_) => panic!("{} runs", path.display()),
        }
    }
    let launch = Launch::new("/bin/true").dir("/nowhere").env(name, Some(value.into()));
    let error = NativeTarget::launch(&launch).err().unwrap().to_string();
    assert!(error.contains("no directory `/nowhere`"), "{error}");
    assert_eq!(processes_with(&mark), Vec::<i32>::new());
}

#[test]
fn no_process_is_left_behind_on_kill() {
    let source = "
        #include <unistd.h>
        __attribute__((noinline)) void step(void) { }
        int main(void) { for (;;) { step(); usleep(1000); } }";
    let program = c(source, &["-g"]);
    let mark = format!("INVIGIL_MARK=left-{}", std::process::id());
    let (name, value) = mark.split_once('=').unwrap();
    let launch = program.launch().env(name, Some(value.into()));
    let mut target = NativeTarget::launch(&launch).unwrap();
    instrument_events(&mut target, &[("step", Before, &[])]);
    assert_eq!(target.resume(&ResumeMode::Continue).unwrap(), StopReason::Events);
    assert_eq!(processes_with(&mark).len(), 1);
    drop(target);
    assert_eq!(processes_with(&mark), Vec::<i32>::new());
    let mut target = NativeTarget::launch(&launch).unwrap();
    target.kill().unwrap();
    assert!(!target.is_alive());
    assert_eq!(processes_with(&mark), Vec::<i32>::new());
    assert_eq!(target.resume(&ResumeMode::Continue).unwrap(), killed("SIGKILL"));
}

const COUNTS: &str = "
    #include <stdio.h>
    #include <unistd.h>
    #include <sys/wait.h>
    __attribute__((noinline)) int step(int i) { return i * 3; }
    static int work(int n) { int sum = 0; for (int i = 0; i < n; i++) sum += step(i); return sum; }
    ";

#[test]
fn child_processes_continue_unharmed() {
    let body = "
        int main(void) {
            for (int k = 0; k < 3; k++) {
                pid_t child = fork();
                if (child == 0) { printf(\"child %d\\n\", work(100)); fflush(stdout); _exit(work(3)); }
                int status; waitpid(child, &status, 0);
                if (!WIFEXITED(status) || WEXITSTATUS(status) != 9) return 1;
                work(2);
            }
            return 0;
        }";
    let program = c(&format!("{COUNTS}{body}"), &["-g"]);
    let (launch, output) = with_output(&program);
    let mut target = NativeTarget::launch(&launch).unwrap();
    let (catalog, _) = instrument_events(&mut target, &[("step", Before, &["i"]), ("step", After, &["ret"])]);
    let (events, stop) = run(&mut target, &catalog);
    assert_eq!(stop, DONE);
    assert_eq!(events.len(), 12, "{events:?}");
    assert_eq!(std::fs::read_to_string(output).unwrap(), "child 14850\n".repeat(3));
}

#[test]
fn vfork_children_run_without_events() {
    // Both execute the traps in the shared code, which are not events of the target.
    let body = "
        #define _GNU_SOURCE
        #include <spawn.h>
        #include <sched.h>
        #include <stdlib.h>
        #include <signal.h>
        extern char **environ;
        static int in_child(void *arg) { return work(5) == 30 ? 4 : 1; }
        int main(int argc, char **argv) {
            int status;
            pid_t child = vfork();
            if (child == 0) { if (work(4) != 18) _exit(1); execl(\"/bin/sh\", \"sh\", \"-c\", \"exit 5\", (char *)0); _exit(9); }
            waitpid(child, &status, 0);
            if (!WIFEXITED(status) || WEXITSTATUS(status) != 5) return 2;
            char *args[] = { \"sh\", \"-c\", \"exit 6\", 0 };
            if (posix_spawn(&child, \"/bin/sh\", 0, 0, args, environ)) return 3;
            waitpid(child, &status, 0);
            if (!WIFEXITED(status) || WEXITSTATUS(status) != 6) return 4;
            char *stack = malloc(65536);
            child = clone(in_child, stack + 65536, CLONE_VM | SIGCHLD, 0);
            waitpid(child, &status, 0);
            if (!WIFEXITED(status) || WEXITSTATUS(status) != 4) return 5;
            return system(\"exit 7\") >> 8 != 7 || work(3) != 9;
        }";
    let program = c(&format!("#define _GNU_SOURCE\n{COUNTS}{body}"), &["-g", "-w"]);
    let mut target = program.start();
    let (catalog, _) = instrument_events(&mut target, &[("step", Before, &["i"])]);
    let (events, stop) = run(&mut target, &catalog);
    assert_eq!(stop, DONE);
    assert_eq!(events, ["step(0)", "step(1)", "step(2)"]);
}

#[test]
fn daemonizing_process_is_released() {
    let body = "
        int main(int argc, char **argv) {
            if (fork()) _exit(0);
            setsid();
            if (fork()) _exit(0);
            FILE *f = fopen(argv[1], \"w\");
            fprintf(f, \"%d\\n\", work(50));
            fclose(f);
            return 0;
        }";
    let program = c(&format!("{COUNTS}{body}"), &["-g"]);
    let output = program.dir().join("daemon");
    let launch = program.launch().arg(&output);
    let mut target = NativeTarget::launch(&launch).unwrap();
    let (catalog, _) = instrument_events(&mut target, &[("step", Before, &["i"])]);
    assert_eq!(run(&mut target, &catalog), (vec![], DONE));
    assert!(eventually(|| std::fs::read_to_string(&output).is_ok_and(|text| text == "3675\n")));
}

#[test]
fn crash_is_reported_before_exit() {
    let source = "
        __attribute__((noinline)) int bad(int *p) { return *p; }
        int main(int argc, char **argv) { return bad((int *)(long)(argc + 15)); }";
    let program = c(source, &["-g"]);
    let mut target = program.start();
    let (catalog, _) =
        instrument_events(&mut target, &[("bad", Before, &["p"]), ("#signal", Before, &["name", "address"])]);
    let (events, stop) = run(&mut target, &catalog);
    assert_eq!(events, ["bad(16)", "#signal(\"SIGSEGV\", 16)"]);
    assert_eq!(stop, StopReason::Signal { name: "SIGSEGV".into(), detail: "bad access to 0x10".into() });
    assert_eq!(target.frames(10).unwrap()[0].function, "bad");
    assert!(is_killed_by(&target.resume(&ResumeMode::Continue).unwrap(), "SIGSEGV"));
    assert!(!target.is_alive());

    for (statement, signal) in [
        ("__builtin_trap();", "SIGILL"),
        ("abort();", "SIGABRT"),
        ("asm(\"int3\");", "SIGTRAP"),
        ("raise(SIGBUS);", "SIGBUS"),
    ] {
        let source =
            format!("#include <stdlib.h>\n#include <signal.h>\nint main(void) {{ {statement} return 0; }}");
        let program = c(&source, &["-g"]);
        let mut target = program.start();
        let (catalog, _) = instrument_events(&mut target, &[]);
        let (_, stop) = run(&mut target, &catalog);
        assert!(matches!(&stop, StopReason::Signal { name, .. } if name == signal), "{stop:?}");
        let stop = target.resume(&ResumeMode::Continue).unwrap();
        assert!(is_killed_by(&stop, signal), "{stop:?}");
    }
}

#[test]
fn handled_faults_are_not_reported() {
    // A fault at an instruction that carries a trap, handled by a jump.
    let source = "
        #include <setjmp.h>
        #include <signal.h>
        static sigjmp_buf out; static volatile int caught, sink;
        static void handler(int s) { caught++; siglongjmp(out, 1); }
        __attribute__((noinline, optimize(\"O2\"))) int peek(int *p) { return *p; }
        int main(void) {
            signal(SIGSEGV, handler);
            int x = 1;
            for (volatile int i = 0; i < 6; i++) if (sigsetjmp(out, 1) == 0) sink += peek(i % 2 ? &x : 0);
            return caught != 3;
        }";
    let program = c(source, &["-g"]);
    let mut target = program.start();
    let (catalog, _) = instrument_events(&mut target, &[("peek", Before, &[]), ("peek", After, &["ret"])]);
    let (events, stop) = run(&mut target, &catalog);
    assert_eq!(stop, DONE);
    assert_eq!(events.iter().filter(|event| *event == "peek()").count(), 6, "{events:?}");
    assert_eq!(events.iter().filter(|event| *event == "after peek(1)").count(), 3, "{events:?}");
}

#[test]
fn own_traps_of_target_are_delivered() {
    let source = "
        #include <signal.h>
        static volatile int traps;
        static void handler(int s) { traps++; }
        __attribute__((noinline)) void step(int i) { asm volatile(\"int3\"); }
        int main(void) {
            signal(SIGTRAP, handler);
            for (int i = 0; i < 5; i++) step(i);
            return traps != 5;
        }";
    let program = c(source, &["-g"]);
    let mut target = program.start();
    let (catalog, _) = instrument_events(&mut target, &[("step", Before, &["i"]), ("step", After, &[])]);
    let (events, stop) = run(&mut target, &catalog);
    assert_eq!((events.len(), stop), (10, DONE));

    let source = "
        #include <signal.h>
        __attribute__((noinline)) void step(int i) { }
        int main(void) { signal(SIGTRAP, SIG_IGN); for (int i = 0; i < 5; i++) { step(i); raise(SIGTRAP); } return 0; }";
    let program = c(source, &["-g"]);
    let mut target = program.start();
    let (catalog, _) = instrument_events(&mut target, &[("step", Before, &["i"])]);
    let (events, stop) = run(&mut target, &catalog);
    // The kernel stops ignoring SIGTRAP when a trap is hit while it is ignored.
    let stop = if matches!(stop, StopReason::Signal { .. }) {
        target.resume(&ResumeMode::Continue).unwrap()
    } else {
        stop
    };
    assert!(stop == DONE && events.len() == 5 || is_killed_by(&stop, "SIGTRAP"), "{events:?} {stop:?}");
}

#[test]
fn signals_under_load_are_all_delivered() {
    let source = "
        #include <signal.h>
        #include <string.h>
        #include <sys/time.h>
        static volatile int ticks;
        static void handler(int s) { ticks++; }
        __attribute__((noinline)) int step(int i) { return i + 1; }
        int main(void) {
            struct sigaction act; memset(&act, 0, sizeof act); act.sa_handler = handler; act.sa_flags = SA_RESTART;
            sigaction(SIGALRM, &act, 0);
            struct itimerval every = { { 0, 300 }, { 0, 300 } };
            setitimer(ITIMER_REAL, &every, 0);
            int sum = 0, n = 0;
            for (; n < 3000 || ticks < 20; n++) sum += step(0);
            memset(&every, 0, sizeof every); setitimer(ITIMER_REAL, &every, 0);
            step(n); return sum != n;
        }";
    let program = c(source, &["-g"]);
    let mut target = program.start();
    let (catalog, _) = instrument_events(&mut target, &[("step", Before, &["i"]), ("step", After, &["ret"])]);
    let (events, stop) = run(&mut target, &catalog);
    assert_eq!(stop, DONE);
    let total: usize = events[events.len() - 2][5..].trim_end_matches(')').parse().unwrap();
    assert_eq!(events.len(), 2 * (total + 1));
    assert!(events[..2 * total].chunks(2).all(|pair| pair == ["step(0)", "after step(1)"]));
}

#[test]
fn kill_from_outside_ends_session() {
    let source = "
        #include <unistd.h>
        __attribute__((noinline)) void step(void) { }
        int main(void) { step(); for (;;) pause(); }";
    let program = c(source, &["-g"]);
    // While it runs.
    let mut target = program.start();
    let (catalog, _) = instrument_events(&mut target, &[("step", Before, &[])]);
    let process = target.process();
    let killer = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(100));
        kill(process, "KILL");
    });
    let (events, stop) = run(&mut target, &catalog);
    killer.join().unwrap();
    assert_eq!((events.len(), stop), (1, killed("SIGKILL")));
    // While it is stopped at an event.
    let mut target = program.start();
    instrument_events(&mut target, &[("step", Before, &[])]);
    assert_eq!(target.resume(&ResumeMode::Continue).unwrap(), StopReason::Events);
    target.stop_all().unwrap();
    kill(target.process(), "KILL");
    std::thread::sleep(std::time::Duration::from_millis(50));
    let _ = target.frames(3);
    let _ = target.evaluate("1 + 1");
    assert_eq!(target.resume(&ResumeMode::Continue).unwrap(), killed("SIGKILL"));
    assert!(!target.is_alive());
}

#[test]
fn job_control_stop_is_respected() {
    let source = "
        #include <signal.h>
        #include <sys/wait.h>
        #include <unistd.h>
        __attribute__((noinline)) void step(int i) { }
        int main(void) {
            step(1);
            pid_t me = getpid();
            if (fork() == 0) { usleep(150000); kill(me, SIGCONT); _exit(0); }
            raise(SIGSTOP);
            step(2);
            return 0;
        }";
    let program = c(source, &["-g"]);
    let mut target = program.start();
    let (catalog, _) = instrument_events(&mut target, &[("step", Before, &["i"])]);
    let (events, stop) = run(&mut target, &catalog);
    assert_eq!((events, stop), (vec!["step(1)".into(), "step(2)".into()], DONE));
}

#[test]
fn interrupt_during_job_control_stop_is_reported() {
    let source = "
        #include <signal.h>
        __attribute__((noinline)) void step(int i) { }
        int main(void) { raise(SIGSTOP); step(2); return 0; }";
    let program = c(source, &["-g"]);
    let mut target = program.start();
    let (catalog, _) = instrument_events(&mut target, &[("step", Before, &["i"])]);
    let interrupter = target.interrupter();
    let later = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(100));
        interrupter.interrupt();
    });
    assert_eq!(target.resume(&ResumeMode::Continue).unwrap(), StopReason::Interrupted);
    later.join().unwrap();
    let process = target.process();
    let later = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(100));
        kill(process, "CONT");
    });
    let (events, stop) = run(&mut target, &catalog);
    later.join().unwrap();
    assert_eq!((events, stop), (vec!["step(2)".to_owned()], DONE));
}

#[test]
fn interrupt_while_running_stops_target() {
    let source = "
        #include <pthread.h>
        static volatile int stop;
        static void *work(void *arg) { while (!stop) ; return 0; }
        int main(void) { pthread_t t; pthread_create(&t, 0, work, 0); while (!stop) ; pthread_join(t, 0); return 0; }";
    let program = c(source, &["-g", "-pthread"]);
    let mut target = program.start();
    for _ in 0..3 {
        let interrupter = target.interrupter();
        let later = std::thread::spawn(move || {
            std::thread::sleep(std::time::Duration::from_millis(50));
            interrupter.interrupt();
        });
        assert_eq!(target.resume(&ResumeMode::Continue).unwrap(), StopReason::Interrupted);
        later.join().unwrap();
    }
    assert_eq!(target.threads().len(), 2);
    target.assign("stop", "1").unwrap();
    assert_eq!(target.resume(&ResumeMode::Continue).unwrap(), DONE);
}

/// A process that periodically prints its progress, not started by the debugger.
fn counting(program: &Built) -> (Child, BufReader<std::process::ChildStdout>) {
    let mut child = Command::new(&program.path).stdout(Stdio::piped()).spawn().unwrap();
    let output = BufReader::new(child.stdout.take().unwrap());
    (child, output)
}

fn line(output: &mut impl BufRead) -> i64 {
    let mut text = String::new();
    output.read_line(&mut text).unwrap();
    text.trim().parse().unwrap_or_else(|_| panic!("{text:?} is no number"))
}

fn code_of(process: u32, address: u64) -> Vec<u8> {
    use std::os::unix::fs::FileExt;
    let mut bytes = vec![0; 64];
    std::fs::File::open(format!("/proc/{process}/mem")).unwrap().read_exact_at(&mut bytes, address).unwrap();
    bytes
}

#[test]
fn attached_process_continues_after_detach() {
    let source = "
        #include <pthread.h>
        #include <stdio.h>
        #include <unistd.h>
        static long total; static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
        __attribute__((noinline)) void step(long by) { pthread_mutex_lock(&lock); total += by; pthread_mutex_unlock(&lock); }
        static void *work(void *arg) { for (;;) { step((long)arg); usleep(1000); } return 0; }
        int main(void) {
            setvbuf(stdout, 0, _IOLBF, 0);
            pthread_t t;
            for (long i = 1; i <= THREADS; i++) pthread_create(&t, 0, work, (void *)i);
            for (;;) { step(1000); printf(\"%ld\\n\", total); usleep(2000); }
        }";
    for threads in ["-DTHREADS=0", "-DTHREADS=3"] {
        let program = c(source, &["-g", "-pthread", "-no-pie", threads]);
        let (mut child, mut output) = counting(&program);
        line(&mut output);
        let process = child.id();
        let mut target = NativeTarget::attach(process as i32).unwrap();
        assert_eq!(target.threads().len(), if threads.ends_with('0') { 1 } else { 4 });
        let address = target.evaluate("(long) &step").unwrap();
        let address: u64 = address.parse().unwrap_or_else(|_| panic!("{address}"));
        let before = code_of(process, address);
        let (catalog, _) =
            instrument_events(&mut target, &[("step", Before, &["by"]), ("step", After, &["by"])]);
        let mut seen = Vec::new();
        for _ in 0..60 {
            assert_eq!(target.resume(&ResumeMode::Continue).unwrap(), StopReason::Events);
            seen.push(crate::live::common::shown(&mut target, &catalog, 0));
        }
        assert!(seen.contains(&"step(1000)".to_owned()), "{seen:?}");
        assert!(threads.ends_with('0') || seen.iter().any(|event| event == "step(2)"), "{seen:?}");
        assert_ne!(code_of(process, address), before);
        target.detach().unwrap();
        assert_eq!(code_of(process, address), before);
        assert_eq!(target.resume(&ResumeMode::Continue).unwrap(), StopReason::Ended(Termination::Detached));
        let now = line(&mut output);
        assert!((0..200).any(|_| line(&mut output) > now + 10_000), "it no longer counts");
        // Again, this time by dropping the target.
        let mut target = NativeTarget::attach(process as i32).unwrap();
        instrument_events(&mut target, &[("step", Before, &["by"])]);
        assert_eq!(target.resume(&ResumeMode::Continue).unwrap(), StopReason::Events);
        drop(target);
        assert_eq!(code_of(process, address), before);
        let now = line(&mut output);
        assert!((0..200).any(|_| line(&mut output) > now + 10_000), "it no longer counts");
        assert!(child.try_wait().unwrap().is_none());
        child.kill().unwrap();
        child.wait().unwrap();
    }
}

#[test]
fn attach_failures_are_explained() {
    let error = NativeTarget::attach(0x3fff_fff0).err().unwrap().to_string();
    assert!(error.contains("no process"), "{error}");
    let program = c("#include <unistd.h>\nint main(void) { for (;;) pause(); }", &["-g"]);
    let mut child = Command::new(&program.path).stdout(Stdio::null()).spawn().unwrap();
    kill(child.id() as i32, "STOP");
    std::thread::sleep(std::time::Duration::from_millis(50));
    let error = NativeTarget::attach(child.id() as i32).err().unwrap().to_string();
    assert!(error.contains("kill -CONT"), "{error}");
    child.kill().unwrap();
    child.wait().unwrap();
    let mut held = Launch::new(&program.path);
    held.stdout = Stream::Null;
    let target = NativeTarget::launch(&held).unwrap();
    let process = target.process();
    let error =
        std::thread::spawn(move || NativeTarget::attach(process).err().unwrap().to_string()).join().unwrap();
    assert!(error.contains("is tracing it already"), "{error}");
}

#[test]
fn missing_function_is_unresolved() {
    let program = c(&format!("{COUNTS} int main(void) {{ return work(1); }}"), &["-g"]);
    let mut target = program.start();
    let (catalog, _) = catalog(&[("steps", Before, &[]), ("stpe", After, &["i"])]);
    let unknown = target.prepare(&catalog).unwrap();
    assert_eq!(unknown.len(), 2);
    assert!(unknown.iter().all(|unknown| unknown.help.contains("`step`")), "{unknown:?}");
}

#[test]
fn stop_all_with_vfork_child_terminates() {
    // The parent of such a child cannot stop before the child continues, which executes the traps.
    let body = "
        #include <pthread.h>
        static volatile int over;
        static void *tick(void *arg) { while (!over) { step(-1); usleep(500); } return 0; }
        int main(void) {
            pthread_t t; int status;
            pthread_create(&t, 0, tick, 0);
            for (int k = 0; k < 3; k++) {
                pid_t child = vfork();
                if (child == 0) { usleep(20000); _exit(work(4)); }
                waitpid(child, &status, 0);
                if (!WIFEXITED(status) || WEXITSTATUS(status) != 18) return 2;
            }
            over = 1;
            pthread_join(t, 0);
            return 0;
        }";
    let program = c(&format!("{COUNTS}{body}"), &["-g", "-pthread", "-w"]);
    let mut target = program.start();
    instrument_events(&mut target, &[("step", Before, &["i"])]);
    let mut ticks = 0;
    let stop = loop {
        match target.resume(&ResumeMode::Continue).unwrap() {
            StopReason::Events => {
                target.stop_all().unwrap();
                assert_eq!(target.events().event(0).params[0].as_int(), Some(-1));
                ticks += 1;
            }
            stop => break stop,
        }
    };
    assert_eq!(stop, DONE);
    assert!(ticks >= 3, "{ticks}");
}

#[test]
fn forking_threads_lose_no_events() {
    let body = "
        #include <pthread.h>
        static void *forks(void *arg) {
            for (int k = 0; k < 10; k++) {
                pid_t child = fork();
                if (child == 0) _exit(work(5));
                int status; waitpid(child, &status, 0);
                if (!WIFEXITED(status) || WEXITSTATUS(status) != 30) return (void *)1;
                work(3);
            }
            return 0;
        }
        int main(void) {
            pthread_t t[3]; long bad = 0;
            for (int i = 0; i < 3; i++) pthread_create(&t[i], 0, forks, 0);
            for (int i = 0; i < 3; i++) { void *r; pthread_join(t[i], &r); bad += (long)r; }
            return bad;
        }";
    let program = c(&format!("{COUNTS}{body}"), &["-g", "-pthread"]);
    let mut target = program.start();
    let events: &[(&str, _, &[&str])] = &[
        ("step", Before, &["i"]),
        ("step", After, &["ret"]),
        ("#fork", Before, &[]),
        ("#thread", Before, &[]),
    ];
    let (catalog, _) = instrument_events(&mut target, events);
    let (events, stop) = run(&mut target, &catalog);
    assert_eq!(stop, DONE);
    let count = |start: &str| events.iter().filter(|event| event.starts_with(start)).count();
    assert_eq!((count("step("), count("after step("), count("#fork"), count("#thread")), (90, 90, 30, 3));
}

#[test]
fn exec_from_other_thread_is_followed() {
    let source = "
        #include <pthread.h>
        #include <unistd.h>
        __attribute__((noinline)) int stride(int i) { return i; }
        static char *name;
        static void *run(void *arg) { stride(1); execl(name, name, \"again\", (char *)0); return 0; }
        int main(int argc, char **argv) {
            if (argc > 1) return stride(2) - 2;
            name = argv[0];
            pthread_t t; pthread_create(&t, 0, run, 0);
            for (;;) pause();
        }";
    let program = c(source, &["-g", "-pthread"]);
    let mut target = program.start();
    let (catalog, _) =
        instrument_events(&mut target, &[("stride", Before, &["i"]), ("stride", After, &["ret"])]);
    let (events, stop) = run(&mut target, &catalog);
    assert_eq!(stop, DONE);
    assert_eq!(events, ["stride(1)", "after stride(1)", "stride(2)", "after stride(2)"]);
}

#[test]
fn detach_with_pending_stops_leaves_target_intact() {
    // Threads and children are created all the time, and the debugger repeatedly detaches in the middle.
    let source = "
        #include <pthread.h>
        #include <stdio.h>
        #include <sys/wait.h>
        #include <unistd.h>
        __attribute__((noinline)) void stride(int i) { }
        static void *once(void *arg) { stride(1); return 0; }
        static void *makes(void *arg) {
            for (;;) { pthread_t t; pthread_create(&t, 0, once, 0); pthread_join(t, 0); stride(2);
                       pid_t c = fork(); if (c == 0) { stride(3); _exit(7); }
                       int s; waitpid(c, &s, 0); if (!WIFEXITED(s) || WEXITSTATUS(s) != 7) { puts(\"bad\"); _exit(1); } }
        }
        int main(void) {
            setvbuf(stdout, 0, _IOLBF, 0);
            pthread_t t; pthread_create(&t, 0, makes, 0); pthread_create(&t, 0, makes, 0);
            for (int i = 0;; i++) { stride(4); printf(\"%d\\n\", i); usleep(1000); }
        }";
    let program = c(source, &["-g", "-pthread"]);
    let (mut child, mut output) = counting(&program);
    line(&mut output);
    for round in 0..12 {
        let mut target = NativeTarget::attach(child.id() as i32).unwrap();
        instrument_events(&mut target, &[("stride", Before, &["i"]), ("stride", After, &[])]);
        for _ in 0..5 + round {
            assert_eq!(target.resume(&ResumeMode::Continue).unwrap(), StopReason::Events);
        }
        target.detach().unwrap();
        let now = line(&mut output);
        assert!((0..100).any(|_| line(&mut output) > now + 3), "it no longer counts");
    }
    assert!(child.try_wait().unwrap().is_none());
    child.kill().unwrap();
    child.wait().unwrap();
}
