//! Formulae made smaller without changing what they say, on infinite words.
//!
//! [`Simplifier`] has a constructor for each operator that applies the laws which make a formula smaller or
//! bring together what belongs together. Many laws have a condition "if `a` implies `b`". It is answered by
//! the form of both ([`implication`]) and, when asked for, by their automata.

mod boolean;
mod implication;
mod kinds;
mod temporal;

use crate::formula::{Formula, Node};
use crate::{Logic, TooLarge};
use implication::Implications;
use kinds::Kind;
pub(crate) use kinds::Kinds;
use rustc_hash::FxHashMap;

/// How often a formula is gone through at most.
const ROUNDS: usize = 4;
/// How deep constructors call each other. Beyond, formulae stay as they are.
const DEPTH: usize = 60;
/// Formulae with more parts than this are not compared by automata.
const SMALL: usize = 24;
/// How many comparisons by automata one formula is worth.
const COMPARISONS: usize = 400;
/// How large the automata of a comparison may be.
const STATES: usize = 60;

/// How hard is tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// By the form of formulae.
    Form,
    /// By comparing languages, too.
    Language,
}

/// Makes formulae, small ones. All are in negation normal form, without past.
pub(crate) struct Simplifier<'a> {
    pub(crate) logic: &'a mut Logic,
    implications: Implications,
    negations: FxHashMap<Formula, Formula>,
    compared: FxHashMap<(Formula, Formula), bool>,
    comparisons: usize,
    depth: usize,
}

impl Logic {
    /// A formula that says the same on infinite words, in negation normal form and no larger than needed as far
    /// as simple laws tell. Operators that look back are left alone.
    ///
    /// # Errors
    /// If there would be too many formulae.
    pub fn simplify(&mut self, formula: Formula, effort: Effort) -> Result<Formula, TooLarge> {
        let formula = self.formulae.nnf(formula, true)?;
        Simplifier::new(self, effort).whole(formula)
    }
}

impl<'a> Simplifier<'a> {
    pub(crate) fn new(logic: &'a mut Logic, effort: Effort) -> Simplifier<'a> {
        Simplifier {
            logic,
            implications: Implications::default(),
            negations: FxHashMap::default(),
            compared: FxHashMap::default(),
            comparisons: if effort == Effort::Language { COMPARISONS } else { 0 },
            depth: 0,
        }
    }

    /// Simplifies a formula from the inside out, until nothing changes.
    pub(crate) fn whole(&mut self, formula: Formula) -> Result<Formula, TooLarge> {
        let mut formula = formula;
        for _ in 0..ROUNDS {
            let mut known: FxHashMap<Formula, Formula> = FxHashMap::default();
            for part in self.logic.formulae.within(formula) {
                let of = |inner: &Formula| known[inner];
                let made = match self.logic.formulae.node(part).clone() {
                    Node::And(all) => self.and(all.iter().map(of).collect())?,
                    Node::Or(all) => self.or(all.iter().map(of).collect())?,
                    Node::Next(a) => self.next(of(&a))?,
                    Node::Finally(a) => self.finally(of(&a))?,
                    Node::Globally(a) => self.globally(of(&a))?,
                    Node::Until([a, b]) => self.until(of(&a), of(&b))?,
                    Node::Release([a, b]) => self.release(of(&a), of(&b))?,
                    Node::WeakUntil([a, b]) => self.weak_until(of(&a), of(&b))?,
                    Node::StrongRelease([a, b]) => self.strong_release(of(&a), of(&b))?,
                    other => self.logic.formulae.rebuild(&other, of)?,
                };
                known.insert(part, made);
            }
            if known[&formula] == formula {
                break;
            }
            formula = known[&formula];
        }
        Ok(formula)
    }

    fn node(&self, formula: Formula) -> &Node {
        self.logic.formulae.node(formula)
    }

    fn kind(&mut self, formula: Formula) -> Kind {
        self.implications.kinds.of(&self.logic.formulae, formula)
    }

    /// Whether it says something about the end of time only.
    fn is_lasting(&mut self, formula: Formula) -> bool {
        self.kind(formula).is_lasting()
    }

    /// The negation.
    fn negation(&mut self, formula: Formula) -> Result<Formula, TooLarge> {
        if let Some(known) = self.negations.get(&formula) {
            return Ok(*known);
        }
        let made = self.logic.formulae.nnf(formula, false)?;
        self.negations.insert(formula, made);
        self.negations.insert(made, formula);
        Ok(made)
    }

    /// Whether `a` implies `b`, as far as we can tell.
    fn implies(&mut self, a: Formula, b: Formula) -> Result<bool, TooLarge> {
        if self.implications.implies(&self.logic.formulae, a, b) {
            return Ok(true);
        }
        let (not_a, not_b) = (self.negation(a)?, self.negation(b)?);
        if self.implications.implies(&self.logic.formulae, not_b, not_a) {
            return Ok(true);
        }
        self.compare(a, not_b)
    }

    /// Whether one of both must hold.
    fn covers(&mut self, a: Formula, b: Formula) -> Result<bool, TooLarge> {
        let not_a = self.negation(a)?;
        self.implies(not_a, b)
    }

    /// Whether both cannot hold at once.
    fn excludes(&mut self, a: Formula, b: Formula) -> Result<bool, TooLarge> {
        let not_b = self.negation(b)?;
        self.implies(a, not_b)
    }

    /// Whether the automaton of `a & b` is empty. Costs much, so only so often, and not for large formulae.
    fn compare(&mut self, a: Formula, b: Formula) -> Result<bool, TooLarge> {
        let key = (a.min(b), a.max(b));
        if let Some(known) = self.compared.get(&key) {
            return Ok(*known);
        }
        if self.comparisons == 0 || a == Formula::TRUE || b == Formula::TRUE {
            return Ok(false);
        }
        let both = self.logic.formulae.and([a, b])?;
        let parts = self.logic.formulae.within(both);
        // Automata of formulae that look back are made in another way, which costs too much here.
        let found = if parts.len() > SMALL || parts.iter().any(|part| self.node(*part).is_past()) {
            false
        } else {
            self.comparisons -= 1;
            self.logic.is_contradiction(both, STATES)?
        };
        self.compared.insert(key, found);
        Ok(found)
    }

    /// Runs a law that calls constructors, if there is depth left.
    fn deeper<T>(
        &mut self,
        law: impl FnOnce(&mut Self) -> Result<Option<T>, TooLarge>,
    ) -> Result<Option<T>, TooLarge> {
        if self.depth >= DEPTH {
            return Ok(None);
        }
        self.depth += 1;
        let made = law(self);
        self.depth -= 1;
        made
    }
}
