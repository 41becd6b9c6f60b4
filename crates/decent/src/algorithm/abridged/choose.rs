//! Where the main monitor is.

use super::super::{NoSetup, setup};
use crate::automaton::Refused;
use crate::memory::Atom;
use crate::system::{ComponentId, PropositionId, System};
use invigil_ltl::Logic;
use invigil_ltl::label::Variable;
use invigil_ltl::moore::{Moore, Truth};

/// What an automaton looks at, for each component that observes it.
pub(super) type Local = Vec<(ComponentId, Vec<(Variable, PropositionId)>)>;

/// How many rounds are looked ahead.
const AHEAD: usize = 64;

/// What the automaton looks at on each component.
pub(super) fn local(logic: &Logic, moore: &Moore<Truth>, system: &System) -> Result<Local, NoSetup> {
    let mut local: Local = system.components().map(|component| (component, Vec::new())).collect();
    for atom in moore.atoms(&logic.labels) {
        let name = logic.formulae.proposition(atom);
        let Some(Atom::Observed(known)) = setup::observed(system, name) else {
            return Err(Refused::Unknown(name.clone()).into());
        };
        local[system.owner(known).index()].1.push((Variable::Atom(atom), known));
    }
    Ok(local)
}

/// The component that would have to send most often, if every edge out of a state is as likely as the others; the first of them.
/// None if nothing is looked at.
pub(super) fn main(logic: &Logic, moore: &Moore<Truth>, local: &Local) -> Option<ComponentId> {
    let visits = visits(moore);
    let often = |own: &[(Variable, PropositionId)]| -> f64 {
        let looks = |state: usize| {
            let labels = moore.edges[state].iter().map(|(label, _)| label);
            let mut support = labels.flat_map(|label| logic.labels.support(label));
            support.any(|variable| own.iter().any(|(known, _)| *known == variable))
        };
        visits.iter().enumerate().filter(|(state, _)| looks(*state)).map(|(_, visits)| *visits).sum()
    };
    let mut best = None;
    for (at, own) in local.iter().filter(|(_, own)| !own.is_empty()) {
        let often = (often(own), own.len());
        if best.is_none_or(|(most, _)| often > most) {
            best = Some((often, *at));
        }
    }
    best.map(|(_, at)| at)
}

/// How often each state is visited in the first rounds.
fn visits(moore: &Moore<Truth>) -> Vec<f64> {
    let mut now = vec![0.0; moore.states()];
    now[moore.initial as usize] = 1.0;
    let mut sum = now.clone();
    for _ in 1..AHEAD {
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
