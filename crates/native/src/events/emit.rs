//! Emits events: reads their parameters in the stopped thread.

use super::Trigger;
use super::params::{builtin_value, compile, fetch_registers, form, value, wanted};
use crate::native_target::{CleanMemory, NativeTarget};
use crate::site_users::TrapReason;
use crate::sites::SiteId;
use crate::sys::Tid;
use crate::tracer::trace_error;
use invigil_debuginfo::machine::Registers;
use invigil_debuginfo::program::Program;
use invigil_debuginfo::value::{RegisterNeeds, Scalar, TypeIndex as Types, ValueRequest};
use invigil_expr::value::Value;
use invigil_monitor::event::{EventMeta, ParamSource, ParamType};
use invigil_session::target::{StopReason, TargetResult};

impl NativeTarget {
    /// Emits all events of a site.
    pub(crate) fn emit_all(&mut self, tid: Tid, site: SiteId) -> TargetResult<Option<StopReason>> {
        self.batch.clear();
        let mut returns = false;
        for index in 0..self.site_users.at(site).len() {
            match self.site_users.at(site)[index] {
                TrapReason::Event { plan, event_site } if self.plans.emits(plan, event_site) => {
                    self.emit(tid, plan, event_site)?
                }
                TrapReason::TailReturn => returns = true,
                _ => {}
            }
        }
        if returns {
            self.emit_tail_returns(tid, site)?;
        }
        Ok((!self.batch.is_empty()).then_some(StopReason::Events))
    }

    fn emit(&mut self, tid: Tid, plan: u32, event_site: u32) -> TargetResult {
        let noted_call = match self.plans.get(plan).trigger {
            Trigger::Exit => self.take_noted_call(tid, plan)?,
            _ => None,
        };
        let entry = &self.plans.all[plan as usize];
        let at = &entry.sites[event_site as usize];
        let Some(thread) = self.tracer.threads.get_mut(&tid) else { return Ok(()) };
        let read = match at.needs {
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
        let view = CleanMemory { memory: &self.tracer.memory, sites: &self.tracer.sites };
        let mut values = std::mem::take(&mut self.plans.values);
        values.clear();
        let time = self.stopped_at.duration_since(self.started).as_secs_f64();
        for (position, (param, extractor)) in entry.params.iter().zip(&at.reads).enumerate() {
            let plain =
                extractor.as_ref().map(|extractor| extractor.read(&read, &view, &self.program, &self.types));
            let value = match plain {
                None => builtin_value(&param.source, tid, self.tracer.process, time),
                Some(Scalar::Unavailable(_)) => Value::UNSET,
                Some(plain) => value(&plain, param.ty, &mut self.batch),
            };
            let noted = noted_call.as_ref().filter(|_| value.is_unset());
            let value = match noted.and_then(|call| self.noted_value(entry, call, position)) {
                Some(then) => self::value(&then, param.ty, &mut self.batch),
                None => value,
            };
            values.push(value);
        }
        self.batch.push(entry.event, &values, EventMeta { time, line: 0 });
        self.plans.values = values;
        Ok(())
    }

    /// Emits an event about an accessed object, whose current value is `returned`.
    pub(crate) fn emit_access(&mut self, tid: Tid, plan: u32, returned: &Scalar) -> TargetResult {
        let entry = &self.plans.all[plan as usize];
        let Some(thread) = self.tracer.threads.get_mut(&tid) else { return Ok(()) };
        let regs = thread.registers().map_err(trace_error)?;
        let read = fetch_registers(tid, &regs, RegisterNeeds::Vector);
        let view = CleanMemory { memory: &self.tracer.memory, sites: &self.tracer.sites };
        let time = self.started.elapsed().as_secs_f64();
        let mut values = Vec::new();
        for param in &entry.params {
            let value = match &param.source {
                ParamSource::Ret => value(returned, param.ty, &mut self.batch),
                ParamSource::Name(name) if *name == entry.name => value(returned, param.ty, &mut self.batch),
                source => match form(source) {
                    None => builtin_value(source, tid, self.tracer.process, time),
                    Some(form) => read_here(&self.program, &self.types, &read, &view, form.ok(), param.ty)
                        .map_or(Value::UNSET, |plain| value(&plain, param.ty, &mut self.batch)),
                },
            };
            values.push(value);
        }
        self.batch.push(entry.event, &values, EventMeta { time, line: 0 });
        Ok(())
    }
}

/// Reads a value whose location is determined only at the stop.
fn read_here(
    program: &Program,
    types: &Types,
    read: &Registers,
    view: &CleanMemory<'_>,
    form: Option<ValueRequest>,
    ty: Option<ParamType>,
) -> Option<Scalar> {
    let extractor = compile(program, types, None, read.pc(), &form?, wanted(ty)).ok()?;
    Some(extractor.read(read, view, program, types))
}
