//! Possible states against all runs that agree with what is known.

use crate::dice::{Dice, cases};
use crate::world::{self, atom, machine, memory, run, seen};
use invigil_decent::automaton::{Automaton, Edge, Machine};
use invigil_decent::encoding::{Encoding, States, Work};
use invigil_decent::memory::{Atom, Memory, Obligation};
use invigil_ltl::moore::{Truth, Verdict};
use std::collections::BTreeSet;

const ATOMS: usize = 2;

/// What can be possible, known and said of a run, from a list of the possible states.
fn agrees(states: &States, machine: &Machine, possible: &[BTreeSet<u32>]) {
    for (at, expected) in (0..).zip(possible) {
        assert!(states.possible_at(at).eq(expected.iter().copied()), "{at}: {expected:?} {states:?}");
        assert_eq!(states.state(at), world::single(expected));
    }
    let known = (0..).zip(possible).filter_map(|(at, states)| Some((at, world::single(states)?))).last();
    assert_eq!(states.resolved().map(|resolved| (resolved.at, resolved.state)), known);
    let verdict = |states: &BTreeSet<u32>| {
        let first = machine.verdict(*states.first()?);
        let agreed = states.iter().all(|state| machine.verdict(*state) == first);
        (first.is_final() && agreed).then_some(first)
    };
    assert_eq!(states.verdict(), (0..).zip(possible).find_map(|(at, states)| Some((verdict(states)?, at))));
}

#[test]
fn what_is_possible_is_what_some_run_does() {
    for seed in cases(1500) {
        let mut dice = Dice::new(seed);
        let machine = machine(&mut dice, ATOMS);
        let length = 1 + dice.below(4);
        let run = run(&mut dice, ATOMS, length);
        let all = seen(&mut dice, &run);
        let mut states = States::new(&machine, 0);
        let mut known = Memory::default();
        // Bit by bit, and going on at any time in between.
        for (at, atom, value) in &all {
            states.extend(&machine, dice.below(length + 1) as u32);
            known.learn(*at, *atom, *value);
            if dice.flip() {
                states.learn(&machine, &known, &mut Work::default());
            }
            if dice.below(3) == 0 {
                states.extend(&machine, length as u32);
                states.learn(&machine, &known, &mut Work::default());
                agrees(&states, &machine, &world::possible(&machine, &known, ATOMS, length));
            }
        }
        states.extend(&machine, length as u32);
        states.learn(&machine, &known, &mut Work::default());
        agrees(&states, &machine, &world::possible(&machine, &known, ATOMS, length));
        assert_eq!(states.state(length as u32), world::states(&machine, &run).last().copied());
        assert_eq!(states.open(&machine).next(), None);
    }
}

#[test]
fn a_merge_knows_what_both_memories_tell_together() {
    for seed in cases(1500) {
        let mut dice = Dice::new(seed);
        let machine = machine(&mut dice, ATOMS);
        let length = 1 + dice.below(4);
        let run = run(&mut dice, ATOMS, length);
        let memories = [(); 2].map(|()| world::part(&mut dice, &run));
        let [mut here, there] = [0, 1].map(|side: usize| {
            let mut states = States::new(&machine, 0);
            states.extend(&machine, if side == 0 { dice.below(length + 1) } else { length } as u32);
            states.learn(&machine, &memories[side], &mut Work::default());
            states
        });
        here.merge(&machine, &there, &mut Work::default());
        // What was observed of instants that were not reached yet is told again.
        here.learn(&machine, &memories[0], &mut Work::default());
        let mut both = memories[0].clone();
        both.merge(&memories[1]);
        agrees(&here, &machine, &world::possible(&machine, &both, ATOMS, length));
        let once = here.clone();
        here.merge(&machine, &there, &mut Work::default());
        here.merge(&machine, &once, &mut Work::default());
        assert_eq!(here, once, "case {seed}");
    }
}

/// Those who forget what they need no more find out the same as those who keep everything.
#[test]
fn nothing_is_lost_by_forgetting() {
    for seed in cases(1500) {
        let mut dice = Dice::new(seed);
        let machine = machine(&mut dice, 3);
        let length = 2 + dice.below(5);
        let run = run(&mut dice, 3, length);
        let all = seen(&mut dice, &run);
        let (mut keeps, mut forgets) = (States::new(&machine, 0), States::new(&machine, 0));
        let mut memory = Memory::default();
        for part in all.chunks(1 + dice.below(4)) {
            let to = dice.below(length + 1) as u32;
            memory.merge(&world::memory(part));
            for states in [&mut keeps, &mut forgets] {
                states.extend(&machine, to);
                states.learn(&machine, &memory, &mut Work::default());
            }
            let before = forgets.start();
            assert_eq!(forgets.drop_resolved(), forgets.start() - before);
            memory.forget_before(forgets.start());
            assert_eq!(forgets.resolved(), keeps.resolved());
            assert_eq!(forgets.resolved().unwrap().at, forgets.start());
            assert_eq!(forgets.verdict().map(|(verdict, _)| verdict), keeps.verdict().map(|found| found.0));
            assert!(forgets.open(&machine).eq(keeps.open(&machine)));
        }
        // Who comes from afar is understood by who has forgotten, and the other way round.
        for (mut one, other) in [(keeps.clone(), &forgets), (forgets.clone(), &keeps)] {
            one.merge(&machine, other, &mut Work::default());
            assert_eq!(one.resolved(), keeps.resolved());
        }
        let mut late = States::new(&machine, 0);
        late.merge(&machine, &forgets, &mut Work::default());
        assert_eq!((late.resolved(), late.end()), (forgets.resolved(), forgets.end()));
    }
}

/// To learn what is asked for, the earliest first, ends with the state at the end, and nothing is asked twice.
#[test]
fn what_is_open_leads_to_the_end() {
    for seed in cases(1000) {
        let mut dice = Dice::new(seed);
        let machine = machine(&mut dice, 3);
        let length = 1 + dice.below(5);
        let run = run(&mut dice, 3, length);
        let mut states = States::new(&machine, 0);
        states.extend(&machine, length as u32);
        let mut memory = Memory::default();
        loop {
            let first = states.open(&machine).next();
            let Some(Obligation { at, atom: asked }) = first else { break };
            assert_eq!(memory.get(at, asked), None);
            assert!(states.open(&machine).is_sorted());
            let place = (0..3).find(|place| atom(*place) == asked).unwrap();
            memory.learn(at, asked, run[at as usize - 1][place]);
            states.learn(&machine, &memory, &mut Work::default());
        }
        let last = world::states(&machine, &run)[length];
        assert_eq!(states.resolved().map(|known| (known.at, known.state)), Some((length as u32, last)));
    }
}

/// As if nothing had been.
#[test]
fn a_run_can_begin_again() {
    for seed in cases(300) {
        let mut dice = Dice::new(seed);
        let machine = machine(&mut dice, 2);
        let run = run(&mut dice, 2, 8);
        let all = world::part(&mut dice, &run);
        let mut states = States::new(&machine, 0);
        states.extend(&machine, 1 + dice.below(5) as u32);
        states.learn(&machine, &all, &mut Work::default());
        let at = 1 + dice.below(6) as u32;
        states.reset(&machine, at);
        let mut fresh = States::new(&machine, at);
        for history in [&mut states, &mut fresh] {
            history.extend(&machine, 8);
            history.learn(&machine, &all, &mut Work::default());
        }
        assert_eq!(states, fresh);
    }
}

/// More states and atoms than bits in a word.
#[test]
fn large_automata_take_several_words() {
    const WIDE: usize = 150;
    for seed in cases(20) {
        let mut dice = Dice::new(seed);
        let states = 60 + dice.below(300);
        let edges = (0..states).map(|_| {
            let (one, two) = (atom(dice.below(WIDE / 2)), atom(WIDE / 2 + dice.below(WIDE / 2)));
            let to = dice.below(states);
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
        let run = run(&mut dice, WIDE, 6);
        let known = world::part(&mut dice, &run);
        let mut history = States::new(&machine, 0);
        history.extend(&machine, 6);
        history.learn(&machine, &known, &mut Work::default());
        let mut possible = BTreeSet::from([0]);
        for at in 1..=6 {
            let can = |edge: &&Edge| {
                edge.cubes[0].iter().all(|(atom, value)| known.get(at, *atom).is_none_or(|is| is == *value))
            };
            let next = possible.iter().flat_map(|state| &machine.edges[*state as usize]).filter(can);
            possible = next.map(|edge| edge.to).collect();
            assert!(history.possible_at(at).eq(possible.iter().copied()), "case {seed}");
        }
        let all = memory(&seen(&mut dice, &run));
        history.learn(&machine, &all, &mut Work::default());
        assert_eq!(history.state(6), world::states(&machine, &run).last().copied());
    }
}

/// However late something comes, an instant costs the same, where expressions double.
#[test]
fn cost_and_size_grow_with_the_delay_alone() {
    let machine = world::monitor("G (a -> X (b U !a))");
    let mut sizes = Vec::new();
    for delay in [50, 100, 200] {
        let mut states = States::new(&machine, 0);
        let mut known = Memory::default();
        let mut work = Work::default();
        for at in 1..=delay {
            known.learn(at, atom(1), true);
            states.extend(&machine, at);
            states.learn(&machine, &known, &mut work);
            assert_eq!(states.resolved().unwrap().at, 0);
        }
        // Each new observation is looked at where it was made, and nowhere else: two states at 1, three later.
        assert_eq!(work.evaluations, 2 + 3 * (u64::from(delay) - 1));
        sizes.push(states.size(&machine, &|_| 1));
        // The first instant decides, and then all that follow can.
        known.learn(1, atom(0), true);
        (2..=delay).for_each(|at| known.learn(at, atom(0), true));
        assert_eq!(states.learn(&machine, &known, &mut work).unwrap().at, delay);
    }
    assert_eq!(sizes[2] - sizes[1], 2 * (sizes[1] - sizes[0]));
}
