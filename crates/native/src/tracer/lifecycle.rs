//! Creation, exec and exit of threads and processes.

use super::{TraceStop, Tracer, ignore_exited, trace_error};
use crate::memory::ProcessMemory;
use crate::sys::{self, Tid, WaitStatus};
use crate::traced_thread::TracedThread;
use crate::watchpoints::hardware;
use invigil_target::TargetResult;

impl Tracer {
    /// Handles the creation of a thread or process. Its parent stays stopped.
    pub(super) fn on_clone(&mut self, tid: Tid, event: i32) -> TargetResult<Option<TraceStop>> {
        let Ok(message) = sys::event_message(tid) else { return Ok(None) };
        let child = message as Tid;
        // The child stops before its first instruction. Wait for that, so that none of its events is missed.
        let first_status = match self.early_stops.iter().position(|(known, _)| *known == child) {
            Some(at) => Some(self.early_stops.swap_remove(at).1),
            None => sys::wait(child, true).ok().flatten().map(|(_, status)| status),
        };
        if first_status.is_none_or(WaitStatus::has_exited) {
            // It was killed at once. A process has been created all the same.
            let is_process = event != libc::PTRACE_EVENT_CLONE;
            return Ok(is_process.then_some(TraceStop::Fork { tid, child }));
        }
        let is_thread = event == libc::PTRACE_EVENT_CLONE && self.is_thread(child);
        let shares_memory = self.child_shares_memory(tid).unwrap_or(event != libc::PTRACE_EVENT_FORK);
        if is_thread || shares_memory {
            let mut thread = TracedThread::new(child);
            thread.running = false;
            thread.is_foreign_process = !is_thread;
            thread.start_unreported = is_thread;
            self.threads.insert(child, thread);
            self.publish_threads(is_thread)?;
        }
        if event == libc::PTRACE_EVENT_VFORK
            && let Some(parent) = self.threads.get_mut(&tid)
        {
            parent.vfork_child = Some(child);
        }
        if is_thread {
            return Ok(Some(TraceStop::ThreadStarted { tid: child }));
        }
        Ok(Some(TraceStop::Fork { tid, child }))
    }

    /// Publishes a new thread, or the number of processes that share the memory, to the probe library.
    pub(super) fn publish_threads(&mut self, is_thread: bool) -> TargetResult {
        self.threads_created += u32::from(is_thread);
        let Some(agent) = &self.agent else { return Ok(()) };
        match is_thread {
            true => agent.publish_thread_created(self.threads_created),
            false => {
                let foreign = self.threads.values().filter(|thread| thread.is_foreign_process).count();
                agent.set_foreign_processes(foreign as u32)
            }
        }
    }

    /// Lets a new thread run with the others, once its creation was reported.
    pub(crate) fn admit_thread(&mut self, tid: Tid) {
        let Some(thread) = self.threads.get_mut(&tid) else { return };
        thread.start_unreported = false;
        if self.debug_registers.iter().any(Option::is_some) {
            // Irrelevant for a thread that has exited.
            let _ = hardware::arm(tid, &self.debug_registers);
        }
    }

    /// Resumes or detaches a new process.
    pub(crate) fn release_child(&mut self, child: Tid) -> TargetResult {
        if self.threads.contains_key(&child) {
            return self.cont(child);
        }
        // A copy of the target with copies of the traps: remove them and detach.
        if let Ok(memory) = ProcessMemory::open(child) {
            self.sites.restore_original_code(&memory);
        }
        ignore_exited(sys::detach(child, 0))
    }

    /// Whether the process or thread that `tid` is creating shares its memory, according to the flags of the system
    /// call. The kernel's event is not enough. `None` if the flags cannot be read.
    fn child_shares_memory(&mut self, tid: Tid) -> Option<bool> {
        let regs = self.threads.get_mut(&tid)?.registers().ok()?;
        let flags = match regs.orig_rax as i64 {
            libc::SYS_clone => regs.rdi,
            libc::SYS_clone3 => {
                let mut flags = [0; 8];
                self.memory.read(regs.rdi, &mut flags).ok()?;
                u64::from_le_bytes(flags)
            }
            libc::SYS_fork => 0,
            libc::SYS_vfork => libc::CLONE_VM as u64,
            _ => return None,
        };
        Some(flags & libc::CLONE_VM as u64 != 0)
    }

    pub(super) fn is_thread(&self, tid: Tid) -> bool {
        std::path::Path::new(&format!("/proc/{}/task/{tid}", self.process)).exists()
    }

    pub(super) fn on_exec(&mut self, tid: Tid) -> TargetResult<Option<TraceStop>> {
        if tid != self.process {
            // A process that shared the target's memory has its own now.
            self.threads.remove(&tid);
            self.publish_threads(false)?;
            ignore_exited(sys::detach(tid, 0))?;
            return Ok(None);
        }
        self.threads.retain(|other, thread| *other == tid || thread.is_foreign_process);
        self.memory = ProcessMemory::open(self.process).map_err(trace_error)?;
        self.sites.clear();
        // After exec, the calling thread continues under the id of the leader, which may have exited before. Nothing
        // known about either holds for the new program.
        let mut thread = TracedThread::new(tid);
        thread.mark_stopped();
        self.threads.insert(tid, thread);
        self.threads_with_pending_stop.clear();
        Ok(Some(TraceStop::Exec { tid }))
    }

    pub(super) fn on_exit(&mut self, tid: Tid, status: WaitStatus) -> Option<TraceStop> {
        let removed = self.threads.remove(&tid);
        if removed.as_ref().is_some_and(|thread| thread.is_foreign_process) {
            // If the target has died, the library does not need the number.
            let _ = self.publish_threads(false);
        }
        if tid == self.process {
            return Some(TraceStop::ProcessExited { status });
        }
        removed.filter(|thread| !thread.is_foreign_process).map(|_| TraceStop::ThreadExited { tid })
    }
}
