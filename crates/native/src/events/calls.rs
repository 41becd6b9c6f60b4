//! Calls that are followed to their end: what was noted at the begin, and functions that return for another.

use super::Role;
use super::params::{fetch, known, value};
use crate::displace;
use crate::engine::lost;
use crate::sites::SiteId;
use crate::sys::Tid;
use crate::target::{Target, View};
use crate::task::OpenCall;
use crate::uses::Use;
use invigil_debuginfo::machine::Memory;
use invigil_debuginfo::value::{Needs, Plain};
use invigil_expr::value::Value;
use invigil_monitor::event::{Source, Stamp};
use invigil_session::subject::Done;

/// Calls further down the stack than this are on another stack, not left by a jump.
const ONE_STACK: u64 = 64 << 20;

impl Target {
    /// At the begin of a call, or where another function is jumped to: notes what the end will need.
    pub(crate) fn note_call(&mut self, tid: Tid, plan: u32, place: u32) -> Done {
        let entry = &self.plans.all[plan as usize];
        let at = &entry.places[place as usize];
        if !matches!(at.role, Role::Begin | Role::Tail) || !entry.active {
            return Ok(());
        }
        let (role, symbol) = (at.role, entry.symbol);
        let task = self.engine.tasks.get_mut(&tid).ok_or_else(|| lost(std::io::Error::other("no thread")))?;
        let regs = task.registers().map_err(lost)?;
        task.wants_registers = true;
        let view = View { memory: &self.engine.memory, sites: &self.engine.sites };
        if let Some((jump, inside)) = &at.jump {
            let to = displace::jumps_to(jump, &regs, &view);
            if to.is_none_or(|to| inside.iter().any(|range| range.contains(&to))) {
                return Ok(());
            }
        }
        let read = fetch(tid, &regs, at.needs);
        let saved = at.reads.iter().zip(&entry.params).map(|(extractor, param)| match param.source {
            // Not known yet.
            Source::Ret => None,
            _ => extractor.as_ref().map(|e| e.read(&read, &view, &self.program, &self.types)),
        });
        let mut saved: Vec<Option<Plain>> = saved.collect();
        let back = view.word(regs.rsp).ok();
        let dropped = prune(&mut task.calls, regs.rsp);
        // A call that began here and has not jumped to another function is this one, or was left by a jump.
        let same =
            |call: &OpenCall| call.symbol == symbol && call.sp == regs.rsp && call.returns_to.is_none();
        let begun = task.calls.iter().rposition(same).map(|at| task.calls.remove(at));
        if let (Role::Tail, Some(begun)) = (role, begun) {
            // What was noted at the begin is better than what is left of it at the end.
            for (now, then) in saved.iter_mut().zip(begun.saved) {
                if now.as_ref().is_none_or(|now| matches!(now, Plain::Unavailable(_))) {
                    *now = then;
                }
            }
        }
        for site in dropped {
            self.remove_use(site, Use::Return);
        }
        let returns_to = match (role, back) {
            // What is no place to return to shows that this is no call that will return.
            (Role::Tail, Some(back)) if self.program.is_code(back) => self.site(back).ok(),
            (Role::Tail, _) => return Ok(()),
            _ => None,
        };
        if let Some(site) = returns_to {
            self.add_use(site, Use::Return);
        }
        self.engine.task(tid)?.calls.push(OpenCall { symbol, sp: regs.rsp, saved, returns_to });
        Ok(())
    }

    /// Calls that ended by another function's return.
    pub(super) fn fire_returns(&mut self, tid: Tid, site: SiteId) -> Done {
        let time = self.began.elapsed().as_secs_f64();
        let Some(task) = self.engine.tasks.get_mut(&tid) else { return Ok(()) };
        let regs = task.registers().map_err(lost)?;
        let sp = regs.rsp.wrapping_sub(8);
        let mut ended = Vec::new();
        let mut at = task.calls.len();
        while at > 0 {
            at -= 1;
            if task.calls[at].sp == sp && task.calls[at].returns_to == Some(site) {
                ended.push(task.calls.remove(at));
            }
        }
        for call in ended {
            self.remove_use(site, Use::Return);
            let index = self.plans.all.iter().position(|plan| plan.symbol == call.symbol);
            let Some(plan) = index.map(|index| &self.plans.all[index]) else { continue };
            if !plan.active {
                continue;
            }
            let read = fetch(tid, &regs, Needs::Vector);
            let view = View { memory: &self.engine.memory, sites: &self.engine.sites };
            let mut values = Vec::new();
            for (position, param) in plan.params.iter().enumerate() {
                let value = match (&param.source, call.saved.get(position)) {
                    (Source::Ret, _) => {
                        // Read as at one of the function's own places.
                        let mut places = plan.places.iter();
                        let extractor = places.find_map(|place| place.reads.get(position)?.as_ref());
                        match extractor {
                            Some(extractor) => value(
                                &extractor.read(&read, &view, &self.program, &self.types),
                                param.ty,
                                &mut self.batch,
                            ),
                            None => Value::int(regs.rax as i64),
                        }
                    }
                    (_, Some(Some(plain))) => value(plain, param.ty, &mut self.batch),
                    (source, _) => known(source, tid, self.engine.process, time),
                };
                values.push(value);
            }
            self.batch.push(plan.symbol, &values, Stamp { time, line: 0 });
        }
        Ok(())
    }
}

/// Drops calls that were left by a jump; gives the places that they would have returned to.
fn prune(calls: &mut Vec<OpenCall>, sp: u64) -> Vec<SiteId> {
    let mut dropped = Vec::new();
    calls.retain(|call| {
        let left = call.sp < sp && sp - call.sp < ONE_STACK;
        if left {
            dropped.extend(call.returns_to);
        }
        !left
    });
    dropped
}
