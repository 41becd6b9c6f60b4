//! Checkpoints of a live target.

use crate::live::common::{c, go, go_to, instrument_events, number, run, shown, stop_at, with_output};
use invigil_monitor::event::EventKind::{After, Before, BeforeWrite, Write};
use invigil_native::NativeTarget;
use invigil_target::prelude::*;
use invigil_target::{BreakpointKind, BreakpointSpec, Owner, StopReason, TargetError, Termination};
use invigil_test_support::Program;

const STEPS: &str = r#"
int state;
int inner(int n) { state += n; return state; }
int outer(int n) { int r = inner(n); return r + 1; }
int main(void) {
    for (int i = 1; i <= 5; i++)
        outer(i);
    return state;
}
"#;

#[test]
fn ten_restores_replay_same_events() {
    let program = c(STEPS, &["-g"]);
    let mut target = program.start();
    let (catalog, _) = instrument_events(
        &mut target,
        &[("inner", Before, &["n: int"]), ("outer", After, &["n: int", "ret: int"])],
    );
    for _ in 0..3 {
        assert_eq!(go(&mut target), StopReason::Events);
    }
    // In the middle of the second call of `outer`, whose exit is awaited.
    assert_eq!(shown(&mut target, &catalog, 0), "inner(2)");
    let kept = target.take_checkpoint().unwrap();
    let (expected, stop) = run(&mut target, &catalog);
    assert_eq!(stop, StopReason::Ended(Termination::Exited(15)));
    assert_eq!(expected[0], "after outer(2, 4)");
    for _ in 0..10 {
        // It had exited: the restore brings it back.
        target.restore_checkpoint(kept.id).unwrap();
        assert!(target.is_alive());
        assert_eq!(number(&mut target, "state"), 1);
        let (events, stop) = run(&mut target, &catalog);
        assert_eq!(stop, StopReason::Ended(Termination::Exited(15)));
        assert_eq!(events, expected);
    }
    assert_eq!(target.list_checkpoints().len(), 1);
    target.drop_checkpoint(kept.id).unwrap();
    assert!(target.restore_checkpoint(kept.id).is_err());
    assert!(matches!(target.take_checkpoint(), Err(TargetError::Ended(_))));
}

#[test]
fn nested_checkpoints_keep_current_breakpoints() {
    let program = c(STEPS, &["-g"]);
    let mut target = program.start();
    let (catalog, needs) =
        instrument_events(&mut target, &[("inner", Before, &["n: int"]), ("outer", Before, &["n: int"])]);
    assert_eq!(go(&mut target), StopReason::Events);
    let first = target.take_checkpoint().unwrap().id;
    assert_eq!(go(&mut target), StopReason::Events);
    assert_eq!(go(&mut target), StopReason::Events);
    let second = target.take_checkpoint().unwrap().id;
    // The needed events change; the user and a scenario set breakpoints at new locations.
    target.instrument(&Default::default()).unwrap();
    let dev = stop_at(&mut target, "program.c:8");
    let leave = BreakpointSpec::new(BreakpointKind::Return("inner".into()));
    let scenario = target.set_breakpoint(Owner::Scenario, &leave).unwrap();
    assert_eq!(
        go(&mut target),
        StopReason::Breakpoints { owner: Owner::Scenario, breakpoints: vec![scenario] }
    );
    target.restore_checkpoint(first).unwrap();
    assert_eq!(number(&mut target, "state"), 0);
    assert_eq!(go(&mut target), StopReason::Events);
    assert_eq!(shown(&mut target, &catalog, 0), "inner(1)");
    assert_eq!(
        go(&mut target),
        StopReason::Breakpoints { owner: Owner::Scenario, breakpoints: vec![scenario] }
    );
    target.restore_checkpoint(second).unwrap();
    assert_eq!(number(&mut target, "state"), 1);
    target.remove_breakpoint(scenario).unwrap();
    assert_eq!(go(&mut target), StopReason::Events);
    assert_eq!(shown(&mut target, &catalog, 0), "inner(2)");
    target.instrument(&Default::default()).unwrap();
    go_to(&mut target, dev);
    assert_eq!(number(&mut target, "state"), 15);
    target.restore_checkpoint(first).unwrap();
    target.instrument(&needs).unwrap();
    assert_eq!(go(&mut target), StopReason::Events);
    assert_eq!(number(&mut target, "state"), 0);
}

#[test]
fn restored_threads_hold_their_locks() {
    let source = r#"
#include <pthread.h>
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
int turns;
__attribute__((noinline)) void turn(int me) { __asm__ volatile("" :: "r"(me)); }
static void *work(void *p) {
    int me = (int) (long) p;
    for (int i = 0; i < 5; i++) {
        pthread_mutex_lock(&lock);
        while (turns % 4 != me)
            pthread_cond_wait(&changed, &lock);
        turns++;
        turn(me);
        pthread_cond_broadcast(&changed);
        pthread_mutex_unlock(&lock);
    }
    return 0;
}
int main(void) {
    pthread_t all[4];
    for (long i = 0; i < 4; i++)
        pthread_create(&all[i], 0, work, (void *) i);
    for (int i = 0; i < 4; i++)
        pthread_join(all[i], 0);
    return turns;
}
"#;
    let program = c(source, &["-g", "-O1", "-pthread"]);
    let mut target = program.start();
    let (catalog, _) = instrument_events(&mut target, &[("turn", Before, &["me: int"])]);
    for _ in 0..7 {
        assert_eq!(go(&mut target), StopReason::Events);
    }
    let kept = target.take_checkpoint().unwrap().id;
    let threads: Vec<u32> = target.threads().iter().map(|thread| thread.id).collect();
    let expected: Vec<String> = (7..20).map(|n| format!("turn({})", n % 4)).collect();
    for round in 0..4 {
        let (events, stop) = run(&mut target, &catalog);
        assert_eq!(stop, StopReason::Ended(Termination::Exited(20)));
        assert_eq!(events, expected, "round {round}");
        target.restore_checkpoint(kept).unwrap();
        assert_eq!(target.threads().iter().map(|thread| thread.id).collect::<Vec<_>>(), threads);
    }
    // And in the middle of a run.
    assert_eq!(go(&mut target), StopReason::Events);
    target.restore_checkpoint(kept).unwrap();
    let (events, _) = run(&mut target, &catalog);
    assert_eq!(events, expected);
}

#[test]
fn watchpoints_survive_restore() {
    let program = c(STEPS, &["-g"]);
    for kind in [Write, BeforeWrite] {
        let mut target = program.start();
        let (catalog, _) = instrument_events(&mut target, &[("state", kind, &["ret: int"])]);
        assert_eq!(go(&mut target), StopReason::Events);
        assert_eq!(go(&mut target), StopReason::Events);
        let kept = target.take_checkpoint().unwrap().id;
        let (expected, stop) = run(&mut target, &catalog);
        assert_eq!(stop, StopReason::Ended(Termination::Exited(15)));
        assert_eq!(expected.len(), 3, "{expected:?}");
        for _ in 0..3 {
            target.restore_checkpoint(kept).unwrap();
            let (events, stop) = run(&mut target, &catalog);
            assert_eq!((events, stop), (expected.clone(), StopReason::Ended(Termination::Exited(15))));
        }
        // Watched only after the checkpoint.
        target.restore_checkpoint(kept).unwrap();
        target.instrument(&Default::default()).unwrap();
        let bare = target.take_checkpoint().unwrap().id;
        let what = BreakpointKind::Watch { expression: "state".into(), read: false, write: true };
        let id = target.set_breakpoint(Owner::User, &BreakpointSpec::new(what)).unwrap();
        for _ in 0..2 {
            go_to(&mut target, id);
            target.restore_checkpoint(bare).unwrap();
        }
        go_to(&mut target, id);
    }
}

#[test]
fn no_checkpoint_copies_are_left() {
    let program = c(STEPS, &["-g"]);
    let mut target = program.start();
    let id = stop_at(&mut target, "inner");
    go_to(&mut target, id);
    for _ in 0..3 {
        target.take_checkpoint().unwrap();
    }
    let name = program.path.to_string_lossy().into_owned();
    assert_eq!(running(&name), 4);
    let kept: Vec<_> = target.list_checkpoints();
    target.drop_checkpoint(kept[0].id).unwrap();
    assert_eq!(running(&name), 3);
    drop(target);
    assert_eq!(running(&name), 0);
}

/// Number of processes of a program.
fn running(path: &str) -> usize {
    processes_of(path).len()
}

/// The processes of a program.
fn processes_of(path: &str) -> Vec<i32> {
    let all = std::fs::read_dir("/proc").unwrap().flatten();
    let its = all.filter(|entry| {
        std::fs::read_link(entry.path().join("exe")).is_ok_and(|exe| exe.to_string_lossy() == path)
    });
    its.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

#[test]
fn limitations_of_checkpoint_are_listed() {
    let source = "#include <stdio.h>\nvoid here(void) {}\nint main(void) { FILE *f = fopen(\"out.txt\", \"w\"); \
                  fputs(\"x\", f); fflush(f); here(); fputs(\"y\", f); return 0; }\n";
    let program = c(source, &["-g"]);
    let launch = program.launch().dir(program.dir());
    let mut target = invigil_native::NativeTarget::launch(&launch).unwrap();
    let id = stop_at(&mut target, "here");
    go_to(&mut target, id);
    target.take_checkpoint().unwrap();
    let kept = target.list_checkpoints().remove(0);
    assert!(kept.limitations.iter().any(|limit| limit.contains("out.txt")), "{:?}", kept.limitations);
}

#[test]
fn restore_before_library_load_is_consistent() {
    let lib = Program::c("int plugin(int n) { return n + 1; }\n", &["-g", "-shared", "-fPIC"]);
    let source = format!(
        "#include <dlfcn.h>\nvoid before(void) {{}}\nint main(void) {{ before(); void *l = dlopen(\"{}\", RTLD_NOW); \
         int (*f)(int) = (int (*)(int)) dlsym(l, \"plugin\"); return f(1) + f(2); }}\n",
        lib.path.display()
    );
    let program = c(&source, &["-g", "-ldl"]);
    let mut target = program.start();
    let id = stop_at(&mut target, "before");
    go_to(&mut target, id);
    let kept = target.take_checkpoint().unwrap().id;
    let (catalog, needs) = crate::live::common::catalog(&[("plugin", Before, &["n: int"])]);
    target.prepare(&catalog).unwrap();
    target.instrument(&needs).unwrap();
    let again = target.take_checkpoint().unwrap().id;
    for _ in 0..3 {
        let (events, stop) = run(&mut target, &catalog);
        assert_eq!(stop, StopReason::Ended(Termination::Exited(5)));
        assert_eq!(events, ["plugin(1)", "plugin(2)"]);
        target.restore_checkpoint(again).unwrap();
    }
    target.restore_checkpoint(kept).unwrap();
    assert_eq!(run(&mut target, &catalog).0, Vec::<String>::new());
}

const CALLS: &str = r#"
#include <unistd.h>
int counter;
int main(void) {
    for (int i = 0; i < 3; i++) { counter++; if (write(1, "x", 1) != 1) return 1; }
    return 0;
}
"#;

#[test]
fn checkpoint_at_system_call_entry_and_exit_restores() {
    let program = c(CALLS, &["-g"]);
    let (launch, output) = with_output(&program);
    let mut target = NativeTarget::launch(&launch).unwrap();
    let (catalog, _) = instrument_events(
        &mut target,
        &[("syscall:write", Before, &["arg 1"]), ("syscall:write", After, &["ret"])],
    );
    let expected = ["syscall:write(1)", "after syscall:write(1)"].repeat(3);
    let mut events = Vec::new();
    let mut kept = Vec::new();
    while go(&mut target) == StopReason::Events {
        events.push(shown(&mut target, &catalog, 0));
        kept.push(target.take_checkpoint().unwrap().id);
        // A call that was not entered has not been made.
        let written = std::fs::read(&output).unwrap().len();
        assert_eq!(written, events.len() / 2, "{events:?}");
    }
    assert_eq!(events, expected);
    for (at, id) in kept.into_iter().enumerate() {
        target.restore_checkpoint(id).unwrap();
        let before = std::fs::read(&output).unwrap().len();
        let (events, stop) = run(&mut target, &catalog);
        assert_eq!(stop, StopReason::Ended(Termination::Exited(0)));
        assert_eq!(events, expected[at + 1..]);
        let after = std::fs::read(&output).unwrap().len();
        assert!(after <= before.max(3), "{before} {after}");
        target.restore_checkpoint(id).unwrap();
    }
}

#[test]
fn checkpoint_at_exit_system_call_restores() {
    let program = c("int main(void) { return 7; }", &["-g"]);
    let mut target = program.start();
    let (catalog, _) = instrument_events(&mut target, &[("syscall:exit_group", Before, &["arg 1"])]);
    assert_eq!(go(&mut target), StopReason::Events);
    assert_eq!(shown(&mut target, &catalog, 0), "syscall:exit_group(7)");
    let kept = target.take_checkpoint().unwrap().id;
    for _ in 0..3 {
        assert_eq!(go(&mut target), StopReason::Ended(Termination::Exited(7)));
        target.restore_checkpoint(kept).unwrap();
    }
}

#[test]
fn checkpoints_during_system_calls_of_threads_restore() {
    let source = r#"
#include <pthread.h>
#include <unistd.h>
#include <sys/syscall.h>
int made[3];
static void *work(void *p) {
    for (int i = 0; i < 20; i++) { if (syscall(SYS_getppid) <= 0) return p; ++*(int *) p; }
    return 0;
}
int main(void) {
    pthread_t all[3];
    for (int i = 0; i < 3; i++) pthread_create(&all[i], 0, work, &made[i]);
    for (int i = 0; i < 3; i++) pthread_join(all[i], 0);
    return made[0] + made[1] + made[2];
}
"#;
    let program = c(source, &["-g", "-pthread"]);
    let mut target = program.start();
    let events: &[(&str, _, &[&str])] = &[("syscall:getppid", Before, &[]), ("syscall:getppid", After, &[])];
    let (catalog, _) = instrument_events(&mut target, events);
    let mut counts = [0; 2];
    loop {
        match go(&mut target) {
            StopReason::Events => {
                counts[usize::from(shown(&mut target, &catalog, 0).starts_with("after"))] += 1;
                let id = target.take_checkpoint().unwrap().id;
                if counts[0] % 7 == 0 {
                    target.restore_checkpoint(id).unwrap();
                }
                target.drop_checkpoint(id).unwrap();
            }
            stop => {
                assert_eq!(stop, StopReason::Ended(Termination::Exited(60)));
                break;
            }
        }
    }
    assert_eq!(counts, [60, 60]);
}

#[test]
fn death_during_checkpoint_is_reported() {
    let program = c(STEPS, &["-g"]);
    let mut target = program.start();
    let id = stop_at(&mut target, "inner");
    go_to(&mut target, id);
    let process = target.process();
    kill(process);
    assert!(target.take_checkpoint().is_err());
    let killed = Termination::Killed { signal: "SIGKILL".into(), core: false };
    assert_eq!(go(&mut target), StopReason::Ended(killed));
}

/// Kills a process and waits until it is dead.
fn kill(process: i32) {
    let killed = std::process::Command::new("kill").args(["-KILL", &process.to_string()]).status();
    assert!(killed.unwrap().success());
    let dead = || {
        let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
        stat.is_empty() || stat.contains(") Z")
    };
    assert!(crate::live::common::eventually(dead));
}

#[test]
fn killed_copy_invalidates_only_its_checkpoint() {
    let program = c(STEPS, &["-g"]);
    let mut target = program.start();
    let id = stop_at(&mut target, "inner");
    go_to(&mut target, id);
    let first = target.take_checkpoint().unwrap().id;
    go_to(&mut target, id);
    let name = program.path.to_string_lossy().into_owned();
    let copy = processes_of(&name).into_iter().find(|process| *process != target.process()).unwrap();
    kill(copy);
    let error = target.restore_checkpoint(first).unwrap_err().to_string();
    assert!(error.contains("killed"), "{error}");
    assert!(target.is_alive());
    assert!(target.list_checkpoints().is_empty());
    // It continues where it was.
    assert_eq!(number(&mut target, "state"), 1);
    go_to(&mut target, id);
    assert_eq!(number(&mut target, "state"), 3);
}

#[test]
fn restore_keeps_data_where_code_is_mapped_now() {
    let lib = Program::c("int plugin(int n) { return n + 1; }\n", &["-g", "-shared", "-fPIC"]);
    let source = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>
#include <sys/mman.h>
typedef int (*fn)(int);
void before(void) {}
int main(int argc, char **argv) {
    void *l = dlopen(argv[1], RTLD_NOW);
    char *page = (char *) ((unsigned long) dlsym(l, "plugin") & ~4095ul);
    dlclose(l);
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE;
    if (mmap(page, 4096, PROT_READ | PROT_WRITE, flags, -1, 0) != page) return 70;
    memset(page, 0x11, 4096);
    before();
    for (int i = 0; i < 4096; i++) if (page[i] != 0x11) return 71;
    munmap(page, 4096);
    l = dlopen(argv[1], RTLD_NOW);
    fn f = (fn) dlsym(l, "plugin");
    if ((char *) ((unsigned long) f & ~4095ul) != page) return 72;
    return f(1);
}
"#;
    let program = c(source, &["-g", "-ldl"]);
    let mut target = NativeTarget::launch(&program.launch().arg(&lib.path)).unwrap();
    let (catalog, needs) = crate::live::common::catalog(&[("plugin", Before, &["n: int"])]);
    target.prepare(&catalog).unwrap();
    target.instrument(&needs).unwrap();
    let id = stop_at(&mut target, "before");
    go_to(&mut target, id);
    let kept = target.take_checkpoint().unwrap().id;
    for _ in 0..3 {
        assert_eq!(go(&mut target), StopReason::Events);
        assert_eq!(shown(&mut target, &catalog, 0), "plugin(1)");
        target.restore_checkpoint(kept).unwrap();
    }
    assert_eq!(
        run(&mut target, &catalog),
        (vec!["plugin(1)".to_owned()], StopReason::Ended(Termination::Exited(2)))
    );
}

#[test]
fn system_call_write_after_restore_hits_watchpoint() {
    let source = r#"
#include <fcntl.h>
#include <unistd.h>
int cell = 1;
int main(void) {
    int zero = open("/dev/zero", O_RDONLY);
    if (read(zero, &cell, sizeof cell) != sizeof cell) return 1;
    return 0;
}
"#;
    let program = c(source, &["-g"]);
    let mut target = program.start();
    let events: &[(&str, _, &[&str])] =
        &[("syscall:read", Before, &["arg 3"]), ("cell", Write, &["ret: int"])];
    let (catalog, _) = instrument_events(&mut target, events);
    assert_eq!(go(&mut target), StopReason::Events);
    assert_eq!(shown(&mut target, &catalog, 0), "syscall:read(4)");
    let kept = target.take_checkpoint().unwrap().id;
    for _ in 0..3 {
        let (events, stop) = run(&mut target, &catalog);
        assert_eq!(stop, StopReason::Ended(Termination::Exited(0)));
        assert_eq!(events, ["write cell(0)"]);
        target.restore_checkpoint(kept).unwrap();
    }
}

#[test]
fn new_ids_after_restore_are_reported() {
    // A program that may not choose its ids: it drops its privileges, if it has any.
    let source = "
        #include <sys/prctl.h>
        #include <unistd.h>
        void here(void) {}
        int main(void) {
            if (setgid(65534) == 0 && setuid(65534) == 0) prctl(PR_SET_DUMPABLE, 1);
            here();
            return 4;
        }";
    let program = c(source, &["-g"]);
    let mut target = program.start();
    let id = stop_at(&mut target, "here");
    go_to(&mut target, id);
    let before = target.process();
    let kept = target.take_checkpoint().unwrap().id;
    let is_told = |target: &mut NativeTarget| {
        target.list_checkpoints()[0].limitations.iter().any(|limit| limit.contains("new id"))
    };
    assert!(!is_told(&mut target));
    target.restore_checkpoint(kept).unwrap();
    assert_ne!(target.process(), before);
    assert!(is_told(&mut target));
    assert_eq!(go(&mut target), StopReason::Ended(Termination::Exited(4)));
}
