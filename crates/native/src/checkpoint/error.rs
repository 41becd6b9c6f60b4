//! Errors of taking and restoring checkpoints.

use std::fmt;

use nix::errno::Errno;
use nix::unistd::Pid;

use crate::inject::InjectError;

/// Errors of taking and restoring checkpoints.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum CheckpointError {
    /// A thread cannot be used.
    Thread(InjectError),
    /// The leader has ended while other threads live on.
    LeaderEnded(Pid),
    /// The process has a thread that the caller did not list.
    UnlistedThread {
        /// The process.
        process: Pid,
        /// The thread.
        thread: Pid,
    },
    /// The process uses its parent's memory: a `vfork` child before its exec.
    SharesParentMemory(Pid),
    /// The process is in another pid namespace.
    OtherNamespace(Pid),
    /// The kernel refuses a request in the process.
    Refused {
        /// The process.
        process: Pid,
        /// The request.
        operation: &'static str,
        /// The kernel's error.
        errno: Errno,
    },
    /// The copy of the checkpoint has been killed.
    CopyEnded(Pid),
}

impl From<InjectError> for CheckpointError {
    fn from(error: InjectError) -> Self {
        Self::Thread(error)
    }
}

impl fmt::Display for CheckpointError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Thread(error) => error.fmt(f),
            Self::LeaderEnded(process) => write!(
                f,
                "the first thread of process {process} has ended while others live on: such a process cannot \
                 be copied; take the checkpoint before its main thread exits"
            ),
            Self::UnlistedThread { process, thread } => {
                write!(f, "thread {thread} of process {process} was just created: stop it first")
            }
            Self::SharesParentMemory(process) => write!(
                f,
                "process {process} was created by vfork and still uses the memory of its parent: \
                 continue until it executes its own program"
            ),
            Self::OtherNamespace(process) => write!(
                f,
                "process {process} is in another process id namespace: run Invigil in that namespace"
            ),
            Self::Refused { process, operation, errno: Errno::ENOMEM } => write!(
                f,
                "there is not enough memory to {operation} process {process}: drop other checkpoints, \
                 or allow overcommit (vm.overcommit_memory)"
            ),
            Self::Refused { process, operation, errno: Errno::EAGAIN } => write!(
                f,
                "there are too many processes to {operation} process {process}: drop other checkpoints, \
                 or raise the limit (ulimit -u)"
            ),
            Self::Refused { process, operation, errno } => {
                write!(f, "the kernel refuses to {operation} process {process}: {}", errno.desc())
            }
            Self::CopyEnded(copy) => {
                write!(f, "the checkpoint is lost: its copy, process {copy}, has been killed")
            }
        }
    }
}

impl std::error::Error for CheckpointError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Thread(error) => Some(error),
            _ => None,
        }
    }
}
