//! `demo`: complete, without a C compiler, and without permission to trace.

use crate::common::Folder;

/// C program that runs a command for which `ptrace` is forbidden.
const FORBIDS_TRACING: &str = r#"
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv) {
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ptrace, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {4, filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
        return 125;
    execvp(argv[1], argv + 1);
    return 126;
}
"#;

#[test]
fn demo_runs_to_its_end() {
    let ran = Folder::new().run("demo").exits(0).stdout_has(&[
        "queue_push(queue=",
        "N = 16, maxSize = 16",
        "#2 main () at faulty.c:",
        "vowels: raayuiee\n",
        "queue->vowels[0] = 114 'r'",
        "vowels: oaayuiee\n",
    ]);
    assert!(ran.stdout.lines().all(|line| line.chars().count() <= 90), "{}", ran.stdout);
}

#[test]
fn demo_without_c_compiler_names_package() {
    let ran = Folder::new().shell("i=$(command -v invigil); PATH=/nowhere $i demo").exits(2);
    ran.stderr_has(&["`cc` was not found", "apt-get install gcc"]);
}

#[test]
fn demo_without_ptrace_checks_recorded_trace() {
    let folder = Folder::new().file("forbid.c", FORBIDS_TRACING);
    folder.shell("cc -o forbid forbid.c").exits(0);
    let ran = folder.shell("timeout 60 ./forbid invigil demo").exits(0);
    ran.stdout_has(&["it cannot be traced here", "SYS_PTRACE", "queue.jsonl:18 (event 18)", "Next:"]);
    folder.shell("timeout 60 ./forbid invigil run -- ./forbid").exits(3).stderr_has(&["SYS_PTRACE"]);
}
