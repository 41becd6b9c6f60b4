//! What a specification means: the verdict of each monitor from each instant on, by the book.
//!
//! The document asks the monitor that is referred to as an oracle: run from its initial state on what is left of the trace.
//! What it leaves open is decided as for encodings of histories: whatever is not known, be it an observation or what another
//! monitor says, leaves every possibility, and a verdict is there when one state is left and that is final. In a circle of
//! references, nothing is known at first, and what follows is added until nothing more does.
//!
//! This is slow and plain: it is what everything else is tested against.

use super::graph;
use crate::automaton::{Automaton, State};
use crate::memory::Atom;
use crate::network::Network;
use crate::system::{Instant, MonitorId, PropositionId};
use invigil_ltl::moore::Truth;

/// The verdicts of all monitors of a network on a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdicts {
    /// For each monitor, from each instant on.
    all: Vec<Vec<Truth>>,
}

impl Verdicts {
    /// What a monitor says of the trace from an instant on; the first is 1. Beyond the trace nothing is known.
    pub fn of(&self, monitor: MonitorId, from: Instant) -> Truth {
        let at = (from as usize).checked_sub(1);
        at.and_then(|at| self.all[monitor.index()].get(at)).copied().unwrap_or(Truth::Unknown)
    }
}

/// The verdicts of all monitors on a trace: what was observed at each instant, by anybody.
pub fn verdicts(network: &Network, trace: &[Vec<(PropositionId, bool)>]) -> Verdicts {
    let mut all: Vec<Vec<Truth>> = vec![vec![Truth::Unknown; trace.len()]; network.parts.len()];
    let edges = network.graph();
    for component in graph::components(&edges) {
        loop {
            let mut changed = false;
            for &monitor in &component {
                let automaton = &network.parts[monitor].automaton;
                // The last first: what a circle says of an instant mostly depends on what it says of later ones.
                for from in (0..trace.len())
                    .rev()
                    .filter(|from| all[monitor][*from] == Truth::Unknown)
                    .collect::<Vec<_>>()
                {
                    let said = run(automaton, trace, from, &all);
                    changed |= said != Truth::Unknown;
                    all[monitor][from] = said;
                }
            }
            if !changed || !graph::is_cycle(&edges, &component) {
                break;
            }
        }
    }
    Verdicts { all }
}

/// The verdict of the whole on a trace.
pub fn verdict(network: &Network, trace: &[Vec<(PropositionId, bool)>]) -> Truth {
    verdicts(network, trace).of(network.root, 1)
}

/// What an automaton says of the trace from a place on.
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
                cube.iter().all(|(atom, wanted)| value(*atom).is_none_or(|is| is == *wanted))
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
