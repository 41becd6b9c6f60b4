//! The textbook example of the three kinds of non-determinism: two initial states, two actions enabled in
//! one of them, and an assignment with three outcomes.

use core::convert::Infallible;

use invigil_semantics::{
    Accepting, Breakpoint, BreakpointState, Compose, Evaluate, FixedPriority, Language, Semantics, StepRef,
};

use crate::table::{explore, set};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum State {
    S0,
    S1,
    S2,
}
use State::{S0, S1, S2};

/// `s0 —a1: x := [0, 2]→ s1`, `s1 —a2→ s0`, `s1 —a3→ s2`; starts in `s0` or in `s1`.
struct Automaton;

impl Language for Automaton {
    type Config = (State, u8);
    type Action = &'static str;
}

impl Semantics for Automaton {
    fn initial(&self) -> impl IntoIterator<Item = (State, u8)> {
        [(S0, 0), (S1, 0)]
    }

    fn actions(&self, (state, _): &(State, u8)) -> impl IntoIterator<Item = &'static str> {
        match state {
            S0 => vec!["a1"],
            S1 => vec!["a2", "a3"],
            S2 => vec![],
        }
    }

    fn execute(&self, (_, x): &(State, u8), action: &&'static str) -> impl IntoIterator<Item = (State, u8)> {
        match *action {
            "a1" => vec![(S1, 0), (S1, 1), (S1, 2)],
            "a2" => vec![(S0, *x)],
            _ => vec![(S2, *x)],
        }
    }
}

impl Evaluate for Automaton {
    type Expr = fn(StepRef<'_, Automaton>) -> bool;
    type Error = Infallible;

    fn evaluate(&self, expr: &Self::Expr, step: StepRef<'_, Automaton>) -> Result<bool, Infallible> {
        Ok(expr(step))
    }
}

#[test]
fn automaton_has_all_three_kinds_of_nondeterminism() {
    assert_eq!(Automaton.initial().into_iter().count(), 2);
    assert_eq!(Automaton.actions(&(S1, 0)).into_iter().count(), 2);
    assert_eq!(Automaton.execute(&(S0, 0), &"a1").into_iter().count(), 3);
    let graph = explore(&Automaton);
    assert_eq!(graph.configs.len(), 9);
    // Three outcomes of a1 from each of three values in s0, and a2 and a3 from each in s1.
    assert_eq!(graph.transitions.len(), 9 + 3 + 3);
}

#[test]
fn scheduler_keeps_nondeterminism_of_starts_and_outcomes() {
    let stay = Automaton.scheduled(FixedPriority::new(|action: &&str| *action == "a2"));
    let graph = explore(&stay);
    assert_eq!(graph.initial.len(), 2);
    assert!(graph.configs.iter().all(|((state, _), ())| *state != S2));
    assert_eq!(stay.execute(&((S0, 0), ()), &("a1", ())).into_iter().count(), 3);
}

/// The configurations in which a breakpoint is hit first.
fn hits(condition: <Automaton as Evaluate>::Expr) -> Vec<(State, u8)> {
    let watched = Automaton.product(Breakpoint { condition });
    let graph = explore(&watched);
    let accepting = graph.configs.into_iter().filter(|at| watched.is_accepting(at));
    let mut hits: Vec<_> = accepting
        .map(|(at, state)| {
            assert_eq!(state, BreakpointState::Hit);
            at
        })
        .collect();
    hits.sort_by_key(|(state, x)| (*state as u8, *x));
    hits
}

#[test]
fn breakpoint_conditions_read_states_actions_and_pairs() {
    assert_eq!(hits(|step| step.target.1 == 2), [(S1, 2)]);
    assert_eq!(hits(|step| step.action == Some(&"a3")), [(S2, 0), (S2, 1), (S2, 2)]);
    assert_eq!(hits(|step| step.source.is_some_and(|source| step.target.1 < source.1)), [(S1, 0), (S1, 1)]);
    assert_eq!(hits(|step| step.target.1 == 7), []);
}

#[test]
fn breakpoint_true_initially_is_hit_at_start() {
    let in_s1: <Automaton as Evaluate>::Expr = |step| step.target.0 == S1;
    let watched = Automaton.product(Breakpoint { condition: in_s1 });
    let initial = set(watched.initial());
    assert_eq!(initial, set([((S0, 0), BreakpointState::Waiting), ((S1, 0), BreakpointState::Hit)]));
    assert!(watched.is_deadlocked(&((S1, 0), BreakpointState::Hit)));
}
