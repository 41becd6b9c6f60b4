//! Simplification of formulae by rewriting rules that preserve the language on infinite words.
//!
//! [`Simplifier`] has a constructor for each operator, which applies the rules that make a formula smaller or merge
//! operands. Many rules have a side condition "if `a` implies `b`". It is checked syntactically ([`implication`]) and, with
//! [`Effort::Language`], by the emptiness of an automaton.

mod boolean;
mod implication;
mod syntactic_class;
mod temporal;

use crate::formula::{Formula, Node};
use crate::{Logic, TooLarge};
use implication::ImplicationChecker;
use rustc_hash::FxHashMap;
use syntactic_class::SyntacticClass;
pub(crate) use syntactic_class::SyntacticClasses;

/// Maximum number of passes over a formula.
const MAX_ROUNDS: usize = 4;
/// Maximum nesting depth of rules; deeper formulae are not rewritten.
const MAX_DEPTH: usize = 60;
/// Maximum number of subformulae for a comparison by automata.
const MAX_COMPARED_SUBFORMULAE: usize = 24;
/// Maximum number of comparisons by automata per formula.
const MAX_COMPARISONS: usize = 400;
/// Maximum number of states of an automaton of a comparison.
const MAX_STATES: usize = 60;

/// Means by which side conditions of rewriting rules are checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// Syntactic implication only.
    Syntactic,
    /// Syntactic implication, and language containment for small formulae.
    Language,
}

/// Constructors that simplify the formulae they build. Operands are in negation normal form.
pub(crate) struct Simplifier<'a> {
    pub(crate) logic: &'a mut Logic,
    /// The syntactic implication check.
    implications: ImplicationChecker,
    negations: FxHashMap<Formula, Formula>,
    /// Results of comparisons by automata, by sorted pair.
    disjoint: FxHashMap<(Formula, Formula), bool>,
    /// Remaining comparisons by automata.
    comparisons: usize,
    depth: usize,
}

impl Logic {
    /// Returns a simplified formula in negation normal form that is equivalent on infinite words. Past operators are not
    /// rewritten.
    ///
    /// # Errors
    /// Fails if there are too many formulae.
    pub fn simplify(&mut self, formula: Formula, effort: Effort) -> Result<Formula, TooLarge> {
        let formula = self.formulae.nnf(formula, true)?;
        Simplifier::new(self, effort).simplify(formula)
    }
}

impl<'a> Simplifier<'a> {
    pub(crate) fn new(logic: &'a mut Logic, effort: Effort) -> Simplifier<'a> {
        Simplifier {
            logic,
            implications: ImplicationChecker::default(),
            negations: FxHashMap::default(),
            disjoint: FxHashMap::default(),
            comparisons: if effort == Effort::Language { MAX_COMPARISONS } else { 0 },
            depth: 0,
        }
    }

    /// Simplifies a formula bottom-up, until nothing changes.
    pub(crate) fn simplify(&mut self, formula: Formula) -> Result<Formula, TooLarge> {
        let mut formula = formula;
        for _ in 0..MAX_ROUNDS {
            let mut known: FxHashMap<Formula, Formula> = FxHashMap::default();
            for part in self.logic.formulae.subformulae(formula) {
                let of = |inner: &Formula| known[inner];
                let rewritten = match self.logic.formulae.node(part).clone() {
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
                known.insert(part, rewritten);
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

    fn class(&mut self, formula: Formula) -> SyntacticClass {
        self.implications.classes.of(&self.logic.formulae, formula)
    }

    /// Whether the formula is known to have the same value at all positions.
    fn is_suspendable(&mut self, formula: Formula) -> bool {
        self.class(formula).is_suspendable()
    }

    /// Returns the negation normal form of the negation.
    fn negation(&mut self, formula: Formula) -> Result<Formula, TooLarge> {
        if let Some(known) = self.negations.get(&formula) {
            return Ok(*known);
        }
        let negation = self.logic.formulae.nnf(formula, false)?;
        self.negations.insert(formula, negation);
        self.negations.insert(negation, formula);
        Ok(negation)
    }

    /// Whether `a` is known to imply `b`.
    fn implies(&mut self, a: Formula, b: Formula) -> Result<bool, TooLarge> {
        if self.implications.implies(&self.logic.formulae, a, b) {
            return Ok(true);
        }
        let (not_a, not_b) = (self.negation(a)?, self.negation(b)?);
        if self.implications.implies(&self.logic.formulae, not_b, not_a) {
            return Ok(true);
        }
        self.are_disjoint(a, not_b)
    }

    /// Whether `a | b` is known to be valid.
    fn are_exhaustive(&mut self, a: Formula, b: Formula) -> Result<bool, TooLarge> {
        let not_a = self.negation(a)?;
        self.implies(not_a, b)
    }

    /// Whether `a & b` is known to be unsatisfiable.
    fn are_exclusive(&mut self, a: Formula, b: Formula) -> Result<bool, TooLarge> {
        let not_b = self.negation(b)?;
        self.implies(a, not_b)
    }

    /// Whether the automaton of `a & b` is empty. It is expensive, so the number of checks and the size of the formulae are
    /// limited.
    fn are_disjoint(&mut self, a: Formula, b: Formula) -> Result<bool, TooLarge> {
        let key = (a.min(b), a.max(b));
        if let Some(known) = self.disjoint.get(&key) {
            return Ok(*known);
        }
        if self.comparisons == 0 || a == Formula::TRUE || b == Formula::TRUE {
            return Ok(false);
        }
        let both = self.logic.formulae.and([a, b])?;
        let parts = self.logic.formulae.subformulae(both);
        // Formulae with past operators are translated in another way, which is too expensive here.
        let found = if parts.len() > MAX_COMPARED_SUBFORMULAE
            || parts.iter().any(|part| self.node(*part).is_past())
        {
            false
        } else {
            self.comparisons -= 1;
            self.logic.is_contradiction(both, MAX_STATES)?
        };
        self.disjoint.insert(key, found);
        Ok(found)
    }

    /// Applies a rule that calls constructors, unless the maximum depth is reached.
    fn with_depth<T>(
        &mut self,
        rule: impl FnOnce(&mut Self) -> Result<Option<T>, TooLarge>,
    ) -> Result<Option<T>, TooLarge> {
        if self.depth >= MAX_DEPTH {
            return Ok(None);
        }
        self.depth += 1;
        let rewritten = rule(self);
        self.depth -= 1;
        rewritten
    }
}
