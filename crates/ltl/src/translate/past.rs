//! Away with the past: every operator that looks back becomes an atom of which the formula says, from the
//! first instant on, what it will be at the next one.

use crate::TooLarge;
use crate::formula::{Atom, Formula, Formulae, Node};
use rustc_hash::FxHashMap;

/// A formula without past operators that holds, for just one choice of the atoms that were added, where the
/// given one does.
pub(super) fn remove(formulae: &mut Formulae, formula: Formula) -> Result<(Formula, Vec<Atom>), TooLarge> {
    let parts = formulae.within(formula);
    if !parts.iter().any(|part| formulae.node(*part).is_past()) {
        return Ok((formula, Vec::new()));
    }
    let (mut known, mut added): (FxHashMap<Formula, Formula>, Vec<Atom>) = Default::default();
    let mut rules = Vec::new();
    for part in parts {
        let of = |inner: &Formula| known[inner];
        let node = formulae.node(part).clone();
        let made = match node {
            Node::Yesterday(a) | Node::WeakYesterday(a) => {
                let first = matches!(node, Node::WeakYesterday(_));
                before(formulae, &mut added, &mut rules, first, |_, _| Ok(of(&a)))?.0
            }
            Node::Once(a) => {
                before(formulae, &mut added, &mut rules, false, |all, before| all.or([of(&a), before]))?.1
            }
            Node::Historically(a) => {
                before(formulae, &mut added, &mut rules, true, |all, before| all.and([of(&a), before]))?.1
            }
            Node::Since([a, b]) => {
                before(formulae, &mut added, &mut rules, false, |all, before| {
                    let kept = all.and([of(&a), before])?;
                    all.or([of(&b), kept])
                })?
                .1
            }
            Node::Triggered([a, b]) => {
                before(formulae, &mut added, &mut rules, true, |all, before| {
                    let kept = all.or([of(&a), before])?;
                    all.and([of(&b), kept])
                })?
                .1
            }
            other => formulae.rebuild(&other, of)?,
        };
        known.insert(part, made);
    }
    rules.push(known[&formula]);
    Ok((formulae.and(rules)?, added))
}

/// An atom that tells what `value` was at the instant before (at the first one: `first`), and the value now,
/// which may depend on it.
fn before(
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
    let later = formulae.next(before)?;
    let same = formulae.iff(now, later)?;
    rules.push(if first { before } else { formulae.not(before)? });
    rules.push(formulae.globally(same)?);
    Ok((before, now))
}
