//! Calls that are followed to their exit: values noted at the entry, and tail calls.

use super::params::{builtin_value, fetch_registers, is_behind_argument, value};
use super::{EventPlan, SiteRole};
use crate::displaced_step;
use crate::native_target::{CleanMemory, NativeTarget};
use crate::site_users::TrapReason;
use crate::sites::SiteId;
use crate::sys::Tid;
use crate::traced_thread::OpenCall;
use crate::tracer::trace_error;
use invigil_debuginfo::machine::{ARGUMENTS, Memory, Registers};
use invigil_debuginfo::value::{RegisterNeeds, Scalar};
use invigil_expr::value::Value;
use invigil_monitor::event::{EventMeta, ParamSource};
use invigil_probe::calls::{Call, MAX_STACK_SIZE};
use invigil_session::target::TargetResult;

impl NativeTarget {
    /// At the entry of a function or at a tail call: notes what the exit will need.
    pub(crate) fn note_call(&mut self, tid: Tid, plan: u32, event_site: u32) -> TargetResult {
        let entry = &self.plans.all[plan as usize];
        let at = &entry.sites[event_site as usize];
        if !matches!(at.role, SiteRole::Entry | SiteRole::TailCall) || !entry.active {
            return Ok(());
        }
        let (role, event) = (at.role, entry.event);
        let thread = self
            .tracer
            .threads
            .get_mut(&tid)
            .ok_or_else(|| trace_error(std::io::Error::other("no thread")))?;
        let regs = thread.registers().map_err(trace_error)?;
        thread.prefetch_registers = true;
        let view = CleanMemory { memory: &self.tracer.memory, sites: &self.tracer.sites };
        if let Some((jump, inside)) = &at.jump {
            let to = displaced_step::jump_target(jump, &regs, &view);
            if to.is_none_or(|to| inside.iter().any(|range| range.contains(&to))) {
                return Ok(());
            }
        }
        let read = fetch_registers(tid, &regs, at.needs);
        let mut saved = self.saved(entry, event_site, &read);
        let back = view.word(regs.rsp).ok();
        let mut entry = (role == SiteRole::Entry)
            .then_some((event_site, [regs.rdi, regs.rsi, regs.rdx, regs.rcx, regs.r8, regs.r9]));
        self.drop_abandoned_calls(tid, regs.rsp);
        // A noted call at this stack pointer is this one, or was abandoned by a jump.
        let noted_call = match role {
            SiteRole::TailCall => self.take_noted_call(tid, plan)?,
            _ => self.remove_noted_call(tid, plan, regs.rsp),
        };
        if let (SiteRole::TailCall, Some(noted_call)) = (role, noted_call) {
            // Values noted at the entry are better than what is left of them at the exit.
            for (now, then) in saved.iter_mut().zip(noted_call.saved) {
                if now.as_ref().is_none_or(|now| matches!(now, Scalar::Unavailable(_))) {
                    *now = then;
                }
            }
            entry = noted_call.entry;
        }
        let mut call = OpenCall { event, sp: regs.rsp, saved, entry, return_site: None };
        match (role, back) {
            // If this is not a return address, the call will not return.
            (SiteRole::TailCall, Some(back)) if self.program.is_code(back) => {
                call.return_site = self.return_site_of(back, self.can_save_in_agent(plan, &call))?;
            }
            (SiteRole::TailCall, _) => return Ok(()),
            _ => {}
        }
        if let Some(call) = self.note_call_in_agent(tid, plan, call)? {
            if let Some(site) = call.return_site {
                self.add_trap_reason(site, TrapReason::TailReturn);
            }
            self.tracer.thread(tid)?.calls.push(call);
        }
        Ok(())
    }

    /// The values that a site has for a call that has not returned.
    fn saved(&self, plan: &EventPlan, event_site: u32, registers: &Registers) -> Vec<Option<Scalar>> {
        let view = CleanMemory { memory: &self.tracer.memory, sites: &self.tracer.sites };
        let reads = plan.sites[event_site as usize].reads.iter().zip(&plan.params);
        let saved = reads.map(|(extractor, param)| match &param.source {
            // Not known yet.
            ParamSource::Ret => None,
            source if is_behind_argument(source) => None,
            _ => extractor.as_ref().map(|e| e.read(registers, &view, &self.program, &self.types)),
        });
        saved.collect()
    }

    /// Takes the noted call of a thread that is at a function's exit or tail call.
    pub(super) fn take_noted_call(&mut self, tid: Tid, plan: u32) -> TargetResult<Option<OpenCall>> {
        if !self.plans.get(plan).sites.iter().any(|event_site| event_site.role == SiteRole::Entry) {
            return Ok(None);
        }
        let sp = self.tracer.thread(tid)?.registers().map_err(trace_error)?.rsp;
        // What the debugger has seen itself is newer than what the library has.
        if let Some(known) = self.remove_noted_call(tid, plan, sp) {
            return Ok(Some(known));
        }
        let inside = self.agent_calls(tid)?;
        Ok(inside.iter().filter(|call| call.sp == sp).find_map(|call| self.open_call(plan, call)))
    }

    /// Removes the call that was noted at this stack pointer and has made no tail call.
    fn remove_noted_call(&mut self, tid: Tid, plan: u32, sp: u64) -> Option<OpenCall> {
        let event = self.plans.get(plan).event;
        let calls = &mut self.tracer.threads.get_mut(&tid)?.calls;
        let same = |call: &OpenCall| call.event == event && call.sp == sp && call.return_site.is_none();
        calls.iter().rposition(same).map(|at| calls.remove(at))
    }

    /// Converts a call that the library has noted, if it belongs to this plan.
    pub(crate) fn open_call(&self, plan: u32, call: &Call) -> Option<OpenCall> {
        let plan = Some(self.plans.get(plan)).filter(|plan| self.can_note_in_agent(plan))?;
        let is_begin = |event_site: &super::EventSite| {
            event_site.role == SiteRole::Entry && event_site.site.0 == call.site
        };
        let event_site = plan.sites.iter().position(is_begin)? as u32;
        let mut registers = passed(&call.arguments);
        registers.set(invigil_debuginfo::machine::RSP, Some(call.sp));
        let saved = self.saved(plan, event_site, &registers);
        let entry = Some((event_site, call.arguments));
        Some(OpenCall { event: plan.event, sp: call.sp, saved, entry, return_site: None })
    }

    /// Value of a parameter at the exit, from what was noted at the entry.
    pub(super) fn noted_value(&self, plan: &EventPlan, call: &OpenCall, position: usize) -> Option<Scalar> {
        if !is_behind_argument(&plan.params[position].source) {
            return call.saved.get(position)?.clone();
        }
        let (event_site, arguments) = &call.entry?;
        let extractor = plan.sites.get(*event_site as usize)?.reads.get(position)?.as_ref()?;
        let view = CleanMemory { memory: &self.tracer.memory, sites: &self.tracer.sites };
        Some(extractor.read(&passed(arguments), &view, &self.program, &self.types))
    }

    /// Drops calls that were abandoned by a jump.
    fn drop_abandoned_calls(&mut self, tid: Tid, sp: u64) {
        let Some(thread) = self.tracer.threads.get_mut(&tid) else { return };
        for site in remove_abandoned(&mut thread.calls, sp) {
            self.remove_trap_reason(site, TrapReason::TailReturn);
        }
    }

    /// Emits the exit events of tail calls that return here.
    pub(super) fn emit_tail_returns(&mut self, tid: Tid, site: SiteId) -> TargetResult {
        let time = self.started.elapsed().as_secs_f64();
        let Some(thread) = self.tracer.threads.get_mut(&tid) else { return Ok(()) };
        let regs = thread.registers().map_err(trace_error)?;
        let sp = regs.rsp.wrapping_sub(8);
        let mut ended = Vec::new();
        let mut at = thread.calls.len();
        while at > 0 {
            at -= 1;
            if thread.calls[at].sp == sp && thread.calls[at].return_site == Some(site) {
                ended.push(thread.calls.remove(at));
            }
        }
        for call in ended {
            self.remove_trap_reason(site, TrapReason::TailReturn);
            let index = self.plans.all.iter().position(|plan| plan.event == call.event);
            let Some(plan) = index.map(|index| &self.plans.all[index]) else { continue };
            if !plan.active {
                continue;
            }
            let read = fetch_registers(tid, &regs, RegisterNeeds::Vector);
            let view = CleanMemory { memory: &self.tracer.memory, sites: &self.tracer.sites };
            let mut values = Vec::new();
            for (position, param) in plan.params.iter().enumerate() {
                let value = match &param.source {
                    ParamSource::Ret => {
                        // Read as at one of the function's own exits.
                        let mut places = plan.sites.iter();
                        let extractor =
                            places.find_map(|event_site| event_site.reads.get(position)?.as_ref());
                        match extractor {
                            Some(extractor) => value(
                                &extractor.read(&read, &view, &self.program, &self.types),
                                param.ty,
                                &mut self.batch,
                            ),
                            None => Value::int(regs.rax as i64),
                        }
                    }
                    source => match self.noted_value(plan, &call, position) {
                        Some(plain) => value(&plain, param.ty, &mut self.batch),
                        None => builtin_value(source, tid, self.tracer.process, time),
                    },
                };
                values.push(value);
            }
            self.batch.push(plan.event, &values, EventMeta { time, line: 0 });
        }
        Ok(())
    }
}

/// The argument registers at the entry, as they were noted.
fn passed(arguments: &[u64; 6]) -> Registers {
    let mut registers = Registers::default();
    for (register, value) in ARGUMENTS.into_iter().zip(arguments) {
        registers.set(register, Some(*value));
    }
    registers
}

/// Removes calls that were abandoned by a jump. Returns their return sites.
fn remove_abandoned(calls: &mut Vec<OpenCall>, sp: u64) -> Vec<SiteId> {
    let mut dropped = Vec::new();
    calls.retain(|call| {
        let left = call.sp < sp && sp - call.sp < MAX_STACK_SIZE;
        if left {
            dropped.extend(call.return_site);
        }
        !left
    });
    dropped
}
