//! Irredundant sums of products (Minato and Morreale), as the text form of labels.

use super::{Cube, Label, Labels, Variable};
use crate::{Budget, TooLarge};
use rustc_hash::FxHashMap;

/// Products, and the function of their sum.
type Cover = (Vec<Cube>, Label);

/// Computes an irredundant sum of products of `a`.
pub(super) fn irredundant(labels: &Labels, a: &Label) -> Result<Vec<Cube>, TooLarge> {
    Ok(cover(labels, a, a, &mut FxHashMap::default())?.0)
}

/// Computes a sum of products between two functions: implied by `lower`, and implying `upper`.
fn cover(
    labels: &Labels,
    lower: &Label,
    upper: &Label,
    known: &mut FxHashMap<(Label, Label), Cover>,
) -> Result<Cover, TooLarge> {
    if lower.is_false() {
        return Ok((Vec::new(), labels.bottom()));
    }
    if upper.is_true() {
        return Ok((vec![Vec::new()], labels.top()));
    }
    let key = (lower.clone(), upper.clone());
    if let Some(found) = known.get(&key) {
        return Ok(found.clone());
    }
    let (variable, lower_yes, lower_no, upper_yes, upper_no) = split_both(labels, lower, upper);
    // Products that need a literal of the variable.
    let (yes, yes_sum) = cover(labels, &labels.minus(&lower_yes, &upper_no)?, &upper_yes, known)?;
    let (no, no_sum) = cover(labels, &labels.minus(&lower_no, &upper_yes)?, &upper_no, known)?;
    // Products for the rest, without the variable.
    let rest = labels.or(&labels.minus(&lower_yes, &yes_sum)?, &labels.minus(&lower_no, &no_sum)?)?;
    let (both, both_sum) = cover(labels, &rest, &labels.and(&upper_yes, &upper_no)?, known)?;
    let with = |value: bool, cubes: Vec<Cube>| {
        cubes.into_iter().map(move |mut cube| {
            cube.push((variable, value));
            cube
        })
    };
    let all: Vec<Cube> = with(true, yes).chain(with(false, no)).chain(both).collect();
    Budget::check("products of one label", all.len(), labels.budget.edges)?;
    let literal = labels.variables[&variable].clone();
    let sum = labels.or(&labels.ite(&literal, &yes_sum, &no_sum)?, &both_sum)?;
    known.insert(key, (all, sum));
    Ok(known[&(lower.clone(), upper.clone())].clone())
}

/// Splits both functions at their first variable. Returns the positive and negative cofactors of each.
fn split_both(labels: &Labels, lower: &Label, upper: &Label) -> (Variable, Label, Label, Label, Label) {
    let whole = |label: &Label| (label.clone(), label.clone());
    let (first, second) = (labels.cofactors(lower), labels.cofactors(upper));
    let index = |decomposition: &Option<(Variable, Label, Label)>| {
        decomposition.as_ref().and_then(|(variable, ..)| labels.variables.get_index_of(variable))
    };
    let at = [index(&first), index(&second)].into_iter().flatten().min().unwrap_or_default();
    let variable = labels.variables.get_index(at).map_or(Variable::Helper(0), |(variable, _)| *variable);
    let split = |decomposition: Option<(Variable, Label, Label)>, label: &Label| match decomposition {
        Some((top, yes, no)) if top == variable => (yes, no),
        _ => whole(label),
    };
    let ((lower_yes, lower_no), (upper_yes, upper_no)) = (split(first, lower), split(second, upper));
    (variable, lower_yes, lower_no, upper_yes, upper_no)
}
