//! What stands on an edge of an automaton: a Boolean function of the atoms, as a shared decision diagram.
//!
//! Equal functions are equal labels. Algorithms may use helper variables beside the atoms; which is which is
//! told by [`Variable`]. Nothing may rely on the order of variables.

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

/// How many results of operations are remembered.
const REMEMBERED: usize = 1 << 14;

/// A Boolean function. Cheap to copy, to compare and to hash.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Label(BCDDFunction);

/// A variable of labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Variable {
    /// An atom.
    Atom(Atom),
    /// A helper, by its number.
    Helper(u32),
}

/// A conjunction of variables and negated variables.
pub type Cube = Vec<(Variable, bool)>;

/// Where labels live.
pub struct Labels {
    manager: BCDDManagerRef,
    top: Label,
    bottom: Label,
    /// In the order in which diagrams decide on them.
    variables: IndexMap<Variable, Label, FxBuildHasher>,
    budget: Budget,
    /// When time is up, and how often it was not looked at the clock.
    deadline: Option<Instant>,
    unlooked: Cell<u32>,
}

/// After how many operations the clock is looked at.
const LOOK: u32 = 256;

impl Labels {
    /// No variables yet.
    pub fn new(budget: &Budget) -> Labels {
        let manager = new_manager(budget.nodes, REMEMBERED, 1);
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
            unlooked: Cell::new(0),
        }
    }

    /// Does an operation. The only thing that can go wrong is that there is no room.
    fn own<E>(&self, operation: impl Fn() -> Result<BCDDFunction, E>) -> Result<Label, TooLarge> {
        self.is_in_time()?;
        // Room that nobody needs any more is given back in the background, some time. Whether there is enough
        // must not depend on when.
        let again = |_| {
            self.manager.with_manager_shared(|manager| manager.gc());
            operation()
        };
        let made = operation().or_else(again).map(Label);
        made.map_err(|_| TooLarge { what: "nodes of decision diagrams", limit: self.budget.nodes })
    }

    /// Whether there is time left. Every operation asks.
    ///
    /// # Errors
    /// If not.
    pub fn is_in_time(&self) -> Result<(), TooLarge> {
        let Some(deadline) = self.deadline else { return Ok(()) };
        self.unlooked.set(self.unlooked.get() + 1);
        if self.unlooked.get() < LOOK {
            return Ok(());
        }
        self.unlooked.set(0);
        let limit = self.budget.seconds.unwrap_or_default() as usize;
        if Instant::now() < deadline { Ok(()) } else { Err(TooLarge { what: SECONDS, limit }) }
    }

    /// True.
    pub fn top(&self) -> Label {
        self.top.clone()
    }

    /// False.
    pub fn bottom(&self) -> Label {
        self.bottom.clone()
    }

    /// A variable as a function.
    ///
    /// # Errors
    /// If there is no room, here as below.
    pub fn variable(&mut self, variable: Variable) -> Result<Label, TooLarge> {
        if let Some(label) = self.variables.get(&variable) {
            return Ok(label.clone());
        }
        Budget::allows("variables", self.variables.len() + 1, self.budget.variables)?;
        let number = self.variables.len() as u32;
        let label = self.own(|| {
            self.manager.with_manager_exclusive(|manager| {
                // The manager may have it already, from a time when there was no room for the function.
                if manager.num_vars() <= number {
                    manager.add_vars(1);
                }
                BCDDFunction::var(manager, number)
            })
        })?;
        self.variables.insert(variable, label.clone());
        Ok(label)
    }

    /// An atom as a function.
    ///
    /// # Errors
    /// If there is no room.
    pub fn atom(&mut self, atom: Atom) -> Result<Label, TooLarge> {
        self.variable(Variable::Atom(atom))
    }

    /// `!a`
    ///
    /// # Errors
    /// If there is no room.
    pub fn not(&self, a: &Label) -> Result<Label, TooLarge> {
        self.own(|| a.0.not())
    }

    /// `a & b`
    ///
    /// # Errors
    /// If there is no room.
    pub fn and(&self, a: &Label, b: &Label) -> Result<Label, TooLarge> {
        self.own(|| a.0.and(&b.0))
    }

    /// `a | b`
    ///
    /// # Errors
    /// If there is no room.
    pub fn or(&self, a: &Label, b: &Label) -> Result<Label, TooLarge> {
        self.own(|| a.0.or(&b.0))
    }

    /// `a & !b`
    ///
    /// # Errors
    /// If there is no room.
    pub fn minus(&self, a: &Label, b: &Label) -> Result<Label, TooLarge> {
        self.own(|| b.0.imp_strict(&a.0))
    }

    /// `if a then b else c`
    ///
    /// # Errors
    /// If there is no room.
    pub fn choose(&self, a: &Label, b: &Label, c: &Label) -> Result<Label, TooLarge> {
        self.own(|| a.0.ite(&b.0, &c.0))
    }

    /// Whether `a` implies `b`.
    ///
    /// # Errors
    /// If there is no room.
    pub fn implies(&self, a: &Label, b: &Label) -> Result<bool, TooLarge> {
        Ok(self.minus(a, b)?.is_false())
    }

    /// Whether both can be true at once.
    ///
    /// # Errors
    /// If there is no room.
    pub fn meet(&self, a: &Label, b: &Label) -> Result<bool, TooLarge> {
        Ok(!self.and(a, b)?.is_false())
    }

    /// `a` with some variable of the cube (all positive) put away: true where it is for some value of them.
    ///
    /// # Errors
    /// If there is no room.
    pub fn exists(&self, a: &Label, variables: &Label) -> Result<Label, TooLarge> {
        self.own(|| a.0.exists(&variables.0))
    }

    /// `a` where the variables have the values that the cube says.
    ///
    /// # Errors
    /// If there is no room.
    pub fn restrict(&self, a: &Label, cube: &Label) -> Result<Label, TooLarge> {
        self.own(|| a.0.restrict(&cube.0))
    }

    /// A conjunction of variables and negated variables as a function.
    ///
    /// # Errors
    /// If there is no room.
    pub fn cube(&mut self, cube: &[(Variable, bool)]) -> Result<Label, TooLarge> {
        let mut all = self.top();
        for (variable, value) in cube {
            let label = self.variable(*variable)?;
            all = if *value { self.and(&all, &label)? } else { self.minus(&all, &label)? };
        }
        Ok(all)
    }

    /// The variable on which the diagram decides first, with what follows if it is true, and if it is false.
    pub fn decide(&self, a: &Label) -> Option<(Variable, Label, Label)> {
        let number = a.0.with_manager_shared(|manager, edge| match manager.get_node(edge) {
            Node::Inner(inner) => Some(manager.level_to_var(inner.level())),
            _ => None,
        })?;
        let (yes, no) = a.0.cofactors()?;
        let (variable, _) = self.variables.get_index(number as usize)?;
        Some((*variable, Label(yes), Label(no)))
    }

    /// Its value when every variable has one.
    pub fn value(&self, a: &Label, mut of: impl FnMut(Variable) -> bool) -> bool {
        let mut at = a.clone();
        while let Some((variable, yes, no)) = self.decide(&at) {
            at = if of(variable) { yes } else { no };
        }
        at.is_true()
    }

    /// The variables that matter to it.
    pub fn support(&self, a: &Label) -> Vec<Variable> {
        let (mut seen, mut open) = (FxHashSet::default(), vec![a.clone()]);
        let mut found = Vec::new();
        while let Some(next) = open.pop() {
            if !seen.insert(next.clone()) {
                continue;
            }
            if let Some((variable, yes, no)) = self.decide(&next) {
                found.push(variable);
                open.extend([yes, no]);
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// A short sum of products for it: no product is contained in the others, none has a literal too many.
    ///
    /// # Errors
    /// If there is no room.
    pub fn cubes(&self, a: &Label) -> Result<Vec<Cube>, TooLarge> {
        cubes::irredundant(self, a)
    }
}

impl Label {
    /// Whether it is always true.
    pub fn is_true(&self) -> bool {
        self.0.valid()
    }

    /// Whether it is never true.
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
