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
    fn notes_inside(&self) -> bool {
        self.inline.used
            && self.inline.begins
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
        match self.as_noted(tid, plan, &call) {
            Some(call) => self.ask(&Request::PutCalls(vec![call])).map(|_| None),
            None => Ok(Some(call)),
        }
    }

    fn as_noted(&self, tid: Tid, plan: u32, call: &OpenCall) -> Option<Call> {
        let (place, arguments) = call.began.filter(|_| call.returns_to.is_none())?;
        let plan = self.plans.get(plan);
        let site = plan.places.get(place as usize).filter(|_| self.is_noted_inside(plan))?.site.0;
        Some(Call { thread: tid as u32, site, sp: call.sp, arguments })
    }

    /// The monitors are taken out: the tool notes calls from now on.
    pub(super) fn take_calls(&mut self) -> Done {
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

    /// Jumps are put: what the tool has noted goes inside.
    pub(super) fn put_calls(&mut self) -> Done {
        if !self.notes_inside() {
            return Ok(());
        }
        let mut all = Vec::new();
        for tid in self.engine.tasks.keys().copied().collect::<Vec<_>>() {
            let calls = std::mem::take(&mut self.engine.task(tid)?.calls);
            for call in calls {
                let plan = self.plans.iter().position(|plan| plan.symbol == call.symbol);
                match plan.and_then(|plan| self.as_noted(tid, plan as u32, &call)) {
                    Some(noted) => all.push(noted),
                    None => self.engine.task(tid)?.calls.push(call),
                }
            }
        }
        if all.is_empty() { Ok(()) } else { self.ask(&Request::PutCalls(all)).map(drop) }
    }
}
