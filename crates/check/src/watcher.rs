//! Follows one property through the trace: counts, and notes what is worth telling.

use crate::driver::Listener;
use crate::finding::{self, Binding, Finding, Happening, PathStep, Variable};
use crate::history::History;
use crate::outcome::{Missing, PropertyOutcome};
use invigil_monitor::automaton::Automaton;
use invigil_monitor::event::{Catalog, Event};
use invigil_monitor::observer::{Observer, Taken};
use invigil_monitor::slices::{SliceId, Slices};
use invigil_monitor::verdict::Verdict;
use invigil_monitor::{Monitor, Scratch};
use invigil_trace::{Block, Place};
use std::ops::{ControlFlow, Range};

/// A violation, as the observer meets it: what cannot be looked up afterwards.
struct Violation {
    binding: Vec<Binding>,
    env: Vec<Variable>,
    taken: Taken,
}

/// The observer of one property. It is told of every transition, so it does next to nothing there.
struct Notes<'a, L> {
    automaton: &'a Automaton,
    listener: &'a mut L,
    property: usize,
    steps: u64,
    created: u64,
    violations: u64,
    commands: u64,
    looked_at: u64,
    /// Violations of the event at hand.
    fresh: Vec<Violation>,
    missing: Option<usize>,
    /// How many violations are still to be told.
    wanted: usize,
    /// Where there is no second reading: the recent past of all slices.
    history: Option<&'a mut History>,
}

impl<L: Listener> Observer for Notes<'_, L> {
    #[inline(always)]
    fn printing(&self) -> bool {
        self.listener.prints()
    }

    fn print(&mut self, line: &str) {
        self.listener.print(self.property, line);
    }

    fn command(&mut self, command: String) {
        self.commands += 1;
        self.listener.command(self.property, &command);
    }

    fn created(&mut self, slices: &Slices, slice: SliceId) {
        if slices.root() != Some(slice) || self.automaton.slice_on.is_empty() {
            self.created += 1;
        }
        if let Some(history) = &mut self.history {
            history.created(slices, slice);
        }
    }

    #[inline(always)]
    fn taken(&mut self, slices: &Slices, taken: Taken) {
        self.steps += 1;
        if let Some(history) = &mut self.history {
            history.taken(slices, taken);
        }
        let verdict = |state: u16| self.automaton.states[usize::from(state)].verdict;
        if taken.from != taken.to
            && verdict(taken.to) == Verdict::NonAccepting
            && verdict(taken.from) != Verdict::NonAccepting
        {
            self.violated(slices, taken);
        }
    }

    #[inline(always)]
    fn unhandled(&mut self, _: &Slices, _: SliceId) {
        self.looked_at += 1;
    }

    fn incomplete(&mut self, parameter: usize) {
        self.missing = Some(parameter);
    }
}

impl<L: Listener> Notes<'_, L> {
    #[cold]
    fn violated(&mut self, slices: &Slices, taken: Taken) {
        self.violations += 1;
        if self.fresh.len() < self.wanted {
            self.fresh.push(Violation {
                binding: finding::binding(self.automaton, slices, taken.slice),
                env: finding::env(self.automaton, slices, taken.slice),
                taken,
            });
        }
    }
}

/// One property on its way through the trace.
pub(crate) struct Watcher<'a> {
    property: usize,
    automaton: &'a Automaton,
    catalog: &'a Catalog,
    pub(crate) slices: Slices,
    scratch: Scratch,
    history: Option<History>,
    outcome: PropertyOutcome,
}

impl<'a> Watcher<'a> {
    /// Starts a property. `remembers` is for traces that cannot be read a second time.
    pub(crate) fn start<L: Listener>(
        property: usize,
        automaton: &'a Automaton,
        catalog: &'a Catalog,
        remembers: bool,
        listener: &mut L,
        findings: &mut Vec<Finding>,
    ) -> Watcher<'a> {
        let mut scratch = Scratch::default();
        let mut history = remembers.then(|| History::new(automaton));
        let mut notes = Notes::new(property, automaton, listener, 0, history.as_mut());
        let slices = automaton.start(&mut scratch, &mut notes);
        let (created, commands) = (notes.created, notes.commands);
        let mut watcher = Watcher {
            property,
            automaton,
            catalog,
            slices,
            scratch,
            history,
            outcome: PropertyOutcome {
                name: automaton.name.clone(),
                slices: created,
                commands,
                ..PropertyOutcome::default()
            },
        };
        watcher.check_start(findings);
        watcher
    }

    /// A property may be violated before anything happens.
    fn check_start(&mut self, findings: &mut Vec<Finding>) {
        let initial = &self.automaton.states[usize::from(self.automaton.initial)];
        let Some(root) = self.slices.root() else { return };
        if initial.verdict == Verdict::NonAccepting && self.slices.failure().is_none() {
            self.outcome.violations += 1;
            findings.push(Finding {
                property: self.property,
                slice: finding::binding(self.automaton, &self.slices, root),
                event: None,
                at_end: false,
                why: None,
                from: initial.name.clone(),
                to: initial.name.clone(),
                path: vec![PathStep {
                    event: None,
                    branch: None,
                    state: initial.name.clone(),
                    verdict: initial.verdict,
                    env: finding::env(self.automaton, &self.slices, root),
                }],
                untold: Some(0),
            });
        }
    }

    /// Follows some events of a block; stops after one with violations to tell, with the position after it,
    /// so that the caller can decide whether to go on. `before` events came before the block's.
    pub(crate) fn follow<L: Listener>(
        &mut self,
        block: &Block,
        range: Range<usize>,
        before: u64,
        wanted: usize,
        listener: &mut L,
        findings: &mut Vec<Finding>,
    ) -> usize {
        let (automaton, catalog, property) = (self.automaton, self.catalog, self.property);
        let batch = &block.batch;
        let outcome = &mut self.outcome;
        let mut notes = Notes::new(property, automaton, listener, wanted, self.history.as_mut());
        let at = automaton.run(
            &mut self.slices,
            &mut self.scratch,
            batch,
            range,
            &mut notes,
            |notes, slices, at, verdict| {
                if notes.is_quiet() && verdict != Some(Verdict::Error) {
                    return ControlFlow::Continue(());
                }
                let (event, index) = (batch.event(at), before + block.number(at));
                let (time, place) = (batch.stamp(at).time, block.place(at));
                if let Some(history) = &mut notes.history {
                    history.settle(&event, index, time, place);
                    if notes.fresh.is_empty() && notes.missing.is_none() && verdict != Some(Verdict::Error) {
                        return ControlFlow::Continue(());
                    }
                }
                let happening = finding::happening(catalog, &event, index, time, place);
                if let Some(parameter) = notes.missing.take() {
                    outcome.note_missing(catalog, &event, parameter, place);
                }
                if let Some(failure) = slices.failure() {
                    outcome.failure = Some((failure.clone(), Some(happening)));
                    return ControlFlow::Break(());
                }
                let violations = std::mem::take(&mut notes.fresh);
                for violation in &violations {
                    let (path, untold) = match &notes.history {
                        Some(history) => history.path(automaton, catalog, slices, violation.taken.slice),
                        None => (Vec::new(), None),
                    };
                    findings.push(tell(property, automaton, violation, &happening, path, untold));
                }
                if violations.is_empty() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            },
        );
        outcome.commands += notes.commands;
        outcome.steps += notes.steps;
        outcome.slices += notes.created;
        outcome.violations += notes.violations;
        outcome.looked_at += notes.looked_at;
        at
    }

    /// How often a slice entered a non-accepting state.
    pub(crate) fn violations(&self) -> u64 {
        self.outcome.violations
    }

    /// Whether the monitor has ended by an error.
    pub(crate) fn failed(&self) -> bool {
        self.slices.failure().is_some()
    }

    /// Ends a run that is complete: that may be a violation too. At most `wanted` of them are told.
    pub(crate) fn end(&mut self, wanted: usize, findings: &mut Vec<Finding>) {
        if self.failed() {
            return;
        }
        let (automaton, slices) = (self.automaton, &self.slices);
        let mut told = 0;
        for slice in automaton.violated_at_end(slices) {
            self.outcome.violations += 1;
            if told == wanted {
                continue;
            }
            told += 1;
            let (path, untold) = match &self.history {
                Some(history) => history.path(automaton, self.catalog, slices, slice),
                None => (Vec::new(), None),
            };
            let state = automaton.state_name(slices.state(slice));
            findings.push(Finding {
                property: self.property,
                slice: finding::binding(automaton, slices, slice),
                event: None,
                at_end: true,
                why: None,
                from: state.to_owned(),
                to: state.to_owned(),
                path,
                untold,
            });
        }
    }

    /// How the property fared in a run that is complete, or is not.
    pub(crate) fn finish(mut self, complete: bool) -> PropertyOutcome {
        if let (Some(failure), None) = (self.slices.failure(), &self.outcome.failure) {
            self.outcome.failure = Some((failure.clone(), None));
        }
        self.outcome.settle(self.automaton, &self.slices, complete);
        self.outcome
    }
}

impl<'a, L: Listener> Notes<'a, L> {
    fn new(
        property: usize,
        automaton: &'a Automaton,
        listener: &'a mut L,
        wanted: usize,
        history: Option<&'a mut History>,
    ) -> Notes<'a, L> {
        Notes {
            automaton,
            listener,
            property,
            steps: 0,
            created: 0,
            violations: 0,
            commands: 0,
            looked_at: 0,
            fresh: Vec::new(),
            missing: None,
            wanted,
            history,
        }
    }

    #[inline(always)]
    fn is_quiet(&self) -> bool {
        self.fresh.is_empty() && self.missing.is_none() && self.history.is_none()
    }
}

impl PropertyOutcome {
    #[cold]
    fn note_missing(&mut self, catalog: &Catalog, event: &Event<'_>, parameter: usize, place: Place) {
        let Some(symbol) = catalog.get(event.symbol) else { return };
        let Some(source) = symbol.params.get(parameter) else { return };
        let (event, param) = (symbol.to_string(), source.name.clone());
        match self.missing.iter_mut().find(|known| known.event == event && known.param == param) {
            Some(known) => known.count += 1,
            None => {
                self.missing.push(Missing { event, param, fields: source.fields(), count: 1, first: place })
            }
        }
    }
}

fn tell(
    property: usize,
    automaton: &Automaton,
    violation: &Violation,
    event: &Happening,
    mut path: Vec<PathStep>,
    untold: Option<u64>,
) -> Finding {
    let Violation { binding, env, taken } = violation;
    let last = PathStep {
        event: Some(event.clone()),
        branch: Some(taken.branch),
        state: automaton.state_name(taken.to).into(),
        verdict: Verdict::NonAccepting,
        env: env.clone(),
    };
    // The history's own last step is this one, without the event's text values.
    path.pop();
    path.push(last);
    Finding {
        property,
        slice: binding.clone(),
        event: Some(event.clone()),
        at_end: false,
        why: automaton.transitions.get(taken.transition).and_then(|taken| taken.condition.clone()),
        from: automaton.state_name(taken.from).into(),
        to: automaton.state_name(taken.to).into(),
        path,
        untold,
    }
}
