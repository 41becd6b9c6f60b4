//! Reachability: the states and transitions of an automaton that can matter.

use invigil_monitor::automaton::{Automaton, BranchEffect, Transition};
use invigil_monitor::verdict::Verdict;
use std::collections::BTreeMap;

/// Result of the analysis, which assumes that every guard can be both true and false.
pub(super) struct Reachability {
    /// Per state, whether some sequence of events leads to it.
    reachable: Vec<bool>,
    /// Per state, whether the verdict cannot change any more.
    settled: Vec<bool>,
    /// Whether a settled state can be reached from every reachable one.
    pub(super) is_monitorable: bool,
    /// The transitions that are never taken, each with the one that takes precedence.
    shadowed: BTreeMap<usize, Shadow>,
    /// Per transition, whether it can be taken.
    live: Vec<bool>,
}

/// Why a transition is never taken.
#[derive(Clone, Copy)]
pub(super) struct Shadow {
    /// The earlier transition.
    pub(super) by: usize,
    /// Whether both have the same condition; otherwise the earlier one is always taken.
    pub(super) same_condition: bool,
}

/// Whether a transition is taken whenever it is tried.
fn always_taken(transition: &Transition) -> bool {
    transition.guard.is_none_or(|guard| guard.is_update) && transition.success.is_some()
}

/// The branches that can be taken: a failure requires a guard that can fail.
fn possible_branches(transition: &Transition) -> impl Iterator<Item = &BranchEffect> {
    let can_fail = transition.guard.is_some_and(|guard| !guard.is_update);
    transition.success.iter().chain(transition.failure.iter().filter(move |_| can_fail))
}

impl Reachability {
    /// Analyses an automaton. `guard` returns the text of a transition's guard: since guards have no side effects,
    /// equal texts over equal parameters give equal results.
    pub(super) fn new(automaton: &Automaton, guard: impl Fn(&Transition) -> String) -> Reachability {
        let transitions = &automaton.transitions;
        let initial = usize::from(automaton.initial);
        let mut unconditional = BTreeMap::new();
        let mut conditions = BTreeMap::new();
        let mut shadowed = BTreeMap::new();
        let mut live = Vec::new();
        for (number, transition) in transitions.iter().enumerate() {
            let key = (transition.from, transition.event);
            let condition = (key, guard(transition), &transition.reads);
            if let Some(by) = unconditional.get(&key) {
                shadowed.insert(number, Shadow { by: *by, same_condition: false });
            } else if always_taken(transition) {
                unconditional.insert(key, number);
            } else if let Some(by) = conditions.get(&condition) {
                shadowed.insert(number, Shadow { by: *by, same_condition: true });
            } else if transition.success.is_some() && transition.failure.is_some() {
                conditions.insert(condition, number);
            }
            // A slice that enters a final state is dropped; only the first slice can start in one.
            let from = usize::from(transition.from);
            let can_be_left = !automaton.states[from].is_final || from == initial;
            live.push(can_be_left && !shadowed.contains_key(&number));
        }
        let states = &automaton.states;
        let (mut next, mut previous) = (vec![Vec::new(); states.len()], vec![Vec::new(); states.len()]);
        for (transition, _) in transitions.iter().zip(&live).filter(|(_, live)| **live) {
            let from = usize::from(transition.from);
            for to in possible_branches(transition)
                .flat_map(|branch| branch.target.iter().chain(&branch.returned_states))
            {
                next[from].push(usize::from(*to));
                previous[usize::from(*to)].push(from);
            }
        }
        let all = 0..states.len();
        let reachable = reachable_from(&next, [initial]);
        let mut settled = vec![false; states.len()];
        for verdict in [Verdict::Accepting, Verdict::Undecided, Verdict::NonAccepting] {
            // A final state settles nothing: its slice is dropped, and a new one may be created.
            let change = |state: &usize| states[*state].verdict != verdict || states[*state].is_final;
            let can_change = reachable_from(&previous, all.clone().filter(change));
            all.clone().filter(|state| !can_change[*state]).for_each(|state| settled[state] = true);
        }
        let can_settle = reachable_from(&previous, all.clone().filter(|state| settled[*state]));
        let lasting = |state: &usize| reachable[*state] && (!states[*state].is_final || *state == initial);
        let is_monitorable = all.filter(lasting).all(|state| can_settle[state]);
        Reachability { reachable, settled, is_monitorable, shadowed, live }
    }

    pub(super) fn is_reachable(&self, state: usize) -> bool {
        self.reachable[state]
    }

    pub(super) fn is_settled(&self, state: usize) -> bool {
        self.settled[state]
    }

    /// Returns the transitions that are never taken, with the reason.
    pub(super) fn shadowed(&self) -> impl Iterator<Item = (usize, Shadow)> {
        self.shadowed.iter().map(|(number, shadow)| (*number, *shadow))
    }

    pub(super) fn is_live(&self, transition: usize) -> bool {
        self.live[transition]
    }
}

/// The states reachable from `start` along `next`, including `start`.
fn reachable_from(next: &[Vec<usize>], start: impl IntoIterator<Item = usize>) -> Vec<bool> {
    let mut found = vec![false; next.len()];
    let mut open: Vec<usize> = start.into_iter().collect();
    while let Some(state) = open.pop() {
        if !std::mem::replace(&mut found[state], true) {
            open.extend(&next[state]);
        }
    }
    found
}
