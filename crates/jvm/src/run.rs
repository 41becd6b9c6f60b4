//! Running the program until the next stop, and notifying the owners at a stop one after the other.

use crate::breakpoints::UNTIL;
use crate::connection::Incoming;
use crate::target::{JavaTarget, StoppedThread};
use invigil_jvm_agent::protocol::{
    AgentEvent, Answer, NOT_BEGUN, Request, StepKind, SubscriptionId, ThreadCommand, WireReplayLog,
};
use invigil_target::pending_owners::OwnerSet;
use invigil_target::{BreakpointId, Owner, ResumeMode, StopReason, TargetError, TargetResult};

impl JavaTarget {
    pub(crate) fn resume_as(&mut self, how: &ResumeMode) -> TargetResult<StopReason> {
        if let Some(stop) = self.end_stop()? {
            return Ok(stop);
        }
        if let Some(stop) = self.dispatch_stop()? {
            return Ok(stop);
        }
        if !self.stepping {
            self.begin_step(how)?;
        }
        if let Err(error) = self.continue_program() {
            return self.or_end_stop(error);
        }
        loop {
            let Some(link) = &mut self.link else { return Err(self.ended_error()) };
            let stop = match link.wait(&self.waker) {
                Incoming::Event(news) => self.on_agent_event(news)?,
                Incoming::Woken => {
                    self.suspend_all()?;
                    self.choose_thread();
                    self.end_step()?;
                    Some(StopReason::Interrupted)
                }
                Incoming::Disconnected(lost) => {
                    let error = self.on_disconnect(&lost);
                    return self.or_end_stop(error);
                }
            };
            if let Some(stop) = stop {
                return Ok(stop);
            }
        }
    }

    /// Turns an error into the program's end, if the program has ended.
    fn or_end_stop(&mut self, error: TargetError) -> TargetResult<StopReason> {
        match (error, self.end_stop()?) {
            (TargetError::Ended(_), Some(stop)) => Ok(stop),
            (error, _) => Err(error),
        }
    }

    /// The stops after the program has ended: first the events that the agent could not send, then the exit event if a
    /// monitor needs it, then the end itself.
    fn end_stop(&mut self) -> TargetResult<Option<StopReason>> {
        let Some(ending) = self.ended.clone() else { return Ok(None) };
        if let Some(at) = self.warnings.iter().position(|warning| warning == NOT_BEGUN) {
            self.warnings.remove(at);
            return Err(TargetError::Control(format!(
                "Java ended before the program started: {NOT_BEGUN}, and {ending}; see its output for the reason"
            )));
        }
        self.check_final_log()?;
        if self.deliver_unsent_events() {
            return Ok(Some(StopReason::Events));
        }
        if std::mem::take(&mut self.end_event_pending) && self.make_end_event(&ending) {
            return Ok(Some(StopReason::Events));
        }
        Ok(Some(StopReason::Ended(ending)))
    }

    /// Resumes the program.
    fn continue_program(&mut self) -> TargetResult {
        self.remove_frozen_monitors()?;
        self.resume_all()?;
        if self.stopped_thread.take().is_some()
            && let Some(link) = &mut self.link
            && let Err(lost) = link.command(&ThreadCommand::Continue)
        {
            return Err(self.on_disconnect(&lost));
        }
        Ok(())
    }

    fn on_agent_event(&mut self, news: AgentEvent) -> TargetResult<Option<StopReason>> {
        match news {
            AgentEvent::Ready => Ok(None),
            AgentEvent::Exits { status, replay_log, warnings } => {
                self.exits(status, replay_log, warnings);
                Ok(None)
            }
            AgentEvent::Stepped { thread, returned } => {
                self.select_stopped(thread);
                self.stopped_thread = Some(StoppedThread {
                    notifications: Vec::new(),
                    time: 0.0,
                    handled: OwnerSet::default(),
                });
                self.stepping = false;
                self.remove_until()?;
                self.suspend_all()?;
                Ok(Some(StopReason::Stepped { returned }))
            }
            AgentEvent::Notified { thread, time, notifications, dead } => {
                self.add_dead_objects(dead);
                self.select_stopped(thread);
                self.stopped_thread =
                    Some(StoppedThread { notifications, time, handled: OwnerSet::default() });
                if let Some(stop) = self.dispatch_stop()? {
                    return Ok(Some(stop));
                }
                self.continue_program()?;
                Ok(None)
            }
        }
    }

    /// Records the exit of the program, as its agent reported it.
    pub(crate) fn exits(&mut self, status: i32, replay_log: Option<WireReplayLog>, warnings: Vec<String>) {
        self.status = Some(status);
        self.store_final_log(replay_log);
        self.warnings = warnings;
    }

    fn select_stopped(&mut self, thread: u32) {
        self.current = thread;
        self.frame = 0;
    }

    /// Notifies the owners at the location of the stopped thread, one at a time.
    fn dispatch_stop(&mut self) -> TargetResult<Option<StopReason>> {
        loop {
            let Some(waiting) = &self.stopped_thread else { return Ok(None) };
            let mut present = OwnerSet::default();
            for hit in &waiting.notifications {
                let owner = match hit.id {
                    SubscriptionId::Event { .. } => Some(Owner::Monitors),
                    SubscriptionId::Breakpoint { number: UNTIL } => Some(Owner::User),
                    SubscriptionId::Breakpoint { number } => self.breakpoints.owner(BreakpointId(number)),
                };
                present = owner.map_or(present, |owner| present.with(owner));
            }
            let Some(owner) = present.next_pending(waiting.handled) else { return Ok(None) };
            if let Some(waiting) = &mut self.stopped_thread {
                waiting.handled = waiting.handled.with(owner);
            }
            let stop = match owner {
                Owner::Monitors => self.make_events(),
                owner => self.process_hits(owner)?,
            };
            match stop {
                Some(
                    stop @ (StopReason::Breakpoints { owner: Owner::User, .. } | StopReason::Stepped { .. }),
                ) => {
                    self.end_step()?;
                    self.suspend_all()?;
                    return Ok(Some(stop));
                }
                Some(stop) => return Ok(Some(stop)),
                None => {}
            }
        }
    }

    /// Requests a step, if `how` is one.
    fn begin_step(&mut self, how: &ResumeMode) -> TargetResult {
        let (step, depth) = match how {
            ResumeMode::Continue => return Ok(()),
            ResumeMode::Instruction => (StepKind::Instruction, 0),
            ResumeMode::Line => (StepKind::Line, 0),
            ResumeMode::NextLine => (StepKind::NextLine, 0),
            ResumeMode::Finish => (StepKind::Finish, self.frame),
            ResumeMode::Until(place) => {
                self.suspend_all()?;
                self.set_until(place)?;
                (StepKind::Finish, self.frame)
            }
        };
        self.suspend_all()?;
        if self.current_frames(1)?.is_empty() {
            return Err(TargetError::Request(
                "the program has not started: set a breakpoint, as in `break Main.main`, and `continue`"
                    .to_owned(),
            ));
        }
        self.request(&Request::Step { thread: self.current, depth: depth as u32, kind: step })?;
        self.stepping = true;
        Ok(())
    }

    /// Cancels a step.
    pub(crate) fn end_step(&mut self) -> TargetResult {
        if std::mem::take(&mut self.stepping) {
            self.request(&Request::CancelStep)?;
        }
        self.remove_until()
    }

    /// Stops the program for the user.
    pub(crate) fn suspend(&mut self) -> TargetResult {
        if self.ended.is_some() {
            return Ok(());
        }
        self.end_step()?;
        if self.info.debugger
            && self.stopped_thread.as_ref().is_some_and(|waiting| waiting.handled.contains(Owner::Monitors))
            && let Some(link) = &mut self.link
        {
            // Another debugger may have a breakpoint in `onViolation` of the helper class; calling that method stops it
            // there.
            let message = "a property is violated, or a scenario suspends the program".to_owned();
            if let Err(lost) = link.command(&ThreadCommand::ShowViolation { message }) {
                return Err(self.on_disconnect(&lost));
            }
        }
        self.suspend_all()
    }

    /// Selects a thread if none was stopped by an event or breakpoint.
    fn choose_thread(&mut self) {
        self.frame = 0;
        if self.stopped_thread.is_some() {
            return;
        }
        let Ok(Answer::Threads { threads }) = self.request(&Request::Threads) else { return };
        let known = threads.iter().any(|thread| thread.id == self.current && thread.location.is_some());
        if !known {
            let with_frames = threads.iter().find(|thread| thread.location.is_some());
            self.current = with_frames.or(threads.first()).map_or(self.current, |thread| thread.id);
        }
    }
}
