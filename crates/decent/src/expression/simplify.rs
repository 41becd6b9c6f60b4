//! Simplification and evaluation with decision diagrams.

use super::{Expression, Node, Pool};
use crate::memory::{Memory, Obligation};
use invigil_ltl::label::{Label, Labels, Variable};
use invigil_ltl::{Budget, TooLarge};
use rustc_hash::FxHashSet;
use std::cell::RefCell;

/// Budget for the expressions of one history. An expression that exceeds it stays unchanged and unknown.
const BUDGET: Budget =
    Budget { formulae: 0, states: 0, edges: 1 << 10, nodes: 1 << 18, variables: 1 << 11, seconds: None };

thread_local! {
    /// Diagrams of the thread. Allocating the tables takes longer than simplifying an expression, so they are reused.
    static LABELS: RefCell<Labels> = RefCell::new(Labels::new(&BUDGET));
}

/// Returns the value of an expression if a memory determines it (`eval` of [EH18 §4]: the rewritten expression is valid
/// or unsatisfiable).
pub fn evaluate(pool: &Pool, expression: Expression, memory: &Memory) -> Option<bool> {
    let mut rest = Pool::default();
    let rewritten = pool.rewrite([expression], memory, &mut rest)[0];
    Simplifier::new(&rest, [rewritten]).decide(&rest, rewritten)
}

/// Converts an expression to an irredundant sum of products (`simplify` of [EH18 §4]).
///
/// ```
/// use invigil_decent::expression::{Pool, simplify};
/// use invigil_decent::memory::{Atom, Obligation};
/// use invigil_decent::system::PropositionId;
///
/// let mut pool = Pool::default();
/// let [a, b] = [0, 1].map(|id| pool.atom(Obligation { at: 1, atom: Atom::Observed(PropositionId(id)) }));
/// let not = pool.not(a);
/// let [with, without] = [a, not].map(|first| pool.and([first, b]));
/// let either = pool.or([with, without]);
/// assert_eq!(simplify(&mut pool, either)?, b);
/// # Ok::<(), invigil_ltl::TooLarge>(())
/// ```
///
/// # Errors
/// Fails if there are too many products or variables.
pub fn simplify(pool: &mut Pool, expression: Expression) -> Result<Expression, TooLarge> {
    Simplifier::new(pool, [expression]).simplify(pool, expression)
}

/// Decision diagrams of the expressions of a pool, each built once.
pub(crate) struct Simplifier {
    /// Meaning of the variables, the earliest observation first.
    variables: Vec<Obligation>,
    /// The variables themselves, created on demand.
    atoms: Vec<Label>,
    diagrams: Vec<Option<Label>>,
}

impl Simplifier {
    /// Creates a simplifier for some expressions of a pool.
    pub(crate) fn new(pool: &Pool, roots: impl IntoIterator<Item = Expression>) -> Simplifier {
        Simplifier { variables: pool.obligations(roots), atoms: Vec::new(), diagrams: vec![None; pool.len()] }
    }

    /// Returns the value of an expression if it is valid or unsatisfiable. `None` also if it is too large.
    pub(crate) fn decide(&mut self, pool: &Pool, expression: Expression) -> Option<bool> {
        if pool.is_plain(expression) {
            return expression.constant();
        }
        let label = self.with_diagrams(|own, labels| own.diagram(labels, pool, expression)).ok()?;
        if label.is_true() { Some(true) } else { label.is_false().then_some(false) }
    }

    /// Converts an expression to an irredundant sum of products.
    pub(crate) fn simplify(
        &mut self,
        pool: &mut Pool,
        expression: Expression,
    ) -> Result<Expression, TooLarge> {
        if pool.is_plain(expression) {
            return Ok(expression);
        }
        let products = self.with_diagrams(|own, labels| {
            let label = own.diagram(labels, pool, expression)?;
            labels.cubes(&label)
        })?;
        let mut sum = Vec::with_capacity(products.len());
        for product in products {
            let mut literals = Vec::with_capacity(product.len());
            for (variable, value) in product {
                // Diagrams contain only helper variables.
                let Variable::Helper(number) = variable else { continue };
                literals.push(pool.literal(self.variables[number as usize], value));
            }
            sum.push(pool.and(literals));
        }
        Ok(pool.or(sum))
    }

    /// Runs an operation on the thread's diagrams. If they are full, it is repeated once with empty ones, so that the
    /// result does not depend on garbage left by earlier expressions.
    fn with_diagrams<T>(
        &mut self,
        work: impl Fn(&mut Simplifier, &mut Labels) -> Result<T, TooLarge>,
    ) -> Result<T, TooLarge> {
        LABELS.with_borrow_mut(|labels| match work(self, labels) {
            Err(too_large) if too_large.limit == BUDGET.nodes => {
                (self.atoms, self.diagrams) = (Vec::new(), Vec::new());
                *labels = Labels::new(&BUDGET);
                work(self, labels)
            }
            done => done,
        })
    }

    fn diagram(&mut self, labels: &mut Labels, pool: &Pool, root: Expression) -> Result<Label, TooLarge> {
        // Variables are created in sorted order, so that diagrams and results are deterministic.
        for number in self.atoms.len()..self.variables.len() {
            self.atoms.push(labels.variable(Variable::Helper(number as u32))?);
        }
        // Simplification adds its results to the pool.
        self.diagrams.resize(pool.len(), None);
        for expression in self.missing(pool, root) {
            let part =
                |part: &Expression| self.diagrams[part.index()].clone().unwrap_or_else(|| labels.bottom());
            let diagram = match pool.node(expression) {
                Node::Constant(true) => labels.top(),
                Node::Constant(false) => labels.bottom(),
                Node::Atom(obligation) => {
                    // `variables` contains every observation of the expressions.
                    self.atoms[self.variables.binary_search(obligation).unwrap_or_default()].clone()
                }
                Node::Not(inner) => labels.not(&part(inner))?,
                Node::And(parts) => {
                    parts.iter().try_fold(labels.top(), |all, next| labels.and(&all, &part(next)))?
                }
                Node::Or(parts) => {
                    parts.iter().try_fold(labels.bottom(), |one, next| labels.or(&one, &part(next)))?
                }
            };
            self.diagrams[expression.index()] = Some(diagram);
        }
        Ok(self.diagrams[root.index()].clone().unwrap_or_else(|| labels.bottom()))
    }

    /// Returns the subexpressions without a diagram, operands first.
    fn missing(&self, pool: &Pool, root: Expression) -> Vec<Expression> {
        let mut open = vec![root];
        let mut missing = Vec::new();
        let mut seen = FxHashSet::default();
        while let Some(next) = open.pop() {
            if self.diagrams[next.index()].is_none() && seen.insert(next) {
                missing.push(next);
                open.extend_from_slice(pool.node(next).parts());
            }
        }
        missing.sort_unstable();
        missing
    }
}
