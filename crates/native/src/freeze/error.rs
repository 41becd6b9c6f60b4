//! Why a process cannot be frozen or brought back.

use std::fmt;

use nix::errno::Errno;
use nix::unistd::Pid;

use crate::inject::InjectError;

/// Why a process cannot be frozen or brought back.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum FreezeError {
    /// A thread of it cannot be used.
    Thread(InjectError),
    /// Its first thread has ended while others live on.
    LeaderEnded(Pid),
    /// It has a thread that is not among those that are said to be all.
    Forgotten {
        /// The process.
        process: Pid,
        /// The thread.
        thread: Pid,
    },
    /// It has no own memory: it is a child made by `vfork` that has not yet run its own program.
    Borrowing(Pid),
    /// It lives among other process ids than we do.
    Namespace(Pid),
    /// The kernel refuses to do something inside it.
    Refused {
        /// The process.
        process: Pid,
        /// What was asked.
        asked: &'static str,
        /// What the kernel says.
        errno: Errno,
    },
    /// The copy that the checkpoint consists of has been killed.
    CopyEnded(Pid),
}

impl From<InjectError> for FreezeError {
    fn from(error: InjectError) -> Self {
        Self::Thread(error)
    }
}

impl fmt::Display for FreezeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Thread(error) => error.fmt(f),
            Self::LeaderEnded(process) => write!(
                f,
                "the first thread of process {process} has ended while others live on: such a process cannot \
                 be copied; take the checkpoint before its main thread ends"
            ),
            Self::Forgotten { process, thread } => {
                write!(f, "thread {thread} of process {process} has just been made: stop it first")
            }
            Self::Borrowing(process) => write!(
                f,
                "process {process} was made by vfork and still uses the memory of its parent: \
                 let it go on until it runs its own program"
            ),
            Self::Namespace(process) => write!(
                f,
                "process {process} is in another process id namespace: run this tool inside that namespace"
            ),
            Self::Refused { process, asked, errno: Errno::ENOMEM } => write!(
                f,
                "there is not enough memory to {asked} process {process}: drop other checkpoints, \
                 or let the system overcommit (vm.overcommit_memory)"
            ),
            Self::Refused { process, asked, errno: Errno::EAGAIN } => write!(
                f,
                "there are too many processes to {asked} process {process}: drop other checkpoints, \
                 or raise the limit (ulimit -u)"
            ),
            Self::Refused { process, asked, errno } => {
                write!(f, "the kernel refuses to {asked} process {process}: {}", errno.desc())
            }
            Self::CopyEnded(copy) => {
                write!(f, "the checkpoint is lost: its copy, process {copy}, has been killed")
            }
        }
    }
}

impl std::error::Error for FreezeError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Thread(error) => Some(error),
            _ => None,
        }
    }
}
