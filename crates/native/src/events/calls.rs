//! Calls that are followed to their end: what was noted at the begin, and functions that return for another.

use super::params::{fetch, is_behind_argument, known, value};
use super::{Plan, Role};
use crate::displace;
use crate::engine::lost;
use crate::sites::SiteId;
use crate::sys::Tid;
use crate::target::{Target, View};
use crate::task::OpenCall;
use crate::uses::Use;
use invigil_debuginfo::machine::{ARGUMENTS, Memory, Registers};
use invigil_debuginfo::value::{Needs, Plain};
use invigil_expr::value::Value;
use invigil_monitor::event::{Source, Stamp};
use invigil_probe::calls::{Call, ONE_STACK};
use invigil_session::subject::Done;

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
        let mut saved = self.saved(entry, place, &read);
        let back = view.word(regs.rsp).ok();
        let mut began = (role == Role::Begin)
            .then_some((place, [regs.rdi, regs.rsi, regs.rdx, regs.rcx, regs.r8, regs.r9]));
        self.drop_left(tid, regs.rsp);
        // A call that began here and has not jumped to another function is this one, or was left by a jump.
        let begun = match role {
            Role::Tail => self.begun(tid, plan)?,
            _ => self.forget_begun(tid, plan, regs.rsp),
        };
        if let (Role::Tail, Some(begun)) = (role, begun) {
            // What was noted at the begin is better than what is left of it at the end.
            for (now, then) in saved.iter_mut().zip(begun.saved) {
                if now.as_ref().is_none_or(|now| matches!(now, Plain::Unavailable(_))) {
                    *now = then;
                }
            }
            began = begun.began;
        }
        let mut call = OpenCall { symbol, sp: regs.rsp, saved, began, returns_to: None };
        match (role, back) {
            // What is no place to return to shows that this is no call that will return.
            (Role::Tail, Some(back)) if self.program.is_code(back) => {
                call.returns_to = self.return_place(back, self.can_be_left(plan, &call))?;
            }
            (Role::Tail, _) => return Ok(()),
            _ => {}
        }
        if let Some(call) = self.note_inside(tid, plan, call)? {
            if let Some(site) = call.returns_to {
                self.add_use(site, Use::Return);
            }
            self.engine.task(tid)?.calls.push(call);
        }
        Ok(())
    }

    /// The values that a place tells of a call that is not at its end.
    fn saved(&self, plan: &Plan, place: u32, registers: &Registers) -> Vec<Option<Plain>> {
        let view = View { memory: &self.engine.memory, sites: &self.engine.sites };
        let reads = plan.places[place as usize].reads.iter().zip(&plan.params);
        let saved = reads.map(|(extractor, param)| match &param.source {
            // Not known yet.
            Source::Ret => None,
            source if is_behind_argument(source) => None,
            _ => extractor.as_ref().map(|e| e.read(registers, &view, &self.program, &self.types)),
        });
        saved.collect()
    }

    /// The call that ends, or jumps to another function, where a thread stands, if its begin was noted.
    pub(super) fn begun(&mut self, tid: Tid, plan: u32) -> Done<Option<OpenCall>> {
        if !self.plans.get(plan).places.iter().any(|place| place.role == Role::Begin) {
            return Ok(None);
        }
        let sp = self.engine.task(tid)?.registers().map_err(lost)?.rsp;
        // What the tool itself has seen since calls were last noted inside is newer than what is there.
        if let Some(known) = self.forget_begun(tid, plan, sp) {
            return Ok(Some(known));
        }
        let inside = self.calls_inside(tid)?;
        Ok(inside.iter().filter(|call| call.sp == sp).find_map(|call| self.open_call(plan, call)))
    }

    /// Forgets a call that began at this place of the stack, and has not jumped to another function.
    fn forget_begun(&mut self, tid: Tid, plan: u32, sp: u64) -> Option<OpenCall> {
        let symbol = self.plans.get(plan).symbol;
        let calls = &mut self.engine.tasks.get_mut(&tid)?.calls;
        let same = |call: &OpenCall| call.symbol == symbol && call.sp == sp && call.returns_to.is_none();
        calls.iter().rposition(same).map(|at| calls.remove(at))
    }

    /// A call that was noted inside the program, as one of a plan, if it is.
    pub(crate) fn open_call(&self, plan: u32, call: &Call) -> Option<OpenCall> {
        let plan = Some(self.plans.get(plan)).filter(|plan| self.is_noted_inside(plan))?;
        let is_begin = |place: &super::Place| place.role == Role::Begin && place.site.0 == call.site;
        let place = plan.places.iter().position(is_begin)? as u32;
        let mut registers = passed(&call.arguments);
        registers.set(invigil_debuginfo::machine::RSP, Some(call.sp));
        let saved = self.saved(plan, place, &registers);
        let began = Some((place, call.arguments));
        Some(OpenCall { symbol: plan.symbol, sp: call.sp, saved, began, returns_to: None })
    }

    /// A parameter of a call at its end, by what was noted at its begin.
    pub(super) fn noted(&self, plan: &Plan, call: &OpenCall, position: usize) -> Option<Plain> {
        if !is_behind_argument(&plan.params[position].source) {
            return call.saved.get(position)?.clone();
        }
        let (place, arguments) = &call.began?;
        let extractor = plan.places.get(*place as usize)?.reads.get(position)?.as_ref()?;
        let view = View { memory: &self.engine.memory, sites: &self.engine.sites };
        Some(extractor.read(&passed(arguments), &view, &self.program, &self.types))
    }

    /// Drops calls that were left by a jump.
    fn drop_left(&mut self, tid: Tid, sp: u64) {
        let Some(task) = self.engine.tasks.get_mut(&tid) else { return };
        for site in prune(&mut task.calls, sp) {
            self.remove_use(site, Use::Return);
        }
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
                let value = match &param.source {
                    Source::Ret => {
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
                    source => match self.noted(plan, &call, position) {
                        Some(plain) => value(&plain, param.ty, &mut self.batch),
                        None => known(source, tid, self.engine.process, time),
                    },
                };
                values.push(value);
            }
            self.batch.push(plan.symbol, &values, Stamp { time, line: 0 });
        }
        Ok(())
    }
}

/// The registers at the begin of a call, as far as they were noted.
fn passed(arguments: &[u64; 6]) -> Registers {
    let mut registers = Registers::default();
    for (register, value) in ARGUMENTS.into_iter().zip(arguments) {
        registers.set(register, Some(*value));
    }
    registers
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
