//! Limitations of checkpoints, errors, and cleanup.

use invigil_test_support::Folder;
use std::path::Path;
use std::time::Duration;

use crate::process_checkpoint::launcher::{Next, Program, compile, options};
use invigil_native::checkpoint::{CheckpointError, ProcessCheckpoint};
use invigil_native::inject::{self, InjectError};
use nix::sys::ptrace;
use nix::unistd::Pid;

fn exists(process: Pid) -> bool {
    Path::new(&format!("/proc/{process}")).exists()
}

const SPIN: &str = "int main(void) { STOP(); for (;;) pause(); }";

#[test]
fn dropped_checkpoint_ends_its_copy() {
    let folder = Folder::new();
    let mut program = Program::start(&compile(&folder, SPIN), &[]);
    assert!(matches!(program.run(), Next::Trap(_)));
    let points: Vec<ProcessCheckpoint> = (0..3).map(|_| program.checkpoint()).collect();
    program.restore(&points[1]);
    let copies: Vec<Pid> = points.iter().map(ProcessCheckpoint::copy).collect();
    assert!(copies.iter().all(|&copy| exists(copy)));
    let mut points = points.into_iter();
    drop(points.next().unwrap());
    assert!(!exists(copies[0]) && exists(copies[1]) && exists(copies[2]));
    drop(points);
    assert!(!copies.iter().any(|&copy| exists(copy)));
    assert!(exists(program.process));
}

/// Even if the process itself outlives the debugger.
#[test]
fn copy_ends_with_its_tracer() {
    let folder = Folder::new();
    let file = compile(&folder, SPIN);
    let tracer = std::thread::spawn(move || {
        let mut program = Program::start(&file, &[]);
        assert!(matches!(program.run(), Next::Trap(_)));
        let checkpoint = program.checkpoint();
        ptrace::setoptions(program.process, ptrace::Options::PTRACE_O_TRACECLONE).unwrap();
        let pids = (program.process, checkpoint.copy());
        std::mem::forget((checkpoint, program));
        pids
    });
    let (process, copy) = tracer.join().unwrap();
    let mut status = 0;
    // SAFETY: `status` outlives the call.
    assert_eq!(unsafe { libc::waitpid(copy.as_raw(), &mut status, libc::__WALL) }, copy.as_raw());
    assert!(libc::WIFSIGNALED(status) && libc::WTERMSIG(status) == libc::SIGKILL);
    assert!(!exists(copy) && exists(process));
    // SAFETY: as above.
    unsafe {
        libc::kill(process.as_raw(), libc::SIGKILL);
        libc::waitpid(process.as_raw(), &mut status, libc::__WALL);
    }
}

#[test]
fn limitations_are_listed() {
    let code = r#"
int main(int argc, char **argv) {
    int ends[2], file = open(argv[1], O_RDWR | O_CREAT, 0600);
    MUST(file > 0 && !ftruncate(file, 8192) && !pipe(ends));
    MUST(mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) != MAP_FAILED);
    MUST(mmap(NULL, 16384, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0) != MAP_FAILED);
    char *apart = mmap(NULL, 12288, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    MUST(apart != MAP_FAILED && !madvise(apart, 12288, MADV_DONTFORK));
    timer_t timer; MUST(!timer_create(CLOCK_MONOTONIC, NULL, &timer));
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET}; MUST(!fcntl(file, F_SETLK, &lock));
    pid_t child = fork();
    if (!child) { for (;;) pause(); }
    prctl(PR_SET_NAME, "a) b (c");
    STOP();
    return 0;
}"#;
    let folder = Folder::new();
    let log = folder.join("output.log");
    let mut program = Program::start(&compile(&folder, code), &[log.to_str().unwrap()]);
    assert!(matches!(program.run(), Next::Trap(_)));
    let checkpoint = program.checkpoint();
    let limitations = checkpoint.limitations();
    for part in [
        "output.log is open for writing (descriptor 3): writes after the checkpoint are not undone",
        "4, 5",
        "output.log is mapped as shared (8 KiB)",
        "anonymous memory is mapped as shared (16 KiB)",
        "12 KiB of memory that the program excludes from copies",
        "1 timer of the program",
        "1 lock on a file",
        "1 child process (",
    ] {
        assert!(limitations.iter().any(|limit| limit.contains(part)), "{part:?} is not in {limitations:#?}");
    }
    let child = limitations.iter().find_map(|limit| limit.strip_prefix("1 child process (")).unwrap();
    let child: i32 = child.split_once(')').unwrap().0.parse().unwrap();
    // SAFETY: takes numbers only. The child belongs to the program, and would live on.
    unsafe { libc::kill(child, libc::SIGKILL) };
    assert!(checkpoint.memory() < 1 << 24);
}

#[test]
fn memory_counts_private_pages_of_copy() {
    let code = r#"
int main(void) {
    size_t size = 16 << 20; char *memory = malloc(size); memset(memory, 1, size);
    STOP();
    memset(memory, 2, size);
    STOP();
    return 0;
}"#;
    let folder = Folder::new();
    let mut program = Program::start(&compile(&folder, code), &[]);
    assert!(matches!(program.run(), Next::Trap(_)));
    let checkpoint = program.checkpoint();
    assert!(checkpoint.memory() < 4 << 20, "{}", checkpoint.memory());
    assert!(matches!(program.run(), Next::Trap(_)));
    assert!(checkpoint.memory() >= 16 << 20, "{}", checkpoint.memory());
}

#[test]
fn uncopyable_process_is_rejected_with_reason() {
    let folder = Folder::new();
    let vfork = r#"
int main(void) {
    if (!vfork()) _exit(0);
    pthread_exit(NULL);
}"#;
    let mut program = Program::start(&compile(&folder, vfork), &[]);
    let process = program.run_to_event(libc::PTRACE_EVENT_VFORK);
    let child = Pid::from_raw(ptrace::getevent(process).unwrap() as i32);
    let error = ProcessCheckpoint::take(process, &[process], program.scratch, options()).err().unwrap();
    assert_eq!(error, CheckpointError::Thread(InjectError::Vfork(process)));
    assert!(error.to_string().contains("vfork"));
    // Its child is stopped at its first instruction.
    let mut status = 0;
    // SAFETY: `status` outlives the call.
    assert_eq!(unsafe { libc::waitpid(child.as_raw(), &mut status, libc::__WALL) }, child.as_raw());
    let error = ProcessCheckpoint::take(child, &[child], program.scratch, options()).err().unwrap();
    assert_eq!(error, CheckpointError::SharesParentMemory(child));
    // Once continued, the parent sleeps in the kernel until its child proceeds.
    crate::process_checkpoint::launcher::cont(process, 0);
    std::thread::sleep(Duration::from_millis(20));
    let error = ProcessCheckpoint::take(process, &[process], program.scratch, options()).err().unwrap();
    assert!(error.to_string().contains("uninterruptible sleep"), "{error}");
    program.stopped.clear();
    ptrace::detach(child, None).unwrap();
    assert_eq!(program.run_to_end(), Next::Exit(0));
}

#[test]
fn process_without_leader_is_rejected_with_reason() {
    let code = r#"
static void *work(void *argument) { usleep(50000); STOP(); exit(7); }
int main(void) {
    pthread_t thread; pthread_create(&thread, NULL, work, NULL);
    pthread_exit(NULL);
}"#;
    let folder = Folder::new();
    let mut program = Program::start(&compile(&folder, code), &[]);
    let Next::Trap(thread) = program.run() else { panic!() };
    let error =
        ProcessCheckpoint::take(program.process, &[thread], program.scratch, options()).err().unwrap();
    assert_eq!(error, CheckpointError::LeaderEnded(program.process));
    assert_eq!(program.run_to_end(), Next::Exit(7));
}

#[test]
fn running_or_missing_process_is_rejected_with_reason() {
    let folder = Folder::new();
    let mut program = Program::start(&compile(&folder, SPIN), &[]);
    assert!(matches!(program.run(), Next::Trap(_)));
    let process = program.process;
    let checkpoint = program.checkpoint();
    program.go();
    let message = |error: CheckpointError| error.to_string();
    let error = ProcessCheckpoint::take(process, &[process], program.scratch, options())
        .map_err(message)
        .err()
        .unwrap();
    assert!(error.contains("is running: stop it first"), "{error}");
    let mut stranger = std::process::Command::new("sleep").arg("60").spawn().unwrap();
    let pid = Pid::from_raw(stranger.id() as i32);
    let error =
        ProcessCheckpoint::take(pid, &[pid], program.scratch, options()).map_err(message).err().unwrap();
    assert!(error.contains("not traced by Invigil"), "{error}");
    stranger.kill().unwrap();
    stranger.wait().unwrap();
    program.stop();
    // The checkpoint itself can be killed from outside.
    // SAFETY: takes numbers only.
    unsafe { libc::kill(checkpoint.copy().as_raw(), libc::SIGKILL) };
    std::thread::sleep(Duration::from_millis(20));
    let error = checkpoint.restore(&program.threads).map_err(message).err().unwrap();
    assert!(error.contains("the checkpoint is lost"), "{error}");
    assert!(checkpoint.check().is_err());
    // Only the checkpoint is lost: the program is unchanged.
    assert!(program.checkpoint().check().is_ok());
    // SAFETY: takes numbers only.
    unsafe { libc::kill(process.as_raw(), libc::SIGKILL) };
    std::thread::sleep(Duration::from_millis(20));
    program.threads.clear();
    let error = ProcessCheckpoint::take(process, &[process], program.scratch, options())
        .map_err(message)
        .err()
        .unwrap();
    assert!(error.contains("has ended"), "{error}");
    let error = inject::syscall(process, program.scratch, libc::SYS_getpid, [0; 6]).err().unwrap();
    assert_eq!(error, InjectError::Ended(process));
}

#[test]
fn omitted_thread_is_reported() {
    let code = r#"
static void *work(void *argument) { for (;;) pause(); }
int main(void) { pthread_t thread; pthread_create(&thread, NULL, work, NULL); usleep(10000); STOP(); return 0; }"#;
    let folder = Folder::new();
    let mut program = Program::start(&compile(&folder, code), &[]);
    assert!(matches!(program.run(), Next::Trap(_)));
    let process = program.process;
    let other = *program.threads.iter().find(|&&tid| tid != process).unwrap();
    let error = ProcessCheckpoint::take(process, &[process], program.scratch, options()).err().unwrap();
    assert_eq!(error, CheckpointError::UnlistedThread { process, thread: other });
}
