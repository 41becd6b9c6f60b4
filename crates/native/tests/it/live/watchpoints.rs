//! Watchpoints.

use crate::live::common::{at, c, go, go_to, instrument_events, number, print, run, stop_at};
use invigil_monitor::event::EventKind::{Access, BeforeAccess, BeforeRead, BeforeWrite, Read, Write};
use invigil_native::NativeTarget;
use invigil_target::prelude::*;
use invigil_target::{BreakpointId, BreakpointKind, BreakpointSpec, Owner, StopReason, Termination};

const DATA: &str = r#"
#include <string.h>
#include <unistd.h>
struct pair { int left, right; };
int single = 1;
struct pair both;
long many[4096];
char inbox[64];
int beside;
int sum(int *numbers, int n) {
    int total = 0;
    for (int i = 0; i < n; i++)
        total += numbers[i];
    return total;
}
int local(int n) {
    int inside = n;
    inside += 1;
    inside += 2;
    return inside;
}
void started(void) {}
void middle(void) {}
int main(void) {
    started();
    single = 5;
    beside = single;
    both.left = 7;
    both.right = single + 1;
    for (int i = 0; i < 4096; i += 8)
        many[i] = i;
    beside += local(1);
    beside += local(10);
    int pipes[2];
    pipe(pipes);
    write(pipes[1], "hello", 5);
    middle();
    read(pipes[0], inbox, 5);
    single += 1;
    int numbers[] = {1, 2, 3};
    return sum(numbers, 3) + (inbox[0] == 'h') + (beside == 22);
}
"#;

fn watch(target: &mut NativeTarget, of: &str, read: bool, write: bool) -> BreakpointId {
    let what = BreakpointKind::Watch { expression: of.into(), read, write };
    target
        .set_breakpoint(Owner::User, &BreakpointSpec::new(what))
        .unwrap_or_else(|error| panic!("{of}: {error}"))
}

fn started() -> NativeTarget {
    let program = c(DATA, &["-g", "-w"]);
    let mut target = program.start();
    let id = stop_at(&mut target, "started");
    go_to(&mut target, id);
    target.remove_breakpoint(id).unwrap();
    target
}

#[test]
fn debug_registers_report_writes_and_reads() {
    let mut target = started();
    let writes = watch(&mut target, "single", false, true);
    let reads = watch(&mut target, "both.left", true, true);
    go_to(&mut target, writes);
    assert_eq!(print(&mut target, "single"), "5");
    go_to(&mut target, reads);
    assert_eq!(print(&mut target, "both"), "{left = 7, right = 0}");
    go_to(&mut target, writes);
    assert_eq!(print(&mut target, "single"), "6");
    assert_eq!(go(&mut target), StopReason::Ended(Termination::Exited(8)));
}

#[test]
fn read_watchpoints_and_event_values() {
    let mut target = started();
    let (catalog, _) = instrument_events(
        &mut target,
        &[
            ("single", Read, &["ret: int"]),
            ("single", Write, &["ret: int"]),
            ("single", BeforeWrite, &["ret: int"]),
            ("both.right", Access, &["ret: int"]),
        ],
    );
    let (events, stop) = run(&mut target, &catalog);
    assert_eq!(stop, StopReason::Ended(Termination::Exited(8)));
    let of = |prefix: &str| -> Vec<&str> {
        events.iter().filter(|event| event.starts_with(prefix)).map(String::as_str).collect()
    };
    assert_eq!(of("write single"), ["write single(5)", "write single(6)"]);
    assert_eq!(of("before-write single"), ["before-write single(1)", "before-write single(5)"]);
    assert_eq!(of("read single"), ["read single(5)", "read single(5)", "read single(5)"], "{events:?}");
    assert_eq!(of("access both.right"), ["access both.right(6)"]);
}

#[test]
fn thousands_of_watchpoints_at_a_time() {
    for step in [1024usize, 40, 1] {
        let mut target = started();
        let mut all = Vec::new();
        for i in (0..4096).step_by(step) {
            all.push((i, watch(&mut target, &format!("many[{i}]"), false, true)));
        }
        let written: Vec<_> = all.iter().filter(|(i, _)| i % 8 == 0).collect();
        for (i, id) in written.iter().take(150) {
            assert_eq!(
                go(&mut target),
                StopReason::Breakpoints { owner: Owner::User, breakpoints: vec![*id] },
                "at {i}"
            );
            assert_eq!(number(&mut target, &format!("many[{i}]")), *i as i64);
        }
        for (_, id) in &all {
            target.remove_breakpoint(*id).unwrap();
        }
        assert_eq!(go(&mut target), StopReason::Ended(Termination::Exited(8)));
    }
}

#[test]
fn system_call_write_hits_watchpoint() {
    for kind in [Write, BeforeWrite] {
        let mut target = started();
        let middle = stop_at(&mut target, "middle");
        go_to(&mut target, middle);
        // By a debug register, or by its page.
        let (catalog, _) = instrument_events(&mut target, &[("inbox[2]", kind, &["ret: int"])]);
        let (events, stop) = run(&mut target, &catalog);
        assert_eq!(stop, StopReason::Ended(Termination::Exited(8)), "{events:?}");
        if kind == Write {
            assert_eq!(events, ["write inbox[2](108)"]);
        }
    }
    let mut target = started();
    let middle = stop_at(&mut target, "middle");
    go_to(&mut target, middle);
    for i in 0..4 {
        watch(&mut target, &format!("many[{i}]"), false, true);
    }
    let id = watch(&mut target, "inbox", true, true);
    go_to(&mut target, id);
    assert_eq!(print(&mut target, "inbox[4]"), "111 'o'");
    go_to(&mut target, id);
    assert_eq!(go(&mut target), StopReason::Ended(Termination::Exited(8)));
}

#[test]
fn local_watchpoint_ends_with_its_call() {
    for pages in [false, true] {
        let mut target = started();
        if pages {
            for i in 0..4 {
                watch(&mut target, &format!("many[{}]", 8 * i + 1), false, true);
            }
        }
        let line = stop_at(&mut target, "program.c:17");
        go_to(&mut target, line);
        let id = watch(&mut target, "inside", false, true);
        for value in [1, 2, 4] {
            go_to(&mut target, id);
            assert_eq!(number(&mut target, "inside"), value);
        }
        // The second call has its own variable at the same address.
        go_to(&mut target, line);
        assert_eq!(number(&mut target, "n"), 10);
        assert_eq!(go(&mut target), StopReason::Ended(Termination::Exited(8)), "pages: {pages}");
    }
}

#[test]
fn signal_handler_on_watched_stack_runs() {
    let source = r#"
#include <signal.h>
volatile int hits;
void handler(int s) { hits += s; }
int work(void) {
    volatile int mine[4] = {0};
    raise(SIGUSR1);
    mine[1] = 3;
    raise(SIGUSR1);
    return mine[1] + hits;
}
long filler[4];
int main(void) {
    signal(SIGUSR1, handler);
    return work();
}
"#;
    for read in [false, true] {
        let program = c(source, &["-g"]);
        let mut target = program.start();
        let line = stop_at(&mut target, "program.c:7");
        go_to(&mut target, line);
        for i in 0..4 {
            watch(&mut target, &format!("filler[{i}]"), false, true);
        }
        let id = watch(&mut target, "mine[1]", read, true);
        go_to(&mut target, id);
        assert_eq!(number(&mut target, "mine[1]"), 3);
        assert_eq!(number(&mut target, "hits"), 10);
        if read {
            go_to(&mut target, id);
        }
        assert_eq!(go(&mut target), StopReason::Ended(Termination::Exited(23)), "read: {read}");
    }
}

#[test]
fn writes_of_several_threads_are_all_reported() {
    let source = r#"
#include <pthread.h>
volatile int counter, other;
long filler[8];
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *work(void *p) {
    for (int i = 0; i < 40; i++) {
        pthread_mutex_lock(&lock);
        counter++;
        pthread_mutex_unlock(&lock);
        __atomic_add_fetch(&other, 1, __ATOMIC_SEQ_CST);
    }
    return p;
}
void started(void) {}
int main(void) {
    pthread_t all[4];
    started();
    for (int i = 0; i < 4; i++)
        pthread_create(&all[i], 0, work, 0);
    for (int i = 0; i < 4; i++)
        pthread_join(all[i], 0);
    return counter == 160 && other == 160;
}
"#;
    let program = c(source, &["-g", "-pthread"]);
    for pages in [false, true] {
        let mut target = program.start();
        let line = stop_at(&mut target, "started");
        go_to(&mut target, line);
        if pages {
            for i in 0..4 {
                watch(&mut target, &format!("filler[{i}]"), false, true);
            }
        }
        let (catalog, _) = instrument_events(&mut target, &[("counter", Write, &["ret: int"])]);
        let (events, stop) = run(&mut target, &catalog);
        assert_eq!(stop, StopReason::Ended(Termination::Exited(1)), "pages: {pages}");
        let expected: Vec<String> = (1..=160).map(|n| format!("write counter({n})")).collect();
        assert_eq!(events, expected, "pages: {pages}");
    }
}

#[test]
fn forked_process_is_not_watched() {
    let source = r#"
#include <sys/wait.h>
#include <unistd.h>
int value;
long filler[4];
void started(void) {}
int main(void) {
    int status = 0;
    started();
    if (fork() == 0) {
        value = 4;
        started();
        _exit(value);
    }
    wait(&status);
    value = WEXITSTATUS(status);
    return value;
}
"#;
    let program = c(source, &["-g"]);
    let mut target = program.start();
    let line = stop_at(&mut target, "started");
    go_to(&mut target, line);
    for i in 0..4 {
        watch(&mut target, &format!("filler[{i}]"), false, true);
    }
    let id = watch(&mut target, "value", true, true);
    go_to(&mut target, id);
    assert_eq!(number(&mut target, "value"), 4);
    go_to(&mut target, id);
    assert_eq!(at(&mut target), "main:18");
    assert_eq!(go(&mut target), StopReason::Ended(Termination::Exited(4)));
}

#[test]
fn unwatchable_expressions_are_rejected() {
    let mut target = started();
    let spec = |of: &str| {
        BreakpointSpec::new(BreakpointKind::Watch { expression: of.into(), read: false, write: true })
    };
    assert!(target.set_breakpoint(Owner::User, &spec("nothing")).is_err());
    assert!(target.set_breakpoint(Owner::User, &spec("single + 1")).is_err());
}

#[test]
fn vfork_child_access_is_not_reported() {
    let source = r#"
#include <sys/wait.h>
#include <unistd.h>
int cells[64];
__attribute__((noinline)) void mark(int i) { cells[i] = i; }
int main(void) {
    int status = 0;
    mark(1);
    pid_t child = vfork();
    if (child == 0) { cells[3] = 30; execl("/bin/true", "true", (char *) 0); _exit(9); }
    waitpid(child, &status, 0);
    mark(2);
    return status == 0 ? cells[3] : 1;
}
"#;
    let program = c(source, &["-g"]);
    let mut target = program.start();
    let (catalog, _) = instrument_events(&mut target, &[("cells", BeforeWrite, &[])]);
    let (events, stop) = run(&mut target, &catalog);
    // Accesses of the other process succeed and are not reported.
    assert_eq!(stop, StopReason::Ended(Termination::Exited(30)));
    assert_eq!(events.len(), 2, "{events:?}");
}

#[test]
fn oversized_or_unmapped_ranges_are_rejected() {
    let mut target = started();
    let spec = |of: &str| {
        BreakpointSpec::new(BreakpointKind::Watch { expression: of.into(), read: false, write: true })
    };
    let refused = |target: &mut NativeTarget, of: &str, why: &str| {
        let error = target.set_breakpoint(Owner::User, &spec(of)).unwrap_err().to_string();
        assert!(error.contains(why), "{of}: {error}");
    };
    refused(&mut target, "single@1000000000000", "the limit is");
    refused(&mut target, "*(long *) 0xffffffffffffffff", "no memory");
    refused(&mut target, "*(long *) 64", "no memory");
    let (catalog, _) = crate::live::common::catalog(&[("single@1000000000000", Write, &[])]);
    let unknown = target.prepare(&catalog).unwrap();
    assert!(unknown.iter().any(|unknown| unknown.reason.contains("the limit is")), "{unknown:?}");
    assert_eq!(go(&mut target), StopReason::Ended(Termination::Exited(8)));
}

#[test]
fn watchpoints_are_set_again_after_exec() {
    let next = c("int value; long last; int main(void) { value = 3; last = 1; return value; }", &["-g"]);
    let source = "
        #include <unistd.h>
        int value, gone;
        void started(void) {}
        int main(int argc, char **argv) { started(); value = 1; execl(argv[1], argv[1], (char *) 0); return 1; }";
    let program = c(source, &["-g"]);
    let mut target = NativeTarget::launch(&program.launch().arg(&next.path)).unwrap();
    let line = stop_at(&mut target, "started");
    go_to(&mut target, line);
    target.remove_breakpoint(line).unwrap();
    let lost: Vec<BreakpointId> = (0..3).map(|_| watch(&mut target, "gone", false, true)).collect();
    let value = watch(&mut target, "value", false, true);
    go_to(&mut target, value);
    go_to(&mut target, value);
    assert_eq!(print(&mut target, "value"), "3");
    let points = target.breakpoints();
    let places = &points.iter().find(|point| point.id == lost[0]).unwrap().locations;
    assert!(places[0].starts_with("none: "), "{places:?}");
    // Watchpoints without a location do no harm.
    let last = watch(&mut target, "last", false, true);
    go_to(&mut target, last);
    assert_eq!(go(&mut target), StopReason::Ended(Termination::Exited(3)));
}

#[test]
fn system_call_that_blocks_in_protected_page_does_not_stop_other_threads() {
    // The mutex is in a protected page, so the kernel cannot read it at first.
    let source = "
        #include <pthread.h>
        #include <unistd.h>
        struct { char cell[9000]; pthread_mutex_t m; char more[9000]; } s;
        volatile int ready;
        void *holder(void *unused) {
            pthread_mutex_lock(&s.m);
            ready = 1;
            usleep(100000);
            pthread_mutex_unlock(&s.m);
            return 0;
        }
        int main(void) {
            pthread_t t;
            pthread_mutex_init(&s.m, 0);
            pthread_create(&t, 0, holder, 0);
            while (!ready) usleep(1000);
            pthread_mutex_lock(&s.m);
            pthread_join(t, 0);
            return 6;
        }";
    let program = c(source, &["-g", "-pthread"]);
    for kind in [BeforeRead, BeforeAccess] {
        let mut target = program.start();
        let (catalog, _) =
            instrument_events(&mut target, &[("s.more[0]", kind, &[]), ("s.cell[8999]", kind, &[])]);
        let (events, stop) = run(&mut target, &catalog);
        assert_eq!(stop, StopReason::Ended(Termination::Exited(6)), "{events:?}");
    }
}
