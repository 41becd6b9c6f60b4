//! Possible states: for each instant the observations and the states in which the automaton can be.
//!
//! For each instant and state, [EH18 §5] keeps an expression over all observations since the last known state; its size
//! doubles with each instant. It need not be built: labels of different instants refer to different observations, and
//! exactly one label out of a state holds. Hence a state is possible if and only if an edge whose label can still hold
//! leads to it from a possible state, and a state is known if and only if it is the only possible one. This is as exact
//! as a tautology check of the expression and takes the same time for every instant.
//!
//! Histories are merged by joining observations and intersecting possible states. Both are joins of semilattices, so
//! the order and number of messages do not matter. A state that one side has ruled out stays ruled out; the disjunction
//! of expressions loses this.

use super::{Encoding, KnownState, WorkCounters};
use crate::automaton::{Machine, State};
use crate::bits;
use crate::memory::{Atom, Memory, Obligation};
use crate::system::Instant;
use invigil_ltl::moore::Truth;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Possible states at each instant, and the observations they depend on. A verdict is known as soon as all possible
/// states have it.
///
/// ```
/// use invigil_decent::automaton::{Automaton, Machine};
/// use invigil_decent::encoding::{Encoding, States, WorkCounters};
/// use invigil_decent::memory::{Atom, Memory};
/// use invigil_decent::system::PropositionId;
/// use invigil_ltl::moore::Truth;
/// use invigil_ltl::{Budget, Logic};
///
/// let mut logic = Logic::new(Budget::default());
/// let formula = logic.parse("F on").unwrap();
/// let monitor = logic.monitor(formula)?;
/// let on = Atom::Observed(PropositionId(0));
/// let machine = Machine::new(Automaton::of(&logic, &monitor, |_| Some(on))?)?;
///
/// let (mut states, mut memory) = (States::new(&machine, 0), Memory::default());
/// states.extend(&machine, 3);
/// assert_eq!(states.open_obligations(&machine).count(), 3);
/// memory.learn(2, on, true);
/// states.learn(&machine, &memory, &mut WorkCounters::default());
/// assert_eq!(states.verdict(), Some((Truth::True, 2)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct States {
    start: Instant,
    /// One row per instant: possible states, known atoms, their values.
    rows: Vec<u64>,
    /// Number of words for a set of states, and for a set of atoms.
    state_words: u32,
    atom_words: u32,
    last_known: Option<KnownState>,
    verdict: Option<(Truth, Instant)>,
}

/// Sets of at most this many words need no allocation.
const INLINE_WORDS: usize = 4;

impl Encoding for States {
    fn new(machine: &Machine, at: Instant) -> States {
        let (states, atoms) = (machine.state_words(), machine.atom_words());
        let mut new = States {
            start: at,
            rows: Vec::with_capacity(2 * (states + 2 * atoms)),
            state_words: states as u32,
            atom_words: atoms as u32,
            last_known: None,
            verdict: None,
        };
        new.reset(machine, at);
        new
    }

    fn reset(&mut self, machine: &Machine, at: Instant) {
        self.rows.clear();
        self.rows.resize(self.stride(), 0);
        (self.start, self.last_known, self.verdict) = (at, None, None);
        bits::insert(&mut self.rows, machine.initial as usize);
        self.update_known(machine, 0);
    }

    fn fits(&self, machine: &Machine) -> bool {
        let count = machine.states();
        (self.state_words as usize, self.atom_words as usize) == (machine.state_words(), machine.atom_words())
            && !self.rows.is_empty()
            && self.rows.len().is_multiple_of(self.stride())
            && u32::try_from(self.len()).is_ok_and(|len| self.start.checked_add(len).is_some())
            && (0..self.len())
                .all(|row_index| bits::iter(self.possible(row_index)).all(|state| state < count))
            && self.last_known.is_none_or(|resolved| self.state(resolved.at) == Some(resolved.state))
    }

    fn start(&self) -> Instant {
        self.start
    }

    fn end(&self) -> Instant {
        self.start + (self.len() - 1) as u32
    }

    fn extend(&mut self, machine: &Machine, to: Instant) {
        for _ in self.end()..to {
            self.extend_once(machine);
        }
    }

    fn extend_as_needed(&mut self, machine: &Machine, to: Instant) {
        for _ in self.end()..to {
            if machine.are_final(self.possible(self.len() - 1)) {
                break;
            }
            self.extend_once(machine);
        }
    }

    fn learn(&mut self, machine: &Machine, memory: &Memory, work: &mut WorkCounters) -> Option<KnownState> {
        let (start, end) = (self.start, self.end());
        let mut changed = NO_ROWS;
        let instants = memory.instants().skip_while(|(at, _)| *at <= start).take_while(|(at, _)| *at <= end);
        for (at, values) in instants {
            let row_index = (at - start) as usize;
            if self.record(machine, row_index, values) {
                changed = changed.start.min(row_index)..row_index + 1;
            }
        }
        self.propagate(machine, changed, work);
        self.last_known
    }

    fn merge(&mut self, machine: &Machine, other: &States, work: &mut WorkCounters) {
        if !other.fits(machine) {
            return;
        }
        if let Some(theirs) = other.verdict {
            self.conclude(theirs);
        }
        if other.start > self.end() {
            // The histories do not overlap. If the other one begins with a known state, earlier instants do not matter.
            if other.state(other.start).is_some() {
                let verdict = self.verdict;
                self.clone_from(other);
                self.verdict = verdict;
            }
            return;
        }
        self.extend(machine, other.end());
        let mut changed = NO_ROWS;
        // The range is empty if the other history ends before this one starts.
        for at in other.start.max(self.start)..=other.end() {
            let row_index = (at - self.start) as usize;
            if self.merge_row(row_index, other.row((at - other.start) as usize)) {
                changed = changed.start.min(row_index)..row_index + 1;
            }
        }
        self.propagate(machine, changed, work);
    }

    fn resolved(&self) -> Option<KnownState> {
        self.last_known
    }

    fn verdict(&self) -> Option<(Truth, Instant)> {
        self.verdict
    }

    fn state(&self, at: Instant) -> Option<State> {
        let row_index = at.checked_sub(self.start).filter(|_| at <= self.end())?;
        bits::single(self.possible(row_index as usize)).map(|state| state as State)
    }

    fn drop_before(&mut self, at: Instant) -> u32 {
        let dropped = at.min(self.end()).saturating_sub(self.start);
        if dropped > 0 {
            self.rows.drain(..dropped as usize * self.stride());
            self.start += dropped;
            // The observations of the first instant no longer matter: they only decided how its state was reached.
            let (states, stride) = (self.state_words as usize, self.stride());
            self.rows[states..stride].fill(0);
            self.last_known = self.last_known.filter(|resolved| resolved.at >= self.start);
        }
        dropped
    }

    fn open_obligations(&self, machine: &Machine) -> impl Iterator<Item = Obligation> {
        let first = self.last_known.map_or(0, |resolved| resolved.at - self.start) as usize + 1;
        (first..self.len()).flat_map(move |row_index| {
            let (known, values) = self.observed(row_index);
            let mut deciding = vec![0; known.len()];
            for state in bits::iter(self.possible(row_index - 1)) {
                machine.add_deciding_atoms(state, known, values, &mut deciding);
            }
            let at = self.start + row_index as u32;
            let atoms = machine.atoms().iter().enumerate();
            atoms.filter_map(move |(bit, atom)| {
                bits::contains(&deciding, bit).then_some(Obligation { at, atom: *atom })
            })
        })
    }

    fn size(&self, machine: &Machine, name: &dyn Fn(Atom) -> usize) -> usize {
        let row = |row_index| {
            let atoms = bits::iter(self.observed(row_index).0).filter_map(|bit| machine.atoms().get(bit));
            4 + 4 * bits::count(self.possible(row_index)) as usize
                + atoms.map(|atom| name(*atom) + 1).sum::<usize>()
        };
        (0..self.len()).map(row).sum()
    }
}

/// Empty range of rows.
const NO_ROWS: Range<usize> = Range { start: usize::MAX, end: 0 };

impl States {
    /// Returns the possible states at an instant.
    pub fn possible_at(&self, at: Instant) -> impl Iterator<Item = State> {
        let row_index = at.checked_sub(self.start).filter(|_| at <= self.end());
        let states = row_index.map_or(&[][..], |row_index| self.possible(row_index as usize));
        bits::iter(states).map(|state| state as State)
    }

    /// Appends one instant.
    fn extend_once(&mut self, machine: &Machine) {
        let row_index = self.len();
        self.rows.extend(std::iter::repeat_n(u64::MAX, self.state_words as usize));
        self.rows.resize((row_index + 1) * self.stride(), 0);
        self.narrow(machine, row_index);
        self.update_known(machine, row_index);
    }

    fn stride(&self) -> usize {
        self.state_words as usize + 2 * self.atom_words as usize
    }

    /// Returns the number of instants.
    fn len(&self) -> usize {
        self.rows.len() / self.stride()
    }

    fn row(&self, row_index: usize) -> &[u64] {
        &self.rows[row_index * self.stride()..][..self.stride()]
    }

    fn possible(&self, row_index: usize) -> &[u64] {
        &self.row(row_index)[..self.state_words as usize]
    }

    /// Returns the known atoms and their values.
    fn observed(&self, row_index: usize) -> (&[u64], &[u64]) {
        self.row(row_index)[self.state_words as usize..].split_at(self.atom_words as usize)
    }

    /// Records observations. Returns whether any of them is new.
    fn record(&mut self, machine: &Machine, row_index: usize, values: &[(Atom, bool)]) -> bool {
        let (stride, states, atoms) = (self.stride(), self.state_words as usize, self.atom_words as usize);
        let (known, kept) = self.rows[row_index * stride + states..][..2 * atoms].split_at_mut(atoms);
        let mut remaining = machine.atoms().iter().enumerate();
        let (mut next, mut new) = (remaining.next(), false);
        // Atoms and values are both sorted.
        for (atom, value) in values {
            while next.is_some_and(|(_, other)| other < atom) {
                next = remaining.next();
            }
            let Some((bit, _)) = next.filter(|(_, other)| *other == atom) else { continue };
            if !bits::contains(known, bit) || (*value && !bits::contains(kept, bit)) {
                new = true;
                bits::insert(known, bit);
                if *value {
                    bits::insert(kept, bit);
                }
            }
        }
        new
    }

    /// Merges a row of another history. Returns whether it changed.
    fn merge_row(&mut self, row_index: usize, theirs: &[u64]) -> bool {
        let (stride, states) = (self.stride(), self.state_words as usize);
        // The observations of the first instant do not matter.
        let len = if row_index == 0 { states } else { stride };
        let mut new = false;
        for (at, (own, theirs)) in self.rows[row_index * stride..][..len].iter_mut().zip(theirs).enumerate() {
            let joined = if at < states { *own & theirs } else { *own | theirs };
            new |= joined != *own;
            *own = joined;
        }
        new
    }

    /// Recomputes the changed rows, and later ones until the possible states stop changing.
    fn propagate(&mut self, machine: &Machine, changed: Range<usize>, work: &mut WorkCounters) {
        for row_index in changed.start..self.len() {
            work.evaluations += u64::from(bits::count(self.possible(row_index)));
            let moved = row_index > 0 && self.narrow(machine, row_index);
            if !moved && row_index >= changed.end {
                break;
            }
            self.update_known(machine, row_index);
        }
    }

    /// Removes states that cannot follow those of the previous instant. Returns whether any was removed.
    fn narrow(&mut self, machine: &Machine, row_index: usize) -> bool {
        let (stride, states, atoms) = (self.stride(), self.state_words as usize, self.atom_words as usize);
        let (before, row) = self.rows.split_at_mut(row_index * stride);
        let (possible, observed) = row[..stride].split_at_mut(states);
        let (known, values) = observed.split_at(atoms);
        let (mut small, mut large) = ([0; INLINE_WORDS], Vec::new());
        let found = if states <= INLINE_WORDS {
            &mut small[..states]
        } else {
            large.resize(states, 0);
            &mut large[..]
        };
        // Impossible states are marked as found, so that no edge to them is evaluated.
        for (found, possible) in found.iter_mut().zip(&*possible) {
            *found = !possible;
        }
        for state in bits::iter(&before[before.len() - stride..][..states]) {
            machine.add_successors(state, known, values, found);
        }
        let mut fewer = false;
        for (possible, found) in possible.iter_mut().zip(found) {
            fewer |= *possible & !*found != 0;
            *possible &= *found;
        }
        fewer
    }

    /// Updates the last known state and the verdict from a row.
    fn update_known(&mut self, machine: &Machine, row_index: usize) {
        let at = self.start + row_index as u32;
        if let Some(state) = bits::single(self.possible(row_index))
            && self.last_known.is_none_or(|resolved| resolved.at <= at)
        {
            self.last_known = Some(KnownState { at, state: state as State });
        }
        if let Some(verdict) = machine.common_verdict(self.possible(row_index)) {
            self.conclude((verdict, at));
        }
    }

    /// Stores a verdict if it is earlier than the stored one.
    fn conclude(&mut self, verdict: (Truth, Instant)) {
        if self.verdict.is_none_or(|(_, known)| verdict.1 < known) {
            self.verdict = Some(verdict);
        }
    }
}
