//! Transition tables against their machines.

use crate::common::formula_text::parse;
use crate::common::{atoms, random_formula};
use invigil_ltl::formula::{Atom, Proposition};
use invigil_ltl::moore::{Moore, Truth};
use invigil_ltl::table::{CompositeTable, TransitionTable};
use invigil_ltl::word::Letter;
use invigil_ltl::{Budget, Logic};
use invigil_test_support::{Rng, cases};

fn letter(atoms: &[Atom], bits: u64) -> Letter {
    (0..atoms.len()).filter(|at| bits >> at & 1 == 1).map(|at| atoms[at]).collect()
}

fn check_table(rng: &Rng, logic: &Logic, machine: &Moore<Truth>, atoms: &[Atom]) {
    let table = TransitionTable::new(&logic.labels, machine, atoms).unwrap();
    assert_eq!(table.states(), machine.states());
    for _ in 0..20 {
        let density = 1 + rng.below(3);
        let bits = || (0..density).fold(u64::MAX, |all, _| all & rng.next_u64());
        let word: Vec<u64> = (0..30).map(|_| bits()).collect();
        let (mut state, mut stepped) = (machine.initial, table.start());
        let mut decided = None;
        for (at, bits) in word.iter().enumerate() {
            state = machine.next(&logic.labels, state, &letter(atoms, *bits));
            stepped = table.step(stepped, *bits);
            assert_eq!(table.output(stepped), *machine.output(state));
            assert_eq!(table.is_decided(stepped), *machine.output(state) != Truth::Unknown);
            if table.is_decided(stepped) {
                decided = decided.or(Some(at));
            }
        }
        let mut after_run = table.start();
        assert_eq!(table.run(&mut after_run, &word), decided);
        assert_eq!(table.output(after_run), table.output(stepped));
    }
}

#[test]
fn dense_tables_agree_with_machines() {
    let rng = Rng::new(11);
    let mut logic = Logic::new(Budget::default());
    for _ in 0..cases(100) {
        let atoms = atoms(&mut logic.formulae, 4);
        let size = 1 + rng.below(12);
        let formula = random_formula(&rng, &mut logic.formulae, &atoms, size, false);
        let machine = logic.monitor(formula).unwrap();
        check_table(&rng, &logic, &machine, &atoms);
        // The same atoms at distant bits.
        let mut wide: Vec<Atom> =
            (0..60).map(|at| logic.formulae.atom_for(Proposition::Name(format!("w{at}")))).collect();
        for atom in &atoms {
            wide.insert(rng.below(wide.len()), *atom);
        }
        check_table(&rng, &logic, &machine, &wide);
    }
}

#[test]
fn class_tables_and_decision_graphs_agree_with_machines() {
    let rng = Rng::new(12);
    for text in [
        // Few classes: the atoms of each side are interchangeable.
        "G((a1 | a2 | a3 | a4 | a5 | a6 | a7 | a8) -> X (b1 & b2 & b3 & b4 & b5 & b6 & b7))",
        // As many classes as letters: too many for a table.
        "G((s1 -> X l1) & (s2 -> X l2) & (s3 -> X l3) & (s4 -> X l4) & (s5 -> X l5) & (s6 -> X l6) & (s7 -> X l7))",
    ] {
        let mut logic = Logic::new(Budget::default());
        let formula = parse(&mut logic.formulae, text);
        let machine = logic.monitor(formula).unwrap();
        let atoms = machine.atoms(&logic.labels);
        check_table(&rng, &logic, &machine, &atoms);
        let composite = logic.composite(formula).unwrap();
        let tables = CompositeTable::new(&logic.labels, &composite, &atoms).unwrap();
        let (mut composite_state, mut state) = (tables.start(), machine.initial);
        for _ in 0..1000 {
            let bits = (rng.below(1 << 16) | rng.below(1 << 16)) as u64;
            tables.step(&mut composite_state, bits);
            state = machine.next(&logic.labels, state, &letter(&atoms, bits));
            assert_eq!(composite_state.output(), Some(*machine.output(state)));
            if *machine.output(state) != Truth::Unknown {
                (composite_state, state) = (tables.start(), machine.initial);
            }
        }
    }
}

#[test]
fn too_many_atoms_fail() {
    let mut logic = Logic::new(Budget::default());
    let atoms: Vec<Atom> =
        (0..65).map(|at| logic.formulae.atom_for(Proposition::Name(format!("a{at}")))).collect();
    let machine = Moore::constant(&logic.labels, Truth::True);
    assert!(TransitionTable::new(&logic.labels, &machine, &atoms).is_err());
}
