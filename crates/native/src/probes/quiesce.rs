//! Quiescence: brings threads that execute library or trampoline code to a logical address of the target.
//!
//! Each runs on, with signals blocked, until it hits one of the library's traps. Its registers are then those of the
//! target, and it is moved to its logical address.

use super::agent::{Agent, AgentTrap};
use super::jumps::TrampolinePosition;
use crate::inject::raw;
use crate::sys::{self, ResumeRequest, Tid, WaitStatus};
use crate::traced_thread::TracedThread;
use crate::tracer::{TraceStop, Tracer, trace_error};
use invigil_target::pending_owners::OwnerSet;
use invigil_target::{Owner, TargetResult};
use nix::unistd::Pid;
use std::collections::BTreeMap;

/// All signals but those that code raises itself.
const ALL_BUT_FAULTS: u64 = !(1 << (libc::SIGTRAP - 1) | 1 << (libc::SIGSEGV - 1) | 1 << (libc::SIGBUS - 1));

/// Outcome of a thread that left the library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ThreadExit {
    /// It is at a site whose event was processed.
    Notified,
    /// The same, and a reaction is due.
    ReactionDue,
    /// Its event was not processed yet, or it was not in the library.
    Pending,
    /// It has exited.
    Exited,
}

/// State of a thread that is leaving the library, to be restored afterwards.
struct LeavingThread {
    /// Information of the signal it had stopped with.
    stop_info: Option<raw::SignalInfo>,
    /// Its signal mask.
    mask: u64,
    /// Whether a further SIGSTOP arrived and must be sent again.
    resend_stop: bool,
}

/// All possible owners.
fn all_owners() -> OwnerSet {
    OwnerSet::of(Owner::User).with(Owner::Scenario).with(Owner::Monitors)
}

impl Tracer {
    /// Whether an address is in library code, or in a trampoline on the way there.
    pub(crate) fn is_in_agent(&self, pc: u64) -> bool {
        let Some(agent) = &self.agent else { return false };
        let on_the_way =
            || matches!(self.sites.trampoline_position(pc), Some(TrampolinePosition::EnteringAgent(_)));
        agent.is_in(pc) || on_the_way()
    }

    /// If a thread hit one of the library's traps, moves it to its logical address.
    pub(crate) fn on_agent_trap(&mut self, tid: Tid) -> TargetResult<Option<ThreadExit>> {
        let (Some(agent), Some(thread)) = (&self.agent, self.threads.get_mut(&tid)) else { return Ok(None) };
        let Ok(pc) = thread.pc() else { return Ok(None) };
        let Some(trap) = agent.trap_before(pc) else { return Ok(None) };
        let Ok(mut regs) = thread.registers() else { return Ok(Some(ThreadExit::Exited)) };
        let Some((site, stack)) = agent.site(&self.memory, regs.rsp) else { return Ok(None) };
        if site.0 as usize >= self.sites.all.len() {
            return Ok(None);
        }
        (regs.rsp, regs.rip) = (stack, self.sites.get(site).address);
        thread.set_registers(regs);
        if trap == AgentTrap::Retry {
            thread.write_back_registers().map_err(trace_error)?;
            return Ok(Some(ThreadExit::Pending));
        }
        thread.at_site = Some(site);
        thread.notified = all_owners();
        Ok(Some(if trap == AgentTrap::React { ThreadExit::ReactionDue } else { ThreadExit::Notified }))
    }

    /// Sends a thread whose event was not processed yet to the probe, if its site has an active jump.
    pub(crate) fn retry_at_probe(&mut self, tid: Tid) -> TargetResult {
        // A thread with a pending stop reports that first.
        let is_free =
            |thread: &&mut TracedThread| thread.at_site.is_none() && thread.pending_status.is_none();
        let Some(thread) = self.threads.get_mut(&tid).filter(is_free) else { return Ok(()) };
        let Ok(pc) = thread.pc() else { return Ok(()) };
        let Some(site) = self.sites.at(pc).map(|id| self.sites.get(id)).filter(|site| site.jump_active)
        else {
            return Ok(());
        };
        match &site.jump {
            Some(jump) => {
                thread.write_back_registers().and_then(|()| thread.set_pc(jump.entry)).map_err(trace_error)
            }
            None => Ok(()),
        }
    }

    /// Resumes a stopped thread that is in the library until it has left. The information of its stop is saved.
    fn start_leaving(&mut self, tid: Tid) -> TargetResult<Option<LeavingThread>> {
        let Some(thread) = self.threads.get_mut(&tid) else { return Ok(None) };
        if thread.running
            || thread.zombie
            || thread.group_stopped
            || thread.is_foreign_process
            || thread.at_site.is_some()
        {
            return Ok(None);
        }
        let Ok(pc) = thread.pc() else { return Ok(None) };
        if !self.is_in_agent(pc) {
            return Ok(None);
        }
        let pid = Pid::from_raw(tid);
        let stop_info = raw::signal_info(pid).ok();
        let Ok(mask) = raw::signal_mask(pid) else { return Ok(None) };
        let _ = raw::set_signal_mask(pid, ALL_BUT_FAULTS);
        sys::resume(tid, ResumeRequest::Continue, 0).map_err(trace_error)?;
        Ok(Some(LeavingThread { stop_info, mask, resend_stop: false }))
    }

    /// Handles a stop of a thread that is leaving the library. `None` if it has not left yet.
    fn on_leaving_stop(
        &mut self,
        tid: Tid,
        status: WaitStatus,
        leaving: &mut LeavingThread,
    ) -> TargetResult<Option<ThreadExit>> {
        if status.has_exited() {
            self.on_other_stop(tid, status)?;
            return Ok(Some(ThreadExit::Exited));
        }
        let pid = Pid::from_raw(tid);
        let thread = self.thread(tid)?;
        thread.mark_stopped();
        if status.signal() == libc::SIGSTOP && status.event() == 0 {
            // SIGSTOP cannot be blocked, so it is postponed.
            if thread.pending_status.is_none() {
                thread.pending_status = Some(status);
                leaving.stop_info = raw::signal_info(pid).ok();
                self.threads_with_pending_stop.push_back(tid);
            } else {
                leaving.resend_stop = true;
            }
            sys::resume(tid, ResumeRequest::Continue, 0).map_err(trace_error)?;
            return Ok(None);
        }
        let exit = if status.is_plain_trap() { self.on_agent_trap(tid)? } else { None };
        // Any other stop cannot be blocked; it is handled when the thread is examined next.
        if exit.is_none() && (self.skip_bad_read(tid, status)? || status.event() != 0) {
            sys::resume(tid, ResumeRequest::Continue, 0).map_err(trace_error)?;
            return Ok(None);
        }
        let _ = raw::set_signal_mask(pid, leaving.mask);
        if let Some(stop_info) = &leaving.stop_info {
            let _ = raw::set_signal_info(pid, stop_info);
        }
        if leaving.resend_stop {
            sys::kill(self.process, libc::SIGSTOP).map_err(trace_error)?;
        }
        Ok(Some(exit.unwrap_or(ThreadExit::Pending)))
    }

    /// Continues a thread whose read of the target's memory faulted.
    pub(crate) fn skip_bad_read(&mut self, tid: Tid, status: WaitStatus) -> TargetResult<bool> {
        if !matches!(status.signal(), libc::SIGSEGV | libc::SIGBUS) || status.event() != 0 {
            return Ok(false);
        }
        let (Some(agent), Some(thread)) = (&self.agent, self.threads.get_mut(&tid)) else { return Ok(false) };
        let Ok(pc) = thread.pc() else { return Ok(false) };
        let Some(failed) = agent.after_bad_read(pc) else { return Ok(false) };
        thread.set_pc(failed).map_err(trace_error)?;
        Ok(true)
    }

    /// Brings all stopped threads out of the library, concurrently, because they may wait for each other there.
    pub(crate) fn quiesce(&mut self) -> TargetResult {
        let mut all = BTreeMap::new();
        for tid in self.threads.keys().copied().collect::<Vec<_>>() {
            all.extend(self.start_leaving(tid)?.map(|leaving| (tid, leaving)));
        }
        while !all.is_empty() {
            let Some((tid, status)) = sys::wait(-1, true).map_err(trace_error)? else { continue };
            let Some(leaving) = all.get_mut(&tid) else {
                self.on_other_stop(tid, status)?;
                continue;
            };
            let Some(exit) = self.on_leaving_stop(tid, status, leaving)? else { continue };
            all.remove(&tid);
            if exit == ThreadExit::ReactionDue {
                self.queued_stops.push_back(TraceStop::ReactionDue { tid });
            }
        }
        Ok(())
    }

    /// Moves a stopped thread to its logical address, if it is in a trampoline and not on its way to the library.
    pub(crate) fn leave_trampoline(&mut self, tid: Tid) -> TargetResult {
        let Some(thread) = self.threads.get_mut(&tid) else { return Ok(()) };
        let Ok(pc) = thread.pc() else { return Ok(()) };
        match self.sites.trampoline_position(pc) {
            Some(TrampolinePosition::Entry(site)) => {
                let address = self.sites.get(site).address;
                thread.set_pc(address).map_err(trace_error)?;
            }
            Some(TrampolinePosition::LeavingAgent(site)) => {
                let mut regs = thread.registers().map_err(trace_error)?;
                (regs.rsp, regs.rip) = (Agent::stack_after_return(regs.rsp), self.sites.get(site).address);
                thread.set_registers(regs);
                thread.write_back_registers().map_err(trace_error)?;
                (thread.at_site, thread.notified) = (Some(site), all_owners());
            }
            Some(TrampolinePosition::Copy(site, address)) => {
                if address == self.sites.get(site).address {
                    // Before the first instruction: its event was processed.
                    (thread.at_site, thread.notified) = (Some(site), all_owners());
                }
                thread.set_pc(address).map_err(trace_error)?;
            }
            _ => {}
        }
        Ok(())
    }
}
