//! Monitors against the definition of verdicts, and their form.

use crate::common::formula_text::{parse, published};
use crate::common::machine_form::{check_form, letters};
use crate::common::reference::{Positions, progress};
use crate::common::{atoms, random_formula, random_lasso};
use invigil_ltl::formula::Formulae;
use invigil_ltl::monitor::monitorability;
use invigil_ltl::moore::Truth;
use invigil_ltl::{Budget, Formula, Logic};
use invigil_test_support::{Rng, cases};
use std::collections::HashMap;

/// Reference verdicts of residual formulae.
struct ReferenceVerdicts {
    positions: Positions,
    known: HashMap<Formula, Truth>,
}

impl ReferenceVerdicts {
    fn verdict(&mut self, formulae: &mut Formulae, residual: Formula) -> Truth {
        if let Some(known) = self.known.get(&residual) {
            return *known;
        }
        let not = formulae.not(residual).unwrap();
        let verdict = truth(
            self.positions.is_satisfiable(formulae, residual),
            self.positions.is_satisfiable(formulae, not),
        );
        self.known.insert(residual, verdict);
        verdict
    }
}

fn truth(can_hold: bool, can_fail: bool) -> Truth {
    match (can_hold, can_fail) {
        (true, true) => Truth::Unknown,
        (true, false) => Truth::True,
        (false, true) => Truth::False,
        (false, false) => panic!("neither the formula nor its negation is satisfiable"),
    }
}

/// All words up to length four, by progression and satisfiability of the residual.
#[test]
fn verdicts_agree_with_definition() {
    let rng = Rng::new(1);
    let (mut logic, mut done) = (Logic::new(Budget::default()), 0);
    while done < cases(400) {
        if done % 100 == 0 {
            logic = Logic::new(Budget::default());
        }
        let count = 1 + rng.below(3);
        let atoms = atoms(&mut logic.formulae, count);
        let size = 2 + rng.below(12);
        let formula = random_formula(&rng, &mut logic.formulae, &atoms, size, false);
        let Some(positions) = Positions::new(&logic.formulae, formula, 9) else { continue };
        done += 1;
        let monitor = logic.monitor(formula).unwrap();
        check_form(&logic, &monitor);
        let mut reference = ReferenceVerdicts { positions, known: HashMap::new() };
        let letters = letters(&atoms);
        let mut open = vec![(formula, monitor.initial, 0)];
        while let Some((residual, state, length)) = open.pop() {
            let verdict = reference.verdict(&mut logic.formulae, residual);
            assert_eq!(*monitor.output(state), verdict, "{:?}", logic.formulae.node(formula));
            if length < 4 {
                for letter in &letters {
                    let residual = progress(&mut logic.formulae, residual, letter);
                    open.push((residual, monitor.next(&logic.labels, state, letter), length + 1));
                }
            }
        }
    }
}

/// The same with past operators, by the positions that match the prefix.
#[test]
fn verdicts_with_past_agree_with_definition() {
    let rng = Rng::new(2);
    let (mut logic, mut done) = (Logic::new(Budget::default()), 0);
    while done < cases(400) {
        if done % 100 == 0 {
            logic = Logic::new(Budget::default());
        }
        let count = 1 + rng.below(2);
        let atoms = atoms(&mut logic.formulae, count);
        let size = 2 + rng.below(10);
        let formula = random_formula(&rng, &mut logic.formulae, &atoms, size, true);
        let Some(positions) = Positions::new(&logic.formulae, formula, 8) else { continue };
        done += 1;
        let monitor = logic.monitor(formula).unwrap();
        check_form(&logic, &monitor);
        let letters = letters(&atoms);
        let mut open = vec![(positions.start(true), positions.start(false), monitor.initial, 0)];
        while let Some((holds, fails, state, length)) = open.pop() {
            assert_eq!(*monitor.output(state), truth(!holds.is_empty(), !fails.is_empty()));
            if length < 4 {
                for letter in &letters {
                    let next = |set: &[usize]| positions.after(&positions.reading(set, &atoms, letter));
                    let state = monitor.next(&logic.labels, state, letter);
                    open.push((next(&holds), next(&fails), state, length + 1));
                }
            }
        }
    }
}

/// Larger formulae, on random words.
#[test]
fn verdicts_never_contradict_words() {
    let rng = Rng::new(3);
    let mut logic = Logic::new(Budget::default());
    let mut decided = 0;
    for case in 0..cases(400) {
        if case % 50 == 0 {
            logic = Logic::new(Budget { states: 2000, edges: 20_000, ..Budget::default() });
        }
        let atoms = atoms(&mut logic.formulae, 5);
        let size = 2 + rng.below(24);
        let past = case % 4 == 0;
        let formula = random_formula(&rng, &mut logic.formulae, &atoms, size, past);
        let Ok(monitor) = logic.monitor(formula) else { continue };
        for _ in 0..20 {
            let lasso = random_lasso(&rng, &atoms);
            let holds = lasso.satisfies(&logic.formulae, formula);
            let mut state = monitor.initial;
            for letter in lasso.prefix.iter().chain(lasso.cycle.iter().cycle().take(12)) {
                state = monitor.next(&logic.labels, state, letter);
            }
            let verdict = *monitor.output(state);
            decided += usize::from(verdict != Truth::Unknown);
            assert_ne!(verdict, if holds { Truth::False } else { Truth::True });
        }
    }
    assert!(decided > 0);
}

#[test]
fn equivalent_formulae_have_equal_monitors() {
    let mut logic = Logic::new(Budget::default());
    for (one, other) in [
        ("G(a -> F b)", "!F(a & G !b)"),
        ("a U b", "b | a & X(a U b)"),
        ("G(a & b)", "G a & G b"),
        ("(G a) | F(!a & X c)", "G a | F(!a & X c) | G(a & (b | !b))"),
        ("G(a -> Y b)", "!a & G(X a -> b)"),
        ("G(a -> O b)", "b R (!a | b)"),
        ("F(b & H a)", "a U (a & b)"),
    ] {
        let (one, other) = (parse(&mut logic.formulae, one), parse(&mut logic.formulae, other));
        let (one, other) = (logic.monitor(one).unwrap(), logic.monitor(other).unwrap());
        assert_eq!(one, other);
        check_form(&logic, &one);
    }
}

#[test]
fn responses_have_one_state() {
    let independent: Vec<String> = (0..10).map(|at| format!("G(a{at} -> F b{at})")).collect();
    let chain: Vec<String> = (0..10).map(|at| format!("G(a{at} -> F a{})", at + 1)).collect();
    let nested: Vec<String> = (0..10).map(|at| format!("G(a -> F(b{at} & X F c))")).collect();
    let fair: Vec<String> = (0..10).map(|at| format!("(G F a{at} -> G F a{})", at + 1)).collect();
    for all in [independent, chain, nested, fair] {
        let mut logic = Logic::new(Budget::default());
        let formula = parse(&mut logic.formulae, &all.join(" & "));
        assert_eq!(logic.monitor(formula).unwrap().outputs, [Truth::Unknown]);
    }
}

/// The total sizes are from an independent implementation of minimal monitors.
#[test]
fn published_formulae_have_minimal_monitors() {
    for (set, states) in [("dac", 213), ("eh", 42), ("sb", 65)] {
        let Some(all) = published(set) else {
            println!("skipped: shared/models/ltl.csv is not available");
            return;
        };
        let mut logic = Logic::new(Budget::default());
        let mut total = 0;
        for text in all {
            let formula = parse(&mut logic.formulae, &text);
            let monitor = logic.monitor(formula).unwrap();
            check_form(&logic, &monitor);
            total += monitor.states();
        }
        assert_eq!(total, states, "{set}");
    }
}

#[test]
fn monitorability_of_known_formulae_is_exact() {
    let mut logic = Logic::new(Budget::default());
    for (text, fail, succeed, blind) in [
        ("G a", true, false, None),
        ("F a", false, true, None),
        ("a U b", true, true, None),
        ("G F a", false, false, Some(0)),
        ("G(a -> F b)", false, false, Some(0)),
        ("a & X X G F b", true, false, Some(1)),
        ("(a & F b) | (!a & X X X G F c)", false, true, Some(1)),
        ("1", false, true, None),
        ("0", true, false, None),
    ] {
        let formula = parse(&mut logic.formulae, text);
        let monitor = logic.monitor(formula).unwrap();
        let verdicts = monitorability(&monitor, &logic.labels);
        assert_eq!(
            (verdicts.can_fail, verdicts.can_succeed, verdicts.ugly_prefix.as_ref().map(Vec::len)),
            (fail, succeed, blind),
            "{text}: {verdicts}"
        );
        let mut state = monitor.initial;
        for letter in verdicts.ugly_prefix.iter().flatten() {
            state = monitor.next(&logic.labels, state, letter);
        }
        let decided = monitor.can_reach(|_, output| output != Truth::Unknown);
        assert_eq!(decided[state as usize], verdicts.is_monitorable());
    }
}

#[test]
fn bad_prefix_is_shortest() {
    let mut logic = Logic::new(Budget::default());
    let formula = parse(&mut logic.formulae, "G(a -> X(b & X c)) & F(a & c)");
    let monitor = logic.monitor(formula).unwrap();
    let bad = monitor.bad_prefix(&logic.labels).unwrap();
    assert_eq!(bad.len(), 2);
    assert_eq!(monitor.good_prefix(&logic.labels), None);
    let state = bad.iter().fold(monitor.initial, |state, letter| monitor.next(&logic.labels, state, letter));
    assert_eq!(*monitor.output(state), Truth::False);
}

/// Large bounds cause neither extra states nor a stack overflow.
#[test]
fn long_bounds_have_minimal_monitors() {
    for (text, states) in [("F<=1500 a", 1503), ("G(a -> F<=60 b)", 62), ("G<=700 (a -> X X b)", 2804)] {
        let mut logic = Logic::new(Budget::default());
        let formula = parse(&mut logic.formulae, text);
        assert_eq!(logic.monitor(formula).unwrap().states(), states, "{text}");
    }
}

#[test]
fn too_large_monitor_fails() {
    let mut logic = Logic::new(Budget { states: 1000, ..Budget::default() });
    for text in ["G(a -> X X X X X X X X X X X X b)", "F(a & X X X X X X X X X X X X b)"] {
        let formula = parse(&mut logic.formulae, text);
        let error = logic.monitor(formula).unwrap_err();
        assert_eq!(error.to_string(), "too large: more than 1000 states of a monitor");
    }
    let mut deep = logic.formulae.name("a").unwrap();
    for _ in 0..100_000 {
        deep = logic.formulae.next(deep).unwrap();
    }
    assert!(logic.monitor(deep).is_err());
    for at in 0..50_000 {
        let atom = logic.formulae.name(&format!("a{}", at % 3)).unwrap();
        deep = logic.formulae.until(atom, deep).unwrap();
    }
    assert!(logic.monitor(deep).is_err());
}
