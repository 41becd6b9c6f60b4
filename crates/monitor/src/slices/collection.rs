//! Garbage collection of slices whose objects are dead.
//!
//! The id of an object is never reused after the object died. A slice that binds such an id receives only
//! events that do not bind it, and no other slice is copied from it. It is collected if that has no visible
//! effect:
//!
//! - None of its possible transitions runs a block or triggers a reaction, and all states that it can reach
//!   have the same verdicts, now and at the end of the run. The state is counted, so that the verdict at the
//!   end is unchanged.
//! - Of the slices in a state in which the end of the run is a violation, the first [`MAX_REPORTED`] are kept for the
//!   report.
//! - An event that binds some parameters creates a slice only if no slice agrees with it. One collectable slice
//!   is therefore kept for each way in which events of live objects can agree with it.

use super::SliceTable;
use crate::automaton::{Automaton, ParamMask, StateId};
use crate::end_of_run::is_violated_at_end;
use crate::event::EventId;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec;
use alloc::vec::Vec;

/// Maximum number of slices that are kept because the end of the run is a violation in their state.
pub const MAX_REPORTED: usize = 1000;
/// Minimum number of dead objects before slices are searched.
const MIN_DEAD: usize = 1024;

/// Objects of the target that are dead.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeadObjects {
    /// Their ids.
    pub ids: Vec<i64>,
    /// Parameters of events that were numbers but not objects. Slice parameters bound to them are not object
    /// ids.
    pub non_objects: Vec<(EventId, usize)>,
}

impl DeadObjects {
    /// Adds further dead objects.
    pub fn add(&mut self, other: DeadObjects) {
        self.ids.extend(other.ids);
        for plain in other.non_objects {
            if !self.non_objects.contains(&plain) {
                self.non_objects.push(plain);
            }
        }
    }

    /// The number of dead objects at which searching `slices` slices pays off.
    pub fn collection_threshold(slices: usize) -> usize {
        MIN_DEAD.max(slices / 2)
    }

    /// Sorts the ids for lookup.
    pub fn sort(&mut self) {
        self.ids.sort_unstable();
        self.ids.dedup();
    }
}

impl Automaton {
    /// Collects slices of dead objects, as far as this has no visible effect.
    ///
    /// `dead_objects` must be [sorted](DeadObjects::sort). `reactions` is non-zero for each state with a reaction. The
    /// dead ids that occur in slices are added to `found`.
    ///
    /// ```
    /// # use invigil_monitor::automaton::{EndVerdict, Automaton, BranchEffect, AutomatonDef, State, Transition};
    /// # use invigil_monitor::event::{Event, EventId};
    /// # use invigil_monitor::observer::NoopObserver;
    /// # use invigil_monitor::slices::DeadObjects;
    /// # use invigil_monitor::verdict::Verdict;
    /// # use invigil_monitor::{Monitor, Scratch};
    /// # use invigil_expr::value::Value;
    /// # let state = |name: &str| State {
    /// #     name: name.into(), verdict: Verdict::Accepting, is_final: false, action: None, at_end: EndVerdict::Nothing,
    /// #     span: Default::default(),
    /// # };
    /// # let begin = Transition {
    /// #     from: 0, event: EventId(0), guard: None, success: Some(BranchEffect { target: Some(1), ..BranchEffect::default() }),
    /// #     failure: None, reads: vec![], condition: None, span: Default::default(),
    /// # };
    /// // A slice for each iterator.
    /// let automaton = Automaton::new(AutomatonDef {
    ///     slice_on: vec!["iterator".into()],
    ///     bindings: vec![(EventId(0), vec![Some(0)])],
    ///     states: vec![state("none"), state("begun")],
    ///     transitions: vec![begin],
    ///     ..AutomatonDef::default()
    /// });
    /// let mut slices = automaton.start(&mut Scratch::default(), &mut NoopObserver);
    /// for iterator in 1..=3 {
    ///     let event = Event { id: EventId(0), params: &[Value::int(iterator)], text: "" };
    ///     automaton.step(&mut slices, &mut Scratch::default(), &event, &mut NoopObserver);
    /// }
    /// let dead = DeadObjects { ids: vec![1, 2], non_objects: vec![] };
    /// automaton.collect_slices(&mut slices, &dead, &[], &mut Vec::new());
    /// // The root and the third are left.
    /// assert_eq!((slices.len(), slices.collected(1)), (2, 2));
    /// ```
    pub fn collect_slices(
        &self,
        slices: &mut SliceTable,
        dead_objects: &DeadObjects,
        reactions: &[u8],
        found: &mut Vec<i64>,
    ) {
        let objects = self.object_params(dead_objects);
        if objects == 0 || slices.failure.is_some() {
            return;
        }
        let mut harmless = HarmlessStates { automaton: self, reactions, results: BTreeMap::new() };
        let (mut idle, mut reported) = (Vec::new(), 0);
        // The slices with which events of live objects can agree: the index of a mask, and the first slice with the
        // same values for it.
        let mut agreeing: BTreeSet<(usize, u32)> = BTreeSet::new();
        for slice in 0..slices.records.len() as u32 {
            let head = slices.records.head(slice);
            if !head.alive || head.bound == 0 {
                continue;
            }
            let dead = slices.mark_dead(slice, objects, dead_objects, found);
            if dead == 0 || !harmless.contains(head.state, head.bound, dead) {
                continue;
            }
            if is_violated_at_end(&self.states[usize::from(head.state)]) {
                reported += 1;
                if reported <= MAX_REPORTED {
                    continue;
                }
            }
            let living = head.bound & !dead;
            let masks = self.masks.iter().enumerate().filter(|(_, mask)| **mask & !living == 0);
            let agrees = masks.filter_map(|(mask_index, mask)| {
                let keys = super::Keys::collect(slices.keys_of(slice, *mask));
                slices.first(mask_index, &keys, "").map(|first| (mask_index, first))
            });
            if agrees.fold(false, |is_new, pair| agreeing.insert(pair) | is_new) {
                continue;
            }
            idle.push(slice);
        }
        for slice in idle {
            slices.collected[usize::from(slices.records.head(slice).state)] += 1;
            slices.remove(self, slice);
        }
        slices.heap.sweep();
    }

    /// The slice parameters that are always objects.
    fn object_params(&self, dead_objects: &DeadObjects) -> ParamMask {
        let mut objects = ((1u16 << self.slice_on.len()) - 1) as ParamMask;
        for (event_id, params) in &self.bindings {
            for (bit, at) in params.iter().enumerate() {
                if at.is_some_and(|at| dead_objects.non_objects.contains(&(*event_id, at))) {
                    objects &= !(1 << bit);
                }
            }
        }
        objects
    }
}

impl SliceTable {
    /// The number of collected slices in a state.
    pub fn collected(&self, state: StateId) -> u64 {
        self.collected[usize::from(state)]
    }

    /// Marks the parameters of a slice whose objects are dead. Returns all dead parameters of the slice.
    fn mark_dead(
        &mut self,
        slice: u32,
        objects: ParamMask,
        dead_objects: &DeadObjects,
        found: &mut Vec<i64>,
    ) -> ParamMask {
        let mut head = self.records.head(slice);
        for (bit, key) in self.records.keys(slice).iter().enumerate() {
            let bit: ParamMask = 1 << bit;
            if objects & !head.dead & bit != 0
                && let Some(number) = key.as_int()
                && dead_objects.ids.binary_search(&number).is_ok()
            {
                head.dead |= bit;
                found.push(number);
            }
        }
        self.records.set_head(slice, head);
        head.dead
    }
}

/// Decides whether the further behaviour of a slice with dead parameters is invisible.
struct HarmlessStates<'a> {
    automaton: &'a Automaton,
    reactions: &'a [u8],
    /// Results by state, bound parameters and dead parameters.
    results: BTreeMap<(StateId, ParamMask, ParamMask), bool>,
}

impl HarmlessStates<'_> {
    /// Whether a slice in this state, with these bound and dead parameters, can be collected.
    fn contains(&mut self, state: StateId, bound: ParamMask, dead: ParamMask) -> bool {
        if let Some(result) = self.results.get(&(state, bound, dead)) {
            return *result;
        }
        let is_harmless = self.visit_reachable(state, bound & !dead).is_some();
        self.results.insert((state, bound, dead), is_harmless);
        is_harmless
    }

    /// Visits all states reachable by events of live parameters; `None` if one has a visible effect.
    fn visit_reachable(&self, from: StateId, living: ParamMask) -> Option<()> {
        let automaton = self.automaton;
        let output = |state: StateId| {
            let state = &automaton.states[usize::from(state)];
            (state.verdict, state.at_end, state.is_final)
        };
        let mut seen = vec![false; automaton.states.len()];
        let mut stack = vec![from];
        seen[usize::from(from)] = true;
        while let Some(state) = stack.pop() {
            for (event_id, dispatch) in automaton.dispatch_table.iter().enumerate() {
                if dispatch.mask & !living != 0 {
                    continue;
                }
                let cell = automaton.cell(state, event_id);
                for transition in
                    &automaton.compiled[cell.compiled.start as usize..cell.compiled.end as usize]
                {
                    let effect = transition.success.filter(|_| transition.guard.is_none())?;
                    let to = effect.target.unwrap_or(state);
                    let runs = effect.block.is_some() || effect.action.is_some();
                    let triggers_reaction = [state, to].iter().any(|state| {
                        self.reactions.get(usize::from(*state)).is_some_and(|reactions| *reactions != 0)
                    });
                    let has_guard = cell.decision.is_some() || !cell.required.is_empty();
                    let acts = automaton.states[usize::from(to)].action.is_some();
                    if runs || triggers_reaction || has_guard || acts || output(to) != output(from) {
                        return None;
                    }
                    if !core::mem::replace(&mut seen[usize::from(to)], true) {
                        stack.push(to);
                    }
                }
            }
        }
        Some(())
    }
}
