//! Random formulae and words.
#![allow(dead_code)]

pub(crate) mod random;

use invigil_ltl::Formula;
use invigil_ltl::formula::{Atom, Formulae, Proposition};
use invigil_ltl::word::{Lasso, Letter};

/// A small generator of numbers (xorshift), the same on every machine.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Dice {
        Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % limit
    }
}

/// The atoms `a`, `b`, …
pub(crate) fn atoms(formulae: &mut Formulae, count: usize) -> Vec<Atom> {
    (0..count)
        .map(|at| formulae.atom_for(Proposition::Name(char::from(b'a' + at as u8).to_string())))
        .collect()
}

/// A formula of up to `size` nodes.
pub(crate) fn formula(
    dice: &mut Dice,
    formulae: &mut Formulae,
    atoms: &[Atom],
    size: usize,
    past: bool,
) -> Formula {
    if size <= 1 {
        return match dice.below(12) {
            0 => Formula::TRUE,
            1 => Formula::FALSE,
            _ => {
                let atom = atoms[dice.below(atoms.len())];
                formulae.atom(atom).unwrap()
            }
        };
    }
    let kinds = if past { 17 } else { 11 };
    let kind = dice.below(kinds);
    // One part, or two.
    if size == 2 || matches!(kind, 0..=3 | 11..=14) {
        let a = formula(dice, formulae, atoms, size - 1, past);
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
    let left = 1 + dice.below(size - 2);
    let a = formula(dice, formulae, atoms, left, past);
    let b = formula(dice, formulae, atoms, size - 1 - left, past);
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
pub(crate) fn lasso(dice: &mut Dice, atoms: &[Atom]) -> Lasso {
    let (before, cycle) = (dice.below(5), 1 + dice.below(4));
    let mut letters = |count: usize| {
        (0..count).map(|_| atoms.iter().copied().filter(|_| dice.below(2) == 0).collect::<Letter>()).collect()
    };
    Lasso { prefix: letters(before), cycle: letters(cycle) }
}
