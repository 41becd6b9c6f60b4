//! Starting and running the target: the loop of interactive runtime verification.

use crate::attached_monitor::AttachedMonitor;
use crate::outcome::{RunOutcome, StartError, StartOutcome, StateChange, SuspendReason};
use crate::session::{Session, State};
use invigil_monitor::embedded::EmbeddedMonitor;
use invigil_monitor::event::EventId;
use invigil_monitor::mac::MethodCall;
use invigil_monitor::verdict::Verdict;
use invigil_target::{
    BreakpointId, Owner, ResumeMode, StopReason, TargetError, TargetResult, Termination, UnresolvedEvent,
    Unsupported,
};

/// A method that an action of a script calls in a target that has none.
fn unsupported_call((event, call): &(EventId, MethodCall), why: Unsupported) -> UnresolvedEvent {
    UnresolvedEvent {
        event: *event,
        param: None,
        reason: format!("`{call}` cannot be called: {why}"),
        help: "remove the method, and let a scenario react instead: `on entering state invoked of …`"
            .to_owned(),
        pending: false,
    }
}

impl Session {
    /// Prepares the target, lets the scenarios react to the initial verdicts, and instruments the target for the first
    /// needed events.
    ///
    /// # Errors
    /// If the target lacks an event or a parameter of a property, or cannot be prepared.
    pub fn start(&mut self) -> Result<StartOutcome, StartError> {
        if self.state != State::New {
            return Ok(StartOutcome::default());
        }
        let mut unresolved = self.target.prepare(&self.catalog)?;
        // Derived events do not come from the target.
        unresolved.retain(|event| !self.derived.contains(event.event));
        if !self.calls.is_empty() {
            unresolved.extend(match self.target.method_calls() {
                Ok(methods) => methods.prepare_calls(&self.calls)?,
                Err(why) => self.calls.iter().map(|call| unsupported_call(call, why)).collect(),
            });
        }
        let (pending, unresolved): (Vec<_>, Vec<_>) = unresolved.into_iter().partition(|event| event.pending);
        if !unresolved.is_empty() {
            return Err(StartError::Unresolved(unresolved));
        }
        self.state = State::Ready;
        for property in 0..self.monitors.len() {
            self.report_initial_state(property);
        }
        self.initialize_scenarios();
        self.react();
        self.update_needs()?;
        if self.options.checkpoint_at_start || self.options.auto_checkpoint.is_some() {
            self.take_automatic_checkpoint();
        }
        let outcome = self.finish_stop()?;
        Ok(StartOutcome { pending, outcome })
    }

    /// Passes on the lines that a property printed when it started, and its initial verdict.
    fn report_initial_state(&mut self, property: usize) {
        self.pass_on_output(property);
        let attached = &mut self.monitors[property];
        let automaton = std::sync::Arc::clone(attached.monitor.automaton());
        attached.created += u64::from(automaton.slice_on.is_empty());
        self.check_failure(property, None);
        let attached = &self.monitors[property];
        let Some(root) = attached.monitor.slices().root() else { return };
        let state = &automaton.states[usize::from(automaton.initial)];
        if state.verdict == Verdict::NonAccepting && attached.failure.is_none() {
            self.violated_at_start(property, root);
        }
        let slices = self.monitors[property].monitor.slices();
        self.handling.changes.push(StateChange {
            property,
            slice: crate::value_text::slice_label(&automaton, slices, slices.binding(root), None, false),
            from: String::new(),
            to: state.name.clone(),
            verdict: state.verdict,
            is_violation: state.verdict == Verdict::NonAccepting,
            event: 0,
        });
    }

    /// Runs the target until the user has to decide what happens next.
    ///
    /// Events do not end a step: the target is resumed in the same mode after them and continues the step.
    ///
    /// # Errors
    /// If the target has ended or cannot be run, or if a block is running.
    pub fn run(&mut self, mode: &ResumeMode) -> TargetResult<RunOutcome> {
        self.check_idle("run the program")?;
        match &self.state {
            State::New => {
                let started = self.start().map_err(|error| TargetError::Request(error.to_string()))?;
                if let Some(outcome) = started.outcome {
                    return Ok(outcome);
                }
            }
            State::Ended(Some(ending)) => return Err(TargetError::Ended(ending.clone())),
            State::Ended(None) => return Err(TargetError::Request("the program was killed".to_owned())),
            State::Ready => {}
        }
        self.handling.restored = false;
        let mut mode = mode;
        loop {
            match self.resume(mode)? {
                StopReason::Events => self.handle_events()?,
                StopReason::Breakpoints { owner: Owner::Scenario, breakpoints } => {
                    self.handle_breakpoints(&breakpoints)?
                }
                StopReason::Breakpoints { breakpoints, .. } => {
                    return Ok(RunOutcome::Breakpoints(breakpoints));
                }
                StopReason::Stepped { returned } => return Ok(RunOutcome::Stepped { returned }),
                StopReason::Interrupted => return Ok(RunOutcome::Interrupted),
                StopReason::Signal { name, detail } => return Ok(RunOutcome::Signal { name, detail }),
                StopReason::Ended(ending) => return Ok(self.record_end(ending)),
            }
            if self.handling.restored {
                self.handling.restored = false;
                // The requested step started in a run that is undone.
                mode = &ResumeMode::Continue;
            }
            if let Some(outcome) = self.finish_stop()? {
                return Ok(outcome);
            }
        }
    }

    /// Resumes the target, with the monitors embedded where possible. If the target has ended, that is a [`StopReason`], not an
    /// error.
    pub(crate) fn resume(&mut self, mode: &ResumeMode) -> TargetResult<StopReason> {
        let embed =
            self.may_embed() && self.target.embedded_host().is_ok_and(|host| host.can_embed_monitors());
        self.resume_with(mode, embed)
    }

    /// Resumes the target with a stop at every needed event.
    pub(crate) fn resume_without_embedding(&mut self, mode: &ResumeMode) -> TargetResult<StopReason> {
        self.resume_with(mode, false)
    }

    fn resume_with(&mut self, mode: &ResumeMode, embed: bool) -> TargetResult<StopReason> {
        if embed {
            let embedded: Vec<EmbeddedMonitor> =
                self.monitors.iter().map(AttachedMonitor::embedded).collect();
            self.target.embedded_host()?.embed_monitors(&embedded, &self.scripts.state())?;
        }
        let stop = match self.target.resume(mode) {
            Err(TargetError::Ended(ending)) => StopReason::Ended(ending),
            other => other?,
        };
        if embed && !self.sync_monitors()? && matches!(stop, StopReason::Ended(_)) {
            self.monitors_lost = true;
        }
        Ok(stop)
    }

    /// Whether no part of the session needs to see every event.
    fn may_embed(&self) -> bool {
        self.recorder.is_none()
            && self.embedding.allows_embedding(self.history.count())
            && self.options.auto_checkpoint.is_none()
            && !self.listener.wants_events()
            && !self.monitors.iter().any(|attached| attached.monitor.is_observed())
    }

    pub(crate) fn record_end(&mut self, ending: Termination) -> RunOutcome {
        for warning in self.target.coverage_warnings() {
            self.notify(&format!("not monitored: {warning}"));
        }
        if self.monitors_lost {
            self.notify(
                "the program ended before its embedded monitors could be read: its last events are unknown",
            );
        } else if !matches!(ending, Termination::Detached) {
            self.record_violations_at_end();
        }
        self.state = State::Ended(Some(ending.clone()));
        self.finish_recording();
        RunOutcome::Ended(ending)
    }

    /// Finishes the handling of a stop. Returns the outcome if the user has to decide how to continue.
    fn finish_stop(&mut self) -> TargetResult<Option<RunOutcome>> {
        if self.handling.kill {
            self.handling.kill = false;
            self.handling.reasons.clear();
            self.target.kill()?;
            self.state = State::Ended(None);
            self.finish_recording();
            return Ok(Some(RunOutcome::KilledOnRequest));
        }
        if self.handling.reasons.is_empty() {
            return Ok(None);
        }
        // All threads are stopped while the user is at the prompt.
        self.target.stop_all()?;
        Ok(Some(RunOutcome::Suspended(std::mem::take(&mut self.handling.reasons))))
    }

    /// Handles breakpoints of scenarios: calls their handlers. One without a handler suspends the target.
    fn handle_breakpoints(&mut self, breakpoints: &[BreakpointId]) -> TargetResult {
        for id in breakpoints {
            match self.callbacks.get(id).copied() {
                Some((scenario, function)) => {
                    self.handling.cause = Some(SuspendReason::Breakpoint(*id));
                    self.run_scenario(
                        scenario,
                        crate::running_scenario::ScenarioEntry::Function(function, i64::from(id.0)),
                        None,
                    );
                }
                None => self.handling.suspend(SuspendReason::Breakpoint(*id)),
            }
            if self.handling.restored {
                break;
            }
        }
        self.call_deferred();
        self.update_needs()
    }

    /// Rejects an operation that is not allowed while a block runs.
    pub(crate) fn check_idle(&self, what: &str) -> TargetResult {
        if self.scenarios.iter().all(Option::is_some) {
            return Ok(());
        }
        let message =
            format!("a block of a scenario cannot {what}: the program continues when the block has ended");
        Err(TargetError::Request(message))
    }

    /// Detaches from the target, which keeps running.
    ///
    /// # Errors
    /// If the target cannot be detached.
    pub fn detach(&mut self) -> TargetResult {
        self.target.detach()?;
        self.record_end(Termination::Detached);
        Ok(())
    }

    /// Kills the target and the processes of its checkpoints.
    ///
    /// # Errors
    /// If the target cannot be killed.
    pub fn kill(&mut self) -> TargetResult {
        self.state = State::Ended(None);
        self.finish_recording();
        self.target.kill()
    }
}
