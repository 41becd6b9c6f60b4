//! Breakpoints on violations of property automata, for models and subjects that wrap models.

use crate::breakpoint_search::Breakpoint;
use crate::breakpoint_search::readers::{Numbering, StepReader};
use crate::monitored::action_events::ActionEvents;
use invigil_model::{ActionId, Model, State, Step};
use invigil_monitor::automaton::Automaton;
use invigil_monitor::event::EventCatalog;
use invigil_monitor::observer::NoopObserver;
use invigil_monitor::slices::SliceTable;
use invigil_monitor::{Monitor, Scratch};
use invigil_semantics::{Filter, FilteringPolicy, Language, PreInitialised, StepRef};
use std::sync::Arc;

/// A subject that is a model or wraps one.
pub trait HasModel: Language {
    /// The model's part of a configuration.
    fn state(config: &Self::Config) -> &State;

    /// The model's part of an action.
    fn action(action: &Self::Action) -> ActionId;

    /// The model's part of a step.
    fn step<'s>(step: StepRef<'s, Self>) -> Step<'s> {
        let source = step.source.map(|source| &*Self::state(source).words);
        Step { source, action: step.action.map(Self::action), target: &Self::state(step.target).words }
    }
}

impl HasModel for Model {
    fn state(config: &State) -> &State {
        config
    }

    fn action(action: &ActionId) -> ActionId {
        *action
    }
}

impl<S: HasModel> HasModel for &S {
    fn state(config: &S::Config) -> &State {
        S::state(config)
    }

    fn action(action: &S::Action) -> ActionId {
        S::action(action)
    }
}

impl<S: HasModel> HasModel for PreInitialised<S> {
    fn state(config: &S::Config) -> &State {
        S::state(config)
    }

    fn action(action: &S::Action) -> ActionId {
        S::action(action)
    }
}

/// A scheduled model.
impl<S: HasModel, P: FilteringPolicy<S::Config, S::Action>> HasModel for Filter<S, P> {
    fn state((config, _): &Self::Config) -> &State {
        S::state(config)
    }

    fn action((action, _): &Self::Action) -> ActionId {
        S::action(action)
    }
}

impl<'a, S: HasModel> Breakpoint<'a, S> {
    /// Stops after the first step on which a property automaton is violated or one of its blocks fails. It receives the
    /// events of the model's actions as in [`Monitored`](crate::monitored::Monitored), from the first step on.
    pub fn violation(
        model: &'a Model,
        catalog: &EventCatalog,
        automaton: Arc<Automaton>,
    ) -> Breakpoint<'a, S> {
        let events =
            model.parts().actions.iter().map(|action| ActionEvents::of(action, model, catalog)).collect();
        Breakpoint::finite(ViolationReader { model, events, automaton, states: Numbering::new() })
    }
}

struct ViolationReader<'a> {
    model: &'a Model,
    /// For each action, the events that it represents, if any are declared.
    events: Vec<Option<ActionEvents>>,
    automaton: Arc<Automaton>,
    states: Numbering<SliceTable>,
}

impl ViolationReader<'_> {
    fn events(&self, step: Step<'_>) -> Option<&ActionEvents> {
        self.events.get(step.action? as usize)?.as_ref()
    }
}

/// The state after an event whose parameters could not be evaluated.
const FAILED: u32 = u32::MAX;

impl<S: HasModel> StepReader<S> for ViolationReader<'_> {
    fn start(&self, _: &S) -> u32 {
        self.states.of(self.automaton.start(&mut Scratch::default(), &mut NoopObserver))
    }

    fn read(&self, _: &S, step: StepRef<'_, S>, at: u32) -> u32 {
        let step = S::step(step);
        let (Some(events), Some(mut slices)) = (self.events(step), self.states.value(at)) else { return at };
        let (mut values, mut scratch) = (Vec::new(), Scratch::default());
        // A parameter without a value stops the search; `fault` reports the reason.
        if events.values(self.model, step, &mut values).is_err() {
            return FAILED;
        }
        events.emit(&values, &mut |event| {
            if self.automaton.needs_event(&slices, event.id) {
                self.automaton.step(&mut slices, &mut scratch, event, &mut NoopObserver);
            }
        });
        self.states.of(slices)
    }

    fn is_hit(&self, at: u32) -> bool {
        let is_bad = |state: SliceTable| state.is_violated() || state.fault().is_some();
        at == FAILED || self.states.value(at).is_some_and(is_bad)
    }

    fn cannot_hit(&self, _: u32) -> bool {
        false
    }

    fn fault(&self, _: &S, step: StepRef<'_, S>) -> Option<String> {
        let step = S::step(step);
        let failed = self.events(step)?.values(self.model, step, &mut Vec::new()).err();
        failed.map(|reason| format!("a parameter of the event has no value: {reason}"))
    }
}
