//! Random formulae and words.

pub(crate) mod definition;
pub(crate) mod form;
pub(crate) mod random;
pub(crate) mod read;

use invigil_ltl::Formula;
use invigil_ltl::formula::{Atom, Formulae, Proposition};
use invigil_ltl::word::{Lasso, Letter};
use invigil_test_support::Rng;

/// The atoms `a`, `b`, …
pub(crate) fn atoms(formulae: &mut Formulae, count: usize) -> Vec<Atom> {
    (0..count)
        .map(|at| formulae.atom_for(Proposition::Name(char::from(b'a' + at as u8).to_string())))
        .collect()
}

/// A formula of up to `size` nodes.
pub(crate) fn formula(
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
    let kinds = if past { 17 } else { 11 };
    let kind = rng.below(kinds);
    // One part, or two.
    if size == 2 || matches!(kind, 0..=3 | 11..=14) {
        let a = formula(rng, formulae, atoms, size - 1, past);
        return match kind {
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
    let a = formula(rng, formulae, atoms, left, past);
    let b = formula(rng, formulae, atoms, size - 1 - left, past);
    match kind {
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

/// A word with a beginning of up to four letters and a cycle of one to four.
pub(crate) fn lasso(rng: &Rng, atoms: &[Atom]) -> Lasso {
    let (before, cycle) = (rng.below(5), 1 + rng.below(4));
    let letters = |count: usize| {
        (0..count).map(|_| atoms.iter().copied().filter(|_| rng.below(2) == 0).collect::<Letter>()).collect()
    };
    Lasso { prefix: letters(before), cycle: letters(cycle) }
}
