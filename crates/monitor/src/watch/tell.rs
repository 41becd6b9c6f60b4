//! Asking to be told what happens to a property.

use super::callback::Callback;
use super::{CallbackId, Request, Scene, Watch};
use crate::automaton::StateId;
use crate::observer::Taken;
use crate::slices::SliceId;
use crate::verdict::Verdict;
use alloc::boxed::Box;

impl Watch {
    /// Calls back after an event on which a slice changed its state, came or went, with the states that
    /// some slice is in now (`register_event`, `state_changed`).
    pub fn on_state_changed(
        &mut self,
        callback: impl FnMut(&Scene<'_>, &[StateId]) -> Request + Send + 'static,
    ) -> CallbackId {
        self.callbacks.add(Callback::StateChanged(Box::new(callback)))
    }

    /// Calls back when a slice takes a transition, at that moment (`register_event`, `transition_taken`).
    pub fn on_transition_taken(
        &mut self,
        callback: impl FnMut(&Scene<'_>, Taken) -> Request + Send + 'static,
    ) -> CallbackId {
        self.callbacks.add(Callback::TransitionTaken(Box::new(callback)))
    }

    /// Calls back after every event that was delivered, when all else is done (`register_event`,
    /// `event_applied`).
    pub fn on_event_applied(
        &mut self,
        callback: impl FnMut(&Scene<'_>, Verdict) -> Request + Send + 'static,
    ) -> CallbackId {
        self.callbacks.add(Callback::EventApplied(Box::new(callback)))
    }

    /// Calls back no more (`unregister_event`). Says whether it was registered.
    pub fn unregister(&mut self, id: CallbackId) -> bool {
        self.callbacks.remove(id)
    }

    /// Calls back when an event of the property is not handled: with the slice that it reached and that took
    /// no transition, or with none if it reached no slice at all. The last function set counts
    /// (`set_transition_debug_function`).
    pub fn set_unhandled(
        &mut self,
        callback: impl FnMut(&Scene<'_>, Option<SliceId>) -> Request + Send + 'static,
    ) {
        self.callbacks.set_unhandled(Some(Box::new(callback)));
    }

    /// Does not call back any more when an event is not handled, which is the default
    /// (`set_transition_debug_function` without an argument).
    pub fn clear_unhandled(&mut self) {
        self.callbacks.set_unhandled(None);
    }
}
