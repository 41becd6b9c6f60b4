//! Outputs of the states of a formula's monitor.

use invigil_ltl::moore::{FourValuedTruth, Moore, Truth};
use invigil_monitor::automaton::EndVerdict;
use invigil_monitor::verdict::Verdict;

/// Output of a state: its verdict, and the result for a run that ends there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StateOutput {
    pub(super) verdict: Verdict,
    pub(super) at_end: EndVerdict,
}

/// Monitor of a formula.
pub(super) type Machine = Moore<StateOutput>;

/// Returns the output of a state for a run that may continue.
pub(super) fn certain_output(output: Truth) -> StateOutput {
    let verdict = match output {
        Truth::False => Verdict::NonAccepting,
        Truth::Unknown => Verdict::Undecided,
        Truth::True => Verdict::Accepting,
    };
    StateOutput { verdict, at_end: EndVerdict::Nothing }
}

/// Returns the output of a state with presumptive results for undecided states.
pub(super) fn presumptive_output(output: FourValuedTruth) -> StateOutput {
    let undecided =
        |holds| StateOutput { verdict: Verdict::Undecided, at_end: EndVerdict::Presumably(holds) };
    match output {
        FourValuedTruth::False => certain_output(Truth::False),
        FourValuedTruth::PresumablyFalse => undecided(false),
        FourValuedTruth::PresumablyTrue => undecided(true),
        FourValuedTruth::True => certain_output(Truth::True),
    }
}

/// Returns the monitor for finite traces. A state also has a verdict if it is certain before the end.
pub(super) fn finite_monitor(machine: Moore<bool>) -> Machine {
    let can = |wanted: bool| machine.can_reach(|_, output| output == wanted);
    let (can_hold, can_fail) = (can(true), can(false));
    let outputs = (0..machine.states()).map(|state| StateOutput {
        verdict: match (can_hold[state], can_fail[state]) {
            (true, false) => Verdict::Accepting,
            (false, true) => Verdict::NonAccepting,
            _ => Verdict::Undecided,
        },
        at_end: EndVerdict::Decided(machine.outputs[state]),
    });
    Moore { initial: machine.initial, outputs: outputs.collect(), edges: machine.edges }
}
