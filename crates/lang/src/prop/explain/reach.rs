//! Which states and transitions of an automaton can ever matter.

use invigil_monitor::automaton::{Automaton, End, Transition};
use invigil_monitor::verdict::Verdict;
use std::collections::BTreeMap;

/// What can ever happen, guards taken for conditions that can go either way.
pub(super) struct Reach {
    /// For each state, whether some events lead to it.
    reachable: Vec<bool>,
    /// For each state, whether the verdict stays what it is from there on.
    settled: Vec<bool>,
    /// Whether a settled state can be entered from every reachable one.
    pub(super) is_monitorable: bool,
    /// The transitions that are never taken, each with what is taken in its place.
    shadowed: BTreeMap<usize, Shadow>,
    /// For each transition, whether it can be taken.
    live: Vec<bool>,
}

/// Why a transition is never taken.
#[derive(Clone, Copy)]
pub(super) struct Shadow {
    /// The transition before it.
    pub(super) by: usize,
    /// Whether the two decide by the same condition; else the one before it always is taken.
    pub(super) same_condition: bool,
}

/// Whether a transition that is tried is also taken.
fn always_taken(transition: &Transition) -> bool {
    transition.guard.is_none_or(|guard| guard.is_update) && transition.success.is_some()
}

/// The ends of a transition that can be taken: a failure needs a guard that can fail.
fn ends(transition: &Transition) -> impl Iterator<Item = &End> {
    let can_fail = transition.guard.is_some_and(|guard| !guard.is_update);
    transition.success.iter().chain(transition.failure.iter().filter(move |_| can_fail))
}

impl Reach {
    /// Looks at an automaton. `guard` gives the text of a transition's guard: a guard changes nothing, so
    /// that the same text over the same parameters decides alike.
    pub(super) fn new(automaton: &Automaton, guard: impl Fn(&Transition) -> String) -> Reach {
        let transitions = &automaton.transitions;
        let initial = usize::from(automaton.initial);
        let mut takers = BTreeMap::new();
        let mut conditions = BTreeMap::new();
        let mut shadowed = BTreeMap::new();
        let mut live = Vec::new();
        for (number, transition) in transitions.iter().enumerate() {
            let key = (transition.from, transition.symbol);
            let condition = (key, guard(transition), &transition.reads);
            if let Some(by) = takers.get(&key) {
                shadowed.insert(number, Shadow { by: *by, same_condition: false });
            } else if always_taken(transition) {
                takers.insert(key, number);
            } else if let Some(by) = conditions.get(&condition) {
                shadowed.insert(number, Shadow { by: *by, same_condition: true });
            } else if transition.success.is_some() && transition.failure.is_some() {
                conditions.insert(condition, number);
            }
            // A slice that enters a final state is forgotten at once; only the first slice starts in one.
            let from = usize::from(transition.from);
            let is_left = !automaton.states[from].is_final || from == initial;
            live.push(is_left && !shadowed.contains_key(&number));
        }
        let states = &automaton.states;
        let (mut next, mut previous) = (vec![Vec::new(); states.len()], vec![Vec::new(); states.len()]);
        for (transition, _) in transitions.iter().zip(&live).filter(|(_, live)| **live) {
            let from = usize::from(transition.from);
            for to in ends(transition).flat_map(|end| end.target.iter().chain(&end.returns)) {
                next[from].push(usize::from(*to));
                previous[usize::from(*to)].push(from);
            }
        }
        let all = 0..states.len();
        let reachable = close(&next, [initial]);
        let mut settled = vec![false; states.len()];
        for verdict in [Verdict::Accepting, Verdict::Undecided, Verdict::NonAccepting] {
            // Nothing is settled by a final state: the slice is forgotten, and another may come.
            let change = |state: &usize| states[*state].verdict != verdict || states[*state].is_final;
            let can_change = close(&previous, all.clone().filter(change));
            all.clone().filter(|state| !can_change[*state]).for_each(|state| settled[state] = true);
        }
        let can_settle = close(&previous, all.clone().filter(|state| settled[*state]));
        let lasting = |state: &usize| reachable[*state] && (!states[*state].is_final || *state == initial);
        let is_monitorable = all.filter(lasting).all(|state| can_settle[state]);
        Reach { reachable, settled, is_monitorable, shadowed, live }
    }

    pub(super) fn is_reachable(&self, state: usize) -> bool {
        self.reachable[state]
    }

    pub(super) fn is_settled(&self, state: usize) -> bool {
        self.settled[state]
    }

    /// The transitions that are never taken, each with the reason.
    pub(super) fn shadowed(&self) -> impl Iterator<Item = (usize, Shadow)> {
        self.shadowed.iter().map(|(number, shadow)| (*number, *shadow))
    }

    pub(super) fn is_live(&self, transition: usize) -> bool {
        self.live[transition]
    }
}

/// The states that `next` leads to from `start`, those included.
fn close(next: &[Vec<usize>], start: impl IntoIterator<Item = usize>) -> Vec<bool> {
    let mut found = vec![false; next.len()];
    let mut open: Vec<usize> = start.into_iter().collect();
    while let Some(state) = open.pop() {
        if !std::mem::replace(&mut found[state], true) {
            open.extend(&next[state]);
        }
    }
    found
}
