//! The product against a brute-force oracle that works on the bare tables.

use std::collections::HashSet;

use invigil_semantics::{
    Accepting, Breakpoint, BreakpointState, Compose, Evaluate, ProductAction, Semantics, Step,
};
use invigil_test_support::cases;
use proptest::prelude::*;

use crate::table::{Expr, Rule, Rules, Table, explore, expr, rules, set, steps, table};

type Pair = (u8, u8);
type Transition = (Pair, ProductAction<u8, u8, usize>, Pair);

/// All actions of a property on a step, read from the rules.
fn answers(property: &Rules, at: u8, source: Option<u8>, action: Option<u8>, target: u8) -> Vec<(usize, u8)> {
    let mut answers = vec![];
    for (index, Rule { at: enabled_at, guard, targets }) in property.rules.iter().enumerate() {
        if *enabled_at == at && guard.value(source, action, target) == Ok(true) {
            answers.extend(targets.iter().map(|to| (index, *to)));
        }
    }
    answers
}

/// The reachable product by definition: combines each outcome of each action with each action of the property
/// on that step, until nothing new is reached.
fn oracle(subject: &Table, property: &Rules) -> (HashSet<Pair>, HashSet<Transition>) {
    let mut initial = HashSet::new();
    for start in &subject.initial {
        for before in &property.initial {
            initial
                .extend(answers(property, *before, None, None, *start).iter().map(|(_, to)| (*start, *to)));
        }
    }
    let mut all = vec![];
    for (c1, row) in (0..).zip(&subject.moves) {
        for (a1, outcomes) in row {
            for t1 in outcomes {
                for c2 in 0..3 {
                    for (a2, t2) in answers(property, c2, Some(c1), Some(*a1), *t1) {
                        let action = ProductAction { action: *a1, target: *t1, property: a2 };
                        all.push(((c1, c2), action, (*t1, t2)));
                    }
                }
            }
        }
    }
    let mut reached = initial.clone();
    loop {
        let before = reached.len();
        for (source, _, target) in &all {
            if reached.contains(source) {
                reached.insert(*target);
            }
        }
        if reached.len() == before {
            break;
        }
    }
    all.retain(|(source, _, _)| reached.contains(source));
    (initial, all.into_iter().collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(20_000)))]

    #[test]
    fn product_equals_oracle(subject in table(4), property in rules()) {
        let (initial, transitions) = oracle(&subject, &property);
        let product = explore(&subject.product(property));
        prop_assert_eq!(set(product.initial), initial);
        prop_assert_eq!(set(product.transitions), transitions);
    }

    #[test]
    fn each_step_of_the_product_is_a_step_of_the_subject(subject in table(4), property in rules()) {
        let whole = set(explore(&subject).transitions);
        for (source, both, target) in explore(&(&subject).product(&property)).transitions {
            prop_assert!(whole.contains(&(source.0, both.action, target.0)));
        }
    }

    #[test]
    fn permissive_property_changes_nothing(subject in table(4)) {
        let follower = Rules {
            initial: vec![0],
            rules: vec![Rule { at: 0, guard: Expr::True, targets: vec![0] }],
            accepting: [].into(),
        };
        let product = explore(&(&subject).product(follower));
        prop_assert_eq!(product.rename(|(config, _)| config, |both| both.action), explore(&subject));
    }

    /// A breakpoint is hit exactly on the steps on which its condition is true and that are reachable without a
    /// step on which it is true or fails.
    #[test]
    fn a_breakpoint_is_hit_exactly_where_its_condition_holds(subject in table(4), condition in expr()) {
        let watched = (&subject).product(Breakpoint { condition });
        let graph = explore(&watched);
        for step in steps(&graph) {
            let seen = step.as_ref().project(|(config, _)| config, |both| Some(&both.action));
            let expected = match subject.evaluate(&condition, seen) {
                Ok(true) => BreakpointState::Hit,
                Ok(false) => BreakpointState::Waiting,
                Err(_) => BreakpointState::Failed,
            };
            prop_assert_eq!(step.target.1, expected);
        }
        for config in &graph.configs {
            let stopped = config.1 != BreakpointState::Waiting;
            prop_assert_eq!(watched.is_accepting(config), stopped);
            prop_assert_eq!(watched.is_deadlocked(config), stopped || subject.is_deadlocked(&config.0));
        }
        // All initial configurations are kept.
        prop_assert!(graph.initial.iter().map(|(start, _)| *start).eq(subject.initial().into_iter()));
    }
}

/// One action with two outcomes, and a condition that distinguishes them. A product that combines the
/// property's answer for one outcome with another outcome reports a hit that does not exist.
#[test]
fn regression_property_answer_belongs_to_its_outcome() {
    let subject =
        Table { initial: vec![2], moves: vec![vec![], vec![], vec![(0, vec![0, 1])]], accepting: [].into() };
    let watched = subject.product(Breakpoint { condition: Expr::Target(1) });
    let start = (2, BreakpointState::Waiting);
    let targets = set(watched.steps(&start).into_iter().map(|(_, target)| target));
    assert_eq!(targets, set([(0, BreakpointState::Waiting), (1, BreakpointState::Hit)]));
    for action in watched.actions(&start) {
        assert_eq!(watched.execute(&start, &action).into_iter().count(), 1);
    }
}

#[test]
fn property_reads_initial_configuration() {
    let subject = Table { initial: vec![0, 1], moves: vec![vec![], vec![]], accepting: [].into() };
    let property = Rules {
        initial: vec![0],
        rules: vec![
            Rule { at: 0, guard: Expr::Target(0), targets: vec![1] },
            Rule { at: 0, guard: Expr::Starts, targets: vec![2] },
        ],
        accepting: [].into(),
    };
    let product = subject.product(property);
    assert_eq!(set(product.initial()), set([(0, 1), (0, 2), (1, 2)]));
}

#[test]
fn property_rejecting_start_gives_empty_product() {
    let subject = Table { initial: vec![0], moves: vec![vec![(0, vec![0])]], accepting: [].into() };
    let property = Rules {
        initial: vec![0],
        rules: vec![Rule { at: 0, guard: Expr::Source(0), targets: vec![0] }],
        accepting: [].into(),
    };
    assert_eq!(subject.product(property).initial().into_iter().count(), 0);
}

#[test]
fn failed_condition_stops_search_and_can_be_reevaluated() {
    let subject = Table { initial: vec![0], moves: vec![vec![(0, vec![0])]], accepting: [].into() };
    let watched = subject.product(Breakpoint { condition: Expr::Fails });
    assert!(watched.initial().into_iter().eq([(0, BreakpointState::Failed)]));
    let reason = watched.subject.evaluate(&watched.property.condition, Step::initial(&0)).unwrap_err();
    assert_eq!(reason.to_string(), "no value");
}
