//! A traced thread, and cached state of its registers.

use crate::sites::SiteId;
use crate::sys::{self, Regs, Tid, WaitStatus};
use invigil_debuginfo::value::Scalar;
use invigil_monitor::event::EventId;
use invigil_target::pending_owners::OwnerSet;
use std::io;

/// A call that has not returned, with the values that its exit event needs.
#[derive(Clone, Debug)]
pub(crate) struct PendingCall {
    /// The event at its exit.
    pub(crate) event: EventId,
    /// Stack pointer at the function's first instruction; the return address is there.
    pub(crate) sp: u64,
    /// Values of the event's parameters, as far as they were available at the entry.
    pub(crate) saved: Vec<Option<Scalar>>,
    /// If the entry was observed: index of the entry site in the plan, and the argument registers.
    pub(crate) entry: Option<(u32, [u64; 6])>,
    /// Return site of a tail call, if it has a trap for this call.
    pub(crate) return_site: Option<SiteId>,
}

/// A traced thread.
#[derive(Debug)]
pub(crate) struct TracedThread {
    pub(crate) tid: Tid,
    /// Whether it was resumed and has not stopped since.
    pub(crate) running: bool,
    /// Stopped by job control. It must not be resumed, but waits to be continued.
    pub(crate) group_stopped: bool,
    /// A stop that occurred while all threads were being stopped and was not handled yet.
    pub(crate) pending_status: Option<WaitStatus>,
    /// Signal to deliver when the thread is resumed.
    pub(crate) signal: i32,
    /// Whether it may be in a signal handler: it has received a signal.
    pub(crate) may_be_in_handler: bool,
    /// Cached registers. The instruction pointer is the logical one, without traps and displaced copies.
    regs: Option<Regs>,
    /// Whether the cached registers differ from the thread's.
    dirty: bool,
    /// Logical instruction pointer, if it differs from the actual one because the thread is at a trap.
    assumed_pc: Option<u64>,
    /// The trap site at which the thread is stopped, if it has not passed it.
    pub(crate) at_site: Option<SiteId>,
    /// Owners that were already notified of this stop.
    pub(crate) notified: OwnerSet,
    /// Calls that have not returned, innermost last.
    pub(crate) calls: Vec<PendingCall>,
    /// Whether its last stop needed all registers: then they are fetched in one call next time.
    pub(crate) prefetch_registers: bool,
    /// Whether it is resumed for one instruction only.
    pub(crate) single_step: bool,
    /// Whether it is another process, such as a `vfork` child, that shares the target's memory until it executes
    /// another program.
    pub(crate) is_foreign_process: bool,
    /// The `vfork` child for which the thread waits.
    pub(crate) vfork_child: Option<Tid>,
    /// Whether the creation of the thread is still to be reported; it stays before its first instruction until then.
    pub(crate) start_unreported: bool,
    /// Whether it is a leader that has exited; the kernel reports that when all threads have.
    pub(crate) zombie: bool,
}

impl TracedThread {
    pub(crate) fn new(tid: Tid) -> TracedThread {
        TracedThread {
            tid,
            running: true,
            group_stopped: false,
            pending_status: None,
            signal: 0,
            may_be_in_handler: false,
            regs: None,
            dirty: false,
            assumed_pc: None,
            at_site: None,
            notified: OwnerSet::default(),
            calls: Vec::new(),
            prefetch_registers: false,
            single_step: false,
            is_foreign_process: false,
            vfork_child: None,
            start_unreported: false,
            zombie: false,
        }
    }

    /// Marks the thread as stopped and drops cached registers.
    pub(crate) fn mark_stopped(&mut self) {
        self.running = false;
        self.regs = None;
        self.dirty = false;
        self.assumed_pc = None;
    }

    /// Marks a leader that has exited without a report.
    pub(crate) fn mark_zombie(&mut self) {
        self.mark_stopped();
        self.zombie = true;
    }

    /// Registers, fetched on first use.
    pub(crate) fn registers(&mut self) -> io::Result<Regs> {
        match self.regs {
            Some(regs) => Ok(regs),
            None => {
                let mut regs = sys::registers(self.tid)?;
                regs.rip = self.assumed_pc.unwrap_or(regs.rip);
                self.regs = Some(regs);
                Ok(regs)
            }
        }
    }

    /// Instruction pointer.
    pub(crate) fn pc(&mut self) -> io::Result<u64> {
        match (&self.regs, self.assumed_pc) {
            (Some(regs), _) => Ok(regs.rip),
            (None, Some(pc)) => Ok(pc),
            (None, None) => sys::pc(self.tid),
        }
    }

    /// Sets the instruction pointer immediately.
    pub(crate) fn set_pc(&mut self, pc: u64) -> io::Result<()> {
        if let Some(regs) = &mut self.regs {
            regs.rip = pc;
        }
        self.assumed_pc = None;
        sys::set_pc(self.tid, pc)
    }

    /// Sets the logical instruction pointer. It is written only when the thread is resumed.
    pub(crate) fn assume_pc(&mut self, pc: u64) {
        self.assumed_pc = Some(pc);
        if let Some(regs) = &mut self.regs {
            regs.rip = pc;
        }
    }

    /// Changes the cached registers; [`write_back_registers`](TracedThread::write_back_registers) writes them.
    pub(crate) fn set_registers(&mut self, regs: Regs) {
        self.regs = Some(regs);
        self.dirty = true;
    }

    /// Writes changed registers to the thread.
    pub(crate) fn write_back_registers(&mut self) -> io::Result<()> {
        if let (Some(regs), true) = (&self.regs, self.dirty) {
            sys::set_registers(self.tid, regs)?;
            self.dirty = false;
        }
        Ok(())
    }
}
