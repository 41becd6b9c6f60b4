//! One property being followed, in the hands of a person, a script or an editor.
//!
//! A [`Watch`] is an automaton, where it stands, and who wants to know. It has every operation of the
//! monitor interface of Verde (appendix B of the report on interactive runtime verification); each method
//! says which one it is. Two need no method: functions are compiled into the property (`set_globals`), and
//! callbacks ask for the prompt or the end with the [`Request`] they give back (`debugger_shell`,
//! `stop_execution`).
//!
//! ```
//! use invigil_monitor::automaton::{Automaton, End, Parts, State, Transition};
//! use invigil_monitor::event::{Catalog, Event, Kind};
//! use invigil_monitor::verdict::Verdict;
//! use invigil_monitor::watch::{Request, Watch};
//! use std::sync::Arc;
//!
//! let mut catalog = Catalog::default();
//! let crash = catalog.symbol("crash", Kind::Before);
//! let state = |name: &str, verdict| State {
//!     name: name.into(), verdict, is_final: false, action: None, span: Default::default(),
//! };
//! let automaton = Automaton::new(Parts {
//!     states: vec![state("init", Verdict::Accepting), state("sink", Verdict::NonAccepting)],
//!     transitions: vec![Transition {
//!         from: 0, symbol: crash, guard: None, success: Some(End { target: Some(1), ..End::default() }),
//!         failure: None, reads: vec![], span: Default::default(),
//!     }],
//!     ..Parts::default()
//! });
//!
//! let mut watch = Watch::new(Arc::new(automaton));
//! watch.on_event_applied(|_, verdict| match verdict {
//!     Verdict::NonAccepting => Request::Shell,
//!     _ => Request::Continue,
//! });
//! let before = watch.checkpoint();
//! let applied = watch.apply(&Event { symbol: crash, params: &[], text: "" });
//! assert_eq!((applied.verdict, applied.request), (Some(Verdict::NonAccepting), Request::Shell));
//! assert_eq!(watch.to_string(), "  Slice 1: sink (from init) non-accepting\n");
//! watch.restore(before).unwrap();
//! assert_eq!(watch.current_states().collect::<Vec<_>>(), ["init"]);
//! ```

mod callback;
mod console;
mod mistake;

pub use callback::{CallbackId, Request, Scene};
pub use mistake::Mistake;

use crate::automaton::{Automaton, StateId};
use crate::event::{Event, EventSet};
use crate::observer::Taken;
use crate::slices::{SliceId, Slices};
use crate::step::{Monitor, Scratch};
use crate::verdict::{Failure, Verdict};
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use callback::{Callback, Callbacks, Hearing};
use invigil_expr::value::Value;

/// A saved state of a [`Watch`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CheckpointId(pub u32);

/// What became of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Applied {
    /// The worst verdict on the slices that the event concerned; none if it was not delivered, because the
    /// watch is suspended, no slice is in a state with a transition on it, or it lacks a parameter.
    pub verdict: Option<Verdict>,
    /// Whether a slice took a transition.
    pub handled: bool,
    /// The parameter that it lacks, by its position.
    pub missing: Option<usize>,
    /// What the callbacks ask for.
    pub request: Request,
}

/// A value that a person gives to a variable.
#[derive(Clone, Copy, Debug)]
pub enum Given<'a> {
    /// A number, a truth value, `None` or a short string.
    Plain(Value),
    /// A string of any length.
    Text(&'a str),
}

impl From<Value> for Given<'_> {
    fn from(value: Value) -> Self {
        Given::Plain(value)
    }
}

impl From<i64> for Given<'_> {
    fn from(value: i64) -> Self {
        Given::Plain(Value::int(value))
    }
}

impl<'a> From<&'a str> for Given<'a> {
    fn from(text: &'a str) -> Self {
        Given::Text(text)
    }
}

/// Where a property stands, and how it got there with the last event.
#[derive(Clone, Debug)]
struct Standing {
    slices: Slices,
    /// The slices that took a transition on the last event, with the state they left; not new ones.
    came_from: BTreeMap<SliceId, StateId>,
}

/// One property being followed; see the module.
pub struct Watch {
    automaton: Arc<Automaton>,
    standing: Standing,
    scratch: Scratch,
    callbacks: Callbacks,
    checkpoints: BTreeMap<CheckpointId, Standing>,
    /// The number of the next checkpoint.
    next_checkpoint: u32,
    printed: Vec<String>,
    commands: Vec<String>,
    is_quiet: bool,
    is_stepping: bool,
    is_suspended: bool,
}

impl Watch {
    /// Starts a property.
    pub fn new(automaton: Arc<Automaton>) -> Watch {
        let mut hearing = Hearing::new(None, false);
        let mut scratch = Scratch::default();
        let slices = automaton.start(&mut scratch, &mut hearing);
        let (printed, commands) = (hearing.printed, hearing.commands);
        Watch {
            automaton,
            standing: Standing { slices, came_from: BTreeMap::new() },
            scratch,
            callbacks: Callbacks::default(),
            checkpoints: BTreeMap::new(),
            next_checkpoint: 1,
            printed,
            commands,
            is_quiet: false,
            is_stepping: false,
            is_suspended: false,
        }
    }

    /// Follows one event, and calls back whoever registered.
    ///
    /// An event that no slice has a transition on is not delivered: a live program would not report it.
    pub fn apply(&mut self, event: &Event<'_>) -> Applied {
        self.printed.clear();
        self.commands.clear();
        let mut applied = Applied { verdict: None, handled: false, missing: None, request: Request::Continue };
        if self.is_suspended || self.failure().is_some() {
            return applied;
        }
        let automaton = Arc::clone(&self.automaton);
        let Watch { standing, scratch, callbacks, .. } = self;
        let told = Some((&*automaton, event, &mut *callbacks));
        let mut hearing = Hearing::new(told, self.is_quiet);
        let delivered = automaton.wants(&standing.slices, event.symbol);
        if delivered {
            applied.verdict = automaton.step(&mut standing.slices, scratch, event, &mut hearing);
        }
        let Hearing { printed, commands, request, taken, changed, unhandled, missing, came_from, .. } = hearing;
        (self.printed, self.commands) = (printed, commands);
        (applied.request, applied.handled, applied.missing) = (request, taken, missing);
        if delivered {
            standing.came_from = came_from;
        }
        let scene = Scene { automaton: &automaton, slices: &standing.slices, event };
        if !taken && !unhandled && missing.is_none() && automaton.symbols().any(|known| known == event.symbol) {
            applied.request = applied.request.max(callbacks.unhandled(&scene, None));
        }
        if changed {
            applied.request = applied.request.max(callbacks.state_changed(&scene));
        }
        if let Some(verdict) = applied.verdict {
            applied.request = applied.request.max(callbacks.event_applied(&scene, verdict));
            if self.is_stepping {
                applied.request = applied.request.max(Request::Shell);
            }
        }
        self.is_suspended = applied.request == Request::Stop;
        applied
    }

    /// The events that the property needs now; none while it is suspended.
    ///
    /// While someone wants to know of events that are [not handled](Watch::set_unhandled), all events of
    /// the property are needed.
    pub fn needs(&self) -> EventSet {
        if self.is_suspended || self.failure().is_some() {
            return EventSet::default();
        }
        let mut needs = self.automaton.needs(self.slices());
        if self.callbacks.hears_unhandled() {
            self.automaton.symbols().for_each(|symbol| needs.insert(symbol));
        }
        needs
    }

    // ---- looking -------------------------------------------------------------------------------------

    /// The property.
    pub fn automaton(&self) -> &Arc<Automaton> {
        &self.automaton
    }

    /// The names of all states (`get_states`).
    pub fn states(&self) -> impl Iterator<Item = &str> {
        self.automaton.states.iter().map(|state| state.name.as_str())
    }

    /// The names of the states that some slice is in, each once, in the order written
    /// (`get_current_states`).
    pub fn current_states(&self) -> impl Iterator<Item = &str> {
        current_states(&self.automaton, self.slices()).map(|state| self.automaton.state_name(state))
    }

    /// The slices, with their states, bindings and environments (`get_slices`).
    pub fn slices(&self) -> &Slices {
        &self.standing.slices
    }

    /// Each slice with its values for the slice parameters, unset where it has none
    /// (`get_slice_bindings`).
    pub fn slice_bindings(&self) -> impl Iterator<Item = (SliceId, &[Value])> {
        self.slices().iter().map(|slice| (slice, self.slices().binding(slice)))
    }

    /// What a slice remembers: each variable that has a value (`get_env`).
    ///
    /// # Errors
    /// If there is no such slice.
    pub fn env(&self, slice: SliceId) -> Result<impl Iterator<Item = (&str, Value)>, Mistake> {
        self.check_slice(slice)?;
        let values = self.env_keys().iter().zip(self.slices().env(slice));
        Ok(values.filter(|(_, value)| !value.is_unset()).map(|(name, value)| (name.as_str(), *value)))
    }

    /// The names of the variables, the same in every slice (`get_env_keys`).
    pub fn env_keys(&self) -> &[String] {
        &self.automaton.env
    }

    /// The value of a variable (`get_env_value`); [`Slices::show`] puts it into words.
    ///
    /// # Errors
    /// If there is no such slice or variable, or it has no value.
    pub fn env_value(&self, slice: SliceId, key: &str) -> Result<Value, Mistake> {
        self.check_slice(slice)?;
        let value = self.slices().env(slice)[self.variable(key)?];
        if value.is_unset() { Err(Mistake::NoValue(key.into())) } else { Ok(value) }
    }

    /// Why the property ended, if a block of it failed.
    pub fn failure(&self) -> Option<&Failure> {
        self.slices().failure()
    }

    /// The lines that blocks printed on the last event, or when the property started.
    pub fn printed(&self) -> &[String] {
        &self.printed
    }

    /// What blocks asked of the debugger, with `debugger(command)`, on the last event, or when the property
    /// started.
    pub fn commands(&self) -> &[String] {
        &self.commands
    }

    // ---- changing ------------------------------------------------------------------------------------

    /// Puts the root slice into a state (`set_current_state`).
    ///
    /// # Errors
    /// If there is no such state, or no root slice any more.
    pub fn set_current_state(&mut self, state: &str) -> Result<(), Mistake> {
        let root = self.slices().root().ok_or(Mistake::NoRoot)?;
        self.set_state(root, state)
    }

    /// Puts any slice into a state.
    ///
    /// # Errors
    /// If there is no such slice or state.
    pub fn set_state(&mut self, slice: SliceId, state: &str) -> Result<(), Mistake> {
        self.check_slice(slice)?;
        let Some(state) = self.automaton.state_named(state) else {
            return Err(Mistake::no_state(state, self.states()));
        };
        self.automaton.set_state(&mut self.standing.slices, slice, state);
        self.standing.came_from.remove(&slice);
        Ok(())
    }

    /// Gives a variable of a slice another value (`set_env_value`).
    ///
    /// # Errors
    /// If there is no such slice or variable, or the value cannot be kept.
    pub fn set_env_value<'v>(
        &mut self,
        slice: SliceId,
        key: &str,
        value: impl Into<Given<'v>>,
    ) -> Result<(), Mistake> {
        self.set_env(slice, &[(key, value.into())])
    }

    /// Gives several variables of a slice other values (`set_env_dict`). Those not named keep theirs: blocks
    /// rely on every variable that was set up.
    ///
    /// # Errors
    /// If there is no such slice or variable, or a value cannot be kept; then none is changed.
    pub fn set_env(&mut self, slice: SliceId, values: &[(&str, Given<'_>)]) -> Result<(), Mistake> {
        self.check_slice(slice)?;
        let variables = values.iter().map(|(key, _)| self.variable(key)).collect::<Result<Vec<_>, _>>()?;
        let slices = &mut self.standing.slices;
        let mut kept = Vec::new();
        for (key, given) in values {
            let value = match given {
                Given::Plain(value) => Some(*value).filter(|value| value.is_inline() && !value.is_unset()),
                Given::Text(text) => slices.heap.new_str(text).ok(),
            };
            match value {
                Some(value) => kept.push(value),
                None => {
                    // What was made for the values before this one is not referred to: it goes.
                    slices.heap.sweep();
                    return Err(Mistake::BadValue((*key).into()));
                }
            }
        }
        for (variable, value) in variables.into_iter().zip(kept) {
            slices.set_env(slice, variable, value);
        }
        slices.heap.sweep();
        Ok(())
    }

    fn check_slice(&self, slice: SliceId) -> Result<(), Mistake> {
        if self.slices().contains(slice) { Ok(()) } else { Err(Mistake::NoSlice(slice)) }
    }

    fn variable(&self, key: &str) -> Result<usize, Mistake> {
        let keys = self.env_keys();
        keys.iter().position(|known| known == key).ok_or_else(|| Mistake::no_variable(key, keys))
    }

    // ---- controlling ---------------------------------------------------------------------------------

    /// Whether the lines that blocks print are dropped (`set_quiet`).
    pub fn set_quiet(&mut self, quiet: bool) {
        self.is_quiet = quiet;
    }

    /// Whether every event that is delivered asks for the [prompt](Request::Shell) (`step_by_step`).
    pub fn step_by_step(&mut self, on: bool) {
        self.is_stepping = on;
    }

    /// Stops following: no event is needed, and none is delivered.
    pub fn suspend(&mut self) {
        self.is_suspended = true;
    }

    /// Follows on from where it was suspended.
    pub fn resume(&mut self) {
        self.is_suspended = false;
    }

    /// Whether events are ignored.
    pub fn is_suspended(&self) -> bool {
        self.is_suspended
    }

    /// Starts the property again. Callbacks, checkpoints and settings stay.
    pub fn reset(&mut self) {
        let mut hearing = Hearing::new(None, self.is_quiet);
        let slices = self.automaton.start(&mut self.scratch, &mut hearing);
        (self.printed, self.commands) = (hearing.printed, hearing.commands);
        self.standing = Standing { slices, came_from: BTreeMap::new() };
    }

    /// Saves where the property stands.
    pub fn checkpoint(&mut self) -> CheckpointId {
        let id = CheckpointId(self.next_checkpoint);
        self.next_checkpoint += 1;
        self.checkpoints.insert(id, self.standing.clone());
        id
    }

    /// Goes back to where the property stood. The checkpoint can be used again; callbacks and settings stay.
    ///
    /// # Errors
    /// If there is no such checkpoint.
    pub fn restore(&mut self, id: CheckpointId) -> Result<(), Mistake> {
        self.standing = self.checkpoints.get(&id).ok_or(Mistake::NoCheckpoint(id))?.clone();
        Ok(())
    }

    /// Forgets a checkpoint.
    ///
    /// # Errors
    /// If there is no such checkpoint.
    pub fn drop_checkpoint(&mut self, id: CheckpointId) -> Result<(), Mistake> {
        self.checkpoints.remove(&id).map(drop).ok_or(Mistake::NoCheckpoint(id))
    }

    /// The checkpoints there are.
    pub fn checkpoints(&self) -> impl Iterator<Item = CheckpointId> {
        self.checkpoints.keys().copied()
    }

    // ---- being told ----------------------------------------------------------------------------------

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

/// The states that some slice is in.
fn current_states(automaton: &Automaton, slices: &Slices) -> impl Iterator<Item = StateId> {
    (0..automaton.states.len() as StateId).filter(|state| slices.count(*state) > 0)
}
