//! The laws of temporal operators. Laws come in pairs: what `U` and `F` do, `R` and `G` do upside down.

use super::Simplifier;
use crate::TooLarge;
use crate::formula::{Formula, Node};

type Made = Result<Formula, TooLarge>;
type Maybe = Result<Option<Formula>, TooLarge>;

impl Simplifier<'_> {
    /// `X a`
    pub(super) fn next(&mut self, a: Formula) -> Made {
        if self.is_lasting(a) { Ok(a) } else { self.logic.formulae.next(a) }
    }

    /// `X … X a`, so many times.
    fn nexts(&mut self, mut a: Formula, count: usize) -> Made {
        for _ in 0..count {
            a = self.next(a)?;
        }
        Ok(a)
    }

    /// What stands under `X`, and how many of them.
    fn under_nexts(&self, mut a: Formula) -> (Formula, usize) {
        let mut count = 0;
        while let Node::Next(inner) = self.node(a) {
            (a, count) = (*inner, count + 1);
        }
        (a, count)
    }

    /// `F a`
    pub(super) fn finally(&mut self, a: Formula) -> Made {
        let (a, nexts) = self.under_nexts(a);
        let made = match self.deeper(|this| this.finally_law(a))? {
            Some(made) => made,
            None => self.logic.formulae.finally(a)?,
        };
        self.nexts(made, nexts)
    }

    fn finally_law(&mut self, a: Formula) -> Maybe {
        if self.kind(a).eventual {
            return Ok(Some(a));
        }
        match self.node(a).clone() {
            Node::Until([_, b]) => self.finally(b).map(Some),
            Node::StrongRelease([a, b]) => {
                let both = self.and(vec![a, b])?;
                self.finally(both).map(Some)
            }
            Node::WeakUntil([a, b]) => {
                let stays = self.globally(a)?;
                let (stays, comes) = (self.finally(stays)?, self.finally(b)?);
                self.or(vec![stays, comes]).map(Some)
            }
            Node::Release([a, b]) => {
                let (stays, both) = (self.globally(b)?, self.and(vec![a, b])?);
                let (stays, comes) = (self.finally(stays)?, self.finally(both)?);
                self.or(vec![stays, comes]).map(Some)
            }
            Node::Or(all) => {
                let (mut out, inside) = self.partition(&all, |this, part| this.kind(part).eventual);
                // `F` of something universal is best on its own.
                let (lasts, inside) = self.partition(&inside, |this, part| this.kind(part).universal);
                if !inside.is_empty() {
                    for part in lasts {
                        out.push(self.finally(part)?);
                    }
                    return self.around(out, inside, false, |this, rest| this.finally(rest));
                }
                self.around(out, lasts, false, |this, rest| this.finally(rest))
            }
            Node::And(all) => {
                let (out, inside) = self.partition(&all, Self::is_lasting);
                self.around(out, inside, true, |this, rest| this.finally(rest))
            }
            // `F G (a | u) = F G a | F u`
            Node::Globally(b) => match self.node(b).clone() {
                Node::Or(all) => {
                    let (out, inside) = self.partition(&all, |this, part| this.kind(part).universal);
                    if out.is_empty() {
                        return Ok(None);
                    }
                    let (out, inside) = (self.or(out)?, self.or(inside)?);
                    let (out, stays) = (self.finally(out)?, self.globally(inside)?);
                    let stays = self.finally(stays)?;
                    self.or(vec![out, stays]).map(Some)
                }
                _ => Ok(None),
            },
            _ => Ok(None),
        }
    }

    /// `G a`
    pub(super) fn globally(&mut self, a: Formula) -> Made {
        let (a, nexts) = self.under_nexts(a);
        let made = match self.deeper(|this| this.globally_law(a))? {
            Some(made) => made,
            None => self.logic.formulae.globally(a)?,
        };
        self.nexts(made, nexts)
    }

    fn globally_law(&mut self, a: Formula) -> Maybe {
        if self.kind(a).universal {
            return Ok(Some(a));
        }
        match self.node(a).clone() {
            Node::Release([_, b]) => self.globally(b).map(Some),
            Node::WeakUntil([a, b]) => {
                let either = self.or(vec![a, b])?;
                self.globally(either).map(Some)
            }
            Node::StrongRelease([a, b]) => {
                let comes = self.finally(a)?;
                let (comes, stays) = (self.globally(comes)?, self.globally(b)?);
                self.and(vec![comes, stays]).map(Some)
            }
            Node::Until([a, b]) => {
                let (comes, either) = (self.finally(b)?, self.or(vec![a, b])?);
                let (comes, stays) = (self.globally(comes)?, self.globally(either)?);
                self.and(vec![comes, stays]).map(Some)
            }
            Node::And(all) => {
                let (mut out, inside) = self.partition(&all, |this, part| this.kind(part).universal);
                // `G` of something eventual is best on its own.
                let (comes, inside) = self.partition(&inside, |this, part| this.kind(part).eventual);
                if !inside.is_empty() {
                    for part in comes {
                        out.push(self.globally(part)?);
                    }
                    return self.around(out, inside, true, |this, rest| this.globally(rest));
                }
                self.around(out, comes, true, |this, rest| this.globally(rest))
            }
            Node::Or(all) => {
                let (out, inside) = self.partition(&all, Self::is_lasting);
                self.around(out, inside, false, |this, rest| this.globally(rest))
            }
            // `G F (a & e) = G F a & G e`
            Node::Finally(b) => match self.node(b).clone() {
                Node::And(all) => {
                    let (out, inside) = self.partition(&all, |this, part| this.kind(part).eventual);
                    if out.is_empty() {
                        return Ok(None);
                    }
                    let (out, inside) = (self.and(out)?, self.and(inside)?);
                    let (out, comes) = (self.globally(out)?, self.finally(inside)?);
                    let comes = self.globally(comes)?;
                    self.and(vec![out, comes]).map(Some)
                }
                _ => Ok(None),
            },
            _ => Ok(None),
        }
    }

    /// Those parts for which something is true, and the others.
    fn partition(
        &mut self,
        all: &[Formula],
        mut is: impl FnMut(&mut Self, Formula) -> bool,
    ) -> (Vec<Formula>, Vec<Formula>) {
        all.iter().copied().partition(|part| is(self, *part))
    }

    /// An operator on the parts `inside` only, the others beside it, if there are others.
    fn around(
        &mut self,
        mut out: Vec<Formula>,
        inside: Vec<Formula>,
        and: bool,
        operator: impl FnOnce(&mut Self, Formula) -> Made,
    ) -> Maybe {
        if out.is_empty() {
            return Ok(None);
        }
        let rest = self.all(inside, and)?;
        out.push(operator(self, rest)?);
        self.all(out, and).map(Some)
    }

    fn all(&mut self, parts: Vec<Formula>, and: bool) -> Made {
        if and { self.and(parts) } else { self.or(parts) }
    }

    /// `a U b`
    pub(super) fn until(&mut self, a: Formula, b: Formula) -> Made {
        match self.deeper(|this| this.until_law(a, b))? {
            Some(made) => Ok(made),
            None => self.logic.formulae.until(a, b),
        }
    }

    fn until_law(&mut self, a: Formula, b: Formula) -> Maybe {
        if a == Formula::TRUE || self.covers(a, b)? {
            return self.finally(b).map(Some);
        }
        if self.kind(b).eventual || self.implies(a, b)? || self.leads_into(a, b)? {
            return Ok(Some(b));
        }
        if let Some(shorter) = self.without(a, b)? {
            return self.until(shorter, b).map(Some);
        }
        match (self.node(a).clone(), self.node(b).clone()) {
            (Node::Next(a), Node::Next(b)) => {
                let inner = self.until(a, b)?;
                self.next(inner).map(Some)
            }
            (Node::Until([c, d]) | Node::WeakUntil([c, d]), _) if d == b => self.until(c, b).map(Some),
            (_, Node::Or(all)) => {
                let (out, inside) = self.partition(&all, |this, part| this.kind(part).eventual);
                self.around(out, inside, false, |this, rest| this.until(a, rest))
            }
            (_, Node::And(all)) => {
                let (out, inside) = self.partition(&all, Self::is_lasting);
                self.around(out, inside, true, |this, rest| this.until(a, rest))
            }
            _ => Ok(None),
        }
    }

    /// Whether `b`, at the end of a stretch of `a`, holds at its beginning already.
    fn leads_into(&mut self, a: Formula, b: Formula) -> Result<bool, TooLarge> {
        match *self.node(b) {
            Node::Until([c, _]) | Node::WeakUntil([c, _]) | Node::Globally(c) => self.implies(a, c),
            Node::Release([_, d]) | Node::StrongRelease([_, d]) => self.implies(a, d),
            _ => Ok(false),
        }
    }

    /// `a` without those alternatives that imply `b`, if there are some.
    fn without(&mut self, a: Formula, b: Formula) -> Maybe {
        let Node::Or(all) = self.node(a).clone() else { return Ok(None) };
        let mut kept = Vec::new();
        for part in &all {
            if !self.implies(*part, b)? {
                kept.push(*part);
            }
        }
        if kept.len() == all.len() { Ok(None) } else { self.or(kept).map(Some) }
    }

    /// `a W b`
    pub(super) fn weak_until(&mut self, a: Formula, b: Formula) -> Made {
        match self.deeper(|this| this.weak_until_law(a, b))? {
            Some(made) => Ok(made),
            None => self.logic.formulae.weak_until(a, b),
        }
    }

    fn weak_until_law(&mut self, a: Formula, b: Formula) -> Maybe {
        if self.covers(a, b)? {
            return Ok(Some(Formula::TRUE));
        }
        if b == Formula::FALSE {
            return self.globally(a).map(Some);
        }
        if self.kind(a).universal {
            return self.or(vec![a, b]).map(Some);
        }
        let into = matches!(self.node(b), Node::WeakUntil(_) | Node::Globally(_) | Node::Release(_));
        if self.implies(a, b)? || into && self.leads_into(a, b)? {
            return Ok(Some(b));
        }
        if let Some(shorter) = self.without(a, b)? {
            return self.weak_until(shorter, b).map(Some);
        }
        match (self.node(a).clone(), self.node(b).clone()) {
            (Node::Next(a), Node::Next(b)) => {
                let inner = self.weak_until(a, b)?;
                self.next(inner).map(Some)
            }
            (Node::WeakUntil([c, d]), _) if d == b => self.weak_until(c, b).map(Some),
            (_, Node::Or(all)) => {
                let (out, inside) = self.partition(&all, |this, part| this.kind(part).eventual);
                self.around(out, inside, false, |this, rest| this.weak_until(a, rest))
            }
            _ => Ok(None),
        }
    }

    /// `a R b`
    pub(super) fn release(&mut self, a: Formula, b: Formula) -> Made {
        match self.deeper(|this| this.release_law(a, b))? {
            Some(made) => Ok(made),
            None => self.logic.formulae.release(a, b),
        }
    }

    fn release_law(&mut self, a: Formula, b: Formula) -> Maybe {
        if a == Formula::FALSE || self.excludes(a, b)? {
            return self.globally(b).map(Some);
        }
        if self.kind(b).universal || self.implies(b, a)? || self.comes_out(a, b)? {
            return Ok(Some(b));
        }
        if let Some(shorter) = self.beside(a, b)? {
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
                let (out, inside) = self.partition(&all, |this, part| this.kind(part).universal);
                self.around(out, inside, true, |this, rest| this.release(a, rest))
            }
            (_, Node::Or(all)) => {
                let (out, inside) = self.partition(&all, Self::is_lasting);
                self.around(out, inside, false, |this, rest| this.release(a, rest))
            }
            _ => Ok(None),
        }
    }

    /// The law of [`Self::leads_into`] upside down.
    fn comes_out(&mut self, a: Formula, b: Formula) -> Result<bool, TooLarge> {
        match *self.node(b) {
            Node::Release([c, _]) | Node::StrongRelease([c, _]) | Node::Finally(c) => self.implies(c, a),
            Node::WeakUntil([_, d]) | Node::Until([_, d]) => self.implies(d, a),
            _ => Ok(false),
        }
    }

    /// `a` without those conditions that `b` implies, if there are some.
    fn beside(&mut self, a: Formula, b: Formula) -> Maybe {
        let Node::And(all) = self.node(a).clone() else { return Ok(None) };
        let mut kept = Vec::new();
        for part in &all {
            if !self.implies(b, *part)? {
                kept.push(*part);
            }
        }
        if kept.len() == all.len() { Ok(None) } else { self.and(kept).map(Some) }
    }

    /// `a M b`
    pub(super) fn strong_release(&mut self, a: Formula, b: Formula) -> Made {
        match self.deeper(|this| this.strong_release_law(a, b))? {
            Some(made) => Ok(made),
            None => self.logic.formulae.strong_release(a, b),
        }
    }

    fn strong_release_law(&mut self, a: Formula, b: Formula) -> Maybe {
        if self.excludes(a, b)? {
            return Ok(Some(Formula::FALSE));
        }
        if b == Formula::TRUE {
            return self.finally(a).map(Some);
        }
        if self.kind(a).eventual {
            return self.and(vec![a, b]).map(Some);
        }
        let out = matches!(self.node(b), Node::StrongRelease(_) | Node::Finally(_) | Node::Until(_));
        if self.implies(b, a)? || out && self.comes_out(a, b)? {
            return Ok(Some(b));
        }
        if let Some(shorter) = self.beside(a, b)? {
            return self.strong_release(shorter, b).map(Some);
        }
        match (self.node(a).clone(), self.node(b).clone()) {
            (Node::Next(a), Node::Next(b)) => {
                let inner = self.strong_release(a, b)?;
                self.next(inner).map(Some)
            }
            (Node::StrongRelease([c, d]), _) if d == b => self.strong_release(c, b).map(Some),
            (_, Node::And(all)) => {
                let (out, inside) = self.partition(&all, |this, part| this.kind(part).universal);
                self.around(out, inside, true, |this, rest| this.strong_release(a, rest))
            }
            _ => Ok(None),
        }
    }
}
