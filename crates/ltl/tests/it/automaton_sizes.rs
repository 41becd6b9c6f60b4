//! Automata are small: never larger than Spot's on the published sets, and as small as can be on formulae of
//! which that is known.

use invigil_ltl::{Budget, Logic};
use invigil_test_support::tools;

/// The states of the Büchi automaton with marks on states, and of the generalised one.
fn sizes(text: &str) -> (usize, usize) {
    let mut logic = Logic::new(Budget::default());
    let formula = logic.parse(text).unwrap_or_else(|mistake| panic!("{text}: {mistake}"));
    (logic.buchi(formula).unwrap().states(), logic.translate(formula).unwrap().states())
}

#[test]
fn as_small_as_can_be() {
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
fn never_larger_than_spot() {
    let Ok(text) = std::fs::read_to_string(tools::shared().join("models/ltl.csv")) else {
        return eprintln!("skipped: the published sets (models/ltl.csv) are not here");
    };
    for line in text.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let known = |at: usize| cells[at].parse::<usize>().unwrap();
        let (buchi, generalised) = sizes(cells[1]);
        assert!(buchi <= known(2) && generalised <= known(4), "{buchi}, {generalised}: {line}");
    }
}
