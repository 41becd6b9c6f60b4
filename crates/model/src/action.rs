//! Processes and their actions.

use crate::expression::{Expression, LValue};
use crate::variable::VariableId;

/// Index of an action in the model.
pub type ActionId = u32;
/// Index of a process in the model.
pub type ProcessId = u32;
/// Index of a location in its process.
pub type LocationId = u32;

/// Set of actions, in ascending order.
pub type Actions = Vec<ActionId>;

/// A process: a name and a current location, which is stored in a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    /// The full name for display: `Train`, `P[2]`.
    pub name: String,
    /// The locations, by index.
    pub locations: Vec<Location>,
    /// The variable with the current location; its [`Domain`](crate::Domain) is the names of the locations.
    pub location: VariableId,
    /// Whether the process belongs to the system or to its environment.
    pub side: Side,
}

/// A location of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// Its name.
    pub name: String,
    /// While some process is at a committed location, only actions that move a process away from a committed location
    /// are enabled.
    pub is_committed: bool,
}

/// Side of a process or action. Schedulers control the system, but never its environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// The system under design.
    System,
    /// Its environment.
    Environment,
}

/// An atomic action: some processes move, under a guard and with an effect.
///
/// It is enabled if every process of `moves` is at its source location, `guard` is true, the rule of [committed
/// locations](Location::is_committed) permits it, and no action of a higher priority is enabled. It leads to one
/// configuration for each combination of choices in its effect. The processes arrive after the effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Action {
    /// The display name, unique in the model: `P[0]: idle → busy`.
    pub name: String,
    /// The event name for properties, `happens` and `enabled`; several actions may share it. `None` if it is unnamed.
    pub event: Option<String>,
    /// The parameters of the event: expressions over the step.
    pub parameters: Vec<(String, Expression)>,
    /// The moves; the action belongs to the first process. Empty if it belongs to no process.
    pub moves: Vec<Move>,
    /// The guard: an expression over the state.
    pub guard: Expression,
    /// The effect: statements that are executed in order.
    pub effect: Vec<Statement>,
    /// While an action of a higher priority is enabled, those of a lower one are not.
    pub priority: i32,
    /// The side that the action belongs to.
    pub side: Side,
}

impl Action {
    /// An action that is always enabled and changes nothing, for struct update syntax.
    ///
    /// ```
    /// use invigil_model::Action;
    /// assert!(Action::named("tick").effect.is_empty());
    /// ```
    pub fn named(name: impl Into<String>) -> Action {
        let name = name.into();
        Action {
            event: Some(name.clone()),
            name,
            parameters: Vec::new(),
            moves: Vec::new(),
            guard: Expression::Constant(1),
            effect: Vec::new(),
            priority: 0,
            side: Side::System,
        }
    }
}

/// Move of a process from one location to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Move {
    /// The process.
    pub process: ProcessId,
    /// The source location.
    pub from: LocationId,
    /// The target location.
    pub to: LocationId,
}

/// Statement of an effect. It reads the results of the statements before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Statement {
    /// Assigns a value to a variable. A value outside of its domain is a fault, or loses its upper bits if it wraps.
    Assign {
        /// The target.
        place: LValue,
        /// The value.
        value: Expression,
        /// Whether the value is truncated to the bits of the variable. Only allowed for ranges that fill their bits.
        wraps: bool,
    },
    /// Assigns any value from `low` to `high`, leading to one configuration for each. Not allowed inside of `If`.
    Choose {
        /// The target.
        place: LValue,
        /// The smallest value.
        low: i64,
        /// The largest value.
        high: i64,
    },
    /// Discards the outcomes in which this is false.
    Require(Expression),
    /// Executes one of two lists of statements.
    If {
        /// The condition.
        condition: Expression,
        /// Executed if the condition is true.
        then: Vec<Statement>,
        /// Executed if the condition is false.
        otherwise: Vec<Statement>,
    },
    /// Raises a fault if the condition is false.
    Assert {
        /// The condition.
        condition: Expression,
        /// The message of the fault.
        message: String,
    },
}

impl Statement {
    /// Assigns a value to a scalar variable. A value outside of its domain is a fault.
    ///
    /// ```
    /// use invigil_model::{Expression, Statement};
    /// let reset = Statement::assign(0, Expression::Constant(0));
    /// assert!(matches!(reset, Statement::Assign { wraps: false, .. }));
    /// ```
    pub fn assign(variable: VariableId, value: Expression) -> Statement {
        Statement::Assign { place: LValue::scalar(variable), value, wraps: false }
    }
}
