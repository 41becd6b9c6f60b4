//! A thread of the program, as the controller sees it.

use crate::sites::SiteId;
use crate::sys::{self, Regs, Status, Tid};
use invigil_debuginfo::value::Plain;
use invigil_monitor::event::SymbolId;
use invigil_session::due::Owners;
use std::io;

/// A call of a function whose return is awaited, with what was to be known of it when it began.
#[derive(Clone, Debug)]
pub(crate) struct OpenCall {
    pub(crate) symbol: SymbolId,
    /// The stack pointer at its first instruction: there is the return address.
    pub(crate) sp: u64,
    /// The values of the event's parameters, as far as they were available then.
    pub(crate) saved: Vec<Option<Plain>>,
    /// If its begin was seen: the place of the plan at which, and what was in the registers for arguments.
    pub(crate) began: Option<(u32, [u64; 6])>,
    /// The place that it returns to, if it carries a trap for this call.
    pub(crate) returns_to: Option<SiteId>,
}

/// A thread.
#[derive(Debug)]
pub(crate) struct Task {
    pub(crate) tid: Tid,
    pub(crate) running: bool,
    /// Stopped by job control: it must not be made to run. When it is let go, it waits for being continued.
    pub(crate) listening: bool,
    /// A stop that was seen while the thread was held, and not dealt with yet.
    pub(crate) pending: Option<Status>,
    /// The signal to deliver when it goes on.
    pub(crate) signal: i32,
    /// Whether it was ever given one, and may be in a handler.
    pub(crate) signalled: bool,
    /// The registers, as they are to be when it goes on. The instruction pointer is as the program would see
    /// it, without traps and copies.
    regs: Option<Regs>,
    changed: bool,
    /// Where it is for the program, if that is not what the system says: it stands on a trap.
    assumed: Option<u64>,
    /// The trap that it stands on, not passed yet.
    pub(crate) standing: Option<SiteId>,
    /// Who has been served where it stands.
    pub(crate) handled: Owners,
    /// Calls whose returns are awaited, the innermost last.
    pub(crate) calls: Vec<OpenCall>,
    /// Whether its last stop made us look at all registers: then fetch them at once the next time.
    pub(crate) wants_registers: bool,
    /// Whether it goes on for one instruction only.
    pub(crate) steps: bool,
    /// A process that shares our program's memory until it becomes another program.
    pub(crate) foreign: bool,
    /// The process that it lent its memory to by `vfork`: it sleeps while that one has it.
    pub(crate) lent_to: Option<Tid>,
    /// It stands before its first instruction until it has been told of.
    pub(crate) newborn: bool,
    /// It has ended, but is the first thread, whose end is told when all have.
    pub(crate) over: bool,
}

impl Task {
    pub(crate) fn new(tid: Tid) -> Task {
        Task {
            tid,
            running: true,
            listening: false,
            pending: None,
            signal: 0,
            signalled: false,
            regs: None,
            changed: false,
            assumed: None,
            standing: None,
            handled: Owners::default(),
            calls: Vec::new(),
            wants_registers: false,
            steps: false,
            foreign: false,
            lent_to: None,
            newborn: false,
            over: false,
        }
    }

    /// It stopped: what was known of its registers is no longer true.
    pub(crate) fn stopped(&mut self) {
        self.running = false;
        self.regs = None;
        self.changed = false;
        self.assumed = None;
    }

    /// It ended without a word.
    pub(crate) fn ends_silently(&mut self) {
        self.stopped();
        self.over = true;
    }

    /// The registers; fetched when first asked for.
    pub(crate) fn registers(&mut self) -> io::Result<Regs> {
        match self.regs {
            Some(regs) => Ok(regs),
            None => {
                let mut regs = sys::registers(self.tid)?;
                regs.rip = self.assumed.unwrap_or(regs.rip);
                self.regs = Some(regs);
                Ok(regs)
            }
        }
    }

    /// The instruction pointer.
    pub(crate) fn pc(&mut self) -> io::Result<u64> {
        match (&self.regs, self.assumed) {
            (Some(regs), _) => Ok(regs.rip),
            (None, Some(pc)) => Ok(pc),
            (None, None) => sys::pc(self.tid),
        }
    }

    /// Sets the instruction pointer, at once.
    pub(crate) fn set_pc(&mut self, pc: u64) -> io::Result<()> {
        if let Some(regs) = &mut self.regs {
            regs.rip = pc;
        }
        self.assumed = None;
        sys::set_pc(self.tid, pc)
    }

    /// What to know of the instruction pointer without writing it: it is written when the thread goes on.
    pub(crate) fn assume_pc(&mut self, pc: u64) {
        self.assumed = Some(pc);
        if let Some(regs) = &mut self.regs {
            regs.rip = pc;
        }
    }

    /// Changes the registers.
    pub(crate) fn set_registers(&mut self, regs: Regs) {
        self.regs = Some(regs);
        self.changed = true;
    }

    /// Writes changed registers.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        if let (Some(regs), true) = (&self.regs, self.changed) {
            sys::set_registers(self.tid, regs)?;
            self.changed = false;
        }
        Ok(())
    }
}
