//! Laws of stuttering, of pre-initialisation and of transition relations.

use std::collections::HashSet;

use invigil_semantics::{Accepting, Breakpoint, BreakpointState, Compose, Semantics, TransitionRelation};
use invigil_test_support::cases;
use proptest::collection::vec;
use proptest::prelude::*;

use crate::table::{Expr, Table, explore, set, table};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(4096)))]

    #[test]
    fn stuttering_only_adds_idle_steps_in_deadlocks(subject in table(4)) {
        let forever = (&subject).stuttering();
        let (before, after) = (explore(&subject), explore(&forever));
        prop_assert_eq!(&after.initial, &before.initial);
        prop_assert_eq!(&after.configs, &before.configs);
        let idle = before.configs.iter().filter(|at| subject.is_deadlocked(at)).map(|at| (*at, None, *at));
        let taken = before.transitions.iter().map(|(source, action, target)| (*source, Some(*action), *target));
        prop_assert_eq!(set(after.transitions), idle.chain(taken).collect::<HashSet<_>>());
        prop_assert!(after.configs.iter().all(|at| !forever.is_deadlocked(at)));
    }

    #[test]
    fn a_deadlock_is_a_configuration_without_outgoing_transition(subject in table(4)) {
        let graph = explore(&subject);
        for config in &graph.configs {
            let leaves = graph.transitions.iter().any(|(source, _, _)| source == config);
            prop_assert_eq!(subject.is_deadlocked(config), !leaves);
        }
    }

    #[test]
    fn pre_initialised_subject_differs_only_in_starts(subject in table(4), starts in vec(0..4u8, 0..4)) {
        let starts: Vec<_> = starts.into_iter().filter(|at| usize::from(*at) < subject.moves.len()).collect();
        let moved = (&subject).starting_in(starts.iter().copied());
        prop_assert!(moved.initial().into_iter().eq(starts));
        for config in explore(&moved).configs {
            prop_assert!(moved.actions(&config).into_iter().eq(subject.actions(&config)));
            prop_assert!(moved.steps(&config).into_iter().eq(subject.steps(&config)));
        }
        let own = subject.initial.clone();
        prop_assert_eq!(explore(&(&subject).starting_in(own)), explore(&subject));
    }

    #[test]
    fn next_is_the_union_over_the_actions(subject in table(4)) {
        let relation = (&subject).to_transition_relation(|subject, at| subject.is_accepting(at));
        prop_assert!(relation.initial().into_iter().eq(subject.initial()));
        for config in explore(&subject).configs {
            let mut union = HashSet::new();
            for action in subject.actions(&config) {
                union.extend(subject.execute(&config, &action));
            }
            prop_assert_eq!(relation.next(&config).into_iter().collect::<HashSet<_>>(), union);
            prop_assert_eq!(relation.is_accepting(&config), subject.accepting.contains(&config));
        }
    }

    #[test]
    fn steps_are_the_actions_with_their_outcomes_in_order(subject in table(4)) {
        let forever = (&subject).stuttering();
        for config in explore(&subject).configs {
            let mut expected = vec![];
            for action in forever.actions(&config) {
                expected.extend(forever.execute(&config, &action).into_iter().map(|target| (action, target)));
            }
            prop_assert!(forever.steps(&config).into_iter().eq(expected));
        }
    }
}

#[test]
fn blocking_action_does_not_prevent_deadlock() {
    let subject = Table { initial: vec![0], moves: vec![vec![(1, vec![])]], accepting: [].into() };
    assert!(subject.is_deadlocked(&0));
    let forever = subject.stuttering();
    assert!(forever.steps(&0).into_iter().eq([(None, 0)]));
}

#[test]
fn search_starts_from_debugger_configuration() {
    // 0 → 1 → 2 → 0: from 1, when is 0 reached?
    let ring = Table {
        initial: vec![0],
        moves: vec![vec![(0, vec![1])], vec![(0, vec![2])], vec![(0, vec![0])]],
        accepting: [].into(),
    };
    let search = (&ring).starting_in([1]).product(Breakpoint { condition: Expr::Target(0) });
    let relation = search.to_transition_relation(Accepting::is_accepting);
    let mut path = vec![];
    let mut at = relation.initial().into_iter().next();
    while let Some(config) = at {
        at = relation.next(&config).into_iter().next();
        path.push(config);
    }
    use BreakpointState::{Hit, Waiting};
    assert_eq!(path, [(1, Waiting), (2, Waiting), (0, Hit)]);
    assert!(relation.is_accepting(path.last().unwrap()));
}
