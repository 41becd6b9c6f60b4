//! Placement of the main monitor.

use super::super::{SetupError, setup};
use crate::automaton::AutomatonError;
use crate::memory::Atom;
use crate::system::{ComponentId, PropositionId, System};
use invigil_ltl::Logic;
use invigil_ltl::label::Variable;
use invigil_ltl::moore::{Moore, Truth};

/// Propositions in the labels of the automaton, grouped by component.
pub(super) type LocalPropositions = Vec<(ComponentId, Vec<(Variable, PropositionId)>)>;

/// Number of rounds for which visits are estimated.
const ROUNDS_AHEAD: usize = 64;

/// Groups the propositions of the automaton by component.
pub(super) fn local_propositions(
    logic: &Logic,
    moore: &Moore<Truth>,
    system: &System,
) -> Result<LocalPropositions, SetupError> {
    let mut local: LocalPropositions = system.components().map(|component| (component, Vec::new())).collect();
    for atom in moore.atoms(&logic.labels) {
        let name = logic.formulae.proposition(atom);
        let Some(Atom::Observed(known)) = setup::observed_atom(system, name) else {
            return Err(AutomatonError::Unknown(name.clone()).into());
        };
        local[system.owner(known).index()].1.push((Variable::Atom(atom), known));
    }
    Ok(local)
}

/// Returns the component that would send most often if all edges out of a state were equally likely; the first of them.
/// `None` if the automaton has no propositions.
pub(super) fn main_component(
    logic: &Logic,
    moore: &Moore<Truth>,
    local: &LocalPropositions,
) -> Option<ComponentId> {
    let visits = visits(moore);
    let frequency = |own: &[(Variable, PropositionId)]| -> f64 {
        let depends_on_own = |state: usize| {
            let labels = moore.edges[state].iter().map(|(label, _)| label);
            let mut support = labels.flat_map(|label| logic.labels.support(label));
            support.any(|variable| own.iter().any(|(known, _)| *known == variable))
        };
        visits.iter().enumerate().filter(|(state, _)| depends_on_own(*state)).map(|(_, visits)| *visits).sum()
    };
    let mut best = None;
    for (at, own) in local.iter().filter(|(_, own)| !own.is_empty()) {
        let rank = (frequency(own), own.len());
        if best.is_none_or(|(most, _)| rank > most) {
            best = Some((rank, *at));
        }
    }
    best.map(|(_, at)| at)
}

/// Estimates how often each state is visited in the first rounds.
fn visits(moore: &Moore<Truth>) -> Vec<f64> {
    let mut now = vec![0.0; moore.states()];
    now[moore.initial as usize] = 1.0;
    let mut sum = now.clone();
    for _ in 1..ROUNDS_AHEAD {
        let mut next = vec![0.0; now.len()];
        for (edges, share) in moore.edges.iter().zip(&now) {
            for (_, to) in edges {
                next[*to as usize] += share / edges.len() as f64;
            }
        }
        for (sum, next) in sum.iter_mut().zip(&next) {
            *sum += next;
        }
        now = next;
    }
    sum
}
