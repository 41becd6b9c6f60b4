//! Names for the states of a monitor: what it waits for there, if it does.

use super::machine::{Machine, Meaning};
use super::words::proposition;
use invigil_ltl::TooLarge;
use invigil_ltl::formula::{Formulae, Proposition};
use invigil_ltl::label::{Cube, Labels, Variable};
use invigil_monitor::automaton::AtEnd;
use invigil_monitor::verdict::Verdict;
use std::collections::{HashMap, HashSet, VecDeque};

/// The longest name of an atom that a state is named after.
const LONGEST: usize = 24;

/// A name for every state, all different: `satisfied` and `violated` where that is certain, `fine` where the
/// formula would hold if nothing more came, and else `waiting_for_grant`, or just `waiting`.
pub(super) fn names(
    machine: &Machine,
    labels: &Labels,
    formulae: &Formulae,
) -> Result<Vec<String>, TooLarge> {
    let distance = distances(machine);
    let mut names: Vec<String> = Vec::new();
    for (state, meaning) in machine.outputs.iter().enumerate() {
        let name = match meaning {
            Meaning { verdict: Verdict::Accepting, .. } => "satisfied".to_owned(),
            Meaning { verdict: Verdict::NonAccepting | Verdict::Error, .. } => "violated".to_owned(),
            // Nothing is known of what it waits for.
            Meaning { at_end: AtEnd::Nothing, .. } => "open".to_owned(),
            _ if is_good(meaning) => "fine".to_owned(),
            _ => waiting(machine, labels, formulae, state, &distance)?,
        };
        names.push(name);
    }
    number(&mut names);
    Ok(names)
}

/// Whether it would do if nothing more came.
pub(super) fn is_good(meaning: &Meaning) -> bool {
    meaning.verdict == Verdict::Accepting
        || matches!(meaning.at_end, AtEnd::Presumably(true) | AtEnd::Decided(true))
}

/// For each state, how many steps it takes at least to one where it would do to end.
fn distances(machine: &Machine) -> Vec<Option<u32>> {
    let mut distance: Vec<Option<u32>> =
        machine.outputs.iter().map(|meaning| is_good(meaning).then_some(0)).collect();
    let mut before: Vec<Vec<usize>> = vec![Vec::new(); machine.states()];
    for (from, edges) in machine.edges.iter().enumerate() {
        edges.iter().for_each(|(_, to)| before[*to as usize].push(from));
    }
    let mut open: VecDeque<usize> =
        (0..machine.states()).filter(|state| distance[*state].is_some()).collect();
    while let Some(state) = open.pop_front() {
        let next = distance[state].map(|steps| steps + 1);
        for from in &before[state] {
            if distance[*from].is_none() {
                distance[*from] = next;
                open.push_back(*from);
            }
        }
    }
    distance
}

/// What a step nearer to the end of all obligations takes.
fn waiting(
    machine: &Machine,
    labels: &Labels,
    formulae: &Formulae,
    state: usize,
    distance: &[Option<u32>],
) -> Result<String, TooLarge> {
    let mut nearer = labels.bottom();
    for (label, to) in &machine.edges[state] {
        let is_nearer = match (distance[state], distance[*to as usize]) {
            (Some(here), Some(there)) => there < here,
            _ => false,
        };
        if is_nearer {
            nearer = labels.or(&nearer, label)?;
        }
    }
    let cubes = labels.cubes(&nearer)?;
    let name = |variable: Variable| proposition(formulae, variable).and_then(identifier);
    let word = |cube: &Cube| -> Option<String> {
        let mut positive = cube.iter().filter(|(_, value)| *value);
        match (positive.next(), positive.next(), &cube[..]) {
            (Some((variable, _)), None, _) => name(*variable),
            (None, _, [(variable, _)]) => name(*variable).map(|name| format!("not_{name}")),
            _ => None,
        }
    };
    let words: Option<Vec<String>> = cubes.iter().map(word).collect();
    Ok(match words {
        Some(mut words) if (1..=2).contains(&words.len()) => {
            words.sort();
            words.dedup();
            format!("waiting_for_{}", words.join("_or_"))
        }
        _ => "waiting".to_owned(),
    })
}

/// A name as a part of another.
fn identifier(proposition: &Proposition) -> Option<String> {
    let Proposition::Name(name) = proposition else { return None };
    let clean: String = name.chars().map(|c| if c.is_alphanumeric() { c } else { '_' }).collect();
    let clean = clean.trim_matches('_');
    (!clean.is_empty() && clean.chars().count() <= LONGEST).then(|| clean.to_owned())
}

/// Puts numbers behind names that are there more than once, such that all are different.
fn number(names: &mut [String]) {
    let mut taken: HashSet<String> = names.iter().cloned().collect();
    let mut seen: HashMap<String, u32> = HashMap::new();
    for name in names {
        let count = seen.entry(name.clone()).or_default();
        *count += 1;
        if *count == 1 {
            continue;
        }
        // An atom may end in a number, too.
        while !taken.insert(format!("{name}_{count}")) {
            *count += 1;
        }
        *name = format!("{name}_{count}");
    }
}
