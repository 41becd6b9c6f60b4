//! Why a system call cannot be run inside a thread.

use std::fmt;

use nix::errno::Errno;
use nix::unistd::Pid;

/// Why a system call cannot be run inside a thread.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum InjectError {
    /// The thread has ended.
    Ended(Pid),
    /// The thread is on its way out.
    Leaving(Pid),
    /// The thread waits for the child it made by `vfork`.
    Vfork(Pid),
    /// The thread sleeps in the kernel and cannot be interrupted.
    Uninterruptible(Pid),
    /// The thread is not traced by us.
    NotTraced(Pid),
    /// The thread does not stand still.
    Running(Pid),
    /// The thread belongs to somebody else.
    NotPermitted(Pid),
    /// There is no code to run the call with.
    Scratch {
        /// The thread.
        tid: Pid,
        /// Where the code should be.
        address: u64,
        /// The signal that came of it.
        signal: i32,
    },
    /// Signals keep coming that cannot be blocked.
    Restless(Pid),
    /// Memory of the program cannot be read or written.
    Memory {
        /// The thread.
        tid: Pid,
        /// Where.
        address: u64,
        /// What the kernel says.
        errno: Errno,
    },
    /// The kernel refuses a request.
    Refused {
        /// The thread.
        tid: Pid,
        /// What it says.
        errno: Errno,
    },
}

impl InjectError {
    /// What a refused request for a thread means. The kernel says "no such process" for a thread that has
    /// ended, runs, or is not ours: look which.
    pub(crate) fn of(tid: Pid, errno: Errno) -> Self {
        match errno {
            Errno::ESRCH | Errno::ECHILD => Self::absent(tid),
            Errno::EPERM | Errno::EACCES => Self::NotPermitted(tid),
            errno => Self::Refused { tid, errno },
        }
    }

    fn absent(tid: Pid) -> Self {
        let Ok(status) = std::fs::read_to_string(format!("/proc/{tid}/status")) else {
            return Self::Ended(tid);
        };
        let field = |name: &str| {
            status.lines().find_map(|line| line.strip_prefix(name)).map_or("", |rest| rest.trim_start())
        };
        match field("State:").chars().next() {
            Some('Z' | 'X') => Self::Ended(tid),
            _ if field("TracerPid:") == "0" => Self::NotTraced(tid),
            Some('D') => Self::Uninterruptible(tid),
            _ => Self::Running(tid),
        }
    }
}

impl fmt::Display for InjectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ended(tid) => write!(f, "thread {tid} has ended"),
            Self::Leaving(tid) => write!(f, "thread {tid} is about to end: let it go on first"),
            Self::Vfork(tid) => write!(
                f,
                "thread {tid} waits for a child it made by vfork, whose memory is its own: \
                 let it go on until the child runs its own program"
            ),
            Self::Uninterruptible(tid) => write!(
                f,
                "thread {tid} sleeps in the kernel and cannot be interrupted (waiting for a disk, or for a \
                 child made by vfork): try again later"
            ),
            Self::NotTraced(tid) => write!(f, "thread {tid} is not under our control"),
            Self::Running(tid) => write!(f, "thread {tid} does not stand still: stop it first"),
            Self::NotPermitted(tid) => write!(
                f,
                "thread {tid} belongs to another user or has raised its privileges: \
                 run as that user or as root"
            ),
            Self::Scratch { tid, address, signal } => write!(
                f,
                "thread {tid} cannot run the prepared code at {address:#x} (signal {signal}): \
                 has the program unmapped it?"
            ),
            Self::Restless(tid) => {
                write!(f, "thread {tid} is stopped again and again by signals that cannot be blocked")
            }
            Self::Memory { tid, address, errno } => {
                write!(f, "memory of thread {tid} at {address:#x} cannot be used: {}", errno.desc())
            }
            Self::Refused { tid, errno } => {
                write!(f, "the kernel refuses a request for thread {tid}: {}", errno.desc())
            }
        }
    }
}

impl std::error::Error for InjectError {}
