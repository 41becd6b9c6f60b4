//! Calls that have not returned, with the values that their exit events need from the entry or the tail call.

use super::params::{builtin_value, fetch_registers, is_pointee_of_argument, to_monitor_value};
use super::{EventPlan, EventSite, SiteRole};
use crate::displaced_step;
use crate::native_target::{CleanMemory, NativeTarget};
use crate::sites::SiteId;
use crate::sys::Tid;
use crate::traced_thread::PendingCall;
use crate::tracer::trace_error;
use crate::trap_reasons::TrapReason;
use invigil_debuginfo::machine::{ARGUMENTS, Memory, Registers};
use invigil_debuginfo::value::{RegisterNeeds, Scalar};
use invigil_expr::value::Value;
use invigil_monitor::event::{EventMeta, ParamSource};
use invigil_probe::pending_calls::{MAX_STACK_SIZE, PendingCall as AgentCall};
use invigil_target::TargetResult;

impl NativeTarget {
    /// Saves the values that an exit event needs, at the entry of the function or at a tail call.
    pub(crate) fn track_call(&mut self, tid: Tid, plan_index: u32, site_index: u32) -> TargetResult {
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
            .ok_or_else(|| trace_error(std::io::Error::other(format!("thread {tid} has exited"))))?;
        let regs = thread.registers().map_err(trace_error)?;
        thread.prefetch_registers = true;
        let memory = CleanMemory { memory: &self.tracer.memory, sites: &self.tracer.sites };
        if let Some((jump, function_ranges)) = &event_site.jump {
            let target = displaced_step::jump_target(jump, &regs, &memory);
            if target.is_none_or(|target| function_ranges.iter().any(|range| range.contains(&target))) {
                return Ok(());
            }
        }
        let registers = fetch_registers(tid, &regs, event_site.needs);
        let mut saved = self.values_to_save(plan, site_index, &registers);
        let return_address = memory.word(regs.rsp).ok();
        let mut entry = (role == SiteRole::Entry)
            .then_some((site_index, [regs.rdi, regs.rsi, regs.rdx, regs.rcx, regs.r8, regs.r9]));
        self.drop_unwound_calls(tid, regs.rsp);
        // A pending call at this stack pointer belongs to this call, or was unwound by `longjmp` or an exception.
        let pending_call = match role {
            SiteRole::TailCall => self.find_pending_call(tid, plan_index)?,
            _ => self.remove_pending_call(tid, plan_index, regs.rsp),
        };
        if let (SiteRole::TailCall, Some(pending_call)) = (role, pending_call) {
            // Values that cannot be read at the tail call are taken from the entry.
            for (value, saved_at_entry) in saved.iter_mut().zip(pending_call.saved) {
                if value.as_ref().is_none_or(|value| matches!(value, Scalar::Unavailable(_))) {
                    *value = saved_at_entry;
                }
            }
            entry = pending_call.entry;
        }
        let mut call = PendingCall { event, sp: regs.rsp, saved, entry, return_site: None };
        match (role, return_address) {
            // If this is not a return address, the call will not return.
            (SiteRole::TailCall, Some(address)) if self.program.is_code(address) => {
                call.return_site = self.return_site_of(address, self.can_save_in_agent(plan_index, &call))?;
            }
            (SiteRole::TailCall, _) => return Ok(()),
            _ => {}
        }
        if let Some(call) = self.track_call_in_agent(tid, plan_index, call)? {
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

    /// Finds the pending call of a thread at a function's exit or tail call; removes it if the debugger tracks it.
    pub(super) fn find_pending_call(
        &mut self,
        tid: Tid,
        plan_index: u32,
    ) -> TargetResult<Option<PendingCall>> {
        if !self.plans.get(plan_index).sites.iter().any(|event_site| event_site.role == SiteRole::Entry) {
            return Ok(None);
        }
        let sp = self.tracer.thread(tid)?.registers().map_err(trace_error)?.rsp;
        // The debugger's calls are newer than the agent's.
        if let Some(pending_call) = self.remove_pending_call(tid, plan_index, sp) {
            return Ok(Some(pending_call));
        }
        let agent_calls = self.agent_calls(tid)?;
        Ok(agent_calls
            .iter()
            .filter(|call| call.sp == sp)
            .find_map(|call| self.pending_call_of_agent(plan_index, call)))
    }

    /// Removes the pending call with this stack pointer that has made no tail call.
    fn remove_pending_call(&mut self, tid: Tid, plan_index: u32, sp: u64) -> Option<PendingCall> {
        let event = self.plans.get(plan_index).event;
        let calls = &mut self.tracer.threads.get_mut(&tid)?.calls;
        let same = |call: &PendingCall| call.event == event && call.sp == sp && call.return_site.is_none();
        calls.iter().rposition(same).map(|index| calls.remove(index))
    }

    /// Converts a call that the agent tracks, if it belongs to this plan.
    pub(crate) fn pending_call_of_agent(&self, plan_index: u32, call: &AgentCall) -> Option<PendingCall> {
        let plan = Some(self.plans.get(plan_index)).filter(|plan| self.can_track_in_agent(plan))?;
        let is_entry =
            |event_site: &EventSite| event_site.role == SiteRole::Entry && event_site.site.0 == call.site;
        let site_index = plan.sites.iter().position(is_entry)? as u32;
        let mut registers = argument_registers(&call.arguments);
        registers.set(invigil_debuginfo::machine::RSP, Some(call.sp));
        let saved = self.values_to_save(plan, site_index, &registers);
        let entry = Some((site_index, call.arguments));
        Some(PendingCall { event: plan.event, sp: call.sp, saved, entry, return_site: None })
    }

    /// Returns a parameter's value at the exit: the saved value or, for the pointee of an argument, what the saved
    /// pointer refers to now.
    pub(super) fn saved_value(
        &self,
        plan: &EventPlan,
        call: &PendingCall,
        position: usize,
    ) -> Option<Scalar> {
        if !is_pointee_of_argument(&plan.params[position].source) {
            return call.saved.get(position)?.clone();
        }
        let (site_index, arguments) = &call.entry?;
        let extractor = plan.sites.get(*site_index as usize)?.reads.get(position)?.as_ref()?;
        let memory = CleanMemory { memory: &self.tracer.memory, sites: &self.tracer.sites };
        Some(extractor.read(&argument_registers(arguments), &memory, &self.program, &self.types))
    }

    /// Drops calls that were unwound by `longjmp` or an exception.
    fn drop_unwound_calls(&mut self, tid: Tid, sp: u64) {
        let Some(thread) = self.tracer.threads.get_mut(&tid) else { return };
        for site in remove_unwound(&mut thread.calls, sp) {
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
                    source => match self.saved_value(plan, &call, position) {
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

/// Converts saved arguments to the registers that held them at the entry.
fn argument_registers(arguments: &[u64; 6]) -> Registers {
    let mut registers = Registers::default();
    for (register, value) in ARGUMENTS.into_iter().zip(arguments) {
        registers.set(register, Some(*value));
    }
    registers
}

/// Removes calls that were unwound by `longjmp` or an exception. Returns their return sites.
fn remove_unwound(calls: &mut Vec<PendingCall>, sp: u64) -> Vec<SiteId> {
    let mut return_sites = Vec::new();
    calls.retain(|call| {
        let is_unwound = call.sp < sp && sp - call.sp < MAX_STACK_SIZE;
        if is_unwound {
            return_sites.extend(call.return_site);
        }
        !is_unwound
    });
    return_sites
}
