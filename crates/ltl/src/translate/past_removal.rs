//! Removal of past operators. Each gets a fresh atom that holds the value of the previous position. Added conjuncts fix the
//! atom at the first position and equate its next value with the current value.

use crate::TooLarge;
use crate::formula::{Atom, Formula, Formulae, Node};
use rustc_hash::FxHashMap;

/// Removes the past operators of a formula. A word satisfies the formula if and only if it satisfies the result for exactly
/// one valuation of the added atoms.
pub(super) fn remove(formulae: &mut Formulae, formula: Formula) -> Result<(Formula, Vec<Atom>), TooLarge> {
    let parts = formulae.subformulae(formula);
    if !parts.iter().any(|part| formulae.node(*part).is_past()) {
        return Ok((formula, Vec::new()));
    }
    let (mut translated, mut added): (FxHashMap<Formula, Formula>, Vec<Atom>) = Default::default();
    let mut rules = Vec::new();
    for part in parts {
        let of = |inner: &Formula| translated[inner];
        let node = formulae.node(part).clone();
        let result = match node {
            Node::Yesterday(a) | Node::WeakYesterday(a) => {
                let first = matches!(node, Node::WeakYesterday(_));
                add_previous(formulae, &mut added, &mut rules, first, |_, _| Ok(of(&a)))?.0
            }
            Node::Once(a) => {
                add_previous(formulae, &mut added, &mut rules, false, |formulae, before| {
                    formulae.or([of(&a), before])
                })?
                .1
            }
            Node::Historically(a) => {
                add_previous(formulae, &mut added, &mut rules, true, |formulae, before| {
                    formulae.and([of(&a), before])
                })?
                .1
            }
            Node::Since([a, b]) => {
                add_previous(formulae, &mut added, &mut rules, false, |formulae, before| {
                    let kept = formulae.and([of(&a), before])?;
                    formulae.or([of(&b), kept])
                })?
                .1
            }
            Node::Triggered([a, b]) => {
                add_previous(formulae, &mut added, &mut rules, true, |formulae, before| {
                    let kept = formulae.or([of(&a), before])?;
                    formulae.and([of(&b), kept])
                })?
                .1
            }
            other => formulae.rebuild(&other, of)?,
        };
        translated.insert(part, result);
    }
    rules.push(translated[&formula]);
    Ok((formulae.and(rules)?, added))
}

/// Adds an atom that is `first` at the first position and, elsewhere, the value of `value` at the previous position. Returns
/// the atom and the current value, which may depend on it.
fn add_previous(
    formulae: &mut Formulae,
    added: &mut Vec<Atom>,
    rules: &mut Vec<Formula>,
    first: bool,
    value: impl FnOnce(&mut Formulae, Formula) -> Result<Formula, TooLarge>,
) -> Result<(Formula, Formula), TooLarge> {
    let atom = formulae.fresh();
    added.push(atom);
    let before = formulae.atom(atom)?;
    let now = value(formulae, before)?;
    let next = formulae.next(before)?;
    let same = formulae.iff(now, next)?;
    rules.push(if first { before } else { formulae.not(before)? });
    rules.push(formulae.globally(same)?);
    Ok((before, now))
}
