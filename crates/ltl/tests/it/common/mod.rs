//! Random formulae, words and automata, and reference implementations.

pub(crate) mod formula_text;
pub(crate) mod machine_form;
pub(crate) mod random_automata;
pub(crate) mod reference;

use invigil_ltl::Formula;
use invigil_ltl::formula::{Atom, Formulae, Proposition};
use invigil_ltl::word::{Lasso, Letter};
use invigil_test_support::Rng;

/// Creates the atoms `a`, `b`, and so on.
pub(crate) fn atoms(formulae: &mut Formulae, count: usize) -> Vec<Atom> {
    (0..count)
        .map(|at| formulae.atom_for(Proposition::Name(char::from(b'a' + at as u8).to_string())))
        .collect()
}

/// Generates a formula of up to `size` nodes.
pub(crate) fn random_formula(
    rng: &Rng,
    formulae: &mut Formulae,
    atoms: &[Atom],
    size: usize,
    past: bool,
) -> Formula {
    if size <= 1 {
        return match rng.below(12) {
            0 => Formula::TRUE,
            1 => Formula::FALSE,
            _ => {
                let atom = atoms[rng.below(atoms.len())];
                formulae.atom(atom).unwrap()
            }
        };
    }
    let operators = if past { 17 } else { 11 };
    let operator = rng.below(operators);
    // One operand or two.
    if size == 2 || matches!(operator, 0..=3 | 11..=14) {
        let a = random_formula(rng, formulae, atoms, size - 1, past);
        return match operator {
            1 | 5 => formulae.next(a),
            2 | 6 => formulae.finally(a),
            3 | 7 => formulae.globally(a),
            11 => formulae.yesterday(a),
            12 => formulae.weak_yesterday(a),
            13 => formulae.once(a),
            14 => formulae.historically(a),
            _ => formulae.not(a),
        }
        .unwrap();
    }
    let left = 1 + rng.below(size - 2);
    let a = random_formula(rng, formulae, atoms, left, past);
    let b = random_formula(rng, formulae, atoms, size - 1 - left, past);
    match operator {
        4 | 5 => formulae.and([a, b]),
        6 => formulae.or([a, b]),
        7 => formulae.until(a, b),
        8 => formulae.release(a, b),
        9 => formulae.weak_until(a, b),
        10 => formulae.strong_release(a, b),
        15 => formulae.since(a, b),
        _ => formulae.triggered(a, b),
    }
    .unwrap()
}

/// Generates a word with a prefix of up to four letters and a cycle of one to four.
pub(crate) fn random_lasso(rng: &Rng, atoms: &[Atom]) -> Lasso {
    let (before, cycle) = (rng.below(5), 1 + rng.below(4));
    let letters = |count: usize| {
        (0..count).map(|_| atoms.iter().copied().filter(|_| rng.below(2) == 0).collect::<Letter>()).collect()
    };
    Lasso { prefix: letters(before), cycle: letters(cycle) }
}
