//! Who is called when something happens to a property, and what they may ask for.

use super::current_states;
use crate::automaton::{Automaton, StateId};
use crate::event::Event;
use crate::observer::{Observer, Taken};
use crate::slices::{SliceId, Slices};
use crate::verdict::Verdict;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use invigil_expr::value::Value;

/// What a callback asks of whoever drives the monitor. Of several requests the greatest counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Request {
    /// Nothing: the program runs on.
    #[default]
    Continue,
    /// Suspend the program and give the developer the prompt (`debugger_shell`).
    Shell,
    /// End the program; the watch is suspended (`stop_execution`).
    Stop,
}

/// What a callback can look at.
#[derive(Clone, Copy, Debug)]
pub struct Scene<'a> {
    /// The property.
    pub automaton: &'a Automaton,
    /// Where it stands at this moment.
    pub slices: &'a Slices,
    /// The event at hand.
    pub event: &'a Event<'a>,
}

/// What happened to a slice on an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// It came into being.
    Created(SliceId),
    /// It took a transition.
    Taken(Taken),
    /// It entered a final state and was forgotten.
    Forgotten {
        /// Which it was.
        slice: SliceId,
        /// Where its values are: see [`Watch::forgotten`](super::Watch::forgotten).
        binding: usize,
    },
}

/// A registered callback.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CallbackId(u32);

type Told<T> = Box<dyn FnMut(&Scene<'_>, T) -> Request + Send>;
type ToldStates = Box<dyn FnMut(&Scene<'_>, &[StateId]) -> Request + Send>;

pub(super) enum Callback {
    StateChanged(ToldStates),
    TransitionTaken(Told<Taken>),
    EventApplied(Told<Verdict>),
}

/// Everyone who is called, in the order they registered.
#[derive(Default)]
pub(super) struct Callbacks {
    registered: Vec<(CallbackId, Callback)>,
    unhandled: Option<Told<Option<SliceId>>>,
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
        self.registered.retain(|(known, _)| *known != id);
        self.registered.len() < before
    }

    pub(super) fn set_unhandled(&mut self, callback: Option<Told<Option<SliceId>>>) {
        self.unhandled = callback;
    }

    pub(super) fn hears_unhandled(&self) -> bool {
        self.unhandled.is_some()
    }

    /// Calls those that `call` knows how to; gives the greatest request.
    fn all(&mut self, mut call: impl FnMut(&mut Callback) -> Option<Request>) -> Request {
        let requests = self.registered.iter_mut().filter_map(|(_, callback)| call(callback));
        requests.max().unwrap_or_default()
    }

    pub(super) fn state_changed(&mut self, scene: &Scene<'_>) -> Request {
        let mut states = None;
        self.all(|callback| match callback {
            Callback::StateChanged(f) => {
                let now = || current_states(scene.automaton, scene.slices).collect();
                let states: &Vec<StateId> = states.get_or_insert_with(now);
                Some(f(scene, states))
            }
            _ => None,
        })
    }

    fn transition_taken(&mut self, scene: &Scene<'_>, taken: Taken) -> Request {
        self.all(|callback| match callback {
            Callback::TransitionTaken(f) => Some(f(scene, taken)),
            _ => None,
        })
    }

    pub(super) fn event_applied(&mut self, scene: &Scene<'_>, verdict: Verdict) -> Request {
        self.all(|callback| match callback {
            Callback::EventApplied(f) => Some(f(scene, verdict)),
            _ => None,
        })
    }

    pub(super) fn unhandled(&mut self, scene: &Scene<'_>, slice: Option<SliceId>) -> Request {
        self.unhandled.as_mut().map_or(Request::Continue, |f| f(scene, slice))
    }
}

/// Listens while one event is applied: passes on what must be told at once, and notes the rest.
pub(super) struct Hearing<'a> {
    /// Whom to tell, and of what; none while the property starts.
    told: Option<(&'a Automaton, &'a Event<'a>, &'a mut Callbacks)>,
    is_quiet: bool,
    pub(super) printed: Vec<String>,
    pub(super) commands: Vec<String>,
    pub(super) request: Request,
    /// Whether a slice took a transition.
    pub(super) taken: bool,
    /// Whether a slice changed its state, came or went.
    pub(super) changed: bool,
    /// Whether the event reached a slice that took no transition.
    pub(super) unhandled: bool,
    pub(super) missing: Option<usize>,
    pub(super) absent: Option<usize>,
    created: Option<SliceId>,
    pub(super) trail: Trail,
}

/// What happened to slices on one event. Its memory is used again for the next.
#[derive(Clone, Debug, Default)]
pub(super) struct Trail {
    /// The slices that took a transition, with the state they left; not new ones. In the order of slices.
    pub(super) came_from: Vec<(SliceId, StateId)>,
    pub(super) changes: Vec<Change>,
    /// The bindings of slices that were forgotten, one after the other.
    pub(super) forgotten: Vec<Value>,
}

impl Trail {
    /// Gets ready for an event. Where slices came from is shown until one is delivered.
    pub(super) fn clear_changes(&mut self) {
        self.changes.clear();
        self.forgotten.clear();
    }
}

impl<'a> Hearing<'a> {
    pub(super) fn new(
        told: Option<(&'a Automaton, &'a Event<'a>, &'a mut Callbacks)>,
        is_quiet: bool,
        trail: Trail,
    ) -> Hearing<'a> {
        Hearing {
            told,
            is_quiet,
            printed: Vec::new(),
            commands: Vec::new(),
            request: Request::Continue,
            taken: false,
            changed: false,
            unhandled: false,
            missing: None,
            absent: None,
            created: None,
            trail,
        }
    }

    fn tell(&mut self, slices: &Slices, call: impl FnOnce(&mut Callbacks, &Scene<'_>) -> Request) {
        if let Some((automaton, event, callbacks)) = &mut self.told {
            let request = call(callbacks, &Scene { automaton, slices, event });
            self.request = self.request.max(request);
        }
    }
}

impl Observer for Hearing<'_> {
    fn printing(&self) -> bool {
        !self.is_quiet
    }

    fn print(&mut self, line: &str) {
        self.printed.push(line.into());
    }

    fn command(&mut self, command: String) {
        self.commands.push(command);
    }

    fn created(&mut self, _: &Slices, slice: SliceId) {
        self.changed = true;
        self.created = Some(slice);
        self.trail.changes.push(Change::Created(slice));
    }

    fn taken(&mut self, slices: &Slices, taken: Taken) {
        self.taken = true;
        self.changed |= taken.from != taken.to;
        if self.created != Some(taken.slice) {
            self.trail.came_from.push((taken.slice, taken.from));
        }
        self.trail.changes.push(Change::Taken(taken));
        self.tell(slices, |callbacks, scene| callbacks.transition_taken(scene, taken));
    }

    fn forgotten(&mut self, slices: &Slices, slice: SliceId) {
        self.changed = true;
        let trail = &mut self.trail;
        trail.came_from.pop_if(|(known, _)| *known == slice);
        trail.changes.push(Change::Forgotten { slice, binding: trail.forgotten.len() });
        trail.forgotten.extend_from_slice(slices.binding(slice));
    }

    fn unhandled(&mut self, slices: &Slices, slice: SliceId) {
        self.unhandled = true;
        self.tell(slices, |callbacks, scene| callbacks.unhandled(scene, Some(slice)));
    }

    fn absent(&mut self, parameter: usize) {
        self.absent = Some(parameter);
    }

    fn incomplete(&mut self, parameter: usize) {
        self.missing = Some(parameter);
    }
}
