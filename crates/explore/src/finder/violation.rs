//! Violations of property automata in the executions of models, and of what is around models.

use crate::finder::Stop;
use crate::finder::reading::{Numbers, Reads};
use crate::watched::events::Events;
use invigil_model::{ActionId, Model, State, Step};
use invigil_monitor::automaton::Automaton;
use invigil_monitor::event::Catalog;
use invigil_monitor::observer::Unobserved;
use invigil_monitor::slices::Slices;
use invigil_monitor::{Monitor, Scratch};
use invigil_semantics::{Filter, FilteringPolicy, Language, PreInitialised, StepRef};
use std::sync::Arc;

/// A subject that is a model, or one around it: its configurations and actions are those of a model, and more.
pub trait OfModel: Language {
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

impl OfModel for Model {
    fn state(config: &State) -> &State {
        config
    }

    fn action(action: &ActionId) -> ActionId {
        *action
    }
}

impl<S: OfModel> OfModel for &S {
    fn state(config: &S::Config) -> &State {
        S::state(config)
    }

    fn action(action: &S::Action) -> ActionId {
        S::action(action)
    }
}

impl<S: OfModel> OfModel for PreInitialised<S> {
    fn state(config: &S::Config) -> &State {
        S::state(config)
    }

    fn action(action: &S::Action) -> ActionId {
        S::action(action)
    }
}

/// A scheduled model.
impl<S: OfModel, P: FilteringPolicy<S::Config, S::Action>> OfModel for Filter<S, P> {
    fn state((config, _): &Self::Config) -> &State {
        S::state(config)
    }

    fn action((action, _): &Self::Action) -> ActionId {
        S::action(action)
    }
}

impl<'a, S: OfModel> Stop<'a, S> {
    /// The first step after which a property automaton is violated, or one of its blocks fails. It sees the events
    /// of the model's actions as [`Watched`](crate::watched::Watched) shows them, from the first step on.
    pub fn violation(model: &'a Model, catalog: &Catalog, automaton: Arc<Automaton>) -> Stop<'a, S> {
        let events = model.parts().actions.iter().map(|action| Events::of(action, model, catalog)).collect();
        Stop::finite(Violation { model, events, automaton, states: Numbers::new() })
    }
}

struct Violation<'a> {
    model: &'a Model,
    /// For each action the events that it stands for, if somebody looks at them.
    events: Vec<Option<Events>>,
    automaton: Arc<Automaton>,
    states: Numbers<Slices>,
}

impl Violation<'_> {
    fn events(&self, step: Step<'_>) -> Option<&Events> {
        self.events.get(step.action? as usize)?.as_ref()
    }
}

impl<S: OfModel> Reads<S> for Violation<'_> {
    fn start(&self, _: &S) -> u32 {
        self.states.of(self.automaton.start(&mut Scratch::default(), &mut Unobserved))
    }

    fn read(&self, _: &S, step: StepRef<'_, S>, at: u32) -> u32 {
        let step = S::step(step);
        let (Some(events), Some(mut state)) = (self.events(step), self.states.value(at)) else { return at };
        let (mut values, mut scratch) = (Vec::new(), Scratch::default());
        // A parameter that has no value is told by `fault`; the search stops there.
        if events.values(self.model, step, &mut values).is_err() {
            return FAILED;
        }
        events.tell(&values, &mut |event| {
            if self.automaton.wants(&state, event.symbol) {
                self.automaton.step(&mut state, &mut scratch, event, &mut Unobserved);
            }
        });
        self.states.of(state)
    }

    fn is_hit(&self, at: u32) -> bool {
        let is_bad = |state: Slices| state.is_violated() || state.failure().is_some();
        at == FAILED || self.states.value(at).is_some_and(is_bad)
    }

    fn is_hopeless(&self, _: u32) -> bool {
        false
    }

    fn fault(&self, _: &S, step: StepRef<'_, S>) -> Option<String> {
        let step = S::step(step);
        let failed = self.events(step)?.values(self.model, step, &mut Vec::new()).err();
        failed.map(|reason| format!("a parameter of the event has no value: {reason}"))
    }
}

/// The state after an event that could not be told.
const FAILED: u32 = u32::MAX;
