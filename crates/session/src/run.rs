//! Starting and running the target: the loop of interactive runtime verification.

use crate::attached_monitor::AttachedMonitor;
use crate::outcome::{RunOutcome, StartError, StartOutcome, StateChange, SuspendReason};
use crate::session::{Session, State};
use crate::target::{Owner, ResumeMode, ScriptPlacement, StopReason, TargetError, TargetResult, Termination};
use invigil_monitor::embedded::EmbeddedMonitor;

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
        let mut unknown = self.target.prepare(&self.catalog)?;
        // Derived events do not come from the target.
        unknown.retain(|unknown| !self.derived.contains(unknown.event));
        if !self.calls.is_empty() {
            unknown.extend(self.target.prepare_calls(&self.calls)?);
        }
        let (pending, unknown): (Vec<_>, Vec<_>) = unknown.into_iter().partition(|unknown| unknown.pending);
        if !unknown.is_empty() {
            return Err(StartError::Unresolved(unknown));
        }
        self.state = State::Ready;
        for property in 0..self.monitors.len() {
            self.report_initial_state(property);
        }
        self.initialize_scenarios();
        self.react();
        self.update_needs()?;
        if self.options.checkpoint_at_start || self.options.auto_checkpoint.is_some() {
            self.automatic_checkpoint();
        }
        let outcome = self.finish_stop()?;
        Ok(StartOutcome { pending, outcome })
    }

    /// Reports what a property printed when it started, and its initial verdict.
    fn report_initial_state(&mut self, property: usize) {
        self.forward_output(property);
        let attached = &mut self.monitors[property];
        let automaton = std::sync::Arc::clone(attached.monitor.automaton());
        attached.created += u64::from(automaton.slice_on.is_empty());
        self.check_failure(property, None);
        let attached = &self.monitors[property];
        let Some(root) = attached.monitor.slices().root() else { return };
        let state = &automaton.states[usize::from(automaton.initial)];
        if state.verdict == invigil_monitor::verdict::Verdict::NonAccepting && attached.failure.is_none() {
            self.violated_at_start(property, root);
        }
        let slices = self.monitors[property].monitor.slices();
        self.handling.changes.push(StateChange {
            property,
            slice: crate::value_text::slice_label(&automaton, slices, slices.binding(root), None, false),
            from: String::new(),
            to: state.name.clone(),
            verdict: state.verdict,
            event: 0,
        });
    }

    /// Runs the target until the user has to decide what happens next.
    ///
    /// Events do not end a step: the target is resumed in the same mode after them and continues the step.
    ///
    /// # Errors
    /// If the target has ended, cannot be run, or a block is running, which the target waits for.
    pub fn run(&mut self, how: &ResumeMode) -> TargetResult<RunOutcome> {
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
        let mut how = how;
        loop {
            match self.resume(how)? {
                StopReason::Events => self.handle_events()?,
                StopReason::Breakpoints { owner: Owner::Scenario, breakpoints: points } => {
                    self.handle_breakpoints(&points)?
                }
                StopReason::Breakpoints { breakpoints: points, .. } => {
                    return Ok(RunOutcome::Breakpoints(points));
                }
                StopReason::Stepped { returned } => return Ok(RunOutcome::Stepped { returned }),
                StopReason::Interrupted => return Ok(RunOutcome::Interrupted),
                StopReason::Signal { name, detail } => return Ok(RunOutcome::Signal { name, detail }),
                StopReason::Ended(ending) => return Ok(self.record_end(ending)),
            }
            if self.handling.restored {
                self.handling.restored = false;
                // The requested step started in a run that is undone.
                how = &ResumeMode::Continue;
            }
            if let Some(outcome) = self.finish_stop()? {
                return Ok(outcome);
            }
        }
    }

    /// Resumes the target, with the monitors embedded where possible. An error because the target has ended becomes a
    /// [`StopReason`].
    pub(crate) fn resume(&mut self, how: &ResumeMode) -> TargetResult<StopReason> {
        let embed = self.target.can_embed_monitors() && self.may_embed();
        self.resume_with(how, embed)
    }

    /// Resumes the target with a stop at every needed event.
    pub(crate) fn resume_without_embedding(&mut self, how: &ResumeMode) -> TargetResult<StopReason> {
        self.resume_with(how, false)
    }

    fn resume_with(&mut self, how: &ResumeMode, embed: bool) -> TargetResult<StopReason> {
        if embed {
            let embedded: Vec<EmbeddedMonitor> =
                self.monitors.iter().map(AttachedMonitor::embedded).collect();
            self.target.embed_monitors(&embedded, &self.scripts.state())?;
        }
        let stop = match self.target.resume(how) {
            Err(TargetError::Ended(ending)) => StopReason::Ended(ending),
            other => other?,
        };
        if embed && !self.sync_monitors()? && matches!(stop, StopReason::Ended(_)) {
            self.monitors_lost = true;
        }
        Ok(stop)
    }

    /// Whether nothing in the session has to see every event.
    fn may_embed(&self) -> bool {
        self.recorder.is_none()
            && (self.scripts.is_empty() || self.script_placement == ScriptPlacement::WithMonitors)
            && self.embedding.allows_embedding(self.history.count())
            && self.options.auto_checkpoint.is_none()
            && !self.listener.wants_events()
            && !self.monitors.iter().any(|attached| attached.monitor.is_observed())
    }

    pub(crate) fn record_end(&mut self, ending: Termination) -> RunOutcome {
        for words in self.target.coverage_warnings() {
            self.notify(&format!("not monitored: {words}"));
        }
        if self.monitors_lost {
            self.notify(
                "the program ended before its embedded monitors could be read: its last events are unknown",
            );
        } else if !matches!(ending, Termination::Detached) {
            self.note_end();
        }
        self.state = State::Ended(Some(ending.clone()));
        self.finish_recording();
        RunOutcome::Ended(ending)
    }

    /// Ends the handling of a stop. Returns the outcome if the user is to be asked.
    fn finish_stop(&mut self) -> TargetResult<Option<RunOutcome>> {
        if self.handling.stop {
            self.handling.stop = false;
            self.handling.reasons.clear();
            self.target.kill()?;
            self.state = State::Ended(None);
            self.finish_recording();
            return Ok(Some(RunOutcome::KilledOnRequest));
        }
        if self.handling.reasons.is_empty() {
            return Ok(None);
        }
        // No thread runs on while the user is at the prompt.
        self.target.stop_all()?;
        Ok(Some(RunOutcome::Suspended(std::mem::take(&mut self.handling.reasons))))
    }

    /// Handles breakpoints of scenarios: calls their functions; those without one suspend the target.
    fn handle_breakpoints(&mut self, points: &[crate::target::BreakpointId]) -> TargetResult {
        for point in points {
            match self.callbacks.get(point).copied() {
                Some((scenario, function)) => {
                    self.handling.cause = Some(SuspendReason::Breakpoint(*point));
                    self.play(
                        scenario,
                        crate::running_scenario::ScenarioEntry::Function(function, i64::from(point.0)),
                        None,
                    );
                }
                None => self.handling.suspend(SuspendReason::Breakpoint(*point)),
            }
            if self.handling.restored {
                break;
            }
        }
        self.call_deferred();
        self.update_needs()
    }

    /// Refuses an operation that a block must not use while it runs.
    pub(crate) fn check_idle(&self, what: &str) -> TargetResult {
        if self.scenarios.iter().all(Option::is_some) {
            return Ok(());
        }
        let words =
            format!("a block of a scenario cannot {what}: the program continues when the block has ended");
        Err(TargetError::Request(words))
    }

    /// Detaches from the target and lets it run on.
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
