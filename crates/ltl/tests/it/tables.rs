//! Tables run as the machines that they are made of.

use crate::common::read::read;
use crate::common::{atoms, formula};
use invigil_ltl::formula::{Atom, Proposition};
use invigil_ltl::moore::{Moore, Truth};
use invigil_ltl::table::{Table, Tables};
use invigil_ltl::word::Letter;
use invigil_ltl::{Budget, Logic};
use invigil_test_support::{Rng, cases};

fn letter(atoms: &[Atom], bits: u64) -> Letter {
    (0..atoms.len()).filter(|at| bits >> at & 1 == 1).map(|at| atoms[at]).collect()
}

fn compare(rng: &Rng, logic: &Logic, machine: &Moore<Truth>, atoms: &[Atom]) {
    let table = Table::new(&logic.labels, machine, atoms).unwrap();
    assert_eq!(table.states(), machine.states());
    for _ in 0..20 {
        let density = 1 + rng.below(3);
        let bits = || (0..density).fold(u64::MAX, |all, _| all & rng.next_u64());
        let word: Vec<u64> = (0..30).map(|_| bits()).collect();
        let (mut state, mut walked) = (machine.initial, table.start());
        let mut decided = None;
        for (at, bits) in word.iter().enumerate() {
            state = machine.next(&logic.labels, state, &letter(atoms, *bits));
            walked = table.step(walked, *bits);
            assert_eq!(table.output(walked), *machine.output(state));
            assert_eq!(table.is_decided(walked), *machine.output(state) != Truth::Unknown);
            if table.is_decided(walked) {
                decided = decided.or(Some(at));
            }
        }
        let mut ran = table.start();
        assert_eq!(table.run(&mut ran, &word), decided);
        assert_eq!(table.output(ran), table.output(walked));
    }
}

#[test]
fn few_atoms() {
    let rng = Rng::new(11);
    let mut logic = Logic::new(Budget::default());
    for _ in 0..cases(100) {
        let atoms = atoms(&mut logic.formulae, 4);
        let size = 1 + rng.below(12);
        let formula = formula(&rng, &mut logic.formulae, &atoms, size, false);
        let machine = logic.monitor(formula).unwrap();
        compare(&rng, &logic, &machine, &atoms);
        // The same atoms at distant places.
        let mut wide: Vec<Atom> =
            (0..60).map(|at| logic.formulae.atom_for(Proposition::Name(format!("w{at}")))).collect();
        for atom in &atoms {
            wide.insert(rng.below(wide.len()), *atom);
        }
        compare(&rng, &logic, &machine, &wide);
    }
}

#[test]
fn many_atoms() {
    let rng = Rng::new(12);
    for text in [
        // Few classes: everything of a side is alike.
        "G((a1 | a2 | a3 | a4 | a5 | a6 | a7 | a8) -> X (b1 & b2 & b3 & b4 & b5 & b6 & b7))",
        // As many classes as there are letters: too many for rows.
        "G((s1 -> X l1) & (s2 -> X l2) & (s3 -> X l3) & (s4 -> X l4) & (s5 -> X l5) & (s6 -> X l6) & (s7 -> X l7))",
    ] {
        let mut logic = Logic::new(Budget::default());
        let formula = read(&mut logic.formulae, text);
        let machine = logic.monitor(formula).unwrap();
        let atoms = machine.atoms(&logic.labels);
        compare(&rng, &logic, &machine, &atoms);
        let composite = logic.composite(formula).unwrap();
        let tables = Tables::new(&logic.labels, &composite, &atoms).unwrap();
        let (mut running, mut state) = (tables.start(), machine.initial);
        for _ in 0..1000 {
            let bits = (rng.below(1 << 16) | rng.below(1 << 16)) as u64;
            tables.step(&mut running, bits);
            state = machine.next(&logic.labels, state, &letter(&atoms, bits));
            assert_eq!(running.output(), Some(*machine.output(state)));
            if *machine.output(state) != Truth::Unknown {
                (running, state) = (tables.start(), machine.initial);
            }
        }
    }
}

#[test]
fn too_many_atoms() {
    let mut logic = Logic::new(Budget::default());
    let atoms: Vec<Atom> =
        (0..65).map(|at| logic.formulae.atom_for(Proposition::Name(format!("a{at}")))).collect();
    let machine = Moore::constant(&logic.labels, Truth::True);
    assert!(Table::new(&logic.labels, &machine, &atoms).is_err());
}
