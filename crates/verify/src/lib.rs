//! Checks claims about a model: chooses a search for each claim and builds the report.
//!
//! A [`VerifyTask`] has a model, its [`Claim`]s and the [`SearchStrategy`]. [`verify()`] searches the state space once
//! for all claims about configurations and once for each other claim; the [`VerifyResult`] has a [`Verdict`] per claim,
//! with an [`ExecutionTrace`] as counterexample. [`VerifyReport`] renders it as text or JSON. [`run()`] executes a
//! model once, and [`validation`] checks traces from files against a model.
//!
//! ```text
//! VerifyTask ─▶ backend: state space ─▶ search for each claim ─▶ VerifyResult ─▶ VerifyReport
//! model, claims  compiled, scheduled    explore::bfs, cycles     verdicts, traces  text, JSON
//! ```
//!
//! | module | contents |
//! | --- | --- |
//! | `task`, `verify` | what to check; the searches, and a verdict for each claim |
//! | `backend` | the state space: compiled if possible, under its scheduler and filters |
//! | `execution_trace`, `report` | counterexamples and results as text, JSON and traces |
//! | `run`, `prefix_monitor` | one execution under a scheduler, with formulae as monitors |
//! | [`validation`] | whether a model can produce a recorded trace |
//!
//! Invariant: the verdict that a claim holds comes only from a search that was exhaustive; otherwise the result says
//! what it omits.
//!
//! ```
//! use invigil_model::{Action, Binary, Expression, Domain, Model, ModelParts, Statement, Variable};
//! use invigil_monitor::event::EventCatalog;
//! use invigil_verify::{Claim, ClaimKind, ClaimResult, VerifyTask, verify};
//!
//! // A counter that goes round, and never reaches seven.
//! let up = Expression::binary(Binary::Add, Expression::read(0), Expression::Constant(1));
//! let round = Expression::binary(Binary::Remainder, up, Expression::Constant(5));
//! let tick = Action { effect: vec![Statement::assign(0, round)], ..Action::named("tick") };
//! let hours = Variable::scalar("hour", Domain::Integer { low: 0, high: 9 }, 0);
//! let model = Model::new(ModelParts { variables: vec![hours], actions: vec![tick], ..ModelParts::default() }).unwrap();
//! let early = Expression::binary(Binary::Less, Expression::read(0), Expression::Constant(7));
//!
//! let catalog = EventCatalog::default();
//! let claim = Claim { name: "early".into(), kind: ClaimKind::Always(&early) };
//! let found = verify(&VerifyTask { claims: vec![claim], ..VerifyTask::new(&model, &catalog) }, &());
//! assert_eq!(found.totals.states, 5);
//! assert!(matches!(found.verdicts[0].result, ClaimResult::Holds));
//! ```

mod backend;
mod execution_trace;
mod prefix_monitor;
mod report;
mod run;
mod task;
pub mod validation;
mod verify;

pub use execution_trace::{ExecutionEnd, ExecutionTrace, TraceStep, VariableChange};
pub use report::{VerifyReport, incomplete_reason};
pub use run::{RunResult, run};
pub use task::{Claim, ClaimKind, SearchStrategy, VerifyTask};
pub use verify::{ClaimResult, ModelError, Verdict, VerifyResult, verify};
