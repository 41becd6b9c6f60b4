//! Reference semantics [EH18 §6]: the verdict of each monitor from each instant on.
//!
//! [EH18 §6] treats a referenced monitor as an oracle: it runs from its initial state on the rest of the trace. The
//! other cases are decided as in encodings of histories: every unknown value, observation or verdict, leaves all
//! possibilities open, and a verdict is known when exactly one state is possible and this state is final. On a cycle of
//! references, verdicts are a least fixed point that starts with all of them unknown.
//!
//! This is slow and simple: the reference for tests of everything else.

use super::graph;
use crate::automaton::{Automaton, State};
use crate::memory::Atom;
use crate::network::Network;
use crate::system::{Instant, MonitorId, PropositionId};
use invigil_ltl::moore::Truth;

/// Verdicts of all monitors of a network on a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdicts {
    /// Verdicts of each monitor from each instant on.
    all: Vec<Vec<Truth>>,
}

impl Verdicts {
    /// Returns the verdict of a monitor on the trace from an instant (from 1) on; unknown after the end of the trace.
    pub fn of(&self, monitor: MonitorId, from: Instant) -> Truth {
        let at = (from as usize).checked_sub(1);
        at.and_then(|at| self.all[monitor.index()].get(at)).copied().unwrap_or(Truth::Unknown)
    }
}

/// Computes the verdicts of all monitors on a trace: the observations of all components at each instant.
pub fn verdicts(network: &Network, trace: &[Vec<(PropositionId, bool)>]) -> Verdicts {
    let mut all: Vec<Vec<Truth>> = vec![vec![Truth::Unknown; trace.len()]; network.monitors.len()];
    let edges = network.graph();
    for component in graph::components(&edges) {
        loop {
            let mut changed = false;
            for &monitor in &component {
                let automaton = &network.monitors[monitor].automaton;
                // Backwards, since verdicts on a cycle mostly depend on later ones.
                for from in (0..trace.len())
                    .rev()
                    .filter(|from| all[monitor][*from] == Truth::Unknown)
                    .collect::<Vec<_>>()
                {
                    let verdict = run(automaton, trace, from, &all);
                    changed |= verdict != Truth::Unknown;
                    all[monitor][from] = verdict;
                }
            }
            if !changed || !graph::is_cycle(&edges, &component) {
                break;
            }
        }
    }
    Verdicts { all }
}

/// Returns the verdict of the root on a trace.
pub fn verdict(network: &Network, trace: &[Vec<(PropositionId, bool)>]) -> Truth {
    verdicts(network, trace).of(network.root, 1)
}

/// Returns the verdict of an automaton on the trace from an index on.
fn run(
    automaton: &Automaton,
    trace: &[Vec<(PropositionId, bool)>],
    from: usize,
    known: &[Vec<Truth>],
) -> Truth {
    let mut possible = vec![automaton.initial];
    for (at, seen) in trace.iter().enumerate().skip(from) {
        if let Some(verdict) = decided(automaton, &possible) {
            return verdict;
        }
        let value = |atom: Atom| match atom {
            Atom::Observed(proposition) => {
                seen.iter().find(|(observed, _)| *observed == proposition).map(|(_, value)| *value)
            }
            Atom::Verdict(monitor) => match known[monitor.index()][at] {
                Truth::True => Some(true),
                Truth::False => Some(false),
                Truth::Unknown => None,
            },
        };
        let mut next: Vec<State> = Vec::new();
        for edge in possible.iter().flat_map(|state| &automaton.edges[*state as usize]) {
            let can_hold = |cube: &Vec<(Atom, bool)>| {
                cube.iter().all(|(atom, expected)| value(*atom).is_none_or(|value| value == *expected))
            };
            if !next.contains(&edge.to) && edge.cubes.iter().any(can_hold) {
                next.push(edge.to);
            }
        }
        possible = next;
    }
    decided(automaton, &possible).unwrap_or(Truth::Unknown)
}

fn decided(automaton: &Automaton, possible: &[State]) -> Option<Truth> {
    match possible {
        [state] => Some(automaton.verdict(*state)).filter(|verdict| *verdict != Truth::Unknown),
        _ => None,
    }
}
