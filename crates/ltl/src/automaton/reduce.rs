//! All reductions together, as long as they find something.

use super::Automaton;
use super::attempt::Judge;
use super::marks::Place;
use crate::label::Labels;
use crate::{Logic, TooLarge};

/// Ways to degeneralise that are tried.
const CHOICES: usize = 2;

/// How many of the results of these are worked on further.
const BEST: usize = 2;

/// More states than this are not looked at from all sides.
const SMALL: usize = 60;

/// With more states than this they are not left out to see what happens.
const TINY: usize = 16;

/// With more states than this no changes are tried.
const MEDIUM: usize = 200;

/// A smaller automaton for the same language. With an automaton for just the words that are not in the
/// language, much more is found; that one need not be small.
///
/// # Errors
/// If there is no room.
pub fn reduce(
    automaton: &Automaton,
    negation: Option<&Automaton>,
    logic: &Logic,
) -> Result<Automaton, TooLarge> {
    let judge = negation.map(|negation| Judge { logic, negation });
    let found = generalised(automaton, judge.as_ref(), logic)?;
    let best = found.into_iter().min_by_key(size).unwrap_or_else(Automaton::empty);
    Ok(attempt(&best, judge.as_ref(), Place::Edges, Care::All))
}

/// A somewhat smaller automaton for the same language, quickly.
///
/// # Errors
/// If there is no room.
pub(crate) fn tidy(automaton: &Automaton, logic: &Logic) -> Result<Automaton, TooLarge> {
    round(&automaton.trim(&logic.labels)?, &logic.labels, Place::Edges, false)
}

/// A small Büchi automaton for the same language: one acceptance set, marks on states. With an automaton for
/// just the words that are not in the language, much more is found; that one need not be small.
///
/// # Errors
/// If it would be too large.
pub fn buchi(
    automaton: &Automaton,
    negation: Option<&Automaton>,
    logic: &Logic,
) -> Result<Automaton, TooLarge> {
    let judge = negation.map(|negation| Judge { logic, negation });
    let mut found = Vec::new();
    for start in generalised(automaton, judge.as_ref(), logic)? {
        found.extend(choices(&start, Place::States, logic)?);
    }
    found.sort_by_key(size);
    found.dedup();
    found.truncate(BEST);
    let merged = found.iter().map(|one| attempt(one, judge.as_ref(), Place::States, Care::Merging));
    let best = merged.min_by_key(size).unwrap_or_else(Automaton::empty);
    let best = attempt(&best, judge.as_ref(), Place::States, Care::All);
    // One that accepts nothing has lost its set.
    Ok(Automaton { sets: 1, ..best })
}

/// Small automata with marks on edges: one with several sets, perhaps, and some with one. With one there may
/// be more states, but also more to reduce.
fn generalised(
    automaton: &Automaton,
    judge: Option<&Judge>,
    logic: &Logic,
) -> Result<Vec<Automaton>, TooLarge> {
    let merged = |one: &Automaton| attempt(one, judge, Place::Edges, Care::Merging);
    let mut best = merged(&shrink(automaton, &logic.labels, Place::Edges)?);
    // What is too large for this is not an obligation for us.
    if let Ok(Some(weak)) = best.obligation(judge.map(|judge| judge.negation), logic) {
        let weak = shrink(&weak, &logic.labels, Place::Edges)?;
        if size(&weak) < size(&best) {
            best = weak;
        }
    }
    let mut found = vec![best];
    if found[0].sets > 1 {
        let singles = choices(&found[0], Place::Edges, logic)?;
        found.extend(singles.iter().map(merged));
    }
    Ok(found)
}

/// The smallest results of different ways to degeneralise.
fn choices(automaton: &Automaton, place: Place, logic: &Logic) -> Result<Vec<Automaton>, TooLarge> {
    let mut found = Vec::new();
    for choice in 0..CHOICES {
        let Some(made) = automaton.degeneralise(place, choice, logic)? else { break };
        found.push(shrink(&made, &logic.labels, place)?);
        if made.states() > SMALL {
            break;
        }
    }
    found.sort_by_key(size);
    found.dedup();
    found.truncate(BEST);
    Ok(found)
}

/// What counts: states, then edges, then acceptance sets.
fn size(automaton: &Automaton) -> (usize, usize, u32) {
    (automaton.states(), automaton.edge_count(), automaton.sets)
}

/// The reductions that are known to keep the language, until none finds anything.
fn shrink(automaton: &Automaton, labels: &Labels, place: Place) -> Result<Automaton, TooLarge> {
    let mut best = automaton.trim(labels)?;
    loop {
        let mut next = best.clone();
        for most in [false, true] {
            next = round(&next, labels, place, most)?;
        }
        if (2..=SMALL).contains(&next.states())
            && let Some(included) = next.fair_simulation(&next, labels)?
        {
            next = next.lead_away(&included, labels)?.trim(labels)?;
        }
        if size(&next) >= size(&best) {
            return Ok(best);
        }
        best = next;
    }
}

/// Which changes are tried.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Care {
    /// Only to merge states, which is quickly judged.
    Merging,
    /// To leave out states, too.
    All,
}

/// Tries changes until none is found, with the reductions after each. What cannot be judged within the budget
/// is not changed.
fn attempt(automaton: &Automaton, judge: Option<&Judge>, place: Place, care: Care) -> Automaton {
    let mut best = automaton.clone();
    let Some(judge) = judge else { return best };
    while best.states() <= MEDIUM {
        let Ok(Some(next)) = change(&best, judge, place, care) else { break };
        best = next;
    }
    best
}

/// An automaton with fewer states, if a change that is tried leads to one.
fn change(
    automaton: &Automaton,
    judge: &Judge,
    place: Place,
    care: Care,
) -> Result<Option<Automaton>, TooLarge> {
    // The fewer marks there are, the fewer cycles become accepting by chance.
    let mut next = judge.merge(&automaton.with_fewest_marks(place), place)?;
    if next.states() == automaton.states() && next.states() <= TINY && care == Care::All {
        next = judge.without_one(&next)?.unwrap_or(next);
    }
    if next.states() == automaton.states() {
        return Ok(None);
    }
    shrink(&next, &judge.logic.labels, place).map(Some)
}

/// Each reduction once, with as many or as few marks as can be.
fn round(automaton: &Automaton, labels: &Labels, place: Place, most: bool) -> Result<Automaton, TooLarge> {
    let marked = |automaton: &Automaton| match most {
        true => automaton.with_most_marks(place),
        false => automaton.with_fewest_marks(place),
    };
    let mut next = automaton.clone();
    if place == Place::Edges {
        next = next.with_few_sets();
    }
    next = marked(&next).merge_bisimilar(labels)?.trim(labels)?;
    if next.states() == 1 {
        return Ok(next);
    }
    if let Some(simulation) = next.simulation(labels)? {
        next = next.prune_targets(&simulation, labels)?.merge_mutual(&simulation, labels)?.trim(labels)?;
    }
    next = marked(&next);
    if let Some(reverse) = next.reverse_simulation(labels, place == Place::States)? {
        next = next.prune_sources(&reverse, labels)?.merge_mutual(&reverse, labels)?.trim(labels)?;
    }
    Ok(next)
}
