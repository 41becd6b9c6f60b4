//! Delivery of events to the monitors.
//!
//! This is the hot path of a session with a stop per event. The usual event, which needs no reaction, is recorded in
//! the history and delivered to the monitors without an allocation.

use crate::attached_monitor::AttachedMonitor;
use crate::history::History;
use crate::listener::{Listener, MessageSource, NoopListener};
use crate::outcome::{StateChange, SuspendReason};
use crate::session::{Session, StopHandling};
use crate::value_text;
use invigil_monitor::event::{Event, EventCatalog, EventMeta};
use invigil_monitor::interactive::{Change, Request};
use invigil_monitor::mac::ScriptState;
use invigil_monitor::observer::TransitionTaken;
use invigil_monitor::slices::DeadObjects;
use invigil_monitor::verdict::Verdict;
use invigil_target::{TargetError, TargetResult};
use invigil_trace::TracePosition;

/// Effects of an event other than changes of state.
#[derive(Default)]
struct StepEffects {
    /// Whether a monitor may need other events now.
    needs_changed: bool,
    /// Whether a block printed a line or issued a command, or a parameter was missing.
    has_output: bool,
    /// Whether a monitor ended because of a fault.
    failed: bool,
    /// Whether a slice entered a non-accepting state.
    violated: bool,
}

impl Session {
    /// Delivers the events of the current stop to every monitor, and lets the scenarios react.
    pub(crate) fn handle_events(&mut self) -> TargetResult {
        self.handling.changes.clear();
        self.take_events();
        let wants_events = self.listener.wants_events();
        let mut needs_changed = false;
        for at in 0..self.batch.len() {
            let effects = self.step_monitors(at, true);
            needs_changed |= effects.needs_changed;
            let number = self.history.count();
            if effects.has_output {
                (0..self.monitors.len()).for_each(|property| self.pass_on_output(property));
            }
            if effects.failed {
                (0..self.monitors.len()).for_each(|property| self.check_failure(property, Some(number)));
            }
            if effects.violated {
                self.record_violations(number);
            }
            if self.recorder.is_some() {
                self.record(at);
            }
            if wants_events {
                let mut listener = std::mem::replace(&mut self.listener, Box::new(NoopListener));
                listener.event(self, number);
                self.listener = listener;
            }
        }
        if needs_changed {
            self.update_needs()?;
        }
        self.invoke()?;
        let may_react = !self.handling.changes.is_empty() || !self.handling.deferred.is_empty();
        if may_react || !self.handling.commands.is_empty() {
            self.run_commands();
            if self.handling.restored {
                // A command restored a checkpoint: the changes belong to a run that is undone.
                self.handling.changes.clear();
            }
            self.react();
            self.update_needs()?;
        }
        self.collect_slices();
        if let Some(every) = self.options.auto_checkpoint
            && self.history.count() >= self.last_automatic + every
            && !self.handling.restored
        {
            self.take_automatic_checkpoint();
        }
        Ok(())
    }

    /// Makes the target call the methods that scripts attached to the current events.
    fn invoke(&mut self) -> TargetResult {
        for at in 0..self.batch.len() {
            let event = self.batch.event(at).id;
            for call in 0..self.calls.len() {
                if self.calls[call].0 == event {
                    self.target.method_calls()?.invoke(call)?;
                }
            }
        }
        Ok(())
    }

    /// Takes the events of the current stop from the target, and derives further ones from them.
    pub(crate) fn take_events(&mut self) {
        let Session { target, batch, scripts, .. } = self;
        let events = target.events();
        if scripts.is_empty() {
            std::mem::swap(batch, events);
            return;
        }
        batch.clear();
        for at in 0..events.len() {
            let (event, meta) = (events.event(at), events.meta(at));
            batch.push_copy(&event, meta);
            scripts.derive(&event, meta, batch);
        }
    }

    /// Restores the state of the scripts.
    pub(crate) fn restore_scripts(&mut self, states: &[ScriptState]) -> TargetResult {
        match self.scripts.restore(states) {
            true => Ok(()),
            false => Err(TargetError::Control("the saved state of the scripts is malformed".to_owned())),
        }
    }

    /// Delivers an event of the batch to every monitor without any reaction. Returns whether the needed events may have
    /// changed.
    pub(crate) fn replay_event(&mut self, at: usize) -> bool {
        self.step_monitors(at, false).needs_changed
    }

    /// Delivers an event of the batch to every monitor. Reactions are collected only if `is_live`.
    #[inline]
    fn step_monitors(&mut self, at: usize, is_live: bool) -> StepEffects {
        let Session { target, batch, history, monitors, catalog, handling, listener, .. } = self;
        let mut context = StepContext { history, monitors, catalog, handling, listener: &mut **listener };
        context.step_monitors(&batch.event(at), batch.meta(at), target.current_thread(), is_live)
    }

    /// Replays the log of the embedded monitors. No reaction was due on its events.
    ///
    /// Returns false if their log is not available.
    pub(crate) fn sync_monitors(&mut self) -> TargetResult<bool> {
        let Some(log) = self.target.embedded_host()?.take_replay_log()? else { return Ok(false) };
        let count_before = self.history.count();
        self.history.skip(log.evicted_events);
        self.restore_scripts(&log.scripts)?;
        for ((attached, evicted_counts), slices) in self.monitors.iter_mut().zip(&log.evicted).zip(log.base) {
            attached.steps += evicted_counts.steps;
            attached.created += evicted_counts.created;
            attached.monitor.replace_slices(slices);
        }
        let Session { history, monitors, catalog, handling, listener, scripts, batch, .. } = self;
        let mut context = StepContext { history, monitors, catalog, handling, listener: &mut **listener };
        for (at, thread) in (0..log.events.len()).zip(&log.threads) {
            let (event, meta) = (log.events.event(at), log.events.meta(at));
            context.step_monitors_from_log(&event, meta, *thread);
            batch.clear();
            scripts.derive(&event, meta, batch);
            for derived in 0..batch.len() {
                context.step_monitors_from_log(&batch.event(derived), meta, *thread);
            }
        }
        self.collect_slices();
        let count = self.history.count();
        self.embedding.record_run(count - count_before, count);
        self.update_needs()?;
        Ok(true)
    }

    /// Drops the slices of collected objects, once enough objects have been collected.
    fn collect_slices(&mut self) {
        self.dead_objects.add(self.target.take_dead_objects());
        let slices = self.monitors.iter().map(|attached| attached.monitor.slices().len()).sum();
        if self.dead_objects.ids.len() < DeadObjects::collection_threshold(slices) {
            return;
        }
        let mut dead = std::mem::take(&mut self.dead_objects);
        dead.sort();
        self.monitors.iter_mut().for_each(|attached| attached.collect_slices(&dead));
    }

    /// Passes on the lines that a property printed, and queues the commands that it issued.
    pub(crate) fn pass_on_output(&mut self, property: usize) {
        let attached = &mut self.monitors[property];
        for line in attached.monitor.printed() {
            self.listener.message(MessageSource::Property(property), line);
        }
        attached.commands += attached.monitor.commands().len() as u64;
        self.handling.commands.extend_from_slice(attached.monitor.commands());
    }

    /// Suspends the target if the monitor of a property has just ended because of a fault.
    pub(crate) fn check_failure(&mut self, property: usize, event: Option<u64>) {
        let Some(failure) = self.monitors[property].monitor.fault().cloned() else { return };
        if self.monitors[property].failure.is_some() {
            return;
        }
        let event = event.and_then(|number| self.events(number..=number).pop()).map(|past| past.event);
        self.monitors[property].failure = Some((failure.clone(), event));
        self.handling.suspend(SuspendReason::PropertyFailed { property, failure });
    }
}

/// The parts of a session that an event changes, borrowed apart from the target and the batch.
struct StepContext<'a> {
    history: &'a mut History,
    monitors: &'a mut [AttachedMonitor],
    catalog: &'a EventCatalog,
    handling: &'a mut StopHandling,
    listener: &'a mut dyn Listener,
}

impl StepContext<'_> {
    /// Delivers an event of the replay log, which needed no reaction when it occurred.
    fn step_monitors_from_log(&mut self, event: &Event<'_>, meta: EventMeta, thread: u32) {
        self.step_monitors(event, meta, thread, false);
        self.monitors.iter_mut().for_each(AttachedMonitor::count);
    }

    #[inline]
    fn step_monitors(
        &mut self,
        event: &Event<'_>,
        meta: EventMeta,
        thread: u32,
        is_live: bool,
    ) -> StepEffects {
        let number = self.history.push(event, meta, thread);
        let mut effects = StepEffects::default();
        for (property, attached) in self.monitors.iter_mut().enumerate() {
            let applied = attached.monitor.apply(event);
            effects.needs_changed |= attached.monitor.needs_version() != attached.needs_version;
            let monitor = &attached.monitor;
            for change in monitor.changes() {
                self.history.record_change(property, monitor.slices(), change);
            }
            if !is_live {
                continue;
            }
            effects.has_output |=
                applied.missing.is_some() || !monitor.printed().is_empty() || !monitor.commands().is_empty();
            effects.failed |= applied.verdict == Some(Verdict::Error);
            match applied.request {
                Request::Continue => {}
                Request::Suspend => self.handling.suspend(SuspendReason::Property(property)),
                Request::Stop => self.handling.kill = true,
            }
            if let Some(parameter) = applied.missing
                && let Some(decl) = self.catalog.get(event.id)
                && attached.record_skipped(decl, parameter, TracePosition { input: 0, line: number })
            {
                let line = skipped_note(attached, decl, parameter);
                self.listener.message(MessageSource::Session, &line);
            }
            if let Some(parameter) = applied.missing_in_guard
                && let Some(decl) = self.catalog.get(event.id)
                && attached.record_never_supplied(decl, parameter)
            {
                let line = never_supplied_note(attached, decl, parameter);
                self.listener.message(MessageSource::Session, &line);
            }
            attached.count();
            effects.violated |=
                collect_changes(property, attached, event, number, &mut self.handling.changes);
        }
        effects
    }
}

/// Collects the changes that a scenario may react to. Returns whether the property was violated.
#[inline]
fn collect_changes(
    property: usize,
    attached: &AttachedMonitor,
    event: &Event<'_>,
    number: u64,
    due: &mut Vec<StateChange>,
) -> bool {
    let mut violated = false;
    let all = attached.monitor.changes();
    for (at, change) in all.iter().enumerate() {
        if let Change::Taken(taken) = change {
            if attached.has_reaction(taken.from, taken.to) {
                due.push(state_change(property, attached, event, number, *taken, all.get(at + 1)));
            }
            violated |= attached.monitor.automaton().is_violation(taken.from, taken.to);
        }
    }
    violated
}

#[cold]
fn state_change(
    property: usize,
    attached: &AttachedMonitor,
    event: &Event<'_>,
    event_number: u64,
    taken: TransitionTaken,
    next: Option<&Change>,
) -> StateChange {
    let monitor = &attached.monitor;
    let (automaton, slices) = (monitor.automaton(), monitor.slices());
    let (binding, is_dropped) = match next {
        Some(Change::Dropped { slice, binding }) if *slice == taken.slice => {
            (monitor.forgotten(*binding), true)
        }
        _ => (slices.binding(taken.slice), false),
    };
    StateChange {
        property,
        slice: value_text::slice_label(automaton, slices, binding, Some(event), is_dropped),
        from: automaton.state_name(taken.from).to_owned(),
        to: automaton.state_name(taken.to).to_owned(),
        verdict: automaton.states[usize::from(taken.to)].verdict,
        is_violation: automaton.is_violation(taken.from, taken.to),
        event: event_number,
    }
}

#[cold]
fn never_supplied_note(
    attached: &AttachedMonitor,
    decl: &invigil_monitor::event::EventDecl,
    parameter: usize,
) -> String {
    let param = decl.params.get(parameter).map_or("?", |param| param.name.as_str());
    let name = &attached.monitor.automaton().name;
    format!("`{param}` of `{decl}` is not available: guards of property `{name}` that read it are false")
}

#[cold]
fn skipped_note(
    attached: &AttachedMonitor,
    decl: &invigil_monitor::event::EventDecl,
    parameter: usize,
) -> String {
    let param = decl.params.get(parameter).map_or("?", |param| param.name.as_str());
    let name = &attached.monitor.automaton().name;
    format!("`{param}` of `{decl}` is not available: property `{name}` skips these events")
}
