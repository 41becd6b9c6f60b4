//! Checkpoints of programs with one thread.

use invigil_test_support::Folder;
use std::fs;
use std::time::Duration;

use crate::process_checkpoint::launcher::{Next, Program, compile, may_choose_ids};
use nix::sys::ptrace;

const COUNTER: &str = r#"
int main(int argc, char **argv) {
    long sum = argc, at_start = getpid();
    long *heap = malloc(1000 * sizeof *heap);
    for (int i = 0; i < 1000; i++) { heap[i] = i; sum += i; if (i == 500) STOP(); }
    for (int i = 0; i < 1000; i++) { sum += heap[i]; heap[i] = -1; }
    MUST(getpid() == at_start && syscall(SYS_gettid) == at_start);
    return sum == 1 + 2 * 499500 ? 42 : 1;
}"#;

#[test]
fn checkpoint_can_be_restored_ten_times() {
    if !may_choose_ids() {
        return;
    }
    let folder = Folder::new();
    let mut program = Program::start(&compile(&folder, COUNTER), &[]);
    let process = program.process;
    assert!(matches!(program.run(), Next::Trap(_)));
    let before = ptrace::getregs(process).unwrap();
    let checkpoint = program.checkpoint();
    assert_eq!(ptrace::getregs(process).unwrap(), before, "the live process is as it was");
    assert_eq!(program.run_to_end(), Next::Exit(42));
    for round in 0..10 {
        let restored = program.restore(&checkpoint);
        assert!(restored.same_ids && restored.limitations.is_empty(), "{restored:?}");
        assert_eq!(restored.threads, [(process, process)]);
        assert_eq!(ptrace::getregs(process).unwrap(), before, "round {round}");
        // Every second process is killed half-way by the next restore.
        if round % 2 == 0 {
            assert_eq!(program.run_to_end(), Next::Exit(42), "round {round}");
        }
    }
}

/// Runs a program to its `int3`, takes a checkpoint there, and repeatedly runs it to its end.
fn always_ends_well(code: &str) {
    let folder = Folder::new();
    let mut program = Program::start(&compile(&folder, code), &[]);
    assert!(matches!(program.run(), Next::Trap(_)));
    let checkpoint = program.checkpoint();
    for round in 0..4 {
        assert_eq!(program.run_to_end(), Next::Exit(42), "round {round}");
        program.restore(&checkpoint);
    }
}

#[test]
fn vector_registers_are_restored() {
    always_ends_well(
        r#"
int main(void) {
    uint64_t in[4] = {1, 2, 3, 0x123456789abcdef0}, out[4] = {0}; double x = 0.1, y;
    __asm__ volatile("vmovdqu %2, %%ymm15; fldl %3; int3; vmovdqu %%ymm15, %0; fstpl %1"
                     : "=m"(out), "=m"(y) : "m"(in), "m"(x) : "xmm15");
    return !memcmp(in, out, sizeof in) && x == y ? 42 : 1;
}"#,
    );
}

#[test]
fn checkpoint_in_signal_handler_returns_from_it() {
    always_ends_well(
        r#"
static volatile int handled; static char stack[65536];
static void on_signal(int number, siginfo_t *info, void *context) {
    stack_t now; MUST(!sigaltstack(NULL, &now) && now.ss_flags == SS_ONSTACK);
    STOP();
    MUST(!sigaltstack(NULL, &now) && now.ss_flags == SS_ONSTACK && now.ss_sp == stack);
    sigset_t mask; MUST(!sigprocmask(SIG_SETMASK, NULL, &mask) && sigismember(&mask, SIGUSR1));
    handled += number;
}
int main(void) {
    stack_t alternative = {.ss_sp = stack, .ss_size = sizeof stack};
    struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    MUST(!sigaltstack(&alternative, NULL) && !sigaction(SIGUSR1, &action, NULL));
    raise(SIGUSR1);
    sigset_t mask; MUST(!sigprocmask(SIG_SETMASK, NULL, &mask) && !sigismember(&mask, SIGUSR1));
    return handled == SIGUSR1 ? 42 : 1;
}"#,
    );
}

#[test]
fn pending_signals_and_alarms_are_restored() {
    always_ends_well(
        r#"
static volatile int value, alarmed, profiled;
static void on_profile(int number) { profiled++; }
static void on_signal(int number, siginfo_t *info, void *context) { value += info->si_value.sival_int; }
static void on_alarm(int number) { alarmed++; }
int main(void) {
    struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};
    MUST(!sigaction(SIGRTMIN, &action, NULL) && signal(SIGALRM, on_alarm) != SIG_ERR);
    sigset_t both; sigemptyset(&both); sigaddset(&both, SIGRTMIN); sigaddset(&both, SIGUSR2);
    MUST(!sigprocmask(SIG_BLOCK, &both, NULL));
    for (int i = 1; i <= 3; i++) MUST(!sigqueue(getpid(), SIGRTMIN, (union sigval){.sival_int = i}));
    raise(SIGUSR2);
    struct itimerval soon = {.it_value = {.tv_usec = 50000}};
    MUST(signal(SIGPROF, on_profile) != SIG_ERR && !setitimer(ITIMER_PROF, &soon, NULL));
    MUST(!setitimer(ITIMER_REAL, &soon, NULL));
    STOP();
    sigset_t pending; MUST(!sigpending(&pending) && sigismember(&pending, SIGUSR2));
    sigset_t queued; sigemptyset(&queued); sigaddset(&queued, SIGRTMIN);
    MUST(!sigprocmask(SIG_UNBLOCK, &queued, NULL) && value == 6);
    while (!alarmed || !profiled) ;
    return alarmed == 1 ? 42 : 1;
}"#,
    );
}

#[test]
fn group_leader_keeps_its_id() {
    if !may_choose_ids() {
        return;
    }
    let folder = Folder::new();
    let code = r#"
int main(int argc, char **argv) {
    pid_t own = getpid(); int session = argc > 1;
    MUST(getpgrp() == own && (getsid(0) == own) == session);
    STOP();
    return getpid() == own && getpgrp() == own && (getsid(0) == own) == session ? 42 : 1;
}"#;
    let code = compile(&folder, code);
    // SAFETY: system calls that take numbers only.
    let group = || assert_eq!(unsafe { libc::setpgid(0, 0) }, 0);
    // SAFETY: as above.
    let session = || assert!(unsafe { libc::setsid() } > 0);
    for (arguments, prepare) in [(&[][..], group as fn()), (&["session"][..], session as fn())] {
        let mut program = Program::start_as(&code, arguments, prepare);
        assert!(matches!(program.run(), Next::Trap(_)));
        let checkpoint = program.checkpoint();
        for _ in 0..3 {
            assert_eq!(program.run_to_end(), Next::Exit(42));
            assert!(program.restore(&checkpoint).same_ids);
        }
    }
}

#[test]
fn file_positions_are_restored() {
    let folder = Folder::new();
    fs::write(folder.join("in"), "abcdefghij").unwrap();
    let code = r#"
int main(int argc, char **argv) {
    char text[4] = {0};
    int in = open(argv[1], O_RDONLY), out = open(argv[2], O_WRONLY | O_CREAT | O_TRUNC, 0600);
    MUST(in > 0 && out > 0 && read(in, text, 3) == 3 && write(out, text, 3) == 3);
    STOP();
    MUST(read(in, text, 3) == 3 && write(out, text, 3) == 3 && close(in) == 0);
    return !strcmp(text, "def") ? 42 : 1;
}"#;
    let (input, output) = (folder.join("in"), folder.join("out"));
    let paths = [input.to_str().unwrap(), output.to_str().unwrap()];
    let mut program = Program::start(&compile(&folder, code), &paths);
    assert!(matches!(program.run(), Next::Trap(_)));
    let checkpoint = program.checkpoint();
    for _ in 0..3 {
        assert_eq!(program.run_to_end(), Next::Exit(42));
        assert_eq!(fs::read_to_string(&output).unwrap(), "abcdef");
        program.restore(&checkpoint);
    }
    let limitations = checkpoint.limitations();
    let line = "out is open for writing (descriptor 4): writes after the checkpoint are not undone";
    assert!(limitations.iter().any(|limit| limit == line), "{limitations:?}");
    assert!(!limitations.iter().any(|limit| limit.starts_with("in ")), "{limitations:?}");
}

#[test]
fn checkpoints_form_tree() {
    let folder = Folder::new();
    let code = r#"
static int path[8];
int main(void) {
    for (int depth = 0; depth < 4; depth++) { STOP(); path[depth] = depth + 1; }
    STOP();
    return path[0] * 1 + path[1] * 2 + path[2] * 3 + path[3] * 4 + 12;
}"#;
    let mut program = Program::start(&compile(&folder, code), &[]);
    let mut points = Vec::new();
    for _ in 0..5 {
        assert!(matches!(program.run(), Next::Trap(_)));
        points.push(program.checkpoint());
    }
    // Number of stops that are left after each checkpoint, in any order, and for checkpoints of restored processes.
    for at in [2, 0, 4, 4, 1, 3, 0, 2] {
        program.restore(&points[at]);
        if at < 3 {
            assert!(matches!(program.run(), Next::Trap(_)));
            let branch = program.checkpoint();
            assert!(matches!(program.run(), Next::Trap(_)));
            // The branch replaces the checkpoint it equals.
            points[at + 1] = branch;
            program.restore(&points[at + 1]);
        }
        let mut stops = 0;
        let end = loop {
            match program.run() {
                Next::Trap(_) => stops += 1,
                end => break end,
            }
        };
        assert_eq!(end, Next::Exit(1 + 4 + 9 + 16 + 12));
        assert_eq!(stops, if at < 3 { 4 - at - 1 } else { 4 - at });
    }
    // Checkpoints can be dropped before those that depend on them.
    while !points.is_empty() {
        points.remove(points.len() / 2);
    }
}

#[test]
fn sleep_continues_after_checkpoint_and_restarts_after_restore() {
    let folder = Folder::new();
    let code = r#"
int main(void) {
    struct timespec before, after, time = {.tv_nsec = 600000000};
    clock_gettime(CLOCK_MONOTONIC, &before);
    MUST(nanosleep(&time, NULL) == 0);
    clock_gettime(CLOCK_MONOTONIC, &after);
    return (after.tv_sec - before.tv_sec) * 100 + (after.tv_nsec - before.tv_nsec) / 10000000;
}"#;
    let mut program = Program::start(&compile(&folder, code), &[]);
    program.run_for(Duration::from_millis(450));
    let checkpoint = program.checkpoint();
    let Next::Exit(time) = program.run_to_end() else { panic!() };
    assert!((60..100).contains(&time), "the sleep was restarted: {time}0 ms");
    program.restore(&checkpoint);
    let Next::Exit(time) = program.run_to_end() else { panic!() };
    assert!(time >= 100, "the sleep was cut short: {time}0 ms");
}
