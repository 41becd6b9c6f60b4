//! State of one thread.

use libc::user_regs_struct;
use nix::errno::Errno;
use nix::unistd::Pid;

use super::error::CheckpointError;
use super::scratch_slot::ScratchSlot;
use crate::inject::raw::{self, CallStop, Rseq, SignalInfo};
use crate::inject::{BorrowedThread, InjectError};

/// Results in the kernel of an interrupted system call that will be restarted: with saved state, or as it was.
const RESTART_BLOCK: i64 = -516;
const RESTART_NO_HANDLER: i64 = -514;

/// State of a thread at the checkpoint.
pub(super) struct ThreadState {
    pub(super) tid: Pid,
    pub(super) registers: user_regs_struct,
    /// Where the kernel writes 0 when the thread ends, for which joining threads wait.
    pub(super) clear_child_tid: u64,
    extended: Box<[u8]>,
    mask: u64,
    stop: Option<SignalInfo>,
    call_stop: Option<CallStop>,
    robust: (u64, u64),
    rseq: Option<Rseq>,
    alternative_stack: [u8; 24],
    name: Vec<u8>,
    pending: Vec<SignalInfo>,
    affinity: [u64; 16],
}

impl ThreadState {
    /// Reads the state of a stopped thread.
    pub(super) fn read(
        thread: &mut BorrowedThread,
        tid: Pid,
        process: Pid,
        slot: &ScratchSlot,
    ) -> Result<Self, InjectError> {
        let failed = |errno| InjectError::of(tid, errno);
        let at = slot.address;
        // A call that fails leaves the slot unchanged: make that a null.
        slot.fill(process, &[0; 24])?;
        thread.call(libc::SYS_prctl, [libc::PR_GET_TID_ADDRESS as u64, at, 0, 0, 0, 0])?;
        let clear_child_tid = u64::from_ne_bytes(slot.take(process)?);
        // The leader keeps its alternative stack when it is copied.
        if tid != process {
            thread.call(libc::SYS_sigaltstack, [0, at, 0, 0, 0, 0])?;
        }
        Ok(Self {
            tid,
            registers: *thread.registers(),
            clear_child_tid,
            extended: raw::extended_registers(tid).map_err(failed)?,
            mask: thread.signal_mask(),
            stop: thread.stop(),
            call_stop: thread.call_stop(),
            robust: raw::robust_list(tid).map_err(failed)?,
            rseq: raw::rseq(tid).map_err(failed)?,
            alternative_stack: slot.take(process)?,
            name: name(process, tid),
            pending: raw::pending(tid, false).map_err(failed)?,
            affinity: raw::affinity(tid).map_err(failed)?,
        })
    }

    /// Gives a new thread this state. It remains stopped. `leader` is the state of the leader; what the new thread
    /// has inherited from there is not set again.
    pub(super) fn restore_into(
        &self,
        tid: Pid,
        process: Pid,
        slot: &ScratchSlot,
        scratch: u64,
        leader: &Self,
    ) -> Result<(), CheckpointError> {
        let is_leader = self.tid == leader.tid;
        let mut thread = BorrowedThread::begin(tid, scratch)?;
        let operation = "prepare a thread of";
        let mut call = |number, arguments| -> Result<(), CheckpointError> {
            check_result(process, operation, thread.call(number, arguments)?).map(drop)
        };
        // Also for the leader: a new process has no robust list. These calls also take the thread to a stop where
        // signals can be injected.
        call(libc::SYS_set_robust_list, [self.robust.0, self.robust.1.max(24), 0, 0, 0, 0])?;
        if !is_leader {
            if let Some(rseq) = self.rseq {
                let arguments = [rseq.address, rseq.size.into(), 0, rseq.signature.into(), 0, 0];
                call(libc::SYS_rseq, arguments)?;
            }
            if let Some(stack) = settable_stack(self.alternative_stack) {
                slot.fill(process, &stack)?;
                call(libc::SYS_sigaltstack, [slot.address, 0, 0, 0, 0, 0])?;
            }
            if self.name != leader.name {
                slot.fill(process, &self.name)?;
                call(libc::SYS_prctl, [libc::PR_SET_NAME as u64, slot.address, 0, 0, 0, 0])?;
            }
        }
        for signal in &self.pending {
            slot.fill(process, &signal.bytes())?;
            let to =
                [process.as_raw() as u64, tid.as_raw() as u64, signal.signal() as u64, slot.address, 0, 0];
            call(libc::SYS_rt_tgsigqueueinfo, to)?;
        }
        let failed = |errno| InjectError::of(tid, errno);
        if self.affinity != leader.affinity {
            raw::set_affinity(tid, &self.affinity).map_err(failed)?;
        }
        raw::set_extended_registers(tid, &self.extended).map_err(failed)?;
        thread.replace_state(restarting_registers(self.registers), self.mask, self.stop, self.call_stop);
        Ok(thread.end()?)
    }
}

/// The registers for a thread whose kernel has no saved state of an interrupted call. The call restarts with its
/// arguments, so a sleep lasts its full time. All other calls are restarted by the kernel.
fn restarting_registers(mut registers: user_regs_struct) -> user_regs_struct {
    if registers.orig_rax as i64 >= 0 && registers.rax as i64 == RESTART_BLOCK {
        registers.rax = RESTART_NO_HANDLER as u64;
    }
    registers
}

/// The alternative signal stack in the form in which it can be set. `None` if there is none, as in a new thread.
fn settable_stack(mut stack: [u8; 24]) -> Option<[u8; 24]> {
    let [_, _, _, _, _, _, _, _, a, b, c, d, ..] = stack;
    let flags = i32::from_ne_bytes([a, b, c, d]);
    if flags & libc::SS_DISABLE != 0 {
        return None;
    }
    stack[8..12].copy_from_slice(&(flags & !libc::SS_ONSTACK).to_ne_bytes());
    Some(stack)
}

/// Name of a thread, null-terminated.
fn name(process: Pid, tid: Pid) -> Vec<u8> {
    let mut name = std::fs::read(format!("/proc/{process}/task/{tid}/comm")).unwrap_or_default();
    if let Some(end) = name.last_mut() {
        *end = 0;
    }
    name
}

/// Converts the result of a system call.
pub(super) fn check_result(
    process: Pid,
    operation: &'static str,
    result: i64,
) -> Result<u64, CheckpointError> {
    match u64::try_from(result) {
        Ok(value) => Ok(value),
        Err(_) => {
            Err(CheckpointError::Refused { process, operation, errno: Errno::from_raw(-result as i32) })
        }
    }
}
