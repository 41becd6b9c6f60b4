//! Where a formula came from an operator with a bound.

use super::style::Sign;
use crate::formula::{Formula, Formulae, Node};
use rustc_hash::FxHashMap;

/// A formula that says something of now and the next instants up to `to`, or of those before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Window {
    pub(super) sign: Sign,
    pub(super) part: Formula,
    pub(super) to: usize,
}

/// All windows within a formula.
pub(super) type Windows = FxHashMap<Formula, Window>;

/// Finds the windows within a formula: `p | X(p | X p)` is one from now to the next but one.
pub(super) fn windows(formulae: &Formulae, formula: Formula) -> Windows {
    let mut found = Windows::default();
    for whole in formulae.within(formula) {
        let (Node::Or(parts) | Node::And(parts)) = formulae.node(whole) else { continue };
        let and = matches!(formulae.node(whole), Node::And(_));
        for part in parts {
            let Some((sign, inner)) = step(formulae, *part, and) else { continue };
            let rest = || parts.iter().filter(|other| *other != part).copied();
            let window = match found.get(&inner) {
                Some(window) if window.sign == sign && rest().eq(operands(formulae, window.part, and)) => {
                    Window { to: window.to + 1, ..*window }
                }
                _ if rest().eq(operands(formulae, inner, and)) => Window { sign, part: inner, to: 1 },
                _ => continue,
            };
            found.insert(whole, window);
            break;
        }
    }
    found
}

/// A step to the neighbouring instant, as bounds are made of, and what it leads to.
pub(super) fn step(formulae: &Formulae, part: Formula, and: bool) -> Option<(Sign, Formula)> {
    match formulae.node(part) {
        Node::Next(inner) if !and => Some((Sign::Finally, *inner)),
        Node::Yesterday(inner) if !and => Some((Sign::Once, *inner)),
        Node::WeakYesterday(inner) if and => Some((Sign::Historically, *inner)),
        _ => None,
    }
}

/// What a formula gives to a conjunction or disjunction.
pub(super) fn operands(formulae: &Formulae, formula: Formula, and: bool) -> impl Iterator<Item = Formula> {
    let parts = match formulae.node(formula) {
        Node::And(parts) if and => Some(parts),
        Node::Or(parts) if !and => Some(parts),
        _ => None,
    };
    let alone = if parts.is_none() { Some(formula) } else { None };
    parts.into_iter().flatten().copied().chain(alone)
}
