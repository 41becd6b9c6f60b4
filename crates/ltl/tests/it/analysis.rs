//! Analyses of formulae, and the automata they use.

use crate::common::random_automata::random_automaton;
use crate::common::{atoms, random_formula, random_lasso};
use invigil_ltl::analysis::{Answer, Class, Stuttering};
use invigil_ltl::word::{Lasso, Letter};
use invigil_ltl::{Budget, Logic};
use invigil_test_support::{Rng, at_least, cases};

#[test]
fn parity_automata_accept_same_words() {
    let (mut largest, mut too_large) = (0, 0);
    for seed in 0..cases(2000) {
        let rng = Rng::new(seed + 1);
        let mut logic = Logic::new(Budget { nodes: 1 << 16, states: 3000, ..Budget::default() });
        let count = 1 + rng.below(3);
        let atoms = atoms(&mut logic.formulae, count);
        let automaton = random_automaton(&rng, &mut logic, &atoms);
        let Ok(parity) = automaton.determinise(&logic) else {
            too_large += 1;
            continue;
        };
        largest = largest.max(parity.states());
        let words: Vec<Lasso> = (0..30).map(|_| random_lasso(&rng, &atoms)).collect();
        for word in automaton.accepting_word(&logic.labels).into_iter().chain(words) {
            let expected = automaton.accepts(&logic.labels, &word);
            assert_eq!(
                parity.accepts(&logic.labels, &word),
                expected,
                "seed {seed}: {automaton:?}\n{parity:?}\n{word:?}"
            );
        }
    }
    assert!(largest > at_least(100) && too_large < 20, "{largest} states, {too_large} were too large");
}

#[test]
fn known_formulae_have_expected_classes() {
    let cases = [
        ("true", Class::Bounded),
        ("false", Class::Bounded),
        ("a", Class::Bounded),
        ("X a | X X a", Class::Bounded),
        ("F<=3 a & G[1,2] b", Class::Bounded),
        ("G a", Class::Safety),
        ("a W b", Class::Safety),
        ("G(a -> O b)", Class::Safety),
        ("F a", Class::Guarantee),
        ("a U b", Class::Guarantee),
        ("F(a & Y(b S c))", Class::Guarantee),
        ("G a | F b", Class::Obligation),
        ("G a & F b", Class::Obligation),
        ("G F a", Class::Recurrence),
        ("G(a -> F b)", Class::Recurrence),
        ("G F a & G F b", Class::Recurrence),
        ("G F a | G F b", Class::Recurrence),
        ("F G a", Class::Persistence),
        ("F G a | F G b", Class::Persistence),
        ("F G a & F G b", Class::Persistence),
        ("G F a | F G b", Class::Reactivity),
        ("G F a & F G b", Class::Reactivity),
        ("G F a -> G F b", Class::Reactivity),
        // The syntactic class is larger than the semantic one.
        ("G F a | F a", Class::Guarantee),
        ("F G a & G a", Class::Safety),
        ("F G a | G F a", Class::Recurrence),
        ("F G a & G F a", Class::Persistence),
        ("G F a & G a | G b", Class::Safety),
        ("G(a | X G a)", Class::Safety),
        ("b U G a", Class::Persistence),
        ("a W (b & F c)", Class::Obligation),
        ("G(F a | F b)", Class::Recurrence),
        ("F(a & X !a)", Class::Guarantee),
        ("G F(a & X !a)", Class::Recurrence),
        ("F G a | F G !a", Class::Persistence),
        ("G(a -> F(b & O c))", Class::Recurrence),
        ("F(H a & G b)", Class::Persistence),
    ];
    for (text, expected) in cases {
        let mut logic = Logic::new(Budget::default());
        let formula = logic.parse(text).unwrap();
        let placed = logic.classify(formula);
        assert!(placed.is_exact);
        assert_eq!(placed.class, expected, "{text}");
        assert_eq!(placed.to_string(), expected.to_string());
    }
    let mut limited = Logic::new(Budget { states: 1, ..Budget::default() });
    let hard = limited.parse("(G F a | F G b) & X c").unwrap();
    assert_eq!(limited.classify(hard).to_string(), "at most reactivity (not decided)");
    let hard = limited.parse("G(a -> F X b)").unwrap();
    assert_eq!(limited.classify(hard).to_string(), "at most recurrence (not decided)");
}

fn negated(class: Class) -> Class {
    match class {
        Class::Safety => Class::Guarantee,
        Class::Guarantee => Class::Safety,
        Class::Recurrence => Class::Persistence,
        Class::Persistence => Class::Recurrence,
        same => same,
    }
}

/// Whether a class is contained in another one.
fn is_within(small: Class, large: Class) -> bool {
    use Class::{Bounded, Guarantee, Obligation, Persistence, Reactivity, Recurrence, Safety};
    match large {
        Reactivity => true,
        Recurrence | Persistence => small == large || is_within(small, Obligation),
        Obligation => matches!(small, Bounded | Safety | Guarantee | Obligation),
        Safety | Guarantee => small == large || small == Bounded,
        Bounded => small == Bounded,
    }
}

/// Three computations of the class: syntactic, by closure and weak automata, and by parity automata.
#[test]
fn class_computations_agree_on_random_formulae() {
    let mut seen = std::collections::BTreeMap::<Class, usize>::new();
    for seed in 0..cases(300) {
        let rng = Rng::new(seed + 1);
        let mut logic = Logic::new(Budget { nodes: 1 << 16, states: 2000, ..Budget::default() });
        let atoms = atoms(&mut logic.formulae, 2);
        let size = 3 + rng.below(8);
        let formula = random_formula(&rng, &mut logic.formulae, &atoms, size, seed % 3 == 0);
        let placed = logic.classify(formula);
        if !placed.is_exact {
            continue;
        }
        *seen.entry(placed.class).or_default() += 1;
        let by_form = logic.formulae.syntactic_class(formula);
        assert!(is_within(placed.class, by_form), "seed {seed}: {placed} is not within {by_form}");
        let not = logic.formulae.not(formula).unwrap();
        assert_eq!(logic.classify(not).class, negated(placed.class), "seed {seed}");
        // The same by parity automata alone.
        let (yes, no) = (logic.translate(formula).unwrap(), logic.translate(not).unwrap());
        let (Ok(parity), Ok(other)) = (yes.determinise(&logic), no.determinise(&logic)) else { continue };
        assert_eq!(
            parity.is_recurrence(),
            is_within(placed.class, Class::Recurrence),
            "seed {seed}: {placed}"
        );
        assert_eq!(
            parity.is_persistence(),
            is_within(placed.class, Class::Persistence),
            "seed {seed}: {placed}"
        );
        assert_eq!(other.is_persistence(), parity.is_recurrence(), "seed {seed}");
        assert_eq!(other.is_recurrence(), parity.is_persistence(), "seed {seed}");
        let obligation = yes.minimise_obligation(Some(&no), &logic).unwrap().is_some();
        assert_eq!(obligation, is_within(placed.class, Class::Obligation), "seed {seed}: {placed}");
        for _ in 0..20 {
            let word = random_lasso(&rng, &atoms);
            let holds = word.satisfies(&logic.formulae, formula);
            assert_eq!(parity.accepts(&logic.labels, &word), holds);
            assert_eq!(other.accepts(&logic.labels, &word), !holds);
        }
    }
    println!("{seen:?}");
    // Few cases do not reach the rare classes.
    let needed = if cases(300) < 300 { 4 } else { 6 };
    assert!(seen.len() >= needed, "{seen:?}");
}

#[test]
fn equivalence_and_implication_agree_with_words() {
    let (mut same, mut different) = (0, 0);
    for seed in 0..cases(300) {
        let rng = Rng::new(seed + 1);
        let mut logic = Logic::new(Budget { nodes: 1 << 16, ..Budget::default() });
        let atoms = atoms(&mut logic.formulae, 2);
        let sizes = [1 + rng.below(5), 1 + rng.below(5)];
        let [one, other] =
            sizes.map(|size| random_formula(&rng, &mut logic.formulae, &atoms, size, seed % 4 == 0));
        match logic.equivalent(one, other).unwrap() {
            Answer::Yes => {
                same += 1;
                for _ in 0..50 {
                    let word = random_lasso(&rng, &atoms);
                    assert_eq!(word.satisfies(&logic.formulae, one), word.satisfies(&logic.formulae, other));
                }
            }
            Answer::No(word) => {
                different += 1;
                assert_ne!(word.satisfies(&logic.formulae, one), word.satisfies(&logic.formulae, other));
            }
        }
        if let Answer::No(word) = logic.implies(one, other).unwrap() {
            assert!(word.satisfies(&logic.formulae, one) && !word.satisfies(&logic.formulae, other));
        }
        let model = logic.satisfying_word(one).unwrap();
        assert!(model.as_ref().is_none_or(|word| word.satisfies(&logic.formulae, one)));
        let not = logic.formulae.not(one).unwrap();
        assert_eq!(logic.valid(not).unwrap().is_yes(), model.is_none());
    }
    assert!(same > at_least(5) && different > at_least(50), "{same} {different}");
}

/// Returns the stutter-free form of a word. Stutter-equivalent words have the same form.
fn stutter_free(word: &Lasso) -> Lasso {
    let (mut prefix, mut cycle) = (word.prefix.clone(), word.cycle.clone());
    let last = cycle.len() - 1;
    if let Some(change) = (0..cycle.len()).find(|at| cycle[*at] != cycle[(at + last) % cycle.len()]) {
        prefix.extend_from_slice(&cycle[..change]);
        cycle.rotate_left(change);
    }
    prefix.dedup();
    cycle.dedup();
    prefix.pop_if(|last| *last == cycle[0]);
    Lasso { prefix, cycle }.shortest()
}

/// Repeats letters at random.
fn stuttered(rng: &Rng, word: &Lasso) -> Lasso {
    let some = |letters: &[Letter]| {
        letters.iter().flat_map(|letter| vec![letter.clone(); 1 + rng.below(3)]).collect()
    };
    Lasso { prefix: some(&word.prefix), cycle: some(&word.cycle) }
}

#[test]
fn stuttering_agrees_with_random_words() {
    let (mut invariant, mut sensitive) = (0, 0);
    for seed in 0..cases(400) {
        let rng = Rng::new(seed + 1);
        let mut logic = Logic::new(Budget { nodes: 1 << 16, ..Budget::default() });
        let atoms = atoms(&mut logic.formulae, 2);
        let size = 2 + rng.below(7);
        let formula = random_formula(&rng, &mut logic.formulae, &atoms, size, seed % 3 == 0);
        match logic.stuttering(formula).unwrap() {
            Stuttering::Invariant => {
                invariant += 1;
                for _ in 0..50 {
                    let word = random_lasso(&rng, &atoms);
                    let more = stuttered(&rng, &word);
                    assert_eq!(
                        word.satisfies(&logic.formulae, formula),
                        more.satisfies(&logic.formulae, formula),
                        "seed {seed}"
                    );
                }
            }
            Stuttering::Sensitive { holds, fails } => {
                sensitive += 1;
                assert!(holds.satisfies(&logic.formulae, formula), "seed {seed}: {holds:?}");
                assert!(!fails.satisfies(&logic.formulae, formula), "seed {seed}: {fails:?}");
                assert_eq!(stutter_free(&holds), stutter_free(&fails), "seed {seed}");
            }
        }
    }
    assert!(invariant > at_least(50) && sensitive > at_least(50), "{invariant} {sensitive}");
}

#[test]
fn stuttering_of_formulae_with_next_is_exact() {
    let mut logic = Logic::new(Budget::default());
    // A rising edge of `a` is invariant; `a` at two positions is not.
    let rises = logic.parse("F(!a & X a)").unwrap();
    let stays = logic.parse("a & X a").unwrap();
    assert_eq!(logic.stuttering(rises).unwrap(), Stuttering::Invariant);
    let Stuttering::Sensitive { holds, fails } = logic.stuttering(stays).unwrap() else { panic!() };
    assert_eq!(stutter_free(&holds), stutter_free(&fails));
    assert_eq!((holds.prefix.len(), fails.prefix.len()), (2, 1));
}
