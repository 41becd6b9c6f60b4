//! A model under claims: which searches answer them, and what is told about it.
//!
//! ```
//! use invigil_model::{Action, Binary, Expression, Kind, Model, Parts, Statement, Variable};
//! use invigil_monitor::event::Catalog;
//! use invigil_verify::{Claim, Claimed, Outcome, Task, answer};
//!
//! // A counter that goes round, and never reaches seven.
//! let up = Expression::binary(Binary::Add, Expression::read(0), Expression::Constant(1));
//! let round = Expression::binary(Binary::Remainder, up, Expression::Constant(5));
//! let tick = Action { effect: vec![Statement::assign(0, round)], ..Action::named("tick") };
//! let hours = Variable::scalar("hour", Kind::Integer { low: 0, high: 9 }, 0);
//! let model = Model::new(Parts { variables: vec![hours], actions: vec![tick], ..Parts::default() }).unwrap();
//! let early = Expression::binary(Binary::Less, Expression::read(0), Expression::Constant(7));
//!
//! let catalog = Catalog::default();
//! let claim = Claim { name: "early".into(), what: Claimed::Always(&early) };
//! let found = answer(&Task { claims: vec![claim], ..Task::new(&model, &catalog) }, &());
//! assert_eq!(found.totals.states, 5);
//! assert!(matches!(found.verdicts[0].result, Outcome::Holds));
//! ```

mod answer;
mod ground;
mod prefix;
mod report;
mod run;
mod story;
mod task;
pub mod validation;

pub use answer::{Answer, Outcome, Trouble, Verdict, answer};
pub use report::{Report, reason};
pub use run::{Ran, run};
pub use story::{Change, Ending, Scene, Story};
pub use task::{Claim, Claimed, Manner, Task};
