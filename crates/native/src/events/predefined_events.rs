//! Predefined events (signals, processes, threads) and events of system calls.

use super::params::{builtin_value, to_monitor_value};
use super::{EventPlan, Trigger};
use crate::native_target::{CleanMemory, NativeTarget};
use crate::sys::{Regs, SignalInfo, Tid};
use crate::tracer::{signal_name, trace_error};
use invigil_debuginfo::value::Scalar;
use invigil_expr::value::Value;
use invigil_monitor::event::{EventMeta, ParamSource, ParamType};
use invigil_monitor::predefined_event::PredefinedEvent;
use invigil_target::{StopReason, TargetResult};

impl NativeTarget {
    /// Emits the event of a process or thread, if it is instrumented.
    pub(crate) fn emit_lifecycle_event(
        &mut self,
        tid: Tid,
        event: PredefinedEvent,
    ) -> TargetResult<Option<StopReason>> {
        let child = self.plans.last_child;
        let process = self.tracer.process;
        let path = || std::fs::read_link(format!("/proc/{process}/exe")).unwrap_or_default();
        let status = match &self.termination {
            Some(invigil_target::Termination::Exited(status)) => Some(*status),
            _ => None,
        };
        self.emit_predefined_event(tid, event, |param| match (event, param) {
            (PredefinedEvent::Fork, "child") => Some(Scalar::Int(child.into())),
            (PredefinedEvent::Thread | PredefinedEvent::ThreadExit, "thread" | "id" | "tid") => {
                Some(Scalar::Int(tid.into()))
            }
            (PredefinedEvent::Exec, "path") => Some(Scalar::Str(path().display().to_string())),
            (PredefinedEvent::Exit, "status") => status.map(|status| Scalar::Int(status.into())),
            // Names that the event does not supply. Each event is listed, so that a new one is not forgotten.
            (
                PredefinedEvent::Fork
                | PredefinedEvent::Thread
                | PredefinedEvent::ThreadExit
                | PredefinedEvent::Exec
                | PredefinedEvent::Exit,
                _,
            ) => None,
            // See `emit_signal_event`; the others come from traces and scripts only.
            (
                PredefinedEvent::Signal
                | PredefinedEvent::Join
                | PredefinedEvent::Leave
                | PredefinedEvent::Tick,
                _,
            ) => None,
        })
    }

    /// Emits the event of a signal, if it is instrumented.
    pub(crate) fn emit_signal_event(
        &mut self,
        tid: Tid,
        info: SignalInfo,
    ) -> TargetResult<Option<StopReason>> {
        self.emit_predefined_event(tid, PredefinedEvent::Signal, |param| match param {
            "signal" | "number" => Some(Scalar::Int(info.number.into())),
            "name" => Some(Scalar::Str(signal_name(info.number))),
            "address" => Some(Scalar::Int(info.address as i64)),
            "sender" => Some(Scalar::Int(info.sender.into())),
            _ => None,
        })
    }

    /// Emits an event to the active plans. `param_value` returns the value of a parameter of the event.
    fn emit_predefined_event(
        &mut self,
        tid: Tid,
        event: PredefinedEvent,
        param_value: impl Fn(&str) -> Option<Scalar>,
    ) -> TargetResult<Option<StopReason>> {
        let is_active = |plan: &&EventPlan| plan.active && plan.trigger == Trigger::Predefined(event);
        if !self.plans.all.iter().any(|plan| is_active(&plan)) {
            return Ok(None);
        }
        self.batch.clear();
        let time = self.started.elapsed().as_secs_f64();
        for plan in self.plans.all.iter().filter(is_active) {
            let mut values = Vec::new();
            for param in &plan.params {
                let scalar = match &param.source {
                    ParamSource::Name(name) => param_value(name),
                    _ => None,
                };
                values.push(match scalar {
                    Some(scalar) => to_monitor_value(&scalar, param.ty, &mut self.batch),
                    None => builtin_value(&param.source, tid, self.tracer.process, time),
                });
            }
            self.batch.push(plan.event, &values, EventMeta { time, line: 0 });
        }
        self.current = tid;
        self.event_thread = self.tracer.threads.contains_key(&tid).then_some(tid);
        Ok(Some(StopReason::Events))
    }

    /// Handles the entry or exit of a system call.
    pub(crate) fn handle_syscall(&mut self, tid: Tid, entering: bool) -> TargetResult<Option<StopReason>> {
        let regs = self.tracer.thread(tid)?.registers().map_err(trace_error)?;
        let stop = match entering {
            true => match self.watch_syscall_entry(tid, &regs)? {
                Some(stop) => Some(stop),
                None => self.emit_syscall_events(tid, entering, &regs),
            },
            false => self.on_syscall_exit(tid, &regs)?,
        };
        if stop.is_none() {
            if self.tracer.is_all_stopped() { self.tracer.cont_all() } else { self.tracer.cont(tid) }?;
        }
        Ok(stop)
    }

    /// Emits the events of the exit of a system call.
    pub(crate) fn emit_syscall_exit(&mut self, tid: Tid) -> TargetResult<Option<StopReason>> {
        // If the call was repeated because of a protected page, it may block now, and the thread may have exited.
        let Some(thread) = self.tracer.threads.get_mut(&tid).filter(|thread| !thread.running) else {
            return Ok(None);
        };
        let regs = thread.registers().map_err(trace_error)?;
        Ok(self.emit_syscall_events(tid, false, &regs))
    }

    /// Emits the events at the entry or exit of a system call, if there are any.
    fn emit_syscall_events(&mut self, tid: Tid, entering: bool, regs: &Regs) -> Option<StopReason> {
        self.batch.clear();
        let time = self.started.elapsed().as_secs_f64();
        let memory = CleanMemory { memory: &self.tracer.memory, sites: &self.tracer.sites };
        for plan in self.plans.all.iter().filter(|plan| plan.active) {
            let trigger = Trigger::Syscall { number: regs.orig_rax as i64, after: !entering };
            if plan.trigger != trigger {
                continue;
            }
            let arguments = [regs.rdi, regs.rsi, regs.rdx, regs.r10, regs.r8, regs.r9];
            let mut values = Vec::new();
            for param in &plan.params {
                let raw = match &param.source {
                    ParamSource::Arg(i) => arguments.get((*i as usize).wrapping_sub(1)).copied(),
                    ParamSource::Ret if !entering => Some(regs.rax),
                    _ => None,
                };
                values.push(match (raw, param.ty) {
                    (Some(address), Some(ParamType::Str)) => {
                        invigil_debuginfo::value::text_at(&memory, address)
                            .map_or(Value::UNSET, |text| Value::of_text(&text, &mut self.batch.text))
                    }
                    (Some(raw), ty) => to_monitor_value(&Scalar::Int(raw as i64), ty, &mut self.batch),
                    (None, _) => builtin_value(&param.source, tid, self.tracer.process, time),
                });
            }
            self.batch.push(plan.event, &values, EventMeta { time, line: 0 });
        }
        if self.batch.is_empty() {
            return None;
        }
        self.current = tid;
        self.event_thread = Some(tid);
        Some(StopReason::Events)
    }
}
