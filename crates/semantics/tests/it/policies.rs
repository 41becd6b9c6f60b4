//! Laws of policies and of the filter that applies them.

use std::collections::BTreeSet;

use invigil_semantics::{
    AsFilter, Compose, Describe, FilteringPolicy, FixedPriority, Keep, Only, ReactiveHypothesis, RoundRobin,
    SchedulingPolicy, SeededRandom, Semantics,
};
use invigil_test_support::cases;
use proptest::collection::{btree_set, vec};
use proptest::prelude::*;

use crate::table::{ACTIONS, Table, explore, set, table};

/// In the random tables, even actions are the system's.
fn is_system(action: &u8) -> bool {
    action.is_multiple_of(2)
}

/// A policy with a state: keeps the actions whose sum with the state is even; the state counts up to two.
struct Alternating;

impl FilteringPolicy<u8, u8> for Alternating {
    type State = u8;

    fn initial(&self) -> u8 {
        0
    }

    fn controls(&self, action: &u8) -> bool {
        *action != 3
    }

    fn apply<'a>(&self, state: &u8, at: &u8, enabled: &'a [u8]) -> impl IntoIterator<Item = (&'a u8, u8)> {
        let kept = enabled.iter().filter(move |action| (*action + state + at).is_multiple_of(2));
        kept.map(move |action| (action, (state + 1) % 3))
    }
}

/// Checks the laws of policies under a filter in all reachable configurations.
fn obeys_the_laws<P: FilteringPolicy<u8, u8>>(subject: &Table, policy: P) -> Result<(), TestCaseError> {
    let filtered = subject.filtered(policy);
    let graph = explore(&filtered);
    for config in &graph.configs {
        let (at, state) = config;
        let enabled: Vec<_> = subject.actions(at).into_iter().collect();
        let kept: Vec<_> = filtered.actions(config).into_iter().collect();

        // Subset; no action is kept if none is enabled.
        prop_assert!(kept.iter().all(|(action, _)| enabled.contains(action)));
        prop_assert!(!enabled.is_empty() || kept.is_empty());

        // Determinism: a query changes nothing.
        prop_assert!(kept == filtered.actions(config).into_iter().collect::<Vec<_>>());

        // Actions that are not selected stay enabled in order and do not change the policy's state.
        let unselected = |action: &u8| !filtered.policy.controls(action);
        let forwarded: Vec<_> = kept.iter().filter(|(action, _)| unselected(action)).cloned().collect();
        let expected: Vec<_> =
            enabled.iter().copied().filter(unselected).map(|action| (action, state.clone())).collect();
        prop_assert!(forwarded == expected);

        // The state in the action is entered, whatever the outcome.
        for (action, next) in &kept {
            let reached: Vec<_> = filtered.execute(config, &(*action, next.clone())).into_iter().collect();
            let outcomes: Vec<_> =
                subject.execute(at, action).into_iter().map(|to| (to, next.clone())).collect();
            prop_assert!(reached == outcomes);
        }
    }
    Ok(())
}

/// Like `obeys_the_laws`; also checks that exactly one of the selected enabled actions is kept.
fn schedules<P: SchedulingPolicy<u8, u8> + Clone>(subject: &Table, policy: P) -> Result<(), TestCaseError> {
    obeys_the_laws(subject, AsFilter(policy.clone()))?;
    let scheduled = subject.scheduled(policy.clone());
    for config in explore(&scheduled).configs {
        let decided = |action: &u8| policy.controls(action);
        let kept = scheduled.actions(&config).into_iter().filter(|(action, _)| decided(action)).count();
        let enabled = subject.actions(&config.0).into_iter().filter(decided).count();
        prop_assert_eq!(kept, enabled.min(1));
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(8192)))]

    #[test]
    fn filters_obey_the_laws(subject in table(4)) {
        obeys_the_laws(&subject, Alternating)?;
        obeys_the_laws(&subject, Keep(|at: &u8, action: &u8| at + action > 2))?;
        obeys_the_laws(&subject, ReactiveHypothesis { is_system })?;
    }

    #[test]
    fn schedulers_obey_the_laws(subject in table(4)) {
        schedules(&subject, FixedPriority::new(|action: &u8| *action))?;
        schedules(&subject, RoundRobin::new(|action: &u8| action / 2))?;
        schedules(&subject, Only { selector: is_system, policy: FixedPriority::new(|action: &u8| *action) })?;
        schedules(&subject, Only { selector: is_system, policy: RoundRobin::new(|action: &u8| *action) })?;
    }

    #[test]
    fn permissive_policy_changes_nothing(subject in table(4)) {
        let all = subject.clone().filtered(Keep(|_: &u8, _: &u8| true));
        let renamed = explore(&all).rename(|(config, ())| config, |(action, ())| action);
        prop_assert_eq!(renamed, explore(&subject));
    }

    #[test]
    fn filtered_behaviour_is_behaviour_of_subject(subject in table(4)) {
        let whole = set(explore(&subject).transitions);
        let scheduled = (&subject).scheduled(RoundRobin::new(|action: &u8| *action));
        let is_system = |(action, _): &(u8, _)| is_system(action);
        let setup = scheduled.filtered(ReactiveHypothesis { is_system });
        for (source, action, target) in explore(&setup).transitions {
            let (((source, _), ()), ((action, _), ()), ((target, _), ())) = (source, action, target);
            prop_assert!(whole.contains(&(source, action, target)));
        }
    }

    #[test]
    fn fixed_priority_takes_the_first_of_the_most_urgent(enabled in vec((0..4u8, any::<u8>()), 0..8)) {
        let policy = FixedPriority::new(|(priority, _): &(u8, u8)| *priority);
        let chosen = policy.choose(&(), &(), &enabled).map(|(action, ())| action);
        let highest = enabled.iter().map(|(priority, _)| *priority).max();
        prop_assert_eq!(chosen, enabled.iter().find(|(priority, _)| Some(*priority) == highest));
    }

    #[test]
    fn round_robin_serves_each_enabled_unit_within_a_round(
        others in vec(btree_set(0..5u8, 0..5), 40),
        always in 0..5u8,
    ) {
        // One of five units is always enabled; the others vary.
        let policy = RoundRobin::new(|unit: &u8| *unit);
        let mut last = SchedulingPolicy::<(), _>::initial(&policy);
        let mut passed_over = 0;
        for mut enabled in others {
            enabled.insert(always);
            let enabled: Vec<_> = enabled.into_iter().collect();
            let (chosen, next) = policy.choose(&last, &(), &enabled).unwrap();
            passed_over = if *chosen == always { 0 } else { passed_over + 1 };
            prop_assert!(passed_over < 5);
            last = next;
        }
    }

    #[test]
    fn round_robin_is_strict_alternation_when_all_are_enabled(units in btree_set(any::<u8>(), 1..6)) {
        let enabled: Vec<_> = units.iter().copied().collect();
        let policy = RoundRobin::new(|unit: &u8| *unit);
        let mut last = None;
        for expected in enabled.iter().cycle().take(20) {
            let (chosen, next) = policy.choose(&last, &(), &enabled).unwrap();
            prop_assert_eq!(chosen, expected);
            last = next;
        }
    }

    #[test]
    fn round_robin_takes_the_first_action_listed_of_a_unit(enabled in vec((0..3u8, any::<u8>()), 1..8)) {
        let policy = RoundRobin::new(|(unit, _): &(u8, u8)| *unit);
        for last in [None, Some(0), Some(1), Some(2)] {
            let (chosen, next) = policy.choose(&last, &(), &enabled).unwrap();
            prop_assert_eq!(next, Some(chosen.0));
            prop_assert_eq!(enabled.iter().find(|(unit, _)| *unit == chosen.0), Some(chosen));
        }
    }

    #[test]
    fn environment_moves_only_if_system_cannot(enabled in vec(0..ACTIONS, 0..6)) {
        let policy = ReactiveHypothesis { is_system };
        let kept: Vec<u8> = policy.apply(&(), &(), &enabled).into_iter().map(|(action, ())| *action).collect();
        let system: Vec<_> = enabled.iter().copied().filter(is_system).collect();
        prop_assert_eq!(kept, if system.is_empty() { enabled } else { system });
    }

    #[test]
    fn the_same_seed_gives_the_same_run(subject in table(4), seed: u64) {
        let run = |seed| {
            let scheduled = (&subject).scheduled(SeededRandom { seed });
            let mut run = vec![];
            let mut at = scheduled.initial().into_iter().next();
            while let Some(config) = at.filter(|_| run.len() < 30) {
                let step = scheduled.steps(&config).into_iter().next();
                run.push((config, step.as_ref().map(|((action, _), _)| *action)));
                at = step.map(|(_, target)| target);
            }
            run
        };
        prop_assert_eq!(run(seed), run(seed));
    }

    #[test]
    fn a_random_choice_is_one_of_the_enabled(enabled in vec(any::<u8>(), 0..9), state: u64) {
        let chosen = SeededRandom { seed: 0 }.choose(&state, &(), &enabled);
        prop_assert_eq!(chosen.is_none(), enabled.is_empty());
        prop_assert!(chosen.is_none_or(|(action, next)| enabled.contains(action) && next != state));
    }
}

#[test]
fn random_choices_are_spread_evenly() {
    let policy = SeededRandom { seed: 2024 };
    let mut state = policy.seed;
    let mut counts = [0_u32; 7];
    for _ in 0..70_000 {
        let (chosen, next) = policy.choose(&state, &(), &[0, 1, 2, 3, 4, 5, 6]).unwrap();
        counts[*chosen] += 1;
        state = next;
    }
    // Six standard deviations on either side of ten thousand.
    assert!(counts.iter().all(|count| (9_450..10_550).contains(count)), "{counts:?}");
}

#[test]
fn different_seeds_give_different_runs() {
    let run = |seed| {
        let policy = SeededRandom { seed };
        let mut state = seed;
        let choices = (0..64).map(|_| {
            let (chosen, next) = policy.choose(&state, &(), &['a', 'b']).unwrap();
            state = next;
            *chosen
        });
        choices.collect::<String>()
    };
    let runs: BTreeSet<_> = (0..100).map(run).collect();
    assert_eq!(runs.len(), 100);
}

#[test]
fn environment_steps_do_not_advance_round_robin() {
    // Units 0 and 2 belong to the system, 1 to the environment; all are always enabled.
    let subject = Table {
        initial: vec![0],
        moves: vec![vec![(0, vec![0]), (1, vec![0]), (2, vec![0])]],
        accepting: [].into(),
    };
    let setup = subject.scheduled(Only { selector: is_system, policy: RoundRobin::new(|unit: &u8| *unit) });
    let after_unit_0 = (0, Some(0));
    let offered: Vec<_> = setup.actions(&after_unit_0).into_iter().collect();
    assert_eq!(offered, [(2, Some(2)), (1, Some(0))]);
    assert!(setup.execute(&after_unit_0, &(1, Some(0))).into_iter().eq([after_unit_0]));
}

#[test]
fn descriptions_include_policy_state() {
    let subject = Table { initial: vec![0], moves: vec![vec![]], accepting: [].into() };
    let twice = subject.scheduled(RoundRobin::new(|unit: &u8| *unit)).scheduled(SeededRandom { seed: 9 });
    let shown = twice.describe_config(&((0, Some(2)), 9));
    assert_eq!(shown.to_string(), "state = 0, policy.last served = 2, policy2.random state = 9");
    assert_eq!(twice.describe_action(&((3, Some(3)), 10)), "a3");
}
