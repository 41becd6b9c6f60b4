//! Exact monitors for infinite words of which one sees a prefix: true, false, or not known yet.
//!
//! The textbook way makes automata of the formula and of its negation, and a deterministic one of the sets of
//! their states. Here the automata are never made. What a prefix leaves for later is a decision diagram over
//! promises (`tableau`): it stands for the whole set of states, it is the same for the negation, and bounded
//! operators, whose automata are huge, are small diagrams. Which promises can be kept at all is computed once
//! (`live`); then a verdict is a look whether a diagram is empty. The machine is made by `subsets`.

mod composite;
mod live;
mod parts;
mod relation;
mod subsets;
mod tableau;
mod verdicts;
mod weaker;

pub use composite::{Composite, Gate};
pub use verdicts::{Monitorability, monitorability};

use crate::label::{Label, Labels};
use crate::moore::{Moore, Truth};
use crate::{Budget, Effort, Formula, Logic, TooLarge};

pub(crate) use parts::independent;
pub(crate) use subsets::Steps;
pub(crate) use tableau::Tableau;

impl Logic {
    /// The smallest machine that says, after every prefix, whether the formula is already certain to hold, or
    /// not to hold, on every infinite word that begins so.
    ///
    /// Machines of formulae that say the same are equal.
    ///
    /// ```
    /// use invigil_ltl::moore::Truth;
    /// use invigil_ltl::{Budget, Logic, TooLarge};
    /// # fn main() -> Result<(), TooLarge> {
    /// let mut logic = Logic::new(Budget::default());
    /// let (a, b) = (logic.formulae.name("a")?, logic.formulae.name("b")?);
    /// let until = logic.formulae.until(a, b)?;
    /// let monitor = logic.monitor(until)?;
    /// assert_eq!(monitor.outputs, [Truth::Unknown, Truth::False, Truth::True]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// If it grows beyond the budget. A [`composite`](Logic::composite) may still be small.
    pub fn monitor(&mut self, formula: Formula) -> Result<Moore<Truth>, TooLarge> {
        self.composite(formula)?.flatten(&self.labels, &self.budget)
    }

    /// Small monitors of parts that have no atoms in common, and how their verdicts make that of the formula.
    ///
    /// Parts without common atoms cannot be in each other's way: a conjunction of them can still be satisfied
    /// if each part can, and can no longer fail if no part can. So the verdict is exact, while one machine for
    /// all would have to remember every combination of the parts' states.
    ///
    /// # Errors
    /// If a part grows beyond the budget.
    pub fn composite(&mut self, formula: Formula) -> Result<Composite<Truth>, TooLarge> {
        let (formulae, gates) = independent(&mut self.formulae, formula)?;
        let parts = formulae.into_iter().map(|part| self.monitor_whole(part)).collect::<Result<_, _>>()?;
        Ok(Composite { parts, gates })
    }

    fn monitor_whole(&mut self, formula: Formula) -> Result<Moore<Truth>, TooLarge> {
        let formula = if self.formulae.within(formula).len() <= WORTH_SIMPLIFYING {
            self.simplify(formula, Effort::Form)?
        } else {
            formula
        };
        let tableau = Tableau::new(&self.formulae, formula, &self.budget, false)?;
        let mut steps = Steps::infinite(tableau)?;
        // Most formulae leave few different things for later. To find out what makes no difference to prefixes
        // costs more than to try.
        let budget = Budget { states: EASY_STATES, edges: EASY_EDGES, ..self.budget };
        if let Ok(monitor) = explore(&mut steps, &mut self.labels, &budget) {
            return Ok(monitor);
        }
        // Without it there may be more states than needed, but no others.
        steps.weaken().ok();
        explore(&mut steps, &mut self.labels, &self.budget)
    }
}

/// Larger formulae were made by a program, or to do harm: bounds written out, mostly.
const WORTH_SIMPLIFYING: usize = 500;

/// What is tried at first.
const EASY_STATES: usize = 64;
const EASY_EDGES: usize = 512;

/// One set for the formula, one for its negation: when one of them is empty, the other one is certain.
fn explore(steps: &mut Steps, labels: &mut Labels, budget: &Budget) -> Result<Moore<Truth>, TooLarge> {
    let start = [steps.start(false)?, steps.start(true)?];
    let output = certain(&start);
    steps.explore(labels, budget, (start, output), |_, sets| Ok(certain(sets)))
}

fn certain([holds, fails]: &[Label; 2]) -> Truth {
    match (holds.is_false(), fails.is_false()) {
        (true, _) => Truth::False,
        (false, true) => Truth::True,
        (false, false) => Truth::Unknown,
    }
}
