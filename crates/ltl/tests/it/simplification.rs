//! Simplified formulae are equivalent to the originals.

use crate::common::{atoms, random_formula, random_lasso};
use invigil_ltl::{Budget, Effort, Logic};
use invigil_test_support::Rng;

fn check_simplification(cases: u64, effort: Effort, past: bool) {
    let cases = invigil_test_support::cases(cases);
    let (mut before, mut after) = (0, 0);
    for seed in 0..cases {
        let rng = Rng::new(seed + 77);
        let mut logic = Logic::new(Budget { nodes: 1 << 14, ..Budget::default() });
        let count = 1 + rng.below(4);
        let atoms = atoms(&mut logic.formulae, count);
        let size = 1 + rng.below(20);
        let original = random_formula(&rng, &mut logic.formulae, &atoms, size, past);
        let simple = logic.simplify(original, effort).unwrap();
        before += logic.formulae.subformulae(original).len();
        after += logic.formulae.subformulae(simple).len();
        for _ in 0..20 {
            let word = random_lasso(&rng, &atoms);
            assert_eq!(
                word.satisfies(&logic.formulae, original),
                word.satisfies(&logic.formulae, simple),
                "seed {seed}"
            );
        }
        assert_eq!(logic.simplify(original, effort), Ok(simple), "seed {seed}: not deterministic");
    }
    assert!(after < before, "{after} parts of {before}");
}

#[test]
fn syntactic_simplification_preserves_meaning() {
    check_simplification(4000, Effort::Syntactic, false);
    check_simplification(2000, Effort::Syntactic, true);
}

#[test]
fn language_simplification_preserves_meaning() {
    check_simplification(1500, Effort::Language, false);
    check_simplification(1000, Effort::Language, true);
}
