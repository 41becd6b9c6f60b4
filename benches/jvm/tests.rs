//! The programs and scripts of the benchmark work, and all counts are exact.

use super::events::{Bench, Program};
use super::ours::Watching;
use super::programs::{Programs, example};
use super::scripts::{REQUIREMENT, Reduction, condition};
use super::{bank, evaluator, figures, sieve};

#[test]
fn figures_are_minimum_of_lines() {
    let text = "figures events=10 cpu=50 wall=90\nsum 3\nfigures events=10 cpu=60 wall=80\nsteps 20\n";
    let least = figures::read(text).unwrap();
    assert_eq!((least.cpu, least.wall), (5.0, 8.0));
    assert_eq!(figures::count(text, "steps "), Some(20));
    assert!(figures::read("sum 3").is_err());
}

#[test]
fn condition_has_given_number_of_operators() {
    for length in [1, 2, 50, 150] {
        for reduction in [Reduction::None, Reduction::Value] {
            let text = condition("A.x", length, reduction);
            let operators = text.chars().filter(|letter| "+*>".contains(*letter)).count();
            assert_eq!(operators, length, "{text}");
            assert!(Watching::scripts(&text, REQUIREMENT).is_ok());
        }
        assert!(evaluator::measure(length, true, 100).is_ok());
        assert!(evaluator::measure(length, false, 100).is_ok());
    }
}

#[test]
fn scripts_of_examples_compile() {
    let requirements = sieve::quiet(&example("sieve/sieve.medl").unwrap());
    for file in ["sieve.pedl", "delta.pedl", "value.pedl"] {
        assert!(Watching::scripts(&sieve::script(file).unwrap(), &requirements).is_ok());
    }
    assert!(bank::properties(&[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]).is_ok());
}

#[test]
fn every_event_is_counted() {
    let programs = Programs::build().unwrap();
    let bench = Bench { programs: &programs, events: 5_000, times: 3 };
    for program in [Program::Writes, Program::Calls, Program::Objects(1), Program::Objects(100)] {
        bench.alone(program).unwrap();
        let watching = Watching::property(&program.property()).unwrap();
        bench.ours(program, &watching).unwrap();
    }
    let few = Bench { events: 20, times: 1, ..bench };
    few.ours(Program::Writes, &Watching::property(&Program::Writes.property()).unwrap().recorded()).unwrap();
    few.debugger().unwrap();
    if let Some(aspectj) = programs.aspectj() {
        few.peer(Program::Writes, &aspectj.compiled(&programs)).unwrap();
        few.peer(Program::Calls, &aspectj.loaded(&programs)).unwrap();
    }
}
