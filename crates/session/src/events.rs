//! Events on their way to the monitors.
//!
//! This is where the time goes when a program is watched, so the usual event, to which nobody reacts, is
//! noted and followed without an allocation.

use crate::history::History;
use crate::listen::{Listener, Speaker, Unheard};
use crate::monitored::Monitored;
use crate::outcome::{Reason, VerdictChange};
use crate::session::{Session, Turn};
use crate::subject::{Done, Trouble};
use crate::words;
use invigil_monitor::automaton::StateId;
use invigil_monitor::event::{Catalog, Event, Stamp};
use invigil_monitor::mac::Remembered;
use invigil_monitor::observer::Taken;
use invigil_monitor::slices::Gone;
use invigil_monitor::verdict::Verdict;
use invigil_monitor::watch::{Change, Request};
use invigil_trace::Place;

/// What an event has led to besides states.
#[derive(Default)]
struct Signs {
    /// Whether a monitor may need other events now.
    needs: bool,
    /// Whether a block printed something or gave a command, or a parameter was missing.
    words: bool,
    /// Whether a monitor ended by an error.
    failed: bool,
    /// Whether a slice entered a non-accepting state.
    violated: bool,
}

impl Session {
    /// Gives the events at which the program stands to every monitor, and lets the scenarios react.
    pub(crate) fn handle_events(&mut self) -> Done {
        self.turn.changes.clear();
        self.take_events();
        let hears = self.listener.hears_events();
        let mut needs = false;
        for at in 0..self.batch.len() {
            let signs = self.follow(at, true);
            needs |= signs.needs;
            let number = self.history.count();
            if signs.words {
                (0..self.monitors.len()).for_each(|property| self.pass_on(property));
            }
            if signs.failed {
                (0..self.monitors.len()).for_each(|property| self.check_failure(property, Some(number)));
            }
            if signs.violated {
                self.note_violations(number);
            }
            if self.recorder.is_some() {
                self.record(at);
            }
            if hears {
                let mut listener = std::mem::replace(&mut self.listener, Box::new(Unheard));
                listener.event(self, number);
                self.listener = listener;
            }
        }
        if needs {
            self.update_needs()?;
        }
        self.invoke()?;
        let may_react = !self.turn.changes.is_empty() || !self.turn.deferred.is_empty();
        if may_react || !self.turn.commands.is_empty() {
            self.run_commands();
            if self.turn.restored {
                // A command went back: the changes belong to a run that is undone.
                self.turn.changes.clear();
            }
            self.react();
            self.update_needs()?;
        }
        self.forget_gone();
        if let Some(every) = self.options.auto_checkpoint
            && self.history.count() >= self.last_automatic + every
            && !self.turn.restored
        {
            self.automatic_checkpoint();
        }
        Ok(())
    }

    /// Has the program call the methods that scripts call on the events at hand.
    fn invoke(&mut self) -> Done {
        for at in 0..self.batch.len() {
            let symbol = self.batch.event(at).symbol;
            for call in 0..self.calls.len() {
                if self.calls[call].0 == symbol {
                    self.subject.invoke(call)?;
                }
            }
        }
        Ok(())
    }

    /// Takes the events at which the program stands, and makes further events of them.
    pub(crate) fn take_events(&mut self) {
        let Session { subject, batch, scripts, .. } = self;
        let events = subject.events();
        batch.clear();
        for at in 0..events.len() {
            let (event, stamp) = (events.event(at), events.stamp(at));
            batch.push_copy(&event, stamp);
            scripts.derive(&event, stamp, batch);
        }
    }

    /// Has scripts go on from what they remembered once.
    pub(crate) fn bring_scripts_back(&mut self, remembered: &[Remembered]) -> Done {
        match self.scripts.restore(remembered) {
            true => Ok(()),
            false => Err(Trouble::Subject("what the scripts remember makes no sense".to_owned())),
        }
    }

    /// Gives an event of the batch to every monitor, without any reaction: the program is brought back to
    /// where it was.
    pub(crate) fn follow_quietly(&mut self, at: usize) -> bool {
        self.follow(at, false).needs
    }

    /// Gives an event of the batch to every monitor.
    #[inline]
    fn follow(&mut self, at: usize, tells: bool) -> Signs {
        let Session { subject, batch, history, monitors, catalog, turn, listener, .. } = self;
        let mut following = Following { history, monitors, catalog, turn, listener: &mut **listener };
        following.follow(&batch.event(at), batch.stamp(at), subject.current_thread(), tells)
    }

    /// Follows what the monitors inside the program have done, if there are any, without any reaction: there was none.
    ///
    /// False if what they have done is not known.
    pub(crate) fn catch_up(&mut self) -> Done<bool> {
        let Some(caught_up) = self.subject.catch_up()? else { return Ok(false) };
        let before = self.history.count();
        self.history.skip(caught_up.unseen_events);
        self.bring_scripts_back(&caught_up.scripts)?;
        for ((monitored, unseen), slices) in
            self.monitors.iter_mut().zip(&caught_up.unseen).zip(caught_up.before)
        {
            monitored.steps += unseen.steps;
            monitored.created += unseen.created;
            monitored.watch.stand(slices);
        }
        let Session { history, monitors, catalog, turn, listener, scripts, batch, .. } = self;
        let mut following = Following { history, monitors, catalog, turn, listener: &mut **listener };
        for (at, thread) in (0..caught_up.events.len()).zip(&caught_up.threads) {
            let (event, stamp) = (caught_up.events.event(at), caught_up.events.stamp(at));
            following.follow_late(&event, stamp, *thread);
            batch.clear();
            scripts.derive(&event, stamp, batch);
            for found in 0..batch.len() {
                following.follow_late(&batch.event(found), stamp, *thread);
            }
        }
        self.forget_gone();
        let count = self.history.count();
        self.pace.ran(count - before, count);
        match self.update_needs() {
            // One that is gone needs to tell nothing more.
            Err(Trouble::Ended(_)) => Ok(true),
            done => done.map(|()| true),
        }
    }

    /// Has the properties forget objects of the program that are no more, once there are enough of them.
    fn forget_gone(&mut self) {
        self.gone.add(self.subject.take_gone());
        let slices = self.monitors.iter().map(|monitored| monitored.watch.slices().len()).sum();
        if self.gone.numbers.len() < Gone::enough(slices) {
            return;
        }
        let mut gone = std::mem::take(&mut self.gone);
        gone.sort();
        self.monitors.iter_mut().for_each(|monitored| monitored.forget_gone(&gone));
    }

    /// Passes on what a property printed, and the commands it gave.
    pub(crate) fn pass_on(&mut self, property: usize) {
        let monitored = &mut self.monitors[property];
        for line in monitored.watch.printed() {
            self.listener.line(Speaker::Property(property), line);
        }
        monitored.commands += monitored.watch.commands().len() as u64;
        self.turn.commands.extend_from_slice(monitored.watch.commands());
    }

    /// Suspends the program if a property has just ended by an error.
    pub(crate) fn check_failure(&mut self, property: usize, event: Option<u64>) {
        let Some(failure) = self.monitors[property].watch.failure().cloned() else { return };
        if self.monitors[property].failure.is_some() {
            return;
        }
        let event = event.and_then(|number| self.events(number..=number).pop()).map(|past| past.event);
        self.monitors[property].failure = Some((failure.clone(), event));
        self.turn.suspend(Reason::PropertyFailed { property, failure });
    }
}

/// The parts of a session that an event changes.
struct Following<'a> {
    history: &'a mut History,
    monitors: &'a mut [Monitored],
    catalog: &'a Catalog,
    turn: &'a mut Turn,
    listener: &'a mut dyn Listener,
}

impl Following<'_> {
    /// Follows an event that nobody reacted to when it happened.
    fn follow_late(&mut self, event: &Event<'_>, stamp: Stamp, thread: u32) {
        self.follow(event, stamp, thread, false);
        self.monitors.iter_mut().for_each(Monitored::count);
    }

    #[inline]
    fn follow(&mut self, event: &Event<'_>, stamp: Stamp, thread: u32, tells: bool) -> Signs {
        let number = self.history.push(event, stamp, thread);
        let mut signs = Signs::default();
        for (property, monitored) in self.monitors.iter_mut().enumerate() {
            let applied = monitored.watch.apply(event);
            signs.needs |= monitored.watch.needs_stamp() != monitored.stamp;
            let watch = &monitored.watch;
            for change in watch.changes() {
                self.history.note(property, watch.slices(), change);
            }
            if !tells {
                continue;
            }
            signs.words |=
                applied.missing.is_some() || !watch.printed().is_empty() || !watch.commands().is_empty();
            signs.failed |= applied.verdict == Some(Verdict::Error);
            match applied.request {
                Request::Continue => {}
                Request::Shell => self.turn.suspend(Reason::Property(property)),
                Request::Stop => self.turn.stop = true,
            }
            if let Some(parameter) = applied.missing
                && let Some(symbol) = self.catalog.get(event.symbol)
                && monitored.note_missing(symbol, parameter, Place { input: 0, line: number })
            {
                let line = missing_words(monitored, symbol, parameter);
                self.listener.line(Speaker::Session, &line);
            }
            if let Some(parameter) = applied.absent
                && let Some(symbol) = self.catalog.get(event.symbol)
                && monitored.note_silent(symbol, parameter)
            {
                let line = silent_words(monitored, symbol, parameter);
                self.listener.line(Speaker::Session, &line);
            }
            monitored.count();
            signs.violated |= changes(property, monitored, event, number, &mut self.turn.changes);
        }
        signs
    }
}

/// Notes the changes that a scenario may react to; says whether the property was violated.
#[inline]
fn changes(
    property: usize,
    monitored: &Monitored,
    event: &Event<'_>,
    number: u64,
    due: &mut Vec<VerdictChange>,
) -> bool {
    let mut violated = false;
    let all = monitored.watch.changes();
    for (at, change) in all.iter().enumerate() {
        if let Change::Taken(taken) = change {
            if monitored.concerns(taken.from, taken.to) {
                due.push(told(property, monitored, event, number, *taken, all.get(at + 1)));
            }
            violated |= is_violation(monitored, *taken);
        }
    }
    violated
}

/// Whether a slice entered a non-accepting state from another one.
pub(crate) fn is_violation(monitored: &Monitored, taken: Taken) -> bool {
    let verdict = |state: StateId| monitored.watch.automaton().states[usize::from(state)].verdict;
    taken.from != taken.to
        && verdict(taken.to) == Verdict::NonAccepting
        && verdict(taken.from) != Verdict::NonAccepting
}

#[cold]
fn told(
    property: usize,
    monitored: &Monitored,
    event: &Event<'_>,
    event_number: u64,
    taken: Taken,
    next: Option<&Change>,
) -> VerdictChange {
    let watch = &monitored.watch;
    let (automaton, slices) = (watch.automaton(), watch.slices());
    let (binding, is_gone) = match next {
        Some(Change::Forgotten { slice, binding }) if *slice == taken.slice => {
            (watch.forgotten(*binding), true)
        }
        _ => (slices.binding(taken.slice), false),
    };
    VerdictChange {
        property,
        slice: words::slice(automaton, slices, binding, Some(event), is_gone),
        from: automaton.state_name(taken.from).to_owned(),
        to: automaton.state_name(taken.to).to_owned(),
        verdict: automaton.states[usize::from(taken.to)].verdict,
        event: event_number,
    }
}

#[cold]
fn silent_words(monitored: &Monitored, symbol: &invigil_monitor::event::Symbol, parameter: usize) -> String {
    let param = symbol.params.get(parameter).map_or("?", |param| param.name.as_str());
    let name = &monitored.watch.automaton().name;
    format!(
        "the program does not tell `{param}` of `{symbol}`: what property `{name}` asks of it is false there"
    )
}

#[cold]
fn missing_words(monitored: &Monitored, symbol: &invigil_monitor::event::Symbol, parameter: usize) -> String {
    let param = symbol.params.get(parameter).map_or("?", |param| param.name.as_str());
    let name = &monitored.watch.automaton().name;
    format!("the program does not tell `{param}` of `{symbol}`: property `{name}` skips such events")
}
