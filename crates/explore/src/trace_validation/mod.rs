//! Trace validation: decides whether a log is a possible execution of a model.
//!
//! A log contains a part of what happened: events, some of their parameters, and some variables afterwards. A
//! [`Binding`] maps the names of the log to the model. A [`Validator`] reads records one by one and keeps the set of
//! all possible configurations of the model. When the set becomes empty, [`Validator::rejection`] reports how far the
//! model got and why each action does not match the record.
//!
//! - An event of the log is a step by one of the actions with this event. A field with the name of a parameter must
//!   have the parameter's value; a field with the name of a variable, the variable's value after the step. Missing
//!   fields are not compared.
//! - A record without an event describes the current state of the model.
//! - Between records, the model may take actions without events and hidden actions.
//!
//! ```
//! use invigil_explore::trace_validation::{Binding, LogValue, NameMapping, Record, RecordOutcome, Validator};
//! use invigil_model::{Action, Binary, Expression, Domain, Model, ModelParts, Statement, Variable};
//!
//! // A counter up to three that logs its value.
//! let n = Variable::scalar("n", Domain::Integer { low: 0, high: 3 }, 0);
//! let more = Expression::binary(Binary::Add, Expression::read(0), Expression::Constant(1));
//! let up = Action {
//!     guard: Expression::binary(Binary::Less, Expression::read(0), Expression::Constant(3)),
//!     effect: vec![Statement::assign(0, more)],
//!     ..Action::named("up")
//! };
//! let model = Model::new(ModelParts { variables: vec![n], actions: vec![up], ..ModelParts::default() }).unwrap();
//!
//! let binding = Binding::new(&model, &NameMapping::default()).unwrap();
//! let field = binding.field("n").unwrap();
//! let mut validator = Validator::new(&binding, Default::default()).unwrap();
//! let up = |n| Record { event: Some("up"), values: vec![(field, LogValue::Integer(n))] };
//! assert_eq!(validator.take(&up(1)), Ok(RecordOutcome::Matched));
//! assert_eq!(validator.take(&up(3)), Ok(RecordOutcome::Rejected));
//! let rejection = validator.rejection().unwrap();
//! assert_eq!(rejection.near_misses[0].to_string(), "up: the log has n = 3, the model has 2");
//! ```

mod binding;
mod explanation;
mod graph;
mod name_mapping;
mod observation;
mod record;
mod rejection;
mod tracker;
mod validator;

pub use binding::Binding;
pub use graph::{ConfigGraph, GraphEdge, GraphNode};
pub use name_mapping::{NameMapping, UnknownNameError};
pub use observation::RecordError;
pub use record::{LogValue, Record};
pub use rejection::{NearMiss, Rejection};
pub use validator::{RecordOutcome, SurvivorCounts, ValidationError, ValidationOptions, Validator};
