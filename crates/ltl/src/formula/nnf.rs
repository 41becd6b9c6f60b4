//! Negation normal form: `!` only before atoms. Valid on infinite words.

use super::{Formula, Formulae, Node};
use crate::TooLarge;
use rustc_hash::FxHashMap;

impl Formulae {
    /// Returns the negation normal form of the formula, or of its negation if `value` is false.
    ///
    /// ```
    /// # use invigil_ltl::{Budget, Logic, TooLarge};
    /// # fn main() -> Result<(), TooLarge> {
    /// let mut formulae = Logic::new(Budget::default()).formulae;
    /// let a = formulae.name("a")?;
    /// let later = formulae.finally(a)?;
    /// let never = formulae.nnf(later, false)?;
    /// let not_a = formulae.not(a)?;
    /// assert_eq!(never, formulae.globally(not_a)?);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Fails if there are too many formulae.
    pub fn nnf(&mut self, formula: Formula, value: bool) -> Result<Formula, TooLarge> {
        // The needed pairs of formula and polarity, then processed bottom-up.
        let (mut known, mut open) = (FxHashMap::default(), vec![(formula, value)]);
        let mut needed = Vec::new();
        while let Some((next, value)) = open.pop() {
            if known.insert((next, value), next).is_none() {
                needed.push((next, value));
                let is_negated = matches!(self.node(next), Node::Not(_));
                open.extend(self.node(next).parts().iter().map(|part| (*part, value != is_negated)));
            }
        }
        needed.sort_unstable();
        for (next, value) in needed {
            let of = |part: &Formula| known[&(*part, value)];
            let converted = match self.node(next).clone() {
                Node::False => self.constant(!value),
                Node::True => self.constant(value),
                Node::Atom(_) if value => next,
                Node::Atom(_) => self.not(next)?,
                Node::Not(a) => known[&(a, !value)],
                Node::And(all) | Node::Or(all) => {
                    let and = matches!(self.node(next), Node::And(_)) == value;
                    let all = all.iter().map(of);
                    if and { self.and(all)? } else { self.or(all)? }
                }
                Node::Next(a) => self.next(of(&a))?,
                Node::Finally(a) if value => self.finally(of(&a))?,
                Node::Globally(a) if value => self.globally(of(&a))?,
                Node::Finally(a) => self.globally(of(&a))?,
                Node::Globally(a) => self.finally(of(&a))?,
                Node::Until([a, b]) if value => self.until(of(&a), of(&b))?,
                Node::Release([a, b]) if value => self.release(of(&a), of(&b))?,
                Node::WeakUntil([a, b]) if value => self.weak_until(of(&a), of(&b))?,
                Node::StrongRelease([a, b]) if value => self.strong_release(of(&a), of(&b))?,
                Node::Until([a, b]) => self.release(of(&a), of(&b))?,
                Node::Release([a, b]) => self.until(of(&a), of(&b))?,
                Node::WeakUntil([a, b]) => self.strong_release(of(&a), of(&b))?,
                Node::StrongRelease([a, b]) => self.weak_until(of(&a), of(&b))?,
                Node::Yesterday(a) if value => self.yesterday(of(&a))?,
                Node::WeakYesterday(a) if value => self.weak_yesterday(of(&a))?,
                Node::Yesterday(a) => self.weak_yesterday(of(&a))?,
                Node::WeakYesterday(a) => self.yesterday(of(&a))?,
                Node::Once(a) if value => self.once(of(&a))?,
                Node::Historically(a) if value => self.historically(of(&a))?,
                Node::Once(a) => self.historically(of(&a))?,
                Node::Historically(a) => self.once(of(&a))?,
                Node::Since([a, b]) if value => self.since(of(&a), of(&b))?,
                Node::Triggered([a, b]) if value => self.triggered(of(&a), of(&b))?,
                Node::Since([a, b]) => self.triggered(of(&a), of(&b))?,
                Node::Triggered([a, b]) => self.since(of(&a), of(&b))?,
            };
            known.insert((next, value), converted);
        }
        Ok(known[&(formula, value)])
    }
}
