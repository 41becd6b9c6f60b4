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
//!     name: name.into(), verdict, is_final: false, action: None, at_end: Default::default(),
//!     span: Default::default(),
//! };
//! let automaton = Automaton::new(Parts {
//!     states: vec![state("init", Verdict::Accepting), state("sink", Verdict::NonAccepting)],
//!     transitions: vec![Transition {
//!         from: 0, symbol: crash, guard: None, success: Some(End { target: Some(1), ..End::default() }),
//!         failure: None, reads: vec![], condition: None, span: Default::default(),
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
mod change;
mod console;
mod control;
mod mistake;
mod tell;

pub use callback::{CallbackId, Change, Request, Scene};
pub use change::Given;
pub use control::CheckpointId;
pub use mistake::Mistake;

use crate::automaton::{Automaton, StateId};
use crate::event::{Event, EventSet};
use crate::slices::{SliceId, Slices};
use crate::step::{Monitor, Scratch};
use crate::verdict::{Failure, Verdict};
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use callback::{Callbacks, Hearing, Trail};
use invigil_expr::value::Value;

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
    /// A parameter that it lacks though a question reads it, so that the answer was no; by its position.
    pub absent: Option<usize>,
    /// What the callbacks ask for.
    pub request: Request,
}

/// Where a property stands, and how it got there with the last event.
#[derive(Clone, Debug)]
struct Standing {
    slices: Slices,
    trail: Trail,
}

/// Tells whether [`Watch::needs`] may give something else than before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NeedsStamp {
    version: u32,
    follows: bool,
    hears_unhandled: bool,
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
        let mut hearing = Hearing::new(None, false, Trail::default());
        let mut scratch = Scratch::default();
        let slices = automaton.start(&mut scratch, &mut hearing);
        let (printed, commands) = (hearing.printed, hearing.commands);
        Watch {
            automaton,
            standing: Standing { slices, trail: Trail::default() },
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
        self.standing.trail.clear_changes();
        let mut applied = Applied {
            verdict: None,
            handled: false,
            missing: None,
            absent: None,
            request: Request::Continue,
        };
        if self.is_suspended || self.failure().is_some() {
            return applied;
        }
        let automaton = Arc::clone(&self.automaton);
        let Watch { standing, scratch, callbacks, .. } = self;
        let told = Some((&*automaton, event, &mut *callbacks));
        let delivered = automaton.wants(&standing.slices, event.symbol);
        let mut hearing = Hearing::new(told, self.is_quiet, core::mem::take(&mut standing.trail));
        if delivered {
            hearing.trail.came_from.clear();
            applied.verdict = automaton.step(&mut standing.slices, scratch, event, &mut hearing);
        }
        let Hearing { printed, commands, request, taken, changed, unhandled, missing, absent, trail, .. } =
            hearing;
        applied.absent = absent;
        standing.trail = trail;
        (self.printed, self.commands) = (printed, commands);
        (applied.request, applied.handled, applied.missing) = (request, taken, missing);
        if missing.is_some() && !taken {
            applied.verdict = None;
        }
        let scene = Scene { automaton: &automaton, slices: &standing.slices, event };
        let is_ours = || automaton.symbols().any(|known| known == event.symbol);
        if callbacks.hears_unhandled() && !taken && !unhandled && missing.is_none() && is_ours() {
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
        let mut needs = EventSet::default();
        self.add_needs(&mut needs);
        needs
    }

    /// Adds the events that the property needs now to a set.
    pub fn add_needs(&self, needs: &mut EventSet) {
        if self.is_suspended || self.failure().is_some() {
            return;
        }
        self.slices().add_needs(needs);
        if self.callbacks.hears_unhandled() {
            self.automaton.symbols().for_each(|symbol| needs.insert(symbol));
        }
    }

    /// As long as this stays equal from event to event, so do the [needs](Watch::needs). Going back to a
    /// checkpoint is no event.
    pub fn needs_stamp(&self) -> NeedsStamp {
        NeedsStamp {
            version: self.slices().needs_version(),
            follows: !self.is_suspended && self.failure().is_none(),
            hears_unhandled: self.callbacks.hears_unhandled(),
        }
    }

    /// Whether someone follows the property event by event: a callback, or a person who steps.
    pub fn has_company(&self) -> bool {
        self.is_stepping || self.is_suspended || !self.callbacks.is_empty()
    }

    /// Takes over where the property was brought elsewhere, as if it had followed all events here.
    pub fn stand(&mut self, slices: Slices) {
        self.standing = Standing { slices, trail: Trail::default() };
    }

    /// What happened to slices on the last event, in the order in which it did.
    pub fn changes(&self) -> &[Change] {
        &self.standing.trail.changes
    }

    /// The binding of a slice that was [forgotten](Change::Forgotten) on the last event. Long strings in it
    /// cannot be read any more.
    pub fn forgotten(&self, binding: usize) -> &[Value] {
        let keys = self.automaton.slice_on.len();
        self.standing.trail.forgotten.get(binding..binding + keys).unwrap_or(&[])
    }

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

    fn check_slice(&self, slice: SliceId) -> Result<(), Mistake> {
        if self.slices().contains(slice) { Ok(()) } else { Err(Mistake::NoSlice(slice)) }
    }

    fn variable(&self, key: &str) -> Result<usize, Mistake> {
        let keys = self.env_keys();
        keys.iter().position(|known| known == key).ok_or_else(|| Mistake::no_variable(key, keys))
    }
}

/// The states that some slice is in.
fn current_states(automaton: &Automaton, slices: &Slices) -> impl Iterator<Item = StateId> {
    (0..automaton.states.len() as StateId).filter(|state| slices.count(*state) > 0)
}
