//! What is known of a run: for each instant what was observed, and the states that are still possible.
//!
//! The document keeps, for each instant and state, an expression over all observations since the last known state; it
//! doubles with each instant. It need never be built. Labels of different instants speak of different observations, and
//! out of a state exactly one label holds, so a state is possible if and only if an edge whose label can still hold leads
//! there from a possible state; and a state is known if and only if it is the only one possible. That is as exact as asking
//! whether the expression is a tautology, and takes the same time for every instant.
//!
//! Histories are joined by joining observations and intersecting possible states. Both are joins of semilattices, so the
//! order of messages, and how often they come, do not matter. What is impossible on one side stays impossible, which the
//! disjunction of expressions loses.

use super::{Encoding, Resolved, Work};
use crate::automaton::{Machine, State};
use crate::bits;
use crate::memory::{Atom, Memory, Obligation};
use crate::system::Instant;
use invigil_ltl::moore::Truth;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// The states that are possible at each instant, and the observations on which that depends. A verdict is known as soon as
/// all that are possible say it.
///
/// ```
/// use invigil_decent::automaton::{Automaton, Machine};
/// use invigil_decent::encoding::{Encoding, States, Work};
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
/// assert_eq!(states.open(&machine).count(), 3);
/// memory.learn(2, on, true);
/// states.learn(&machine, &memory, &mut Work::default());
/// assert_eq!(states.verdict(), Some((Truth::True, 2)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct States {
    start: Instant,
    /// One row for each instant: possible states, known atoms, their values.
    rows: Vec<u64>,
    /// How many words sets of states take, and sets of atoms.
    state_words: u32,
    atom_words: u32,
    resolved: Option<Resolved>,
    verdict: Option<(Truth, Instant)>,
}

/// Up to so many states are found without asking for room: four words.
const SMALL: usize = 4;

impl Encoding for States {
    fn new(machine: &Machine, at: Instant) -> States {
        let (states, atoms) = (machine.state_words(), machine.atom_words());
        let mut new = States {
            start: at,
            rows: Vec::with_capacity(2 * (states + 2 * atoms)),
            state_words: states as u32,
            atom_words: atoms as u32,
            resolved: None,
            verdict: None,
        };
        new.reset(machine, at);
        new
    }

    fn reset(&mut self, machine: &Machine, at: Instant) {
        self.rows.clear();
        self.rows.resize(self.stride(), 0);
        (self.start, self.resolved, self.verdict) = (at, None, None);
        bits::put(&mut self.rows, machine.initial as usize);
        self.look(machine, 0);
    }

    fn fits(&self, machine: &Machine) -> bool {
        let count = machine.states();
        (self.state_words as usize, self.atom_words as usize) == (machine.state_words(), machine.atom_words())
            && !self.rows.is_empty()
            && self.rows.len().is_multiple_of(self.stride())
            && u32::try_from(self.len()).is_ok_and(|len| self.start.checked_add(len).is_some())
            && (0..self.len()).all(|place| bits::iter(self.possible(place)).all(|state| state < count))
            && self.resolved.is_none_or(|resolved| self.state(resolved.at) == Some(resolved.state))
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
            if machine.is_final(self.possible(self.len() - 1)) {
                break;
            }
            self.extend_once(machine);
        }
    }

    fn learn(&mut self, machine: &Machine, memory: &Memory, work: &mut Work) -> Option<Resolved> {
        let (start, end) = (self.start, self.end());
        let mut changed = NOTHING;
        let instants = memory.instants().skip_while(|(at, _)| *at <= start).take_while(|(at, _)| *at <= end);
        for (at, values) in instants {
            let place = (at - start) as usize;
            if self.note(machine, place, values) {
                changed = changed.start.min(place)..place + 1;
            }
        }
        self.settle(machine, changed, work);
        self.resolved
    }

    fn merge(&mut self, machine: &Machine, other: &States, work: &mut Work) {
        if !other.fits(machine) {
            return;
        }
        if let Some(theirs) = other.verdict {
            self.conclude(theirs);
        }
        if other.start > self.end() {
            // There is nothing in common. If the other begins with a known state, what was before does not matter.
            if other.state(other.start).is_some() {
                let verdict = self.verdict;
                self.clone_from(other);
                self.verdict = verdict;
            }
            return;
        }
        self.extend(machine, other.end());
        let mut changed = NOTHING;
        // Empty if the other ends before this one starts.
        for at in other.start.max(self.start)..=other.end() {
            let place = (at - self.start) as usize;
            if self.join(place, other.row((at - other.start) as usize)) {
                changed = changed.start.min(place)..place + 1;
            }
        }
        self.settle(machine, changed, work);
    }

    fn resolved(&self) -> Option<Resolved> {
        self.resolved
    }

    fn verdict(&self) -> Option<(Truth, Instant)> {
        self.verdict
    }

    fn state(&self, at: Instant) -> Option<State> {
        let place = at.checked_sub(self.start).filter(|_| at <= self.end())?;
        bits::single(self.possible(place as usize)).map(|state| state as State)
    }

    fn drop_before(&mut self, at: Instant) -> u32 {
        let dropped = at.min(self.end()).saturating_sub(self.start);
        if dropped > 0 {
            self.rows.drain(..dropped as usize * self.stride());
            self.start += dropped;
            // How the first state was reached makes no difference any more.
            let (states, stride) = (self.state_words as usize, self.stride());
            self.rows[states..stride].fill(0);
            self.resolved = self.resolved.filter(|resolved| resolved.at >= self.start);
        }
        dropped
    }

    fn open(&self, machine: &Machine) -> impl Iterator<Item = Obligation> {
        let first = self.resolved.map_or(0, |resolved| resolved.at - self.start) as usize + 1;
        (first..self.len()).flat_map(move |place| {
            let (known, values) = self.seen(place);
            let mut wanted = vec![0; known.len()];
            for state in bits::iter(self.possible(place - 1)) {
                machine.wants(state, known, values, &mut wanted);
            }
            let at = self.start + place as u32;
            let atoms = machine.atoms().iter().enumerate();
            atoms.filter_map(move |(bit, atom)| {
                bits::has(&wanted, bit).then_some(Obligation { at, atom: *atom })
            })
        })
    }

    fn size(&self, machine: &Machine, name: &dyn Fn(Atom) -> usize) -> usize {
        let row = |place| {
            let atoms = bits::iter(self.seen(place).0).filter_map(|bit| machine.atoms().get(bit));
            4 + 4 * bits::count(self.possible(place)) as usize
                + atoms.map(|atom| name(*atom) + 1).sum::<usize>()
        };
        (0..self.len()).map(row).sum()
    }
}

/// No row.
const NOTHING: Range<usize> = Range { start: usize::MAX, end: 0 };

impl States {
    /// The states that are possible at an instant.
    pub fn possible_at(&self, at: Instant) -> impl Iterator<Item = State> {
        let place = at.checked_sub(self.start).filter(|_| at <= self.end());
        let states = place.map_or(&[][..], |place| self.possible(place as usize));
        bits::iter(states).map(|state| state as State)
    }

    /// Goes on to the next instant.
    fn extend_once(&mut self, machine: &Machine) {
        let place = self.len();
        self.rows.extend(std::iter::repeat_n(u64::MAX, self.state_words as usize));
        self.rows.resize((place + 1) * self.stride(), 0);
        self.step(machine, place);
        self.look(machine, place);
    }

    fn stride(&self) -> usize {
        self.state_words as usize + 2 * self.atom_words as usize
    }

    /// How many instants there are.
    fn len(&self) -> usize {
        self.rows.len() / self.stride()
    }

    fn row(&self, place: usize) -> &[u64] {
        &self.rows[place * self.stride()..][..self.stride()]
    }

    fn possible(&self, place: usize) -> &[u64] {
        &self.row(place)[..self.state_words as usize]
    }

    /// The known atoms, and their values.
    fn seen(&self, place: usize) -> (&[u64], &[u64]) {
        self.row(place)[self.state_words as usize..].split_at(self.atom_words as usize)
    }

    /// Notes what was observed. Whether it was new.
    fn note(&mut self, machine: &Machine, place: usize, values: &[(Atom, bool)]) -> bool {
        let (stride, states, atoms) = (self.stride(), self.state_words as usize, self.atom_words as usize);
        let (known, kept) = self.rows[place * stride + states..][..2 * atoms].split_at_mut(atoms);
        let mut wanted = machine.atoms().iter().enumerate();
        let (mut next, mut new) = (wanted.next(), false);
        // Both are sorted.
        for (atom, value) in values {
            while next.is_some_and(|(_, other)| other < atom) {
                next = wanted.next();
            }
            let Some((bit, _)) = next.filter(|(_, other)| *other == atom) else { continue };
            if !bits::has(known, bit) || (*value && !bits::has(kept, bit)) {
                new = true;
                bits::put(known, bit);
                if *value {
                    bits::put(kept, bit);
                }
            }
        }
        new
    }

    /// Takes in what another history knows of an instant. Whether it was new.
    fn join(&mut self, place: usize, theirs: &[u64]) -> bool {
        let (stride, states) = (self.stride(), self.state_words as usize);
        // How the first state was reached makes no difference.
        let len = if place == 0 { states } else { stride };
        let mut new = false;
        for (at, (own, theirs)) in self.rows[place * stride..][..len].iter_mut().zip(theirs).enumerate() {
            let joined = if at < states { *own & theirs } else { *own | theirs };
            new |= joined != *own;
            *own = joined;
        }
        new
    }

    /// Goes forward again from the rows that changed, as far as it makes a difference.
    fn settle(&mut self, machine: &Machine, changed: Range<usize>, work: &mut Work) {
        for place in changed.start..self.len() {
            work.evaluations += u64::from(bits::count(self.possible(place)));
            let moved = place > 0 && self.step(machine, place);
            if !moved && place >= changed.end {
                break;
            }
            self.look(machine, place);
        }
    }

    /// Keeps only the states that can follow those of the instant before. Whether there are fewer now.
    fn step(&mut self, machine: &Machine, place: usize) -> bool {
        let (stride, states, atoms) = (self.stride(), self.state_words as usize, self.atom_words as usize);
        let (before, row) = self.rows.split_at_mut(place * stride);
        let (possible, seen) = row[..stride].split_at_mut(states);
        let (known, values) = seen.split_at(atoms);
        let (mut small, mut large) = ([0; SMALL], Vec::new());
        let found = if states <= SMALL {
            &mut small[..states]
        } else {
            large.resize(states, 0);
            &mut large[..]
        };
        // What is impossible counts as found, so that nobody looks for it.
        for (found, possible) in found.iter_mut().zip(&*possible) {
            *found = !possible;
        }
        for state in bits::iter(&before[before.len() - stride..][..states]) {
            machine.follow(state, known, values, found);
        }
        let mut fewer = false;
        for (possible, found) in possible.iter_mut().zip(found) {
            fewer |= *possible & !*found != 0;
            *possible &= *found;
        }
        fewer
    }

    /// Looks whether a state is known now, or a verdict.
    fn look(&mut self, machine: &Machine, place: usize) {
        let at = self.start + place as u32;
        if let Some(state) = bits::single(self.possible(place))
            && self.resolved.is_none_or(|resolved| resolved.at <= at)
        {
            self.resolved = Some(Resolved { at, state: state as State });
        }
        if let Some(verdict) = machine.common(self.possible(place)) {
            self.conclude((verdict, at));
        }
    }

    /// Notes a verdict, if it is the first.
    fn conclude(&mut self, verdict: (Truth, Instant)) {
        if self.verdict.is_none_or(|(_, known)| verdict.1 < known) {
            self.verdict = Some(verdict);
        }
    }
}
