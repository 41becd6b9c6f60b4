//! Calls noted at their entry: by the library while jumps are active, by the debugger while traps are.
//!
//! When the monitors are drained, the debugger fetches the calls too; when jumps are inserted, it sends them back. A
//! thread that meanwhile hits a trap, because no jump fits there, makes the debugger ask for them. The debugger's
//! calls are always newer than the library's: while jumps are active, it passes on what it sees immediately.

use super::host_proxy::malformed_reply;
use crate::native_target::NativeTarget;
use crate::sys::Tid;
use crate::traced_thread::NotedCall;
use invigil_probe::message::{Answer, Request};
use invigil_probe::noted_calls::CallEntry;
use invigil_session::target::TargetResult;

impl NativeTarget {
    /// Whether the library notes calls now.
    pub(super) fn notes_calls_in_agent(&self) -> bool {
        self.probes.in_agent
            && (self.probes.notes_entries || self.probes.tail_calls.in_agent)
            && self.probes.fetched_log.is_none()
            && self.termination.is_none()
            && self.tracer.agent.is_some()
    }

    /// The calls of a thread that the library has noted; they stay there.
    pub(crate) fn agent_calls(&mut self, tid: Tid) -> TargetResult<Vec<CallEntry>> {
        if !self.notes_calls_in_agent() {
            return Ok(Vec::new());
        }
        match self.call_agent(&Request::Calls(tid as u32))? {
            Answer::Calls(calls) => Ok(calls),
            _ => Err(malformed_reply()),
        }
    }

    /// Passes a call that the debugger has seen to the library, if there are jumps at its exits; otherwise returns
    /// it.
    pub(crate) fn note_call_in_agent(
        &mut self,
        tid: Tid,
        plan: u32,
        call: NotedCall,
    ) -> TargetResult<Option<NotedCall>> {
        if !self.tracer.sites.has_jumps() || !self.notes_calls_in_agent() {
            return Ok(Some(call));
        }
        let request = match call.return_site {
            Some(site) if !self.tracer.sites.is_return(site) => None,
            Some(_) => {
                self.to_pending_tail_call(tid, plan, &call).map(|call| Request::PutTailCalls(vec![call]))
            }
            None => self.to_call_entry(tid, plan, &call).map(|call| Request::PutCalls(vec![call])),
        };
        match request {
            Some(request) => self.call_agent(&request).map(|_| None),
            None => Ok(Some(call)),
        }
    }

    /// The plan of a call.
    pub(super) fn plan_of(&self, call: &NotedCall) -> Option<u32> {
        self.plans.iter().position(|plan| plan.event == call.event).map(|plan| plan as u32)
    }

    fn to_call_entry(&self, tid: Tid, plan: u32, call: &NotedCall) -> Option<CallEntry> {
        let (event_site, arguments) = call.entry.filter(|_| call.return_site.is_none())?;
        let plan = self.plans.get(plan);
        let site = plan.sites.get(event_site as usize).filter(|_| self.can_note_in_agent(plan))?.site.0;
        Some(CallEntry { thread: tid as u32, site, sp: call.sp, arguments })
    }

    /// Fetches the library's calls: the debugger notes calls from now on.
    pub(super) fn fetch_calls(&mut self) -> TargetResult {
        self.fetch_tail_calls()?;
        if !self.probes.notes_entries {
            return Ok(());
        }
        let Answer::Calls(calls) = self.call_agent(&Request::TakeCalls)? else {
            return Err(malformed_reply());
        };
        for call in calls {
            for plan in 0..self.plans.iter().count() as u32 {
                let Some(open) = self.noted_call_from_entry(plan, &call) else { continue };
                let Some(thread) = self.tracer.threads.get_mut(&(call.thread as Tid)) else { continue };
                // What the debugger has seen since is newer.
                let same = |known: &NotedCall| {
                    (known.event, known.sp) == (open.event, open.sp) && known.return_site.is_none()
                };
                if !thread.calls.iter().any(same) {
                    thread.calls.push(open);
                }
            }
        }
        Ok(())
    }

    /// Sends the debugger's calls to the library: jumps are about to be inserted, or are active while no event
    /// occurs.
    pub(super) fn send_calls(&mut self) -> TargetResult {
        let (mut all, mut left) = (Vec::new(), Vec::new());
        for tid in self.tracer.threads.keys().copied().collect::<Vec<_>>() {
            let calls = std::mem::take(&mut self.tracer.thread(tid)?.calls);
            for call in calls {
                let plan = self.plan_of(&call);
                let returns = call.return_site.filter(|site| self.tracer.sites.is_return(*site));
                if let Some(noted) = plan.and_then(|plan| self.to_call_entry(tid, plan, &call)) {
                    all.push(noted);
                } else if let Some(noted) = plan
                    .filter(|_| returns.is_some())
                    .and_then(|plan| self.to_pending_tail_call(tid, plan, &call))
                {
                    left.push(noted);
                } else {
                    self.tracer.thread(tid)?.calls.push(call);
                }
            }
        }
        if !all.is_empty() {
            self.call_agent(&Request::PutCalls(all))?;
        }
        self.send_tail_calls(left)
    }
}
