//! Checkpoints of programs with several threads.

use invigil_test_support::Folder;
use std::time::Duration;

use crate::process_checkpoint::launcher::{Next, Program, compile, may_choose_ids};

/// Workers on a mutex that run all the time, and up to seven threads that hold or wait for something.
const THREADS: &str = r#"
static pthread_mutex_t plain = PTHREAD_MUTEX_INITIALIZER, gate = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t recursive, robust, inheriting;
static pthread_cond_t opened = PTHREAD_COND_INITIALIZER;
static int is_open, ready, ends[2];
static long a, b;
static volatile int finish, poked;
static __thread long mine;
static __thread double half;

static void is_ready(void) { __atomic_add_fetch(&ready, 1, __ATOMIC_SEQ_CST); }
static void pass_gate(void) {
    pthread_mutex_lock(&gate);
    while (!is_open) pthread_cond_wait(&opened, &gate);
    pthread_mutex_unlock(&gate);
}
static void *worker(void *argument) {
    long number = (long)argument; pid_t id = syscall(SYS_gettid);
    char name[16], now[16]; snprintf(name, 16, "worker %ld", number); pthread_setname_np(pthread_self(), name);
    uint64_t in[4] = {number, id, number * 3, ~number}, out[4];
    is_ready();
    while (!finish) {
        pthread_mutex_lock(&plain);
        a++; MUST(a == b + 1); b++;
        pthread_mutex_unlock(&plain);
        mine++; half += 0.5;
        long turns = 200;
        __asm__ volatile("vmovdqu %2, %%ymm14; 1: dec %1; jnz 1b; vmovdqu %%ymm14, %0"
                         : "=m"(out), "+r"(turns) : "m"(in) : "xmm14", "cc");
        MUST(!memcmp(in, out, sizeof in));
        if (mine % 64 == 0) sched_yield();
    }
    MUST(half == mine * 0.5 && syscall(SYS_gettid) == id);
    pthread_getname_np(pthread_self(), now, 16); MUST(!strcmp(name, now));
    return (void *)mine;
}
static void *waiter(void *argument) { is_ready(); pass_gate(); return (void *)1; }
static void *inheriting_waiter(void *argument) {
    is_ready();
    MUST(!pthread_mutex_lock(&inheriting) && !pthread_mutex_unlock(&inheriting));
    return (void *)2;
}
static void *robust_owner(void *argument) {
    MUST(!pthread_mutex_lock(&robust));
    is_ready(); pass_gate();
    return (void *)3;
}
static void *robust_waiter(void *argument) {
    is_ready();
    while (ready < (long)argument) usleep(100);
    MUST(pthread_mutex_lock(&robust) == EOWNERDEAD && !pthread_mutex_consistent(&robust));
    MUST(!pthread_mutex_unlock(&robust));
    return (void *)4;
}
static void *reader(void *argument) {
    char byte; is_ready();
    MUST(read(ends[0], &byte, 1) == 1 && byte == 'x');
    return (void *)5;
}
static void *sleeper(void *argument) {
    struct timespec time = {.tv_nsec = 60000000}; is_ready();
    MUST(nanosleep(&time, NULL) == 0);
    return (void *)6;
}
static char stack[65536];
static void on_poke(int number) { char here; MUST(&here > stack && &here < stack + sizeof stack); poked = 1; }
static void *suspended(void *argument) {
    stack_t alternative = {.ss_sp = stack, .ss_size = sizeof stack};
    MUST(!sigaltstack(&alternative, NULL));
    sigset_t but_usr1; sigfillset(&but_usr1); sigdelset(&but_usr1, SIGUSR1);
    is_ready();
    sigsuspend(&but_usr1);
    MUST(poked == 1);
    sigset_t mask; pthread_sigmask(SIG_SETMASK, NULL, &mask); MUST(sigismember(&mask, SIGUSR1));
    return (void *)7;
}

int main(int argc, char **argv) {
    int count = atoi(argv[1]), special = count > 8 ? 7 : count > 2 ? 6 : 0, workers = count - 1 - special;
    pthread_mutexattr_t kind;
    pthread_mutexattr_init(&kind); pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&recursive, &kind);
    pthread_mutexattr_init(&kind); pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&robust, &kind);
    pthread_mutexattr_init(&kind); pthread_mutexattr_setprotocol(&kind, PTHREAD_PRIO_INHERIT);
    pthread_mutex_init(&inheriting, &kind);
    struct sigaction action = {.sa_handler = on_poke, .sa_flags = SA_ONSTACK};
    sigset_t usr1; sigemptyset(&usr1); sigaddset(&usr1, SIGUSR1); sigprocmask(SIG_BLOCK, &usr1, NULL);
    MUST(!sigaction(SIGUSR1, &action, NULL) && !pipe(ends));
    MUST(!pthread_mutex_lock(&inheriting) && !pthread_mutex_lock(&recursive) && !pthread_mutex_lock(&recursive));

    pthread_t all[64]; int made = 0;
    void *(*specials[])(void *) = {robust_owner, robust_waiter, waiter, inheriting_waiter, reader, sleeper, suspended};
    for (int i = 0; i < special; i++) {
        MUST(!pthread_create(&all[made++], NULL, specials[i], (void *)(long)(special + workers)));
        while (i == 0 && ready == 0) usleep(100);
    }
    for (int i = 0; i < workers; i++) MUST(!pthread_create(&all[made++], NULL, worker, (void *)(long)i));
    while (ready < special + workers) usleep(100);
    usleep(20000);
    STOP();
    usleep(5000);
    long sum = 0, results = 0; void *result;
    finish = 1;
    if (special) {
        pthread_mutex_lock(&gate); is_open = 1; pthread_cond_broadcast(&opened); pthread_mutex_unlock(&gate);
        MUST(write(ends[1], "x", 1) == 1 && (special < 7 || !pthread_kill(all[6], SIGUSR1)));
    }
    MUST(!pthread_mutex_trylock(&recursive));
    for (int i = 0; i < 3; i++) MUST(!pthread_mutex_unlock(&recursive));
    MUST(!pthread_mutex_unlock(&inheriting));
    for (int i = 0; i < special; i++) { MUST(!pthread_join(all[i], &result)); results += (long)result; }
    for (int i = special; i < made; i++) { MUST(!pthread_join(all[i], &result)); sum += (long)result; }
    MUST(sum == a && a == b && a > 0);
    return results == special * (special + 1) / 2 ? 42 : 1;
}"#;

fn threads_come_back(count: usize) {
    if !may_choose_ids() {
        return;
    }
    let folder = Folder::new();
    let mut program = Program::start(&compile(&folder, THREADS), &[&count.to_string()]);
    assert!(matches!(program.run(), Next::Trap(_)));
    let checkpoint = program.checkpoint();
    assert_eq!(program.threads.len(), count);
    let ids = program.threads.clone();
    assert_eq!(program.run_to_end(), Next::Exit(42), "the live one");
    for round in 0..10 {
        let restored = program.restore(&checkpoint);
        assert!(restored.same_ids, "{restored:?}");
        let mut now = program.threads.clone();
        let mut then = ids.clone();
        now.sort();
        then.sort();
        assert_eq!(now, then);
        match round {
            // Killed in the middle of its work.
            3 => program.run_for(Duration::from_millis(3)),
            // Killed immediately.
            5 => {}
            _ => assert_eq!(program.run_to_end(), Next::Exit(42), "round {round}"),
        }
    }
}

#[test]
fn two_threads_are_restored() {
    threads_come_back(2);
}

#[test]
fn eight_threads_are_restored() {
    threads_come_back(8);
}

#[test]
fn thirty_two_threads_are_restored() {
    threads_come_back(32);
}

/// Plain and recursive mutexes, condition variables and joins work with other ids too.
#[test]
fn unprivileged_restore_uses_new_ids() {
    const PLAIN: &str = r#"
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static long count, go;
static void *work(void *argument) {
    pthread_mutex_lock(&mutex);
    while (!go) pthread_cond_wait(&condition, &mutex);
    count++;
    pthread_mutex_unlock(&mutex);
    return NULL;
}
int main(void) {
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) MUST(!pthread_create(&threads[i], NULL, work, NULL));
    pthread_mutex_lock(&recursive);
    usleep(10000);
    STOP();
    MUST(!pthread_mutex_lock(&recursive));
    pthread_mutex_lock(&mutex); go = 1; pthread_cond_broadcast(&condition); pthread_mutex_unlock(&mutex);
    for (int i = 0; i < 4; i++) MUST(!pthread_join(threads[i], NULL));
    return count == 4 ? 42 : 1;
}"#;
    let folder = Folder::new();
    let nobody = || {
        // SAFETY: system calls that take numbers only. They fail if the tests have no privileges to drop.
        unsafe { (libc::setgid(65534), libc::setuid(65534)) };
    };
    let mut program = Program::start_as(&compile(&folder, PLAIN), &[], nobody);
    assert!(matches!(program.run(), Next::Trap(_)));
    let checkpoint = program.checkpoint();
    for _ in 0..4 {
        assert_eq!(program.run_to_end(), Next::Exit(42));
        let restored = program.restore(&checkpoint);
        assert!(!restored.same_ids);
        assert_eq!(restored.threads.len(), 5);
        assert!(restored.limitations[0].contains("new id"), "{:?}", restored.limitations);
    }
}

/// A thread that joins the leader waits for the kernel to clear its id.
#[test]
fn leader_exit_after_restore_wakes_joiners() {
    const CODE: &str = r#"
static pthread_t first;
static void *join(void *argument) { MUST(!pthread_join(first, NULL)); exit(42); }
int main(void) {
    pthread_t thread; first = pthread_self();
    MUST(!pthread_create(&thread, NULL, join, NULL));
    usleep(10000);
    STOP();
    pthread_exit(NULL);
}"#;
    if !may_choose_ids() {
        return;
    }
    let folder = Folder::new();
    let mut program = Program::start(&compile(&folder, CODE), &[]);
    assert!(matches!(program.run(), Next::Trap(_)));
    let checkpoint = program.checkpoint();
    for _ in 0..3 {
        assert_eq!(program.run_to_end(), Next::Exit(42));
        program.restore(&checkpoint);
    }
}

#[test]
fn vector_registers_of_all_threads_are_restored() {
    const CODE: &str = r#"
static volatile int ready, finish;
static void *spin(void *argument) {
    uint64_t in[4] = {(long)argument, 2, 3, 4}, out[4] = {0};
    __asm__ volatile("vmovdqu %3, %%ymm14; lock incl %1; 1: pause; cmpl $0, %2; je 1b; vmovdqu %%ymm14, %0"
                     : "=m"(out), "+m"(ready) : "m"(finish), "m"(in) : "xmm14", "cc", "memory");
    return (void *)(long)!memcmp(in, out, sizeof in);
}
int main(void) {
    pthread_t threads[3]; void *right; int sum = 39;
    for (long i = 0; i < 3; i++) MUST(!pthread_create(&threads[i], NULL, spin, (void *)i));
    while (ready < 3) usleep(100);
    STOP();
    finish = 1;
    for (int i = 0; i < 3; i++) { MUST(!pthread_join(threads[i], &right)); sum += (long)right; }
    return sum;
}"#;
    let folder = Folder::new();
    let mut program = Program::start(&compile(&folder, CODE), &[]);
    assert!(matches!(program.run(), Next::Trap(_)));
    let checkpoint = program.checkpoint();
    for _ in 0..3 {
        assert_eq!(program.run_to_end(), Next::Exit(42));
        program.restore(&checkpoint);
    }
}

/// A checkpoint at any moment: threads are created and exit all the time.
#[test]
fn checkpoint_with_changing_threads_restores() {
    const CODE: &str = r#"
static long sum;
static void *add(void *argument) { __atomic_add_fetch(&sum, (long)argument, __ATOMIC_SEQ_CST); return NULL; }
int main(void) {
    for (int round = 0; round < 400; round++) {
        pthread_t threads[4];
        for (long i = 0; i < 4; i++) MUST(!pthread_create(&threads[i], NULL, add, (void *)i));
        for (int i = 0; i < 4; i++) MUST(!pthread_join(threads[i], NULL));
    }
    return sum == 400 * 6 ? 42 : 1;
}"#;
    if !may_choose_ids() {
        return;
    }
    let folder = Folder::new();
    let mut program = Program::start(&compile(&folder, CODE), &[]);
    let mut points = Vec::new();
    for _ in 0..10 {
        program.run_for(Duration::from_millis(4));
        points.push(program.checkpoint());
    }
    assert_eq!(program.run_to_end(), Next::Exit(42));
    for (number, point) in points.iter().enumerate().rev() {
        program.restore(point);
        assert_eq!(program.run_to_end(), Next::Exit(42), "checkpoint {number}");
    }
}
