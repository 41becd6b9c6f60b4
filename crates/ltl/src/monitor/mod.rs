//! Exact monitors for infinite words of which a prefix is read: true, false, or unknown.
//!
//! The textbook construction builds automata of the formula and of its negation, and determinises both. Here no automaton is
//! built. The residual of a formula after a prefix is a decision diagram over promises (`tableau`), which represents the
//! whole set of automaton states. The diagram serves the negation as well, and it is small for bounded operators, whose
//! automata are huge. The promises that can be kept are computed once (`live`); a verdict is then an emptiness check of a
//! diagram.
//!
//! | module | contents |
//! | --- | --- |
//! | `tableau` | formula as a diagram over atoms, promises and memories |
//! | `live`, `partitioned_relation` | promises that can be kept, by symbolic fixed points |
//! | `subset_construction` | the Moore machine whose states are diagrams |
//! | `subsumption` | fewer states for large formulae: promises that differ only in fairness |
//! | `decomposition`, `composite` | formulae as Boolean combinations of parts without common atoms |
//! | `monitorability` | possible verdicts of a monitor |

mod composite;
mod decomposition;
mod live;
mod monitorability;
mod partitioned_relation;
mod subset_construction;
mod subsumption;
mod tableau;

pub use composite::{Composite, Gate};
pub use monitorability::{Monitorability, monitorability};

use crate::label::{Label, Labels};
use crate::moore::{Moore, Truth};
use crate::{Budget, Effort, Formula, Logic, TooLarge};

pub(crate) use decomposition::decompose;
pub(crate) use subset_construction::SubsetConstruction;
pub(crate) use tableau::Tableau;

impl Logic {
    /// Builds the minimal machine that reports, after every prefix, whether the formula holds or fails on all infinite
    /// continuations.
    ///
    /// Equivalent formulae have equal machines.
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
    /// Fails if the machine outgrows the budget. A [`composite`](Logic::composite) may still be small.
    pub fn monitor(&mut self, formula: Formula) -> Result<Moore<Truth>, TooLarge> {
        self.composite(formula)?.flatten(&self.labels, &self.budget)
    }

    /// Builds small monitors of parts without common atoms, whose verdicts combine to that of the formula.
    ///
    /// Parts without common atoms are independent: their conjunction is satisfiable if each part is, and can no longer fail
    /// if no part can. So the combined verdict is exact, while a single machine needs a state for every combination of states
    /// of the parts.
    ///
    /// # Errors
    /// Fails if a part outgrows the budget.
    pub fn composite(&mut self, formula: Formula) -> Result<Composite<Truth>, TooLarge> {
        let (formulae, gates) = decompose(&mut self.formulae, formula)?;
        let parts = formulae.into_iter().map(|part| self.monitor_part(part)).collect::<Result<_, _>>()?;
        Ok(Composite { parts, gates })
    }

    fn monitor_part(&mut self, formula: Formula) -> Result<Moore<Truth>, TooLarge> {
        let formula = if self.formulae.subformulae(formula).len() <= MAX_SIMPLIFIED {
            self.simplify(formula, Effort::Syntactic)?
        } else {
            formula
        };
        let tableau = Tableau::new(&self.formulae, formula, &self.budget, false)?;
        let mut construction = SubsetConstruction::infinite(tableau)?;
        // Most formulae have few residuals, and exploring them is cheaper than computing the subsumption first.
        let budget = Budget { states: EASY_STATES, edges: EASY_EDGES, ..self.budget };
        if let Ok(monitor) = explore(&mut construction, &mut self.labels, &budget) {
            return Ok(monitor);
        }
        // Subsumption only saves states: minimisation returns the same machine without it.
        construction.enable_subsumption().ok();
        explore(&mut construction, &mut self.labels, &self.budget)
    }
}

/// Maximum number of subformulae that are simplified. Larger formulae are generated, mostly from expanded bounds.
const MAX_SIMPLIFIED: usize = 500;

/// Limits of the first attempt, without subsumption.
const EASY_STATES: usize = 64;
const EASY_EDGES: usize = 512;

/// Explores the residuals of the formula and of its negation. When one is unsatisfiable, the other is certain.
fn explore(
    construction: &mut SubsetConstruction,
    labels: &mut Labels,
    budget: &Budget,
) -> Result<Moore<Truth>, TooLarge> {
    let start = [construction.start(false)?, construction.start(true)?];
    let output = verdict(&start);
    construction.explore(labels, budget, (start, output), |_, sets| Ok(verdict(sets)))
}

/// Returns the verdict for the residuals of the formula and of its negation.
fn verdict([holds, fails]: &[Label; 2]) -> Truth {
    match (holds.is_false(), fails.is_false()) {
        (true, _) => Truth::False,
        (false, true) => Truth::True,
        (false, false) => Truth::Unknown,
    }
}
