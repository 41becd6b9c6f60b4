//! Boolean functions as shared BDDs: labels of automata, and the sets and relations of the algorithms.
//!
//! Equal functions are equal labels. Algorithms may use helper variables in addition to the atoms; [`Variable`]
//! distinguishes them. No result may depend on the order of the variables.

mod compose;
mod cubes;

pub use compose::Substitution;

use crate::budget::SECONDS;
use crate::formula::Atom;
use crate::{Budget, TooLarge};
use indexmap::IndexMap;
use oxidd::bcdd::{BCDDFunction, BCDDManagerRef, new_manager};
use oxidd::{BooleanFunction, BooleanFunctionQuant, Function, HasLevel, Manager, ManagerRef, Node};
use rustc_hash::{FxBuildHasher, FxHashSet};
use std::cell::Cell;
use std::time::{Duration, Instant};

/// Capacity of the cache of operations.
const CACHE_CAPACITY: usize = 1 << 14;

/// Boolean function. Cheap to clone, compare and hash.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Label(BCDDFunction);

/// Variable of labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Variable {
    /// Atom of a formula.
    Atom(Atom),
    /// Helper variable of an algorithm, by its number.
    Helper(u32),
}

/// Conjunction of variables and negated variables.
pub type Cube = Vec<(Variable, bool)>;

/// Manager of labels and their variables. Labels of different managers must not be combined.
pub struct Labels {
    manager: BCDDManagerRef,
    top: Label,
    bottom: Label,
    /// Variables in the order of the diagrams, with their labels.
    variables: IndexMap<Variable, Label, FxBuildHasher>,
    budget: Budget,
    /// End of the time limit.
    deadline: Option<Instant>,
    /// Number of operations since the clock was checked.
    operations: Cell<u32>,
}

/// Number of operations between two checks of the clock.
const CLOCK_INTERVAL: u32 = 256;

impl Labels {
    /// Creates a manager without variables.
    pub fn new(budget: &Budget) -> Labels {
        let manager = new_manager(budget.nodes, CACHE_CAPACITY, 1);
        let (top, bottom) = manager.with_manager_shared(|manager| {
            (Label(BCDDFunction::t(manager)), Label(BCDDFunction::f(manager)))
        });
        Labels {
            manager,
            top,
            bottom,
            variables: IndexMap::default(),
            budget: *budget,
            deadline: budget.seconds.map(|seconds| Instant::now() + Duration::from_secs(seconds.into())),
            operations: Cell::new(0),
        }
    }

    /// Checks the time limit, then performs `operation`, whose only error is lack of nodes.
    fn perform<E>(&self, operation: impl Fn() -> Result<BCDDFunction, E>) -> Result<Label, TooLarge> {
        self.check_deadline()?;
        // Garbage is collected in the background. Collect it before giving up, so that the result does not depend on timing.
        let retry = |_| {
            self.manager.with_manager_shared(|manager| manager.gc());
            operation()
        };
        let result = operation().or_else(retry).map(Label);
        result.map_err(|_| TooLarge { resource: "nodes of decision diagrams", limit: self.budget.nodes })
    }

    /// Counts an operation; every `CLOCK_INTERVAL` operations, checks the time limit. Called by all operations that can
    /// create nodes.
    ///
    /// # Errors
    /// Fails if the time limit is exceeded.
    pub fn check_deadline(&self) -> Result<(), TooLarge> {
        let Some(deadline) = self.deadline else { return Ok(()) };
        self.operations.set(self.operations.get() + 1);
        if self.operations.get() < CLOCK_INTERVAL {
            return Ok(());
        }
        self.operations.set(0);
        let limit = self.budget.seconds.unwrap_or_default() as usize;
        if Instant::now() < deadline { Ok(()) } else { Err(TooLarge { resource: SECONDS, limit }) }
    }

    /// Returns the function that is always true.
    pub fn top(&self) -> Label {
        self.top.clone()
    }

    /// Returns the function that is always false.
    pub fn bottom(&self) -> Label {
        self.bottom.clone()
    }

    /// Returns the function of a variable, and creates the variable if needed.
    ///
    /// # Errors
    /// Fails if the limit on variables or nodes, or the time limit, is exceeded.
    pub fn variable(&mut self, variable: Variable) -> Result<Label, TooLarge> {
        if let Some(label) = self.variables.get(&variable) {
            return Ok(label.clone());
        }
        Budget::check("variables", self.variables.len() + 1, self.budget.variables)?;
        let number = self.variables.len() as u32;
        let label = self.perform(|| {
            self.manager.with_manager_exclusive(|manager| {
                // The variable may exist if an earlier call failed for lack of nodes.
                if manager.num_vars() <= number {
                    manager.add_vars(1);
                }
                BCDDFunction::var(manager, number)
            })
        })?;
        self.variables.insert(variable, label.clone());
        Ok(label)
    }

    /// Returns the function of an atom.
    ///
    /// # Errors
    /// Fails if the limit on variables or nodes, or the time limit, is exceeded.
    pub fn atom(&mut self, atom: Atom) -> Result<Label, TooLarge> {
        self.variable(Variable::Atom(atom))
    }

    /// `!a`
    ///
    /// # Errors
    /// Fails if the limit on nodes or the time limit is exceeded.
    pub fn not(&self, a: &Label) -> Result<Label, TooLarge> {
        self.perform(|| a.0.not())
    }

    /// `a & b`
    ///
    /// # Errors
    /// Fails if the limit on nodes or the time limit is exceeded.
    pub fn and(&self, a: &Label, b: &Label) -> Result<Label, TooLarge> {
        self.perform(|| a.0.and(&b.0))
    }

    /// `a | b`
    ///
    /// # Errors
    /// Fails if the limit on nodes or the time limit is exceeded.
    pub fn or(&self, a: &Label, b: &Label) -> Result<Label, TooLarge> {
        self.perform(|| a.0.or(&b.0))
    }

    /// `a & !b`
    ///
    /// # Errors
    /// Fails if the limit on nodes or the time limit is exceeded.
    pub fn minus(&self, a: &Label, b: &Label) -> Result<Label, TooLarge> {
        self.perform(|| b.0.imp_strict(&a.0))
    }

    /// `if a then b else c`
    ///
    /// # Errors
    /// Fails if the limit on nodes or the time limit is exceeded.
    pub fn ite(&self, a: &Label, b: &Label, c: &Label) -> Result<Label, TooLarge> {
        self.perform(|| a.0.ite(&b.0, &c.0))
    }

    /// Whether `a` implies `b`.
    ///
    /// # Errors
    /// Fails if the limit on nodes or the time limit is exceeded.
    pub fn implies(&self, a: &Label, b: &Label) -> Result<bool, TooLarge> {
        Ok(self.minus(a, b)?.is_false())
    }

    /// Whether `a & b` is satisfiable.
    ///
    /// # Errors
    /// Fails if the limit on nodes or the time limit is exceeded.
    pub fn intersects(&self, a: &Label, b: &Label) -> Result<bool, TooLarge> {
        Ok(!self.and(a, b)?.is_false())
    }

    /// Quantifies the variables of a positive cube, as made by [`cube`](Labels::cube), existentially.
    ///
    /// # Errors
    /// Fails if the limit on nodes or the time limit is exceeded.
    pub fn exists(&self, a: &Label, variables: &Label) -> Result<Label, TooLarge> {
        self.perform(|| a.0.exists(&variables.0))
    }

    /// Substitutes the values of a cube, as made by [`cube`](Labels::cube), for its variables.
    ///
    /// # Errors
    /// Fails if the limit on nodes or the time limit is exceeded.
    pub fn restrict(&self, a: &Label, cube: &Label) -> Result<Label, TooLarge> {
        self.perform(|| a.0.restrict(&cube.0))
    }

    /// Returns the function of a cube.
    ///
    /// # Errors
    /// Fails if the limit on variables or nodes, or the time limit, is exceeded.
    pub fn cube(&mut self, cube: &[(Variable, bool)]) -> Result<Label, TooLarge> {
        let mut all = self.top();
        for (variable, value) in cube {
            let label = self.variable(*variable)?;
            all = if *value { self.and(&all, &label)? } else { self.minus(&all, &label)? };
        }
        Ok(all)
    }

    /// Returns the root variable of the diagram with its positive and negative cofactor. `None` for constants.
    pub fn cofactors(&self, a: &Label) -> Option<(Variable, Label, Label)> {
        let number = a.0.with_manager_shared(|manager, edge| match manager.get_node(edge) {
            Node::Inner(inner) => Some(manager.level_to_var(inner.level())),
            _ => None,
        })?;
        let (yes, no) = a.0.cofactors()?;
        let (variable, _) = self.variables.get_index(number as usize)?;
        Some((*variable, Label(yes), Label(no)))
    }

    /// Evaluates the function for an assignment of the variables.
    pub fn evaluate(&self, a: &Label, mut assignment: impl FnMut(Variable) -> bool) -> bool {
        let mut at = a.clone();
        while let Some((variable, yes, no)) = self.cofactors(&at) {
            at = if assignment(variable) { yes } else { no };
        }
        at.is_true()
    }

    /// Returns the variables that the function depends on, sorted.
    pub fn support(&self, a: &Label) -> Vec<Variable> {
        let (mut seen, mut open) = (FxHashSet::default(), vec![a.clone()]);
        let mut support = Vec::new();
        while let Some(next) = open.pop() {
            if !seen.insert(next.clone()) {
                continue;
            }
            if let Some((variable, yes, no)) = self.cofactors(&next) {
                support.push(variable);
                open.extend([yes, no]);
            }
        }
        support.sort_unstable();
        support.dedup();
        support
    }

    /// Returns cubes whose disjunction is the function; no cube and no literal can be omitted.
    ///
    /// # Errors
    /// Fails if the limit on nodes or the time limit is exceeded.
    pub fn cubes(&self, a: &Label) -> Result<Vec<Cube>, TooLarge> {
        cubes::irredundant(self, a)
    }
}

impl Label {
    /// Whether the function is always true.
    pub fn is_true(&self) -> bool {
        self.0.valid()
    }

    /// Whether the function is always false.
    pub fn is_false(&self) -> bool {
        !self.0.satisfiable()
    }
}

impl std::fmt::Debug for Label {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.is_true(), self.is_false()) {
            (true, _) => f.write_str("true"),
            (_, true) => f.write_str("false"),
            _ => write!(f, "{} nodes", self.0.node_count()),
        }
    }
}
