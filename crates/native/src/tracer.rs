//! The tracer: waits for threads of the target, classifies their stops, and resumes or stops them.
//!
//! A thread that hits a site stops by itself. The others run on until the debugger needs the whole target stopped
//! ([`Tracer::stop_all`]). A stopped thread stays stopped until it is resumed. So if one event happens before another
//! through the target's own synchronisation, it is reported first: the second thread cannot get there before the
//! first is resumed.
//!
//! A thread that hits a trap while all threads are being stopped is moved back before the trap, and hits it again
//! when it is resumed. So no hit is lost or reported twice, and checkpoints need not know of it.

mod attach;
mod lifecycle;
mod stop_all;

use crate::inject::raw;
use crate::memory::ProcessMemory;
use crate::probes::agent::Agent;
use crate::probes::quiesce::ThreadExit;
use crate::sites::{SiteId, SiteTable};
use crate::sys::{self, SignalInfo, Tid, WaitStatus};
use crate::traced_thread::TracedThread;
use crate::watchpoints::hardware::{DebugRegister, REGISTERS};
use invigil_target::pending_owners::OwnerSet;
use invigil_target::{TargetError, TargetResult, Termination};
use nix::unistd::Pid;
use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Polling interval for a target that cannot wake the debugger.
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// `si_code` of a bad access: unmapped memory, or no permission.
const SEGV_MAPERR: i32 = 1;
const SEGV_ACCERR: i32 = 2;

/// A decoded ptrace stop.
#[derive(Clone, Copy, Debug)]
pub(crate) enum TraceStop {
    /// The thread hit a trap site.
    SiteHit { tid: Tid, site: SiteId },
    /// A probe processed an event, and the embedded monitors require a reaction.
    ReactionDue { tid: Tid },
    /// The thread executed one instruction, or a debug register matched.
    Stepped { tid: Tid },
    /// A signal is about to be delivered to the thread.
    Signal { tid: Tid, info: SignalInfo },
    /// A thread was created.
    ThreadStarted { tid: Tid },
    /// The thread has exited.
    ThreadExited { tid: Tid },
    /// The thread created a process.
    Fork { tid: Tid, child: Tid },
    /// The process executed another program.
    Exec { tid: Tid },
    /// The thread enters or leaves a system call.
    Syscall { tid: Tid, entering: bool },
    /// All threads were stopped for an internal reason, and may be resumed.
    AllStopped,
    /// The user asked to interrupt the target.
    Interrupted { tid: Tid },
    /// The process has exited.
    ProcessExited { status: WaitStatus },
}

/// The tracer of a process: its threads, its memory, and the sites in it.
pub(crate) struct Tracer {
    pub(crate) process: Tid,
    /// The threads of the target, and those of processes that share its memory.
    pub(crate) threads: BTreeMap<Tid, TracedThread>,
    pub(crate) memory: ProcessMemory,
    pub(crate) sites: SiteTable,
    /// The probe library in the target.
    pub(crate) agent: Option<Agent>,
    /// Number of threads created so far.
    threads_created: u32,
    /// Threads whose first stop was reported before their creation.
    early_stops: Vec<(Tid, WaitStatus)>,
    /// Threads that stopped while all threads were being stopped, in order; the stop is their `pending_status`.
    pub(crate) threads_with_pending_stop: VecDeque<Tid>,
    /// Stops that occurred while all threads were being stopped and are not handled yet.
    pub(crate) queued_stops: VecDeque<TraceStop>,
    /// What the debug registers of every thread watch.
    pub(crate) debug_registers: [Option<DebugRegister>; REGISTERS],
    /// Set to interrupt the target.
    pub(crate) interrupt_requested: Arc<AtomicBool>,
    /// Whether system calls are reported.
    pub(crate) trace_syscalls: bool,
    /// Whether all threads are stopped.
    all_stopped: bool,
}

/// Ignores `ESRCH`, the kernel's answer for a thread that was killed: its exit is reported separately.
fn ignore_exited(result: io::Result<()>) -> TargetResult {
    match result {
        Err(error) if error.raw_os_error() != Some(libc::ESRCH) => {
            Err(TargetError::Control(format!("cannot control the program: {error}")))
        }
        _ => Ok(()),
    }
}

/// Whether the signal that a thread stops with was raised by its own last instruction.
fn has_synchronous_signal(tid: Tid) -> bool {
    let info = raw::signal_info(Pid::from_raw(tid));
    info.is_ok_and(|info| {
        info.code() > 0
            && matches!(
                info.signal(),
                libc::SIGTRAP | libc::SIGSEGV | libc::SIGBUS | libc::SIGILL | libc::SIGFPE
            )
    })
}

/// Converts an error of ptrace or of an access to the target.
pub(crate) fn trace_error(error: io::Error) -> TargetError {
    TargetError::Control(format!("cannot control the program: {error}"))
}

impl Tracer {
    pub(crate) fn new(process: Tid) -> TargetResult<Tracer> {
        let memory = ProcessMemory::open(process).map_err(trace_error)?;
        Ok(Tracer {
            process,
            threads: BTreeMap::new(),
            memory,
            sites: SiteTable::default(),
            agent: None,
            threads_created: 1,
            early_stops: Vec::new(),
            threads_with_pending_stop: VecDeque::new(),
            queued_stops: VecDeque::new(),
            debug_registers: Default::default(),
            interrupt_requested: Arc::new(AtomicBool::new(false)),
            trace_syscalls: false,
            all_stopped: true,
        })
    }

    pub(crate) fn thread(&mut self, tid: Tid) -> TargetResult<&mut TracedThread> {
        self.threads.get_mut(&tid).ok_or_else(|| TargetError::Request(format!("there is no thread {tid}")))
    }

    /// Waits for the next stop that concerns the debugger. Its thread is stopped; others may run.
    pub(crate) fn next_stop(&mut self) -> TargetResult<TraceStop> {
        loop {
            if let Some(stop) = self.queued_stops.pop_front() {
                return Ok(stop);
            }
            let (tid, status) = match self.next_pending_stop() {
                Some(pending) => pending,
                None => match self.wait_status()? {
                    Some(stop) => stop,
                    None => return Ok(TraceStop::Interrupted { tid: self.process }),
                },
            };
            if let Some(trace_stop) = self.classify(tid, status)? {
                return Ok(trace_stop);
            }
        }
    }

    /// Waits for a wait status; `None` if the user interrupts a target that cannot report it itself.
    fn wait_status(&mut self) -> TargetResult<Option<(Tid, WaitStatus)>> {
        // While job control has stopped the target, it takes no signals, not even the one that interrupts it.
        while self.threads.values().all(|thread| thread.group_stopped || thread.is_foreign_process) {
            if let Some(stop) = sys::wait(-1, false).map_err(trace_error)? {
                return Ok(Some(stop));
            }
            if self.interrupt_requested.swap(false, Ordering::SeqCst) {
                return Ok(None);
            }
            std::thread::sleep(POLL_INTERVAL);
        }
        sys::wait(-1, true).map_err(trace_error)
    }

    /// Removes and returns the first pending stop.
    fn next_pending_stop(&mut self) -> Option<(Tid, WaitStatus)> {
        while let Some(tid) = self.threads_with_pending_stop.pop_front() {
            let status = self.threads.get_mut(&tid).and_then(|thread| thread.pending_status.take());
            if let Some(status) = status {
                return Some((tid, status));
            }
        }
        None
    }

    /// Decodes a stop. `None` if it does not concern the debugger; the thread has then been resumed.
    fn classify(&mut self, tid: Tid, status: WaitStatus) -> TargetResult<Option<TraceStop>> {
        if status.has_exited() {
            return Ok(self.on_exit(tid, status));
        }
        let Some(thread) = self.threads.get_mut(&tid) else {
            self.early_stops.push((tid, status));
            return Ok(None);
        };
        thread.mark_stopped();
        if status.is_plain_trap() {
            return self.classify_trap(tid);
        }
        if status.is_syscall() {
            let pc = thread.pc();
            if pc.is_ok_and(|pc| self.is_in_agent(pc)) {
                // A system call of the probe library.
                self.cont(tid)?;
                return Ok(None);
            }
            return Ok(sys::enters_syscall(tid).ok().map(|entering| TraceStop::Syscall { tid, entering }));
        }
        match status.event() {
            0 => self.classify_signal(tid, status),
            libc::PTRACE_EVENT_CLONE | libc::PTRACE_EVENT_FORK | libc::PTRACE_EVENT_VFORK => {
                let stop = self.on_clone(tid, status.event())?;
                if !matches!(stop, Some(TraceStop::Fork { .. })) {
                    self.cont(tid)?;
                }
                Ok(stop)
            }
            libc::PTRACE_EVENT_EXEC => self.on_exec(tid),
            libc::PTRACE_EVENT_STOP => {
                let signal = status.signal();
                // A job-control stop; otherwise the end of one, or an interrupt that is no longer needed.
                thread.group_stopped =
                    matches!(signal, libc::SIGSTOP | libc::SIGTSTP | libc::SIGTTIN | libc::SIGTTOU);
                self.cont(tid)?;
                Ok(None)
            }
            _ => {
                self.cont(tid)?;
                Ok(None)
            }
        }
    }

    /// Decodes the stop of a thread by a trap: at a site, in the library, or after a single step.
    fn classify_trap(&mut self, tid: Tid) -> TargetResult<Option<TraceStop>> {
        match self.on_agent_trap(tid)? {
            None => {}
            Some(ThreadExit::ReactionDue) => return Ok(Some(TraceStop::ReactionDue { tid })),
            Some(exit) => {
                if exit == ThreadExit::Pending {
                    if let Some(site) = self.site_needing_debugger(tid)? {
                        let thread = self.thread(tid)?;
                        (thread.at_site, thread.notified) = (Some(site), OwnerSet::default());
                        return Ok(Some(TraceStop::SiteHit { tid, site }));
                    }
                    self.retry_at_probe(tid)?;
                }
                self.cont(tid)?;
                return Ok(None);
            }
        }
        let Some(thread) = self.threads.get_mut(&tid) else { return Ok(None) };
        let pc =
            if thread.prefetch_registers { thread.registers().map(|regs| regs.rip) } else { thread.pc() };
        let Ok(pc) = pc else { return Ok(None) };
        let trap_address = pc.wrapping_sub(1);
        if let Some(id) = self.sites.at(trap_address)
            && !thread.single_step
            && (self.sites.get(id).inserted && !self.debug_registers.iter().any(Option::is_some)
                || sys::signal_info(tid).is_ok_and(|info| info.code == libc::SI_KERNEL))
        {
            thread.assume_pc(trap_address);
            thread.at_site = Some(id);
            thread.notified = OwnerSet::default();
            if thread.is_foreign_process || !self.sites.get(id).inserted {
                // Not a thread of the target, or the trap was removed after the thread hit it.
                self.cont(tid)?;
                return Ok(None);
            }
            return Ok(Some(TraceStop::SiteHit { tid, site: id }));
        }
        let Ok(info) = sys::signal_info(tid) else { return Ok(None) };
        match info.code {
            // A single step, a debug-register match, or (reported with the signal's own number) the entry of a signal
            // handler.
            libc::TRAP_TRACE | libc::TRAP_HWBKPT | libc::SIGTRAP => {
                thread.single_step = false;
                Ok(Some(TraceStop::Stepped { tid }))
            }
            // A trap while stepping.
            libc::SI_KERNEL if thread.single_step && self.sites.at(trap_address).is_some() => {
                thread.single_step = false;
                self.classify_trap(tid)
            }
            _ if thread.is_foreign_process => {
                thread.signal = libc::SIGTRAP;
                self.cont(tid)?;
                Ok(None)
            }
            _ => Ok(Some(TraceStop::Signal { tid, info })),
        }
    }

    /// Decodes the stop of a thread to which a signal is about to be delivered.
    fn classify_signal(&mut self, tid: Tid, status: WaitStatus) -> TargetResult<Option<TraceStop>> {
        if self.skip_bad_read(tid, status)? {
            self.cont(tid)?;
            return Ok(None);
        }
        let signal = status.signal();
        let is_in_agent = self.agent.is_some() && self.thread(tid)?.pc().is_ok_and(|pc| self.is_in_agent(pc));
        // A process that only shares the memory is let through.
        if is_in_agent && !self.thread(tid)?.is_foreign_process && !has_synchronous_signal(tid) {
            // The thread leaves the library before the signal is delivered, and so do all others: they may wait for
            // each other there.
            self.thread(tid)?.pending_status = Some(status);
            self.threads_with_pending_stop.push_front(tid);
            self.stop_all()?;
            return Ok(Some(TraceStop::AllStopped));
        }
        let Ok(info) = sys::signal_info(tid) else { return Ok(None) };
        if let Some(thread) = self.threads.get_mut(&tid)
            && thread.is_foreign_process
            // Unless it may have accessed a protected page of the memory that it shares.
            && !(signal == libc::SIGSEGV && matches!(info.code, SEGV_MAPERR | SEGV_ACCERR))
        {
            thread.signal = signal;
            self.cont(tid)?;
            return Ok(None);
        }
        // The debugger interrupts with a SIGSTOP, which no program can block.
        let is_from_debugger = signal == libc::SIGSTOP && info.sender == std::process::id() as i32;
        if is_from_debugger {
            if self.interrupt_requested.swap(false, Ordering::SeqCst) {
                return Ok(Some(TraceStop::Interrupted { tid }));
            }
            self.cont(tid)?;
            return Ok(None);
        }
        Ok(Some(TraceStop::Signal { tid, info: SignalInfo { number: signal, ..info } }))
    }

    /// Handles a stop of a thread that other code had resumed; it is reported later.
    pub(crate) fn on_other_stop(&mut self, tid: Tid, status: WaitStatus) -> TargetResult {
        self.on_stop_while_stopping(tid, status)
    }

    /// Describes how the process ended.
    pub(crate) fn termination(status: WaitStatus) -> Termination {
        match (status.exit_code(), status.kill_signal()) {
            (Some(code), _) => Termination::Exited(code),
            (_, Some((signal, core))) => Termination::Killed { signal: signal_name(signal), core },
            _ => Termination::Exited(0),
        }
    }
}

/// Name of a signal.
pub(crate) fn signal_name(number: i32) -> String {
    match nix::sys::signal::Signal::try_from(number) {
        Ok(signal) => signal.as_str().to_owned(),
        Err(_) if number >= libc::SIGRTMIN() => format!("SIGRTMIN+{}", number - libc::SIGRTMIN()),
        Err(_) => format!("signal {number}"),
    }
}
