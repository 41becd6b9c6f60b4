//! Trace validation: can the model do what a log says?
//!
//! A log tells some of what happened: which event, some of its parameters, some variables afterwards. A [`Binding`]
//! says what the names of the log are in the model. A [`Validator`] takes records one by one and keeps the set of all
//! configurations in which the model can be; if none is left, [`Validator::refusal`] tells how far the model got and
//! what kept each action from being the event.
//!
//! - An event of the log is a step by one of the actions that have this event. A field of a parameter's name must
//!   have the parameter's value; a field of a variable's name, the variable's value after the step. What a record
//!   does not tell is not asked.
//! - A record without an event tells of the state in which the model is.
//! - Between records the model may take actions that have no event, and those that are said to be hidden.
//!
//! ```
//! use invigil_explore::validate::{Binding, Given, Names, Record, Taken, Validator};
//! use invigil_model::{Action, Binary, Expression, Kind, Model, Parts, Statement, Variable};
//!
//! // A counter that goes up to three, and tells how far it is.
//! let n = Variable::scalar("n", Kind::Integer { low: 0, high: 3 }, 0);
//! let more = Expression::binary(Binary::Add, Expression::read(0), Expression::Constant(1));
//! let up = Action {
//!     guard: Expression::binary(Binary::Less, Expression::read(0), Expression::Constant(3)),
//!     effect: vec![Statement::assign(0, more)],
//!     ..Action::named("up")
//! };
//! let model = Model::new(Parts { variables: vec![n], actions: vec![up], ..Parts::default() }).unwrap();
//!
//! let binding = Binding::new(&model, &Names::default()).unwrap();
//! let field = binding.field("n").unwrap();
//! let mut validator = Validator::new(&binding, Default::default()).unwrap();
//! let up = |n| Record { event: Some("up"), values: vec![(field, Given::Integer(n))] };
//! assert_eq!(validator.take(&up(1)), Ok(Taken::Matched));
//! assert_eq!(validator.take(&up(3)), Ok(Taken::Lost));
//! let refusal = validator.refusal().unwrap();
//! assert_eq!(refusal.misses[0].to_string(), "up: the log says n = 3, the model has 2");
//! ```

mod binding;
mod given;
mod graph;
mod names;
mod observation;
mod refusal;
mod tracker;
mod validator;
mod why;

pub use binding::Binding;
pub use given::{Given, Record};
pub use graph::{Edge, Graph, Node};
pub use names::{Mistake, Names};
pub use observation::Wrong;
pub use refusal::{Miss, Refusal};
pub use validator::{Halt, Options, Survivors, Taken, Validator};
