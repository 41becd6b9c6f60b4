//! A small launcher: C programs under control, stopped where they execute `int3`.

use invigil_test_support::Folder;
use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use invigil_native::checkpoint::{ProcessCheckpoint, RestoredProcess};
use invigil_native::inject;
use nix::sys::ptrace::{self, Options};
use nix::unistd::Pid;

/// Compiles a C program after [`PRELUDE`].
pub(crate) fn compile(folder: &Folder, code: &str) -> PathBuf {
    folder.c(
        &format!(
            "{PRELUDE}
{code}"
        ),
        &["-O1", "-g", "-pthread", "-mavx2"],
    )
}

const PRELUDE: &str = r#"
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#define STOP() __asm__ volatile("int3" ::: "memory")
#define MUST(x) do { if (!(x)) { dprintf(2, "line %d: %s (errno %d)\n", __LINE__, #x, errno); _exit(99); } } while (0)
"#;

pub(crate) fn options() -> Options {
    Options::PTRACE_O_TRACECLONE
        | Options::PTRACE_O_TRACEFORK
        | Options::PTRACE_O_TRACEVFORK
        | Options::PTRACE_O_TRACEEXEC
        | Options::PTRACE_O_EXITKILL
}

/// What a program did next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    /// This thread hit `int3`.
    Trap(Pid),
    /// The process has ended, with this status.
    Exit(i32),
    /// The process was killed by this signal.
    Killed(i32),
}

/// A program under control.
pub(crate) struct Program {
    pub(crate) process: Pid,
    /// All its threads.
    pub(crate) threads: Vec<Pid>,
    /// The stopped threads, with the signal to deliver when they continue.
    pub(crate) stopped: Vec<(Pid, i32)>,
    pub(crate) scratch: u64,
}

impl Program {
    pub(crate) fn start(program: &Path, arguments: &[&str]) -> Self {
        Self::start_as(program, arguments, || {})
    }

    /// Starts a program. `prepare` runs in the new process first and may make system calls only.
    pub(crate) fn start_as(program: &Path, arguments: &[&str], prepare: fn()) -> Self {
        let path = CString::new(program.as_os_str().as_bytes()).unwrap();
        let message: Vec<CString> = std::iter::once(path.clone())
            .chain(arguments.iter().map(|a| CString::new(*a).unwrap()))
            .collect();
        let mut pointers: Vec<*const libc::c_char> = message.iter().map(|word| word.as_ptr()).collect();
        pointers.push(std::ptr::null());
        // SAFETY: the child only makes system calls until it executes its own program.
        let child = unsafe { libc::fork() };
        if child == 0 {
            prepare();
            // SAFETY: as above; the pointers are to strings that the child has, too.
            unsafe {
                libc::raise(libc::SIGSTOP);
                libc::execv(path.as_ptr(), pointers.as_ptr());
                libc::_exit(127);
            }
        }
        let process = Pid::from_raw(child);
        let mut status = 0;
        // SAFETY: `status` outlives the call.
        assert_eq!(unsafe { libc::waitpid(child, &mut status, libc::WUNTRACED) }, child);
        assert!(libc::WIFSTOPPED(status));
        ptrace::seize(process, options()).unwrap();
        // SAFETY: takes numbers only.
        assert_eq!(unsafe { libc::kill(child, libc::SIGCONT) }, 0);
        let mut subject = Self { process, threads: vec![process], stopped: Vec::new(), scratch: 0 };
        loop {
            let (tid, status) = wait_any();
            assert_eq!(tid, process);
            assert!(libc::WIFSTOPPED(status), "{status:#x}");
            if status >> 16 == libc::PTRACE_EVENT_EXEC {
                break;
            }
            ptrace::cont(tid, None).unwrap();
        }
        subject.stopped.push((process, 0));
        subject.prepare();
        subject
    }

    /// Maps a page with the bytes for system calls, by means of the first bytes that the program executes.
    fn prepare(&mut self) {
        let start = ptrace::getregs(self.process).unwrap().rip;
        let before = self.peek(start);
        self.poke(start, i64::from_le_bytes([0x0f, 0x05, 0xcc, 0, 0, 0, 0, 0]));
        let rights = (libc::PROT_READ | libc::PROT_EXEC) as u64;
        let flags = (libc::MAP_PRIVATE | libc::MAP_ANONYMOUS) as u64;
        let page =
            inject::syscall(self.process, start, libc::SYS_mmap, [0, 4096, rights, flags, u64::MAX, 0])
                .unwrap();
        assert!(page > 0, "{page}");
        self.poke(start, before);
        self.scratch = page as u64;
        self.poke(self.scratch, i64::from_le_bytes([0x0f, 0x05, 0xcc, 0, 0, 0, 0, 0]));
    }

    pub(crate) fn peek(&self, address: u64) -> i64 {
        ptrace::read(self.process, address as ptrace::AddressType).unwrap()
    }

    pub(crate) fn poke(&self, address: u64, word: i64) {
        ptrace::write(self.process, address as ptrace::AddressType, word).unwrap();
    }

    /// Continues all stopped threads.
    pub(crate) fn go(&mut self) {
        for (tid, signal) in std::mem::take(&mut self.stopped) {
            cont(tid, signal);
        }
    }

    /// Continues until a thread hits `int3`, which then is stopped, or until the program ends.
    pub(crate) fn run(&mut self) -> Next {
        self.go();
        loop {
            let (tid, status) = wait_any();
            if let Some(next) = self.note(tid, status) {
                return next;
            }
        }
    }

    /// Continues until a thread reports this event, which then is stopped.
    pub(crate) fn run_to_event(&mut self, event: i32) -> Pid {
        self.go();
        loop {
            let (tid, status) = wait_any();
            if libc::WIFSTOPPED(status) && status >> 16 == event {
                self.stopped.push((tid, 0));
                return tid;
            }
            assert_eq!(self.note(tid, status), None);
        }
    }

    /// Continues until the program ends.
    pub(crate) fn run_to_end(&mut self) -> Next {
        loop {
            match self.run() {
                Next::Trap(_) => {}
                end => return end,
            }
        }
    }

    /// Continues for a while, in which the program must not end.
    pub(crate) fn run_for(&mut self, time: Duration) {
        self.go();
        let end = Instant::now() + time;
        while let Some(left) = end.checked_duration_since(Instant::now()) {
            match poll_any() {
                Some((tid, status)) => assert_eq!(self.note(tid, status), None),
                None => std::thread::sleep(left.min(Duration::from_millis(1))),
            }
        }
    }

    fn note(&mut self, tid: Pid, status: i32) -> Option<Next> {
        if !libc::WIFSTOPPED(status) {
            self.threads.retain(|&thread| thread != tid);
            self.stopped.retain(|&(thread, _)| thread != tid);
            if tid != self.process {
                return None;
            }
            return Some(match libc::WIFEXITED(status) {
                true => Next::Exit(libc::WEXITSTATUS(status)),
                false => Next::Killed(libc::WTERMSIG(status)),
            });
        }
        let known = self.threads.contains(&tid);
        match (status >> 16, libc::WSTOPSIG(status)) {
            (libc::PTRACE_EVENT_STOP, _) if !known => {
                // A new thread or child process: may continue.
                if Path::new(&format!("/proc/{}/task/{tid}", self.process)).exists() {
                    self.threads.push(tid);
                    cont(tid, 0);
                } else {
                    ptrace::detach(tid, None).unwrap();
                }
            }
            (0, libc::SIGTRAP) => {
                self.stopped.push((tid, 0));
                return Some(Next::Trap(tid));
            }
            (0, signal) => cont(tid, signal),
            (libc::PTRACE_EVENT_CLONE, _) => {
                self.meet(tid);
                cont(tid, 0);
            }
            _ => cont(tid, 0),
        }
        None
    }

    /// Adds the thread that this one has created. Its first stop may not have been reported yet.
    fn meet(&mut self, parent: Pid) {
        let new = Pid::from_raw(ptrace::getevent(parent).unwrap() as i32);
        if !self.threads.contains(&new) {
            self.threads.push(new);
        }
    }

    /// Stops all threads.
    pub(crate) fn stop(&mut self) {
        loop {
            let standing = |tid: &Pid| self.stopped.iter().any(|(thread, _)| thread == tid);
            let running: Vec<Pid> = self.threads.iter().copied().filter(|tid| !standing(tid)).collect();
            if running.is_empty() {
                return;
            }
            for &tid in &running {
                let _ = ptrace::interrupt(tid);
            }
            for tid in running {
                let mut status = 0;
                // SAFETY: `status` outlives the call.
                let found = unsafe { libc::waitpid(tid.as_raw(), &mut status, libc::__WALL) };
                assert_eq!(found, tid.as_raw());
                if !libc::WIFSTOPPED(status) {
                    assert_ne!(tid, self.process, "the program has ended");
                    self.threads.retain(|&thread| thread != tid);
                    continue;
                }
                if status >> 16 == libc::PTRACE_EVENT_CLONE {
                    self.meet(tid);
                }
                let signal = if status >> 16 == 0 { libc::WSTOPSIG(status) } else { 0 };
                self.stopped.push((tid, if signal == libc::SIGTRAP { 0 } else { signal }));
            }
        }
    }

    /// Stops all threads and takes a checkpoint.
    pub(crate) fn checkpoint(&mut self) -> ProcessCheckpoint {
        self.stop();
        ProcessCheckpoint::take(self.process, &self.threads, self.scratch, options()).unwrap()
    }

    /// Restores a checkpoint.
    pub(crate) fn restore(&mut self, checkpoint: &ProcessCheckpoint) -> RestoredProcess {
        let restored = checkpoint.restore(&self.threads).unwrap();
        self.process = restored.process;
        self.threads = restored.threads.iter().map(|&(_, tid)| tid).collect();
        self.stopped = self.threads.iter().map(|&tid| (tid, 0)).collect();
        restored
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        if self.threads.is_empty() {
            return;
        }
        // SAFETY: takes numbers only.
        unsafe { libc::kill(self.process.as_raw(), libc::SIGKILL) };
        let mut status = 0;
        loop {
            // SAFETY: `status` outlives the call.
            let tid = unsafe { libc::waitpid(-1, &mut status, libc::__WALL | libc::__WNOTHREAD) };
            if tid < 0 || (tid == self.process.as_raw() && !libc::WIFSTOPPED(status)) {
                return;
            }
            cont(Pid::from_raw(tid), 0);
        }
    }
}

pub(crate) fn cont(tid: Pid, signal: i32) {
    // SAFETY: continues a thread, takes numbers only. It fails harmlessly if the thread was killed.
    unsafe { libc::ptrace(libc::PTRACE_CONT, tid.as_raw(), 0, signal as libc::c_long) };
}

fn wait_any() -> (Pid, i32) {
    let mut status = 0;
    // SAFETY: `status` outlives the call.
    let tid = unsafe { libc::waitpid(-1, &mut status, libc::__WALL | libc::__WNOTHREAD) };
    assert!(tid > 0, "nothing to wait for");
    (Pid::from_raw(tid), status)
}

fn poll_any() -> Option<(Pid, i32)> {
    let mut status = 0;
    // SAFETY: `status` outlives the call.
    let tid = unsafe { libc::waitpid(-1, &mut status, libc::__WALL | libc::__WNOTHREAD | libc::WNOHANG) };
    (tid > 0).then(|| (Pid::from_raw(tid), status))
}

/// Whether processes may choose their ids here. Without this capability, anything that depends on thread ids fails.
pub(crate) fn may_choose_ids() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let rights = status.lines().find_map(|line| line.strip_prefix("CapEff:")).unwrap().trim();
    let rights = u64::from_str_radix(rights, 16).unwrap();
    let (admin, checkpoint_restore) = (1 << 21, 1 << 40);
    let may = rights & (admin | checkpoint_restore) != 0;
    if !may {
        eprintln!("skipped: needs CAP_CHECKPOINT_RESTORE");
    }
    may
}
