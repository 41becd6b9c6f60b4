//! The model as a whole.

use crate::action::{Action, ActionId, Actions, Process, Statement};
use crate::check;
use crate::expression::Expression;
use crate::layout::Layout;
use crate::variable::{Variable, VariableId};

/// Parts of a model before validation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelParts {
    /// The name.
    pub name: String,
    /// The state variables.
    pub variables: Vec<Variable>,
    /// The processes.
    pub processes: Vec<Process>,
    /// The actions.
    pub actions: Vec<Action>,
    /// Statements that initialise the variables; choices lead to several initial configurations.
    pub start: Vec<Statement>,
    /// Named expressions for properties and breakpoints.
    pub predicates: Vec<Predicate>,
}

/// A named expression over states or steps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Predicate {
    /// The name.
    pub name: String,
    /// The expression.
    pub expression: Expression,
}

/// Why parts do not form a valid model. Front ends report errors of users with positions; this error protects the
/// engines from defects in a front end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidModelError(pub String);

impl core::fmt::Display for InvalidModelError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(&self.0)
    }
}

impl core::error::Error for InvalidModelError {}

/// A validated model, with the layout of its variables.
#[derive(Clone, Debug)]
pub struct Model {
    parts: ModelParts,
    layout: Layout,
    /// The actions grouped by priority, highest first.
    ranks: Vec<Actions>,
    /// For each action, whether it moves a process away from a committed location.
    is_from_committed: Vec<bool>,
}

impl Model {
    /// Validates the parts and computes the layout of the variables.
    ///
    /// ```
    /// use invigil_model::{Action, Expression, Model, ModelParts};
    /// let wrong = Action { guard: Expression::read(7), ..Action::named("up") };
    /// let error = Model::new(ModelParts { actions: vec![wrong], ..ModelParts::default() }).unwrap_err();
    /// assert_eq!(error.to_string(), "action `up` uses variable 7, but the number of variables is 0");
    /// ```
    pub fn new(parts: ModelParts) -> Result<Model, InvalidModelError> {
        check::check_parts(&parts)?;
        let layout = Layout::of(&parts.variables).ok_or_else(|| {
            InvalidModelError("the variables exceed the maximum size of a configuration".to_owned())
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
                action.moves.iter().any(|movement| {
                    let locations = &parts.processes[movement.process as usize].locations;
                    locations[movement.from as usize].is_committed
                })
            })
            .collect();
        Ok(Model { parts, layout, ranks, is_from_committed })
    }

    /// The parts of the model.
    pub fn parts(&self) -> &ModelParts {
        &self.parts
    }

    /// The layout of the variables.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The actions grouped by priority, highest first.
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

    /// Whether an action moves a process away from a committed location.
    pub fn is_from_committed(&self, action: ActionId) -> bool {
        self.is_from_committed[action as usize]
    }

    /// Validates an expression over steps for this model. Engines accept only valid expressions.
    ///
    /// ```
    /// use invigil_model::{Expression, Model, ModelParts};
    /// let nothing = Model::new(ModelParts::default()).unwrap();
    /// assert!(nothing.check_predicate(&Expression::Constant(1)).is_ok());
    /// assert!(nothing.check_predicate(&Expression::Happens(vec![3])).is_err());
    /// ```
    pub fn check_predicate(&self, predicate: &Expression) -> Result<(), InvalidModelError> {
        check::check_predicate(&self.parts, predicate)
    }

    /// The actions with this event name.
    ///
    /// ```
    /// use invigil_model::{Action, Model, ModelParts};
    /// let model = Model::new(ModelParts { actions: vec![Action::named("tick")], ..ModelParts::default() }).unwrap();
    /// assert_eq!(model.actions_named("tick"), [0]);
    /// assert!(model.actions_named("tock").is_empty());
    /// ```
    pub fn actions_named(&self, event: &str) -> Actions {
        let named = |(_, action): &(ActionId, &Action)| action.event.as_deref() == Some(event);
        (0..).zip(&self.parts.actions).filter(named).map(|(id, _)| id).collect()
    }

    /// The variable with this name.
    pub fn variable_named(&self, name: &str) -> Option<VariableId> {
        (0..).zip(&self.parts.variables).find(|(_, variable)| variable.name == name).map(|(id, _)| id)
    }
}
