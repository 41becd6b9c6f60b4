//! Forgetting slices whose objects are no more.
//!
//! A number that stands for an object of the program never comes again once the object is gone. A slice that binds such
//! a number hears only of events that do not bind it, and no other slice will be copied from it. It is forgotten if that
//! cannot be noticed:
//!
//! - Nothing that it can still do runs a block or is reacted to, and all states that it can still come to say the same, now
//!   and at the end of the run. The state it rests in is counted, so that the end finds what it would have found.
//! - Of slices that the end will find violated, the first [`TOLD`] stay, so that they can be told.
//! - An event that binds some parameters creates a slice only if none agrees with it. So, of those that could be forgotten,
//!   one stays for each way in which events with living objects may still agree with them.

use super::Slices;
use crate::automaton::{Automaton, Mask, StateId};
use crate::ending::is_violated_at_end;
use crate::event::SymbolId;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec;
use alloc::vec::Vec;

/// So many slices that the end of the run will find violated are kept.
pub const TOLD: usize = 1000;
/// So many objects must be gone, at least, before someone looks through the slices.
const FEW: usize = 1024;

/// Objects of the program that are no more.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gone {
    /// Their numbers.
    pub numbers: Vec<i64>,
    /// Parameters of events that were numbers and no objects: a slice parameter that comes from one of these may not mean an
    /// object.
    pub plain: Vec<(SymbolId, usize)>,
}

impl Gone {
    /// Adds others.
    pub fn add(&mut self, other: Gone) {
        self.numbers.extend(other.numbers);
        for plain in other.plain {
            if !self.plain.contains(&plain) {
                self.plain.push(plain);
            }
        }
    }

    /// How many objects must be gone until it is worth while to look through so many slices.
    pub fn enough(slices: usize) -> usize {
        FEW.max(slices / 2)
    }

    /// Makes the numbers ready to be looked up.
    pub fn sort(&mut self) {
        self.numbers.sort_unstable();
        self.numbers.dedup();
    }
}

impl Automaton {
    /// Forgets slices whose objects are no more, as far as nobody can notice it. `gone` must be [sorted](Gone::sort);
    /// `concern` says for each state whether someone reacts to it, if it is not zero. The numbers that some slice
    /// had are added to `found`.
    ///
    /// ```
    /// # use invigil_monitor::automaton::{AtEnd, Automaton, End, Parts, State, Transition};
    /// # use invigil_monitor::event::{Event, SymbolId};
    /// # use invigil_monitor::observer::Unobserved;
    /// # use invigil_monitor::slices::Gone;
    /// # use invigil_monitor::verdict::Verdict;
    /// # use invigil_monitor::{Monitor, Scratch};
    /// # use invigil_expr::value::Value;
    /// # let state = |name: &str| State {
    /// #     name: name.into(), verdict: Verdict::Accepting, is_final: false, action: None, at_end: AtEnd::Nothing,
    /// #     span: Default::default(),
    /// # };
    /// # let begin = Transition {
    /// #     from: 0, symbol: SymbolId(0), guard: None, success: Some(End { target: Some(1), ..End::default() }),
    /// #     failure: None, reads: vec![], condition: None, span: Default::default(),
    /// # };
    /// // A slice for each iterator.
    /// let automaton = Automaton::new(Parts {
    ///     slice_on: vec!["iterator".into()],
    ///     bindings: vec![(SymbolId(0), vec![Some(0)])],
    ///     states: vec![state("none"), state("begun")],
    ///     transitions: vec![begin],
    ///     ..Parts::default()
    /// });
    /// let mut slices = automaton.start(&mut Scratch::default(), &mut Unobserved);
    /// for iterator in 1..=3 {
    ///     let event = Event { symbol: SymbolId(0), params: &[Value::int(iterator)], text: "" };
    ///     automaton.step(&mut slices, &mut Scratch::default(), &event, &mut Unobserved);
    /// }
    /// let gone = Gone { numbers: vec![1, 2], plain: vec![] };
    /// automaton.forget_gone(&mut slices, &gone, &[], &mut Vec::new());
    /// // The root and the third are left.
    /// assert_eq!((slices.len(), slices.resting(1)), (2, 2));
    /// ```
    pub fn forget_gone(&self, slices: &mut Slices, gone: &Gone, concern: &[u8], found: &mut Vec<i64>) {
        let objects = self.objects(gone);
        if objects == 0 || slices.failure.is_some() {
            return;
        }
        let mut harmless = Harmless { automaton: self, concern, known: BTreeMap::new() };
        let (mut idle, mut told) = (Vec::new(), 0);
        // What agrees with events of living objects: a set of parameters, and the first slice with the same values for them.
        let mut agreeing: BTreeSet<(usize, u32)> = BTreeSet::new();
        for slice in 0..slices.records.len() as u32 {
            let head = slices.records.head(slice);
            if !head.alive || head.bound == 0 {
                continue;
            }
            let dead = slices.mark_dead(slice, objects, gone, found);
            if dead == 0 || !harmless.is(head.state, head.bound, dead) {
                continue;
            }
            if is_violated_at_end(&self.states[usize::from(head.state)]) {
                told += 1;
                if told <= TOLD {
                    continue;
                }
            }
            let living = head.bound & !dead;
            let covers = self.masks.iter().enumerate().filter(|(_, mask)| **mask & !living == 0);
            let agrees = covers.filter_map(|(cover, mask)| {
                let keys = super::Keys::collect(slices.keys_of(slice, *mask));
                slices.first(cover, &keys, "").map(|first| (cover, first))
            });
            if agrees.fold(false, |is_new, pair| agreeing.insert(pair) | is_new) {
                continue;
            }
            idle.push(slice);
        }
        for slice in idle {
            slices.resting[usize::from(slices.records.head(slice).state)] += 1;
            slices.forget(self, slice);
        }
        slices.heap.sweep();
    }

    /// The slice parameters that mean nothing but objects.
    fn objects(&self, gone: &Gone) -> Mask {
        let mut objects = ((1u16 << self.slice_on.len()) - 1) as Mask;
        for (symbol, params) in &self.bindings {
            for (bit, at) in params.iter().enumerate() {
                if at.is_some_and(|at| gone.plain.contains(&(*symbol, at))) {
                    objects &= !(1 << bit);
                }
            }
        }
        objects
    }
}

impl Slices {
    /// How many slices were forgotten in a state because their objects are no more.
    pub fn resting(&self, state: StateId) -> u64 {
        self.resting[usize::from(state)]
    }

    /// Notes which parameters of a slice mean objects that are no more; gives all of them.
    fn mark_dead(&mut self, slice: u32, objects: Mask, gone: &Gone, found: &mut Vec<i64>) -> Mask {
        let mut head = self.records.head(slice);
        for (bit, key) in self.records.keys(slice).iter().enumerate() {
            let bit: Mask = 1 << bit;
            if objects & !head.dead & bit != 0
                && let Some(number) = key.as_int()
                && gone.numbers.binary_search(&number).is_ok()
            {
                head.dead |= bit;
                found.push(number);
            }
        }
        self.records.set_head(slice, head);
        head.dead
    }
}

/// What slices can still do once some of their parameters never come again.
struct Harmless<'a> {
    automaton: &'a Automaton,
    concern: &'a [u8],
    /// By state, parameters that have a value, and those of them that never come again.
    known: BTreeMap<(StateId, Mask, Mask), bool>,
}

impl Harmless<'_> {
    fn is(&mut self, state: StateId, bound: Mask, dead: Mask) -> bool {
        if let Some(known) = self.known.get(&(state, bound, dead)) {
            return *known;
        }
        let is = self.look(state, bound & !dead).is_some();
        self.known.insert((state, bound, dead), is);
        is
    }

    /// Goes through all states that events of these parameters lead to; nothing if one of them matters.
    fn look(&self, from: StateId, living: Mask) -> Option<()> {
        let automaton = self.automaton;
        let says = |state: StateId| {
            let state = &automaton.states[usize::from(state)];
            (state.verdict, state.at_end, state.is_final)
        };
        let mut seen = vec![false; automaton.states.len()];
        let mut left = vec![from];
        seen[usize::from(from)] = true;
        while let Some(state) = left.pop() {
            for (symbol, plan) in automaton.plans.iter().enumerate() {
                if plan.mask & !living != 0 {
                    continue;
                }
                let cell = automaton.cell(state, symbol);
                for arc in &automaton.arcs[cell.arcs.start as usize..cell.arcs.end as usize] {
                    let exit = arc.success.filter(|_| arc.guard.is_none())?;
                    let to = exit.target.unwrap_or(state);
                    let runs = exit.block.is_some() || exit.action.is_some();
                    let is_heard = [state, to].iter().any(|state| {
                        self.concern.get(usize::from(*state)).is_some_and(|concern| *concern != 0)
                    });
                    let asks = cell.first.is_some() || !cell.required.is_empty();
                    let acts = automaton.states[usize::from(to)].action.is_some();
                    if runs || is_heard || asks || acts || says(to) != says(from) {
                        return None;
                    }
                    if !core::mem::replace(&mut seen[usize::from(to)], true) {
                        left.push(to);
                    }
                }
            }
        }
        Some(())
    }
}
