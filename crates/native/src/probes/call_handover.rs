//! Handover of pending calls: the agent tracks them while jumps are active, the debugger while traps are.
//!
//! When the monitors are drained, the debugger fetches the calls too; when jumps are inserted, it sends them back. A
//! thread that meanwhile hits a trap, because no jump fits there, makes the debugger ask for them. The debugger's
//! calls are always newer than the agent's: while jumps are active, it passes on what it sees immediately.

use super::host_proxy::malformed_reply;
use crate::native_target::NativeTarget;
use crate::sys::Tid;
use crate::traced_thread::PendingCall;
use invigil_probe::message::{Answer, Request};
use invigil_probe::pending_calls::PendingCall as AgentCall;
use invigil_target::TargetResult;

impl NativeTarget {
    /// Whether the agent tracks calls now.
    pub(super) fn agent_tracks_calls(&self) -> bool {
        self.probes.are_probes_used
            && (self.probes.tracks_entries || self.probes.tail_calls.in_agent)
            && self.probes.fetched_log.is_none()
            && self.termination.is_none()
            && self.tracer.agent.is_some()
    }

    /// Returns the calls of a thread that the agent tracks; the agent keeps them.
    pub(crate) fn agent_calls(&mut self, tid: Tid) -> TargetResult<Vec<AgentCall>> {
        if !self.agent_tracks_calls() {
            return Ok(Vec::new());
        }
        match self.call_agent(&Request::Calls(tid as u32))? {
            Answer::Calls(calls) => Ok(calls),
            _ => Err(malformed_reply()),
        }
    }

    /// Passes a call that the debugger has observed to the agent, if there are jumps at its exits. Otherwise returns
    /// it.
    pub(crate) fn track_call_in_agent(
        &mut self,
        tid: Tid,
        plan: u32,
        call: PendingCall,
    ) -> TargetResult<Option<PendingCall>> {
        if !self.tracer.sites.has_jumps() || !self.agent_tracks_calls() {
            return Ok(Some(call));
        }
        let request = match call.return_site {
            Some(site) if !self.tracer.sites.is_return_site(site) => None,
            Some(_) => {
                self.to_pending_tail_call(tid, plan, &call).map(|call| Request::PutTailCalls(vec![call]))
            }
            None => self.to_agent_call(tid, plan, &call).map(|call| Request::PutCalls(vec![call])),
        };
        match request {
            Some(request) => self.call_agent(&request).map(|_| None),
            None => Ok(Some(call)),
        }
    }

    /// The plan of a call.
    pub(super) fn plan_of(&self, call: &PendingCall) -> Option<u32> {
        self.plans.iter().position(|plan| plan.event == call.event).map(|plan| plan as u32)
    }

    fn to_agent_call(&self, tid: Tid, plan: u32, call: &PendingCall) -> Option<AgentCall> {
        let (event_site, arguments) = call.entry.filter(|_| call.return_site.is_none())?;
        let plan = self.plans.get(plan);
        let site = plan.sites.get(event_site as usize).filter(|_| self.can_track_in_agent(plan))?.site.0;
        Some(AgentCall { thread: tid as u32, site, sp: call.sp, arguments })
    }

    /// Fetches the agent's calls: the debugger tracks calls from now on.
    pub(super) fn fetch_calls(&mut self) -> TargetResult {
        self.fetch_tail_calls()?;
        if !self.probes.tracks_entries {
            return Ok(());
        }
        let Answer::Calls(calls) = self.call_agent(&Request::TakeCalls)? else {
            return Err(malformed_reply());
        };
        for call in calls {
            for plan in 0..self.plans.iter().count() as u32 {
                let Some(pending_call) = self.pending_call_of_agent(plan, &call) else { continue };
                let Some(thread) = self.tracer.threads.get_mut(&(call.thread as Tid)) else { continue };
                // Calls that the debugger has observed since are newer.
                let same = |known: &PendingCall| {
                    (known.event, known.sp) == (pending_call.event, pending_call.sp)
                        && known.return_site.is_none()
                };
                if !thread.calls.iter().any(same) {
                    thread.calls.push(pending_call);
                }
            }
        }
        Ok(())
    }

    /// Sends the debugger's calls to the agent: jumps are about to be inserted, or are active and no event is in
    /// progress.
    pub(super) fn send_calls(&mut self) -> TargetResult {
        let (mut entries, mut tail_calls) = (Vec::new(), Vec::new());
        for tid in self.tracer.threads.keys().copied().collect::<Vec<_>>() {
            let calls = std::mem::take(&mut self.tracer.thread(tid)?.calls);
            for call in calls {
                let plan = self.plan_of(&call);
                let returns = call.return_site.filter(|site| self.tracer.sites.is_return_site(*site));
                if let Some(entry) = plan.and_then(|plan| self.to_agent_call(tid, plan, &call)) {
                    entries.push(entry);
                } else if let Some(tail_call) = plan
                    .filter(|_| returns.is_some())
                    .and_then(|plan| self.to_pending_tail_call(tid, plan, &call))
                {
                    tail_calls.push(tail_call);
                } else {
                    self.tracer.thread(tid)?.calls.push(call);
                }
            }
        }
        if !entries.is_empty() {
            self.call_agent(&Request::PutCalls(entries))?;
        }
        self.send_tail_calls(tail_calls)
    }
}
