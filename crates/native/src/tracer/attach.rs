//! Attaching and detaching threads, and replacing them with those of a restored checkpoint.

use super::{TraceStop, Tracer, ignore_exited};
use crate::memory::ProcessMemory;
use crate::sites::CopyPosition;
use crate::sys::{self, Tid};
use crate::traced_thread::TracedThread;
use invigil_target::pending_owners::OwnerSet;
use invigil_target::{Owner, TargetResult};
use std::sync::atomic::Ordering;

impl Tracer {
    /// Waits for threads that were just seized, and stops them all.
    pub(crate) fn adopt_threads(&mut self) -> TargetResult {
        self.wait_for_all()?;
        self.all_stopped = false;
        self.stop_all()
    }

    /// Moves a stopped thread to its logical address: at the trap, not after it or in a displaced copy.
    pub(crate) fn normalize_pc(&mut self, tid: Tid) -> TargetResult {
        let Some(thread) = self.threads.get_mut(&tid) else { return Ok(()) };
        if thread.running || thread.zombie || thread.group_stopped {
            return Ok(());
        }
        if let Some(id) = thread.at_site {
            let address = self.sites.get(id).address;
            return ignore_exited(thread.write_back_registers().and_then(|()| thread.set_pc(address)));
        }
        self.leave_trampoline(tid)?;
        let Some(thread) = self.threads.get_mut(&tid).filter(|thread| thread.at_site.is_none()) else {
            return Ok(());
        };
        let Ok(pc) = thread.pc() else { return Ok(()) };
        match self.sites.copy_position(pc) {
            Some(CopyPosition::Before(id)) => {
                thread.at_site = Some(id);
                thread.notified = OwnerSet::of(Owner::User).with(Owner::Scenario).with(Owner::Monitors);
                ignore_exited(thread.set_pc(self.sites.get(id).address))
            }
            Some(CopyPosition::After(address)) => ignore_exited(thread.set_pc(address)),
            None => Ok(()),
        }
    }

    /// Detaches a thread. The traps must already have been removed. If `interrupted` is set, a SIGSTOP sent by the
    /// debugger may be pending.
    pub(crate) fn detach_thread(&mut self, tid: Tid, interrupted: bool) {
        let Some(mut thread) = self.threads.remove(&tid) else { return };
        if thread.running {
            // A separate process that only shares the target's memory (`CLONE_VM`); it was not stopped.
            let stopped = sys::interrupt(tid).and_then(|()| sys::wait(tid, true));
            thread.pending_status = stopped.ok().flatten().map(|(_, status)| status);
            thread.mark_stopped();
            if let (Some(status), Ok(pc)) = (thread.pending_status, thread.pc())
                && status.is_plain_trap()
                && self.sites.at(pc.wrapping_sub(1)).is_some()
            {
                let _ = thread.set_pc(pc.wrapping_sub(1));
            }
        }
        let _ = thread.write_back_registers();
        let signal = match thread.pending_status.take() {
            Some(status) if status.has_exited() => return,
            Some(status) if status.event() == libc::PTRACE_EVENT_STOP => 0,
            Some(status) if status.event() != 0 => {
                self.detach_child_of(tid, status.event());
                0
            }
            Some(status) => status.signal() & 0x7f,
            None => thread.signal,
        };
        let is_from_debugger = signal == libc::SIGTRAP || signal == libc::SIGSTOP && interrupted;
        let _ = sys::detach(tid, if is_from_debugger { 0 } else { signal });
    }

    /// Detaches the thread or process that a thread has just created: the kernel traces it automatically.
    pub(super) fn detach_child_of(&mut self, tid: Tid, event: i32) {
        if !matches!(event, libc::PTRACE_EVENT_CLONE | libc::PTRACE_EVENT_FORK | libc::PTRACE_EVENT_VFORK) {
            return;
        }
        let Ok(child) = sys::event_message(tid).map(|message| message as Tid) else { return };
        if !self.early_stops.iter().any(|(known, _)| *known == child) {
            let _ = sys::wait(child, true);
        }
        // Only a fork has a copy of the traps. A `vfork` child or a clone shares the target's memory, so its traps must
        // stay.
        if let (libc::PTRACE_EVENT_FORK, Ok(memory)) = (event, ProcessMemory::open(child)) {
            self.sites.restore_original_code(&memory);
        }
        let _ = sys::detach(child, 0);
    }

    /// Removes all threads: the process has exited or is replaced, and its stops must not be reported.
    pub(crate) fn forget_threads(&mut self) {
        self.threads.clear();
        self.threads_with_pending_stop.clear();
        self.queued_stops.clear();
        self.early_stops.clear();
    }

    /// Switches to a restored process. Its threads are added afterwards.
    pub(crate) fn switch_process(&mut self, process: Tid, memory: ProcessMemory) {
        self.process = process;
        self.memory = memory;
        self.forget_threads();
        // An interrupt may have been pending for the process that was replaced.
        self.interrupt_requested.store(false, Ordering::SeqCst);
        self.all_stopped = true;
    }

    /// Adds a thread of a restored checkpoint.
    pub(crate) fn add_restored_thread(&mut self, thread: TracedThread) {
        if thread.start_unreported {
            self.queued_stops.push_back(TraceStop::ThreadStarted { tid: thread.tid });
        }
        if thread.pending_status.is_some() {
            self.threads_with_pending_stop.push_back(thread.tid);
        }
        self.threads.insert(thread.tid, thread);
    }
}
