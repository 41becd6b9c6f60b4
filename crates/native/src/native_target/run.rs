//! The run loop: runs the target until the next stop to report, and dispatches stops to their owners.

use super::NativeTarget;
use super::signals::detail;
use crate::images;
use crate::sites::SiteId;
use crate::sys::Tid;
use crate::tracer::{TraceStop, Tracer, signal_name};
use crate::trap_reasons::TrapReason;
use invigil_monitor::predefined_event::PredefinedEvent;
use invigil_target::pending_owners::OwnerSet;
use invigil_target::{Owner, StopReason, TargetResult};
use std::time::Instant;

impl NativeTarget {
    /// Runs the target until there is a stop to report.
    pub(crate) fn run(&mut self) -> TargetResult<StopReason> {
        self.deactivate_unused_probes()?;
        loop {
            let stop = self.run_to_stop()?;
            // Events that embedded monitors have processed are not reported unless a reaction is due.
            let stops = stop != StopReason::Events
                || !self.probes.are_probes_used
                || self.probes.has_fetched_reaction()
                || self.deliver_to_agent()?;
            if stops {
                return Ok(stop);
            }
        }
    }

    fn run_to_stop(&mut self) -> TargetResult<StopReason> {
        if let Some(ending) = &self.termination {
            return Ok(StopReason::Ended(ending.clone()));
        }
        if let Some(tid) = self.event_thread
            && let Some(stop) = self.dispatch_stop(tid)?
        {
            return Ok(stop);
        }
        if let Some(info) = self.pending_signal.take() {
            return self
                .stop_for_user(StopReason::Signal { name: signal_name(info.number), detail: detail(info) });
        }
        if let Some(stop) = self.finish_dispatch()? {
            return Ok(stop);
        }
        loop {
            let trace_stop = self.tracer.next_stop()?;
            if let Some(stop) = self.handle_trace_stop(trace_stop)? {
                return Ok(stop);
            }
        }
    }

    /// Resumes the thread after every owner at the site was notified, unless a step finishes there.
    fn finish_dispatch(&mut self) -> TargetResult<Option<StopReason>> {
        if let Some(tid) = self.event_thread
            && self.step_ends_here(tid)?
        {
            return self.continue_step(tid);
        }
        self.resume_program()?;
        Ok(None)
    }

    /// Resumes the target.
    pub(crate) fn resume_program(&mut self) -> TargetResult {
        if let Some(tid) = self.thread_to_step_alone()
            && self.tracer.threads.contains_key(&tid)
        {
            self.event_thread = None;
            self.tracer.stop_all()?;
            self.await_tail_returns()?;
            self.tracer.thread(tid)?.single_step = true;
            return self.tracer.cont(tid);
        }
        if self.tracer.is_all_stopped() {
            self.event_thread = None;
            self.insert_jumps()?;
            return self.tracer.cont_all();
        }
        self.event_thread.take().map_or(Ok(()), |tid| self.tracer.cont(tid))
    }

    /// Handles a stop. Returns the stop reason if it must be reported.
    fn handle_trace_stop(&mut self, trace_stop: TraceStop) -> TargetResult<Option<StopReason>> {
        match trace_stop {
            TraceStop::SiteHit { tid, site } => return self.on_site_hit(tid, site),
            TraceStop::ReactionDue { tid } => return self.on_reaction_due(tid).map(Some),
            TraceStop::Stepped { tid } => return self.on_single_step(tid),
            TraceStop::Syscall { tid, entering } => return self.handle_syscall(tid, entering),
            TraceStop::Signal { tid, info } => return self.on_signal(tid, info),
            TraceStop::ThreadStarted { tid } => {
                self.tracer.admit_thread(tid);
                self.cpu_affinity.on_inherit(tid);
                if let Some(stop) = self.emit_lifecycle_event(tid, PredefinedEvent::Thread)? {
                    return Ok(Some(stop));
                }
                self.tracer.cont(tid)?;
            }
            TraceStop::ThreadExited { tid } => {
                self.watchpoints.before_call.remove(&tid);
                if self.current == tid {
                    self.current = self.tracer.process;
                }
                return self.emit_lifecycle_event(tid, PredefinedEvent::ThreadExit);
            }
            TraceStop::Fork { tid, child } => {
                self.plans.last_child = child;
                self.cpu_affinity.on_inherit(child);
                // A child that shares the memory also shares its watched pages.
                if !self.tracer.threads.contains_key(&child) {
                    self.unprotect_in_child(child);
                }
                self.tracer.release_child(child)?;
                // A process that only shares the memory is not followed.
                let is_own = self.tracer.threads.get(&tid).is_none_or(|thread| !thread.is_foreign_process);
                if is_own && let Some(stop) = self.emit_lifecycle_event(tid, PredefinedEvent::Fork)? {
                    return Ok(Some(stop));
                }
                self.tracer.cont(tid)?;
            }
            TraceStop::Exec { tid } => {
                self.on_exec()?;
                self.restart_recording()?;
                let event = self.emit_lifecycle_event(tid, PredefinedEvent::Exec)?;
                if let Some(stop) = self.with_pending_events(event) {
                    return Ok(Some(stop));
                }
                if self.is_recording() { self.resume_program() } else { self.tracer.cont(tid) }?;
            }
            TraceStop::AllStopped => self.resume_program()?,
            TraceStop::Interrupted { tid } => {
                self.current = tid;
                return self.stop_for_user(StopReason::Interrupted).map(Some);
            }
            TraceStop::ProcessExited { status } => {
                let ending = Tracer::termination(status);
                self.termination = Some(ending.clone());
                self.event_thread = None;
                self.save_log();
                let event = self.emit_lifecycle_event(self.tracer.process, PredefinedEvent::Exit)?;
                if let Some(stop) = self.with_pending_events(event) {
                    return Ok(Some(stop));
                }
                return Ok(Some(StopReason::Ended(ending)));
            }
        }
        Ok(None)
    }

    /// Stops all threads for the user.
    pub(crate) fn stop_for_user(&mut self, stop: StopReason) -> TargetResult<StopReason> {
        self.cancel_step();
        self.frame = 0;
        self.cpu_affinity.unpin_all();
        self.tracer.stop_all()?;
        Ok(stop)
    }

    /// Stops all threads without a stop reason.
    pub(crate) fn suspend(&mut self) -> TargetResult {
        self.cancel_step();
        self.cpu_affinity.unpin_all();
        if self.termination.is_some() { Ok(()) } else { self.tracer.stop_all() }
    }

    /// Handles a thread that has arrived at a site.
    pub(crate) fn on_site_hit(&mut self, tid: Tid, site: SiteId) -> TargetResult<Option<StopReason>> {
        self.stopped_at = Instant::now();
        self.cpu_affinity.on_stop(tid, self.stopped_at);
        let (mut is_loader_stop, mut is_frame_end) = (false, false);
        for index in 0..self.trap_reasons.at(site).len() {
            match self.trap_reasons.at(site)[index] {
                TrapReason::Event { plan_index, site_index } => {
                    self.track_call(tid, plan_index, site_index)?
                }
                TrapReason::Loader => is_loader_stop = true,
                TrapReason::FrameEnd { .. } => is_frame_end = true,
                _ => {}
            }
        }
        if is_frame_end {
            self.end_frame_watchpoints(tid, site)?;
        }
        if is_loader_stop && images::is_consistent(&self.program, &self.clean_memory()) {
            self.on_images_changed()?;
            self.record_new_sites()?;
        }
        self.event_thread = Some(tid);
        self.current = tid;
        self.frame = 0;
        match self.dispatch_stop(tid)? {
            Some(stop) => Ok(Some(stop)),
            None => self.finish_dispatch(),
        }
    }

    /// Notifies the owners at a thread's site, one after the other, until one of them needs a stop.
    fn dispatch_stop(&mut self, tid: Tid) -> TargetResult<Option<StopReason>> {
        if self.watchpoints.pending_access.is_some()
            && let Some(stop) = self.notify_access()?
        {
            return Ok(Some(stop));
        }
        loop {
            let Some(thread) = self.tracer.threads.get_mut(&tid) else {
                self.event_thread = None;
                return Ok(None);
            };
            let Some(site) = thread.at_site else { return Ok(None) };
            let notified = thread.notified;
            let Some(owner) = self.owners_at(site).next_pending(notified) else { return Ok(None) };
            if let Some(thread) = self.tracer.threads.get_mut(&tid) {
                thread.notified = notified.with(owner);
            }
            let stop = match owner {
                Owner::Monitors => self.emit_all(tid, site)?,
                owner => self.on_breakpoints_hit(tid, site, owner)?,
            };
            if stop.is_some() {
                return Ok(stop);
            }
        }
    }

    /// The owners at a site.
    fn owners_at(&self, site: SiteId) -> OwnerSet {
        let mut owners = OwnerSet::default();
        for reason in self.trap_reasons.at(site) {
            match reason {
                TrapReason::Event { plan_index, site_index }
                    if !self.plans.emits(*plan_index, *site_index) => {}
                TrapReason::Event { .. } | TrapReason::TailReturn => owners = owners.with(Owner::Monitors),
                TrapReason::Breakpoint(id) => {
                    if let Some(owner) = self.breakpoints.owner(*id) {
                        owners = owners.with(owner);
                    }
                }
                TrapReason::Loader | TrapReason::StepEnd { .. } | TrapReason::FrameEnd { .. } => {}
            }
        }
        owners
    }
}
