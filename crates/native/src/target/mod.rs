//! A live native program, under control.

mod ending;
mod room;
mod run;
mod signals;

use crate::affinity::Affinity;
use crate::engine::{Engine, lost};
use crate::events::Plans;
use crate::inline::{Inline, Probes};
use crate::keep::Kept;
use crate::launch::{self, Launch};
use crate::memory::RawMemory;
use crate::points::Points;
use crate::sites::Sites;
use crate::stepping::Stepping;
use crate::sys::{self, Regs, SignalInfo, Tid};
use crate::task::Task;
use crate::uses::Uses;
use crate::watch::Watches;
use invigil_debuginfo::machine::{ARGUMENTS, Inaccessible, Memory, RAX, RBP, RIP, RSP, Registers};
use invigil_debuginfo::program::Program;
use invigil_debuginfo::value::catalog::Catalog;
use invigil_monitor::event::Batch;
use invigil_session::subject::{Done, Ending, Trouble};
use std::sync::Arc;
use std::sync::atomic::AtomicI32;
use std::time::Instant;

/// A native program that runs under control. The thread that made it must be the one that uses it.
pub struct Target {
    pub(crate) engine: Engine,
    pub(crate) program: Program,
    /// What has been read of the program's types.
    pub(crate) types: Catalog,
    pub(crate) uses: Uses,
    pub(crate) plans: Plans,
    pub(crate) points: Points,
    pub(crate) watches: Watches,
    pub(crate) stepping: Option<Stepping>,
    pub(crate) kept: Kept,
    pub(crate) inline: Inline,
    pub(crate) affinity: Affinity,
    /// The events of the last stop.
    pub(crate) batch: Batch,
    /// The thread that commands are about, and its frame.
    pub(crate) current: Tid,
    pub(crate) frame: usize,
    /// The thread that was stopped to be dealt with, and must be let go.
    pub(crate) serving: Option<Tid>,
    /// A signal that the developer is to be told of before it is delivered.
    pub(crate) alert: Option<SignalInfo>,
    /// `syscall; int3` in the program's memory.
    pub(crate) scratch: u64,
    pub(crate) began: Instant,
    /// The same by the clock that probes read, in nanoseconds.
    pub(crate) began_at: u64,
    /// When the last trap was run into.
    pub(crate) now: Instant,
    pub(crate) ended: Option<Ending>,
    /// Whether the program is ours to end.
    pub(crate) launched: bool,
    /// Where the interrupter finds the process, which a restore may change.
    process: Arc<AtomicI32>,
}

/// The program's memory without our traps.
pub(crate) struct View<'a> {
    pub(crate) memory: &'a RawMemory,
    pub(crate) sites: &'a Sites,
}

impl Memory for View<'_> {
    #[inline]
    fn read(&self, at: u64, into: &mut [u8]) -> Result<(), Inaccessible> {
        self.memory.read(at, into)?;
        self.sites.clean(at, into);
        Ok(())
    }
}

/// Registers as debug information numbers them.
pub(crate) fn registers(regs: &Regs) -> Registers {
    use gimli::Register;
    let mut out = Registers::default();
    out.thread_base = regs.fs_base;
    let [rdi, rsi, rdx, rcx, r8, r9] = ARGUMENTS;
    let all = [
        (RAX, regs.rax),
        (rdx, regs.rdx),
        (rcx, regs.rcx),
        (Register(3), regs.rbx),
        (rsi, regs.rsi),
        (rdi, regs.rdi),
        (RBP, regs.rbp),
        (RSP, regs.rsp),
        (r8, regs.r8),
        (r9, regs.r9),
        (Register(10), regs.r10),
        (Register(11), regs.r11),
        (Register(12), regs.r12),
        (Register(13), regs.r13),
        (Register(14), regs.r14),
        (Register(15), regs.r15),
        (RIP, regs.rip),
    ];
    for (register, value) in all {
        out.set(register, Some(value));
    }
    out
}

impl Target {
    /// Starts a program. It stands still before the first of its own instructions, and before the
    /// initialisers of its libraries.
    ///
    /// # Errors
    /// If it cannot be started or controlled; in words.
    pub fn launch(launch: &Launch) -> Done<Target> {
        let process = launch.start()?;
        let first = sys::wait(process, true).map_err(lost)?;
        if let Some((_, status)) = first
            && status.is_gone()
        {
            return Err(Trouble::Ended(Engine::ending(status)));
        }
        let mut engine = Engine::new(process)?;
        let mut task = Task::new(process);
        task.stopped();
        engine.tasks.insert(process, task);
        let mut target = Target::new(engine, true);
        target.inline.probes = launch.probes;
        target.settle_in()?;
        target.run_loader()?;
        Ok(target)
    }

    /// Takes hold of a running process. It stands still where it is.
    ///
    /// # Errors
    /// If there is no such process, or it may not be controlled; in words.
    pub fn attach(process: i32) -> Done<Target> {
        let threads = launch::seize_all(process)?;
        let mut engine = Engine::new(process)?;
        for tid in threads {
            let mut task = Task::new(tid);
            task.signalled = true;
            engine.tasks.insert(tid, task);
        }
        engine.adopt()?;
        let stopped = engine.tasks.values().all(|task| task.listening);
        let mut target = Target::new(engine, false);
        if stopped {
            return Err(Trouble::Subject(format!(
                "cannot attach to {process}: it is stopped; let it go on first (kill -CONT {process})"
            )));
        }
        target.settle_in()?;
        Ok(target)
    }

    fn new(engine: Engine, launched: bool) -> Target {
        let process = engine.process;
        Target {
            engine,
            program: Program::default(),
            types: Catalog::new(),
            uses: Uses::default(),
            plans: Plans::default(),
            points: Points::default(),
            watches: Watches::default(),
            stepping: None,
            kept: Kept::default(),
            inline: Inline::default(),
            affinity: Affinity::default(),
            batch: Batch::default(),
            current: process,
            frame: 0,
            serving: None,
            alert: None,
            scratch: 0,
            began: Instant::now(),
            began_at: invigil_probe::system::now(),
            now: Instant::now(),
            ended: None,
            launched,
            process: Arc::new(AtomicI32::new(process)),
        }
    }

    /// The number of the process.
    pub fn process(&self) -> i32 {
        self.engine.process
    }

    /// Says how events are to be noticed. Before the session starts.
    pub fn notice_by(&mut self, probes: Probes) {
        self.inline.probes = probes;
    }

    /// Where the functions of the program and its libraries begin, and the parts of functions that lie elsewhere, as far as
    /// symbols or the tables for unwinding tell. An event named `*0x401136` happens at such an address.
    pub fn code_starts(&self) -> Vec<u64> {
        self.program.code_starts()
    }

    /// Where a function begins that programs find by this name.
    pub fn address_of(&self, name: &str) -> Option<u64> {
        self.program.symbol(name).map(|symbol| symbol.address)
    }

    pub(crate) fn view(&self) -> View<'_> {
        View { memory: &self.engine.memory, sites: &self.engine.sites }
    }

    /// Says whether functions that are not found may be in libraries that the program loads later. Then they
    /// are pending ([`Unknown::pending`](invigil_session::subject::Unknown)), and their events happen from
    /// then on.
    pub fn expect_libraries(&mut self, expected: bool) {
        self.plans.expects_libraries = expected;
    }
}
