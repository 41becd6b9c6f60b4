//! Errors of system calls that are executed in a stopped thread.

use std::fmt;

use nix::errno::Errno;
use nix::unistd::Pid;

/// Errors of system calls that are executed in a stopped thread.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum InjectError {
    /// The thread has ended.
    Ended(Pid),
    /// The thread is exiting.
    Exiting(Pid),
    /// The thread waits for its `vfork` child.
    Vfork(Pid),
    /// The thread sleeps uninterruptibly in the kernel.
    Uninterruptible(Pid),
    /// The thread is not traced by the calling thread.
    NotTraced(Pid),
    /// The thread is not stopped.
    Running(Pid),
    /// The thread belongs to another user.
    NotPermitted(Pid),
    /// The scratch code cannot be executed.
    Scratch {
        /// The thread.
        tid: Pid,
        /// Expected address of the code.
        address: u64,
        /// The resulting signal.
        signal: i32,
    },
    /// The thread stops again and again for signals that cannot be blocked.
    StoppedRepeatedly(Pid),
    /// Memory of the target cannot be accessed.
    Memory {
        /// The thread.
        tid: Pid,
        /// The address.
        address: u64,
        /// The kernel's error.
        errno: Errno,
    },
    /// The kernel refuses a request.
    Refused {
        /// The thread.
        tid: Pid,
        /// The kernel's error.
        errno: Errno,
    },
}

impl InjectError {
    /// Interprets a failed request for a thread. The kernel answers `ESRCH` for threads that have ended, are running,
    /// or are not traced by the caller: find out which.
    pub(crate) fn of(tid: Pid, errno: Errno) -> Self {
        match errno {
            Errno::ESRCH | Errno::ECHILD => Self::of_missing(tid),
            Errno::EPERM | Errno::EACCES => Self::NotPermitted(tid),
            errno => Self::Refused { tid, errno },
        }
    }

    fn of_missing(tid: Pid) -> Self {
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
            Self::Exiting(tid) => write!(f, "thread {tid} is exiting: resume it first"),
            Self::Vfork(tid) => write!(
                f,
                "thread {tid} waits for its vfork child, which uses its memory: \
                 continue until the child executes its own program"
            ),
            Self::Uninterruptible(tid) => write!(
                f,
                "thread {tid} is in uninterruptible sleep (waiting for a disk, or for a vfork child): \
                 try again later"
            ),
            Self::NotTraced(tid) => write!(f, "thread {tid} is not traced by Invigil"),
            Self::Running(tid) => write!(f, "thread {tid} is running: stop it first"),
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
            Self::StoppedRepeatedly(tid) => {
                write!(f, "thread {tid} is stopped repeatedly by signals that cannot be blocked")
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
