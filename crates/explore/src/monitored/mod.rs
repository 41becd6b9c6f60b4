//! Product of a model's state space and property automata (`.prop` files, monitors of formulae).

pub(crate) mod action_events;
mod automata_cache;

use crate::path::Path;
use crate::state_space::{BAD, FAULT, StateSpace, Successors};

use action_events::ActionEvents;
use automata_cache::{AutomataCache, CachedStep};
use invigil_model::{Model, Step};
use invigil_monitor::automaton::Automaton;
use invigil_monitor::event::EventCatalog;
use invigil_monitor::slices::SliceTable;
use std::cell::RefCell;
use std::sync::{OnceLock, PoisonError, RwLock};

/// A state space of a model and property automata that receive the events of its actions, with their parameters.
///
/// A step on which an automaton becomes violated or a block fails is [`BAD`]. The joint state of all automata is one
/// extra word, its number; equal states have equal numbers. The effect of an event is computed once per joint state.
///
/// `#thread` is the number of the process that performs the action; there is no time and no program. Values are those
/// of the model's variables: numbers, Booleans, and names as text.
pub struct Monitored<'a, S> {
    space: S,
    model: &'a Model,
    /// For each action, the events that it represents, if any are declared.
    events: Vec<Option<ActionEvents>>,
    cache: RwLock<AutomataCache<'a>>,
    /// The first evaluation error of a parameter.
    evaluation_error: OnceLock<String>,
}

thread_local! {
    /// Reusable buffers: successors, and values of parameters.
    static SCRATCH: RefCell<Vec<(Successors, Vec<i64>)>> = const { RefCell::new(Vec::new()) };
}

impl<'a, S: StateSpace> Monitored<'a, S> {
    /// Wraps a space whose configurations and actions are those of a model. The automata share `catalog`.
    pub fn new(
        space: S,
        model: &'a Model,
        catalog: &EventCatalog,
        automata: &[&'a Automaton],
    ) -> Monitored<'a, S> {
        let actions = &model.parts().actions;
        let events = actions.iter().map(|action| ActionEvents::of(action, model, catalog)).collect();
        Monitored {
            space,
            model,
            events,
            cache: RwLock::new(AutomataCache::new(automata, actions.len())),
            evaluation_error: OnceLock::new(),
        }
    }

    /// Why a parameter of an event could not be evaluated, if this happened. The behaviour of the automata is unknown
    /// there, so a search without a finding proves nothing.
    pub fn evaluation_error(&self) -> Option<&str> {
        self.evaluation_error.get().map(String::as_str)
    }

    /// The wrapped space.
    pub fn space(&self) -> &S {
        &self.space
    }

    /// The number of highest bits of the last word that are always 0.
    pub fn spare(&self) -> u32 {
        u32::BITS
    }

    /// The states of the automata in a configuration, in the order of construction.
    pub fn monitors(&self, state: &[u64]) -> Vec<SliceTable> {
        let number = state[self.space.width()] as u32;
        self.cache.read().unwrap_or_else(PoisonError::into_inner).states(number)
    }

    /// The automata that become violated if the execution ends in this configuration, such as `ltlf:` formulae with
    /// open obligations. Callers check this at deadlocks.
    pub fn violated_at_end(&self, state: &[u64]) -> Vec<usize> {
        let number = state[self.space.width()] as u32;
        self.cache.read().unwrap_or_else(PoisonError::into_inner).violated_at_end(number)
    }

    /// Projects an execution to the wrapped space.
    pub fn subject_path(&self, path: &Path) -> Path {
        let width = self.space.width();
        let states = path.states.iter().map(|state| state[..width].into()).collect();
        Path { states, ..path.clone() }
    }

    /// The effect of an action's event on the automata.
    fn next(&self, at: u32, action: u32, events: &ActionEvents, values: &[i64]) -> CachedStep {
        let cached = self.cache.read().unwrap_or_else(PoisonError::into_inner).cached(at, action, values);
        cached.unwrap_or_else(|| {
            let mut cache = self.cache.write().unwrap_or_else(PoisonError::into_inner);
            cache.compute(at, action, values, |emit| events.emit(values, emit))
        })
    }
}

impl<S: StateSpace> StateSpace for Monitored<'_, S> {
    fn width(&self) -> usize {
        self.space.width() + 1
    }

    fn initial(&self, out: &mut Successors) {
        let mut inner = Successors::default();
        self.space.initial(&mut inner);
        let start = self.cache.read().unwrap_or_else(PoisonError::into_inner).start();
        for (words, transition) in inner.words.chunks_exact(self.space.width()).zip(&inner.transitions) {
            let mut transition = *transition;
            if start.is_bad {
                transition.flags |= BAD;
            }
            out.words.extend_from_slice(words);
            out.words.push(u64::from(start.number));
            out.transitions.push(transition);
        }
        out.marks.append(&mut inner.marks);
    }

    fn successors(&self, state: &[u64], out: &mut Successors) {
        let width = self.space.width();
        let (source, at) = (&state[..width], state[width] as u32);
        let (mut inner, mut values) = SCRATCH.with_borrow_mut(Vec::pop).unwrap_or_default();
        inner.clear();
        self.space.successors(source, &mut inner);
        for (words, transition) in inner.words.chunks_exact(width).zip(&inner.transitions) {
            let (mut transition, mut number) = (*transition, at);
            if let Some(Some(events)) = self.events.get(transition.action as usize)
                && transition.flags & FAULT == 0
            {
                let step = Step { source: Some(source), action: Some(transition.action), target: words };
                match events.values(self.model, step, &mut values) {
                    Ok(()) => {
                        let next = self.next(at, transition.action, events, &values);
                        number = next.number;
                        if next.is_bad {
                            transition.flags |= BAD;
                        }
                    }
                    Err(reason) => {
                        // Only the first error is kept.
                        let _ = self.evaluation_error.set(reason.to_string());
                        transition.flags |= FAULT;
                    }
                }
            }
            out.words.extend_from_slice(words);
            out.words.push(u64::from(number));
            out.transitions.push(transition);
        }
        out.marks.append(&mut inner.marks);
        SCRATCH.with_borrow_mut(|buffers| buffers.push((inner, values)));
    }

    fn acceptance_set_count(&self) -> u32 {
        self.space.acceptance_set_count()
    }

    fn fairness_pair_count(&self) -> u32 {
        self.space.fairness_pair_count()
    }

    fn failure(&self) -> Option<String> {
        self.space.failure()
    }
}
