//! The law of the whole house: random formulae and random words, and everything that is made of a formula says
//! of every word what the plain meaning of the formula says.
//!
//! A few hundred formulae of each law. A hundred thousand of them:
//! `INVIGIL_CASES=300 cargo test --release -p invigil-ltl --test it differential -- --nocapture`.

use crate::common::{atoms, formula, lasso};
use invigil_ltl::automaton::{Automaton, buchi, reduce};
use invigil_ltl::word::Lasso;
use invigil_ltl::{Budget, Formula, Logic, TooLarge};
use invigil_test_support::{Rng, cases};
use std::sync::atomic::{AtomicU64, Ordering};

/// Words for each formula, beside those that its automata give.
const WORDS: usize = 20;

/// How often a law was tried.
#[derive(Default)]
struct Tried {
    formulae: AtomicU64,
    words: AtomicU64,
    accepted: AtomicU64,
    too_large: AtomicU64,
}

/// Tries all cases, on two threads.
fn law(name: &str, cases: u64, size: usize, past: bool) {
    let tried = Tried::default();
    std::thread::scope(|scope| {
        for thread in 0..2 {
            let tried = &tried;
            scope.spawn(move || {
                for seed in (thread..cases).step_by(2) {
                    if case(seed, size, past, tried).is_err() {
                        tried.too_large.fetch_add(1, Ordering::Relaxed);
                    }
                }
            });
        }
    });
    let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
    let (formulae, words) = (count(&tried.formulae), count(&tried.words));
    println!(
        "{name}: {formulae} formulae, {words} words, {} of them accepted; {} formulae too large",
        count(&tried.accepted),
        count(&tried.too_large)
    );
    assert!(formulae + cases / 100 >= cases, "{formulae} of {cases} were tried");
    let share = count(&tried.accepted) * 100 / words.max(1);
    assert!((20..80).contains(&share), "{share} % of the words are accepted");
}

/// A formula, everything that is made of it, and words.
fn case(seed: u64, size: usize, past: bool, tried: &Tried) -> Result<(), TooLarge> {
    let rng = Rng::new(seed + 1);
    let budget = Budget { nodes: 1 << 17, states: 3000, edges: 60_000, ..Budget::default() };
    let mut logic = Logic::new(budget);
    let count = 1 + rng.below(5);
    let atoms = atoms(&mut logic.formulae, count);
    let size = 1 + rng.below(size);
    let wanted = formula(&rng, &mut logic.formulae, &atoms, size, past);
    let unwanted = logic.formulae.not(wanted)?;
    let automaton = logic.translate(wanted)?;
    let negation = logic.translate(unwanted)?;
    let single = logic.buchi(wanted)?;
    assert!(single.sets == 1 && single.is_state_based());
    let accepting = [
        ("again", through_hoa(&mut logic, &automaton)?),
        ("reduced", reduce(&automaton, None, &logic)?),
        ("Büchi", buchi(&automaton, None, &logic)?),
        ("Büchi again", through_hoa(&mut logic, &single)?),
        ("Büchi at once", single),
        ("the automaton", automaton),
    ];
    let rejecting = [("the negation again", through_hoa(&mut logic, &negation)?), ("the negation", negation)];
    let (automaton, negation) = (&accepting[5].1, &rejecting[1].1);
    assert!(!automaton.meets(negation, &logic)?, "seed {seed}: a word is accepted with and without negation");
    tried.formulae.fetch_add(1, Ordering::Relaxed);
    let own = [automaton.word(&logic.labels), negation.word(&logic.labels)];
    assert!(own.iter().any(Option::is_some), "seed {seed}: no word is accepted, with or without negation");
    let random: Vec<Lasso> = (0..WORDS).map(|_| lasso(&rng, &atoms)).collect();
    for word in own.into_iter().flatten().chain(random) {
        let holds = word.satisfies(&logic.formulae, wanted);
        tried.words.fetch_add(1, Ordering::Relaxed);
        tried.accepted.fetch_add(holds.into(), Ordering::Relaxed);
        let told = accepting.iter().map(|(name, automaton)| (name, automaton, holds));
        for (name, automaton, expected) in
            told.chain(rejecting.iter().map(|(name, other)| (name, other, !holds)))
        {
            let accepts = automaton.accepts(&logic.labels, &word);
            assert_eq!(accepts, expected, "seed {seed}, {name}: {} on {word:?}", shown(&logic, wanted));
        }
    }
    Ok(())
}

fn through_hoa(logic: &mut Logic, automaton: &Automaton) -> Result<Automaton, TooLarge> {
    let text = automaton.hoa(logic, None)?;
    let mut read = logic.read_hoa(&text).unwrap_or_else(|mistake| panic!("{mistake} in\n{text}"));
    assert_eq!(read.len(), 1);
    Ok(read.remove(0))
}

fn shown(logic: &Logic, formula: Formula) -> String {
    let parts = logic.formulae.within(formula);
    format!("{:?}", parts.iter().map(|part| (part.0, logic.formulae.node(*part))).collect::<Vec<_>>())
}

#[test]
fn the_future() {
    law("future", cases(300), 25, false);
}

#[test]
fn the_past_and_the_future() {
    law("past and future", cases(150), 15, true);
}
