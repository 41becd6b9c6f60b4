//! What the kernel tells of a process as a whole, and how a process ends.

use std::collections::BTreeSet;

use nix::errno::Errno;
use nix::sys::ptrace;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::birth;
use super::error::FreezeError;
use crate::inject::raw::{self, Status};
use crate::inject::{Borrowed, InjectError};

/// Where a process stands among others.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    /// Whether it leads its process group.
    pub(super) leads_group: bool,
    /// Whether it leads its session.
    pub(super) leads_session: bool,
    /// Whether it has a terminal that controls it.
    pub(super) has_terminal: bool,
    /// The size of its address space in bytes.
    pub(super) size: u64,
}

impl Place {
    /// Looks at a process, which must be one that can be copied, and have no threads but these.
    pub(super) fn of(process: Pid, threads: &[Pid]) -> Result<Self, FreezeError> {
        let gone = || FreezeError::Thread(InjectError::Ended(process));
        let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).map_err(|_| gone())?;
        // The name before the bracket may hold anything, brackets and spaces too.
        let mut fields = stat.rsplit_once(')').ok_or_else(gone)?.1.split_ascii_whitespace();
        let state = fields.next();
        // Of the fields behind this one, counted from here.
        let count = fields.clone().nth(16).and_then(|field| field.parse::<usize>().ok());
        let size = fields.clone().nth(19).and_then(|field| field.parse().ok()).unwrap_or(0);
        let mut number = || fields.next().and_then(|field| field.parse::<i32>().ok()).ok_or_else(gone);
        let (parent, group, session, terminal) = (number()?, number()?, number()?, number()?);
        if matches!(state, Some("Z" | "X")) {
            return Err(if count > Some(1) { FreezeError::LeaderEnded(process) } else { gone() });
        }
        if count != Some(threads.len()) {
            complete(process, threads)?;
        }
        if parent > 0 && raw::same_memory(process, Pid::from_raw(parent)) == Some(true) {
            return Err(FreezeError::Borrowing(process));
        }
        let namespace = |whose: &str| std::fs::read_link(format!("/proc/{whose}/ns/pid")).ok();
        if namespace("self") != namespace(&process.to_string()) {
            return Err(FreezeError::Namespace(process));
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

/// Whether the process has no living threads but these.
fn complete(process: Pid, threads: &[Pid]) -> Result<(), FreezeError> {
    let ended = |tid: Pid| {
        let status = std::fs::read_to_string(format!("/proc/{tid}/status")).unwrap_or_default();
        !status.lines().any(|line| line.starts_with("State:") && !line.contains(['Z', 'X']))
    };
    match tasks(process).find(|tid| !threads.contains(tid) && !ended(*tid)) {
        Some(thread) => Err(FreezeError::Forgotten { process, thread }),
        None => Ok(()),
    }
}

/// Memory that a process has given up, which the kernel is still taking back.
///
/// A process is not over before all its memory has been taken back, which takes as long as copying it. So the
/// memory is first shared with a helper: the process ends at once, its id is free, and the helper gives up the
/// memory meanwhile.
pub(super) struct Remains(Option<Pid>);

impl Remains {
    /// It does not pay to make a helper for less, in pages.
    const LARGE: u64 = 4096;

    /// Ends a process as [`end`] does, but does not wait for its memory if there is much of it.
    pub(super) fn of_ended(process: Pid, threads: &[Pid], scratch: u64) -> Self {
        let helper = if resident(process) >= Self::LARGE { helper(process, scratch) } else { None };
        end(process, threads);
        if let Some(helper) = helper {
            // It fails only if there is nothing to kill.
            let _ = kill(helper, Signal::SIGKILL);
        }
        Self(helper)
    }
}

impl Drop for Remains {
    fn drop(&mut self) {
        if let Some(helper) = self.0 {
            see_end(helper);
        }
    }
}

/// Makes a process that shares its memory with this one, and stands still. Not if this one runs, or has ended.
fn helper(process: Pid, scratch: u64) -> Option<Pid> {
    let mut first = Borrowed::begin(process, scratch).ok()?;
    birth::sharing(&mut first, process).ok()
}

/// How many pages of memory a process has.
pub(crate) fn resident(process: Pid) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{process}/statm")).unwrap_or_default();
    text.split_ascii_whitespace().nth(1).and_then(|field| field.parse().ok()).unwrap_or(0)
}

/// Kills a process that we trace, and takes note of the end of all its threads, so that their ids are free. A
/// process that is not ours, or no longer there, is left alone: its id may be another's now.
pub(crate) fn end(process: Pid, threads: &[Pid]) {
    if !raw::is_ours(process) {
        return;
    }
    // Threads may have been made that the caller has not yet heard of.
    let mut others: BTreeSet<Pid> = threads.iter().copied().chain(tasks(process)).collect();
    others.remove(&process);
    // It fails only if there is nothing to kill.
    let _ = kill(process, Signal::SIGKILL);
    // The first thread is told to have ended only when the others have been seen to.
    for tid in others {
        see_end(tid);
    }
    see_end(process);
}

fn see_end(tid: Pid) {
    loop {
        match raw::wait(tid) {
            // A stop on the way out, or one that was not yet seen.
            Ok(Status::Stopped { .. }) => {
                if ptrace::cont(tid, None) == Err(Errno::EPERM) {
                    return;
                }
            }
            Ok(Status::Ended) => return raw::see_end(tid),
            Err(_) => return,
        }
    }
}
