//! The reduction pipeline: all reductions, repeated until none applies.

use super::Automaton;
use super::marks::MarkCarrier;
use super::speculative::SpeculativeReducer;
use crate::label::Labels;
use crate::{Logic, TooLarge};

/// Number of degeneralisations that are tried.
const CHOICES: usize = 2;

/// Number of their results that are reduced further.
const BEST: usize = 2;

/// Maximum number of states for fair simulation and for several degeneralisations.
const SMALL: usize = 60;

/// Maximum number of states for speculative removals.
const TINY: usize = 16;

/// Maximum number of states for speculative merges.
const MEDIUM: usize = 200;

/// Reduces an automaton. An automaton of the complement enables speculative reductions; it need not be small.
///
/// # Errors
/// Fails if the decision diagrams of the labels outgrow the budget.
pub fn reduce(
    automaton: &Automaton,
    negation: Option<&Automaton>,
    logic: &Logic,
) -> Result<Automaton, TooLarge> {
    let reducer = negation.map(|negation| SpeculativeReducer { logic, negation });
    let candidates = transition_based(automaton, reducer.as_ref(), logic)?;
    let best = candidates.into_iter().min_by_key(size).unwrap_or_else(Automaton::empty);
    Ok(reduce_speculatively(&best, reducer.as_ref(), MarkCarrier::Edges, Changes::All))
}

/// Applies each cheap reduction once.
///
/// # Errors
/// Fails if the decision diagrams of the labels outgrow the budget.
pub(crate) fn reduce_once(automaton: &Automaton, logic: &Logic) -> Result<Automaton, TooLarge> {
    apply_each(&automaton.trim(&logic.labels)?, &logic.labels, MarkCarrier::Edges, false)
}

/// Converts an automaton to a small state-based Büchi automaton. An automaton of the complement enables speculative
/// reductions; it need not be small.
///
/// # Errors
/// Fails if the result outgrows the budget.
pub fn buchi(
    automaton: &Automaton,
    negation: Option<&Automaton>,
    logic: &Logic,
) -> Result<Automaton, TooLarge> {
    let reducer = negation.map(|negation| SpeculativeReducer { logic, negation });
    let mut candidates = Vec::new();
    for start in transition_based(automaton, reducer.as_ref(), logic)? {
        candidates.extend(degeneralisations(&start, MarkCarrier::States, logic)?);
    }
    candidates.sort_by_key(size);
    candidates.dedup();
    candidates.truncate(BEST);
    let merged = candidates
        .iter()
        .map(|one| reduce_speculatively(one, reducer.as_ref(), MarkCarrier::States, Changes::Merges));
    let best = merged.min_by_key(size).unwrap_or_else(Automaton::empty);
    let best = reduce_speculatively(&best, reducer.as_ref(), MarkCarrier::States, Changes::All);
    // The automaton of the empty language has no set.
    Ok(Automaton { sets: 1, ..best })
}

/// Returns small automata with marks on edges: the reduced automaton and, if that has several acceptance sets, some with
/// one set. These may have more states, but can be reduced further.
fn transition_based(
    automaton: &Automaton,
    reducer: Option<&SpeculativeReducer>,
    logic: &Logic,
) -> Result<Vec<Automaton>, TooLarge> {
    let merged = |one: &Automaton| reduce_speculatively(one, reducer, MarkCarrier::Edges, Changes::Merges);
    let mut best = merged(&reduce_to_fixpoint(automaton, &logic.labels, MarkCarrier::Edges)?);
    // If the check is too expensive, the automaton is treated as one that is not an obligation.
    if let Ok(Some(weak)) = best.minimise_obligation(reducer.map(|reducer| reducer.negation), logic) {
        let weak = reduce_to_fixpoint(&weak, &logic.labels, MarkCarrier::Edges)?;
        if size(&weak) < size(&best) {
            best = weak;
        }
    }
    let mut candidates = vec![best];
    if candidates[0].sets > 1 {
        let singles = degeneralisations(&candidates[0], MarkCarrier::Edges, logic)?;
        candidates.extend(singles.iter().map(merged));
    }
    Ok(candidates)
}

/// Returns the smallest of several degeneralisations.
fn degeneralisations(
    automaton: &Automaton,
    carrier: MarkCarrier,
    logic: &Logic,
) -> Result<Vec<Automaton>, TooLarge> {
    let mut candidates = Vec::new();
    for choice in 0..CHOICES {
        let Some(degeneralised) = automaton.degeneralise(carrier, choice, logic)? else { break };
        candidates.push(reduce_to_fixpoint(&degeneralised, &logic.labels, carrier)?);
        if degeneralised.states() > SMALL {
            break;
        }
    }
    candidates.sort_by_key(size);
    candidates.dedup();
    candidates.truncate(BEST);
    Ok(candidates)
}

/// Returns the measure of an automaton: states, then edges, then acceptance sets.
fn size(automaton: &Automaton) -> (usize, usize, u32) {
    (automaton.states(), automaton.edge_count(), automaton.sets)
}

/// Applies the reductions that always preserve the language, until a fixed point.
fn reduce_to_fixpoint(
    automaton: &Automaton,
    labels: &Labels,
    carrier: MarkCarrier,
) -> Result<Automaton, TooLarge> {
    let mut best = automaton.trim(labels)?;
    loop {
        let mut next = best.clone();
        for saturate in [false, true] {
            next = apply_each(&next, labels, carrier, saturate)?;
        }
        if (2..=SMALL).contains(&next.states())
            && let Some(included) = next.fair_simulation(&next, labels)?
        {
            next = next.redirect_by_inclusion(&included, labels)?.trim(labels)?;
        }
        if size(&next) >= size(&best) {
            return Ok(best);
        }
        best = next;
    }
}

/// Speculative changes that are tried.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Changes {
    /// Merges of states, which are cheap to check.
    Merges,
    /// Merges and removals of states.
    All,
}

/// Applies speculative changes, each followed by the other reductions, until none succeeds. Changes that cannot be checked
/// within the budget are dropped.
fn reduce_speculatively(
    automaton: &Automaton,
    reducer: Option<&SpeculativeReducer>,
    carrier: MarkCarrier,
    changes: Changes,
) -> Automaton {
    let mut best = automaton.clone();
    let Some(reducer) = reducer else { return best };
    while best.states() <= MEDIUM {
        let Ok(Some(next)) = speculate(&best, reducer, carrier, changes) else { break };
        best = next;
    }
    best
}

/// Tries one round of speculative changes. Returns an automaton with fewer states, if there is one.
fn speculate(
    automaton: &Automaton,
    reducer: &SpeculativeReducer,
    carrier: MarkCarrier,
    changes: Changes,
) -> Result<Option<Automaton>, TooLarge> {
    // With fewer marks, a merge is less likely to create accepting cycles.
    let mut next = reducer.merge_states(&automaton.with_fewest_marks(carrier), carrier)?;
    if next.states() == automaton.states() && next.states() <= TINY && changes == Changes::All {
        next = reducer.remove_state(&next)?.unwrap_or(next);
    }
    if next.states() == automaton.states() {
        return Ok(None);
    }
    reduce_to_fixpoint(&next, &reducer.logic.labels, carrier).map(Some)
}

/// Applies each reduction once, with as many or as few marks as possible.
fn apply_each(
    automaton: &Automaton,
    labels: &Labels,
    carrier: MarkCarrier,
    saturate: bool,
) -> Result<Automaton, TooLarge> {
    let marked = |automaton: &Automaton| match saturate {
        true => automaton.with_most_marks(carrier),
        false => automaton.with_fewest_marks(carrier),
    };
    let mut next = automaton.clone();
    if carrier == MarkCarrier::Edges {
        next = next.with_fewer_sets();
    }
    next = marked(&next).merge_bisimilar(labels)?.trim(labels)?;
    if next.states() == 1 {
        return Ok(next);
    }
    if let Some(simulation) = next.simulation(labels)? {
        next =
            next.prune_targets(&simulation, labels)?.merge_equivalent(&simulation, labels)?.trim(labels)?;
    }
    next = marked(&next);
    if let Some(reverse) = next.reverse_simulation(labels, carrier == MarkCarrier::States)? {
        next = next.prune_sources(&reverse, labels)?.merge_equivalent(&reverse, labels)?.trim(labels)?;
    }
    Ok(next)
}
