//! Rewriting rules for `&` and `|`: temporal operators over them are merged, and implied operands are removed.

use super::Simplifier;
use crate::TooLarge;
use crate::formula::{Formula, Node};
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

type FormulaResult = Result<Formula, TooLarge>;

/// Maximum number of operands that are compared pairwise.
const MAX_PAIRWISE_COMPARED: usize = 40;

/// Group of operands that can be merged into one.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum MergeGroup {
    /// `X a`
    Next,
    /// `G a` in a conjunction, `F a` in a disjunction.
    Unary,
    /// `F G a` in a conjunction, `G F a` in a disjunction.
    Limit,
    /// `a U c` or `a W c` in a conjunction, `c U a` or `c W a` in a disjunction, for this `c`.
    Until(Formula),
    /// `c R a` or `c M a` in a conjunction, `a R c` or `a M c` in a disjunction, for this `c`.
    Release(Formula),
    /// Any other operand, which is not merged.
    Single(Formula),
}

impl Simplifier<'_> {
    /// Returns a simplified conjunction.
    pub(super) fn and(&mut self, parts: Vec<Formula>) -> FormulaResult {
        self.combine(parts, true)
    }

    /// Returns a simplified disjunction.
    pub(super) fn or(&mut self, parts: Vec<Formula>) -> FormulaResult {
        self.combine(parts, false)
    }

    /// Returns the conjunction or disjunction, without further rules.
    fn connect(&mut self, parts: impl IntoIterator<Item = Formula>, and: bool) -> FormulaResult {
        if and { self.logic.formulae.and(parts) } else { self.logic.formulae.or(parts) }
    }

    /// Returns the operands of a formula that is a conjunction or disjunction, respectively.
    fn operands(&self, formula: Formula, and: bool) -> Option<Vec<Formula>> {
        match self.node(formula) {
            Node::And(all) if and => Some(all.to_vec()),
            Node::Or(all) if !and => Some(all.to_vec()),
            _ => None,
        }
    }

    fn combine(&mut self, parts: Vec<Formula>, and: bool) -> FormulaResult {
        let joined = self.connect(parts, and)?;
        let Some(parts) = self.operands(joined, and) else { return Ok(joined) };
        let Some(joined) = self.with_depth(|this| this.merge_groups(parts, and).map(Some))? else {
            return Ok(joined);
        };
        let Some(parts) = self.operands(joined, and) else { return Ok(joined) };
        if parts.len() > MAX_PAIRWISE_COMPARED {
            return Ok(joined);
        }
        let Some(parts) = self.remove_redundant(parts, and)? else {
            return Ok(self.logic.formulae.constant(!and));
        };
        let joined = self.connect(parts, and)?;
        let Some(parts) = self.operands(joined, and) else { return Ok(joined) };
        Ok(self.with_depth(|this| this.absorb(parts, and))?.unwrap_or(joined))
    }

    /// Merges the operands of each group.
    fn merge_groups(&mut self, parts: Vec<Formula>, and: bool) -> FormulaResult {
        let mut groups: IndexMap<MergeGroup, Vec<Formula>, FxBuildHasher> = IndexMap::default();
        for part in &parts {
            groups.entry(self.merge_group(*part, and)).or_default().push(*part);
        }
        let mut merged = Vec::new();
        for (group, members) in groups {
            if members.len() == 1 {
                merged.extend(members);
                continue;
            }
            let nodes: Vec<Node> = members.iter().map(|part| self.node(*part).clone()).collect();
            let inner = |at: usize| nodes.iter().filter_map(move |node| node.parts().get(at).copied());
            merged.push(match group {
                MergeGroup::Next => {
                    let all = inner(0).collect();
                    let all = self.combine(all, and)?;
                    self.next(all)?
                }
                MergeGroup::Unary => {
                    let all = inner(0).collect();
                    let all = self.combine(all, and)?;
                    if and { self.globally(all)? } else { self.finally(all)? }
                }
                MergeGroup::Limit => {
                    let nested: Vec<Formula> = inner(0).collect();
                    let all = nested.iter().filter_map(|part| self.node(*part).parts().first().copied());
                    let all = all.collect();
                    let all = self.combine(all, and)?;
                    if and {
                        let globally = self.globally(all)?;
                        self.finally(globally)?
                    } else {
                        let finally = self.finally(all)?;
                        self.globally(finally)?
                    }
                }
                MergeGroup::Until(shared) => {
                    let all = self.combine(inner(usize::from(!and)).collect(), and)?;
                    let weak = |node: &Node| matches!(node, Node::WeakUntil(_));
                    // A conjunction is strong if one operand is strong; a disjunction is weak if one operand is weak.
                    let is_weak = if and { nodes.iter().all(weak) } else { nodes.iter().any(weak) };
                    let (a, b) = if and { (all, shared) } else { (shared, all) };
                    if is_weak { self.weak_until(a, b)? } else { self.until(a, b)? }
                }
                MergeGroup::Release(shared) => {
                    let all = self.combine(inner(usize::from(and)).collect(), and)?;
                    let weak = |node: &Node| matches!(node, Node::Release(_));
                    let is_weak = if and { nodes.iter().all(weak) } else { nodes.iter().any(weak) };
                    let (a, b) = if and { (shared, all) } else { (all, shared) };
                    if is_weak { self.release(a, b)? } else { self.strong_release(a, b)? }
                }
                MergeGroup::Single(part) => part,
            });
        }
        self.merge_weak_and_strong(merged, and)
    }

    /// Returns the group of an operand.
    fn merge_group(&self, part: Formula, and: bool) -> MergeGroup {
        let nested = |inner: &Formula| self.node(*inner);
        match (self.node(part), and) {
            (Node::Next(_), _) => MergeGroup::Next,
            (Node::Finally(a), true) if matches!(nested(a), Node::Globally(_)) => MergeGroup::Limit,
            (Node::Globally(a), false) if matches!(nested(a), Node::Finally(_)) => MergeGroup::Limit,
            (Node::Globally(a), true) if !matches!(nested(a), Node::Finally(_)) => MergeGroup::Unary,
            (Node::Finally(a), false) if !matches!(nested(a), Node::Globally(_)) => MergeGroup::Unary,
            (Node::Until([_, shared]) | Node::WeakUntil([_, shared]), true)
            | (Node::Until([shared, _]) | Node::WeakUntil([shared, _]), false) => MergeGroup::Until(*shared),
            (Node::Release([shared, _]) | Node::StrongRelease([shared, _]), true)
            | (Node::Release([_, shared]) | Node::StrongRelease([_, shared]), false) => {
                MergeGroup::Release(*shared)
            }
            _ => MergeGroup::Single(part),
        }
    }

    /// Applies `(a W b) & F b = a U b`, `(a R b) & F a = a M b`, `(a U b) | G a = a W b` and `(a M b) | G b = a R b`.
    fn merge_weak_and_strong(&mut self, parts: Vec<Formula>, and: bool) -> FormulaResult {
        let mut merged = Vec::with_capacity(parts.len());
        for part in &parts {
            let partner = |inner: Formula| {
                parts.iter().any(|other| match (self.node(*other), and) {
                    (Node::Finally(a), true) | (Node::Globally(a), false) => *a == inner,
                    _ => false,
                })
            };
            merged.push(match (self.node(*part), and) {
                (&Node::WeakUntil([a, b]), true) if partner(b) => self.until(a, b)?,
                (&Node::Release([a, b]), true) if partner(a) => self.strong_release(a, b)?,
                (&Node::Until([a, b]), false) if partner(a) => self.weak_until(a, b)?,
                (&Node::StrongRelease([a, b]), false) if partner(b) => self.release(a, b)?,
                _ => *part,
            });
        }
        let mut at = 0;
        while at < merged.len() {
            if let Some((other, whole)) = self.merge_first_occurrence(merged[at], and)?
                && let Some(other) = merged.iter().position(|part| *part == other)
            {
                merged[at] = whole;
                merged.remove(other);
                at = 0;
            } else {
                at += 1;
            }
        }
        self.connect(merged, and)
    }

    /// For an operand `a U (b & e)` of a disjunction, with `e` eventual: returns `!a R !b` and the disjunction of the two,
    /// `(!a | b) R (!b | e)`, which requires `e` at the first `b`. Dually for `a R (b | u)`, with `u` universal, in a
    /// conjunction.
    fn merge_first_occurrence(
        &mut self,
        part: Formula,
        and: bool,
    ) -> Result<Option<(Formula, Formula)>, TooLarge> {
        let (a, inner) = match (self.node(part), and) {
            (Node::Until([a, inner]), false) | (Node::Release([a, inner]), true) => (*a, *inner),
            (Node::Finally(inner), false) => (Formula::TRUE, *inner),
            (Node::Globally(inner), true) => (Formula::FALSE, *inner),
            _ => return Ok(None),
        };
        let Some(all) = self.operands(inner, !and) else { return Ok(None) };
        let (independent, event): (Vec<Formula>, Vec<Formula>) = all.iter().partition(|part| {
            let class = self.class(**part);
            if and { class.universal } else { class.eventual }
        });
        if independent.is_empty() || event.is_empty() {
            return Ok(None);
        }
        let (b, independent) = (self.connect(event, !and)?, self.connect(independent, !and)?);
        let (not_a, not_b) = (self.negation(a)?, self.negation(b)?);
        let other = match (a, and) {
            (Formula::TRUE, false) => self.logic.formulae.globally(not_b)?,
            (Formula::FALSE, true) => self.logic.formulae.finally(not_b)?,
            (_, false) => self.logic.formulae.release(not_a, not_b)?,
            (_, true) => self.logic.formulae.until(not_a, not_b)?,
        };
        let (left, right) =
            (self.combine(vec![not_a, b], and)?, self.combine(vec![not_b, independent], and)?);
        let whole = if and { self.until(left, right)? } else { self.release(left, right)? };
        Ok(Some((other, whole)))
    }

    /// Removes operands that are implied by others (conjunction) or imply others (disjunction). Returns `None` if two
    /// operands make the result constant.
    fn remove_redundant(
        &mut self,
        mut parts: Vec<Formula>,
        and: bool,
    ) -> Result<Option<Vec<Formula>>, TooLarge> {
        let mut at = 0;
        'parts: while at < parts.len() {
            for other in 0..parts.len() {
                if other == at {
                    continue;
                }
                let (a, b) = (parts[at], parts[other]);
                if if and { self.are_exclusive(a, b)? } else { self.are_exhaustive(a, b)? } {
                    return Ok(None);
                }
                if if and { self.implies(b, a)? } else { self.implies(a, b)? } {
                    parts.remove(at);
                    continue 'parts;
                }
            }
            at += 1;
        }
        Ok(Some(parts))
    }

    /// Simplifies nested operands by the other ones: removes excluded alternatives, `a & (!a | b) = a & b`, and implied
    /// conditions, `a & (a & b | c) = a & (b | c)`. Dually for disjunctions.
    fn absorb(&mut self, parts: Vec<Formula>, and: bool) -> Result<Option<Formula>, TooLarge> {
        let mut reduced = parts.clone();
        for at in 0..reduced.len() {
            let Some(inner) = self.operands(reduced[at], !and) else { continue };
            let mut kept = Vec::new();
            'inner: for choice in &inner {
                let mut rest = self.operands(*choice, and).unwrap_or_default();
                for (other, part) in reduced.iter().enumerate() {
                    if other == at {
                        continue;
                    }
                    if if and {
                        self.are_exclusive(*choice, *part)?
                    } else {
                        self.are_exhaustive(*choice, *part)?
                    } {
                        continue 'inner;
                    }
                    let mut index = 0;
                    while index < rest.len() {
                        let (stronger, weaker) =
                            if and { (*part, rest[index]) } else { (rest[index], *part) };
                        if self.implies(stronger, weaker)? {
                            rest.remove(index);
                        } else {
                            index += 1;
                        }
                    }
                }
                kept.push(match self.operands(*choice, and) {
                    Some(all) if all.len() > rest.len() => self.combine(rest, and)?,
                    _ => *choice,
                });
            }
            if kept != inner {
                reduced[at] = self.combine(kept, !and)?;
            }
        }
        if reduced == parts { Ok(None) } else { self.combine(reduced, and).map(Some) }
    }
}
