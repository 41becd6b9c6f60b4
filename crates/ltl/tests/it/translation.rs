//! Automata accept the words on which their formulae hold.

use crate::common::{atoms, formula, lasso};
use invigil_ltl::{Budget, Logic, TooLarge};
use invigil_test_support::Rng;

fn agree(cases: u64, size: usize, past: bool) {
    let cases = invigil_test_support::cases(cases);
    let mut tried = 0;
    for seed in 0..cases {
        let rng = Rng::new(seed + 1);
        let mut logic = Logic::new(Budget { nodes: 1 << 16, states: 2000, ..Budget::default() });
        let count = 1 + rng.below(4);
        let atoms = atoms(&mut logic.formulae, count);
        let size = 1 + rng.below(size);
        let wanted = formula(&rng, &mut logic.formulae, &atoms, size, past);
        let automaton = match logic.translate(wanted) {
            Ok(automaton) => automaton,
            Err(TooLarge { .. }) => continue,
        };
        tried += 1;
        for _ in 0..20 {
            let word = lasso(&rng, &atoms);
            assert_eq!(
                automaton.accepts(&logic.labels, &word),
                word.satisfies(&logic.formulae, wanted),
                "seed {seed}: {:?} on {word:?}",
                logic.formulae.within(wanted).iter().map(|f| logic.formulae.node(*f)).collect::<Vec<_>>(),
            );
        }
    }
    assert!(tried > cases * 9 / 10, "{tried} of {cases}");
}

#[test]
fn future() {
    agree(1000, 15, false);
}

#[test]
fn past_and_future() {
    agree(500, 10, true);
}
