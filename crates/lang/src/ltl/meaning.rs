//! Verdicts of the states of a formula's monitor.

use invigil_ltl::moore::{Four, Moore, Truth};
use invigil_monitor::automaton::AtEnd;
use invigil_monitor::verdict::Verdict;

/// The verdict of a state, and the result for a run that ends there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Meaning {
    pub(super) verdict: Verdict,
    pub(super) at_end: AtEnd,
}

/// A Moore machine with the output of a property's states.
pub(super) type Machine = Moore<Meaning>;

/// The meaning of a state for a run that may continue.
pub(super) fn certain(output: Truth) -> Meaning {
    let verdict = match output {
        Truth::False => Verdict::NonAccepting,
        Truth::Unknown => Verdict::Undecided,
        Truth::True => Verdict::Accepting,
    };
    Meaning { verdict, at_end: AtEnd::Nothing }
}

/// As [`certain`], with presumptive results for undecided states.
pub(super) fn presumed(output: Four) -> Meaning {
    let open = |holds| Meaning { verdict: Verdict::Undecided, at_end: AtEnd::Presumably(holds) };
    match output {
        Four::False => certain(Truth::False),
        Four::PresumablyFalse => open(false),
        Four::PresumablyTrue => open(true),
        Four::True => certain(Truth::True),
    }
}

/// Monitor of finite traces: verdicts that are certain earlier are kept.
pub(super) fn finite(machine: Moore<bool>) -> Machine {
    let can = |wanted: bool| machine.can_reach(|_, output| output == wanted);
    let (can_hold, can_fail) = (can(true), can(false));
    let outputs = (0..machine.states()).map(|state| Meaning {
        verdict: match (can_hold[state], can_fail[state]) {
            (true, false) => Verdict::Accepting,
            (false, true) => Verdict::NonAccepting,
            _ => Verdict::Undecided,
        },
        at_end: AtEnd::Decided(machine.outputs[state]),
    });
    Moore { initial: machine.initial, outputs: outputs.collect(), edges: machine.edges }
}
