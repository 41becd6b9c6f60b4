//! System calls in a stopped thread.

use invigil_test_support::Folder;
use std::time::Duration;

use crate::process_checkpoint::launcher::{Next, Program, compile};
use invigil_native::inject;
use nix::sys::ptrace;

#[test]
fn injected_call_returns_result_and_restores_registers() {
    let folder = Folder::new();
    let mut program = Program::start(&compile(&folder, "int main(void) { STOP(); return 42; }"), &[]);
    assert!(matches!(program.run(), Next::Trap(_)));
    let (process, scratch) = (program.process, program.scratch);
    let before = ptrace::getregs(process).unwrap();
    let stop = ptrace::getsiginfo(process).unwrap();
    let call = |number, arguments| inject::syscall(process, scratch, number, arguments).unwrap();
    assert_eq!(call(libc::SYS_getpid, [0; 6]), i64::from(process.as_raw()));
    assert_eq!(call(libc::SYS_close, [12345, 0, 0, 0, 0, 0]), -i64::from(libc::EBADF));
    assert_eq!(ptrace::getregs(process).unwrap(), before);
    let now = ptrace::getsiginfo(process).unwrap();
    assert_eq!((now.si_signo, now.si_code), (stop.si_signo, stop.si_code));
    assert_eq!(program.run_to_end(), Next::Exit(42));
}

/// Calls that the kernel restarts in different ways: a read, a futex, a poll with a timeout, a wait for signals. None
/// of them may return early, whatever is injected.
#[test]
fn blocked_call_continues_after_injection() {
    let code = r#"
static int ends[2];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static void *reader(void *argument) { char byte; MUST(read(ends[0], &byte, 1) == 1); return NULL; }
static void *locker(void *argument) { MUST(!pthread_mutex_lock(&mutex) && !pthread_mutex_unlock(&mutex)); return NULL; }
static void *poller(void *argument) { MUST(poll(NULL, 0, 1500) == 0); return NULL; }
static void *timed(void *argument) {
    pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER; struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until); until.tv_sec += 2;
    pthread_mutex_lock(&own);
    MUST(pthread_cond_timedwait(&never, &own, &until) == ETIMEDOUT);
    return NULL;
}
static void *signalled(void *argument) {
    sigset_t set; sigemptyset(&set); sigaddset(&set, SIGUSR1); int number;
    MUST(!sigwait(&set, &number) && number == SIGUSR1);
    return NULL;
}
int main(void) {
    void *(*work[])(void *) = {reader, locker, poller, timed, signalled}; pthread_t threads[5];
    sigset_t set; sigemptyset(&set); sigaddset(&set, SIGUSR1); sigprocmask(SIG_BLOCK, &set, NULL);
    MUST(!pipe(ends) && !pthread_mutex_lock(&mutex));
    for (int i = 0; i < 5; i++) MUST(!pthread_create(&threads[i], NULL, work[i], NULL));
    struct timespec time = {.tv_sec = 1};
    MUST(!nanosleep(&time, NULL));
    MUST(write(ends[1], "x", 1) == 1 && !pthread_mutex_unlock(&mutex) && !pthread_kill(threads[4], SIGUSR1));
    for (int i = 0; i < 5; i++) MUST(!pthread_join(threads[i], NULL));
    return 42;
}"#;
    let folder = Folder::new();
    let mut program = Program::start(&compile(&folder, code), &[]);
    for _ in 0..5 {
        program.run_for(Duration::from_millis(20));
        program.stop();
        for &tid in &program.threads {
            for _ in 0..3 {
                let found = inject::syscall(tid, program.scratch, libc::SYS_gettid, [0; 6]).unwrap();
                assert_eq!(found, i64::from(tid.as_raw()));
            }
        }
    }
    assert_eq!(program.threads.len(), 6);
    assert_eq!(program.run_to_end(), Next::Exit(42));
}

/// Signals during an injection are kept pending, blockable or not, and none is lost.
#[test]
fn signals_during_injection_are_kept() {
    let code = r#"
static volatile int count[65];
static void on_signal(int number) { count[number]++; }
int main(void) {
    signal(SIGUSR1, on_signal); signal(SIGTRAP, on_signal); signal(SIGRTMIN, on_signal);
    STOP();
    MUST(count[SIGUSR1] == 1 && count[SIGRTMIN] == 3);
    return 42;
}"#;
    let folder = Folder::new();
    let mut program = Program::start(&compile(&folder, code), &[]);
    assert!(matches!(program.run(), Next::Trap(_)));
    let process = program.process;
    let mut thread = inject::BorrowedThread::begin(process, program.scratch).unwrap();
    for signal in [libc::SIGUSR1, 34, 34, 34] {
        // SAFETY: takes numbers only.
        assert_eq!(unsafe { libc::kill(process.as_raw(), signal) }, 0);
        assert_eq!(thread.call(libc::SYS_getpid, [0; 6]).unwrap(), i64::from(process.as_raw()));
    }
    // One that cannot be blocked, since the injection itself needs it.
    // SAFETY: takes numbers only.
    assert_eq!(unsafe { libc::kill(process.as_raw(), libc::SIGTRAP) }, 0);
    assert_eq!(thread.call(libc::SYS_getpid, [0; 6]).unwrap(), i64::from(process.as_raw()));
    thread.end().unwrap();
    assert!(matches!(program.run(), Next::Trap(_)), "the signal is seen");
    assert_eq!(program.run_to_end(), Next::Exit(42));
}

/// In the stop of a clone, the kernel has not finished the call.
#[test]
fn injection_at_clone_stop_succeeds() {
    let code = r#"
static void *work(void *argument) { return argument; }
int main(void) {
    for (long i = 1; i < 20; i++) {
        pthread_t thread; void *result;
        MUST(!pthread_create(&thread, NULL, work, (void *)i) && !pthread_join(thread, &result) && (long)result == i);
    }
    return 42;
}"#;
    let folder = Folder::new();
    let mut program = Program::start(&compile(&folder, code), &[]);
    for _ in 1..20 {
        let tid = program.run_to_event(libc::PTRACE_EVENT_CLONE);
        let found = inject::syscall(tid, program.scratch, libc::SYS_gettid, [0; 6]).unwrap();
        assert_eq!(found, i64::from(tid.as_raw()));
    }
    assert_eq!(program.run_to_end(), Next::Exit(42));
}
