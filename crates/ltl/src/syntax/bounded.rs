//! Expansion of bounded operators to nested single steps with shared subformulae.
//!
//! Operators that require a position, such as `F[0,3]`, are nested `X` or `Y`, which are strong as well. Their duals, such as
//! `G[0,3]`, ignore positions that do not exist, so `G[0,3] a` follows from `G a` at the end of a finite word, too.

use super::lower::Lowering;
use super::tree::Bound;
use super::{Binary, SyntaxError, Unary};
use crate::TooLarge;
use crate::formula::Formula;

impl Lowering<'_> {
    /// Rejects a bound whose expansion would exceed the budget, before it is built.
    pub(super) fn check_bound(&self, bound: &Bound, per_position: u64) -> Result<(), SyntaxError> {
        let positions = bound.to.unwrap_or(bound.from);
        let (needed, limit) = (positions.saturating_mul(per_position), self.formulae.limit());
        if needed <= limit as u64 {
            return Ok(());
        }
        let message =
            format!("the bound is too large: it needs about {needed} subformulae, and {limit} are allowed");
        Err(SyntaxError::new(message, bound.span.clone()))
    }

    /// Returns the expansion of a bounded unary operator.
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

    /// Returns the expansion of a bounded binary operator.
    pub(super) fn bounded_binary(
        &mut self,
        operator: Binary,
        bound: &Bound,
        a: Formula,
        b: Formula,
    ) -> Result<Formula, TooLarge> {
        // From the current position to the end of the bound.
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

    /// Requires `b` at some position within the bound, and `a`, if given, at all positions before it.
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
        for position in (0..bound.to.unwrap_or(bound.from)).rev() {
            all = self.unary(step, all)?;
            if let Some(a) = a {
                all = self.and(&[a, all])?;
            }
            if position >= bound.from {
                all = self.or(&[b, all])?;
            }
        }
        Ok(all)
    }

    /// Requires `b` at all past positions within the bound, back to one where `a` holds, if given.
    fn all(&mut self, bound: &Bound, a: Option<Formula>, b: Formula) -> Result<Formula, TooLarge> {
        let mut all = match (bound.to, a) {
            (Some(_), _) => b,
            (None, None) => self.formulae.historically(b)?,
            (None, Some(a)) => self.formulae.triggered(a, b)?,
        };
        for position in (0..bound.to.unwrap_or(bound.from)).rev() {
            all = self.formulae.weak_yesterday(all)?;
            if let Some(a) = a {
                all = self.or(&[a, all])?;
            }
            if position >= bound.from {
                all = self.and(&[b, all])?;
            }
        }
        Ok(all)
    }
}
