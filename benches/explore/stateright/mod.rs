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

/// What a model has to say; the rest is the same for all.
pub(crate) trait Rules: Sized + Send + Sync + 'static {
    /// A state.
    type State: Clone + Debug + Default + Eq + Hash + Send + Sync;

    /// Adds what can be done: a process, and which of its transitions.
    fn enabled(&self, state: &Self::State, out: &mut Vec<(u8, u8)>);

    /// Does it.
    fn perform(&self, state: &mut Self::State, process: u8, transition: u8);

    /// The first state.
    fn first(&self) -> Self::State {
        Self::State::default()
    }
}

struct Checked<R>(R);

impl<R: Rules> Model for Checked<R> {
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

    // A property that holds makes it look at everything.
    fn properties(&self) -> Vec<Property<Self>> {
        vec![Property::always("nothing", |_, _| true)]
    }
}

/// The number of states of a model, by a search in breadth on one thread.
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
    Checked(rules).checker().threads(1).spawn_bfs().join().unique_state_count() as u64
}
