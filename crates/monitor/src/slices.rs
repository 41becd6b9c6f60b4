//! State of a running property: one automaton state and one environment per slice.
//!
//! The table consists of a few flat arrays of plain data: values by index, slices by number, hash indexes.
//! Saving it is a clone, restoring it an assignment. The slices form a tree: each knows the slice that it was
//! copied from.

mod collection;
mod encoding;
mod lookup;

pub use collection::{DeadObjects, MAX_REPORTED};

use crate::automaton::{Automaton, ParamMask, StateId};
use crate::event::{EventId, EventSet};
use crate::records::{Head, Records};
use crate::verdict::{MonitorFault, Verdict};
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::hash::{Hash, Hasher};
use invigil_expr::compare::ValueReader;
use invigil_expr::heap::Heap;
use invigil_expr::text::TextArenas;
use invigil_expr::value::Value;
use lookup::BindingIndex;

pub(crate) use lookup::{Keys, canonical};

/// Number of a slice. Numbers of removed slices are reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SliceId(pub u32);

const NO_SLICE: u32 = u32::MAX;

/// The slices of a property; see the module.
#[derive(Clone, Debug)]
pub struct SliceTable {
    pub(crate) heap: Heap,
    pub(crate) records: Records,
    free: Vec<u32>,
    /// An index for each of `Automaton::masks`.
    binding_indexes: Vec<BindingIndex>,
    root: u32,
    live: u32,
    /// The number of slices in each state.
    counts: Vec<u32>,
    /// The number of slices in each state that were collected because their objects are dead.
    collected: Vec<u64>,
    /// Per event, the number of occupied states with a transition on it.
    needed_counts: Vec<u16>,
    /// Incremented when `needed_counts` changes.
    version: u32,
    key_count: usize,
    pub(crate) failure: Option<MonitorFault>,
    /// Whether a slice was ever in a non-accepting state. The slice may have been removed since.
    pub(crate) violated: bool,
}

impl SliceTable {
    /// An empty table; [`Automaton::start`] adds the root.
    pub(crate) fn new(automaton: &Automaton) -> SliceTable {
        let keys = automaton.slice_on.len();
        SliceTable {
            heap: Heap::default(),
            records: Records::new(keys, automaton.env.len()),
            free: Vec::new(),
            binding_indexes: automaton.masks.iter().map(|mask| BindingIndex::new(*mask)).collect(),
            root: NO_SLICE,
            live: 0,
            counts: vec![0; automaton.states.len()],
            collected: vec![0; automaton.states.len()],
            // With several slice parameters, an event that binds some of them may create a slice even if no
            // transition is taken, and other slices may later be copied from it: all these events are needed.
            needed_counts: automaton
                .dispatch_table
                .iter()
                .map(|dispatch| u16::from(keys > 1 && dispatch.mask != 0))
                .collect(),
            version: 0,
            violated: false,
            key_count: keys,
            failure: None,
        }
    }

    pub(crate) fn view<'a>(&'a self, event: &'a str) -> ValueReader<'a> {
        ValueReader { heap: &self.heap, texts: TextArenas { event, pool: "" } }
    }

    // ---- queries -------------------------------------------------------------------------------------

    /// The slice without bound parameters, unless it was removed.
    pub fn root(&self) -> Option<SliceId> {
        (self.root != NO_SLICE).then_some(SliceId(self.root))
    }

    /// All slices, by number.
    pub fn iter(&self) -> impl Iterator<Item = SliceId> {
        (0..self.records.len() as u32).filter(|slice| self.records.head(*slice).alive).map(SliceId)
    }

    /// The number of slices, including the root.
    pub fn len(&self) -> usize {
        self.live as usize
    }

    /// Whether all slices were removed.
    pub fn is_empty(&self) -> bool {
        self.live == 0
    }

    /// Whether `slice` exists.
    pub fn contains(&self, slice: SliceId) -> bool {
        (slice.0 as usize) < self.records.len() && self.records.head(slice.0).alive
    }

    /// The state of a slice.
    pub fn state(&self, slice: SliceId) -> StateId {
        self.records.head(slice.0).state
    }

    /// The slice that `slice` was copied from, if it still exists.
    pub fn parent(&self, slice: SliceId) -> Option<SliceId> {
        Some(SliceId(self.records.head(slice.0).parent)).filter(|parent| self.contains(*parent))
    }

    /// The values of the slice parameters; unset if not bound.
    pub fn binding(&self, slice: SliceId) -> &[Value] {
        self.records.keys(slice.0)
    }

    /// The values of the variables, in the order of [`AutomatonDef::env`](crate::automaton::AutomatonDef::env).
    pub fn env(&self, slice: SliceId) -> &[Value] {
        self.records.env(slice.0)
    }

    /// A value of a binding or an environment as text, in the syntax of Python. Very large values are
    /// truncated.
    pub fn show(&self, value: Value) -> String {
        let mut out = String::new();
        if self.view("").write_repr(&mut out, value).is_err() {
            out.push('…');
        }
        out
    }

    /// A reader for values of bindings and environments.
    pub fn values_view(&self) -> ValueReader<'_> {
        self.view("")
    }

    /// The number of slices in a state.
    pub fn count(&self, state: StateId) -> u32 {
        self.counts[usize::from(state)]
    }

    /// Whether some slice was ever in a non-accepting state.
    pub fn is_violated(&self) -> bool {
        self.violated
    }

    /// The fault that ended the monitor, if one did.
    pub fn fault(&self) -> Option<&MonitorFault> {
        self.failure.as_ref()
    }

    /// Whether some slice is in a state with a transition on the event.
    #[inline]
    pub fn needs_event(&self, event_id: EventId) -> bool {
        self.needed_counts.get(event_id.0 as usize).is_some_and(|states| *states > 0)
    }

    /// The needed events: those on which some slice has a transition in its current state.
    pub fn needed_events(&self) -> EventSet {
        let mut needs = EventSet::default();
        self.add_needed_events(&mut needs);
        needs
    }

    /// Adds the needed events to a set.
    pub fn add_needed_events(&self, needs: &mut EventSet) {
        for (at, states) in self.needed_counts.iter().enumerate() {
            if *states > 0 {
                needs.insert(EventId(at as u32));
            }
        }
    }

    /// A number that changes whenever the [needed events](SliceTable::needed_events) may have changed.
    pub fn needs_version(&self) -> u32 {
        self.version
    }

    /// The memory of the slices in bytes.
    pub fn bytes(&self) -> usize {
        self.heap.bytes()
            + self.records.bytes()
            + self.binding_indexes.iter().map(BindingIndex::bytes).sum::<usize>()
    }

    // ---- changes -------------------------------------------------------------------------------------

    /// Creates a slice that is not yet in the index: a copy of `parent`, or an empty one in `state`.
    ///
    /// `keys` are the values of the parameters in `bound`.
    pub(crate) fn copy_slice(
        &mut self,
        parent: Option<u32>,
        state: StateId,
        bound: ParamMask,
        keys: &[Value],
    ) -> u32 {
        let slice = self.free.pop().unwrap_or_else(|| self.records.push());
        if let Some(parent) = parent {
            self.records.copy(parent, slice);
        }
        let state = parent.map_or(state, |parent| self.records.head(parent).state);
        let parent = parent.unwrap_or(NO_SLICE);
        self.records.set_head(slice, Head { state, bound, dead: 0, alive: true, parent });
        let mut keys = keys.iter();
        let contents = self.records.contents_mut(slice);
        for bit in (0..self.key_count).filter(|bit| bound & 1 << bit != 0) {
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

    /// Removes a [copy](SliceTable::copy_slice) that is not in the index.
    pub(crate) fn discard(&mut self, slice: u32) {
        for value in self.records.contents_mut(slice) {
            self.heap.release(core::mem::replace(value, Value::UNSET));
        }
        self.records.set_head(slice, Head { alive: false, ..self.records.head(slice) });
        self.free.push(slice);
        self.live -= 1;
    }

    /// Removes a slice.
    pub(crate) fn remove(&mut self, automaton: &Automaton, slice: u32) {
        self.leave(automaton, self.records.head(slice).state);
        if slice == self.root {
            self.root = NO_SLICE;
        } else {
            self.remove_from_index(slice);
        }
        self.discard(slice);
    }

    /// Counts one more slice in `state`.
    #[inline]
    pub(crate) fn enter(&mut self, automaton: &Automaton, state: StateId) {
        self.violated |= automaton.state_info[usize::from(state)].verdict == Verdict::NonAccepting;
        let count = &mut self.counts[usize::from(state)];
        *count += 1;
        if *count == 1 {
            self.adjust_needed(automaton, state, 1);
        }
    }

    /// Counts one slice less in `state`.
    #[inline]
    pub(crate) fn leave(&mut self, automaton: &Automaton, state: StateId) {
        let count = &mut self.counts[usize::from(state)];
        *count -= 1;
        if *count == 0 {
            self.adjust_needed(automaton, state, u16::MAX);
        }
    }

    /// Changes the number of slices in `state` by `more`.
    pub(crate) fn adjust_count(&mut self, automaton: &Automaton, state: StateId, more: i32) {
        match more {
            0 => {}
            1.. => (0..more).for_each(|_| self.enter(automaton, state)),
            _ => (more..0).for_each(|_| self.leave(automaton, state)),
        }
    }

    /// Counts a slice that moved from one state to another.
    #[inline]
    pub(crate) fn move_slice(&mut self, automaton: &Automaton, from: StateId, to: StateId) {
        let (left, entered) =
            (&automaton.state_info[usize::from(from)], &automaton.state_info[usize::from(to)]);
        let alone = self.counts[usize::from(from)] == 1 && self.counts[usize::from(to)] == 0;
        if left.needed_set != entered.needed_set || !alone {
            self.leave(automaton, from);
            self.enter(automaton, to);
            return;
        }
        // Both states need the same events, and exactly one of them stays occupied: the needed events do not
        // change.
        self.violated |= entered.verdict == Verdict::NonAccepting;
        self.counts[usize::from(from)] = 0;
        self.counts[usize::from(to)] = 1;
    }

    #[inline]
    fn adjust_needed(&mut self, automaton: &Automaton, state: StateId, delta: u16) {
        self.version = self.version.wrapping_add(1);
        for event_id in
            &automaton.needed_sets[usize::from(automaton.state_info[usize::from(state)].needed_set)]
        {
            let needed_counts = &mut self.needed_counts[*event_id as usize];
            *needed_counts = needed_counts.wrapping_add(delta);
        }
    }

    /// Sets the state of a slice without a transition.
    pub(crate) fn set_state(&mut self, automaton: &Automaton, slice: SliceId, state: StateId) {
        let old = self.state(slice);
        self.records.set_state(slice.0, state);
        self.leave(automaton, old);
        self.enter(automaton, state);
    }

    /// Sets a variable of a slice. The value must be inline or in this heap.
    pub(crate) fn set_env(&mut self, slice: SliceId, variable: usize, value: Value) {
        self.heap.retain(value);
        let old = core::mem::replace(&mut self.records.env_mut(slice.0)[variable], value);
        self.heap.release(old);
    }

    /// Encodes all that determines the further behaviour: binding, state and environment of each slice, sorted
    /// by binding.
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

/// Equal tables behave identically from now on, however they were reached.
impl PartialEq for SliceTable {
    fn eq(&self, other: &SliceTable) -> bool {
        (self.live, self.violated, &self.failure) == (other.live, other.violated, &other.failure)
            && self.collected == other.collected
            && self.encoded() == other.encoded()
    }
}

impl Eq for SliceTable {}

impl Hash for SliceTable {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.encoded().hash(hasher);
    }
}
