//! Bounded operators against direct counting of positions.

use crate::common::{atoms, random_lasso};
use invigil_ltl::Budget;
use invigil_ltl::formula::Formulae;
use invigil_ltl::word::Lasso;
use invigil_test_support::{Rng, cases};

/// Whether atom number `number` holds at a position.
fn holds(word: &Lasso, formulae: &Formulae, number: usize, at: usize) -> bool {
    let letter = match at.checked_sub(word.prefix.len()) {
        None => &word.prefix[at],
        Some(at) => &word.cycle[at % word.cycle.len()],
    };
    formulae.atoms().nth(number).is_some_and(|(atom, _)| letter.has(atom))
}

#[test]
fn bounded_operators_count_positions() {
    for seed in 0..cases(4000) {
        let rng = Rng::new(seed);
        let mut formulae = Formulae::new(&Budget::default());
        let atoms = atoms(&mut formulae, 2);
        let word = random_lasso(&rng, &atoms);
        let (from, now) = (rng.below(4), rng.below(6));
        let open = rng.below(4) == 0;
        let to = from + rng.below(4);
        // Far enough for all positions that can matter with an open end.
        let last = if open { from + now + 16 } else { to };
        let end = if open { "inf".to_owned() } else { to.to_string() };
        let a = |at: usize| holds(&word, &formulae, 0, at);
        let b = |at: usize| holds(&word, &formulae, 1, at);
        let ahead = |distance: usize| Some(now + distance);
        let back = |distance: usize| now.checked_sub(distance);
        let exists = |position: &dyn Fn(usize) -> Option<usize>,
                      a: &dyn Fn(usize) -> bool,
                      b: &dyn Fn(usize) -> bool| {
            (from..=last).any(|i| position(i).is_some_and(b) && (0..i).all(|j| position(j).is_some_and(a)))
        };
        let always = |_: usize| true;
        let (not_a, not_b) = (|at: usize| !a(at), |at: usize| !b(at));
        let throughout = (0..=last).all(|i| a(now + i));
        let somewhere = (0..=last).any(|i| a(now + i));
        let cases = [
            (format!("F[{from},{end}] b"), exists(&ahead, &always, &b)),
            (format!("G[{from},{end}] b"), !exists(&ahead, &always, &not_b)),
            (format!("a U[{from},{end}] b"), exists(&ahead, &a, &b)),
            (format!("a R[{from},{end}] b"), !exists(&ahead, &not_a, &not_b)),
            (format!("a W[{from},{end}] b"), exists(&ahead, &a, &b) || throughout),
            (format!("a M[{from},{end}] b"), !exists(&ahead, &not_a, &not_b) && somewhere),
            (format!("O[{from},{end}] b"), exists(&back, &always, &b)),
            (format!("H[{from},{end}] b"), !exists(&back, &always, &not_b)),
            (format!("a S[{from},{end}] b"), exists(&back, &a, &b)),
            (format!("a T[{from},{end}] b"), !exists(&back, &not_a, &not_b)),
            (format!("Y[{from}] b"), back(from).is_some_and(b)),
            (format!("Z[{from}] b"), back(from).is_none_or(b)),
            (format!("X[{from}] b"), b(now + from)),
        ];
        for (text, expected) in cases {
            let mut formulae = formulae.clone();
            let formula = formulae.parse(&format!("X[{now}] ({text})")).unwrap();
            assert_eq!(
                word.satisfies(&formulae, formula),
                expected,
                "seed {seed}: {text} at {now} of {word:?}"
            );
        }
    }
}
