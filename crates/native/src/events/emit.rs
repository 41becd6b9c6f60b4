//! Emits events: reads their parameters in the stopped thread.

use super::Trigger;
use super::params::{builtin_value, compile, fetch_registers, scalar_kind, to_monitor_value, value_request};
use crate::native_target::{CleanMemory, NativeTarget};
use crate::sites::SiteId;
use crate::sys::Tid;
use crate::tracer::trace_error;
use crate::trap_reasons::TrapReason;
use invigil_debuginfo::machine::Registers;
use invigil_debuginfo::program::Program;
use invigil_debuginfo::value::{RegisterNeeds, Scalar, TypeIndex as Types, ValueRequest};
use invigil_expr::value::Value;
use invigil_monitor::event::{EventMeta, ParamSource, ParamType};
use invigil_target::{StopReason, TargetResult};

impl NativeTarget {
    /// Emits all events of a site.
    pub(crate) fn emit_all(&mut self, tid: Tid, site: SiteId) -> TargetResult<Option<StopReason>> {
        self.batch.clear();
        let mut has_tail_returns = false;
        for index in 0..self.trap_reasons.at(site).len() {
            match self.trap_reasons.at(site)[index] {
                TrapReason::Event { plan_index, site_index } if self.plans.emits(plan_index, site_index) => {
                    self.emit(tid, plan_index, site_index)?
                }
                TrapReason::TailReturn => has_tail_returns = true,
                _ => {}
            }
        }
        if has_tail_returns {
            self.emit_tail_returns(tid, site)?;
        }
        Ok((!self.batch.is_empty()).then_some(StopReason::Events))
    }

    /// Emits the event of a plan at one of its sites.
    fn emit(&mut self, tid: Tid, plan_index: u32, site_index: u32) -> TargetResult {
        let pending_call = match self.plans.get(plan_index).trigger {
            Trigger::Exit => self.find_pending_call(tid, plan_index)?,
            _ => None,
        };
        let plan = &self.plans.all[plan_index as usize];
        let event_site = &plan.sites[site_index as usize];
        let Some(thread) = self.tracer.threads.get_mut(&tid) else { return Ok(()) };
        let registers = match event_site.needs {
            RegisterNeeds::Nothing => {
                thread.prefetch_registers = false;
                Registers::default()
            }
            needs => {
                let regs = thread.registers().map_err(trace_error)?;
                thread.prefetch_registers = true;
                fetch_registers(tid, &regs, needs)
            }
        };
        let memory = CleanMemory { memory: &self.tracer.memory, sites: &self.tracer.sites };
        let mut values = std::mem::take(&mut self.plans.values);
        values.clear();
        let time = self.stopped_at.duration_since(self.started).as_secs_f64();
        for (position, (param, extractor)) in plan.params.iter().zip(&event_site.reads).enumerate() {
            let scalar = extractor
                .as_ref()
                .map(|extractor| extractor.read(&registers, &memory, &self.program, &self.types));
            let value = match scalar {
                None => builtin_value(&param.source, tid, self.tracer.process, time),
                Some(Scalar::Unavailable(_)) => Value::UNSET,
                Some(scalar) => to_monitor_value(&scalar, param.ty, &mut self.batch),
            };
            let saved_call = pending_call.as_ref().filter(|_| value.is_unset());
            let value = match saved_call.and_then(|call| self.saved_value(plan, call, position)) {
                Some(saved) => to_monitor_value(&saved, param.ty, &mut self.batch),
                None => value,
            };
            values.push(value);
        }
        self.batch.push(plan.event, &values, EventMeta { time, line: 0 });
        self.plans.values = values;
        Ok(())
    }

    /// Emits an event about an accessed object with its current value.
    pub(crate) fn emit_access(&mut self, tid: Tid, plan_index: u32, current: &Scalar) -> TargetResult {
        let plan = &self.plans.all[plan_index as usize];
        let Some(thread) = self.tracer.threads.get_mut(&tid) else { return Ok(()) };
        let regs = thread.registers().map_err(trace_error)?;
        let registers = fetch_registers(tid, &regs, RegisterNeeds::Vector);
        let memory = CleanMemory { memory: &self.tracer.memory, sites: &self.tracer.sites };
        let time = self.started.elapsed().as_secs_f64();
        let mut values = Vec::new();
        for param in &plan.params {
            let value = match &param.source {
                ParamSource::Ret => to_monitor_value(current, param.ty, &mut self.batch),
                ParamSource::Name(name) if *name == plan.name => {
                    to_monitor_value(current, param.ty, &mut self.batch)
                }
                source => match value_request(source) {
                    None => builtin_value(source, tid, self.tracer.process, time),
                    Some(request) => {
                        read_at_stop(&self.program, &self.types, &registers, &memory, request.ok(), param.ty)
                            .map_or(Value::UNSET, |scalar| {
                                to_monitor_value(&scalar, param.ty, &mut self.batch)
                            })
                    }
                },
            };
            values.push(value);
        }
        self.batch.push(plan.event, &values, EventMeta { time, line: 0 });
        Ok(())
    }
}

/// Reads a value whose location is determined only at the stop.
fn read_at_stop(
    program: &Program,
    types: &Types,
    registers: &Registers,
    memory: &CleanMemory<'_>,
    request: Option<ValueRequest>,
    ty: Option<ParamType>,
) -> Option<Scalar> {
    let extractor = compile(program, types, None, registers.pc(), &request?, scalar_kind(ty)).ok()?;
    Some(extractor.read(registers, memory, program, types))
}
