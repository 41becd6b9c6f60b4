//! Words that end: what a formula says if the word ends here.
//!
//! The machines are made as those for infinite words are, but at the end all promises are off.

use crate::formula::{Formula, Formulae, Node};
use crate::monitor::{Composite, Steps, Tableau, independent};
use crate::moore::{Four, Moore, Truth};
use crate::{Logic, TooLarge};
use rustc_hash::FxHashMap;

impl Logic {
    /// The smallest machine that says, after every word, whether the formula holds on that word.
    ///
    /// `X a` asks for a next instant, so at the last one it is false, and `!X a` is true. Before the first letter
    /// there is no instant: then atoms are false, and so are `X`, `F`, `U`, `M`, `Y`, `O` and `S`; their duals
    /// are true.
    ///
    /// ```
    /// # use invigil_ltl::{Budget, Logic, TooLarge};
    /// # fn main() -> Result<(), TooLarge> {
    /// let mut logic = Logic::new(Budget::default());
    /// let (a, b) = (logic.formulae.name("a")?, logic.formulae.name("b")?);
    /// let later = logic.formulae.finally(b)?;
    /// let response = logic.formulae.implies(a, later)?;
    /// let always = logic.formulae.globally(response)?;
    /// // Nothing is pending, or something is.
    /// assert_eq!(logic.finite(always)?.outputs, [true, false]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// If it grows beyond the budget. A [composite](Logic::finite_composite) may still be small.
    pub fn finite(&mut self, formula: Formula) -> Result<Moore<bool>, TooLarge> {
        self.finite_composite(formula)?.flatten(&self.labels, &self.budget)
    }

    /// Machines for parts of the formula, and how what they say makes what the formula says.
    ///
    /// # Errors
    /// If a part grows beyond the budget.
    pub fn finite_composite(&mut self, formula: Formula) -> Result<Composite<bool>, TooLarge> {
        let (formulae, gates) = independent(&mut self.formulae, formula)?;
        let parts = formulae.into_iter().map(|part| self.finite_whole(part)).collect::<Result<_, _>>()?;
        Ok(Composite { parts, gates })
    }

    /// The smallest machine that says what is certain of the infinite words that begin so, and where nothing
    /// is, what the formula says if the word ends here.
    ///
    /// # Errors
    /// If it grows beyond the budget.
    pub fn presume(&mut self, formula: Formula) -> Result<Moore<Four>, TooLarge> {
        let certain = self.monitor(formula)?;
        self.presume_besides(&certain, formula)
    }

    /// The same for a formula whose [`monitor`](Logic::monitor) is there already.
    ///
    /// # Errors
    /// If it grows beyond the budget.
    pub fn presume_besides(
        &mut self,
        certain: &Moore<Truth>,
        formula: Formula,
    ) -> Result<Moore<Four>, TooLarge> {
        let at_the_end = self.finite(formula)?;
        certain.product(&at_the_end, &self.labels, &self.budget, Four::of)
    }

    fn finite_whole(&mut self, formula: Formula) -> Result<Moore<bool>, TooLarge> {
        let tableau = Tableau::new(&self.formulae, formula, &self.budget, true)?;
        let mut steps = Steps::finite(tableau)?;
        let start = ([steps.start(false)?], on_nothing(&self.formulae, formula));
        let end = steps.tableau.nothing_promised()?;
        steps.explore(&mut self.labels, &self.budget, start, |tableau, [set]| {
            Ok(!tableau.labels.restrict(set, &end)?.is_false())
        })
    }
}

/// What a formula says where there is no instant.
fn on_nothing(formulae: &Formulae, formula: Formula) -> bool {
    let mut values: FxHashMap<Formula, bool> = FxHashMap::default();
    for part in formulae.within(formula) {
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
