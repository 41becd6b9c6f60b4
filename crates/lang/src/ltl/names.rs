//! Names for the states of a monitor, after the events they wait for.

use super::labels::proposition;
use super::state_output::{Machine, StateOutput};
use invigil_ltl::TooLarge;
use invigil_ltl::formula::{Formulae, Proposition};
use invigil_ltl::label::{Cube, Labels, Variable};
use invigil_monitor::automaton::EndVerdict;
use invigil_monitor::verdict::Verdict;
use std::collections::{HashMap, HashSet, VecDeque};

/// The maximum length of an atom's name within a state's name.
const MAX_NAME: usize = 24;

/// Returns a unique name for every state: `satisfied` and `violated` for certain verdicts, `open` if the result at the
/// end of the run is not computed, `fine` if the formula holds when the run ends there, and otherwise
/// `waiting_for_grant` or `waiting`.
pub(super) fn names(
    machine: &Machine,
    labels: &Labels,
    formulae: &Formulae,
) -> Result<Vec<String>, TooLarge> {
    let distance = distances(machine);
    let mut names: Vec<String> = Vec::new();
    for (state, output) in machine.outputs.iter().enumerate() {
        let name = match output {
            StateOutput { verdict: Verdict::Accepting, .. } => "satisfied".to_owned(),
            StateOutput { verdict: Verdict::NonAccepting | Verdict::Error, .. } => "violated".to_owned(),
            // The event that it waits for is unknown.
            StateOutput { at_end: EndVerdict::Nothing, .. } => "open".to_owned(),
            _ if is_good(output) => "fine".to_owned(),
            _ => waiting(machine, labels, formulae, state, &distance)?,
        };
        names.push(name);
    }
    number(&mut names);
    Ok(names)
}

/// Whether the formula would hold if the run ended here.
pub(super) fn is_good(output: &StateOutput) -> bool {
    output.verdict == Verdict::Accepting
        || matches!(output.at_end, EndVerdict::Presumably(true) | EndVerdict::Decided(true))
}

/// Per state, the minimum number of steps to one in which the run may end.
fn distances(machine: &Machine) -> Vec<Option<u32>> {
    let mut distance: Vec<Option<u32>> =
        machine.outputs.iter().map(|output| is_good(output).then_some(0)).collect();
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

/// Names a state after the step that leads closer to one in which the run may end.
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

/// Converts a proposition to an identifier.
fn identifier(proposition: &Proposition) -> Option<String> {
    let Proposition::Name(name) = proposition else { return None };
    let clean: String = name.chars().map(|c| if c.is_alphanumeric() { c } else { '_' }).collect();
    let clean = clean.trim_matches('_');
    (!clean.is_empty() && clean.chars().count() <= MAX_NAME).then(|| clean.to_owned())
}

/// Appends numbers to names that occur more than once, to make all names unique.
fn number(names: &mut [String]) {
    let mut taken: HashSet<String> = names.iter().cloned().collect();
    let mut seen: HashMap<String, u32> = HashMap::new();
    for name in names {
        let count = seen.entry(name.clone()).or_default();
        *count += 1;
        if *count == 1 {
            continue;
        }
        // An atom's name may also end in a number.
        while !taken.insert(format!("{name}_{count}")) {
            *count += 1;
        }
        *name = format!("{name}_{count}");
    }
}
