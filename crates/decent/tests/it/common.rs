//! Random systems, formulae and traces, and a monitor that observes everything.

use invigil_decent::algorithm::compile_formula;
use invigil_decent::automaton::Machine;
use invigil_decent::memory::Atom;
use invigil_decent::simulate::Trace;
use invigil_decent::system::System;
use invigil_ltl::formula::Formula;
use invigil_ltl::moore::{Truth, Verdict};
use invigil_ltl::{Budget, Logic, TooLarge};
use invigil_test_support::Rng;

/// Components a, b, … with propositions a0, a1, …
pub(crate) fn system(components: usize, each: usize) -> System {
    let mut system = System::default();
    for letter in ('a'..='z').take(components) {
        let component = system.component(&letter.to_string()).unwrap();
        for number in 0..each {
            system.proposition(component, &format!("{letter}{number}")).unwrap();
        }
    }
    system
}

pub(crate) fn logic() -> Logic {
    Logic::new(Budget { nodes: 1 << 17, states: 300, ..Budget::default() })
}

/// Formula with `size` operators and propositions; one in four has past operators.
pub(crate) fn formula(
    logic: &mut Logic,
    system: &System,
    random: &Rng,
    size: usize,
) -> Result<Formula, TooLarge> {
    let past = random.percent(25);
    drawn(logic, system, random, size, past)
}

fn drawn(
    logic: &mut Logic,
    system: &System,
    random: &Rng,
    size: usize,
    past: bool,
) -> Result<Formula, TooLarge> {
    let names: Vec<_> = system.propositions().collect();
    let formulae = &mut logic.formulae;
    if size <= 1 {
        return formulae.name(system.proposition_name(names[random.below(names.len())]));
    }
    let kind = random.below(if size == 2 { 4 } else { 8 });
    if kind < 4 {
        let inner = drawn(logic, system, random, size - 1, past)?;
        let back = past && random.percent(40);
        let formulae = &mut logic.formulae;
        return match kind {
            0 => formulae.not(inner),
            1 if back => formulae.yesterday(inner),
            2 if back => formulae.once(inner),
            1 => formulae.next(inner),
            2 => formulae.finally(inner),
            _ => formulae.globally(inner),
        };
    }
    let left = 1 + random.below(size - 2);
    let left_side = drawn(logic, system, random, left, past)?;
    let right_side = drawn(logic, system, random, size - 1 - left, past)?;
    let formulae = &mut logic.formulae;
    match kind {
        4 if past && random.percent(40) => formulae.since(left_side, right_side),
        4 => formulae.until(left_side, right_side),
        5 => formulae.weak_until(left_side, right_side),
        6 => formulae.and([left_side, right_side]),
        _ => formulae.or([left_side, right_side]),
    }
}

pub(crate) fn trace(system: &System, rounds: u32, random: &Rng) -> Trace {
    let percent = [15, 50, 85][random.below(3)];
    Trace::from_fn(system, rounds, |_, _| random.percent(percent))
}

/// Verdict of a monitor that observes everything, and its instant.
pub(crate) fn oracle(machine: &Machine, trace: &Trace) -> (Truth, u32) {
    let mut state = machine.initial;
    for at in 1..=trace.rounds() {
        if machine.verdict(state).is_final() {
            return (machine.verdict(state), at - 1);
        }
        state = machine.next(state, |atom| match atom {
            Atom::Observed(known) => trace.value(known, at),
            Atom::Verdict(_) => None,
        });
    }
    (machine.verdict(state), trace.rounds())
}

/// Monitor of a formula in text form.
pub(crate) fn written(system: &System, text: &str) -> (Logic, Formula, Machine) {
    let mut logic = logic();
    let formula = logic.parse(text).unwrap();
    let machine = compile_formula(&mut logic, formula, system).unwrap();
    (logic, formula, machine)
}
