//! Rewriting rules for temporal operators. The rules for `R` and `G` are the duals of those for `U` and `F`.

use super::Simplifier;
use crate::TooLarge;
use crate::formula::{Formula, Node};

type FormulaResult = Result<Formula, TooLarge>;
type RuleResult = Result<Option<Formula>, TooLarge>;

impl Simplifier<'_> {
    /// Returns a simplified `X a`.
    pub(super) fn next(&mut self, a: Formula) -> FormulaResult {
        if self.is_suspendable(a) { Ok(a) } else { self.logic.formulae.next(a) }
    }

    /// Returns `X … X a` with `count` operators.
    fn nest_next(&mut self, mut a: Formula, count: usize) -> FormulaResult {
        for _ in 0..count {
            a = self.next(a)?;
        }
        Ok(a)
    }

    /// Removes leading `X` operators, and counts them.
    fn strip_next(&self, mut a: Formula) -> (Formula, usize) {
        let mut count = 0;
        while let Node::Next(inner) = self.node(a) {
            (a, count) = (*inner, count + 1);
        }
        (a, count)
    }

    /// Returns a simplified `F a`.
    pub(super) fn finally(&mut self, a: Formula) -> FormulaResult {
        let (a, count) = self.strip_next(a);
        let result = match self.with_depth(|this| this.finally_rule(a))? {
            Some(result) => result,
            None => self.logic.formulae.finally(a)?,
        };
        self.nest_next(result, count)
    }

    fn finally_rule(&mut self, a: Formula) -> RuleResult {
        if self.class(a).eventual {
            return Ok(Some(a));
        }
        match self.node(a).clone() {
            Node::Until([_, b]) => self.finally(b).map(Some),
            Node::StrongRelease([a, b]) => {
                let both = self.and(vec![a, b])?;
                self.finally(both).map(Some)
            }
            Node::WeakUntil([a, b]) => {
                let always = self.globally(a)?;
                let (always, eventually) = (self.finally(always)?, self.finally(b)?);
                self.or(vec![always, eventually]).map(Some)
            }
            Node::Release([a, b]) => {
                let (always, both) = (self.globally(b)?, self.and(vec![a, b])?);
                let (always, eventually) = (self.finally(always)?, self.finally(both)?);
                self.or(vec![always, eventually]).map(Some)
            }
            Node::Or(all) => {
                let (mut outside, inside) = self.partition(&all, |this, part| this.class(part).eventual);
                // `F` of a universal formula is kept separate: other rules apply to it.
                let (universal, inside) = self.partition(&inside, |this, part| this.class(part).universal);
                if !inside.is_empty() {
                    for part in universal {
                        outside.push(self.finally(part)?);
                    }
                    return self.distribute(outside, inside, false, |this, rest| this.finally(rest));
                }
                self.distribute(outside, universal, false, |this, rest| this.finally(rest))
            }
            Node::And(all) => {
                let (outside, inside) = self.partition(&all, Self::is_suspendable);
                self.distribute(outside, inside, true, |this, rest| this.finally(rest))
            }
            // `F G (a | u) = F G a | F u`
            Node::Globally(b) => match self.node(b).clone() {
                Node::Or(all) => {
                    let (outside, inside) = self.partition(&all, |this, part| this.class(part).universal);
                    if outside.is_empty() {
                        return Ok(None);
                    }
                    let (outside, inside) = (self.or(outside)?, self.or(inside)?);
                    let (outside, always) = (self.finally(outside)?, self.globally(inside)?);
                    let always = self.finally(always)?;
                    self.or(vec![outside, always]).map(Some)
                }
                _ => Ok(None),
            },
            _ => Ok(None),
        }
    }

    /// Returns a simplified `G a`.
    pub(super) fn globally(&mut self, a: Formula) -> FormulaResult {
        let (a, count) = self.strip_next(a);
        let result = match self.with_depth(|this| this.globally_rule(a))? {
            Some(result) => result,
            None => self.logic.formulae.globally(a)?,
        };
        self.nest_next(result, count)
    }

    fn globally_rule(&mut self, a: Formula) -> RuleResult {
        if self.class(a).universal {
            return Ok(Some(a));
        }
        match self.node(a).clone() {
            Node::Release([_, b]) => self.globally(b).map(Some),
            Node::WeakUntil([a, b]) => {
                let either = self.or(vec![a, b])?;
                self.globally(either).map(Some)
            }
            Node::StrongRelease([a, b]) => {
                let eventually = self.finally(a)?;
                let (eventually, always) = (self.globally(eventually)?, self.globally(b)?);
                self.and(vec![eventually, always]).map(Some)
            }
            Node::Until([a, b]) => {
                let (eventually, either) = (self.finally(b)?, self.or(vec![a, b])?);
                let (eventually, always) = (self.globally(eventually)?, self.globally(either)?);
                self.and(vec![eventually, always]).map(Some)
            }
            Node::And(all) => {
                let (mut outside, inside) = self.partition(&all, |this, part| this.class(part).universal);
                // `G` of an eventual formula is kept separate: other rules apply to it.
                let (eventual, inside) = self.partition(&inside, |this, part| this.class(part).eventual);
                if !inside.is_empty() {
                    for part in eventual {
                        outside.push(self.globally(part)?);
                    }
                    return self.distribute(outside, inside, true, |this, rest| this.globally(rest));
                }
                self.distribute(outside, eventual, true, |this, rest| this.globally(rest))
            }
            Node::Or(all) => {
                let (outside, inside) = self.partition(&all, Self::is_suspendable);
                self.distribute(outside, inside, false, |this, rest| this.globally(rest))
            }
            // `G F (a & e) = G F a & G e`
            Node::Finally(b) => match self.node(b).clone() {
                Node::And(all) => {
                    let (outside, inside) = self.partition(&all, |this, part| this.class(part).eventual);
                    if outside.is_empty() {
                        return Ok(None);
                    }
                    let (outside, inside) = (self.and(outside)?, self.and(inside)?);
                    let (outside, eventually) = (self.globally(outside)?, self.finally(inside)?);
                    let eventually = self.globally(eventually)?;
                    self.and(vec![outside, eventually]).map(Some)
                }
                _ => Ok(None),
            },
            _ => Ok(None),
        }
    }

    /// Splits operands into those that satisfy the predicate and the others.
    fn partition(
        &mut self,
        all: &[Formula],
        mut predicate: impl FnMut(&mut Self, Formula) -> bool,
    ) -> (Vec<Formula>, Vec<Formula>) {
        all.iter().copied().partition(|part| predicate(self, *part))
    }

    /// Applies an operator to the operands `inside` only and joins the result with those `outside`. Returns `None` if all
    /// operands are inside.
    fn distribute(
        &mut self,
        mut outside: Vec<Formula>,
        inside: Vec<Formula>,
        and: bool,
        operator: impl FnOnce(&mut Self, Formula) -> FormulaResult,
    ) -> RuleResult {
        if outside.is_empty() {
            return Ok(None);
        }
        let rest = self.join(inside, and)?;
        outside.push(operator(self, rest)?);
        self.join(outside, and).map(Some)
    }

    /// Returns the conjunction or disjunction.
    fn join(&mut self, parts: Vec<Formula>, and: bool) -> FormulaResult {
        if and { self.and(parts) } else { self.or(parts) }
    }

    /// Returns a simplified `a U b`.
    pub(super) fn until(&mut self, a: Formula, b: Formula) -> FormulaResult {
        match self.with_depth(|this| this.until_rule(a, b))? {
            Some(result) => Ok(result),
            None => self.logic.formulae.until(a, b),
        }
    }

    fn until_rule(&mut self, a: Formula, b: Formula) -> RuleResult {
        if a == Formula::TRUE || self.are_exhaustive(a, b)? {
            return self.finally(b).map(Some);
        }
        if self.class(b).eventual || self.implies(a, b)? || self.absorbs_until(a, b)? {
            return Ok(Some(b));
        }
        if let Some(shorter) = self.drop_implying(a, b)? {
            return self.until(shorter, b).map(Some);
        }
        match (self.node(a).clone(), self.node(b).clone()) {
            (Node::Next(a), Node::Next(b)) => {
                let inner = self.until(a, b)?;
                self.next(inner).map(Some)
            }
            (Node::Until([c, d]) | Node::WeakUntil([c, d]), _) if d == b => self.until(c, b).map(Some),
            (_, Node::Or(all)) => {
                let (outside, inside) = self.partition(&all, |this, part| this.class(part).eventual);
                self.distribute(outside, inside, false, |this, rest| this.until(a, rest))
            }
            (_, Node::And(all)) => {
                let (outside, inside) = self.partition(&all, Self::is_suspendable);
                self.distribute(outside, inside, true, |this, rest| this.until(a, rest))
            }
            _ => Ok(None),
        }
    }

    /// Whether `b` holds already at the start if `a` holds until `b`, so that `a U b = b`.
    fn absorbs_until(&mut self, a: Formula, b: Formula) -> Result<bool, TooLarge> {
        match *self.node(b) {
            Node::Until([c, _]) | Node::WeakUntil([c, _]) | Node::Globally(c) => self.implies(a, c),
            Node::Release([_, d]) | Node::StrongRelease([_, d]) => self.implies(a, d),
            _ => Ok(false),
        }
    }

    /// Returns `a` without the disjuncts that imply `b`, if there are any.
    fn drop_implying(&mut self, a: Formula, b: Formula) -> RuleResult {
        let Node::Or(all) = self.node(a).clone() else { return Ok(None) };
        let mut kept = Vec::new();
        for part in &all {
            if !self.implies(*part, b)? {
                kept.push(*part);
            }
        }
        if kept.len() == all.len() { Ok(None) } else { self.or(kept).map(Some) }
    }

    /// Returns a simplified `a W b`.
    pub(super) fn weak_until(&mut self, a: Formula, b: Formula) -> FormulaResult {
        match self.with_depth(|this| this.weak_until_rule(a, b))? {
            Some(result) => Ok(result),
            None => self.logic.formulae.weak_until(a, b),
        }
    }

    fn weak_until_rule(&mut self, a: Formula, b: Formula) -> RuleResult {
        if self.are_exhaustive(a, b)? {
            return Ok(Some(Formula::TRUE));
        }
        if b == Formula::FALSE {
            return self.globally(a).map(Some);
        }
        if self.class(a).universal {
            return self.or(vec![a, b]).map(Some);
        }
        let is_weak = matches!(self.node(b), Node::WeakUntil(_) | Node::Globally(_) | Node::Release(_));
        if self.implies(a, b)? || is_weak && self.absorbs_until(a, b)? {
            return Ok(Some(b));
        }
        if let Some(shorter) = self.drop_implying(a, b)? {
            return self.weak_until(shorter, b).map(Some);
        }
        match (self.node(a).clone(), self.node(b).clone()) {
            (Node::Next(a), Node::Next(b)) => {
                let inner = self.weak_until(a, b)?;
                self.next(inner).map(Some)
            }
            (Node::WeakUntil([c, d]), _) if d == b => self.weak_until(c, b).map(Some),
            (_, Node::Or(all)) => {
                let (outside, inside) = self.partition(&all, |this, part| this.class(part).eventual);
                self.distribute(outside, inside, false, |this, rest| this.weak_until(a, rest))
            }
            _ => Ok(None),
        }
    }

    /// Returns a simplified `a R b`.
    pub(super) fn release(&mut self, a: Formula, b: Formula) -> FormulaResult {
        match self.with_depth(|this| this.release_rule(a, b))? {
            Some(result) => Ok(result),
            None => self.logic.formulae.release(a, b),
        }
    }

    fn release_rule(&mut self, a: Formula, b: Formula) -> RuleResult {
        if a == Formula::FALSE || self.are_exclusive(a, b)? {
            return self.globally(b).map(Some);
        }
        if self.class(b).universal || self.implies(b, a)? || self.absorbs_release(a, b)? {
            return Ok(Some(b));
        }
        if let Some(shorter) = self.drop_implied(a, b)? {
            return self.release(shorter, b).map(Some);
        }
        match (self.node(a).clone(), self.node(b).clone()) {
            (Node::Next(a), Node::Next(b)) => {
                let inner = self.release(a, b)?;
                self.next(inner).map(Some)
            }
            (Node::Release([c, d]) | Node::StrongRelease([c, d]), _) if d == b => {
                self.release(c, b).map(Some)
            }
            (_, Node::And(all)) => {
                let (outside, inside) = self.partition(&all, |this, part| this.class(part).universal);
                self.distribute(outside, inside, true, |this, rest| this.release(a, rest))
            }
            (_, Node::Or(all)) => {
                let (outside, inside) = self.partition(&all, Self::is_suspendable);
                self.distribute(outside, inside, false, |this, rest| this.release(a, rest))
            }
            _ => Ok(None),
        }
    }

    /// The dual of [`Self::absorbs_until`].
    fn absorbs_release(&mut self, a: Formula, b: Formula) -> Result<bool, TooLarge> {
        match *self.node(b) {
            Node::Release([c, _]) | Node::StrongRelease([c, _]) | Node::Finally(c) => self.implies(c, a),
            Node::WeakUntil([_, d]) | Node::Until([_, d]) => self.implies(d, a),
            _ => Ok(false),
        }
    }

    /// Returns `a` without the conjuncts that `b` implies, if there are any.
    fn drop_implied(&mut self, a: Formula, b: Formula) -> RuleResult {
        let Node::And(all) = self.node(a).clone() else { return Ok(None) };
        let mut kept = Vec::new();
        for part in &all {
            if !self.implies(b, *part)? {
                kept.push(*part);
            }
        }
        if kept.len() == all.len() { Ok(None) } else { self.and(kept).map(Some) }
    }

    /// Returns a simplified `a M b`.
    pub(super) fn strong_release(&mut self, a: Formula, b: Formula) -> FormulaResult {
        match self.with_depth(|this| this.strong_release_rule(a, b))? {
            Some(result) => Ok(result),
            None => self.logic.formulae.strong_release(a, b),
        }
    }

    fn strong_release_rule(&mut self, a: Formula, b: Formula) -> RuleResult {
        if self.are_exclusive(a, b)? {
            return Ok(Some(Formula::FALSE));
        }
        if b == Formula::TRUE {
            return self.finally(a).map(Some);
        }
        if self.class(a).eventual {
            return self.and(vec![a, b]).map(Some);
        }
        let is_strong = matches!(self.node(b), Node::StrongRelease(_) | Node::Finally(_) | Node::Until(_));
        if self.implies(b, a)? || is_strong && self.absorbs_release(a, b)? {
            return Ok(Some(b));
        }
        if let Some(shorter) = self.drop_implied(a, b)? {
            return self.strong_release(shorter, b).map(Some);
        }
        match (self.node(a).clone(), self.node(b).clone()) {
            (Node::Next(a), Node::Next(b)) => {
                let inner = self.strong_release(a, b)?;
                self.next(inner).map(Some)
            }
            (Node::StrongRelease([c, d]), _) if d == b => self.strong_release(c, b).map(Some),
            (_, Node::And(all)) => {
                let (outside, inside) = self.partition(&all, |this, part| this.class(part).universal);
                self.distribute(outside, inside, true, |this, rest| this.strong_release(a, rest))
            }
            _ => Ok(None),
        }
    }
}
