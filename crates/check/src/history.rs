//! Ring of the recent steps of all slices, for streams that cannot be read a second time.

use crate::rendered_value::RenderedValue;
use crate::violation::{PathStep, Variable, reported_event};
use invigil_expr::value::Value;
use invigil_monitor::automaton::{Automaton, Branch, StateId};
use invigil_monitor::event::{Event, EventCatalog, EventId};
use invigil_monitor::observer::TransitionTaken;
use invigil_monitor::slices::{SliceId, SliceTable};
use invigil_trace::TracePosition;

/// Capacity of the ring, over all slices.
const CAPACITY: usize = 1 << 16;
/// Maximum length of a reported path.
pub(crate) const MAX_PATH: usize = 50;
/// Maximum number of parameters stored per event.
const MAX_PARAMS: usize = 4;

#[derive(Clone, Copy)]
struct Step {
    slice: SliceId,
    state: StateId,
    /// `None` for the creation of a slice.
    branch: Option<Branch>,
    event: EventContext,
}

/// The event of a step.
#[derive(Clone, Copy)]
struct EventContext {
    event_id: EventId,
    index: u64,
    time: f64,
    position: TracePosition,
    params: [Value; MAX_PARAMS],
}

impl EventContext {
    const UNKNOWN: EventContext = EventContext {
        event_id: EventId(u32::MAX),
        index: 0,
        time: f64::NAN,
        position: TracePosition { input: 0, line: 0 },
        params: [Value::UNSET; MAX_PARAMS],
    };
}

/// Ring buffer of recent steps with their environments.
pub(crate) struct History {
    steps: Vec<Step>,
    /// The environments after the steps, `env_len` values each.
    envs: Vec<Value>,
    /// Number of variables of the property.
    env_len: usize,
    /// Total number of steps.
    count: usize,
    /// Number of steps whose event is known.
    settled: usize,
}

/// Keeps inline values only: references into the event's text or a heap do not outlive the event.
fn inline_or_unset(value: Value) -> Value {
    if value.is_inline() { value } else { Value::UNSET }
}

impl History {
    pub(crate) fn new(automaton: &Automaton) -> History {
        let env_len = automaton.env.len();
        History { steps: Vec::new(), envs: Vec::new(), env_len, count: 0, settled: 0 }
    }

    /// Sets the event of all steps since the last call.
    pub(crate) fn settle(&mut self, event: &Event<'_>, index: u64, time: f64, position: TracePosition) {
        let mut params = [Value::UNSET; MAX_PARAMS];
        for (slot, value) in params.iter_mut().zip(event.params) {
            *slot = inline_or_unset(*value);
        }
        let context = EventContext { event_id: event.id, index, time, position, params };
        for number in self.settled.max(self.count.saturating_sub(CAPACITY))..self.count {
            self.steps[number % CAPACITY].event = context;
        }
        self.settled = self.count;
    }

    pub(crate) fn created(&mut self, slices: &SliceTable, slice: SliceId) {
        // The slice was copied from its parent; a guard may have changed it since.
        let env_slice = slices.parent(slice).unwrap_or(slice);
        let state = slices.state(env_slice);
        self.push(slices, env_slice, Step { slice, state, branch: None, event: EventContext::UNKNOWN });
    }

    #[inline]
    pub(crate) fn taken(&mut self, slices: &SliceTable, taken: TransitionTaken) {
        let step = Step {
            slice: taken.slice,
            state: taken.to,
            branch: Some(taken.branch),
            event: EventContext::UNKNOWN,
        };
        self.push(slices, taken.slice, step);
    }

    /// Adds a step with the current environment of the slice `env_slice`.
    #[inline]
    fn push(&mut self, slices: &SliceTable, env_slice: SliceId, step: Step) {
        let env = slices.env(env_slice).iter().map(|value| inline_or_unset(*value));
        if self.steps.len() < CAPACITY {
            self.steps.push(step);
            self.envs.extend(env);
        } else {
            let slot = self.count % CAPACITY;
            self.steps[slot] = step;
            for (slot, value) in self.envs[slot * self.env_len..].iter_mut().zip(env) {
                *slot = value;
            }
        }
        self.count += 1;
    }

    /// The recorded steps of a slice, and the number of earlier steps, if known.
    pub(crate) fn path(
        &self,
        automaton: &Automaton,
        catalog: &EventCatalog,
        slices: &SliceTable,
        slice: SliceId,
    ) -> (Vec<PathStep>, Option<u64>) {
        let mut path = Vec::new();
        let mut omitted = 0;
        let oldest = self.count - self.steps.len();
        for number in (oldest..self.count).rev() {
            let step = &self.steps[number % CAPACITY];
            if step.slice != slice {
                continue;
            }
            if path.len() < MAX_PATH {
                path.push(self.path_step(automaton, catalog, slices, number % CAPACITY));
            } else {
                omitted += 1;
            }
            if step.branch.is_none() {
                path.reverse();
                return (path, Some(omitted));
            }
        }
        path.reverse();
        (path, None)
    }

    fn path_step(
        &self,
        automaton: &Automaton,
        catalog: &EventCatalog,
        slices: &SliceTable,
        slot: usize,
    ) -> PathStep {
        let step = &self.steps[slot];
        let state = &automaton.states[usize::from(step.state)];
        let values = &self.envs[slot * self.env_len..(slot + 1) * self.env_len];
        let event = Event { id: step.event.event_id, params: &step.event.params, text: "" };
        let view = slices.values_view();
        let show = |value: Value| {
            if value.is_unset() { RenderedValue::unknown() } else { RenderedValue::new(&view, value) }
        };
        PathStep {
            event: step.branch.map(|_| {
                let EventContext { index, time, position, .. } = step.event;
                reported_event(catalog, &event, index, time, position)
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
