//! Every algorithm, on both encodings, says what a monitor that sees everything says.

mod support;

use invigil_decent::algorithm::{Choice, Prepared, machine};
use invigil_decent::encoding::{Encoding, Expressions, States};
use invigil_decent::measure::Figures;
use invigil_decent::simulate::{Conditions, Outcome, Trace};
use invigil_decent::system::System;
use invigil_ltl::Logic;
use invigil_ltl::formula::Formula;
use invigil_ltl::moore::Truth;
use support::{Random, formula, logic, oracle, system, trace};

/// Networks that lose nothing.
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
    choice: Choice,
    (logic, formula): (&mut Logic, Formula),
    system: &System,
    conditions: Conditions,
    trace: &Trace,
) -> (Outcome, Figures) {
    let prepared = Prepared::<E>::new(choice, logic, formula, system).unwrap();
    let mut found = None;
    prepared.run(system, conditions, [trace], |outcome, figures| found = Some((outcome, figures))).unwrap();
    found.unwrap()
}

/// How often choreography found what there was to be found.
#[derive(Default)]
struct Tally {
    found: u32,
    there: u32,
}

fn check<E: Encoding>(seed: u64, cases: usize, rounds: u32, choices: &[Choice], is_exact: bool) -> Tally {
    let mut random = Random(seed);
    let mut tally = Tally::default();
    for case in 0..cases {
        let system = system(2 + case % 3, 2);
        let mut logic = logic();
        let size = 3 + random.below(8);
        let Ok(formula) = formula(&mut logic, &system, &mut random, size) else { continue };
        let Ok(machine) = machine(&mut logic, formula, &system) else { continue };
        let trace = trace(&system, rounds, &mut random);
        let (expected, _) = oracle(&machine, &trace);
        for (network, conditions) in networks().into_iter().enumerate() {
            for choice in choices {
                let (outcome, _) = run::<E>(*choice, (&mut logic, formula), &system, conditions, &trace);
                let shown = logic.formulae.show(formula);
                let words =
                    format!("{choice} says {outcome:?}, not {expected}, of {shown} on network {network}");
                // Parts that are cut off do not know of each other, so it may take longer, or for ever.
                if *choice == Choice::Choreography || !is_exact {
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

const ALL: [Choice; 8] = [
    Choice::Orchestration,
    Choice::Migration { active: 1 },
    Choice::Migration { active: 2 },
    Choice::RoundRobin { active: 1 },
    Choice::RoundRobin { active: 2 },
    Choice::Choreography,
    Choice::Broadcast,
    Choice::Abridged,
];

#[test]
fn all_agree_on_possible_states() {
    check::<States>(1, 150, 20, &ALL, true);
}

#[test]
fn all_agree_on_expressions() {
    // One history that nobody joins with another loses nothing.
    let alone = [Choice::Orchestration, Choice::Abridged];
    check::<Expressions>(2, 40, 10, &alone, true);
    // The disjunction of two may lose what is impossible, and find things out later.
    let tally = check::<Expressions>(3, 25, 8, &ALL, false);
    assert!(tally.found * 10 > tally.there * 9, "{} of {}", tally.found, tally.there);
}

#[test]
fn choreography_mostly_finds_what_there_is() {
    let tally = check::<States>(4, 100, 20, &[Choice::Choreography], true);
    assert!(tally.found * 10 > tally.there * 8, "{} of {}", tally.found, tally.there);
}

#[test]
fn lost_messages_make_nobody_lie() {
    let mut random = Random(5);
    for case in 0..60 {
        let system = system(2 + case % 3, 2);
        let mut logic = logic();
        let Ok(formula) = formula(&mut logic, &system, &mut random, 8) else { continue };
        let Ok(machine) = machine(&mut logic, formula, &system) else { continue };
        let trace = trace(&system, 20, &mut random);
        let (expected, _) = oracle(&machine, &trace);
        let lossy = Conditions { loss: 0.2, jitter: 1, seed: case as u64, ..Conditions::default() };
        for choice in ALL {
            let (outcome, _) = run::<States>(choice, (&mut logic, formula), &system, lossy, &trace);
            assert!(outcome.verdict == expected || outcome.verdict == Truth::Unknown, "{choice}");
        }
    }
}

#[test]
fn the_same_run_goes_the_same_way() {
    let mut random = Random(6);
    let system = system(3, 2);
    let mut logic = logic();
    let formula = logic.parse("G (a0 -> F (b0 & X c1))").unwrap();
    let trace = trace(&system, 50, &mut random);
    let bad = Conditions { loss: 0.1, duplication: 0.1, jitter: 2, shuffle: true, ..Conditions::default() };
    for choice in ALL {
        let [one, two] = [(); 2].map(|()| run::<States>(choice, (&mut logic, formula), &system, bad, &trace));
        assert_eq!(one, two, "{choice}");
    }
}

#[test]
fn abridged_is_never_behind_orchestration() {
    let mut random = Random(7);
    let mut sums = [[0.0; 2]; 3];
    for case in 0..150 {
        let system = system(2 + case % 4, 2);
        let mut logic = logic();
        let size = 4 + random.below(8);
        let Ok(formula) = formula(&mut logic, &system, &mut random, size) else { continue };
        if machine(&mut logic, formula, &system).is_err() {
            continue;
        }
        let trace = trace(&system, 30, &mut random);
        let all = [Choice::Orchestration, Choice::Choreography, Choice::Abridged];
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
