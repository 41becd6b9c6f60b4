//! Differential tests: every algorithm with both encodings against a monitor that observes everything.

use crate::common::{formula, logic, oracle, system, trace};
use invigil_decent::algorithm::{Algorithm, MonitorSet, compile_formula};
use invigil_decent::encoding::{Encoding, Expressions, States};
use invigil_decent::metrics::Metrics;
use invigil_decent::simulate::{Conditions, SimulationResult, Trace};
use invigil_decent::system::System;
use invigil_ltl::Logic;
use invigil_ltl::formula::Formula;
use invigil_ltl::moore::Truth;
use invigil_test_support::{Rng, cases};

/// Networks without loss.
fn networks() -> Vec<Conditions> {
    let slow = |latency| Conditions { latency, grace: 60, ..Conditions::default() };
    vec![
        slow(0),
        slow(1),
        slow(3),
        Conditions { jitter: 3, shuffle: true, ..slow(0) },
        Conditions { jitter: 2, shuffle: true, duplication: 0.3, seed: 7, ..slow(1) },
    ]
}

fn run<E: Encoding>(
    choice: Algorithm,
    (logic, formula): (&mut Logic, Formula),
    system: &System,
    conditions: Conditions,
    trace: &Trace,
) -> (SimulationResult, Metrics) {
    let prepared = MonitorSet::<E>::new(choice, logic, formula, system).unwrap();
    let mut found = None;
    prepared.run(system, conditions, [trace], |outcome, figures| found = Some((outcome, figures))).unwrap();
    found.unwrap()
}

/// How many of the existing verdicts choreography found.
#[derive(Default)]
struct Tally {
    found: u32,
    there: u32,
}

fn check<E: Encoding>(seed: u64, cases: usize, rounds: u32, choices: &[Algorithm], is_exact: bool) -> Tally {
    let cases = invigil_test_support::cases(cases);
    let random = Rng::new(seed);
    let mut tally = Tally::default();
    for case in 0..cases {
        let system = system(2 + case % 3, 2);
        let mut logic = logic();
        let size = 3 + random.below(8);
        let Ok(formula) = formula(&mut logic, &system, &random, size) else { continue };
        let Ok(machine) = compile_formula(&mut logic, formula, &system) else { continue };
        let trace = trace(&system, rounds, &random);
        let (expected, _) = oracle(&machine, &trace);
        for (network, conditions) in networks().into_iter().enumerate() {
            for choice in choices {
                let (outcome, _) = run::<E>(*choice, (&mut logic, formula), &system, conditions, &trace);
                let shown = logic.formulae.show(formula);
                let words =
                    format!("{choice} says {outcome:?}, not {expected}, of {shown} on network {network}");
                // Parts do not know each other's state, so a verdict may come later or never.
                if *choice == Algorithm::Choreography || !is_exact {
                    assert!(outcome.verdict == expected || outcome.verdict == Truth::Unknown, "{words}");
                } else {
                    assert_eq!(outcome.verdict, expected, "{words}");
                }
                if expected != Truth::Unknown {
                    tally.there += 1;
                    tally.found += u32::from(outcome.verdict == expected);
                }
            }
        }
    }
    tally
}

const ALL: [Algorithm; 8] = [
    Algorithm::Orchestration,
    Algorithm::Migration { active: 1 },
    Algorithm::Migration { active: 2 },
    Algorithm::RoundRobin { active: 1 },
    Algorithm::RoundRobin { active: 2 },
    Algorithm::Choreography,
    Algorithm::Broadcast,
    Algorithm::Abridged,
];

#[test]
fn algorithms_agree_with_possible_states() {
    check::<States>(1, 150, 20, &ALL, true);
}

#[test]
fn algorithms_agree_with_expressions() {
    // A single history that is never merged loses no information.
    let alone = [Algorithm::Orchestration, Algorithm::Abridged];
    check::<Expressions>(2, 40, 10, &alone, true);
    // Merging two may lose impossibility and delay verdicts.
    let tally = check::<Expressions>(3, 25, 8, &ALL, false);
    assert!(tally.found * 10 > tally.there * 9, "{} of {}", tally.found, tally.there);
}

#[test]
fn choreography_finds_most_verdicts() {
    let tally = check::<States>(4, 100, 20, &[Algorithm::Choreography], true);
    assert!(tally.found * 10 > tally.there * 8, "{} of {}", tally.found, tally.there);
}

#[test]
fn lost_messages_cause_no_wrong_verdict() {
    let random = Rng::new(5);
    for case in 0..60 {
        let system = system(2 + case % 3, 2);
        let mut logic = logic();
        let Ok(formula) = formula(&mut logic, &system, &random, 8) else { continue };
        let Ok(machine) = compile_formula(&mut logic, formula, &system) else { continue };
        let trace = trace(&system, 20, &random);
        let (expected, _) = oracle(&machine, &trace);
        let lossy = Conditions { loss: 0.2, jitter: 1, seed: case as u64, ..Conditions::default() };
        for choice in ALL {
            let (outcome, _) = run::<States>(choice, (&mut logic, formula), &system, lossy, &trace);
            assert!(outcome.verdict == expected || outcome.verdict == Truth::Unknown, "{choice}");
        }
    }
}

#[test]
fn same_seed_gives_same_run() {
    let random = Rng::new(6);
    let system = system(3, 2);
    let mut logic = logic();
    let formula = logic.parse("G (a0 -> F (b0 & X c1))").unwrap();
    let trace = trace(&system, 50, &random);
    let bad = Conditions { loss: 0.1, duplication: 0.1, jitter: 2, shuffle: true, ..Conditions::default() };
    for choice in ALL {
        let [one, two] = [(); 2].map(|()| run::<States>(choice, (&mut logic, formula), &system, bad, &trace));
        assert_eq!(one, two, "{choice}");
    }
}

#[test]
fn abridged_delay_never_exceeds_orchestration() {
    let random = Rng::new(7);
    let mut sums = [[0.0; 2]; 3];
    for case in 0..cases(150) {
        let system = system(2 + case % 4, 2);
        let mut logic = logic();
        let size = 4 + random.below(8);
        let Ok(formula) = formula(&mut logic, &system, &random, size) else { continue };
        if compile_formula(&mut logic, formula, &system).is_err() {
            continue;
        }
        let trace = trace(&system, 30, &random);
        let all = [Algorithm::Orchestration, Algorithm::Choreography, Algorithm::Abridged];
        let figures = all.map(|choice| {
            run::<States>(choice, (&mut logic, formula), &system, Conditions::default(), &trace).1
        });
        assert!(figures[2].rounds <= figures[0].rounds + 1.0 && figures[2].maximal_delay <= 1.0);
        assert!(figures[2].messages_per_round() <= figures[0].messages_per_round().max(1.0) * 2.0);
        for (sum, figures) in sums.iter_mut().zip(figures) {
            sum[0] += figures.messages;
            sum[1] += figures.data;
        }
    }
    let [orchestration, choreography, abridged] = sums;
    assert!(abridged[0] < orchestration[0] && abridged[0] < choreography[0], "{sums:?}");
    assert!(abridged[1] * 2.0 < orchestration[1] && abridged[1] * 2.0 < choreography[1], "{sums:?}");
}
