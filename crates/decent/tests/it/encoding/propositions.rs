//! Propositions of [EH18 §5] on random automata, runs and memories.

use crate::encoding::reference::{self, atom, machine, memory, part, possible, run, seen};
use invigil_decent::automaton::{Automaton, Edge, Machine};
use invigil_decent::encoding::expressions::Profile;
use invigil_decent::encoding::{Aggressive, Encoding, Expressions, Quick, States, WorkCounters};
use invigil_decent::expression::evaluate;
use invigil_decent::memory::{Memory, Obligation};
use invigil_ltl::moore::{Truth, Verdict};
use invigil_test_support::{Rng, cases};

const ATOMS: usize = 2;

fn extended<History: Encoding>(machine: &Machine, to: usize) -> History {
    let mut history = History::new(machine, 0);
    history.extend(machine, to as u32);
    history
}

/// Value of an entry under a memory.
fn value<P: Profile>(history: &Expressions<P>, at: u32, state: u32, memory: &Memory) -> Option<bool> {
    history.expression(at, state).map_or(Some(false), |found| evaluate(history.pool(), found, memory))
}

/// Proposition 3, and soundness for partial memories: every known state is correct.
fn is_sound<History: Encoding>(seed: u64) {
    let rng = Rng::new(seed);
    let machine = machine(&rng, ATOMS);
    let length = 1 + rng.below(4);
    let run = run(&rng, ATOMS, length);
    let right = reference::states(&machine, &run);
    let (mut history, mut known) = (extended::<History>(&machine, 0), Memory::default());
    for (at, atom, value) in seen(&rng, &run) {
        known.learn(at, atom, value);
        history.extend(&machine, rng.below(length + 1) as u32);
        let resolved = history.learn(&machine, &known, &mut WorkCounters::default());
        assert_eq!(resolved, history.resolved());
        for at in history.start()..=history.end() {
            assert!(history.state(at).is_none_or(|state| state == right[at as usize]), "case {seed}");
        }
        let verdict = right.iter().map(|state| machine.verdict(*state)).find(|verdict| verdict.is_final());
        assert!(history.verdict().is_none_or(|(found, _)| Some(found) == verdict));
        if rng.below(3) == 0 {
            history.drop_resolved();
        }
    }
    history.extend(&machine, length as u32);
    history.learn(&machine, &known, &mut WorkCounters::default());
    assert_eq!(history.state(length as u32), Some(right[length]), "case {seed}");
    assert_eq!(history.open_obligations(&machine).next(), None);
}

#[test]
fn histories_are_sound() {
    for seed in 0..cases(1000) {
        is_sound::<States>(seed);
        is_sound::<Expressions<Quick>>(seed);
        is_sound::<Expressions<Aggressive>>(seed);
    }
}

/// Proposition 2, exactly: a state is known at an instant if and only if it is the same in all runs that agree with the
/// memory; a state is excluded if and only if no such run is in it.
fn is_exact<P: Profile>(seed: u64) {
    let rng = Rng::new(seed);
    let machine = machine(&rng, ATOMS);
    let length = 1 + rng.below(4);
    let run = run(&rng, ATOMS, length);
    let known = part(&rng, &run);
    let mut history = extended::<Expressions<P>>(&machine, length);
    let right = possible(&machine, &known, ATOMS, length);
    for (at, possible) in (0..).zip(&right) {
        for state in 0..machine.states() as u32 {
            let expected = match possible.contains(&state) {
                true if possible.len() == 1 => Some(true),
                true => None,
                false => Some(false),
            };
            assert_eq!(value(&history, at, state, &known), expected, "case {seed}");
        }
        assert_eq!(history.select(&known, at), reference::single(possible));
    }
    // `learn` skips instants before the last known state.
    let last = (0..).zip(&right).filter_map(|(at, states)| Some((at, reference::single(states)?))).last();
    let found = history.learn(&machine, &known, &mut WorkCounters::default());
    assert_eq!(found.map(|found| (found.at, found.state)), last);
    let mut states = extended::<States>(&machine, length);
    assert_eq!(states.learn(&machine, &known, &mut WorkCounters::default()), found);
    assert_eq!(states.verdict().map(|found| found.0), {
        let verdict = |state: &u32| machine.verdict(*state);
        let first = |states: &std::collections::BTreeSet<u32>| states.first().map(verdict);
        right.iter().find_map(|states| {
            first(states).filter(|one| one.is_final() && states.iter().all(|state| verdict(state) == *one))
        })
    });
}

#[test]
fn histories_are_deterministic_and_exact() {
    for seed in 0..cases(1000) {
        is_exact::<Quick>(seed);
        is_exact::<Aggressive>(seed);
    }
}

/// `update` of [EH18 §7] finds one known state after the other.
#[test]
fn update_stops_at_each_known_state() {
    for seed in 0..cases(500) {
        let rng = Rng::new(seed);
        let machine = machine(&rng, ATOMS);
        let run = run(&rng, ATOMS, 4);
        let known = part(&rng, &run);
        let mut history = extended::<Expressions<Aggressive>>(&machine, 4);
        let right = possible(&machine, &known, ATOMS, 4);
        // States that all paths lead to are known without a memory.
        let certain = history.resolved().map_or(0, |resolved| resolved.at);
        let singles = (0..).zip(&right).filter_map(|(at, states)| Some((at, reference::single(states)?)));
        for expected in singles.filter(|(at, _)| *at > certain) {
            assert!(history.update(&machine, &known, None, &mut WorkCounters::default()));
            assert_eq!(history.resolved().map(|found| (found.at, found.state)), Some(expected));
        }
        assert!(!history.update(&machine, &known, None, &mut WorkCounters::default()), "case {seed}");
    }
}

/// Both profiles resolve the same states at the same time, with the same number of evaluations; the aggressive one
/// calls its simplifier less often.
#[test]
fn simplification_profiles_are_equivalent() {
    for seed in 0..cases(500) {
        let rng = Rng::new(seed);
        let machine = machine(&rng, ATOMS);
        let length = 1 + rng.below(5);
        let run = run(&rng, ATOMS, length);
        let mut quick = extended::<Expressions<Quick>>(&machine, 0);
        let mut aggressive = extended::<Expressions<Aggressive>>(&machine, 0);
        let (mut known, mut works) = (Memory::default(), [WorkCounters::default(); 2]);
        for (at, atom, value) in seen(&rng, &run) {
            known.learn(at, atom, value);
            let to = rng.below(length + 1) as u32;
            quick.extend(&machine, to);
            aggressive.extend(&machine, to);
            let found = quick.learn(&machine, &known, &mut works[0]);
            assert_eq!(found, aggressive.learn(&machine, &known, &mut works[1]));
            assert_eq!(quick.drop_resolved(), aggressive.drop_resolved());
        }
        let [first, second] = works;
        assert_eq!(first.evaluations, second.evaluations, "case {seed}");
        assert_eq!(first.simplifications, first.evaluations);
        assert!(second.simplifications <= first.simplifications);
    }
}

/// Proposition 4: an incorporated memory is obsolete.
fn obsolesces<P: Profile>(seed: u64) {
    let rng = Rng::new(seed);
    let machine = machine(&rng, ATOMS);
    let length = 1 + rng.below(5);
    let run = run(&rng, ATOMS, length);
    let known = part(&rng, &run);
    let history = extended::<Expressions<P>>(&machine, length);
    let mut knows = history.clone();
    knows.incorporate(&machine, &known, &mut WorkCounters::default());
    for at in 0..=length as u32 {
        for state in 0..machine.states() as u32 {
            let [with, without] =
                [value(&history, at, state, &known), value(&knows, at, state, &Memory::default())];
            assert_eq!(with, without, "case {seed}");
        }
    }
    let mut states = extended::<States>(&machine, length);
    states.learn(&machine, &known, &mut WorkCounters::default());
    let before = states.clone();
    states.learn(&machine, &Memory::default(), &mut WorkCounters::default());
    assert_eq!(states, before);
}

#[test]
fn incorporated_memories_are_obsolete() {
    for seed in 0..cases(500) {
        obsolesces::<Quick>(seed);
        obsolesces::<Aggressive>(seed);
    }
}

/// Corollary 3, its first part restricted to memories that agree with both incorporated ones.
fn joins_soundly<P: Profile>(seed: u64) {
    let rng = Rng::new(seed);
    let machine = machine(&rng, ATOMS);
    let length = 1 + rng.below(4);
    let run = run(&rng, ATOMS, length);
    let memories = [(); 2].map(|()| part(&rng, &run));
    let history = extended::<Expressions<P>>(&machine, length);
    let sides = [0, 1].map(|side: usize| {
        let mut knows = history.clone();
        knows.incorporate(&machine, &memories[side], &mut WorkCounters::default());
        knows
    });
    let mut joined = sides[0].clone();
    joined.merge_all(&machine, &sides[1]);
    let mut both = memories[0].clone();
    both.merge(&memories[1]);
    let mut more = both.clone();
    more.merge(&part(&rng, &run));
    let nothing = Memory::default();
    for at in 0..=length as u32 {
        let true_under = |memory: &Memory| {
            (0..machine.states() as u32)
                .filter(|state| value(&joined, at, *state, memory) == Some(true))
                .count()
        };
        assert!(true_under(&both) <= 1 && true_under(&more) <= 1, "case {seed}");
        for state in 0..machine.states() as u32 {
            let now = value(&joined, at, state, &nothing);
            assert!(now.is_none() || now == value(&history, at, state, &both), "case {seed}");
            if now == Some(true) {
                for (memory, side) in memories.iter().zip(&sides) {
                    assert_eq!(value(&joined, at, state, memory), Some(true));
                    assert_ne!(value(side, at, state, memory), Some(false));
                }
            }
        }
    }
}

#[test]
fn merged_histories_are_sound() {
    for seed in 0..cases(500) {
        joins_soundly::<Quick>(seed);
        joins_soundly::<Aggressive>(seed);
    }
}

/// The first part of corollary 3 does not hold for every memory.
#[test]
fn merged_history_is_not_deterministic_for_contradicting_memories() {
    let edge = |to, value| Edge { to, cubes: vec![vec![(atom(0), value)]] };
    let loops = vec![Edge { to: 1, cubes: vec![vec![]] }];
    let automaton = Automaton {
        initial: 0,
        verdicts: vec![Truth::Unknown; 2],
        edges: vec![vec![edge(0, false), edge(1, true)], loops],
    };
    let machine = Machine::new(automaton).unwrap();
    let mut history = extended::<Expressions<Quick>>(&machine, 1);
    let other = history.clone();
    history.incorporate(&machine, &memory(&[(1, atom(0), true)]), &mut WorkCounters::default());
    history.merge_all(&machine, &other);
    let denied = memory(&[(1, atom(0), false)]);
    assert_eq!([0, 1].map(|state| value(&history, 1, state, &denied)), [Some(true), Some(true)]);
}

/// Observing the open obligations one by one resolves the run with expressions as well; possible states never need an
/// atom that the minimal expressions do not contain.
#[test]
fn open_obligations_are_the_atoms_of_expressions() {
    for seed in 0..cases(500) {
        let rng = Rng::new(seed);
        let machine = machine(&rng, 3);
        let length = 1 + rng.below(3);
        let run = run(&rng, 3, length);
        let mut history = extended::<Expressions<Aggressive>>(&machine, length);
        let mut states = extended::<States>(&machine, length);
        let mut known = Memory::default();
        loop {
            history.learn(&machine, &known, &mut WorkCounters::default());
            states.learn(&machine, &known, &mut WorkCounters::default());
            let asked: Vec<Obligation> = history.open_obligations(&machine).collect();
            let first = states.open_obligations(&machine).next();
            assert_eq!(first.is_none(), asked.is_empty(), "case {seed}");
            let Some(open) = asked.first() else { break };
            let place = (0..3).find(|place| atom(*place) == open.atom).unwrap();
            known.learn(open.at, open.atom, run[open.at as usize - 1][place]);
        }
        assert_eq!(history.state(length as u32), reference::states(&machine, &run).last().copied());
        assert_eq!(history.resolved(), states.resolved());
    }
}
