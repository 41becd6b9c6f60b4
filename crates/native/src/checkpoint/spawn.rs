//! Creates processes and threads inside the target.

use nix::errno::Errno;
use nix::unistd::Pid;
use std::time::Duration;

use super::error::CheckpointError;
use super::scratch_slot::ScratchSlot;
use super::thread::{ThreadState, check_result};
use crate::inject::raw::{self, Status};
use crate::inject::{BorrowedThread, InjectError};

/// New threads are traced from their first moment, without a stop of their parent.
const TRACED: u64 = (libc::CLONE_PTRACE | libc::CLONE_UNTRACED) as u64;
const THREAD_FLAGS: u64 = (libc::CLONE_VM
    | libc::CLONE_FS
    | libc::CLONE_FILES
    | libc::CLONE_SIGHAND
    | libc::CLONE_THREAD
    | libc::CLONE_SYSVSEM
    | libc::CLONE_SETTLS) as u64;
/// Number of retries: a parent other than the debugger may take a moment to reap its child.
const MAX_RETRIES: usize = 5;

/// Whether the new thread gets its original id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ids {
    Same,
    New,
}

/// Copies a process. The copy is a sibling, so the target does not see a child it did not create.
pub(super) fn copy(leader: &mut BorrowedThread, process: Pid) -> Result<Pid, CheckpointError> {
    let flags = libc::CLONE_PARENT as u64 | TRACED;
    let result = leader.call(libc::SYS_clone, [flags, 0, 0, 0, 0, 0])?;
    await_stop(process, "copy", result)
}

/// Creates a sibling of a process that shares its memory.
pub(super) fn sharing(leader: &mut BorrowedThread, process: Pid) -> Result<Pid, CheckpointError> {
    let flags = (libc::CLONE_PARENT | libc::CLONE_VM) as u64 | TRACED;
    let result = leader.call(libc::SYS_clone, [flags, 0, 0, 0, 0, 0])?;
    await_stop(process, "share the memory of", result)
}

/// Creates a process from a copy. Returns its id, and whether that is the original one.
pub(super) fn process(
    copy: &mut BorrowedThread,
    memory: Pid,
    slot: &ScratchSlot,
    leader: &ThreadState,
) -> Result<(Pid, Ids), CheckpointError> {
    let flags = libc::CLONE_PARENT as u64 | TRACED;
    make(copy, memory, slot, flags, leader, Ids::Same, "restore")
}

/// Creates a thread.
pub(super) fn thread(
    parent: &mut BorrowedThread,
    process: Pid,
    slot: &ScratchSlot,
    thread: &ThreadState,
    ids: Ids,
) -> Result<(Pid, Ids), CheckpointError> {
    make(parent, process, slot, THREAD_FLAGS | TRACED, thread, ids, "restore the threads of")
}

fn make(
    parent: &mut BorrowedThread,
    memory: Pid,
    slot: &ScratchSlot,
    mut flags: u64,
    thread: &ThreadState,
    ids: Ids,
    operation: &'static str,
) -> Result<(Pid, Ids), CheckpointError> {
    const SIZE: usize = 88;
    if thread.clear_child_tid != 0 {
        flags |= libc::CLONE_CHILD_CLEARTID as u64;
    }
    let mut retries = 0;
    let mut ids = ids;
    loop {
        let set_tid = if ids == Ids::Same { (slot.address + SIZE as u64, 1) } else { (0, 0) };
        let (pidfd, parent_tid, exit_signal, stack, stack_size, cgroup) = (0, 0, 0, 0, 0, 0);
        let (child_tid, tls) = (thread.clear_child_tid, thread.registers.fs_base);
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
            Errno::EEXIST if ids == Ids::Same && retries < MAX_RETRIES => {
                retries += 1;
                std::thread::sleep(Duration::from_millis(1));
            }
            // The id is in use, or choosing one needs a capability that the target does not have.
            Errno::EEXIST | Errno::EPERM if ids == Ids::Same => ids = Ids::New,
            _ => return Ok((await_stop(memory, operation, result)?, ids)),
        }
    }
}

/// Waits until the new thread is stopped.
fn await_stop(process: Pid, operation: &'static str, result: i64) -> Result<Pid, CheckpointError> {
    let tid = Pid::from_raw(check_result(process, operation, result)? as i32);
    match raw::wait(tid).map_err(|errno| InjectError::of(tid, errno))? {
        Status::Stopped { .. } => Ok(tid),
        Status::Ended => Err(InjectError::Ended(tid).into()),
    }
}
