//! Possible states against all runs that agree with the observations.

use crate::encoding::reference::{self, atom, machine, memory, run, seen};
use invigil_decent::automaton::{Automaton, Edge, Machine};
use invigil_decent::encoding::{Encoding, States, WorkCounters};
use invigil_decent::memory::{Atom, Memory, Obligation};
use invigil_ltl::moore::{Truth, Verdict};
use invigil_test_support::{Rng, cases};
use std::collections::BTreeSet;

const ATOMS: usize = 2;

/// Derives possible states, known states and verdicts from lists of possible states.
fn agrees(states: &States, machine: &Machine, possible: &[BTreeSet<u32>]) {
    for (at, expected) in (0..).zip(possible) {
        assert!(states.possible_at(at).eq(expected.iter().copied()), "{at}: {expected:?} {states:?}");
        assert_eq!(states.state(at), reference::single(expected));
    }
    let known = (0..).zip(possible).filter_map(|(at, states)| Some((at, reference::single(states)?))).last();
    assert_eq!(states.resolved().map(|resolved| (resolved.at, resolved.state)), known);
    let verdict = |states: &BTreeSet<u32>| {
        let first = machine.verdict(*states.first()?);
        let agreed = states.iter().all(|state| machine.verdict(*state) == first);
        (first.is_final() && agreed).then_some(first)
    };
    assert_eq!(states.verdict(), (0..).zip(possible).find_map(|(at, states)| Some((verdict(states)?, at))));
}

#[test]
fn possible_states_are_those_of_consistent_runs() {
    for seed in 0..cases(1500) {
        let rng = Rng::new(seed);
        let machine = machine(&rng, ATOMS);
        let length = 1 + rng.below(4);
        let run = run(&rng, ATOMS, length);
        let all = seen(&rng, &run);
        let mut states = States::new(&machine, 0);
        let mut known = Memory::default();
        // Incrementally, extended at any time in between.
        for (at, atom, value) in &all {
            states.extend(&machine, rng.below(length + 1) as u32);
            known.learn(*at, *atom, *value);
            if rng.flip() {
                states.learn(&machine, &known, &mut WorkCounters::default());
            }
            if rng.below(3) == 0 {
                states.extend(&machine, length as u32);
                states.learn(&machine, &known, &mut WorkCounters::default());
                agrees(&states, &machine, &reference::possible(&machine, &known, ATOMS, length));
            }
        }
        states.extend(&machine, length as u32);
        states.learn(&machine, &known, &mut WorkCounters::default());
        agrees(&states, &machine, &reference::possible(&machine, &known, ATOMS, length));
        assert_eq!(states.state(length as u32), reference::states(&machine, &run).last().copied());
        assert_eq!(states.open_obligations(&machine).next(), None);
    }
}

#[test]
fn merge_knows_what_both_memories_imply() {
    for seed in 0..cases(1500) {
        let rng = Rng::new(seed);
        let machine = machine(&rng, ATOMS);
        let length = 1 + rng.below(4);
        let run = run(&rng, ATOMS, length);
        let memories = [(); 2].map(|()| reference::part(&rng, &run));
        let [mut here, there] = [0, 1].map(|side: usize| {
            let mut states = States::new(&machine, 0);
            states.extend(&machine, if side == 0 { rng.below(length + 1) } else { length } as u32);
            states.learn(&machine, &memories[side], &mut WorkCounters::default());
            states
        });
        here.merge(&machine, &there, &mut WorkCounters::default());
        // Observations of instants that were not reached yet are incorporated again.
        here.learn(&machine, &memories[0], &mut WorkCounters::default());
        let mut both = memories[0].clone();
        both.merge(&memories[1]);
        agrees(&here, &machine, &reference::possible(&machine, &both, ATOMS, length));
        let once = here.clone();
        here.merge(&machine, &there, &mut WorkCounters::default());
        here.merge(&machine, &once, &mut WorkCounters::default());
        assert_eq!(here, once, "case {seed}");
    }
}

/// Histories that drop resolved instants reach the same verdicts as complete ones.
#[test]
fn dropping_resolved_instants_preserves_verdicts() {
    for seed in 0..cases(1500) {
        let rng = Rng::new(seed);
        let machine = machine(&rng, 3);
        let length = 2 + rng.below(5);
        let run = run(&rng, 3, length);
        let all = seen(&rng, &run);
        let (mut keeps, mut forgets) = (States::new(&machine, 0), States::new(&machine, 0));
        let mut memory = Memory::default();
        for part in all.chunks(1 + rng.below(4)) {
            let to = rng.below(length + 1) as u32;
            memory.merge(&reference::memory(part));
            for states in [&mut keeps, &mut forgets] {
                states.extend(&machine, to);
                states.learn(&machine, &memory, &mut WorkCounters::default());
            }
            let before = forgets.start();
            assert_eq!(forgets.drop_resolved(), forgets.start() - before);
            memory.forget_before(forgets.start());
            assert_eq!(forgets.resolved(), keeps.resolved());
            assert_eq!(forgets.resolved().unwrap().at, forgets.start());
            assert_eq!(forgets.verdict().map(|(verdict, _)| verdict), keeps.verdict().map(|found| found.0));
            assert!(forgets.open_obligations(&machine).eq(keeps.open_obligations(&machine)));
        }
        // Complete histories merge with shortened ones and vice versa.
        for (mut one, other) in [(keeps.clone(), &forgets), (forgets.clone(), &keeps)] {
            one.merge(&machine, other, &mut WorkCounters::default());
            assert_eq!(one.resolved(), keeps.resolved());
        }
        let mut late = States::new(&machine, 0);
        late.merge(&machine, &forgets, &mut WorkCounters::default());
        assert_eq!((late.resolved(), late.end()), (forgets.resolved(), forgets.end()));
    }
}

/// Observing the open obligations, the earliest first, resolves the state at the end, and no obligation occurs twice.
#[test]
fn observing_open_obligations_resolves_the_run() {
    for seed in 0..cases(1000) {
        let rng = Rng::new(seed);
        let machine = machine(&rng, 3);
        let length = 1 + rng.below(5);
        let run = run(&rng, 3, length);
        let mut states = States::new(&machine, 0);
        states.extend(&machine, length as u32);
        let mut memory = Memory::default();
        loop {
            let first = states.open_obligations(&machine).next();
            let Some(Obligation { at, atom: asked }) = first else { break };
            assert_eq!(memory.get(at, asked), None);
            assert!(states.open_obligations(&machine).is_sorted());
            let place = (0..3).find(|place| atom(*place) == asked).unwrap();
            memory.learn(at, asked, run[at as usize - 1][place]);
            states.learn(&machine, &memory, &mut WorkCounters::default());
        }
        let last = reference::states(&machine, &run)[length];
        assert_eq!(states.resolved().map(|known| (known.at, known.state)), Some((length as u32, last)));
    }
}

/// A reset history equals a new one.
#[test]
fn reset_history_equals_new_history() {
    for seed in 0..cases(300) {
        let rng = Rng::new(seed);
        let machine = machine(&rng, 2);
        let run = run(&rng, 2, 8);
        let all = reference::part(&rng, &run);
        let mut states = States::new(&machine, 0);
        states.extend(&machine, 1 + rng.below(5) as u32);
        states.learn(&machine, &all, &mut WorkCounters::default());
        let at = 1 + rng.below(6) as u32;
        states.reset(&machine, at);
        let mut fresh = States::new(&machine, at);
        for history in [&mut states, &mut fresh] {
            history.extend(&machine, 8);
            history.learn(&machine, &all, &mut WorkCounters::default());
        }
        assert_eq!(states, fresh);
    }
}

/// More states and atoms than bits in a word.
#[test]
fn automata_beyond_64_states_are_supported() {
    const WIDE: usize = 150;
    for seed in 0..cases(20) {
        let rng = Rng::new(seed);
        let states = 60 + rng.below(300);
        let edges = (0..states).map(|_| {
            let (one, two) = (atom(rng.below(WIDE / 2)), atom(WIDE / 2 + rng.below(WIDE / 2)));
            let to = rng.below(states);
            let edge = |step: usize, cube: &[(Atom, bool)]| Edge {
                to: ((to + step) % states) as u32,
                cubes: vec![cube.to_vec()],
            };
            vec![
                edge(0, &[(one, true), (two, true)]),
                edge(1, &[(one, true), (two, false)]),
                edge(2, &[(one, false)]),
            ]
        });
        let edges = edges.collect();
        let automaton = Automaton { initial: 0, verdicts: vec![Truth::Unknown; states], edges };
        let machine = Machine::new(automaton).unwrap();
        let run = run(&rng, WIDE, 6);
        let known = reference::part(&rng, &run);
        let mut history = States::new(&machine, 0);
        history.extend(&machine, 6);
        history.learn(&machine, &known, &mut WorkCounters::default());
        let mut possible = BTreeSet::from([0]);
        for at in 1..=6 {
            let can = |edge: &&Edge| {
                edge.cubes[0].iter().all(|(atom, value)| known.get(at, *atom).is_none_or(|is| is == *value))
            };
            let next = possible.iter().flat_map(|state| &machine.edges[*state as usize]).filter(can);
            possible = next.map(|edge| edge.to).collect();
            assert!(history.possible_at(at).eq(possible.iter().copied()), "case {seed}");
        }
        let all = memory(&seen(&rng, &run));
        history.learn(&machine, &all, &mut WorkCounters::default());
        assert_eq!(history.state(6), reference::states(&machine, &run).last().copied());
    }
}

/// The cost per instant does not depend on the delay, whereas expressions double.
#[test]
fn cost_and_size_depend_only_on_the_delay() {
    let machine = reference::monitor("G (a -> X (b U !a))");
    let mut sizes = Vec::new();
    for delay in [50, 100, 200] {
        let mut states = States::new(&machine, 0);
        let mut known = Memory::default();
        let mut work = WorkCounters::default();
        for at in 1..=delay {
            known.learn(at, atom(1), true);
            states.extend(&machine, at);
            states.learn(&machine, &known, &mut work);
            assert_eq!(states.resolved().unwrap().at, 0);
        }
        // A new observation affects only its own instant: two states at 1, three later.
        assert_eq!(work.evaluations, 2 + 3 * (u64::from(delay) - 1));
        sizes.push(states.size(&machine, &|_| 1));
        // The first instant resolves, and then all later ones can.
        known.learn(1, atom(0), true);
        (2..=delay).for_each(|at| known.learn(at, atom(0), true));
        assert_eq!(states.learn(&machine, &known, &mut work).unwrap().at, delay);
    }
    assert_eq!(sizes[2] - sizes[1], 2 * (sizes[1] - sizes[0]));
}
