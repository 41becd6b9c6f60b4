//! Infers components for specifications that only define monitors.

use crate::decent::{RawBody, RawComponent, RawMonitor};
use invigil_expr::diag::Span;
use invigil_ltl::formula::Proposition;
use std::collections::HashMap;

/// Infers the components from the propositions that monitors use.
pub(super) fn infer(monitors: &[RawMonitor]) -> Vec<RawComponent> {
    // The propositions in source order, each with its position and another one of the same component.
    let mut places: HashMap<String, usize> = HashMap::new();
    let mut names: Vec<(String, Span)> = Vec::new();
    let mut same_component: Vec<usize> = Vec::new();
    for monitor in monitors {
        let RawBody::ParsedFormula(tree, text) = &monitor.body else { continue };
        let mut first = None;
        for (proposition, place) in tree.atoms() {
            let Proposition::Name(name) = proposition else { continue };
            let at = *places.entry(name.clone()).or_insert_with(|| {
                names.push((name.clone(), text.span(place)));
                same_component.push(same_component.len());
                names.len() - 1
            });
            let group = *first.get_or_insert(at);
            let (one, other) =
                (representative(&mut same_component, group), representative(&mut same_component, at));
            same_component[one.max(other)] = one.min(other);
        }
    }
    let by_letter = names.iter().all(|(name, _)| letter(name).is_some());
    let mut components: Vec<RawComponent> = Vec::new();
    let mut known: HashMap<String, usize> = HashMap::new();
    for at in 0..names.len() {
        let name = match letter(&names[at].0) {
            Some(letter) if by_letter => letter.to_owned(),
            _ => names[representative(&mut same_component, at)].0.clone(),
        };
        let component = *known.entry(name.clone()).or_insert_with(|| {
            components.push(RawComponent { name, span: names[at].1, propositions: Vec::new() });
            components.len() - 1
        });
        components[component].propositions.push(names[at].clone());
    }
    if by_letter {
        components.sort_by(|one, other| one.name.cmp(&other.name));
    }
    components
}

/// Returns the first proposition known to be of the same component.
fn representative(same_component: &mut [usize], at: usize) -> usize {
    let mut representative = at;
    while same_component[representative] != representative {
        same_component[representative] = same_component[same_component[representative]];
        representative = same_component[representative];
    }
    representative
}

/// Returns the letter of a proposition that consists of a letter and a number.
fn letter(name: &str) -> Option<&str> {
    let number = name.get(1..)?;
    let is_number = !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit());
    (name.as_bytes()[0].is_ascii_lowercase() && is_number).then(|| &name[..1])
}
