//! Callbacks on events of a monitor, and their requests.

use super::current_states;
use crate::automaton::{Automaton, StateId};
use crate::event::Event;
use crate::observer::{Observer, TransitionTaken};
use crate::slices::{SliceId, SliceTable};
use crate::verdict::Verdict;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use invigil_expr::value::Value;

/// Request of a callback to the caller of the monitor. The greatest of several requests counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Request {
    /// Continue the program.
    #[default]
    Continue,
    /// Suspend the program and open the prompt (`debugger_shell`).
    Suspend,
    /// Kill the program; the monitor is suspended (`stop_execution`).
    Stop,
}

/// Argument of callbacks.
#[derive(Clone, Copy, Debug)]
pub struct CallbackContext<'a> {
    /// The property.
    pub automaton: &'a Automaton,
    /// Its current state.
    pub slices: &'a SliceTable,
    /// The current event.
    pub event: &'a Event<'a>,
}

/// Change of a slice on an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// It was created.
    Created(SliceId),
    /// It took a transition.
    Taken(TransitionTaken),
    /// It entered a final state and was dropped.
    Dropped {
        /// The slice.
        slice: SliceId,
        /// Index of its binding; see [`InteractiveMonitor::forgotten`](super::InteractiveMonitor::forgotten).
        binding: usize,
    },
}

/// Id of a registered callback.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CallbackId(u32);

type EventCallback<T> = Box<dyn FnMut(&CallbackContext<'_>, T) -> Request + Send>;
type StateCallback = Box<dyn FnMut(&CallbackContext<'_>, &[StateId]) -> Request + Send>;

pub(super) enum Callback {
    StateChanged(StateCallback),
    TransitionTaken(EventCallback<TransitionTaken>),
    EventApplied(EventCallback<Verdict>),
}

/// The registered callbacks, in the order of registration.
#[derive(Default)]
pub(super) struct Callbacks {
    registered: Vec<(CallbackId, Callback)>,
    unhandled: Option<EventCallback<Option<SliceId>>>,
    next: u32,
}

impl Callbacks {
    pub(super) fn is_empty(&self) -> bool {
        self.registered.is_empty() && self.unhandled.is_none()
    }

    pub(super) fn add(&mut self, callback: Callback) -> CallbackId {
        let id = CallbackId(self.next);
        self.next += 1;
        self.registered.push((id, callback));
        id
    }

    pub(super) fn remove(&mut self, id: CallbackId) -> bool {
        let before = self.registered.len();
        self.registered.retain(|(other, _)| *other != id);
        self.registered.len() < before
    }

    pub(super) fn set_unhandled(&mut self, callback: Option<EventCallback<Option<SliceId>>>) {
        self.unhandled = callback;
    }

    pub(super) fn has_unhandled(&self) -> bool {
        self.unhandled.is_some()
    }

    /// Calls the callbacks that `call` selects; returns the greatest request.
    fn all(&mut self, mut call: impl FnMut(&mut Callback) -> Option<Request>) -> Request {
        let requests = self.registered.iter_mut().filter_map(|(_, callback)| call(callback));
        requests.max().unwrap_or_default()
    }

    pub(super) fn state_changed(&mut self, context: &CallbackContext<'_>) -> Request {
        let mut states = None;
        self.all(|callback| match callback {
            Callback::StateChanged(f) => {
                let now = || current_states(context.automaton, context.slices).collect();
                let states: &Vec<StateId> = states.get_or_insert_with(now);
                Some(f(context, states))
            }
            _ => None,
        })
    }

    fn transition_taken(&mut self, context: &CallbackContext<'_>, taken: TransitionTaken) -> Request {
        self.all(|callback| match callback {
            Callback::TransitionTaken(f) => Some(f(context, taken)),
            _ => None,
        })
    }

    pub(super) fn event_applied(&mut self, context: &CallbackContext<'_>, verdict: Verdict) -> Request {
        self.all(|callback| match callback {
            Callback::EventApplied(f) => Some(f(context, verdict)),
            _ => None,
        })
    }

    pub(super) fn unhandled(&mut self, context: &CallbackContext<'_>, slice: Option<SliceId>) -> Request {
        self.unhandled.as_mut().map_or(Request::Continue, |f| f(context, slice))
    }
}

/// Observer for one event: calls callbacks immediately and records the rest.
pub(super) struct CallbackObserver<'a> {
    /// The callbacks and their arguments; `None` while the property starts.
    callbacks: Option<(&'a Automaton, &'a Event<'a>, &'a mut Callbacks)>,
    is_quiet: bool,
    pub(super) printed: Vec<String>,
    pub(super) commands: Vec<String>,
    pub(super) request: Request,
    /// Whether a slice took a transition.
    pub(super) taken: bool,
    /// Whether a slice changed its state, was created or was removed.
    pub(super) changed: bool,
    /// Whether the event reached a slice that took no transition.
    pub(super) unhandled: bool,
    pub(super) missing: Option<usize>,
    pub(super) missing_in_guard: Option<usize>,
    created: Option<SliceId>,
    pub(super) log: ChangeLog,
}

/// Changes of slices on one event. Its memory is reused.
#[derive(Clone, Debug, Default)]
pub(super) struct ChangeLog {
    /// The slices that took a transition, with their previous states, without new ones; by slice.
    pub(super) previous_states: Vec<(SliceId, StateId)>,
    pub(super) changes: Vec<Change>,
    /// The bindings of dropped slices, concatenated.
    pub(super) dropped_bindings: Vec<Value>,
}

impl ChangeLog {
    /// Clears the changes for a new event. Previous states are kept until an event is delivered.
    pub(super) fn clear_changes(&mut self) {
        self.changes.clear();
        self.dropped_bindings.clear();
    }
}

impl<'a> CallbackObserver<'a> {
    pub(super) fn new(
        callbacks: Option<(&'a Automaton, &'a Event<'a>, &'a mut Callbacks)>,
        is_quiet: bool,
        log: ChangeLog,
    ) -> CallbackObserver<'a> {
        CallbackObserver {
            callbacks,
            is_quiet,
            printed: Vec::new(),
            commands: Vec::new(),
            request: Request::Continue,
            taken: false,
            changed: false,
            unhandled: false,
            missing: None,
            missing_in_guard: None,
            created: None,
            log,
        }
    }

    fn notify_callbacks(
        &mut self,
        slices: &SliceTable,
        call: impl FnOnce(&mut Callbacks, &CallbackContext<'_>) -> Request,
    ) {
        if let Some((automaton, event, callbacks)) = &mut self.callbacks {
            let request = call(callbacks, &CallbackContext { automaton, slices, event });
            self.request = self.request.max(request);
        }
    }
}

impl Observer for CallbackObserver<'_> {
    fn wants_output(&self) -> bool {
        !self.is_quiet
    }

    fn print(&mut self, line: &str) {
        self.printed.push(line.into());
    }

    fn command(&mut self, command: String) {
        self.commands.push(command);
    }

    fn slice_created(&mut self, _: &SliceTable, slice: SliceId) {
        self.changed = true;
        self.created = Some(slice);
        self.log.changes.push(Change::Created(slice));
    }

    fn transition_taken(&mut self, slices: &SliceTable, taken: TransitionTaken) {
        self.taken = true;
        self.changed |= taken.from != taken.to;
        if self.created != Some(taken.slice) {
            self.log.previous_states.push((taken.slice, taken.from));
        }
        self.log.changes.push(Change::Taken(taken));
        self.notify_callbacks(slices, |callbacks, context| callbacks.transition_taken(context, taken));
    }

    fn slice_dropped(&mut self, slices: &SliceTable, slice: SliceId) {
        self.changed = true;
        let log = &mut self.log;
        log.previous_states.pop_if(|(other, _)| *other == slice);
        log.changes.push(Change::Dropped { slice, binding: log.dropped_bindings.len() });
        log.dropped_bindings.extend_from_slice(slices.binding(slice));
    }

    fn event_unhandled(&mut self, slices: &SliceTable, slice: SliceId) {
        self.unhandled = true;
        self.notify_callbacks(slices, |callbacks, context| callbacks.unhandled(context, Some(slice)));
    }

    fn guard_parameter_missing(&mut self, parameter: usize) {
        self.missing_in_guard = Some(parameter);
    }

    fn event_skipped(&mut self, parameter: usize) {
        self.missing = Some(parameter);
    }
}
