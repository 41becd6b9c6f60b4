//! Models: variables of bounded range, processes with locations, and guarded actions.
//!
//! This is the one form to which modelling languages are lowered. It has no text and no syntax: a front end builds
//! [`Parts`], and [`Model::new`] checks that they fit together. What is left of channels, mailboxes, records and
//! process arrays at this point is variables and actions.
//!
//! A configuration is a few machine words ([`layout`]): each variable takes the bits that its range needs. The model
//! is a subject of the semantic interface through a plain interpreter, which says what an action means.
//!
//! ```
//! use invigil_model::{Action, Binary, Expression, Kind, Model, Parts, Statement, Variable};
//! use invigil_semantics::{Describe, Semantics};
//!
//! // A counter that goes up to three.
//! let n = Variable::scalar("n", Kind::Integer { low: 0, high: 3 }, 0);
//! let up = Action {
//!     guard: Expression::binary(Binary::Less, Expression::read(0), Expression::Constant(3)),
//!     effect: vec![Statement::assign(
//!         0,
//!         Expression::binary(Binary::Add, Expression::read(0), Expression::Constant(1)),
//!     )],
//!     ..Action::named("up")
//! };
//! let model = Model::new(Parts { variables: vec![n], actions: vec![up], ..Parts::default() }).unwrap();
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
    Action, ActionId, Actions, Location, LocationId, Move, Process, ProcessId, Statement, Unit,
};
pub use expression::{Binary, Expression, Place, Unary};
pub use fault::{Fault, Reason};
pub use footprint::Footprint;
pub use model::{Mistake, Model, Parts, Predicate};
pub use omega::{Omega, OmegaEdge};
pub use state::State;
pub use value::Step;
pub use variable::{Kind, Variable, VariableId};
