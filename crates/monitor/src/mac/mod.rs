//! Monitoring and checking in two steps: snapshots of a subject become events and conditions, and these are
//! checked against requirements.
//!
//! A *monitoring script* (PEDL) says which variables and methods of the subject are watched, and defines events
//! and conditions over them; some are exported. A *requirement script* (MEDL) imports them and states what
//! must always hold (properties) and what must never happen (alarms). Both come in as [`Parts`].
//!
//! # The logic
//!
//! An *event* happens at an instant or does not, and may carry values. A *condition* has a value at every
//! instant: true, false or undefined ([`Truth`]). A variable that has not been assigned is undefined, and so
//! is what is computed from it; `&&` and `||` are false and true as soon as one side is. `start(c)` happens
//! when `c` becomes true, `end(c)` when it was true and no longer is, `e when c` when `e` happens at an
//! instant at which `c` is true. `[e1, e2)` is true from `e1` on until `e2`; where both happen at once, `e2` wins.
//!
//! # Decisions
//!
//! - Numbers are Java's: `int` and `long` wrap, smaller types are computed as `int`, shifts are masked.
//! - Dividing a whole number by zero makes what is computed from it undefined, and is told as a fault where
//!   a condition, a `when` or an assignment depends on it.
//! - At the first instant nothing was true before: `start(c)` happens if `c` is true.
//! - `time(e)` and `value(e, i)` speak of the last time that `e` happened, the present instant included.
//! - `IOM(f)` happens at the begin and at the end of `f`. `InM(f)` is true while some thread is inside `f`.
//! - Auxiliary variables: see [`Parts::unprimed`].

mod abstraction;
mod build;
mod call;
mod cell;
mod checker;
mod code;
mod compile;
mod derive;
mod filter;
mod findings;
mod fold;
mod graph;
mod group;
mod ids;
mod layout;
mod machine;
mod operator;
mod order;
mod parts;
mod program;
mod recogniser;
mod run;
mod scripts;
mod show;
mod value;
mod walk;

pub use abstraction::{Abstraction, Because, Constant, Threshold};
pub use call::{Argument, Call};
pub use checker::{Checker, Missing};
pub use derive::{Deriver, Input, Outputs, Plan, Remembered};
pub use filter::Filter;
pub use findings::{Done, Findings, Judged, Raised};
pub use group::{Group, GroupEvent, Interface};
pub use ids::{
    ActionId, AuxiliaryId, ConditionId, EventId, ExprId, GuardId, MethodId, OccurrenceId, VariableId,
};
pub use machine::{Fault, FaultKind, State};
pub use operator::{Binary, Unary};
pub use order::{Cycle, Definition};
pub use parts::{Method, Mismatch, Parts, Variable};
pub use recogniser::{Misfit, Recogniser, Snapshot, Unfit};
pub use scripts::Scripts;
pub use value::{Truth, Type, Value};
