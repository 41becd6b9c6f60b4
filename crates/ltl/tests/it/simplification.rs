//! Simplified formulae say what the given ones say.

use crate::common::{atoms, formula, lasso};
use invigil_ltl::{Budget, Effort, Logic};
use invigil_test_support::Rng;

fn agree(cases: u64, effort: Effort, past: bool) {
    let cases = invigil_test_support::cases(cases);
    let (mut before, mut after) = (0, 0);
    for seed in 0..cases {
        let rng = Rng::new(seed + 77);
        let mut logic = Logic::new(Budget { nodes: 1 << 14, ..Budget::default() });
        let count = 1 + rng.below(4);
        let atoms = atoms(&mut logic.formulae, count);
        let size = 1 + rng.below(20);
        let given = formula(&rng, &mut logic.formulae, &atoms, size, past);
        let simple = logic.simplify(given, effort).unwrap();
        before += logic.formulae.within(given).len();
        after += logic.formulae.within(simple).len();
        for _ in 0..20 {
            let word = lasso(&rng, &atoms);
            assert_eq!(
                word.satisfies(&logic.formulae, given),
                word.satisfies(&logic.formulae, simple),
                "seed {seed}"
            );
        }
        assert_eq!(logic.simplify(given, effort), Ok(simple), "seed {seed}: the same every time");
    }
    assert!(after < before, "{after} parts of {before}");
}

#[test]
fn by_their_form() {
    agree(4000, Effort::Form, false);
    agree(2000, Effort::Form, true);
}

#[test]
fn by_their_language() {
    agree(1500, Effort::Language, false);
    agree(1000, Effort::Language, true);
}
