//! Noted calls: calls that are followed to their exit, with the values from their entry, and tail calls.

use super::params::{builtin_value, fetch_registers, is_pointee_of_argument, to_monitor_value};
use super::{EventPlan, EventSite, SiteRole};
use crate::displaced_step;
use crate::native_target::{CleanMemory, NativeTarget};
use crate::sites::SiteId;
use crate::sys::Tid;
use crate::traced_thread::NotedCall;
use crate::tracer::trace_error;
use crate::trap_reasons::TrapReason;
use invigil_debuginfo::machine::{ARGUMENTS, Memory, Registers};
use invigil_debuginfo::value::{RegisterNeeds, Scalar};
use invigil_expr::value::Value;
use invigil_monitor::event::{EventMeta, ParamSource};
use invigil_probe::noted_calls::{CallEntry, MAX_STACK_SIZE};
use invigil_session::target::TargetResult;

impl NativeTarget {
    /// Notes what the exit will need, at the entry of a function or at a tail call.
    pub(crate) fn note_call(&mut self, tid: Tid, plan_index: u32, site_index: u32) -> TargetResult {
        let plan = &self.plans.all[plan_index as usize];
        let event_site = &plan.sites[site_index as usize];
        if !matches!(event_site.role, SiteRole::Entry | SiteRole::TailCall) || !plan.active {
            return Ok(());
        }
        let (role, event) = (event_site.role, plan.event);
        let thread = self
            .tracer
            .threads
            .get_mut(&tid)
            .ok_or_else(|| trace_error(std::io::Error::other("no thread")))?;
        let regs = thread.registers().map_err(trace_error)?;
        thread.prefetch_registers = true;
        let memory = CleanMemory { memory: &self.tracer.memory, sites: &self.tracer.sites };
        if let Some((jump, function_ranges)) = &event_site.jump {
            let to = displaced_step::jump_target(jump, &regs, &memory);
            if to.is_none_or(|to| function_ranges.iter().any(|range| range.contains(&to))) {
                return Ok(());
            }
        }
        let registers = fetch_registers(tid, &regs, event_site.needs);
        let mut saved = self.values_to_save(plan, site_index, &registers);
        let return_address = memory.word(regs.rsp).ok();
        let mut entry = (role == SiteRole::Entry)
            .then_some((site_index, [regs.rdi, regs.rsi, regs.rdx, regs.rcx, regs.r8, regs.r9]));
        self.drop_abandoned_calls(tid, regs.rsp);
        // A noted call at this stack pointer is this one, or was abandoned by a jump.
        let noted_call = match role {
            SiteRole::TailCall => self.take_noted_call(tid, plan_index)?,
            _ => self.remove_noted_call(tid, plan_index, regs.rsp),
        };
        if let (SiteRole::TailCall, Some(noted_call)) = (role, noted_call) {
            // Values noted at the entry take precedence over values read at the exit.
            for (value, noted) in saved.iter_mut().zip(noted_call.saved) {
                if value.as_ref().is_none_or(|value| matches!(value, Scalar::Unavailable(_))) {
                    *value = noted;
                }
            }
            entry = noted_call.entry;
        }
        let mut call = NotedCall { event, sp: regs.rsp, saved, entry, return_site: None };
        match (role, return_address) {
            // If this is not a return address, the call will not return.
            (SiteRole::TailCall, Some(address)) if self.program.is_code(address) => {
                call.return_site = self.return_site_of(address, self.can_save_in_agent(plan_index, &call))?;
            }
            (SiteRole::TailCall, _) => return Ok(()),
            _ => {}
        }
        if let Some(call) = self.note_call_in_agent(tid, plan_index, call)? {
            if let Some(site) = call.return_site {
                self.add_trap_reason(site, TrapReason::TailReturn);
            }
            self.tracer.thread(tid)?.calls.push(call);
        }
        Ok(())
    }

    /// Reads the values that are available at a site of a call that has not returned.
    fn values_to_save(
        &self,
        plan: &EventPlan,
        site_index: u32,
        registers: &Registers,
    ) -> Vec<Option<Scalar>> {
        let memory = CleanMemory { memory: &self.tracer.memory, sites: &self.tracer.sites };
        let reads = plan.sites[site_index as usize].reads.iter().zip(&plan.params);
        let saved = reads.map(|(extractor, param)| match &param.source {
            // Not known yet.
            ParamSource::Ret => None,
            source if is_pointee_of_argument(source) => None,
            _ => extractor.as_ref().map(|e| e.read(registers, &memory, &self.program, &self.types)),
        });
        saved.collect()
    }

    /// Takes the noted call of a thread that is at a function's exit or tail call.
    pub(super) fn take_noted_call(&mut self, tid: Tid, plan: u32) -> TargetResult<Option<NotedCall>> {
        if !self.plans.get(plan).sites.iter().any(|event_site| event_site.role == SiteRole::Entry) {
            return Ok(None);
        }
        let sp = self.tracer.thread(tid)?.registers().map_err(trace_error)?.rsp;
        // The debugger's calls are newer than the library's.
        if let Some(noted_call) = self.remove_noted_call(tid, plan, sp) {
            return Ok(Some(noted_call));
        }
        let entries = self.agent_calls(tid)?;
        Ok(entries
            .iter()
            .filter(|call| call.sp == sp)
            .find_map(|call| self.noted_call_from_entry(plan, call)))
    }

    /// Removes the call that was noted at this stack pointer and has made no tail call.
    fn remove_noted_call(&mut self, tid: Tid, plan: u32, sp: u64) -> Option<NotedCall> {
        let event = self.plans.get(plan).event;
        let calls = &mut self.tracer.threads.get_mut(&tid)?.calls;
        let same = |call: &NotedCall| call.event == event && call.sp == sp && call.return_site.is_none();
        calls.iter().rposition(same).map(|index| calls.remove(index))
    }

    /// Converts a call whose entry the library has noted, if it belongs to this plan.
    pub(crate) fn noted_call_from_entry(&self, plan: u32, call: &CallEntry) -> Option<NotedCall> {
        let plan = Some(self.plans.get(plan)).filter(|plan| self.can_note_in_agent(plan))?;
        let is_entry =
            |event_site: &EventSite| event_site.role == SiteRole::Entry && event_site.site.0 == call.site;
        let site_index = plan.sites.iter().position(is_entry)? as u32;
        let mut registers = argument_registers(&call.arguments);
        registers.set(invigil_debuginfo::machine::RSP, Some(call.sp));
        let saved = self.values_to_save(plan, site_index, &registers);
        let entry = Some((site_index, call.arguments));
        Some(NotedCall { event: plan.event, sp: call.sp, saved, entry, return_site: None })
    }

    /// Value of a parameter at the exit, from what was noted at the entry.
    pub(super) fn noted_value(&self, plan: &EventPlan, call: &NotedCall, position: usize) -> Option<Scalar> {
        if !is_pointee_of_argument(&plan.params[position].source) {
            return call.saved.get(position)?.clone();
        }
        let (site_index, arguments) = &call.entry?;
        let extractor = plan.sites.get(*site_index as usize)?.reads.get(position)?.as_ref()?;
        let memory = CleanMemory { memory: &self.tracer.memory, sites: &self.tracer.sites };
        Some(extractor.read(&argument_registers(arguments), &memory, &self.program, &self.types))
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
        let mut returned = Vec::new();
        let mut at = thread.calls.len();
        while at > 0 {
            at -= 1;
            if thread.calls[at].sp == sp && thread.calls[at].return_site == Some(site) {
                returned.push(thread.calls.remove(at));
            }
        }
        for call in returned {
            self.remove_trap_reason(site, TrapReason::TailReturn);
            let index = self.plans.all.iter().position(|plan| plan.event == call.event);
            let Some(plan) = index.map(|index| &self.plans.all[index]) else { continue };
            if !plan.active {
                continue;
            }
            let registers = fetch_registers(tid, &regs, RegisterNeeds::Vector);
            let memory = CleanMemory { memory: &self.tracer.memory, sites: &self.tracer.sites };
            let mut values = Vec::new();
            for (position, param) in plan.params.iter().enumerate() {
                let value = match &param.source {
                    ParamSource::Ret => {
                        // Read as at one of the function's own exits.
                        let mut event_sites = plan.sites.iter();
                        let extractor =
                            event_sites.find_map(|event_site| event_site.reads.get(position)?.as_ref());
                        match extractor {
                            Some(extractor) => to_monitor_value(
                                &extractor.read(&registers, &memory, &self.program, &self.types),
                                param.ty,
                                &mut self.batch,
                            ),
                            None => Value::int(regs.rax as i64),
                        }
                    }
                    source => match self.noted_value(plan, &call, position) {
                        Some(scalar) => to_monitor_value(&scalar, param.ty, &mut self.batch),
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

/// Converts noted arguments to the registers that held them at the entry.
fn argument_registers(arguments: &[u64; 6]) -> Registers {
    let mut registers = Registers::default();
    for (register, value) in ARGUMENTS.into_iter().zip(arguments) {
        registers.set(register, Some(*value));
    }
    registers
}

/// Removes calls that were abandoned by a jump. Returns their return sites.
fn remove_abandoned(calls: &mut Vec<NotedCall>, sp: u64) -> Vec<SiteId> {
    let mut return_sites = Vec::new();
    calls.retain(|call| {
        let is_abandoned = call.sp < sp && sp - call.sp < MAX_STACK_SIZE;
        if is_abandoned {
            return_sites.extend(call.return_site);
        }
        !is_abandoned
    });
    return_sites
}
