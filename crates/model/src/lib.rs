//! Models: variables with bounded ranges, processes with locations, and guarded actions.
//!
//! This is the common intermediate form of all modelling languages. It has no syntax: a front end builds
//! [`ModelParts`], and [`Model::new`] validates them. At this level, channels, mailboxes, records and process arrays
//! have been lowered to variables and actions.
//!
//! A configuration is a few machine words ([`layout`]): each variable occupies the bits that its range needs. The model
//! implements the semantic interface by an interpreter, which defines the meaning of actions.
//!
//! | module | contents |
//! | --- | --- |
//! | `model`, `variable`, `action`, `expression` | the parts of a model |
//! | `check` | validation |
//! | [`layout`], `state` | configurations |
//! | `value`, `execute`, `fault` | the interpreter |
//! | `subject` | the semantic interface |
//! | `omega` | ω-automata over executions |
//! | `footprint` | independence of actions |
//! | `show` | display of expressions |
//!
//! ```
//! use invigil_model::{Action, Binary, Expression, Domain, Model, ModelParts, Statement, Variable};
//! use invigil_semantics::{Describe, Semantics};
//!
//! // A counter that goes up to three.
//! let n = Variable::scalar("n", Domain::Integer { low: 0, high: 3 }, 0);
//! let up = Action {
//!     guard: Expression::binary(Binary::Less, Expression::read(0), Expression::Constant(3)),
//!     effect: vec![Statement::assign(
//!         0,
//!         Expression::binary(Binary::Add, Expression::read(0), Expression::Constant(1)),
//!     )],
//!     ..Action::named("up")
//! };
//! let model = Model::new(ModelParts { variables: vec![n], actions: vec![up], ..ModelParts::default() }).unwrap();
//!
//! let start = model.initial().into_iter().next().unwrap();
//! let (_, next) = model.steps(&start).into_iter().next().unwrap();
//! assert_eq!(model.describe_config(&next).to_string(), "n = 1");
//! ```

mod action;
mod check;
mod execute;
mod expression;
mod fault;
mod footprint;
pub mod layout;
mod model;
mod omega;
mod show;
mod state;
mod subject;
mod value;
mod variable;

pub use action::{
    Action, ActionId, Actions, Location, LocationId, Move, Process, ProcessId, Side, Statement,
};
pub use expression::{Binary, Expression, LValue, Unary};
pub use fault::{Fault, FaultReason};
pub use footprint::Footprint;
pub use model::{InvalidModelError, Model, ModelParts, Predicate};
pub use omega::{OmegaAutomaton, OmegaEdge};
pub use state::State;
pub use value::Step;
pub use variable::{Domain, Variable, VariableId};
