//! What a checkpoint cannot bring back, when there can be none, and what is left of it in the end.

mod frozen;

use std::path::Path;
use std::time::Duration;

use frozen::{Next, Place, Program, options};
use invigil_native::freeze::{FreezeError, Frozen};
use invigil_native::inject::{self, InjectError};
use nix::sys::ptrace;
use nix::unistd::Pid;

fn exists(process: Pid) -> bool {
    Path::new(&format!("/proc/{process}")).exists()
}

const SPIN: &str = "int main(void) { STOP(); for (;;) pause(); }";

#[test]
fn a_copy_is_gone_when_the_checkpoint_is_dropped() {
    let place = Place::new();
    let mut program = Program::start(&place.compile(SPIN), &[]);
    assert!(matches!(program.run(), Next::Trap(_)));
    let points: Vec<Frozen> = (0..3).map(|_| program.freeze()).collect();
    program.thaw(&points[1]);
    let copies: Vec<Pid> = points.iter().map(Frozen::copy).collect();
    assert!(copies.iter().all(|&copy| exists(copy)));
    let mut points = points.into_iter();
    drop(points.next().unwrap());
    assert!(!exists(copies[0]) && exists(copies[1]) && exists(copies[2]));
    drop(points);
    assert!(!copies.iter().any(|&copy| exists(copy)));
    assert!(exists(program.process));
}

/// Even if the process itself is to outlive the tool.
#[test]
fn a_copy_ends_with_its_tracer() {
    let place = Place::new();
    let file = place.compile(SPIN);
    let tracer = std::thread::spawn(move || {
        let mut program = Program::start(&file, &[]);
        assert!(matches!(program.run(), Next::Trap(_)));
        let frozen = program.freeze();
        ptrace::setoptions(program.process, ptrace::Options::PTRACE_O_TRACECLONE).unwrap();
        let pids = (program.process, frozen.copy());
        std::mem::forget((frozen, program));
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
fn what_does_not_come_back_is_told() {
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
    let place = Place::new();
    let log = place.path("output.log");
    let mut program = Program::start(&place.compile(code), &[log.to_str().unwrap()]);
    assert!(matches!(program.run(), Next::Trap(_)));
    let frozen = program.freeze();
    let told = frozen.limits();
    for part in [
        "output.log is open for writing (descriptor 3): what is written after the checkpoint stays",
        "4, 5",
        "output.log is mapped as shared (8 KiB)",
        "anonymous memory is mapped as shared (16 KiB)",
        "12 KiB of memory that the program keeps out of copies",
        "1 timer of the program",
        "1 lock on a file",
        "1 child process (",
    ] {
        assert!(told.iter().any(|limit| limit.contains(part)), "{part:?} is not in {told:#?}");
    }
    let child = told.iter().find_map(|limit| limit.strip_prefix("1 child process (")).unwrap();
    let child: i32 = child.split_once(')').unwrap().0.parse().unwrap();
    // SAFETY: takes numbers only; the child is one of the program, and would live on.
    unsafe { libc::kill(child, libc::SIGKILL) };
    assert!(frozen.memory() < 1 << 24);
}

#[test]
fn memory_is_what_the_copy_alone_holds() {
    let code = r#"
int main(void) {
    size_t size = 16 << 20; char *memory = malloc(size); memset(memory, 1, size);
    STOP();
    memset(memory, 2, size);
    STOP();
    return 0;
}"#;
    let place = Place::new();
    let mut program = Program::start(&place.compile(code), &[]);
    assert!(matches!(program.run(), Next::Trap(_)));
    let frozen = program.freeze();
    assert!(frozen.memory() < 4 << 20, "{}", frozen.memory());
    assert!(matches!(program.run(), Next::Trap(_)));
    assert!(frozen.memory() >= 16 << 20, "{}", frozen.memory());
}

#[test]
fn a_process_that_cannot_be_copied_is_refused_in_words() {
    let place = Place::new();
    let vfork = r#"
int main(void) {
    if (!vfork()) _exit(0);
    pthread_exit(NULL);
}"#;
    let mut program = Program::start(&place.compile(vfork), &[]);
    let process = program.run_to_event(libc::PTRACE_EVENT_VFORK);
    let child = Pid::from_raw(ptrace::getevent(process).unwrap() as i32);
    let refused = Frozen::freeze(process, &[process], program.scratch, options()).err().unwrap();
    assert_eq!(refused, FreezeError::Thread(InjectError::Vfork(process)));
    assert!(refused.to_string().contains("vfork"));
    // Its child stands still at its first instruction.
    let mut status = 0;
    // SAFETY: `status` outlives the call.
    assert_eq!(unsafe { libc::waitpid(child.as_raw(), &mut status, libc::__WALL) }, child.as_raw());
    let refused = Frozen::freeze(child, &[child], program.scratch, options()).err().unwrap();
    assert_eq!(refused, FreezeError::Borrowing(child));
    // Let go, the parent sleeps in the kernel until its child does something.
    frozen::cont(process, 0);
    std::thread::sleep(Duration::from_millis(20));
    let refused = Frozen::freeze(process, &[process], program.scratch, options()).err().unwrap();
    assert!(refused.to_string().contains("cannot be interrupted"), "{refused}");
    program.stopped.clear();
    ptrace::detach(child, None).unwrap();
    assert_eq!(program.run_to_end(), Next::Exit(0));
}

#[test]
fn a_process_without_its_first_thread_is_refused_in_words() {
    let code = r#"
static void *work(void *argument) { usleep(50000); STOP(); exit(7); }
int main(void) {
    pthread_t thread; pthread_create(&thread, NULL, work, NULL);
    pthread_exit(NULL);
}"#;
    let place = Place::new();
    let mut program = Program::start(&place.compile(code), &[]);
    let Next::Trap(thread) = program.run() else { panic!() };
    let refused = Frozen::freeze(program.process, &[thread], program.scratch, options()).err().unwrap();
    assert_eq!(refused, FreezeError::LeaderEnded(program.process));
    assert_eq!(program.run_to_end(), Next::Exit(7));
}

#[test]
fn what_is_not_stopped_or_not_there_is_refused_in_words() {
    let place = Place::new();
    let mut program = Program::start(&place.compile(SPIN), &[]);
    assert!(matches!(program.run(), Next::Trap(_)));
    let process = program.process;
    let frozen = program.freeze();
    program.go();
    let words = |error: FreezeError| error.to_string();
    let refused =
        Frozen::freeze(process, &[process], program.scratch, options()).map_err(words).err().unwrap();
    assert!(refused.contains("does not stand still"), "{refused}");
    let mut stranger = std::process::Command::new("sleep").arg("60").spawn().unwrap();
    let pid = Pid::from_raw(stranger.id() as i32);
    let refused = Frozen::freeze(pid, &[pid], program.scratch, options()).map_err(words).err().unwrap();
    assert!(refused.contains("not under our control"), "{refused}");
    stranger.kill().unwrap();
    stranger.wait().unwrap();
    program.stop();
    // The checkpoint itself can be killed from outside.
    // SAFETY: takes numbers only.
    unsafe { libc::kill(frozen.copy().as_raw(), libc::SIGKILL) };
    std::thread::sleep(Duration::from_millis(20));
    let refused = frozen.thaw(&program.threads).map_err(words).err().unwrap();
    assert!(refused.contains("the checkpoint is lost"), "{refused}");
    assert!(frozen.check().is_err());
    // That costs nothing but the checkpoint: the program is as it was.
    assert!(program.freeze().check().is_ok());
    // SAFETY: takes numbers only.
    unsafe { libc::kill(process.as_raw(), libc::SIGKILL) };
    std::thread::sleep(Duration::from_millis(20));
    program.threads.clear();
    let refused =
        Frozen::freeze(process, &[process], program.scratch, options()).map_err(words).err().unwrap();
    assert!(refused.contains("has ended"), "{refused}");
    let refused = inject::syscall(process, program.scratch, libc::SYS_getpid, [0; 6]).err().unwrap();
    assert_eq!(refused, InjectError::Ended(process));
}

#[test]
fn a_thread_that_was_forgotten_is_told() {
    let code = r#"
static void *work(void *argument) { for (;;) pause(); }
int main(void) { pthread_t thread; pthread_create(&thread, NULL, work, NULL); usleep(10000); STOP(); return 0; }"#;
    let place = Place::new();
    let mut program = Program::start(&place.compile(code), &[]);
    assert!(matches!(program.run(), Next::Trap(_)));
    let process = program.process;
    let other = *program.threads.iter().find(|&&tid| tid != process).unwrap();
    let refused = Frozen::freeze(process, &[process], program.scratch, options()).err().unwrap();
    assert_eq!(refused, FreezeError::Forgotten { process, thread: other });
}
