//! Sizes of automata: at most those of Spot on the published sets, and minimal where the minimum is known.

use invigil_ltl::{Budget, Logic};
use invigil_test_support::tools;

/// Returns the number of states of the state-based Büchi automaton and of the generalised one.
fn sizes(text: &str) -> (usize, usize) {
    let mut logic = Logic::new(Budget::default());
    let formula = logic.parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    (logic.buchi(formula).unwrap().states(), logic.translate(formula).unwrap().states())
}

#[test]
fn known_formulae_have_minimal_automata() {
    for (text, buchi, generalised) in [
        ("true", 1, 1),
        ("false", 1, 1),
        ("G a", 1, 1),
        ("F a", 2, 2),
        ("a U b", 2, 2),
        ("G F a", 2, 1),
        ("F G a", 2, 2),
        ("G F a & G F b", 3, 1),
        ("G F a & G F b & G F c & G F d", 5, 1),
        ("G(a -> F b)", 2, 2),
        ("F G a | G F b", 3, 2),
        ("(G F a | G F !a) & F b", 2, 2),
        ("X X X a", 5, 5),
        ("G(a -> O b)", 2, 2),
        ("G(a -> F<=3 b)", 4, 4),
    ] {
        assert_eq!(sizes(text), (buchi, generalised), "{text}");
    }
}

#[test]
fn published_formulae_are_at_most_as_large_as_in_spot() {
    let Ok(text) = std::fs::read_to_string(tools::shared().join("models/ltl.csv")) else {
        return eprintln!("skipped: the published sets (models/ltl.csv) are not available");
    };
    for line in text.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let known = |at: usize| cells[at].parse::<usize>().unwrap();
        let (buchi, generalised) = sizes(cells[1]);
        assert!(buchi <= known(2) && generalised <= known(4), "{buchi}, {generalised}: {line}");
    }
}
