//! Predefined events (signals, processes, threads) and events of system calls.

use crate::live::common::{c, instrument_events, run};
use invigil_monitor::event::EventKind::{After, Before, Write};
use invigil_target::{EventSource, StopReason, Termination};

const DONE: StopReason = StopReason::Ended(Termination::Exited(0));

#[test]
fn system_call_events_have_arguments_and_results() {
    let source = "
        #include <fcntl.h>
        #include <unistd.h>
        int main(void) {
            int f = open(\"/dev/null\", O_WRONLY);
            for (int i = 0; i < 3; i++) if (write(f, \"abc\", 3) != 3) return 1;
            return access(\"/nowhere/at/all\", R_OK) == 0;
        }";
    let program = c(source, &["-g"]);
    let mut target = program.start();
    let (catalog, _) = instrument_events(
        &mut target,
        &[
            ("syscall:openat", Before, &["arg 2: str"]),
            ("syscall:openat", After, &["ret"]),
            ("syscall:write", Before, &["arg 2: str", "arg 3"]),
            ("syscall:write", After, &["arg 3", "ret"]),
            ("syscall:access", After, &["ret"]),
        ],
    );
    let (events, stop) = run(&mut target, &catalog);
    assert_eq!(stop, DONE);
    let expected = [
        "syscall:openat(\"/dev/null\")",
        "after syscall:openat(3)",
        "syscall:write(\"abc\", 3)",
        "after syscall:write(3, 3)",
        "syscall:write(\"abc\", 3)",
        "after syscall:write(3, 3)",
        "syscall:write(\"abc\", 3)",
        "after syscall:write(3, 3)",
        "after syscall:access(-2)",
    ];
    assert_eq!(events, expected);
}

#[test]
fn unknown_system_call_is_unresolved() {
    let program = c("int main(void) { return 0; }", &[]);
    let mut target = program.start();
    let (catalog, _) = crate::live::common::catalog(&[("syscall:opn", Before, &[])]);
    let unknown = EventSource::prepare(&mut target, &catalog).unwrap();
    assert!(unknown[0].reason.contains("`opn`"), "{unknown:?}");
}

#[test]
fn system_call_events_can_be_enabled_while_running() {
    // Enabled only from the second call of `mark` on: the stop at the exit of a call must be distinguished from one
    // at its entry.
    let source = "
        #include <unistd.h>
        #include <sys/syscall.h>
        __attribute__((noinline)) void mark(int i) { }
        int main(void) { for (int i = 0; i < 4; i++) { mark(i); syscall(SYS_getppid); } return 0; }";
    let program = c(source, &["-g"]);
    let mut target = program.start();
    use invigil_monitor::event::EventSet;
    use invigil_target::ResumeMode;
    use invigil_target::prelude::*;
    let events: &[(&str, _, &[&str])] =
        &[("mark", Before, &["i"]), ("syscall:getppid", Before, &[]), ("syscall:getppid", After, &[])];
    let (catalog, all) = instrument_events(&mut target, events);
    let mut marks = EventSet::default();
    marks.insert(catalog.find("mark", Before).unwrap());
    let mut seen = Vec::new();
    let mut on = false;
    target.instrument(&marks).unwrap();
    while target.resume(&ResumeMode::Continue).unwrap() == StopReason::Events {
        let event = crate::live::common::shown(&mut target, &catalog, 0);
        if event.starts_with("mark") {
            on = !on;
        }
        // Disabled from the entry of a call on; the next one is needed again.
        target.instrument(if on { &all } else { &marks }).unwrap();
        seen.push(event);
    }
    let pair = ["syscall:getppid()", "after syscall:getppid()"];
    let expected: Vec<&str> =
        [&["mark(0)"][..], &pair, &["mark(1)", "mark(2)"], &pair, &["mark(3)"]].concat();
    assert_eq!(seen, expected);
}

#[test]
fn signal_events_have_parameters() {
    let source = "
        #include <signal.h>
        #include <unistd.h>
        static volatile int got;
        static void handler(int s) { got++; }
        int main(void) {
            signal(SIGUSR1, handler); signal(SIGRTMIN + 2, handler); signal(SIGTRAP, handler);
            raise(SIGUSR1); raise(SIGRTMIN + 2); raise(SIGTRAP);
            return got != 3;
        }";
    let program = c(source, &["-g"]);
    let mut target = program.start();
    let (catalog, _) = instrument_events(
        &mut target,
        &[("#signal", Before, &["number", "name"]), ("handler", Before, &["s"])],
    );
    let (events, stop) = run(&mut target, &catalog);
    assert_eq!(stop, DONE);
    let expected = [
        "#signal(10, \"SIGUSR1\")",
        "handler(10)",
        "#signal(36, \"SIGRTMIN+2\")",
        "handler(36)",
        "#signal(5, \"SIGTRAP\")",
        "handler(5)",
    ];
    assert_eq!(events, expected);
}

#[test]
fn thread_fork_and_exit_events_are_reported() {
    let source = "
        #include <pthread.h>
        #include <stdlib.h>
        #include <sys/wait.h>
        #include <unistd.h>
        static void *work(void *arg) { return 0; }
        int main(void) {
            pthread_t t; pthread_create(&t, 0, work, 0); pthread_join(t, 0);
            pid_t child = fork();
            if (child == 0) _exit(3);
            int status; waitpid(child, &status, 0);
            return WEXITSTATUS(status) + 4;
        }";
    let program = c(source, &["-g", "-pthread"]);
    let mut target = program.start();
    let (catalog, _) = instrument_events(
        &mut target,
        &[
            ("#thread", Before, &["id: bool"]),
            ("work", Before, &[]),
            ("#thread_exit", Before, &[]),
            ("#fork", Before, &["child: bool"]),
            ("#exit", Before, &["status"]),
        ],
    );
    let (events, stop) = run(&mut target, &catalog);
    assert_eq!(stop, StopReason::Ended(Termination::Exited(7)));
    assert_eq!(events, ["#thread(true)", "work()", "#thread_exit()", "#fork(true)", "#exit(7)"]);
}

#[test]
fn exec_event_is_reported() {
    let next = c(
        "__attribute__((noinline)) int step(int i) { return i; } int main(void) { return step(1) + step(2) - 3; }",
        &["-g"],
    );
    let source = "
        #include <unistd.h>
        __attribute__((noinline)) int step(int i) { return i * 2; }
        int main(int argc, char **argv) { step(7); execl(argv[1], argv[1], (char *)0); return 1; }";
    let program = c(source, &["-g"]);
    let launch = program.launch().arg(&next.path);
    let mut target = invigil_native::NativeTarget::launch(&launch).unwrap();
    let (catalog, _) = instrument_events(
        &mut target,
        &[("step", Before, &["i"]), ("step", After, &["ret"]), ("#exec", Before, &[]), ("main", Before, &[])],
    );
    let (events, stop) = run(&mut target, &catalog);
    assert_eq!(stop, DONE);
    let expected = [
        "main()",
        "step(7)",
        "after step(14)",
        "#exec()",
        "main()",
        "step(1)",
        "after step(1)",
        "step(2)",
        "after step(2)",
    ];
    assert_eq!(events, expected);
}

#[test]
fn exec_by_other_thread_after_leader_exit_is_followed() {
    let next = c(
        "__attribute__((noinline)) int hit(int i) { return i; } int main(void) { return hit(5); }",
        &["-g"],
    );
    let source = "
        #include <pthread.h>
        #include <unistd.h>
        int n;
        char *path;
        __attribute__((noinline)) void hit(int i) { n += i; }
        static void *work(void *arg) { usleep(50000); hit(1); hit(2); execl(path, path, (char *) 0); return 0; }
        int main(int argc, char **argv) {
            path = argv[1];
            pthread_t t; pthread_create(&t, 0, work, 0); pthread_exit(0);
        }";
    let program = c(source, &["-g", "-pthread"]);
    let launch = program.launch().arg(&next.path);
    let mut target = invigil_native::NativeTarget::launch(&launch).unwrap();
    let point = crate::live::common::stop_at(&mut target, "hit");
    for expected in ["1", "2", "5"] {
        crate::live::common::go_to(&mut target, point);
        assert_eq!(crate::live::common::print(&mut target, "i"), expected);
    }
    assert_eq!(crate::live::common::go(&mut target), StopReason::Ended(Termination::Exited(5)));
}

#[test]
fn fork_of_vfork_child_while_stopping_is_released() {
    let source = "
        #define _GNU_SOURCE
        #include <pthread.h>
        #include <sys/syscall.h>
        #include <sys/wait.h>
        #include <unistd.h>
        volatile int lent;
        __attribute__((noinline)) void mark(void) { }
        static void *work(void *arg) { while (!lent) usleep(100); usleep(20000); mark(); return 0; }
        int main(void) {
            pthread_t t; pthread_create(&t, 0, work, 0);
            pid_t child = vfork();
            if (child == 0) {
                lent = 1;
                usleep(200000);
                int status = 1;
                long made = syscall(SYS_fork);
                if (made == 0) syscall(SYS_exit_group, 3);
                wait4(made, &status, 0, 0);
                _exit(WEXITSTATUS(status));
            }
            int status; waitpid(child, &status, 0);
            pthread_join(t, 0);
            return WEXITSTATUS(status);
        }";
    let program = c(source, &["-g", "-pthread"]);
    let mut target = program.start();
    let point = crate::live::common::stop_at(&mut target, "mark");
    // Nothing can stop the first thread before the child has exited, which waits for its own child.
    crate::live::common::go_to(&mut target, point);
    assert_eq!(crate::live::common::go(&mut target), StopReason::Ended(Termination::Exited(3)));
}

#[test]
fn unknown_parameters_of_predefined_events_are_unresolved() {
    let source = "
        #include <pthread.h>
        static void *work(void *arg) { return 0; }
        int main(void) { pthread_t t; pthread_create(&t, 0, work, 0); pthread_join(t, 0); return 0; }";
    let program = c(source, &["-g", "-pthread"]);
    let mut target = program.start();
    let (catalog, _) = instrument_events(
        &mut target,
        &[
            ("#thread", Before, &["thread: bool", "#thread: bool"]),
            ("#thread", After, &["thread: bool"]),
            ("#thread_exit", Before, &["thread: bool"]),
        ],
    );
    let (events, stop) = run(&mut target, &catalog);
    assert_eq!(stop, DONE);
    // Every declaration of the same event is reported.
    assert_eq!(events.len(), 3, "{events:?}");
    assert!(events.iter().all(|event| event.contains("(true")), "{events:?}");

    let mut target = program.start();
    let (catalog, _) = crate::live::common::catalog(&[
        ("#thread", Before, &["thread", "nummer"]),
        ("#exit", Before, &["code"]),
        ("syscall:write", Before, &["arg 7", "arg 6", "ret", "fd"]),
        ("syscall:write", After, &["ret"]),
    ]);
    let unknown = EventSource::prepare(&mut target, &catalog).unwrap();
    let params: Vec<Option<usize>> = unknown.iter().map(|unknown| unknown.param).collect();
    assert_eq!(params, [Some(1), Some(0), Some(0), Some(2), Some(3)], "{unknown:?}");
    assert!(unknown[0].help.contains("`thread`"), "{unknown:?}");
}

#[test]
fn system_call_that_writes_watched_memory_still_has_its_event() {
    // A small variable is watched by a debug register, an array by its page.
    for (variable, access) in [("int cell", "cell"), ("char cell[9000]", "cell")] {
        let source = format!(
            "
            #include <fcntl.h>
            #include <unistd.h>
            {variable};
            int main(void) {{
                int zero = open(\"/dev/urandom\", O_RDONLY);
                for (int i = 0; i < 2; i++) if (read(zero, &cell, sizeof cell) != sizeof cell) return 1;
                return 0;
            }}"
        );
        let program = c(&source, &["-g"]);
        let mut target = program.start();
        let (catalog, _) =
            instrument_events(&mut target, &[("syscall:read", After, &["ret"]), (access, Write, &[])]);
        let (events, stop) = run(&mut target, &catalog);
        assert_eq!(stop, DONE);
        let size = if variable.contains('[') { 9000 } else { 4 };
        let read = format!("after syscall:read({size})");
        assert_eq!(events, ["write cell()", &read, "write cell()", &read], "{variable}");
    }
}
