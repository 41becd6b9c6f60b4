//! The state of a running property: one automaton state and one environment per slice.
//!
//! Everything is plain data in a few flat arrays: values by position, slices by number, indexes of numbers.
//! A snapshot is a clone, a restore is an assignment. The slices form a tree: each knows the one that it was
//! copied from.

mod found;
mod gone;
mod saved;

pub use gone::{Gone, TOLD};

use crate::automaton::{Automaton, Mask, StateId};
use crate::event::{EventSet, SymbolId};
use crate::records::{Head, Records};
use crate::verdict::{Failure, Verdict};
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::hash::{Hash, Hasher};
use found::Cover;
use invigil_expr::compare::View;
use invigil_expr::heap::Heap;
use invigil_expr::text::Texts;
use invigil_expr::value::Value;

pub(crate) use found::{Keys, canonical};

/// A slice, by its number. Numbers of forgotten slices are used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SliceId(pub u32);

const NOBODY: u32 = u32::MAX;

/// The state of a running property; see the module.
#[derive(Clone, Debug)]
pub struct Slices {
    pub(crate) heap: Heap,
    pub(crate) records: Records,
    free: Vec<u32>,
    covers: Vec<Cover>,
    root: u32,
    live: u32,
    /// How many slices are in each state.
    counts: Vec<u32>,
    /// How many slices were forgotten in each state because their objects are no more.
    resting: Vec<u64>,
    /// How many of the states that some slice is in have a transition on each symbol.
    wanted: Vec<u16>,
    /// Counts the changes of `wanted`.
    version: u32,
    keys: usize,
    pub(crate) failure: Option<Failure>,
    /// Whether a slice was ever in a non-accepting state; it may have been forgotten since.
    pub(crate) violated: bool,
}

impl Slices {
    /// No slice at all: the property's root is added by [`Automaton::start`].
    pub(crate) fn new(automaton: &Automaton) -> Slices {
        let keys = automaton.slice_on.len();
        Slices {
            heap: Heap::default(),
            records: Records::new(keys, automaton.env.len()),
            free: Vec::new(),
            covers: automaton.masks.iter().map(|mask| Cover::new(*mask)).collect(),
            root: NOBODY,
            live: 0,
            counts: vec![0; automaton.states.len()],
            resting: vec![0; automaton.states.len()],
            // With several slice parameters, an event that binds some of them may create a slice even if
            // no transition is taken, and others may later be copied from that: all of them count.
            wanted: automaton.plans.iter().map(|plan| u16::from(keys > 1 && plan.mask != 0)).collect(),
            version: 0,
            violated: false,
            keys,
            failure: None,
        }
    }

    pub(crate) fn view<'a>(&'a self, event: &'a str) -> View<'a> {
        View { heap: &self.heap, texts: Texts { event, pool: "" } }
    }

    // ---- what others may know ------------------------------------------------------------------------

    /// The slice with no parameter bound, unless it was forgotten.
    pub fn root(&self) -> Option<SliceId> {
        (self.root != NOBODY).then_some(SliceId(self.root))
    }

    /// All slices, in the order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = SliceId> {
        (0..self.records.len() as u32).filter(|slice| self.records.head(*slice).alive).map(SliceId)
    }

    /// How many slices there are, the root included.
    pub fn len(&self) -> usize {
        self.live as usize
    }

    /// Whether all slices were forgotten.
    pub fn is_empty(&self) -> bool {
        self.live == 0
    }

    /// Whether `slice` exists.
    pub fn contains(&self, slice: SliceId) -> bool {
        (slice.0 as usize) < self.records.len() && self.records.head(slice.0).alive
    }

    /// The state that a slice is in.
    pub fn state(&self, slice: SliceId) -> StateId {
        self.records.head(slice.0).state
    }

    /// The slice that a slice was copied from, if it still exists.
    pub fn parent(&self, slice: SliceId) -> Option<SliceId> {
        Some(SliceId(self.records.head(slice.0).parent)).filter(|parent| self.contains(*parent))
    }

    /// The values of the slice parameters; unset for those that are not bound.
    pub fn binding(&self, slice: SliceId) -> &[Value] {
        self.records.keys(slice.0)
    }

    /// The values of the variables, in the order of [`Parts::env`](crate::automaton::Parts::env).
    pub fn env(&self, slice: SliceId) -> &[Value] {
        self.records.env(slice.0)
    }

    /// A value of a binding or an environment, as Python would show it.
    ///
    /// A value that is too large to show is shown as far as it goes.
    pub fn show(&self, value: Value) -> String {
        let mut out = String::new();
        if self.view("").write_repr(&mut out, value).is_err() {
            out.push('…');
        }
        out
    }

    /// What it takes to look into values of bindings and environments.
    pub fn values_view(&self) -> View<'_> {
        self.view("")
    }

    /// How many slices are in a state.
    pub fn count(&self, state: StateId) -> u32 {
        self.counts[usize::from(state)]
    }

    /// Whether some slice has ever been in a non-accepting state.
    pub fn is_violated(&self) -> bool {
        self.violated
    }

    /// Why the monitor ended, if it did so by an error.
    pub fn failure(&self) -> Option<&Failure> {
        self.failure.as_ref()
    }

    /// Whether some slice is in a state that has a transition on `symbol`.
    #[inline]
    pub fn wants(&self, symbol: SymbolId) -> bool {
        self.wanted.get(symbol.0 as usize).is_some_and(|states| *states > 0)
    }

    /// The events on which some slice has a transition now.
    pub fn needs(&self) -> EventSet {
        let mut needs = EventSet::default();
        self.add_needs(&mut needs);
        needs
    }

    /// Adds the events on which some slice has a transition now to a set.
    pub fn add_needs(&self, needs: &mut EventSet) {
        for (at, states) in self.wanted.iter().enumerate() {
            if *states > 0 {
                needs.insert(SymbolId(at as u32));
            }
        }
    }

    /// A number that changes whenever [`needs`](Slices::needs) may have changed.
    pub fn needs_version(&self) -> u32 {
        self.version
    }

    /// The bytes that the slices take.
    pub fn bytes(&self) -> usize {
        self.heap.bytes() + self.records.bytes() + self.covers.iter().map(Cover::bytes).sum::<usize>()
    }

    // ---- coming and going ----------------------------------------------------------------------------

    /// A copy of `parent` (or, without one, a slice in `state` with nothing set), not yet enlisted.
    /// `keys` are its values for the parameters in `bound`.
    pub(crate) fn copy(&mut self, parent: Option<u32>, state: StateId, bound: Mask, keys: &[Value]) -> u32 {
        let slice = self.free.pop().unwrap_or_else(|| self.records.push());
        if let Some(parent) = parent {
            self.records.copy(parent, slice);
        }
        let state = parent.map_or(state, |parent| self.records.head(parent).state);
        let parent = parent.unwrap_or(NOBODY);
        self.records.set_head(slice, Head { state, bound, dead: 0, alive: true, parent });
        let mut keys = keys.iter();
        let contents = self.records.contents_mut(slice);
        for bit in (0..self.keys).filter(|bit| bound & 1 << bit != 0) {
            if let Some(key) = keys.next() {
                contents[bit] = *key;
            }
        }
        contents.iter().for_each(|value| self.heap.retain(*value));
        if bound == 0 {
            self.root = slice;
        }
        self.live += 1;
        slice
    }

    /// Takes back a [copy](Slices::copy) that was not enlisted.
    pub(crate) fn discard(&mut self, slice: u32) {
        for value in self.records.contents_mut(slice) {
            self.heap.release(core::mem::replace(value, Value::UNSET));
        }
        self.records.set_head(slice, Head { alive: false, ..self.records.head(slice) });
        self.free.push(slice);
        self.live -= 1;
    }

    /// Forgets a slice.
    pub(crate) fn forget(&mut self, automaton: &Automaton, slice: u32) {
        self.leave(automaton, self.records.head(slice).state);
        if slice == self.root {
            self.root = NOBODY;
        } else {
            self.delist(slice);
        }
        self.discard(slice);
    }

    /// Notes that one slice more is in `state`.
    #[inline]
    pub(crate) fn enter(&mut self, automaton: &Automaton, state: StateId) {
        self.violated |= automaton.entries[usize::from(state)].verdict == Verdict::NonAccepting;
        let count = &mut self.counts[usize::from(state)];
        *count += 1;
        if *count == 1 {
            self.want(automaton, state, 1);
        }
    }

    /// Notes that one slice less is in `state`.
    #[inline]
    pub(crate) fn leave(&mut self, automaton: &Automaton, state: StateId) {
        let count = &mut self.counts[usize::from(state)];
        *count -= 1;
        if *count == 0 {
            self.want(automaton, state, u16::MAX);
        }
    }

    /// Notes that so many slices more are in `state`, or less.
    pub(crate) fn gather(&mut self, automaton: &Automaton, state: StateId, more: i32) {
        match more {
            0 => {}
            1.. => (0..more).for_each(|_| self.enter(automaton, state)),
            _ => (more..0).for_each(|_| self.leave(automaton, state)),
        }
    }

    /// Notes that a slice went from one state to another.
    #[inline]
    pub(crate) fn pass(&mut self, automaton: &Automaton, from: StateId, to: StateId) {
        let (left, entered) = (&automaton.entries[usize::from(from)], &automaton.entries[usize::from(to)]);
        let alone = self.counts[usize::from(from)] == 1 && self.counts[usize::from(to)] == 0;
        if left.needs != entered.needs || !alone {
            self.leave(automaton, from);
            self.enter(automaton, to);
            return;
        }
        // One state of the same needs goes, another comes: together they need what they did.
        self.violated |= entered.verdict == Verdict::NonAccepting;
        self.counts[usize::from(from)] = 0;
        self.counts[usize::from(to)] = 1;
    }

    #[inline]
    fn want(&mut self, automaton: &Automaton, state: StateId, delta: u16) {
        self.version = self.version.wrapping_add(1);
        for symbol in &automaton.needed[usize::from(automaton.entries[usize::from(state)].needs)] {
            let wanted = &mut self.wanted[*symbol as usize];
            *wanted = wanted.wrapping_add(delta);
        }
    }

    /// Puts a slice into a state without taking a transition.
    pub(crate) fn set_state(&mut self, automaton: &Automaton, slice: SliceId, state: StateId) {
        let old = self.state(slice);
        self.records.set_state(slice.0, state);
        self.leave(automaton, old);
        self.enter(automaton, state);
    }

    /// Gives a variable of a slice another value, complete in itself or in this heap.
    pub(crate) fn set_env(&mut self, slice: SliceId, variable: usize, value: Value) {
        self.heap.retain(value);
        let old = core::mem::replace(&mut self.records.env_mut(slice.0)[variable], value);
        self.heap.release(old);
    }

    /// Everything that decides what the property will do next, as bytes: for each slice its binding, state
    /// and environment, in the order of the bindings.
    fn encoded(&self) -> Vec<Vec<u8>> {
        let view = self.view("");
        let mut all: Vec<Vec<u8>> = self
            .iter()
            .map(|slice| {
                let mut bytes = Vec::new();
                self.binding(slice).iter().for_each(|value| view.encode(*value, &mut bytes));
                bytes.extend(self.state(slice).to_le_bytes());
                self.env(slice).iter().for_each(|value| view.encode(*value, &mut bytes));
                bytes
            })
            .collect();
        all.sort_unstable();
        all
    }
}

/// Equal states behave alike from now on, however they came about.
impl PartialEq for Slices {
    fn eq(&self, other: &Slices) -> bool {
        (self.live, self.violated, &self.failure) == (other.live, other.violated, &other.failure)
            && self.resting == other.resting
            && self.encoded() == other.encoded()
    }
}

impl Eq for Slices {}

impl Hash for Slices {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.encoded().hash(hasher);
    }
}
