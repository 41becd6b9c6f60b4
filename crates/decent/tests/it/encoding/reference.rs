//! Random automata, runs and memories, and reference implementations by definition.

use invigil_decent::automaton::{Automaton, Machine, State};
use invigil_decent::memory::{Atom, Memory};
use invigil_decent::system::{Instant, PropositionId};
use invigil_ltl::formula::{Atom as Name, Formulae, Proposition};
use invigil_ltl::label::Variable;
use invigil_ltl::moore::{Moore, Truth};
use invigil_ltl::{Budget, Formula, Logic};
use invigil_test_support::Rng;
use std::collections::BTreeSet;

/// Values of all atoms at 1, 2, …
pub(crate) type Run = Vec<Vec<bool>>;

pub(crate) fn atom(place: usize) -> Atom {
    Atom::Observed(PropositionId(place as u32))
}

/// Maps the propositions `a`, `b`, … to the atoms 0, 1, …
fn meaning(name: &Proposition) -> Option<Atom> {
    match name {
        Proposition::Name(name) => Some(atom(usize::from(name.as_bytes()[0] - b'a'))),
        _ => None,
    }
}

fn names(formulae: &mut Formulae, count: usize) -> Vec<Name> {
    (0..count)
        .map(|at| formulae.atom_for(Proposition::Name(char::from(b'a' + at as u8).to_string())))
        .collect()
}

/// Monitor of a formula over `a`, `b`, …
pub(crate) fn monitor(formula: &str) -> Machine {
    let mut logic = Logic::new(Budget::default());
    let formula = logic.parse(formula).unwrap();
    let made = logic.monitor(formula).unwrap();
    Machine::new(Automaton::of(&logic, &made, meaning).unwrap()).unwrap()
}

/// Automaton over `atoms` atoms: the monitor of a formula, or a random one.
pub(crate) fn machine(rng: &Rng, atoms: usize) -> Machine {
    let mut logic = Logic::new(Budget { nodes: 1 << 18, ..Budget::default() });
    let names = names(&mut logic.formulae, atoms);
    let made = if rng.flip() {
        let size = 2 + rng.below(8);
        let formula = formula(rng, &mut logic.formulae, &names, size);
        logic.monitor(formula).unwrap()
    } else {
        moore(rng, &mut logic, &names)
    };
    Machine::new(Automaton::of(&logic, &made, meaning).unwrap()).unwrap()
}

fn formula(rng: &Rng, formulae: &mut Formulae, names: &[Name], size: usize) -> Formula {
    if size <= 1 {
        return formulae.atom(names[rng.below(names.len())]).unwrap();
    }
    let kind = rng.below(8);
    if size == 2 || kind < 4 {
        let part = formula(rng, formulae, names, size - 1);
        return match kind % 4 {
            0 => formulae.not(part),
            1 => formulae.next(part),
            2 => formulae.finally(part),
            _ => formulae.globally(part),
        }
        .unwrap();
    }
    let left = 1 + rng.below(size - 2);
    let parts = [left, size - 1 - left].map(|size| formula(rng, formulae, names, size));
    match kind {
        4 => formulae.and(parts),
        5 => formulae.or(parts),
        6 => formulae.until(parts[0], parts[1]),
        _ => formulae.release(parts[0], parts[1]),
    }
    .unwrap()
}

/// Random successors for every letter; final states are absorbing.
fn moore(rng: &Rng, logic: &mut Logic, names: &[Name]) -> Moore<Truth> {
    let states = 2 + rng.below(4);
    let outputs: Vec<Truth> = (0..states)
        .map(|_| match rng.below(6) {
            0 => Truth::False,
            1 => Truth::True,
            _ => Truth::Unknown,
        })
        .collect();
    let mut edges = Vec::new();
    for (state, output) in outputs.iter().enumerate() {
        let mut labels = vec![logic.labels.bottom(); states];
        // With few targets, labels have several letters.
        let targets = 1 + rng.below(states);
        for letter in 0..1_usize << names.len() {
            let cube: Vec<_> = names
                .iter()
                .enumerate()
                .map(|(at, name)| (Variable::Atom(*name), letter >> at & 1 == 1))
                .collect();
            let target = match output {
                Truth::Unknown => (state + rng.below(targets)) % states,
                _ => state,
            };
            let cube = logic.labels.cube(&cube).unwrap();
            labels[target] = logic.labels.or(&labels[target], &cube).unwrap();
        }
        let some = labels.into_iter().zip(0..).filter(|(label, _)| !label.is_false());
        edges.push(some.collect());
    }
    Moore { initial: rng.below(states) as u32, outputs, edges }
}

pub(crate) fn run(rng: &Rng, atoms: usize, length: usize) -> Run {
    (0..length).map(|_| (0..atoms).map(|_| rng.flip()).collect()).collect()
}

/// All observations of a run, in any order.
pub(crate) fn seen(rng: &Rng, run: &Run) -> Vec<(Instant, Atom, bool)> {
    let of_instant = |(at, values): (Instant, &Vec<bool>)| {
        values.iter().enumerate().map(|(place, value)| (at, atom(place), *value)).collect::<Vec<_>>()
    };
    let mut all: Vec<_> = (1..).zip(run).flat_map(of_instant).collect();
    rng.shuffle(&mut all);
    all
}

pub(crate) fn memory<'a>(seen: impl IntoIterator<Item = &'a (Instant, Atom, bool)>) -> Memory {
    let mut memory = Memory::default();
    for (at, atom, value) in seen {
        memory.learn(*at, *atom, *value);
    }
    memory
}

/// Random subset of the observations.
pub(crate) fn part(rng: &Rng, run: &Run) -> Memory {
    let all = seen(rng, run);
    let count = rng.below(all.len() + 1);
    memory(&all[..count])
}

/// States at 0, 1, … by the definition of a run.
pub(crate) fn states(machine: &Machine, run: &Run) -> Vec<State> {
    let mut states = vec![machine.initial];
    for values in run {
        let value = |atom: Atom| match atom {
            Atom::Observed(id) => Some(values[id.index()]),
            Atom::Verdict(_) => None,
        };
        states.push(machine.next(states[states.len() - 1], value));
    }
    states
}

/// Possible states at 0, 1, … for a memory: those of all runs that agree with it.
pub(crate) fn possible(
    machine: &Machine,
    memory: &Memory,
    atoms: usize,
    length: usize,
) -> Vec<BTreeSet<State>> {
    let places: Vec<(usize, usize)> = (0..length)
        .flat_map(|at| (0..atoms).map(move |place| (at, place)))
        .filter(|(at, place)| memory.get(*at as Instant + 1, atom(*place)).is_none())
        .collect();
    let mut run: Run = (1..=length as Instant)
        .map(|at| (0..atoms).map(|place| memory.get(at, atom(place)).unwrap_or_default()).collect())
        .collect();
    let mut found = vec![BTreeSet::new(); length + 1];
    for bits in 0..1_usize << places.len() {
        for (bit, (at, place)) in places.iter().enumerate() {
            run[*at][*place] = bits >> bit & 1 == 1;
        }
        for (found, state) in found.iter_mut().zip(states(machine, &run)) {
            found.insert(state);
        }
    }
    found
}

/// Returns the only element.
pub(crate) fn single(states: &BTreeSet<State>) -> Option<State> {
    states.first().filter(|_| states.len() == 1).copied()
}
