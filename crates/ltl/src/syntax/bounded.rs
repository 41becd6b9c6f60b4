//! Operators with bounds, as nests of single steps that share what they have in common.
//!
//! What asks for an instant is a nest of `X` or `Y`, which do so, too. What is content with the instants that
//! there are is its dual, so that `G[0,3] a` follows from `G a` at the end of a finite word as well.

use super::lower::Lower;
use super::tree::Bound;
use super::{Binary, Mistake, Unary};
use crate::TooLarge;
use crate::formula::Formula;

impl Lower<'_> {
    /// Whether there can be room for all formulae of a bound: found out before they are made.
    pub(super) fn room_for(&self, bound: &Bound, per_instant: u64) -> Result<(), Mistake> {
        let instants = bound.to.unwrap_or(bound.from);
        let (needed, limit) = (instants.saturating_mul(per_instant), self.formulae.limit());
        if needed <= limit as u64 {
            return Ok(());
        }
        let message =
            format!("the bound is too large: it needs about {needed} subformulae, and {limit} are allowed");
        Err(Mistake::new(message, bound.span.clone()))
    }

    pub(super) fn bounded_unary(
        &mut self,
        operator: Unary,
        bound: &Bound,
        a: Formula,
    ) -> Result<Formula, TooLarge> {
        match operator {
            Unary::Next | Unary::Yesterday | Unary::WeakYesterday => {
                (0..bound.from).try_fold(a, |inner, _| self.unary(operator, inner))
            }
            Unary::Finally => self.some(Unary::Next, bound, None, a),
            Unary::Once => self.some(Unary::Yesterday, bound, None, a),
            Unary::Historically => self.all(bound, None, a),
            _ => {
                let not_a = self.formulae.not(a)?;
                let some = self.some(Unary::Next, bound, None, not_a)?;
                self.formulae.not(some)
            }
        }
    }

    pub(super) fn bounded_binary(
        &mut self,
        operator: Binary,
        bound: &Bound,
        a: Formula,
        b: Formula,
    ) -> Result<Formula, TooLarge> {
        // Up to the end of the bound, from now.
        let whole = Bound { from: 0, ..bound.clone() };
        match operator {
            Binary::Since => self.some(Unary::Yesterday, bound, Some(a), b),
            Binary::Triggered => self.all(bound, Some(a), b),
            Binary::Until => self.some(Unary::Next, bound, Some(a), b),
            Binary::WeakUntil => {
                let until = self.some(Unary::Next, bound, Some(a), b)?;
                let always = self.bounded_unary(Unary::Globally, &whole, a)?;
                self.or(&[until, always])
            }
            Binary::StrongRelease => {
                let release = self.bounded_binary(Binary::Release, bound, a, b)?;
                let some = self.some(Unary::Next, &whole, None, a)?;
                self.and(&[release, some])
            }
            _ => {
                let (not_a, not_b) = (self.formulae.not(a)?, self.formulae.not(b)?);
                let until = self.some(Unary::Next, bound, Some(not_a), not_b)?;
                self.formulae.not(until)
            }
        }
    }

    /// `b` at some instant of the bound, and `a`, if there is one, at those before it.
    fn some(
        &mut self,
        step: Unary,
        bound: &Bound,
        a: Option<Formula>,
        b: Formula,
    ) -> Result<Formula, TooLarge> {
        let mut all = match (bound.to, a, step) {
            (Some(_), ..) => b,
            (None, None, Unary::Next) => self.formulae.finally(b)?,
            (None, None, _) => self.formulae.once(b)?,
            (None, Some(a), Unary::Next) => self.formulae.until(a, b)?,
            (None, Some(a), _) => self.formulae.since(a, b)?,
        };
        for instant in (0..bound.to.unwrap_or(bound.from)).rev() {
            all = self.unary(step, all)?;
            if let Some(a) = a {
                all = self.and(&[a, all])?;
            }
            if instant >= bound.from {
                all = self.or(&[b, all])?;
            }
        }
        Ok(all)
    }

    /// `b` at all past instants of the bound, back to one that has `a`, if that comes before.
    fn all(&mut self, bound: &Bound, a: Option<Formula>, b: Formula) -> Result<Formula, TooLarge> {
        let mut all = match (bound.to, a) {
            (Some(_), _) => b,
            (None, None) => self.formulae.historically(b)?,
            (None, Some(a)) => self.formulae.triggered(a, b)?,
        };
        for instant in (0..bound.to.unwrap_or(bound.from)).rev() {
            all = self.formulae.weak_yesterday(all)?;
            if let Some(a) = a {
                all = self.or(&[a, all])?;
            }
            if instant >= bound.from {
                all = self.and(&[b, all])?;
            }
        }
        Ok(all)
    }
}
