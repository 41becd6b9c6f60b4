//! The recent past of all slices, for streams that cannot be read a second time: a ring of fixed size.

use crate::finding::{PathStep, Variable, happening};
use crate::shown::Shown;
use invigil_expr::value::Value;
use invigil_monitor::automaton::{Automaton, Branch, StateId};
use invigil_monitor::event::{Catalog, Event, SymbolId};
use invigil_monitor::observer::Taken;
use invigil_monitor::slices::{SliceId, Slices};
use invigil_trace::Place;

/// How many steps are remembered, over all slices.
const STEPS: usize = 1 << 16;
/// How many steps of one slice are told.
pub(crate) const TOLD: usize = 50;
/// How many parameters of an event are remembered.
const PARAMS: usize = 4;

#[derive(Clone, Copy)]
struct Step {
    slice: SliceId,
    state: StateId,
    /// `None` for the beginning of a slice.
    branch: Option<Branch>,
    event: Context,
}

/// The event that a step was taken on.
#[derive(Clone, Copy)]
struct Context {
    symbol: SymbolId,
    index: u64,
    time: f64,
    place: Place,
    params: [Value; PARAMS],
}

impl Context {
    const UNKNOWN: Context = Context {
        symbol: SymbolId(u32::MAX),
        index: 0,
        time: f64::NAN,
        place: Place { input: 0, line: 0 },
        params: [Value::UNSET; PARAMS],
    };
}

pub(crate) struct History {
    steps: Vec<Step>,
    /// The environment after each step, one after the other.
    envs: Vec<Value>,
    env: usize,
    /// How many steps there were in all.
    count: usize,
    /// How many of them have been given their event.
    settled: usize,
}

/// What outlasts the event: values that lie in its text or in a heap do not.
fn kept(value: Value) -> Value {
    if value.is_inline() { value } else { Value::UNSET }
}

impl History {
    pub(crate) fn new(automaton: &Automaton) -> History {
        let env = automaton.env.len();
        History { steps: Vec::new(), envs: Vec::new(), env, count: 0, settled: 0 }
    }

    /// Tells which event the steps since the last call were taken on.
    pub(crate) fn settle(&mut self, event: &Event<'_>, index: u64, time: f64, place: Place) {
        let mut params = [Value::UNSET; PARAMS];
        for (slot, value) in params.iter_mut().zip(event.params) {
            *slot = kept(*value);
        }
        let context = Context { symbol: event.symbol, index, time, place, params };
        for number in self.settled.max(self.count.saturating_sub(STEPS))..self.count {
            self.steps[number % STEPS].event = context;
        }
        self.settled = self.count;
    }

    pub(crate) fn created(&mut self, slices: &Slices, slice: SliceId) {
        // The slice begins as a copy of its parent, and may have been changed since by a guard.
        let model = slices.parent(slice).unwrap_or(slice);
        let state = slices.state(model);
        self.push(slices, model, Step { slice, state, branch: None, event: Context::UNKNOWN });
    }

    #[inline]
    pub(crate) fn taken(&mut self, slices: &Slices, taken: Taken) {
        let step =
            Step { slice: taken.slice, state: taken.to, branch: Some(taken.branch), event: Context::UNKNOWN };
        self.push(slices, taken.slice, step);
    }

    /// Adds a step, with the environment that `model` has.
    #[inline]
    fn push(&mut self, slices: &Slices, model: SliceId, step: Step) {
        let env = slices.env(model).iter().map(|value| kept(*value));
        if self.steps.len() < STEPS {
            self.steps.push(step);
            self.envs.extend(env);
        } else {
            let slot = self.count % STEPS;
            self.steps[slot] = step;
            for (place, value) in self.envs[slot * self.env..].iter_mut().zip(env) {
                *place = value;
            }
        }
        self.count += 1;
    }

    /// What is remembered of a slice, the latest last; and how many earlier steps there were, if that is
    /// known.
    pub(crate) fn path(
        &self,
        automaton: &Automaton,
        catalog: &Catalog,
        slices: &Slices,
        slice: SliceId,
    ) -> (Vec<PathStep>, Option<u64>) {
        let mut path = Vec::new();
        let mut untold = 0;
        let oldest = self.count - self.steps.len();
        for number in (oldest..self.count).rev() {
            let step = &self.steps[number % STEPS];
            if step.slice != slice {
                continue;
            }
            if path.len() < TOLD {
                path.push(self.tell(automaton, catalog, slices, number % STEPS));
            } else {
                untold += 1;
            }
            if step.branch.is_none() {
                path.reverse();
                return (path, Some(untold));
            }
        }
        path.reverse();
        (path, None)
    }

    fn tell(&self, automaton: &Automaton, catalog: &Catalog, slices: &Slices, slot: usize) -> PathStep {
        let step = &self.steps[slot];
        let state = &automaton.states[usize::from(step.state)];
        let values = &self.envs[slot * self.env..(slot + 1) * self.env];
        let event = Event { symbol: step.event.symbol, params: &step.event.params, text: "" };
        let view = slices.values_view();
        let show = |value: Value| if value.is_unset() { Shown::unknown() } else { Shown::new(&view, value) };
        PathStep {
            event: step.branch.map(|_| {
                let Context { index, time, place, .. } = step.event;
                happening(catalog, &event, index, time, place)
            }),
            branch: step.branch,
            state: state.name.clone(),
            verdict: state.verdict,
            env: automaton
                .env
                .iter()
                .zip(values)
                .map(|(name, value)| Variable { name: name.clone(), value: show(*value) })
                .collect(),
        }
    }
}
