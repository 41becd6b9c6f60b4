//! Recognition of bounded operators in their expansions.

use super::style::Symbol;
use crate::formula::{Formula, Formulae, Node};
use rustc_hash::FxHashMap;

/// Bounded operator `symbol[0,to] operand` of which a formula is the expansion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Expansion {
    pub(super) symbol: Symbol,
    pub(super) operand: Formula,
    pub(super) to: usize,
}

/// Expansions of bounded operators within a formula.
pub(super) type Expansions = FxHashMap<Formula, Expansion>;

/// Finds the expansions within a formula: `p | X(p | X p)` is that of `F[0,2] p`.
pub(super) fn find_expansions(formulae: &Formulae, formula: Formula) -> Expansions {
    let mut found = Expansions::default();
    for whole in formulae.subformulae(formula) {
        let (Node::Or(parts) | Node::And(parts)) = formulae.node(whole) else { continue };
        let and = matches!(formulae.node(whole), Node::And(_));
        for part in parts {
            let Some((symbol, inner)) = step(formulae, *part, and) else { continue };
            let rest = || parts.iter().filter(|other| *other != part).copied();
            let expansion = match found.get(&inner) {
                Some(expansion)
                    if expansion.symbol == symbol
                        && rest().eq(operands(formulae, expansion.operand, and)) =>
                {
                    Expansion { to: expansion.to + 1, ..*expansion }
                }
                _ if rest().eq(operands(formulae, inner, and)) => Expansion { symbol, operand: inner, to: 1 },
                _ => continue,
            };
            found.insert(whole, expansion);
            break;
        }
    }
    found
}

/// Returns the bounded operator whose expansion uses this step operator, and the operand of the step.
pub(super) fn step(formulae: &Formulae, part: Formula, and: bool) -> Option<(Symbol, Formula)> {
    match formulae.node(part) {
        Node::Next(inner) if !and => Some((Symbol::Finally, *inner)),
        Node::Yesterday(inner) if !and => Some((Symbol::Once, *inner)),
        Node::WeakYesterday(inner) if and => Some((Symbol::Historically, *inner)),
        _ => None,
    }
}

/// Returns the operands of a formula within a conjunction or disjunction: its own if it has the same operator, or itself.
pub(super) fn operands(formulae: &Formulae, formula: Formula, and: bool) -> impl Iterator<Item = Formula> {
    let parts = match formulae.node(formula) {
        Node::And(parts) if and => Some(parts),
        Node::Or(parts) if !and => Some(parts),
        _ => None,
    };
    let alone = if parts.is_none() { Some(formula) } else { None };
    parts.into_iter().flatten().copied().chain(alone)
}
