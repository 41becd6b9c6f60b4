//! The same models, written by hand for Stateright.

mod anderson;
mod at;
mod bakery;
mod buffer;
mod peterson;
mod philosophers;

use stateright::{Checker, Model, Property};
use std::fmt::Debug;
use std::hash::Hash;

/// Transition rules of a model.
pub(crate) trait Rules: Sized + Send + Sync + 'static {
    /// A state.
    type State: Clone + Debug + Default + Eq + Hash + Send + Sync;

    /// Adds the enabled transitions: a process and the number of its transition.
    fn enabled(&self, state: &Self::State, out: &mut Vec<(u8, u8)>);

    /// Executes a transition.
    fn perform(&self, state: &mut Self::State, process: u8, transition: u8);

    /// The initial state.
    fn first(&self) -> Self::State {
        Self::State::default()
    }
}

/// Adapter to the model interface of Stateright.
struct RulesModel<R>(R);

impl<R: Rules> Model for RulesModel<R> {
    type State = R::State;
    type Action = (u8, u8);

    fn init_states(&self) -> Vec<R::State> {
        vec![self.0.first()]
    }

    fn actions(&self, state: &R::State, actions: &mut Vec<(u8, u8)>) {
        self.0.enabled(state, actions);
    }

    fn next_state(&self, state: &R::State, (process, transition): (u8, u8)) -> Option<R::State> {
        let mut next = state.clone();
        self.0.perform(&mut next, process, transition);
        Some(next)
    }

    // A property that always holds makes the checker explore all states.
    fn properties(&self) -> Vec<Property<Self>> {
        vec![Property::always("nothing", |_, _| true)]
    }
}

/// The number of states of a model, by breadth-first search on one thread.
pub(crate) fn states(name: &str) -> u64 {
    match name {
        "peterson.4" => count(peterson::Peterson),
        "buffer" => count(buffer::Buffer),
        "at.4" => count(at::At),
        "bakery.5" => count(bakery::Bakery),
        "phils.6" => count(philosophers::Philosophers),
        "anderson.6" => count(anderson::Anderson),
        _ => 0,
    }
}

fn count(rules: impl Rules) -> u64 {
    RulesModel(rules).checker().threads(1).spawn_bfs().join().unique_state_count() as u64
}
