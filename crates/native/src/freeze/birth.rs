//! Making processes and threads inside a program.

use nix::errno::Errno;
use nix::unistd::Pid;
use std::time::Duration;

use super::error::FreezeError;
use super::slot::Slot;
use super::thread::{Thread, succeeded};
use crate::inject::raw::{self, Status};
use crate::inject::{Borrowed, InjectError};

/// What is born is traced by us from its first moment, and its parent does not stop to tell.
const OURS: u64 = (libc::CLONE_PTRACE | libc::CLONE_UNTRACED) as u64;
const THREAD: u64 = (libc::CLONE_VM
    | libc::CLONE_FS
    | libc::CLONE_FILES
    | libc::CLONE_SIGHAND
    | libc::CLONE_THREAD
    | libc::CLONE_SYSVSEM
    | libc::CLONE_SETTLS) as u64;
/// A parent that is not us may take a moment to see that its child has ended.
const TRIES: usize = 5;

/// Whether what is made is to have the id it had.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ids {
    Same,
    New,
}

/// Copies a process. The copy is a sibling, so that the program does not see a child it did not make.
pub(super) fn copy(leader: &mut Borrowed, process: Pid) -> Result<Pid, FreezeError> {
    let flags = libc::CLONE_PARENT as u64 | OURS;
    let result = leader.call(libc::SYS_clone, [flags, 0, 0, 0, 0, 0])?;
    born(process, "copy", result)
}

/// Makes a sibling of a process that shares its memory.
pub(super) fn sharing(leader: &mut Borrowed, process: Pid) -> Result<Pid, FreezeError> {
    let flags = (libc::CLONE_PARENT | libc::CLONE_VM) as u64 | OURS;
    let result = leader.call(libc::SYS_clone, [flags, 0, 0, 0, 0, 0])?;
    born(process, "share the memory of", result)
}

/// Makes a process of a copy: what was before. Says whether it has its id of then.
pub(super) fn process(
    copy: &mut Borrowed,
    memory: Pid,
    slot: &Slot,
    leader: &Thread,
) -> Result<(Pid, Ids), FreezeError> {
    let flags = libc::CLONE_PARENT as u64 | OURS;
    make(copy, memory, slot, flags, leader, Ids::Same, "bring back")
}

/// Makes a thread.
pub(super) fn thread(
    parent: &mut Borrowed,
    process: Pid,
    slot: &Slot,
    thread: &Thread,
    ids: Ids,
) -> Result<(Pid, Ids), FreezeError> {
    make(parent, process, slot, THREAD | OURS, thread, ids, "bring back the threads of")
}

fn make(
    parent: &mut Borrowed,
    memory: Pid,
    slot: &Slot,
    mut flags: u64,
    thread: &Thread,
    ids: Ids,
    asked: &'static str,
) -> Result<(Pid, Ids), FreezeError> {
    const SIZE: usize = 88;
    if thread.cleared_at_end != 0 {
        flags |= libc::CLONE_CHILD_CLEARTID as u64;
    }
    let mut tries = 0;
    let mut ids = ids;
    loop {
        let set_tid = if ids == Ids::Same { (slot.address + SIZE as u64, 1) } else { (0, 0) };
        let (pidfd, parent_tid, exit_signal, stack, stack_size, cgroup) = (0, 0, 0, 0, 0, 0);
        let (child_tid, tls) = (thread.cleared_at_end, thread.registers.fs_base);
        let words = [
            flags,
            pidfd,
            child_tid,
            parent_tid,
            exit_signal,
            stack,
            stack_size,
            tls,
            set_tid.0,
            set_tid.1,
            cgroup,
        ];
        let mut bytes: Vec<u8> = words.iter().flat_map(|word: &u64| word.to_ne_bytes()).collect();
        bytes.extend(thread.tid.as_raw().to_ne_bytes());
        slot.fill(memory, &bytes)?;
        let result = parent.call(libc::SYS_clone3, [slot.address, SIZE as u64, 0, 0, 0, 0])?;
        match Errno::from_raw(-result as i32) {
            Errno::EEXIST if ids == Ids::Same && tries < TRIES => {
                tries += 1;
                std::thread::sleep(Duration::from_millis(1));
            }
            // The id is in use by somebody else, or choosing one needs a right that the program has not.
            Errno::EEXIST | Errno::EPERM if ids == Ids::Same => ids = Ids::New,
            _ => return Ok((born(memory, asked, result)?, ids)),
        }
    }
}

/// Waits until what has been made stands still.
fn born(process: Pid, asked: &'static str, result: i64) -> Result<Pid, FreezeError> {
    let tid = Pid::from_raw(succeeded(process, asked, result)? as i32);
    match raw::wait(tid).map_err(|errno| InjectError::of(tid, errno))? {
        Status::Stopped { .. } => Ok(tid),
        Status::Ended => Err(InjectError::Ended(tid).into()),
    }
}
