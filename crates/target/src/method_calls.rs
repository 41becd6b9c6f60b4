//! Calls of the target's methods by actions of scripts.

use crate::error::TargetResult;
use crate::event_source::UnresolvedEvent;
use invigil_monitor::event::EventId;
use invigil_monitor::mac::MethodCall;

/// A target whose methods the actions of a script can call.
pub trait MethodCalls {
    /// Announces the methods that [`invoke`](MethodCalls::invoke) may call, each with the event that triggers the call.
    /// Returns those that the target does not have.
    ///
    /// # Errors
    /// If the target cannot be reached.
    fn prepare_calls(&mut self, calls: &[(EventId, MethodCall)]) -> TargetResult<Vec<UnresolvedEvent>>;

    /// Makes the thread of the last event call a method when it is resumed; `call` is a position in the list of
    /// [`prepare_calls`](MethodCalls::prepare_calls).
    ///
    /// # Errors
    /// If the target cannot be reached.
    fn invoke(&mut self, call: usize) -> TargetResult;
}
