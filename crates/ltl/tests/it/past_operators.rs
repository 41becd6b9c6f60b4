//! Past monitors against the semantics of every operator.

use crate::common::atoms;
use invigil_ltl::formula::{Atom, Formulae, Node, Proposition};
use invigil_ltl::moore::Truth;
use invigil_ltl::past::PastMonitor;
use invigil_ltl::word::Letter;
use invigil_ltl::{Budget, Formula, Logic};
use invigil_test_support::{Rng, cases};

/// Reference semantics: the values of a formula at all positions of a word.
fn values(formulae: &Formulae, formula: Formula, word: &[Letter]) -> Vec<bool> {
    let parts = formulae.subformulae(formula);
    let mut known: Vec<Vec<bool>> = Vec::new();
    for part in &parts {
        let mut found: Vec<bool> = Vec::new();
        for at in 0..word.len() {
            let of = |part: &Formula| known[parts.binary_search(part).unwrap()][at];
            let since = |from: &Formula| &known[parts.binary_search(from).unwrap()][..=at];
            let value = match formulae.node(*part) {
                Node::False => false,
                Node::True => true,
                Node::Atom(atom) => word[at].has(*atom),
                Node::Not(a) => !of(a),
                Node::And(all) => all.iter().all(of),
                Node::Or(all) => all.iter().any(of),
                Node::Yesterday(a) => at > 0 && since(a)[at - 1],
                Node::WeakYesterday(a) => at == 0 || since(a)[at - 1],
                Node::Once(a) => since(a).contains(&true),
                Node::Historically(a) => !since(a).contains(&false),
                Node::Since([a, b]) => {
                    (0..=at).any(|then| since(b)[then] && !since(a)[then + 1..].contains(&false))
                }
                Node::Triggered([a, b]) => {
                    (0..=at).all(|then| since(b)[then] || since(a)[then + 1..].contains(&true))
                }
                other => panic!("{other:?} is not a past operator"),
            };
            found.push(value);
        }
        known.push(found);
    }
    known.pop().unwrap()
}

/// Generates a formula of `size` operators without future operators.
fn random_past_formula(rng: &Rng, formulae: &mut Formulae, atoms: &[Atom], size: usize) -> Formula {
    let mut all: Vec<Formula> = atoms.iter().map(|atom| formulae.atom(*atom).unwrap()).collect();
    for count in 0..size {
        // Prefer recent operands, so that the last formula contains most others.
        let pick = || {
            if rng.below(3) == 0 {
                all[rng.below(all.len())]
            } else {
                all[all.len() - 1 - rng.below(all.len().min(3))]
            }
        };
        let (a, b) = (pick(), pick());
        let next = match rng.below(if count == 0 { 9 } else { 10 }) {
            0 => formulae.not(a),
            1 => formulae.and([a, b]),
            2 => formulae.or([a, b]),
            3 => formulae.yesterday(a),
            4 => formulae.weak_yesterday(a),
            5 => formulae.once(a),
            6 => formulae.historically(a),
            7 => formulae.triggered(a, b),
            _ => formulae.since(a, b),
        };
        all.push(next.unwrap());
    }
    all[all.len() - 1]
}

fn word(rng: &Rng, atoms: &[Atom], length: usize) -> Vec<Letter> {
    let density = 2 + rng.below(5);
    (0..length).map(|_| atoms.iter().copied().filter(|_| rng.below(density) == 0).collect()).collect()
}

fn bits(past: &PastMonitor, letter: &Letter) -> Vec<u64> {
    let mut words = vec![0; past.atoms().len().div_ceil(64)];
    for (at, atom) in past.atoms().iter().enumerate() {
        words[at / 64] |= u64::from(letter.has(*atom)) << (at % 64);
    }
    words
}

#[test]
fn single_letters_and_blocks_agree_with_semantics() {
    let rng = Rng::new(7);
    let mut logic = Logic::new(Budget::default());
    for case in 0..cases(300) {
        if case % 50 == 0 {
            logic = Logic::new(Budget::default());
        }
        let count = 1 + rng.below(4);
        let atoms = atoms(&mut logic.formulae, count);
        let size = rng.below(if case % 10 == 0 { 400 } else { 20 });
        let formula = random_past_formula(&rng, &mut logic.formulae, &atoms, size);
        let word = word(&rng, &atoms, 200);
        let expected = values(&logic.formulae, formula, &word);
        let past = PastMonitor::new(&logic.formulae, formula).unwrap();
        let mut state = past.start();
        let mut at = 0;
        while at < word.len() {
            // Single letters and blocks share the state.
            if rng.below(2) == 0 {
                assert_eq!(past.step(&mut state, &bits(&past, &word[at])), expected[at]);
                at += 1;
            } else {
                let count = (1 + rng.below(64)).min(word.len() - at);
                let column =
                    |atom: &Atom| (0..count).fold(0, |all, n| all | u64::from(word[at + n].has(*atom)) << n);
                let columns: Vec<u64> = past.atoms().iter().map(column).collect();
                let found = past.step_block(&mut state, &columns, count);
                assert!((0..count).all(|n| (found >> n & 1 == 1) == expected[at + n]));
                at += count;
            }
        }
    }
}

/// `G a` stays false, and the exact monitor decides at least as early.
#[test]
fn globally_of_past_formula_stays_false() {
    let rng = Rng::new(8);
    let mut logic = Logic::new(Budget::default());
    for _ in 0..cases(100) {
        let atoms = atoms(&mut logic.formulae, 2);
        let size = 1 + rng.below(6);
        let body = random_past_formula(&rng, &mut logic.formulae, &atoms, size);
        let always = logic.formulae.globally(body).unwrap();
        let past = PastMonitor::new(&logic.formulae, always).unwrap();
        assert!(past.is_always());
        let word = word(&rng, &atoms, 40);
        let expected = values(&logic.formulae, body, &word);
        let monitor = logic.monitor(always).unwrap();
        let (mut state, mut exact) = (past.start(), monitor.initial);
        for (at, letter) in word.iter().enumerate() {
            let held = past.step(&mut state, &bits(&past, letter));
            assert_eq!(held, !expected[..=at].contains(&false));
            assert_eq!(past.truth(&state) == Truth::False, !held);
            exact = monitor.next(&logic.labels, exact, letter);
            assert!(held || *monitor.output(exact) == Truth::False);
        }
    }
}

#[test]
fn many_atoms_use_several_words() {
    let mut logic = Logic::new(Budget::default());
    let atoms: Vec<Atom> =
        (0..200).map(|at| logic.formulae.atom_for(Proposition::Name(format!("a{at}")))).collect();
    let mut all = Vec::new();
    for atom in &atoms {
        let atom = logic.formulae.atom(*atom).unwrap();
        all.push(logic.formulae.once(atom).unwrap());
    }
    let formula = logic.formulae.and(all).unwrap();
    let past = PastMonitor::new(&logic.formulae, formula).unwrap();
    assert_eq!((past.atoms(), past.memories()), (&atoms[..], 200));
    let mut state = past.start();
    for at in 0..200 {
        let held = past.step(&mut state, &bits(&past, &[atoms[199 - at]].into_iter().collect()));
        assert_eq!(held, at == 199);
    }
}

#[test]
fn future_operators_are_rejected() {
    let mut logic = Logic::new(Budget::default());
    let a = logic.formulae.name("a").unwrap();
    let later = logic.formulae.finally(a).unwrap();
    let mixed = logic.formulae.once(later).unwrap();
    assert_eq!(PastMonitor::new(&logic.formulae, mixed).unwrap_err().part, later);
    assert!(
        PastMonitor::new(&logic.formulae, later)
            .unwrap_err()
            .to_string()
            .starts_with("the formula looks ahead")
    );
}
