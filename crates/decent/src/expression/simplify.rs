//! Simplification and evaluation through decision diagrams.

use super::{Expression, Node, Pool};
use crate::memory::{Memory, Obligation};
use invigil_ltl::label::{Label, Labels, Variable};
use invigil_ltl::{Budget, TooLarge};
use rustc_hash::FxHashSet;
use std::cell::RefCell;

/// What the expressions of one history may cost. One that costs more stays as it is, and unknown.
const BUDGET: Budget =
    Budget { formulae: 0, states: 0, edges: 1 << 10, nodes: 1 << 18, variables: 1 << 11, seconds: None };

thread_local! {
    /// To make room for diagrams takes longer than an expression, so there is one room for all of a thread.
    static LABELS: RefCell<Labels> = RefCell::new(Labels::new(&BUDGET));
}

/// The value of an expression when a memory is all that is known, if that decides it. This is the document's `eval`: whether
/// what is left is always true, or never.
pub fn evaluate(pool: &Pool, expression: Expression, memory: &Memory) -> Option<bool> {
    let mut rest = Pool::default();
    let left = pool.rewrite([expression], memory, &mut rest)[0];
    Simplifier::new(&rest, [left]).decide(&rest, left)
}

/// The same expression as an irredundant sum of products. This is the document's `simplify`.
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
/// If it would have too many products, or speaks of too much.
pub fn simplify(pool: &mut Pool, expression: Expression) -> Result<Expression, TooLarge> {
    Simplifier::new(pool, [expression]).simplify(pool, expression)
}

/// Decision diagrams of the expressions of a pool, each made once.
pub(crate) struct Simplifier {
    /// What the variables stand for, the earliest first.
    variables: Vec<Obligation>,
    /// The variables themselves, as soon as one is needed.
    atoms: Vec<Label>,
    made: Vec<Option<Label>>,
}

impl Simplifier {
    /// For some expressions of a pool.
    pub(crate) fn new(pool: &Pool, roots: impl IntoIterator<Item = Expression>) -> Simplifier {
        Simplifier { variables: pool.obligations(roots), atoms: Vec::new(), made: vec![None; pool.len()] }
    }

    /// The value of an expression, if it is the same whatever is observed. None also if it is too large.
    pub(crate) fn decide(&mut self, pool: &Pool, expression: Expression) -> Option<bool> {
        if pool.is_plain(expression) {
            return expression.constant();
        }
        let label = self.with_room(|own, labels| own.diagram(labels, pool, expression)).ok()?;
        if label.is_true() { Some(true) } else { label.is_false().then_some(false) }
    }

    /// The same expression as an irredundant sum of products.
    pub(crate) fn simplify(
        &mut self,
        pool: &mut Pool,
        expression: Expression,
    ) -> Result<Expression, TooLarge> {
        if pool.is_plain(expression) {
            return Ok(expression);
        }
        let products = self.with_room(|own, labels| {
            let label = own.diagram(labels, pool, expression)?;
            labels.cubes(&label)
        })?;
        let mut sum = Vec::with_capacity(products.len());
        for product in products {
            let mut literals = Vec::with_capacity(product.len());
            for (variable, value) in product {
                // There are no others.
                let Variable::Helper(number) = variable else { continue };
                literals.push(pool.literal(self.variables[number as usize], value));
            }
            sum.push(pool.and(literals));
        }
        Ok(pool.or(sum))
    }

    /// Does something with diagrams. If there is no room, it may be full of what nobody needs any more: whether that was
    /// cleared away in time must not decide what is known, so it is tried once more in an empty one.
    fn with_room<Made>(
        &mut self,
        work: impl Fn(&mut Simplifier, &mut Labels) -> Result<Made, TooLarge>,
    ) -> Result<Made, TooLarge> {
        LABELS.with_borrow_mut(|labels| match work(self, labels) {
            Err(too_large) if too_large.limit == BUDGET.nodes => {
                (self.atoms, self.made) = (Vec::new(), Vec::new());
                *labels = Labels::new(&BUDGET);
                work(self, labels)
            }
            done => done,
        })
    }

    fn diagram(&mut self, labels: &mut Labels, pool: &Pool, root: Expression) -> Result<Label, TooLarge> {
        // Diagrams decide on variables in the order in which they are made: always the same, so that results are.
        for number in self.atoms.len()..self.variables.len() {
            self.atoms.push(labels.variable(Variable::Helper(number as u32))?);
        }
        // Results of simplification come to the pool.
        self.made.resize(pool.len(), None);
        for expression in self.missing(pool, root) {
            let part = |part: &Expression| self.made[part.index()].clone().unwrap_or_else(|| labels.bottom());
            let made = match pool.node(expression) {
                Node::Constant(true) => labels.top(),
                Node::Constant(false) => labels.bottom(),
                Node::Atom(obligation) => {
                    // All that the expressions speak of are there.
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
            self.made[expression.index()] = Some(made);
        }
        Ok(self.made[root.index()].clone().unwrap_or_else(|| labels.bottom()))
    }

    /// The parts of an expression, and it itself, that have no diagram yet, parts first.
    fn missing(&self, pool: &Pool, root: Expression) -> Vec<Expression> {
        let mut open = vec![root];
        let mut missing = Vec::new();
        let mut seen = FxHashSet::default();
        while let Some(next) = open.pop() {
            if self.made[next.index()].is_none() && seen.insert(next) {
                missing.push(next);
                open.extend_from_slice(pool.node(next).parts());
            }
        }
        missing.sort_unstable();
        missing
    }
}
