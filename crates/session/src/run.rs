//! Starting and running the program: the loop of interactive runtime verification.

use crate::monitored::Monitored;
use crate::outcome::{Outcome, Reason, StartError, Started, VerdictChange};
use crate::session::{Session, State};
use crate::subject::{Done, Ending, Owner, Resume, ScriptsStep, Stop, Trouble};
use invigil_monitor::inside::Inmate;

impl Session {
    /// Prepares the program, lets the scenarios react to the initial verdicts, and asks the subject for the
    /// first events.
    ///
    /// # Errors
    /// If the program does not have an event or a parameter that a property is about, or cannot be prepared.
    pub fn start(&mut self) -> Result<Started, StartError> {
        if self.state != State::New {
            return Ok(Started::default());
        }
        let mut unknown = self.subject.prepare(&self.catalog)?;
        // What is made of events is not for the program to show.
        unknown.retain(|unknown| !self.derived.contains(unknown.symbol));
        if !self.calls.is_empty() {
            unknown.extend(self.subject.prepare_calls(&self.calls)?);
        }
        let (pending, unknown): (Vec<_>, Vec<_>) = unknown.into_iter().partition(|unknown| unknown.pending);
        if !unknown.is_empty() {
            return Err(StartError::Unknown(unknown));
        }
        self.state = State::Ready;
        for property in 0..self.monitors.len() {
            self.tell_start(property);
        }
        self.initialize_scenarios();
        self.react();
        self.update_needs()?;
        if self.options.checkpoint_at_start || self.options.auto_checkpoint.is_some() {
            self.automatic_checkpoint();
        }
        let outcome = self.end_turn()?;
        Ok(Started { pending, outcome })
    }

    /// Tells what a property printed when it started, and its initial verdict.
    fn tell_start(&mut self, property: usize) {
        self.pass_on(property);
        let monitored = &mut self.monitors[property];
        let automaton = std::sync::Arc::clone(monitored.watch.automaton());
        monitored.created += u64::from(automaton.slice_on.is_empty());
        self.check_failure(property, None);
        let monitored = &self.monitors[property];
        let Some(root) = monitored.watch.slices().root() else { return };
        let state = &automaton.states[usize::from(automaton.initial)];
        if state.verdict == invigil_monitor::verdict::Verdict::NonAccepting && monitored.failure.is_none() {
            self.violated_at_start(property, root);
        }
        let slices = self.monitors[property].watch.slices();
        self.turn.changes.push(VerdictChange {
            property,
            slice: crate::words::slice(&automaton, slices, slices.binding(root), None, false),
            from: String::new(),
            to: state.name.clone(),
            verdict: state.verdict,
            event: 0,
        });
    }

    /// Runs the program until someone is to decide what is next.
    ///
    /// Events do not end a step: the subject is resumed in the same way after them, and goes on with the step
    /// that it has begun.
    ///
    /// # Errors
    /// If the program has ended, cannot be run, or a block is being run, which the program waits for.
    pub fn run(&mut self, how: &Resume) -> Done<Outcome> {
        self.check_idle("run the program")?;
        match &self.state {
            State::New => {
                let started = self.start().map_err(|error| Trouble::Request(error.to_string()))?;
                if let Some(outcome) = started.outcome {
                    return Ok(outcome);
                }
            }
            State::Ended(Some(ending)) => return Err(Trouble::Ended(ending.clone())),
            State::Ended(None) => return Err(Trouble::Request("the program was ended".to_owned())),
            State::Ready => {}
        }
        self.turn.restored = false;
        let mut how = how;
        loop {
            match self.resume(how)? {
                Stop::Events => self.handle_events()?,
                Stop::Points { owner: Owner::Scenario, points } => self.handle_points(&points)?,
                Stop::Points { points, .. } => return Ok(Outcome::Points(points)),
                Stop::Stepped { returned } => return Ok(Outcome::Stepped { returned }),
                Stop::Interrupted => return Ok(Outcome::Interrupted),
                Stop::Signal { name, detail } => return Ok(Outcome::Signal { name, detail }),
                Stop::Ended(ending) => return Ok(self.ended(ending)),
            }
            if self.turn.restored {
                self.turn.restored = false;
                // The step that was asked for began in a run that is undone.
                how = &Resume::Continue;
            }
            if let Some(outcome) = self.end_turn()? {
                return Ok(outcome);
            }
        }
    }

    /// Resumes the subject; one that is gone has ended. The monitors step inside it where they can.
    pub(crate) fn resume(&mut self, how: &Resume) -> Done<Stop> {
        let inside = self.subject.steps_inside() && self.may_step_inside();
        self.resume_where(how, inside)
    }

    /// The same where every event is to be told.
    pub(crate) fn resume_outside(&mut self, how: &Resume) -> Done<Stop> {
        self.resume_where(how, false)
    }

    fn resume_where(&mut self, how: &Resume, inside: bool) -> Done<Stop> {
        if inside {
            let inmates: Vec<Inmate> = self.monitors.iter().map(Monitored::inmate).collect();
            self.subject.put_inside(&inmates, &self.scripts.remembered())?;
        }
        let stop = match self.subject.resume(how) {
            Err(Trouble::Ended(ending)) => Stop::Ended(ending),
            other => other?,
        };
        if inside && !self.catch_up()? && matches!(stop, Stop::Ended(_)) {
            self.blind = true;
        }
        Ok(stop)
    }

    /// Whether nobody wants to see every event.
    fn may_step_inside(&self) -> bool {
        self.recorder.is_none()
            && (self.scripts.is_empty() || self.scripts_step == ScriptsStep::WithMonitors)
            && self.pace.is_worth(self.history.count())
            && self.options.auto_checkpoint.is_none()
            && !self.listener.hears_events()
            && !self.monitors.iter().any(|monitored| monitored.watch.has_company())
    }

    pub(crate) fn ended(&mut self, ending: Ending) -> Outcome {
        for words in self.subject.complaints() {
            self.say(&format!("not watched: {words}"));
        }
        if self.blind {
            self.say("the program took its monitors with it: what it did last is not known");
        } else if !matches!(ending, Ending::Detached) {
            self.note_end();
        }
        self.state = State::Ended(Some(ending.clone()));
        self.finish_recording();
        Outcome::Ended(ending)
    }

    /// What the handling of a stop has come to, if the developer is to be asked.
    fn end_turn(&mut self) -> Done<Option<Outcome>> {
        if self.turn.stop {
            self.turn.stop = false;
            self.turn.reasons.clear();
            self.subject.kill()?;
            self.state = State::Ended(None);
            self.finish_recording();
            return Ok(Some(Outcome::Stopped));
        }
        if self.turn.reasons.is_empty() {
            return Ok(None);
        }
        // While the developer thinks, no thread runs on.
        self.subject.hold()?;
        Ok(Some(Outcome::Suspended(std::mem::take(&mut self.turn.reasons))))
    }

    /// Points of scenarios: calls their functions; those without one suspend the program.
    fn handle_points(&mut self, points: &[crate::subject::PointId]) -> Done {
        for point in points {
            match self.callbacks.get(point).copied() {
                Some((scenario, function)) => {
                    self.turn.about = Some(Reason::Point(*point));
                    self.play(scenario, crate::playing::Part::Function(function, i64::from(point.0)), None);
                }
                None => self.turn.suspend(Reason::Point(*point)),
            }
            if self.turn.restored {
                break;
            }
        }
        self.call_deferred();
        self.update_needs()
    }

    /// Refuses what a block must not do while it runs.
    pub(crate) fn check_idle(&self, what: &str) -> Done {
        if self.scenarios.iter().all(Option::is_some) {
            return Ok(());
        }
        let words =
            format!("a block of a scenario cannot {what}: the program goes on when the block has ended");
        Err(Trouble::Request(words))
    }

    /// Lets the program run on without us.
    ///
    /// # Errors
    /// If the subject cannot.
    pub fn detach(&mut self) -> Done {
        self.subject.detach()?;
        self.ended(Ending::Detached);
        Ok(())
    }

    /// Ends the program, and every process kept for it.
    ///
    /// # Errors
    /// If the subject cannot.
    pub fn kill(&mut self) -> Done {
        self.state = State::Ended(None);
        self.finish_recording();
        self.subject.kill()
    }
}
