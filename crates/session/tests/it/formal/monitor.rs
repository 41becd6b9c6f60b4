//! The monitor [Jakse 2019, section 3.3.4; figure 3.12 is missing in print]: a small automaton whose needed events
//! depend on its state.

use crate::formal::points::{Event, SymbolicEvent};
use crate::formal::program::Val;

/// A state of the automaton, and its verdict.
pub(crate) type State = usize;

/// A transition from a state.
#[derive(Clone, Debug)]
pub(crate) struct Transition {
    /// The number of the event in the monitor's catalog.
    pub(crate) event: usize,
    /// If there is one, the first parameter must be so: odd or not.
    pub(crate) odd: Option<bool>,
    pub(crate) to: State,
}

/// `Mon(Q, q_init, →mon, verdict)`. The verdict of a state is the state itself: nothing is lost that way.
#[derive(Clone, Debug)]
pub(crate) struct Monitor {
    pub(crate) catalog: Vec<SymbolicEvent>,
    /// The transitions from each state. The first that applies is taken; none leaves the state as it is.
    pub(crate) states: Vec<Vec<Transition>>,
    /// Where the end of the program leads from each state.
    pub(crate) at_stop: Vec<State>,
}

/// A configuration of the monitor.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct MonitorState {
    pub(crate) state: State,
    pub(crate) cpts: Vec<State>,
}

impl Monitor {
    /// `(q_init, ε)`; the event INIT leads to the initial state.
    pub(crate) fn initial(&self) -> MonitorState {
        MonitorState { state: 0, cpts: vec![] }
    }

    /// `→mon`.
    pub(crate) fn next(&self, state: State, event: &Event) -> State {
        let Event::At(event, values) = event else { return self.at_stop[state] };
        let odd = match values.first() {
            Some(Val::Num(number)) => number % 2 == 1,
            Some(Val::Code(_)) => true,
            None => false,
        };
        let applies = |transition: &&Transition| {
            self.catalog[transition.event] == *event && transition.odd.is_none_or(|wanted| wanted == odd)
        };
        self.states[state].iter().find(applies).map_or(state, |transition| transition.to)
    }

    /// `eventsNeeded`: each once, in the order in which the state asks for them.
    pub(crate) fn events_needed(&self, state: State) -> Vec<SymbolicEvent> {
        let mut needed: Vec<SymbolicEvent> = vec![];
        for transition in &self.states[state] {
            let event = &self.catalog[transition.event];
            if !needed.contains(event) {
                needed.push(event.clone());
            }
        }
        needed
    }

    /// Rule EVENT, for all the events of one step: the verdicts, and the events needed after the last.
    pub(crate) fn events(
        &self,
        at: &MonitorState,
        events: &[Event],
    ) -> (Vec<State>, Vec<SymbolicEvent>, MonitorState) {
        let mut to = at.clone();
        let mut verdicts = vec![];
        for event in events {
            to.state = self.next(to.state, event);
            verdicts.push(to.state);
        }
        (verdicts, self.events_needed(to.state), to)
    }

    /// Rule CKPT.
    pub(crate) fn checkpoint(&self, at: &MonitorState) -> (usize, MonitorState) {
        let mut to = at.clone();
        to.cpts.push(at.state);
        (at.cpts.len(), to)
    }

    /// Rule RESTORE.
    pub(crate) fn restore(&self, at: &MonitorState, number: usize) -> Option<MonitorState> {
        let state = *at.cpts.get(number)?;
        Some(MonitorState { state, cpts: at.cpts.clone() })
    }
}
