//! A native program under control.

mod mappings;
mod run;
mod signals;
mod termination;

use crate::breakpoints::BreakpointTable;
use crate::checkpoint_table::CheckpointTable;
use crate::cpu_affinity::CpuAffinity;
use crate::events::EventPlans;
use crate::launch::{self, Launch};
use crate::memory::ProcessMemory;
use crate::probes::{ProbeManager, ProbeMode};
use crate::sites::SiteTable;
use crate::stepping::StepState;
use crate::sys::{self, Regs, SignalInfo, Tid};
use crate::traced_thread::TracedThread;
use crate::tracer::{Tracer, trace_error};
use crate::trap_reasons::TrapReasons;
use crate::watchpoints::WatchpointTable;
use invigil_debuginfo::machine::{ARGUMENTS, Inaccessible, Memory, RAX, RBP, RIP, RSP, Registers};
use invigil_debuginfo::program::Program;
use invigil_debuginfo::value::type_index::TypeIndex;
use invigil_monitor::event::EventBatch;
use invigil_target::{TargetError, TargetResult, Termination};
use std::sync::Arc;
use std::sync::atomic::AtomicI32;
use std::time::Instant;

/// A native program under the session's control. All calls must come from the thread that created it.
pub struct NativeTarget {
    pub(crate) tracer: Tracer,
    pub(crate) program: Program,
    /// Types of the program that were read so far.
    pub(crate) types: TypeIndex,
    pub(crate) trap_reasons: TrapReasons,
    pub(crate) plans: EventPlans,
    pub(crate) breakpoints: BreakpointTable,
    pub(crate) watchpoints: WatchpointTable,
    pub(crate) stepping: Option<StepState>,
    pub(crate) checkpoints: CheckpointTable,
    pub(crate) probes: ProbeManager,
    pub(crate) cpu_affinity: CpuAffinity,
    /// Events of the last stop.
    pub(crate) batch: EventBatch,
    /// The selected thread and frame, which commands refer to.
    pub(crate) current: Tid,
    pub(crate) frame: usize,
    /// The thread whose stop is being dispatched, and that must be resumed afterwards.
    pub(crate) event_thread: Option<Tid>,
    /// A signal to report to the user before it is delivered.
    pub(crate) pending_signal: Option<SignalInfo>,
    /// Address of `syscall; int3` in the target's memory.
    pub(crate) scratch: u64,
    pub(crate) started: Instant,
    /// Start time by the clock that probes read, in nanoseconds.
    pub(crate) started_at_nanos: u64,
    /// Time of the last stop at a site.
    pub(crate) stopped_at: Instant,
    pub(crate) termination: Option<Termination>,
    /// Whether the debugger started the process, and kills it at the end.
    pub(crate) launched: bool,
    /// Process id for the interrupt handle; a restore may change it.
    process: Arc<AtomicI32>,
}

/// The target's memory as the program sees it: traps and jumps are masked.
pub(crate) struct CleanMemory<'a> {
    pub(crate) memory: &'a ProcessMemory,
    pub(crate) sites: &'a SiteTable,
}

impl Memory for CleanMemory<'_> {
    #[inline]
    fn read(&self, at: u64, into: &mut [u8]) -> Result<(), Inaccessible> {
        self.memory.read(at, into)?;
        self.sites.mask_traps(at, into);
        Ok(())
    }
}

/// Converts registers to DWARF numbering.
pub(crate) fn to_dwarf_registers(regs: &Regs) -> Registers {
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

impl NativeTarget {
    /// Starts a program. It is stopped before its first instruction, and before the initialisers of its libraries.
    ///
    /// # Errors
    /// If the program cannot be started or controlled.
    pub fn launch(launch: &Launch) -> TargetResult<NativeTarget> {
        let process = launch.start()?;
        let first = sys::wait(process, true).map_err(trace_error)?;
        if let Some((_, status)) = first
            && status.has_exited()
        {
            return Err(TargetError::Ended(Tracer::termination(status)));
        }
        let mut tracer = Tracer::new(process)?;
        let mut thread = TracedThread::new(process);
        thread.mark_stopped();
        tracer.threads.insert(process, thread);
        let mut target = NativeTarget::new(tracer, true);
        target.probes.mode = launch.probes;
        target.set_up_program()?;
        target.run_loader()?;
        Ok(target)
    }

    /// Attaches to a running process and stops it where it is.
    ///
    /// # Errors
    /// If there is no such process, or it may not be controlled.
    pub fn attach(process: i32) -> TargetResult<NativeTarget> {
        let threads = launch::seize_all(process)?;
        let mut tracer = Tracer::new(process)?;
        for tid in threads {
            let mut thread = TracedThread::new(tid);
            thread.may_be_in_handler = true;
            tracer.threads.insert(tid, thread);
        }
        tracer.adopt_threads()?;
        let stopped = tracer.threads.values().all(|thread| thread.group_stopped);
        let mut target = NativeTarget::new(tracer, false);
        if stopped {
            return Err(TargetError::Control(format!(
                "cannot attach to {process}: it is stopped; continue it first (kill -CONT {process})"
            )));
        }
        target.set_up_program()?;
        Ok(target)
    }

    fn new(tracer: Tracer, launched: bool) -> NativeTarget {
        let process = tracer.process;
        NativeTarget {
            tracer,
            program: Program::default(),
            types: TypeIndex::new(),
            trap_reasons: TrapReasons::default(),
            plans: EventPlans::default(),
            breakpoints: BreakpointTable::default(),
            watchpoints: WatchpointTable::default(),
            stepping: None,
            checkpoints: CheckpointTable::default(),
            probes: ProbeManager::default(),
            cpu_affinity: CpuAffinity::default(),
            batch: EventBatch::default(),
            current: process,
            frame: 0,
            event_thread: None,
            pending_signal: None,
            scratch: 0,
            started: Instant::now(),
            started_at_nanos: invigil_probe::system::now(),
            stopped_at: Instant::now(),
            termination: None,
            launched,
            process: Arc::new(AtomicI32::new(process)),
        }
    }

    /// Id of the process.
    pub fn process(&self) -> i32 {
        self.tracer.process
    }

    /// Sets how events are observed. Call this before the session starts.
    pub fn set_probe_mode(&mut self, probes: ProbeMode) {
        self.probes.mode = probes;
    }

    /// Start addresses of the functions of the program and its libraries, cold parts included, according to symbols
    /// and unwind tables. An event named `*0x401136` occurs at such an address.
    pub fn function_starts(&self) -> Vec<u64> {
        self.program.code_starts()
    }

    /// Address of the function that a linker would find by this name.
    pub fn address_of(&self, name: &str) -> Option<u64> {
        self.program.symbol(name).map(|symbol| symbol.address)
    }

    pub(crate) fn clean_memory(&self) -> CleanMemory<'_> {
        CleanMemory { memory: &self.tracer.memory, sites: &self.tracer.sites }
    }

    /// Sets whether events whose functions are not found are pending
    /// ([`UnresolvedEvent::pending`](invigil_target::UnresolvedEvent)): they occur once a library that
    /// defines the function is loaded.
    pub fn allow_pending_events(&mut self, allow: bool) {
        self.plans.allow_pending = allow;
    }
}
