//! Engines that step the embedded monitors outside of their host.

use super::EmbeddedMonitors;
use super::event_log::first_word;
use crate::automaton::StateId;
use crate::event::EventId;
use crate::slices::SliceId;
use invigil_expr::value::Value;

/// An engine that steps monitors outside of their host, without its lock, and keeps their state elsewhere meanwhile: in
/// blocks per thread, or in the objects of the program.
///
/// `()` is a host without such an engine.
pub trait ExternalEngine {
    /// Stops the engine, and writes its state and its events back to the monitors. Returns false, and does nothing, if a
    /// stopped thread is in the engine.
    fn write_back(&mut self, monitors: Option<&mut EmbeddedMonitors>) -> bool;

    /// Lets the engine step again, from the current state of the monitors; `None` if they were removed. While the host is
    /// frozen, no event may be stepped, by the engine either.
    fn restart(&mut self, monitors: Option<&mut EmbeddedMonitors>, is_frozen: bool);

    /// Stops the engine, because other properties or scripts are loaded. No thread is in the engine.
    fn discard(&mut self, monitors: Option<&mut EmbeddedMonitors>);
}

impl ExternalEngine for () {
    fn write_back(&mut self, _: Option<&mut EmbeddedMonitors>) -> bool {
        true
    }

    fn restart(&mut self, _: Option<&mut EmbeddedMonitors>, _: bool) {}

    fn discard(&mut self, _: Option<&mut EmbeddedMonitors>) {}
}

/// An event with integer parameters that an [`ExternalEngine`] has stepped. No reaction was due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExternalStep<'a> {
    /// The thread.
    pub thread: u32,
    /// The event.
    pub event: EventId,
    /// Its parameters.
    pub params: &'a [i64],
    /// Whether a transition was taken.
    pub taken: bool,
}

impl EmbeddedMonitors {
    /// Appends what an [`ExternalEngine`] has stepped to the log, in the order in which it occurred. There is a single
    /// property; the state that the steps led to is written with
    /// [`set_slice_state`](EmbeddedMonitors::set_slice_state).
    pub fn append_external_steps<'a>(&mut self, steps: impl IntoIterator<Item = ExternalStep<'a>>) {
        let mut pending = self.newer.events.draft();
        for ExternalStep { thread, event, params, taken } in steps {
            pending.put(thread, first_word(event, params), params.iter().map(|param| *param as u64), taken);
        }
        pending.commit();
    }

    /// Sets the state and the integer variables of a slice of the only property. Returns false, and does nothing, if
    /// there is no such slice.
    #[must_use]
    pub fn set_slice_state(&mut self, slice: SliceId, state: StateId, env: &[i64]) -> bool {
        self.write_back();
        let [monitor] = &mut self.monitors[..] else { return false };
        let fits = monitor.slices.contains(slice)
            && usize::from(state) < monitor.automaton.states.len()
            && env.len() == monitor.slices.env(slice).len();
        if fits {
            monitor.slices.set_state(&monitor.automaton, slice, state);
            for (variable, value) in env.iter().enumerate() {
                monitor.slices.set_env(slice, variable, Value::int(*value));
            }
            if let Some(table) = self.tables.get_mut(0) {
                table.load(&monitor.slices);
            }
        }
        fits
    }
}
