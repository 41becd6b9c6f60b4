//! Automata accept exactly the words that satisfy their formulae.

use crate::common::{atoms, random_formula, random_lasso};
use invigil_ltl::{Budget, Logic, TooLarge};
use invigil_test_support::Rng;

fn check_translation(cases: u64, size: usize, past: bool) {
    let cases = invigil_test_support::cases(cases);
    let mut translated = 0;
    for seed in 0..cases {
        let rng = Rng::new(seed + 1);
        let mut logic = Logic::new(Budget { nodes: 1 << 16, states: 2000, ..Budget::default() });
        let count = 1 + rng.below(4);
        let atoms = atoms(&mut logic.formulae, count);
        let size = 1 + rng.below(size);
        let formula = random_formula(&rng, &mut logic.formulae, &atoms, size, past);
        let automaton = match logic.translate(formula) {
            Ok(automaton) => automaton,
            Err(TooLarge { .. }) => continue,
        };
        translated += 1;
        for _ in 0..20 {
            let word = random_lasso(&rng, &atoms);
            assert_eq!(
                automaton.accepts(&logic.labels, &word),
                word.satisfies(&logic.formulae, formula),
                "seed {seed}: {:?} on {word:?}",
                logic
                    .formulae
                    .subformulae(formula)
                    .iter()
                    .map(|f| logic.formulae.node(*f))
                    .collect::<Vec<_>>(),
            );
        }
    }
    assert!(translated > cases * 9 / 10, "{translated} of {cases}");
}

#[test]
fn automata_of_future_formulae_agree_with_semantics() {
    check_translation(1000, 15, false);
}

#[test]
fn automata_of_past_and_future_formulae_agree_with_semantics() {
    check_translation(500, 10, true);
}
