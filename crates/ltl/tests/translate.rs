//! Automata accept the words on which their formulae hold.

mod common;

use common::{Dice, atoms, formula, lasso};
use invigil_ltl::{Budget, Logic, TooLarge};

fn agree(cases: u64, size: usize, past: bool) {
    let mut tried = 0;
    for seed in 0..cases {
        let mut dice = Dice::new(seed + 1);
        let mut logic = Logic::new(Budget { nodes: 1 << 16, states: 2000, ..Budget::default() });
        let count = 1 + dice.below(4);
        let atoms = atoms(&mut logic.formulae, count);
        let size = 1 + dice.below(size);
        let wanted = formula(&mut dice, &mut logic.formulae, &atoms, size, past);
        let automaton = match logic.translate(wanted) {
            Ok(automaton) => automaton,
            Err(TooLarge { .. }) => continue,
        };
        tried += 1;
        for _ in 0..20 {
            let word = lasso(&mut dice, &atoms);
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
