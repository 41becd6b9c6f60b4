//! Many threads, exceptions, `longjmp`, new processes.

use super::common::{BOTH, c, cpp, session, session_with_later, steps_to_end};
use invigil_native::ProbeMode;

const COUNT: &str = "
    initialization { n = 0 }
    state init accepting { transition { event work(x) success { n = n + 1 } init } }";

#[test]
fn every_call_of_every_thread_is_counted() {
    let source = r#"
        #include <pthread.h>
        __attribute__((noinline)) void work(long x) { __asm__ volatile("" :: "r"(x) : "memory"); }
        static void *run(void *p) { for (long i = 0; i < 2000; i++) work(i); return 0; }
        int main(void) {
            for (int round = 0; round < 3; round++) {
                pthread_t all[16];
                for (int i = 0; i < 16; i++) pthread_create(&all[i], 0, run, 0);
                for (int i = 0; i < 16; i++) pthread_join(all[i], 0);
            }
            return 0;
        }"#;
    let built = c(source, &["-O2", "-pthread"]);
    let steps = BOTH.map(|probes| steps_to_end(&mut session(&built, COUNT, probes, false)));
    assert_eq!(steps, [96_000; 2]);
}

#[test]
fn thread_parameter_distinguishes_threads() {
    let source = r#"
        #include <pthread.h>
        __attribute__((noinline)) void lock(long x) { __asm__ volatile("" :: "r"(x) : "memory"); }
        __attribute__((noinline)) void unlock(long x) { __asm__ volatile("" :: "r"(x) : "memory"); }
        static void *run(void *p) { for (long i = 0; i < 500; i++) { lock(i); unlock(i); } return 0; }
        int main(void) {
            for (int round = 0; round < 20; round++) {
                pthread_t all[4];
                for (int i = 0; i < 4; i++) pthread_create(&all[i], 0, run, 0);
                for (int i = 0; i < 4; i++) pthread_join(all[i], 0);
            }
            return 0;
        }"#;
    let property = "
        slice on t
        state init accepting { transition { event lock(#thread as t) success locked } }
        state locked accepting {
            transition { event unlock(#thread as t) success init }
            transition { event lock(#thread as t) success bad }
        }
        state bad non-accepting";
    let built = c(source, &["-O2", "-pthread"]);
    for probes in BOTH {
        let mut session = session(&built, property, probes, false);
        assert_eq!(steps_to_end(&mut session), 80_000, "{probes:?}");
        assert_eq!(session.report().violations.len(), 0);
        assert_eq!(session.report().properties[0].slices, 80);
    }
}

/// Threads with objects of their own and a shared one: their events are processed in parallel, and none is lost.
#[test]
fn threads_with_own_objects_step_in_shards() {
    let source = r#"
        #include <pthread.h>
        static long queues[5];
        static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
        __attribute__((noinline)) void push(long *q) { __asm__ volatile("" :: "r"(q) : "memory"); }
        __attribute__((noinline)) void done(long *q, long n) { __asm__ volatile("" :: "r"(q), "r"(n) : "memory"); }
        static void *run(void *p) {
            for (long i = 0; i < EACH; i++) {
                push(p);
                if (i % 10) continue;
                pthread_mutex_lock(&mutex);
                push(&queues[4]);
                pthread_mutex_unlock(&mutex);
            }
            done(p, EACH);
            return 0;
        }
        int main(void) {
            pthread_t all[4];
            for (int i = 0; i < 4; i++) pthread_create(&all[i], 0, run, &queues[i]);
            for (int i = 0; i < 4; i++) pthread_join(all[i], 0);
            done(&queues[4], 4 * EACH / 10 + WRONG);
            return 0;
        }"#;
    let property = "
        slice on q
        initialization { n = 0 }
        state init accepting {
            transition { event push(arg 1 as q: int) success { n = n + 1 } odd }
            transition { event done(arg 1 as q: int, arg 2 as count: int) { return n != count } success bad }
        }
        state odd accepting { transition { event push(arg 1 as q: int) success { n = n + 1 } init } }
        state bad non-accepting";
    for (probes, each) in [(ProbeMode::Trap, 1_000), (ProbeMode::Inline, 200_000)] {
        for wrong in [0, 1] {
            let flags = ["-O2", "-pthread", &format!("-DEACH={each}"), &format!("-DWRONG={wrong}")]
                .map(str::to_owned);
            let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
            let built = c(source, &flags);
            let mut session = session(&built, property, probes, false);
            let steps = steps_to_end(&mut session);
            assert_eq!(steps, 4 * each + 4 * each / 10 + wrong, "{probes:?}");
            assert_eq!(session.report().violations.len() as u64, wrong, "{probes:?}");
        }
    }
}

#[test]
fn exceptions_and_longjmp_unwind_probed_functions() {
    let source = r#"
        #include <setjmp.h>
        #include <stdexcept>
        static jmp_buf back;
        extern "C" __attribute__((noinline)) void work(long x) {
            if (x % 3 == 0) throw std::runtime_error("no");
            if (x % 3 == 1) longjmp(back, 1);
            __asm__ volatile("" :: "r"(x) : "memory");
        }
        extern "C" __attribute__((noinline)) void around(long x) { work(x); __asm__ volatile("" ::: "memory"); }
        int main() {
            volatile int caught = 0, jumped = 0;
            for (volatile long i = 0; i < 3000; i++) {
                if (setjmp(back)) { jumped = jumped + 1; continue; }
                try { around(i); } catch (std::runtime_error &) { caught = caught + 1; }
            }
            return caught == 1000 && jumped == 1000 ? 0 : 1;
        }"#;
    let property = "
        initialization { n = 0 }
        state init accepting {
            transition { event work(x) success { n = n + 1 } init }
            transition { after event around() success { n = n + 1 } init }
        }";
    let built = cpp(source, &["-O2"]);
    let steps = BOTH.map(|probes| {
        let mut session = session(&built, property, probes, false);
        let steps = steps_to_end(&mut session);
        assert_eq!(session.termination().map(ToString::to_string).unwrap(), "it exited with status 0");
        steps
    });
    assert_eq!(steps, [4000; 2]);
}

#[test]
fn events_of_child_processes_are_ignored() {
    let source = r#"
        #include <spawn.h>
        #include <sys/wait.h>
        #include <unistd.h>
        extern char **environ;
        __attribute__((noinline)) void work(long x) { __asm__ volatile("" :: "r"(x) : "memory"); }
        int main(void) {
            int good = 0, status;
            for (int i = 0; i < 20; i++) {
                work(i);
                pid_t child = fork();
                if (!child) { for (int j = 0; j < 100; j++) work(j); _exit(7); }
                waitpid(child, &status, 0);
                good += WEXITSTATUS(status) == 7;
                child = vfork();
                if (!child) { work(1); work(2); _exit(8); }
                waitpid(child, &status, 0);
                good += WEXITSTATUS(status) == 8;
                char *arguments[] = {"true", 0};
                posix_spawnp(&child, "true", 0, 0, arguments, environ);
                waitpid(child, &status, 0);
                good += WEXITSTATUS(status) == 0;
                work(i);
            }
            return good == 60 ? 0 : 1;
        }"#;
    let built = c(source, &["-O2"]);
    let steps = BOTH.map(|probes| {
        let mut session = session(&built, COUNT, probes, false);
        let steps = steps_to_end(&mut session);
        assert_eq!(session.termination().map(ToString::to_string).unwrap(), "it exited with status 0");
        steps
    });
    assert_eq!(steps, [40; 2]);
}

/// In a forked process, the jumps at returns are removed, too, which start before their sites.
#[test]
fn returns_in_forked_process_are_ignored() {
    let source = r#"
        #include <sys/wait.h>
        #include <unistd.h>
        __attribute__((noinline)) long work(long x) {
            __asm__ volatile("" : "+r"(x) :: "memory", "rbx", "r12", "r13");
            return x + 1;
        }
        int main(void) {
            int good = 0, status;
            for (int i = 0; i < 10; i++) {
                good += work(i) == i + 1;
                pid_t child = fork();
                if (!child) { long sum = 0; for (int j = 0; j < 100; j++) sum += work(j); _exit(sum == 5050 ? 7 : 8); }
                waitpid(child, &status, 0);
                good += WIFEXITED(status) && WEXITSTATUS(status) == 7;
            }
            return good == 20 ? 0 : 1;
        }"#;
    let property = "
        initialization { n = 0 }
        state init accepting { transition { after event work(ret as r: int) success { n = n + 1 } init } }";
    let built = c(source, &["-O2"]);
    for probes in BOTH {
        let mut session = session(&built, property, probes, false);
        assert_eq!(steps_to_end(&mut session), 10, "{probes:?}");
        assert_eq!(
            session.termination().map(ToString::to_string).unwrap(),
            "it exited with status 0",
            "{probes:?}"
        );
    }
}

#[test]
fn short_lived_threads_get_distinct_ids() {
    let source = r#"
        #include <pthread.h>
        __attribute__((noinline)) void work(long x) { __asm__ volatile("" :: "r"(x) : "memory"); }
        static void *run(void *p) { for (long i = 0; i < 100; i++) work(i); return 0; }
        int main(void) {
            for (int round = 0; round < 10; round++) {
                pthread_t one, other;
                pthread_create(&one, 0, run, 0);
                pthread_create(&other, 0, run, 0);
                pthread_join(one, 0);
                pthread_join(other, 0);
            }
            return 0;
        }"#;
    let property = "
        initialization { n = 0 }
        state init accepting {
            transition { event work(x) success { n = n + 1 } init }
            transition { event #thread(thread) success { n = n + 1 } init }
            transition { event #thread_exit(thread) success { n = n + 1 } init }
        }";
    let built = c(source, &["-O2", "-pthread"]);
    let steps = BOTH.map(|probes| steps_to_end(&mut session(&built, property, probes, false)));
    assert_eq!(steps, [2040; 2]);
}

#[test]
fn reloaded_library_gets_probes_again() {
    let library = "__attribute__((noinline)) int work(long x) { __asm__ volatile(\"\" :: \"r\"(x) : \"memory\"); return x; }\n";
    let library = c(library, &["-shared", "-fPIC", "-O1"]);
    let source = format!(
        r#"
        #include <dlfcn.h>
        int main(void) {{
            for (int round = 0; round < 5; round++) {{
                void *library = dlopen("{}", RTLD_NOW);
                int (*work)(long) = dlsym(library, "work");
                for (long i = 0; i < 300; i++) if (work(i) != i) return 1;
                dlclose(library);
            }}
            return 0;
        }}"#,
        library.path.display()
    );
    let built = c(&source, &["-O2", "-ldl"]);
    let steps = BOTH.map(|probes| {
        let mut session = session_with_later(&built, COUNT, probes);
        let steps = steps_to_end(&mut session);
        assert_eq!(session.termination().map(ToString::to_string).unwrap(), "it exited with status 0");
        steps
    });
    assert_eq!(steps, [1500; 2]);
}
