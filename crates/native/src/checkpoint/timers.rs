//! The three interval timers of a process, including `alarm`. A copy does not have them.

use nix::unistd::Pid;

use super::scratch_slot::ScratchSlot;
use crate::inject::{BorrowedThread, InjectError};

/// The timers, and the signals they send.
const TIMERS: [(libc::c_int, libc::c_int); 3] = [
    (libc::ITIMER_REAL, libc::SIGALRM),
    (libc::ITIMER_VIRTUAL, libc::SIGVTALRM),
    (libc::ITIMER_PROF, libc::SIGPROF),
];
/// Two times of 16 bytes each: the interval and the remaining time.
const SIZE: usize = 32;

/// The running timers.
pub(super) struct Timers(Vec<(libc::c_int, [u8; SIZE])>);

impl Timers {
    /// Reads the running timers.
    pub(super) fn read(
        first: &mut BorrowedThread,
        process: Pid,
        slot: &ScratchSlot,
    ) -> Result<Self, InjectError> {
        let mut running = Vec::new();
        let caught = caught(process);
        for (which, signal) in TIMERS {
            // Every call takes time. An alarm may be meant to kill the program; the other timers are useless without
            // a handler for their signals.
            if which != libc::ITIMER_REAL && caught & 1 << (signal - 1) == 0 {
                continue;
            }
            slot.fill(process, &[0; SIZE])?;
            first.call(libc::SYS_getitimer, [which as u64, slot.address, 0, 0, 0, 0])?;
            let value = slot.take(process)?;
            if value != [0; SIZE] {
                running.push((which, value));
            }
        }
        Ok(Self(running))
    }

    /// Starts the timers with the remaining time.
    pub(super) fn set(
        &self,
        first: &mut BorrowedThread,
        process: Pid,
        slot: &ScratchSlot,
    ) -> Result<(), InjectError> {
        for (which, value) in &self.0 {
            slot.fill(process, value)?;
            first.call(libc::SYS_setitimer, [*which as u64, slot.address, 0, 0, 0, 0])?;
        }
        Ok(())
    }
}

/// The signals that the target handles; all of them if that is unknown.
fn caught(process: Pid) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let field = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    field.and_then(|field| u64::from_str_radix(field.trim(), 16).ok()).unwrap_or(u64::MAX)
}
