//! Monitors for finite words.
//!
//! The construction is that of monitors for infinite words, except that the word may end wherever no promise of
//! the tableau (an obligation on later positions) is pending.

use crate::formula::{Formula, Formulae, Node};
use crate::monitor::{Composite, SubsetConstruction, Tableau, decompose};
use crate::moore::{FourValuedTruth, Moore, Truth};
use crate::{Logic, TooLarge};
use rustc_hash::FxHashMap;

impl Logic {
    /// Builds the minimal machine that reports, after every finite word, whether the formula holds on it.
    ///
    /// `X a` requires a next position, so it is false at the last position, and `!X a` is true. The empty word has no
    /// position: atoms are false on it, and so are `X`, `F`, `U`, `M`, `Y`, `O` and `S`; their duals are true.
    ///
    /// ```
    /// # use invigil_ltl::{Budget, Logic, TooLarge};
    /// # fn main() -> Result<(), TooLarge> {
    /// let mut logic = Logic::new(Budget::default());
    /// let (a, b) = (logic.formulae.name("a")?, logic.formulae.name("b")?);
    /// let later = logic.formulae.finally(b)?;
    /// let response = logic.formulae.implies(a, later)?;
    /// let always = logic.formulae.globally(response)?;
    /// // No request is pending, or one is.
    /// assert_eq!(logic.finite_monitor(always)?.outputs, [true, false]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Fails if the machine outgrows the budget. A [composite](Logic::finite_composite) may still be small.
    pub fn finite_monitor(&mut self, formula: Formula) -> Result<Moore<bool>, TooLarge> {
        self.finite_composite(formula)?.flatten(&self.labels, &self.budget)
    }

    /// Builds machines for independent parts of the formula, whose outputs combine to that of the formula.
    ///
    /// # Errors
    /// Fails if a part outgrows the budget.
    pub fn finite_composite(&mut self, formula: Formula) -> Result<Composite<bool>, TooLarge> {
        let (formulae, gates) = decompose(&mut self.formulae, formula)?;
        let parts = formulae.into_iter().map(|part| self.finite_part(part)).collect::<Result<_, _>>()?;
        Ok(Composite { parts, gates })
    }

    /// Builds the minimal machine with four-valued verdicts: the verdict on all infinite continuations where it is certain,
    /// else the value on the finite word.
    ///
    /// # Errors
    /// Fails if the machine outgrows the budget.
    pub fn presumptive_monitor(&mut self, formula: Formula) -> Result<Moore<FourValuedTruth>, TooLarge> {
        let certain = self.monitor(formula)?;
        self.presumptive_monitor_from(&certain, formula)
    }

    /// Builds the machine of [`presumptive_monitor`](Logic::presumptive_monitor) from an existing [`monitor`](Logic::monitor).
    ///
    /// # Errors
    /// Fails if the machine outgrows the budget.
    pub fn presumptive_monitor_from(
        &mut self,
        certain: &Moore<Truth>,
        formula: Formula,
    ) -> Result<Moore<FourValuedTruth>, TooLarge> {
        let at_end = self.finite_monitor(formula)?;
        certain.product(&at_end, &self.labels, &self.budget, FourValuedTruth::new)
    }

    fn finite_part(&mut self, formula: Formula) -> Result<Moore<bool>, TooLarge> {
        let tableau = Tableau::new(&self.formulae, formula, &self.budget, true)?;
        let mut construction = SubsetConstruction::finite(tableau)?;
        let start = ([construction.start(false)?], holds_on_empty_word(&self.formulae, formula));
        let end = construction.tableau.no_promises()?;
        construction.explore(&mut self.labels, &self.budget, start, |tableau, [set]| {
            Ok(!tableau.labels.restrict(set, &end)?.is_false())
        })
    }
}

/// Evaluates a formula on the empty word.
fn holds_on_empty_word(formulae: &Formulae, formula: Formula) -> bool {
    let mut values: FxHashMap<Formula, bool> = FxHashMap::default();
    for part in formulae.subformulae(formula) {
        let value = match formulae.node(part) {
            Node::Not(a) => !values[a],
            Node::And(all) => all.iter().all(|part| values[part]),
            Node::Or(all) => all.iter().any(|part| values[part]),
            Node::True
            | Node::Globally(_)
            | Node::Release(_)
            | Node::WeakUntil(_)
            | Node::WeakYesterday(_)
            | Node::Historically(_)
            | Node::Triggered(_) => true,
            _ => false,
        };
        values.insert(part, value);
    }
    values[&formula]
}
