//! MaC: monitoring and checking in two steps. Snapshots of a subject become events and conditions, which are
//! checked against requirements.
//!
//! A *monitoring script* (PEDL) declares the monitored variables and methods of the subject, defines events and
//! conditions over them, and exports some of these. A *requirement script* (MEDL) imports them and states
//! properties, which must always hold, and alarms, which must never occur. Both are given as [`ScriptDef`].
//!
//! # Logic
//!
//! An *event* occurs at an instant or not, and may have values. A *condition* is true, false or undefined
//! ([`Truth`]) at every instant. A variable is undefined until it is assigned, and expressions over undefined
//! values are undefined; `&&` is false if one side is false, and `||` is true if one side is true. `start(c)`
//! occurs when `c` becomes true, `end(c)` when `c` was true and no longer is, and `e when c` when `e` occurs at
//! an instant at which `c` is true. `[e1, e2)` is true from `e1` on until `e2`; if both occur at the same
//! instant, `e2` wins.
//!
//! # Decisions
//!
//! - Numbers are Java's: `int` and `long` wrap, smaller types are computed as `int`, shifts are masked.
//! - Integer division by zero makes the result undefined. It is reported as a fault if a condition, a `when` or
//!   an assignment depends on it.
//! - Before the first instant nothing is true: `start(c)` occurs if `c` is true at the first instant.
//! - `time(e)` and `value(e, i)` refer to the last occurrence of `e`, including the current instant.
//! - `IOM(f)` occurs at the entry and at the exit of `f`. `InM(f)` is true while some thread executes `f`.
//! - Auxiliary variables: see [`ScriptDef::unprimed`].

mod abstraction;
mod build;
mod cell;
mod check_output;
mod checker;
mod code;
mod compile;
mod event_deriver;
mod event_group;
mod fold;
mod graph;
mod ids;
mod interpreter;
mod layout;
mod machine;
mod method_call;
mod operator;
mod order;
mod program;
mod recogniser;
mod script_def;
mod scripts;
mod show;
mod value;
mod value_filter;
mod walk;

pub use abstraction::{Abstraction, Constant, NotAbstracted, Threshold};
pub use check_output::{Action, Alarm, CheckOutput, PropertyChange};
pub use checker::{Checker, MissingImport};
pub use event_deriver::{EventDeriver, ScriptOutputs, ScriptPlan, ScriptState, SnapshotInput};
pub use event_group::{EventGroup, GroupEvent, Interface};
pub use ids::{
    ActionId, AuxiliaryId, ConditionId, ExprId, GuardId, MethodId, OccurrenceId, ScriptEventId, VariableId,
};
pub use machine::{Fault, FaultKind, MachineState};
pub use method_call::{JavaConstant, MethodCall};
pub use operator::{Binary, Unary};
pub use order::{Cycle, Definition};
pub use recogniser::{Recogniser, ScriptError, Snapshot, SnapshotError};
pub use script_def::{DefinitionError, Method, ScriptDef, Variable};
pub use scripts::Scripts;
pub use value::{Truth, Type, Value};
pub use value_filter::ValueFilter;
