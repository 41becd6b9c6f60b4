//! An irredundant sum of products (Minato and Morreale): the form in which labels are written.

use super::{Cube, Label, Labels, Variable};
use crate::{Budget, TooLarge};
use rustc_hash::FxHashMap;

/// Products that cover a function, and the function of their sum.
type Cover = (Vec<Cube>, Label);

/// A sum of products for `a`.
pub(super) fn irredundant(labels: &Labels, a: &Label) -> Result<Vec<Cube>, TooLarge> {
    Ok(cover(labels, a, a, &mut FxHashMap::default())?.0)
}

/// A sum of products that is true where `least` is, and only where `most` is.
fn cover(
    labels: &Labels,
    least: &Label,
    most: &Label,
    known: &mut FxHashMap<(Label, Label), Cover>,
) -> Result<Cover, TooLarge> {
    if least.is_false() {
        return Ok((Vec::new(), labels.bottom()));
    }
    if most.is_true() {
        return Ok((vec![Vec::new()], labels.top()));
    }
    let key = (least.clone(), most.clone());
    if let Some(found) = known.get(&key) {
        return Ok(found.clone());
    }
    let (variable, least_yes, least_no, most_yes, most_no) = branch(labels, least, most);
    // What only this value of the variable can give …
    let (yes, yes_sum) = cover(labels, &labels.minus(&least_yes, &most_no)?, &most_yes, known)?;
    let (no, no_sum) = cover(labels, &labels.minus(&least_no, &most_yes)?, &most_no, known)?;
    // … and the rest, whatever the variable is.
    let rest = labels.or(&labels.minus(&least_yes, &yes_sum)?, &labels.minus(&least_no, &no_sum)?)?;
    let (both, both_sum) = cover(labels, &rest, &labels.and(&most_yes, &most_no)?, known)?;
    let with = |value: bool, cubes: Vec<Cube>| {
        cubes.into_iter().map(move |mut cube| {
            cube.push((variable, value));
            cube
        })
    };
    let all: Vec<Cube> = with(true, yes).chain(with(false, no)).chain(both).collect();
    Budget::allows("products of one label", all.len(), labels.budget.edges)?;
    let literal = labels.variables[&variable].clone();
    let sum = labels.or(&labels.choose(&literal, &yes_sum, &no_sum)?, &both_sum)?;
    known.insert(key, (all, sum));
    Ok(known[&(least.clone(), most.clone())].clone())
}

/// Splits both functions at the first variable on which one of them decides.
fn branch(labels: &Labels, least: &Label, most: &Label) -> (Variable, Label, Label, Label, Label) {
    let whole = |label: &Label| (label.clone(), label.clone());
    let (first, second) = (labels.decide(least), labels.decide(most));
    let place = |decision: &Option<(Variable, Label, Label)>| {
        decision.as_ref().and_then(|(variable, ..)| labels.variables.get_index_of(variable))
    };
    let at = [place(&first), place(&second)].into_iter().flatten().min().unwrap_or_default();
    let variable = labels.variables.get_index(at).map_or(Variable::Helper(0), |(variable, _)| *variable);
    let split = |decision: Option<(Variable, Label, Label)>, label: &Label| match decision {
        Some((decided, yes, no)) if decided == variable => (yes, no),
        _ => whole(label),
    };
    let ((least_yes, least_no), (most_yes, most_no)) = (split(first, least), split(second, most));
    (variable, least_yes, least_no, most_yes, most_no)
}
