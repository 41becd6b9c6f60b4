//! Calls whose begin was noted: inside the program while there are jumps, and by the tool while there are traps.
//!
//! When the monitors are taken out, the tool takes the calls, too; when jumps are put, they go inside. A thread that runs into a trap
//! in the meantime, because no jump fits there, has the tool ask for them. What the tool has is always newer than what is inside:
//! while there are jumps, it gives away at once what it sees.

use super::room::garbled;
use crate::sys::Tid;
use crate::target::Target;
use crate::task::OpenCall;
use invigil_probe::calls::Call;
use invigil_probe::message::{Answer, Request};
use invigil_session::subject::Done;

impl Target {
    /// Whether calls are noted inside the program now.
    pub(super) fn notes_inside(&self) -> bool {
        self.inline.used
            && (self.inline.begins || self.inline.tails.used)
            && self.inline.past.is_none()
            && self.ended.is_none()
            && self.engine.agent.is_some()
    }

    /// The calls of a thread that are noted inside; they stay there.
    pub(crate) fn calls_inside(&mut self, tid: Tid) -> Done<Vec<Call>> {
        if !self.notes_inside() {
            return Ok(Vec::new());
        }
        match self.ask(&Request::Calls(tid as u32))? {
            Answer::Calls(calls) => Ok(calls),
            _ => Err(garbled()),
        }
    }

    /// The tool has seen the begin of a call: if there are jumps at its ends, it is noted inside, or else given back.
    pub(crate) fn note_inside(&mut self, tid: Tid, plan: u32, call: OpenCall) -> Done<Option<OpenCall>> {
        if !self.engine.sites.has_jumps() || !self.notes_inside() {
            return Ok(Some(call));
        }
        let request = match call.returns_to {
            Some(site) if !self.engine.sites.is_return(site) => None,
            Some(_) => self.as_left(tid, plan, &call).map(|call| Request::PutLeft(vec![call])),
            None => self.as_noted(tid, plan, &call).map(|call| Request::PutCalls(vec![call])),
        };
        match request {
            Some(request) => self.ask(&request).map(|_| None),
            None => Ok(Some(call)),
        }
    }

    /// The plan of a call that the tool has noted.
    pub(super) fn plan_of(&self, call: &OpenCall) -> Option<u32> {
        self.plans.iter().position(|plan| plan.symbol == call.symbol).map(|plan| plan as u32)
    }

    fn as_noted(&self, tid: Tid, plan: u32, call: &OpenCall) -> Option<Call> {
        let (place, arguments) = call.began.filter(|_| call.returns_to.is_none())?;
        let plan = self.plans.get(plan);
        let site = plan.places.get(place as usize).filter(|_| self.is_noted_inside(plan))?.site.0;
        Some(Call { thread: tid as u32, site, sp: call.sp, arguments })
    }

    /// The monitors are taken out: the tool notes calls from now on.
    pub(super) fn take_calls(&mut self) -> Done {
        self.take_left()?;
        if !self.inline.begins {
            return Ok(());
        }
        let Answer::Calls(calls) = self.ask(&Request::TakeCalls)? else { return Err(garbled()) };
        for call in calls {
            for plan in 0..self.plans.iter().count() as u32 {
                let Some(open) = self.open_call(plan, &call) else { continue };
                let Some(task) = self.engine.tasks.get_mut(&(call.thread as Tid)) else { continue };
                // What the tool itself has seen since is newer.
                let same = |known: &OpenCall| {
                    (known.symbol, known.sp) == (open.symbol, open.sp) && known.returns_to.is_none()
                };
                if !task.calls.iter().any(same) {
                    task.calls.push(open);
                }
            }
        }
        Ok(())
    }

    /// What the tool has noted goes inside: jumps are put, or are there while no event happens.
    pub(super) fn put_calls(&mut self) -> Done {
        let (mut all, mut left) = (Vec::new(), Vec::new());
        for tid in self.engine.tasks.keys().copied().collect::<Vec<_>>() {
            let calls = std::mem::take(&mut self.engine.task(tid)?.calls);
            for call in calls {
                let plan = self.plan_of(&call);
                let returns = call.returns_to.filter(|site| self.engine.sites.is_return(*site));
                if let Some(noted) = plan.and_then(|plan| self.as_noted(tid, plan, &call)) {
                    all.push(noted);
                } else if let Some(noted) =
                    plan.filter(|_| returns.is_some()).and_then(|plan| self.as_left(tid, plan, &call))
                {
                    left.push(noted);
                } else {
                    self.engine.task(tid)?.calls.push(call);
                }
            }
        }
        if !all.is_empty() {
            self.ask(&Request::PutCalls(all))?;
        }
        self.put_left(left)
    }
}
