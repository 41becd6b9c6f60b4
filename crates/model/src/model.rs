//! The model as a whole.

use crate::action::{Action, ActionId, Actions, Process, Statement};
use crate::check;
use crate::expression::Expression;
use crate::layout::Layout;
use crate::variable::{Variable, VariableId};

/// What a model is made of, before it is known to fit together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parts {
    /// Its name.
    pub name: String,
    /// All that changes.
    pub variables: Vec<Variable>,
    /// Who moves.
    pub processes: Vec<Process>,
    /// What can happen.
    pub actions: Vec<Action>,
    /// What is done to the variables' first values before anything happens; its choices give several initial
    /// configurations.
    pub start: Vec<Statement>,
    /// Expressions with names, for properties and breakpoints.
    pub predicates: Vec<Predicate>,
}

/// An expression over states or steps with a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Predicate {
    /// The name.
    pub name: String,
    /// What it stands for.
    pub expression: Expression,
}

/// Why some parts make no model. Front ends check what users write, with the place in the file; this is what keeps
/// the engines safe from a front end's own errors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake(pub String);

impl core::fmt::Display for Mistake {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(&self.0)
    }
}

impl core::error::Error for Mistake {}

/// A model whose parts fit together, with the place of each variable.
#[derive(Clone, Debug)]
pub struct Model {
    parts: Parts,
    layout: Layout,
    /// Actions in groups of one priority, highest first.
    ranks: Vec<Actions>,
    /// For each action, whether it takes a process away from a committed location.
    is_from_committed: Vec<bool>,
}

impl Model {
    /// Checks the parts and gives each variable its place.
    ///
    /// ```
    /// use invigil_model::{Action, Expression, Model, Parts};
    /// let wrong = Action { guard: Expression::read(7), ..Action::named("up") };
    /// let mistake = Model::new(Parts { actions: vec![wrong], ..Parts::default() }).unwrap_err();
    /// assert_eq!(mistake.to_string(), "action `up` reads variable 7, and there are 0");
    /// ```
    pub fn new(parts: Parts) -> Result<Model, Mistake> {
        check::parts(&parts)?;
        let layout = Layout::of(&parts.variables).ok_or_else(|| {
            Mistake("the variables need more room than a configuration may take".to_owned())
        })?;
        let mut priorities: Vec<i32> = parts.actions.iter().map(|action| action.priority).collect();
        priorities.sort_unstable_by_key(|priority| core::cmp::Reverse(*priority));
        priorities.dedup();
        let rank = |priority| {
            let of = |(_, action): &(ActionId, &Action)| action.priority == priority;
            (0..).zip(&parts.actions).filter(of).map(|(id, _)| id).collect()
        };
        let ranks = priorities.into_iter().map(rank).collect();
        let is_from_committed = parts
            .actions
            .iter()
            .map(|action| {
                action
                    .moves
                    .iter()
                    .any(|by| parts.processes[by.process as usize].locations[by.from as usize].is_committed)
            })
            .collect();
        Ok(Model { parts, layout, ranks, is_from_committed })
    }

    /// What it is made of.
    pub fn parts(&self) -> &Parts {
        &self.parts
    }

    /// Where the variables lie.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The actions in groups of one priority each, the highest priority first.
    pub fn ranks(&self) -> &[Actions] {
        &self.ranks
    }

    /// An action.
    pub fn action(&self, action: ActionId) -> &Action {
        &self.parts.actions[action as usize]
    }

    /// A variable.
    pub fn variable(&self, variable: VariableId) -> &Variable {
        &self.parts.variables[variable as usize]
    }

    /// Whether an action takes a process away from a committed location.
    pub fn is_from_committed(&self, action: ActionId) -> bool {
        self.is_from_committed[action as usize]
    }

    /// Whether an expression over steps fits this model: every engine relies on it.
    ///
    /// ```
    /// use invigil_model::{Expression, Model, Parts};
    /// let nothing = Model::new(Parts::default()).unwrap();
    /// assert!(nothing.fits(&Expression::Constant(1)).is_ok());
    /// assert!(nothing.fits(&Expression::Happens(vec![3])).is_err());
    /// ```
    pub fn fits(&self, predicate: &Expression) -> Result<(), Mistake> {
        check::predicate(&self.parts, predicate)
    }

    /// The actions whose event has this name.
    ///
    /// ```
    /// use invigil_model::{Action, Model, Parts};
    /// let model = Model::new(Parts { actions: vec![Action::named("tick")], ..Parts::default() }).unwrap();
    /// assert_eq!(model.actions_called("tick"), [0]);
    /// assert!(model.actions_called("tock").is_empty());
    /// ```
    pub fn actions_called(&self, event: &str) -> Actions {
        let named = |(_, action): &(ActionId, &Action)| action.event.as_deref() == Some(event);
        (0..).zip(&self.parts.actions).filter(named).map(|(id, _)| id).collect()
    }

    /// The variable of this name.
    pub fn variable_called(&self, name: &str) -> Option<VariableId> {
        (0..).zip(&self.parts.variables).find(|(_, variable)| variable.name == name).map(|(id, _)| id)
    }
}
