//! Processes, and what they can do.

use crate::expression::{Expression, Place};
use crate::variable::VariableId;

/// An action, by its number in the model.
pub type ActionId = u32;
/// A process, by its number in the model.
pub type ProcessId = u32;
/// A location of a process, by its number there.
pub type LocationId = u32;

/// Some actions, in ascending order.
pub type Actions = Vec<ActionId>;

/// A process: a name and a current location, which is one of its variables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    /// Its full name, as people read it: `Train`, `P[2]`.
    pub name: String,
    /// The places at which it can be, in the order of their numbers.
    pub locations: Vec<Location>,
    /// The variable that says where it is: its [`Kind`](crate::Kind) is the names of the locations.
    pub location: VariableId,
    /// Whether it is part of what is built, or of what that is built into.
    pub unit: Unit,
}

/// A place at which a process can be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// Its name.
    pub name: String,
    /// While a process is at a committed location, only actions that take some process away from such a location
    /// are enabled.
    pub is_committed: bool,
}

/// Which side a process is on. Schedulers command the system and never its environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unit {
    /// What is built.
    System,
    /// What it is built into.
    Environment,
}

/// One thing that can happen, atomically: some processes move, under a condition and with an effect.
///
/// It is enabled if every process of `moves` is where it moves from, `guard` is true, no process is committed
/// elsewhere, and no action of a higher priority is enabled. It leads to one configuration for each way to make the
/// choices of its effect; the processes arrive when the effect is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Action {
    /// Its name for people, unique in the model: `P[0]: idle → busy`.
    pub name: String,
    /// What properties call it, and `happens` and `enabled`; several actions may share it. None if it has no name.
    pub event: Option<String>,
    /// The parameters of the event: expressions over the step.
    pub parameters: Vec<(String, Expression)>,
    /// Who moves; the first of them is whose action it is. None if it belongs to nobody.
    pub moves: Vec<Move>,
    /// When it is enabled: an expression over the state.
    pub guard: Expression,
    /// What it does, in this order.
    pub effect: Vec<Statement>,
    /// While actions of a higher priority are enabled, those of a lower one are not.
    pub priority: i32,
    /// Which side it is of.
    pub unit: Unit,
}

impl Action {
    /// An action that is always enabled and changes nothing; to be filled with struct update syntax.
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
            unit: Unit::System,
        }
    }
}

/// A process goes from one location to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Move {
    /// Who.
    pub process: ProcessId,
    /// Where it must be.
    pub from: LocationId,
    /// Where it is afterwards.
    pub to: LocationId,
}

/// A part of an effect. Statements see what those before them did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Statement {
    /// A variable takes a value. A value that it cannot hold is a fault, or loses its upper bits if it wraps.
    Assign {
        /// Where to.
        place: Place,
        /// What.
        value: Expression,
        /// Whether the value is cut to the variable's bits. Only for ranges that fill their bits.
        wraps: bool,
    },
    /// A variable takes any value from `low` to `high`: one configuration for each. Not inside of `If`.
    Choose {
        /// Where to.
        place: Place,
        /// The smallest value.
        low: i64,
        /// The largest value.
        high: i64,
    },
    /// An outcome in which this is false is none.
    Require(Expression),
    /// One list of statements or the other.
    If {
        /// What decides.
        condition: Expression,
        /// What is done if it is true.
        then: Vec<Statement>,
        /// What is done if it is false.
        otherwise: Vec<Statement>,
    },
    /// A fault, unless this is true.
    Assert {
        /// What must be true.
        condition: Expression,
        /// What to tell if it is not.
        message: String,
    },
}

impl Statement {
    /// A variable of one value takes a value, which it must be able to hold.
    ///
    /// ```
    /// use invigil_model::{Expression, Statement};
    /// let reset = Statement::assign(0, Expression::Constant(0));
    /// assert!(matches!(reset, Statement::Assign { wraps: false, .. }));
    /// ```
    pub fn assign(variable: VariableId, value: Expression) -> Statement {
        Statement::Assign { place: Place::scalar(variable), value, wraps: false }
    }
}
