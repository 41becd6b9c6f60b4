//! Resuming threads, and stopping all of them.

use super::{SEGV_ACCERR, SEGV_MAPERR, TraceStop, Tracer, ignore_exited, trace_error};
use crate::inject::raw;
use crate::probes::quiesce::ThreadExit;
use crate::sys::{self, ResumeRequest, Tid, WaitStatus};
use invigil_target::TargetResult;
use invigil_target::pending_owners::OwnerSet;
use nix::unistd::Pid;
use std::time::Duration;

/// Whether a thread has a pending signal that its own last instruction raised: a trap or a bad access.
fn has_pending_fault(tid: Tid) -> bool {
    let pending = raw::pending(Pid::from_raw(tid), false).unwrap_or_default();
    pending.iter().any(|signal| signal.code() > 0 && matches!(signal.signal(), libc::SIGTRAP | libc::SIGSEGV))
}

impl Tracer {
    /// Resumes a thread. If it is at a trap, it executes the displaced copy of the instruction.
    pub(crate) fn cont(&mut self, tid: Tid) -> TargetResult {
        self.all_stopped = false;
        let syscalls = self.trace_syscalls;
        let Some(thread) = self.threads.get_mut(&tid) else { return Ok(()) };
        if thread.running || thread.start_unreported || thread.zombie || thread.pending_status.is_some() {
            return Ok(());
        }
        if thread.group_stopped {
            // It stays in its job-control stop until it is continued.
            thread.running = true;
            return ignore_exited(thread.write_back_registers().and_then(|()| sys::listen(tid)));
        }
        if let Some(id) = thread.at_site.take() {
            let site = self.sites.get(id);
            ignore_exited(thread.write_back_registers())?;
            let pc = match &site.jump {
                Some(jump) if site.jump_active => jump.resume_at,
                _ if site.inserted => site.slot,
                _ => site.address,
            };
            ignore_exited(sys::set_pc(tid, pc))?;
            thread.notified = OwnerSet::default();
        } else {
            ignore_exited(thread.write_back_registers())?;
            if !thread.single_step && self.agent.is_some() && (thread.signal != 0 || self.sites.has_jumps()) {
                // The thread must not be in the middle of a probe's jump, neither now nor when a signal handler
                // returns.
                let is_interrupted = thread.signal != 0;
                let pc = thread.pc().ok().and_then(|pc| self.sites.relocate_pc(pc, is_interrupted));
                ignore_exited(pc.map_or(Ok(()), |pc| thread.set_pc(pc)))?;
            }
        }
        let request = match (thread.single_step, syscalls && !thread.is_foreign_process) {
            (true, _) => ResumeRequest::SingleStep,
            (_, true) => ResumeRequest::ToSyscall,
            _ => ResumeRequest::Continue,
        };
        let signal = std::mem::take(&mut thread.signal);
        thread.may_be_in_handler |= signal != 0;
        thread.running = true;
        ignore_exited(sys::resume(tid, request, signal))
    }

    /// Resumes all threads.
    pub(crate) fn cont_all(&mut self) -> TargetResult {
        let all: Vec<Tid> = self.threads.keys().copied().collect();
        all.into_iter().try_for_each(|tid| self.cont(tid))
    }

    /// Whether all threads are stopped.
    pub(crate) fn is_all_stopped(&self) -> bool {
        self.all_stopped
    }

    /// Stops all threads, each at its logical address.
    pub(crate) fn stop_all(&mut self) -> TargetResult {
        if self.all_stopped {
            return Ok(());
        }
        // Also without active jumps: a signal handler may have returned to a trampoline.
        let agent = self.agent.as_ref().filter(|_| !self.sites.trampolines.is_empty());
        let is_probed = agent.is_some();
        if let Some(agent) = agent {
            agent.freeze(true)?;
            agent.trap_exits(true)?;
        }
        for thread in self.threads.values().filter(|thread| thread.running && !thread.is_foreign_process) {
            ignore_exited(sys::interrupt(thread.tid))?;
        }
        self.wait_for_all()?;
        if is_probed {
            self.quiesce()?;
        }
        for tid in self.threads.keys().copied().collect::<Vec<_>>() {
            self.normalize_pc(tid)?;
        }
        if let Some(agent) = self.agent.as_ref().filter(|_| is_probed) {
            agent.trap_exits(false)?;
            self.sites.remove_jumps(&self.memory);
        }
        self.all_stopped = true;
        Ok(())
    }

    /// Waits until every thread is stopped. All running threads have been interrupted.
    pub(super) fn wait_for_all(&mut self) -> TargetResult {
        let mut pause = Duration::from_micros(10);
        loop {
            let running = self.threads.values().filter(|thread| thread.running && !thread.is_foreign_process);
            // A thread that waits for a stopped `vfork` child cannot be stopped.
            let mut running = running.filter(|thread| {
                let child = thread.vfork_child.and_then(|child| self.threads.get(&child));
                child.is_none_or(|child| child.running)
            });
            let (first, second) = (running.next().map(|thread| thread.tid), running.next());
            let Some(first) = first else { return Ok(()) };
            // The leader may have exited while others run: its exit is not reported before theirs.
            let may_have_exited = second.is_none() && first == self.process && self.threads.len() > 1;
            match sys::wait(-1, !may_have_exited).map_err(trace_error)? {
                Some((tid, status)) => self.on_stop_while_stopping(tid, status)?,
                None if self.is_zombie(first) => self.thread(first)?.mark_zombie(),
                None => {
                    std::thread::sleep(pause);
                    pause = (pause * 2).min(Duration::from_millis(1));
                }
            }
        }
    }

    /// Whether a thread is a zombie, whose exit was not reported yet.
    pub(super) fn is_zombie(&self, tid: Tid) -> bool {
        let stat = std::fs::read_to_string(format!("/proc/{}/task/{tid}/stat", self.process));
        stat.is_ok_and(|stat| stat.rsplit_once(')').is_some_and(|(_, rest)| rest.starts_with(" Z")))
    }

    /// Handles a stop while all threads are being stopped.
    pub(super) fn on_stop_while_stopping(&mut self, tid: Tid, status: WaitStatus) -> TargetResult {
        if status.has_exited() {
            let stop = self.on_exit(tid, status);
            self.queued_stops.extend(stop);
            return Ok(());
        }
        let Some(thread) = self.threads.get_mut(&tid) else {
            self.early_stops.push((tid, status));
            return Ok(());
        };
        if thread.is_foreign_process {
            // A process that shares the memory may keep a thread from stopping (`vfork`): resume it.
            return match self.classify(tid, status)? {
                Some(TraceStop::Fork { tid, child }) => {
                    self.release_child(child)?;
                    self.cont(tid)
                }
                stop => {
                    self.queued_stops.extend(stop);
                    Ok(())
                }
            };
        }
        thread.mark_stopped();
        thread.group_stopped = false;
        if status.event() == libc::PTRACE_EVENT_STOP {
            thread.group_stopped = status.signal() != libc::SIGTRAP;
            if !thread.group_stopped && has_pending_fault(tid) {
                // It was interrupted just after its instruction raised a signal, which is not reported yet.
                thread.running = true;
                return ignore_exited(sys::resume(tid, ResumeRequest::Continue, 0));
            }
            return Ok(());
        }
        if matches!(
            status.event(),
            libc::PTRACE_EVENT_CLONE | libc::PTRACE_EVENT_FORK | libc::PTRACE_EVENT_VFORK
        ) {
            // The new thread is stopped too.
            let stop = self.on_clone(tid, status.event())?;
            self.queued_stops.extend(stop);
            return Ok(());
        }
        if status.is_plain_trap()
            && let Some(exit) = self.on_agent_trap(tid)?
        {
            if exit == ThreadExit::ReactionDue {
                self.queued_stops.push_back(TraceStop::ReactionDue { tid });
            }
            return Ok(());
        }
        if self.skip_bad_read(tid, status)? {
            // It leaves the library with the others.
            return Ok(());
        }
        let Some(thread) = self.threads.get_mut(&tid) else { return Ok(()) };
        let info = sys::signal_info(tid).ok();
        if let Some(info) = info
            && status.event() == 0
        {
            if status.is_plain_trap()
                && info.code == libc::SI_KERNEL
                && let Ok(pc) = thread.pc()
                && self.sites.at(pc.wrapping_sub(1)).is_some()
            {
                thread.single_step = false;
                return ignore_exited(thread.set_pc(pc.wrapping_sub(1)));
            }
            // It repeats the access when it is resumed; the page may be open by then.
            if status.signal() == libc::SIGSEGV && matches!(info.code, SEGV_MAPERR | SEGV_ACCERR) {
                return Ok(());
            }
        }
        thread.pending_status = Some(status);
        self.threads_with_pending_stop.push_back(tid);
        Ok(())
    }
}
