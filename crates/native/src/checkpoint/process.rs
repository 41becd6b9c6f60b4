//! Properties of a process as a whole, and its end.

use std::collections::BTreeSet;

use nix::errno::Errno;
use nix::sys::ptrace;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::error::CheckpointError;
use super::spawn;
use crate::inject::raw::{self, Status};
use crate::inject::{BorrowedThread, InjectError};

/// Properties of a process that matter for copying it.
#[derive(Debug, Clone, Copy)]
pub(super) struct ProcessTraits {
    /// Whether it leads its process group.
    pub(super) leads_group: bool,
    /// Whether it leads its session.
    pub(super) leads_session: bool,
    /// Whether it has a controlling terminal.
    pub(super) has_terminal: bool,
    /// Size of its address space in bytes.
    pub(super) size: u64,
}

impl ProcessTraits {
    /// Reads the properties of a process. Fails unless it can be copied and has no other threads than these.
    pub(super) fn of(process: Pid, threads: &[Pid]) -> Result<Self, CheckpointError> {
        let gone = || CheckpointError::Thread(InjectError::Ended(process));
        let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).map_err(|_| gone())?;
        // The name before the bracket may contain anything, brackets and spaces included.
        let mut fields = stat.rsplit_once(')').ok_or_else(gone)?.1.split_ascii_whitespace();
        let state = fields.next();
        // Indices count from here.
        let count = fields.clone().nth(16).and_then(|field| field.parse::<usize>().ok());
        let size = fields.clone().nth(19).and_then(|field| field.parse().ok()).unwrap_or(0);
        let mut number = || fields.next().and_then(|field| field.parse::<i32>().ok()).ok_or_else(gone);
        let (parent, group, session, terminal) = (number()?, number()?, number()?, number()?);
        if matches!(state, Some("Z" | "X")) {
            return Err(if count > Some(1) { CheckpointError::LeaderEnded(process) } else { gone() });
        }
        if count != Some(threads.len()) {
            check_no_other_threads(process, threads)?;
        }
        if parent > 0 && raw::same_memory(process, Pid::from_raw(parent)) == Some(true) {
            return Err(CheckpointError::SharesParentMemory(process));
        }
        let namespace = |id: &str| std::fs::read_link(format!("/proc/{id}/ns/pid")).ok();
        if namespace("self") != namespace(&process.to_string()) {
            return Err(CheckpointError::OtherNamespace(process));
        }
        let own = process.as_raw();
        Ok(Self {
            leads_group: group == own,
            leads_session: session == own,
            has_terminal: terminal != 0,
            size,
        })
    }
}

/// The threads of a process, as the kernel lists them.
fn tasks(process: Pid) -> impl Iterator<Item = Pid> {
    let entries = std::fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok().map(Pid::from_raw))
}

/// Checks that the process has no other living threads.
fn check_no_other_threads(process: Pid, threads: &[Pid]) -> Result<(), CheckpointError> {
    let ended = |tid: Pid| {
        let status = std::fs::read_to_string(format!("/proc/{tid}/status")).unwrap_or_default();
        !status.lines().any(|line| line.starts_with("State:") && !line.contains(['Z', 'X']))
    };
    match tasks(process).find(|tid| !threads.contains(tid) && !ended(*tid)) {
        Some(thread) => Err(CheckpointError::UnlistedThread { process, thread }),
        None => Ok(()),
    }
}

/// A killed process whose memory the kernel is still freeing.
///
/// A process ends only when all its memory has been freed, which takes as long as copying it. So a helper process
/// shares the memory first: the process then ends immediately, its id is free, and the helper frees the memory
/// meanwhile.
pub(super) struct ReapingProcess(Option<Pid>);

impl ReapingProcess {
    /// Minimum size in pages for which a helper is worthwhile.
    const LARGE: u64 = 4096;

    /// Kills a process like [`end`], but does not wait for its memory if there is much of it.
    pub(super) fn kill(process: Pid, threads: &[Pid], scratch: u64) -> Self {
        let helper = if resident(process) >= Self::LARGE { helper(process, scratch) } else { None };
        end(process, threads);
        if let Some(helper) = helper {
            // It fails only if there is nothing to kill.
            let _ = kill(helper, Signal::SIGKILL);
        }
        Self(helper)
    }
}

impl Drop for ReapingProcess {
    fn drop(&mut self) {
        if let Some(helper) = self.0 {
            reap(helper);
        }
    }
}

/// Creates a stopped process that shares the memory of this one. `None` if this one runs or has ended.
fn helper(process: Pid, scratch: u64) -> Option<Pid> {
    let mut first = BorrowedThread::begin(process, scratch).ok()?;
    spawn::sharing(&mut first, process).ok()
}

/// Number of resident pages of a process.
pub(crate) fn resident(process: Pid) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{process}/statm")).unwrap_or_default();
    text.split_ascii_whitespace().nth(1).and_then(|field| field.parse().ok()).unwrap_or(0)
}

/// Kills a traced process and waits for all its threads, so that their ids are free. A process that is not traced or
/// no longer exists is left alone: its id may be reused.
pub(crate) fn end(process: Pid, threads: &[Pid]) {
    if !raw::is_ours(process) {
        return;
    }
    // There may be threads that the caller does not know yet.
    let mut others: BTreeSet<Pid> = threads.iter().copied().chain(tasks(process)).collect();
    others.remove(&process);
    // It fails only if there is nothing to kill.
    let _ = kill(process, Signal::SIGKILL);
    // The leader's exit is reported only after those of the others.
    for tid in others {
        reap(tid);
    }
    reap(process);
}

fn reap(tid: Pid) {
    loop {
        match raw::wait(tid) {
            // A stop on the way to the exit, or one that was not handled yet.
            Ok(Status::Stopped { .. }) => {
                if ptrace::cont(tid, None) == Err(Errno::EPERM) {
                    return;
                }
            }
            Ok(Status::Ended) => return raw::reap(tid),
            Err(_) => return,
        }
    }
}
