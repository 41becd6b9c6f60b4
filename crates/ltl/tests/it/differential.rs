//! Differential test: all automata of random formulae against the reference semantics, on random words.
//!
//! Checks a few hundred formulae by default. For many more:
//! `INVIGIL_CASES=300 cargo test --release -p invigil-ltl --test it differential -- --nocapture`.

use crate::common::{atoms, random_formula, random_lasso};
use invigil_ltl::automaton::{Automaton, buchi, reduce};
use invigil_ltl::word::Lasso;
use invigil_ltl::{Budget, Formula, Logic, TooLarge};
use invigil_test_support::{Rng, cases};
use std::sync::atomic::{AtomicU64, Ordering};

/// Number of random words for each formula, in addition to words from its automata.
const WORDS: usize = 20;

/// Totals of a run.
#[derive(Default)]
struct Totals {
    formulae: AtomicU64,
    words: AtomicU64,
    accepted: AtomicU64,
    too_large: AtomicU64,
}

/// Checks all cases, on two threads.
fn check_all(name: &str, cases: u64, size: usize, past: bool) {
    let totals = Totals::default();
    std::thread::scope(|scope| {
        for thread in 0..2 {
            let totals = &totals;
            scope.spawn(move || {
                for seed in (thread..cases).step_by(2) {
                    if check_case(seed, size, past, totals).is_err() {
                        totals.too_large.fetch_add(1, Ordering::Relaxed);
                    }
                }
            });
        }
    });
    let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
    let (formulae, words) = (count(&totals.formulae), count(&totals.words));
    println!(
        "{name}: {formulae} formulae, {words} words, {} of them accepted; {} formulae too large",
        count(&totals.accepted),
        count(&totals.too_large)
    );
    assert!(formulae + cases / 100 >= cases, "{formulae} of {cases} were checked");
    let share = count(&totals.accepted) * 100 / words.max(1);
    assert!((20..80).contains(&share), "{share} % of the words are accepted");
}

/// Checks all automata of one formula.
fn check_case(seed: u64, size: usize, past: bool, totals: &Totals) -> Result<(), TooLarge> {
    let rng = Rng::new(seed + 1);
    let budget = Budget { nodes: 1 << 17, states: 3000, edges: 60_000, ..Budget::default() };
    let mut logic = Logic::new(budget);
    let count = 1 + rng.below(5);
    let atoms = atoms(&mut logic.formulae, count);
    let size = 1 + rng.below(size);
    let formula = random_formula(&rng, &mut logic.formulae, &atoms, size, past);
    let negated = logic.formulae.not(formula)?;
    let automaton = logic.translate(formula)?;
    let negation = logic.translate(negated)?;
    let single = logic.buchi(formula)?;
    assert!(single.sets == 1 && single.is_state_based());
    let accepting = [
        ("automaton after HOA", through_hoa(&mut logic, &automaton)?),
        ("reduced", reduce(&automaton, None, &logic)?),
        ("Büchi", buchi(&automaton, None, &logic)?),
        ("Büchi after HOA", through_hoa(&mut logic, &single)?),
        ("Büchi from formula", single),
        ("automaton", automaton),
    ];
    let rejecting = [("negation after HOA", through_hoa(&mut logic, &negation)?), ("negation", negation)];
    let (automaton, negation) = (&accepting[5].1, &rejecting[1].1);
    assert!(!automaton.intersects(negation, &logic)?, "seed {seed}: formula and negation share a word");
    totals.formulae.fetch_add(1, Ordering::Relaxed);
    let own = [automaton.accepting_word(&logic.labels), negation.accepting_word(&logic.labels)];
    assert!(
        own.iter().any(Option::is_some),
        "seed {seed}: neither the formula nor its negation accepts a word"
    );
    let random: Vec<Lasso> = (0..WORDS).map(|_| random_lasso(&rng, &atoms)).collect();
    for word in own.into_iter().flatten().chain(random) {
        let holds = word.satisfies(&logic.formulae, formula);
        totals.words.fetch_add(1, Ordering::Relaxed);
        totals.accepted.fetch_add(holds.into(), Ordering::Relaxed);
        let expected = accepting.iter().map(|(name, automaton)| (name, automaton, holds));
        for (name, automaton, expected) in
            expected.chain(rejecting.iter().map(|(name, other)| (name, other, !holds)))
        {
            let accepts = automaton.accepts(&logic.labels, &word);
            assert_eq!(accepts, expected, "seed {seed}, {name}: {} on {word:?}", describe(&logic, formula));
        }
    }
    Ok(())
}

fn through_hoa(logic: &mut Logic, automaton: &Automaton) -> Result<Automaton, TooLarge> {
    let text = automaton.to_hoa(logic, None)?;
    let mut read = logic.read_hoa(&text).unwrap_or_else(|error| panic!("{error} in\n{text}"));
    assert_eq!(read.len(), 1);
    Ok(read.remove(0))
}

fn describe(logic: &Logic, formula: Formula) -> String {
    let parts = logic.formulae.subformulae(formula);
    format!("{:?}", parts.iter().map(|part| (part.0, logic.formulae.node(*part))).collect::<Vec<_>>())
}

#[test]
fn future_formulae_agree_with_semantics() {
    check_all("future", cases(300), 25, false);
}

#[test]
fn past_and_future_formulae_agree_with_semantics() {
    check_all("past and future", cases(150), 15, true);
}
