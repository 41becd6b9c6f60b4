//! Registration of callbacks.

use super::callback::Callback;
use super::{CallbackContext, CallbackId, InteractiveMonitor, Request};
use crate::automaton::StateId;
use crate::observer::TransitionTaken;
use crate::slices::SliceId;
use crate::verdict::Verdict;
use alloc::boxed::Box;

impl InteractiveMonitor {
    /// Registers a callback for events that change, create or remove slices. It receives the occupied states
    /// (`register_event`, `state_changed`).
    pub fn on_state_changed(
        &mut self,
        callback: impl FnMut(&CallbackContext<'_>, &[StateId]) -> Request + Send + 'static,
    ) -> CallbackId {
        self.callbacks.add(Callback::StateChanged(Box::new(callback)))
    }

    /// Registers a callback for transitions. It is called at the transition (`register_event`,
    /// `transition_taken`).
    pub fn on_transition_taken(
        &mut self,
        callback: impl FnMut(&CallbackContext<'_>, TransitionTaken) -> Request + Send + 'static,
    ) -> CallbackId {
        self.callbacks.add(Callback::TransitionTaken(Box::new(callback)))
    }

    /// Registers a callback for delivered events. It is called after all others (`register_event`,
    /// `event_applied`).
    pub fn on_event_applied(
        &mut self,
        callback: impl FnMut(&CallbackContext<'_>, Verdict) -> Request + Send + 'static,
    ) -> CallbackId {
        self.callbacks.add(Callback::EventApplied(Box::new(callback)))
    }

    /// Removes a callback (`unregister_event`). Returns whether it was registered.
    pub fn unregister(&mut self, id: CallbackId) -> bool {
        self.callbacks.remove(id)
    }

    /// Sets the callback for unhandled events (`set_transition_debug_function`).
    ///
    /// It receives the slice that took no transition, or `None` if the event reached no slice. It replaces an
    /// earlier one.
    pub fn set_unhandled(
        &mut self,
        callback: impl FnMut(&CallbackContext<'_>, Option<SliceId>) -> Request + Send + 'static,
    ) {
        self.callbacks.set_unhandled(Some(Box::new(callback)));
    }

    /// Removes the callback for unhandled events, as is the default (`set_transition_debug_function` without an
    /// argument).
    pub fn clear_unhandled(&mut self) {
        self.callbacks.set_unhandled(None);
    }
}
