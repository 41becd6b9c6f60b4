//! Enables the traps of the needed events, and no others.

use super::Trigger;
use crate::native_target::NativeTarget;
use crate::trap_reasons::TrapReason;
use crate::watchpoints::{AccessKind, WatchReason};
use invigil_monitor::event::EventSet;
use invigil_target::TargetResult;

impl NativeTarget {
    /// Instruments these events only. While monitors are embedded, all events stay instrumented; the set takes effect
    /// afterwards.
    pub(crate) fn instrument(&mut self, needed: &EventSet) -> TargetResult {
        match &mut self.probes.needed_events {
            Some(needed_events) => {
                needed_events.clone_from(needed);
                Ok(())
            }
            None => self.activate(needed),
        }
    }

    /// Instruments these events only.
    pub(crate) fn activate(&mut self, needed: &EventSet) -> TargetResult {
        for index in 0..self.plans.all.len() {
            let plan = &mut self.plans.all[index];
            let is_needed = needed.contains(plan.event);
            if plan.active == is_needed {
                continue;
            }
            plan.active = is_needed;
            let is_exit = plan.trigger == Trigger::Exit;
            for event_site in &plan.sites {
                if is_needed {
                    self.tracer.sites.add_trap_ref(&self.tracer.memory, event_site.site);
                } else {
                    self.tracer.sites.remove_trap_ref(&self.tracer.memory, event_site.site);
                }
            }
            match plan.trigger.clone() {
                Trigger::Access(access) if is_needed => self.watch_event(index, access)?,
                Trigger::Access(_) => {
                    if let Some(watchpoint) = plan.watchpoint.take() {
                        self.unwatch(watchpoint)?;
                    }
                }
                Trigger::Syscall { .. } => self.update_syscall_tracing()?,
                Trigger::Location | Trigger::Exit | Trigger::Predefined(_) | Trigger::WithoutSite => {}
            }
            if is_exit {
                if is_needed { self.track_threads_at_entry(index)? } else { self.forget_calls(index) }
            }
        }
        Ok(())
    }

    /// Tracks the calls of threads that are at the entry of a function, whose exit can still be observed.
    fn track_threads_at_entry(&mut self, index: usize) -> TargetResult {
        let at_site = self.tracer.threads.values().filter(|thread| !thread.is_foreign_process);
        let at_site: Vec<_> = at_site.filter_map(|thread| Some((thread.tid, thread.at_site?))).collect();
        for (tid, site) in at_site {
            for event_site in 0..self.plans.all[index].sites.len() {
                if self.plans.all[index].sites[event_site].site == site {
                    self.track_call(tid, index as u32, event_site as u32)?;
                }
            }
        }
        Ok(())
    }

    /// Removes the calls tracked for exits that are no longer needed; otherwise they would become stale.
    fn forget_calls(&mut self, index: usize) {
        let event = self.plans.all[index].event;
        let mut returns = Vec::new();
        for thread in self.tracer.threads.values_mut() {
            let forgotten = thread.calls.extract_if(.., |call| call.event == event);
            returns.extend(forgotten.filter_map(|call| call.return_site));
        }
        for site in returns {
            self.remove_trap_reason(site, TrapReason::TailReturn);
        }
    }

    /// Enables or disables stops at system calls.
    pub(crate) fn update_syscall_tracing(&mut self) -> TargetResult {
        let is_needed =
            self.plans.needs_syscalls() || self.watchpoints.has_pages() || self.has_debug_registers();
        if self.tracer.trace_syscalls != is_needed {
            self.tracer.trace_syscalls = is_needed;
            // Running threads stop at system calls only after they are resumed again.
            self.tracer.stop_all()?;
        }
        Ok(())
    }

    /// Watches memory for active events that are not watched yet, after exec or when images were loaded.
    pub(super) fn rewatch_events(&mut self) -> TargetResult {
        for index in 0..self.plans.all.len() {
            let plan = &self.plans.all[index];
            if let (true, Trigger::Access(access), None) =
                (plan.active, plan.trigger.clone(), &plan.watchpoint)
            {
                self.watch_event(index, access)?;
            }
        }
        Ok(())
    }

    fn watch_event(&mut self, index: usize, access: AccessKind) -> TargetResult {
        let name = self.plans.all[index].name.clone();
        // A local variable can be watched only while its function runs.
        let watchpoint = match self.extent_of(&name) {
            Ok((value, range)) => Some(self.watch(value, range, access, WatchReason::Event(index as u32))?),
            Err(_) => None,
        };
        self.plans.all[index].watchpoint = watchpoint;
        Ok(())
    }

    /// Records that the call whose variable an event watches has returned.
    pub(crate) fn event_watch_ended(&mut self, plan: u32) {
        if let Some(plan) = self.plans.all.get_mut(plan as usize) {
            plan.watchpoint = None;
        }
    }

    /// Whether a plan is instrumented now.
    pub(crate) fn is_plan_active(&self, plan: u32) -> bool {
        self.plans.all.get(plan as usize).is_some_and(|plan| plan.active)
    }
}
